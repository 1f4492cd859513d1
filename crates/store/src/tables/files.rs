//! Files of a snapshot: every path with its metadata as of reading, and the inputs of the choice of files. Sorted by
//! path and read in place; the checksum of a page is verified on first use.
//!
//! ```text
//! header | a bit for each file number | files | inputs | paths | sums of the pages
//! ```

use std::cmp::Ordering;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::packs::health::Health;
use crate::packs::map::MappedFile;
use crate::packs::pack::{NONE, agrees, first_eight};
use crate::packs::pages::{PageSums, Pages};
use crate::{Error, FORMAT};
use codelode_base::model::{Input, SkipReason, SourceFile};

const MAGIC: [u8; 8] = *b"clfiles\0";

/// File of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file as the walk saw it.
    pub file: SourceFile,
    /// Its number in the store, or the reason why its content was left out.
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
    /// Number of 64-bit words.
    numbers: u64,
    /// See [`Header::expected`].
    checksum: u64,
}

impl Header {
    /// Expected checksum: BLAKE3 of the sums of the pages and of the rest of the header, truncated to eight bytes.
    fn expected(&self, sums: &[u8]) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(sums).update(Self { checksum: 0, ..*self }.as_bytes());
        u64::from_le_bytes(first_eight(hasher.finalize().as_bytes()))
    }
}

/// Stored form of an entry or an input.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Record {
    path_start: u32,
    path_len: u32,
    /// File number; [`NONE`] for an omitted file and for inputs.
    id: u32,
    /// Index of the reason in [`SkipReason::ALL`]; [`NONE`] for a stored file, and for an input that is no directory.
    reason: u32,
    size: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

/// Path of a table.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("files.{number}"))
}

/// Writes a table; `entries` must be sorted by path. The file is not synced.
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
        // A directory is marked in a column that inputs do not use otherwise.
        let marker = input.is_dir.then_some(SkipReason::ALL[0]);
        push(&input.path, NONE, marker, input.size, (input.mtime_ns, input.ctime_ns));
    }
    let mut numbers: Vec<u64> = Vec::new();
    for id in entries.iter().filter_map(|entry| entry.state.ok()) {
        let word = id as usize / 64;
        numbers.resize(numbers.len().max(word + 1), 0);
        numbers[word] |= 1 << (id % 64);
    }
    let mut header = Header {
        magic: MAGIC,
        format: u64::from(FORMAT),
        entries: entries.len() as u64,
        inputs: inputs.len() as u64,
        paths_len: paths.len() as u64,
        numbers: numbers.len() as u64,
        checksum: 0,
    };
    let mut body = Vec::with_capacity(size_of_val(&numbers[..]) + size_of_val(&records[..]) + paths.len() + 8);
    [numbers.as_bytes(), records.as_bytes(), paths.as_bytes()].iter().for_each(|part| body.extend_from_slice(part));
    body.resize(body.len().next_multiple_of(8), 0);
    let mut sums = PageSums::from(size_of::<Header>() as u64);
    sums.add(&body);
    let sums = sums.finish();
    header.checksum = header.expected(&sums);
    let bytes = [header.as_bytes(), &body, &sums].concat();
    let mut file = File::create(path).map_err(Error::io("cannot write", path))?;
    file.write_all(&bytes).map_err(Error::io("cannot write", path))?;
    Ok(file)
}

/// Files of a snapshot, open for reading.
#[derive(Clone, Debug)]
pub struct FileTable {
    map: MappedFile,
    header: Header,
    checked: Arc<Checked>,
}

/// Verified parts of a table.
#[derive(Debug)]
struct Checked {
    pages: Pages,
    health: Health,
}

