//! Classes whose base learns of its subclasses: by a metaclass, `__subclasses__()`, or a call that made the base.

use rustc_hash::FxHashMap;

use super::{Answers, Asks, Evidence, Reached, Rule, Stage, Walk};
use crate::dead::members::above;
use crate::graph::{is_part, is_type};
use codelode_store::SymbolView;

pub static RULE: Rule = Rule {
    name: "collected",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a base collects the classes derived from it",
    asks: Asks::All(ask),
};

fn ask(walk: &mut Walk<'_, '_>, nodes: &[u32]) -> Answers {
    let graph = walk.project.graph;
    let mut asked = FxHashMap::default();
    let mut collects = |class: u32| {
        *asked.entry(class).or_insert_with(|| {
            let symbol = &graph.symbols[class as usize];
            let marks = symbol.file.conventions().collects;
            walk.project.bases.given.contains(&symbol.number()) || marks.iter().any(|mark| has_mark(symbol, mark))
        })
    };
    let is_meant = |node: &u32| {
        let symbol = &graph.symbols[*node as usize];
        is_type(symbol)
            && !symbol.file.conventions().collects.is_empty()
            && (walk.project.bases.given.contains(&symbol.number())
                || above(graph, *node).into_iter().any(&mut collects))
    };
    nodes.iter().copied().filter(is_meant).map(|node| (node, Evidence::Plain)).collect()
}

/// Whether a class has a mark by which it collects its subclasses. A mark that ends in `=` needs a name after it that
/// is no plain base.
fn has_mark(class: &SymbolView<'_>, mark: &str) -> bool {
    let (text, plain) = (class.source(), class.file.conventions().plain_bases);
    let collects = |at: usize| {
        let rest = &text[at + mark.len()..];
        let end = rest.iter().position(|byte| !is_part(*byte) && *byte != b'.').unwrap_or(rest.len());
        let name = rest[..end].rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        !mark.ends_with('=') || !plain.iter().any(|plain| plain.as_bytes() == name)
    };
    memchr::memmem::find_iter(text, mark.as_bytes()).any(collects)
}
