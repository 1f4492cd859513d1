//! Notes on a resolved project, so that an edit only resolves the affected files again.
//!
//! An edit affects other files only through the [`Surface`] of its file. A file is affected if it writes a changed
//! name, and if its questions were answered from the edited file's facts, which the engine notes. Its own names that
//! depend on changed ones may have changed in turn, and so on. The plan never misses a file. If the effect is unknown
//! or too large, everything is resolved again.

use rustc_hash::{FxHashMap, FxHashSet};

use super::names::{Def, EarlierClasses, Resolver};
use super::subclasses::{changed_below, changed_extensions, gone};
use super::surface::{BINDING, Changed, DERIVES, INTERFACE, Surface, Touched, WRITTEN, touched};
use codelode_lang::facts::{DefinitionId, DefinitionKind, NONE, Project, Semantics};

/// The most rounds of resolving the bases of affected classes. After these, everything is resolved again.
const MOST_ROUNDS: usize = 3;

/// A stored item. It refers to its symbol, because positions change with every edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub name: u64,
    hash: u32,
    symbol: u32,
    pub place: u32,
    pub flags: u32,
}

impl Item {
    /// The number of words of its stored form.
    pub const WORDS: usize = 5;

    /// Reads an item from its stored words.
    pub fn of(words: &[u32]) -> Self {
        let name = u64::from(words[1]) << 32 | u64::from(words[0]);
        Self { name, hash: words[2], symbol: words[3], place: words[4] & 0x0fff_ffff, flags: words[4] >> 28 }
    }
}

/// The surface of a file, and the names in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileNotes {
    frame: u64,
    items: Vec<Item>,
    names: Names,
}

/// The names that a file's facts write, as a Bloom filter with one false positive in eighty (Bloom 1970). Without it,
/// finding the files that write a new name took a fifth of an edit's time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names(Vec<u32>);

impl Names {
    const BITS_FOR_EACH: usize = 10;
    const PROBES: u32 = 4;

    fn of(hashes: &[u64]) -> Self {
        let mut words = vec![0; (hashes.len() * Self::BITS_FOR_EACH).div_ceil(32)];
        let bits = Self::bits(&words);
        for bit in hashes.iter().flat_map(|hash| Self::probes(*hash, bits)) {
            words[bit / 32] |= 1 << (bit % 32);
        }
        Self(words)
    }

    fn may_hold(&self, hash: u64) -> bool {
        let bits = Self::bits(&self.0);
        bits > 0 && Self::probes(hash, bits).all(|bit| self.0[bit / 32] >> (bit % 32) & 1 == 1)
    }

    fn bits(words: &[u32]) -> u32 {
        u32::try_from(words.len() * 32).unwrap_or(u32::MAX)
    }

    fn probes(hash: u64, bits: u32) -> impl Iterator<Item = usize> {
        let (start, step) = (hash as u32, (hash >> 32) as u32 | 1);
        (0..Self::PROBES).map(move |probe| (start.wrapping_add(probe.wrapping_mul(step)) % bits) as usize)
    }
}

/// Finds the number of the symbol whose name is at a position of a file.
pub type SymbolAt<'a> = dyn Fn(u32, u32) -> Option<u32> + 'a;

impl FileNotes {
    /// The notes of one file of a project.
    pub fn of<'a>(project: &'a Project<'a>, file: u32, symbol_at: &SymbolAt<'_>) -> Self {
        let facts = project.files[file as usize].facts();
        let surface = Surface::of(facts);
        let item = |item: super::surface::Item| Item {
            name: item.name,
            hash: item.hash,
            symbol: Some(item.at).filter(|at| *at != NONE).and_then(|at| symbol_at(file, at)).unwrap_or(NONE),
            place: item.place,
            flags: item.flags,
        };
        let items = surface.items.into_iter().map(item).collect();
        Self { frame: surface.frame, items, names: Names::of(facts.hashes) }
    }

    fn written(&self) -> FxHashSet<u64> {
        self.items.iter().filter(|item| item.flags & WRITTEN != 0).map(|item| item.name).collect()
    }
}

