//! A moment of a checkout: its files and symbols, all of one generation, for as long as somebody holds it.

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use super::Error;
use super::edges::{self, EdgeTable, Edges};
use super::files::{self, FileTable, Row};
use super::grams::GramQuery;
use super::health::CHECKED_AT_ONCE;
use super::index::{Asked, Clause, Field, Search};
use super::manifest::{Manifest, PackFacts, SnapshotFacts};
use super::map;
use super::pack::{self, DecoratorRecord, FileRecord, NO_LANGUAGE, NONE, Pack, SymbolRecord};
use super::ranks::{self, Rank, RankTable};
use super::segments::Segments;
use crate::languages::{self, LANGUAGES, clean_doc, first_sentence, language_name};
use crate::model::{Detail, Kind, Span};

/// A symbol's number: its file's in the store, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId {
    /// The file.
    pub file: u32,
    /// The place among the file's symbols.
    pub index: u32,
}

impl SymbolId {
    /// In one number, ordered alike.
    pub fn to_u64(self) -> u64 {
        u64::from(self.file) << 32 | u64::from(self.index)
    }

    /// Reads what [`SymbolId::to_u64`] wrote.
    pub fn from_u64(number: u64) -> Self {
        Self { file: (number >> 32) as u32, index: number as u32 }
    }
}

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
    pub(super) fn open(dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
        let segments = Segments::hold(dir.join("index"), &manifest.segments)?;
        Self::with(segments, dir, manifest, name)
    }

    /// The same without holding the search index, which may be swept away before it is asked.
    pub(super) fn open_text(dir: &Path, manifest: Manifest, name: &str) -> Result<Self, Error> {
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
        let named = |number: u64| manifest.snapshots.values().any(|facts| facts.number == number);
        // Of a newer state there may be none yet, and then these are what it is made from.
        let earlier =
            edges::numbers(&self.dir).into_iter().filter(|number| *number < self.facts.number && !named(*number));
        for path in earlier.flat_map(|number| [edges::path(&self.dir, number), ranks::path(&self.dir, number)]) {
            // What cannot be removed is swept by the next commit.
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
pub(super) fn open_packs(dir: &Path, manifest: &Manifest) -> Result<Vec<(PackFacts, Pack)>, Error> {
    let open = |facts: &PackFacts| Ok((facts.clone(), Pack::open(&pack::path(dir, facts.number))?));
    manifest.packs.iter().map(open).collect()
}

/// The pack that holds a file, and its record there.
pub(super) fn find_file(packs: &[(PackFacts, Pack)], id: u32) -> Option<(&Pack, &FileRecord)> {
    FileView::find(packs, id).map(|file| (file.pack, file.record))
}

/// A file of a snapshot.
#[derive(Clone, Copy)]
pub struct FileView<'a> {
    pack: &'a Pack,
    /// Its place in the pack.
    place: u64,
    record: &'a FileRecord,
}

impl<'a> FileView<'a> {
    fn find(packs: &'a [(PackFacts, Pack)], id: u32) -> Option<Self> {
        let at = packs.partition_point(|(facts, _)| facts.end_file <= id);
        let (_, pack) = packs.get(at)?;
        let (place, record) = pack.file(id)?;
        Some(Self { pack, place, record })
    }

    /// Relative to the root, with `/` between the parts.
    pub fn path(&self) -> &'a str {
        self.pack.path(self.record)
    }

    /// Its number in the store.
    pub fn number(&self) -> u32 {
        self.record.id
    }

    /// The exact bytes that were read.
    pub fn content(&self) -> &'a [u8] {
        self.pack.content(self.place, self.record)
    }

    /// Bytes of its content.
    pub fn size(&self) -> u64 {
        self.record.content_len.into()
    }

    /// What it says about names, as extraction wrote it down; empty where its language is not resolved.
    pub fn facts(&self) -> &'a [u8] {
        self.pack.facts(self.place, self.record)
    }

    /// The number of its language in [`LANGUAGES`], if symbols are read from it.
    pub fn language_number(&self) -> Option<u8> {
        Some(self.record.language).filter(|number| (*number as usize) < LANGUAGES.len())
    }

    /// BLAKE3 of the content.
    pub fn hash(&self) -> &'a [u8; 32] {
        &self.record.hash
    }

    /// Whether the stored text is still what was read: hashes all of it.
    pub fn is_intact(&self) -> bool {
        // What was spoilt since it was first read is seen, too.
        blake3::hash(self.content()) == self.record.hash
    }

    /// Number of lines; a last line without a newline counts.
    pub fn lines(&self) -> u32 {
        self.record.lines
    }

    /// The language, by its name.
    pub fn language(&self) -> &'static str {
        match LANGUAGES.get(self.record.language as usize) {
            Some(spec) if self.record.language != NO_LANGUAGE => spec.id,
            _ => language_name(self.path()),
        }
    }

    /// Whether the grammar met text that it could not read.
    pub fn has_errors(&self) -> bool {
        self.record.flags & pack::HAS_ERRORS != 0
    }

    /// Whether the parser gave the file up.
    pub fn given_up(&self) -> bool {
        self.record.flags & pack::GIVEN_UP != 0
    }

    /// Whether there is a NUL byte in it.
    pub fn has_nul(&self) -> bool {
        self.record.flags & pack::HAS_NUL != 0
    }

    /// Whether it exercises code or shows it: tests, benchmarks and examples, but not what documents it.
    pub fn exercises(&self) -> bool {
        self.record.flags & pack::EXERCISES != 0
    }

    /// Whether it exercises code rather than being it: tests, benchmarks, examples, documentation, and copies of others' code.
    pub fn is_test(&self) -> bool {
        self.record.flags & (pack::EXERCISES | pack::BESIDE) != 0
    }

    /// Whether it was written by a program, by its name or by what it says of itself at its beginning.
    pub fn is_generated(&self) -> bool {
        self.record.flags & pack::GENERATED != 0
    }

    /// Number of symbols.
    pub fn symbol_count(&self) -> u32 {
        self.record.symbols
    }

    /// Its symbols, in source order.
    pub fn symbols(&self) -> impl DoubleEndedIterator<Item = SymbolView<'a>> + use<'a> {
        let file = *self;
        let all = self.pack.symbols(self.record);
        all.iter().enumerate().map(move |(index, record)| SymbolView { file, all, index: index as u32, record })
    }

    /// A symbol by its place.
    pub fn symbol(&self, index: u32) -> Option<SymbolView<'a>> {
        let all = self.pack.symbols(self.record);
        Some(SymbolView { file: *self, all, index, record: all.get(index as usize)? })
    }
}

