//! Keeps what was read, and hands out moments of it.
//!
//! A [`Store`] belongs to a repository and holds each file once, by path and content hash; a [`Snapshot`] is the set of
//! files that one checkout had at one moment. On disk a store is a folder:
//!
//! ```text
//! manifest.json     the one file that says what exists; replaced by rename, last of all
//! pack.<n>          content, symbols and grams of the files that commit n brought (pack.rs)
//! files.<n>         the files of a snapshot as of commit n (files.rs)
//! edges.<n>         who means whom in that snapshot (edges.rs): derived, written by whoever asks first
//! ranks.<n>         how central each symbol is by those edges (ranks.rs): derived likewise
//! index/            tantivy's segments; its own list of them lives in the manifest
//! lock              held by whoever writes
//! ```
//!
//! A commit writes new files, syncs them all at once, and only then renames a manifest that names them. What no manifest names
//! does not exist: the next writer sweeps it away. So a process that is killed anywhere leaves the old generation or the new one,
//! and a reader, who holds what it mapped, is never disturbed.

mod life;
mod packs;
mod search;
mod tables;

pub use life::manifest::{Manifest, SnapshotFacts};
pub use life::registry::{Registry, RemoteFacts, Sidecar};
pub use life::snapshot::Snapshot;
pub use life::upkeep::Held;
pub use life::writer::{Known, Prepared, Writer};
pub use packs::grams::{BlockRecord, GramQuery, GramWriter, grams};
pub use packs::view::{FileView, SymbolId, SymbolView, qualified_name};
pub use search::analyzer::{flattened, parts as word_parts, stems};
pub use search::index::{Clause, Field, index_schema};
pub use tables::edges::{Copied, Edge, EdgeTable, Edges, Import, Parts};
pub use tables::files::{Entry, FileTable, Row};
pub use tables::ranks::{Rank, RankTable};

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Changes when files of an older version cannot be read any more: the store is refused and must be rebuilt.
pub const FORMAT: u32 = 6;
/// Changes when the same text gives other symbols: everything is read again at the next run.
pub const CONTENT: u32 = 7;

/// Why a store cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing was ever committed here.
    #[error("no index at {}", .0.display())]
    Missing(PathBuf),
    /// Made by a version that writes another format.
    #[error("the index at {} has format {found}, this version reads {FORMAT}", path.display())]
    Outdated {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// Somebody else is writing.
    #[error("another process is writing this index")]
    Busy,
    /// A file is not what the manifest says.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The snapshot is not in the manifest.
    #[error("the index holds no snapshot of this folder")]
    NoSnapshot,
    /// The system refused.
    #[error("{} {}: {source}", what, path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The search engine refused.
    #[error("the search index failed: {0}")]
    Index(#[from] tantivy::TantivyError),
}

impl Error {
    /// Whether what is there is of no use to anybody, so that making it anew loses nothing: it is damaged, or an earlier version
    /// made it.
    pub fn is_of_no_use(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Outdated { found, .. } => *found < u64::from(FORMAT),
            _ => false,
        }
    }

    /// For `map_err`: what was tried, on which path.
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// The folder of one repository's index. Opening it reads nothing.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// The store in this folder, there or not.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What it says of itself.
    pub fn manifest(&self) -> Result<Manifest, Error> {
        Manifest::read(&self.dir)
    }

    /// What tells one published generation from the next without reading it: the manifest's inode, size and time.
    pub fn stamp(&self) -> Option<(u64, u64, i64)> {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(Manifest::path(&self.dir)).ok()?;
        Some((meta.ino(), meta.len(), meta.mtime() * 1_000_000_000 + meta.mtime_nsec()))
    }

    /// The newest committed state of a checkout.
    pub fn snapshot(&self, name: &str) -> Result<Snapshot, Error> {
        self.newest(name, Snapshot::open)
    }

    /// The same for questions about files and their text: opened faster, and whoever asks for symbols by what they are called may
    /// be told that there is a newer state.
    pub fn snapshot_of_text(&self, name: &str) -> Result<Snapshot, Error> {
        self.newest(name, Snapshot::open_text)
    }

    fn newest(
        &self,
        name: &str,
        open: fn(&Path, Manifest, &str) -> Result<Snapshot, Error>,
    ) -> Result<Snapshot, Error> {
        let mut last = None;
        // A writer may publish and sweep between our reading the manifest and our opening the files it names: then there
        // is a newer manifest to read.
        for _ in 0..8 {
            let manifest = self.manifest()?;
            match open(&self.dir, manifest, name) {
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    last = Some(source);
                }
                other => return other,
            }
        }
        Err(Error::Damaged { path: self.dir.clone(), what: last.map_or_else(String::new, |err| err.to_string()) })
    }

    /// The right to write, waited for at most this long.
    pub fn writer(&self, wait: Duration) -> Result<Writer, Error> {
        Writer::begin(&self.dir, wait)
    }

    /// The same right over whatever is there, to make everything anew: what cannot be read is thrown away first.
    pub fn writer_anew(&self, wait: Duration) -> Result<Writer, Error> {
        Writer::begin_anew(&self.dir, wait)
    }

    /// Forgets a checkout, and with the last one everything; what cannot be read is no loss. Waits for a writer; readers keep
    /// what they hold.
    pub fn forget(&self, name: &str, wait: Duration) -> Result<(), Error> {
        if !self.dir.exists() {
            return Ok(());
        }
        let lock = lock(&self.dir, wait)?;
        let is_other = |(other, _): &(String, SnapshotFacts)| other != name;
        if self.manifest().is_ok_and(|manifest| manifest.snapshots.into_iter().any(|entry| is_other(&entry))) {
            return Writer::over(&self.dir, lock)?.forget(name);
        }
        self.remove_held(lock)
    }
}

/// Takes the writer's lock of a store. The system lets go of it when its holder dies.
fn lock(dir: &Path, wait: Duration) -> Result<File, Error> {
    let path = dir.join("lock");
    let started = Instant::now();
    loop {
        std::fs::create_dir_all(dir).map_err(Error::io("cannot make the folder", dir))?;
        let opened = File::options().create(true).truncate(false).write(true).open(&path);
        let file = match opened {
            // Somebody removed the folder since it was made.
            Err(err) if err.kind() == io::ErrorKind::NotFound && started.elapsed() < wait => continue,
            other => other.map_err(Error::io("cannot open", &path))?,
        };
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) if started.elapsed() < wait => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(Error::Busy),
                Err(std::fs::TryLockError::Error(err)) => return Err(Error::io("cannot lock", &path)(err)),
            }
        }
        // Whoever held it may have removed the store: a lock on a file without a name keeps nobody out.
        if is_at(&file, &path) {
            return Ok(file);
        }
    }
}

/// Whether a path still names an open file.
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
    file.metadata().map(place).ok() == std::fs::metadata(path).map(place).ok()
}

#[cfg(test)]
mod tests;
