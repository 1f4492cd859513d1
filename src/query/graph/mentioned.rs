//! Mentions that no relation explains: where a name stands in code and was bound to nothing that is known, the symbol
//! of that name may be used.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::visible::in_interface;
use crate::extract::unexplained;
use crate::model::{How, Kind, Span};
use crate::store::{Edge, FileView, SymbolView};

/// The most unused symbols of one name that are looked for; of more, one mention may mean any.
const MOST_ALIKE: usize = 64;

/// Nodes that are mentioned without an explanation.
#[derive(Default)]
pub(super) struct Mentioned {
    /// In code.
    pub by_code: Vec<u32>,
    /// In tests only.
    pub by_tests: Vec<u32>,
}

/// Those of some nodes that unexplained mentions may mean.
pub(super) fn mentioned(graph: &Graph<'_>, nodes: impl Iterator<Item = u32>) -> Mentioned {
    let mut by_name: FxHashMap<&[u8], Vec<u32>> = FxHashMap::default();
    let mut lengths = [false; 256];
    for node in nodes {
        let name = graph.symbols[node as usize].name_bytes();
        lengths[name.len().min(255)] = true;
        by_name.entry(name).or_default().push(node);
    }
    let mut found = Mentioned::default();
    let alike = by_name.extract_if(|_, nodes| nodes.len() > MOST_ALIKE);
    found.by_code.extend(alike.flat_map(|(_, nodes)| nodes));
    if by_name.is_empty() {
        return found;
    }
    // Code comes first: tests count only for names that no code mentions.
    let (tests, code): (Vec<FileView<'_>>, Vec<FileView<'_>>) =
        graph.snapshot.files().filter(|file| !file.facts().is_empty()).partition(FileView::exercises);
    for (files, is_test) in [(code, false), (tests, true)] {
        for file in files {
            let mut defined = None;
            let unsure = graph.edges.in_file(file.number()).iter().filter(|edge| !edge.how().is_bound());
            for at in unsure.map(|edge| edge.at).chain(unexplained(file.facts())) {
                let Some(span) = word(file.content(), at) else { continue };
                let nodes = lengths[span.len().min(255)].then(|| by_name.get_mut(span.of(file.content()))).flatten();
                let Some(nodes) = nodes.filter(|nodes| !nodes.is_empty()) else { continue };
                if defined.get_or_insert_with(|| definitions(file)).contains(&at) {
                    continue;
                }
                let meant = |node: &mut u32| may_mean(graph, file, span, *node);
                let into = if is_test { &mut found.by_tests } else { &mut found.by_code };
                into.extend(nodes.extract_if(.., meant));
            }
            if !file.has_errors() || is_test {
                continue;
            }
            // Text that the parser did not understand may use any name that stands there.
            let defined = defined.get_or_insert_with(|| definitions(file));
            for span in words(file.content()) {
                let nodes = lengths[span.len().min(255)].then(|| by_name.get_mut(span.of(file.content()))).flatten();
                let Some(nodes) = nodes.filter(|_| !defined.contains(&span.start)) else { continue };
                let is_known = edge_at(graph.edges.in_file(file.number()), span).is_some();
                let meant = |node: &mut u32| !is_known && may_mean(graph, file, span, *node);
                found.by_code.extend(nodes.extract_if(.., meant));
            }
        }
    }
    found
}

/// Whether it is a function inside of another, which has a name there alone.
pub(super) fn is_local(symbol: &SymbolView<'_>) -> bool {
    let is_function = |around: SymbolView<'_>| matches!(around.kind(), Kind::Function | Kind::Method);
    symbol.kind() == Kind::Function && symbol.parent().is_some_and(is_function)
}

/// Whether a place may name a definition at all.
pub(super) fn is_in_reach(symbol: &SymbolView<'_>, file: u32, at: u32) -> bool {
    let around = symbol.parent().filter(|_| is_local(symbol));
    around.is_none_or(|around| around.file.number() == file && (around.span().start..around.span().end).contains(&at))
}

/// Whether a mention may mean a node, as far as edges say.
fn may_mean(graph: &Graph<'_>, file: FileView<'_>, span: Span, node: u32) -> bool {
    let symbol = &graph.symbols[node as usize];
    let is_inside = symbol.file.number() == file.number() && symbol.span().contains(span);
    if is_inside
        || !is_in_reach(symbol, file.number(), span.start)
        || !std::ptr::eq(symbol.file.conventions(), file.conventions())
    {
        return false;
    }
    match edge_at(graph.edges.in_file(file.number()), span).map(Edge::how) {
        None | Some(How::NoReceiver | How::OtherReceiver) => true,
        // Its type was taken for another.
        Some(How::NoMember) => symbol.kind() == Kind::Method,
        // A template, or code that is included elsewhere, does not say what its names are. A trait of ours gives its
        // methods to types of others.
        Some(How::Outside) => {
            file.is_partly_read()
                || in_interface(symbol)
                || fills_in_ours(graph, symbol)
                || !symbol.file.conventions().compiled_only.is_empty() && is_bare_call(symbol, file, span)
        }
        Some(How::Resolved | How::Compiler) => false,
    }
}

/// Whether a function of its name is called without a path and imported by no line of the file: a macro may have put it there.
fn is_bare_call(symbol: &SymbolView<'_>, file: FileView<'_>, span: Span) -> bool {
    let (text, name) = (file.content(), symbol.name_bytes());
    let (start, end) = (span.start as usize, span.end as usize);
    let is_bare = !text[..start].trim_ascii_end().ends_with(b".") && !text[..start].ends_with(b"::");
    let is_imported = || {
        let mut lines = memchr::memmem::find_iter(text, b"use ").map(|at| {
            let rest = &text[at..];
            &rest[..memchr::memchr(b';', rest).unwrap_or(rest.len())]
        });
        lines.any(|line| memchr::memmem::find(line, name).is_some())
    };
    symbol.kind() == Kind::Function && is_bare && text.get(end) == Some(&b'(') && !is_imported()
}

fn edge_at(used: &[Edge], span: Span) -> Option<&Edge> {
    used.binary_search_by_key(&span.start, |edge| edge.at).ok().map(|place| &used[place])
}

/// Whether it is in a block that implements a trait of the repository.
fn fills_in_ours(graph: &Graph<'_>, symbol: &SymbolView<'_>) -> bool {
    graph.filled_in(symbol).is_some_and(|base| graph.edges.targets(base).len() > 0)
}

/// Places where a file writes the names of its symbols.
fn definitions(file: FileView<'_>) -> FxHashSet<u32> {
    file.symbols().map(|symbol| symbol.name_span().start).collect()
}

fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte > 127
}

/// All words of a text.
fn words(text: &[u8]) -> impl Iterator<Item = Span> {
    let begins = |at: &usize| is_part(&text[*at]) && (*at == 0 || !is_part(&text[*at - 1]));
    (0..text.len()).filter(begins).filter_map(|at| word(text, u32::try_from(at).ok()?))
}

/// The word that begins at a place.
fn word(text: &[u8], at: u32) -> Option<Span> {
    let rest = text.get(at as usize..)?;
    let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
    (length > 0).then(|| Span::new(at as usize, at as usize + length))
}
