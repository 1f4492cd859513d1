//! Resolves the repository of a call, by name or by the caller's directory. The first question about a folder indexes
//! it, but very large folders and system folders only on request.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::Caller;
use super::early;
use super::errors::pipeline_error;
use super::indexes::holds;
use crate::answer::Error;
use codelode_base::allocator;
use codelode_base::config::{self, Config};
use codelode_base::model::{SourceFile, nearest};
use codelode_index::pipeline::{self, Options, RunControl};
use codelode_store::{Registry, Sidecar};

pub use codelode_index::pipeline::owner;

/// Key of `_meta` for the files read so far, while the rest is being indexed.
pub const EXCERPT: &str = "read_so_far";
/// The most files that are indexed without a request.
const MOST_UNASKED: usize = 50_000;
/// Maximum wait for another process that indexes the same folder.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most entries looked at for repositories below a folder, and folders between it and them.
const MOST_LOOKED_AT: usize = 10_000;
const DEEPEST: usize = 2;
/// Folders of the system, or with many projects.
const SYSTEM: &[&str] = &[
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/media",
    "/mnt",
    "/nix",
    "/opt",
    "/private",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/include",
    "/usr/lib",
    "/usr/local",
    "/usr/share",
    "/var",
    "/var/lib",
];

/// Resolves the checkout of a call. A checkout without an index is indexed now.
pub fn resolve(caller: &Caller<'_>, repo: Option<&str>) -> Result<Sidecar, Error> {
    match repo.map(str::trim).filter(|repo| !repo.is_empty()) {
        None => implied(caller),
        Some(repo) => match named_path(caller, repo) {
            Some(path) => at(caller, &path),
            None => by_name(caller, repo),
        },
    }
}

/// Resolves a named checkout among those with an index.
pub fn indexed(caller: &Caller<'_>, repo: &str) -> Result<Sidecar, Error> {
    let repo = repo.trim();
    match named_path(caller, repo) {
        Some(path) => {
            caller.reach(&path)?;
            held(caller, &path)?.ok_or_else(|| not_indexed(root_of(&path), "it has no index"))
        }
        None => by_name(caller, repo),
    }
}

/// The path of a repository named by an absolute path, by one that begins with a dot, or by one that exists in the
/// caller's directory.
fn named_path(caller: &Caller<'_>, repo: &str) -> Option<PathBuf> {
    let path = Path::new(repo);
    if repo.is_empty() || path.is_absolute() {
        return path.is_absolute().then(|| path.to_owned());
    }
    let places: Vec<PathBuf> = caller.places().map(|place| place.join(path)).collect();
    let existing = places.iter().find(|place| caller.reach(place).is_ok() && place.exists()).cloned();
    let is_written_as_one = repo == "." || repo == ".." || repo.starts_with("./") || repo.starts_with("../");
    existing.or_else(|| is_written_as_one.then(|| places.into_iter().next().unwrap_or_else(|| path.to_owned())))
}

/// The checkout around the caller's first root or working directory. In a home folder or at the file system root, the
/// only indexed repository.
fn implied(caller: &Caller<'_>) -> Result<Sidecar, Error> {
    if let Some(path) = elsewhere(caller) {
        // A misled model may give any path, so a path alone only opens projects.
        return match held(caller, &path)? {
            None if project_root(&path).is_none() => {
                Err(not_indexed(root_of(&path), "it is outside the current repository"))
            }
            _ => at(caller, &path),
        };
    }
    let mut places = caller.places().filter(|place| !is_nowhere(place)).peekable();
    if let Some(first) = places.peek().copied() {
        let is_known =
            |place: &Path| place.exists() || owner(caller.indexes.registry(), caller.config, place).is_some();
        return at(caller, places.find(|place| is_known(place)).unwrap_or(first));
    }
    let all = caller.indexes.registry().all();
    match &all[..] {
        [only] => {
            caller.note("only_indexed", true);
            Ok(only.clone())
        }
        [] => Err(Error::not_indexed("nothing is indexed yet; set `repo` to a folder, or call index_folder")),
        _ => Err(ambiguous("several repositories are indexed; set `repo`", &all.iter().collect::<Vec<_>>())),
    }
}

