//! Files mapped into memory, and records read from them in place.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::{Mmap, MmapOptions};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::Error;
use super::guard::Guard;

/// A file that never changes while anybody holds it: this room replaces files by rename and removes them, but never
/// writes into one that is named by a manifest.
#[derive(Clone, Debug)]
pub struct Mapped {
    map: Option<Arc<Guarded>>,
    path: PathBuf,
}

/// A mapping, and who watches over it: that ends first.
#[derive(Debug)]
struct Guarded {
    guard: Option<Guard>,
    map: Mmap,
    inode: u64,
}

impl Mapped {
    /// Maps a whole file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io("cannot open", path))?;
        let metadata = file.metadata().map_err(Error::io("cannot read", path))?;
        let mut options = MmapOptions::new();
        // Or it would be asked for once more.
        options.len(usize::try_from(metadata.len()).unwrap_or(usize::MAX));
        // Mapping nothing is an error to the system.
        let map = match metadata.len() {
            0 => None,
            _ => {
                // SAFETY: the file is immutable by the law above, so the bytes do not change under the slice.
                let map = unsafe { options.map(&file) }.map_err(Error::io("cannot map", path))?;
                Some(Arc::new(Guarded { guard: Guard::of(&map), map, inode: metadata.ino() }))
            }
        };
        Ok(Self { map, path: path.to_owned() })
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().map_or(&[], |guarded| &guarded.map[..])
    }

    /// Part of it.
    pub fn slice(&self, start: u64, len: u64) -> Result<&[u8], Error> {
        let range = usize::try_from(start).ok().zip(start.checked_add(len).and_then(|end| usize::try_from(end).ok()));
        range.and_then(|(start, end)| self.bytes().get(start..end)).ok_or_else(|| self.damaged("it is too short"))
    }

    /// `count` records that begin at `start`.
    pub fn records<T: FromBytes + Immutable + KnownLayout>(&self, start: u64, count: u64) -> Result<&[T], Error> {
        let len = count.checked_mul(size_of::<T>() as u64).ok_or_else(|| self.damaged("a count is too large"))?;
        let bytes = self.slice(start, len)?;
        <[T]>::ref_from_bytes(bytes).map_err(|_| self.damaged("a table is not aligned"))
    }

    /// Whether somebody broke the law above and cut the file, and what was read since is not what was written.
    pub fn damage(&self) -> Result<(), Error> {
        match self.map.as_deref().and_then(|guarded| guarded.guard.as_ref()).is_some_and(Guard::is_cut) {
            true => Err(self.damaged("it was cut short while it was read")),
            false => Ok(()),
        }
    }

    /// The same, found by asking how long the file is now.
    pub fn check_size(&self) -> Result<(), Error> {
        let Some(guarded) = self.map.as_deref() else { return Ok(()) };
        // What has no name any more is what it was; what another has put in its place is another file.
        let now = self.path.metadata().ok().filter(|now| now.ino() == guarded.inode);
        match now.is_some_and(|now| now.len() != guarded.map.len() as u64) {
            true => Err(self.damaged("its size is another since it was opened")),
            false => Ok(()),
        }
    }

    /// The error that says this file is broken.
    pub fn damaged(&self, what: &str) -> Error {
        Error::Damaged { path: self.path.clone(), what: what.to_owned() }
    }
}

/// Writes a derived table at `path` if it may be, else for this process alone, and opens it.
pub(super) fn keep<T>(path: &Path, bytes: &[u8], open: impl Fn(&Path) -> Result<T, Error>) -> Result<T, Error> {
    let write = |mut file: tempfile::NamedTempFile| file.write_all(bytes).map(|()| file);
    let dir = path.parent().unwrap_or(Path::new("."));
    let name = path.file_stem().unwrap_or_default().to_string_lossy() + ".";
    let beside = tempfile::Builder::new().prefix(&*name).tempfile_in(dir).and_then(write);
    // It can be made again, so it need not survive a power cut: what is damaged does not match its checksum.
    if let Ok(file) = beside
        && file.persist(path).is_ok()
    {
        return open(path);
    }
    let file = tempfile::NamedTempFile::new().and_then(write).map_err(Error::io("cannot write", path))?;
    open(file.path())
}

impl std::ops::Deref for Mapped {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes()
    }
}

// SAFETY: the bytes lie in the mapping, which stays where it is when the handle moves, or are empty.
unsafe impl stable_deref_trait::StableDeref for Mapped {}
