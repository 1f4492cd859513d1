//! Page of a symbol: its definition, documentation, relations, and uses by file and kind. Uses where only the name matches
//! stand apart.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::code::shown_as;
use super::failure::Failure;
use super::folder::crumbs;
use super::layout::Page;
use super::lines::in_colours;
use super::links;
use super::names::class;
use super::routes::Asked;
use super::start::grouped;
use super::text::{Visible, plain};
use super::view::{self, View};
use codelode_base::model::{Kind, Role};
use codelode_query::UseSite as Use;
use codelode_query::{self as query, Direction};
use codelode_service::catalog::related;
use codelode_store::SymbolView;

/// Uses on one page.
const MOST_USES: usize = 500;
/// Symbols in a list.
const MOST: usize = 100;
/// Characters of a signature in a list, and of a line.
const SIGNATURE: usize = 160;
const LINE: usize = 200;

/// Shows a symbol.
pub(super) fn page(asked: &Asked<'_>, repo: &str) -> Result<Page, Failure> {
    view::on(asked.cx, repo, |view| {
        let symbol = related::symbol(view.repo, asked.value("id"))?;
        let uses = Uses::of(view, &symbol);
        let name = symbol.qualified_name();
        let body = html! {
            main.symbol {
                (crumbs(view.id(), symbol.file.path()))
                h1 { span class=(class(&symbol, false)) { (Visible(&name)) } " " span.weak { (symbol.detail().as_str()) } }
                (definition(view, &symbol))
                (ways(view, &symbol, true))
                (relations(view, &symbol, false))
                (uses.shown(asked, view, None, &links::symbol(view.id(), &symbol)))
            }
        };
        let mut paths: Vec<String> =
            uses.sure.iter().take(MOST_USES).map(|place| place.file.path().to_owned()).collect();
        paths.push(symbol.file.path().to_owned());
        paths.dedup();
        Ok((Page::of_repo(name, view.id(), body), paths))
    })
}

/// The same as a part of the page of a file, whose links keep it open; `address` leads to it.
pub(super) fn about(asked: &Asked<'_>, view: &View<'_>, symbol: &SymbolView<'_>, address: &str) -> Markup {
    html! {
        (ways(view, symbol, false))
        (Uses::of(view, symbol).shown(asked, view, Some(&symbol.id()), address))
        (relations(view, symbol, true))
    }
}

fn definition(view: &View<'_>, symbol: &SymbolView<'_>) -> Markup {
    let signature = String::from_utf8_lossy(symbol.signature_source()).into_owned();
    let doc = symbol.docstring();
    html! {
        p {
            a href=(links::line(view.id(), symbol.file.path(), symbol.line())) {
                (Visible(symbol.file.path())) ":" (symbol.line())
            }
            " " span.weak { "lines " (symbol.first_line()) "–" (symbol.end_line()) }
        }
        @if !signature.trim().is_empty() { pre.signature tabindex="0" { code { (in_colours(signature.trim_end(), shown_as(symbol.file))) } } }
        @if !doc.trim().is_empty() { div.doc { (Visible(doc.trim())) } }
    }
}

/// Address and name of the picture of a symbol; `None` for a kind without one.
pub(super) fn picture(view: &View<'_>, symbol: &SymbolView<'_>) -> Option<(String, &'static str)> {
    let (of, depth, name) = match symbol.kind() {
        // Callers, and who calls those.
        Kind::Function | Kind::Method => ("calls", "2", "Calls"),
        Kind::Class | Kind::Type => ("classes", "", "Classes"),
        Kind::Constant => return None,
    };
    Some((links::picture(view.id(), "", &[("of", of), ("id", &symbol.id()), ("depth", depth)]), name))
}

/// Ways to its picture, to what a change of it may break, and to the commits that changed it.
fn ways(view: &View<'_>, symbol: &SymbolView<'_>, to_history: bool) -> Markup {
    html! {
        p.facets data-copy=(plain(&symbol.id())) data-label="Copy id" {
            @if let Some((address, name)) = picture(view, symbol) { a href=(address) { (name) " as a picture" } " " }
            a href=(links::impact(view.id(), symbol)) { "Impact of a change" } " "
            @if to_history { a href=(links::panel(view.id(), symbol.file.path(), &symbol.id(), symbol.line(), &[("show", "history")])) { "History" } }
        }
    }
}

/// Symbols that it belongs to, calls, is called by, extends or overrides.
fn relations(view: &View<'_>, symbol: &SymbolView<'_>, in_panel: bool) -> Markup {
    let (snapshot, edges, number) = (view.snapshot, view.edges, symbol.number());
    let calls = |direction| {
        let (calls, _) = query::calls(snapshot, edges, number, direction, 1);
        calls.into_iter().map(|call| call.symbol).collect::<Vec<_>>()
    };
    let classes = |upwards| {
        let found = query::hierarchy(snapshot, edges, number, upwards);
        let bounds = query::bounds(snapshot, edges, number, upwards);
        found.into_iter().chain(bounds).map(|(class, _)| class).collect::<Vec<_>>()
    };
    // Those of a class are the classes that extend it.
    let implementations = match symbol.kind() {
        Kind::Method => query::implementations(snapshot, edges, symbol).into_iter().map(|(found, _)| found).collect(),
        _ => Vec::new(),
    };
    let parts = [
        ("Callers", calls(Direction::Callers)),
        ("Calls", calls(Direction::Callees)),
        ("Extends", classes(true)),
        ("Extended by", classes(false)),
        ("Overrides", query::overridden(snapshot, edges, symbol)),
        ("Overridden or implemented by", implementations),
        ("Members", symbol.children().collect()),
    ];
    html! {
        @for (title, found) in parts.iter().filter(|(_, found)| !found.is_empty()) {
            section {
                h2 { (title) " " span.weak { (grouped(found.len() as u64)) } }
                (list(view, found, in_panel))
            }
        }
    }
}

