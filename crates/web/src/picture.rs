//! Pages of pictures: calls of a symbol, classes around one, users of a symbol or of a change, files around a file, and imports
//! between folders.

use maud::{Markup, PreEscaped, html};

use super::failure::Failure;
use super::folder::crumbs;
use super::layout::Page;
use super::routes::{Asked, Place, Reply};
use super::text::Visible;
use super::view::{self, View};
use super::{change, links};
use codelode_query as query;
use codelode_query::pictures::{self, EdgeCertainty, Graph};
use codelode_service::catalog::related;
use codelode_store::{FileView, SymbolId, SymbolView};

/// The deepest level of calls, and of imports.
const DEEPEST: u32 = 3;

/// Keys that name a change.
const CHANGE: [&str; 3] = ["commit", "since", "until"];

/// Forms of a picture beside its page: name in an address, name for people, kind of content.
const FORMS: [(&str, &str, &str); 3] = [
    ("svg", "SVG", "image/svg+xml"),
    ("mermaid", "Mermaid", "text/plain; charset=utf-8"),
    ("dot", "DOT", "text/plain; charset=utf-8"),
];

/// Words for lines by how certain they are.
const LEGEND: [(EdgeCertainty, &str); 3] = [
    (EdgeCertainty::Resolved, "resolved"),
    (EdgeCertainty::Through, "through an overridden method"),
    (EdgeCertainty::Possible, "possible: only the name matches"),
];

/// Shows a picture of a symbol's calls, classes or users, of a file's imports, or of the users of a change.
pub(super) fn page(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    view::on(asked.cx, &place.repo, |view| {
        let depth = asked.number("depth").unwrap_or(1).clamp(1, DEEPEST);
        let Drawn { mut graph, what, name, target, path } = draw(asked, view, place, depth)?;
        let title = format!("{what} {name}");
        if let Some((form, _, kind)) = FORMS.iter().find(|(form, ..)| *form == asked.value("as")) {
            let text = match *form {
                "svg" => pictures::svg(&graph, &title, false),
                "mermaid" => pictures::mermaid(&graph),
                _ => pictures::dot(&graph),
            };
            return Ok((Reply::File(kind, text.into_bytes()), Vec::new()));
        }
        expandable(asked, view, &mut graph, depth);
        if asked.value("as") == "part" {
            return Ok((Reply::Part(drawn(&graph, &title)), Vec::new()));
        }
        let address = |depth: u32, form: &str| {
            let opened = if form.is_empty() { Vec::new() } else { asked.values("open").collect() };
            links::picture(view.id(), &place.path, &pairs(asked, &depth.to_string(), form, &opened))
        };
        let body = html! {
            main.wide {
                (crumbs(view.id(), &path))
                h1 { (what) " " a href=(target) { (Visible(&name)) } }
                p.facts {
                    @if asked.value("of") != "classes" {
                        span { "Depth" }
                        @for other in 1..=DEEPEST {
                            a href=(address(other, "")) aria-current=[(other == depth).then_some("true")] { (other) }
                        }
                    }
                    span.acts { @for (form, name, _) in FORMS { a href=(address(depth, form)) { (name) } } }
                }
                div #figure { (drawn(&graph, &title)) }
            }
        };
        Ok((Reply::Page(Page::of_repo(title, view.id(), body)), Vec::new()))
    })
}

/// A picture with what its page says of it.
struct Drawn {
    graph: Graph,
    what: &'static str,
    name: String,
    /// Address of what it is about.
    target: String,
    path: String,
}

fn draw(asked: &Asked<'_>, view: &View<'_>, place: &Place, depth: u32) -> Result<Drawn, Failure> {
    let (snapshot, edges) = (view.snapshot, view.edges);
    let code = |symbol: &SymbolView<'_>| links::line(view.id(), symbol.file.path(), symbol.line());
    match asked.value("of") {
        "files" => {
            let file = view.file(&place.path)?;
            let link = |file: &FileView<'_>| links::file(view.id(), file.path());
            let graph = pictures::files(snapshot, edges, file, depth, &link);
            let (name, path) = (file.path().to_owned(), file.path().to_owned());
            Ok(Drawn { graph, what: "Imports around", target: links::file(view.id(), &name), name, path })
        }
        "change" => {
            let graph = change::picture(view, &change::read(asked, view)?, depth);
            let pairs = CHANGE.map(|key| (key, asked.value(key)));
            let name =
                pairs.iter().map(|(_, value)| *value).find(|value| !value.is_empty()).unwrap_or("HEAD").to_owned();
            let target = links::change(view.id(), &pairs);
            Ok(Drawn { graph, what: "Users of the change", name, target, path: String::new() })
        }
        of => {
            let symbol = related::symbol(view.repo, asked.value("id"))?;
            let opened: Vec<SymbolId> = asked
                .values("open")
                .take(pictures::MOST)
                .filter_map(|id| Some(query::by_id(snapshot, id).ok()?.number()))
                .collect();
            let (graph, what) = match of {
                "classes" => (pictures::classes(snapshot, edges, &symbol, &code), "Classes around"),
                "blast" => (pictures::blast(snapshot, edges, &[symbol], depth, &code), "Users of"),
                _ => (pictures::calls(snapshot, edges, &symbol, (depth, &opened), &code), "Calls around"),
            };
            let (name, path) = (symbol.qualified_name(), symbol.file.path().to_owned());
            Ok(Drawn { graph, what, name, target: links::symbol(view.id(), &symbol), path })
        }
    }
}