/// Notes on a project. Files are numbered by their index in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    pub(super) files: Vec<FileNotes>,
    /// Sorted pairs of a file and a file whose facts were read for it.
    pub(super) consulted: Vec<(u32, u32)>,
    pub(super) extends: Vec<(Def, Def)>,
    pub(super) derives: Vec<(Def, Def)>,
    /// Files whose classes have cyclic bases; ascending.
    pub(super) tangled: Vec<u32>,
    /// Whether an answer may depend on earlier questions. Then the effect of the next edit is unknown.
    pub(super) is_cut: bool,
    /// Whether the work limit was reached. Such notes are not reused, so this is not stored.
    pub is_spent: bool,
}

/// The files and symbols affected by an edit.
pub struct Plan {
    /// Whether each file is to be resolved again.
    pub again: Vec<bool>,
    /// New numbers of the symbols kept in each edited file, by old number.
    pub moved: FxHashMap<u32, FxHashMap<u32, u32>>,
    /// Whether the surfaces of all edited files are unchanged.
    pub is_same: bool,
    pub(super) settled: EarlierClasses,
    /// Ascending hashes of the names that these files write and the project defines.
    pub(super) defined: Vec<u64>,
    noted: Vec<(u32, FileNotes)>,
    untangled: ReresolvedClasses,
}

/// Unchanged files whose classes are resolved again, with the bases that must result.
struct ReresolvedClasses {
    files: Vec<u32>,
    derives: Vec<(Def, Def)>,
}

/// The changes of one file.
struct Change {
    names: FxHashSet<u64>,
    symbols: FxHashMap<u32, u32>,
    /// New places of definitions by old place.
    places: FxHashMap<DefinitionId, DefinitionId>,
    flags: u32,
}

impl Change {
    /// Compares two states of a file. `None` if the effect is unknown.
    fn between(before: &FileNotes, now: &FileNotes) -> Option<Self> {
        if before.frame != now.frame {
            return None;
        }
        let mut change =
            Self { names: FxHashSet::default(), symbols: FxHashMap::default(), places: FxHashMap::default(), flags: 0 };
        let groups = |noted: &FileNotes| -> FxHashMap<u64, std::ops::Range<usize>> {
            let mut groups = FxHashMap::default();
            let mut from = 0;
            for group in noted.items.chunk_by(|a, b| a.name == b.name) {
                groups.insert(group[0].name, from..from + group.len());
                from += group.len();
            }
            groups
        };
        let (old, new) = (groups(before), groups(now));
        let alike = |a: &Item, b: &Item| (a.hash, a.flags, a.symbol == NONE) == (b.hash, b.flags, b.symbol == NONE);
        // The order of places determines the order of answers, so it must not change.
        let mut order: [Vec<(u32, u32)>; 2] = [Vec::new(), Vec::new()];
        for (name, range) in &old {
            let was = &before.items[range.clone()];
            let is = new.get(name).map_or(&[][..], |range| &now.items[range.clone()]);
            if was.len() != is.len() || !was.iter().zip(is).all(|(a, b)| alike(a, b)) {
                change.names.insert(*name);
                change.flags |= was.iter().chain(is).fold(0, |flags, item| flags | item.flags);
                continue;
            }
            for (was, is) in was.iter().zip(is) {
                if was.symbol != NONE {
                    change.symbols.insert(was.symbol, is.symbol);
                }
                order[(was.flags & BINDING) as usize].push((was.place, is.place));
                if was.flags & BINDING == 0 {
                    change.places.insert(DefinitionId(was.place), DefinitionId(is.place));
                }
            }
        }
        for (name, range) in new.iter().filter(|(name, _)| !old.contains_key(name)) {
            change.names.insert(*name);
            change.flags |= now.items[range.clone()].iter().fold(0, |flags, item| flags | item.flags);
        }
        let is_ordered = order.iter_mut().all(|order| {
            order.sort_unstable();
            order.is_sorted_by_key(|(_, now)| *now)
        });
        is_ordered.then_some(change)
    }
}

