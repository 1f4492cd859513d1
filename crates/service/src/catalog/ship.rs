//! Ships indexes: exports them from this index directory, and imports indexes made elsewhere.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Caller;
use super::errors::{ship_error, store_error};
use super::locate::resolve;
use super::remotes::{newest_commit, remote};
use super::runs;
use crate::answer::Error;
use codelode_base::model::{SourceTree, on_disk};
use codelode_cluster::ship::{self, Arrival, Facts, ShipmentControl, Source};
pub use codelode_cluster::ship::{LATEST, PublishResult};
use codelode_index::pipeline::{self, GitHashes, Options, Report};
use codelode_source::git::{Commit, Remote};
use codelode_store::{Sidecar, Snapshot, StoreCopy};

/// Maximum wait for another process that writes the same index.
const PATIENCE: Duration = Duration::from_secs(60);

/// A repository's index in a file.
pub struct Packed {
    /// Its facts.
    pub facts: Facts,
    /// The size of the file, in bytes.
    pub bytes: u64,
}

/// Writes the index of a repository to a file, after an update. `name` replaces the repository's name in it.
pub fn pack(caller: &Caller<'_>, repo: Option<&str>, name: Option<&str>, file: &Path) -> Result<Packed, Error> {
    let (copy, contents, facts) = copied(caller, repo, name)?;
    let tell = caller.request.progress();
    let watcher = ShipmentControl { progress: &tell, cancelled: &caller.request.cancelled };
    let (listing, bytes) = ship::pack(&copy, contents, facts, file, &watcher).map_err(ship_error)?;
    Ok(Packed { facts: listing.facts, bytes })
}

/// A copy of a repository's updated index, with git's hashes of its contents.
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
    let contents = GitHashes::names(snapshot);
    let facts = Facts {
        repo: name_of(&sidecar, name)?,
        commit: sidecar.git_head.clone(),
        tree: tree(caller, &sidecar, snapshot, &contents),
        indexed_at: snapshot.facts().indexed_at,
        order: None,
        file_count: snapshot.facts().files,
        symbol_count: snapshot.facts().symbols,
        imports: pipeline::imported(snapshot),
    };
    Ok((copy, contents, facts))
}

/// The public name of a repository: the given one, or its own.
fn name_of(sidecar: &Sidecar, given: Option<&str>) -> Result<String, Error> {
    if let Some(given) = given {
        let message = || format!("{given:?} is not a name of a repository; give one like owner/name");
        let is_one = ship::is_repo_name(given);
        return if is_one { Ok(given.to_owned()) } else { Err(Error::invalid_arguments(message())) };
    }
    Ok(own_name(sidecar))
}

