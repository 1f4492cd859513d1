//! State of an open index: its snapshot, and what is known of the snapshot's freshness.
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
//! [`State::begin`] starts a comparison: the verdict is `Unchecked` until it ends. With no difference, the snapshot is
//! `Fresh` as of the start of the comparison. Otherwise changed files are read: the verdict is `Updating`, and names
//! some of them. When the new snapshot is published it is `Fresh`; if another process has published meanwhile, that one's
//! is `Unchecked`. An update that fails leaves the snapshot `Stale`. Files that are gone leave the snapshot at once.
//!
//! `Work` is `Idle`, `Comparing`, or `Renewing` while every file is read again because an earlier version of codelode
//! made the index. It ends with the thread ([`State::end`]), whatever became of the verdict.
//!
//! A watcher of the checkout answers instead of a comparison, in the same verdicts: `Fresh`, or `Updating` with the files
//! that it has not read yet. [`Checked`] is the last verdict with its source and time: an answer is called fresh only if that was after
//! its call began.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::Caller;
use crate::answer::Freshness;
use codelode_store::{self as store, Snapshot};

/// Maximum wait for a new index in place of one of an earlier version: at a terminal, and for what only the new one
/// can answer.
pub(super) const RENEWAL: Duration = Duration::from_secs(600);
/// Maximum wait of a question about a whole folder for an index of which there is only an excerpt.
pub(super) const COMPLETION: Duration = Duration::from_secs(30);
/// Time between two looks at whether a caller who waits has cancelled.
const GLANCE: Duration = Duration::from_millis(500);

/// Reason given in answers from an index of an earlier version.
pub(super) const EARLIER: &str = "an earlier version of codelode made this index; its files are being reindexed";

/// Identity of a published generation.
pub(super) type Stamp = Option<(u64, u64, i64)>;

/// One open index.
pub(super) struct OpenIndex {
    state: Mutex<State>,
    /// Notified when the work has ended, or becomes a renewal.
    pub changed: Condvar,
}

/// State of an open index.
pub(super) struct State {
    pub snapshot: Arc<Snapshot>,
    pub stamp: Stamp,
    pub verdict: Verdict,
    pub work: Work,
    /// Last verdict on this snapshot.
    pub checked: Option<Checked>,
    /// Duration of the last comparison, without the update.
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
    /// These files differ, some of them named, and are being read.
    Updating(Vec<String>),
    /// It differs, and this is why it was not updated.
    Stale { files: Vec<String>, because: String },
}

/// Work of the thread of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// None.
    Idle,
    /// A comparison, and the update after it.
    Comparing,
    /// Every file is read again.
    Renewing,
}

/// When a snapshot was spoken of, and by whom.
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
    /// Facts for `_meta` about files that are not up to date.
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

    /// Waits until an excerpt is completed, if that is being done.
    pub(super) fn wait_for_completion(&self, caller: &Caller<'_>) {
        self.wait(caller, COMPLETION, |work| work != Work::Idle);
    }

    /// Waits until an index of an earlier version is replaced, if that is being done.
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

    /// The comparison, begun at this time, found no difference.
    pub fn equals(&mut self, at: Instant) {
        (self.verdict, self.checked) = (Verdict::Fresh, Some(Checked { at, by: VerdictSource::Comparison }));
    }

    /// The comparison found differences, which are being read. `files` are some of them; those that are gone leave the
    /// snapshot.
    pub fn differs(&mut self, files: Vec<String>, gone: &[String]) {
        self.verdict = Verdict::Updating(files);
        if !gone.is_empty() {
            self.snapshot = Arc::new(self.snapshot.without(gone.iter().map(String::as_str)));
        }
    }

    /// A snapshot was published: with `at`, by the update after a comparison begun at that time, so that it is fresh;
    /// without, by another process, which may have compared before the last edit.
    pub fn publish(&mut self, snapshot: Arc<Snapshot>, stamp: Stamp, at: Option<Instant>) {
        (self.snapshot, self.stamp) = (snapshot, stamp);
        self.verdict = if at.is_some() { Verdict::Fresh } else { Verdict::Unchecked };
        self.checked = at.map(|at| Checked { at, by: VerdictSource::Comparison });
    }

    /// The update failed: another run is in progress, or the next call continues.
    pub fn fail(&mut self, because: String, at: Instant) {
        let files = match std::mem::replace(&mut self.verdict, Verdict::Unchecked) {
            Verdict::Updating(files) | Verdict::Stale { files, .. } => files,
            Verdict::Unchecked | Verdict::Fresh => Vec::new(),
        };
        self.verdict = Verdict::Stale { files, because };
        self.checked = Some(Checked { at, by: VerdictSource::Comparison });
    }

    /// Nothing newer can be read by this process.
    pub fn outlive(&mut self, err: &store::Error) {
        self.verdict = Verdict::Stale { files: Vec::new(), because: format!("{err}; restart this server") };
        self.checked = Some(Checked { at: Instant::now(), by: VerdictSource::Comparison });
    }

    /// The watcher, asked at this time, has read everything, or all but these files.
    pub fn watcher_answered(&mut self, unread: Option<Vec<String>>, at: Instant) {
        self.verdict = unread.map_or(Verdict::Fresh, Verdict::Updating);
        self.checked = Some(Checked { at, by: VerdictSource::Watcher });
    }

    /// The watcher speaks no more. Its last verdict replaced any comparison.
    pub fn watcher_left(&mut self) {
        self.checked = self.checked.filter(|checked| checked.by != VerdictSource::Watcher);
    }

    /// The thread has ended.
    pub fn end(&mut self) {
        self.work = Work::Idle;
    }

    /// Whether somebody spoke of the snapshot at this time or later.
    pub fn is_checked_since(&self, since: Instant) -> bool {
        self.checked.is_some_and(|checked| checked.at >= since)
    }

    /// Whether the last update failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.verdict, Verdict::Stale { .. })
    }

    /// The snapshot, called fresh only if it was compared after the call began.
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

    /// The stale files, or only that files may be stale when whole folders are affected or a comparison is pending.
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
