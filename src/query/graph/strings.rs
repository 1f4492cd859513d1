//! Names in text rather than in code: `"shop.middleware.Quota"` in settings, `"shop.cli:main"` in a description, a
//! function in an attribute, `getattr(self, "do_" + name)`, a word of a template. A program that reads the text may
//! use the symbol.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::entry::folder_of_modules;
use super::visible::{is_part, is_type};
use crate::model::{Detail, Span};
use crate::store::{FileView, SymbolView};

/// Endings of prose and data files: a word in them is no name.
const PROSE: &[&str] = &[
    "", "md", "rst", "txt", "adoc", "po", "pot", "csv", "tsv", "log", "svg", "lock", "map", "snap", "patch", "diff",
    "ipynb",
];
/// Shorter words of files that are no code are no names.
const SHORTEST: usize = 4;

/// Nodes that text may name.
#[derive(Default)]
pub(super) struct MentionableNodes {
    /// All of them.
    pub nodes: Vec<u32>,
    /// Types by their dotted names: who reads the text may make one, and call its methods.
    pub types: Vec<u32>,
}

/// The nodes that text may name: in quotes as a dotted name, a single name or a name put together, or in an attribute
/// that names functions. In files that are no code, quotes may be missing.
pub(super) fn named_in_text(graph: &Graph<'_>, nodes: &[u32]) -> MentionableNodes {
    let mut by_name: FxHashMap<&[u8], Vec<u32>> = FxHashMap::default();
    for node in nodes {
        by_name.entry(graph.symbols[*node as usize].name_bytes()).or_default().push(*node);
    }
    if by_name.is_empty() {
        return MentionableNodes::default();
    }
    let files: Vec<FileView<'_>> = graph.snapshot.files().collect();
    let (mut found, mut modules, mut types) = (Vec::new(), FxHashSet::default(), Vec::new());
    for own in files.par_iter().map(|file| named_in_file(graph, *file, &by_name)).collect::<Vec<_>>() {
        found.extend(own.nodes);
        modules.extend(own.modules);
        types.extend(own.types);
    }
    // `#[serde(with = "dates")]` names a module for the functions in it.
    let is_named = |node: &&u32| modules.contains(module_of(&graph.symbols[**node as usize]));
    found.extend(nodes.iter().filter(|_| !modules.is_empty()).filter(is_named));
    found.sort_unstable();
    found.dedup();
    MentionableNodes { nodes: found, types }
}

/// Nodes and modules that the text of one file names.
#[derive(Default)]
struct NamedInFile<'a> {
    nodes: Vec<u32>,
    types: Vec<u32>,
    /// Modules in attributes.
    modules: Vec<&'a [u8]>,
}

fn named_in_file<'a>(graph: &Graph<'_>, file: FileView<'a>, by_name: &FxHashMap<&[u8], Vec<u32>>) -> NamedInFile<'a> {
    let NamedInFile { nodes: mut found, mut types, mut modules } = NamedInFile::default();
    let text = file.content();
    let is_code = !file.facts().is_empty();
    match is_code {
        // Pages of documentation may be code: MDX.
        _ if file.exercises() || is_code && file.is_test() => {}
        true => {
            found
                .extend(quotes(text).filter_map(|at| in_quotes(text, at)).flat_map(|name| by_name.get(name)).flatten());
            let affixes = affixes(text, file.conventions().reflection);
            for (name, nodes) in by_name.iter().filter(|_| !affixes.is_empty()) {
                found.extend(nodes.iter().filter(|_| affixes.iter().any(|affixes| fits(name, *affixes))));
            }
        }
        false if !is_data(file) => {}
        false => {
            let words = text.split(|byte| !is_part(*byte)).filter(|word| word.len() >= SHORTEST);
            found.extend(words.flat_map(|word| by_name.get(word)).flatten());
        }
    }
    for dot in memchr::memchr2_iter(b'.', b':', text) {
        let Some((owner, name)) = dotted(text, dot, is_code) else { continue };
        let meant = by_name.get(name).into_iter().flatten().copied();
        let meant = meant.filter(|node| lies_in(&graph.symbols[*node as usize], owner));
        let start = found.len();
        found.extend(meant);
        types.extend(found[start..].iter().filter(|node| is_type(&graph.symbols[**node as usize])));
    }
    for attribute in file.conventions().given_attributes {
        for start in memchr::memmem::find_iter(text, attribute) {
            found.extend(given(&text[start..]).filter_map(|name| by_name.get(name)).flatten());
        }
    }
    for attribute in file.conventions().naming_attributes {
        for start in memchr::memmem::find_iter(text, attribute) {
            for name in quoted(&text[start..]) {
                let name = name.rsplit(|byte| *byte == b':').next().unwrap_or(name);
                found.extend(by_name.get(name).into_iter().flatten());
                modules.push(name);
            }
        }
    }
    NamedInFile { nodes: found, types, modules }
}

/// Whether a file without resolved names is data that may name symbols, rather than prose.
pub(super) fn is_data(file: FileView<'_>) -> bool {
    let name = file.path().rsplit('/').next().unwrap_or_default();
    !PROSE.contains(&name.rsplit_once('.').map_or("", |(_, ending)| ending))
}

/// Whether a span is all that stands between two quotes.
pub(super) fn is_quoted(text: &[u8], span: Span) -> bool {
    let before = (span.start as usize).checked_sub(1).and_then(|at| text.get(at));
    before.is_some_and(|quote| is_quote(*quote)) && text.get(span.end as usize) == before
}

