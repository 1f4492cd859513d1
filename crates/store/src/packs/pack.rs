//! Pack: content, symbols and facts of the files that one commit added.
//!
//! ```text
//! magic, content and facts of every file and blocks of grams | symbols | decorators | files | paths | blocks | sums | footer
//! ```
//!
//! Content comes first because it is written as it is read. The tables follow when their sizes are known, each
//! aligned to eight bytes, and are read in place. A pack never changes: a later commit copies its live files into a
//! larger one. All data has checksums that are verified on first use: one for each file's text and facts, and one for
//! each page of tables and blocks.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::grams::{self, Block, BlockRecord, GramQuery, GramWriter};
use super::health::Health;
use super::map::MappedFile;
use super::pages::{PageSums, Pages};
use crate::{Error, FORMAT};
use codelode_base::model::{Span, Symbol};

/// Magic bytes at the start and end of every pack.
const MAGIC: [u8; 8] = *b"codelode";

/// Stored symbol: positions in its file's content, no text. Most repositories have more symbols than anything else,
/// so records are small: lengths are capped at sixteen bits where readers truncate anyway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct SymbolRecord {
    pub start: u32,
    pub len: u32,
    pub line: u32,
    pub end_line: u32,
    pub name_start: u32,
    pub doc_start: u32,
    pub container_start: u32,
    /// Index among the file's symbols; [`NONE`] for none.
    pub parent: u32,
    pub name_len: u16,
    pub doc_len: u16,
    pub container_len: u16,
    /// Start of the signature, relative to `start`.
    pub signature_after: u16,
    pub signature_len: u16,
    /// Number among the symbols that would share its id, from one; zero when unique.
    pub overload: u16,
    pub complexity: u16,
    /// A [`Kind`](codelode_base::model::Kind), and [`HANDED`].
    pub kind: u8,
    pub detail: u8,
}

/// Marks the kind of a symbol that is a value in the middle of an expression.
pub(crate) const HANDED: u8 = 0x80;

impl SymbolRecord {
    /// Creates the record of a symbol, without its overload number.
    pub fn of(symbol: &Symbol) -> Self {
        let short = |len: usize| u16::try_from(len).unwrap_or(u16::MAX);
        Self {
            start: symbol.span.start,
            len: symbol.span.len() as u32,
            line: symbol.line,
            end_line: symbol.end_line,
            name_start: symbol.name.start,
            name_len: short(symbol.name.len()),
            doc_start: symbol.doc.start,
            doc_len: short(symbol.doc.len()),
            container_start: symbol.container.start,
            container_len: short(symbol.container.len()),
            // With more than 64 KB of decorators, the signature is shown from the truncated offset.
            signature_after: short((symbol.signature.start - symbol.span.start) as usize),
            signature_len: short(symbol.signature.len()),
            parent: symbol.parent.unwrap_or(NONE),
            complexity: symbol.complexity,
            kind: symbol.kind as u8 | if symbol.handed { HANDED } else { 0 },
            detail: symbol.detail as u8,
            overload: 0,
        }
    }

    /// Span of the whole definition.
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.start.saturating_add(self.len) }
    }

    /// Span of the name.
    pub fn name(&self) -> Span {
        short_span(self.name_start, self.name_len)
    }

    /// Span of the documentation.
    pub fn doc(&self) -> Span {
        short_span(self.doc_start, self.doc_len)
    }

    /// Span of the owner's name.
    pub fn container(&self) -> Span {
        short_span(self.container_start, self.container_len)
    }

    /// Span of the definition without its body.
    pub fn signature(&self) -> Span {
        short_span(self.start.saturating_add(u32::from(self.signature_after)), self.signature_len)
    }
}

fn short_span(start: u32, len: u16) -> Span {
    Span { start, end: start.saturating_add(u32::from(len)) }
}

/// First eight bytes of a hash.
pub fn first_eight(hash: &[u8; 32]) -> [u8; 8] {
    hash[..8].try_into().expect("eight bytes are eight bytes")
}

/// Decorator, with the index of its symbol and its position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct DecoratorRecord {
    pub symbol: u32,
    pub start: u32,
    pub end: u32,
}

