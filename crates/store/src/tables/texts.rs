//! Keys of the texts that stand for symbols, read in place: the key of each symbol of the files of a store.
//!
//! A stored file never changes, so neither do its keys: a newer table copies them.

use std::path::{Path, PathBuf};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::vectors::TextKey;
use crate::packs::map::MappedFile;
use crate::packs::pack::{agrees, checksum};
use crate::{Error, SymbolId};

const MAGIC: [u8; 8] = *b"cltexts\0";

/// The text of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct TextRow {
    file: u32,
    index: u32,
    /// Key of the text.
    pub key: TextKey,
}

impl TextRow {
    /// Creates the row of a symbol.
    pub fn new(symbol: SymbolId, key: TextKey) -> Self {
        Self { file: symbol.file, index: symbol.index, key }
    }

    /// The symbol.
    pub fn symbol(&self) -> SymbolId {
        SymbolId { file: self.file, index: self.index }
    }
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    /// How texts are made of symbols, as given.
    version: u64,
    /// Number of the store: in another one, file numbers mean other files.
    store: u64,
    /// Words of the set of files.
    words: u64,
    count: u64,
    checksum: u64,
}

/// Path of the table.
pub fn path(dir: &Path) -> PathBuf {
    dir.join("texts.all")
}

/// Serializes rows, sorted by symbol, and the set of files that they are of.
pub fn to_bytes(store: u64, version: u64, files: &[u64], rows: &[TextRow]) -> Vec<u8> {
    let body = [files.as_bytes(), rows.as_bytes()].concat();
    let (words, count, checksum) = (files.len() as u64, rows.len() as u64, checksum(&body));
    let header = Header { magic: MAGIC, version, store, words, count, checksum };
    [header.as_bytes(), &body].concat()
}

/// Keys of texts, open for reading.
#[derive(Clone, Debug)]
pub struct TextTable {
    map: MappedFile,
    header: Header,
}

impl TextTable {
    /// Opens the table of a store if its texts are made in this way.
    pub fn open(path: &Path, store: u64, version: u64) -> Result<Self, Error> {
        let map = MappedFile::open(path)?;
        let header = map.records::<Header>(0, 1)?[0];
        if header.magic != MAGIC || header.version != version || header.store != store {
            return Err(map.damaged("it holds no keys of texts of this store"));
        }
        let length =
            header.words.saturating_mul(8).saturating_add(header.count.saturating_mul(size_of::<TextRow>() as u64));
        if length.saturating_add(size_of::<Header>() as u64) != map.bytes().len() as u64 {
            return Err(map.damaged("it has another length than it says"));
        }
        let body = map.slice(size_of::<Header>() as u64, length)?;
        if !*map.known(|| Ok(agrees(header.checksum, checksum(body))))? {
            return Err(map.damaged("it does not match its checksum"));
        }
        Ok(Self { map, header })
    }

    /// The set of files, as a bit for each.
    pub fn files(&self) -> &[u64] {
        self.map.records(size_of::<Header>() as u64, self.header.words).unwrap_or_default()
    }

    /// Whether the texts of a file are in it.
    pub fn covers(&self, file: u32) -> bool {
        self.files().get(file as usize / 64).is_some_and(|word| word >> (file % 64) & 1 == 1)
    }

    /// All rows, sorted by symbol.
    pub fn rows(&self) -> &[TextRow] {
        let start = size_of::<Header>() as u64 + 8 * self.header.words;
        self.map.records(start, self.header.count).unwrap_or_default()
    }
}
