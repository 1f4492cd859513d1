//! Mentions that no relation explains: where a name stands in code and was bound to nothing that is known, the symbol
//! of that name may be used.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::visible::in_interface;
use crate::extract;
use crate::model::{How, Kind, Span};
use crate::store::{Edge, FileView, SymbolView};

/// The most text that is parsed to tell code from comments and strings. After that, every mention counts as code.
const MOST_PARSED: usize = 32 << 20;

/// The most mentions of a file that are told apart; more of them count as code.
const MOST_PLACES: usize = 500;
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
    let mut left = MOST_PARSED;
    // Code comes first: tests count only for names that no code mentions.
    let (tests, code): (Vec<FileView<'_>>, Vec<FileView<'_>>) =
        graph.snapshot.files().filter(|file| !file.facts().is_empty()).partition(FileView::exercises);
    for (files, is_test) in [(code, false), (tests, true)] {
        for file in files {
            let mut places = Vec::new();
            for span in words(file.content(), &lengths) {
                let Some(nodes) = by_name.get(span.of(file.content())) else { continue };
                if nodes.iter().any(|node| may_mean(graph, file, span, *node)) {
                    places.push(span);
                }
            }
            if places.is_empty() {
                continue;
            }
            let defined: FxHashSet<u32> = file.symbols().map(|symbol| symbol.name_span().start).collect();
            places.retain(|span| !defined.contains(&span.start));
            let used = graph.edges.in_file(file.number());
            let (bound, unbound): (Vec<Span>, Vec<Span>) =
                places.into_iter().partition(|span| edge_at(used, *span).is_some());
            let is_left = left > 0 && unbound.len() <= MOST_PLACES;
            left = left.saturating_sub(if unbound.is_empty() { 0 } else { file.content().len() });
            let unbound = match is_left {
                true => extract::unexplained(file.spec(), file.content(), file.facts(), file.has_errors(), unbound),
                false => unbound,
            };
            for span in bound.into_iter().chain(unbound) {
                let name = span.of(file.content());
                let Some(nodes) = by_name.get_mut(name) else { continue };
                let meant = |node: &mut u32| may_mean(graph, file, span, *node);
                let into = if is_test { &mut found.by_tests } else { &mut found.by_code };
                into.extend(nodes.extract_if(.., meant));
            }
        }
    }
    found
}

/// Whether a mention may mean a node, as far as edges say.
fn may_mean(graph: &Graph<'_>, file: FileView<'_>, span: Span, node: u32) -> bool {
    let symbol = &graph.symbols[node as usize];
    let is_inside = symbol.file.number() == file.number() && symbol.span().contains(span);
    if is_inside || !std::ptr::eq(symbol.file.conventions(), file.conventions()) {
        return false;
    }
    match edge_at(graph.edges.in_file(file.number()), span).map(Edge::how) {
        None | Some(How::NoReceiver) => true,
        // Its type was taken for another.
        Some(How::NoMember) => symbol.kind() == Kind::Method,
        // A template, or code that is included elsewhere, does not say what its names are. A trait of ours gives its
        // methods to types of others.
        Some(How::Outside) => file.has_errors() || in_interface(symbol) || fills_in_ours(graph, symbol),
        Some(How::Resolved) => false,
    }
}

fn edge_at(used: &[Edge], span: Span) -> Option<&Edge> {
    used.binary_search_by_key(&span.start, |edge| edge.at).ok().map(|place| &used[place])
}

/// Whether it is in a block that implements a trait of the repository.
fn fills_in_ours(graph: &Graph<'_>, symbol: &SymbolView<'_>) -> bool {
    graph.filled_in(symbol).is_some_and(|base| graph.edges.targets(base).len() > 0)
}

/// The words of a text that have one of these lengths.
fn words<'t>(text: &'t [u8], lengths: &'t [bool; 256]) -> impl Iterator<Item = Span> + use<'t> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte > 127;
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + text.get(at..)?.iter().position(is_part)?;
            let length = text[start..].iter().position(|byte| !is_part(byte)).unwrap_or(text.len() - start);
            at = start + length;
            // `#name` is another name.
            let is_private = start > 0 && text[start - 1] == b'#';
            if lengths[length.min(255)] && !is_private {
                return Some(Span::new(start, at));
            }
        }
    })
}
