//! Binds every name to its definition, or says why it could not. One engine for all languages.
//!
//! It joins the [`facts`](codelode_lang::facts) of all files of a checkout into [`Relations`], which can be computed
//! again at any time. The order of files does not matter. Every answer is computed on demand and kept, except inside a
//! cycle: there, answers are kept only once the whole cycle is answered.
//!
//! This crate must not know any language by name, source text, or the store: it reads facts and returns relations.

mod alone;
mod callbacks;
mod classes;
mod elements;
mod foreign;
mod generics;
mod labels;
mod lent;
mod made;
mod names;
mod notes;
mod overloads;
mod proofs;
mod questions;
mod spaces;
mod structural;
mod subclasses;
mod surface;
mod values;

pub use alone::{NotesLayout, StoredNotes, resolve_alone, resolve_guests};
pub use notes::{Notes, Plan, SymbolAt};

use rustc_hash::FxHashMap;

use classes::MOST_BASES;
use codelode_base::model::{How, Occurrence, Relations, Role, Site};
use codelode_lang::facts::{
    Binding, BindingKind as Kind, DefinitionId, DefinitionKind, ELSE_WITHIN, Expression, ExpressionId, Facts, IN_PATH,
    MEANS_VALUE, MODULES_ONLY, Module, NAMED, NONE, NameId, Op, Project, ProjectFile, STANDS_IN, ScopeId, Semantics,
    UNKNOWN,
};
use foreign::is_foreign;
use names::{Def, Meaning, NOTE, Resolver};
use notes::FileNotes;
use values::Value;

/// Binds every occurrence of a project. Files are numbered by their index in [`Project::files`].
///
/// Occurrences bound to a local name have no target and are left out. Unbound ones carry the reason, if any definition
/// of the project has their name.
pub fn resolve<'a>(project: &'a Project<'a>, semantics: &'static Semantics) -> Relations {
    resolve_all(project, semantics).0
}

/// Like [`resolve`], with the notes that [`resolve_again`] needs after an edit.
pub fn resolve_noting<'a>(
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    symbol_at: &SymbolAt<'_>,
) -> (Relations, Notes) {
    let (relations, resolver) = resolve_all(project, semantics);
    let notes = Notes {
        files: (0..project.files.len() as u32).map(|file| FileNotes::of(project, file, symbol_at)).collect(),
        consulted: resolver.consultations(),
        extends: resolver.extends,
        derives: resolver.derives,
        tangled: resolver.tangled.into_iter().collect(),
        is_cut: resolver.is_cut,
        is_spent: resolver.is_spent,
    };
    (relations, notes)
}

/// Like [`resolve`], for the files that an edit may have affected, and updates the notes. `None` if the whole project
/// has to be resolved. Interfaces satisfied by structure are not computed again.
pub fn resolve_again<'a>(
    project: &'a Project<'a>,
    semantics: &'static Semantics,
    notes: Notes,
    plan: &mut Plan,
) -> Option<(Relations, Notes)> {
    let (settled, noted) = plan.take();
    let mut resolver = Resolver::new(project, semantics, Some(settled));
    if !plan.expects(&resolver.derives) {
        return None;
    }
    let mut relations = Relations::default();
    for file in (0..project.files.len() as u32).filter(|file| plan.again[*file as usize]) {
        resolve_file(&mut resolver, file, &plan.defined, &mut relations);
    }
    put_in_order(&mut relations);
    (!resolver.is_cut).then(|| (relations, notes.updated(noted, &resolver)))
}

fn resolve_all<'a>(project: &'a Project<'a>, semantics: &'static Semantics) -> (Relations, Resolver<'a>) {
    let mut resolver = Resolver::new(project, semantics, None);
    let mut relations = Relations::default();
    let defined = defined_names(project);
    for file in 0..project.files.len() as u32 {
        resolve_file(&mut resolver, file, &defined, &mut relations);
    }
    structural::satisfied(&mut resolver, &mut relations.bases);
    put_in_order(&mut relations);
    (relations, resolver)
}

