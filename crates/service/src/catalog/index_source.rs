//! Indexes that a server lists, and gets from elsewhere when a question opens them.

use std::collections::BTreeSet;

use super::Caller;
use crate::answer::Error;
use codelode_store::Sidecar;

/// Where such indexes come from.
pub trait IndexSource: Send + Sync {
    /// Lists a repository that may have come since the last look, by its id.
    fn look_for(&self, repo: &str);

    /// Makes sure that the index of a listed repository is here. One that is here is not waited for.
    fn bring(&self, caller: &Caller<'_>, sidecar: &Sidecar) -> Result<(), Error>;

    /// Repositories that import one of some modules, or may, as [`codelode_index::pipeline::imported`] names these. `None` where that is
    /// not known.
    fn importers(&self, modules: &BTreeSet<String>) -> Option<BTreeSet<String>>;
}
