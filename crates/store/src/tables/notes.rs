//! Notes on a snapshot's files by context providers, as text of their own form.
//!
//! Like edges, they are no part of a commit: the first question about them makes them, and they are stored beside the
//! snapshot. They depend on few files, so those of an earlier snapshot mostly serve a later one.

use std::path::{Path, PathBuf};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::sections::verify_body;
use crate::Error;
use crate::packs::map::MappedFile;
use crate::packs::pack::checksum;

const MAGIC: [u8; 8] = *b"clnotes\0";
/// Earlier tables that may serve again.
const EARLIER: usize = 4;

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    checksum: u64,
}

/// Path of a table.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("notes.{number}"))
}

/// Numbers of the tables that may serve a snapshot: its own, then the newest others.
pub fn numbers(dir: &Path, own: u64) -> impl Iterator<Item = u64> {
    let others = super::numbers(dir, "notes.").into_iter().filter(move |number| *number != own).take(EARLIER);
    std::iter::once(own).chain(others)
}

/// Path of the newest table.
pub fn newest(dir: &Path) -> Option<PathBuf> {
    super::numbers(dir, "notes.").first().map(|number| path(dir, *number))
}

/// Serializes notes.
pub fn to_bytes(text: &[u8]) -> Vec<u8> {
    let header = Header { magic: MAGIC, checksum: checksum(text) };
    [header.as_bytes(), text].concat()
}

/// Notes, open for reading.
#[derive(Clone, Debug)]
pub struct NotesTable {
    map: MappedFile,
}

impl NotesTable {
    /// Opens a table and verifies it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let map = MappedFile::open(path)?;
        let header = map.records::<Header>(0, 1)?[0];
        if header.magic != MAGIC {
            return Err(map.damaged("it holds no notes"));
        }
        verify_body(&map, size_of::<Header>(), header.checksum)?;
        Ok(Self { map })
    }

    /// The notes, as they were given.
    pub fn text(&self) -> &[u8] {
        self.map.bytes().get(size_of::<Header>()..).unwrap_or_default()
    }
}
