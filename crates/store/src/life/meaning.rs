//! Texts of a snapshot's symbols, their vectors and their summaries by a model.

use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::packs::map;
use crate::tables::codes::Codes;
use crate::tables::summaries::{SummaryTable, SummaryWriter};
use crate::tables::texts::{self, TextRow, TextTable};
use crate::tables::vectors::{self, VectorTable, VectorWriter};
use crate::{Error, Snapshot, Store, SymbolId};

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

    /// Whether texts of the store have vectors by any model.
    pub fn has_vectors(&self) -> bool {
        !vectors::all(self.store().0).is_empty()
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

/// Symbols from which on codes choose those to compare: fewer are compared at once, which takes 106 ms for a million.
const CODED: usize = 1_000_000;
/// The fewest that codes choose, and how many for each that is wanted: with these nothing was lost of the nearest hundred
/// of a million, see the history of `benches/README.md`.
const CHOSEN: usize = 4_000;
const CHOSEN_FOR_EACH: usize = 40;

/// Symbols of a snapshot with their vectors.
#[derive(Clone, Debug)]
pub struct Meanings {
    vectors: VectorTable,
    /// Sorted.
    symbols: Vec<SymbolId>,
    /// Row of each symbol.
    rows: Vec<u32>,
    /// Symbols from which on codes choose.
    coded: usize,
    codes: Arc<OnceLock<Codes>>,
}

impl Meanings {
    /// Joins symbols and vectors, as far as there are vectors.
    pub fn new(snapshot: &Snapshot, texts: &TextTable, vectors: VectorTable) -> Self {
        let rows = texts.rows().iter().filter(|row| snapshot.has(row.symbol().file));
        let (symbols, rows) = rows.filter_map(|row| Some((row.symbol(), vectors.row(&row.key)?))).unzip();
        Self { vectors, symbols, rows, coded: CODED, codes: Arc::default() }
    }

    /// The same, with codes that choose from fewer symbols on.
    #[cfg(test)]
    pub(crate) fn coded_from(self, coded: usize) -> Self {
        Self { coded, ..self }
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

    /// Symbols nearest to a question, at most `limit`, among those that `keep` accepts. Among very many, nearly the
    /// nearest.
    pub fn nearest(
        &self,
        question: &[f32],
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Vec<(SymbolId, f32)> {
        if self.rows.len() >= self.coded {
            let codes = self.codes.get_or_init(|| self.vectors.codes(&self.rows));
            let chosen = codes.nearest(question, CHOSEN.max(limit.saturating_mul(CHOSEN_FOR_EACH)));
            let found = self.nearest_of(&chosen, question, limit, keep);
            // A filter may accept too few of them.
            if found.len() == limit {
                return found;
            }
        }
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        self.nearest_of(&all, question, limit, keep)
    }

    /// Symbols nearest to a question among those at some places.
    fn nearest_of(
        &self,
        places: &[u32],
        question: &[f32],
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Vec<(SymbolId, f32)> {
        let rows: Vec<u32> = places.iter().map(|place| self.rows[*place as usize]).collect();
        let likenesses = self.vectors.likenesses(question, &rows);
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
            let kept = first.iter().map(|at| *at as usize).filter(|at| keep(self.symbols[places[*at] as usize]));
            let symbol = |at: usize| (self.symbols[places[at] as usize], likenesses[at]);
            found.extend(kept.take(limit - found.len()).map(symbol));
            (rest, part) = (others, part.saturating_mul(4));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::vectors::text_key;

    /// Numbers around zero that are the same at every run.
    struct Draw(u64);

    impl Draw {
        fn number(&mut self) -> f32 {
            // A sum of evenly drawn ones is nearly normal.
            let mut one = || {
                self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (self.0 >> 40) as f32 / (1_u64 << 24) as f32
            };
            one() + one() + one() + one() - 2.0
        }

        fn vector(&mut self, around: Option<&[f32]>) -> Vec<f32> {
            (0..DIMENSIONS).map(|at| around.map_or(0.0, |around| around[at]) + self.number()).collect()
        }
    }

    const DIMENSIONS: usize = 128;
    const VECTORS: usize = 20_000;

    #[test]
    fn codes_lead_to_the_nearest_that_comparing_all_finds() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut draw = Draw(20);
        let themes: Vec<Vec<f32>> = (0..200).map(|_| draw.vector(None)).collect();
        let mut row =
            |number: usize| (text_key(&number.to_string()), draw.vector(Some(&themes[number % themes.len()])));
        let rows: Vec<_> = (0..VECTORS).map(&mut row).collect();
        let mut writer = VectorWriter::begin(folder.path(), "m", false, Duration::ZERO).expect("it is ours");
        writer.append(&rows).and_then(|()| writer.finish()).expect("there is room");
        let vectors = VectorTable::open(&vectors::path(folder.path(), "m")).expect("it is whole").expect("it is there");
        let symbols = (0..VECTORS as u32).map(|index| SymbolId { file: 1, index }).collect();
        let all = Meanings {
            vectors,
            symbols,
            rows: (0..VECTORS as u32).collect(),
            coded: usize::MAX,
            codes: Arc::default(),
        };
        let coded = all.clone().coded_from(1);
        let mut common = 0;
        for question in (0..10).map(|number| draw.vector(Some(&themes[number]))) {
            let nearest = |meanings: &Meanings, limit, keep: &mut dyn FnMut(SymbolId) -> bool| {
                meanings.nearest(&question, limit, keep)
            };
            let expected = nearest(&all, 100, &mut |_| true);
            let found = nearest(&coded, 100, &mut |_| true);
            common += found.iter().filter(|one| expected.contains(one)).count();
            // A filter that takes few is answered in full.
            let mut few = |id: SymbolId| id.index % 1_000 == 7;
            assert_eq!(nearest(&coded, 20, &mut few), nearest(&all, 20, &mut few));
        }
        assert!(coded.codes.get().is_some());
        assert!(common >= 950, "{common} of 1,000");
    }
}
