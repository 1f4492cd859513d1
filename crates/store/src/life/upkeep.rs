//! Cleanup of an index directory: leftovers of crashes, stores without a checkout, unreadable sidecars.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::manifest::Manifest;
use crate::packs::map::UNFINISHED;
use crate::{Error, Registry, Sidecar, Store, lock};

/// Whether a store is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterState {
    /// No writer.
    Free,
    /// A writer is active, with its process id if known.
    By(Option<u32>),
}

impl Store {
    /// Folder name of the store, used as key in sidecars.
    pub fn key(&self) -> String {
        self.dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether a writer is active. The system releases a lock when its holder dies, so the holder is alive.
    pub fn held(&self) -> WriterState {
        let Ok(file) = File::open(self.dir.join("lock")) else { return WriterState::Free };
        match file.try_lock_shared() {
            Err(std::fs::TryLockError::WouldBlock) => WriterState::By(holder(&file)),
            _ => WriterState::Free,
        }
    }

    /// Total size of its files in bytes.
    pub fn bytes(&self) -> u64 {
        files(&self.dir).iter().filter_map(|path| path.metadata().ok()).map(|meta| meta.len()).sum()
    }

    /// Files without use: leftovers of a killed writer, or files of an active one.
    pub fn leftovers(&self) -> Result<Vec<PathBuf>, Error> {
        let manifest = match self.manifest() {
            Err(Error::Missing(_)) => Manifest::empty(),
            other => other?,
        };
        Ok(leftovers(&self.dir, &manifest))
    }

    /// Removes the files that [`Store::leftovers`] finds without a writer, and returns their number.
    pub fn sweep(&self, wait: Duration) -> Result<usize, Error> {
        let _lock = lock(&self.dir, wait)?;
        let leftovers = self.leftovers()?;
        for path in &leftovers {
            std::fs::remove_file(path).map_err(Error::io("cannot remove", path))?;
        }
        Ok(leftovers.len())
    }

    /// Removes the leftovers of killed writers, unless a writer is active. Readers hold their mappings.
    pub fn tidy(&self) {
        if self.leftovers().is_ok_and(|leftovers| !leftovers.is_empty()) {
            // Failures are left to the next run.
            let _ = self.sweep(Duration::ZERO);
        }
    }

    /// Removes the store. Waits for a writer; readers keep their mappings.
    pub fn remove(&self, wait: Duration) -> Result<(), Error> {
        if !self.dir.exists() {
            return Ok(());
        }
        self.remove_held(lock(&self.dir, wait)?)
    }

    /// Removes the store under a lock that is already held.
    pub(crate) fn remove_held(&self, _lock: File) -> Result<(), Error> {
        // A rename removes everything at once, including the lock, so that a waiting writer starts with an empty
        // store.
        let gone = self.dir.with_extension("gone");
        let _ = std::fs::remove_dir_all(&gone);
        self.forget_kept();
        std::fs::rename(&self.dir, &gone).map_err(Error::io("cannot remove", &self.dir))?;
        std::fs::remove_dir_all(&gone).map_err(Error::io("cannot remove", &gone))
    }
}

impl Registry {
    /// All stores, and the remains of removed ones.
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

    /// Sidecars that are unreadable, or whose file name does not match their repository.
    pub fn unreadable(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.home().join("repos")).into_iter().flatten().flatten();
        let is_bad = |path: &PathBuf| {
            let sidecar = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Sidecar>(&bytes).ok());
            let is_its = |sidecar: Sidecar| self.path(&sidecar.repo).as_deref() == Some(path);
            !sidecar.is_some_and(is_its)
        };
        let is_finished = |path: &PathBuf| path.extension().is_none_or(|ending| ending != UNFINISHED);
        let mut bad: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_finished).filter(is_bad).collect();
        bad.sort();
        bad
    }
}

/// Files of a store that its manifest does not name and no live process writes.
pub fn leftovers(dir: &Path, manifest: &Manifest) -> Vec<PathBuf> {
    let named = manifest.named(dir);
    files(dir).into_iter().filter(|path| !named.contains(path) && !is_being_written(path)).collect()
}

/// Whether a live process is writing a derived table here: it holds a lock on the file, which dies with it.
fn is_being_written(path: &Path) -> bool {
    let is_locked = |file: File| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock));
    path.extension().is_some_and(|ending| ending == UNFINISHED) && File::open(path).is_ok_and(is_locked)
}

/// All files below a folder.
pub(super) fn files(dir: &Path) -> Vec<PathBuf> {
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

/// Process that holds the lock of a file, if the system reports it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_a_leftover_when_its_writer_is_dead() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("edges.1.a.new");
        let writer = File::create(&path).expect("the folder is ours");
        writer.lock().expect("nobody else has it");
        assert_eq!(leftovers(folder.path(), &Manifest::empty()), Vec::<PathBuf>::new());
        drop(writer);
        assert_eq!(leftovers(folder.path(), &Manifest::empty()), [path]);
    }

    #[test]
    fn an_unfinished_sidecar_is_no_problem_and_is_written_over() {
        let folder = tempfile::tempdir().expect("there is room");
        let registry = Registry::new(folder.path());
        let sidecar: Sidecar = serde_json::from_str(
            r#"{"repo": "a/b", "root": "/b", "store": "c", "snapshot": "d", "indexed_at": 1, "file_count": 2,
                "symbol_count": 3, "languages": {}, "git_head": null}"#,
        )
        .expect("it is one");
        std::fs::create_dir(folder.path().join("repos")).expect("the folder is ours");
        let staged = folder.path().join("repos/a__b.json.new");
        std::fs::write(&staged, "{\"repo\": \"a/b\", ".repeat(1000)).expect("the folder is ours");
        assert_eq!((registry.unreadable(), registry.all()), (vec![], vec![]));
        registry.put(&sidecar).expect("there is room");
        assert_eq!((registry.get("a/b"), staged.exists()), (Some(sidecar), false));
        std::fs::write(&staged, "{").expect("the folder is ours");
        registry.remove("a/b").expect("it is ours");
        assert_eq!(std::fs::read_dir(folder.path().join("repos")).expect("it is there").count(), 0);
    }
}
