//! Making of a table of edges: rows are added in any order, or copied, then sorted and written.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use zerocopy::IntoBytes;

use super::{Edge, EdgeTable, Header, Import, MAGIC, Origin, Pair, Symbol, TABLES, VERSION, name_hash, number, stored};
use crate::SymbolId;
use crate::packs::pack::NONE;
use crate::packs::pages::PageSums;

/// Rows of a file to copy.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Its occurrences and imports.
    pub occurrences: bool,
    /// The bases of its classes.
    pub bases: bool,
}

/// Source of copied rows.
pub struct Copied<'a> {
    table: &'a EdgeTable,
    /// For each occurrence with unknown receiver, its row in the table of those; else [`NONE`].
    possible: Vec<u32>,
}

impl<'a> Copied<'a> {
    /// Prepares a table for copying.
    pub fn new(table: &'a EdgeTable) -> Self {
        let mut possible = vec![NONE; table.all().len()];
        for (row, pair) in table.table::<Pair>(4).iter().enumerate() {
            if let Some(place) = possible.get_mut(pair.value[0] as usize) {
                *place = row as u32;
            }
        }
        Self { table, possible }
    }
}

/// Builder of an [`EdgeTable`].
#[derive(Debug, Default)]
pub struct Edges {
    edges: Vec<Edge>,
    targets: Vec<Symbol>,
    /// Occurrences whose receiver was not found, by the hash of the name.
    possible: Vec<Pair>,
    imports: Vec<Import>,
    bases: Vec<Pair>,
    notes: Vec<u32>,
}

impl Edges {
    /// Creates an empty builder, with room for about as many rows as another table has.
    pub fn like(table: &EdgeTable) -> Self {
        // An edit rarely adds more rows.
        let room = |len: usize| len + len / 64;
        Self {
            edges: Vec::with_capacity(room(table.all().len())),
            targets: Vec::with_capacity(room(table.table::<Symbol>(1).len())),
            possible: Vec::with_capacity(room(table.table::<Pair>(4).len())),
            ..Self::default()
        }
    }

    /// Copies the occurrences, imports and bases of a file from another table. `now` is the file's current number;
    /// `moved` maps symbols to current ones. Returns false and stops at a symbol without a mapping.
    pub fn copy(
        &mut self,
        from: &Copied<'_>,
        file: u32,
        parts: Parts,
        now: u32,
        moved: &dyn Fn(SymbolId) -> Option<SymbolId>,
    ) -> bool {
        let table = from.table;
        if parts.occurrences {
            let range = table.range(file);
            let (targets, possible) = (table.table::<Symbol>(1), table.table::<Pair>(4));
            for (place, edge) in range.clone().zip(table.in_file(file)) {
                let first_target = self.targets.len() as u32;
                let start = edge.first_target as usize;
                for target in targets.get(start..start + edge.targets as usize).unwrap_or_default() {
                    let Some(target) = moved(number(*target)) else { return false };
                    self.targets.push(stored(target));
                }
                if let Some(pair) = from.possible.get(place).and_then(|row| possible.get(*row as usize)) {
                    self.possible.push(Pair { key: pair.key, value: [self.edges.len() as u32, 0] });
                }
                self.edges.push(Edge { file: now, first_target, ..*edge });
            }
            for import in table.imports(file) {
                let Some(to) = moved(SymbolId { file: import.to, index: NONE }) else { return false };
                self.imports.push(Import { from: now, to: to.file, at: import.at });
            }
        }
        if parts.bases {
            for pair in table.equal(7, |pair: &Pair| pair.key[0].cmp(&file)) {
                let (Some(class), Some(base)) = (moved(number(pair.key)), moved(number(pair.value))) else {
                    return false;
                };
                self.add_base(class, base);
            }
        }
        true
    }

    /// Stores opaque words of the resolver beside the edges.
    pub fn note(&mut self, words: Vec<u32>) {
        self.notes = words;
    }

    /// Adds an occurrence and its targets. `name` is its text.
    pub fn add(&mut self, edge: Edge, targets: &[SymbolId], name: &[u8]) {
        let place = self.edges.len() as u32;
        if edge.how().is_unbound_member() && targets.is_empty() {
            self.possible.push(Pair { key: name_hash(name), value: [place, 0] });
        }
        let first_target = self.targets.len() as u32;
        let targets = &targets[..targets.len().min(u16::MAX as usize)];
        self.targets.extend(targets.iter().map(|target| stored(*target)));
        self.edges.push(Edge { first_target, targets: targets.len() as u16, ..edge });
    }

    /// Occurrences of a file, if it is the last that was added.
    pub fn last_file(&self, file: u32) -> &[Edge] {
        let start = self.edges.iter().rposition(|edge| edge.file != file).map_or(0, |place| place + 1);
        &self.edges[start..]
    }

