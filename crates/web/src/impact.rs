//! Page of a change's impact: the files that depend on a symbol, nearest first.

use maud::{Markup, html};

use super::failure::Failure;
use super::folder::crumbs;
use super::layout::Page;
use super::links;
use super::names::class;
use super::routes::Asked;
use super::start::grouped;
use super::text::Visible;
use super::view::{self, View};
use codelode_query::{self as query, AffectedFile, BlastDoubt};
use codelode_service::catalog::related;

/// Steps that uses are followed.
const DEPTH: u32 = 3;
/// Files of a list, and symbols of a file.
const MOST: usize = 200;
const MOST_SYMBOLS: usize = 12;

/// Shows what a change of a symbol may break.
pub(super) fn page(asked: &Asked<'_>, repo: &str) -> Result<Page, Failure> {
    view::on(asked.cx, repo, |view| {
        let symbol = related::symbol(view.repo, asked.value("id"))?;
        let blast = query::blast(view.snapshot, view.edges, &symbol, DEPTH);
        let name = symbol.qualified_name();
        let body = html! {
            main.symbol {
                (crumbs(view.id(), symbol.file.path()))
                h1 { "A change of " a href=(links::symbol(view.id(), &symbol)) { (Visible(&name)) } }
                p {
                    (if blast.direct == 1 { "1 symbol uses it itself".to_owned() } else { format!("{} symbols use it themselves", grouped(blast.direct as u64)) }) "; "
                    (grouped(blast.confirmed.len() as u64)) " of " (grouped(blast.files as u64)) " files depend on it within "
                    (DEPTH) " steps, " (grouped(blast.potential.len() as u64)) " more may. "
                    a href=(links::picture(view.id(), "", &[("of", "blast"), ("id", &symbol.id()), ("depth", "2")])) { "As a picture" }
                }
                @for of_depth in blast.confirmed.chunk_by(|a, b| a.depth == b.depth) {
                    section {
                        h2 {
                            @if of_depth[0].depth == 1 { "Use it themselves" } @else { (of_depth[0].depth) " steps away" }
                            " " span.weak { (grouped(of_depth.len() as u64)) }
                        }
                        ul.symbols { @for affected in of_depth.iter().take(MOST) { (file(view, affected)) } }
                        @if of_depth.len() > MOST { p.weak { "and " (grouped((of_depth.len() - MOST) as u64)) " more" } }
                    }
                }
                @if !blast.potential.is_empty() {
                    section {
                        h2 { "May be affected " span.weak { (grouped(blast.potential.len() as u64)) } }
                        ul.symbols {
                            @for (file, doubt) in blast.potential.iter().take(MOST) {
                                li {
                                    a.hit href=(links::file(view.id(), file.path())) { (Visible(file.path())) } " "
                                    span.weak { (reason(*doubt)) }
                                }
                            }
                        }
                        @if blast.potential.len() > MOST { p.weak { "and " (grouped((blast.potential.len() - MOST) as u64)) " more" } }
                    }
                }
            }
        };
        Ok((Page::of_repo(format!("A change of {name}"), view.id(), body), vec![symbol.file.path().to_owned()]))
    })
}

fn file(view: &View<'_>, affected: &AffectedFile<'_>) -> Markup {
    html! {
        li {
            a.hit href=(links::file(view.id(), affected.file.path())) { (Visible(affected.file.path())) }
            div.line {
                @for (place, symbol) in affected.symbols.iter().take(MOST_SYMBOLS).enumerate() {
                    @if place > 0 { ", " }
                    a class=(class(symbol, false)) href=(links::line(view.id(), symbol.file.path(), symbol.line())) {
                        (Visible(&symbol.qualified_name()))
                    }
                }
                @if affected.symbols.len() > MOST_SYMBOLS { ", …" }
            }
        }
    }
}

/// The reason why a file may be affected.
fn reason(doubt: BlastDoubt) -> &'static str {
    match doubt {
        BlastDoubt::Through => "calls the field or table that holds it",
        BlastDoubt::Name => "writes the name",
        BlastDoubt::Import => "imports the file",
    }
}