/// File, with the positions of its parts in the pack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct FileRecord {
    pub content_start: u64,
    pub content_len: u32,
    /// CRC-32 of the content, verified on first use.
    pub content_checksum: u32,
    pub id: u32,
    pub path_start: u32,
    pub path_len: u32,
    pub lines: u32,
    pub first_symbol: u32,
    pub symbols: u32,
    pub first_decorator: u32,
    pub decorators: u32,
    pub facts_start: u64,
    /// Size of the facts in bytes; zero for languages without resolution.
    pub facts_len: u64,
    /// Index in [`codelode_lang::languages::LANGUAGES`]; [`NO_LANGUAGE`] for a file without symbols.
    pub language: u8,
    pub flags: u8,
    /// BLAKE3 of the facts, truncated to six bytes; zero when there are none.
    pub facts_checksum: [u8; 6],
    /// BLAKE3 of the content, which identifies it.
    pub hash: [u8; 32],
}

/// Positions of the tables.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Footer {
    symbols_start: u64,
    symbols: u64,
    decorators_start: u64,
    decorators: u64,
    files_start: u64,
    files: u64,
    paths_start: u64,
    paths_len: u64,
    blocks_start: u64,
    blocks: u64,
    /// See [`Footer::expected`].
    checksum: u64,
    format: u64,
    magic: [u8; 8],
}

impl Footer {
    /// Expected checksum: BLAKE3 of the sums of the tables' pages and of the rest of the footer, truncated to eight
    /// bytes.
    fn expected(&self, sums: &[u8]) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(sums).update(Self { checksum: 0, ..*self }.as_bytes());
        u64::from_le_bytes(first_eight(hasher.finalize().as_bytes()))
    }
}

/// No parent.
pub const NONE: u32 = u32::MAX;
/// No grammar for the file.
pub const NO_LANGUAGE: u8 = u8::MAX;

/// Flag of a file with syntax errors.
pub const HAS_ERRORS: u8 = 1;
/// Flag of a file that the parser gave up on.
pub const GIVEN_UP: u8 = 2;
/// Flag of a file with a NUL byte.
pub const HAS_NUL: u8 = 4;
/// Flag of tests, benchmarks and examples.
pub const EXERCISES: u8 = 8;
/// Flag of documentation and copies of third-party code.
pub const BESIDE: u8 = 16;
/// Flag of generated files.
pub const GENERATED: u8 = 32;
/// Flag of a file whose reading ended at a limit; its end may be missing.
pub const CUT: u8 = 64;
/// Flag of a file whose reading was ended by time, so that the next run reads it again.
pub const TIMED_OUT: u8 = 128;

/// Path of a pack.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("pack.{number}"))
}

/// A pack, open for reading.
#[derive(Clone, Debug)]
pub struct Pack {
    map: MappedFile,
    footer: Footer,
    checked: Arc<Checked>,
}

/// Verified parts of a pack.
#[derive(Debug)]
struct Checked {
    /// All tables, from the first symbol to the last block.
    tables: Pages,
    /// Pages of each block, from its first use.
    blocks: Vec<OnceLock<Pages>>,
    /// Content and facts of each file, in file order.
    health: Health,
}

