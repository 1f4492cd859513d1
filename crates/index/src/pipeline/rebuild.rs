//! Rebuild of a damaged index from its folder.

use super::{Error, Options, Report, RunControl, index_folder};
use codelode_base::config::Config;
use codelode_store::{self as store, Registry, Sidecar};

/// Rebuilds the index of a checkout with its previous options. Does nothing when the index is intact, because another
/// process has rebuilt it.
pub fn rebuild(sidecar: &Sidecar, config: &Config, watcher: &RunControl<'_>) -> Result<Option<Report>, Error> {
    let old = Registry::new(&config.home).store(&sidecar.store).snapshot(&sidecar.snapshot);
    if old.as_ref().is_ok_and(|old| old.verify().is_ok()) {
        return Ok(None);
    }
    let facts = old.as_ref().ok().map(|old| old.facts());
    let options = Options { from_scratch: true, ..Options::as_before(facts, Some(sidecar)) };
    index_folder(&config.path_map.to_local(&sidecar.root), config, &options, watcher).map(Some)
}

/// Runs again from scratch, with a warning that gives the reason.
pub(super) fn anew(err: &store::Error, run: impl FnOnce() -> Result<Report, Error>) -> Result<Report, Error> {
    tracing::warn!("{err}; rebuilding the index");
    let mut report = run()?;
    report.warnings.insert(0, format!("{err}, so the index was rebuilt"));
    Ok(report)
}
