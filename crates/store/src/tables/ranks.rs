//! Ranks of a snapshot's symbols: PageRank over the edges, read in place.
//!
//! Like the edges it is derived from, this table is not part of a commit. The first query computes it, and it is
//! stored beside them.

use std::path::{Path, PathBuf};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::sections::verify_body;
use crate::packs::map::MappedFile;
use crate::packs::pack::checksum;
use crate::{Error, SymbolId};

const MAGIC: [u8; 8] = *b"clranks\0";
/// Version of this table and of the ranking; older tables are computed again.
const VERSION: u32 = 3;

/// Centrality of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Rank {
    file: u32,
    index: u32,
    /// Share of the total rank; all shares add up to one.
    pub score: f32,
    /// Number of symbols that use it.
    pub users: u32,
    /// Number of symbols that it uses.
    pub uses: u32,
}

impl Rank {
    /// Creates the rank of a symbol.
    pub fn new(symbol: SymbolId, score: f32, users: u32, uses: u32) -> Self {
        Self { file: symbol.file, index: symbol.index, score, users, uses }
    }

    /// The ranked symbol.
    pub fn symbol(&self) -> SymbolId {
        SymbolId { file: self.file, index: self.index }
    }
}

#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    iterations: u32,
    checksum: u64,
    /// Checksum of the edges it was computed from.
    edges: u64,
    count: u64,
}

/// Path of a table.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("ranks.{number}"))
}

/// Serializes ranks. `edges` is the checksum of the edges. Equal ranks keep the given order: file numbers depend on
/// when files were stored, and answers must not.
pub fn to_bytes(given: Vec<Rank>, iterations: u32, edges: u64) -> Vec<u8> {
    let mut by_symbol: Vec<u32> = (0..given.len() as u32).collect();
    by_symbol.sort_by_key(|at| given[*at as usize].symbol());
    let mut places = vec![0; given.len()];
    by_symbol.iter().zip(0..).for_each(|(at, place)| places[*at as usize] = place);
    let mut by_score: Vec<u32> = (0..given.len() as u32).collect();
    by_score.sort_by(|a, b| given[*b as usize].score.total_cmp(&given[*a as usize].score));
    let ranks: Vec<Rank> = by_symbol.iter().map(|at| given[*at as usize]).collect();
    let order: Vec<u32> = by_score.iter().map(|at| places[*at as usize]).collect();
    let body = [ranks.as_bytes(), order.as_bytes()].concat();
    let count = ranks.len() as u64;
    let header = Header { magic: MAGIC, version: VERSION, iterations, checksum: checksum(&body), edges, count };
    [header.as_bytes(), &body].concat()
}

/// Ranks of a snapshot, open for reading.
#[derive(Clone, Debug)]
pub struct RankTable {
    map: MappedFile,
    header: Header,
}

impl RankTable {
    /// See `MappedFile::damage`.
    pub fn damage(&self) -> Result<(), Error> {
        self.map.damage()
    }

    /// The mapped file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// Verifies the whole table.
    pub fn verify(&self) -> Result<(), Error> {
        verify_body(&self.map, size_of::<Header>(), self.header.checksum)
    }

    /// Opens a table and verifies its checksum and its edges.
    pub fn open(path: &Path, edges: u64) -> Result<Self, Error> {
        let map = MappedFile::open(path)?;
        let header = map.records::<Header>(0, 1)?[0];
        if header.magic != MAGIC || header.version != VERSION || header.edges != edges {
            return Err(map.damaged("it is not a table of ranks of these edges"));
        }
        let rows = header.count.saturating_mul((size_of::<Rank>() + size_of::<u32>()) as u64);
        if rows.saturating_add(size_of::<Header>() as u64) != map.bytes().len() as u64 {
            return Err(map.damaged("it has another length than it says"));
        }
        let table = Self { map, header };
        table.verify()?;
        Ok(table)
    }

    fn all(&self) -> &[Rank] {
        self.map.records(size_of::<Header>() as u64, self.header.count).unwrap_or_default()
    }

    /// Number of ranked symbols.
    pub fn len(&self) -> usize {
        self.header.count as usize
    }

    /// Whether no symbol is ranked.
    pub fn is_empty(&self) -> bool {
        self.header.count == 0
    }

    /// Number of rounds until the ranks converged.
    pub fn iterations(&self) -> u32 {
        self.header.iterations
    }

    /// Rank of a symbol; `None` for plain values and for languages without resolution.
    pub fn of(&self, symbol: SymbolId) -> Option<&Rank> {
        let all = self.all();
        all.binary_search_by_key(&symbol, Rank::symbol).ok().map(|place| &all[place])
    }

    /// Ranks of all symbols, best first.
    pub fn best(&self) -> impl Iterator<Item = &Rank> {
        let all = self.all();
        let start = size_of::<Header>() + size_of_val(all);
        let order: &[u32] = self.map.records(start as u64, self.header.count).unwrap_or_default();
        order.iter().filter_map(|place| all.get(*place as usize))
    }
}
