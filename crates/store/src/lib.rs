//! Storage of indexes, with snapshots of checkouts.
//!
//! A [`Store`] belongs to a repository and holds each file once, by path and content hash; a [`Snapshot`] is the set of
//! files that one checkout had at one moment. On disk a store is a folder:
//!
//! ```text
//! manifest.json     the one file that says what exists; replaced by rename, last of all
//! pack.<n>          content, symbols and grams of the files that commit n brought (pack.rs)
//! files.<n>         the files of a snapshot as of commit n (files.rs)
//! edges.<n>         edges of that snapshot (edges.rs): derived on first use
//! compiled.<n>      occurrences that compilers found, as commit n was given them (compiled.rs)
//! joined.<n>        edges of a snapshot joined with those occurrences: derived likewise
//! ranks.<n>         ranks of its symbols by those edges (ranks.rs): derived likewise
//! notes.<n>         what context providers say of its files (notes.rs): derived likewise, and reused while its inputs are the same
//! texts.all         keys of the texts that stand for symbols, of all files (texts.rs): derived on first use
//! vectors.m<hash>   vectors of such texts by one model (vectors.rs); it only grows, and no commit touches it
//! summaries.all     summaries of symbols by a model (summaries.rs); it only grows likewise
//! index/            tantivy's segments; its own list of them lives in the manifest
//! lock              held by the writer
//! ```
//!
//! A commit writes new files, syncs them all at once, and only then renames a manifest that names them. Files that no
//! manifest names do not exist: the next run sweeps them away, except tables that a live process is writing (their
//! names end in `.new`, and they are locked), and vectors and summaries, which cost time or money. So a process killed at any point leaves the old generation or the new
//! one. Readers hold their mappings and are never disturbed.
//!
//! It will never know where files come from, what is asked, or how an answer looks.

#[cfg(any(test, fuzzing, feature = "testing"))]
pub mod fuzzing;
mod life;
mod packs;
mod permalinks;
mod search;
mod tables;

pub use life::content_lookup::ContentLookup;
pub use life::copy::{CopiedFile, IncomingStore, StoreCopy, is_file_name};
pub use life::manifest::{CompilerFacts, Manifest, SnapshotFacts};
pub use life::meaning::Meanings;
pub use life::prepared::Prepared;
pub use life::registry::{Registry, RemoteFacts, Sidecar};
pub use life::snapshot::Snapshot;
pub use life::summarized::SummaryWords;
pub use life::upkeep::WriterState;
pub use life::writer::Writer;
pub use packs::grams::{BlockRecord, GramQuery, GramWriter, grams};
pub use packs::view::{FileView, SymbolId, SymbolView, qualified_name};
pub use search::analyzer::{flattened, parts as word_parts, stems};
pub use search::index::{Clause, Field, Holding, Told, index_schema};
pub use search::learned::Meaning;
pub use search::shards::{Frequencies, Shard};
pub use tables::compiled::{Compiled, CompiledDocument, CompiledOccurrence, CompiledSymbol, CompiledTable};
pub use tables::edges::{Copied, Edge, EdgeTable, Edges, Import, Parts};
pub use tables::files::{Entry, FileTable, Row};
pub use tables::notes::NotesTable;
pub use tables::ranks::{Rank, RankTable};
pub use tables::summaries::{SummaryTable, SummaryWriter};
pub use tables::texts::{TextRow, TextTable};
pub use tables::vectors::{TextKey, VectorTable, VectorWriter, text_key};

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Version of the file layout. Stores of older versions are refused and must be rebuilt.
pub const FORMAT: u32 = 8;
/// Changes when the same text gives other symbols: everything is read again at the next run.
pub const CONTENT: u32 = 42;