/// Adds the relations of a file. They only depend on the project's facts, not on the order of files.
fn resolve_file(resolver: &mut Resolver<'_>, file: u32, defined: &[u64], relations: &mut Relations) {
    resolver.enter(file);
    let facts = resolver.facts(file);
    let spaces = if resolver.semantics.splits_types { 2 } else { 1 };
    // The number of the answer to each expression, plus one. Most expressions are no occurrences.
    let mut numbers = vec![0u32; facts.expressions.len() * spaces];
    let mut answers = Vec::with_capacity(facts.occurrences.len());
    let mut in_paths: FxHashMap<usize, BindingResult> = FxHashMap::default();
    for occurrence in facts.occurrences {
        let means_value = spaces > 1 && occurrence.flags & MEANS_VALUE != 0;
        let expression = occurrence.expression.row() * spaces + usize::from(means_value);
        let answer = match numbers[expression] {
            _ if occurrence.flags & IN_PATH != 0 => *in_paths
                .entry(expression)
                .or_insert_with(|| bind_in_path(resolver, file, occurrence.expression, &mut relations.targets)),
            0 => {
                let answer = bind(resolver, file, occurrence.expression, means_value, defined, &mut relations.targets);
                answers.push(answer);
                numbers[expression] = answers.len() as u32;
                answer
            }
            number => answers[number as usize - 1],
        };
        let role = occurrence.role;
        let (how, first_target, targets) = match answer {
            BindingResult::Bound { how, first_target, targets } => (how, first_target, targets),
            // A base that is a local name may be an external class.
            BindingResult::Nothing if role == Role::Base => (How::Outside, 0, 0),
            BindingResult::Nothing => continue,
        };
        // An unbound name without a project definition does not matter, unless it is a base.
        if targets == 0 && role != Role::Base && !is_defined(facts, occurrence.expression, defined) {
            continue;
        }
        let (at, len) = (occurrence.at, occurrence.len);
        relations.occurrences.push(Occurrence { file, at, len, role, how, first_target, targets });
    }
    imports(resolver, file, &mut relations.imports);
    for (place, definition) in facts.definitions.iter().enumerate() {
        // A class alias has no bases of its own. Classes derived from it derive from its class.
        if definition.kind != DefinitionKind::Class || definition.at == NONE || definition.alias != UNKNOWN {
            continue;
        }
        for base in true_bases(resolver, Def { file, place: DefinitionId(place as u32) }) {
            let at = resolver.definition(base).at;
            if at != NONE {
                relations.bases.push((Site { file, at: definition.at }, Site { file: base.file, at }));
            }
        }
    }
}

fn put_in_order(relations: &mut Relations) {
    relations.imports.sort_unstable();
    relations.imports.dedup();
    relations.bases.sort_unstable();
    relations.bases.dedup();
}

/// The direct bases of a class, with aliases replaced by their classes.
fn true_bases(resolver: &mut Resolver<'_>, class: Def) -> Vec<Def> {
    let (mut found, mut seen) = (Vec::new(), vec![class]);
    let mut waiting: Vec<Def> = resolver.bases(class).to_vec();
    while let Some(base) = waiting.pop().filter(|_| seen.len() < MOST_BASES) {
        if seen.contains(&base) {
            continue;
        }
        seen.push(base);
        let definition = resolver.definition(base);
        if definition.alias == UNKNOWN || definition.flags & NAMED != 0 {
            found.push(base);
        } else {
            waiting.extend(resolver.bases(base).iter());
        }
    }
    found
}

/// The result of binding a written expression.
#[derive(Clone, Copy)]
enum BindingResult {
    Bound {
        how: How,
        first_target: u32,
        targets: u32,
    },
    /// A local name, or an expression without a symbol.
    Nothing,
}

