//! Indexes that are made once and opened elsewhere: out of this index directory, and into it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Caller;
use super::errors::{ship_error, store_error};
use super::locate::resolve;
use super::runs;
use crate::answer::Error;
use crate::git::Commit;
use crate::model::SourceTree;
use crate::pipeline::{self, Options, Report, Shipped};
use crate::ship::{self, Facts, Pushed, Taken, Watcher};
use crate::store::{Sidecar, Snapshot, StoreCopy};

/// Maximum wait for another process that writes the same index.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository's index in a file.
pub struct Packed {
    /// Its facts.
    pub facts: Facts,
    /// Bytes of the file.
    pub bytes: u64,
}

/// Writes the index of a repository into a file, after bringing it up to date. `name` is the repository's name in it,
/// if another than its own.
pub fn pack(caller: &Caller<'_>, repo: Option<&str>, name: Option<&str>, file: &Path) -> Result<Packed, Error> {
    let (copy, contents, facts) = copied(caller, repo, name)?;
    let tell = caller.request.told();
    let watcher = Watcher { progress: &tell, cancelled: &caller.request.cancelled };
    let (listing, bytes) = ship::pack(&copy, contents, facts, file, &watcher).map_err(ship_error)?;
    Ok(Packed { facts: listing.facts, bytes })
}

/// A copy of a repository's index, brought up to date, with git's names of its contents.
fn copied(caller: &Caller<'_>, repo: Option<&str>, name: Option<&str>) -> Result<(StoreCopy, Vec<u8>, Facts), Error> {
    let mut sidecar = resolve(caller, repo)?;
    let registry = caller.indexes.registry();
    if sidecar.remote.is_none() {
        let root = caller.config.path_map.to_local(&sidecar.root);
        let before = registry.store(&sidecar.store).snapshot(&sidecar.snapshot).ok();
        let options = Options::as_before(before.as_ref().map(Snapshot::facts), Some(&sidecar));
        sidecar = runs::index_folder(caller, Some(&root.to_string_lossy()), &options)?.sidecar;
    }
    let store = registry.store(&sidecar.store);
    let copy = store.copy(&sidecar.snapshot, registry).map_err(|err| store_error(err, &sidecar))?;
    let snapshot = copy.snapshot();
    let contents = Shipped::names(snapshot);
    let facts = Facts {
        repo: name_of(&sidecar, name)?,
        commit: sidecar.git_head.clone(),
        tree: tree(caller, &sidecar, snapshot, &contents),
        indexed_at: snapshot.facts().indexed_at,
        file_count: snapshot.facts().files,
        symbol_count: snapshot.facts().symbols,
    };
    Ok((copy, contents, facts))
}

/// Name of a repository for others: the given one, or its own.
fn name_of(sidecar: &Sidecar, given: Option<&str>) -> Result<String, Error> {
    if let Some(given) = given {
        let message = || format!("{given:?} is no name of a repository; give one like owner/name");
        let is_one = ship::is_repo_name(given);
        return if is_one { Ok(given.to_owned()) } else { Err(Error::invalid_arguments(message())) };
    }
    Ok(own_name(sidecar))
}

/// Name of a repository for others: that of its origin, or of its folder.
fn own_name(sidecar: &Sidecar) -> String {
    let of_remote = || sidecar.remote.as_ref().map(|_| sidecar.repo.clone());
    let own = sidecar.origin.clone().filter(|origin| origin.contains('/')).or_else(of_remote);
    if let Some(own) = own.filter(|own| ship::is_repo_name(own)) {
        return own;
    }
    let folder = sidecar.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let folder: String = folder.trim_start_matches('.').chars().map(plain).take(60).collect();
    format!("local/{}", if folder.is_empty() { "root" } else { &folder })
}

/// Git's name of the tree that is checked out, if the snapshot holds exactly its files.
fn tree(caller: &Caller<'_>, sidecar: &Sidecar, snapshot: &Snapshot, contents: &[u8]) -> Option<String> {
    if let Some(remote) = &sidecar.remote {
        return Some(remote.tree.clone()).filter(|tree| !tree.is_empty());
    }
    let root = caller.config.path_map.to_local(&sidecar.root);
    if !root.join(".git").exists() {
        return None;
    }
    let commit = Commit::open(&root, "HEAD").ok()?;
    let entries = commit.files().ok()?;
    let hex = |name: &[u8]| name.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let names = contents.chunks_exact(20);
    let is_committed = snapshot.table().iter().zip(names).filter(|(row, _)| row.state.is_ok()).all(|(row, name)| {
        let found = entries.binary_search_by(|entry| entry.path.as_str().cmp(row.path));
        found.is_ok_and(|at| entries[at].id == hex(name))
    });
    let is_there = |path: &str| root.join(path).symlink_metadata().is_ok();
    (is_committed && entries.iter().all(|entry| is_there(&entry.path))).then(|| commit.tree().to_owned())
}

