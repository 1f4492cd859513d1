//! Memory-mapped files, and records read in place.

use std::any::Any;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use memmap2::{Mmap, MmapOptions};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::guard::Guard;
use crate::Error;

/// A mapped file that never changes: the store replaces files by rename and removes them, but never writes into a
/// file that a manifest names.
#[derive(Clone, Debug)]
pub struct MappedFile {
    map: Option<Arc<Guarded>>,
    path: PathBuf,
}

/// A mapping with its guard, which is dropped first.
#[derive(Debug)]
struct Guarded {
    guard: Option<Guard>,
    map: Mmap,
    stamp: Stamp,
    /// Stamp at which the whole content was last verified, if it differs from `stamp`.
    verified: Mutex<Option<Stamp>>,
    /// Whether damage was found; such a mapping is not reused.
    is_damaged: AtomicBool,
    /// Cached findings about the file, see [`MappedFile::known`].
    known: OnceLock<Arc<dyn Any + Send + Sync>>,
}

/// Bytes at each end of a file that its identity covers.
const ENDS: usize = 128;

/// Stamp of a file's content: device, inode, size, and both times in seconds and nanoseconds.
type Stamp = [i128; 7];

fn stamp(of: &Metadata) -> Stamp {
    let (device, inode, len) = (of.dev().into(), of.ino().into(), of.len().into());
    [device, inode, len, of.mtime().into(), of.mtime_nsec().into(), of.ctime().into(), of.ctime_nsec().into()]
}

/// Open mappings of this process, by path. An edit creates a few files and leaves a hundred unchanged: reopening
/// those reuses the mapping with its cached findings.
static OPEN: LazyLock<Mutex<HashMap<PathBuf, Weak<Guarded>>>> = LazyLock::new(Mutex::default);
/// Number of entries above which dead ones are removed.
const MOST_OPEN: usize = 512;

fn all_open() -> MutexGuard<'static, HashMap<PathBuf, Weak<Guarded>>> {
    // A panic leaves the map intact.
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MappedFile {
    /// Maps a whole file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let held = all_open().get(path).and_then(Weak::upgrade);
        if let Some(held) = held
            && path.metadata().is_ok_and(|now| stamp(&now) == held.stamp)
            && !held.guard.as_ref().is_some_and(Guard::is_cut)
            && !held.is_damaged.load(Ordering::Relaxed)
        {
            return Ok(Self { map: Some(held), path: path.to_owned() });
        }
        let file = File::open(path).map_err(Error::io("cannot open", path))?;
        let metadata = file.metadata().map_err(Error::io("cannot read", path))?;
        let mut options = MmapOptions::new();
        // Without a length, the library queries it again.
        options.len(usize::try_from(metadata.len()).unwrap_or(usize::MAX));
        // The system refuses empty mappings.
        let map = match metadata.len() {
            0 => None,
            _ => {
                // SAFETY: the file never changes, see [`MappedFile`], so neither do the bytes of the slice.
                let map = unsafe { options.map(&file) }.map_err(Error::io("cannot map", path))?;
                let (guard, known) = (Guard::of(&map), OnceLock::new());
                let (stamp, verified, is_damaged) = (stamp(&metadata), Mutex::default(), AtomicBool::new(false));
                let guarded = Arc::new(Guarded { guard, map, stamp, verified, is_damaged, known });
                let mut all = all_open();
                if all.len() > MOST_OPEN {
                    all.retain(|_, held| held.strong_count() > 0);
                }
                all.insert(path.to_owned(), Arc::downgrade(&guarded));
                Some(guarded)
            }
        };
        Ok(Self { map, path: path.to_owned() })
    }

    /// The whole content.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().map_or(&[], |guarded| &guarded.map[..])
    }

    /// Caches a finding about the file for all that open it while it is unchanged.
    pub fn known<T>(&self, find_out: impl FnOnce() -> Result<T, Error>) -> Result<Arc<T>, Error>
    where
        T: Send + Sync + 'static,
    {
        let Some(guarded) = self.map.as_deref() else { return find_out().map(Arc::new) };
        if let Some(known) = guarded.known.get().and_then(|known| known.clone().downcast().ok()) {
            return Ok(known);
        }
        let found = Arc::new(find_out()?);
        // Two threads may both compute it.
        let _ = guarded.known.set(found.clone());
        Ok(found)
    }

    /// Part of the content.
    pub fn slice(&self, start: u64, len: u64) -> Result<&[u8], Error> {
        let range = usize::try_from(start).ok().zip(start.checked_add(len).and_then(|end| usize::try_from(end).ok()));
        range.and_then(|(start, end)| self.bytes().get(start..end)).ok_or_else(|| self.damaged("it is too short"))
    }

    /// `count` records from byte `start`.
    pub fn records<T: FromBytes + Immutable + KnownLayout>(&self, start: u64, count: u64) -> Result<&[T], Error> {
        let len = count.checked_mul(size_of::<T>() as u64).ok_or_else(|| self.damaged("a count is too large"))?;
        let bytes = self.slice(start, len)?;
        <[T]>::ref_from_bytes(bytes).map_err(|_| self.damaged("a table is not aligned"))
    }

    /// Error when another process has truncated the file, so that reads returned wrong data.
    pub fn damage(&self) -> Result<(), Error> {
        match self.map.as_deref().and_then(|guarded| guarded.guard.as_ref()).is_some_and(Guard::is_cut) {
            true => Err(self.damaged("it was cut short while it was read")),
            false => Ok(()),
        }
    }

    /// Runs `verify` when another process has written to the file, or only touched it, since it was opened or last
    /// verified. Another length is damage in any case: truncation within the last page raises no signal.
    pub fn recheck(&self, verify: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        let Some(guarded) = self.map.as_deref() else { return Ok(()) };
        // A deleted file keeps its content; a file put in its place is another one.
        let now = self.path.metadata().ok().map(|now| stamp(&now)).filter(|now| now[..2] == guarded.stamp[..2]);
        let Some(now) = now.filter(|now| *now != guarded.stamp) else { return Ok(()) };
        if now[2] != guarded.stamp[2] {
            return Err(self.damaged("its size is another since it was opened"));
        }
        // A panic leaves the stamp intact.
        let mut verified = guarded.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if *verified != Some(now) {
            verify()?;
            // Later writes give another stamp.
            *verified = Some(now);
        }
        Ok(())
    }

    /// Hash of the file's length and both ends, where its own checksums are: it differs between files of the same
    /// kind, and reading it costs two pages.
    pub fn identity(&self) -> String {
        let bytes = self.bytes();
        let (first, last) = (&bytes[..bytes.len().min(ENDS)], &bytes[bytes.len().saturating_sub(ENDS)..]);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(bytes.len() as u64).to_le_bytes()).update(first).update(last);
        hasher.finalize().to_hex()[..16].to_owned()
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Error for damage in this file.
    pub fn damaged(&self, what: &str) -> Error {
        if let Some(guarded) = self.map.as_deref() {
            guarded.is_damaged.store(true, Ordering::Relaxed);
        }
        Error::Damaged { path: self.path.clone(), what: what.to_owned() }
    }
}