impl Notes {
    /// Plans what to resolve after an edit of these files. `None` if everything is to be resolved, because the effect
    /// is unknown or too large. The project must have the same files and paths as before.
    pub fn plan<'a>(
        &self,
        project: &'a Project<'a>,
        semantics: &'static Semantics,
        edited: &[u32],
        symbol_at: &SymbolAt<'_>,
    ) -> Option<Plan> {
        let files = project.files.len();
        // With more files, resolving everything costs little more.
        let most = (files / 4).max(8);
        if self.is_cut || self.files.len() != files || edited.len() > most || !self.refers_below(files) {
            return None;
        }
        let noted: Vec<(u32, FileNotes)> =
            edited.iter().map(|file| (*file, FileNotes::of(project, *file, symbol_at))).collect();
        let mut spread = ChangeSpread {
            notes: self,
            project,
            semantics,
            most,
            again: FxHashSet::default(),
            changed: FxHashMap::default(),
            told: FxHashMap::default(),
            may_derive: false,
            may_extend: false,
        };
        let (mut changes, mut doubtful) = (FxHashMap::default(), FxHashSet::default());
        for (file, now) in &noted {
            let before = &self.files[*file as usize];
            let change = Change::between(before, now)?;
            let (was, is) = (before.written(), now.written());
            doubtful.extend(was.symmetric_difference(&is).copied());
            changes.insert(*file, change);
            spread.again.insert(*file);
        }
        let is_same = changes.values().all(|change| change.names.is_empty());
        if !is_same {
            if semantics.includes {
                return None;
            }
            let is_interface = |noted: &FileNotes| noted.items.iter().any(|item| item.flags & INTERFACE != 0);
            if self.files.iter().any(is_interface) || noted.iter().any(|(_, noted)| is_interface(noted)) {
                return None;
            }
            spread.may_derive = changes.values().any(|change| change.flags & DERIVES != 0);
        }
        let edited: FxHashMap<u32, &FileNotes> = noted.iter().map(|(file, noted)| (*file, noted)).collect();
        for (file, change) in &changes {
            spread.from(*file, &change.names, &edited)?;
        }
        spread.through_classes(&changes, &edited, is_same)?;
        let noted_of = |file: usize| edited.get(&(file as u32)).copied().unwrap_or(&self.files[file]);
        let written =
            |file: usize| noted_of(file).items.iter().filter(|item| item.flags & WRITTEN != 0).map(|item| item.name);
        // An unbound name only matters if some definition has it.
        if !doubtful.is_empty() {
            (0..files).filter(|file| !edited.contains_key(&(*file as u32))).flat_map(written).for_each(|name| {
                doubtful.remove(&name);
            });
        }
        for file in 0..files {
            let mut may_write = doubtful.iter().filter(|name| noted_of(file).names.may_hold(**name));
            if may_write.any(|name| project.files[file].facts().find_name(*name).is_some()) {
                spread.again.insert(file as u32);
            }
        }
        if spread.again.len() > most {
            return None;
        }
        let again = spread.again;
        let named = again.iter().flat_map(|file| project.files[*file as usize].facts().hashes);
        let named: FxHashSet<u64> = named.copied().collect();
        let mut defined: Vec<u64> = (0..files).flat_map(written).filter(|name| named.contains(name)).collect();
        defined.sort_unstable();
        defined.dedup();
        let (settled, untangled) = self.settle(&changes, &again, is_same)?;
        Some(Plan {
            again: (0..files as u32).map(|file| again.contains(&file)).collect(),
            moved: changes.into_iter().map(|(file, change)| (file, change.symbols)).collect(),
            is_same,
            settled,
            defined,
            noted,
            untangled,
        })
    }

    /// Whether all file numbers are below `files`. The stored notes may be damaged.
    fn refers_below(&self, files: usize) -> bool {
        let is_below = |file: &u32| (*file as usize) < files;
        let pairs = self.extends.iter().chain(&self.derives);
        self.consulted.iter().all(|(from, to)| is_below(from) && is_below(to))
            && pairs.into_iter().all(|(own, other)| is_below(&own.file) && is_below(&other.file))
            && self.tangled.iter().all(is_below)
    }

    /// The class relations that stay valid after an edit. Tangled files stay valid all or none. The second part lists
    /// unchanged files to be resolved again for the others, with the bases that must result.
    fn settle(
        &self,
        changes: &FxHashMap<u32, Change>,
        again: &FxHashSet<u32>,
        is_same: bool,
    ) -> Option<(EarlierClasses, ReresolvedClasses)> {
        let mut is_settled: Vec<bool> = (0..self.files.len() as u32).map(|file| !again.contains(&file)).collect();
        let mut untangled = Vec::new();
        if self.tangled.iter().any(|file| again.contains(file)) {
            for file in &self.tangled {
                // If no surface changed, no class changed its bases.
                is_settled[*file as usize] = is_same;
            }
            untangled.extend(self.tangled.iter().copied().filter(|file| !is_same && !again.contains(file)));
        }
        let place = |def: Def| match changes.get(&def.file) {
            Some(change) => Some(Def { place: *change.places.get(&def.place)?, ..def }),
            None => Some(def),
        };
        let kept = |pairs: &[(Def, Def)], of: &dyn Fn(u32) -> bool| -> Option<Vec<(Def, Def)>> {
            let kept = pairs.iter().filter(|(own, _)| of(own.file));
            kept.map(|(own, other)| Some((place(*own)?, place(*other)?))).collect()
        };
        let settled = |file: u32| is_settled[file as usize];
        let (extends, derives) = (kept(&self.extends, &settled)?, kept(&self.derives, &settled)?);
        let expected = kept(&self.derives, &|file| untangled.contains(&file))?;
        let untangled = ReresolvedClasses { files: untangled, derives: expected };
        Some((EarlierClasses { files: is_settled, extends, derives }, untangled))
    }

    /// Pairs of definitions, converted to current places.
    fn moved(&self, pairs: &[(Def, Def)], changes: &FxHashMap<u32, Change>) -> Vec<(Def, Def)> {
        let place = |def: Def| match changes.get(&def.file) {
            Some(change) => change.places.get(&def.place).map_or(gone(def), |place| Def { place: *place, ..def }),
            None => def,
        };
        pairs.iter().map(|(own, other)| (place(*own), place(*other))).collect()
    }

    /// These notes after the planned files have been resolved again.
    pub(super) fn updated(mut self, noted: Vec<(u32, FileNotes)>, again: &super::names::Resolver<'_>) -> Self {
        for (file, noted) in noted {
            self.files[file as usize] = noted;
        }
        // Earlier consultations are kept, because later questions may need them again.
        self.consulted.extend(again.consultations());
        self.consulted.sort_unstable();
        self.consulted.dedup();
        (self.extends, self.derives) = (again.extends.clone(), again.derives.clone());
        // Tangled files are kept, because their questions may not have been asked this time.
        self.tangled.extend(&again.tangled);
        self.tangled.sort_unstable();
        self.tangled.dedup();
        self
    }

    /// Appends the notes as words, for [`Notes::read`].
    pub fn write(&self, out: &mut Vec<u32>) {
        let lens = [self.files.len(), self.consulted.len(), self.extends.len(), self.derives.len(), self.tangled.len()];
        out.extend(lens.iter().map(|len| *len as u32));
        out.push(u32::from(self.is_cut));
        let long = |word: u64| [word as u32, (word >> 32) as u32];
        for file in &self.files {
            out.extend(long(file.frame));
            out.extend([file.items.len() as u32, file.names.0.len() as u32]);
            for item in &file.items {
                let [low, high] = long(item.name);
                out.extend([low, high, item.hash, item.symbol, item.place | item.flags << 28]);
            }
            out.extend(&file.names.0);
        }
        out.extend(self.consulted.iter().flat_map(|(from, to)| [*from, *to]));
        for (own, other) in self.extends.iter().chain(&self.derives) {
            out.extend([own.file, own.place.0, other.file, other.place.0]);
        }
        out.extend(&self.tangled);
    }

    /// Reads notes from the front of `words`; `None` if they are invalid.
    pub fn read(words: &mut &[u32]) -> Option<Self> {
        let [files, consulted, extends, derives, tangled, is_cut] = *take(words)?;
        let long = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
        let mut notes = Self { is_cut: is_cut != 0, ..Self::default() };
        for _ in 0..files {
            let [low, high, items, names] = *take(words)?;
            let (items, rest) = words.split_at_checked((items as usize).checked_mul(Item::WORDS)?)?;
            let (names, rest) = rest.split_at_checked(names as usize)?;
            *words = rest;
            let (items, names) = (items.chunks_exact(Item::WORDS).map(Item::of).collect(), Names(names.to_vec()));
            notes.files.push(FileNotes { frame: long([low, high]), items, names });
        }
        for _ in 0..consulted {
            let [from, to] = *take(words)?;
            notes.consulted.push((from, to));
        }
        let mut pairs = |count: u32| -> Option<Vec<(Def, Def)>> {
            (0..count)
                .map(|_| {
                    let [file, place, other, there] = *take(words)?;
                    Some((Def { file, place: DefinitionId(place) }, Def { file: other, place: DefinitionId(there) }))
                })
                .collect()
        };
        (notes.extends, notes.derives) = (pairs(extends)?, pairs(derives)?);
        let (tangled, rest) = words.split_at_checked(tangled as usize)?;
        (notes.tangled, *words) = (tangled.to_vec(), rest);
        Some(notes)
    }
}

