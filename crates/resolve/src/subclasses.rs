//! Effects of an edit on files that find a class's members in its subclasses or extensions.
//!
//! Such files need not write the names of the subclasses. So a class that gained or lost a base is followed from its
//! ancestors, and an extension from the class that it extends.

use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::below;
use super::names::{Def, Resolver};
use codelode_lang::facts::{DefinitionId, ScopeId};

/// Marks a removed definition; the other bits are its former place.
const GONE: u32 = 1 << 31;

/// The derived classes of each class, in the order of `derives`, which are pairs of class and base.
pub(super) fn subclasses(derives: &[(Def, Def)]) -> FxHashMap<Def, Vec<Def>> {
    let mut found: FxHashMap<Def, Vec<Def>> = FxHashMap::default();
    for (class, base) in derives {
        found.entry(*base).or_default().push(*class);
    }
    found
}

/// Each class that gained or lost descendants: its file, and the name hashes of their members.
///
/// `before` holds the earlier pairs of class and base by current places; removed definitions have the place of
/// [`gone`].
pub(super) fn changed_below(resolver: &Resolver<'_>, before: &[(Def, Def)]) -> Vec<(u32, FxHashSet<u64>)> {
    let was: FxHashSet<(Def, Def)> = before.iter().copied().collect();
    let is: FxHashSet<(Def, Def)> = resolver.derives.iter().copied().collect();
    let bases_of = |pairs: &[(Def, Def)]| {
        let mut found: FxHashMap<Def, Vec<Def>> = FxHashMap::default();
        pairs.iter().for_each(|(class, base)| found.entry(*class).or_default().push(*base));
        found
    };
    let both = [bases_of(before), bases_of(&resolver.derives)];
    let mut above: Vec<Def> = was.symmetric_difference(&is).map(|(_, base)| *base).collect();
    let mut at = 0;
    while at < above.len() {
        for bases in &both {
            for base in bases.get(&above[at]).into_iter().flatten() {
                if !above.contains(base) {
                    above.push(*base);
                }
            }
        }
        at += 1;
    }
    above.sort_unstable();
    above.dedup();
    let (earlier, now) = (subclasses(before), subclasses(&resolver.derives));
    let mut found = Vec::new();
    for class in above.into_iter().filter(|class| !is_gone(*class)) {
        let (earlier, now) = (below(&earlier, class), below(&now, class));
        let others = |one: &[Def], other: &[Def]| -> Vec<Def> {
            one.iter().copied().filter(|class| !other.contains(class)).collect()
        };
        let mut changed: Vec<Def> = others(&earlier, &now);
        changed.extend(others(&now, &earlier));
        // The first class with a name is the one meant, so the order counts.
        let kept = |all: &[Def]| -> Vec<Def> { all.iter().copied().filter(|class| !changed.contains(class)).collect() };
        if kept(&earlier) != kept(&now) {
            changed = earlier.iter().chain(&now).copied().collect();
        }
        let names = changed.iter().flat_map(|class| names_of(resolver, *class)).collect();
        found.push((class.file, names));
    }
    found
}

/// Each class that gained or lost an extension: its file, and the name hashes of the extension's members. `before`
/// holds the earlier pairs of extension and class, as in [`changed_below`].
pub(super) fn changed_extensions(resolver: &Resolver<'_>, before: &[(Def, Def)]) -> Vec<(u32, FxHashSet<u64>)> {
    let was: FxHashSet<(Def, Def)> = before.iter().copied().collect();
    let is: FxHashSet<(Def, Def)> = resolver.extends.iter().copied().collect();
    let mut changed: Vec<(Def, Def)> = was.symmetric_difference(&is).copied().collect();
    changed.sort_unstable();
    let names = |extension: Def| -> FxHashSet<u64> {
        if !is_gone(extension) {
            return members(resolver, extension).collect();
        }
        // It is unknown which extension was removed, so all extensions of its file count.
        let all = resolver.project.files[extension.file as usize].facts().extensions;
        let all = all.iter().map(|one| Def { place: one.definition, ..extension });
        all.flat_map(|one| members(resolver, one)).collect()
    };
    changed.into_iter().map(|(extension, class)| (class.file, names(extension))).collect()
}

/// The place of a removed definition.
pub(super) fn gone(def: Def) -> Def {
    Def { place: DefinitionId(def.place.0 | GONE), ..def }
}

fn is_gone(def: Def) -> bool {
    def.place.0 & GONE != 0
}

/// The name hashes of a class's members; empty for a removed class, because its file has changed anyway.
fn names_of(resolver: &Resolver<'_>, class: Def) -> Vec<u64> {
    let mut names = Vec::new();
    if is_gone(class) {
        return names;
    }
    let parts = resolver.extensions.get(&class).into_iter().flatten().copied();
    for part in std::iter::once(class).chain(parts) {
        names.extend(members(resolver, part));
    }
    names
}

/// The name hashes of the members that a definition has itself.
fn members<'a>(resolver: &Resolver<'a>, class: Def) -> impl Iterator<Item = u64> {
    let facts = resolver.project.files[class.file as usize].facts();
    let scopes = facts.definitions.get(class.place.row()).into_iter().flat_map(|it| [it.members, it.attributes]);
    let scopes = scopes.filter(|scope| *scope != ScopeId::NONE).filter_map(|scope| facts.scopes.get(scope.row()));
    let bindings = scopes.flat_map(|it| &facts.bindings[it.first_binding as usize..][..it.bindings as usize]);
    bindings.filter_map(|binding| facts.hashes.get(binding.name.row()).copied())
}
