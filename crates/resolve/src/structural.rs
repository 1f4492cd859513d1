//! Classes that satisfy an interface without naming it, as in Go.

use rustc_hash::{FxHashMap, FxHashSet};

use super::names::{Def, Meaning, NOTE, Resolver};
use super::true_bases;
use super::values::Value;
use codelode_base::model::Site;
use codelode_lang::facts::{
    BindingKind, DefinitionId, DefinitionKind, ExpressionId, ListId, NAMED, NONE, Op, ProjectFile, STRUCTURAL, UNKNOWN,
    folder,
};

/// The deepest level of types that is compared; deeper parts count as equal.
const DEEPEST: usize = 8;

/// Adds a pair for each project class and interface that it satisfies without naming it.
pub(super) fn satisfied(resolver: &mut Resolver<'_>, found: &mut Vec<(Site, Site)>) {
    let mut interfaces = Vec::new();
    // The classes that define each method name themselves.
    let mut by_method: FxHashMap<u64, Vec<Def>> = FxHashMap::default();
    for (file, of) in resolver.project.files.iter().enumerate() {
        for (place, definition) in of.facts().definitions.iter().enumerate() {
            let def = Def { file: file as u32, place: DefinitionId(place as u32) };
            if definition.flags & STRUCTURAL != 0 && definition.at != NONE {
                interfaces.push(def);
            } else if definition.kind == DefinitionKind::Function && definition.owner != DefinitionId::NONE {
                // In broken source a method may have no name.
                let Some(name) = of.facts().hashes.get(definition.name.row()) else { continue };
                let class = resolver.extended(Def { place: definition.owner, ..def });
                by_method.entry(*name).or_default().push(class);
            }
        }
    }
    resolver.allow(resolver.project.files.iter().map(ProjectFile::size).sum());
    for interface in interfaces {
        let Some(methods) = methods(resolver, interface) else { continue };
        let Some(outside) = outside(resolver, interface) else { continue };
        let of = |method: &(u64, Def)| by_method.get(&method.0).map_or(&[][..], Vec::as_slice);
        let Some(rarest) = methods.iter().map(of).min_by_key(|classes| classes.len()) else { continue };
        let mut classes: Vec<Def> = Vec::new();
        for class in rarest {
            classes.push(*class);
            classes.extend(resolver.descendants(*class));
        }
        classes.sort_unstable();
        classes.dedup();
        for class in classes {
            if !resolver.work(methods.len()) {
                break;
            }
            let definition = resolver.definition(class);
            let is_other = definition.at != NONE && definition.flags & STRUCTURAL == 0;
            let fits = is_other && has_all(resolver, class, &methods) && has_outside(resolver, class, &outside);
            if fits && !resolver.order(class).contains(&interface) && resolver.work(NOTE) {
                let site = |def: Def, at: u32| Site { file: def.file, at };
                found.push((site(class, definition.at), site(interface, resolver.definition(interface).at)));
            }
        }
    }
}

/// The methods of an interface and its bases; `None` if none is known.
fn methods(resolver: &mut Resolver<'_>, interface: Def) -> Option<Vec<(u64, Def)>> {
    let mut methods: Vec<(u64, Def)> = Vec::new();
    let mut names = FxHashSet::default();
    for part in resolver.order(interface).iter() {
        let (facts, definition) = (resolver.facts(part.file), resolver.definition(*part));
        let Some(members) = facts.scopes.get(definition.members.row()) else { continue };
        let first = members.first_binding as usize;
        let bindings = &facts.bindings[first..first + members.bindings as usize];
        if !resolver.work(bindings.len()) {
            return None;
        }
        for binding in bindings.iter().filter(|binding| binding.kind == BindingKind::Definition) {
            let name = facts.hashes[binding.name.row()];
            if names.insert(name) {
                methods.push((name, Def { file: part.file, place: DefinitionId(binding.a) }));
            }
        }
    }
    (!methods.is_empty()).then_some(methods)
}

/// The names of external bases of a class and of its bases; `None` if one is no plain name.
fn outside(resolver: &mut Resolver<'_>, class: Def) -> Option<Vec<u64>> {
    let mut outside = Vec::new();
    for part in resolver.order(class).iter() {
        let facts = resolver.facts(part.file);
        for base in resolver.list(part.file, resolver.definition(*part).bases) {
            if !resolver.value(part.file, *base).is_empty() {
                continue;
            }
            let it = facts.expressions[base.row()];
            let is_name = it.op == Op::Name || it.op == Op::Member;
            outside.push(if is_name { facts.hashes[it.b as usize] } else { return None });
        }
    }
    Some(outside)
}

