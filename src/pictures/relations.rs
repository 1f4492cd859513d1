//! Graphs of relations: the calls around a symbol, the classes around a class, the files around a file.

use std::collections::VecDeque;

use super::MOST;
use super::graph::{Builder, Graph, Node};
use crate::query::{self, Direction};
use crate::store::{EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// Writes the address of a symbol; empty for none.
type SymbolLink<'l> = &'l dyn Fn(&SymbolView<'_>) -> String;
/// Writes the address of a file; empty for none.
type FileLink<'l> = &'l dyn Fn(&FileView<'_>) -> String;

/// Callers of a symbol to its left and callees to its right, so many calls away. A call that reaches it through an
/// overridden method is not sure.
pub fn calls(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    symbol: &SymbolView<'_>,
    depth: u32,
    link: SymbolLink<'_>,
) -> Graph {
    // Callees get what callers leave, and half of the room at least.
    let mut builder = Builder::new(MOST / 2);
    builder.node(symbol.number(), || node(symbol, 0, link));
    for direction in [Direction::Callers, Direction::Callees] {
        let (found, _) = query::calls(snapshot, edges, symbol.number(), direction, depth);
        for call in found {
            let layer = if direction == Direction::Callers { -(call.depth as i32) } else { call.depth as i32 };
            let Some(via) = builder.find(&call.via) else {
                builder.leave(call.symbol.number());
                continue;
            };
            let Some(own) = builder.node(call.symbol.number(), || node(&call.symbol, layer, link)) else { continue };
            let (from, to) = if direction == Direction::Callers { (own, via) } else { (via, own) };
            builder.edge(from, to, call.through.is_none());
        }
        builder.grow(MOST);
    }
    builder.graph
}

/// Bases of a class to its left, and classes that extend it to its right.
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
                builder.edge(from, to, true);
                if is_new {
                    waiting.push_back((other.number(), next_layer));
                }
            }
        }
        builder.grow(MOST);
    }
    builder.graph
}

/// Files that import a file to its left, and those that it imports to its right, so many imports away.
pub fn files(snapshot: &Snapshot, edges: &EdgeTable, file: FileView<'_>, depth: u32, link: FileLink<'_>) -> Graph {
    let made = |file: &FileView<'_>, layer| {
        let path = file.path();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Node { label: name.to_owned(), detail: folder.to_owned(), link: link(file), layer }
    };
    let mut builder = Builder::new(MOST / 2);
    builder.node(file.number(), || made(&file, 0));
    for leftwards in [true, false] {
        let mut waiting: VecDeque<(u32, i32)> = VecDeque::from([(file.number(), 0)]);
        while let Some((around, layer)) = waiting.pop_front() {
            if layer.unsigned_abs() >= depth {
                continue;
            }
            let next: Vec<u32> = match leftwards {
                true => edges.importers(around).iter().map(|import| import.from).collect(),
                false => edges.imports(around).iter().map(|import| import.to).collect(),
            };
            let next_layer = if leftwards { layer - 1 } else { layer + 1 };
            for other in next.iter().filter_map(|other| snapshot.file_by_number(*other)) {
                let is_new = builder.find(&other.number()).is_none();
                let Some(own) = builder.node(other.number(), || made(&other, next_layer)) else { continue };
                let Some(via) = builder.find(&around).filter(|via| *via != own) else { continue };
                let (from, to) = if leftwards { (own, via) } else { (via, own) };
                builder.edge(from, to, true);
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
    Node { label: symbol.qualified_name(), detail, link: link(symbol), layer }
}
