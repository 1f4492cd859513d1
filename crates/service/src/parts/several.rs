//! One question over the checkouts that a caller works in, where it names none: each is asked alone, and the answers share one
//! budget.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::{locate, paths, words};
use crate::answer::{Code, Envelope, Error, Format, Request, ToolProperties, reading, refused, tokens};
use crate::catalog::Context;

/// The most checkouts of one question.
const MOST: usize = 20;
/// Arguments that limit the length of a list.
const LIMITS: &[&str] = &["max_results", "top_n"];
/// Tokens of a joined answer beside each of its parts.
const FRAME: usize = 40;
/// Keys of `_meta` that a joined answer says once, or that say nothing of a part.
const SAID_ONCE: &[&str] =
    &["estimate_method", "freshness", "repo", "timing_ms", "tokens_saved", "total_tokens_saved", "truncated"];
/// Words of freshness, the best first.
const FRESHNESS: &[&str] = &["fresh", "unchecked", "stale", "indexing"];
/// Keys of things that were asked for and are not there.
const LACKING: &[&str] = &["errors", "not_found"];

/// A question to a tool.
pub struct Asked<'a> {
    /// The tool.
    pub tool: ToolProperties,
    /// Whether it changes nothing.
    pub is_read_only: bool,
    /// The schema of its arguments.
    pub input: fn() -> schemars::Schema,
    /// The state of the process.
    pub cx: &'a Context,
    /// The arguments.
    pub args: &'a Map<String, Value>,
    /// The request.
    pub request: &'a Request,
    /// Answers for one checkout, or for several where the tool takes them.
    pub own: &'a dyn Fn(Map<String, Value>, Request) -> Envelope,
}

/// The answer of one checkout.
struct Part {
    repo: String,
    args: Map<String, Value>,
    answer: Envelope,
}

/// Worth of an answer among those of other checkouts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// The thing asked for is not there.
    Unknown,
    /// It is there, and there is nothing to tell of it.
    Nothing,
    /// An answer.
    Found,
}

