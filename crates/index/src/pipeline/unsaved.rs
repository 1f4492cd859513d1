//! Unsaved texts in place of their files. Each text is parsed again, and its names are bound against the rest of the
//! snapshot. Nothing is stored.

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::relate::{LanguageSymbols, PendingEdges, semantics_of};
use codelode_base::model::{Extraction, Phase, Relations, Role, Site};
use codelode_lang::extract::extract;
use codelode_lang::facts::{LazyFacts, PackedFile, Project, Semantics, UnpackedFacts};
use codelode_lang::languages;
use codelode_resolve::{Notes, NotesLayout, StoredNotes, resolve_again, resolve_alone};
use codelode_store::{self as store, EdgeTable, Edges, FileView, Prepared, Snapshot, SymbolId};

/// An unsaved text.
#[derive(Clone, Debug)]
pub struct Unsaved {
    /// Path of its file in the snapshot.
    pub path: String,
    /// The text.
    pub text: Vec<u8>,
}

/// A snapshot with these texts; texts of files that are not in the snapshot are ignored. Their facts are kept in
/// `cache`.
pub fn with_unsaved(snapshot: &Snapshot, cache: &EditCache, unsaved: &[Unsaved]) -> Result<Snapshot, store::Error> {
    let _phase = Phase::begin("parse unsaved");
    let read = unsaved.iter().filter_map(|it| {
        let file = snapshot.file(&it.path)?;
        let extraction = file.language_number().map(|number| {
            let extracted = || extract(languages::of_number(number), &it.text);
            // A bug in parsing one text must not affect the others.
            catch_unwind(AssertUnwindSafe(extracted)).unwrap_or_default()
        });
        Some((it, file, extraction.unwrap_or_default(), Prepared::hash(&it.text)))
    });
    let read: Vec<(&Unsaved, FileView<'_>, Extraction, [u8; 32])> = read.collect();
    cache.facts.keep_texts(read.iter().map(|(_, file, extraction, hash)| (file.number(), *hash, &*extraction.facts)));
    let prepared = read.iter().map(|(it, file, extraction, hash)| {
        Prepared::unsaved(it.path.clone(), it.text.clone(), *hash, file.language_number(), extraction)
    });
    snapshot.with_unsaved(prepared.collect())
}

/// Results for a stored snapshot and its edges that are reused from edit to edit.
#[derive(Debug, Default)]
pub struct EditCache {
    facts: UnpackedFacts,
    layouts: Mutex<Option<KeptLayouts>>,
    /// Numbers of files that were bound ahead, see [`bind_ahead`].
    bound: Mutex<FxHashSet<u32>>,
}

/// Layouts of the notes in a table of edges, by language.
#[derive(Debug)]
struct KeptLayouts {
    /// Keeps the notes alive, so that no other notes get their address.
    edges: EdgeTable,
    layouts: Vec<Arc<NotesLayout>>,
}

impl EditCache {
    /// The facts of a file, or of an unsaved text in its place.
    pub fn facts<'a>(&self, file: &FileView<'a>) -> LazyFacts<'a> {
        self.facts.of(packed(file))
    }

    /// Notes by language, as [`notes_by_language`] finds them.
    fn notes<'a>(&self, files: &[FileView<'_>], edges: &'a EdgeTable) -> Vec<LanguageNotes<'a>> {
        // A panic leaves the layouts intact.
        let mut kept = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.as_ref().filter(|kept| std::ptr::eq(kept.edges.notes(), edges.notes()));
        let all = notes_by_language(files, edges, known.map_or(&[], |kept| &kept.layouts));
        if known.is_none() {
            let layouts = all.iter().map(|language| language.notes.layout().clone()).collect();
            *kept = Some(KeptLayouts { edges: edges.clone(), layouts });
        }
        all
    }
}

fn packed<'a>(file: &FileView<'a>) -> PackedFile<'a> {
    PackedFile { number: file.number(), hash: file.hash(), path: file.path(), packed: file.facts() }
}

