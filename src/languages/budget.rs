//! Limits on reading one file: time, steps of the parser, and memory beside its syntax tree. Parsing, the walk and the facts
//! draw on the same budget.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::parsing::most_for;

/// Time for a file: a fixed part, and for each kilobyte of it. Small files have less, so that a megabyte of them takes no
/// longer than 10 s. Real files take a twentieth of it, and the first of a language builds its tables.
const TIME: Duration = Duration::from_millis(50 * SLOWER);
const TIME_PER_KILOBYTE: Duration = Duration::from_millis(4 * SLOWER);
/// A program that is not optimised has more time.
const SLOWER: u64 = if cfg!(debug_assertions) { 2 } else { 1 };
/// Steps for parsing a file, because some inputs make a grammar's error recovery explode: a fixed part, for each kilobyte,
/// and the most. Steps are counted beside time, so that every machine gives up the same files: a core makes about 45,000
/// a second, and real files take 4 to 20 for each kilobyte.
const STEPS: usize = 1_000;
const STEPS_PER_KILOBYTE: usize = 360;
const MOST_STEPS: usize = 90_000;
/// Steps for each kilobyte beyond which a large file is not given up for its size.
const LEAST_STEPS_PER_KILOBYTE: usize = 50;
/// Pieces of work beside parsing, such as visiting a node, between two looks at the clock. Each step of the parser looks
/// at it, because one step of an error recovery may take a tenth of a second.
const WORK_BETWEEN_LOOKS: u32 = 64;
/// The least time between two looks at the processor time, which take much longer.
const LEAST_WAIT: Duration = Duration::from_millis(2);
/// Memory beside the tree, for symbols, their texts and facts: bytes for each byte of the file, and a fixed part.
const ROOM_PER_BYTE: usize = 32;
const ROOM: usize = 600_000;

/// Limits on reading one file. A file that takes more is given up: its text is kept, its symbols are not read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time of the reading thread, so that a busy machine reads the same files as a quiet one. Small files may
    /// take less.
    pub time: Duration,
    /// Bytes of its syntax tree, its symbols and its facts. Small files may take less, too.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(2), memory: 200_000_000 }
    }
}

/// The limit that a file went beyond.
#[derive(Clone, Copy)]
enum ExceededLimit {
    Time,
    Memory,
    Facts,
}

/// The part of its limits that is left to a file.
pub struct Budget {
    limits: Limits,
    /// Before this moment, time cannot be over.
    due: Cell<Instant>,
    /// The processor time of the thread before this file.
    at_work: Option<Duration>,
    steps: Cell<usize>,
    worked: Cell<u32>,
    /// Bytes of syntax trees so far.
    trees: Cell<usize>,
    /// Bytes held beside them.
    held: Cell<usize>,
    room: usize,
    exceeded: Cell<Option<ExceededLimit>>,
}

/// The processor time of a thread from a moment on, for what has to end on a busy machine as on a quiet one. Threads that
/// worked for it count, see [`TimeAtWork::add`].
pub struct TimeAtWork {
    began: Instant,
    at_work: Option<Duration>,
    /// The time of other threads before.
    of_others: Duration,
}

