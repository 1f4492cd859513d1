//! One question over the nodes of a fleet: repositories are asked at the nodes that hold them, others where one is silent.

mod merge;

use std::collections::BTreeMap;
use std::{fmt, thread};

use serde_json::{Map, Value, json};

use crate::answer::{Code, Envelope, Error, Notes, Question, Request, ToolProperties, answered, refused};
use crate::catalog::Context;
use crate::catalog::peers::{Peers, repos_like};
use codelode_store::Frequencies;
use merge::{MERGED, Part};

/// The largest answer of a node, in tokens: it is cut when all are together.
const WHOLE: u64 = 1_000_000;
/// Indexes that other nodes hold and that this one fetches for a question which it answers alone.
const MOST_FETCHED: usize = 20;
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
    let named: Vec<String> = match asked {
        Value::String(one) => vec![one.clone()],
        many => serde_json::from_value(many.clone()).ok()?,
    };
    let repos = repos_like(cx, &named).filter(|_| !args.contains_key("repo"))?;
    let groups = Group::all(peers, &repos);
    let n_elsewhere: usize = groups.iter().filter(|group| !group.node.is_empty()).map(|group| group.repos.len()).sum();
    if n_elsewhere == 0 {
        return None;
    }
    let Some((_, usual, merge)) = MERGED.iter().find(|(name, ..)| *name == tool.name) else {
        return too_many(tool, cx, n_elsewhere);
    };
    let fan = Fan { tool: tool.name, peers, request, own };
    let run = |question: Question, mut args: Map<String, Value>| {
        let limit = args.get("max_results").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(*usual);
        args.insert("max_tokens".to_owned(), WHOLE.into());
        args.insert("format".to_owned(), "json".into());
        let (notes, mut groups, mut not_counted) = (Notes::default(), groups, Vec::new());
        if tool.name == WEIGHED {
            (groups, not_counted) = fan.weighed(groups, &args);
        }
        // One more than shown, to see whether there are more.
        args.insert("max_results".to_owned(), question.offset.saturating_add(limit).saturating_add(1).into());
        args.insert("count_only".to_owned(), question.count_only.into());
        let mut gathered = fan.gather(groups, &args);
        gathered.not_counted = not_counted;
        gathered.note(&notes, &repos, peers.n_nodes());
        match (gathered.parts.is_empty(), gathered.refused) {
            (true, Some(refused)) => Err(refused),
            _ => Ok((merge(gathered.parts, &question, &notes, limit), notes)),
        }
    };
    Some(answered(tool, &cx.session, &cx.config, args.clone(), request, run))
}

/// Refuses a question about many repositories of other nodes, whose answers cannot be put together: this node would have to fetch
/// all of them. `None` where they are few.
fn too_many(tool: ToolProperties, cx: &Context, n_elsewhere: usize) -> Option<Envelope> {
    let message = format!(
        "one node answers {} over several repositories, and would have to fetch {n_elsewhere} indexes; give at most {MOST_FETCHED} in `repos`, or find the repositories with search_symbols or search_text first",
        tool.name
    );
    (n_elsewhere > MOST_FETCHED).then(|| refused(&Error::invalid_arguments(message), cx.config.max_tokens))
}

/// Repositories that a node is asked about; an empty name is this node.
#[derive(Clone)]
struct Group {
    node: String,
    repos: Vec<String>,
    /// Nodes that did not answer for them.
    silent: Vec<String>,
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
        by_node.into_iter().map(|(node, repos)| Self { node, repos, silent: Vec::new(), others: None }).collect()
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
        // It may not have heard of the repository yet, or cannot fetch it: then the next holder may, or this node.
        Ok(answer) if is_of_node(&answer.value) => None,
        Ok(answer) => Some(answer),
        Err(why) => {
            tracing::warn!(node, repo, "does not answer for one of its repositories: {why}");
            None
        }
    })
}

/// Kind of the error that an answer is.
fn code_of(answer: &Map<String, Value>) -> Code {
    let code = answer.get("code").and_then(Value::as_str);
    Code::ALL.into_iter().find(|known| Some(known.as_str()) == code).unwrap_or(Code::Unavailable)
}