fn bind(
    resolver: &mut Resolver<'_>,
    file: u32,
    expression: ExpressionId,
    means_value: bool,
    defined: &[u64],
    targets: &mut Vec<Site>,
) -> BindingResult {
    if is_field_outside(resolver, file, expression) {
        return BindingResult::Bound { how: How::Outside, first_target: 0, targets: 0 };
    }
    let meanings = resolver.meaning_in(file, expression, means_value);
    let first_target = targets.len() as u32;
    for meaning in meanings.iter() {
        let site = match *meaning {
            Meaning::Definition(def) => Site { file: def.file, at: resolver.definition(def).at },
            Meaning::Variable { file, binding } => {
                Site { file, at: resolver.facts(file).bindings[binding as usize].at }
            }
            Meaning::Module(_) | Meaning::Value(_) => continue,
        };
        if site.at != NONE && !targets[first_target as usize..].contains(&site) {
            targets.push(site);
        }
    }
    // If a function and a module share the name, `use` means both, and the function is the more useful target.
    if targets.len() as u32 == first_target {
        add_modules(resolver, &meanings, targets);
    }
    let facts = resolver.facts(file);
    let it = written(facts, expression);
    let is_member = it.op == Op::Member;
    if is_member && targets.len() as u32 > first_target + 1 && resolver.may_be_of_several(file, it, &meanings) {
        targets.truncate(first_target as usize);
        return BindingResult::Bound { how: How::NoReceiver, first_target, targets: 0 };
    }
    if let Some(answer) = bound_since(first_target, targets) {
        return answer;
    }
    if !meanings.is_empty() || !(is_member || it.op == Op::Name) {
        return BindingResult::Nothing;
    }
    let how = match is_member {
        // The work for this file is used up.
        _ if resolver.left == 0 => How::NoReceiver,
        true => match &*resolver.value(file, ExpressionId(it.a)) {
            [] if is_outside(resolver, file, ExpressionId(it.a), 0) => How::Outside,
            [] if is_defined(facts, expression, defined) && is_foreign(resolver, file, ExpressionId(it.a)) => {
                How::OtherReceiver
            }
            // A project module may offer unseen names: by a wildcard import of external code, or at run time.
            [] | [Value::Module(_), ..] => How::NoReceiver,
            _ => How::NoMember,
        },
        false if is_missed(resolver, file, expression) => How::NoReceiver,
        false if resolver.is_bound(file, ScopeId(it.a), NameId(it.b)) && !is_outside(resolver, file, expression, 0) => {
            return BindingResult::Nothing;
        }
        _ => How::Outside,
    };
    BindingResult::Bound { how, first_target, targets: 0 }
}

/// Binds a name inside a path: a module, or a lower-case type.
fn bind_in_path(
    resolver: &mut Resolver<'_>,
    file: u32,
    expression: ExpressionId,
    targets: &mut Vec<Site>,
) -> BindingResult {
    let meanings = resolver.meaning(file, expression);
    let first_target = targets.len() as u32;
    add_modules(resolver, &meanings, targets);
    for meaning in meanings.iter() {
        let Meaning::Definition(def) = *meaning else { continue };
        let definition = resolver.definition(def);
        if definition.kind != DefinitionKind::Function && definition.at != NONE {
            targets.push(Site { file: def.file, at: definition.at });
        }
    }
    bound_since(first_target, targets).unwrap_or(BindingResult::Nothing)
}

/// Adds the declarations of all modules among `meanings`.
fn add_modules(resolver: &mut Resolver<'_>, meanings: &[Meaning], targets: &mut Vec<Site>) {
    for meaning in meanings {
        let Meaning::Module(module) = *meaning else { continue };
        let sites = resolver.declarations(module);
        if resolver.work(sites.len()) {
            targets.extend(sites);
        }
    }
}

