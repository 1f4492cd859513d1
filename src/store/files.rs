//! The files of a snapshot: every path with what the system said of it when it was read, and what the choice of files
//! depended on. Sorted by path, used where it lies.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::map::Mapped;
use super::pack::{NONE, checksum, first_eight};
use super::{Error, FORMAT};
use crate::model::{Input, SkipReason, SourceFile};

const MAGIC: [u8; 8] = *b"clfiles\0";

/// A file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As the walk saw it.
    pub file: SourceFile,
    /// Its number in the store, or why its content was left out.
    pub state: Result<u32, SkipReason>,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    format: u64,
    entries: u64,
    inputs: u64,
    paths_len: u64,
    checksum: u64,
}

/// An entry or an input as it is stored.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Record {
    path_start: u32,
    path_len: u32,
    /// File number; [`NONE`] for a file left out and for inputs.
    id: u32,
    /// Number of the reason in [`SkipReason::ALL`]; [`NONE`] for a file that is held and an input that is no directory.
    reason: u32,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

/// The file of a table.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("files.{number}"))
}

/// Writes a table; `entries` must be sorted by path. Not yet safe from a power cut.
pub fn write(path: &Path, entries: &[Entry], inputs: &[Input]) -> Result<File, Error> {
    let mut paths = String::new();
    let mut records = Vec::with_capacity(entries.len() + inputs.len());
    let mut push = |path: &str, id, reason: Option<SkipReason>, size, (mtime_ns, ctime_ns)| {
        let path_start = paths.len() as u32;
        paths.push_str(path);
        let reason = reason.map_or(NONE, |reason| reason as u32);
        records.push(Record { path_start, path_len: path.len() as u32, id, reason, size, mtime_ns, ctime_ns });
    };
    for Entry { file, state } in entries {
        let (id, reason) = state.map_or_else(|reason| (NONE, Some(reason)), |id| (id, None));
        push(&file.path, id, reason, file.size, (file.mtime_ns, file.ctime_ns));
    }
    for input in inputs {
        // A directory is marked in a column that inputs have no other use for.
        let marker = input.is_dir.then_some(SkipReason::ALL[0]);
        push(&input.path, NONE, marker, input.size, (input.mtime_ns, input.ctime_ns));
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(records.as_bytes()).update(paths.as_bytes());
    let header = Header {
        magic: MAGIC,
        format: u64::from(FORMAT),
        entries: entries.len() as u64,
        inputs: inputs.len() as u64,
        paths_len: paths.len() as u64,
        checksum: u64::from_le_bytes(first_eight(hasher.finalize().as_bytes())),
    };
    let mut bytes = Vec::with_capacity(size_of::<Header>() + size_of_val(&records[..]) + paths.len());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(records.as_bytes());
    bytes.extend_from_slice(paths.as_bytes());
    let mut file = File::create(path).map_err(Error::io("cannot write", path))?;
    file.write_all(&bytes).map_err(Error::io("cannot write", path))?;
    Ok(file)
}

/// A table, open for reading.
#[derive(Clone, Debug)]
pub struct FileTable {
    map: Mapped,
    entries: u64,
    inputs: u64,
    paths_start: u64,
}

impl FileTable {
    /// Opens a table and checks that it is whole.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let map = Mapped::open(path)?;
        let header = map.records::<Header>(0, 1)?[0];
        if header.magic != MAGIC || header.format != u64::from(FORMAT) {
            return Err(map.damaged("it is no table of files"));
        }
        let records = header.entries.saturating_add(header.inputs);
        map.records::<Record>(size_of::<Header>() as u64, records)?;
        let paths_start = size_of::<Header>() as u64 + records * size_of::<Record>() as u64;
        let paths = map.slice(paths_start, header.paths_len)?;
        // Checked once for all: a path is read many times.
        if paths_start as usize + paths.len() != map.bytes().len() || std::str::from_utf8(paths).is_err() {
            return Err(map.damaged("its paths are not text"));
        }
        let table = Self { entries: header.entries, inputs: header.inputs, paths_start, map };
        table.verify()?;
        Ok(table)
    }

    /// Whether it is as it was written.
    pub fn verify(&self) -> Result<(), Error> {
        let header = self.map.records::<Header>(0, 1)?[0];
        match checksum(&self.map.bytes()[size_of::<Header>()..]) == header.checksum {
            true => Ok(()),
            false => Err(self.map.damaged("it does not match its checksum")),
        }
    }

    /// See [`Mapped::damage`].
    pub fn damage(&self) -> Result<(), Error> {
        self.map.damage()
    }

    /// See [`Mapped::check_size`].
    pub fn check_size(&self) -> Result<(), Error> {
        self.map.check_size()
    }

    /// Number of files, those left out for their content included.
    pub fn len(&self) -> usize {
        self.entries as usize
    }

    /// Whether it holds no file.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    fn records(&self) -> &[Record] {
        self.map.records(size_of::<Header>() as u64, self.entries + self.inputs).unwrap_or_default()
    }

    fn path(&self, record: &Record) -> &str {
        // SAFETY: `open` found all the paths together to be UTF-8, and nobody writes into a table.
        let paths = unsafe { std::str::from_utf8_unchecked(&self.map.bytes()[self.paths_start as usize..]) };
        let start = record.path_start as usize;
        paths.get(start..start + record.path_len as usize).unwrap_or_default()
    }

    /// The files, by ascending path: path, size, time, and number or reason.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.records()[..self.entries as usize].iter().map(|record| self.row(record))
    }

    /// The file at a place of [`FileTable::iter`].
    pub fn get(&self, at: usize) -> Option<Row<'_>> {
        self.records()[..self.entries as usize].get(at).map(|record| self.row(record))
    }

    /// The place of a path, or where it would be.
    pub fn position(&self, path: &str) -> Result<usize, usize> {
        self.records()[..self.entries as usize].binary_search_by(|record| self.path(record).cmp(path))
    }

    /// A file by its path.
    pub fn find(&self, path: &str) -> Option<Row<'_>> {
        self.position(path).ok().and_then(|at| self.get(at))
    }

    /// What the choice of files depended on.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.records()[self.entries as usize..].iter().map(|record| self.row(record))
    }

    /// One of [`FileTable::inputs`] by its path.
    pub fn input(&self, path: &str) -> Option<Row<'_>> {
        let inputs = &self.records()[self.entries as usize..];
        let at = inputs.binary_search_by(|record| self.path(record).cmp(path)).ok()?;
        Some(self.row(&inputs[at]))
    }

    fn row(&self, record: &Record) -> Row<'_> {
        let reason = SkipReason::ALL.get(record.reason as usize).copied().unwrap_or(SkipReason::Unreadable);
        Row {
            path: self.path(record),
            size: record.size,
            mtime_ns: record.mtime_ns,
            ctime_ns: record.ctime_ns,
            state: if record.id == NONE { Err(reason) } else { Ok(record.id) },
            is_dir: record.reason != NONE,
        }
    }
}