/// Checkouts that the caller works in, in the order of its roots; those that hold a path of the question, if any does. None for
/// a question about a path elsewhere.
pub fn worked_in(caller: &Caller<'_>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for root in caller.request.roots.iter().filter(|root| !is_nowhere(root) && caller.reach(root).is_ok()) {
        let held = held(caller, root).ok().flatten().map(|sidecar| caller.config.path_map.to_local(&sidecar.root));
        let own = || Some(root_of(&root.canonicalize().ok()?).to_owned());
        all.extend(held.or_else(own).filter(|place| !all.contains(place)));
    }
    let is_asked_about = |place: &PathBuf| {
        let mut named = caller.paths.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
        named.any(|path| path.starts_with(place))
    };
    match all.iter().any(is_asked_about) {
        true => all.retain(is_asked_about),
        false if elsewhere(caller).is_some() => all.clear(),
        false => {}
    }
    all
}

/// The caller's folder, if it is known to lie above repositories and has no index of its own by now.
pub fn known_above(caller: &Caller<'_>) -> Option<PathBuf> {
    let place = caller.places().next()?.canonicalize().ok()?;
    let is_known = caller.indexes.above().contains(&place);
    (is_known && owner(caller.indexes.registry(), caller.config, &place).is_none()).then_some(place)
}

/// Checkouts below one of the caller's folders that is no project itself, by path; none below another folder.
pub fn below(caller: &Caller<'_>, folder: &Path) -> Vec<PathBuf> {
    let is_here = |place: &PathBuf| place.canonicalize().is_ok_and(|place| root_of(&place) == folder);
    if is_nowhere(folder) || !caller.places().any(is_here) {
        return Vec::new();
    }
    let (mut found, mut folders, mut left) = (Vec::new(), vec![(folder.to_owned(), 0)], MOST_LOOKED_AT);
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(left) {
            left -= 1;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let path = entry.path();
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_hidden {
                true if path.join(".git").exists() => found.push(path),
                true if depth < DEEPEST => folders.push((path, depth + 1)),
                _ => {}
            }
        }
    }
    found.retain(|path| caller.reach(path).is_ok());
    found.sort();
    found
}

/// The first path in the question that lies outside the caller's repository.
fn elsewhere(caller: &Caller<'_>) -> Option<PathBuf> {
    let registry = caller.indexes.registry();
    let standing = caller.places().find(|place| !is_nowhere(place));
    let root = standing.map(|place| root_at(registry, caller.config, place));
    let named = caller.paths.iter().filter(|path| caller.reach(path).is_ok());
    named.map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).find(|path| {
        let is_outside = root.as_ref().is_none_or(|root| !path.starts_with(root));
        is_outside && (path.exists() || owner(registry, caller.config, path).is_some())
    })
}

/// Whether a folder belongs to no project.
fn is_nowhere(place: &Path) -> bool {
    place.parent().is_none() || config::is_home(place)
}

/// The checkout around a path, indexed now if needed.
fn at(caller: &Caller<'_>, path: &Path) -> Result<Sidecar, Error> {
    caller.reach(path)?;
    match held(caller, path)? {
        Some(sidecar) => Ok(sidecar),
        None => index_first(caller, path),
    }
}

/// The indexed checkout around a path. A nested repository counts as part of the outer index only if that indexed it.
fn held(caller: &Caller<'_>, path: &Path) -> Result<Option<Sidecar>, Error> {
    let config = caller.config;
    let Some(sidecar) = owner(caller.indexes.registry(), config, path) else { return Ok(None) };
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let outer = config.path_map.to_local(&sidecar.root);
    let inner = project_root(&path).and_then(|inner| inner.strip_prefix(&outer).ok()?.to_str());
    match inner {
        Some(inner) if !inner.is_empty() && !holds(caller, &sidecar, inner)? => Ok(None),
        _ => Ok(Some(sidecar)),
    }
}

