//! Relations between the symbols of a snapshot, from the facts of its files. After an edit, earlier relations are
//! reused.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustc_hash::FxHashMap;

use super::joined;
use codelode_base::allocator;
use codelode_base::model::{Kind, Phase, Relations, Site};
use codelode_lang::facts::{Project, ProjectFile, Semantics, hash, is_readable};
use codelode_lang::languages::LANGUAGES;
use codelode_resolve::{Notes, resolve_again, resolve_noting};
use codelode_store::{self as store, Copied, Edge, EdgeTable, Edges, FileView, Import, Parts, Snapshot, SymbolId};

/// The relations of a snapshot. They are computed on first use and stored beside the index, so that an edit is
/// searchable at once.
pub fn relations(snapshot: &Snapshot) -> Result<&EdgeTable, store::Error> {
    if let Some(edges) = snapshot.edges() {
        return Ok(edges);
    }
    let own = own_relations(snapshot)?;
    let Some(table) = snapshot.compiled()? else { return Ok(own) };
    let _phase = Phase::begin("join");
    let _work = allocator::work();
    let edges = joined::join(snapshot, own, table);
    snapshot.damage()?;
    snapshot.keep_joined(edges)
}

/// Relations by name resolution alone, without compiler indexes.
fn own_relations(snapshot: &Snapshot) -> Result<&EdgeTable, store::Error> {
    match snapshot.own_edges() {
        Some(edges) => Ok(edges),
        None if !can_relate(snapshot) => Err(store::Error::Busy),
        None => {
            let _phase = Phase::begin("resolve");
            let _work = allocator::work();
            let earlier = snapshot.earlier_edges();
            let edges = derive(snapshot, earlier.as_ref());
            // Relations from damaged facts must not be stored.
            snapshot.damage()?;
            snapshot.keep_edges(edges)
        }
    }
}

/// The index, among the words of notes, of the mark that a language exceeded its work limit.
const SPENT: usize = 3;

/// Whether names were resolved completely. If a project exceeds the work limit, uses are missing.
pub fn are_whole(edges: &EdgeTable) -> bool {
    edges.notes().get(SPENT).is_none_or(|spent| *spent == 0)
}

/// Whether relations can be derived. Facts of another version may have another format.
pub fn can_relate(snapshot: &Snapshot) -> bool {
    let mut facts = snapshot.files().map(|file| file.facts()).filter(|facts| !facts.is_empty());
    snapshot.content_version() == store::CONTENT || snapshot.edges().is_some() || facts.next().is_none_or(is_readable)
}

/// Resolves every language of a snapshot.
fn derive(snapshot: &Snapshot, earlier: Option<&EdgeTable>) -> Edges {
    let files: Vec<FileView<'_>> = snapshot.committed_files().collect();
    let earlier = earlier.and_then(|table| EarlierEdges::read(table, &files));
    // Relations to edited files may lie in another language's part, so either all parts are reused or none.
    earlier.and_then(|earlier| join(&files, Some(earlier))).or_else(|| join(&files, None)).unwrap_or_default()
}