/// The quoted texts of an attribute: `#[serde(default = "yes")]`.
fn quoted(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memchr(b']', text).unwrap_or(0);
    text[..end].split(|byte| *byte == b'"').skip(1).step_by(2)
}

/// The last names of the paths that an attribute gives its parameters: `#[arg(value_parser = Owner::read)]`.
fn given(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = memchr::memchr(b']', text).unwrap_or(0);
    text[..end].split(|byte| *byte == b'=').skip(1).filter_map(|value| {
        let value = value.trim_ascii_start();
        let path = &value[..value.iter().position(|byte| !is_part(*byte) && *byte != b':').unwrap_or(value.len())];
        path.rsplit(|byte| *byte == b':').next().filter(|name| !name.is_empty())
    })
}

/// The places of quotes.
fn quotes(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr3_iter(b'"', b'\'', b'`', text)
}

/// The name that begins after a byte.
fn name_after(text: &[u8], at: usize) -> &[u8] {
    let after = text.get(at + 1..).unwrap_or_default();
    &after[..after.iter().position(|byte| !is_part(*byte)).unwrap_or(after.len())]
}

/// The single name between a quote and the next one.
fn in_quotes(text: &[u8], quote: usize) -> Option<&[u8]> {
    let name = name_after(text, quote);
    (!name.is_empty() && text.get(quote + 1 + name.len()) == text.get(quote)).then_some(name)
}

/// Prefixes and suffixes of names that a file puts together: `"do_" + name`, `"as_%s" % vendor`,
/// `` [`on${event}`] ``, `` eval(`on${event}()`) ``.
fn affixes<'a>(text: &'a [u8], reflection: &[&str]) -> Vec<(&'a [u8], &'a [u8])> {
    let is_index = reflection.contains(&"[");
    // Shorter ones would fit almost every name.
    let least = if is_index { 2 } else { 3 };
    if !is_index && !reflection.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let may_be = |quote: &usize| !is_index || text[..*quote].ends_with(b"[") || text[..*quote].ends_with(b"eval(");
    for quote in quotes(text).filter(may_be) {
        let start = name_after(text, quote);
        let rest = &text[quote + 1 + start.len()..];
        // The mark of what a template puts in is no part of the name.
        let start = if rest.starts_with(b"{") { start.strip_suffix(b"$").unwrap_or(start) } else { start };
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let (Some(next), Some(close)) = (line.first(), line.iter().position(|byte| *byte == text[quote])) else {
            continue;
        };
        let end = match next {
            b'%' | b'{' | b'$' => {
                let inside = &line[..close];
                let end = &inside[inside.iter().rposition(|byte| !is_part(*byte)).map_or(0, |at| at + 1)..];
                // A letter of `%s` is no part of the name.
                end.get(usize::from(*next == b'%')..).unwrap_or_default()
            }
            _ if close == 0 && line[1..].trim_ascii_start().starts_with(b"+") => &line[..0],
            // `name.startswith("do_")`, of all names.
            _ if close == 0 && text[..quote].ends_with(b".startswith(") => &line[..0],
            _ => continue,
        };
        if start.len() + end.len() >= least {
            found.push((start, end));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn fits(name: &[u8], (start, end): (&[u8], &[u8])) -> bool {
    name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// The last two parts of a dotted name that stands alone; `dot` is its last dot.
fn dotted(text: &[u8], dot: usize, is_code: bool) -> Option<(&[u8], &[u8])> {
    let after = &text[dot + 1..];
    let name = &after[..after.iter().position(|byte| !is_part(*byte)).unwrap_or(after.len())];
    let end = after.get(name.len()).copied().unwrap_or(b'\n');
    if name.is_empty() || !(is_quote(end) || !is_code && (end.is_ascii_whitespace() || end == b',')) {
        return None;
    }
    let before = &text[..dot];
    let owner = &before[before.iter().rposition(|byte| !is_part(*byte)).map_or(0, |at| at + 1)..];
    let is_inside = |byte: u8| is_part(byte) || matches!(byte, b'.' | b'/' | b'-' | b':');
    let start = before.iter().rposition(|byte| !is_inside(*byte));
    let opens = start.map_or(b'\n', |at| before[at]);
    let stands_alone = if is_quote(end) { opens == end } else { !is_part(opens) };
    (stands_alone && !owner.is_empty()).then_some((owner, name))
}

/// The name of the module that a symbol is directly in: one in its file, or the file; empty inside of a type.
fn module_of<'a>(symbol: &SymbolView<'a>) -> &'a [u8] {
    match symbol.parent() {
        Some(parent) if parent.detail() == Detail::Module => parent.name_bytes(),
        Some(_) => b"",
        None => folder_of_modules(symbol.file.path()).rsplit('/').next().unwrap_or_default().as_bytes(),
    }
}

/// Whether a symbol is inside something of that name: its class, its file, or a folder that re-exports it.
fn lies_in(symbol: &SymbolView<'_>, owner: &[u8]) -> bool {
    let in_path = |file: FileView<'_>| {
        let path = file.path().rsplit_once('.').map_or(file.path(), |(stem, _)| stem);
        path.split('/').any(|part| part.as_bytes() == owner)
    };
    match symbol.parent() {
        Some(parent) => parent.name_bytes() == owner,
        None => in_path(symbol.file),
    }
}
