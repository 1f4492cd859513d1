//! A moment of a checkout: its files and symbols, all of one generation, for as long as somebody holds it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::manifest::{Manifest, PackFacts, SnapshotFacts};
use crate::languages;
use crate::store::Error;
use crate::store::packs::grams::GramQuery;
use crate::store::packs::health::CHECKED_AT_ONCE;
use crate::store::packs::map;
use crate::store::packs::pack::{self, FileRecord, Pack};
use crate::store::packs::view::{FileView, SymbolId, SymbolView};
use crate::store::search::index::{Asked, Clause, Field, Search};
use crate::store::search::segments::Segments;
use crate::store::tables::edges::{self, EdgeTable, Edges};
use crate::store::tables::files::{self, FileTable, Row};
use crate::store::tables::ranks::{self, Rank, RankTable};

/// A checkout as of one commit. Cheap to open: everything is mapped, and the search index is opened when first asked.
pub struct Snapshot {
    manifest: Manifest,
    facts: SnapshotFacts,
    packs: Vec<(PackFacts, Pack)>,
    table: FileTable,
    visible: Vec<u64>,
    segments: Segments,
    search: OnceLock<Search>,
    dir: PathBuf,
    edges: OnceLock<EdgeTable>,
    ranks: OnceLock<RankTable>,
    /// What is wrong with the search index: which file, and what.
    broken: OnceLock<(PathBuf, String)>,
}

impl Snapshot {
    /// Opens what the manifest names.
    pub(in crate::store) fn open(dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
        let segments = Segments::hold(dir.join("index"), &manifest.segments)?;
        Self::with(segments, dir, manifest, name)
    }

    /// The same without holding the search index, which may be swept away before it is asked.
    pub(in crate::store) fn open_text(dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
        let meta = (!manifest.segments.is_null()).then(|| manifest.segments.to_string().into_bytes());
        Self::with(Segments::new(dir.join("index"), meta), dir, manifest, name)
    }

    fn with(segments: Segments, dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
        let facts = manifest.snapshots.get(name).ok_or(Error::NoSnapshot)?.clone();
        let packs = open_packs(dir, &manifest)?;
        let table = FileTable::open(&files::path(dir, facts.number))?;
        let visible = table.numbers()?.to_vec();
        Ok(Self {
            manifest,
            facts,
            packs,
            table,
            visible,
            segments,
            search: OnceLock::new(),
            dir: dir.to_owned(),
            edges: OnceLock::new(),
            ranks: OnceLock::new(),
            broken: OnceLock::new(),
        })
    }

    /// Counts of the whole.
    pub fn facts(&self) -> &SnapshotFacts {
        &self.facts
    }

    /// The commit it shows.
    pub fn generation(&self) -> u64 {
        self.manifest.generation
    }

    /// Version of the extraction that its symbols were made by.
    pub fn content_version(&self) -> u32 {
        self.facts.content
    }

    /// Every path with what the system said of it, those left out for their content included.
    pub fn table(&self) -> &FileTable {
        &self.table
    }

    /// Whether a file of the store belongs to this snapshot.
    pub fn has(&self, file: u32) -> bool {
        self.visible.get(file as usize / 64).is_some_and(|word| word >> (file % 64) & 1 == 1)
    }

