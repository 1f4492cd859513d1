//! How much memory a run may take, shared out to those who need it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::extract::Limits;

/// How memory is shared out.
pub(super) struct Room {
    /// Threads that read; `None` for one on each core.
    pub threads: Option<usize>,
    /// Bytes of files that have been read and not taken up yet, by [`Room::weight_of`].
    pub under_way: u64,
    /// Bytes that are gathered before they are written; `None` for as many as are useful.
    pub writer: Option<u64>,
    /// What a file may take to be parsed.
    pub limits: Limits,
}

impl Room {
    /// What a program of this kind takes at least, the smallest writer included.
    const BASE: u64 = 60_000_000;
    /// What a thread that parses ordinary files takes.
    const THREAD: u64 = 30_000_000;
    /// What is read ahead where nobody sets a limit: more than any machine needs to be kept busy.
    const PLENTY: u64 = 200_000_000;

    /// What may be used of so many bytes; there is always room for one file after the other.
    pub fn of(max_memory: Option<u64>) -> Self {
        let Some(most) = max_memory else {
            return Self { threads: None, under_way: Self::PLENTY, writer: None, limits: Limits::default() };
        };
        let room = most.saturating_sub(Self::BASE);
        let threads = (room / 2 / Self::THREAD).max(1);
        let usual = Limits::default();
        let memory = usize::try_from(room / 2 / threads).unwrap_or(usual.memory).min(usual.memory);
        Self {
            threads: Some(threads as usize),
            under_way: room / 4,
            writer: Some(room / 4),
            limits: Limits { memory, ..usual },
        }
    }

    /// What a file of so many bytes weighs until it has been taken up: its text, what was read out of it, and the documents and
    /// grams that are made of both.
    pub fn weight_of(size: u64) -> u64 {
        (size * 8).max(50_000)
    }
}

/// Lets in as much as there is room for.
pub(super) struct Gate(Arc<Inside>);

struct Inside {
    most: u64,
    is_open: AtomicBool,
    now: Mutex<u64>,
    left: Condvar,
}

/// A place inside, given back when it is dropped.
pub(super) struct Ticket {
    inside: Arc<Inside>,
    weight: u64,
}

impl Gate {
    pub fn new(most: u64) -> Self {
        Self(Arc::new(Inside { most, is_open: AtomicBool::new(false), now: Mutex::new(0), left: Condvar::new() }))
    }

    /// Waits until there is room. What is heavier than all the room there is comes in alone.
    pub fn enter(&self, weight: u64) -> Ticket {
        let is_open = &self.0.is_open;
        let full = |now: &mut u64| *now > 0 && *now + weight > self.0.most && !is_open.load(Ordering::Relaxed);
        let mut now = self.0.left.wait_while(self.0.lock(), full).unwrap_or_else(PoisonError::into_inner);
        *now += weight;
        Ticket { inside: self.0.clone(), weight }
    }

    /// Lets everybody in from now on.
    pub fn open(&self) {
        // Held, so that nobody begins to wait between seeing it shut and sleeping.
        let _now = self.0.lock();
        self.0.is_open.store(true, Ordering::Relaxed);
        self.0.left.notify_all();
    }
}

impl Inside {
    fn lock(&self) -> MutexGuard<'_, u64> {
        // A number is whole whoever panicked beside it.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        *self.inside.lock() -= self.weight;
        self.inside.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::Gate;

    #[test]
    fn no_more_is_inside_than_there_is_room_for() {
        let gate = Gate::new(100);
        let (inside, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (gate, inside, most) = (&gate, &inside, &most);
                scope.spawn(move || {
                    for turn in 0..500 {
                        // What weighs nothing would not count as being inside.
                        let weight = 1 + (thread * 31 + turn * 7) % 139;
                        let ticket = gate.enter(weight);
                        let now = inside.fetch_add(weight, Ordering::SeqCst) + weight;
                        // What is too heavy for all of the room is there alone.
                        assert!(now <= 100 || now == weight, "{now} with {weight}");
                        most.fetch_max(now, Ordering::SeqCst);
                        inside.fetch_sub(weight, Ordering::SeqCst);
                        drop(ticket);
                    }
                });
            }
        });
        assert!(most.into_inner() > 0);
    }
}