impl FileTable {
    /// Opens a table; reads only its header.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let map = MappedFile::open(path)?;
        let header = map.records::<Header>(0, 1)?[0];
        if header.magic != MAGIC || header.format != u64::from(FORMAT) {
            return Err(map.damaged("it is not a table of files"));
        }
        let records = header.entries.saturating_add(header.inputs).saturating_mul(size_of::<Record>() as u64);
        let body = header.numbers.saturating_mul(8).saturating_add(records).saturating_add(header.paths_len);
        let checked = map.known(|| {
            let pages = Pages::of(&map, size_of::<Header>() as u64, body.saturating_add(7) / 8 * 8)?;
            let is_whole = pages.end() == map.bytes().len() as u64;
            if !is_whole || !agrees(header.checksum, header.expected(pages.sums(&map)?)) {
                return Err(map.damaged("it does not match its checksum"));
            }
            Ok(Checked { pages, health: Health::new(path, 0) })
        })?;
        Ok(Self { map, header, checked })
    }

    /// Verifies the whole table.
    pub fn verify(&self) -> Result<(), Error> {
        self.checked.pages.verify(&self.map)
    }

    /// Verifies the parts that this process has not read yet.
    pub fn check_all(&self) -> Result<(), Error> {
        self.checked.pages.check_all(&self.map)
    }

    /// Damage found since opening.
    pub fn damage(&self) -> Result<(), Error> {
        self.map.damage()?;
        self.checked.health.damage()
    }

    /// Bit set of the file numbers that are stored.
    pub fn numbers(&self) -> Result<&[u64], Error> {
        self.checked.pages.records(&self.map, size_of::<Header>() as u64, self.header.numbers)
    }

    /// The mapped file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// Number of files, including those whose content was left out.
    pub fn len(&self) -> usize {
        self.header.entries as usize
    }

    /// Whether the table has no files.
    pub fn is_empty(&self) -> bool {
        self.header.entries == 0
    }

    /// `count` records from index `first`; empty when damaged, which [`FileTable::damage`] reports.
    fn records(&self, first: u64, count: u64) -> &[Record] {
        let Checked { pages, health } = &*self.checked;
        let start = size_of::<Header>() as u64 + 8 * self.header.numbers + first * size_of::<Record>() as u64;
        health.whole(pages.records(&self.map, start, count))
    }

    fn path(&self, record: &Record) -> &str {
        let Checked { pages, health } = &*self.checked;
        let records = (self.header.entries + self.header.inputs) * size_of::<Record>() as u64;
        let paths = size_of::<Header>() as u64 + 8 * self.header.numbers + records;
        let start = paths + u64::from(record.path_start);
        let bytes: &[u8] = health.whole(pages.slice(&self.map, start, record.path_len.into()));
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Files sorted by path, with size, times, and number or reason.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.records(0, self.header.entries).iter().map(|record| self.row(record))
    }

    /// Files in a folder and below it, sorted by path; the empty folder is the root.
    pub fn below(&self, folder: &str) -> impl ExactSizeIterator<Item = Row<'_>> {
        let position = |path: String| self.position(&path).unwrap_or_else(|at| at);
        // The sign after a slash is a nought.
        let (from, to) = match folder {
            "" => (0, self.len()),
            folder => (position(format!("{folder}/")), position(format!("{folder}0"))),
        };
        self.records(from as u64, to.saturating_sub(from) as u64).iter().map(|record| self.row(record))
    }

    /// Numbers of the stored files, sorted by path.
    pub fn held(&self) -> impl Iterator<Item = u32> {
        self.records(0, self.header.entries).iter().map(|record| record.id).filter(|id| *id != NONE)
    }

    /// File at an index of [`FileTable::iter`].
    pub fn get(&self, at: usize) -> Option<Row<'_>> {
        let at = Some(at as u64).filter(|at| *at < self.header.entries)?;
        self.records(at, 1).first().map(|record| self.row(record))
    }

    /// Index of a path, or where it would be inserted.
    pub fn position(&self, path: &str) -> Result<usize, usize> {
        self.position_among(0, self.header.entries, path).map(|at| at as usize).map_err(|at| at as usize)
    }

    /// Searches `count` records from index `first`. Reads only the records that it compares.
    fn position_among(&self, first: u64, count: u64, path: &str) -> Result<u64, u64> {
        let (mut from, mut to) = (0, count);
        while from < to {
            let place = from + (to - from) / 2;
            match self.records(first + place, 1).first().map_or("", |record| self.path(record)).cmp(path) {
                Ordering::Equal => return Ok(place),
                Ordering::Less => from = place + 1,
                Ordering::Greater => to = place,
            }
        }
        Err(from)
    }

    /// Finds a file by its path.
    pub fn find(&self, path: &str) -> Option<Row<'_>> {
        self.position(path).ok().and_then(|at| self.get(at))
    }

    /// Inputs that the choice of files depended on.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.records(self.header.entries, self.header.inputs).iter().map(|record| self.row(record))
    }

    /// Input at an index of [`FileTable::inputs`].
    pub fn input_at(&self, at: usize) -> Option<Row<'_>> {
        let at = Some(at as u64).filter(|at| *at < self.header.inputs)?;
        self.records(self.header.entries + at, 1).first().map(|record| self.row(record))
    }

    /// Finds one of [`FileTable::inputs`] by its path.
    pub fn input(&self, path: &str) -> Option<Row<'_>> {
        let (first, count) = (self.header.entries, self.header.inputs);
        let at = self.position_among(first, count, path).ok()?;
        self.records(first + at, 1).first().map(|record| self.row(record))
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

