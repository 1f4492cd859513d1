//! The symbols that match the query, best first, and the selected one.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use codelode_service::parts::pick::Entry;

/// The most symbols in the list.
const MOST: usize = 1_000;

/// The state of the picker.
pub(super) struct Choice<'s> {
    all: &'s [Entry],
    pub(super) query: String,
    /// Indices in `all` of the listed symbols.
    found: Vec<usize>,
    /// The number of matching symbols.
    pub(super) n_found: usize,
    pub(super) selected: usize,
}

impl<'s> Choice<'s> {
    pub(super) fn new(all: &'s [Entry], query: String) -> Self {
        let mut choice = Self { all, query, found: Vec::new(), n_found: 0, selected: 0 };
        choice.find();
        choice
    }

    /// The number of all symbols.
    pub(super) fn n_all(&self) -> usize {
        self.all.len()
    }

    /// The selected symbol.
    pub(super) fn picked(&self) -> Option<&'s Entry> {
        self.found.get(self.selected).map(|place| &self.all[*place])
    }

    /// The listed symbols from a row on.
    pub(super) fn from(&self, first: usize) -> impl Iterator<Item = &'s Entry> {
        self.found.iter().skip(first).map(|place| &self.all[*place])
    }

    /// Changes the query and matches again.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.query);
        self.find();
    }

    /// Selects another symbol of the list.
    pub(super) fn step(&mut self, by: isize) {
        self.selected = self.selected.saturating_add_signed(by).min(self.found.len().saturating_sub(1));
    }

    fn find(&mut self) {
        self.selected = 0;
        let pattern = Pattern::parse(&self.query, CaseMatching::Smart, Normalization::Smart);
        let make = || (Matcher::new(Config::DEFAULT.match_paths()), Vec::new());
        let scored =
            self.all.par_iter().enumerate().with_min_len(4096).map_init(make, |(matcher, letters), (at, entry)| {
                let whole = pattern.score(Utf32Str::new(&entry.text, letters), matcher)?;
                // A name that contains all letters comes before one that needs its path.
                let name = pattern.score(Utf32Str::new(entry.name(), letters), matcher).unwrap_or(0);
                Some((Reverse(whole + 2 * name), entry.is_test, entry.name_len, at))
            });
        let mut scored: Vec<_> = scored.flatten().collect();
        self.n_found = scored.len();
        if !self.query.trim().is_empty() {
            scored.sort_unstable();
        }
        self.found = scored.into_iter().take(MOST).map(|(.., at)| at).collect();
    }
}

/// The places of matching letters in a name, counted in characters.
pub(super) fn fitting(query: &str, name: &str) -> Vec<u32> {
    let (mut places, mut letters) = (Vec::new(), Vec::new());
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    if pattern.indices(Utf32Str::new(name, &mut letters), &mut matcher, &mut places).is_none() {
        places.clear();
    }
    places
}
