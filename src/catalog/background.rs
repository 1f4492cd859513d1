//! Work with models beside the answers of a server: summaries, and embeddings of edits. Answers never wait for it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::Caller;
use super::summaries;
use crate::pipeline;
use crate::store::{Registry, Sidecar, Snapshot};

/// Work of a process in the background.
#[derive(Default)]
pub(super) struct Background {
    /// Sort of work and store, of all that is being done.
    running: Arc<Mutex<HashSet<(&'static str, String)>>>,
    /// Generation of each checkout that was looked at last.
    seen: Mutex<HashMap<String, u64>>,
}

impl Background {
    /// Does some work on the newest snapshot of a checkout, and again when another one has been published meanwhile.
    /// Of each sort, one piece of work is done for a store at a time.
    pub fn start(
        &self,
        sort: &'static str,
        registry: &Registry,
        sidecar: &Sidecar,
        work: impl Fn(&Snapshot) + Send + 'static,
    ) {
        let name = (sort, sidecar.store.clone());
        if !lock(&self.running).insert(name.clone()) {
            return;
        }
        let (running, registry, sidecar, again) =
            (self.running.clone(), registry.clone(), sidecar.clone(), name.clone());
        let job = std::thread::Builder::new().name(sort.to_owned()).spawn(move || {
            let mut done = None;
            while let Ok(snapshot) = registry.store(&sidecar.store).snapshot(&sidecar.snapshot) {
                if done.replace(snapshot.generation()) == Some(snapshot.generation()) {
                    break;
                }
                work(&snapshot);
            }
            lock(&running).remove(&name);
        });
        if job.is_err() {
            lock(&self.running).remove(&again);
        }
    }

    /// Whether a snapshot of this generation was not looked at before.
    fn is_new(&self, sidecar: &Sidecar, snapshot: &Snapshot) -> bool {
        let generation = snapshot.generation();
        lock(&self.seen).insert(sidecar.repo.clone(), generation) != Some(generation)
    }
}

/// Every change is one step, so a panic elsewhere leaves the collection intact.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Summarises and embeds what edits have brought, in a server that keeps indexes fresh.
pub(super) fn after_edits(caller: &Caller<'_>, sidecar: &Sidecar, snapshot: &Snapshot) {
    let (models, config) = (caller.models, caller.config);
    let has_provider = config.models.embeds();
    let is_asked = config.use_ai_summaries || has_provider;
    if !is_asked || caller.indexes.watching().is_none() || caller.may_index(&sidecar.repo).is_err() {
        return;
    }
    if pipeline::is_excerpt(snapshot.facts()) || !models.background.is_new(sidecar, snapshot) {
        return;
    }
    if config.use_ai_summaries {
        summaries::begin(caller, sidecar);
    }
    // Work that is begun keeps other work of its sort from beginning, and this one would find nothing to do.
    if has_provider && snapshot.has_vectors() {
        models.embed_more(config, caller.indexes.registry(), sidecar, true);
    }
}
