//! Edges of a snapshot: every occurrence with its targets, by file and by target, read in place.
//!
//! Unlike the rest of a store, this table is derived from the facts of the snapshot's files alone. It is not part of
//! a commit, which it would slow down. The first query after a commit computes it, and stores it beside the
//! snapshot's table of files if the folder is writable. A writer sweeps it away with that table.

mod build;
mod layer;

use std::cmp::Ordering;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

pub use build::{Copied, Edges, Parts};
use layer::{Layer, Targets};

use super::sections::Sections;
use crate::packs::health::Health;
use crate::packs::map::{self, MappedFile};
use crate::packs::pack::{NONE, agrees, checksum, checksum_of};
use crate::packs::pages::Pages;
use crate::{Error, SymbolId};
use codelode_base::model::{How, Role};

const MAGIC: [u8; 8] = *b"cledges\0";
/// Version of this table and of name resolution; older tables are computed again.
const VERSION: u32 = 11;
/// Number of tables.
const TABLES: usize = 10;

/// Occurrence of a name, with its targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Edge {
    /// Number of the file in the store.
    pub file: u32,
    /// First byte.
    pub at: u32,
    from: u32,
    first_target: u32,
    targets: u16,
    len: u16,
    role: u8,
    how: u8,
    reserved: [u8; 2],
}

impl Edge {
    /// Creates an occurrence without targets. `from` is the index of the enclosing symbol in its file.
    pub fn new(file: u32, at: u32, len: u16, role: Role, how: How, from: Option<u32>) -> Self {
        let from = from.unwrap_or(NONE);
        Self { file, at, len, role: role as u8, how: how as u8, from, ..Self::default() }
    }

    /// The same occurrence without targets, bound in another way.
    pub fn bound_by(&self, how: How) -> Self {
        Self { how: how as u8, first_target: 0, targets: 0, ..*self }
    }

    /// Innermost symbol around the occurrence.
    pub fn from(&self) -> Option<SymbolId> {
        (self.from != NONE).then_some(SymbolId { file: self.file, index: self.from })
    }

    /// Role of the name.
    pub fn role(&self) -> Role {
        Role::ALL.get(self.role as usize).copied().unwrap_or(Role::Reference)
    }

    /// How the name was bound.
    pub fn how(&self) -> How {
        How::ALL.get(self.how as usize).copied().unwrap_or(How::NoReceiver)
    }

    /// Length of the name in bytes.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether the name is empty, which never happens.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Occurrence in no file, returned for a row that a damaged table lacks.
static NOWHERE: Edge =
    Edge { file: NONE, at: 0, from: NONE, first_target: 0, targets: 0, len: 0, role: 0, how: 0, reserved: [0; 2] };

/// Import of one file by another. Files are given by their numbers in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Import {
    /// Importing file.
    pub from: u32,
    /// The imported file.
    pub to: u32,
    /// Position in bytes.
    pub at: u32,
}

/// Stored form of a [`SymbolId`]: file and index.
type Symbol = [u32; 2];

fn stored(id: SymbolId) -> Symbol {
    [id.file, id.index]
}

fn number(symbol: Symbol) -> SymbolId {
    SymbolId { file: symbol[0], index: symbol[1] }
}

/// Row of a table that is sorted by its first column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Pair {
    key: [u32; 2],
    value: [u32; 2],
}

/// Identity of the files that edges were derived from. Edges name files by numbers, which mean others elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Origin {
    /// See [`Manifest::store`](crate::Manifest).
    store: u64,
    /// Checksum of the set of file numbers.
    files: u64,
    /// Version of the extraction that made the facts.
    content: u64,
}

impl Origin {
    /// Creates the identity from the store's number, the version of the extraction and the bit set of file numbers.
    pub fn new(store: u64, content: u32, files: &[u64]) -> Self {
        Self { store, files: checksum(files.as_bytes()), content: content.into() }
    }

    /// The identity of edges that are joined with the occurrences of compilers whose table has this checksum.
    pub fn joined_with(self, compiled: u64) -> Self {
        Self { content: checksum_of(&[&self.content.to_le_bytes(), &compiled.to_le_bytes()]), ..self }
    }
}

#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    reserved: u32,
    /// Checksum of the rest of the header and of the page sums, which follow the tables.
    checksum: u64,
    origin: Origin,
    /// Bytes of each table, in file order.
    lens: [u64; TABLES],
}