impl Asked<'_> {
    /// Answers over the client's roots, or below a folder that is known to lie above repositories; `None` where the roots are one
    /// checkout, or another is meant.
    pub fn of_roots(&self) -> Option<Envelope> {
        let knows_folders = !self.cx.indexes.above().is_empty();
        if (self.request.roots.len() < 2 && !knows_folders) || !self.is_open() {
            return None;
        }
        let mut args = self.args.clone();
        let mut caller = self.cx.caller(self.request);
        if let Some(folder) = locate::known_above(&caller).filter(|_| self.request.roots.len() < 2) {
            return self.of_those_below(&folder);
        }
        let all = locate::worked_in(&caller);
        caller.paths = lead_into(&mut args, &all, None);
        let asked_about = locate::worked_in(&caller);
        (all.len() > 1 && !asked_about.is_empty()).then(|| self.over(args, asked_about))
    }

    /// Answers over the repositories below the caller's folder, if `answer` says that the folder is indexed only on request.
    pub fn below(&self, answer: &Envelope) -> Option<Envelope> {
        let folder = answer.value.pointer("/details/root").and_then(Value::as_str).map(Path::new)?;
        if answer.value["code"] != Code::NotIndexed.as_str() || !self.is_open() {
            return None;
        }
        self.of_those_below(folder)
    }

    /// Answers over the repositories below a folder.
    fn of_those_below(&self, folder: &Path) -> Option<Envelope> {
        let all = locate::below(&self.cx.caller(self.request), folder);
        let mut args = self.args.clone();
        let paths = lead_into(&mut args, &all, Some(folder));
        // A path elsewhere chooses another repository.
        if all.is_empty() || paths.iter().any(|path| !path.starts_with(folder)) {
            return None;
        }
        let is_asked_about = |place: &PathBuf| paths.iter().any(|path| path.starts_with(place));
        let chosen: Vec<PathBuf> = all.iter().filter(|place| is_asked_about(place)).cloned().collect();
        self.cx.indexes.above().insert(folder.to_owned());
        Some(self.over(args, if chosen.is_empty() { all } else { chosen }))
    }

    /// Whether a question leaves open which repository it is about.
    fn is_open(&self) -> bool {
        let Self { args, request, .. } = self;
        let names = |key: &str| args.get(key).is_some_and(|value| !value.is_null() && value != "");
        let query = args.get("query").and_then(Value::as_str).unwrap_or_default();
        let is_named = ["repo", "repos"].into_iter().any(names) || args.get("deps") == Some(&Value::Bool(true));
        let is_named = is_named || query.split_whitespace().any(|word| word.starts_with("repo:"));
        !is_named && !request.is_from_node && request.among.is_empty() && self.takes("repo").is_some()
    }

    /// An argument in the tool's schema.
    fn takes(&self, name: &str) -> Option<Value> {
        (self.input)().as_value().pointer(&format!("/properties/{name}")).cloned()
    }

    /// Answers over some checkouts.
    fn over(&self, mut args: Map<String, Value>, mut places: Vec<PathBuf>) -> Envelope {
        let left_out = places.split_off(places.len().min(MOST));
        let ids: Vec<String> = places.iter().map(|place| locate::id_of(&self.cx.config, place)).collect();
        let request = Request { among: places, ..self.request.clone() };
        if let [only] = &ids[..] {
            args.insert("repo".to_owned(), only.as_str().into());
            return (self.own)(args, request);
        }
        if !self.is_read_only {
            let message = format!("the client works in {} repositories; set `repo` to one", ids.len());
            return refused(&Error::ambiguous(message).with("candidates", ids), self.cx.config.max_tokens);
        }
        let left_out = left_out.iter().map(|place| locate::id_of(&self.cx.config, place));
        let not_searched: Vec<String> =
            left_out.map(|id| format!("{id}: {MOST} others are searched; set `repo` to it")).collect();
        if self.takes("repos").is_some() {
            args.insert("repos".to_owned(), json!(ids));
            return self.with_facts((self.own)(args, request), facts_of(not_searched, &[]));
        }
        self.joined(&args, &ids, &request, not_searched)
    }

    /// Asks each checkout, and joins the answers.
    fn joined(
        &self,
        args: &Map<String, Value>,
        ids: &[String],
        request: &Request,
        mut not_searched: Vec<String>,
    ) -> Envelope {
        let began = Instant::now();
        let mut parts = Vec::new();
        for id in ids {
            let mut args = args.clone();
            args.insert("repo".to_owned(), id.as_str().into());
            // A root that cannot be used is named once, by the joined answer.
            let answer = (self.own)(args.clone(), Request { unusable_roots: Vec::new(), ..request.clone() });
            if answer.value["code"] == Code::Cancelled.as_str() {
                return answer;
            }
            parts.push(Part { repo: id.clone(), args, answer });
        }
        let best = parts.iter().map(Part::worth).max().unwrap_or(Worth::Unknown);
        if best > Worth::Unknown {
            let failed = parts.iter().filter(|part| part.worth() < best && part.fails());
            not_searched.extend(failed.map(|part| format!("{}: {}", part.repo, part.message())));
        }
        parts.retain(|part| part.worth() == best);
        let mut facts = facts_of(not_searched, &request.unusable_roots);
        if best == Worth::Unknown {
            facts.insert("searched".to_owned(), json!(ids));
            return self.unknown(parts, facts);
        }
        if let [_] = parts[..] {
            return self.with_facts(parts.remove(0).answer, facts);
        }
        self.share(&mut parts, request);
        self.together(parts, ids, facts, began)
    }

    /// The answer that a thing is nowhere: the one that names something near, or says most.
    fn unknown(&self, mut parts: Vec<Part>, facts: Map<String, Value>) -> Envelope {
        let tells = |part: &Part| {
            let details = part.answer.value.get("details").unwrap_or(&part.answer.value);
            let is_near = details.get("nearest").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
            (part.fails(), is_near)
        };
        // The first among equals.
        let best = (0..parts.len()).rev().max_by_key(|at| tells(&parts[*at])).unwrap_or(0);
        self.with_facts(parts.swap_remove(best).answer, facts)
    }

    /// Adds facts to `_meta` of an answer, or to the details of an error.
    fn with_facts(&self, mut answer: Envelope, facts: Map<String, Value>) -> Envelope {
        let key = if answer.is_error { "details" } else { "_meta" };
        let place = answer.value.as_object_mut().map(|value| value.entry(key).or_insert_with(|| json!({})));
        let Some(place) = place.and_then(Value::as_object_mut).filter(|_| !facts.is_empty()) else { return answer };
        for (key, fact) in facts {
            match (place.get_mut(&key).and_then(Value::as_array_mut), fact) {
                (Some(known), Value::Array(more)) => known.extend(more),
                (_, fact) => drop(place.insert(key, fact)),
            }
        }
        self.written(answer.value, answer.is_error, answer.found)
    }

    /// Asks those again whose answers take more than their share of the budget.
    fn share(&self, parts: &mut [Part], request: &Request) {
        let room = self.budget().saturating_sub(FRAME * parts.len());
        let sizes: Vec<usize> = parts.iter().map(|part| tokens::estimate(&part.answer.text)).collect();
        let budgets = shares(&sizes, room);
        let lengths: Vec<usize> = parts.iter().map(|part| part.length(self.tool.list)).collect();
        let limit = self.limit();
        let limits = limit.map(|(key, limit)| (key, shares(&lengths, limit)));
        let has_budget = self.takes("token_budget").is_some();
        for (at, part) in parts.iter_mut().enumerate() {
            let limit = limits.as_ref().map(|(key, each)| (*key, each[at])).filter(|(_, most)| *most < lengths[at]);
            if budgets[at] >= sizes[at] && limit.is_none() {
                continue;
            }
            part.args.insert("max_tokens".to_owned(), budgets[at].into());
            if has_budget {
                part.args.insert("token_budget".to_owned(), budgets[at].into());
            }
            if let Some((key, most)) = limit {
                part.args.insert(key.to_owned(), most.max(1).into());
            }
            part.answer = (self.own)(part.args.clone(), Request { unusable_roots: Vec::new(), ..request.clone() });
        }
    }

    /// The tokens of a joined answer.
    fn budget(&self) -> usize {
        let (args, usual) = (self.args, self.cx.config.max_tokens);
        let most = number(args.get("max_tokens")).unwrap_or(usual);
        let of_tool = self.takes("token_budget").map(|schema| number(schema.get("default")).unwrap_or(usual));
        let of_tool = of_tool.map(|usual| number(args.get("token_budget")).unwrap_or(usual));
        of_tool.map_or(most, |budget| budget.min(most))
    }

    /// The argument that limits a list, and the limit.
    fn limit(&self) -> Option<(&'static str, usize)> {
        let (key, schema) = LIMITS.iter().find_map(|key| Some((*key, self.takes(key)?)))?;
        Some((key, number(self.args.get(key)).or_else(|| number(schema.get("default")))?))
    }

    /// Joins the answers of several checkouts.
    fn together(&self, parts: Vec<Part>, ids: &[String], facts: Map<String, Value>, began: Instant) -> Envelope {
        let found = parts.iter().any(|part| part.answer.found);
        let metas: Vec<Value> = parts.iter().map(|part| part.answer.value["_meta"].clone()).collect();
        let mut meta = Map::new();
        let milliseconds = (began.elapsed().as_secs_f64() * 100_000.0).round() / 100.0;
        meta.insert("timing_ms".to_owned(), milliseconds.into());
        meta.insert("repos".to_owned(), json!(ids));
        if metas.iter().any(|meta| meta["truncated"] == true) {
            meta.insert("truncated".to_owned(), true.into());
        }
        let place = |meta: &Value| FRESHNESS.iter().position(|word| meta["freshness"] == *word);
        if let Some(worst) = metas.iter().filter_map(place).max() {
            meta.insert("freshness".to_owned(), FRESHNESS[worst].into());
        }
        let saved: u64 = metas.iter().filter_map(|meta| meta["tokens_saved"].as_u64()).sum();
        if let Some(all) = metas.iter().filter_map(|meta| meta["total_tokens_saved"].as_u64()).max() {
            meta.insert("tokens_saved".to_owned(), saved.into());
            meta.insert("total_tokens_saved".to_owned(), all.into());
            meta.extend(
                metas
                    .iter()
                    .find_map(|meta| Some(("estimate_method".to_owned(), meta.get("estimate_method")?.clone()))),
            );
        }
        meta.extend(facts);
        let counts: Option<Vec<u64>> = parts.iter().map(|part| part.answer.value.get("count")?.as_u64()).collect();
        let mut answers: Vec<Map<String, Value>> = parts.into_iter().map(Part::named).collect();
        keep_common_lacks(&mut answers);
        let mut value = Map::new();
        if let Some(counts) = counts {
            value.insert("count".to_owned(), counts.iter().sum::<u64>().into());
        }
        value.insert("answers".to_owned(), json!(answers));
        value.insert("_meta".to_owned(), meta.into());
        self.written(value.into(), false, found)
    }

    /// An answer with its text.
    fn written(&self, value: Value, is_error: bool, found: bool) -> Envelope {
        let asked = self.args.get("format").and_then(|format| serde_json::from_value::<Format>(format.clone()).ok());
        let text = match asked.unwrap_or(self.cx.config.format) {
            Format::Compact if !is_error => reading::answer(&value),
            _ => value.to_string(),
        };
        Envelope { value, text, is_error, found }
    }
}

