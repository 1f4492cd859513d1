//! Storage of tantivy's files: segments in a folder, their list in the manifest.
//!
//! tantivy would publish a commit by replacing its `meta.json`. Here that file exists in memory only, and the
//! manifest contains it, so one rename publishes symbols, content and tables together. tantivy deletes and syncs
//! nothing itself: the writer syncs the files of a commit, and sweeps files that no manifest names.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use crate::packs::map::MappedFile;
use crate::packs::pack::agrees;

/// Extensions of a segment's files, without deletions.
const ENDINGS: [&str; 6] = ["idx", "pos", "term", "store", "fast", "fieldnorm"];

/// Files of the segments that a manifest lists.
pub fn files(meta: &serde_json::Value) -> Vec<String> {
    let segments = meta["segments"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |segment: &serde_json::Value| {
        let id = id_of(segment);
        // The name of a deletion list includes its stamp.
        let deletions = segment["deletes"]["opstamp"].as_u64().map(|stamp| format!("{id}.{stamp}.del"));
        files_of(&id).into_iter().chain(deletions)
    };
    segments.iter().flat_map(of).collect()
}

/// Variant of [`files`] for tantivy's own form of the list.
pub fn files_in(meta: &[u8]) -> Vec<String> {
    serde_json::from_slice(meta).as_ref().map_or_else(|_| Vec::new(), files)
}

/// Id of a segment as used in file names.
fn id_of(segment: &serde_json::Value) -> String {
    segment["segment_id"].as_str().unwrap_or_default().replace('-', "")
}

/// Magic number at the end of every tantivy file, after the length of its footer.
const FOOTER_MARK: u32 = 1337;

/// Verifies the checksum at the end of a segment's file, unless the file is larger than `largest`.
pub fn check_file(file: &MappedFile, largest: u64) -> Result<(), crate::Error> {
    let bytes = file.bytes();
    let cut = || file.damaged("its end is missing");
    let number = |at: Option<usize>| -> Option<u32> {
        let at = at?;
        bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
    };
    let len = bytes.len();
    if number(len.checked_sub(4)) != Some(FOOTER_MARK) {
        return Err(cut());
    }
    let said = number(len.checked_sub(8)).ok_or_else(cut)? as usize;
    let body = len.checked_sub(8 + said).ok_or_else(cut)?;
    let footer: serde_json::Value = serde_json::from_slice(&bytes[body..len - 8]).map_err(|_| cut())?;
    let compare = || match agrees(footer["crc"].as_u64(), Some(u64::from(crc32fast::hash(&bytes[..body])))) {
        true => Ok(VerifiedFile),
        false => Err(file.damaged("it does not match its checksum")),
    };
    match largest {
        // A full verification ignores earlier results.
        u64::MAX => compare().map(drop),
        _ if len as u64 <= largest => file.known(compare).map(drop),
        _ => Ok(()),
    }
}

/// Marker for a file with a verified checksum.
struct VerifiedFile;

/// Files of a segment, by its id without dashes.
pub fn files_of(id: &str) -> [String; 6] {
    ENDINGS.map(|ending| format!("{id}.{ending}"))
}

/// Directory for tantivy that keeps its small files in memory.
#[derive(Clone, Debug)]
pub struct Segments {
    dir: PathBuf,
    state: Arc<Mutex<State>>,
    /// Files mapped before tantivy opens them, so that they survive deletion.
    held: Arc<HashMap<PathBuf, MappedFile>>,
}

#[derive(Debug, Default)]
struct State {
    /// `meta.json` and tantivy's list of its own files.
    small: HashMap<PathBuf, Vec<u8>>,
    /// Files written so far, to be synced before a manifest names them.
    written: HashSet<PathBuf>,
}

impl Segments {
    /// Creates the directory with the segments listed by `meta`.
    pub fn new(dir: PathBuf, meta: Option<Vec<u8>>) -> Self {
        let mut state = State::default();
        if let Some(meta) = meta {
            state.small.insert(PathBuf::from("meta.json"), meta);
        }
        Self { dir, state: Arc::new(Mutex::new(state)), held: Arc::default() }
    }

    /// Creates the directory with every file of its segments mapped, so that they stay readable after a sweep. `meta`
    /// is the list from a manifest.
    pub fn hold(dir: PathBuf, meta: &serde_json::Value) -> Result<Self, crate::Error> {
        let map = |name: String| Ok((PathBuf::from(&name), MappedFile::open(&dir.join(&name))?));
        let held = files(meta).into_iter().map(map).collect::<Result<_, crate::Error>>()?;
        let meta = (!meta.is_null()).then(|| meta.to_string().into_bytes());
        Ok(Self { held: Arc::new(held), ..Self::new(dir, meta) })
    }

    /// Verifies the checksums of the mapped files up to this size. Of larger files only the end is checked, which
    /// detects truncation. tantivy trusts its files, so this comes before any query.
    pub fn check(&self, largest: u64) -> Result<(), crate::Error> {
        self.held.values().try_for_each(|file| check_file(file, largest))
    }

    /// Files mapped by [`Segments::hold`].
    pub fn held(&self) -> impl Iterator<Item = (&Path, &MappedFile)> {
        self.held.iter().map(|(name, file)| (name.as_path(), file))
    }

    /// tantivy's list of segments as of its last commit.
    pub fn meta(&self) -> Option<Vec<u8>> {
        self.lock().small.get(Path::new("meta.json")).cloned()
    }

    /// Creates an empty list of segments for the same folder.
    pub fn beside(&self) -> Self {
        Self::new(self.dir.clone(), None)
    }

    /// Replaces the segments with these ids by the segments of another list; empty segments are left out.
    pub fn take_over(&self, other: &Self, gone: &[String]) {
        let other = std::mem::take(&mut *other.lock());
        let is_gone = |file: &Path| file.file_stem().is_some_and(|id| gone.iter().any(|gone| id == gone.as_str()));
        let list = Path::new("meta.json");
        let mut state = self.lock();
        // Deleted files need no sync; they are swept with the rest.
        state.written.retain(|file| !is_gone(file));
        state.written.extend(other.written);
        let joined = match (state.small.get(list), other.small.get(list)) {
            (None, None) => return,
            (None, Some(new)) => new.clone(),
            (Some(own), new) => {
                replaced(own, new.map_or(b"{}", Vec::as_slice), gone).expect("tantivy writes its list as JSON")
            }
        };
        state.small.insert(list.to_owned(), joined);
    }

    /// Takes the list of written files.
    pub fn take_written(&self) -> Vec<PathBuf> {
        self.lock().written.drain().map(|name| self.dir.join(name)).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // A panic elsewhere leaves both maps intact.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Removes the segments in `gone` from a list, and appends those of another list.
fn replaced(list: &[u8], other: &[u8], gone: &[String]) -> serde_json::Result<Vec<u8>> {
    let mut list: serde_json::Value = serde_json::from_slice(list)?;
    let mut other: serde_json::Value = serde_json::from_slice(other)?;
    if let Some(all) = list["segments"].as_array_mut() {
        all.retain(|segment| !gone.contains(&id_of(segment)));
        let new = other["segments"].as_array_mut().into_iter().flat_map(std::mem::take);
        all.extend(new.filter(|segment| segment["max_doc"] != 0));
    }
    serde_json::to_vec(&list)
}

impl Directory for Segments {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if let Some(mapped) = self.held.get(path) {
            return Ok(Arc::new(OwnedBytes::new(mapped.clone())));
        }
        let mapped = MappedFile::open(&self.dir.join(path)).map_err(|err| match err {
            crate::Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                OpenReadError::FileDoesNotExist(path.to_owned())
            }
            crate::Error::Io { source, .. } => OpenReadError::wrap_io_error(source, path.to_owned()),
            other => OpenReadError::wrap_io_error(io::Error::other(other.to_string()), path.to_owned()),
        })?;
        Ok(Arc::new(OwnedBytes::new(mapped)))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        // A file that was never published can go at once; the rest is swept after the next manifest.
        if self.lock().written.remove(path) {
            let _ = std::fs::remove_file(self.dir.join(path));
        }
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.lock().small.contains_key(path) || self.dir.join(path).exists())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let full = self.dir.join(path);
        let file = File::create(&full).map_err(|err| OpenWriteError::wrap_io_error(err, path.to_owned()))?;
        self.lock().written.insert(path.to_owned());
        Ok(BufWriter::new(Box::new(Segment(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.lock().small.get(path).cloned().ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.lock().small.insert(path.to_owned(), data.to_owned());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        // The writer holds the store's own lock, and readers need none.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A segment's file while it is written.
struct Segment(File);

impl Write for Segment {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Segment {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}