/// Takes the first `N` words; `None` if there are fewer.
pub(super) fn take<'a, const N: usize>(words: &mut &'a [u32]) -> Option<&'a [u32; N]> {
    let (first, rest) = words.split_first_chunk()?;
    *words = rest;
    Some(first)
}

impl Plan {
    /// Takes out the parts that are needed only once.
    pub(super) fn take(&mut self) -> (EarlierClasses, Vec<(u32, FileNotes)>) {
        let none = EarlierClasses { files: Vec::new(), extends: Vec::new(), derives: Vec::new() };
        (std::mem::replace(&mut self.settled, none), std::mem::take(&mut self.noted))
    }

    /// Whether the classes of unchanged files got the expected bases.
    pub(super) fn expects(&self, derives: &[(Def, Def)]) -> bool {
        let ReresolvedClasses { files, derives: expected } = &self.untangled;
        let found: FxHashSet<&(Def, Def)> = derives.iter().filter(|(own, _)| files.contains(&own.file)).collect();
        found == expected.iter().collect()
    }
}

/// Spreads a change to other files.
struct ChangeSpread<'n, 'a> {
    notes: &'n Notes,
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    most: usize,
    again: FxHashSet<u32>,
    /// The changed names that each file sees.
    changed: FxHashMap<u32, Changed>,
    /// The possibly changed names of each file that were already passed on.
    told: FxHashMap<u32, FxHashSet<u64>>,
    /// Whether a class may have changed its bases.
    may_derive: bool,
    /// Whether an extension may have changed what it extends.
    may_extend: bool,
}