/// Resolves the languages one by one; `None` if an earlier part cannot be reused.
fn join(files: &[FileView<'_>], mut earlier: Option<EarlierEdges<'_>>) -> Option<Edges> {
    let mut edges = earlier.as_ref().map_or_else(Edges::default, |earlier| Edges::like(earlier.table));
    let mut words = Vec::with_capacity(earlier.as_ref().map_or(4, |earlier| earlier.table.notes().len() * 65 / 64));
    let (low, high) = paths_hash(files);
    words.extend([files.len() as u32, low, high, 0]);
    let paths: Vec<&str> = files.iter().map(FileView::path).collect();
    let last = files.iter().map(FileView::number).max().unwrap_or(0);
    let mut done: Vec<&'static Semantics> = Vec::new();
    while let Some(semantics) = files
        .iter()
        .filter_map(semantics_of)
        .find(|semantics| !done.iter().any(|other| std::ptr::eq(*other, *semantics)))
    {
        done.push(semantics);
        let of_it = |file: &&FileView<'_>| semantics_of(file).is_some_and(|own| std::ptr::eq(own, semantics));
        let views: Vec<FileView<'_>> = files.iter().filter(of_it).copied().collect();
        let part =
            earlier.as_mut().map(|earlier| earlier.part(&views, &paths, files).map(|part| (part, &earlier.rows)));
        if matches!(part, Some(None)) {
            return None;
        }
        let part = part.flatten();
        // Other files read during resolution, such as `package.json`. Their content matters too.
        let consulted: RefCell<BTreeMap<u32, u32>> = RefCell::default();
        if let Some((part, _)) = &part {
            consulted.borrow_mut().extend(part.read.iter().copied());
        }
        let read = |path: &str| {
            let place = paths.binary_search(&path).ok()?;
            consulted.borrow_mut().insert(place as u32, files[place].number());
            Some(files[place].content())
        };
        let project = Project {
            files: views.iter().map(|file| ProjectFile::new(file.path(), file.facts())).collect(),
            read: &read,
            paths: &paths,
        };
        let symbols: Vec<OnceCell<Box<Symbols>>> = views.iter().map(|_| OnceCell::new()).collect();
        let symbols = LanguageSymbols::new(&views, &symbols);
        // A bug in one language must not affect the others.
        let notes = match part {
            Some((part, rows)) => {
                let again = || take_over(&mut edges, &project, semantics, part, (rows, last), &symbols);
                catch_unwind(AssertUnwindSafe(again)).ok().flatten()?
            }
            None => {
                let at = |file: u32, at: u32| symbols.at(Site { file, at }).map(|symbol| symbol.index);
                let Ok((relations, notes)) =
                    catch_unwind(AssertUnwindSafe(|| resolve_noting(&project, semantics, &at)))
                else {
                    tracing::error!("resolving names failed: an internal error");
                    continue;
                };
                add(&mut edges, &symbols, &relations);
                notes
            }
        };
        // Layout of a part: its files, the other files it read, its notes.
        words.extend([views.len() as u32, consulted.borrow().len() as u32]);
        words.extend(views.iter().map(FileView::number));
        words.extend(consulted.borrow().iter().flat_map(|(place, number)| [*place, *number]));
        notes.write(&mut words);
        words[SPENT] |= u32::from(notes.is_spent);
    }
    edges.note(words);
    Some(edges)
}

/// The naming rules of a file's language, if its names are resolved.
pub(super) fn semantics_of(file: &FileView<'_>) -> Option<&'static Semantics> {
    Some(LANGUAGES[file.language_number()? as usize].relating?.semantics)
}

/// Hash of all paths of a snapshot, in two words.
pub(super) fn paths_hash(files: &[FileView<'_>]) -> (u32, u32) {
    let mut all = String::new();
    for file in files {
        all.push_str(file.path());
        // A file's first line may decide its language.
        all.push('\0');
        all.push(char::from(file.language_number().unwrap_or(u8::MAX)));
    }
    let hash = hash(&all);
    (hash as u32, (hash >> 32) as u32)
}

/// Relations of an earlier snapshot with the same paths.
struct EarlierEdges<'a> {
    table: &'a EdgeTable,
    rows: Copied<'a>,
    words: &'a [u32],
}

/// The earlier relations of one language.
struct Part {
    /// Earlier numbers of its files.
    numbers: Vec<u32>,
    /// Indices of files whose numbers changed.
    edited: Vec<u32>,
    /// Other files read during resolution: index among all files, and number.
    read: Vec<(u32, u32)>,
    notes: Notes,
}

impl<'a> EarlierEdges<'a> {
    fn read(table: &'a EdgeTable, files: &[FileView<'_>]) -> Option<Self> {
        let ([count, low, high, _], words) = table.notes().split_first_chunk()?;
        let paths = paths_hash(files);
        ((*count, *low, *high) == (files.len() as u32, paths.0, paths.1)).then(|| Self {
            table,
            rows: Copied::new(table),
            words,
        })
    }

    /// Reads the next part, if it belongs to the same files.
    fn part(&mut self, views: &[FileView<'_>], paths: &[&str], files: &[FileView<'_>]) -> Option<Part> {
        let ([count, read], words) = self.words.split_first_chunk()?;
        let (numbers, words) = words.split_at_checked(*count as usize)?;
        let (read, mut words) = words.split_at_checked((*read as usize).checked_mul(2)?)?;
        let read: Vec<(u32, u32)> = read.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        let is_as_read =
            |(place, number): &(u32, u32)| files.get(*place as usize).is_some_and(|file| file.number() == *number);
        if numbers.len() != views.len() || paths.len() != files.len() || !read.iter().all(is_as_read) {
            return None;
        }
        let notes = Notes::read(&mut words)?;
        self.words = words;
        let edited = |place: &u32| numbers[*place as usize] != views[*place as usize].number();
        let edited = (0..views.len() as u32).filter(edited).collect();
        Some(Part { numbers: numbers.to_vec(), edited, read, notes })
    }
}

/// Reuses the relations of a language, except for edited files; `None` if it must be resolved completely. `last` is the
/// greatest file number.
fn take_over<'a>(
    edges: &mut Edges,
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    part: Part,
    (rows, last): (&Copied<'_>, u32),
    symbols: &LanguageSymbols<'_, '_>,
) -> Option<Notes> {
    let at = |file: u32, at: u32| symbols.at(Site { file, at }).map(|symbol| symbol.index);
    let mut plan = part.notes.plan(project, semantics, &part.edited, &at)?;
    let (relations, notes) = resolve_again(project, semantics, part.notes, &mut plan)?;
    // Edited files by their earlier numbers.
    let edited: FxHashMap<u32, u32> = part.edited.iter().map(|file| (part.numbers[*file as usize], *file)).collect();
    let moved = |symbol: SymbolId| {
        let Some(file) = edited.get(&symbol.file) else { return Some(symbol).filter(|symbol| symbol.file <= last) };
        let number = symbols.files[*file as usize].number();
        let index = if symbol.index == u32::MAX { u32::MAX } else { *plan.moved.get(file)?.get(&symbol.index)? };
        Some(SymbolId { file: number, index })
    };
    let mut found = PendingEdges::new(&relations);
    for (place, file) in symbols.files.iter().enumerate() {
        let again = plan.again[place];
        if again {
            found.add(edges, symbols, place as u32);
        }
        // Bases are reused if the edited files look the same to other files.
        let parts = Parts { occurrences: !again, bases: !again || plan.is_same };
        if !edges.copy(rows, part.numbers[place], parts, file.number(), &moved) {
            return None;
        }
        if again && !plan.is_same {
            found.add_bases(edges, symbols, place as u32);
        }
    }
    Some(notes)
}

/// Symbols of a file, for lookup by occurrences.
pub(super) struct Symbols {
    /// Position of each name, ascending, with the index of its symbol.
    by_name: Vec<(u32, u32)>,
    /// In source order: start without decorators, end, and kind of each symbol.
    spans: Vec<(u32, u32, Kind)>,
}

impl Symbols {
    pub fn of(file: FileView<'_>) -> Self {
        let mut by_name: Vec<(u32, u32)> =
            file.symbols().map(|symbol| (symbol.name_span().start, symbol.number().index)).collect();
        by_name.sort_unstable();
        let span = |symbol: store::SymbolView<'_>| (symbol.signature_start(), symbol.span().end, symbol.kind());
        Self { by_name, spans: file.symbols().map(span).collect() }
    }

    /// The innermost open symbol. A value inside a function counts as the function.
    fn innermost(&self, open: &[u32]) -> Option<u32> {
        let kind = |symbol: &&u32| self.spans[**symbol as usize].2;
        let innermost = open.iter().max()?;
        let function = open.iter().filter(|symbol| matches!(kind(symbol), Kind::Function | Kind::Method)).max();
        if kind(&innermost) == Kind::Constant { function.or(Some(innermost)).copied() } else { Some(*innermost) }
    }

    /// Index of the symbol whose name begins at a byte.
    pub fn at(&self, name: u32) -> Option<u32> {
        self.by_name.binary_search_by_key(&name, |(at, _)| *at).ok().map(|place| self.by_name[place].1)
    }
}

/// Finds the symbols around places, which must be asked for in order.
#[derive(Default)]
pub(super) struct EnclosingSymbols {
    open: Vec<u32>,
    next: usize,
}

impl EnclosingSymbols {
    /// Innermost symbol around a place.
    pub fn innermost(&mut self, symbols: &Symbols, at: u32) -> Option<u32> {
        while symbols.spans.get(self.next).is_some_and(|(start, ..)| *start <= at) {
            self.open.push(self.next as u32);
            self.next += 1;
        }
        self.open.retain(|symbol| symbols.spans[*symbol as usize].1 > at);
        symbols.innermost(&self.open)
    }
}

/// Symbols of all files of a language, read on first use.
pub(super) struct LanguageSymbols<'s, 'a> {
    files: &'s [FileView<'a>],
    symbols: &'s [OnceCell<Box<Symbols>>],
}

