//! Installed packages of a project. Its imports lead to them. Each is indexed on demand, once for all projects,
//! separately from the project.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::Caller;
use super::errors::pipeline_error;
use super::indexes::{self, Repo, opened};
use super::locate::project_root;
use super::related;
use crate::answer::{Code, Error};
use codelode_base::config::Config;
use codelode_base::model::Ecosystem;
use codelode_index::pipeline::{self, ExternalFile, ExternalMeaning, RunControl};
use codelode_query::{self as query, LazyFacts};
use codelode_source::installed::{Finder, Importer, Installed, Member};
use codelode_store::{FileView, Registry, Sidecar, SymbolId};

/// The longest time for indexing packages in one call. The answer names the others.
const INDEXING: Duration = Duration::from_secs(20);
/// The longest time for finding installed packages in one call. Each name requires reading manifests.
const FINDING: Duration = Duration::from_secs(3);
/// Maximum wait for another process that indexes the same package.
const PATIENCE: Duration = Duration::from_secs(20);
/// The most packages named in an answer.
const MOST_NAMED: usize = 20;
/// The folder of unpacked archives, below the index directory.
const UNPACKED: &str = "sources";
/// The time after which an unused package is removed.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The packages known to a process.
pub(super) struct Packages {
    finder: Finder,
    /// Content hashes of packages, by place and id.
    contents: Mutex<HashMap<(PathBuf, String), String>>,
    /// Roots of packages that were compared with their files, by package id.
    checked: Mutex<HashMap<String, Vec<PathBuf>>>,
    /// For each package, the project file that last led to it, and the package's place. The project's lock file decides
    /// the versions of the package's own dependencies.
    led: Mutex<HashMap<String, (Importer, PathBuf)>>,
    /// Held while a package is indexed, so that concurrent calls index it once.
    indexing: Mutex<()>,
}

impl Packages {
    pub fn new(config: &Config) -> Self {
        let finder = Finder::new(config.toolchains.clone(), config.home.join(UNPACKED));
        let (contents, checked, led) = Default::default();
        Self { finder, contents, checked, led, indexing: Mutex::default() }
    }

    fn contents(&self) -> MutexGuard<'_, HashMap<(PathBuf, String), String>> {
        // Every change is one step, so a panic elsewhere leaves the table intact.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checked(&self) -> MutexGuard<'_, HashMap<String, Vec<PathBuf>>> {
        // See `contents`.
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn led(&self) -> MutexGuard<'_, HashMap<String, (Importer, PathBuf)>> {
        // See `contents`.
        self.led.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_checked(&self, installed: &Installed) -> bool {
        self.checked().get(&installed.id.to_string()).is_some_and(|roots| roots.contains(&installed.sources.root))
    }
}

/// The packages that a name in an import may mean, as far as the caller may see them. Their content hashes are computed
/// once per process.
fn visible(caller: &Caller<'_>, ecosystem: Ecosystem, importer: &Importer, name: &str) -> Vec<Installed> {
    let packages = &caller.indexes.packages;
    let is_visible = |found: &Installed| caller.rights.roots.is_none() || lies_in(&importer.root, &found.place);
    let found = packages.finder.find(ecosystem, importer, name).into_iter().filter(is_visible);
    let identified = |found: Installed| {
        let key = (found.place.clone(), found.id.to_string());
        let known = packages.contents().get(&key).cloned();
        if let Some(hash) = known {
            return Some(found.of_content(&hash));
        }
        let found = pipeline::identified(found, caller.config).ok()?;
        packages.contents().insert(key, found.id.content.clone());
        Some(found)
    };
    found.filter_map(identified).collect()
}

/// Whether a package lies in a project's folder, and not in a nested repository.
fn lies_in(project: &Path, place: &Path) -> bool {
    let is_nested = |inner: &Path| inner != project && inner.starts_with(project);
    place.starts_with(project) && !place.parent().and_then(project_root).is_some_and(is_nested)
}

