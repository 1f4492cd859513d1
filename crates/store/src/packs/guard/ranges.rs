//! Address ranges of guarded mappings. A signal handler must not wait, so there are no locks.

use super::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Value of a range's start when no mapping uses the range, and when one is about to. Neither is an address.
const FREE: usize = 0;
const TAKEN: usize = 1;

/// Address range of a mapping.
pub struct Range {
    pub start: AtomicUsize,
    pub end: AtomicUsize,
    pub is_cut: AtomicBool,
}

/// All ranges.
pub struct Ranges<const N: usize> {
    pub all: [Range; N],
    /// Index where the search for a free range starts.
    pub next: AtomicUsize,
}

impl<const N: usize> Ranges<N> {
    /// Adds a range and returns its index. `None` when all are in use.
    pub fn add(&self, start: usize, len: usize) -> Option<usize> {
        let from = self.next.fetch_add(1, Ordering::Relaxed);
        let is_ours = |place: &usize| {
            let start = &self.all[*place].start;
            start.compare_exchange(FREE, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        let place = (0..N).map(|step| from.wrapping_add(step) % N).find(is_ours)?;
        let range = &self.all[place];
        range.is_cut.store(false, Ordering::Relaxed);
        range.end.store(start + len, Ordering::Release);
        range.start.store(start, Ordering::Release);
        Some(place)
    }

    /// Removes the range at an index, before its mapping.
    pub fn remove(&self, place: usize) {
        self.all[place].end.store(0, Ordering::Release);
        self.all[place].start.store(FREE, Ordering::Release);
    }

    /// Whether zeros were read in the range at an index.
    pub fn is_cut(&self, place: usize) -> bool {
        self.all[place].is_cut.load(Ordering::SeqCst)
    }

    /// Marks the range that holds an address, then lets `map_zeros` put zeros there. False when there is no such range
    /// or no zeros.
    pub fn cut(&self, at: usize, map_zeros: impl FnOnce() -> bool) -> bool {
        let mut is_held = false;
        for range in &self.all {
            let start = range.start.load(Ordering::Acquire);
            // Between the two, the range may have got the end of another mapping, and then has another start.
            let holds = start > TAKEN
                && (start..range.end.load(Ordering::Acquire)).contains(&at)
                && range.start.load(Ordering::Acquire) == start;
            if holds {
                // Another thread that reads the zeros must see the mark.
                range.is_cut.store(true, Ordering::SeqCst);
                is_held = true;
            }
        }
        is_held && map_zeros()
    }
}