/// Facts about the checkouts of a question: those that were not searched, and roots that cannot be used.
fn facts_of(not_searched: Vec<String>, unusable_roots: &[String]) -> Map<String, Value> {
    let facts = [("not_searched", not_searched), ("unusable_roots", unusable_roots.to_vec())];
    let facts = facts.into_iter().filter(|(_, told)| !told.is_empty());
    facts.map(|(key, told)| (key.to_owned(), json!(told))).collect()
}

/// Makes paths absolute that begin with the name of a checkout's folder, or lead from the folder above all; returns the absolute
/// paths of the question.
fn lead_into(args: &mut Map<String, Value>, places: &[PathBuf], above: Option<&Path>) -> Vec<PathBuf> {
    paths::each(args, |text| {
        let (path, name) = text.split_at(text.find("::").unwrap_or(text.len()));
        let bare = Path::new(path.trim_start_matches("./"));
        if bare.is_absolute() || places.iter().any(|place| place.join(bare).exists()) {
            return;
        }
        let from_above = above.map(|above| above.join(bare)).filter(|path| path.exists());
        let by_name = |place: &PathBuf| {
            let inside = bare.strip_prefix(place.file_name()?).ok()?;
            Some(place.join(inside)).filter(|path| path.exists())
        };
        if let Some(found) = from_above.or_else(|| places.iter().find_map(by_name)) {
            *text = format!("{}{name}", found.display());
        }
    });
    words::absolute(args, None)
}