impl Header {
    fn checksum_with(&self, sums: &[u8]) -> u64 {
        checksum_of(&[self.origin.as_bytes(), self.lens.as_bytes(), sums])
    }
}

/// Path of a table.
pub fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("edges.{number}"))
}

/// Path of a table that is joined with the occurrences of compilers.
pub(crate) fn joined_path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("joined.{number}"))
}

/// Numbers of the tables in a store, descending.
pub fn numbers(dir: &Path) -> Vec<u64> {
    super::numbers(dir, "edges.")
}

/// Writes a table at `path` if possible, else for this process only, and opens it.
pub fn keep(path: &Path, edges: Edges, origin: Origin) -> Result<EdgeTable, Error> {
    let tables = edges.laid_out();
    map::keep(path, |file| tables.write(file, origin), |path| EdgeTable::open(path, origin))
}

/// Edges of a snapshot, open for reading. Each page is verified when it is first read; damage makes rows empty and is
/// reported by [`EdgeTable::damage`].
#[derive(Clone, Debug)]
pub struct EdgeTable {
    map: MappedFile,
    sections: Sections<TABLES>,
    checksum: u64,
    origin: Origin,
    checked: Arc<Checked>,
    layer: Option<Arc<Layer>>,
}

/// Reads of a table after which all of it is verified.
const MANY: u32 = 1024;

/// Verification state of a table's file.
#[derive(Debug)]
struct Checked {
    pages: Pages,
    health: Health,
    /// Number of reads of each table.
    reads: [AtomicU32; TABLES],
    /// Whether each table is verified as a whole.
    whole: [AtomicBool; TABLES],
}

impl EdgeTable {
    /// Damage found so far.
    pub fn damage(&self) -> Result<(), Error> {
        self.map.damage().and_then(|()| self.checked.health.damage())
    }

    /// The mapped file.
    pub fn map(&self) -> &MappedFile {
        &self.map
    }

    /// Verifies the whole table.
    pub fn verify(&self) -> Result<(), Error> {
        self.checked.pages.verify(&self.map)
    }

    /// Opens the table of these files.
    pub fn open(path: &Path, origin: Origin) -> Result<Self, Error> {
        let table = Self::open_any(path)?;
        match table.origin == origin {
            true => Ok(table),
            false => Err(table.map.damaged("it is a table of other files")),
        }
    }

    /// Opens a table of other files of the same store to copy from, and verifies all of it.
    pub(crate) fn open_earlier(path: &Path, origin: Origin) -> Result<Self, Error> {
        let table = Self::open_any(path)?;
        table.checked.pages.check_all(&table.map)?;
        match (table.origin.store, table.origin.content) == (origin.store, origin.content) {
            true => Ok(table),
            false => Err(table.map.damaged("it is a table of another store")),
        }
    }

    /// Opens a table of any files.
    pub(crate) fn open_any(path: &Path) -> Result<Self, Error> {
        let map = MappedFile::open(path)?;
        let header = map.records::<Header>(0, 1)?[0];
        if header.magic != MAGIC || header.version != VERSION {
            return Err(map.damaged("it is not a table of edges of this version"));
        }
        let start = size_of::<Header>() as u64;
        let sections = Sections::after(size_of::<Header>(), header.lens);
        let checked = map.known(|| {
            let pages = Pages::of(&map, start, sections.end() - start)?;
            if pages.end() != map.bytes().len() as u64 {
                return Err(map.damaged("it has another length than it says"));
            }
            match agrees(header.checksum, header.checksum_with(pages.sums(&map)?)) {
                true => Ok(Checked {
                    pages,
                    health: Health::new(path, 0),
                    reads: Default::default(),
                    whole: Default::default(),
                }),
                false => Err(map.damaged("its page sums do not match their checksum")),
            }
        })?;
        let Header { checksum, origin, .. } = header;
        Ok(Self { map, sections, checksum, origin, checked, layer: None })
    }

    /// Checksum that identifies these edges.
    pub(crate) fn checksum(&self) -> u64 {
        self.checksum
    }