    /// Targets of an added occurrence.
    pub fn targets_of(&self, edge: &Edge) -> Vec<SymbolId> {
        let first = edge.first_target as usize;
        self.targets[first..first + edge.targets as usize].iter().map(|target| number(*target)).collect()
    }

    /// Adds an import.
    pub fn add_import(&mut self, import: Import) {
        self.imports.push(import);
    }

    /// Adds a class and one of its direct bases.
    pub fn add_base(&mut self, class: SymbolId, base: SymbolId) {
        self.bases.push(Pair { key: stored(class), value: stored(base) });
    }

    /// Occurrences by target, in order for each target.
    fn users(&self) -> Vec<Pair> {
        // Grouping by file first is faster: sorting the few rows of each file beats sorting all.
        let mut starts = vec![0u32; self.targets.iter().map(|target| target[0] as usize + 2).max().unwrap_or(1)];
        self.targets.iter().for_each(|target| starts[target[0] as usize + 1] += 1);
        for file in 1..starts.len() {
            starts[file] += starts[file - 1];
        }
        let mut users = vec![Pair::default(); self.targets.len()];
        for (place, edge) in self.edges.iter().enumerate() {
            let first = edge.first_target as usize;
            for target in &self.targets[first..first + edge.targets as usize] {
                let next = &mut starts[target[0] as usize];
                users[*next as usize] = Pair { key: *target, value: [place as u32, 0] };
                *next += 1;
            }
        }
        users.chunk_by_mut(|a, b| a.key[0] == b.key[0]).for_each(<[Pair]>::sort_unstable);
        users
    }

    /// Converts the rows to the stored tables.
    pub(super) fn laid_out(mut self) -> Tables {
        let mut files: Vec<Pair> = Vec::new();
        for (place, edge) in self.edges.iter().enumerate() {
            match files.last_mut().filter(|file| file.key[0] == edge.file) {
                Some(file) => file.value[1] += 1,
                None => files.push(Pair { key: [edge.file, 0], value: [place as u32, 1] }),
            }
        }
        files.sort_unstable();
        let mut possible = std::mem::take(&mut self.possible);
        let (users, ()) = beside(|| self.users(), || possible.sort_unstable());
        let (mut imports, mut bases) = (self.imports, self.bases);
        let mut importers = imports.clone();
        imports.sort_unstable();
        importers.sort_unstable_by_key(|import| (import.to, import.from, import.at));
        let mut derived: Vec<Pair> = bases.iter().map(|pair| Pair { key: pair.value, value: pair.key }).collect();
        bases.sort_unstable();
        derived.sort_unstable();
        let (edges, targets, notes) = (self.edges, self.targets, self.notes);
        Tables { edges, targets, users, files, possible, imports, importers, bases, derived, notes }
    }
}

/// Tables in file order.
#[derive(Debug)]
pub(super) struct Tables {
    pub edges: Vec<Edge>,
    pub targets: Vec<Symbol>,
    pub users: Vec<Pair>,
    pub files: Vec<Pair>,
    pub possible: Vec<Pair>,
    pub imports: Vec<Import>,
    pub importers: Vec<Import>,
    pub bases: Vec<Pair>,
    pub derived: Vec<Pair>,
    pub notes: Vec<u32>,
}

impl Tables {
    fn bytes(&self) -> [&[u8]; TABLES] {
        [
            self.edges.as_bytes(),
            self.targets.as_bytes(),
            self.users.as_bytes(),
            self.files.as_bytes(),
            self.possible.as_bytes(),
            self.imports.as_bytes(),
            self.importers.as_bytes(),
            self.bases.as_bytes(),
            self.derived.as_bytes(),
            self.notes.as_bytes(),
        ]
    }

    /// Writes the tables one by one: joining many megabytes first would make the caller wait.
    pub(super) fn write(&self, file: &mut File, origin: Origin) -> io::Result<()> {
        let tables = self.bytes();
        let lens = tables.map(|table| table.len() as u64);
        let mut header = Header { magic: MAGIC, version: VERSION, origin, lens, ..Header::default() };
        let body = |file: &mut File| {
            file.write_all(header.as_bytes())?;
            tables.iter().try_for_each(|table| file.write_all(table))
        };
        let sums = || {
            let mut sums = PageSums::from(size_of::<Header>() as u64);
            tables.iter().for_each(|table| sums.add(table));
            sums.finish()
        };
        let (written, sums) = beside(|| body(file), sums);
        written?;
        file.write_all(&sums)?;
        header.checksum = header.checksum_with(&sums);
        file.write_all_at(header.as_bytes(), 0)
    }
}

/// Runs two tasks in parallel, the first in this thread, so that this thread frees the memory it allocates.
fn beside<A, B: Send>(here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, B) {
    std::thread::scope(|scope| {
        let there = scope.spawn(there);
        let here = here();
        (here, there.join().expect("it does not panic"))
    })
}
