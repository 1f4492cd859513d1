//! Page of a folder: what is in it, and how much.

use maud::{Markup, html};

use super::code::is_hash;
use super::failure::Failure;
use super::layout::Page;
use super::routes::{Asked, Place, Reply};
use super::start::{counted, grouped};
use super::text::{Visible, plain};
use super::view::{self, View};
use super::{links, markdown, versions};
use codelode_query::{self as query, Node};
use codelode_store::FileView;

/// Bytes of a description that is no Markdown.
const MOST_PLAIN: usize = 20_000;

pub(super) fn page(asked: &Asked<'_>, place: &Place) -> Result<Reply, Failure> {
    let path = place.path.trim_matches('/');
    view::on(asked.cx, &place.repo, |view| {
        // The index of a commit elsewhere holds that commit, and no other.
        let is_held = |version: &str| {
            let head = view.repo.sidecar.git_head.as_deref().filter(|_| view.repo.root.is_none());
            head.is_some_and(|head| is_hash(version) && head.starts_with(version))
        };
        if let Some(version) = place.version.as_deref().filter(|version| !is_held(version)) {
            return versions::folder(asked, view, version, path);
        }
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
        let readme = readme(view, &nodes);
        let body = html! {
            main {
                (crumbs(view.id(), path))
                h1.out-of-sight { "Files of " (Visible(title)) }
                @if path.is_empty() { (facts(view)) }
                p.facts { span.acts {
                    @if view.repo.root.is_some() && path.is_empty() { a href=(links::change(view.id(), &[("since", "HEAD")])) { "Changes since HEAD" } }
                    a href=(links::matrix(view.id(), path)) { "Imports between folders" }
                    @if let Some(head) = view.repo.head() {
                        " " a #permalink href=(versions::permanent(view.id(), &head, path)) title="This folder in the commit that is checked out" { "Permalink" }
                    }
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
                @if let Some(file) = readme { (described(&links::root(view.id(), None), file.path(), file.content())) }
            }
        };
        let paths = readme.iter().map(|file| file.path().to_owned()).collect();
        Ok((Reply::Page(Page::of_repo(title, view.id(), body)), paths))
    })
}

/// The file of a folder that describes it.
fn readme<'a>(view: &View<'a>, nodes: &[Node]) -> Option<FileView<'a>> {
    let paths = nodes.iter().filter_map(|node| match node {
        Node::File { path, .. } => Some(path.as_str()),
        Node::Folder { .. } => None,
    });
    view.snapshot.file(readme_of(paths)?)
}

/// The path among those of a folder's files that describes it.
pub(super) fn readme_of<'p>(paths: impl Iterator<Item = &'p str>) -> Option<&'p str> {
    let named = |path: &&str| last(path).get(..6).is_some_and(|begin| begin.eq_ignore_ascii_case("readme"));
    // Of several, the one that can be shown as it is meant.
    paths.filter(named).min_by_key(|path| (!markdown::is_markdown(path), path.len()))
}

/// A file that describes its folder, below the address of its repository.
pub(super) fn described(root: &str, path: &str, text: &[u8]) -> Markup {
    let end = text.len().min(MOST_PLAIN);
    let is_markdown = markdown::is_markdown(path);
    let text = String::from_utf8_lossy(if is_markdown { text } else { &text[..end] });
    html! {
        section.readme aria-label=(plain(last(path))) {
            p.name { a href=(links::below(root, path)) { (Visible(last(path))) } }
            @if is_markdown {
                div.prose { (markdown::shown(root, path, &text)) }
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
pub(super) fn last(path: &str) -> &str {
    let end = path.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
    &path[end..]
}

/// The way to a path, each step a link.
pub(super) fn crumbs(repo: &str, path: &str) -> Markup {
    crumbs_in(repo, None, path)
}

/// The same in a version.
pub(super) fn crumbs_in(repo: &str, version: Option<&str>, path: &str) -> Markup {
    let root = links::root(repo, version);
    // Forty digits are too many to read.
    let shown = version.map(|version| if is_hash(version) { &version[..version.len().min(10)] } else { version });
    // Each step with where the path to it ends.
    let mut steps: Vec<(usize, &str)> = Vec::new();
    let mut start = 0;
    for part in path.split('/') {
        let end = start + part.len();
        if !part.is_empty() {
            steps.push(((end + 1).min(path.len()), part));
        }
        start = end + 1;
    }
    html! {
        nav.crumbs aria-label="Path" { ol {
            li { a href=(links::below(&root, "")) { (Visible(repo)) @if let Some(version) = shown { "@" (Visible(version)) } } }
            @for (place, (end, part)) in steps.iter().enumerate() {
                @let is_last = place + 1 == steps.len();
                li {
                    @if is_last { span aria-current="page" { (Visible(part)) } }
                    @else { a href=(links::below(&root, &path[..*end])) { (Visible(part)) } }
                }
            }
        } }
    }
}