/// Whether an answer is an error that tells of the node, so that another may answer.
fn is_of_node(answer: &Value) -> bool {
    let error = answer.as_object().filter(|answer| answer.contains_key("error")).map(code_of);
    matches!(error, Some(Code::NotIndexed | Code::IndexOutdated | Code::Unavailable | Code::Internal))
}

/// A repository that a node does not answer for.
struct Missing {
    repo: String,
    why: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.repo, self.why)
    }
}

/// The repositories that an answer is about, and those that it lacks and another node may have.
fn split(repos: Vec<String>, answer: &Result<Value, String>) -> (Vec<String>, Vec<Missing>) {
    let all = |why: &str| repos.iter().map(|repo| Missing { repo: repo.clone(), why: why.to_owned() }).collect();
    match answer {
        Err(why) => (Vec::new(), all(why)),
        Ok(answer) if is_of_node(answer) => (Vec::new(), all(answer["error"].as_str().unwrap_or_default())),
        Ok(answer) => {
            let told = answer["_meta"]["not_searched"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let told: Vec<(&str, &str)> = told.filter_map(|told| told.split_once(": ")).collect();
            let mut missing = Vec::new();
            let is_there = |repo: &String| match told.iter().find(|(other, _)| other == repo) {
                Some((_, why)) => {
                    missing.push(Missing { repo: repo.clone(), why: (*why).to_owned() });
                    false
                }
                None => true,
            };
            (repos.into_iter().filter(is_there).collect(), missing)
        }
    }
}

/// Frequencies of words that a node has told.
fn frequencies(answer: Result<Value, String>) -> Option<Frequencies> {
    serde_json::from_value(answer.ok()?["_meta"]["frequencies"].take()).ok()
}

/// Answers of several nodes.
#[derive(Default)]
struct Gathered {
    /// In the order of the first repository of each.
    parts: Vec<Part>,
    /// Repositories without an answer, each with the reason.
    missing: Vec<String>,
    /// Repositories whose words count as if they had none: scores are not those of one node.
    not_counted: Vec<String>,
    /// The first error of a tool.
    refused: Option<Error>,
    answered: usize,
}

impl Gathered {
    /// Adds an answer of a node that was asked for repositories. Returns those that it lacks and another may have.
    fn add(&mut self, repos: Vec<String>, answer: Result<Value, String>) -> Vec<Missing> {
        let (there, missing) = split(repos, &answer);
        let Ok(Value::Object(answer)) = answer else { return missing };
        if let Some(error) = answer.get("error").and_then(Value::as_str) {
            let code = code_of(&answer);
            self.refused.get_or_insert_with(|| Error::new(code, error));
            self.missing.extend(there.into_iter().map(|repo| format!("{repo}: {error}")));
            return missing;
        }
        self.answered += there.len();
        let alone = (there.len() == 1).then(|| there[0].clone());
        self.parts.push(Part { answer, alone });
        missing
    }

    /// Says how many repositories answered.
    fn note(&self, notes: &Notes, repos: &[String], n_nodes: usize) {
        let mut fleet = json!({"repositories": format!("{} of {}", self.answered, repos.len()), "nodes": n_nodes});
        if !self.missing.is_empty() {
            fleet["partial"] = true.into();
            fleet["not_searched"] = json!(self.missing.iter().take(MOST_NAMED).collect::<Vec<_>>());
        }
        if !self.not_counted.is_empty() {
            fleet["partial"] = true.into();
            fleet["words_not_counted"] = json!(self.not_counted.iter().take(MOST_NAMED).collect::<Vec<_>>());
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
    /// Asks all groups at once, and others for the repositories of nodes that do not answer.
    fn gather(&self, mut groups: Vec<Group>, args: &Map<String, Value>) -> Gathered {
        let mut gathered = Gathered::default();
        while !groups.is_empty() {
            let mut again = Vec::new();
            for (mut group, answer) in self.ask(groups, args) {
                let missing = gathered.add(std::mem::take(&mut group.repos), answer);
                gathered.missing.extend(self.regroup(&mut again, missing, &group));
            }
            groups = again;
        }
        gathered
    }

    /// Adds repositories that a node lacks to groups of others: of a node that holds them as well, or at last of this one, which
    /// fetches a few. Returns those that are left.
    fn regroup(&self, groups: &mut Vec<Group>, missing: Vec<Missing>, group: &Group) -> Vec<String> {
        let silent: Vec<String> = group.silent.iter().chain([&group.node]).cloned().collect();
        let mut lost = Vec::new();
        for Missing { repo, why } in missing {
            tracing::warn!(node = group.node, repo, "does not answer: {why}");
            let fetched: usize =
                groups.iter().filter(|group| group.node.is_empty()).map(|group| group.repos.len()).sum();
            let own = (fetched < MOST_FETCHED).then(String::new);
            match self.peers.holders(&repo).into_iter().chain(own).find(|other| !silent.contains(other)) {
                Some(node) => match groups.iter_mut().find(|known| known.node == node && known.silent == silent) {
                    Some(known) => known.repos.push(repo),
                    None => {
                        let (silent, others) = (silent.clone(), group.others.clone());
                        groups.push(Group { node, repos: vec![repo], silent, others });
                    }
                },
                None => lost.push(Missing { repo, why }.to_string()),
            }
        }
        lost
    }

    /// Groups with the frequencies of words in the others, which each is asked for first, and repositories whose frequencies are
    /// missing. A repository that a node lacks is in a group of another then, so that all frequencies count.
    fn weighed(&self, groups: Vec<Group>, args: &Map<String, Value>) -> (Vec<Group>, Vec<String>) {
        let mut args = args.clone();
        args.insert("max_results".to_owned(), 1.into());
        args.remove("include_source");
        let mut told = Vec::new();
        let mut groups: Vec<Group> =
            groups.into_iter().map(|group| Group { others: Some(json!({})), ..group }).collect();
        while !groups.is_empty() {
            let mut again = Vec::new();
            for (mut group, answer) in self.ask(groups, &args) {
                let (there, missing) = split(std::mem::take(&mut group.repos), &answer);
                let of_node: Vec<String> = missing.iter().map(|missing| missing.repo.clone()).collect();
                let lost = self.regroup(&mut again, missing, &group);
                // Where nobody else holds it, the same node is asked again with the question.
                let is_lost = |repo: &String| lost.iter().any(|lost| lost.starts_with(&format!("{repo}: ")));
                group.repos = there.into_iter().chain(of_node.into_iter().filter(is_lost)).collect();
                told.push((group, frequencies(answer)));
            }
            groups = again;
        }
        told.retain(|(group, _)| !group.repos.is_empty());
        let mut untold = self.complete(&mut told, &args);
        let others = |place: usize| {
            let mut sum = Frequencies::default();
            let rest = told.iter().enumerate().filter(|(other, _)| *other != place);
            rest.filter_map(|(_, (_, own))| own.as_ref()).for_each(|own| sum.add(own));
            serde_json::to_value(sum).ok()
        };
        let with = |(place, (group, _)): (usize, &(Group, _))| Group { others: others(place), ..group.clone() };
        untold.extend(told.iter().filter(|(_, own)| own.is_none()).flat_map(|(group, _)| group.repos.clone()));
        (told.iter().enumerate().map(with).collect(), untold)
    }

    /// Asks for the terms that only some nodes searched for, as words that are spelt alike in their own code. Returns the
    /// repositories of nodes that do not answer.
    fn complete(&self, told: &mut [(Group, Option<Frequencies>)], args: &Map<String, Value>) -> Vec<String> {
        let mut all = Frequencies::default();
        told.iter().filter_map(|(_, own)| own.as_ref()).for_each(|own| all.add(own));
        let asks = |own: &Option<Frequencies>| serde_json::to_value(own.as_ref()?.asking(&all)?).ok();
        let lacking = told.iter().enumerate().filter_map(|(place, (_, own))| Some((place, asks(own)?)));
        let (places, groups): (Vec<usize>, Vec<Group>) =
            lacking.map(|(place, asked)| (place, Group { others: Some(asked), ..told[place].0.clone() })).unzip();
        let mut silent = Vec::new();
        for (place, (group, answer)) in places.into_iter().zip(self.ask(groups, args)) {
            match frequencies(answer) {
                Some(own) => told[place].1 = Some(own),
                None => silent.extend(group.repos),
            }
        }
        silent
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
            let fault = || Err("asking it failed: an internal error".to_owned());
            let answers: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| fault())).collect();
            groups.iter().cloned().zip(answers).collect()
        })
    }
}
