//! Uses of a repository's symbols in other indexed repositories. These import a package that the repository publishes,
//! and the caller may see them.
//!
//! A server over a place of indexes asks the place for repositories that import the package, and fetches only these.
//!
//! Links between repositories are not stored. They are computed on first use, and kept while both snapshots are open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Caller;
use super::indexes::{self, Repo};
use super::related;
use crate::answer::{Code, Error};
use codelode_base::model::{Ecosystem, Published};
use codelode_index::enrich;
use codelode_index::pipeline::{self, Linked, Links};
pub use codelode_index::pipeline::{Link, LinkedImport};
use codelode_store::{EdgeTable, Sidecar, Snapshot};

/// The longest search for users in one call. The answer names the repositories not reached.
const LOOKING: Duration = Duration::from_secs(20);
/// The most pairs of repositories whose links are kept.
const MOST_PAIRS: usize = 512;
/// The most packages and repositories named in an answer.
const MOST_NAMED: usize = 20;

/// Links between open snapshots.
#[derive(Default)]
pub(super) struct LinkCache(Mutex<Vec<Pair>>);

/// Two snapshots, and the second one's uses of the first.
struct Pair {
    package: Weak<Snapshot>,
    user: Weak<Snapshot>,
    links: Arc<Links>,
}

impl LinkCache {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Pair>> {
        // Every change is one step, so a panic elsewhere leaves the list intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, package: &Arc<Snapshot>, user: &Arc<Snapshot>) -> Option<Arc<Links>> {
        let is = |weak: &Weak<Snapshot>, snapshot| std::ptr::eq(weak.as_ptr(), Arc::as_ptr(snapshot));
        let pairs = self.lock();
        pairs.iter().find(|pair| is(&pair.package, package) && is(&pair.user, user)).map(|pair| pair.links.clone())
    }

    fn keep(&self, package: &Arc<Snapshot>, user: &Arc<Snapshot>, links: Arc<Links>) {
        let mut pairs = self.lock();
        pairs.retain(|pair| pair.package.strong_count() > 0 && pair.user.strong_count() > 0);
        pairs.truncate(MOST_PAIRS - 1);
        pairs.insert(0, Pair { package: Arc::downgrade(package), user: Arc::downgrade(user), links });
    }
}

/// A repository that uses a package.
pub struct User {
    /// The repository.
    pub repo: Repo,
    links: Arc<Links>,
}

impl User {
    /// Uses of symbols of the package's repository, by file and place.
    pub fn uses(&self) -> &[Link] {
        &self.links.uses
    }

    /// Imports of files of the package's repository.
    pub fn imports(&self) -> &[LinkedImport] {
        &self.links.imports
    }
}

/// The repositories that use packages published by `repo`, by id. `_meta` names the packages, and the number of
/// repositories searched.
pub fn users(caller: &Caller<'_>, repo: &Repo, edges: &EdgeTable) -> Result<Vec<User>, Error> {
    let packages = enrich::published(&super::context::Held(&repo.snapshot));
    let others = || caller.indexes.registry().all().into_iter().filter(|other| other.repo != repo.sidecar.repo);
    let all: Vec<Sidecar> = others().filter(|other| !is_gone(caller, other)).collect();
    let mut told: Vec<String> = packages.iter().map(Published::to_string).collect();
    told.truncate(MOST_NAMED);
    if packages.is_empty() {
        let why = "no manifest here declares a published package, so no other repository can import one";
        caller.note("cross_repo", json!({"packages": told, "repositories": 0, "of": all.len(), "hint": why}));
        return Ok(Vec::new());
    }
    let importers = || caller.indexes.stock()?.importers(&pipeline::modules_of(&packages));
    let search = Search { caller, repo, edges, packages: &packages, importers: importers() };
    let (of, mut looked, mut left, mut unread, began) = (all.len(), 0, Vec::new(), 0, Instant::now());
    let mut users = Vec::new();
    for other in all {
        let id = other.repo.clone();
        if began.elapsed() > LOOKING || caller.request.is_cancelled() {
            left.push(id);
            continue;
        }
        match search.user(other) {
            Ok(found) => {
                looked += 1;
                unread += found.as_ref().map_or(0, |user| user.links.left_out);
                users.extend(found.filter(|user| !user.uses().is_empty() || !user.imports().is_empty()));
            }
            Err(err) if err.code == Code::Cancelled => return Err(err),
            // An unreadable index must not hide the others.
            Err(err) => left.push(format!("{id}: {}", err.message)),
        }
    }
    let mut note = json!({"packages": told, "repositories": looked, "of": of});
    if !left.is_empty() {
        left.truncate(MOST_NAMED);
        note["not_searched"] = json!(left);
    }
    if unread > 0 {
        note["files_left_out"] = json!(unread);
    }
    caller.note("cross_repo", note);
    users.sort_by(|a, b| a.repo.sidecar.repo.cmp(&b.repo.sidecar.repo));
    Ok(users)
}

