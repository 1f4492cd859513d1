//! Parallel search of candidate files, most useful first, until there are enough results or time is up.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use codelode_store::{Error, FileView, GramQuery, Snapshot};

/// The number of files per batch, at first and later: a page is often full after a few files.
const FIRST_BATCH: usize = 16;
const MOST_IN_BATCH: usize = 256;
/// The bytes searched in the time that a thread takes to wake up.
const WORTH_THREADS: u64 = 1 << 19;
/// The most files that a thread takes at once.
const MOST_AT_ONCE: usize = 16;
/// The most files that define the searched name and come before all others.
const DEFINERS: usize = 20;

/// Conditions for stopping.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// The deadline.
    pub until: Instant,
    /// Set when the request is cancelled.
    pub cancelled: &'a AtomicBool,
}

impl Limits<'_> {
    /// Whether it is time to stop.
    pub fn reached(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.until
    }
}

/// Numbers of candidate files, most useful first: files that define the searched name, then source files, then tests
/// and documentation; each group by path.
pub struct Candidates<'a> {
    snapshot: &'a Snapshot,
    keep: &'a (dyn Fn(&FileView<'_>) -> bool + Sync),
    definers: VecDeque<u32>,
    taken: HashSet<u32>,
    first: std::vec::IntoIter<u32>,
    /// Tests and documentation, in their order.
    later: VecDeque<u32>,
}

impl<'a> Candidates<'a> {
    /// The files with these grams that `keep` accepts. Files that define `name` come first.
    pub fn new(
        snapshot: &'a Snapshot,
        grams: &GramQuery,
        name: Option<&str>,
        keep: &'a (dyn Fn(&FileView<'_>) -> bool + Sync),
    ) -> Result<Self, Error> {
        let all = snapshot.candidates(grams)?;
        let mut definers = VecDeque::new();
        if let Some(name) = name.filter(|_| !all.is_empty()) {
            for symbol in snapshot.exact(name, DEFINERS, &mut |_| true)? {
                if !definers.contains(&symbol.file) {
                    definers.push_back(symbol.file);
                }
            }
        }
        let is_test = |file: &u32| snapshot.file_by_number(*file).is_some_and(|file| file.is_test());
        definers.make_contiguous().sort_by_cached_key(|file| {
            (is_test(file), snapshot.file_by_number(*file).map(|file| file.path().to_owned()))
        });
        let taken = definers.iter().copied().collect();
        Ok(Self { snapshot, keep, definers, taken, first: all.into_iter(), later: VecDeque::new() })
    }
}

impl<'a> Iterator for Candidates<'a> {
    type Item = FileView<'a>;

    fn next(&mut self) -> Option<FileView<'a>> {
        loop {
            let is_definer = !self.definers.is_empty();
            let number = self.definers.pop_front().or_else(|| self.first.next());
            let Some(number) = number else {
                return self.later.pop_front().and_then(|file| self.snapshot.file_by_number(file));
            };
            let Some(file) = self.snapshot.file_by_number(number).filter(|file| (self.keep)(file)) else { continue };
            if is_definer {
                return Some(file);
            }
            if self.taken.contains(&number) {
                continue;
            }
            match file.is_test() {
                true => self.later.push_back(number),
                false => return Some(file),
            }
        }
    }
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Time ran out.
    pub timed_out: bool,
    /// The receiver wanted no more results.
    pub stopped: bool,
    /// Files searched.
    pub files: u64,
}

/// Searches files on all cores and passes the results to `take` in order, until it returns false. `make` creates each
/// thread's searcher.
pub fn scan<'a, S, T: Send>(
    candidates: impl Iterator<Item = FileView<'a>>,
    limits: Limits<'_>,
    make: impl Fn() -> S + Sync + Send,
    look: impl Fn(&mut S, &FileView<'_>) -> T + Sync + Send,
    take: &mut dyn FnMut(FileView<'a>, T) -> bool,
) -> Outcome {
    let mut outcome = Outcome::default();
    let mut candidates = candidates.peekable();
    let mut size = FIRST_BATCH;
    while candidates.peek().is_some() {
        let mut batch = Vec::with_capacity(size);
        while batch.len() < size && !limits.reached() {
            let Some(file) = candidates.next() else { break };
            batch.push(file);
        }
        let seen =
            on_every_core(&batch, FileView::size, &make, |with, file| (!limits.reached()).then(|| look(with, file)));
        for (file, seen) in batch.iter().zip(seen) {
            let Some(seen) = seen else {
                outcome.timed_out = true;
                return outcome;
            };
            outcome.files += 1;
            if !take(*file, seen) {
                outcome.stopped = true;
                return outcome;
            }
        }
        if batch.len() < size && candidates.peek().is_some() {
            outcome.timed_out = true;
            return outcome;
        }
        size = (size * 2).min(MOST_IN_BATCH);
    }
    outcome
}

/// The results of `look` for each item in order, in parallel if the sizes in bytes justify it. `make` creates each
/// thread's searcher.
pub fn on_every_core<I: Sync, S, T: Send>(
    things: &[I],
    size: impl Fn(&I) -> u64,
    make: impl Fn() -> S + Sync + Send,
    look: impl Fn(&mut S, &I) -> T + Sync + Send,
) -> Vec<T> {
    if things.iter().map(size).sum::<u64>() < WORTH_THREADS {
        let mut with = make();
        return things.iter().map(|thing| look(&mut with, thing)).collect();
    }
    things.par_iter().with_max_len(MOST_AT_ONCE).map_init(make, look).collect()
}