/// Indexes the folder of a path that is in no index.
fn index_first(caller: &Caller<'_>, path: &Path) -> Result<Sidecar, Error> {
    let path = path.canonicalize().map_err(|err| {
        let message = format!("cannot open {}: {err}; give the path of a folder", path.display());
        Error::not_found(message)
    })?;
    let root = root_of(&path);
    let config = caller.config;
    if is_odd(root) {
        return Err(not_indexed(root, "it is not a single project"));
    }
    caller.may_index(&pipeline::sidecar_of(root, config))?;
    let _one_at_a_time = caller.indexes.first_run.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(sidecar) = held(caller, &path)? {
        return Ok(sidecar);
    }
    // A second worktree shares nearly all content, so its size does not matter.
    let store = pipeline::sidecar_of(root, config).store;
    let is_sibling = caller.indexes.registry().all().iter().any(|other| other.store == store);
    let options = Options { at_most: (!is_sibling).then_some(MOST_UNASKED), ..Options::default() };
    let tell = caller.request.progress();
    let watcher = RunControl { progress: &tell, cancelled: &caller.request.cancelled, patience: PATIENCE };
    let refused = |err| match err {
        pipeline::Error::TooMany(most) => not_indexed(root, &format!("it holds more than {most} files")),
        err => pipeline_error(err, &pipeline::sidecar_of(root, config)),
    };
    if !caller.words.is_empty() && !is_sibling {
        let words = caller.words_below(root);
        if let Some(excerpt) = pipeline::index_excerpt(root, config, &words, &options, &watcher).map_err(refused)? {
            let sidecar = &excerpt.report.sidecar;
            caller.indexes.close(&sidecar.repo);
            early::began(caller, &sidecar.repo, &excerpt);
            return Ok(excerpt.report.sidecar);
        }
    }
    let _work = allocator::work();
    let report = pipeline::index_folder(root, config, &options, &watcher).map_err(refused)?;
    caller.indexes.close(&report.sidecar.repo);
    let seconds = ((report.discovery + report.parsing).as_secs_f64() * 10.0).round() / 10.0;
    let (files, symbols) = (report.facts.files, report.facts.symbols);
    caller.note("first_indexed", json!({"files": files, "symbols": symbols, "seconds": seconds}));
    Ok(report.sidecar)
}

/// The root and files of the large folder around a path, if no index has it.
pub fn unindexed(caller: &Caller<'_>, path: &Path) -> Result<Option<(PathBuf, Vec<SourceFile>)>, Error> {
    let Ok(path) = path.canonicalize() else { return Ok(None) };
    let root = root_of(&path);
    if is_odd(root) || held(caller, &path)?.is_some() || is_shared(caller.indexes.registry(), caller.config, root) {
        return Ok(None);
    }
    // If listing fails, indexing reports the reason.
    let files = pipeline::files_of_large(root, caller.config, MOST_UNASKED).unwrap_or_default();
    Ok(files.map(|files| (root.to_owned(), files)))
}

/// The folder to index for a path: the project around it, else the folder itself.
pub(super) fn root_of(path: &Path) -> &Path {
    let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path };
    project_root(folder).filter(|root| !is_odd(root)).unwrap_or(folder)
}

/// The root of the checkout around a path, indexed or not.
pub fn root_at(registry: &Registry, config: &Config, path: &Path) -> PathBuf {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let indexed = owner(registry, config, &path).map(|sidecar| config.path_map.to_local(&sidecar.root));
    indexed.unwrap_or_else(|| root_of(&path).to_owned())
}

/// The id of a checkout, indexed or not, by its root.
pub fn id_of(config: &Config, root: &Path) -> String {
    Registry::local_id(&config.path_map.to_stored(root))
}

/// The index of the checkout around a path, if there is one.
pub fn indexed_at(registry: &Registry, config: &Config, path: &Path) -> Option<Sidecar> {
    let root = root_at(registry, config, path);
    let is_here = |sidecar: &Sidecar| sidecar.remote.is_none() && config.path_map.to_local(&sidecar.root) == root;
    registry.all().into_iter().find(is_here)
}

/// Whether an index has a file at or below one of these paths; true if the index cannot be read.
pub fn holds_any(registry: &Registry, config: &Config, index: &Sidecar, paths: &[PathBuf]) -> bool {
    let Ok(snapshot) = registry.store(&index.store).snapshot(&index.snapshot) else { return true };
    let root = config.path_map.to_local(&index.root);
    paths.iter().any(|path| {
        let real = path.canonicalize().unwrap_or_else(|_| path.components().collect());
        let Some(inside) = real.strip_prefix(&root).ok().and_then(Path::to_str) else { return false };
        let is_stored = |path: &str| snapshot.table().find(path).is_some_and(|row| row.state.is_ok());
        is_stored(inside) || snapshot.table().below(inside).any(|row| row.state.is_ok())
    })
}

