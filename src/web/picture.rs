//! Pages of pictures: calls of a symbol, classes around one, files around a file, and imports between folders.

use maud::{Markup, PreEscaped, html};

use super::failure::Failure;
use super::folder::crumbs;
use super::layout::Page;
use super::links;
use super::routes::{Asked, Place, Reply};
use super::start::grouped;
use super::text::Visible;
use super::view::{self, View};
use crate::catalog::related;
use crate::pictures::{self, Graph};
use crate::store::{FileView, SymbolView};

/// The deepest level of calls, and of imports.
const DEEPEST: u32 = 3;

/// Forms of a picture beside its page: name in an address, name for people, kind of content.
const FORMS: [(&str, &str, &str); 3] = [
    ("svg", "SVG", "image/svg+xml"),
    ("mermaid", "Mermaid", "text/plain; charset=utf-8"),
    ("dot", "DOT", "text/plain; charset=utf-8"),
];

/// Shows a picture of a symbol's calls or classes, or of a file's imports.
pub(super) fn page(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    let depth = asked.number("depth").unwrap_or(1).clamp(1, DEEPEST);
    view::on(asked.cx, &place.repo, |view| {
        let of = asked.value("of");
        let graph_of = |symbol: &SymbolView<'_>| links::picture(view.id(), "", &[("of", of), ("id", &symbol.id())]);
        let file_graph = |file: &FileView<'_>| links::picture(view.id(), file.path(), &[("of", "files")]);
        let (graph, name, target) = match of {
            "files" => {
                let file = view.file(&place.path)?;
                let graph = pictures::files(view.snapshot, view.edges, file, depth, &file_graph);
                (graph, file.path().to_owned(), links::file(view.id(), file.path()))
            }
            _ => {
                let symbol = related::symbol(view.repo, asked.value("id"))?;
                let graph = match of {
                    "classes" => pictures::classes(view.snapshot, view.edges, &symbol, &graph_of),
                    _ => pictures::calls(view.snapshot, view.edges, &symbol, depth, &graph_of),
                };
                (graph, symbol.qualified_name(), links::symbol(view.id(), &symbol))
            }
        };
        let what = match of {
            "files" => "Imports around",
            "classes" => "Classes around",
            _ => "Calls around",
        };
        let title = format!("{what} {name}");
        if let Some((form, _, kind)) = FORMS.iter().find(|(form, ..)| *form == asked.value("as")) {
            let text = match *form {
                "svg" => pictures::svg(&graph, &title, false),
                "mermaid" => pictures::mermaid(&graph),
                _ => pictures::dot(&graph),
            };
            return Ok((Reply::File(kind, text.into_bytes()), Vec::new()));
        }
        let address = |depth: u32, form: &str| {
            let depth = depth.to_string();
            links::picture(
                view.id(),
                &place.path,
                &[("of", of), ("id", asked.value("id")), ("depth", &depth), ("as", form)],
            )
        };
        let path =
            if place.path.is_empty() { asked.value("id").split("::").next().unwrap_or_default() } else { &place.path };
        let body = html! {
            main.wide {
                (crumbs(view.id(), path))
                h1 { (what) " " a href=(target) { (Visible(&name)) } }
                p.facts {
                    @if of != "classes" {
                        span { "Depth" }
                        @for other in 1..=DEEPEST {
                            a href=(address(other, "")) aria-current=[(other == depth).then_some("true")] { (other) }
                        }
                    }
                    span.acts { @for (form, name, _) in FORMS { a href=(address(depth, form)) { (name) } } }
                }
                (drawn(&graph, &title))
            }
        };
        Ok((Reply::Page(Page::of_repo(title, view.id(), body)), Vec::new()))
    })
}

fn drawn(graph: &Graph, title: &str) -> Markup {
    html! {
        @if graph.edges.is_empty() {
            p { "Nothing else is known here." }
        } @else {
            p.weak { "A line leads from what uses to what is used; a dashed one is not sure. A name leads to its own picture." }
            div.scrolls tabindex="0" role="region" aria-label="Picture" { (PreEscaped(pictures::svg(graph, title, true))) }
            @if graph.left > 0 {
                p.weak { (grouped(graph.left as u64)) " more are left out: a picture has at most " (pictures::MOST) "." }
            }
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
                        "A number counts imports from the folder of its row into that of its column. Folders are ordered so that imports lie
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