/// An [`Entry`] or an [`Input`], read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// See [`SourceFile::path`].
    pub path: &'a str,
    /// Bytes.
    pub size: u64,
    /// See [`SourceFile::mtime_ns`].
    pub mtime_ns: i64,
    /// See [`SourceFile::ctime_ns`].
    pub ctime_ns: i64,
    /// See [`Entry::state`]; of no meaning for an input.
    pub state: Result<u32, SkipReason>,
    /// See [`Input::is_dir`]; of no meaning for a file.
    pub is_dir: bool,
}

impl Row<'_> {
    /// Whether a file is as it was: its size and both its times.
    pub fn is_as(&self, file: &SourceFile) -> bool {
        (self.size, self.mtime_ns, self.ctime_ns) == (file.size, file.mtime_ns, file.ctime_ns)
    }

    /// The same as an owned entry.
    pub fn to_entry(self) -> Entry {
        let Self { path, size, mtime_ns, ctime_ns, state, .. } = self;
        Entry { file: SourceFile { path: path.to_owned(), size, mtime_ns, ctime_ns }, state }
    }

    /// The same as an owned input.
    pub fn to_input(self) -> Input {
        let Self { path, size, mtime_ns, ctime_ns, is_dir, .. } = self;
        Input { path: path.to_owned(), size, mtime_ns, ctime_ns, is_dir }
    }
}