/// Opens the packages that a repository imports, most imported first. `_meta` names missing packages, and packages that
/// take too long to index now.
pub fn of_project(caller: &Caller<'_>, repo: Option<&str>) -> Result<Vec<Repo>, Error> {
    let project = indexes::open(caller, repo)?;
    let Some(root) = &project.root else {
        let message =
            format!("{} is not a folder on this machine, so it has no installed packages", project.sidecar.repo);
        return Err(Error::not_found(message));
    };
    let (mut installed, mut missing): (Vec<Installed>, Vec<String>) = (Vec::new(), Vec::new());
    let began = Instant::now();
    let mut pending = Vec::new();
    for needed in query::needed_packages(&project.snapshot, related::edges(&project)?) {
        if began.elapsed() > FINDING || caller.request.is_cancelled() {
            pending.push(needed.name);
            continue;
        }
        let importer = Importer { root: root.clone(), folder: root.join(&needed.folder), package: None };
        let found = visible(caller, needed.ecosystem, &importer, &needed.name);
        if found.is_empty() {
            missing.push(needed.name);
        }
        for package in found {
            if installed.iter().all(|known| known.id != package.id) {
                installed.push(package);
            }
        }
    }
    missing.truncate(MOST_NAMED);
    if installed.is_empty() {
        let message = match missing.is_empty() {
            true => format!("{} imports no packages", project.sidecar.repo),
            false => "no imported package is installed where this server may read".to_owned(),
        };
        return Err(Error::not_found(message).with("not_installed", missing));
    }
    if !missing.is_empty() {
        caller.note("not_installed", missing);
    }
    let began = Instant::now();
    let mut opened = Vec::new();
    for package in &installed {
        let id = package.id.to_string();
        if began.elapsed() > INDEXING && caller.indexes.registry().get(&id).is_none() {
            pending.push(id);
            continue;
        }
        match open(caller, package, root, true) {
            Ok(repo) => opened.push(repo),
            Err(err) if err.code == Code::Cancelled => return Err(err),
            Err(err) => pending.push(format!("{id}: {}", err.message)),
        }
    }
    if !pending.is_empty() {
        pending.truncate(MOST_NAMED);
        caller.note("packages_pending", pending);
    }
    Ok(opened)
}

/// Opens a package of a project, and indexes it now if needed and allowed. Its files are compared with the index once
/// per process. With `may_wait`, waits while another call indexes a package; otherwise fails.
fn open(caller: &Caller<'_>, installed: &Installed, project: &Path, may_wait: bool) -> Result<Repo, Error> {
    let registry = caller.indexes.registry();
    let packages = &caller.indexes.packages;
    let id = installed.id.to_string();
    let known = registry.get(&id);
    if !caller.rights.index && known.is_none() {
        return Err(Error::access_denied(format!("you may not index {id} here; ask its operator")));
    }
    let project_id = Registry::local_id(&caller.config.path_map.to_stored(project));
    let holder = lies_in(project, &installed.place).then_some(project_id.as_str());
    let is_noted = |known: &Sidecar| holder.is_none_or(|holder| known.installed_in.iter().any(|repo| repo == holder));
    if !(packages.is_checked(installed) && known.is_some_and(|known| is_noted(&known))) && caller.rights.index {
        let busy = || Error::unavailable(format!("{id} waits for another package; ask again"));
        let _one_at_a_time = match packages.indexing.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) if !may_wait => return Err(busy()),
            Err(TryLockError::WouldBlock) => packages.indexing.lock().unwrap_or_else(PoisonError::into_inner),
        };
        let sidecar = pipeline::sidecar_of_package(installed, caller.config);
        installed
            .unpack()
            .map_err(|err| Error::unavailable(format!("{} cannot be unpacked: {err}", installed.place.display())))?;
        let tell = caller.request.progress();
        let tell = |at: u64, of: Option<u64>, what: &str| tell(at, of, &format!("{what} {id}"));
        let watcher = RunControl { progress: &tell, cancelled: &caller.request.cancelled, patience: PATIENCE };
        let report = pipeline::index_package(installed, holder, caller.config, &watcher);
        let report = report.map_err(|err| pipeline_error(err, &sidecar))?;
        if !report.added.is_empty() || !report.changed.is_empty() || !report.removed.is_empty() {
            caller.indexes.close(&id);
        }
        let mut checked = packages.checked();
        let roots = checked.entry(id.clone()).or_default();
        if !roots.contains(&installed.sources.root) {
            roots.push(installed.sources.root.clone());
        }
    }
    let snapshot = registry.get(&id).and_then(|sidecar| Some((opened(caller, &sidecar).ok()?.snapshot(), sidecar)));
    let Some((snapshot, sidecar)) = snapshot else {
        // The next call makes the index again.
        packages.checked().remove(&id);
        return Err(Error::unavailable(format!("the index of {id} cannot be read; ask again")));
    };
    registry.used(&sidecar);
    caller.answers_from(&sidecar, &snapshot);
    Ok(Repo::stored(caller, sidecar, snapshot))
}

