//! Installed packages: which ones the imports of a project name, and where their sources are on this machine.
//!
//! Manifests and folders are read; nothing of a package, and no tool of its language, is run. [`Finder::find`] gives the
//! packages that an imported name may mean, and [`Sources`] lists and reads their files. Each package has an identity
//! ([`PackageId`]), so that all projects that have the same files share one index of it.

mod archive;
mod cargo;
mod go;
mod gradle;
mod maven;
mod npm;
mod python;
mod sources;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

pub use sources::Sources;

use codelode_base::config::Toolchains;
use codelode_base::model::{Ecosystem, PackageId};

/// The largest manifest that is read.
const LARGEST_MANIFEST: u64 = 16 << 20;

/// An installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its identity.
    pub id: PackageId,
    /// Where the package manager keeps it: a folder, or an archive.
    pub place: PathBuf,
    /// Its files. Those of an archive are there once it is unpacked.
    pub sources: Sources,
}

impl Installed {
    /// A package whose files are `parts` of a folder; `None` if there is no such folder, or the identity is invalid.
    fn new(ecosystem: Ecosystem, name: &str, version: &str, folder: &Path, parts: Vec<String>) -> Option<Self> {
        let id = PackageId::new(ecosystem, name, version)?;
        // Manifests and lock files of a project decide on a part of the path.
        if folder.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let root = folder.canonicalize().ok().filter(|root| root.is_dir())?;
        Some(Self { id, place: root.clone(), sources: Sources { root, parts } })
    }

    /// The package with the hash of its files in its id. An archive has a folder for each content.
    pub fn of_content(self, hash: &str) -> Self {
        let is_archive = self.is_archive();
        let Self { id, place, mut sources } = self;
        let id = id.of_content(hash);
        if is_archive {
            sources.root.set_file_name(unpacked(&id));
        }
        Self { id, place, sources }
    }

    /// Whether its files lie in an archive.
    pub fn is_archive(&self) -> bool {
        self.place != self.sources.root
    }

    /// Unpacks an archive, unless that was done.
    pub fn unpack(&self) -> io::Result<()> {
        let folder = &self.sources.root;
        if !self.is_archive() || folder.is_dir() {
            return Ok(());
        }
        let Some(archive) = archive::Archive::open(&self.place) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a readable archive"));
        };
        let above = folder.parent().unwrap_or(folder);
        fs::create_dir_all(above)?;
        let unfinished = tempfile::tempdir_in(above)?;
        archive.unpack(unfinished.path())?;
        match fs::rename(unfinished.keep(), folder) {
            // Another process was faster.
            Err(_) if folder.is_dir() => Ok(()),
            other => other,
        }
    }
}

/// The place of a file that imports a name.
#[derive(Clone, Debug)]
pub struct Importer {
    /// Root of the project.
    pub root: PathBuf,
    /// Folder of the file; for a file of a package, that of the project's file that led there.
    pub folder: PathBuf,
    /// The package that the file belongs to.
    pub package: Option<Member>,
}

/// A file of a package.
#[derive(Clone, Debug)]
pub struct Member {
    /// The package.
    pub id: PackageId,
    /// Where the package manager keeps it.
    pub place: PathBuf,
    /// Folder of the file.
    pub folder: PathBuf,
}

/// Finds installed packages. Lists of large folders are kept until the folder changes.
pub struct Finder {
    toolchains: Toolchains,
    /// Where archives are unpacked.
    unpacked: PathBuf,
    sites: Mutex<HashMap<PathBuf, (SystemTime, Arc<python::Site>)>>,
    /// Crates of lock files.
    locks: Mutex<HashMap<PathBuf, (SystemTime, Arc<cargo::Lock>)>>,
    /// Folders in archives.
    folders: Mutex<HashMap<PathBuf, Arc<HashSet<String>>>>,
}

impl Finder {
    /// A finder for these places, which unpacks archives into a folder of its own.
    pub fn new(toolchains: Toolchains, unpacked: PathBuf) -> Self {
        Self { toolchains, unpacked, sites: Mutex::default(), locks: Mutex::default(), folders: Mutex::default() }
    }

    /// Removes what was unpacked of a package.
    pub fn forget(&self, id: &PackageId) {
        // The rest is removed the next time.
        let _ = fs::remove_dir_all(self.unpacked.join(unpacked(id)));
    }

    /// The packages that a name may mean where a file imports it.
    pub fn find(&self, ecosystem: Ecosystem, importer: &Importer, name: &str) -> Vec<Installed> {
        // A name of the project's choice is no path.
        if name.is_empty() || name.starts_with(['/', '.']) || name.contains(['\0', '\\']) || name.contains("..") {
            return Vec::new();
        }
        let around = || importer.folder.ancestors().take_while(|folder| folder.starts_with(&importer.root));
        let of = importer.package.as_ref();
        let mut found = match (ecosystem, of) {
            (Ecosystem::PyPi, None) => python::find(self, around(), name),
            (Ecosystem::PyPi, Some(package)) => python::find_beside(self, &package.folder, name),
            (Ecosystem::Npm, _) => npm::find(of.map_or(&importer.folder, |package| &package.folder), name),
            (Ecosystem::Cargo, _) => cargo::find(self, around(), of.map(|package| &package.id), name),
            (Ecosystem::Golang, _) => go::find(&self.toolchains, around(), name),
            (Ecosystem::Maven, _) => maven::find(self, around(), of, name),
        };
        found.retain(|found| of.is_none_or(|package| !package.id.is_version_of(&found.id)));
        found
    }

    /// The packages in a folder of Python's.
    fn site(&self, folder: &Path) -> Option<Arc<python::Site>> {
        let changed = fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()?;
        // Entries are replaced whole, so a panic elsewhere leaves them intact.
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, site)) = sites.get(folder).filter(|(known, _)| *known == changed) {
            return Some(site.clone());
        }
        let site = Arc::new(python::Site::read(folder));
        sites.insert(folder.to_owned(), (changed, site.clone()));
        Some(site)
    }
}

impl Finder {
    /// The crates of a lock file, if there is one.
    fn lock(&self, path: &Path) -> Option<Arc<cargo::Lock>> {
        let changed = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, lock)) = locks.get(path).filter(|(known, _)| *known == changed) {
            return Some(lock.clone());
        }
        let lock = Arc::new(cargo::Lock::read(&manifest(path)?));
        locks.insert(path.to_owned(), (changed, lock.clone()));
        Some(lock)
    }

    /// Folders in an archive. It has its version in its name, so it is read once.
    fn folders_of(&self, archive: &Path) -> Option<Arc<HashSet<String>>> {
        let mut all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(archive) {
            return Some(known.clone());
        }
        let folders = Arc::new(maven::folders(archive)?);
        all.insert(archive.to_owned(), folders.clone());
        Some(folders)
    }
}

/// Name of the folder into which a package is unpacked.
fn unpacked(id: &PackageId) -> String {
    format!("{}-{}-{}", id.name.replace([':', '/'], "-"), id.version, id.content)
}

/// The numbers of a version, to compare it.
fn numbers(version: &str) -> Vec<u64> {
    version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect()
}

/// Text of a manifest; `None` for one that is missing, too large or no text.
fn manifest(path: &Path) -> Option<String> {
    let file = fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(LARGEST_MANIFEST).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Names of the entries of a folder, sorted.
fn entries(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = listed.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}
