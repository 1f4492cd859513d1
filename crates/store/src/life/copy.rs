//! Copies of one snapshot for other machines: into a store of its own, and from there into another index directory.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{CWD, RenameFlags};
use tempfile::TempDir;

use super::manifest::Manifest;
use super::upkeep::files;
use super::writer::Writer;
use crate::tables::{DERIVED, summaries, texts, vectors};
use crate::{Entry, Error, Registry, Snapshot, SnapshotFacts, Store, lock};

/// Name of the snapshot in a copy: on another machine the folder has another one.
const NAME: &str = "copy";
/// Folder of copies below the index directory.
const FOLDER: &str = "copies";
/// Age of a copy that its process has left behind.
const LEFT: Duration = Duration::from_secs(24 * 60 * 60);

/// A store with one snapshot, which is removed when this is dropped.
pub struct StoreCopy {
    dir: TempDir,
    snapshot: Snapshot,
}

/// A file of a copy.
#[derive(Clone, Debug)]
pub struct CopiedFile {
    /// Relative to the store, with `/` between the parts.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Bytes that belong to the copy; vectors and summaries may grow.
    pub bytes: u64,
}

impl StoreCopy {
    /// The snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// All its files, by name.
    pub fn files(&self) -> Result<Vec<CopiedFile>, Error> {
        let dir = self.dir.path();
        let paths = files(dir).into_iter().filter(|path| !path.ends_with("lock"));
        let file = |path: PathBuf| {
            let bytes = path.metadata().map_err(Error::io("cannot read", &path))?.len();
            let name = path.strip_prefix(dir).unwrap_or(&path).to_string_lossy().into_owned();
            Ok(CopiedFile { name, path, bytes })
        };
        paths.map(file).collect()
    }
}

impl Store {
    /// Copies a snapshot into a store of its own. It holds nothing else: no content of other checkouts and of earlier
    /// states, and no path or time of this machine. Unchanged files are linked, so this takes little.
    pub fn copy(&self, name: &str, registry: &Registry) -> Result<StoreCopy, Error> {
        let mut last = None;
        // A writer may sweep files between reading the manifest and linking them: then there is a newer manifest.
        for _ in 0..8 {
            match self.copy_once(name, registry) {
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => last = Some(source),
                other => return other,
            }
        }
        Err(Error::Damaged { path: self.dir.clone(), what: last.map_or_else(String::new, |err| err.to_string()) })
    }

    fn copy_once(&self, name: &str, registry: &Registry) -> Result<StoreCopy, Error> {
        let mut manifest = self.manifest()?;
        let facts = manifest.snapshots.get(name).ok_or(Error::NoSnapshot)?.clone();
        manifest.snapshots = BTreeMap::from([(NAME.to_owned(), facts.clone())]);
        let place = place(registry)?;
        let dir = place.path();
        let segments = dir.join("index");
        std::fs::create_dir(&segments).map_err(Error::io("cannot make the folder", &segments))?;
        for path in manifest.committed(&self.dir) {
            link(&path, &self.dir, dir)?;
        }
        for path in derived(&self.dir, &facts).into_iter().filter(|path| path.exists()) {
            link(&path, &self.dir, dir)?;
        }
        let (staged, file) = manifest.stage(dir)?;
        file.sync_all().map_err(Error::io("cannot sync", &staged))?;
        Manifest::publish(dir)?;
        let writer = Writer::over(dir, lock(dir, Duration::ZERO)?)?;
        let Some(base) = writer.base(NAME)? else { return Err(Error::NoSnapshot) };
        // Times are of this machine, and so are the folders that the choice of files depended on.
        let timeless = |entry: Entry| {
            let Entry { mut file, state } = entry;
            (file.mtime_ns, file.ctime_ns) = (0, 0);
            Entry { file, state }
        };
        let entries: Vec<Entry> = base.table().iter().map(|row| timeless(row.to_entry())).collect();
        // The store's counts start from nothing.
        let counted = SnapshotFacts { files: 0, symbols: 0, lines: 0, bytes: 0, languages: BTreeMap::new(), ..facts };
        let given = SnapshotFacts { root_inode: None, ..counted };
        writer.alone()?.commit(NAME, &entries, &[], given)?;
        let snapshot = Store::at(dir).snapshot(NAME)?;
        Ok(StoreCopy { dir: place, snapshot })
    }
}

/// Tables of a snapshot that it can do without.
fn derived(dir: &Path, facts: &SnapshotFacts) -> Vec<PathBuf> {
    let mut all = DERIVED.map(|path| path(dir, facts.number)).to_vec();
    all.extend([texts::path(dir), summaries::path(dir)]);
    all.extend(vectors::all(dir));
    all
}

