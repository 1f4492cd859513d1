//! Registry of indexed checkouts: a small file for each, so that listing them opens no index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use globset::GlobMatcher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

use crate::packs::map::UNFINISHED;
use crate::{Error, Store, locked};
use codelode_base::model::{PackageId, Rights};

/// Facts about an indexed checkout. Its JSON is in the folder `repos`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sidecar {
    /// The repo id.
    pub repo: String,
    /// Root when indexed: the only absolute path stored.
    pub root: PathBuf,
    /// The store's folder below `stores`.
    pub store: String,
    /// Name of the checkout in the store.
    pub snapshot: String,
    /// `owner/name` of the remote, accepted as an id too.
    #[serde(default)]
    pub origin: Option<String>,
    /// Inodes of the root's parent folders, nearest first. They tell a removed root from one that was never on this
    /// machine.
    #[serde(default)]
    pub held_in: Vec<u64>,
    /// Seconds since 1970.
    pub indexed_at: i64,
    /// Files whose content is held.
    pub file_count: u64,
    /// Their symbols.
    pub symbol_count: u64,
    /// Files by language.
    pub languages: BTreeMap<String, u64>,
    /// Checked-out commit.
    pub git_head: Option<String>,
    /// Ignore patterns from the caller, kept here to rebuild an unreadable store.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra_ignore: Vec<String>,
    /// Whether symbolic links were followed, kept for the same reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follow_symlinks: bool,
    /// Remote repository of an indexed commit; `None` for a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteFacts>,
    /// Installed package at the root; `None` for a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<PackageId>,
    /// Repositories that have a package; access to one of them gives access to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub installed_in: Vec<String>,
}

impl Sidecar {
    /// Whether it is a folder of this machine that is compared with its index before each answer.
    pub fn is_folder(&self) -> bool {
        self.remote.is_none() && self.package.is_none()
    }
}

/// Origin of a commit indexed without a checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemoteFacts {
    /// URL of the repository, without credentials.
    pub url: String,
    /// Full branch or tag name, or commit hash.
    pub reference: String,
    /// The commit's tree.
    pub tree: String,
}

/// Registry of all indexed checkouts.
#[derive(Clone, Debug)]
pub struct Registry {
    home: PathBuf,
    memory: Arc<Mutex<Memory>>,
    /// Registry of an index directory that can only be read, asked where this one has no index.
    beneath: Option<Arc<Registry>>,
    /// Rights of its reader: what these hide is not there.
    rights: Arc<Rights>,
}

/// Sidecars read since the last change of their folder.
#[derive(Debug, Default)]
struct Memory {
    changed: Option<SystemTime>,
    by_id: HashMap<String, Sidecar>,
    all: Option<Arc<Vec<Sidecar>>>,
    /// Short names that were refused, which was logged.
    refused: HashSet<String>,
}

/// Entries of a root among which a short name is looked for.
const MOST_SUBFOLDERS: usize = 10_000;
/// Folder of the packages' sidecars.
const PACKAGES: &str = "packages";
/// Precision of the time when a package was used.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Minimum interval at which a folder's modification time distinguishes changes.
const TELLS_APART: Duration = Duration::from_millis(50);

/// Maximum wait for another process that writes the same sidecar, which takes it a moment.
const PATIENCE: Duration = Duration::from_secs(10);

