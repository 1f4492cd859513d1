//! Builds graphs of relations: calls around a symbol, classes, imports of files, and users of a change.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::graph::{Builder, EdgeCertainty, Graph, Node};
use super::{MOST, MOST_POSSIBLE};
use crate::{self as query, Direction};
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// Returns the address of a symbol; empty for none.
type SymbolLink<'l> = &'l dyn Fn(&SymbolView<'_>) -> String;
/// Returns the address of a file; empty for none.
type FileLink<'l> = &'l dyn Fn(&FileView<'_>) -> String;

/// Callers of a symbol to its left and callees to its right, `depth` calls away, and the neighbours of each node in
/// `opened`. The symbol and the opened nodes also show possible calls, as far as there is room.
pub fn calls(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    symbol: &SymbolView<'_>,
    (depth, opened): (u32, &[SymbolId]),
    link: SymbolLink<'_>,
) -> Graph {
    // Callees get the room that callers leave, but at least half.
    let mut builder = Builder::new(MOST / 2);
    builder.node(symbol.number(), || node(symbol, 0, link));
    for direction in SIDES {
        add_calls(snapshot, edges, &mut builder, symbol.number(), (direction, depth), link);
        builder.grow(MOST);
    }
    for opened in opened {
        let Some(layer) = builder.find(opened).map(|place| builder.graph.nodes[place].layer) else { continue };
        for direction in sides(layer) {
            add_calls(snapshot, edges, &mut builder, *opened, (direction, 1), link);
        }
    }
    for around in [symbol.number()].iter().chain(opened) {
        add_possible(snapshot, edges, &mut builder, *around, link);
    }
    for (number, place) in builder.known() {
        let is_new = |call: &query::Caller<'_>| builder.find(&call.symbol.number()).is_none();
        let mut around = sides(builder.graph.nodes[place].layer);
        let has_more = around.any(|direction| query::calls(snapshot, edges, number, direction, 1).0.iter().any(is_new));
        builder.graph.nodes[place].has_more = has_more;
    }
    builder.graph
}

const SIDES: [Direction; 2] = [Direction::Callers, Direction::Callees];

/// The directions in which a node of a layer is expanded.
fn sides(layer: i32) -> impl Iterator<Item = Direction> {
    SIDES.into_iter().filter(move |side| if *side == Direction::Callers { layer <= 0 } else { layer >= 0 })
}

/// Adds callers or callees of a node, `depth` calls away.
fn add_calls(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    builder: &mut Builder<SymbolId>,
    around: SymbolId,
    (direction, depth): (Direction, u32),
    link: SymbolLink<'_>,
) {
    let middle = builder.find(&around).map_or(0, |place| builder.graph.nodes[place].layer);
    let (found, _) = query::calls(snapshot, edges, around, direction, depth);
    for call in found {
        let layer = middle + if direction == Direction::Callers { -(call.depth as i32) } else { call.depth as i32 };
        let Some(via) = builder.find(&call.via) else {
            builder.leave(call.symbol.number());
            continue;
        };
        let Some(own) = builder.node(call.symbol.number(), || node(&call.symbol, layer, link)) else { continue };
        let (from, to) = if direction == Direction::Callers { (own, via) } else { (via, own) };
        // A recursive call needs no arrow.
        if from != to {
            builder.edge(from, to, sureness(call.through.is_none()));
        }
    }
}

/// Adds possible callers and callees of a node.
fn add_possible(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    builder: &mut Builder<SymbolId>,
    around: SymbolId,
    link: SymbolLink<'_>,
) {
    let Some((middle, symbol)) = builder.find(&around).zip(snapshot.symbol(around)) else { return };
    let layer = builder.graph.nodes[middle].layer;
    for direction in sides(layer) {
        let found = query::possible_calls(snapshot, edges, &symbol, direction);
        for (place, other) in found.iter().enumerate() {
            let beside = if direction == Direction::Callers { layer - 1 } else { layer + 1 };
            let own = match builder.find(&other.number()) {
                None if place >= MOST_POSSIBLE => {
                    builder.leave(other.number());
                    None
                }
                _ => builder.node(other.number(), || node(other, beside, link)),
            };
            let Some(own) = own.filter(|own| *own != middle) else { continue };
            let (from, to) = if direction == Direction::Callers { (own, middle) } else { (middle, own) };
            builder.edge(from, to, EdgeCertainty::Possible);
        }
    }
}

/// The certainty of a resolved relation.
fn sureness(is_direct: bool) -> EdgeCertainty {
    if is_direct { EdgeCertainty::Resolved } else { EdgeCertainty::Through }
}

/// Changed symbols, and their users to the right, `depth` uses away.
pub fn blast(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    changed: &[SymbolView<'_>],
    depth: u32,
    link: SymbolLink<'_>,
) -> Graph {
    // Users get at least half of the room.
    let mut builder = Builder::new(MOST / 2);
    for symbol in changed {
        builder.node(symbol.number(), || node(symbol, 0, link));
    }
    builder.grow(MOST);
    let mut level: Vec<SymbolId> = changed.iter().map(SymbolView::number).collect();
    let mut seen: HashSet<SymbolId> = level.iter().copied().collect();
    for layer in 1..=depth as i32 {
        let mut next = Vec::new();
        for used in level {
            for (meant, place) in query::users_through(snapshot, edges, used) {
                let Some(user) = place.edge.from().and_then(|from| snapshot.symbol(from)) else { continue };
                if seen.insert(user.number()) {
                    next.push(user.number());
                }
                let Some(via) = builder.find(&used) else {
                    builder.leave(user.number());
                    continue;
                };
                let own = builder.node(user.number(), || node(&user, layer, link));
                if let Some(own) = own.filter(|own| *own != via) {
                    builder.edge(own, via, sureness(meant == used));
                }
            }
        }
        level = next;
    }
    builder.graph
}

/// Bases of a class to its left, derived classes to its right.
pub fn classes(snapshot: &Snapshot, edges: &EdgeTable, class: &SymbolView<'_>, link: SymbolLink<'_>) -> Graph {
    let mut builder = Builder::new(MOST / 2);
    builder.node(class.number(), || node(class, 0, link));
    for upwards in [true, false] {
        let mut waiting: VecDeque<(SymbolId, i32)> = VecDeque::from([(class.number(), 0)]);
        while let Some((around, layer)) = waiting.pop_front() {
            let next: Vec<SymbolId> =
                if upwards { edges.bases(around).collect() } else { edges.derived(around).collect() };
            let next_layer = if upwards { layer - 1 } else { layer + 1 };
            for other in next.iter().filter_map(|other| snapshot.symbol(*other)) {
                let is_new = builder.find(&other.number()).is_none();
                let Some(own) = builder.node(other.number(), || node(&other, next_layer, link)) else { continue };
                let Some(via) = builder.find(&around) else { continue };
                let (from, to) = if upwards { (own, via) } else { (via, own) };
                builder.edge(from, to, EdgeCertainty::Resolved);
                if is_new {
                    waiting.push_back((other.number(), next_layer));
                }
            }
        }
        builder.grow(MOST);
    }
    builder.graph
}

/// Files that import a file to its left, imported files to its right, `depth` imports away.
pub fn files(snapshot: &Snapshot, edges: &EdgeTable, file: FileView<'_>, depth: u32, link: FileLink<'_>) -> Graph {
    let made = |file: &FileView<'_>, layer| {
        let path = file.path();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Node { label: name.to_owned(), detail: folder.to_owned(), link: link(file), layer, ..Node::default() }
    };
    let mut builder = Builder::new(MOST / 2);
    builder.node(file.number(), || made(&file, 0));
    for leftwards in [true, false] {
        let mut waiting: VecDeque<(u32, i32)> = VecDeque::from([(file.number(), 0)]);
        while let Some((around, layer)) = waiting.pop_front() {
            if layer.unsigned_abs() >= depth {
                continue;
            }
            let next: BTreeSet<u32> = match leftwards {
                true => edges.importing(around).collect(),
                false => edges.imports(around).iter().map(|import| import.to).collect(),
            };
            let next_layer = if leftwards { layer - 1 } else { layer + 1 };
            for other in next.iter().filter_map(|other| snapshot.file_by_number(*other)) {
                let is_new = builder.find(&other.number()).is_none();
                let Some(own) = builder.node(other.number(), || made(&other, next_layer)) else { continue };
                let Some(via) = builder.find(&around).filter(|via| *via != own) else { continue };
                let (from, to) = if leftwards { (own, via) } else { (via, own) };
                builder.edge(from, to, EdgeCertainty::Resolved);
                if is_new {
                    waiting.push_back((other.number(), next_layer));
                }
            }
        }
        builder.grow(MOST);
    }
    builder.graph
}

fn node(symbol: &SymbolView<'_>, layer: i32, link: SymbolLink<'_>) -> Node {
    let detail = format!("{}:{}", symbol.file.path(), symbol.line());
    Node { label: symbol.qualified_name(), detail, link: link(symbol), id: symbol.id(), layer, ..Node::default() }
}
