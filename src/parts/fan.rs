//! One question over the nodes of a fleet: repositories are asked at the nodes that hold them, and the answers are put together
//! as one node would give them.

use std::collections::BTreeMap;
use std::thread;

use serde_json::{Map, Value, json};

use crate::answer::{Code, Envelope, Error, Notes, Question, Request, ToolProperties, answered};
use crate::catalog::Context;
use crate::catalog::peers::{Peers, repos_like};
use crate::store::Frequencies;

/// The largest answer of a node, in tokens: it is cut when all are together.
const WHOLE: u64 = 1_000_000;
/// Repositories without an answer that are named.
const MOST_NAMED: usize = 20;

/// Puts the answers of nodes together: a page of so many results.
type Merge = fn(Vec<Part>, &Question, &Notes, usize) -> Map<String, Value>;

/// Tools that take several repositories and whose answers can be put together, with the results that they give unless told
/// otherwise.
const MERGED: &[(&str, usize, Merge)] =
    &[("search_symbols", 10, merged_symbols), ("search_text", 20, merged_matches), ("search_ast", 20, merged_matches)];

/// The tool whose answers are weighed by how rare words are, over all nodes.
const WEIGHED: &str = "search_symbols";

/// The answer of a node about some repositories.
struct Part {
    answer: Map<String, Value>,
    /// They, if they are not one alone: then its results do not say so.
    alone: Option<String>,
}

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

/// The lists of results of some parts, each result with its repository.
fn results(parts: &mut [Part]) -> Vec<Map<String, Value>> {
    let mut all = Vec::new();
    for part in parts {
        let Some(Value::Array(results)) = part.answer.get_mut("results").map(Value::take) else { continue };
        for result in results {
            let Value::Object(mut result) = result else { continue };
            if let (false, Some(repo)) = (result.contains_key("repo"), &part.alone) {
                // Matches come last, as those of several repositories do.
                let matches = result.shift_remove_entry("matches");
                result.insert("repo".to_owned(), repo.as_str().into());
                result.extend(matches);
            }
            all.push(result);
        }
    }
    all
}

fn number(part: &Part, key: &str) -> usize {
    let number = part.answer.get(key).or_else(|| part.answer.get("_meta")?.get(key)).and_then(Value::as_u64);
    number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

fn has(part: &Part, key: &str) -> bool {
    part.answer.get(key).is_some_and(|value| *value != Value::Bool(false))
}

fn repo_of(result: &Map<String, Value>) -> &str {
    result.get("repo").and_then(Value::as_str).unwrap_or_default()
}

/// Number of results that a part knows of, shown or not.
fn total(part: &Part) -> usize {
    let shown = part.answer.get("results").and_then(Value::as_array).map_or(0, Vec::len);
    number(part, "total").max(number(part, "count")).max(shown)
}

/// Symbols by their scores.
fn merged_symbols(mut parts: Vec<Part>, question: &Question, notes: &Notes, limit: usize) -> Map<String, Value> {
    let all: usize = parts.iter().map(total).sum();
    let at_least = parts.iter().any(|part| has(part, "at_least"));
    notes.total(all);
    notes.count(all);
    let symbols: u64 = parts.iter().filter_map(|part| part.answer.get("_meta")?.get("symbol_count")?.as_u64()).sum();
    notes.note("symbol_count", symbols);
    let score = |result: &Map<String, Value>| result.get("score").and_then(Value::as_f64).unwrap_or(0.0);
    let best = |part: &Part| {
        let results = part.answer.get("results").and_then(Value::as_array);
        results.and_then(|all| all.first()?.as_object()).map_or(-1.0, score)
    };
    let leader = parts.iter().max_by(|a, b| best(a).total_cmp(&best(b)));
    let confidence = leader.and_then(|part| part.answer.get("confidence").cloned()).unwrap_or_else(|| "none".into());
    let words = |part: &Part| part.answer.get("unknown_words").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut unknown = parts.first().map(words).unwrap_or_default();
    parts.iter().skip(1).for_each(|part| unknown.retain(|word| words(part).contains(word)));
    let absence = parts.iter().find_map(|part| part.answer.get("negative_evidence").cloned());
    let mut found = results(&mut parts);
    found.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| repo_of(a).cmp(repo_of(b))));
    let shown: Vec<Value> = found.into_iter().skip(question.offset).take(limit).map(Value::Object).collect();
    let mut body = Map::new();
    body.insert("result_count".to_owned(), shown.len().into());
    body.insert("confidence".to_owned(), confidence);
    if let Some(absence) = absence.filter(|_| all == 0) {
        body.insert("negative_evidence".to_owned(), absence);
    }
    body.insert("results".to_owned(), shown.into());
    if !unknown.is_empty() {
        body.insert("unknown_words".to_owned(), unknown.into());
    }
    if at_least {
        body.insert("total".to_owned(), all.into());
        body.insert("at_least".to_owned(), true.into());
    }
    body
}

/// Matches by repository and file, in the order of one node.
fn merged_matches(mut parts: Vec<Part>, question: &Question, notes: &Notes, limit: usize) -> Map<String, Value> {
    let all: usize = parts.iter().map(total_of_matches).sum();
    let (at_least, timed_out) =
        (parts.iter().any(|part| has(part, "at_least")), parts.iter().any(|part| has(part, "timed_out")));
    notes.count(all);
    notes.found(all > 0);
    let absence = parts.iter().find_map(|part| part.answer.get("negative_evidence").cloned());
    let mut files = results(&mut parts);
    // A node's own order of files is kept.
    files.sort_by(|a, b| repo_of(a).cmp(repo_of(b)));
    let (mut skip, mut left, mut shown) = (question.offset, limit, Vec::new());
    for mut file in files {
        let Some(Value::Array(matches)) = file.get_mut("matches").map(Value::take) else { continue };
        let skipped = skip.min(matches.len());
        skip -= skipped;
        let kept: Vec<Value> = matches.into_iter().skip(skipped).take(left).collect();
        left -= kept.len();
        if !kept.is_empty() {
            file.insert("matches".to_owned(), kept.into());
            shown.push(Value::Object(file));
        }
    }
    let given = limit - left;
    let reached = question.offset + given;
    let is_cut = given > 0 && all > reached;
    let mut body = Map::new();
    body.insert("result_count".to_owned(), given.into());
    body.insert("results".to_owned(), shown.into());
    let mut mark = |key: &str, value: Value, is_so: bool| {
        if is_so {
            body.insert(key.to_owned(), value);
        }
    };
    mark("truncated", true.into(), is_cut || timed_out);
    mark("total", all.into(), is_cut || at_least);
    mark("at_least", true.into(), at_least);
    mark("next_cursor", question.cursor(reached).into(), is_cut);
    mark("timed_out", true.into(), timed_out);
    mark("negative_evidence", absence.unwrap_or_default(), all == 0);
    body
}

fn total_of_matches(part: &Part) -> usize {
    let files = part.answer.get("results").and_then(Value::as_array).into_iter().flatten();
    let shown: usize = files.filter_map(|file| file.get("matches")?.as_array()).map(Vec::len).sum();
    number(part, "total").max(number(part, "count")).max(shown)
}
