//! Rebuilds a damaged index automatically, once, if its folder exists. The answer notes the rebuild. Otherwise the
//! error names the command.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Caller;
use super::indexes::is_here;
use codelode_index::pipeline::{self, RunControl};
use codelode_store::{Error, Sidecar, WriterState};

/// The least time between rebuilds: damage that returns sooner would return again.
const NOT_AGAIN_WITHIN: Duration = Duration::from_secs(60);
/// Maximum wait for another process that writes the same index.
const PATIENCE: Duration = Duration::from_millis(500);

/// The longest wait for another process that replaces an index of an earlier version.
const REBUILT_WITHIN: Duration = Duration::from_secs(60);

/// The time of the last rebuild of each checkout. Locked during a rebuild, so that a process runs one at a time.
#[derive(Default)]
pub struct Rebuilds(Mutex<HashMap<String, Instant>>);

/// Rebuilds the index of a checkout when `err` says that it is unusable. Returns whether an intact index exists now.
pub fn rebuilt(caller: &Caller<'_>, sidecar: &Sidecar, err: &Error) -> bool {
    // A discarded store also takes the snapshots of other checkouts.
    let is_lost = matches!(err, Error::NoSnapshot | Error::Missing(_));
    if !(err.is_of_no_use() || is_lost) || !is_here(caller, sidecar) {
        return false;
    }
    let tell = caller.request.progress();
    let started = Instant::now();
    while caller.indexes.registry().store(&sidecar.store).held() != WriterState::Free {
        // Another writer may be repairing it. An answer only waits if the old index is unreadable.
        let may_wait = matches!(err, Error::Outdated { .. }) && !caller.request.is_cancelled();
        if !may_wait || started.elapsed() > REBUILT_WITHIN {
            return false;
        }
        tell(0, None, "another process is rebuilding the index");
        std::thread::sleep(PATIENCE / 10);
    }
    let mut all = caller.indexes.rebuilds.0.lock().unwrap_or_else(PoisonError::into_inner);
    if all.get(&sidecar.repo).is_some_and(|when| when.elapsed() < NOT_AGAIN_WITHIN) {
        // The call may hold a snapshot from before the rebuild.
        let now = caller.indexes.registry().store(&sidecar.store).snapshot(&sidecar.snapshot);
        let is_whole = now.is_ok_and(|snapshot| snapshot.verify().is_ok());
        if is_whole {
            caller.indexes.close(&sidecar.repo);
        }
        return is_whole;
    }
    tracing::warn!("{}: {err}", sidecar.repo);
    // The rebuild continues if the call is cancelled, because the next call would start it again.
    let watcher = RunControl { progress: &tell, cancelled: &AtomicBool::new(false), patience: PATIENCE };
    match pipeline::rebuild(sidecar, caller.config, &watcher) {
        // Only a derived table was damaged, which the next question replaces, or another process was faster.
        Ok(None) => {
            caller.indexes.close(&sidecar.repo);
            true
        }
        Ok(Some(_)) => {
            all.insert(sidecar.repo.clone(), Instant::now());
            caller.indexes.close(&sidecar.repo);
            caller.note("rebuilt", format!("{err}; the index was rebuilt"));
            true
        }
        Err(why) => {
            tracing::warn!("{}: its index could not be rebuilt: {why}", sidecar.repo);
            false
        }
    }
}
