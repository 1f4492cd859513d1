//! Freshness of open indexes: comparison of a folder with its index by size and time of every file, and updates.
//!
//! "Fresh" is one fact, set together with its snapshot: the folder was compared with this snapshot after the call
//! began, and nothing differed.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Caller;
use super::indexes::opened;
use super::locate::EXCERPT;
use crate::allocator;
use crate::answer::{Error, Freshness};
use crate::config::{self, Config};
use crate::model::Progress;
use crate::pipeline::{self, Watcher};
use crate::store::{self, Sidecar, Snapshot, SnapshotFacts};
use crate::watch::{self, KeeperAnswer};

/// Minimum time between two comparisons of a folder that take long beside the wait for changes, and after a failed
/// update. Others are made for every call.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Maximum wait for changes, in relaxed and in strict mode.
const RELAXED: Duration = Duration::from_millis(50);
pub(super) const STRICT: Duration = Duration::from_millis(500);
/// Maximum wait for a new index in place of one of an earlier version: at a terminal, and for what only the new one
/// can answer.
const RENEWAL: Duration = Duration::from_secs(600);
/// Maximum wait of a question about a whole folder for an index of which there is only an excerpt.
const COMPLETION: Duration = Duration::from_secs(30);
/// Time before an excerpt is completed.
const HEAD_START: Duration = Duration::from_millis(150);
/// Idle time before free memory is returned to the system.
const QUIET: Duration = Duration::from_secs(2);
/// Pause before an unresponsive watcher is asked again.
const MUTE: Duration = Duration::from_secs(5);
/// Maximum number of stale files that are listed.
const MOST_NAMED: usize = 20;
/// Maximum number of questions to a watcher, when indexes are published between its answers and their use.
const MOST_ASKED: usize = 3;

/// Reason given in answers from an index of an earlier version.
pub(super) const EARLIER: &str = "an earlier version of codelode made this index; its files are being read again";

/// Identity of a published generation.
type Stamp = Option<(u64, u64, i64)>;

/// One open index.
pub(super) struct Open {
    state: Mutex<State>,
    /// Notified when a comparison has finished.
    looked: Condvar,
}

pub(super) struct State {
    pub snapshot: Arc<Snapshot>,
    pub stamp: Stamp,
    /// Start of the last comparison of this snapshot with the folder that has finished.
    looked: Option<Instant>,
    /// Duration of the last comparison, without the update.
    took: Duration,
    /// Time of the first comparison.
    first_looked: Option<Instant>,
    /// Time when the watcher last failed to respond.
    mute: Option<Instant>,
    /// Whether the watcher responded to the last query.
    is_kept: bool,
    /// Whether a comparison is running, which updates the index if needed.
    looking: bool,
    /// Whether it reads every file again, because an earlier version made the index.
    renewing: bool,
    /// Freshness of the snapshot as of the last comparison and update.
    freshness: Freshness,
    /// Some of the stale files.
    stale: Vec<String>,
    /// Reason why they are stale.
    because: Option<String>,
}

/// A snapshot with its freshness.
pub(super) struct Seen {
    pub snapshot: Arc<Snapshot>,
    pub freshness: Freshness,
    /// Whether a watcher confirmed the freshness for this call.
    pub is_kept: bool,
}