/// The folder whose repository to search for a path given in another folder: the path itself if it has a project or
/// index, else the caller's folder if the path is below it.
pub fn searched(registry: &Registry, config: &Config, here: &Path, path: &Path) -> PathBuf {
    let place = here.join(path);
    let Ok(real) = place.canonicalize() else { return place };
    let is_own = owner(registry, config, &real).is_some() || project_root(&real).is_some();
    let is_below = here.canonicalize().is_ok_and(|here| real.starts_with(here));
    if is_own || !is_below || is_odd(here) { place } else { here.to_owned() }
}

/// Whether another checkout of the same repository is indexed.
pub fn is_shared(registry: &Registry, config: &Config, root: &Path) -> bool {
    let store = pipeline::sidecar_of(root, config).store;
    registry.all().iter().any(|other| other.store == store)
}

/// Nearest folder at or above a path with a `.git`.
pub fn project_root(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.join(".git").exists())
}

/// Whether a folder is unlikely to be a project: the file system root, a user's home, or a system folder.
pub fn is_odd(folder: &Path) -> bool {
    folder.parent().is_none() || config::holds_home(folder) || SYSTEM.iter().any(|odd| Path::new(odd) == folder)
}

/// The error for a folder that is only indexed on request. It names the call to make.
pub fn not_indexed(root: &Path, why: &str) -> Error {
    let message = format!("{} is not indexed, {why}; call index_folder with path {root:?}", root.display());
    Error::not_indexed(message).with("root", root.to_string_lossy()).with("why", why)
}

/// Finds a checkout by its id, or by a unique name.
fn by_name(caller: &Caller<'_>, repo: &str) -> Result<Sidecar, Error> {
    let registry = caller.indexes.registry();
    if let Some(sidecar) = registry.get(repo) {
        return Ok(sidecar);
    }
    if let Some(root) = caller.request.among.iter().find(|root| id_of(caller.config, root) == repo) {
        return at(caller, root);
    }
    if let Some(stock) = caller.indexes.stock().filter(|_| repo.contains('/') && caller.rights.sees(repo)) {
        stock.look_for(repo);
        if let Some(sidecar) = registry.get(repo) {
            return Ok(sidecar);
        }
    }
    let all = registry.all();
    let answers_to = |sidecar: &Sidecar| {
        let folder = sidecar.root.file_name().is_some_and(|name| name.to_string_lossy() == repo);
        let bare = sidecar.repo.rsplit('/').next() == Some(repo);
        let origin = sidecar.origin.as_deref().is_some_and(|origin| {
            origin.eq_ignore_ascii_case(repo)
                || origin.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(repo))
        });
        folder || bare || origin
    };
    let mut found: Vec<&Sidecar> = all.iter().filter(|sidecar| answers_to(sidecar)).collect();
    let packages = if found.is_empty() { registry.packages() } else { Vec::new() };
    found.extend(packages.iter().filter(|sidecar| sidecar.package.as_ref().is_some_and(|id| id.is_called(repo))));
    match found[..] {
        [only] => Ok(only.clone()),
        [] if all.is_empty() => {
            let message =
                format!("there is no index {repo:?}, nothing is indexed yet; call index_folder or index_repo");
            Err(Error::not_indexed(message))
        }
        [] => {
            // People remember a folder's name, not the hash after it.
            let folder = |sidecar: &Sidecar| {
                let name = sidecar.repo.rsplit('/').next().unwrap_or_default();
                name.rsplit_once('-').map_or(name, |(folder, _)| folder).to_owned()
            };
            let folders: Vec<String> = all.iter().map(folder).collect();
            let near = nearest(repo, folders.iter().map(String::as_str), 3);
            let near: Vec<&str> = all
                .iter()
                .zip(&folders)
                .filter(|(_, folder)| near.contains(&folder.as_str()))
                .map(|(sidecar, _)| sidecar.repo.as_str())
                .collect();
            let known: Vec<&str> = all.iter().take(10).map(|sidecar| sidecar.repo.as_str()).collect();
            let message =
                format!("there is no index {repo:?}; give one from `list_repos`, or a path, or call index_folder");
            Err(Error::not_indexed(message).with("nearest", near).with("indexed", known))
        }
        _ => Err(ambiguous(&format!("{repo:?} matches several indexes; give the full id"), &found)),
    }
}

fn ambiguous(message: &str, found: &[&Sidecar]) -> Error {
    let ids: Vec<&str> = found.iter().take(10).map(|sidecar| sidecar.repo.as_str()).collect();
    Error::ambiguous(message).with("candidates", ids)
}

#[cfg(test)]
mod tests;