/// The public name of a repository, from its origin or its folder.
fn own_name(sidecar: &Sidecar) -> String {
    let of_remote = || sidecar.remote.as_ref().map(|_| sidecar.repo.clone());
    let own = sidecar.origin.clone().filter(|origin| origin.contains('/')).or_else(of_remote);
    if let Some(own) = own.filter(|own| ship::is_repo_name(own)) {
        return own;
    }
    local_name(&sidecar.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
}

/// The public name of a folder, reduced to allowed characters.
fn local_name(folder: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let folder: String = folder.trim_start_matches('.').chars().map(plain).take(60).collect();
    format!("local/{}", if folder.is_empty() { "root" } else { &folder })
}

/// The public name of a remote repository: the given one, or `owner/name` from its address. Nested groups give
/// `a.b/name`, and a folder `local/<folder>`.
pub fn name_of_remote(remote: &Remote, given: Option<&str>) -> Result<String, Error> {
    let is_one = |name: &String| ship::is_repo_name(name);
    if let Some(given) = given {
        let message = format!("{given:?} is not a name of a repository; give one like owner/name");
        return Some(given.to_owned()).filter(is_one).ok_or_else(|| Error::invalid_arguments(message));
    }
    let parts: Vec<&str> = remote.name().split('/').filter(|part| !part.is_empty()).collect();
    let name = match (remote.folder(), parts.split_last()) {
        (Some(_), Some((name, _))) => local_name(name),
        (None, Some((name, owners))) => format!("{}/{name}", owners.join(".")),
        (_, None) => String::new(),
    };
    let message = || format!("{} has no name like owner/name for others; give it one", remote.url());
    Some(name).filter(is_one).ok_or_else(|| Error::invalid_arguments(message()))
}

/// The name under which a place already has the index of a folder's commit (by its tree), or of a remote repository's
/// newest commit. `None` if it has none, and for a folder under another key, which must be examined.
pub fn is_published(
    caller: &Caller<'_>,
    what: &Unindexed<'_>,
    name: Option<&str>,
    (url, key): (&str, &str),
) -> Result<Option<String>, Error> {
    let client = caller.remotes.client(caller.config);
    match *what {
        Unindexed::Folder(path) if key == OF_TREE => {
            let root = runs::folder(caller, path)?;
            let Ok(commit) = Commit::open(&root, "HEAD") else { return Ok(None) };
            let name = match name {
                Some(name) => name.to_owned(),
                None => own_name(&pipeline::sidecar_of(&root, caller.config)),
            };
            let is_there = ship::has(url, &name, &key_of(commit.tree()), &client).map_err(ship_error)?;
            Ok(is_there.then_some(name))
        }
        Unindexed::Remote(text, reference) if key == ship::LATEST => {
            let remote = remote(caller, text)?;
            let name = name_of_remote(&remote, name)?;
            let place = Source::open(url, &client).map_err(ship_error)?;
            let newest = match place.newest(&name) {
                // A damaged or outdated index is replaced.
                Err(ship::Error::Damaged { .. } | ship::Error::Version { .. }) => None,
                newest => newest.map_err(ship_error)?,
            };
            let Some(commit) = newest.and_then(|newest| newest.facts.commit) else { return Ok(None) };
            Ok((newest_commit(caller, &remote, reference)?.commit == commit).then_some(name))
        }
        _ => Ok(None),
    }
}

/// A repository to index and publish.
#[derive(Clone, Copy, Debug)]
pub enum Unindexed<'a> {
    /// A folder, by path.
    Folder(Option<&'a str>),
    /// A remote repository, by address and ref.
    Remote(&'a str, Option<&'a str>),
}

/// The public name of a remote repository that a caller names.
pub fn name_of_named(caller: &Caller<'_>, text: &str) -> Result<String, Error> {
    name_of_remote(&remote(caller, text)?, None)
}

/// The git hash of the checked-out tree, if the snapshot contains exactly its files.
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
    let is_there = |path: &str| on_disk(&root, path).symlink_metadata().is_ok();
    (is_committed && entries.iter().all(|entry| is_there(&entry.path))).then(|| commit.tree().to_owned())
}

/// A place for an index, and options for publishing it.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// A folder or URL.
    pub url: &'a str,
    /// The key: a name, or [`OF_TREE`] for the key of the commit's tree.
    pub key: &'a str,
    /// The number of newest tree listings to keep.
    pub keep: usize,
    /// A sequence number: a published state with a higher number is not replaced.
    pub order: Option<u64>,
}

/// Publishes the index of a repository in a place, after an update.
pub fn push(
    caller: &Caller<'_>,
    repo: Option<&str>,
    name: Option<&str>,
    to: &Target<'_>,
) -> Result<PublishResult, Error> {
    let (copy, contents, facts) = copied(caller, repo, name)?;
    let (facts, Target { url, key, keep, .. }) = (Facts { order: to.order, ..facts }, *to);
    let key = match (key, &facts.tree) {
        (OF_TREE, Some(tree)) => key_of(tree),
        (OF_TREE, None) => {
            let message = "the folder has uncommitted changes; commit them, or omit --key";
            return Err(Error::invalid_arguments(message));
        }
        (key, _) => key.to_owned(),
    };
    let tell = caller.request.progress();
    let watcher = ShipmentControl { progress: &tell, cancelled: &caller.request.cancelled };
    let client = caller.remotes.client(caller.config);
    ship::push((&copy, contents, facts), url, &key, keep, &client, &watcher).map_err(ship_error)
}

