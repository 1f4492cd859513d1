//! One question over the nodes of a fleet: repositories are asked at the nodes that hold them, others where one is silent.

mod merge;

use std::collections::BTreeMap;
use std::thread;

use serde_json::{Map, Value, json};

use crate::answer::{Code, Envelope, Error, Notes, Question, Request, ToolProperties, answered};
use crate::catalog::Context;
use crate::catalog::peers::{Peers, repos_like};
use crate::store::Frequencies;
use merge::{MERGED, Part};

/// The largest answer of a node, in tokens: it is cut when all are together.
const WHOLE: u64 = 1_000_000;
/// Repositories without an answer that are named.
const MOST_NAMED: usize = 20;

/// The tool whose answers are weighed by how rare words are, over all nodes.
const WEIGHED: &str = "search_symbols";

/// Answers a question that other nodes of a fleet have a part in; `None` where this node answers alone. `own` answers here.
pub fn fanned(
    tool: ToolProperties,
    is_read_only: bool,
    cx: &Context,
    args: &Map<String, Value>,
    request: &Request,
    own: &(dyn Fn(Map<String, Value>, Request) -> Envelope + Sync),
) -> Option<Envelope> {
    let peers = cx.peers().filter(|_| is_read_only && !request.is_from_node)?;
    let Some(asked) = args.get("repos") else { return forwarded(tool, cx, peers, args, request) };
    let (_, usual, merge) = MERGED.iter().find(|(name, ..)| *name == tool.name)?;
    let named: Vec<String> = match asked {
        Value::String(one) => vec![one.clone()],
        many => serde_json::from_value(many.clone()).ok()?,
    };
    let repos = repos_like(cx, &named).filter(|_| !args.contains_key("repo"))?;
    let groups = Group::all(peers, &repos);
    if groups.iter().all(|group| group.node.is_empty()) {
        return None;
    }
    let fan = Fan { tool: tool.name, peers, request, own };
    let run = |question: Question, mut args: Map<String, Value>| {
        let limit = args.get("max_results").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(*usual);
        args.insert("max_tokens".to_owned(), WHOLE.into());
        args.insert("format".to_owned(), "json".into());
        let (notes, mut groups) = (Notes::default(), groups);
        if tool.name == WEIGHED {
            groups = fan.weighed(groups, &args);
        }
        // One more than shown, to see whether there are more.
        args.insert("max_results".to_owned(), question.offset.saturating_add(limit).saturating_add(1).into());
        args.insert("count_only".to_owned(), question.count_only.into());
        let gathered = fan.gather(groups, &args);
        gathered.note(&notes, &repos, peers.n_nodes());
        match (gathered.parts.is_empty(), gathered.refused) {
            (true, Some(refused)) => Err(refused),
            _ => Ok((merge(gathered.parts, &question, &notes, limit), notes)),
        }
    };
    Some(answered(tool, &cx.session, &cx.config, args.clone(), request, run))
}

/// Repositories that a node is asked about; an empty name is this node.
#[derive(Clone)]
struct Group {
    node: String,
    repos: Vec<String>,
    /// How many documents of the other groups hold which words.
    others: Option<Value>,
}

impl Group {
    /// Repositories by the nodes that hold them.
    fn all(peers: &dyn Peers, repos: &[String]) -> Vec<Self> {
        let mut by_node: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for repo in repos {
            by_node.entry(first_of(peers, repo)).or_default().push(repo.clone());
        }
        by_node.into_iter().map(|(node, repos)| Self { node, repos, others: None }).collect()
    }
}

/// The node that is asked for a repository: this one, if it is one of the holders.
fn first_of(peers: &dyn Peers, repo: &str) -> String {
    let mut holders = peers.holders(repo).into_iter();
    let first = holders.next().unwrap_or_default();
    if holders.any(|node| node.is_empty()) { String::new() } else { first }
}

/// Passes a question about one repository on to a node that holds it; `None` where this node does, or none of them answers.
fn forwarded(
    tool: ToolProperties,
    cx: &Context,
    peers: &dyn Peers,
    args: &Map<String, Value>,
    request: &Request,
) -> Option<Envelope> {
    let repo = args.get("repo")?.as_str()?;
    let repo = cx.indexes.registry().get(repo)?.repo;
    let holders = peers.holders(&repo);
    if holders.iter().any(String::is_empty) {
        return None;
    }
    holders.iter().find_map(|node| match peers.ask(node, tool.name, args, request) {
        Ok(answer) => Some(answer),
        Err(why) => {
            tracing::warn!(node, repo, "does not answer for a repository that it holds: {why}");
            None
        }
    })
}

/// Answers of several nodes.
#[derive(Default)]
struct Gathered {
    /// In the order of the first repository of each.
    parts: Vec<Part>,
    /// Repositories without an answer, each with the reason.
    missing: Vec<String>,
    /// The first error of a tool.
    refused: Option<Error>,
    answered: usize,
}