/// The answer with the targets from `first_target` on, if any.
fn bound_since(first_target: u32, targets: &[Site]) -> Option<BindingResult> {
    let count = targets.len() as u32 - first_target;
    (count > 0).then_some(BindingResult::Bound { how: How::Resolved, first_target, targets: count })
}

/// Whether an expression is a module that was not found but may belong to the project.
fn may_be_own(resolver: &Resolver<'_>, file: u32, expression: ExpressionId) -> bool {
    let facts = resolver.facts(file);
    let it = facts.expressions[expression.row()];
    it.op == Op::Module
        && resolver.modules.find(file, ScopeId(it.b), facts.name(NameId(it.a))).is_none()
        && resolver.modules.may_be_own(facts.name(NameId(it.a)))
}

/// Whether an expression is a field of an external type. Of such a type only the methods that extend it are known.
fn is_field_outside(resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId) -> bool {
    let it = resolver.facts(file).expressions[expression.row()];
    if it.op != Op::Member {
        return false;
    }
    let on = resolver.value(file, ExpressionId(it.a));
    let stands_in =
        |value: &Value| matches!(value, Value::Instance(def) if resolver.definition(*def).flags & STANDS_IN != 0);
    on.iter().any(stands_in)
}

/// Whether a bare name is imported from a project module that does not visibly offer it.
fn is_missed(resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId) -> bool {
    let facts = resolver.facts(file);
    let it = facts.expressions[expression.row()];
    let bound = if it.op == Op::Name { nearest(facts, it) } else { &[] };
    let imported = bound.iter().filter(|binding| binding.kind == Kind::Alias);
    imported
        .map(|binding| facts.expressions[binding.a as usize])
        .filter(|from| from.op == Op::Member && ExpressionId(from.a) != UNKNOWN)
        .any(|from| {
            matches!(resolver.value(file, ExpressionId(from.a))[..], [Value::Module(_), ..])
                || may_be_own(resolver, file, ExpressionId(from.a))
        })
}

/// Whether an expression names something external: a builtin, or an imported module or a part of one. Aliases are
/// followed to a fixed depth, since they may form a cycle.
fn is_outside(resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId, depth: u32) -> bool {
    const DEEPEST: u32 = 16;
    let facts = resolver.facts(file);
    let it = facts.expressions[expression.row()];
    if depth > DEEPEST || !resolver.work(1) {
        return false;
    }
    if it.op == Op::Member {
        return ExpressionId(it.a) != UNKNOWN
            && (is_outside(resolver, file, ExpressionId(it.a), depth + 1) || is_unlisted(resolver, file, expression));
    }
    if it.op == Op::Module {
        return resolver.meaning(file, expression).is_empty() && !may_be_own(resolver, file, expression);
    }
    if it.op != Op::Name {
        return false;
    }
    match nearest(facts, it) {
        [] => resolver.meaning(file, expression).is_empty(),
        bound => bound.iter().all(|one| {
            let is_empty = one.kind == Kind::Alias && resolver.meaning(file, ExpressionId(one.a)).is_empty();
            is_empty && is_outside(resolver, file, ExpressionId(one.a), depth + 1)
        }),
    }
}

/// Whether a name is not among the names in a module without files: `google` in `com`, or an external crate.
fn is_unlisted(resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId) -> bool {
    let on = ExpressionId(resolver.facts(file).expressions[expression.row()].a);
    let is_list = match resolver.value(file, on)[..] {
        [Value::Module(module)] => resolver.modules.scopes(module).is_empty(),
        _ => false,
    };
    is_list && resolver.meaning(file, expression).is_empty()
}

/// The bindings of a bare name in the innermost scope that has any.
fn nearest<'a>(facts: &Facts<'a>, name: Expression) -> &'a [Binding] {
    let mut scope = ScopeId(name.a);
    while scope != ScopeId::NONE {
        let bound = facts.bound(scope, NameId(name.b));
        if !bound.is_empty() {
            return &facts.bindings[bound.start as usize..bound.end as usize];
        }
        scope = facts.scopes[scope.row()].parent;
    }
    &[]
}