/// Adds the addresses of pictures that show more around a node, or less.
fn expandable(asked: &Asked<'_>, view: &View<'_>, graph: &mut Graph, depth: u32) {
    let opened: Vec<&str> = asked.values("open").collect();
    for node in &mut graph.nodes {
        let is_open = opened.contains(&node.id.as_str());
        node.has_more &= !is_open;
        if !is_open && !node.has_more {
            continue;
        }
        let mut other: Vec<&str> = opened.iter().filter(|id| **id != node.id).copied().collect();
        if !is_open {
            other.push(&node.id);
        }
        node.more = links::picture(view.id(), "", &pairs(asked, &depth.to_string(), "", &other));
    }
}

/// The query of a picture's address.
fn pairs<'v>(asked: &'v Asked<'_>, depth: &'v str, form: &'v str, opened: &[&'v str]) -> Vec<(&'v str, &'v str)> {
    let mut pairs = vec![("of", asked.value("of")), ("id", asked.value("id")), ("depth", depth), ("as", form)];
    pairs.extend(CHANGE.map(|key| (key, asked.value(key))));
    pairs.extend(opened.iter().map(|id| ("open", *id)));
    pairs
}

fn drawn(graph: &Graph, title: &str) -> Markup {
    html! {
        @if graph.edges.is_empty() {
            p { "Nothing else is known here." }
        } @else {
            p.weak {
                "A line leads from the user to the used code. "
                @for (sureness, says) in LEGEND {
                    @if graph.edges.iter().any(|edge| edge.sureness == sureness) {
                        span.legend { (PreEscaped(pictures::sample(sureness))) " " (says) } " "
                    }
                }
                "A name leads to its code" @if graph.nodes.iter().any(|node| !node.more.is_empty()) { ", + shows more around it" } "."
            }
            div.scrolls tabindex="0" role="region" aria-label="Picture" { (PreEscaped(pictures::svg(graph, title, true))) }
            @if let Some(left_out) = graph.left_out() { p.weak { (left_out) } }
        }
    }
}

/// Shows which folders import which.
pub(super) fn matrix(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    let path = place.path.trim_matches('/');
    view::on(asked.cx, &place.repo, |view| {
        let matrix = pictures::matrix(view.snapshot, view.edges, path);
        let body = html! {
            main.wide {
                (crumbs(view.id(), path))
                h1 { "Imports between folders" }
                @if matrix.folders.is_empty() {
                    p { "No import between files is known here." }
                } @else {
                    p.weak {
                        "A number counts imports from the folder of its row into the folder of its column. Folders are ordered so that imports lie
                         above the diagonal; those of a cycle are marked."
                    }
                    (table(view, path, &matrix))
                    @if matrix.left > 0 { p.weak { (matrix.left) " smaller folders are left out." } }
                }
            }
        };
        Ok((Reply::Page(Page::of_repo("Imports between folders", view.id(), body)), Vec::new()))
    })
}

fn table(view: &View<'_>, below: &str, matrix: &pictures::Matrix) -> Markup {
    let name = |folder: &str| if folder.is_empty() { "(here)".to_owned() } else { folder.to_owned() };
    let inside = |folder: &str| if below.is_empty() { folder.to_owned() } else { format!("{below}/{folder}") };
    html! {
        div.scrolls tabindex="0" role="region" aria-label="Imports between folders" { table.matrix {
            thead { tr {
                th scope="col" { "Folder" }
                @for (number, _) in matrix.folders.iter().enumerate() { th.number scope="col" { (number + 1) } }
            } }
            tbody { @for (row, folder) in matrix.folders.iter().enumerate() {
                tr {
                    th scope="row" {
                        (row + 1) " "
                        @if folder.is_empty() { (name(folder)) }
                        @else { a href=(links::matrix(view.id(), &inside(folder))) { (Visible(folder)) } }
                        @if matrix.cycles[row] > 0 { " " span.cycle { "cycle " (matrix.cycles[row]) } }
                    }
                    @for (column, count) in matrix.counts[row].iter().enumerate() {
                        @let in_cycle = row != column && matrix.cycles[row] > 0 && matrix.cycles[row] == matrix.cycles[column];
                        @let title = format!("{} → {}", name(folder), name(&matrix.folders[column]));
                        @if *count > 0 {
                            td.number.own[row == column].cyclic[in_cycle] title=(super::text::plain(&title)) { (count) }
                        } @else {
                            td.own[row == column] {}
                        }
                    }
                }
            } }
        } }
    }
}
