//! Words of the summaries that a model wrote of a snapshot's symbols. The search index depends on files alone, and these
//! arrive later, so they are collected in memory when a description is searched first.

use std::collections::HashMap;
use std::rc::Rc;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::{Snapshot, SymbolId, stems};

/// Saturation of a term's frequency, and the weight of a summary's length, as in the search index.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Summarised symbols by the words of their summaries.
#[derive(Clone, Debug, Default)]
pub struct SummaryWords {
    symbols: Vec<(SymbolId, u16)>,
    /// Places of the symbols whose summaries hold a stem, each once for each time.
    holders: HashMap<Box<str>, Vec<u32>, FxBuildHasher>,
    mean: f32,
}

impl SummaryWords {
    /// Collects the words; `None` if no symbol of the snapshot was summarised.
    pub(super) fn of(snapshot: &Snapshot) -> Option<Self> {
        use rayon::prelude::*;
        let known = snapshot.summaries()?;
        let files: Vec<u32> = snapshot.files().map(|file| file.number()).collect();
        let of_file = |number: &u32| {
            let symbols =
                snapshot.file_by_number(*number).into_iter().flat_map(|file| file.symbols().collect::<Vec<_>>());
            let undocumented = symbols.filter(|symbol| symbol.doc_source().is_empty() && symbol.has_body());
            let told = undocumented.map(|symbol| (symbol.number(), known.get(&symbol.source_key())));
            told.filter(|(_, text)| !text.is_empty()).collect::<Vec<_>>()
        };
        let told: Vec<(SymbolId, &str)> = files.par_iter().flat_map_iter(of_file).collect();
        Some(Self::of_texts(told)).filter(|words| !words.symbols.is_empty())
    }

    /// Collects the words of texts about symbols, or about files as [`SymbolId::FILE`].
    pub fn of_texts<T: AsRef<str>>(told: impl IntoIterator<Item = (SymbolId, T)>) -> Self {
        let mut words = Self::default();
        let mut length = 0;
        for (symbol, text) in told {
            let stems = stems(text.as_ref());
            let place = words.symbols.len() as u32;
            words.symbols.push((symbol, stems.len().min(usize::from(u16::MAX)) as u16));
            length += stems.len();
            for stem in &stems {
                match words.holders.get_mut(&**stem) {
                    Some(holders) => holders.push(place),
                    None => _ = words.holders.insert(Box::from(&**stem), vec![place]),
                }
            }
        }
        words.mean = length as f32 / words.symbols.len().max(1) as f32;
        words
    }

    /// Scores of the symbols whose summaries hold words of a question (BM25).
    pub fn scores(&self, question: &[Rc<str>]) -> FxHashMap<SymbolId, f32> {
        let mut scores: FxHashMap<SymbolId, f32> = FxHashMap::default();
        let mut seen: Vec<&str> = Vec::new();
        for stem in question {
            if seen.contains(&&**stem) {
                continue;
            }
            seen.push(stem);
            let holders = self.holders.get(&**stem).map_or(&[][..], Vec::as_slice);
            let (all, holding) = (self.symbols.len() as f32, holders.chunk_by(|a, b| a == b).count() as f32);
            let rarity = (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln();
            for times in holders.chunk_by(|a, b| a == b) {
                let (symbol, length) = self.symbols[times[0] as usize];
                let norm = K1 * (1.0 - B + B * f32::from(length) / self.mean);
                let frequency = times.len() as f32;
                *scores.entry(symbol).or_default() += rarity * frequency * (1.0 + K1) / (frequency + norm);
            }
        }
        scores
    }

    /// Number of symbols whose summaries hold a stem.
    pub fn holding(&self, stem: &str) -> u64 {
        self.holders.get(stem).map_or(0, |holders| holders.chunk_by(|a, b| a == b).count() as u64)
    }

    /// Bits of the words, each with its synonyms, that a symbol's summary holds.
    pub fn held(&self, words: &[Vec<String>]) -> FxHashMap<SymbolId, u64> {
        let mut held: FxHashMap<SymbolId, u64> = FxHashMap::default();
        for (bit, word) in words.iter().take(u64::BITS as usize).enumerate() {
            for place in word.iter().filter_map(|stem| self.holders.get(stem.as_str())).flatten() {
                *held.entry(self.symbols[*place as usize].0).or_default() |= 1 << bit;
            }
        }
        held
    }
}
