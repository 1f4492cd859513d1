//! Limits on reading one file: steps of the parser, visits to nodes, and memory beside its syntax tree. Parsing, the walk
//! and the facts draw on the same budget. Effort is counted and not timed, so that the same bytes always give the same
//! result: on a machine that is busy, that waits for its disk, or that is slow.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::parsing::most_for;

/// Steps for parsing a file, because some inputs make a grammar's error recovery explode: a fixed part, for each kilobyte,
/// and the most. A core makes about 45,000 a second. Of 11,000 files of thirteen repositories none took more than 47 for a
/// kilobyte, and half of them took 7.
const STEPS: usize = 1_000;
const STEPS_PER_KILOBYTE: usize = 360;
const MOST_STEPS: usize = 60_000;
/// Steps for each kilobyte beyond which a large file is not given up for its size.
const LEAST_STEPS_PER_KILOBYTE: usize = 60;
/// Visits to nodes, and other pieces of work beside parsing: a fixed part, and for each byte of a file. None of those files
/// took more than 1.4 for a byte.
const VISITS: usize = 100_000;
const VISITS_PER_BYTE: usize = 12;
/// Pieces of work beside parsing between two looks at the clock. Each step of the parser looks at it, because one step of an
/// error recovery may take a tenth of a second.
const WORK_BETWEEN_LOOKS: usize = 64;
/// The least time between two looks at the processor time, which take much longer.
const LEAST_WAIT: Duration = Duration::from_millis(2);
/// Memory beside the tree, for symbols, their texts and facts: bytes for each byte of the file, and a fixed part. A list of
/// constants, `X1 = 1` a line, takes 60 for a byte.
const ROOM_PER_BYTE: usize = 80;
const ROOM: usize = 600_000;

/// Limits on reading one file. A file that takes more is given up: its text is kept, its symbols are not read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time of the reading thread. It is the last resort against a step or a visit that takes for ever, and so far
    /// away that effort ends first. A file that meets it is not known.
    pub time: Duration,
    /// Bytes of its syntax tree, its symbols and its facts. Small files may take less, too.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), memory: 200_000_000 }
    }
}

/// The limit that a file went beyond.
#[derive(Clone, Copy)]
enum ExceededLimit {
    Effort,
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
    /// Steps of the parser that are left.
    steps: Cell<usize>,
    /// Pieces of work beside it that are left.
    visits: Cell<usize>,
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
        let limits = Limits { memory: limits.memory.min(most_for(size)), ..*limits };
        let most_steps = MOST_STEPS.max(kilobytes * LEAST_STEPS_PER_KILOBYTE);
        Self {
            limits,
            due: Cell::new(now() + limits.time),
            at_work,
            steps: Cell::new((STEPS + kilobytes * STEPS_PER_KILOBYTE).min(most_steps)),
            visits: Cell::new(VISITS.saturating_add(size.saturating_mul(VISITS_PER_BYTE))),
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

    /// Takes steps of the parser; `trees` is the size of the file's trees so far. False if the budget is exceeded.
    pub fn step(&self, trees: usize, steps: usize) -> bool {
        let steps = self.steps.get().saturating_sub(steps);
        self.steps.set(steps);
        self.trees.set(trees);
        if trees.saturating_add(self.held.get()) > self.limits.memory {
            self.exceeded.set(Some(ExceededLimit::Memory));
        } else if steps == 0 {
            self.exceeded.set(Some(ExceededLimit::Effort));
        } else if self.is_late() {
            self.exceeded.set(Some(ExceededLimit::Time));
        }
        // A limit that was reached once is reached for the rest of the file.
        self.is_left()
    }

    /// Takes one piece of work beside parsing, such as a visit to a node. False when the effort is spent.
    pub fn work(&self) -> bool {
        let visits = self.visits.get().saturating_sub(1);
        self.visits.set(visits);
        if visits == 0 {
            self.exceeded.set(Some(ExceededLimit::Effort));
        } else if visits.is_multiple_of(WORK_BETWEEN_LOOKS) && self.is_late() {
            self.exceeded.set(Some(ExceededLimit::Time));
        }
        !matches!(self.exceeded.get(), Some(ExceededLimit::Effort | ExceededLimit::Time))
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

    /// Whether time ended the reading, and not effort or memory: the result depends on more than the file.
    pub fn is_out_of_time(&self) -> bool {
        matches!(self.exceeded.get(), Some(ExceededLimit::Time))
    }

    /// The reason for an incomplete result, if it is incomplete.
    pub fn failure(&self) -> Option<String> {
        let Limits { time, memory } = self.limits;
        Some(match self.exceeded.get()? {
            ExceededLimit::Effort => "parsing took more steps than its size allows".to_owned(),
            ExceededLimit::Time => format!("parsing took over {}", humantime::format_duration(time)),
            ExceededLimit::Memory => format!("parsing took more than {} MB", memory / 1_000_000),
            ExceededLimit::Facts => "there is too much in it for its size".to_owned(),
        })
    }

    /// Whether time is over. Time spent waiting for the processor does not count where the system reports it.
    fn is_late(&self) -> bool {
        let now = now();
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
    counts.split(' ').next()?.parse().ok().map(Duration::from_nanos).map(|time| time + leapt())
}

fn now() -> Instant {
    Instant::now() + leapt()
}

#[cfg(not(test))]
fn leapt() -> Duration {
    Duration::ZERO
}

#[cfg(test)]
use leaps::leapt;

/// A clock that leaps, as on a machine that was stopped.
#[cfg(test)]
pub mod leaps {
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        /// Time for each look at the clock.
        static STEP: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static LEAPT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// Lets the clocks of this thread go on by so much at each look.
    pub fn set(step: Duration) {
        STEP.set(step);
        LEAPT.set(Duration::ZERO);
    }

    pub(super) fn leapt() -> Duration {
        LEAPT.set(LEAPT.get() + STEP.get());
        LEAPT.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_looks_at_the_clock() {
        // One step of an error recovery may take a tenth of a second.
        let limits = Limits { time: Duration::ZERO, ..Limits::default() };
        let budget = Budget::new(10, &limits);
        assert!(!budget.step(0, 1) && budget.failure().is_some());
        assert!(Budget::new(10, &Limits::default()).step(0, 1));
    }
}