impl Pack {
    /// Opens a pack; reads only its footer.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let map = MappedFile::open(path)?;
        let size = map.bytes().len() as u64;
        let start = size.checked_sub(size_of::<Footer>() as u64).ok_or_else(|| map.damaged("it is too short"))?;
        let footer = map.records::<Footer>(start, 1)?[0];
        if footer.magic != MAGIC || footer.format != u64::from(FORMAT) {
            return Err(map.damaged("its end is missing"));
        }
        // The bounds of every table are checked before any use.
        map.records::<SymbolRecord>(footer.symbols_start, footer.symbols)?;
        map.records::<DecoratorRecord>(footer.decorators_start, footer.decorators)?;
        map.records::<FileRecord>(footer.files_start, footer.files)?;
        map.slice(footer.paths_start, footer.paths_len)?;
        map.records::<BlockRecord>(footer.blocks_start, footer.blocks)?;
        let tables_end =
            footer.blocks.saturating_mul(size_of::<BlockRecord>() as u64).saturating_add(footer.blocks_start);
        let checked = map.known(|| {
            let tables = Pages::of(&map, footer.symbols_start, tables_end.saturating_sub(footer.symbols_start))?;
            if !agrees(footer.checksum, footer.expected(tables.sums(&map)?)) {
                return Err(map.damaged("its end does not match its checksum"));
            }
            let blocks = (0..footer.blocks).map(|_| OnceLock::new()).collect();
            Ok(Checked { tables, blocks, health: Health::new(path, 2 * footer.files as usize) })
        })?;
        Ok(Self { map, footer, checked })
    }

    /// Damage found since opening.
    pub fn damage(&self) -> Result<(), Error> {
        self.map.damage()?;
        self.checked.health.damage()
    }

    /// `count` records of a table from index `first`; empty when damaged, which [`Pack::damage`] reports.
    fn table<T>(&self, start: u64, first: u64, count: u64) -> &[T]
    where
        T: FromBytes + Immutable + KnownLayout,
    {
        let Checked { tables, health, .. } = &*self.checked;
        health.whole(tables.records(&self.map, start.saturating_add(first * size_of::<T>() as u64), count))
    }

    /// The mapped file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// Its files, sorted by id.
    pub fn files(&self) -> &[FileRecord] {
        self.table(self.footer.files_start, 0, self.footer.files)
    }

    /// File at an index.
    fn file_at(&self, place: u64) -> Option<&FileRecord> {
        if place >= self.footer.files {
            return None;
        }
        self.table(self.footer.files_start, place, 1).first()
    }

    /// Finds a file by its id, with its index.
    pub fn file(&self, id: u32) -> Option<(u64, &FileRecord)> {
        let place = self.place(id)?;
        Some((place, self.file_at(place)?))
    }

    /// Index of a file by its id.
    fn place(&self, id: u32) -> Option<u64> {
        let straight = u64::from(id.checked_sub(self.file_at(0)?.id)?);
        // Most packs hold a run of ids without gaps; after a gap, a file's index is lower than its offset in the run.
        let (mut from, mut to, mut place) = (0, straight + 1, straight);
        while from < to {
            match self.file_at(place).map_or(Ordering::Greater, |file| file.id.cmp(&id)) {
                Ordering::Equal => return Some(place),
                Ordering::Less => from = place + 1,
                Ordering::Greater => to = place,
            }
            place = from + (to - from) / 2;
        }
        None
    }

    /// Path of a file.
    pub fn path(&self, file: &FileRecord) -> &str {
        let Checked { tables, health, .. } = &*self.checked;
        let start = self.footer.paths_start.saturating_add(file.path_start.into());
        let bytes: &[u8] = health.whole(tables.slice(&self.map, start, file.path_len.into()));
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    /// Content of the file at an index; empty when damaged, which [`Pack::damage`] reports.
    pub fn content(&self, place: u64, file: &FileRecord) -> &[u8] {
        let content = self.map.slice(file.content_start, file.content_len.into()).unwrap_or_default();
        // Searched text is read once: a cryptographic hash of it would take longer than the search.
        let is_right = || agrees(file.content_checksum, crc32fast::hash(content));
        if self.checked.health.is_right(2 * place as usize, "the text of a file", is_right) { content } else { &[] }
    }

    /// Facts of the file at an index; empty when damaged, which [`Pack::damage`] reports.
    pub fn facts(&self, place: u64, file: &FileRecord) -> &[u8] {
        let facts = self.map.slice(file.facts_start, file.facts_len).unwrap_or_default();
        let is_right = || agrees(file.facts_checksum, facts_checksum(facts));
        let part = 2 * place as usize + 1;
        if self.checked.health.is_right(part, "what a file says about names", is_right) { facts } else { &[] }
    }

    /// Symbols of a file, in source order.
    pub fn symbols(&self, file: &FileRecord) -> &[SymbolRecord] {
        self.table(self.footer.symbols_start, file.first_symbol.into(), file.symbols.into())
    }

    /// Decorators of a file's symbols, sorted by symbol.
    pub fn decorators(&self, file: &FileRecord) -> &[DecoratorRecord] {
        self.table(self.footer.decorators_start, file.first_decorator.into(), file.decorators.into())
    }

    /// Numbers of the files that may match a query on their text. They may include files that no snapshot names any
    /// more.
    pub fn candidates(&self, query: &GramQuery) -> Result<Vec<u32>, Error> {
        let Checked { tables, blocks, .. } = &*self.checked;
        let records: &[BlockRecord] = tables.records(&self.map, self.footer.blocks_start, self.footer.blocks)?;
        let (mut found, mut ordered) = (Vec::new(), None);
        for (record, pages) in records.iter().zip(blocks) {
            let pages = match pages.get() {
                Some(pages) => pages,
                None => {
                    let opened = grams::open(&self.map, record)?;
                    pages.get_or_init(|| opened)
                }
            };
            let block = Block { map: &self.map, record, pages };
            // A gram that is rare in one block is rare in the others: ordering each block's query would take half of
            // the time.
            let query = match &ordered {
                Some(query) => query,
                None => ordered.insert(block.rarest_first(query)?),
            };
            found.append(&mut block.candidates(query)?);
        }
        Ok(found)
    }

    /// Size of a file with its table rows.
    pub fn weight(&self, file: &FileRecord) -> u64 {
        let symbols = u64::from(file.symbols) * size_of::<SymbolRecord>() as u64;
        let decorators = u64::from(file.decorators) * size_of::<DecoratorRecord>() as u64;
        (size_of::<FileRecord>() as u64 + u64::from(file.path_len) + u64::from(file.content_len) + symbols + decorators)
            .saturating_add(file.facts_len)
    }

    /// Verifies the whole pack.
    pub fn verify(&self) -> Result<(), Error> {
        self.verify_tables()?;
        let blocks: &[BlockRecord] = self.map.records(self.footer.blocks_start, self.footer.blocks)?;
        blocks.iter().try_for_each(|block| grams::open(&self.map, block)?.verify(&self.map))?;
        for file in self.files() {
            let content = self.map.slice(file.content_start, file.content_len.into())?;
            if blake3::hash(content) != file.hash {
                return Err(self.map.damaged("the text of a file does not match its checksum"));
            }
            if facts_checksum(self.map.slice(file.facts_start, file.facts_len)?) != file.facts_checksum {
                return Err(self.map.damaged("what a file says about names does not match its checksum"));
            }
        }
        Ok(())
    }

    /// Verifies the parts of the tables that this process has not read yet.
    pub fn check_tables(&self) -> Result<(), Error> {
        self.checked.tables.check_all(&self.map)
    }

    /// Verifies the tables.
    pub fn verify_tables(&self) -> Result<(), Error> {
        self.checked.tables.verify(&self.map)
    }
}

