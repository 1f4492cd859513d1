//! Memory limit of a run, divided among its parts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use codelode_lang::extract::Limits;

/// The division of a memory limit.
pub(super) struct MemoryPlan {
    /// Number of reading threads; `None` for one on each core.
    pub threads: Option<usize>,
    /// Limit on files that are read but not yet stored, in bytes by [`MemoryPlan::weight_of`].
    pub under_way: u64,
    /// Size of the write buffer in bytes; `None` for the default.
    pub writer: Option<u64>,
    /// Limits for parsing a file.
    pub limits: Limits,
}

impl MemoryPlan {
    /// Memory of the process without parsing, with the smallest write buffer.
    const BASE: u64 = 60_000_000;
    /// Memory of a thread that parses ordinary files.
    const THREAD: u64 = 30_000_000;
    /// Read-ahead without a memory limit: enough to keep any machine busy.
    const PLENTY: u64 = 200_000_000;

    /// Divides a limit in bytes. There is always room for one file at a time.
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

    /// Memory for a file of this size until it is stored: its text, its extracted symbols, and the documents and
    /// grams made of both.
    pub fn weight_of(size: u64) -> u64 {
        (size * 8).max(50_000)
    }
}

/// Gate that admits files while their weight fits the limit.
pub(super) struct Gate(Arc<GateState>);

struct GateState {
    most: u64,
    is_open: AtomicBool,
    now: Mutex<u64>,
    left: Condvar,
}

/// Admission through the gate, released on drop.
pub(super) struct Permit {
    inside: Arc<GateState>,
    weight: u64,
}

impl Gate {
    pub fn new(most: u64) -> Self {
        Self(Arc::new(GateState { most, is_open: AtomicBool::new(false), now: Mutex::new(0), left: Condvar::new() }))
    }

    /// Waits until there is room. A file heavier than the limit is admitted alone.
    pub fn enter(&self, weight: u64) -> Permit {
        let is_open = &self.0.is_open;
        let full = |now: &mut u64| *now > 0 && *now + weight > self.0.most && !is_open.load(Ordering::Relaxed);
        let mut now = self.0.left.wait_while(self.0.lock(), full).unwrap_or_else(PoisonError::into_inner);
        *now += weight;
        Permit { inside: self.0.clone(), weight }
    }

    /// Admits everyone from now on.
    pub fn open(&self) {
        // The lock is held, so that no thread starts to wait between its check and its sleep.
        let _now = self.0.lock();
        self.0.is_open.store(true, Ordering::Relaxed);
        self.0.left.notify_all();
    }
}

impl GateState {
    fn lock(&self) -> MutexGuard<'_, u64> {
        // A panic in another thread cannot leave a number half written.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
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
                        // A weight of zero would not count as being inside.
                        let weight = 1 + (thread * 31 + turn * 7) % 139;
                        let ticket = gate.enter(weight);
                        let now = inside.fetch_add(weight, Ordering::SeqCst) + weight;
                        // A weight above the limit is admitted alone.
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
