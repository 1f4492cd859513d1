//! Requested runs: index a folder, a remote commit or a file, or remove an index; and the list of current runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::Caller;
use super::errors::{pipeline_error, store_error};
use super::github::{self, GitHubAccess};
use super::indexes::{forget_gone, open_sidecar};
use super::locate::{is_odd, not_indexed};
use super::remotes::{open_clone, remote, with_cache};
use crate::answer::Error;
use codelode_base::allocator;
use codelode_base::model::SourceTree;
use codelode_index::pipeline::{self, Drift, Omitted, Options, Report, RunControl, owner};
use codelode_index::watch;
#[cfg(feature = "fleet")]
use codelode_source::git::{Cache, FetchOptions, Located};
use codelode_source::git::{Remote, ResolvedRef};
use codelode_store::{Sidecar, WriterState};

/// The longest wait of a run for another process that writes the same index.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same for short operations.
const BRIEF: Duration = Duration::from_secs(10);

/// Indexes a folder, or updates its index.
pub fn index_folder(caller: &Caller<'_>, path: Option<&str>, options: &Options) -> Result<Report, Error> {
    let root = folder(caller, path)?;
    if path.is_none() && is_odd(&root) {
        return Err(not_indexed(&root, "it is not a single project"));
    }
    caller.may_index(&pipeline::sidecar_of(&root, caller.config))?;
    let tell = caller.request.progress();
    let watcher = RunControl { progress: &tell, cancelled: &caller.request.cancelled, patience: PATIENCE };
    let _work = allocator::work();
    let before = if options.from_scratch { files_of(caller, &root) } else { None };
    let mut report = pipeline::index_folder(&root, caller.config, options, &watcher)
        .map_err(|err| pipeline_error(err, &pipeline::sidecar_of(&root, caller.config)))?;
    if let Some(before) = before {
        compare(&mut report, &before, &files_of(caller, &root).unwrap_or_default());
    }
    report.warnings.extend(caller.config.elsewhere.clone());
    caller.repo(&report.sidecar.repo);
    caller.indexes.close(&report.sidecar.repo);
    // A new worktree often replaces a removed one.
    forget_gone(caller);
    Ok(report)
}

/// Sizes and times of the indexed files of a folder, by path; `None` without a readable index.
fn files_of(caller: &Caller<'_>, root: &Path) -> Option<BTreeMap<String, (u64, i64)>> {
    let sidecar = pipeline::sidecar_of(root, caller.config);
    let snapshot = caller.indexes.registry().store(&sidecar.store).snapshot(&sidecar.snapshot).ok()?;
    let read = snapshot.table().iter().filter(|row| row.state.is_ok());
    Some(read.map(|row| (row.path.to_owned(), (row.size, row.mtime_ns))).collect())
}

/// Compares a run from scratch with the index before it, since to the run itself every file is new.
fn compare(report: &mut Report, before: &BTreeMap<String, (u64, i64)>, now: &BTreeMap<String, (u64, i64)>) {
    let known = |path: &&String| before.contains_key(*path);
    report.added = now.keys().filter(|path| !known(path)).cloned().collect();
    report.removed = before.keys().filter(|path| !now.contains_key(*path)).cloned().collect();
    let differs = |(path, stamp): &(&String, &(u64, i64))| before.get(*path).is_some_and(|earlier| earlier != *stamp);
    report.changed = now.iter().filter(differs).map(|(path, _)| path.clone()).collect();
}

/// The canonical path of a file that a caller names.
pub fn file(caller: &Caller<'_>, path: &str) -> Result<PathBuf, Error> {
    let path = caller.places().next().map_or_else(|| PathBuf::from(path), |directory| directory.join(path));
    caller.reach(&path)?;
    path.canonicalize()
        .map_err(|err| Error::not_found(format!("cannot read {}: {err}; give the path of a file", path.display())))
}

/// The canonical path of a folder that a caller names.
pub(super) fn folder(caller: &Caller<'_>, path: Option<&str>) -> Result<PathBuf, Error> {
    let directory = caller.places().next();
    let path = match (path, directory) {
        (Some(path), directory) => {
            let path = Path::new(path.trim());
            match (path.is_absolute(), directory) {
                (false, Some(directory)) => directory.join(path),
                _ => path.to_owned(),
            }
        }
        (None, Some(directory)) => directory.clone(),
        (None, None) => {
            return Err(Error::invalid_arguments("give the absolute path of the folder to index in `path`"));
        }
    };
    caller.reach(&path)?;
    path.canonicalize().map_err(|err| {
        let message = format!("cannot index {}: {err}; give the absolute path of a folder", path.display());
        Error::not_found(message)
    })
}

/// Indexes a commit of a remote repository, or updates its index.
pub fn index_commit(
    caller: &Caller<'_>,
    url: &str,
    reference: Option<&str>,
    incremental: bool,
) -> Result<Indexed, Error> {
    let remote = remote(caller, url)?;
    // Permission to read a folder does not include permission to index it under another id.
    caller.may_index_remote(&remote.id(reference))?;
    let by_git = || by_git(caller, &remote, reference, incremental);
    let by_github = |way: &GitHubAccess<'_>| by_github(caller, &remote, way, reference, incremental);
    let (indexed, failure) = github::either(caller, &remote, by_git, by_github)?;
    Ok(Indexed { failure, ..indexed })
}