/// Divides `room` among some amounts: none gets more than it takes, and those that take less leave the rest to the others.
fn shares(amounts: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..amounts.len()).collect();
    order.sort_by_key(|at| amounts[*at]);
    let (mut shares, mut left) = (vec![0; amounts.len()], room);
    for (nth, at) in order.into_iter().enumerate() {
        shares[at] = amounts[at].min(left / (amounts.len() - nth));
        left -= shares[at];
    }
    shares
}

/// Keeps of the things that were asked for and are not there those that are in no checkout, and names them once.
fn keep_common_lacks(answers: &mut [Map<String, Value>]) {
    let mut common: Vec<String> = lacks(&answers[0]);
    answers[1..].iter().for_each(|answer| common.retain(|one| lacks(answer).contains(one)));
    for (at, answer) in answers.iter_mut().enumerate() {
        for key in LACKING.iter().chain(&["results"]) {
            let Some(list) = answer.get_mut(*key).and_then(Value::as_array_mut) else { continue };
            list.retain(|one| lacked(key, one).is_none_or(|subject| at == 0 && common.contains(&subject.to_owned())));
            if list.is_empty() && LACKING.contains(key) {
                answer.shift_remove(*key);
            }
        }
    }
}

/// The things that an answer says are not there.
fn lacks(answer: &Map<String, Value>) -> Vec<String> {
    let of_key = |key: &&'static str| {
        let list = answer.get(*key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|one| lacked(key, one)).map(str::to_owned).collect::<Vec<_>>()
    };
    LACKING.iter().chain(&["results"]).flat_map(of_key).collect()
}

