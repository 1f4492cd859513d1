//! Code that answers a sentence, in a search.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::links;
use super::routes::Asked;
use super::search::{list, text, words};
use super::text::{Marked, Visible};
use super::view;
use crate::tools;

/// Repositories that are asked when none is named: those indexed last.
const MOST_REPOS: usize = 3;
/// Tokens of an answer, lines of a symbol's code, and symbols.
const BUDGET: u64 = 6_000;
const LINES: usize = 12;
const MOST: usize = 5;
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
        @else if text(&envelope.value, "confidence") == "low" { p.weak { "Any of these may answer it, or other words may find it." } }
        ol.symbols { @for item in items.iter().take(MOST) { li { (symbol(asked, repo, item)) } } }
    }
}

fn symbol(asked: &Asked<'_>, repo: &str, item: &Value) -> Markup {
    let id = text(item, "symbol_id");
    let (path, name) = id.split_once("::").unwrap_or((id, id));
    let name = name.split('#').next().unwrap_or(name);
    let line = item["line"].as_u64().and_then(|line| u32::try_from(line).ok()).unwrap_or(1);
    let shown = if text(item, "source").is_empty() { text(item, "signature") } else { text(item, "source") };
    // Short words of a sentence stand everywhere.
    let words: Vec<String> = words(asked).into_iter().filter(|word| word.len() >= LEAST_LETTERS).collect();
    let code: Vec<&str> = shown.lines().take(LINES).collect();
    html! {
        a.hit href=(links::line(repo, path, line)) { (Marked { text: name, words: &words }) } " "
        span.place { (Visible(path)) ":" (line) } " " a.place.to-uses href=(links::symbol_by_id(repo, id)) { "uses" }
        pre.snippet tabindex="0" { code { (Marked { text: &code.join("\n"), words: &words }) @if shown.lines().count() > LINES { "\n…" } } }
    }
}