impl<'s, 'a> LanguageSymbols<'s, 'a> {
    /// Symbols of these files.
    pub fn new(files: &'s [FileView<'a>], symbols: &'s [OnceCell<Box<Symbols>>]) -> Self {
        Self { files, symbols }
    }

    fn of(&self, file: u32) -> &Symbols {
        self.symbols[file as usize].get_or_init(|| Box::new(Symbols::of(self.files[file as usize])))
    }

    /// The symbol whose name is at a place.
    pub fn at(&self, site: Site) -> Option<SymbolId> {
        let index = self.of(site.file).at(site.at)?;
        Some(SymbolId { file: self.files[site.file as usize].number(), index })
    }
}

/// Converts positions in files into symbols, and adds the edges.
fn add(edges: &mut Edges, symbols: &LanguageSymbols<'_, '_>, relations: &Relations) {
    let mut found = PendingEdges::new(relations);
    for file in 0..symbols.files.len() as u32 {
        found.add(edges, symbols, file);
        found.add_bases(edges, symbols, file);
    }
}

/// The limit on targets of all occurrences in a file: a constant, plus one per so many bytes, since each is stored
/// twice. The densest real file that was measured has one target per seven bytes.
const MOST_TARGETS: usize = 1_000;
const BYTES_OF_TARGET: usize = 4;
/// The targets kept for each occurrence after the limit, enough to stay ambiguous.
const FEWEST_TARGETS: usize = 2;