impl ChangeSpread<'_, '_> {
    /// Follows changed names of a file to all files that may see them. `None` if the effect is unknown or too large.
    fn from(&mut self, file: u32, names: &FxHashSet<u64>, edited: &FxHashMap<u32, &FileNotes>) -> Option<()> {
        if names.is_empty() {
            return Some(());
        }
        self.changed.entry(file).or_default().own.extend(names);
        let mut waiting = Vec::new();
        let within = self.within(file, edited);
        if within.is_some() {
            self.again.insert(file);
        }
        let mut new = within.unwrap_or_default();
        new.extend(names);
        self.told.entry(file).or_default().extend(&new);
        waiting.push((file, new));
        while let Some((file, mut names)) = waiting.pop() {
            if self.asked_unnamed(&names) {
                let facts = self.project.files[file as usize].facts();
                let classes = facts.definitions.iter().filter(|it| it.kind != DefinitionKind::Function);
                names.extend(classes.filter_map(|class| facts.hashes.get(class.name.row())));
            }
            for (asking, _) in self.notes.consulted.iter().filter(|(_, consulted)| *consulted == file) {
                let noted = edited.get(asking).copied().unwrap_or(&self.notes.files[*asking as usize]);
                if !names.iter().any(|name| noted.names.may_hold(*name)) {
                    continue;
                }
                let facts = self.project.files[*asking as usize].facts();
                let seen = &mut self.changed.entry(*asking).or_default().others;
                let before = seen.len();
                seen.extend(names.iter().filter(|name| facts.find_name(**name).is_some()));
                if seen.len() == before {
                    continue;
                }
                let Some(mut new) = self.within(*asking, edited) else { continue };
                self.again.insert(*asking);
                let told = self.told.entry(*asking).or_default();
                new.retain(|name| told.insert(*name));
                if !new.is_empty() {
                    waiting.push((*asking, new));
                }
            }
            if self.again.len() > self.most {
                return None;
            }
        }
        Some(())
    }

