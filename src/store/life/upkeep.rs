//! What is in an index directory and should not be: leftovers of crashes, stores that nobody knows, sidecars that cannot be read.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::manifest::Manifest;
use crate::store::{Error, Registry, Sidecar, Store, lock};

/// Whether a store is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nobody writes it.
    Free,
    /// Somebody does: the process, where the system says which.
    By(Option<u32>),
}

impl Store {
    /// The store's folder name, which sidecars know it by.
    pub fn key(&self) -> String {
        self.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether somebody is writing. The system frees a lock when its holder dies, so whoever holds it lives.
    pub fn held(&self) -> Held {
        let Ok(file) = File::open(self.dir.join("lock")) else { return Held::Free };
        match file.try_lock_shared() {
            Err(std::fs::TryLockError::WouldBlock) => Held::By(holder(&file)),
            _ => Held::Free,
        }
    }

    /// Bytes of all its files.
    pub fn bytes(&self) -> u64 {
        files(&self.dir).iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum()
    }

    /// The files that have no use: remains of a killed writer, or of one that is at work.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>, Error> {
        let manifest = match self.manifest() {
            Err(Error::Missing(_)) => Manifest::empty(),
            other => other?,
        };
        Ok(leftovers(&self.dir, &manifest))
    }

    /// Removes what [`Store::leftovers`] finds when nobody writes, and says how many files that were.
    pub fn sweep(&self, wait: Duration) -> Result<usize, Error> {
        let _lock = lock(&self.dir, wait)?;
        let leftovers = self.leftovers()?;
        for path in &leftovers {
            std::fs::remove_file(path).map_err(Error::io("cannot remove", path))?;
        }
        Ok(leftovers.len())
    }

    /// Removes all of it. Waits for a writer; readers keep what they hold.
    pub fn remove(&self, wait: Duration) -> Result<(), Error> {
        if !self.dir.exists() {
            return Ok(());
        }
        self.remove_held(lock(&self.dir, wait)?)
    }

    /// The same by whoever holds the lock.
    pub(in crate::store) fn remove_held(&self, _lock: File) -> Result<(), Error> {
        // All of it goes at once, the lock included: whoever waits for that begins a new store and not in the midst of this.
        let gone = self.dir.with_extension("gone");
        let _ = std::fs::remove_dir_all(&gone);
        std::fs::rename(&self.dir, &gone).map_err(Error::io("cannot remove", &self.dir))?;
        std::fs::remove_dir_all(&gone).map_err(Error::io("cannot remove", &gone))
    }
}

impl Registry {
    /// Every store there is, and what is left of removed ones.
    pub fn stores(&self) -> (Vec<Store>, Vec<PathBuf>) {
        let entries = std::fs::read_dir(self.home().join("stores")).into_iter().flatten().flatten();
        let (mut stores, mut gone) = (Vec::new(), Vec::new());
        for path in entries.map(|entry| entry.path()) {
            match path.extension().is_some_and(|ending| ending == "gone") {
                true => gone.push(path),
                false => stores.push(Store::at(path)),
            }
        }
        stores.sort_by(|a, b| a.dir().cmp(b.dir()));
        (stores, gone)
    }

    /// The sidecars that cannot be read, or speak of another repository than they are named after.
    pub fn unreadable(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.home().join("repos")).into_iter().flatten().flatten();
        let is_bad = |path: &PathBuf| {
            let sidecar = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Sidecar>(&bytes).ok());
            let is_its = |sidecar: Sidecar| self.path(&sidecar.repo).as_deref() == Some(path);
            !sidecar.is_some_and(is_its)
        };
        let mut bad: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_bad).collect();
        bad.sort();
        bad
    }
}

/// The files of a store that may not stay beside its manifest.
pub(in crate::store) fn leftovers(dir: &Path, manifest: &Manifest) -> Vec<PathBuf> {
    let named = manifest.named(dir);
    files(dir).into_iter().filter(|path| !named.contains(path)).collect()
}

/// Every file below a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => found.push(entry.path()),
            }
        }
    }
    found.sort();
    found
}

/// The process that holds the lock of a file, as far as the system tells.
fn holder(file: &File) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino().to_string();
    let locks: io::Result<String> = std::fs::read_to_string("/proc/locks");
    let locks = locks.ok()?;
    // `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = fields.get(1) == Some(&"FLOCK") && fields.get(5)?.rsplit(':').next() == Some(&inode);
        if is_it { fields.get(4)?.parse().ok() } else { None }
    })
}
