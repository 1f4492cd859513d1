//! Names in documentation: a public name that pages for users mention is theirs to use.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::visible::is_part;
use crate::store::{FileView, SymbolView};

/// Endings of pages for users.
const PAGES: &[&str] = &["md", "mdx", "markdown", "rst", "txt", "adoc", "ipynb"];
/// Words in the paths of pages about the past and the future: they name what is gone.
const PAST: &[&str] = &[
    "changelog",
    "changelogs",
    "changes",
    "change",
    "history",
    "news",
    "release",
    "releases",
    "releasenotes",
    "newsfragments",
    "whatsnew",
    "migration",
    "migrating",
    "upgrading",
    "todo",
    "roadmap",
];
/// Texts before the name of a module of which a page shows all members, and a text that must follow.
const WHOLE: &[(&[u8], &[u8])] = &[(b"automodule:: ", b":members:"), (b"::: ", b"")];
/// Settings of pages and of their makers by which such a page shows members without a text of their own, too.
const BARE: &[&[u8]] = &[b"undoc-members", b"show_if_no_docstring: true"];
const MAKERS: &[&str] = &["conf.py", "mkdocs.yml", "mkdocs.yaml"];
/// The furthest that the text may follow.
const FAR: usize = 300;

/// Those of some nodes that pages name.
pub(super) fn documented(graph: &Graph<'_>, nodes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut by_name: FxHashMap<&[u8], Vec<u32>> = FxHashMap::default();
    for node in nodes {
        by_name.entry(graph.symbols[node as usize].name_bytes()).or_default().push(node);
    }
    let (mut found, mut whole) = (Vec::new(), FxHashSet::default());
    if by_name.is_empty() {
        return found;
    }
    for page in graph.snapshot.files().filter(is_page) {
        found.extend(names(page.content()).filter_map(|name| by_name.remove(name)).flatten());
        whole.extend(modules(page.content()));
    }
    let is_maker = |file: &FileView<'_>| MAKERS.iter().any(|name| file.path().rsplit('/').next() == Some(*name));
    let mut settings = graph.snapshot.files().filter(|file| is_page(file) || is_maker(file));
    let says = |file: FileView<'_>| BARE.iter().any(|text| memchr::memmem::find(file.content(), text).is_some());
    let all = !whole.is_empty() && settings.any(says);
    let is_shown = |symbol: &SymbolView<'_>| (all || !symbol.doc_span().is_empty()) && is_of(symbol, &whole);
    let left = by_name.into_values().flatten();
    found.extend(left.filter(|node| is_shown(&graph.symbols[*node as usize])));
    found
}

fn is_page(file: &FileView<'_>) -> bool {
    let path = file.path().to_lowercase();
    PAGES.contains(&path.rsplit_once('.').map_or("", |(_, ending)| ending)) && !is_past(&path)
}

/// Whether a page is about the past or the future, by its path.
pub(super) fn is_past(path: &str) -> bool {
    let path = path.to_lowercase();
    let (stem, ending) = path.rsplit_once('.').unwrap_or((&path, ""));
    (ending.is_empty() || PAGES.contains(&ending))
        && stem.split(|c: char| !c.is_alphanumeric()).any(|word| PAST.contains(&word))
}

/// Words of a page that are names of code: by their form, or by what is beside them.
fn names(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text.get(at..)?.iter().position(|byte| is_part(*byte))?;
            let end = text[start..].iter().position(|byte| !is_part(*byte)).map_or(text.len(), |length| start + length);
            at = end;
            let word = &text[start..end];
            let is_formed = word.contains(&b'_') || word[1..].iter().any(u8::is_ascii_uppercase);
            let is_marked = start > 0 && matches!(text[start - 1], b'`' | b'.' | b':')
                || matches!(text.get(end), Some(b'`' | b'('));
            if is_formed || is_marked {
                return Some(word);
            }
        }
    })
}

/// Dotted names of the modules that a page shows as a whole.
fn modules(text: &[u8]) -> impl Iterator<Item = &str> {
    WHOLE.iter().flat_map(move |(before, after)| {
        memchr::memmem::find_iter(text, before).filter_map(move |at| {
            let rest = &text[at + before.len()..];
            let end = rest.iter().position(|byte| !is_part(*byte) && *byte != b'.').unwrap_or(rest.len());
            let follows = memchr::memmem::find(&rest[end..rest.len().min(end + FAR)], after).is_some();
            std::str::from_utf8(&rest[..end]).ok().filter(|name| follows && !name.is_empty())
        })
    })
}

/// Whether a symbol lies in the file of one of these modules: `shop.cart` is `src/shop/cart.py` or
/// `src/shop/cart/__init__.py`.
fn is_of(symbol: &SymbolView<'_>, modules: &FxHashSet<&str>) -> bool {
    let path = symbol.file.path();
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let of_folder = stem.rsplit_once('/').filter(|(_, own)| symbol.file.conventions().folder_files.contains(own));
    let module = of_folder.map_or(stem, |(folder, _)| folder).replace('/', ".");
    let mut tails = module.match_indices('.').map(|(dot, _)| &module[dot + 1..]);
    modules.contains(&*module) || tails.any(|tail| modules.contains(tail))
}
