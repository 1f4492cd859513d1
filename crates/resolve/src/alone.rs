//! Binds the names of a few files only: edited files, such as unsaved texts, or files of another repository. Other
//! files keep their stored notes, even if an edit affects them.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use super::names::{Def, EarlierClasses, Resolver};
use super::notes::{Item, take};
use super::surface::{BINDING, WRITTEN};
use super::{defined_names_of, put_in_order, resolve_file};
use codelode_base::model::Relations;
use codelode_lang::facts::{DefinitionId, Project, Semantics};

/// The positions of a project's notes among stored words. Finding them reads one place per file, and `written` reads
/// all notes, so it is worth keeping.
#[derive(Debug)]
pub struct NotesLayout {
    /// Word ranges of each file's items.
    files: Vec<Range<usize>>,
    extends: Range<usize>,
    derives: Range<usize>,
    /// The number of words.
    len: usize,
    /// The number of items that write each name; computed on first use.
    written: OnceLock<FxHashMap<u64, u32>>,
}

impl NotesLayout {
    /// Finds the layout of notes at the start of `words`; `None` if they are invalid.
    fn of(words: &[u32]) -> Option<Self> {
        let mut rest = words;
        let [files, consulted, extends, derives, tangled, _] = *take(&mut rest)?;
        let mut at = words.len() - rest.len();
        let mut skip = |count: usize| -> Option<Range<usize>> {
            let skipped = at..at.checked_add(count).filter(|end| *end <= words.len())?;
            at = skipped.end;
            Some(skipped)
        };
        let mut all = Vec::new();
        for _ in 0..files {
            let head = &words[skip(4)?];
            all.push(skip((head[2] as usize).checked_mul(Item::WORDS)?)?);
            skip(head[3] as usize)?;
        }
        skip((consulted as usize).checked_mul(2)?)?;
        let (extends, derives) = (skip((extends as usize).checked_mul(4)?)?, skip((derives as usize).checked_mul(4)?)?);
        let len = skip(tangled as usize)?.end;
        Some(Self { files: all, extends, derives, len, written: OnceLock::new() })
    }
}

/// New places of definitions by old place, for each edited file. Computed on demand, because few classes derive from
/// those of an edited file.
type EditedPlaces = FxHashMap<u32, OnceCell<FxHashMap<DefinitionId, DefinitionId>>>;

/// Notes on a project as they are stored, read in place.
pub struct StoredNotes<'a> {
    words: &'a [u32],
    layout: Arc<NotesLayout>,
}

impl<'a> StoredNotes<'a> {
    /// Reads notes from the front of `words`, like [`Notes::read`](super::Notes::read). `known` is their layout, if the
    /// caller kept it.
    pub fn read(words: &mut &'a [u32], known: Option<Arc<NotesLayout>>) -> Option<Self> {
        let layout = match known {
            Some(layout) => layout,
            None => Arc::new(NotesLayout::of(words)?),
        };
        let (own, rest) = words.split_at_checked(layout.len)?;
        *words = rest;
        Some(Self { words: own, layout })
    }

    /// The layout of these notes, for the caller to keep.
    pub fn layout(&self) -> &Arc<NotesLayout> {
        &self.layout
    }

    fn items(&self, file: u32) -> impl Iterator<Item = Item> + use<'_, 'a> {
        self.words[self.layout.files[file as usize].clone()].chunks_exact(Item::WORDS).map(Item::of)
    }

    /// The names in `asked` that unedited files write.
    fn written_elsewhere(&self, edited: &[u32], asked: &FxHashSet<u64>) -> Vec<u64> {
        let count = |all: &mut FxHashMap<u64, u32>, file: u32| {
            let written = self.items(file).filter(|item| item.flags & WRITTEN != 0);
            written.for_each(|item| *all.entry(item.name).or_default() += 1);
        };
        let all = self.layout.written.get_or_init(|| {
            let mut all = FxHashMap::default();
            (0..self.layout.files.len() as u32).for_each(|file| count(&mut all, file));
            all
        });
        let mut own = FxHashMap::default();
        edited.iter().for_each(|file| count(&mut own, *file));
        asked.iter().copied().filter(|name| all.get(name).is_some_and(|count| own.get(name) != Some(count))).collect()
    }