/// Whether a class also derives from the interface's external bases, which it must.
fn has_outside(resolver: &mut Resolver<'_>, class: Def, wanted: &[u64]) -> bool {
    wanted.is_empty()
        || outside(resolver, class).is_some_and(|outside| wanted.iter().all(|base| outside.contains(base)))
}

fn has_all(resolver: &mut Resolver<'_>, class: Def, methods: &[(u64, Def)]) -> bool {
    methods.iter().all(|(name, wanted)| {
        // A defined type has the fields of its underlying type, but not its methods.
        let own = resolver.definition(class).flags & NAMED != 0;
        let found = if own { resolver.own(class, *name) } else { resolver.member(Value::Instance(class), *name) };
        found.iter().any(|meaning| match meaning {
            Meaning::Definition(method) => fits(resolver, *method, *wanted),
            _ => false,
        })
    })
}

/// Whether a method matches the method of an interface.
fn fits(resolver: &mut Resolver<'_>, method: Def, wanted: Def) -> bool {
    if method == wanted {
        return true;
    }
    let (facts, own) = (resolver.facts(method.file), resolver.definition(method));
    let (others, other) = (resolver.facts(wanted.file), resolver.definition(wanted));
    // A lower-case name is visible in its package only.
    let is_private = facts.name(own.name).chars().next().is_some_and(|first| !first.is_uppercase());
    let package = |def: Def| folder(resolver.project.files[def.file as usize].path);
    if is_private && package(method) != package(wanted) {
        return false;
    }
    let (takes, wants) = (facts.list(own.parameters), others.list(other.parameters));
    let gives = (method.file, own.returns, wanted.file, other.returns);
    takes.len() == wants.len()
        && takes.iter().zip(wants).all(|(a, b)| same(resolver, (method.file, *a, wanted.file, *b), 0))
        && (own.returns == UNKNOWN) == (other.returns == UNKNOWN)
        && same(resolver, gives, 0)
}

/// Whether two types, each in its own file, may be the same.
fn same(resolver: &mut Resolver<'_>, types: (u32, ExpressionId, u32, ExpressionId), depth: usize) -> bool {
    let (file, own, other_file, other) = types;
    let is_equal = own == UNKNOWN || other == UNKNOWN || depth > DEEPEST || (file, own) == (other_file, other);
    if is_equal || !resolver.work(1) {
        return true;
    }
    let (facts, others) = (resolver.facts(file), resolver.facts(other_file));
    let (a, b) = (facts.expressions[own.row()], others.expressions[other.row()]);
    let lists = |resolver: &mut Resolver<'_>, a: ListId, b: ListId| {
        let (a, b) = (facts.list(a), others.list(b));
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(resolver, (file, *a, other_file, *b), depth + 1))
    };
    let both = |op: Op| a.op == op && b.op == op;
    if both(Op::Tuple) {
        return lists(resolver, ListId(a.a), ListId(b.a));
    }
    if both(Op::FunctionType) {
        return lists(resolver, ListId(a.b), ListId(b.b))
            && same(resolver, (file, ExpressionId(a.a), other_file, ExpressionId(b.a)), depth + 1);
    }
    if both(Op::Generic) {
        return lists(resolver, ListId(a.b), ListId(b.b))
            && same(resolver, (file, ExpressionId(a.a), other_file, ExpressionId(b.a)), depth + 1);
    }
    let is_name = |op: Op| op == Op::Name || op == Op::Member;
    if !is_name(a.op) || !is_name(b.op) {
        return a.op == b.op;
    }
    let (meant, others_meant) = (resolver.meaning(file, own), resolver.meaning(other_file, other));
    // A type parameter matches every type.
    let is_open = |meaning: &Meaning| matches!(meaning, Meaning::Variable { .. });
    if meant.iter().chain(others_meant.iter()).any(is_open) {
        return true;
    }
    if meant.is_empty() && others_meant.is_empty() {
        return facts.hashes[a.b as usize] == others.hashes[b.b as usize];
    }
    let (classes, other_classes) = (classes(resolver, file, own), classes(resolver, other_file, other));
    classes.iter().any(|class| other_classes.contains(class))
}

/// The classes of a type, with aliases replaced by their classes.
fn classes(resolver: &mut Resolver<'_>, file: u32, of: ExpressionId) -> Vec<Def> {
    let mut found = Vec::new();
    for value in resolver.instance(file, of).iter() {
        let Value::Instance(def) = *value else { continue };
        let definition = resolver.definition(def);
        if definition.alias == UNKNOWN || definition.flags & NAMED != 0 {
            found.push(def);
        } else {
            found.extend(true_bases(resolver, def));
        }
    }
    found
}