thread_local! {
    /// The time of other threads that worked for this one.
    static OF_OTHERS: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

impl TimeAtWork {
    /// Begins to count the time of this thread.
    pub fn begin() -> Self {
        Self { began: Instant::now(), at_work: time_at_work(), of_others: OF_OTHERS.get() }
    }

    /// Counts time that another thread worked for this one.
    pub fn add(time: Duration) {
        OF_OTHERS.set(OF_OTHERS.get() + time);
    }

    /// The time of this thread since; time by the clock where the system does not count it.
    pub fn taken(&self) -> Duration {
        let of_others = OF_OTHERS.get().saturating_sub(self.of_others);
        let taken = || Some(time_at_work()?.saturating_sub(self.at_work?) + of_others);
        taken().unwrap_or_else(|| self.began.elapsed())
    }
}

impl Budget {
    /// The budget of a file of this size.
    pub fn new(size: usize, limits: &Limits) -> Self {
        let kilobytes = size / 1000;
        let at_work = time_at_work();
        // Time spent waiting for the processor would count.
        let time = at_work.map_or(limits.time, |_| limits.time.min(TIME + TIME_PER_KILOBYTE * kilobytes as u32));
        let limits = Limits { time, memory: limits.memory.min(most_for(size)) };
        let most_steps = MOST_STEPS.max(kilobytes * LEAST_STEPS_PER_KILOBYTE);
        Self {
            limits,
            due: Cell::new(Instant::now() + limits.time),
            at_work,
            steps: Cell::new((STEPS + kilobytes * STEPS_PER_KILOBYTE).min(most_steps)),
            worked: Cell::new(0),
            trees: Cell::new(0),
            held: Cell::new(0),
            room: size.saturating_mul(ROOM_PER_BYTE).saturating_add(ROOM),
            exceeded: Cell::new(None),
        }
    }

    /// The bytes that are left for one more tree; `trees` is the size of the file's trees so far.
    pub fn left_for_a_tree(&self, trees: usize) -> usize {
        self.limits.memory.saturating_sub(trees.saturating_add(self.held.get()))
    }

    /// Takes one step of the parser; `trees` is the size of the file's trees so far. False if the budget is exceeded.
    pub fn step(&self, trees: usize) -> bool {
        let steps = self.steps.get().saturating_sub(1);
        self.steps.set(steps);
        self.trees.set(trees);
        if trees.saturating_add(self.held.get()) > self.limits.memory {
            self.exceeded.set(Some(ExceededLimit::Memory));
        } else if steps == 0 || self.is_late() {
            self.exceeded.set(Some(ExceededLimit::Time));
        }
        // A limit that was reached once is reached for the rest of the file.
        self.is_left()
    }

    /// Takes one piece of work beside parsing, such as a visit to a node. False when time is over.
    pub fn work(&self) -> bool {
        let worked = self.worked.get().wrapping_add(1);
        self.worked.set(worked);
        if worked.is_multiple_of(WORK_BETWEEN_LOOKS) && self.is_late() {
            self.exceeded.set(Some(ExceededLimit::Time));
        }
        !matches!(self.exceeded.get(), Some(ExceededLimit::Time))
    }

    /// Takes this many bytes beside the tree, if they are left.
    pub fn hold(&self, bytes: usize) -> bool {
        let fits = self.has_room(bytes);
        if fits {
            self.held.set(self.held.get() + bytes);
        }
        fits
    }

    /// Whether this many bytes are left beside the tree.
    pub fn has_room(&self, bytes: usize) -> bool {
        let held = self.held.get().saturating_add(bytes);
        held <= self.room && held.saturating_add(self.trees.get()) <= self.limits.memory
    }

    /// Notes that a part was left out for want of room.
    pub fn cut(&self) {
        if self.is_left() {
            self.exceeded.set(Some(ExceededLimit::Facts));
        }
    }

    /// Whether no limit has been reached.
    pub fn is_left(&self) -> bool {
        self.exceeded.get().is_none()
    }

    /// The reason for an incomplete result, if it is incomplete.
    pub fn failure(&self) -> Option<String> {
        let Limits { time, memory } = self.limits;
        Some(match self.exceeded.get()? {
            ExceededLimit::Time => format!("parsing took over {}", humantime::format_duration(time)),
            ExceededLimit::Memory => format!("parsing took more than {} MB", memory / 1_000_000),
            ExceededLimit::Facts => "there is too much in it for its size".to_owned(),
        })
    }

    /// Whether time is over. Time spent waiting for the processor does not count where the system reports it.
    fn is_late(&self) -> bool {
        let now = Instant::now();
        if now < self.due.get() {
            return false;
        }
        let took = || Some(time_at_work()?.saturating_sub(self.at_work?));
        let left = took().map_or(Duration::ZERO, |took| self.limits.time.saturating_sub(took));
        self.due.set(now + left.max(LEAST_WAIT));
        left.is_zero()
    }
}

/// The processor time of this thread, where the system counts it.
fn time_at_work() -> Option<Duration> {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counts.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_looks_at_the_clock() {
        // One step of an error recovery may take a tenth of a second.
        let limits = Limits { time: Duration::ZERO, ..Limits::default() };
        let budget = Budget::new(10, &limits);
        assert!(!budget.step(0) && budget.failure().is_some());
        assert!(Budget::new(10, &Limits::default()).step(0));
    }
}
