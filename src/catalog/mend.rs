//! An index that turned out to be damaged is made anew where its folder is there, once: whoever asked gets the answer, and is
//! told. Where that cannot be done, the error says how to do it.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Caller;
use super::indexes::is_here;
use crate::pipeline::{self, Watcher};
use crate::store::{Error, Held, Sidecar};

/// What is damaged again so soon would be damaged a third time.
const NOT_AGAIN_WITHIN: Duration = Duration::from_secs(60);
/// How long to wait for another process that has begun to write the same index meanwhile.
const PATIENCE: Duration = Duration::from_millis(500);

/// When each checkout's index was made anew, by its id. Held while one is, so that a process does it once.
#[derive(Default)]
pub struct Mended(Mutex<HashMap<String, Instant>>);

/// Makes the index of a checkout anew when `err` says that it is of no use. Whether there is a whole one now.
pub fn mended(caller: &Caller<'_>, sidecar: &Sidecar, err: &Error) -> bool {
    // A store that was thrown away took with it what other checkouts had in it.
    let is_lost = matches!(err, Error::NoSnapshot | Error::Missing(_));
    if !(err.is_of_no_use() || is_lost) || !is_here(caller, sidecar) {
        return false;
    }
    // Whoever writes may be mending it; an answer waits for nobody.
    if caller.indexes.registry().store(&sidecar.store).held() != Held::Free {
        return false;
    }
    let mut all = caller.indexes.mended.0.lock().unwrap_or_else(PoisonError::into_inner);
    if all.get(&sidecar.repo).is_some_and(|when| when.elapsed() < NOT_AGAIN_WITHIN) {
        return false;
    }
    tracing::warn!("{}: {err}; its index is made anew", sidecar.repo);
    let tell = caller.request.told();
    // Not called off with the question: the next one would begin again.
    let watcher = Watcher { progress: &tell, cancelled: &AtomicBool::new(false), patience: PATIENCE };
    match pipeline::rebuild(sidecar, caller.config, &watcher) {
        Ok(_) => {
            all.insert(sidecar.repo.clone(), Instant::now());
            caller.indexes.close(&sidecar.repo);
            caller.note("rebuilt", format!("{err}; the index was made anew"));
            true
        }
        Err(why) => {
            tracing::warn!("{}: its index could not be made anew: {why}", sidecar.repo);
            false
        }
    }
}