impl Open {
    /// Opens a snapshot that was not compared with its folder yet.
    pub(super) fn new(snapshot: Arc<Snapshot>, stamp: Stamp) -> Self {
        let state = State {
            snapshot,
            stamp,
            looked: None,
            took: Duration::ZERO,
            first_looked: None,
            mute: None,
            is_kept: false,
            looking: false,
            renewing: false,
            freshness: Freshness::Unchecked,
            stale: Vec::new(),
            because: None,
        };
        Self { state: Mutex::new(state), looked: Condvar::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // The snapshot is replaced by one assignment, so a panic leaves it intact.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.state().snapshot.clone()
    }

    /// Waits until an excerpt is completed, and returns the facts of the whole.
    pub(super) fn completed(&self) -> Option<SnapshotFacts> {
        let state = self.state();
        if !pipeline::is_excerpt(state.snapshot.facts()) {
            return None;
        }
        let state = self.looked.wait_while(state, |state| state.looking).unwrap_or_else(PoisonError::into_inner);
        Some(state.snapshot.facts().clone()).filter(|facts| !facts.partial)
    }

    /// Waits until an excerpt is completed, if that is being done.
    pub(super) fn wait_for_completion(&self, caller: &Caller<'_>) {
        let until = Instant::now() + COMPLETION;
        let mut state = self.state();
        while state.looking && Instant::now() < until && !caller.request.is_cancelled() {
            let waited = self.looked.wait_timeout(state, STRICT);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until an index of an earlier version is replaced, if that is being done.
    pub(super) fn wait_for_renewal(&self, caller: &Caller<'_>) {
        let until = Instant::now() + RENEWAL;
        let mut state = self.state();
        while state.renewing && Instant::now() < until && !caller.request.is_cancelled() {
            let waited = self.looked.wait_timeout(state, STRICT);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    /// Replaces the snapshot. Nothing is known of the freshness of the new one: whoever published it may have looked
    /// before the last edit.
    pub(super) fn replace(&mut self, snapshot: Arc<Snapshot>, stamp: Stamp) {
        (self.snapshot, self.stamp) = (snapshot, stamp);
        (self.looked, self.freshness) = (None, unknown(&self.snapshot));
        (self.stale, self.because) = (Vec::new(), None);
    }

    /// Notes that nothing newer can be read.
    pub(super) fn is_outlived(&mut self, err: &store::Error) {
        (self.looked, self.freshness) = (Some(Instant::now()), Freshness::Stale);
        self.because = Some(format!("{err}; start this server again"));
    }

    /// The snapshot, called fresh only if it was compared after the call began.
    fn seen(&self, caller: &Caller<'_>) -> Seen {
        let is_known = self.freshness != Freshness::Fresh || self.looked.is_some_and(|looked| looked >= caller.began);
        let freshness = if is_known { self.freshness } else { Freshness::Unchecked };
        if freshness != Freshness::Fresh {
            self.note_stale(caller, freshness);
        }
        Seen { snapshot: self.snapshot.clone(), freshness, is_kept: self.is_kept }
    }

    /// Notes the stale files, or only that files may be stale when whole folders are affected or a comparison is
    /// pending.
    fn note_stale(&self, caller: &Caller<'_>, freshness: Freshness) {
        if let Some(why) = &self.because {
            caller.note("stale_because", why.clone());
        }
        match (self.stale.is_empty(), freshness) {
            (false, _) => caller.note("stale_files", self.stale.clone()),
            (true, Freshness::Unchecked) => {}
            (true, _) => caller.note("changes_pending", true),
        }
    }
}

/// Freshness until a comparison ends.
fn unknown(snapshot: &Snapshot) -> Freshness {
    if snapshot.facts().partial { Freshness::Indexing } else { Freshness::Unchecked }
}

/// Determines the freshness of an index, as of `since` or later if given, and waits for its update as long as the caller
/// does. A watcher is asked first; without one, the folder is compared.
pub(super) fn looked_at(
    caller: &Caller<'_>,
    mut open: Arc<Open>,
    sidecar: &Sidecar,
    root: &Path,
    since: Option<Instant>,
) -> Result<Seen, Error> {
    let patience = caller.request.patience.unwrap_or(match caller.config.freshness {
        config::Freshness::Relaxed => RELAXED,
        config::Freshness::Strict => STRICT,
    });
    let patience = match caller.noted(EXCERPT) {
        _ if !pipeline::is_excerpt(open.snapshot().facts()) => patience,
        // The excerpt was made for this question.
        Some(_) => Duration::ZERO,
        // Another is made for this one.
        None if !caller.words.is_empty() => patience,
        None => patience.max(COMPLETION),
    };
    let began = Instant::now();
    if let Some(seen) = told(caller, &mut open, sidecar, root, patience)? {
        return Ok(seen);
    }
    let mut state = open.state();
    // A comparison that failed a moment ago would fail again.
    let may_wait = state.took > patience / 2 || state.because.is_some();
    let last = caller.began.checked_sub(LOOK_EVERY).filter(|_| may_wait);
    let since = since.or(last).unwrap_or(caller.began);
    while state.looked.is_none_or(|looked| looked < since) {
        if !state.looking {
            state = match look(caller, &open, state, sidecar, root) {
                Ok(()) => open.state(),
                // Without a thread nothing can be found out.
                Err(_) => return Ok(open.state().seen(caller)),
            };
        }
        // An index of an earlier version answers until a new one is made. A process that ends with its answer would
        // never make one, so at a terminal that comes first, with its progress.
        let renewing = state.renewing;
        if renewing && caller.request.patience.is_none() {
            break;
        }
        let left = if renewing { RENEWAL } else { patience.saturating_sub(began.elapsed()) };
        let waited = open.looked.wait_timeout_while(state, left, |state| state.looking && state.renewing == renewing);
        let timed_out;
        (state, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        if timed_out.timed_out() {
            break;
        }
    }
    Ok(state.seen(caller))
}

/// Starts a comparison in the background.
fn look(
    caller: &Caller<'_>,
    open: &Arc<Open>,
    mut state: MutexGuard<'_, State>,
    sidecar: &Sidecar,
    root: &Path,
) -> std::io::Result<()> {
    let began = Instant::now();
    (state.looking, state.freshness) = (true, unknown(&state.snapshot));
    (state.stale, state.because) = (Vec::new(), None);
    let is_asked_again = state.first_looked.get_or_insert(began).elapsed() >= LOOK_EVERY;
    let look = Look {
        open: open.clone(),
        sidecar: sidecar.clone(),
        root: root.to_owned(),
        snapshot: state.snapshot.clone(),
        config: caller.config.clone(),
        store: caller.indexes.registry().store(&sidecar.store),
        progress: caller.request.progress.clone(),
        began,
    };
    drop(state);
    let keeper = caller.indexes.watching().filter(|_| is_asked_again);
    let root = root.to_owned();
    // If no thread can be started, the look is dropped, which wakes those who wait.
    let started = std::thread::Builder::new().name("look".to_owned()).spawn(move || {
        let worked = look.run().then(allocator::work);
        // The waiting calls have been answered.
        if let Some(watching) = keeper {
            watching.keep(&root);
        }
        if worked.is_some() {
            // An editing session goes on and would need the free memory again at once.
            std::thread::sleep(QUIET);
        }
    });
    started.map(drop)
}

/// The snapshot as the watcher of the checkout knows it; `None` when the folder must be compared.
fn told(
    caller: &Caller<'_>,
    open: &mut Arc<Open>,
    sidecar: &Sidecar,
    root: &Path,
    patience: Duration,
) -> Result<Option<Seen>, Error> {
    let mut standing = None;
    for _ in 0..MOST_ASKED {
        let began = Instant::now();
        let stamp = {
            let state = open.state();
            let is_mute = state.mute.is_some_and(|asked| asked.elapsed() < MUTE);
            if state.snapshot.content_version() != store::CONTENT || is_mute {
                break;
            }
            state.stamp
        };
        standing = ask_keeper(caller, sidecar, root, patience);
        let files = match standing {
            Some(KeeperAnswer::Fresh) => None,
            Some(KeeperAnswer::Pending(ref files)) => Some(files.clone()),
            _ => break,
        };
        *open = opened(caller, sidecar)?;
        let mut state = open.state();
        // The watcher spoke of the generation that was published then.
        if files.is_none() && state.stamp != stamp {
            continue;
        }
        state.freshness = if files.is_none() { Freshness::Fresh } else { Freshness::Indexing };
        (state.stale, state.because) = (files.unwrap_or_default(), None);
        (state.looked, state.is_kept) = (Some(began), true);
        return Ok(Some(state.seen(caller)));
    }
    let mut state = open.state();
    if matches!(standing, Some(KeeperAnswer::Mute)) {
        state.mute = Some(Instant::now());
    }
    if std::mem::take(&mut state.is_kept) {
        // The watcher's last response replaces any comparison since.
        state.looked = None;
    }
    Ok(None)
}

/// Asks the watcher of a checkout, in this process or another.
fn ask_keeper(caller: &Caller<'_>, sidecar: &Sidecar, root: &Path, patience: Duration) -> Option<KeeperAnswer> {
    let ours = caller.indexes.watching().and_then(|watching| watching.ask(root, patience));
    ours.or_else(|| watch::ask(&caller.config.home, &sidecar.snapshot, root, patience))
}

/// A comparison of a folder, which continues in the background when callers stop waiting.
struct Look {
    open: Arc<Open>,
    sidecar: Sidecar,
    root: PathBuf,
    snapshot: Arc<Snapshot>,
    config: Config,
    store: store::Store,
    progress: Option<Arc<Progress<'static>>>,
    began: Instant,
}

impl Look {
    /// Compares the folder with the index, reads changed files and records the freshness. Returns whether there were
    /// changes.
    fn run(self) -> bool {
        if pipeline::is_excerpt(self.snapshot.facts()) {
            // The answer for which it was made takes less, and comes sooner alone.
            std::thread::sleep(HEAD_START);
        }
        let compared = Instant::now();
        let drift = pipeline::drift(&self.root, &self.snapshot);
        let took = compared.elapsed();
        {
            let mut state = self.open.state();
            // Another snapshot was opened meanwhile, which must be compared itself.
            if !Arc::ptr_eq(&state.snapshot, &self.snapshot) {
                return false;
            }
            state.took = took;
            if drift.is_none() && self.snapshot.content_version() == store::CONTENT {
                (state.freshness, state.looked) = (Freshness::Fresh, Some(self.began));
                return false;
            }
            state.freshness = Freshness::Indexing;
            if self.snapshot.content_version() != store::CONTENT {
                (state.renewing, state.because) = (true, Some(EARLIER.to_owned()));
                self.open.looked.notify_all();
            }
            state.stale = drift.changed.iter().chain(&drift.gone).take(MOST_NAMED).cloned().collect();
            // Files that are gone are in no answer, however long the update takes.
            if !drift.gone.is_empty() {
                state.snapshot = Arc::new(self.snapshot.without(drift.gone.iter().map(String::as_str)));
            }
        }
        let tell = |at: u64, of: Option<u64>, what: &str| {
            if let Some(progress) = &self.progress {
                progress(at, of, what);
            }
        };
        let watcher = Watcher { progress: &tell, cancelled: &AtomicBool::new(false), patience: STRICT };
        let result = pipeline::refresh(&self.sidecar, &self.snapshot, &drift, &self.config, &watcher);
        // The stamp is read before the snapshot, so that a publication in between counts as new.
        let stamp = self.store.stamp();
        let newer = result.map_err(|err| err.to_string()).and_then(|report| {
            let newer = self.store.snapshot(&self.sidecar.snapshot).map_err(|err| err.to_string())?;
            Ok((newer.facts().number == report.facts.number, newer))
        });
        let mut state = self.open.state();
        match newer {
            Ok((is_ours, newer)) => {
                state.replace(Arc::new(newer), stamp);
                if is_ours {
                    (state.freshness, state.looked) = (Freshness::Fresh, Some(self.began));
                }
            }
            Err(why) => {
                // Another run is in progress, or the next call continues.
                let is_partial = state.snapshot.facts().partial;
                state.freshness = if is_partial { Freshness::Indexing } else { Freshness::Stale };
                (state.because, state.looked) = (Some(why), Some(self.began));
            }
        }
        true
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        let mut state = self.open.state();
        (state.looking, state.renewing) = (false, false);
        drop(state);
        self.open.looked.notify_all();
    }
}