    /// A whole table. It is verified once.
    fn table<T: FromBytes + Immutable + KnownLayout>(&self, number: usize) -> &[T] {
        let (start, count) = (self.sections.start(number), self.count::<T>(number) as u64);
        if !self.is_verified(number) {
            let rows: &[T] = self.checked.health.whole(self.checked.pages.records(&self.map, start, count));
            if rows.len() as u64 == count {
                self.checked.whole[number].store(true, Relaxed);
            }
            return rows;
        }
        self.map.records(start, count).unwrap_or_default()
    }

    fn is_verified(&self, number: usize) -> bool {
        self.checked.whole[number].load(Relaxed)
    }

    /// Number of rows of a table.
    fn count<T>(&self, number: usize) -> usize {
        self.sections.count::<T>(number)
    }

    /// Some rows of a table; none where the table is shorter or damaged.
    fn rows<T: FromBytes + Immutable + KnownLayout>(&self, number: usize, range: Range<usize>) -> &[T] {
        if range.start >= range.end || range.end > self.count::<T>(number) {
            return &[];
        }
        // Of a table that is read often the pages are not looked up any more.
        if self.is_verified(number) || self.checked.reads[number].fetch_add(1, Relaxed) >= MANY {
            return self.table(number).get(range).unwrap_or_default();
        }
        let start = self.sections.start(number) + (range.start * size_of::<T>()) as u64;
        self.checked.health.whole(self.checked.pages.records(&self.map, start, range.len() as u64))
    }

    /// One row of a table.
    fn row<T: FromBytes + Immutable + KnownLayout>(&self, number: usize, at: usize) -> Option<&T> {
        self.rows(number, at..at.saturating_add(1)).first()
    }

    /// Rows of a sorted table whose key, which `order` compares, is the wanted one. Reads only the pages on the way.
    fn equal<T: FromBytes + Immutable + KnownLayout>(&self, number: usize, order: impl Fn(&T) -> Ordering) -> &[T] {
        if self.is_verified(number) {
            let all = self.table::<T>(number);
            let from = all.partition_point(|row| order(row).is_lt());
            return &all[from..from + all[from..].partition_point(|row| order(row).is_le())];
        }
        let first = |is_before: &dyn Fn(Ordering) -> bool, from: usize| {
            let (mut low, mut high) = (from, self.count::<T>(number));
            while low < high {
                let middle = low + (high - low) / 2;
                match self.row(number, middle).is_some_and(|row| is_before(order(row))) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            low
        };
        let start = first(&Ordering::is_lt, 0);
        self.rows(number, start..first(&Ordering::is_le, start))
    }

    /// Rows of a table of pairs with this key.
    fn keyed(&self, number: usize, key: [u32; 2]) -> &[Pair] {
        self.equal(number, |pair: &Pair| pair.key.cmp(&key))
    }

    /// Opaque words of the resolver.
    pub fn notes(&self) -> &[u32] {
        self.table(9)
    }

    /// All occurrences, grouped by file in source order.
    pub fn all(&self) -> &[Edge] {
        self.table(0)
    }

    /// The same table with other edges for some files, which are not stored. `moved` gives the stored symbols that the
    /// files still have, with their present numbers.
    pub fn with(&self, edges: Edges, files: Vec<u32>, moved: &[(SymbolId, SymbolId)]) -> Self {
        Self { layer: Some(Arc::new(Layer::new(edges, files, moved))), ..self.clone() }
    }

    /// The layer, if it has other edges for a file.
    fn layer_of(&self, file: u32) -> Option<&Layer> {
        self.layer.as_deref().filter(|layer| layer.holds(file))
    }

    /// The stored number of a symbol; `None` for one that is new.
    fn stored(&self, symbol: SymbolId) -> Option<SymbolId> {
        self.layer.as_deref().map_or(Some(symbol), |layer| layer.stored(symbol))
    }

    /// The present number of a stored symbol; `None` for one that is gone.
    fn now(&self, symbol: Symbol) -> Option<SymbolId> {
        self.layer.as_deref().map_or(Some(number(symbol)), |layer| layer.now(number(symbol)))
    }

    /// Targets of an occurrence: one symbol, several when ambiguous, none when unknown.
    pub fn targets(&self, edge: &Edge) -> impl ExactSizeIterator<Item = SymbolId> + use<'_> {
        let targets = match self.layer_of(edge.file) {
            Some(layer) => layer.targets(edge),
            None => self.rows::<Symbol>(1, layer::range(edge)),
        };
        // Most occurrences have one target or none.
        let is_moved = |layer: &Layer| targets.iter().any(|target| layer.holds(target[0]));
        let moved: Option<Vec<Symbol>> = match self.layer.as_deref() {
            Some(layer) if !layer.holds(edge.file) && is_moved(layer) => {
                Some(targets.iter().filter_map(|target| self.now(*target).map(stored)).collect())
            }
            _ => None,
        };
        Targets { stored: targets.iter(), moved: moved.map(Vec::into_iter) }
    }

