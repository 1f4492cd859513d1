//! What is added to a search that an agent has made: where the name is defined and used, or the symbol that a phrase means.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::pattern::Asked;
use crate::answer::tokens;
use crate::catalog::locate;
use crate::cli::render::n_of;
use crate::tools::{self, Context, Request};

/// Tokens of the longest text.
const MOST_TOKENS: usize = 150;
/// Definitions that are shown; a name with more than [`COMMON`] says nothing to whoever searches for it.
const DEFINITIONS: usize = 3;
const COMMON: usize = 8;
/// Uses that are shown.
const USES: usize = 5;
/// The longest signature, in characters.
const SIGNATURE: usize = 120;
/// How long a hook waits for changed files to be read; then the index answers as it is.
const PATIENCE: Duration = Duration::from_millis(20);

/// What is known of a question that was asked in a folder. `None` when nothing is, or when the agent has seen it in `shown`.
pub(super) fn of(cx: &Context, folder: &Path, asked: &Asked, shown: &str) -> Option<String> {
    let repo = locate::indexed_at(cx.indexes.registry(), &cx.config, folder)?.repo;
    match asked {
        Asked::Name(name) => of_name(cx, &repo, name, shown),
        Asked::Phrase(words) => of_phrase(cx, &repo, words, shown),
    }
}

/// One line about the index of a folder, for the begin of a session.
pub(super) fn of_session(cx: &Context, folder: &Path) -> Option<String> {
    let index = locate::indexed_at(cx.indexes.registry(), &cx.config, folder)?;
    let (files, symbols) = (index.file_count, index.symbol_count);
    let mut languages: Vec<(&String, &u64)> = index.languages.iter().collect();
    languages.sort_by_key(|(_, files)| std::cmp::Reverse(**files));
    let languages: Vec<&str> = languages.into_iter().take(3).map(|(language, _)| language.as_str()).collect();
    Some(format!(
        "codelode has indexed this folder ({files} files, {symbols} symbols; {}): `codelode search WORDS` finds symbols, `refs NAME` uses, `calls NAME` callers, \
         `outline FILE` and `get NAME` read.",
        languages.join(", ")
    ))
}

fn of_name(cx: &Context, repo: &str, name: &str, shown: &str) -> Option<String> {
    let found = ask(cx, repo, "search_symbols", json!({"query": name, "max_results": COMMON + 1, "max_tokens": 4000}))?;
    let last = name.rsplit('.').next().unwrap_or(name);
    let symbols: Vec<&Value> = found["results"].as_array()?.iter().filter(|symbol| symbol["name"] == last).collect();
    if symbols.is_empty() || symbols.len() > COMMON {
        return None;
    }
    let known = ask(cx, repo, "find_references", json!({"identifier": name, "max_tokens": 4000})).unwrap_or_default();
    let uses_of =
        |id: &Value| known["definitions"].as_array()?.iter().find(|found| found["id"] == *id)?["uses"].as_u64();
    let mut text = String::from("codelode: ");
    for (nth, symbol) in symbols.iter().take(DEFINITIONS).enumerate() {
        let uses = uses_of(&symbol["id"]).map_or_else(String::new, |uses| format!(" ({})", n_of(uses, "use", "uses")));
        let begin = if nth == 0 { "" } else { "\n" };
        text.push_str(&format!("{begin}{}: {}{uses}", place(symbol), signature(symbol)));
    }
    if symbols.len() > DEFINITIONS {
        text.push_str(&format!("\nand {} more of that name", symbols.len() - DEFINITIONS));
    }
    let uses = uses(&known);
    // What the agent has before its eyes needs no saying.
    let is_shown = symbols.len() == 1
        && shown.contains(&place(symbols[0]))
        && uses.iter().all(|(place, _)| shown.contains(place.as_str()));
    if is_shown {
        return None;
    }
    for (nth, (place, within)) in uses.iter().enumerate() {
        let use_ = format!("{}{place}{within}", if nth == 0 { "\nused in " } else { ", " });
        if tokens::estimate(&text) + tokens::estimate(&use_) > MOST_TOKENS {
            break;
        }
        text.push_str(&use_);
    }
    (tokens::estimate(&text) <= MOST_TOKENS).then_some(text)
}

/// The best uses: places and the symbols they are in. Calls before imports, sources before tests, one in each symbol.
fn uses(known: &Value) -> Vec<(String, String)> {
    let mut uses: Vec<&Value> = known["references"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|found| found["confidence"] == "resolved")
        .collect();
    let is_test = |found: &Value| found["file"].as_str().is_some_and(|file| file.contains("test"));
    uses.sort_by_key(|found| (found["kind"] == "import", is_test(found)));
    let mut seen = Vec::new();
    uses.retain(|found| {
        let key = (&found["file"], &found["in"]);
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
    let said =
        |found: &&Value| (place(found), found["in"].as_str().map_or_else(String::new, |within| format!(" {within}")));
    uses.iter().take(USES).map(said).collect()
}

fn of_phrase(cx: &Context, repo: &str, words: &str, shown: &str) -> Option<String> {
    let found = ask(cx, repo, "search_symbols", json!({"query": words, "max_results": 2, "max_tokens": 2000}))?;
    let best = found["results"].as_array()?.first().filter(|_| found["confidence"] == "high")?;
    let text = format!("codelode: {words:?} may be {}: {}", place(best), signature(best));
    (!shown.contains(&place(best)) && tokens::estimate(&text) <= MOST_TOKENS).then_some(text)
}

/// `path:line`.
fn place(found: &Value) -> String {
    format!("{}:{}", found["file"].as_str().unwrap_or_default(), found["line"])
}

/// The signature, on one line, or what stands for it.
fn signature(symbol: &Value) -> String {
    let text = symbol["signature"].as_str().or(symbol["name"].as_str()).unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SIGNATURE { line } else { line.chars().take(SIGNATURE).chain(['…']).collect() }
}

/// The answer of a tool; `None` for an error.
fn ask(cx: &Context, repo: &str, tool: &str, arguments: Value) -> Option<Value> {
    let Value::Object(mut arguments) = arguments else { return None };
    arguments.extend(Map::from_iter([("repo".to_owned(), repo.into())]));
    let request = Request { patience: Some(PATIENCE), ..Request::default() };
    let envelope = tools::call(cx, tool, arguments, &request);
    (!envelope.is_error && envelope.found).then_some(envelope.value)
}
