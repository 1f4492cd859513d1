//! Snapshot of a checkout: its files and symbols, all of one generation, while it is held.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use zerocopy::IntoBytes;

use super::manifest::{Manifest, PackFacts, SnapshotFacts};
use super::prepared::Prepared;
use super::summarized::SummaryWords;
use crate::Error;
use crate::packs::grams::GramQuery;
use crate::packs::health::CHECKED_AT_ONCE;
use crate::packs::map;
use crate::packs::pack::{self, FileRecord, Pack, PackWriter};
use crate::packs::roles::RolePatterns;
use crate::packs::view::{FileView, SymbolId, SymbolView};
use crate::search::index::{Clause, Field, Holding, IndexQuery, Search, Told};
use crate::search::segments::{Segments, check_file};
use crate::search::shards::Shard;
use crate::tables::compiled::{self, CompiledTable};
use crate::tables::edges::{self, EdgeTable, Edges, Origin};
use crate::tables::files::{self, FileTable, Row};
use crate::tables::notes::{self, NotesTable};
use crate::tables::ranks::{self, Rank, RankTable};
use crate::tables::summaries::SummaryTable;

/// A checkout as of one commit. It is cheap to open: files are mapped, and the search index is opened on first use.
pub struct Snapshot {
    manifest: Manifest,
    facts: SnapshotFacts,
    packs: Vec<(PackFacts, Pack)>,
    table: FileTable,
    visible: Vec<u64>,
    segments: Segments,
    search: OnceLock<Search>,
    dir: PathBuf,
    /// Identity of its edges.
    origin: Origin,
    /// Checksum of `visible` when files are left out, see [`Snapshot::without`]; else zero. Ranks depend on it.
    without: u64,
    edges: OnceLock<EdgeTable>,
    /// Edges joined with the occurrences of compilers.
    joined: OnceLock<EdgeTable>,
    compiled: OnceLock<CompiledTable>,
    ranks: OnceLock<RankTable>,
    /// Damage in the search index: the file and a description.
    broken: OnceLock<(PathBuf, String)>,
    /// Time of the next [`Snapshot::recheck_when_due`].
    recheck_due: Mutex<Instant>,
    /// Roles that settings give to files.
    roles: Option<RolePatterns>,
    /// Summaries by a model, as of its first question about them.
    summaries: OnceLock<Option<SummaryTable>>,
    /// Their words, see [`Snapshot::summary_words`].
    summary_words: OnceLock<Option<SummaryWords>>,
    /// Contents in place of those of files, see [`Snapshot::with_unsaved`].
    unsaved: Option<Pack>,
}

/// Time between opening a snapshot and the first recheck of its files.
const FIRST_RECHECK: Duration = Duration::from_millis(5);
/// The next recheck follows after this many times the duration of the last one, so that they cost little.
const RECHECK_SHARE: u32 = 40;
/// Longest time between rechecks.
const LAST_RECHECK: Duration = Duration::from_millis(20);

impl Snapshot {
    /// Opens the files that the manifest names.
    pub fn open(dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
        let segments = Segments::hold(dir.join("index"), &manifest.segments)?;
        Self::with(segments, dir, manifest, name)
    }

    /// Opens a snapshot without holding the search index, which may be swept before its first use.
    pub(crate) fn open_text(dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
        let meta = (!manifest.segments.is_null()).then(|| manifest.segments.to_string().into_bytes());
        Self::with(Segments::new(dir.join("index"), meta), dir, manifest, name)
    }

    fn with(segments: Segments, dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
        let facts = manifest.snapshots.get(name).ok_or(Error::NoSnapshot)?.clone();
        let packs = open_packs(dir, &manifest)?;
        let table = FileTable::open(&files::path(dir, facts.number))?;
        manifest.files.check(table.map())?;
        let visible = table.numbers()?.to_vec();
        let origin = Origin::new(manifest.store, facts.content, &visible);
        let roles = RolePatterns::of(&facts.roles);
        Ok(Self {
            manifest,
            facts,
            packs,
            table,
            visible,
            segments,
            search: OnceLock::new(),
            dir: dir.to_owned(),
            origin,
            without: 0,
            edges: OnceLock::new(),
            joined: OnceLock::new(),
            compiled: OnceLock::new(),
            ranks: OnceLock::new(),
            broken: OnceLock::new(),
            recheck_due: Mutex::new(Instant::now() + FIRST_RECHECK),
            roles,
            summaries: OnceLock::new(),
            summary_words: OnceLock::new(),
            unsaved: None,
        })
    }