/// Operations whose result names the same thing as their first operand.
const OTHER_FORMS: &[Op] =
    &[Op::Else, Op::Fitting, Op::Extension, Op::Uncalled, Op::Implemented, Op::Returning, Op::Taking];

/// The name or member that an occurrence's expression writes.
fn written(facts: &Facts<'_>, expression: ExpressionId) -> Expression {
    let mut it = facts.expressions[expression.row()];
    // Expressions only refer to earlier ones, so this ends.
    while OTHER_FORMS.contains(&it.op) {
        it = facts.expressions[it.a as usize];
    }
    it
}

/// The name or member that is called, without type arguments.
fn callee(facts: &Facts<'_>, it: Expression) -> Expression {
    if it.op == Op::Generic && ExpressionId(it.a) != UNKNOWN { written(facts, ExpressionId(it.a)) } else { it }
}

/// Whether the project defines the name of an expression.
fn is_defined(facts: &Facts<'_>, expression: ExpressionId, defined: &[u64]) -> bool {
    let name = written(facts, expression).b as usize;
    facts.hashes.get(name).is_some_and(|name| defined.binary_search(name).is_ok())
}

/// The hashes of all names that the project defines, ascending.
fn defined_names<'a>(project: &'a Project<'a>) -> Vec<u64> {
    defined_names_of(&project.files)
}

/// The hashes of all names that some files define, ascending.
fn defined_names_of<'a>(files: impl IntoIterator<Item = &'a ProjectFile<'a>>) -> Vec<u64> {
    let mut defined = Vec::new();
    for file in files {
        let facts = file.facts();
        let named = facts.definitions.iter().filter(|definition| definition.at != NONE);
        let bound = facts.bindings.iter().filter(|binding| facts.names_a_thing(binding));
        let names = named.map(|definition| definition.name).chain(bound.map(|binding| binding.name));
        defined.extend(names.filter_map(|name| facts.hashes.get(name.row())));
    }
    defined.sort_unstable();
    defined.dedup();
    defined
}

/// The files that a file imports.
fn imports(resolver: &mut Resolver<'_>, file: u32, found: &mut Vec<(u32, u32, u32)>) {
    let facts = resolver.facts(file);
    for import in facts.imports {
        let mut files = files_of(resolver, file, import.expression, import.flags & MODULES_ONLY != 0);
        if files.is_empty() && import.flags & ELSE_WITHIN != 0 {
            let it = facts.expressions[import.expression.row()];
            files = files_of(resolver, file, ExpressionId(it.a), true);
        }
        // A module may have many files and many importers.
        if !resolver.work(files.len() * NOTE) {
            break;
        }
        let others = files.into_iter().filter(|other| *other != file);
        found.extend(others.map(|other| (file, other, import.at)));
    }
}

fn files_of(resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId, modules_only: bool) -> Vec<u32> {
    let facts = resolver.facts(file);
    let it = facts.expressions[expression.row()];
    // An import means the module's files, even if it exports another value as a whole.
    if it.op == Op::Module {
        let module = resolver.modules.find(file, ScopeId(it.b), facts.name(NameId(it.a)));
        return module.map_or_else(Vec::new, |module| files_of_module(resolver, module));
    }
    let mut files = Vec::new();
    for meaning in resolver.meaning(file, expression).iter() {
        match *meaning {
            Meaning::Module(module) => files.extend(files_of_module(resolver, module)),
            Meaning::Definition(def) if !modules_only => files.push(def.file),
            Meaning::Variable { file, .. } if !modules_only => files.push(file),
            _ => {}
        }
    }
    files
}

fn files_of_module(resolver: &Resolver<'_>, module: Module) -> Vec<u32> {
    resolver.modules.scopes(module).into_iter().map(|(file, _)| file).collect()
}

#[cfg(test)]
mod tests;