/// A symbol of a snapshot.
#[derive(Clone, Copy)]
pub struct SymbolView<'a> {
    /// The file that defines it.
    pub file: FileView<'a>,
    /// All symbols of the file.
    all: &'a [SymbolRecord],
    index: u32,
    record: &'a SymbolRecord,
}

impl<'a> SymbolView<'a> {
    /// Its number in the store.
    pub fn number(&self) -> SymbolId {
        SymbolId { file: self.file.number(), index: self.index }
    }

    fn text(&self, span: Span) -> Cow<'a, str> {
        let bytes = span.of(self.file.content());
        std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
    }

    /// The name.
    pub fn name(&self) -> Cow<'a, str> {
        self.text(self.record.name())
    }

    /// The name as it is in the file.
    pub fn name_bytes(&self) -> &'a [u8] {
        self.record.name().of(self.file.content())
    }

    /// The enclosing symbol.
    pub fn parent(&self) -> Option<Self> {
        // A parent stands before its children; a damaged record must not send us round in circles.
        let index = self.record.parent;
        let record = self.all.get(index as usize).filter(|_| index < self.index)?;
        Some(Self { index, record, ..*self })
    }

    /// Where the owner's name is written where it is not the enclosing symbol; empty when there is none.
    pub fn container_span(&self) -> Span {
        self.record.container()
    }

    /// The owner's name where it is not the enclosing symbol.
    pub fn container(&self) -> Cow<'a, str> {
        self.text(self.record.container())
    }

    /// Everything it lies in and its name, with dots between: `Outer.Inner.method`.
    pub fn qualified_name(&self) -> String {
        qualified_name(&self.name(), &self.container(), self.parent().map(|parent| parent.qualified_name()).as_deref())
    }

    /// The id that callers know it by: `{file path}::{qualified name}#{kind}`, with `~n` where several share it.
    pub fn id(&self) -> String {
        let mut id = format!("{}::{}#{}", self.file.path(), self.qualified_name(), self.kind().as_str());
        if self.record.overload > 0 {
            id.push_str(&format!("~{}", self.record.overload));
        }
        id
    }

    /// Which of the symbols that would share its id; zero when it shares it with none.
    pub fn overload(&self) -> u16 {
        self.record.overload
    }

    /// What sort it is.
    pub fn kind(&self) -> Kind {
        Kind::ALL.get(self.record.kind as usize).copied().unwrap_or(Kind::Constant)
    }

    /// In the language's own word.
    pub fn detail(&self) -> Detail {
        Detail::ALL.get(self.record.detail as usize).copied().unwrap_or(Detail::Constant)
    }

    /// The line of its name, one-based.
    pub fn line(&self) -> u32 {
        self.record.line
    }

    /// The line that it begins on, one-based: that of its first decorator.
    pub fn first_line(&self) -> u32 {
        let before = self.span().start as usize..self.name_span().start as usize;
        let above = self.file.content().get(before).map_or(0, |before| memchr::memchr_iter(b'\n', before).count());
        self.record.line.saturating_sub(above as u32).max(1)
    }

    /// Last line, one-based.
    pub fn end_line(&self) -> u32 {
        self.record.end_line
    }

    /// Where in the file it is.
    pub fn span(&self) -> Span {
        self.record.span()
    }

    /// Where its definition proper begins, after decorators.
    pub fn signature_start(&self) -> u32 {
        self.record.signature().start
    }

    /// Where its name is written.
    pub fn name_span(&self) -> Span {
        self.record.name()
    }

    /// The definition's exact bytes.
    pub fn source(&self) -> &'a [u8] {
        self.span().of(self.file.content())
    }

    /// SHA-256 of [`SymbolView::source`].
    pub fn content_hash(&self) -> [u8; 32] {
        Sha256::digest(self.source()).into()
    }

    /// See [`crate::model::Symbol::complexity`].
    pub fn complexity(&self) -> u16 {
        self.record.complexity
    }

    /// Whether it has a body, and not only declares what it is.
    pub fn has_body(&self) -> bool {
        let body = Span { start: self.record.signature().end.max(self.span().start), end: self.span().end };
        body.of(self.file.content()).iter().any(|byte| !b" \t\r\n:;.{}".contains(byte))
    }

    /// The definition without its body, on one line, at most `limit` characters.
    pub fn signature(&self, limit: usize) -> String {
        let text = self.text(self.record.signature());
        let text = text.trim_end().trim_end_matches(['{', ';']);
        one_line(text, limit)
    }

    /// The documentation as it is written, with the markers of comments; empty when there is none.
    pub fn doc_source(&self) -> &'a [u8] {
        self.record.doc().of(self.file.content())
    }

    /// The documentation without comment markers; empty when there is none.
    pub fn docstring(&self) -> String {
        let doc = self.record.doc();
        if doc.is_empty() { String::new() } else { clean_doc(&self.text(doc)) }
    }

    /// The documentation's first sentence, without the symbol's own name where it begins with that, as it does by custom in
    /// Go; empty when there is none.
    pub fn summary(&self, limit: usize) -> String {
        let doc = self.docstring();
        let says = doc.strip_prefix(&*self.name()).and_then(|rest| rest.strip_prefix(' '));
        first_sentence(says.unwrap_or(&doc), limit)
    }

    /// Decorators, attributes or annotations as they are written, each on one line.
    pub fn decorators(&self) -> Vec<String> {
        let all: &[DecoratorRecord] = self.file.pack.decorators(self.file.record);
        let first = all.partition_point(|decorator| decorator.symbol < self.index);
        all[first..]
            .iter()
            .take_while(|decorator| decorator.symbol == self.index)
            .map(|span| one_line(&self.text(Span { start: span.start, end: span.end.max(span.start) }), 400))
            .collect()
    }

    /// The symbols directly inside.
    pub fn children(&self) -> impl Iterator<Item = SymbolView<'a>> + use<'a> {
        let index = self.index;
        self.file.symbols().skip(index as usize + 1).filter(move |symbol| symbol.record.parent == index)
    }

    /// Whether it is directly or indirectly inside another.
    pub fn has_parent(&self) -> bool {
        self.record.parent != NONE
    }
}