/// Publishes the index of a remote repository's ref that was just indexed.
pub fn push_indexed(
    caller: &Caller<'_>,
    url: &str,
    reference: Option<&str>,
    name: Option<&str>,
    to: &Target<'_>,
) -> Result<PublishResult, Error> {
    let indexed = runs::index_commit(caller, url, reference, true)?;
    push(caller, Some(&indexed.report.sidecar.repo), name, to)
}

/// The word for the key of the commit's tree.
pub const OF_TREE: &str = "tree-sha";

/// The key of a tree.
fn key_of(tree: &str) -> String {
    format!("tree-{tree}")
}

/// An index made elsewhere.
pub struct RemoteIndex<'a> {
    /// A file, folder or URL.
    pub from: &'a str,
    /// The repository's name there, if different.
    pub name: Option<&'a str>,
    /// Its key there. Without one, the key of the commit's tree is tried, then the newest index.
    pub key: Option<&'a str>,
    /// Whether it replaces an existing index of the folder.
    pub anew: bool,
}

/// The result of importing an index.
pub enum ShipOutcome {
    /// The folder has an index, which is kept.
    Indexed,
    /// Nothing was imported; holds the reason.
    Nothing(String),
    /// The index was imported: its facts, and the run that added local differences.
    Taken(Facts, Box<Report>),
}

/// Indexes a folder, starting from an index made elsewhere. Only files that differ are read.
pub fn index_from(
    caller: &Caller<'_>,
    path: Option<&str>,
    elsewhere: &RemoteIndex<'_>,
    options: &Options,
) -> Result<ShipOutcome, Error> {
    let root = runs::folder(caller, path)?;
    let sidecar = pipeline::sidecar_of(&root, caller.config);
    caller.may_index(&sidecar)?;
    let store = caller.indexes.registry().store(&sidecar.store);
    if !elsewhere.anew && store.snapshot(&sidecar.snapshot).is_ok() {
        return Ok(ShipOutcome::Indexed);
    }
    let taken = match taken(caller, &root, &sidecar, elsewhere) {
        Err(err @ ship::Error::Version { .. }) => return Ok(ShipOutcome::Nothing(err.to_string())),
        Err(err) => return Err(ship_error(err)),
        Ok(None) => return Ok(ShipOutcome::Nothing(format!("{} has no index of it", elsewhere.from))),
        Ok(Some(taken)) => taken,
    };
    let (facts, contents) = (taken.listing.facts.clone(), taken.contents.clone());
    caller.indexes.close(&sidecar.repo);
    if !taken.accept(&store, &sidecar.snapshot, elsewhere.anew, PATIENCE).map_err(ship_error)? {
        return Ok(ShipOutcome::Indexed);
    }
    let snapshot = store.snapshot(&sidecar.snapshot).map_err(|err| store_error(err, &sidecar))?;
    let shipped = GitHashes::of(snapshot.table(), &contents);
    let options = Options { shipped: Some(Arc::new(shipped)), ..options.clone() };
    let report = runs::index_folder(caller, path, &options)?;
    Ok(ShipOutcome::Taken(facts, Box::new(report)))
}

/// Imports and verifies an index; `None` if there is none.
fn taken(
    caller: &Caller<'_>,
    root: &Path,
    sidecar: &Sidecar,
    elsewhere: &RemoteIndex<'_>,
) -> Result<Option<Arrival>, ship::Error> {
    let registry = caller.indexes.registry();
    let tell = caller.request.progress();
    let watcher = ShipmentControl { progress: &tell, cancelled: &caller.request.cancelled };
    let RemoteIndex { from, name, key, .. } = *elsewhere;
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

#[cfg(test)]
mod tests {
    use super::local_name;

    #[test]
    fn names_of_folders_have_the_letters_of_names() {
        let names = ["shop", "libstdc++", ".dot", "a b", ""].map(local_name);
        assert_eq!(names, ["local/shop", "local/libstdc--", "local/dot", "local/a-b", "local/root"]);
    }
}