/// The files whose names are bound again after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RebindScope {
    /// Only the edited files. Other files keep their stored edges.
    Edited,
    /// Also files that the edits affect, if that can be computed; this takes longer.
    Affected,
}

/// The edges of `snapshot`, which is `stored` with unsaved texts. `edges` and `cache` belong to `stored`.
pub fn relations_with_unsaved(
    stored: &Snapshot,
    cache: &EditCache,
    edges: &EdgeTable,
    snapshot: &Snapshot,
    unsaved: &[Unsaved],
    again: RebindScope,
) -> EdgeTable {
    let _phase = Phase::begin("resolve unsaved");
    let files = files_of(snapshot);
    let edited: Vec<u32> = unsaved.iter().filter_map(|it| Some(snapshot.file(&it.path)?.number())).collect();
    let pairs = edited.iter().filter_map(|file| Some((stored.file_by_number(*file)?, snapshot.file_by_number(*file)?)));
    let moved = pairs.flat_map(|(before, now)| moved(before, now)).collect();
    let files_again = edited.clone();
    let mut binding = Binding { edges, cache, moved, edited, again, bound: Edges::default(), files: files_again };
    binding.bind(&files);
    let moved: Vec<(SymbolId, SymbolId)> = binding.moved.into_iter().collect();
    edges.with(binding.bound, binding.files, &moved)
}

/// Binds the names of a stored file once, before its first edit, to fill `cache`. Otherwise the first edit would wait
/// for it.
pub fn bind_ahead(stored: &Snapshot, cache: &EditCache, edges: &EdgeTable, path: &str) {
    let Some(number) = stored.file(path).map(|file| file.number()) else { return };
    // A panic leaves the numbers intact.
    if !cache.bound.lock().unwrap_or_else(PoisonError::into_inner).insert(number) {
        return;
    }
    let files = files_of(stored);
    let (moved, bound, again) = (FxHashMap::default(), Edges::default(), RebindScope::Edited);
    Binding { edges, cache, moved, edited: vec![number], again, bound, files: vec![number] }.bind(&files);
}

/// All files of a snapshot. The capacity is reserved, because there may be thousands.
fn files_of(snapshot: &Snapshot) -> Vec<FileView<'_>> {
    let mut files = Vec::with_capacity(snapshot.table().len());
    files.extend(snapshot.committed_files());
    files
}

/// Binds names on top of stored edges.
struct Binding<'e> {
    edges: &'e EdgeTable,
    cache: &'e EditCache,
    /// Symbols that the edited files still have, by stored number.
    moved: FxHashMap<SymbolId, SymbolId>,
    /// Numbers of the edited files.
    edited: Vec<u32>,
    again: RebindScope,
    bound: Edges,
    /// Numbers of the files that are bound again.
    files: Vec<u32>,
}