    /// Occurrences that mean a symbol.
    pub fn users(&self, symbol: SymbolId) -> impl Iterator<Item = &Edge> {
        let rows = self.stored(symbol).map_or(&[][..], |symbol| self.keyed(2, stored(symbol)));
        self.not_replaced(rows).chain(self.layer.iter().flat_map(move |layer| layer.users(symbol)))
    }

    /// Occurrences that rows refer to, but for those of files with other edges.
    fn not_replaced<'a>(&'a self, rows: &'a [Pair]) -> impl Iterator<Item = &'a Edge> {
        rows.iter().map(|pair| self.at(pair)).filter(|edge| self.layer_of(edge.file).is_none())
    }

    /// Occurrence that a row refers to.
    fn at(&self, pair: &Pair) -> &Edge {
        self.row(0, pair.value[0] as usize).unwrap_or(&NOWHERE)
    }

    /// Occurrences in a file, in source order.
    pub fn in_file(&self, file: u32) -> &[Edge] {
        self.layer_of(file).map_or_else(|| self.rows(0, self.range(file)), |layer| layer.in_file(file))
    }

    /// Index range of the occurrences in a file.
    fn range(&self, file: u32) -> Range<usize> {
        self.keyed(3, [file, 0]).first().map_or(0..0, |pair| {
            let [start, len] = pair.value.map(|number| number as usize);
            start..start + len
        })
    }

    /// Occurrences of a name on unknown receivers, which may mean any definition of that name.
    pub fn possible(&self, name: &[u8]) -> impl Iterator<Item = &Edge> {
        self.unbound(name).filter(|edge| edge.how().is_possible())
    }

    /// Occurrences of a name on receivers that were not found, those of types outside of the repository among them.
    pub fn unbound(&self, name: &[u8]) -> impl Iterator<Item = &Edge> {
        let layered = self.layer.iter().flat_map(|layer| layer.unbound(name)).collect::<Vec<_>>();
        self.not_replaced(self.keyed(4, name_hash(name))).chain(layered)
    }

    /// Imports of a file.
    pub fn imports(&self, file: u32) -> &[Import] {
        let stored = || self.equal(5, |import: &Import| import.from.cmp(&file));
        self.layer_of(file).map_or_else(stored, |layer| layer.imports(file))
    }

    /// Imports that refer to a file, as they are stored.
    pub fn importers(&self, file: u32) -> &[Import] {
        self.equal(6, |import: &Import| import.to.cmp(&file))
    }

    /// Files that import a file, each once.
    pub fn importing(&self, file: u32) -> impl Iterator<Item = u32> + use<'_> {
        self.importers(file).chunk_by(|one, other| one.from == other.from).map(|imports| imports[0].from)
    }

    /// Direct bases of a class.
    pub fn bases(&self, class: SymbolId) -> impl Iterator<Item = SymbolId> + use<'_> {
        let layer = self.layer_of(class.file);
        let rows = if layer.is_some() { &[] } else { self.keyed(7, stored(class)) };
        let own = layer.into_iter().flat_map(move |layer| layer.bases(class));
        rows.iter().filter_map(|pair| self.now(pair.value)).chain(own)
    }

    /// Classes that directly extend a class.
    pub fn derived(&self, class: SymbolId) -> impl Iterator<Item = SymbolId> + use<'_> {
        let rows = self.stored(class).map_or(&[][..], |class| self.keyed(8, stored(class)));
        let rows = rows.iter().filter(|pair| self.layer_of(pair.value[0]).is_none());
        let own = self.layer.iter().flat_map(move |layer| layer.derived(class));
        rows.map(|pair| number(pair.value)).chain(own)
    }
}

/// Hash of a name as a key.
fn name_hash(name: &[u8]) -> [u32; 2] {
    let hash = checksum(name);
    [hash as u32, (hash >> 32) as u32]
}