impl Registry {
    /// Creates the registry of an index directory.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), memory: Arc::default(), beneath: None, rights: Arc::default() }
    }

    /// The registry with the indexes of a directory that can only be read. Their sidecars name stores by whole paths.
    pub fn over(self, beneath: Option<PathBuf>) -> Self {
        Self { beneath: beneath.map(|home| Arc::new(Self::new(home))), ..self }
    }

    /// The registry as a reader with these rights sees it. This is the one place that hides repositories.
    pub fn seen_by(&self, rights: Arc<Rights>) -> Self {
        Self { rights, ..self.clone() }
    }

    /// The registry with nothing hidden, for upkeep of what all readers share.
    pub fn whole(&self) -> Self {
        self.seen_by(Arc::default())
    }

    /// Creates the index directory with access for its owner only, because it holds source code. Errors are left to
    /// the next write, which reports the cause.
    pub fn prepare(&self) {
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
        let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.home);
        let Ok(folder) = std::fs::metadata(&self.home) else { return };
        if folder.permissions().mode() & 0o077 != 0 {
            let _ = std::fs::set_permissions(&self.home, std::fs::Permissions::from_mode(0o700));
        }
        // Marks the folder as reproducible for backups and indexers (bford.info/cachedir).
        let tag = self.home.join("CACHEDIR.TAG");
        if !tag.exists() {
            let _ = std::fs::write(tag, "Signature: 8a477f597d28d172789f06886806bc55\n# The index of codelode.\n");
        }
    }

    /// Index directory.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Id of a folder: `local/<folder name>-<first 8 hex of the SHA-1 of its absolute path>`.
    pub fn local_id(root: &Path) -> String {
        let name = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
        format!("local/{name}-{}", &hex_sha1(root)[..8])
    }

    /// Key of a store for a repository, or of a snapshot for a checkout, from its path.
    pub fn key(path: &Path) -> String {
        hex_sha1(path)[..16].to_owned()
    }

    /// The store with this key.
    pub fn store(&self, key: &str) -> Store {
        Store::at(self.home.join("stores").join(key))
    }

    /// Sidecar of a repo id, when it is indexed. Reads one small file, unless cached.
    pub fn get(&self, repo: &str) -> Option<Sidecar> {
        if PackageId::parse(repo).is_some() {
            let sidecar = read(&self.path(repo)?).filter(|sidecar| sidecar.repo == repo)?;
            return Some(sidecar).filter(|sidecar| self.shows_package(sidecar));
        }
        let path = self.path(repo)?;
        let own = self.own(repo, &path);
        let found = own.or_else(|| self.beneath.as_ref()?.get(repo).map(|sidecar| self.with_its_store(sidecar)));
        found.filter(|sidecar| self.shows(sidecar))
    }

    /// Whether the reader may see a checkout, indexed or not. A short name means a folder only if it fits no other folder.
    pub fn shows(&self, checkout: &Sidecar) -> bool {
        let (id, root) = (&checkout.repo, &checkout.root);
        match checkout.remote {
            Some(_) => self.rights.sees(id),
            None => {
                self.rights.sees_folder(id, root) || self.rights.short_names(id).any(|name| self.fits_one(name, root))
            }
        }
    }

    /// Whether a short name fits one folder, and no other that is indexed, a root, or in a root.
    fn fits_one(&self, name: &GlobMatcher, root: &Path) -> bool {
        let is_other = |other: &Path| other != root && name.is_match(Self::local_id(other));
        let indexed = [Some(self), self.beneath.as_deref()].into_iter().flatten().map(Self::known);
        let is_taken = indexed.into_iter().any(|all| all.iter().any(|one| one.remote.is_none() && is_other(&one.root)))
            || self
                .rights
                .roots
                .iter()
                .flatten()
                .any(|folder| is_other(folder) || subfolders(folder).any(|it| is_other(&it)));
        let name = name.glob().glob();
        if is_taken && self.memory().refused.insert(name.to_owned()) {
            tracing::warn!("{name:?} in the rights of a caller fits several folders, and means none: write a path");
        }
        !is_taken
    }

    /// Sidecar of a repo id from this directory.
    fn own(&self, repo: &str, path: &Path) -> Option<Sidecar> {
        let mut memory = self.memory();
        if let Some(known) = memory.by_id.get(repo) {
            return Some(known.clone());
        }
        // A copied file may have the name of another sidecar.
        let sidecar = read(path).filter(|sidecar| sidecar.repo == repo)?;
        memory.by_id.insert(repo.to_owned(), sidecar.clone());
        Some(sidecar)
    }

    /// The sidecar with the path of its store, which is not in this directory.
    fn with_its_store(&self, sidecar: Sidecar) -> Sidecar {
        let stores = self.beneath.as_ref().map(|beneath| beneath.store(&sidecar.store).dir().to_owned());
        let store = stores.and_then(|path| path.into_os_string().into_string().ok());
        Sidecar { store: store.unwrap_or_default(), ..sidecar }
    }

    /// Sidecars of all indexed checkouts, by repo id.
    pub fn all(&self) -> Vec<Sidecar> {
        let mut all = self.all_own();
        if let Some(beneath) = &self.beneath {
            let own: HashSet<String> = all.iter().map(|sidecar| sidecar.repo.clone()).collect();
            let further = beneath.all().into_iter().filter(|one| !own.contains(&one.repo));
            all.extend(further.map(|sidecar| self.with_its_store(sidecar)).filter(|one| self.shows(one)));
            all.sort_by(|a, b| a.repo.cmp(&b.repo));
        }
        all
    }

    /// Sidecars of this directory.
    fn all_own(&self) -> Vec<Sidecar> {
        self.known().iter().filter(|one| self.shows(one)).cloned().collect()
    }

    /// Sidecars of this directory, whoever reads.
    fn known(&self) -> Arc<Vec<Sidecar>> {
        let mut memory = self.memory();
        memory.all.get_or_insert_with(|| Arc::new(all_in(&self.folder()))).clone()
    }

    /// Sidecars of all indexed packages, by id. They are no repositories, so [`Registry::all`] leaves them out.
    pub fn packages(&self) -> Vec<Sidecar> {
        let mut all = all_in(&self.home.join(PACKAGES));
        all.retain(|sidecar| self.shows_package(sidecar));
        all
    }

    /// Whether the reader sees a package: as a person at the machine, or because it sees a repository that has it.
    fn shows_package(&self, package: &Sidecar) -> bool {
        self.rights.roots.is_none() || package.installed_in.iter().any(|repo| self.get(repo).is_some())
    }

    /// Notes that a package is used now, once a day.
    pub fn used(&self, package: &Sidecar) {
        let unused = self.unused_for(package);
        if let Some(path) = self.path(&package.repo).filter(|_| unused.is_some_and(|time| time > DAY)) {
            // Without it the package is only removed sooner.
            let touched = std::fs::File::options().append(true).open(path);
            let _ = touched.and_then(|file| file.set_modified(SystemTime::now()));
        }
    }

    /// Time since an indexed package was used, to a day.
    pub fn unused_for(&self, package: &Sidecar) -> Option<Duration> {
        std::fs::metadata(self.path(&package.repo)?).and_then(|file| file.modified()).ok()?.elapsed().ok()
    }

    /// Cached sidecars, if still valid: every change to a sidecar replaces or removes its file.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        let changed = std::fs::metadata(self.folder()).and_then(|folder| folder.modified()).ok();
        let settled = changed.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > TELLS_APART);
        // A panic leaves the cache intact.
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if !settled || memory.changed != changed {
            *memory = Memory { changed: changed.filter(|_| settled), ..Memory::default() };
        }
        memory
    }

    /// Folder of the sidecars.
    fn folder(&self) -> PathBuf {
        self.home.join("repos")
    }

    /// Writes the sidecar of a checkout atomically.
    pub fn put(&self, sidecar: &Sidecar) -> Result<(), Error> {
        let Some(path) = self.path(&sidecar.repo) else {
            return Err(Error::Damaged { path: self.folder(), what: format!("{:?} is not a repo id", sidecar.repo) });
        };
        let dir = path.parent().unwrap_or(&self.home);
        std::fs::create_dir_all(dir).map_err(Error::io("cannot make the folder", dir))?;
        let bytes = serde_json::to_vec_pretty(sidecar).expect("facts hold nothing that JSON cannot");
        // One name for all attempts: the next one writes over the file of a killed process.
        let staged = staged(&path);
        let mut file = locked(&staged, PATIENCE)?;
        let written = file.set_len(0).and_then(|()| file.write_all(&bytes));
        written.map_err(Error::io("cannot write", &staged))?;
        std::fs::rename(&staged, &path).map_err(Error::io("cannot replace", &path))
    }

    /// Removes the sidecar of a checkout.
    pub fn remove(&self, repo: &str) -> Result<(), Error> {
        let Some(path) = self.path(repo) else { return Ok(()) };
        let _ = std::fs::remove_file(staged(&path));
        match std::fs::remove_file(&path) {
            Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(Error::io("cannot remove", &path)(err)),
            _ => Ok(()),
        }
    }

    /// Path of a sidecar; `None` for an invalid id, such as a path that leads elsewhere.
    pub fn path(&self, repo: &str) -> Option<PathBuf> {
        if PackageId::parse(repo).is_some() {
            return Some(self.home.join(PACKAGES).join(format!("{}.json", Self::key(Path::new(repo)))));
        }
        let (owner, name) = repo.split_once('/')?;
        let plain = |part: &str| {
            !part.is_empty()
                && part.len() <= 200
                && !part.starts_with('.')
                && part.chars().all(|c| c.is_alphanumeric() || "._-@".contains(c))
        };
        (plain(owner) && plain(name)).then(|| self.folder().join(format!("{owner}__{name}.json")))
    }
}

/// Reads a sidecar; `None` for another file.
fn read(path: &Path) -> Option<Sidecar> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// The sidecars in a folder, by repo id.
fn all_in(folder: &Path) -> Vec<Sidecar> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let json = entries.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let mut all: Vec<Sidecar> = json.filter_map(|path| read(&path)).collect();
    all.sort_by(|a, b| a.repo.cmp(&b.repo));
    all
}

/// The first folders in a folder.
fn subfolders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_SUBFOLDERS);
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
}

/// File that becomes a sidecar when it is complete.
fn staged(path: &Path) -> PathBuf {
    path.with_added_extension(UNFINISHED)
}

fn hex_sha1(path: &Path) -> String {
    let digest = Sha1::digest(path.as_os_str().as_encoded_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