    /// A file by its path.
    pub fn file(&self, path: &str) -> Option<FileView<'_>> {
        self.view(self.table.find(path)?)
    }

    /// The files whose content is held, by ascending path.
    pub fn files(&self) -> impl Iterator<Item = FileView<'_>> {
        self.table.iter().filter_map(|row| self.view(row))
    }

    fn view<'a>(&'a self, row: Row<'a>) -> Option<FileView<'a>> {
        let id = row.state.ok()?;
        FileView::find(&self.packs, id)
    }

    /// A file by its number.
    pub fn file_by_number(&self, file: u32) -> Option<FileView<'_>> {
        if !self.has(file) {
            return None;
        }
        FileView::find(&self.packs, file)
    }

    /// A symbol by its number.
    pub fn symbol(&self, id: SymbolId) -> Option<SymbolView<'_>> {
        self.file_by_number(id.file)?.symbol(id.index)
    }

    /// The best symbols for some terms, best first, at most `limit`; `keep` decides which count.
    pub fn search(
        &self,
        clauses: &[Clause<'_>],
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        self.search_among(&[], clauses, limit, keep)
    }

    /// The same with scores that can be compared among several snapshots, this one included; none for this one alone.
    pub fn search_among(
        &self,
        among: &[&Self],
        clauses: &[Clause<'_>],
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        let among: Vec<&Search> = among.iter().map(|snapshot| snapshot.searcher()).collect::<Result<_, _>>()?;
        let asked = Asked { clauses, required: &[], among: &among };
        self.searcher()?.top(&asked, limit, &mut |symbol| self.has(symbol.file) && keep(symbol))
    }

    /// Number of definitions in the search index, those of other snapshots of the same store included.
    pub fn documents(&self) -> Result<u64, Error> {
        Ok(self.searcher()?.documents())
    }

    /// In how many definitions' text a word is written, in any of its forms; `None` for a word that every text is full of.
    pub fn frequency(&self, word: &str) -> Result<Option<u64>, Error> {
        self.searcher()?.frequency(word)
    }

    /// The same, each with which of some words it holds in each of some fields: one bit for a word, of 64 at most. A word is
    /// held when one of its stems is. Only symbols whose text holds every word of `required`; then `keep` is asked about
    /// the best first, and about no more than it takes.
    pub fn search_holding<const N: usize>(
        &self,
        among: &[&Self],
        clauses: &[Clause<'_>],
        required: &[String],
        (fields, words): ([Field; N], &[Vec<String>]),
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32, [u64; N])>, Error> {
        let mut keep = |symbol: SymbolId| self.has(symbol.file) && keep(symbol);
        let among: Vec<&Search> = among.iter().map(|snapshot| snapshot.searcher()).collect::<Result<_, _>>()?;
        let asked = Asked { clauses, required, among: &among };
        self.searcher()?.top_holding(&asked, (fields, words), limit, &mut keep)
    }

    /// Symbols of exactly this name, or `Parent.name`, at most `limit`.
    pub fn exact(
        &self,
        name: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<SymbolId>, Error> {
        self.searcher()?.exact(name, limit, &mut |symbol| self.has(symbol.file) && keep(symbol))
    }

    /// The same, with what terms score; see [`Snapshot::search_among`].
    pub fn exact_scored(
        &self,
        among: &[&Self],
        clauses: &[Clause<'_>],
        name: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        let among: Vec<&Search> = among.iter().map(|snapshot| snapshot.searcher()).collect::<Result<_, _>>()?;
        let asked = Asked { clauses, required: &[], among: &among };
        self.searcher()?.exact_scored(&asked, name, limit, &mut |symbol| self.has(symbol.file) && keep(symbol))
    }

    /// The numbers of the files whose text may answer, by ascending path.
    pub fn candidates(&self, query: &GramQuery) -> Result<Vec<u32>, Error> {
        if *query == GramQuery::All {
            return Ok(self.table.held().collect());
        }
        let mut found = Vec::new();
        for (_, pack) in &self.packs {
            found.extend(pack.candidates(query)?.into_iter().filter(|file| self.has(*file)));
        }
        // Looking each up costs more than passing over all once.
        if found.len() * 16 > self.table.len() {
            let mut among = vec![0_u64; self.visible.len()];
            found.iter().for_each(|file| among[*file as usize / 64] |= 1 << (file % 64));
            let is_among = |file: &u32| among[*file as usize / 64] >> (file % 64) & 1 == 1;
            return Ok(self.table.held().filter(is_among).collect());
        }
        found.sort_by_cached_key(|file| self.file_by_number(*file).map(|file| file.path()));
        Ok(found)
    }

    /// In how many definitions' text a name is written, its own included.
    pub fn mentions(&self, name: &str) -> Result<u64, Error> {
        self.searcher()?.mentions(name)
    }

    /// Who means whom, where that has been found out already.
    pub fn edges(&self) -> Option<&EdgeTable> {
        if self.edges.get().is_none() {
            let table = EdgeTable::open(&edges::path(&self.dir, self.facts.number)).ok()?;
            // Two threads may both open it; one is kept.
            let _ = self.edges.set(table);
        }
        self.edges.get()
    }

    /// Who means whom in another moment of the store, from which most of this one's may be taken over: the newest before it.
    pub fn earlier_edges(&self) -> Option<EdgeTable> {
        let earlier = edges::numbers(&self.dir).into_iter().filter(|number| *number != self.facts.number);
        earlier.filter_map(|number| EdgeTable::open(&edges::path(&self.dir, number)).ok()).next()
    }

    /// Keeps who means whom, for this process and for later ones where the store can be written.
    pub fn keep_edges(&self, edges: Edges) -> Result<&EdgeTable, Error> {
        let table = edges::keep(&edges::path(&self.dir, self.facts.number), edges)?;
        self.forget_earlier_edges();
        Ok(self.edges.get_or_init(|| table))
    }

    /// Removes the relations that these were made from, unless somebody's snapshot still has them: they take as much room again.
    fn forget_earlier_edges(&self) {
        let Ok(manifest) = Manifest::read(&self.dir) else { return };
        let named = manifest.named(&self.dir);
        // A later state may have been committed meanwhile: its tables are not ours to judge.
        let earlier = edges::numbers(&self.dir).into_iter().filter(|number| *number < self.facts.number);
        let tables = earlier.flat_map(|number| [edges::path(&self.dir, number), ranks::path(&self.dir, number)]);
        for path in tables.filter(|path| !named.contains(path)) {
            // The next commit sweeps a table that cannot be removed here.
            let _ = std::fs::remove_file(path);
        }
    }

    /// How central each symbol is, where that has been found out already.
    pub fn ranks(&self) -> Option<&RankTable> {
        if self.ranks.get().is_none() {
            let edges = self.edges()?.checksum();
            let table = RankTable::open(&ranks::path(&self.dir, self.facts.number), edges).ok()?;
            // Two threads may both open it; one is kept.
            let _ = self.ranks.set(table);
        }
        self.ranks.get()
    }

    /// Keeps how central each symbol is by these edges, found in so many rounds; like [`Snapshot::keep_edges`].
    pub fn keep_ranks(&self, edges: &EdgeTable, ranks: Vec<Rank>, rounds: u32) -> Result<&RankTable, Error> {
        let edges = edges.checksum();
        let bytes = ranks::to_bytes(ranks, rounds, edges);
        let path = ranks::path(&self.dir, self.facts.number);
        let table = map::keep(&path, |file| file.write_all(&bytes), |path| RankTable::open(path, edges))?;
        Ok(self.ranks.get_or_init(|| table))
    }

    fn searcher(&self) -> Result<&Search, Error> {
        if self.search.get().is_none() {
            let opened = self.segments.check(CHECKED_AT_ONCE).and_then(|()| Search::open(self.segments.clone()));
            // Some questions do without it: what is said then must not pass for an answer.
            let search = opened.inspect_err(|err| self.is_broken(err))?;
            // Two threads may both open it; one is kept.
            let _ = self.search.set(search);
        }
        Ok(self.search.get().expect("it was set above"))
    }

    /// Whether all of it is as it was written: reads all of it.
    pub fn verify(&self) -> Result<(), Error> {
        self.table.verify()?;
        self.packs.iter().try_for_each(|(_, pack)| pack.verify())?;
        self.segments.check(u64::MAX)
    }

    /// What was found to be damaged since it was opened. An answer from a damaged snapshot is no answer.
    pub fn damage(&self) -> Result<(), Error> {
        if let Some((path, what)) = self.broken.get() {
            return Err(Error::Damaged { path: path.clone(), what: what.clone() });
        }
        self.table.damage()?;
        self.edges.get().map_or(Ok(()), EdgeTable::damage)?;
        self.ranks.get().map_or(Ok(()), RankTable::damage)?;
        self.segments.held().try_for_each(|(_, file)| file.damage())?;
        self.packs.iter().try_for_each(|(_, pack)| pack.damage())
    }

    /// Whether every file is as long as it was when it was opened: nobody is told of what is missing within its last page.
    pub fn check_sizes(&self) -> Result<(), Error> {
        self.table.check_size()?;
        self.segments.held().try_for_each(|(_, file)| file.check_size())?;
        self.packs.iter().try_for_each(|(_, pack)| pack.check_size())
    }

    /// Whether each part of it is checked when it is used; what is too large for that is left to [`Snapshot::check_the_rest`].
    pub fn is_checked_in_use(&self) -> bool {
        self.segments.held().all(|(_, file)| file.bytes().len() as u64 <= CHECKED_AT_ONCE)
    }

    /// Compares what was too large to be read before the first answer with its checksums; [`Snapshot::damage`] tells what is
    /// wrong. Takes as long as reading does.
    pub fn check_the_rest(&self) {
        if let Err(err) = self.segments.check(u64::MAX) {
            self.is_broken(&err);
        }
    }

    /// Remembers what is wrong with the search index; what is found first is told.
    fn is_broken(&self, err: &Error) {
        let _ = self.broken.set(match err {
            Error::Damaged { path, what } => (path.clone(), what.clone()),
            other => (self.dir.join("index"), other.to_string()),
        });
    }
}

/// Opens every pack of a manifest.
pub(in crate::store) fn open_packs(dir: &Path, manifest: &Manifest) -> Result<Vec<(PackFacts, Pack)>, Error> {
    let open = |facts: &PackFacts| Ok((facts.clone(), Pack::open(&pack::path(dir, facts.number))?));
    manifest.packs.iter().map(open).collect()
}

/// The pack that holds a file, and its record there.
pub(in crate::store) fn find_file(packs: &[(PackFacts, Pack)], id: u32) -> Option<(&Pack, &FileRecord)> {
    FileView::find(packs, id).map(FileView::into_record)
}

/// The language number of a file, by its name and first line.
pub(in crate::store) fn language_number(path: &str, content: &[u8]) -> Option<(u8, &'static languages::LanguageSpec)> {
    languages::of_file(path, content)
}