    /// New places of an edited file's definitions by old place. Definitions of one name keep their order.
    fn places<'p>(&self, project: &'p Project<'p>, file: u32) -> FxHashMap<DefinitionId, DefinitionId> {
        let facts = project.files[file as usize].facts();
        let mut places: FxHashMap<u64, Vec<DefinitionId>> = FxHashMap::default();
        // In reverse, because the first one is popped first.
        for (place, definition) in facts.definitions.iter().enumerate().rev() {
            if let Some(name) = facts.hashes.get(definition.name.row()) {
                places.entry(*name).or_default().push(DefinitionId(place as u32));
            }
        }
        let mut before: Vec<Item> = self.items(file).filter(|item| item.flags & BINDING == 0).collect();
        before.sort_unstable_by_key(|item| item.place);
        before.iter().filter_map(|item| Some((DefinitionId(item.place), places.get_mut(&item.name)?.pop()?))).collect()
    }

    /// Pairs of definitions by their current places, if the first one lies in an unedited file.
    fn pairs<'p>(&self, words: &Range<usize>, project: &'p Project<'p>, edited: &EditedPlaces) -> Vec<(Def, Def)> {
        let is_known = |file: u32| (file as usize) < self.layout.files.len();
        let place = |file: u32, place: DefinitionId| match edited.get(&file) {
            Some(places) => {
                let places = places.get_or_init(|| self.places(project, file));
                Some(Def { file, place: *places.get(&place)? })
            }
            None => Some(Def { file, place }),
        };
        let pair = |pair: &[u32]| {
            let is_kept = is_known(pair[0]) && is_known(pair[2]) && !edited.contains_key(&pair[0]);
            is_kept
                .then(|| {
                    Some((Def { file: pair[0], place: DefinitionId(pair[1]) }, place(pair[2], DefinitionId(pair[3]))?))
                })
                .flatten()
        };
        self.words[words.clone()].chunks_exact(4).filter_map(pair).collect()
    }
}

/// Binds every occurrence of the edited files. `None` if the notes belong to other files.
pub fn resolve_alone<'a>(
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    notes: &StoredNotes<'_>,
    edited: &[u32],
) -> Option<Relations> {
    let files = project.files.len();
    if notes.layout.files.len() != files || edited.iter().any(|file| *file as usize >= files) {
        return None;
    }
    let places: EditedPlaces = edited.iter().map(|file| (*file, OnceCell::new())).collect();
    let pairs = |words: &Range<usize>| notes.pairs(words, project, &places);
    let (extends, derives) = (pairs(&notes.layout.extends), pairs(&notes.layout.derives));
    let settled =
        EarlierClasses { files: (0..files as u32).map(|file| !edited.contains(&file)).collect(), extends, derives };
    let mut resolver = Resolver::new(project, semantics, Some(settled));
    let written = edited.iter().flat_map(|file| project.files[*file as usize].facts().hashes);
    let written: FxHashSet<u64> = written.copied().collect();
    let mut defined = defined_names_of(edited.iter().map(|file| &project.files[*file as usize]));
    defined.extend(notes.written_elsewhere(edited, &written));
    defined.sort_unstable();
    let mut relations = Relations::default();
    for file in edited {
        resolve_file(&mut resolver, *file, &defined, &mut relations);
    }
    put_in_order(&mut relations);
    Some(relations)
}

/// Binds every occurrence of the `wanted` files, which come from another repository and use the project. `guests` are
/// consecutive file numbers; those not wanted may lie on import paths. The project's own files keep their notes. `None`
/// if the notes belong to other files.
pub fn resolve_guests<'a>(
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    notes: &StoredNotes<'_>,
    guests: Range<u32>,
    wanted: impl IntoIterator<Item = u32>,
) -> Option<Relations> {
    let files = project.files.len();
    let count = notes.layout.files.len();
    if count + guests.len() != files || guests.end as usize > files {
        return None;
    }
    let moved = |file: u32| if file < guests.start { file } else { file + guests.len() as u32 };
    let def = |file: u32, place: u32| Def { file: moved(file), place: DefinitionId(place) };
    let pairs = |words: &Range<usize>| {
        let known = notes.words[words.clone()].chunks_exact(4).filter(|pair| (pair[0].max(pair[2]) as usize) < count);
        known.map(|pair| (def(pair[0], pair[1]), def(pair[2], pair[3]))).collect()
    };
    let (extends, derives) = (pairs(&notes.layout.extends), pairs(&notes.layout.derives));
    let settled =
        EarlierClasses { files: (0..files as u32).map(|file| !guests.contains(&file)).collect(), extends, derives };
    let mut resolver = Resolver::new(project, semantics, Some(settled));
    let mut relations = Relations::default();
    for file in wanted {
        resolve_file(&mut resolver, file, &[], &mut relations);
    }
    put_in_order(&mut relations);
    Some(relations)
}