impl Gathered {
    fn add(&mut self, repos: Vec<String>, answer: Value) {
        let Value::Object(answer) = answer else { return };
        if let Some(error) = answer.get("error").and_then(Value::as_str) {
            self.missing.extend(repos.iter().map(|repo| format!("{repo}: {error}")));
            let code = answer.get("code").and_then(Value::as_str);
            let code = Code::ALL.into_iter().find(|known| Some(known.as_str()) == code).unwrap_or(Code::Unavailable);
            self.refused.get_or_insert_with(|| Error::new(code, error));
            return;
        }
        self.answered += repos.len();
        let alone = (repos.len() == 1).then(|| repos[0].clone());
        self.parts.push(Part { answer, alone });
    }

    /// Says how many repositories answered.
    fn note(&self, notes: &Notes, repos: &[String], n_nodes: usize) {
        let mut fleet = json!({"repositories": format!("{} of {}", self.answered, repos.len()), "nodes": n_nodes});
        if !self.missing.is_empty() {
            fleet["partial"] = true.into();
            fleet["not_searched"] = json!(self.missing.iter().take(MOST_NAMED).collect::<Vec<_>>());
        }
        notes.note("fleet", fleet);
    }
}

/// A question to several nodes.
struct Fan<'a> {
    tool: &'a str,
    peers: &'a dyn Peers,
    request: &'a Request,
    own: &'a (dyn Fn(Map<String, Value>, Request) -> Envelope + Sync),
}

impl Fan<'_> {
    /// Asks all groups at once, and other holders of their repositories where a node does not answer.
    fn gather(&self, groups: Vec<Group>, args: &Map<String, Value>) -> Gathered {
        let mut gathered = Gathered::default();
        let mut silent = Vec::new();
        for (group, answer) in self.ask(groups, args) {
            match answer {
                Ok(answer) => gathered.add(group.repos, answer),
                Err(why) => silent.push((group, why)),
            }
        }
        let mut again: Vec<Group> = Vec::new();
        for (group, why) in silent {
            tracing::warn!(node = group.node, "does not answer: {why}");
            for repo in group.repos {
                match self.peers.holders(&repo).into_iter().find(|other| *other != group.node) {
                    Some(other) => match again.iter_mut().find(|known| known.node == other) {
                        Some(known) => known.repos.push(repo),
                        None => again.push(Group { node: other, repos: vec![repo], others: group.others.clone() }),
                    },
                    None => gathered.missing.push(format!("{repo}: {why}")),
                }
            }
        }
        for (group, answer) in self.ask(again, args) {
            match answer {
                Ok(answer) => gathered.add(group.repos, answer),
                Err(why) => gathered.missing.extend(group.repos.iter().map(|repo| format!("{repo}: {why}"))),
            }
        }
        gathered
    }

    /// Groups with the frequencies of words in the others, which each is asked for first. Nodes that do not answer are asked
    /// again with the question.
    fn weighed(&self, groups: Vec<Group>, args: &Map<String, Value>) -> Vec<Group> {
        let mut args = args.clone();
        args.insert("max_results".to_owned(), 1.into());
        args.remove("include_source");
        let asked = groups.into_iter().map(|group| Group { others: Some(json!({})), ..group }).collect();
        let told: Vec<(Group, Option<Frequencies>)> = self
            .ask(asked, &args)
            .into_iter()
            .map(|(group, answer)| {
                let own =
                    answer.ok().and_then(|answer| serde_json::from_value(answer["_meta"]["frequencies"].clone()).ok());
                (group, own)
            })
            .collect();
        let others = |place: usize| {
            let mut sum = Frequencies::default();
            let rest = told.iter().enumerate().filter(|(other, _)| *other != place);
            rest.filter_map(|(_, (_, own))| own.as_ref()).for_each(|own| sum.add(own));
            serde_json::to_value(sum).ok()
        };
        let with = |(place, (group, _)): (usize, &(Group, _))| Group { others: others(place), ..group.clone() };
        told.iter().enumerate().map(with).collect()
    }

    /// Asks all groups at once.
    fn ask(&self, groups: Vec<Group>, args: &Map<String, Value>) -> Vec<(Group, Result<Value, String>)> {
        let ask = |group: &Group| {
            let mut args = args.clone();
            args.insert("repos".to_owned(), json!(group.repos));
            let frequencies = group.others.clone();
            let request = Request { is_from_node: true, frequencies, progress: None, ..self.request.clone() };
            match group.node.is_empty() {
                true => Ok((self.own)(args, request).value),
                false => self.peers.ask(&group.node, self.tool, &args, &request).map(|told| told.value),
            }
        };
        thread::scope(|scope| {
            let ask = &ask;
            let threads: Vec<_> = groups.iter().map(|group| scope.spawn(move || ask(group))).collect();
            let fault = || Err("asking it failed by a fault of codelode".to_owned());
            let answers: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| fault())).collect();
            groups.iter().cloned().zip(answers).collect()
        })
    }
}
