//! Answers of several nodes put together, as one node would give them.

use serde_json::{Map, Value};

use crate::answer::{Notes, Question};
use crate::parts::symbols::{NAMED, SCORES};

/// Puts the answers of nodes together: a page of so many results.
pub(super) type Merge = fn(Vec<Part>, &Question, &Notes, usize) -> Map<String, Value>;

/// Names that come near, in an answer that nothing was found.
const MOST_NEAR: usize = 5;

/// Tools that take several repositories and whose answers can be put together, with the results that they give unless told
/// otherwise.
pub(super) const MERGED: &[(&str, usize, Merge)] =
    &[("search_symbols", 10, merged_symbols), ("search_text", 20, merged_matches), ("search_ast", 20, merged_matches)];

/// The answer of a node about some repositories.
pub(super) struct Part {
    pub answer: Map<String, Value>,
    /// The repository, if it is one alone: then its results do not say so.
    pub alone: Option<String>,
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
    let absence = together(&parts);
    // Results show rounded scores; similar names are no answers where anything has the name.
    let scores: Vec<f32> = parts.iter().flat_map(scores).collect();
    let is_named = parts.iter().any(|part| part.answer.get("_meta").is_some_and(|meta| meta[NAMED] == true));
    let mut found: Vec<(f32, Map<String, Value>)> = scores.into_iter().zip(results(&mut parts)).collect();
    found.retain(|(_, result)| !is_named || !result.contains_key("match_type"));
    found.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| repo_of(a).cmp(repo_of(b))));
    let shown = found.into_iter().skip(question.offset).take(limit);
    let shown: Vec<Value> = shown.map(|(_, result)| Value::Object(result)).collect();
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

/// Scores of a part's results, to the last bit where its node tells them.
fn scores(part: &Part) -> Vec<f32> {
    let told = part.answer.get("_meta").and_then(|meta| meta.get(SCORES));
    let score = |(at, result): (usize, &Value)| {
        let exact = told.and_then(|told| told.get(at)?.as_u64()).and_then(|bits| u32::try_from(bits).ok());
        exact.map_or_else(|| result["score"].as_f64().unwrap_or(0.0) as f32, f32::from_bits)
    };
    part.answer.get("results").and_then(Value::as_array).into_iter().flatten().enumerate().map(score).collect()
}

/// Where all parts looked that found nothing: numbers are summed, and names are those of all.
fn together(parts: &[Part]) -> Option<Value> {
    let mut told = parts.iter().filter_map(|part| part.answer.get("negative_evidence").cloned());
    let mut sum = told.next()?;
    for more in told {
        add(&mut sum, more);
    }
    // Reasons and languages are in order.
    let counts = sum.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut);
    counts.for_each(Map::sort_keys);
    if let Some(near) = sum.get_mut("nearest").and_then(Value::as_array_mut) {
        near.truncate(MOST_NEAR);
    }
    Some(sum)
}

/// Adds the numbers and lists of an object to those of another. Texts stay.
fn add(sum: &mut Value, more: Value) {
    match (sum, more) {
        (Value::Object(sum), Value::Object(more)) => {
            more.into_iter().for_each(|(key, value)| match sum.get_mut(&key) {
                Some(known) => add(known, value),
                None => drop(sum.insert(key, value)),
            })
        }
        (Value::Array(sum), Value::Array(more)) => sum.extend(more),
        (sum @ Value::Number(_), more) => *sum = (sum.as_u64().unwrap_or(0) + more.as_u64().unwrap_or(0)).into(),
        _ => {}
    }
}

/// Matches by repository and file, in the order of one node.
fn merged_matches(mut parts: Vec<Part>, question: &Question, notes: &Notes, limit: usize) -> Map<String, Value> {
    let all: usize = parts.iter().map(total_of_matches).sum();
    let (at_least, timed_out) =
        (parts.iter().any(|part| has(part, "at_least")), parts.iter().any(|part| has(part, "timed_out")));
    notes.count(all);
    notes.found(all > 0);
    let absence = together(&parts);
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