/// Publishes the index of a repository in a place, after bringing it up to date. `key` is a name, or [`OF_TREE`] for
/// that of the commit's tree. Of listings of trees the newest `keep` stay.
pub fn push(
    caller: &Caller<'_>,
    repo: Option<&str>,
    name: Option<&str>,
    (url, key, keep): (&str, &str, usize),
) -> Result<Pushed, Error> {
    let (copy, contents, facts) = copied(caller, repo, name)?;
    let key = match (key, &facts.tree) {
        (OF_TREE, Some(tree)) => key_of(tree),
        (OF_TREE, None) => {
            let message = "the folder is no commit as it is; commit what it holds, or leave --key out";
            return Err(Error::invalid_arguments(message));
        }
        (key, _) => key.to_owned(),
    };
    let tell = caller.request.told();
    let watcher = Watcher { progress: &tell, cancelled: &caller.request.cancelled };
    let client = caller.remotes.client(caller.config);
    ship::push((&copy, contents, facts), url, &key, keep, &client, &watcher).map_err(ship_error)
}

/// Word for the key that is named after the commit's tree.
pub const OF_TREE: &str = "tree-sha";

/// Key of a tree.
fn key_of(tree: &str) -> String {
    format!("tree-{tree}")
}

/// An index that was made elsewhere.
pub struct Elsewhere<'a> {
    /// File, folder or URL.
    pub from: &'a str,
    /// The repository's name there, if another than its own.
    pub name: Option<&'a str>,
    /// Its key there; without one that of the commit's tree, and then the newest.
    pub key: Option<&'a str>,
    /// Whether it replaces an index that the folder has.
    pub anew: bool,
}

/// Result of indexing from an index that was made elsewhere.
pub enum Took {
    /// The folder has an index already, which is kept.
    Indexed,
    /// An index of another version, or none: the reason why nothing was taken.
    Nothing(String),
    /// It was taken: its facts, and the run that added what differs here.
    Taken(Facts, Box<Report>),
}

/// Indexes a folder, beginning with an index that was made elsewhere. Only what differs is read.
pub fn index_from(
    caller: &Caller<'_>,
    path: Option<&str>,
    elsewhere: &Elsewhere<'_>,
    options: &Options,
) -> Result<Took, Error> {
    let root = runs::folder(caller, path)?;
    let sidecar = pipeline::sidecar_of(&root, caller.config);
    caller.may_index(&sidecar.repo)?;
    let store = caller.indexes.registry().store(&sidecar.store);
    if !elsewhere.anew && store.snapshot(&sidecar.snapshot).is_ok() {
        return Ok(Took::Indexed);
    }
    let taken = match taken(caller, &root, &sidecar, elsewhere) {
        Err(err @ ship::Error::Version { .. }) => return Ok(Took::Nothing(err.to_string())),
        Err(err) => return Err(ship_error(err)),
        Ok(None) => return Ok(Took::Nothing(format!("{} has no index of it", elsewhere.from))),
        Ok(Some(taken)) => taken,
    };
    let (facts, contents) = (taken.listing.facts.clone(), taken.contents.clone());
    caller.indexes.close(&sidecar.repo);
    if !taken.accept(&store, &sidecar.snapshot, elsewhere.anew, PATIENCE).map_err(ship_error)? {
        return Ok(Took::Indexed);
    }
    let snapshot = store.snapshot(&sidecar.snapshot).map_err(|err| store_error(err, &sidecar))?;
    let shipped = Shipped::of(snapshot.table(), &contents);
    let options = Options { shipped: Some(Arc::new(shipped)), ..options.clone() };
    let report = runs::index_folder(caller, path, &options)?;
    Ok(Took::Taken(facts, Box::new(report)))
}

/// Takes an index from elsewhere, verified; `None` when none is there.
fn taken(
    caller: &Caller<'_>,
    root: &Path,
    sidecar: &Sidecar,
    elsewhere: &Elsewhere<'_>,
) -> Result<Option<Taken>, ship::Error> {
    let registry = caller.indexes.registry();
    let tell = caller.request.told();
    let watcher = Watcher { progress: &tell, cancelled: &caller.request.cancelled };
    let Elsewhere { from, name, key, .. } = *elsewhere;
    if !from.contains("://") && !Path::new(from).is_dir() {
        return ship::unpack(Path::new(from), registry, &watcher).map(Some);
    }
    let tree = || Commit::open(root, "HEAD").ok().map(|commit| commit.tree().to_owned());
    let keys = match key {
        None | Some(OF_TREE) => {
            let newest = key.is_none().then(|| ship::LATEST.to_owned());
            tree().map(|tree| key_of(&tree)).into_iter().chain(newest).collect()
        }
        Some(key) => vec![key.to_owned()],
    };
    let name = name.map_or_else(|| own_name(sidecar), str::to_owned);
    ship::fetch(from, &name, &keys, &caller.remotes.client(caller.config), registry, &watcher)
}