/// Removes the indexes of packages that were not used for a month.
pub(super) fn forget_unused(caller: &Caller<'_>) {
    let registry = caller.indexes.registry();
    for package in registry.packages() {
        if registry.unused_for(&package).is_some_and(|time| time > UNUSED) {
            caller.indexes.close(&package.repo);
            match pipeline::forget(registry, &package, Duration::ZERO) {
                Ok(()) => package.package.iter().for_each(|id| caller.indexes.packages.finder.forget(id)),
                // An index that is being written is in use.
                Err(err) => tracing::info!(%err, "the index of {} is not dropped yet", package.repo),
            }
        }
    }
}

/// A name in a project file that may come from installed packages.
#[derive(Clone, Debug)]
pub struct ExternalName {
    ecosystem: Ecosystem,
    packages: Vec<String>,
    importer: Importer,
    guest: ExternalFile,
    content: Vec<u8>,
    byte: u32,
}

/// The name at a byte of a file, if it may come from a package. The file belongs to a project, or to a package that a
/// project led to.
pub fn outside(
    caller: &Caller<'_>,
    repo: &Repo,
    file: FileView<'_>,
    facts: &LazyFacts<'_>,
    byte: u32,
) -> Option<ExternalName> {
    let (ecosystem, packages) = query::packages_at(file, facts, byte)?;
    let path = repo.root.as_ref()?.join(file.path());
    let name = path.file_name()?.to_str()?.to_owned();
    let guest = ExternalFile { name, language: file.language_number()?, facts: file.facts().to_vec() };
    let folder = path.parent()?.to_owned();
    let importer = match &repo.sidecar.package {
        None => Importer { root: repo.root.clone()?, folder, package: None },
        Some(id) => {
            let (led, place) = caller.indexes.packages.led().get(&id.to_string()).cloned()?;
            Importer { package: Some(Member { id: id.clone(), place, folder }), ..led }
        }
    };
    Some(ExternalName { ecosystem, packages, importer, guest, content: file.content().to_vec(), byte })
}

/// A package, and the meaning of a name in it.
pub struct PackageMeaning {
    /// The package. Its root is the folder of its files.
    pub repo: Repo,
    /// The symbols that the name means.
    pub symbols: Vec<SymbolId>,
    /// The files that the name means, as a module.
    pub files: Vec<u32>,
}

/// The packages in which a name has a meaning. A package that cannot be opened now is skipped, so an editor waits for
/// at most one package to be indexed.
pub fn meanings(caller: &Caller<'_>, name: &ExternalName) -> Result<Vec<PackageMeaning>, Error> {
    let mut found = Vec::new();
    for package in &name.packages {
        for package in visible(caller, name.ecosystem, &name.importer, package) {
            let opened = match open(caller, &package, &name.importer.root, false) {
                Err(err) if err.code == Code::Unavailable => continue,
                opened => opened?,
            };
            let led = (name.importer.clone(), package.place.clone());
            caller.indexes.packages.led().insert(package.id.to_string(), led);
            let repo = Repo { root: Some(package.sources.root.clone()), ..opened };
            let edges = related::edges(&repo)?;
            let ExternalMeaning { symbols, imports } =
                pipeline::meant_in(&repo.snapshot, edges, &name.guest, name.byte);
            let files = match symbols.is_empty() {
                true => query::modules_at(
                    &repo.snapshot,
                    &imports,
                    &name.content,
                    &LazyFacts::new(&name.guest.facts),
                    name.byte,
                ),
                false => Vec::new(),
            };
            let files: Vec<u32> = files.iter().map(FileView::number).collect();
            if !symbols.is_empty() || !files.is_empty() {
                found.push(PackageMeaning { repo, symbols, files });
            }
        }
    }
    Ok(found)
}

/// The open package that contains a file, and the file's path in it.
pub fn holding(caller: &Caller<'_>, path: &Path) -> Option<(Repo, String)> {
    let packages = &caller.indexes.packages;
    let known: Vec<(String, PathBuf)> =
        packages.checked().iter().flat_map(|(id, roots)| roots.iter().map(|root| (id.clone(), root.clone()))).collect();
    let is_visible = |root: &Path| caller.rights.roots.is_none() || caller.reach(root).is_ok();
    known.into_iter().filter(|(_, root)| is_visible(root)).find_map(|(id, root)| {
        let inside = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
        let sidecar = caller.indexes.registry().get(&id)?;
        let snapshot = opened(caller, &sidecar).ok()?.snapshot();
        snapshot.file(&inside)?;
        Some((Repo { root: Some(root), ..Repo::stored(caller, sidecar, snapshot) }, inside))
    })
}