/// Whether the folder of an index was deleted, so that the index is obsolete.
fn is_gone(caller: &Caller<'_>, sidecar: &Sidecar) -> bool {
    !indexes::is_here(caller, sidecar) && pipeline::is_gone(sidecar, caller.indexes.registry(), caller.config)
}

/// A search for users of packages.
struct Search<'a> {
    caller: &'a Caller<'a>,
    repo: &'a Repo,
    edges: &'a EdgeTable,
    packages: &'a [Published],
    /// The repositories that may use the packages, if the place of indexes knows.
    importers: Option<BTreeSet<String>>,
}

impl Search<'_> {
    /// Opens another repository and links it to the packages; `None` if no file in it imports one.
    fn user(&self, other: Sidecar) -> Result<Option<User>, Error> {
        let Self { caller, repo, edges, packages, importers } = self;
        let ecosystems: BTreeSet<Ecosystem> = packages.iter().map(|package| package.ecosystem).collect();
        if !pipeline::may_import(&other.languages, &ecosystems) {
            return Ok(None);
        }
        let is_listed_only = || caller.indexes.registry().store(&other.store).stamp().is_none();
        if caller.indexes.stock().is_some() && is_listed_only() {
            match importers {
                Some(importers) if !importers.contains(&other.repo) => return Ok(None),
                Some(_) => {}
                // Without that knowledge, one question would fetch every index of the place.
                None => return Err(Error::unavailable("this server has not fetched its index yet")),
            }
        }
        let mut user = opened(caller, other)?;
        let mut links = linked(caller, repo, edges, packages, &user)?;
        // Files in the answer must match the disk.
        let snapshot = user.snapshot.clone();
        let places = links.uses.iter().map(|link| link.edge.file).chain(links.imports.iter().map(|import| import.from));
        let files: BTreeSet<u32> = places.collect();
        let files: Vec<String> =
            files.iter().filter_map(|file| Some(snapshot.file_by_number(*file)?.path().to_owned())).collect();
        indexes::ensure_fresh(caller, &mut user, files.iter().map(String::as_str))?;
        if !Arc::ptr_eq(&snapshot, &user.snapshot) {
            links = linked(caller, repo, edges, packages, &user)?;
        }
        caller.answers_from(&user.sidecar, &user.snapshot);
        Ok(Some(User { repo: user, links }))
    }
}

/// Opens another repository, compared with its folder if that is on this machine.
fn opened(caller: &Caller<'_>, other: Sidecar) -> Result<Repo, Error> {
    if indexes::is_here(caller, &other) && !caller.request.as_indexed {
        return indexes::open_sidecar(caller, other);
    }
    let snapshot = indexes::opened(caller, &other)?.snapshot();
    Ok(Repo::stored(caller, other, snapshot))
}

/// Links a repository to the packages of another.
fn linked(
    caller: &Caller<'_>,
    repo: &Repo,
    edges: &EdgeTable,
    packages: &[Published],
    user: &Repo,
) -> Result<Arc<Links>, Error> {
    let cache = &caller.indexes.linked;
    if let Some(links) = cache.get(&repo.snapshot, &user.snapshot) {
        return Ok(links);
    }
    // Node looks for a module upwards from the importing file, so the package's own folder comes first.
    let folder = |package: &Published| match package.ecosystem {
        Ecosystem::PyPi => package.folder.clone(),
        _ => String::new(),
    };
    let mut by_folder: BTreeMap<String, Vec<&Published>> = BTreeMap::new();
    for package in packages {
        by_folder.entry(folder(package)).or_default().push(package);
    }
    let mut found = Links::default();
    for (folder, packages) in by_folder {
        let importers = pipeline::importers(&user.snapshot, &packages);
        if importers.is_empty() || caller.request.is_cancelled() {
            continue;
        }
        if !pipeline::can_relate(&user.snapshot) {
            return Err(Error::unavailable("its index is being renewed"));
        }
        let own = related::edges(user)?;
        let package = Linked { snapshot: &repo.snapshot, edges, folder: &folder, packages: &packages };
        found.extend(pipeline::links(&package, &user.snapshot, own, &importers));
    }
    let links = Arc::new(found.in_order(&user.snapshot));
    if !caller.request.is_cancelled() {
        cache.keep(&repo.snapshot, &user.snapshot, links.clone());
    }
    Ok(links)
}