    /// Follows changed extension targets and class bases. Both are resolved again until no further file is affected.
    fn through_classes(
        &mut self,
        changes: &FxHashMap<u32, Change>,
        edited: &FxHashMap<u32, &FileNotes>,
        is_same: bool,
    ) -> Option<()> {
        let notes = self.notes;
        for _ in 0..=MOST_ROUNDS {
            let looks_down = self.semantics.looks_down && self.may_derive;
            if !self.may_extend && !looks_down {
                return Some(());
            }
            let (reached, settled) = (self.again.len(), notes.settle(changes, &self.again, is_same)?.0);
            let resolver = Resolver::new(self.project, self.semantics, Some(settled));
            let mut found = changed_extensions(&resolver, &notes.moved(&notes.extends, changes));
            if looks_down {
                found.extend(changed_below(&resolver, &notes.moved(&notes.derives, changes)));
            }
            for (file, names) in found {
                self.from(file, &names, edited)?;
            }
            if self.again.len() == reached {
                return Some(());
            }
        }
        None
    }

    /// The names of a file's items that may have changed through changes it sees; `None` if there are none.
    fn within(&mut self, file: u32, edited: &FxHashMap<u32, &FileNotes>) -> Option<FxHashSet<u64>> {
        let facts = self.project.files[file as usize].facts();
        let Touched { names: found, extends } = touched(facts, &self.changed[&file], self.semantics.class_names)?;
        self.may_extend |= extends;
        self.may_derive |= extends;
        let items = edited.get(&file).copied().unwrap_or(&self.notes.files[file as usize]);
        self.may_derive |= items.items.iter().any(|item| item.flags & DERIVES != 0 && found.contains(&item.name));
        Some(found)
    }

    /// Whether code may use one of these names implicitly: by calling, indexing or constructing.
    fn asked_unnamed(&self, names: &FxHashSet<u64>) -> bool {
        let it = self.semantics;
        let elements = it.element.iter().map(|(name, _)| name);
        let mut unnamed = it.call.iter().chain(it.enter).chain(elements).chain([&it.constructor, &it.default_export]);
        unnamed.any(|name| !name.is_empty() && names.contains(&codelode_lang::facts::hash(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::Names;
    use codelode_lang::facts::hash;

    #[test]
    fn a_name_that_is_written_is_always_said_to_be_and_few_others_are() {
        for count in [1, 3, 150, 20_000] {
            let written: Vec<u64> = (0..count).map(|number| hash(&format!("name_{number}"))).collect();
            let names = Names::of(&written);
            assert!(written.iter().all(|name| names.may_hold(*name)), "{count}");
            let others = (0..10_000).filter(|number| names.may_hold(hash(&format!("other_{number}")))).count();
            assert!(others < 500, "{others} of 10000 beside {count}");
        }
        assert!(!Names::of(&[]).may_hold(hash("name")));
    }
}
