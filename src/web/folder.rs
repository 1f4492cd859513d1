//! Page of a folder: what is in it, and how much.

use maud::{Markup, html};

use super::failure::Failure;
use super::layout::Page;
use super::routes::{Asked, Place, Reply};
use super::start::{counted, grouped};
use super::text::{Visible, plain};
use super::view::{self, View};
use super::{links, markdown};
use crate::query::{self, Node};
use crate::store::FileView;

/// Bytes of a description that is no Markdown.
const MOST_PLAIN: usize = 20_000;

pub(super) fn page(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    let path = place.path.trim_matches('/');
    if place.version.is_some() {
        let now = links::folder(&place.repo, path);
        return Err(Failure::missing("Versions are shown of files alone.").instead(now, "This folder now"));
    }
    view::on(asked.cx, &place.repo, |view| {
        let mut nodes = query::tree(view.snapshot, path, 1);
        // Folders first, as in most listings.
        nodes.sort_by_key(|node| matches!(node, Node::File { .. }));
        match &nodes[..] {
            [Node::File { path: file, .. }] if file == path => {
                return Ok((Reply::Elsewhere(links::file(view.id(), path)), Vec::new()));
            }
            [] if !path.is_empty() => {
                return Err(Failure::missing(format!("No folder {path:?} is indexed in {}.", view.id())));
            }
            _ => {}
        }
        let title = if path.is_empty() { view.id() } else { path };
        let described = readme(view, &nodes);
        let body = html! {
            main {
                (crumbs(view.id(), path))
                h1.out-of-sight { "Files of " (Visible(title)) }
                @if path.is_empty() { (facts(view)) }
                p.facts { span.acts {
                    @if view.repo.root.is_some() && path.is_empty() { a href=(links::change(view.id(), &[("since", "HEAD")])) { "Changes since HEAD" } }
                    a href=(links::matrix(view.id(), path)) { "Imports between folders" }
                } }
                div.scrolls tabindex="0" role="region" aria-label="Files" { table.files {
                    thead { tr {
                        th scope="col" { "Name" }
                        th scope="col" { "Language" }
                        th.number scope="col" { "Lines" }
                        th.number scope="col" { "Symbols" }
                    } }
                    tbody { @for node in &nodes { (row(view.id(), node)) } }
                } }
                @if let Some(file) = described { (written(view, file)) }
            }
        };
        let paths = described.iter().map(|file| file.path().to_owned()).collect();
        Ok((Reply::Page(Page::of_repo(title, view.id(), body)), paths))
    })
}

/// The file of a folder that describes it.
fn readme<'a>(view: &View<'a>, nodes: &[Node]) -> Option<FileView<'a>> {
    let paths = nodes.iter().filter_map(|node| match node {
        Node::File { path, .. } => Some(path),
        Node::Folder { .. } => None,
    });
    let named = |path: &&String| last(path).get(..6).is_some_and(|begin| begin.eq_ignore_ascii_case("readme"));
    // Of several, the one that can be shown as it is meant.
    let best = paths.filter(named).min_by_key(|path| (!markdown::is_markdown(path), path.len()))?;
    view.snapshot.file(best)
}

/// A file that describes its folder.
fn written(view: &View<'_>, file: FileView<'_>) -> Markup {
    let end = file.content().len().min(MOST_PLAIN);
    let text = String::from_utf8_lossy(if markdown::is_markdown(file.path()) {
        file.content()
    } else {
        &file.content()[..end]
    });
    html! {
        section.readme aria-label=(plain(last(file.path()))) {
            p.name { a href=(links::file(view.id(), file.path())) { (Visible(last(file.path()))) } }
            @if markdown::is_markdown(file.path()) {
                div.prose { (markdown::shown(view.id(), file.path(), &text)) }
            } @else {
                pre.prose tabindex="0" { (Visible(&text)) }
            }
        }
    }
}

fn facts(view: &View<'_>) -> Markup {
    let sidecar = &view.repo.sidecar;
    html! {
        p.facts {
            (counted(sidecar.file_count as usize, "file")) ", " (counted(sidecar.symbol_count as usize, "symbol"))
            @if let Some(freshness) = view.repo.freshness { ", " (freshness.as_str()) }
            @if let Some(head) = view.repo.head() { ", at commit " code { (head.get(..10).unwrap_or(&head)) } }
        }
    }
}

fn row(repo: &str, node: &Node) -> Markup {
    match node {
        Node::Folder { path, files, .. } => html! {
            tr {
                th scope="row" { a.folder href=(links::folder(repo, path)) { (Visible(last(path))) } }
                td.weak colspan="3" { (counted(*files as usize, "file")) }
            }
        },
        Node::File { path, language, symbols, lines } => html! {
            tr {
                th scope="row" { a href=(links::file(repo, path)) { (Visible(last(path))) } }
                td { (language) }
                td.number { (grouped((*lines).into())) }
                td.number { @if *symbols > 0 { (grouped((*symbols).into())) } }
            }
        },
    }
}

/// The last part of a path, with the slash of a folder.
fn last(path: &str) -> &str {
    let end = path.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
    &path[end..]
}

/// The way to a path, each step a link.
pub(super) fn crumbs(repo: &str, path: &str) -> Markup {
    let steps: Vec<(usize, &str)> = path
        .split('/')
        .filter(|part| !part.is_empty())
        .scan(0, |end, part| {
            *end += part.len() + 1;
            Some((*end, part))
        })
        .collect();
    html! {
        nav.crumbs aria-label="Path" { ol {
            li { a href=(links::folder(repo, "")) { (Visible(repo)) } }
            @for (place, (end, part)) in steps.iter().enumerate() {
                @let is_last = place + 1 == steps.len();
                li {
                    @if is_last { span aria-current="page" { (Visible(part)) } }
                    @else { a href=(links::folder(repo, &path[..*end])) { (Visible(part)) } }
                }
            }
        } }
    }
}