/// Stored [`Entry`] or [`Input`], read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// See [`SourceFile::path`].
    pub path: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// See [`SourceFile::mtime_ns`].
    pub mtime_ns: i64,
    /// See [`SourceFile::ctime_ns`].
    pub ctime_ns: i64,
    /// See [`Entry::state`]; meaningless for an input.
    pub state: Result<u32, SkipReason>,
    /// See [`Input::is_dir`]; meaningless for a file.
    pub is_dir: bool,
}

impl Row<'_> {
    /// Whether a file is unchanged in size and both times.
    pub fn is_as(&self, file: &SourceFile) -> bool {
        (self.size, self.mtime_ns, self.ctime_ns) == (file.size, file.mtime_ns, file.ctime_ns)
    }

    /// Variant of [`Row::is_as`] for a watched folder: every write since was reported, so a racy time need not be
    /// distrusted.
    pub fn is_read_as(&self, file: &SourceFile) -> bool {
        let is_its = self.mtime_ns == file.mtime_ns || self.mtime_ns == file.mtime_ns - 1;
        (self.size, self.ctime_ns) == (file.size, file.ctime_ns) && is_its
    }

    /// Converts the row to an owned entry.
    pub fn to_entry(self) -> Entry {
        let Self { path, size, mtime_ns, ctime_ns, state, .. } = self;
        Entry { file: SourceFile { path: path.to_owned(), size, mtime_ns, ctime_ns }, state }
    }

    /// Converts the row to an owned input.
    pub fn to_input(self) -> Input {
        let Self { path, size, mtime_ns, ctime_ns, is_dir, .. } = self;
        Input { path: path.to_owned(), size, mtime_ns, ctime_ns, is_dir }
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, FileTable, Row, write};
    use codelode_base::model::SourceFile;

    #[test]
    fn files_below_a_folder_are_not_those_beside_it() {
        let paths = ["a.rs", "src-old/b.rs", "src.rs", "src/c.rs", "src/in/d.rs", "src0/e.rs"];
        let entry = |path: &&str| {
            let file = SourceFile { path: (*path).to_owned(), size: 0, mtime_ns: 0, ctime_ns: 0 };
            Entry { file, state: Ok(0) }
        };
        let folder = tempfile::tempdir().expect("there is room");
        let table = folder.path().join("files");
        write(&table, &paths.iter().map(entry).collect::<Vec<_>>(), &[]).expect("there is room");
        let table = FileTable::open(&table).expect("it was just written");
        let below = |folder: &str| table.below(folder).map(|row: Row<'_>| row.path).collect::<Vec<_>>();
        assert_eq!(below("src"), ["src/c.rs", "src/in/d.rs"]);
        assert_eq!(below("src/in"), ["src/in/d.rs"]);
        assert!(below("sr").is_empty() && below("z").is_empty());
        assert_eq!(below(""), paths);
    }
}
