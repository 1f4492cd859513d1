//! Occurrences that compilers found, from files of their indexers, read in place.
//!
//! An index of a compiler holds for the texts that it was made of, so each document is kept with the hash of its text.
//! Edges are joined with it where a snapshot has that very text at that path.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::sections::{Sections, verify_body};
use crate::Error;
use crate::packs::map::MappedFile;
use crate::packs::pack::checksum_of;
use codelode_base::model::Detail;

const MAGIC: [u8; 8] = *b"clscip\0\0";
const VERSION: u32 = 1;
/// Number of tables.
const TABLES: usize = 5;

/// Text of a file, as a compiler read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CompiledDocument {
    hash: [u8; 32],
    path: [u32; 2],
    first: u32,
    count: u32,
}

/// Occurrence of a symbol in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CompiledOccurrence {
    /// First byte.
    pub at: u32,
    /// Bytes.
    pub len: u32,
    /// Index of the symbol.
    pub symbol: u32,
    /// See [`CompiledOccurrence::IS_DEFINITION`] and those that follow it.
    pub flags: u32,
    /// First byte of the whole definition, and one past its last; zeros when it is not known.
    pub around: [u32; 2],
}

impl CompiledOccurrence {
    /// The symbol is defined there.
    pub const IS_DEFINITION: u32 = 1;
    /// It is imported there.
    pub const IS_IMPORT: u32 = 2;
    /// It is written to.
    pub const IS_WRITE: u32 = 4;

    /// Whether the symbol is defined there.
    pub fn is_definition(&self) -> bool {
        self.flags & Self::IS_DEFINITION != 0
    }
}

/// Symbol of a compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct CompiledSymbol {
    name: [u32; 2],
    parent: u32,
    detail: u8,
    flags: u8,
    reserved: [u8; 2],
}

impl CompiledSymbol {
    /// It is a definition that readers look for: no local name, no parameter.
    pub const IS_LISTED: u8 = 1;
    /// Some document of the index defines it.
    pub const IS_DEFINED: u8 = 2;
    /// No document defines it, nor anything else of its package.
    pub const IS_FOREIGN: u8 = 4;
    const NO_PARENT: u32 = u32::MAX;

    /// Creates a symbol. Its name is given to [`Compiled::symbol`].
    pub fn new(detail: Detail, flags: u8, parent: Option<u32>) -> Self {
        Self { detail: detail as u8, flags, parent: parent.unwrap_or(Self::NO_PARENT), ..Self::default() }
    }

    /// Its kind.
    pub fn detail(&self) -> Detail {
        Detail::ALL.get(self.detail as usize).copied().unwrap_or(Detail::Variable)
    }

    /// Whether it is more than a local name.
    pub fn is_listed(&self) -> bool {
        self.flags & Self::IS_LISTED != 0
    }

    /// Whether some document of the index defines it.
    pub fn is_defined(&self) -> bool {
        self.flags & Self::IS_DEFINED != 0
    }

    /// Whether it comes from another package.
    pub fn is_foreign(&self) -> bool {
        self.flags & Self::IS_FOREIGN != 0
    }

    /// The symbol around it.
    pub fn parent(&self) -> Option<u32> {
        Some(self.parent).filter(|parent| *parent != Self::NO_PARENT)
    }
}

/// Builder of a [`CompiledTable`].
#[derive(Debug, Default)]
pub struct Compiled {
    documents: Vec<CompiledDocument>,
    occurrences: Vec<CompiledOccurrence>,
    symbols: Vec<CompiledSymbol>,
    implements: Vec<[u32; 2]>,
    text: Vec<u8>,
}

impl Compiled {
    /// Adds a document. They must come sorted by path, each with its occurrences in source order.
    pub fn document(&mut self, path: &str, hash: [u8; 32], occurrences: &[CompiledOccurrence]) {
        let path = self.text(path);
        let (first, count) = (self.occurrences.len() as u32, occurrences.len() as u32);
        self.occurrences.extend_from_slice(occurrences);
        self.documents.push(CompiledDocument { hash, path, first, count });
    }

    /// Adds a symbol with its name.
    pub fn symbol(&mut self, symbol: CompiledSymbol, name: &str) {
        let name = self.text(name);
        self.symbols.push(CompiledSymbol { name, ..symbol });
    }

    /// Adds a symbol that implements another or derives from it.
    pub fn implements(&mut self, symbol: u32, other: u32) {
        self.implements.push([symbol, other]);
    }

