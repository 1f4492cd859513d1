//! Freshness of open indexes: compares a folder with its index by size and time of every file, and updates the index.
//!
//! An answer is called "fresh" only if its own snapshot was compared with the folder after the call began, and nothing
//! differed. The verdict is stored with the snapshot, so they cannot disagree. [`state`](super::state) describes the
//! states of an index; this module changes them.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Caller;
use super::early;
use super::indexes::opened;
use super::state::{COMPLETION, CheckedSnapshot, OpenIndex, RENEWAL, State, Work};
use crate::answer::Error;
use codelode_base::allocator;
use codelode_base::config::{self, Config};
use codelode_base::model::Progress;
use codelode_index::pipeline::{self, RunControl};
use codelode_index::watch::{self, KeeperAnswer};
use codelode_store::{self as store, Registry, Sidecar, Snapshot};

/// The least time between two comparisons of a large folder, and after a failed update. Other folders are compared for
/// every call.
const COMPARE_EVERY: Duration = Duration::from_secs(1);
/// The longest wait for changes, in relaxed and in strict mode.
const RELAXED: Duration = Duration::from_millis(50);
pub(super) const STRICT: Duration = Duration::from_millis(500);
/// The pause before an excerpt is completed.
const HEAD_START: Duration = Duration::from_millis(150);
/// Idle time before free memory is returned to the system.
const QUIET: Duration = Duration::from_secs(2);
/// The pause after which an unresponsive watcher is asked again.
const MUTE: Duration = Duration::from_secs(5);
/// The most stale files listed in an answer.
const MOST_NAMED: usize = 20;
/// The most questions to a watcher in one call, if new indexes are published between its answers and their use.
const MOST_ASKED: usize = 3;

