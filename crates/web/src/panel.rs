//! Panel beside a file: uses of a symbol, and the commits that changed it.

use std::time::{Duration, Instant};

use maud::{Markup, html};

use super::failure::Failure;
use super::links;
use super::margin::history;
use super::names::class;
use super::routes::Asked;
use super::start::ago;
use super::symbol;
use super::text::Visible;
use super::view::View;
use codelode_query::{self as query, Bounds};
use codelode_service::catalog::related;
use codelode_store::SymbolView;

/// Commits that are shown.
const MOST_COMMITS: usize = 30;
/// Time for walking through the history.
const PATIENCE: Duration = Duration::from_secs(3);

/// The panel that a request asks for, beside the file at `path`; empty for none.
pub(super) fn panel(asked: &Asked<'_>, view: &View<'_>, path: &str) -> Result<Markup, Failure> {
    let id = asked.value("panel");
    if id.is_empty() {
        return Ok(html! {});
    }
    let symbol = match related::symbol(view.repo, id) {
        Ok(symbol) => symbol,
        // An edit may have taken it away; the file is still worth reading.
        Err(err) => return Ok(html! { aside.panel aria-label="Symbol" { p.problem { (Visible(&err.message)) } } }),
    };
    let shows_history = asked.value("show") == "history";
    let at = asked.value("at");
    let with = |id: &str, show: &str| {
        let pairs = [
            ("panel", id),
            ("show", show),
            ("blame", asked.value("blame")),
            ("since", asked.value("since")),
            ("at", at),
        ];
        links::with_query(links::file(view.id(), path), &pairs)
    };
    Ok(html! {
        aside.panel aria-label="Symbol" {
            p.title {
                a class=(class(&symbol, false)) href=(links::symbol(view.id(), &symbol)) { (Visible(&symbol.qualified_name())) }
                " " span.weak { (symbol.detail().as_str()) }
                a.close href=(with("", "")) aria-label="Close the panel" { "×" }
            }
            nav.facets aria-label="Of the symbol" {
                a href=(with(id, "")) aria-current=[(!shows_history).then_some("true")] { "Uses" } " "
                a href=(with(id, "history")) aria-current=[shows_history.then_some("true")] { "History" }
            }
            @if shows_history { (commits(asked, view, &symbol)) } @else { (symbol::about(asked, view, &symbol, &with(id, ""))) }
        }
    })
}

/// Commits that changed a symbol, the newest first.
fn commits(asked: &Asked<'_>, view: &View<'_>, symbol: &SymbolView<'_>) -> Markup {
    let until = Instant::now() + PATIENCE;
    let past = history(asked, view).and_then(|history| {
        let bounds = Bounds::within(asked.cx.config.max_file_size, PATIENCE);
        let is_over = || Instant::now() >= until;
        query::past(&history, view.snapshot, symbol, (MOST_COMMITS, &bounds), &is_over).map_err(|err| err.to_string())
    });
    let past = match past {
        Ok(past) => past,
        Err(why) => return html! { p.problem { "No history: " (Visible(&why)) "." } },
    };
    html! {
        @if past.is_edited { p.weak { "It differs from the last commit." } }
        @if past.steps.is_empty() && !past.is_edited { p.weak { "No commit has it." } }
        ol.commits {
            @for step in &past.steps {
                @let (commit, path) = (&step.commit.commit, step.id.split("::").next().unwrap_or_default());
                @let before = format!("{commit}~1");
                li {
                    a href=(links::change(view.id(), &[("commit", commit), ("path", path)])) { (Visible(step.commit.subject())) }
                    div.weak {
                        (Visible(&step.commit.author)) ", " (ago(step.commit.time)) " "
                        @if step.is_new { "added" } @else if step.was.is_some() { "renamed" }
                        @else if step.signature_changed { "signature" }
                        " " a href=(links::with_query(links::version(view.id(), commit, path), &[("since", before.as_str())])) { "then" }
                    }
                }
            }
        }
        @if !past.is_whole { p.weak { "Older commits were not read: they are not in this clone, or there was no time." } }
    }
}