/// Errors of a store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing was committed here yet.
    #[error("no index at {}", .0.display())]
    Missing(PathBuf),
    /// The store has a format of the future. It is not written over.
    #[error(
        "the index at {} was made by a newer codelode (format {found}, this one reads {FORMAT}); update codelode, or set \
         CODELODE_INDEX_PATH to another folder for this one",
        path.display()
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// The store has an earlier format version.
    #[error("the index at {} has format {found}, this version reads {FORMAT}", path.display())]
    Outdated {
        /// The store.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// Another process is writing.
    #[error("another process is writing this index")]
    Busy,
    /// A file does not match the manifest or its checksum.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Description of the damage.
        what: String,
    },
    /// A model gives vectors of another length than before.
    #[error("the model has {given} dimensions, but stored vectors have {stored}")]
    Dimensions {
        /// Dimensions of the stored vectors.
        stored: usize,
        /// Dimensions of the new ones.
        given: usize,
    },
    /// The snapshot is not in the manifest.
    #[error("the index holds no snapshot of this folder")]
    NoSnapshot,
    /// The system refused an operation.
    #[error("{} {}: {source}", what, path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// Its path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The search engine failed.
    #[error("the search index failed: {0}")]
    Index(#[from] tantivy::TantivyError),
}

impl Error {
    /// Whether the index is unusable, so that a rebuild loses nothing: it is damaged, or an earlier version made it.
    pub fn is_of_no_use(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Outdated { found, .. } => *found < u64::from(FORMAT),
            _ => false,
        }
    }

    /// Converts an I/O error in `map_err`, with the operation and its path.
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}

/// Folder of one repository's index. Opening it reads nothing.
#[derive(Clone, Debug)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// Creates the store of a folder, which need not exist.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Folder of the store.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Reads the manifest.
    pub fn manifest(&self) -> Result<Manifest, Error> {
        Manifest::read(&self.dir)
    }

    /// Identity of the published generation and of the summaries, without reading them.
    pub fn stamp(&self) -> Option<(u64, u64, i64)> {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(Manifest::path(&self.dir)).ok()?;
        // Summaries arrive after the commit of what they describe.
        let summaries = std::fs::metadata(tables::summaries::path(&self.dir)).map_or(0, |meta| meta.len());
        Some((meta.ino(), meta.len() ^ summaries << 32, meta.mtime() * 1_000_000_000 + meta.mtime_nsec()))
    }

    /// Newest snapshot of a checkout.
    pub fn snapshot(&self, name: &str) -> Result<Snapshot, Error> {
        self.newest(name, Snapshot::open)
    }

    /// Newest snapshot for queries about files and their text. It opens faster, but symbol searches may fail with the
    /// notice that a newer state exists.
    pub fn snapshot_of_text(&self, name: &str) -> Result<Snapshot, Error> {
        self.newest(name, Snapshot::open_text)
    }

    fn newest(
        &self,
        name: &str,
        open: fn(&Path, Manifest, &str) -> Result<Snapshot, Error>,
    ) -> Result<Snapshot, Error> {
        let mut last = None;
        // A writer may publish and sweep between reading the manifest and opening its files: then there is a newer
        // manifest.
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

    /// Takes the writer's lock, waiting at most this long.
    pub fn writer(&self, wait: Duration) -> Result<Writer, Error> {
        Writer::begin(&self.dir, wait)
    }

    /// Takes the writer's lock for a rebuild: an unreadable store is discarded first.
    pub fn writer_anew(&self, wait: Duration) -> Result<Writer, Error> {
        Writer::begin_anew(&self.dir, wait)
    }

    /// Removes a checkout, and the whole store with the last one, even when unreadable. Waits for a writer; readers
    /// keep their mappings.
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

/// Takes the writer's lock of a store.
fn lock(dir: &Path, wait: Duration) -> Result<File, Error> {
    locked(&dir.join("lock"), wait)
}

/// Opens a file and locks it, waiting at most this long. The system releases the lock when its holder dies.
fn locked(path: &Path, wait: Duration) -> Result<File, Error> {
    let dir = path.parent().expect("a file lies in a folder");
    let started = Instant::now();
    loop {
        std::fs::create_dir_all(dir).map_err(Error::io("cannot make the folder", dir))?;
        let opened = File::options().create(true).truncate(false).write(true).open(path);
        let file = match opened {
            // Another process has removed the folder in between.
            Err(err) if err.kind() == io::ErrorKind::NotFound && started.elapsed() < wait => continue,
            other => other.map_err(Error::io("cannot open", path))?,
        };
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) if started.elapsed() < wait => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(Error::Busy),
                Err(std::fs::TryLockError::Error(err)) => return Err(Error::io("cannot lock", path)(err)),
            }
        }
        // The previous holder may have moved or removed the file: a lock on it protects nothing.
        if is_at(&file, path) {
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