impl Binding<'_> {
    /// Binds names language by language. Without notes, edited files get no edges.
    fn bind(&mut self, files: &[FileView<'_>]) {
        let paths: Vec<&str> = files.iter().map(FileView::path).collect();
        for language in self.cache.notes(files, self.edges) {
            self.bind_one(files, &paths, &language);
        }
    }

    /// Binds the names of one language.
    fn bind_one<'a>(&mut self, files: &[FileView<'a>], paths: &[&str], language: &LanguageNotes<'_>) {
        let semantics = language.semantics;
        let views: Vec<FileView<'a>> = language.files.iter().map(|file| files[*file as usize]).collect();
        let places = (0..views.len() as u32).filter(|place| self.edited.contains(&views[*place as usize].number()));
        let places: Vec<u32> = places.collect();
        if places.is_empty() {
            return;
        }
        let read = |path: &str| Some(files[paths.binary_search(&path).ok()?].content());
        let is_edited = |view: &FileView<'_>| self.edited.contains(&view.number());
        let project = Project { files: self.cache.facts.files(views.iter().map(packed)), read: &read, paths };
        let symbols: Vec<OnceCell<_>> = views.iter().map(|_| OnceCell::new()).collect();
        let symbols = LanguageSymbols::new(&views, &symbols);
        let resolve = || {
            let affected = match self.again {
                RebindScope::Affected => affected(&project, semantics, language.words, &places, &symbols),
                RebindScope::Edited => None,
            };
            affected.or_else(|| alone(&project, semantics, &language.notes, &places))
        };
        // A bug in one language must not affect the others.
        let Some(resolved) = catch_unwind(AssertUnwindSafe(resolve)).ok().flatten() else { return };
        // Facts read for one edit are kept for the next. The other scope reads nearly all files, too many to keep.
        if self.again == RebindScope::Edited {
            let stored = views.iter().zip(&project.files).filter(|(view, _)| !is_edited(view));
            self.cache.facts.keep(stored.map(|(view, file)| (packed(view), file)));
        }
        let mut found = PendingEdges::new(&resolved.relations);
        for place in resolved.files {
            let file = views[place as usize].number();
            found.add(&mut self.bound, &symbols, place);
            if !resolved.is_same {
                found.add_bases(&mut self.bound, &symbols, place);
            }
            self.keep_bases(file, views[place as usize].symbol_count(), resolved.is_same);
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
    }

    /// Keeps the stored bases of a file's classes. With `all` false, only bases that are not written, such as satisfied
    /// interfaces, which are only computed for whole projects.
    fn keep_bases(&mut self, file: u32, symbols: u32, all: bool) {
        let written = self.edges.in_file(file).iter().filter(|edge| edge.role() == Role::Base && !all);
        let written: Vec<SymbolId> = written.flat_map(|edge| self.edges.targets(edge)).collect();
        let is_edited = |symbol: &SymbolId| self.edited.contains(&symbol.file);
        let now = |symbol: SymbolId| if is_edited(&symbol) { self.moved.get(&symbol).copied() } else { Some(symbol) };
        let classes: Vec<(SymbolId, SymbolId)> = match self.edited.contains(&file) {
            true => self.moved.iter().filter(|(stored, _)| stored.file == file).map(|(a, b)| (*a, *b)).collect(),
            false => (0..symbols).map(|index| SymbolId { file, index }).map(|symbol| (symbol, symbol)).collect(),
        };
        let mut kept = Vec::new();
        for (stored, class) in classes {
            let bases = self.edges.bases(stored).filter(|base| !written.contains(base)).filter_map(now);
            kept.extend(bases.map(|base| (class, base)));
        }
        kept.into_iter().for_each(|(class, base)| self.bound.add_base(class, base));
    }
}

/// Newly bound names of some files.
struct Resolved {
    relations: Relations,
    /// The files, by ascending index in the project.
    files: Vec<u32>,
    /// Whether all bases of their classes are unchanged.
    is_same: bool,
}

/// Binds the names of all files that the edits affect; `None` if that is unknown or too much.
fn affected<'a>(
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    mut notes: &[u32],
    edited: &[u32],
    symbols: &LanguageSymbols<'_, '_>,
) -> Option<Resolved> {
    let at = |file: u32, at: u32| symbols.at(Site { file, at }).map(|symbol| symbol.index);
    let notes = Notes::read(&mut notes)?;
    let mut plan = notes.plan(project, semantics, edited, &at)?;
    let files = (0..project.files.len() as u32).filter(|file| plan.again[*file as usize]).collect();
    let (relations, _) = resolve_again(project, semantics, notes, &mut plan)?;
    Some(Resolved { relations, files, is_same: plan.is_same })
}

/// Binds the names of the edited files only.
fn alone<'a>(
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    notes: &StoredNotes<'_>,
    edited: &[u32],
) -> Option<Resolved> {
    let relations = resolve_alone(project, semantics, notes, edited)?;
    Some(Resolved { relations, files: edited.to_vec(), is_same: false })
}