/// A new folder for a copy, on the disk of the stores. Folders that killed processes have left are removed.
fn place(registry: &Registry) -> Result<TempDir, Error> {
    registry.prepare();
    let folder = registry.home().join(FOLDER);
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(Error::io("cannot make the folder", &folder))?;
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let since = entry.metadata().and_then(|meta| meta.modified()).ok();
        let age = since.and_then(|since| SystemTime::now().duration_since(since).ok());
        if age.is_some_and(|age| age > LEFT) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let private = std::fs::Permissions::from_mode(0o700);
    let made = tempfile::Builder::new().permissions(private).tempdir_in(&folder);
    made.map_err(Error::io("cannot make a folder in", &folder))
}

/// Links a file into another folder, under the same name.
fn link(path: &Path, from: &Path, to: &Path) -> Result<(), Error> {
    let target = to.join(path.strip_prefix(from).unwrap_or(path));
    match std::fs::hard_link(path, &target) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Err(Error::io("cannot link", path)(err)),
        // Some file systems have no links.
        Err(_) => std::fs::copy(path, &target).map(drop).map_err(Error::io("cannot copy", path)),
        Ok(()) => Ok(()),
    }
}

/// A store that comes from elsewhere. Until it is accepted nobody sees it; dropped, it is gone.
pub struct IncomingStore {
    dir: TempDir,
    home: Registry,
}

impl Registry {
    /// Begins a store that comes from elsewhere.
    pub fn incoming(&self) -> Result<IncomingStore, Error> {
        let dir = place(self)?;
        let segments = dir.path().join("index");
        let made = std::fs::DirBuilder::new().mode(0o700).create(&segments);
        made.map_err(Error::io("cannot make the folder", &segments))?;
        Ok(IncomingStore { dir, home: self.clone() })
    }
}

/// Whether a store may have a file of this name: letters and digits, in the store's folder or in `index`.
pub fn is_file_name(name: &str) -> bool {
    let own = name.strip_prefix("index/").unwrap_or(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let is_reserved = ["lock", "manifest.json.new", "index"].contains(&name);
    !own.is_empty() && own.len() <= 100 && !own.starts_with('.') && own.chars().all(is_plain) && !is_reserved
}

impl IncomingStore {
    /// Creates one of its files, readable by its owner only. A name that no store has is an error.
    pub fn create(&self, name: &str) -> Result<File, Error> {
        let path = self.dir.path().join(name);
        if !is_file_name(name) {
            return Err(Error::Damaged {
                path: self.dir.path().to_owned(),
                what: format!("{name:?} is not a file of it"),
            });
        }
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        made.map_err(Error::io("cannot write", &path))
    }

    /// Verifies all of it, and puts it in the place of a store, its checkout under this name. A store that is there is
    /// replaced only if it is unusable, or if it holds no other checkout and `anew` is set; otherwise this returns
    /// `false`.
    pub fn accept(self, store: &Store, name: &str, anew: bool, wait: Duration) -> Result<bool, Error> {
        let dir = self.dir.path();
        let mut manifest = Manifest::read(dir)?;
        let strange = |what: &str| Error::Damaged { path: dir.to_owned(), what: what.to_owned() };
        let Some(facts) = manifest.snapshots.remove(NAME).filter(|_| manifest.snapshots.is_empty()) else {
            return Err(strange("it is not a copy of one snapshot"));
        };
        manifest.snapshots.insert(name.to_owned(), facts);
        let (here, committed): (HashSet<PathBuf>, _) = (files(dir).into_iter().collect(), manifest.committed(dir));
        if !committed.is_subset(&here) {
            return Err(strange("files are missing"));
        }
        if !here.is_subset(&manifest.named(dir)) {
            return Err(strange("there are files that it does not name"));
        }
        let (staged, file) = manifest.stage(dir)?;
        let permissions = std::fs::Permissions::from_mode(0o600);
        file.set_permissions(permissions).map_err(Error::io("cannot change", &staged))?;
        file.sync_all().map_err(Error::io("cannot sync", &staged))?;
        Manifest::publish(dir)?;
        Snapshot::open(dir, manifest, name)?.verify()?;
        for path in &committed {
            File::open(path).and_then(|file| file.sync_all()).map_err(Error::io("cannot sync", path))?;
        }

        let _held = lock(store.dir(), wait)?;
        let is_free = match store.manifest() {
            Err(Error::Missing(_)) => true,
            Err(err) => err.is_of_no_use(),
            Ok(now) => anew && now.snapshots.keys().all(|other| other == name),
        };
        if !is_free {
            return Ok(false);
        }
        // The lock is of the folder that goes: whoever waits for it begins again with the new one.
        let own = lock(dir, Duration::ZERO)?;
        exchange(dir, store.dir())?;
        drop(own);
        // The old store lies in the temporary folder now, and goes with it.
        drop(self.home);
        Ok(true)
    }
}

/// Puts a folder in the place of another at once, and the other in its place.
fn exchange(one: &Path, other: &Path) -> Result<(), Error> {
    let failed = |err| Error::io("cannot replace", other)(err);
    match rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            let aside = one.with_extension("gone");
            let swapped = std::fs::rename(other, &aside).and_then(|()| std::fs::rename(one, other));
            swapped.and_then(|()| std::fs::rename(&aside, one)).map_err(failed)
        }
        Err(err) => Err(failed(err.into())),
    }
}
