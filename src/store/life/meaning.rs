//! Texts of a snapshot's symbols, their vectors and their summaries by a model.

use std::io::Write;
use std::time::Duration;

use crate::store::packs::map;
use crate::store::tables::summaries::{SummaryTable, SummaryWriter};
use crate::store::tables::texts::{self, TextRow, TextTable};
use crate::store::tables::vectors::{self, VectorTable, VectorWriter};
use crate::store::{Error, Snapshot, Store, SymbolId};

impl Snapshot {
    /// Keys of texts made in this way, if there are any.
    pub fn texts(&self, version: u64) -> Option<TextTable> {
        let (dir, store) = self.store();
        TextTable::open(&texts::path(dir), store, version).ok()
    }

    /// Stores keys of texts, sorted by symbol, and the set of files that they are of. All checkouts share them.
    pub fn keep_texts(&self, version: u64, files: &[u64], rows: &[TextRow]) -> Result<TextTable, Error> {
        let (dir, store) = self.store();
        let bytes = texts::to_bytes(store, version, files, rows);
        map::keep(&texts::path(dir), |file| file.write_all(&bytes), |path| TextTable::open(path, store, version))
    }

    /// Vectors by a model; `None` without any.
    pub fn vectors(&self, identity: &str) -> Result<Option<VectorTable>, Error> {
        VectorTable::open(&vectors::path(self.store().0, identity))
    }

    /// Begins to add vectors by a model, or with `anew` to replace them.
    pub fn vector_writer(&self, identity: &str, anew: bool, wait: Duration) -> Result<VectorWriter, Error> {
        VectorWriter::begin(self.store().0, identity, anew, wait)
    }
}

impl Snapshot {
    /// Summaries that are stored now: more than [`Snapshot::summaries`] when some have arrived since.
    pub fn stored_summaries(&self) -> Option<SummaryTable> {
        SummaryTable::open(self.store().0)
    }

    /// Begins to add summaries by a model.
    pub fn summary_writer(&self, wait: Duration) -> Result<SummaryWriter, Error> {
        SummaryWriter::begin(self.store().0, wait)
    }
}

impl Store {
    /// Vectors by each model.
    pub fn all_vectors(&self) -> Vec<VectorTable> {
        vectors::all(self.dir()).iter().filter_map(|path| VectorTable::open(path).ok().flatten()).collect()
    }
}

/// Symbols of a snapshot with their vectors.
#[derive(Clone, Debug)]
pub struct Meanings {
    vectors: VectorTable,
    /// Sorted.
    symbols: Vec<SymbolId>,
    /// Row of each symbol.
    rows: Vec<u32>,
}

impl Meanings {
    /// Joins symbols and vectors, as far as there are vectors.
    pub fn new(snapshot: &Snapshot, texts: &TextTable, vectors: VectorTable) -> Self {
        let rows = texts.rows().iter().filter(|row| snapshot.has(row.symbol().file));
        let (symbols, rows) = rows.filter_map(|row| Some((row.symbol(), vectors.row(&row.key)?))).unzip();
        Self { vectors, symbols, rows }
    }

    /// Number of symbols with a vector.
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Whether no symbol has a vector.
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Dimensions of the vectors.
    pub fn dimensions(&self) -> usize {
        self.vectors.dimensions()
    }

    /// Cosine of a question and a symbol; `None` for a symbol without a vector.
    pub fn likeness(&self, question: &[f32], symbol: SymbolId) -> Option<f32> {
        let place = self.symbols.binary_search(&symbol).ok()?;
        self.vectors.likenesses(question, &self.rows[place..=place]).first().copied()
    }

    /// Symbols nearest to a question, at most `limit`, among those that `keep` accepts.
    pub fn nearest(
        &self,
        question: &[f32],
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Vec<(SymbolId, f32)> {
        let likenesses = self.vectors.likenesses(question, &self.rows);
        let mut order: Vec<u32> = (0..likenesses.len() as u32).collect();
        let by_likeness =
            |a: &u32, b: &u32| likenesses[*b as usize].total_cmp(&likenesses[*a as usize]).then_with(|| a.cmp(b));
        let mut found = Vec::new();
        let mut rest = &mut order[..];
        // Most questions need only the first few, so the rest stays unsorted.
        let mut part = limit.saturating_mul(4).max(1);
        while found.len() < limit && !rest.is_empty() {
            let end = part.min(rest.len());
            if end < rest.len() {
                rest.select_nth_unstable_by(end - 1, by_likeness);
            }
            let (first, others) = rest.split_at_mut(end);
            first.sort_unstable_by(by_likeness);
            let kept = first.iter().map(|at| *at as usize).filter(|at| keep(self.symbols[*at]));
            found.extend(kept.take(limit - found.len()).map(|at| (self.symbols[at], likenesses[at])));
            (rest, part) = (others, part.saturating_mul(4));
        }
        found
    }
}