/// Determines the freshness of an index as of `since`, or else as of the call. Waits for an update as long as the
/// caller does. A watcher is asked first; without one, the folder is compared.
pub(super) fn compared(
    caller: &Caller<'_>,
    mut open: Arc<OpenIndex>,
    sidecar: &Sidecar,
    root: &Path,
    since: Option<Instant>,
) -> Result<CheckedSnapshot, Error> {
    let patience = caller.request.patience.unwrap_or(match caller.config.freshness {
        config::Freshness::Relaxed => RELAXED,
        config::Freshness::Strict => STRICT,
    });
    let patience = match early::has_own(caller, &sidecar.repo) {
        _ if !pipeline::is_excerpt(open.snapshot().facts()) => patience,
        // The excerpt was made for this question, so it need not wait.
        true => Duration::ZERO,
        // This question gets an excerpt of its own.
        false if !caller.words.is_empty() => patience.min(STRICT),
        false => patience.max(COMPLETION),
    };
    let began = Instant::now();
    if let Some(seen) = from_watcher(caller, &mut open, sidecar, root, patience)? {
        return Ok(seen);
    }
    let mut state = open.state();
    // A comparison that has just failed would fail again.
    let may_wait = state.took > patience / 2 || state.has_failed() || state.work == Work::Renewing;
    let last = caller.began.checked_sub(COMPARE_EVERY).filter(|_| may_wait);
    let since = since.or(last).unwrap_or(caller.began);
    while !state.is_checked_since(since) {
        if state.work == Work::Idle {
            state = match compare(caller, &open, state, sidecar, root) {
                Ok(()) => open.state(),
                // Without a thread, nothing can be compared.
                Err(_) => return Ok(open.state().seen(caller)),
            };
        }
        // The old version's index answers until a new one is made. At a terminal the process would end before that, so
        // there the new index comes first, with progress.
        let work = state.work;
        if work == Work::Renewing && caller.request.patience.is_none() {
            break;
        }
        let left = if work == Work::Renewing { RENEWAL } else { patience.saturating_sub(began.elapsed()) };
        // The thread may have ended before the wait begins.
        let goes_on = |state: &mut State| state.work != Work::Idle && state.work == work;
        let waited = open.changed.wait_timeout_while(state, left, goes_on);
        let timed_out;
        (state, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        if timed_out.timed_out() {
            break;
        }
    }
    Ok(state.seen(caller))
}

/// Starts a comparison in the background.
fn compare(
    caller: &Caller<'_>,
    open: &Arc<OpenIndex>,
    mut state: MutexGuard<'_, State>,
    sidecar: &Sidecar,
    root: &Path,
) -> std::io::Result<()> {
    let began = Instant::now();
    state.begin();
    let is_asked_again = state.first_compared.get_or_insert(began).elapsed() >= COMPARE_EVERY;
    let comparison = Comparison {
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
    // If no thread can be started, the comparison is dropped, which wakes the waiting callers.
    let started = std::thread::Builder::new().name("compare".to_owned()).spawn(move || {
        let worked = comparison.run().then(allocator::work);
        // By now the waiting callers have their answers.
        if let Some(watching) = keeper {
            watching.keep(&root);
        }
        if worked.is_some() {
            // Editing continues, and would need the free memory again at once.
            std::thread::sleep(QUIET);
        }
    });
    started.map(drop)
}

/// The snapshot with the watcher's verdict; `None` if the folder must be compared.
fn from_watcher(
    caller: &Caller<'_>,
    open: &mut Arc<OpenIndex>,
    sidecar: &Sidecar,
    root: &Path,
    patience: Duration,
) -> Result<Option<CheckedSnapshot>, Error> {
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
        // The watcher's answer was about an earlier generation.
        if files.is_none() && state.stamp != stamp {
            continue;
        }
        state.watcher_answered(files, began);
        return Ok(Some(state.seen(caller)));
    }
    let mut state = open.state();
    if matches!(standing, Some(KeeperAnswer::Mute)) {
        state.mute = Some(Instant::now());
    }
    state.watcher_left();
    Ok(None)
}

/// Asks the watcher of a checkout, in this process or another.
fn ask_keeper(caller: &Caller<'_>, sidecar: &Sidecar, root: &Path, patience: Duration) -> Option<KeeperAnswer> {
    let ours = caller.indexes.watching().and_then(|watching| watching.ask(root, patience));
    ours.or_else(|| watch::ask(&caller.config.home, &sidecar.snapshot, root, patience))
}

/// A comparison of a folder, which continues in the background when callers stop waiting.
struct Comparison {
    open: Arc<OpenIndex>,
    sidecar: Sidecar,
    root: PathBuf,
    snapshot: Arc<Snapshot>,
    config: Config,
    store: store::Store,
    progress: Option<Arc<Progress<'static>>>,
    began: Instant,
}

impl Comparison {
    /// Compares the folder with the index, reads changed files, and records the freshness. Returns whether anything
    /// changed.
    fn run(self) -> bool {
        if pipeline::is_excerpt(self.snapshot.facts()) {
            // The excerpt's own answer is short, and is faster alone.
            std::thread::sleep(HEAD_START);
        }
        let compared = Instant::now();
        let drift = pipeline::drift(&self.root, &self.snapshot);
        let took = compared.elapsed();
        {
            let mut state = self.open.state();
            // Another snapshot was opened meanwhile, which needs its own comparison.
            if !Arc::ptr_eq(&state.snapshot, &self.snapshot) {
                return false;
            }
            state.took = took;
            if drift.is_none() && self.snapshot.content_version() == store::CONTENT {
                state.equals(self.began);
                return false;
            }
            if self.snapshot.content_version() != store::CONTENT {
                state.work = Work::Renewing;
                self.open.changed.notify_all();
            }
            let files = drift.changed.iter().chain(&drift.gone).take(MOST_NAMED).cloned().collect();
            // Deleted files leave answers at once, however long the update takes.
            state.differs(files, &drift.gone);
        }
        let tell = |at: u64, of: Option<u64>, what: &str| {
            if let Some(progress) = &self.progress {
                progress(at, of, what);
            }
        };
        let watcher = RunControl { progress: &tell, cancelled: &AtomicBool::new(false), patience: STRICT };
        let result = pipeline::refresh(&self.sidecar, &self.snapshot, &drift, &self.config, &watcher);
        // A folder that has become a git repository has another store.
        let moved =
            result.as_ref().ok().map(|report| &report.sidecar.store).filter(|store| **store != self.sidecar.store);
        let moved = moved.map(|store| Registry::new(&self.config.home).store(store));
        let store = moved.as_ref().unwrap_or(&self.store);
        // The stamp is read before the snapshot, so that a publication in between counts as new.
        let stamp = store.stamp();
        let newer = result.map_err(|err| err.to_string()).and_then(|report| {
            let newer = store.snapshot(&self.sidecar.snapshot).map_err(|err| err.to_string())?;
            Ok((newer.facts().number == report.facts.number, newer))
        });
        let mut state = self.open.state();
        match newer {
            Ok((is_ours, newer)) => {
                state.publish(Arc::new(newer), stamp, is_ours.then_some(self.began));
            }
            Err(why) => state.fail(why, self.began),
        }
        true
    }
}

impl Drop for Comparison {
    fn drop(&mut self) {
        let mut state = self.open.state();
        state.end();
        drop(state);
        self.open.changed.notify_all();
    }
}
