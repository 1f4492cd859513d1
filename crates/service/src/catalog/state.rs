//! State of an open index: its snapshot, and the knowledge about the snapshot's freshness.
//!
//! The state has two parts, each an enum: the [`Verdict`] on the snapshot, and the [`Work`] of the one thread that
//! compares the folder with it. Verdicts follow each other so:
//!
//! ```text
//!                 nothing differs                  published
//! Unchecked ───────────────────────▶ Fresh ◀──────────────────────┐
//!   ▲  │                               │                          │
//!   │  └───────────── differs ─────────┴───────────▶ Updating ────┤
//!   │                                                             │ failed
//!   └── another process publishes, from any verdict               ▼
//!                                                               Stale
//! ```
//!
//! [`State::begin`] starts a comparison: the verdict is `Unchecked` until it ends. Without a difference, the snapshot
//! is `Fresh` as of the start of the comparison. Otherwise changed files are read, and the verdict is `Updating` with
//! some of their names. The newly published snapshot is `Fresh`. If another process has published meanwhile, its
//! snapshot is `Unchecked`. A failed update leaves the snapshot `Stale`. Deleted files leave the snapshot at once.
//!
//! `Work` is `Idle`, `Comparing`, or `Renewing` while every file is read again, because an earlier version of codelode
//! made the index. It ends with the thread ([`State::end`]), whatever the verdict.
//!
//! A watcher of the checkout can replace the comparison. It gives the same verdicts: `Fresh`, or `Updating` with unread
//! files. [`Checked`] is the time and source of the last verdict. An answer is only called fresh if that time is after
//! the start of its call.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Caller;
use crate::answer::Freshness;
use codelode_store::{self as store, Snapshot};

/// The longest wait for a new index in place of an earlier version's, at a terminal and for questions that only the new
/// one can answer.
pub(super) const RENEWAL: Duration = Duration::from_secs(600);
/// The longest wait of a question that needs the full index while there is only an excerpt.
pub(super) const COMPLETION: Duration = Duration::from_secs(30);
/// The interval between checks whether a waiting caller has cancelled.
const GLANCE: Duration = Duration::from_millis(500);

/// Reason given in answers from an index of an earlier version.
pub(super) const EARLIER: &str = "an earlier version of codelode made this index; its files are being reindexed";

/// Identity of a published generation.
pub(super) type Stamp = Option<(u64, u64, i64)>;

/// One open index.
pub(super) struct OpenIndex {
    state: Mutex<State>,
    /// Notified when the work ends, or becomes a renewal.
    pub changed: Condvar,
}

/// State of an open index.
pub(super) struct State {
    pub snapshot: Arc<Snapshot>,
    pub stamp: Stamp,
    pub verdict: Verdict,
    pub work: Work,
    /// The last verdict on this snapshot.
    pub checked: Option<Checked>,
    /// The duration of the last comparison, without the update.
    pub took: Duration,
    /// Time of the first comparison.
    pub first_compared: Option<Instant>,
    /// Time when the watcher last failed to respond.
    pub mute: Option<Instant>,
}

/// Freshness of a snapshot.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Nothing is known.
    Unchecked,
    /// Nothing differed.
    Fresh,
    /// Files differ, some of them named here, and are being read.
    Updating(Vec<String>),
    /// Files differ; the reason why they were not read.
    Stale { files: Vec<String>, because: String },
}

/// The work of an index's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// None.
    Idle,
    /// A comparison, and the update after it.
    Comparing,
    /// Every file is read again.
    Renewing,
}

/// The time and source of a verdict.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    pub at: Instant,
    pub by: VerdictSource,
}

/// Source of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VerdictSource {
    /// A comparison of the folder.
    Comparison,
    /// The watcher of the checkout.
    Watcher,
}

/// A snapshot with its freshness.
pub(super) struct CheckedSnapshot {
    pub snapshot: Arc<Snapshot>,
    pub freshness: Freshness,
    /// Notes about stale files for the answer, by the keys of `_meta`.
    pub stale: Map<String, Value>,
    /// Whether a watcher confirmed the freshness for this call.
    pub is_kept: bool,
}