/// Stored notes on the names of one language.
pub(super) struct LanguageNotes<'a> {
    pub semantics: &'static Semantics,
    /// Indices of its files among all.
    files: Vec<u32>,
    /// The notes, as words.
    words: &'a [u32],
    pub notes: StoredNotes<'a>,
}

/// Notes on the languages of these files, in order of their first files. Stops at notes that belong to other files.
/// `known` are their layouts, if the caller kept them.
pub(super) fn notes_by_language<'a>(
    files: &[FileView<'_>],
    edges: &'a EdgeTable,
    known: &[Arc<NotesLayout>],
) -> Vec<LanguageNotes<'a>> {
    let Some(([count, ..], mut words)) = edges.notes().split_first_chunk::<4>() else { return Vec::new() };
    if *count as usize != files.len() {
        return Vec::new();
    }
    let mut languages: Vec<(&'static Semantics, Vec<u32>)> = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let Some(semantics) = semantics_of(file) else { continue };
        match languages.iter_mut().find(|(other, _)| std::ptr::eq(*other, semantics)) {
            Some((_, places)) => places.push(place as u32),
            None => {
                let mut places = Vec::with_capacity(files.len() - place);
                places.push(place as u32);
                languages.push((semantics, places));
            }
        }
    }
    let next = |(place, (semantics, of_it)): (usize, (&'static Semantics, Vec<u32>))| {
        next_notes(files, semantics, of_it, &mut words, known.get(place).cloned())
    };
    languages.into_iter().enumerate().map_while(next).collect()
}

/// Reads the notes on the next language: numbers of its files, other files read with their numbers, and the notes.
fn next_notes<'a>(
    files: &[FileView<'_>],
    semantics: &'static Semantics,
    of_it: Vec<u32>,
    words: &mut &'a [u32],
    known: Option<Arc<NotesLayout>>,
) -> Option<LanguageNotes<'a>> {
    let ([count, read], rest) = words.split_first_chunk()?;
    let (numbers, rest) = rest.split_at_checked(*count as usize)?;
    let (read, own) = rest.split_at_checked((*read as usize).checked_mul(2)?)?;
    let is_at = |(number, place): (&u32, &u32)| files.get(*place as usize).is_some_and(|file| file.number() == *number);
    let is_as_read = |pair: &[u32]| is_at((&pair[1], &pair[0]));
    if numbers.len() != of_it.len() || !numbers.iter().zip(&of_it).all(is_at) || !read.chunks_exact(2).all(is_as_read) {
        return None;
    }
    *words = own;
    let notes = StoredNotes::read(words, known)?;
    Some(LanguageNotes { semantics, files: of_it, words: own, notes })
}

/// Symbols that a file still has, by stored number.
fn moved(before: FileView<'_>, now: FileView<'_>) -> Vec<(SymbolId, SymbolId)> {
    if are_alike(before, now) {
        return before.symbols().zip(now.symbols()).map(|(before, now)| (before.number(), now.number())).collect();
    }
    let key = |symbol: &store::SymbolView<'_>| (symbol.qualified_name(), symbol.kind(), symbol.overload());
    let mut present: FxHashMap<_, SymbolId> = now.symbols().map(|symbol| (key(&symbol), symbol.number())).collect();
    before.symbols().filter_map(|symbol| Some((symbol.number(), present.remove(&key(&symbol))?))).collect()
}

/// Whether two files have the same symbols in the same order, as is usual after an edit.
fn are_alike(one: FileView<'_>, other: FileView<'_>) -> bool {
    let parent = |symbol: &store::SymbolView<'_>| symbol.parent().map(|parent| parent.number().index);
    let is_same = |(a, b): (store::SymbolView<'_>, store::SymbolView<'_>)| {
        a.name_bytes() == b.name_bytes()
            && (a.kind(), a.overload(), parent(&a)) == (b.kind(), b.overload(), parent(&b))
            && a.container() == b.container()
    };
    one.symbol_count() == other.symbol_count() && one.symbols().zip(other.symbols()).all(is_same)
}