/// Relations still to be added, all sorted by file.
pub(super) struct PendingEdges<'a> {
    relations: &'a Relations,
    occurrences: usize,
    imports: usize,
    bases: usize,
}

impl<'a> PendingEdges<'a> {
    pub fn new(relations: &'a Relations) -> Self {
        Self { relations, occurrences: 0, imports: 0, bases: 0 }
    }

    /// Adds the occurrences and imports of a file. Files must be passed in order.
    pub fn add(&mut self, edges: &mut Edges, symbols: &LanguageSymbols<'_, '_>, file: u32) {
        let (all, view, own) = (self.relations, &symbols.files[file as usize], symbols.of(file));
        let mut targets = Vec::new();
        let mut open = EnclosingSymbols::default();
        let rest = &all.occurrences[self.occurrences..];
        let occurrences = &rest[..rest.partition_point(|occurrence| occurrence.file <= file)];
        self.occurrences += occurrences.len();
        let mut room = MOST_TARGETS + view.size() as usize / BYTES_OF_TARGET;
        for occurrence in occurrences {
            let from = open.innermost(own, occurrence.at);
            targets.clear();
            let first = occurrence.first_target as usize;
            let most = room.max(FEWEST_TARGETS);
            for site in &all.targets[first..first + occurrence.targets as usize] {
                // A definition is no reference to itself.
                if (site.file, site.at) != (occurrence.file, occurrence.at) && targets.len() < most {
                    targets.extend(symbols.at(*site).filter(|symbol| !targets.contains(symbol)));
                }
            }
            room = room.saturating_sub(targets.len());
            if targets.is_empty() && occurrence.targets > 0 {
                continue;
            }
            let (at, len) = (occurrence.at, occurrence.len);
            let edge = Edge::new(view.number(), at, len, occurrence.role, occurrence.how, from);
            let name = view.content().get(at as usize..at as usize + len as usize).unwrap_or_default();
            edges.add(edge, &targets, name);
        }
        let number = |file: u32| symbols.files[file as usize].number();
        let rest = &all.imports[self.imports..];
        let imports = &rest[..rest.partition_point(|(from, ..)| *from <= file)];
        self.imports += imports.len();
        for (from, to, at) in imports {
            edges.add_import(Import { from: number(*from), to: number(*to), at: *at });
        }
    }

    /// Adds the bases of a file's classes.
    pub fn add_bases(&mut self, edges: &mut Edges, symbols: &LanguageSymbols<'_, '_>, file: u32) {
        let rest = &self.relations.bases[self.bases..];
        let bases = &rest[..rest.partition_point(|(class, _)| class.file <= file)];
        self.bases += bases.len();
        for (class, base) in bases {
            if let (Some(class), Some(base)) = (symbols.at(*class), symbols.at(*base)) {
                edges.add_base(class, base);
            }
        }
    }
}
