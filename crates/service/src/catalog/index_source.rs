//! Indexes that a server lists, and fetches when a question opens them.

use std::collections::BTreeSet;

use super::Caller;
use crate::answer::Error;
use codelode_store::Sidecar;

/// A source of indexes.
pub trait IndexSource: Send + Sync {
    /// Looks for a repository, by its id, that may be new since the last listing.
    fn look_for(&self, repo: &str);

    /// Ensures that the index of a listed repository is here. Returns at once if it is.
    fn bring(&self, caller: &Caller<'_>, sidecar: &Sidecar) -> Result<(), Error>;

    /// Repositories that may import one of `modules`, in the form of [`codelode_index::pipeline::imported`]. `None` if
    /// that is unknown.
    fn importers(&self, modules: &BTreeSet<String>) -> Option<BTreeSet<String>>;
}