/// Symbols with their places; from a panel each leads to its code and its own panel.
pub(super) fn list(view: &View<'_>, symbols: &[SymbolView<'_>], in_panel: bool) -> Markup {
    let address = |symbol: &SymbolView<'_>| match in_panel {
        true => links::panel(view.id(), symbol.file.path(), &symbol.id(), symbol.line(), &[]),
        false => links::symbol(view.id(), symbol),
    };
    html! {
        ul.symbols {
            @for symbol in symbols.iter().take(MOST) {
                li {
                    a class=(class(symbol, false)) href=(address(symbol)) { (Visible(&symbol.qualified_name())) }
                    " " span.kind { (symbol.detail().as_str()) } " "
                    a.place href=(links::line(view.id(), symbol.file.path(), symbol.line())) {
                        (Visible(symbol.file.path())) ":" (symbol.line())
                    }
                    div.line { code { (Visible(&symbol.signature(SIGNATURE))) } }
                }
            }
            @if symbols.len() > MOST { li.weak { "and " (grouped((symbols.len() - MOST) as u64)) " more" } }
        }
    }
}

/// Uses of a symbol.
struct Uses<'a> {
    sure: Vec<Use<'a>>,
    possible: Vec<Use<'a>>,
}

impl<'a> Uses<'a> {
    fn of(view: &View<'a>, symbol: &SymbolView<'_>) -> Self {
        let sure = query::uses(view.snapshot, view.edges, symbol.number());
        let possible = query::possible_uses(view.snapshot, view.edges, &[*symbol]);
        Self { sure, possible }
    }

    /// Uses of the kind that is asked for. `panel` is the symbol whose panel stays open.
    fn shown(&self, asked: &Asked<'_>, view: &View<'_>, panel: Option<&str>, address: &str) -> Markup {
        let (kind, from) = (asked.value("kind"), asked.number("from").unwrap_or(0) as usize);
        let mut kinds: BTreeMap<Role, usize> = BTreeMap::new();
        self.sure.iter().for_each(|place| *kinds.entry(place.edge.role()).or_default() += 1);
        let wanted = |place: &&Use<'_>| kind.is_empty() || place.edge.role().as_str() == kind;
        let shown: Vec<&Use<'_>> = self.sure.iter().filter(wanted).collect();
        html! {
            section #uses {
                h2 { "Uses " span.weak { (grouped(self.sure.len() as u64)) " resolved" } }
                @if kinds.len() > 1 {
                    nav.facets aria-label="Kinds of use" {
                        a href={ (address) "#uses" } aria-current=[kind.is_empty().then_some("true")] { "all" }
                        @for (role, count) in &kinds {
                            " "
                            a href={ (address) "&kind=" (role.as_str()) "#uses" }
                                aria-current=[(role.as_str() == kind).then_some("true")] {
                                (role.as_str()) " " (grouped(*count as u64))
                            }
                        }
                    }
                }
                @if shown.is_empty() { p.weak { "No use of it is resolved." } }
                (by_file(view, panel, shown.iter().skip(from).take(MOST_USES).copied()))
                @if shown.len() > from + MOST_USES {
                    p { a href={ (address) "&kind=" (kind) "&from=" (from + MOST_USES) "#uses" } {
                        "The next of " (grouped((shown.len() - from - MOST_USES) as u64)) " more"
                    } }
                }
            }
            @if !self.possible.is_empty() {
                section #possible {
                    h2 { "Possible uses " span.weak { (grouped(self.possible.len() as u64)) " of this name, not resolved" } }
                    (by_file(view, panel, self.possible.iter().take(MOST_USES)))
                    @if self.possible.len() > MOST_USES {
                        p.weak { "and " (grouped((self.possible.len() - MOST_USES) as u64)) " more" }
                    }
                }
            }
        }
    }
}

/// Uses under the files that they are in.
fn by_file<'u>(view: &View<'_>, panel: Option<&str>, uses: impl Iterator<Item = &'u Use<'u>>) -> Markup {
    let uses: Vec<&Use<'_>> = uses.collect();
    let address = |path: &str, line: u32| match panel {
        Some(id) => links::panel(view.id(), path, id, line, &[]),
        None => links::line(view.id(), path, line),
    };
    html! {
        @for of_file in uses.chunk_by(|a, b| a.edge.file == b.edge.file) {
            @let path = of_file[0].file.path();
            h3 { a href=(links::file(view.id(), path)) { (Visible(path)) } " " span.weak { (of_file.len()) } }
            ol.uses {
                @for place in of_file {
                    @let text: String = place.text().chars().take(LINE).collect();
                    li {
                        a href=(address(path, place.line)) {
                            span.at { (place.line) } " " code { (Visible(&text)) }
                        }
                        " " span.weak { (place.edge.role().as_str()) }
                    }
                }
            }
        }
    }
}