/// Extension of files that are not complete yet.
pub(crate) const UNFINISHED: &str = "new";

/// Writes a derived table at `path` if possible, else for this process only, and opens it.
pub fn keep<T>(
    path: &Path,
    write: impl Fn(&mut File) -> io::Result<()>,
    open: impl Fn(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    let write = |mut file: tempfile::NamedTempFile| {
        // The lock tells a sweep that this process is alive.
        let _ = file.as_file().lock();
        write(file.as_file_mut()).map(|()| file)
    };
    let dir = path.parent().unwrap_or(Path::new("."));
    let name = path.file_stem().unwrap_or_default().to_string_lossy() + ".";
    let ending = format!(".{UNFINISHED}");
    let beside = tempfile::Builder::new().prefix(&*name).suffix(&ending).tempfile_in(dir).and_then(write);
    // A derived table can be computed again, so it is not synced: its checksum detects damage.
    if let Ok(file) = beside
        && file.persist(path).is_ok()
    {
        return open(path);
    }
    let file = tempfile::NamedTempFile::new().and_then(write).map_err(Error::io("cannot write", path))?;
    open(file.path())
}

impl std::ops::Deref for MappedFile {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes()
    }
}

// SAFETY: the bytes lie in the mapping, which stays where it is when the handle moves, or are empty.
unsafe impl stable_deref_trait::StableDeref for MappedFile {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::MappedFile;

    #[test]
    fn what_is_open_is_not_opened_again_while_it_is_as_it_was() {
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("file");
        std::fs::write(&path, "as it was").expect("it is ours");
        let first = MappedFile::open(&path).expect("it is there");
        let known = first.known(|| Ok(1_u32)).expect("nothing is wrong");
        let second = MappedFile::open(&path).expect("it is there");
        assert_eq!(second.bytes().as_ptr(), first.bytes().as_ptr());
        assert!(Arc::ptr_eq(&second.known(|| Ok(2_u32)).expect("nothing is wrong"), &known));

        // Another file of the same length in its place, and the same one with another time.
        std::fs::write(folder.path().join("other"), "otherwise").expect("it is ours");
        std::fs::rename(folder.path().join("other"), &path).expect("both are ours");
        let other = MappedFile::open(&path).expect("it is there");
        assert_eq!((other.bytes(), first.bytes()), (&b"otherwise"[..], &b"as it was"[..]));
        let then = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        std::fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(then)).expect("it is ours");
        let touched = MappedFile::open(&path).expect("it is there");
        assert_ne!(touched.bytes().as_ptr(), other.bytes().as_ptr());
        assert_eq!(*touched.known(|| Ok(3_u32)).expect("nothing is wrong"), 3);
    }
}