/// The thing that an item of a list says is not there; among results, only one that is marked so.
fn lacked<'a>(key: &str, item: &'a Value) -> Option<&'a str> {
    let is_marked = || item.get("not_found").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    if !LACKING.contains(&key) && !is_marked() {
        return None;
    }
    let named = ["symbol_id", "file_path", "file", "identifier", "id"].iter().find_map(|key| item.get(key)?.as_str());
    item.as_str().or(named)
}

fn number(value: Option<&Value>) -> Option<usize> {
    value.and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok())
}

impl Part {
    fn worth(&self) -> Worth {
        let Envelope { value, is_error, found, .. } = &self.answer;
        let is_unknown = || value.get("not_found").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        match () {
            () if *is_error => Worth::Unknown,
            () if *found => Worth::Found,
            () if is_unknown() => Worth::Unknown,
            () => Worth::Nothing,
        }
    }

    /// Whether it failed for another reason than that the thing is not there.
    fn fails(&self) -> bool {
        let code = &self.answer.value["code"];
        self.answer.is_error && ![Code::NotFound, Code::InvalidArguments].iter().any(|known| code == known.as_str())
    }

    fn message(&self) -> &str {
        self.answer.value["error"].as_str().unwrap_or_default()
    }

    /// Items of its list.
    fn length(&self, list: Option<&str>) -> usize {
        let list = list.map(|path| format!("/{}", path.replace('.', "/")));
        list.and_then(|path| self.answer.value.pointer(&path)?.as_array().map(Vec::len)).unwrap_or(0)
    }

    /// The answer with the name of its repository, and with those notes that are about it alone.
    fn named(self) -> Map<String, Value> {
        let mut named = Map::from_iter([("repo".to_owned(), self.repo.into())]);
        let Value::Object(mut fields) = self.answer.value else { return named };
        if let Some(Value::Object(mut meta)) = fields.shift_remove("_meta") {
            meta.retain(|key, _| !SAID_ONCE.contains(&key.as_str()));
            if !meta.is_empty() {
                fields.insert("_meta".to_owned(), meta.into());
            }
        }
        named.extend(fields);
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_leave_their_rest_to_large_ones() {
        let check = |amounts: &[usize], room: usize, expected: &[usize]| {
            assert_eq!(shares(amounts, room), expected, "{amounts:?} in {room}");
        };
        check(&[10, 10], 6, &[3, 3]);
        check(&[20, 1, 20], 15, &[7, 1, 7]);
        check(&[2, 3], 100, &[2, 3]);
        check(&[5], 0, &[0]);
        check(&[], 5, &[]);
    }

    #[test]
    fn things_that_another_repository_has_are_not_missing() {
        let answers = [
            json!({"symbols": ["a"], "errors": [{"symbol_id": "b"}, {"symbol_id": "c"}]}),
            json!({"symbols": ["b"], "errors": [{"symbol_id": "a"}, {"symbol_id": "c"}]}),
            json!({"results": [{"identifier": "c", "not_found": ["c"]}], "not_found": ["a"]}),
        ];
        let fields = |answer: &Value| answer.as_object().expect("an object").clone();
        let mut all: Vec<Map<String, Value>> = answers.iter().map(fields).collect();
        keep_common_lacks(&mut all);
        assert_eq!(Value::from(all[0].clone()), json!({"symbols": ["a"], "errors": [{"symbol_id": "c"}]}));
        assert_eq!(Value::from(all[1].clone()), json!({"symbols": ["b"]}));
        assert_eq!(Value::from(all[2].clone()), json!({"results": []}));
    }
}