impl OpenIndex {
    /// Opens a snapshot that was not compared with its folder yet.
    pub(super) fn new(snapshot: Arc<Snapshot>, stamp: Stamp) -> Self {
        let state = State {
            snapshot,
            stamp,
            verdict: Verdict::Unchecked,
            work: Work::Idle,
            checked: None,
            took: Duration::ZERO,
            first_compared: None,
            mute: None,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // The snapshot is replaced by one assignment, so a panic leaves it intact.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.state().snapshot.clone()
    }

    /// Waits until an excerpt is completed, if a thread is doing that.
    pub(super) fn wait_for_completion(&self, caller: &Caller<'_>) {
        self.wait(caller, COMPLETION, |work| work != Work::Idle);
    }

    /// Waits until an earlier version's index is replaced, if a thread is doing that.
    pub(super) fn wait_for_renewal(&self, caller: &Caller<'_>) {
        self.wait(caller, RENEWAL, |work| work == Work::Renewing);
    }

    fn wait(&self, caller: &Caller<'_>, most: Duration, goes_on: impl Fn(Work) -> bool) {
        let until = Instant::now() + most;
        let mut state = self.state();
        while goes_on(state.work) && Instant::now() < until && !caller.request.is_cancelled() {
            let waited = self.changed.wait_timeout(state, GLANCE);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    /// Starts a comparison.
    pub fn begin(&mut self) {
        (self.work, self.verdict) = (Work::Comparing, Verdict::Unchecked);
    }

    /// The comparison that began at `at` found no difference.
    pub fn equals(&mut self, at: Instant) {
        (self.verdict, self.checked) = (Verdict::Fresh, Some(Checked { at, by: VerdictSource::Comparison }));
    }

    /// The comparison found differences, which are being read. `files` are some of them. The files in `gone` leave the
    /// snapshot.
    pub fn differs(&mut self, files: Vec<String>, gone: &[String]) {
        self.verdict = Verdict::Updating(files);
        if !gone.is_empty() {
            self.snapshot = Arc::new(self.snapshot.without(gone.iter().map(String::as_str)));
        }
    }

    /// A snapshot was published. With `at`, the update after a comparison that began then published it, so it is fresh.
    /// Without, another process did, whose comparison may be older than the last edit.
    pub fn publish(&mut self, snapshot: Arc<Snapshot>, stamp: Stamp, at: Option<Instant>) {
        (self.snapshot, self.stamp) = (snapshot, stamp);
        self.verdict = if at.is_some() { Verdict::Fresh } else { Verdict::Unchecked };
        self.checked = at.map(|at| Checked { at, by: VerdictSource::Comparison });
    }

    /// The update failed, perhaps because of another run; the next call continues.
    pub fn fail(&mut self, because: String, at: Instant) {
        let files = match std::mem::replace(&mut self.verdict, Verdict::Unchecked) {
            Verdict::Updating(files) | Verdict::Stale { files, .. } => files,
            Verdict::Unchecked | Verdict::Fresh => Vec::new(),
        };
        self.verdict = Verdict::Stale { files, because };
        self.checked = Some(Checked { at, by: VerdictSource::Comparison });
    }

    /// This process cannot read the newest index.
    pub fn outlive(&mut self, err: &store::Error) {
        self.verdict = Verdict::Stale { files: Vec::new(), because: format!("{err}; restart this server") };
        self.checked = Some(Checked { at: Instant::now(), by: VerdictSource::Comparison });
    }

    /// The watcher, asked at `at`, has read everything, or everything but these files.
    pub fn watcher_answered(&mut self, unread: Option<Vec<String>>, at: Instant) {
        self.verdict = unread.map_or(Verdict::Fresh, Verdict::Updating);
        self.checked = Some(Checked { at, by: VerdictSource::Watcher });
    }

    /// The watcher no longer answers. Its last verdict has replaced any comparison.
    pub fn watcher_left(&mut self) {
        self.checked = self.checked.filter(|checked| checked.by != VerdictSource::Watcher);
    }

    /// The thread has ended.
    pub fn end(&mut self) {
        self.work = Work::Idle;
    }

    /// Whether the snapshot has a verdict from this time or later.
    pub fn is_checked_since(&self, since: Instant) -> bool {
        self.checked.is_some_and(|checked| checked.at >= since)
    }

    /// Whether the last update failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.verdict, Verdict::Stale { .. })
    }

    /// The snapshot for an answer. It is only called fresh if it was compared after the call began.
    pub fn seen(&self, caller: &Caller<'_>) -> CheckedSnapshot {
        let is_partial = self.snapshot.facts().partial;
        let freshness = match &self.verdict {
            Verdict::Fresh if self.is_checked_since(caller.began) => Freshness::Fresh,
            Verdict::Fresh => Freshness::Unchecked,
            Verdict::Updating(_) => Freshness::Indexing,
            Verdict::Unchecked | Verdict::Stale { .. } if is_partial => Freshness::Indexing,
            Verdict::Unchecked => Freshness::Unchecked,
            Verdict::Stale { .. } => Freshness::Stale,
        };
        let stale = if freshness == Freshness::Fresh { Map::new() } else { self.stale(freshness) };
        let is_kept = self.checked.is_some_and(|checked| checked.by == VerdictSource::Watcher);
        CheckedSnapshot { snapshot: self.snapshot.clone(), freshness, stale, is_kept }
    }

    /// The stale files; or, if unknown, only the note that files may be stale.
    fn stale(&self, freshness: Freshness) -> Map<String, Value> {
        let (files, because) = match &self.verdict {
            Verdict::Unchecked | Verdict::Fresh => (&[][..], None),
            Verdict::Updating(files) => (&files[..], None),
            Verdict::Stale { files, because } => (&files[..], Some(because.as_str())),
        };
        let because = because.or((self.work == Work::Renewing).then_some(EARLIER));
        let mut stale: Map<String, Value> =
            because.into_iter().map(|why| ("stale_because".to_owned(), json!(why))).collect();
        match (files.is_empty(), freshness) {
            (false, _) => drop(stale.insert("stale_files".to_owned(), json!(files))),
            (true, Freshness::Unchecked) => {}
            (true, _) => drop(stale.insert("changes_pending".to_owned(), json!(true))),
        }
        stale
    }
}