    fn text(&mut self, text: &str) -> [u32; 2] {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(text.as_bytes());
        [start, text.len() as u32]
    }

    /// Numbers of documents and occurrences.
    pub fn counts(&self) -> (u64, u64) {
        (self.documents.len() as u64, self.occurrences.len() as u64)
    }

    fn tables(&self) -> [&[u8]; TABLES] {
        [
            self.documents.as_bytes(),
            self.occurrences.as_bytes(),
            self.symbols.as_bytes(),
            self.implements.as_bytes(),
            &self.text,
        ]
    }

    /// Checksum that identifies the table.
    pub fn checksum(&self) -> u64 {
        checksum_of(&self.tables())
    }

    /// Writes the header, and the tables after it.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let lens = self.tables().map(|table| table.len() as u64);
        let header = Header { magic: MAGIC, version: VERSION, reserved: 0, checksum: self.checksum(), lens };
        out.write_all(header.as_bytes())?;
        self.tables().iter().try_for_each(|table| out.write_all(table))
    }
}

#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    reserved: u32,
    checksum: u64,
    lens: [u64; TABLES],
}

/// Path of a table.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("compiled.{number}"))
}

/// Occurrences of compilers, open for reading.
#[derive(Clone, Debug)]
pub struct CompiledTable {
    map: MappedFile,
    sections: Sections<TABLES>,
    checksum: u64,
}

impl CompiledTable {
    /// Opens a table and verifies its checksum.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let map = MappedFile::open(path)?;
        let header = map.records::<Header>(0, 1)?[0];
        if header.magic != MAGIC || header.version != VERSION {
            return Err(map.damaged("it is not a table of compilers' occurrences of this version"));
        }
        let sections = Sections::after(size_of::<Header>(), header.lens);
        if sections.end() != map.bytes().len() as u64 {
            return Err(map.damaged("it has another length than it says"));
        }
        let table = Self { map, sections, checksum: header.checksum };
        table.map.known(|| table.verify())?;
        Ok(table)
    }

    /// The mapped file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// Verifies the whole table.
    pub fn verify(&self) -> Result<(), Error> {
        verify_body(&self.map, size_of::<Header>(), self.checksum)
    }

    fn table<T: FromBytes + Immutable + KnownLayout>(&self, number: usize) -> &[T] {
        let count = self.sections.count::<T>(number) as u64;
        self.map.records(self.sections.start(number), count).unwrap_or_default()
    }

    fn text(&self, [start, len]: [u32; 2]) -> &str {
        let range = start as usize..(start as usize).saturating_add(len as usize);
        self.table::<u8>(4).get(range).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// All documents, by path.
    pub fn documents(&self) -> &[CompiledDocument] {
        self.table(0)
    }

    /// Paths of all documents.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.documents().iter().map(|document| self.path(document))
    }

    /// Path of a document, relative to the root.
    pub fn path(&self, document: &CompiledDocument) -> &str {
        self.text(document.path)
    }

    /// Hash of the text that a document was made of, see [`Prepared::hash`](crate::Prepared::hash).
    pub fn hash<'a>(&self, document: &'a CompiledDocument) -> &'a [u8; 32] {
        &document.hash
    }

    /// The document of a path, if it was made of a text with this hash.
    pub fn document(&self, path: &str, hash: &[u8; 32]) -> Option<&CompiledDocument> {
        let documents = self.documents();
        let place = documents.binary_search_by(|document| self.path(document).cmp(path)).ok()?;
        Some(&documents[place]).filter(|document| document.hash == *hash)
    }

    /// Occurrences of a document, in source order.
    pub fn occurrences(&self, document: &CompiledDocument) -> &[CompiledOccurrence] {
        let first = document.first as usize;
        self.table(1).get(first..first + document.count as usize).unwrap_or_default()
    }

    /// All symbols.
    pub fn symbols(&self) -> &[CompiledSymbol] {
        self.table(2)
    }

    /// A symbol.
    pub fn symbol(&self, number: u32) -> Option<&CompiledSymbol> {
        self.symbols().get(number as usize)
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: &CompiledSymbol) -> &str {
        self.text(symbol.name)
    }

    /// Symbols with those that they implement or derive from.
    pub fn implements(&self) -> &[[u32; 2]] {
        self.table(3)
    }

    /// Number of all occurrences.
    pub fn len(&self) -> usize {
        self.table::<CompiledOccurrence>(1).len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
