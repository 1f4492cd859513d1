//! Background work with models in a server: summaries, and embeddings of edits. Answers never wait for it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use super::Caller;
use super::summaries;
use codelode_index::pipeline;
use codelode_store::{Registry, Sidecar, Snapshot};

/// A job on the snapshots of a checkout.
struct Work {
    sidecar: Sidecar,
    on: Box<dyn Fn(&Snapshot) + Send>,
}

/// Running jobs by sort and store, each with the jobs to run after it.
type Running = HashMap<(&'static str, String), Vec<Work>>;

/// The background jobs of a process.
#[derive(Default)]
pub(super) struct Background {
    running: Arc<Mutex<Running>>,
    /// The last seen generation of each checkout.
    seen: Mutex<HashMap<String, u64>>,
}

impl Background {
    /// Starts a job on the newest snapshot of a checkout, and repeats it while newer snapshots are published. For each
    /// sort and store only one job runs at a time. Further jobs are dropped, except that a job with `follows` runs
    /// afterwards.
    pub fn start(
        &self,
        sort: &'static str,
        registry: &Registry,
        sidecar: &Sidecar,
        follows: bool,
        work: impl Fn(&Snapshot) + Send + 'static,
    ) {
        let name = (sort, sidecar.store.clone());
        let work = Work { sidecar: sidecar.clone(), on: Box::new(work) };
        match lock(&self.running).entry(name.clone()) {
            Entry::Vacant(place) => drop(place.insert(Vec::new())),
            Entry::Occupied(mut place) => {
                if follows {
                    place.get_mut().retain(|other| other.sidecar.snapshot != work.sidecar.snapshot);
                    place.get_mut().push(work);
                }
                return;
            }
        }
        let (running, registry, again) = (self.running.clone(), registry.clone(), name.clone());
        let job = std::thread::Builder::new().name(sort.to_owned()).spawn(move || {
            let mut next = Some(work);
            while let Some(Work { sidecar, on }) = next {
                let mut done = None;
                while let Ok(snapshot) = registry.store(&sidecar.store).snapshot(&sidecar.snapshot) {
                    if done.replace(snapshot.generation()) == Some(snapshot.generation()) {
                        break;
                    }
                    on(&snapshot);
                }
                let mut running = lock(&running);
                next = running.get_mut(&name).and_then(Vec::pop);
                if next.is_none() {
                    running.remove(&name);
                }
            }
        });
        if job.is_err() {
            lock(&self.running).remove(&again);
        }
    }

    /// Whether a snapshot of this generation is seen for the first time.
    fn is_new(&self, sidecar: &Sidecar, snapshot: &Snapshot) -> bool {
        let generation = snapshot.generation();
        lock(&self.seen).insert(sidecar.repo.clone(), generation) != Some(generation)
    }
}

/// Every change is one step, so a panic elsewhere leaves the collection intact.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Summarises and embeds new code after edits, in a server that keeps indexes fresh.
pub(super) fn after_edits(caller: &Caller<'_>, sidecar: &Sidecar, snapshot: &Snapshot) {
    let (models, config) = (caller.models, caller.config);
    let has_provider = config.models.embeds();
    let is_asked = config.use_ai_summaries || has_provider;
    if !is_asked || caller.indexes.watching().is_none() || caller.may_index(sidecar).is_err() {
        return;
    }
    if pipeline::is_excerpt(snapshot.facts()) || !models.background.is_new(sidecar, snapshot) {
        return;
    }
    if config.use_ai_summaries {
        summaries::begin(caller, sidecar);
    }
    // A killed process may have left a file without vectors, and the vectors may come from another model.
    if has_provider && snapshot.has_vectors() {
        models.embed_more(config, caller.indexes.registry(), sidecar, true);
    }
}