    /// The snapshot without these files, which no longer exist on disk. Both share everything else.
    pub fn without<'p>(&self, gone: impl IntoIterator<Item = &'p str>) -> Self {
        let mut visible = self.visible.clone();
        for number in gone.into_iter().filter_map(|path| self.table.find(path)?.state.ok()) {
            if let Some(word) = visible.get_mut(number as usize / 64) {
                *word &= !(1 << (number % 64));
            }
        }
        let without = pack::checksum(visible.as_bytes());
        let search = self.search.get().map(|search| search.clone().counting(&visible));
        let search = search.map_or_else(OnceLock::new, OnceLock::from);
        Self { visible, without, search, ranks: OnceLock::new(), ..self.again() }
    }

    /// The snapshot as a part of a search over several nodes: terms are weighed by the documents of all.
    pub fn as_shard(&self, shard: Arc<Shard>) -> Result<Self, Error> {
        let search = self.searcher()?.clone().beside_shards(shard);
        Ok(Self { search: OnceLock::from(search), ..self.again() })
    }

    /// Tells the other nodes what they ask of this one, which has these snapshots.
    pub fn tell(shard: &Shard, among: &[&Self]) -> Result<(), Error> {
        let searchers = among.iter().map(|snapshot| snapshot.searcher()).collect::<Result<Vec<&Search>, Error>>()?;
        shard.count(&searchers)
    }

    /// The snapshot with other contents for some of its files, which are not stored: the pack that holds them is
    /// unnamed. The search index finds the symbols of the stored contents.
    pub fn with_unsaved(&self, files: Vec<Prepared>) -> Result<Self, Error> {
        let place = tempfile::NamedTempFile::new().map_err(Error::io("cannot write", &std::env::temp_dir()))?;
        let mut writer = PackWriter::create(place.path().to_owned(), usize::MAX)?;
        for file in files {
            if let Some(number) = self.table.find(file.path()).and_then(|row| row.state.ok()) {
                writer.add(&file.as_number(number))?;
            }
        }
        writer.finish()?;
        Ok(Self { unsaved: Some(Pack::open(place.path())?), ..self.again() })
    }

    /// The same snapshot once more.
    fn again(&self) -> Self {
        Self {
            manifest: self.manifest.clone(),
            facts: self.facts.clone(),
            packs: self.packs.clone(),
            table: self.table.clone(),
            visible: self.visible.clone(),
            segments: self.segments.clone(),
            search: self.search.clone(),
            dir: self.dir.clone(),
            origin: self.origin,
            without: self.without,
            edges: self.edges.clone(),
            joined: self.joined.clone(),
            compiled: self.compiled.clone(),
            ranks: self.ranks.clone(),
            broken: self.broken.clone(),
            recheck_due: Mutex::new(Instant::now()),
            roles: RolePatterns::of(&self.facts.roles),
            summaries: self.summaries.clone(),
            summary_words: OnceLock::new(),
            unsaved: self.unsaved.clone(),
        }
    }

    /// Facts and counts of the snapshot.
    pub fn facts(&self) -> &SnapshotFacts {
        &self.facts
    }

    /// Folder and number of its store.
    pub(super) fn store(&self) -> (&Path, u64) {
        (&self.dir, self.manifest.store)
    }

    /// Generation of its commit.
    pub fn generation(&self) -> u64 {
        self.manifest.generation
    }

    /// Version of the extraction that made its symbols.
    pub fn content_version(&self) -> u32 {
        self.facts.content
    }

    /// Table of all paths with metadata, including files whose content was left out.
    pub fn table(&self) -> &FileTable {
        &self.table
    }

    /// Whether a file of the store belongs to this snapshot.
    pub fn has(&self, file: u32) -> bool {
        self.visible.get(file as usize / 64).is_some_and(|word| word >> (file % 64) & 1 == 1)
    }

    /// Finds a file by its path.
    pub fn file(&self, path: &str) -> Option<FileView<'_>> {
        self.view(self.table.find(path)?)
    }

    /// Files with stored content, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = FileView<'_>> {
        self.table.iter().filter_map(|row| self.view(row))
    }

    /// Paths and numbers of files with stored content, sorted by path: much faster than looking at the files.
    pub fn paths(&self) -> impl Iterator<Item = (&str, u32)> {
        let held = |row: Row<'_>| row.state.ok().filter(|number| self.has(*number));
        self.table.iter().filter_map(move |row| Some((row.path, held(row)?)))
    }

    /// Number of files with stored content.
    pub fn n_files(&self) -> usize {
        self.table.held().filter(|number| self.has(*number)).count()
    }

    /// Files with stored content in a folder and below it, sorted by path; the empty folder is the root.
    pub fn files_below(&self, folder: &str) -> impl Iterator<Item = FileView<'_>> {
        self.table.below(folder).filter_map(|row| self.view(row))
    }

    /// Variant of [`Snapshot::files`] that includes files missing on disk, see [`Snapshot::without`]: edges of the
    /// commit are derived from them.
    pub fn committed_files(&self) -> impl Iterator<Item = FileView<'_>> {
        self.table.held().filter_map(|number| self.view_of(number))
    }

    /// Files that define a symbol of exactly this name, sorted by path. Unsaved contents may define it or not.
    pub fn files_defining(&self, name: &str) -> Result<Vec<FileView<'_>>, Error> {
        let stored = self.exact(name, usize::MAX, &mut |_| true)?;
        let unsaved = self.unsaved.iter().flat_map(|pack| pack.files().iter().map(|file| file.id));
        let numbers: BTreeSet<u32> = stored.into_iter().map(|symbol| symbol.file).chain(unsaved).collect();
        let mut files: Vec<FileView<'_>> = numbers.into_iter().filter_map(|file| self.file_by_number(file)).collect();
        files.sort_by_key(FileView::path);
        Ok(files)
    }

    fn view<'a>(&'a self, row: Row<'a>) -> Option<FileView<'a>> {
        self.file_by_number(row.state.ok()?)
    }

    fn view_of(&self, id: u32) -> Option<FileView<'_>> {
        let unsaved = self.unsaved.as_ref().and_then(|pack| FileView::of(pack, id));
        let file = unsaved.or_else(|| FileView::find(&self.packs, id))?;
        Some(file.with_roles(self.roles.as_ref()).with_summaries(self.summaries()))
    }

    /// Summaries by a model.
    pub fn summaries(&self) -> Option<&SummaryTable> {
        self.summaries.get_or_init(|| SummaryTable::open(&self.dir)).as_ref()
    }

    /// Words of the summaries by a model; `None` without any.
    pub fn summary_words(&self) -> Option<&SummaryWords> {
        self.summary_words.get_or_init(|| SummaryWords::of(self)).as_ref()
    }

    /// Finds a file by its number.
    pub fn file_by_number(&self, file: u32) -> Option<FileView<'_>> {
        if !self.has(file) {
            return None;
        }
        self.view_of(file)
    }

    /// Finds a symbol by its number.
    pub fn symbol(&self, id: SymbolId) -> Option<SymbolView<'_>> {
        self.file_by_number(id.file)?.symbol(id.index)
    }

    /// Best symbols for some terms, best first, at most `limit`, among those that `keep` accepts.
    pub fn search(
        &self,
        clauses: &[Clause<'_>],
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        self.search_among(&[], clauses, limit, keep)
    }

    /// Like [`Snapshot::search`], with scores comparable among several snapshots including this one; none for this
    /// one alone.
    pub fn search_among(
        &self,
        among: &[&Self],
        clauses: &[Clause<'_>],
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        let among: Vec<&Search> = among.iter().map(|snapshot| snapshot.searcher()).collect::<Result<_, _>>()?;
        let asked = IndexQuery { clauses, required: &[], among: &among };
        self.searcher()?.top(&asked, limit, &mut |symbol| self.has(symbol.file) && keep(symbol))
    }

    /// Best files for some terms, by their whole text, at most `limit`, among those that `keep` accepts; see
    /// [`Snapshot::search_among`].
    pub fn search_files(
        &self,
        among: &[&Self],
        text: &str,
        limit: usize,
        keep: &mut dyn FnMut(u32) -> bool,
    ) -> Result<Vec<(u32, f32)>, Error> {
        let found =
            self.search_among(among, &[Clause::new(Field::Whole, text, 1.0)], limit, &mut |id| keep(id.file))?;
        Ok(found.into_iter().map(|(id, score)| (id.file, score)).collect())
    }

    /// Number of definitions in the search index.
    pub fn documents(&self) -> Result<u64, Error> {
        self.searcher()?.symbols()
    }

    /// Number of definitions whose text contains a word in any form; `None` for stop words.
    pub fn frequency(&self, word: &str) -> Result<Option<u64>, Error> {
        self.searcher()?.frequency(word)
    }

    /// Number of definitions whose text contains a word, by its stem.
    pub fn stem_frequency(&self, stem: &str) -> Result<u64, Error> {
        self.searcher()?.stem_frequency(stem)
    }

    /// Like [`Snapshot::search_among`], with what tells more of each symbol. Only symbols whose text contains every word
    /// of `required` count. `keep` is called for the best first, and only as often as needed.
    pub fn search_holding<const N: usize>(
        &self,
        among: &[&Self],
        clauses: &[Clause<'_>],
        required: &[String],
        told: &Told<'_, N>,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<Holding<N>>, Error> {
        let mut keep = |symbol: SymbolId| self.has(symbol.file) && keep(symbol);
        let among: Vec<&Search> = among.iter().map(|snapshot| snapshot.searcher()).collect::<Result<_, _>>()?;
        let asked = IndexQuery { clauses, required, among: &among };
        self.searcher()?.top_holding(&asked, told, limit, &mut keep)
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

    /// Like [`Snapshot::exact`], with scores; see [`Snapshot::search_among`].
    pub fn exact_scored(
        &self,
        among: &[&Self],
        clauses: &[Clause<'_>],
        name: &str,
        limit: usize,
        keep: &mut dyn FnMut(SymbolId) -> bool,
    ) -> Result<Vec<(SymbolId, f32)>, Error> {
        let among: Vec<&Search> = among.iter().map(|snapshot| snapshot.searcher()).collect::<Result<_, _>>()?;
        let asked = IndexQuery { clauses, required: &[], among: &among };
        self.searcher()?.exact_scored(&asked, name, limit, &mut |symbol| self.has(symbol.file) && keep(symbol))
    }

    /// Numbers of the files whose text may match, sorted by path.
    pub fn candidates(&self, query: &GramQuery) -> Result<Vec<u32>, Error> {
        if *query == GramQuery::All {
            return Ok(self.table.held().filter(|file| self.has(*file)).collect());
        }
        let mut found = Vec::new();
        for (_, pack) in &self.packs {
            found.extend(pack.candidates(query)?.into_iter().filter(|file| self.has(*file)));
        }
        // Looking up many files costs more than scanning all once.
        if found.len() * 16 > self.table.len() {
            let mut among = vec![0_u64; self.visible.len()];
            found.iter().for_each(|file| among[*file as usize / 64] |= 1 << (file % 64));
            let is_among = |file: &u32| among[*file as usize / 64] >> (file % 64) & 1 == 1;
            return Ok(self.table.held().filter(is_among).collect());
        }
        found.sort_by_cached_key(|file| self.file_by_number(*file).map(|file| file.path()));
        Ok(found)
    }

    /// Files whose text may hold some bytes, in capital or small letters, sorted by path; all files if that cannot be
    /// told. Unsaved texts may hold them or not.
    pub fn files_with(&self, bytes: &[u8]) -> Vec<FileView<'_>> {
        let query = GramQuery::literal(bytes);
        // Damage is told of by whoever asks for the text.
        let Some(stored) =
            Some(query).filter(|query| *query != GramQuery::All).and_then(|it| self.candidates(&it).ok())
        else {
            return self.files().collect();
        };
        let mut files: Vec<FileView<'_>> = stored.iter().filter_map(|file| self.file_by_number(*file)).collect();
        if let Some(pack) = &self.unsaved {
            let others = pack.files().iter().map(|file| file.id).filter(|file| !stored.contains(file));
            files.extend(others.filter_map(|file| self.file_by_number(file)));
            files.sort_by_key(FileView::path);
        }
        files
    }

    /// Number of definitions whose text contains a name, including its own.
    pub fn mentions(&self, name: &str) -> Result<u64, Error> {
        self.searcher()?.mentions(name)
    }

    /// Symbols whose text mentions a name, at most `limit`.
    pub fn mentioning(&self, name: &str, limit: usize) -> Result<Vec<SymbolId>, Error> {
        self.searcher()?.mentioning(name, limit, &mut |symbol| self.has(symbol.file))
    }

    /// Occurrences that compilers found, if an index of theirs was read.
    pub fn compiled(&self) -> Result<Option<&CompiledTable>, Error> {
        let Some(facts) = &self.facts.compiler else { return Ok(None) };
        if self.compiled.get().is_none() {
            let table = CompiledTable::open(&compiled::path(&self.dir, facts.number))?;
            self.manifest.files.check(table.map())?;
            // Two threads may both open it; one is kept.
            let _ = self.compiled.set(table);
        }
        Ok(self.compiled.get())
    }

    /// Whether a compiler's index was made of the very text that a file has.
    pub fn is_compiled(&self, file: &FileView<'_>) -> bool {
        let table = self.compiled().ok().flatten();
        table.is_some_and(|table| table.document(file.path(), file.hash()).is_some())
    }

    /// Numbers of the files that [`Snapshot::is_compiled`] holds for, by language.
    pub fn compiled_languages(&self) -> BTreeMap<&'static str, u64> {
        let mut languages = BTreeMap::new();
        let documents = self.compiled().ok().flatten().map(CompiledTable::paths);
        for file in documents.into_iter().flatten().filter_map(|path| self.file(path)) {
            if self.is_compiled(&file) {
                *languages.entry(file.language()).or_default() += 1;
            }
        }
        languages
    }

    /// Edges of the snapshot, if computed already: those joined with the occurrences of compilers where there are any.
    pub fn edges(&self) -> Option<&EdgeTable> {
        let Some(facts) = &self.facts.compiler else { return self.own_edges() };
        if self.joined.get().is_none() {
            let origin = self.origin.joined_with(facts.checksum);
            let table = EdgeTable::open(&edges::joined_path(&self.dir, self.facts.number), origin).ok()?;
            let _ = self.joined.set(table);
        }
        self.joined.get()
    }

    /// Stores edges that are joined with the occurrences of compilers, like [`Snapshot::keep_edges`].
    pub fn keep_joined(&self, edges: Edges) -> Result<&EdgeTable, Error> {
        let origin = self.origin.joined_with(self.facts.compiler.as_ref().map_or(0, |facts| facts.checksum));
        let table = edges::keep(&edges::joined_path(&self.dir, self.facts.number), edges, origin)?;
        Ok(self.joined.get_or_init(|| table))
    }

    /// Edges by this program alone, if computed already.
    pub fn own_edges(&self) -> Option<&EdgeTable> {
        if self.edges.get().is_none() {
            let table = EdgeTable::open(&edges::path(&self.dir, self.facts.number), self.origin).ok()?;
            // Two threads may both open it; one is kept.
            let _ = self.edges.set(table);
        }
        self.edges.get()
    }

    /// Edges of the newest earlier snapshot in the store, most of which can be reused.
    pub fn earlier_edges(&self) -> Option<EdgeTable> {
        let earlier = edges::numbers(&self.dir).into_iter().filter(|number| *number != self.facts.number);
        let open = |number| EdgeTable::open_earlier(&edges::path(&self.dir, number), self.origin).ok();
        earlier.filter_map(open).next()
    }

    /// Stores edges by this program alone, for this process and, where the store is writable, for later ones.
    pub fn keep_edges(&self, edges: Edges) -> Result<&EdgeTable, Error> {
        let table = edges::keep(&edges::path(&self.dir, self.facts.number), edges, self.origin)?;
        self.forget_earlier_edges();
        Ok(self.edges.get_or_init(|| table))
    }

    /// Removes earlier edge tables, unless another snapshot uses them: each takes as much space again.
    fn forget_earlier_edges(&self) {
        let Ok(manifest) = Manifest::read(&self.dir) else { return };
        let named = manifest.named(&self.dir);
        // A newer state may have been committed in between: its tables must stay.
        let earlier = edges::numbers(&self.dir).into_iter().filter(|number| *number < self.facts.number);
        let paths = [edges::path, edges::joined_path, ranks::path];
        let tables = earlier.flat_map(|number| paths.map(|path| path(&self.dir, number)));
        for path in tables.filter(|path| !named.contains(path)) {
            // The next commit sweeps a table that cannot be removed here.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Ranks of the snapshot's symbols, if computed already.
    pub fn ranks(&self) -> Option<&RankTable> {
        if self.ranks.get().is_none() {
            let edges = self.edges()?.checksum() ^ self.without;
            let table = RankTable::open(&ranks::path(&self.dir, self.facts.number), edges).ok()?;
            // Two threads may both open it; one is kept.
            let _ = self.ranks.set(table);
        }
        self.ranks.get()
    }

    /// Stores ranks by these edges with their number of rounds, like [`Snapshot::keep_edges`].
    pub fn keep_ranks(&self, edges: &EdgeTable, ranks: Vec<Rank>, rounds: u32) -> Result<&RankTable, Error> {
        let edges = edges.checksum() ^ self.without;
        let bytes = ranks::to_bytes(ranks, rounds, edges);
        let path = ranks::path(&self.dir, self.facts.number);
        let table = map::keep(&path, |file| file.write_all(&bytes), |path| RankTable::open(path, edges))?;
        Ok(self.ranks.get_or_init(|| table))
    }

    /// Notes of context providers on the files: those that `read` accepts, of this snapshot or of an earlier one.
    pub fn notes<T>(&self, read: impl Fn(&NotesTable) -> Option<T>) -> Option<T> {
        let own = notes::path(&self.dir, self.facts.number);
        notes::numbers(&self.dir, self.facts.number).find_map(|number| {
            let path = notes::path(&self.dir, number);
            let found = read(&NotesTable::open(&path).ok()?)?;
            if path != own {
                // It serves this snapshot, too, and the next commit removes the other name.
                let _ = std::fs::remove_file(&own);
                let _ = std::fs::hard_link(path, &own);
            }
            Some(found)
        })
    }

    /// Stores notes of context providers, like [`Snapshot::keep_edges`].
    pub fn keep_notes(&self, text: &[u8]) -> Result<NotesTable, Error> {
        let bytes = notes::to_bytes(text);
        let path = notes::path(&self.dir, self.facts.number);
        map::keep(&path, |file| file.write_all(&bytes), NotesTable::open)
    }

    fn searcher(&self) -> Result<&Search, Error> {
        if self.search.get().is_none() {
            let opened = self.check_segments().and_then(|()| Search::open(self.segments.clone()));
            // Some queries work without the search index. The damage is recorded, so that their results do not pass
            // for answers.
            let search = opened.inspect_err(|err| self.is_broken(err))?;
            // Each definition and each file is a document. Further ones are deleted, or of other snapshots.
            let own = self.facts.symbols + self.facts.files;
            let has_others = self.without != 0 || search.documents() != own;
            let search = if has_others { search.counting(&self.visible) } else { search };
            // Two threads may both open it; one is kept.
            let _ = self.search.set(search);
        }
        Ok(self.search.get().expect("it was set above"))
    }

    /// Checks identities and checksums of the search index before its first use.
    fn check_segments(&self) -> Result<(), Error> {
        self.segments.held().try_for_each(|(_, file)| self.manifest.files.check(file))?;
        self.segments.check(CHECKED_AT_ONCE)
    }

    /// Verifies the whole snapshot, with the derived tables that are open.
    pub fn verify(&self) -> Result<(), Error> {
        self.check_segments()?;
        self.segments.check(u64::MAX)?;
        self.table.verify()?;
        self.packs.iter().try_for_each(|(_, pack)| pack.verify())?;
        self.edges.get().into_iter().chain(self.joined.get()).try_for_each(EdgeTable::verify)?;
        self.compiled()?.map_or(Ok(()), CompiledTable::verify)?;
        self.ranks.get().map_or(Ok(()), RankTable::verify)
    }

    /// Damage found since opening, by this call or before. Answers from a damaged snapshot are invalid.
    pub fn damage(&self) -> Result<(), Error> {
        if let Some((path, what)) = self.broken.get() {
            return Err(Error::Damaged { path: path.clone(), what: what.clone() });
        }
        self.table.damage()?;
        self.edges.get().into_iter().chain(self.joined.get()).try_for_each(EdgeTable::damage)?;
        self.compiled.get().map_or(Ok(()), |table| table.map().damage())?;
        self.ranks.get().map_or(Ok(()), RankTable::damage)?;
        self.segments.held().try_for_each(|(_, file)| file.damage())?;
        self.packs.iter().try_for_each(|(_, pack)| pack.damage())?;
        // Concurrent calls must not trust what this one finds damaged.
        self.recheck_when_due().inspect_err(|err| self.is_broken(err))
    }

    /// Verifies the files that another process has written to since they were opened. Asking for the times of all
    /// files takes a share of the time at most.
    fn recheck_when_due(&self) -> Result<(), Error> {
        // Held until the end: an answer made meanwhile waits for the result. A panic leaves the time intact.
        let mut due = self.recheck_due.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        if started < *due {
            return Ok(());
        }
        self.table.map().recheck(|| self.table.verify())?;
        self.segments.held().try_for_each(|(_, file)| file.recheck(|| check_file(file, u64::MAX)))?;
        self.packs.iter().try_for_each(|(_, pack)| pack.map().recheck(|| pack.verify()))?;
        let mut tables = self.edges.get().into_iter().chain(self.joined.get());
        tables.try_for_each(|edges| edges.map().recheck(|| edges.verify()))?;
        self.compiled.get().map_or(Ok(()), |table| table.map().recheck(|| table.verify()))?;
        self.ranks.get().map_or(Ok(()), |ranks| ranks.map().recheck(|| ranks.verify()))?;
        *due = Instant::now() + (started.elapsed() * RECHECK_SHARE).min(LAST_RECHECK);
        Ok(())
    }

    /// Whether every part is verified on use; larger files are left to [`Snapshot::check_the_rest`].
    pub fn is_checked_in_use(&self) -> bool {
        self.segments.held().all(|(_, file)| file.bytes().len() as u64 <= CHECKED_AT_ONCE)
    }

    /// Verifies the files that are too large for the first answer; [`Snapshot::damage`] reports the findings. Takes
    /// as long as reading them.
    pub fn check_the_rest(&self) {
        if let Err(err) = self.segments.check(u64::MAX) {
            self.is_broken(&err);
        }
    }

    /// Records damage in the search index. Only the first finding is kept.
    fn is_broken(&self, err: &Error) {
        let _ = self.broken.set(match err {
            Error::Damaged { path, what } => (path.clone(), what.clone()),
            other => (self.dir.join("index"), other.to_string()),
        });
    }
}

/// Opens every pack of a manifest.
pub(crate) fn open_packs(dir: &Path, manifest: &Manifest) -> Result<Vec<(PackFacts, Pack)>, Error> {
    let open = |facts: &PackFacts| {
        let pack = Pack::open(&pack::path(dir, facts.number))?;
        manifest.files.check(pack.map())?;
        Ok((facts.clone(), pack))
    };
    manifest.packs.iter().map(open).collect()
}

/// Finds the pack that holds a file, and its record.
pub(crate) fn find_file(packs: &[(PackFacts, Pack)], id: u32) -> Option<(&Pack, &FileRecord)> {
    FileView::find(packs, id).map(FileView::into_record)
}
