//! Code that answers a sentence, in a search.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::links;
use super::routes::Asked;
use super::search::{list, text, words};
use super::text::{Marked, Visible};
use super::view;
use codelode_service::catalog::indexes::{Repo, open_as_indexed};
use codelode_service::catalog::related;
use codelode_service::tools;

/// Repositories that are asked when none is named: those indexed last.
const MOST_REPOS: usize = 3;
/// Tokens of an answer, lines of a symbol's code, and symbols.
const BUDGET: u64 = 6_000;
const LINES: usize = 12;
pub(super) const MOST: usize = 5;
/// Bytes of a symbol's code.
const MOST_BYTES: usize = 4_000;
/// Letters of a word that stands out.
const LEAST_LETTERS: usize = 4;

/// The symbols that answer best, with the beginning of their code.
pub(super) fn found(asked: &Asked<'_>) -> Markup {
    let registry = asked.cx.indexes.registry();
    let repos = match asked.value("repo") {
        "" => {
            let mut all = registry.all();
            all.sort_by_key(|sidecar| std::cmp::Reverse(sidecar.indexed_at));
            all.truncate(MOST_REPOS);
            all
        }
        repo => registry.get(repo).into_iter().collect(),
    };
    let is_one = repos.len() == 1;
    html! {
        @for sidecar in &repos {
            @if !is_one { h3 { (Visible(&sidecar.repo)) } }
            (of_repo(asked, &sidecar.repo))
        }
    }
}

fn of_repo(asked: &Asked<'_>, repo: &str) -> Markup {
    let mut args = Map::new();
    args.insert("repo".to_owned(), repo.into());
    args.insert("query".to_owned(), asked.value("q").into());
    args.insert("token_budget".to_owned(), BUDGET.into());
    if !asked.value("file").is_empty() {
        args.insert("scope".to_owned(), asked.value("file").into());
    }
    let envelope = tools::call(asked.cx, "get_ranked_context", args, &view::request());
    if envelope.is_error {
        return super::search::problem(text(&envelope.value, "error"));
    }
    let items = list(&envelope.value, "items");
    html! {
        @if items.is_empty() { p.weak { "Nothing answers it." } }
        @else if text(&envelope.value, "confidence") == "low" { (unsure()) }
        ol.symbols { @for item in items.iter().take(MOST) { li { (symbol(asked, repo, item)) } } }
    }
}

fn symbol(asked: &Asked<'_>, repo: &str, item: &Value) -> Markup {
    let shown = if text(item, "source").is_empty() { text(item, "signature") } else { text(item, "source") };
    with_code(asked, repo, text(item, "symbol_id"), item, shown)
}

/// The first of some symbols that were found, each with the beginning of its code, which is read from the index. `sureness` is
/// the confidence that the answer is among them.
pub(super) fn typed(asked: &Asked<'_>, found: &[Value], sureness: &str, repo_of: impl Fn(&Value) -> String) -> Markup {
    let mut codes = Codes::new(asked);
    html! {
        @if found.is_empty() { p.weak { "Nothing answers it." } }
        @else if sureness == "low" { (unsure()) }
        ol.symbols { @for hit in found.iter().take(MOST) { li {
            @let repo = repo_of(hit);
            @let code = codes.beginning(&repo, text(hit, "id"));
            (with_code(asked, &repo, text(hit, "id"), hit, code.as_deref().unwrap_or(text(hit, "signature"))))
        } } }
    }
}

fn unsure() -> Markup {
    html! { p.weak { "Any of these may answer it, or other words may find it." } }
}

fn with_code(asked: &Asked<'_>, repo: &str, id: &str, item: &Value, shown: &str) -> Markup {
    let (path, name) = id.split_once("::").unwrap_or((id, id));
    let name = name.split('#').next().unwrap_or(name);
    let line = item["line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(1);
    // Short words of a sentence stand everywhere.
    let words: Vec<String> = words(asked).into_iter().filter(|word| word.len() >= LEAST_LETTERS).collect();
    html! {
        a.hit href=(links::line(repo, path, line)) { (Marked { text: name, words: &words }) } " "
        span.place { (Visible(path)) ":" (line) } " " a.place.to-uses href=(links::symbol_by_id(repo, id)) { "uses" }
        (snippet(shown, &words))
    }
}

/// The first lines of a code.
pub(super) fn snippet(code: &str, words: &[String]) -> Markup {
    let lines: Vec<&str> = code.lines().take(LINES + 1).collect();
    let shown = lines[..lines.len().min(LINES)].join("\n");
    html! { pre.snippet tabindex="0" { code { (Marked { text: &shown, words }) @if lines.len() > LINES { "\n…" } } } }
}

/// Codes of symbols that were found, from indexes that are opened once. Their files were compared with the disk just now.
pub(super) struct Codes<'a> {
    asked: &'a Asked<'a>,
    opened: HashMap<String, Option<Repo>>,
}

impl<'a> Codes<'a> {
    pub fn new(asked: &'a Asked<'a>) -> Self {
        Self { asked, opened: HashMap::new() }
    }

    /// The beginning of a symbol's code; a line more than [`snippet`] shows if it goes on. `None` for one that is gone.
    pub fn beginning(&mut self, repo: &str, id: &str) -> Option<String> {
        let asked = self.asked;
        let open = || {
            let request = view::request();
            open_as_indexed(&asked.cx.caller(&request), Some(repo)).ok()
        };
        let repo = self.opened.entry(repo.to_owned()).or_insert_with(open).as_ref()?;
        let symbol = related::symbol(repo, id).ok()?;
        let source = symbol.indented_source();
        let end = memchr::memchr_iter(b'\n', source).nth(LINES).unwrap_or(source.len());
        Some(String::from_utf8_lossy(&source[..end.min(MOST_BYTES)]).into_owned())
    }
}
