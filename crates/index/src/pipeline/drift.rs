//! Differences between an index and its folder, by sizes and times, and the update with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::read::Origin;
use super::run::{Job, Plan, run};
use super::{
    Error, OfProject, Options, Report, RunControl, RunGuard, index_folder, location, of_project, partial, rules,
};
use codelode_base::config::Config;
use codelode_base::model::{Phase, SourceFile};
use codelode_source::discover;
use codelode_store::{Sidecar, Snapshot};

/// Maximum number of threads that read metadata; more would wait for each other.
const MOST_LOOKING: usize = 8;

/// Differences between an index and its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Files with another size or time.
    pub changed: Vec<String>,
    /// Files that no longer exist.
    pub gone: Vec<String>,
    /// Whether folders or ignore files changed, so that there may be new files.
    pub elsewhere: bool,
    /// Whether to read the changed files even if their size and time are unchanged.
    pub unseen: bool,
}

impl Drift {
    /// Whether nothing changed.
    pub fn is_none(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty() && !self.elsewhere
    }
}

/// Compares a snapshot with its folder by sizes and times only.
pub fn drift(root: &Path, snapshot: &Snapshot) -> Drift {
    let _phase = Phase::begin("compare");
    let table = snapshot.table();
    if snapshot.facts().partial {
        // A partial snapshot lacks files, which only a full walk finds.
        return Drift { elsewhere: true, ..Drift::default() };
    }
    let is_original = location::is_original(root, snapshot.facts());
    let stamp = |at: usize| match at.checked_sub(table.len()) {
        None => table.get(at).map(|row| partial::known(row, false, is_original)),
        Some(at) => table.input_at(at).map(|row| partial::known(row, row.is_dir, is_original)),
    };
    // The time is spent in system calls, which run in parallel.
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(MOST_LOOKING);
    let count = table.len() + table.inputs().len();
    let seen = discover::changes(root, (count, &stamp), snapshot.facts().follow_symlinks, threads);
    let mut drift = Drift::default();
    for (places, names) in [(&seen.changed, &mut drift.changed), (&seen.gone, &mut drift.gone)] {
        for place in places {
            match table.get(*place) {
                Some(row) => names.push(row.path.to_owned()),
                None => drift.elsewhere = true,
            }
        }
    }
    drift
}

/// Updates an index with the changes found by [`drift`].
pub fn refresh(
    sidecar: &Sidecar,
    snapshot: &Snapshot,
    drift: &Drift,
    config: &Config,
    watcher: &RunControl<'_>,
) -> Result<Report, Error> {
    let root = config.path_map.to_local(&sidecar.root);
    let facts = snapshot.facts();
    let options = Options {
        extra_ignore: facts.extra_ignore.clone(),
        follow_symlinks: facts.follow_symlinks,
        from_scratch: false,
        reread: if drift.unseen { drift.changed.clone() } else { Vec::new() },
        ..Options::default()
    };
    let is_by_the_rules = facts.allow_secrets == config.secrets.patterns();
    if drift.elsewhere || !drift.gone.is_empty() || !is_by_the_rules {
        return index_folder(&root, config, &options, watcher);
    }
    // No file was added or removed, so the choice of files still holds.
    let mut files: Vec<SourceFile> = snapshot.table().iter().map(|row| row.to_entry().file).collect();
    for path in &drift.changed {
        let Ok(place) = snapshot.table().position(path) else { continue };
        match discover::stat(&root, path, options.follow_symlinks) {
            Some(file) => files[place] = file,
            None => return index_folder(&root, config, &options, watcher),
        }
    }
    let plan = Plan {
        files,
        inputs: snapshot.table().inputs().map(|row| row.to_input()).collect(),
        skipped: BTreeMap::new(),
        warnings: Vec::new(),
        base: Some(facts.number),
        looked_at_all: false,
        partial: false,
        discovery: Duration::ZERO,
    };
    let OfProject { config: with_project, .. } = of_project(&root, config);
    let mut rules = rules(&with_project);
    rules.follow_symlinks = options.follow_symlinks;
    let sidecar = Sidecar { indexed_at: facts.indexed_at, git_head: facts.git_head.clone(), ..sidecar.clone() };
    let posted = RunGuard::new(&sidecar.repo);
    let watcher = &RunControl { progress: &posted.with(watcher.progress), ..*watcher };
    let origin = Origin::Folder(&root);
    let job = Job { origin: &origin, config: &with_project, rules: &rules, options: &options, watcher };
    match run(&job, sidecar, plan) {
        // `index_folder` finds the same damage, and rebuilds.
        Err(Error::Store(err)) if err.is_of_no_use() => index_folder(&root, config, &options, watcher),
        other => other,
    }
}