/// See [`FileRecord::facts_checksum`].
fn facts_checksum(facts: &[u8]) -> [u8; 6] {
    let hash = blake3::hash(facts);
    let mut checksum = [0; 6];
    if !facts.is_empty() {
        checksum.copy_from_slice(&hash.as_bytes()[..6]);
    }
    checksum
}

/// The first eight bytes of a BLAKE3 hash.
pub fn checksum(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    u64::from_le_bytes(first_eight(hash.as_bytes()))
}

/// Whether a stored checksum is the computed one.
pub fn agrees<T: PartialEq>(stored: T, computed: T) -> bool {
    #[cfg(any(test, fuzzing, feature = "testing"))]
    if crate::fuzzing::is_blind() {
        return true;
    }
    stored == computed
}

/// [`checksum`] of parts that follow each other.
pub fn checksum_of(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    u64::from_le_bytes(first_eight(hasher.finalize().as_bytes()))
}

/// Writer of a pack.
pub struct PackWriter {
    file: BufWriter<File>,
    path: PathBuf,
    written: u64,
    symbols: Vec<SymbolRecord>,
    decorators: Vec<DecoratorRecord>,
    files: Vec<FileRecord>,
    paths: String,
    grams: GramWriter,
    blocks: Vec<BlockRecord>,
    /// Number of grams gathered before they are written.
    most_grams: usize,
}

/// Parts of a file for a pack. `record` has id, language, flags, lines and hash; the rest is filled in.
pub struct PackFile<'a> {
    pub record: FileRecord,
    pub path: &'a str,
    pub content: &'a [u8],
    pub facts: &'a [u8],
    pub symbols: &'a [SymbolRecord],
    pub decorators: &'a [DecoratorRecord],
    /// See [`super::grams::grams`].
    pub grams: &'a [u32],
}

impl PackWriter {
    /// Creates a pack.
    pub fn create(path: PathBuf, most_grams: usize) -> Result<Self, Error> {
        let file = File::options().create(true).truncate(true).write(true).open(&path);
        let file = file.map_err(Error::io("cannot write", &path))?;
        let mut writer = Self {
            file: BufWriter::with_capacity(1 << 18, file),
            path,
            written: 0,
            symbols: Vec::new(),
            decorators: Vec::new(),
            files: Vec::new(),
            paths: String::new(),
            grams: GramWriter::default(),
            blocks: Vec::new(),
            most_grams,
        };
        writer.write(&MAGIC)?;
        Ok(writer)
    }