/// Result of indexing a commit.
pub struct Indexed {
    /// Report of the run.
    pub report: Report,
    /// Whether the index was already up to date.
    pub up_to_date: bool,
    /// The folder in the repository's name, if any.
    pub folder: String,
    /// Git's error, if GitHub's API was used instead.
    pub failure: Option<Error>,
}

/// Indexes a commit that was resolved earlier, or updates the index of its ref to it.
#[cfg(feature = "fleet")]
pub fn index_found(caller: &Caller<'_>, remote: &Remote, found: &ResolvedRef) -> Result<Indexed, Error> {
    let by_git = || {
        let sidecar = sidecar(remote, found, Some(&found.reference));
        // The ref may have moved since, so the commit itself is fetched.
        let exact = ResolvedRef { reference: found.commit.clone(), ..found.clone() };
        let located = Located::earlier(exact, remote);
        let open = |cache: &Cache, options: &FetchOptions<'_>| {
            cache.open_located(remote, Some(&found.commit), located, options)
        };
        let opened = open_clone(caller, open)?;
        let report = index(caller, &opened.commit, sidecar, None, true)?;
        Ok(Indexed { report, up_to_date: false, folder: String::new(), failure: None })
    };
    let by_github = |way: &GitHubAccess<'_>| {
        let (_, commit) = github::find(way, remote, Some(&found.commit))?;
        let tree = github::open(caller, way, commit)?;
        let report = index(caller, &tree, sidecar(remote, found, Some(&found.reference)), way.max_files, true)?;
        Ok(Indexed { report, up_to_date: false, folder: String::new(), failure: None })
    };
    let (indexed, failure) = github::either(caller, remote, by_git, by_github)?;
    Ok(Indexed { failure, ..indexed })
}

/// Indexes by git.
fn by_git(caller: &Caller<'_>, remote: &Remote, reference: Option<&str>, incremental: bool) -> Result<Indexed, Error> {
    let located = with_cache(caller, |cache, fetch_options| cache.find(remote, reference, fetch_options))?;
    let sidecar = sidecar(remote, &located.found, reference);
    if let Some(report) = unchanged(caller, &sidecar, &located.found, incremental) {
        return Ok(Indexed { report, up_to_date: true, folder: located.found.folder, failure: None });
    }
    let opened =
        open_clone(caller, |cache, fetch_options| cache.open_located(remote, reference, located, fetch_options))?;
    let report = index(caller, &opened.commit, sidecar, None, incremental)?;
    Ok(Indexed { report, up_to_date: false, folder: opened.found.folder, failure: None })
}

/// Indexes over GitHub's REST API: from an archive, or file by file.
fn by_github(
    caller: &Caller<'_>,
    remote: &Remote,
    way: &GitHubAccess<'_>,
    reference: Option<&str>,
    incremental: bool,
) -> Result<Indexed, Error> {
    let (found, commit) = github::find(way, remote, reference)?;
    let sidecar = sidecar(remote, &found, reference);
    if let Some(report) = unchanged(caller, &sidecar, &found, incremental) {
        return Ok(Indexed { report, up_to_date: true, folder: found.folder, failure: None });
    }
    let tree = github::open(caller, way, commit)?;
    let report = index(caller, &tree, sidecar, way.max_files, incremental)?;
    Ok(Indexed { report, up_to_date: false, folder: found.folder, failure: None })
}

/// The report of an existing index of the commit, unless a full run is wanted.
fn unchanged(caller: &Caller<'_>, sidecar: &Sidecar, found: &ResolvedRef, incremental: bool) -> Option<Report> {
    let known = || pipeline::unchanged(caller.indexes.registry(), sidecar, &found.commit, &caller.config.secrets);
    incremental.then(known).flatten()
}

/// The sidecar of a resolved commit. An unnamed default branch has the shorter id.
fn sidecar(remote: &Remote, found: &ResolvedRef, reference: Option<&str>) -> Sidecar {
    let default = reference.is_none() && remote.place.is_none();
    pipeline::sidecar_of_remote(remote, &found.reference, default)
}

/// Indexes the files of a commit. `max_files` is the limit of their source.
fn index(
    caller: &Caller<'_>,
    tree: &dyn SourceTree,
    sidecar: Sidecar,
    max_files: Option<usize>,
    incremental: bool,
) -> Result<Report, Error> {
    let tell = caller.request.progress();
    let watcher = RunControl { progress: &tell, cancelled: &caller.request.cancelled, patience: PATIENCE };
    let options = Options { from_scratch: !incremental, ..Options::default() };
    let report = pipeline::index_tree(tree, sidecar.clone(), max_files, caller.config, &options, &watcher);
    let report = report.map_err(|err| pipeline_error(err, &sidecar))?;
    if report.facts.files == 0 {
        let message = format!("{} has nothing to index at {}", report.sidecar.root.display(), tree.commit());
        return Err(Error::not_found(message).with("skipped", serde_json::json!(report.facts.skipped)));
    }
    caller.indexes.close(&report.sidecar.repo);
    Ok(report)
}