/// Joins the parts of a qualified name that are there.
pub fn qualified_name(name: &str, container: &str, parent: Option<&str>) -> String {
    let parts = [parent.unwrap_or_default(), container, name];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

/// Text with every run of white space as one space, at most `limit` characters. Inside brackets, where long lists are broken
/// into lines, there is none beside them.
fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit * 4));
    let mut left = limit;
    for word in text.split_ascii_whitespace() {
        if word.starts_with([')', ']']) && line.ends_with(',') {
            line.pop();
            left += 1;
        }
        let is_spaced = !line.is_empty() && !line.ends_with(['(', '[']) && !word.starts_with([')', ']']);
        let needed = word.chars().count() + usize::from(is_spaced);
        let space = if is_spaced { " " } else { "" };
        if needed > left {
            // Rather half a word than none: a signature may have no spaces at all.
            let room = left.saturating_sub(1 + space.len());
            if room > 0 {
                line.push_str(space);
                line.extend(word.chars().take(room));
            }
            line.push('…');
            return line;
        }
        line.push_str(space);
        line.push_str(word);
        left -= needed;
    }
    line
}

/// The language number of a file, by its name and first line.
pub(super) fn language_number(path: &str, content: &[u8]) -> Option<(u8, &'static languages::LanguageSpec)> {
    languages::of_file(path, content)
}
