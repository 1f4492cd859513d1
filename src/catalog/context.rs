//! Context of a repository by providers: read from its files when it is first asked for, and kept while its snapshot is
//! open.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Caller;
use super::indexes::Repo;
use crate::enrich::{self, Files};
use crate::store::Snapshot;

pub use crate::enrich::{Column, Context, Link};

/// Snapshots whose context is kept.
const MOST: usize = 8;

/// Contexts of open snapshots.
#[derive(Default)]
pub(super) struct Contexts(Mutex<Vec<(Weak<Snapshot>, Arc<Context>)>>);

impl Files for Snapshot {
    fn paths(&self) -> Vec<&str> {
        self.files().map(|file| file.path()).collect()
    }

    fn text(&self, path: &str) -> Option<&[u8]> {
        Some(self.file(path)?.content())
    }
}

/// The context of a repository; empty when providers are off.
pub fn context(caller: &Caller<'_>, repo: &Repo) -> Arc<Context> {
    if !caller.config.context_providers {
        return Arc::default();
    }
    let contexts = &caller.indexes.contexts.0;
    // Every change is one step, so a panic elsewhere leaves the list intact.
    let lock = || contexts.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |of: &Weak<Snapshot>| of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, &repo.snapshot));
    if let Some((_, context)) = lock().iter().find(|(of, _)| is_it(of)) {
        return context.clone();
    }
    let context = Arc::new(enrich::Context::of(&*repo.snapshot));
    let mut all = lock();
    all.retain(|(of, _)| of.strong_count() > 0);
    all.truncate(MOST - 1);
    all.insert(0, (Arc::downgrade(&repo.snapshot), context.clone()));
    context
}

/// The context of a repository whose files use one another in a way that only a provider knows, such as `ref()` of dbt;
/// `None` for any other.
pub fn linking(caller: &Caller<'_>, repo: &Repo) -> Option<Arc<Context>> {
    let is_one = caller.config.context_providers && repo.snapshot.files().any(|file| enrich::links(file.path()));
    is_one.then(|| context(caller, repo))
}