/// The result of reading one file again.
pub struct RereadOutcome {
    /// Its checkout.
    pub repo: super::Repo,
    /// Its path in the checkout.
    pub file: String,
    /// The earlier number of its content in the store, if any.
    pub before: Option<u32>,
}

/// Reads one file of an indexed folder again.
pub fn index_file(caller: &Caller<'_>, path: &str) -> Result<RereadOutcome, Error> {
    let given = Path::new(path.trim());
    let path = match &caller.request.directory {
        Some(directory) if given.is_relative() => directory.join(given),
        _ => given.to_owned(),
    };
    caller.reach(&path)?;
    // A deleted file still has a folder, and both may contain links.
    let path = path.canonicalize().unwrap_or_else(|_| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        folder.zip(path.file_name()).map_or_else(|| path.clone(), |(folder, name)| folder.join(name))
    });
    let (registry, config) = (caller.indexes.registry(), caller.config);
    let folder = path.parent().unwrap_or(&path);
    let Some(sidecar) = owner(registry, config, folder) else {
        let message = format!("no indexed folder holds {}; call index_folder first", path.display());
        return Err(Error::not_indexed(message));
    };
    caller.may_index(&sidecar)?;
    let root = config.path_map.to_local(&sidecar.root);
    let relative = path.strip_prefix(&root).ok().and_then(Path::to_str).map(|path| path.replace('\\', "/"));
    let Some(file) = relative.filter(|path| !path.is_empty()) else {
        return Err(Error::invalid_arguments(format!("{} is not a file", path.display())));
    };
    if path.is_dir() {
        let message = format!("{} is a folder; call index_folder", path.display());
        return Err(Error::invalid_arguments(message));
    }

    let store = registry.store(&sidecar.store);
    let before = store.snapshot(&sidecar.snapshot).map_err(|err| store_error(err, &sidecar))?;
    let held = before.file(&file).map(|view| view.number());
    let known = before.table().find(&file).is_some();
    // A new file must pass the rules, which require a whole walk.
    let drift = match known && path.exists() {
        true => Drift { changed: vec![file.clone()], unseen: true, ..Drift::default() },
        false => Drift { elsewhere: true, ..Drift::default() },
    };
    let cancelled = AtomicBool::new(false);
    let watcher = RunControl { progress: &codelode_base::model::unfollowed, cancelled: &cancelled, patience: BRIEF };
    pipeline::refresh(&sidecar, &before, &drift, config, &watcher).map_err(|err| pipeline_error(err, &sidecar))?;

    let repo = open_sidecar(caller, sidecar)?;
    caller.repo(&repo.sidecar.repo);
    Ok(RereadOutcome { repo, file, before: held })
}

/// Removes an index with its metadata and content.
pub fn forget(caller: &Caller<'_>, sidecar: &Sidecar) -> Result<(), Error> {
    caller.may_invalidate()?;
    let registry = caller.indexes.registry();
    pipeline::forget(registry, sidecar, BRIEF).map_err(|err| pipeline_error(err, sidecar))?;
    caller.indexes.close(&sidecar.repo);
    watch::sweep(registry);
    Ok(())
}

/// Entries that the index of a checkout leaves out.
pub fn left_out(caller: &Caller<'_>, sidecar: &Sidecar) -> Result<Vec<Omitted>, Error> {
    let root = caller.config.path_map.to_local(&sidecar.root);
    let store = caller.indexes.registry().store(&sidecar.store);
    let snapshot = store.snapshot(&sidecar.snapshot).map_err(|err| store_error(err, sidecar))?;
    pipeline::all_left_out(&root, &snapshot, caller.config).map_err(|err| pipeline_error(err, sidecar))
}

/// Current and ended runs of this process that a caller may see, newest first.
pub fn on(caller: &Caller<'_>) -> Vec<pipeline::Run> {
    let registry = caller.indexes.registry();
    // The first run of a folder has no index yet, so only its id tells what it is.
    let is_seen = |run: &pipeline::Run| match run.repo.starts_with("local/") {
        true => registry.get(&run.repo).is_some() || caller.rights.sees_folder(&run.repo, Path::new("")),
        false => caller.rights.sees(&run.repo),
    };
    pipeline::runs().into_iter().filter(is_seen).collect()
}

/// Repositories that another process is writing.
pub fn elsewhere(caller: &Caller<'_>) -> Vec<String> {
    let registry = caller.indexes.registry();
    let own = std::process::id();
    let is_written = |sidecar: &Sidecar| match registry.store(&sidecar.store).held() {
        WriterState::By(Some(process)) => process != own,
        _ => false,
    };
    registry.all().into_iter().filter(is_written).map(|sidecar| sidecar.repo).collect()
}
