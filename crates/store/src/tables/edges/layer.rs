//! Edges of a few files that replace those of a table, for this process only: texts that are not saved.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::build::{Edges, Tables};
use super::{Edge, Import, Pair, Symbol, name_hash, number, stored};
use crate::SymbolId;

/// Edges in place of those of some files.
#[derive(Debug)]
pub(super) struct Layer {
    tables: Tables,
    /// Numbers of the files, ascending.
    files: Vec<u32>,
    /// Present symbols of the files by their stored numbers, and the other way round.
    now: FxHashMap<SymbolId, SymbolId>,
    stored: FxHashMap<SymbolId, SymbolId>,
}

impl Layer {
    /// Creates a layer. `moved` gives the stored symbols that the files still have, with their present numbers.
    pub fn new(edges: Edges, mut files: Vec<u32>, moved: &[(SymbolId, SymbolId)]) -> Self {
        files.sort_unstable();
        Self {
            tables: edges.laid_out(),
            files,
            now: moved.iter().copied().collect(),
            stored: moved.iter().map(|(stored, now)| (*now, *stored)).collect(),
        }
    }

    /// Whether it replaces the edges of a file.
    pub fn holds(&self, file: u32) -> bool {
        self.files.binary_search(&file).is_ok()
    }

    /// The present number of a stored symbol; `None` when its file has it no more.
    pub fn now(&self, symbol: SymbolId) -> Option<SymbolId> {
        if self.holds(symbol.file) { self.now.get(&symbol).copied() } else { Some(symbol) }
    }

    /// The stored number of a symbol; `None` for one that is new.
    pub fn stored(&self, symbol: SymbolId) -> Option<SymbolId> {
        if self.holds(symbol.file) { self.stored.get(&symbol).copied() } else { Some(symbol) }
    }

    pub fn in_file(&self, file: u32) -> &[Edge] {
        let rows = equal(&self.tables.files, [file, 0]);
        rows.first().map_or(&[], |pair| {
            let [start, len] = pair.value.map(|number| number as usize);
            &self.tables.edges[start..start + len]
        })
    }

    pub fn targets(&self, edge: &Edge) -> &[Symbol] {
        &self.tables.targets[range(edge)]
    }

    pub fn users(&self, symbol: SymbolId) -> impl Iterator<Item = &Edge> {
        self.edges_of(equal(&self.tables.users, stored(symbol)))
    }

    pub fn unbound(&self, name: &[u8]) -> impl Iterator<Item = &Edge> {
        self.edges_of(equal(&self.tables.possible, name_hash(name)))
    }

    fn edges_of<'a>(&'a self, rows: &'a [Pair]) -> impl Iterator<Item = &'a Edge> {
        rows.iter().map(|pair| &self.tables.edges[pair.value[0] as usize])
    }

    pub fn imports(&self, file: u32) -> &[Import] {
        let all = &self.tables.imports[..];
        let rest = &all[all.partition_point(|import| import.from < file)..];
        &rest[..rest.partition_point(|import| import.from == file)]
    }

    pub fn bases(&self, class: SymbolId) -> impl Iterator<Item = SymbolId> {
        equal(&self.tables.bases, stored(class)).iter().map(|pair| number(pair.value))
    }

    pub fn derived(&self, class: SymbolId) -> impl Iterator<Item = SymbolId> {
        equal(&self.tables.derived, stored(class)).iter().map(|pair| number(pair.value))
    }
}

/// Rows of a sorted table with this key.
fn equal(table: &[Pair], key: [u32; 2]) -> &[Pair] {
    let rest = &table[table.partition_point(|pair| pair.key < key)..];
    &rest[..rest.partition_point(|pair| pair.key == key)]
}

/// Places of an occurrence's targets.
pub(super) fn range(edge: &Edge) -> Range<usize> {
    let first = edge.first_target as usize;
    first..first + edge.targets as usize
}

/// Targets of an occurrence: as stored, or as they are numbered now.
pub(super) struct Targets<'a> {
    pub stored: std::slice::Iter<'a, Symbol>,
    pub moved: Option<std::vec::IntoIter<Symbol>>,
}

impl Iterator for Targets<'_> {
    type Item = SymbolId;

    fn next(&mut self) -> Option<SymbolId> {
        let next = match &mut self.moved {
            Some(moved) => moved.next(),
            None => self.stored.next().copied(),
        };
        next.map(number)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.moved.as_ref().map_or_else(|| self.stored.size_hint(), Iterator::size_hint)
    }
}

impl ExactSizeIterator for Targets<'_> {}