    /// Adds a file. Ids may come in any order.
    pub fn add(&mut self, file: &PackFile<'_>) -> Result<(), Error> {
        let content_start = self.written;
        self.write(file.content)?;
        let facts_start = self.written;
        self.write(file.facts)?;
        self.files.push(FileRecord {
            content_start,
            content_len: file.content.len() as u32,
            content_checksum: crc32fast::hash(file.content),
            facts_start,
            facts_len: file.facts.len() as u64,
            path_start: self.paths.len() as u32,
            path_len: file.path.len() as u32,
            first_symbol: self.symbols.len() as u32,
            symbols: file.symbols.len() as u32,
            first_decorator: self.decorators.len() as u32,
            decorators: file.decorators.len() as u32,
            facts_checksum: facts_checksum(file.facts),
            ..file.record
        });
        self.paths.push_str(file.path);
        self.symbols.extend_from_slice(file.symbols);
        self.decorators.extend_from_slice(file.decorators);
        self.grams.add(file.record.id, file.grams);
        if self.grams.is_full(self.most_grams) { self.write_grams() } else { Ok(()) }
    }

    /// Writes the grams gathered so far, between contents. [`PackWriter::bytes`] does not count them before.
    pub fn write_grams(&mut self) -> Result<(), Error> {
        let fill = padding(self.written);
        if let Some((record, bytes)) = self.grams.take(self.written + fill as u64) {
            self.write(&[0; 8][..fill])?;
            self.write(&bytes)?;
            self.blocks.push(record);
        }
        Ok(())
    }

    /// Number of files so far.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Bytes so far, including the tables.
    pub fn bytes(&self) -> u64 {
        let tables = size_of_val(&self.files[..]) + size_of_val(&self.symbols[..]) + size_of_val(&self.decorators[..]);
        self.written + (tables + self.paths.len() + size_of::<Footer>()) as u64
    }

    /// Writes the tables. The file is complete but not synced: that is the task of [`crate::life::writer`].
    pub fn finish(mut self) -> Result<File, Error> {
        self.write_grams()?;
        self.files.sort_unstable_by_key(|file| file.id);
        let (symbols, decorators) = (std::mem::take(&mut self.symbols), std::mem::take(&mut self.decorators));
        let (files, paths) = (std::mem::take(&mut self.files), std::mem::take(&mut self.paths));
        let blocks = std::mem::take(&mut self.blocks);
        // Content may end at any byte; its padding is outside the checksum.
        self.write(&[0; 8][..padding(self.written)])?;
        let mut footer = Footer { format: u64::from(FORMAT), magic: MAGIC, ..Footer::default() };
        let mut sums = PageSums::from(self.written);
        let mut table = |writer: &mut Self, bytes: &[u8]| {
            let start = writer.written;
            writer.write(bytes)?;
            let fill = &[0; 8][..padding(writer.written)];
            writer.write(fill)?;
            sums.add(bytes);
            sums.add(fill);
            Ok::<_, Error>(start)
        };
        footer.symbols = symbols.len() as u64;
        footer.symbols_start = table(&mut self, symbols.as_bytes())?;
        footer.decorators = decorators.len() as u64;
        footer.decorators_start = table(&mut self, decorators.as_bytes())?;
        footer.files = files.len() as u64;
        footer.files_start = table(&mut self, files.as_bytes())?;
        footer.paths_len = paths.len() as u64;
        footer.paths_start = table(&mut self, paths.as_bytes())?;
        footer.blocks = blocks.len() as u64;
        footer.blocks_start = table(&mut self, blocks.as_bytes())?;
        let sums = sums.finish();
        self.write(&sums)?;
        footer.checksum = footer.expected(&sums);
        self.write(footer.as_bytes())?;
        let Self { file, path, .. } = self;
        file.into_inner().map_err(|err| Error::io("cannot write", &path)(err.into_error()))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.written += bytes.len() as u64;
        self.file.write_all(bytes).map_err(Error::io("cannot write", &self.path))
    }
}

/// Bytes missing to a multiple of eight.
pub fn padding(written: u64) -> usize {
    (written.next_multiple_of(8) - written) as usize
}
