//! Names: the meanings of a bare name, a member or a module's export, with imports followed to the end.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::questions::{CacheScope, Question};
use super::values::{Sets, Value};
use codelode_base::model::Site;
use codelode_lang::facts::{
    BindingKind, ClassNames, Definition, DefinitionId, DefinitionKind, Effect, ExpressionId, Facts, ListId, Module,
    Modules, NONE, NameId, OFFERED, Op, PROPERTY, Project, ROOT, SEEN, ScopeId, ScopeKind, Semantics,
};

/// The most bindings of one name in one scope that are followed. A name with more says nothing, and following all of
/// them for each use would take quadratic time and memory.
pub(super) const MOST_BOUND: usize = 32;

/// The most indexed bindings of one name in one module. Each file sees only a few of them.
const MOST_INDEXED: usize = 4_000;

/// The most meanings kept for an expression: overloads of a name in several classes.
const MOST_MEANT: usize = 250;

/// Operations that compute a value instead of naming a definition.
const GIVING: &[Op] = &[Op::Call, Op::New, Op::Await, Op::Element, Op::Item, Op::Passed, Op::Wanted];

/// A definition of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Def {
    pub file: u32,
    pub place: DefinitionId,
}

/// The meaning of a name after imports were followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Meaning {
    Definition(Def),
    /// A binding that is no definition: a variable, a parameter.
    Variable {
        file: u32,
        binding: u32,
    },
    Module(Module),
    /// The value that a module exports as a whole.
    Value(Value),
}

/// The parts of a module: its scopes, each with its file.
struct Parts {
    scopes: Vec<(u32, ScopeId)>,
    /// Expressions that the module exports as a whole.
    whole: Vec<(u32, ExpressionId)>,
    /// Scopes with wildcard imports.
    starred: Vec<(u32, ScopeId)>,
}

/// A module with so many scopes is scanned for each name; a larger one is indexed.
const FEW: usize = 3;
/// The work for noting a consultation or an import, which takes more memory than other work.
pub(super) const NOTE: usize = 4;

/// A step of the search for a name in a module; see [`Resolver::search`].
enum Step {
    /// The module's own names.
    Module(Module),
    /// The names of a wildcard import, by file and expression.
    Star(u32, ExpressionId),
}

/// The numbers of cached answers for each expression of a file; [`NONE`] before the first question.
#[derive(Default)]
pub(super) struct Memo {
    pub meanings: Vec<u32>,
    pub values: Vec<u32>,
    pub instances: Vec<u32>,
}

impl Memo {
    /// Whether any answer is cached.
    pub fn is_used(&self) -> bool {
        !(self.meanings.is_empty() && self.values.is_empty() && self.instances.is_empty())
    }
}

/// The state of a resolution: the project, and all answers so far.
pub(super) struct Resolver<'a> {
    pub project: &'a Project<'a>,
    pub semantics: &'static Semantics,
    pub modules: Box<dyn Modules + 'a>,
    pub sets: Sets,
    pub memos: Vec<Memo>,
    pub lists: Vec<Rc<[Meaning]>>,
    pub orders: FxHashMap<Def, (Rc<[Def]>, CacheScope)>,
    pub bases: FxHashMap<Def, (Rc<[Def]>, CacheScope)>,
    /// Whether each file's class bases are in `derives`. A class without an entry there has none.
    pub settled: Vec<bool>,
    /// Whether `derives` is sorted, and final for settled files.
    pub are_bases_known: bool,
    /// The extensions of each class, and the class that each extension extends.
    pub extensions: FxHashMap<Def, Vec<Def>>,
    pub extended: FxHashMap<Def, Def>,
    pub subclasses: FxHashMap<Def, Vec<Def>>,
    parts: FxHashMap<Module, Rc<Parts>>,
    /// The bindings in large modules' scopes by name: file and index.
    pub indexes: FxHashMap<Module, FxHashMap<u64, Vec<(u32, u32)>>>,
    /// The text of names that are otherwise known by hash only.
    pub texts: FxHashMap<u64, Option<&'a str>>,
    pub methods: Vec<(u64, Effect)>,
    pub functions: Vec<(u64, Effect)>,
    pub active: FxHashMap<Question, usize>,
    /// The depth of the outermost open question on which an answer depends, since the last `begin`.
    pub lowest: usize,
    /// The number of discarded answers since the outermost question began.
    pub lost: usize,
    /// The work left for the current file, and for all other files; see [`Resolver::work`].
    pub left: usize,
    pub pool: usize,
    /// Whether an answer since the last `begin` may not be kept for good.
    pub is_here: bool,
    /// Questions whose answers are kept for this file only.
    pub here: Vec<Question>,
    /// The file whose question is being answered.
    pub asking: u32,
    /// Pairs of an asking file and a file whose facts were read for it.
    pub consulted: RefCell<FxHashSet<(u32, u32)>>,
    pub last_consulted: Cell<(u32, u32)>,
    pub looked_through: FxHashSet<(u32, Module)>,
    /// Pairs of an extension and its class, and of a class and a direct base; each sorted by the first.
    pub extends: Vec<(Def, Def)>,
    pub derives: Vec<(Def, Def)>,
    /// Files whose classes have cyclic bases. Their bases depend on the order of questions, so these files are resolved
    /// together or not at all.
    pub tangled: BTreeSet<u32>,
    /// Traits that lend methods, each with its implementation, and the lending traits that each file names.
    pub lending: Vec<(Def, Def)>,
    pub lending_to: FxHashMap<u32, Rc<[(Def, Def)]>>,
    /// Whether answers may depend on earlier questions.
    pub is_cut: bool,
    /// Whether the work limit was reached, so that some answers are incomplete.
    pub is_spent: bool,
}

/// Relations of classes from an earlier resolution, for files unaffected by an edit.
pub(super) struct EarlierClasses {
    /// Whether a file's extensions and bases are included.
    pub files: Vec<bool>,
    pub extends: Vec<(Def, Def)>,
    pub derives: Vec<(Def, Def)>,
}

impl<'a> Resolver<'a> {
    /// Prepares a project: resolves the extensions and bases of all classes.
    pub fn new(project: &'a Project<'a>, semantics: &'static Semantics, settled: Option<EarlierClasses>) -> Self {
        let hashed = |table: &[(&str, Effect)]| {
            table.iter().map(|(name, effect)| (codelode_lang::facts::hash(name), *effect)).collect()
        };
        let files = project.files.len();
        let settled = settled.unwrap_or_else(|| EarlierClasses {
            files: vec![false; files],
            extends: Vec::new(),
            derives: Vec::new(),
        });
        let mut resolver = Self {
            project,
            semantics,
            modules: (semantics.modules)(project),
            sets: Sets::default(),
            memos: Vec::new(),
            lists: vec![Rc::from([])],
            orders: FxHashMap::default(),
            bases: FxHashMap::default(),
            settled: vec![false; files],
            are_bases_known: false,
            extensions: FxHashMap::default(),
            extended: FxHashMap::default(),
            subclasses: FxHashMap::default(),
            parts: FxHashMap::default(),
            indexes: FxHashMap::default(),
            texts: FxHashMap::default(),
            methods: hashed(semantics.methods),
            functions: hashed(semantics.functions),
            active: FxHashMap::default(),
            lowest: usize::MAX,
            lost: 0,
            left: 0,
            pool: super::questions::work_for(project),
            is_here: false,
            here: Vec::new(),
            asking: 0,
            consulted: RefCell::default(),
            last_consulted: Cell::default(),
            looked_through: FxHashSet::default(),
            extends: settled.extends,
            derives: settled.derives,
            tangled: BTreeSet::new(),
            lending: Vec::new(),
            lending_to: FxHashMap::default(),
            is_cut: false,
            is_spent: false,
        };
        resolver.forget();
        let unsettled: Vec<u32> = (0..files as u32).filter(|file| !settled.files[*file as usize]).collect();
        for file in &unsettled {
            resolver.extensions_of(*file);
        }
        resolver.extends.sort_by_key(|(own, _)| *own);
        for place in 0..resolver.extends.len() {
            let (own, whole) = resolver.extends[place];
            resolver.extensions.entry(whole).or_default().push(own);
            resolver.extended.entry(own).or_insert(whole);
        }
        // Extensions may change earlier answers.
        resolver.forget();
        resolver.settled = settled.files;
        resolver.derives.sort_by_key(|(class, _)| *class);
        resolver.are_bases_known = true;
        let mut bases = Vec::new();
        for file in unsettled {
            resolver.bases_of(file, &mut bases);
        }
        resolver.derives.extend(bases);
        resolver.derives.sort_by_key(|(class, _)| *class);
        for (class, base) in &resolver.derives {
            resolver.subclasses.entry(*base).or_default().push(*class);
        }
        resolver.settled.fill(true);
        resolver.find_lending();
        // Subclasses may change earlier answers.
        resolver.forget();
        resolver
    }

    /// A file's facts. Notes that the asking file has consulted them.
    pub fn facts(&self, file: u32) -> &'a Facts<'a> {
        self.consult(file);
        self.project.files[file as usize].facts()
    }

    pub fn definition(&self, def: Def) -> &'a Definition {
        self.facts(def.file).definitions.get(def.place.row()).unwrap_or(const { &Definition::EMPTY })
    }

    /// The meanings of an expression.
    pub fn meaning(&mut self, file: u32, expression: ExpressionId) -> Rc<[Meaning]> {
        self.consult(file);
        let memo = &mut self.memos[file as usize].meanings;
        if memo.is_empty() {
            memo.resize(self.project.files[file as usize].facts().expressions.len(), NONE);
        }
        let remembered = memo[expression.row()];
        if let Some(number) = self.recall(remembered) {
            return self.lists[number].clone();
        }
        let Some(begun) = self.begin(Question::Meaning(file, expression)) else { return self.lists[0].clone() };
        let mut meanings = self.mean(file, expression);
        meanings.sort_unstable();
        meanings.dedup();
        meanings.truncate(MOST_MEANT);
        self.work(meanings.len());
        let list: Rc<[Meaning]> = if meanings.is_empty() { self.lists[0].clone() } else { meanings.into() };
        let kept = self.end(begun);
        if kept != CacheScope::Not {
            let number = if list.is_empty() { 0 } else { self.lists.len() as u32 };
            if number > 0 {
                self.lists.push(list.clone());
            }
            self.memos[file as usize].meanings[expression.row()] = number | kept.mark();
        }
        list
    }

    fn mean(&mut self, file: u32, expression: ExpressionId) -> Vec<Meaning> {
        let facts = self.facts(file);
        let it = facts.expressions[expression.row()];
        match it.op {
            Op::Name => {
                let found = self.lookup(file, ScopeId(it.a), NameId(it.b)).0;
                self.seen(file, found)
            }
            Op::Member => {
                let name = facts.hashes[it.b as usize];
                let mut meanings = Vec::new();
                let of = facts.expressions[it.a as usize];
                if of.op == Op::Module {
                    // A name that a module exports takes precedence over a member of its whole value.
                    let Some(module) = self.modules.find(file, ScopeId(of.b), facts.name(NameId(of.a))) else {
                        return meanings;
                    };
                    meanings = self.export(module, name);
                    if meanings.is_empty() && facts.name(NameId(it.b)) == self.semantics.default_export {
                        meanings = self.whole_means(module).unwrap_or_default();
                    }
                    return meanings;
                }
                // A class written by name means exactly that class, none of its subclasses.
                let named = if self.semantics.looks_down && of.op == Op::Name {
                    self.meaning(file, ExpressionId(it.a))
                } else {
                    Rc::from([])
                };
                for value in self.value(file, ExpressionId(it.a)).iter() {
                    meanings.extend(match *value {
                        Value::Class(def) if named.contains(&Meaning::Definition(def)) => self.of_class(def, name),
                        other => self.member(other, name),
                    });
                }
                if meanings.len() > 1 {
                    self.keep_fitting(file, ExpressionId(it.a), &mut meanings);
                } else if meanings.is_empty() {
                    meanings = self.lent(file, ExpressionId(it.a), name);
                }
                self.seen(file, meanings)
            }
            Op::Uncalled => {
                let found = self.meaning(file, ExpressionId(it.a)).to_vec();
                let has_others = found.iter().any(|meaning| !self.is_called(*meaning));
                found.into_iter().filter(|meaning| !has_others || !self.is_called(*meaning)).collect()
            }
            Op::Else => {
                let found = self.meaning(file, ExpressionId(it.a));
                let of = ExpressionId(facts.expressions[it.a as usize].a);
                if !found.is_empty() || self.value(file, of).is_empty() {
                    return found.to_vec();
                }
                self.meaning(file, ExpressionId(it.b)).to_vec()
            }
            Op::Keyword => self.set_by(file, ExpressionId(it.a), facts.name(NameId(it.b))),
            Op::Implemented => self.implemented(file, ExpressionId(it.a), ExpressionId(it.b)),
            Op::Fitting => self.fitting(file, ExpressionId(it.a), ListId(it.b)),
            Op::Extension => {
                let found = self.meaning(file, ExpressionId(it.a));
                match found.is_empty() {
                    true => self.extending(file, ExpressionId(it.a), ExpressionId(it.b)),
                    false => found.to_vec(),
                }
            }
            Op::Module => {
                let Some(module) = self.modules.find(file, ScopeId(it.b), facts.name(NameId(it.a))) else {
                    return Vec::new();
                };
                self.whole_means(module).unwrap_or_else(|| vec![Meaning::Module(module)])
            }
            Op::Union => {
                self.list(file, ListId(it.a)).iter().flat_map(|one| self.meaning(file, *one).to_vec()).collect()
            }
            _ => self.value(file, expression).iter().map(|value| meaning_of(*value)).collect(),
        }
    }

    /// Whether a meaning is a function that is no property.
    fn is_called(&self, meaning: Meaning) -> bool {
        let Meaning::Definition(def) = meaning else { return false };
        let definition = self.definition(def);
        definition.kind == DefinitionKind::Function && definition.flags & PROPERTY == 0
    }

    /// The values that a module exports as a whole; `None` if it exports names.
    fn whole(&mut self, module: Module) -> Option<Vec<Value>> {
        let parts = self.parts(module);
        if parts.whole.is_empty() || !self.work(parts.whole.len()) {
            return None;
        }
        Some(parts.whole.iter().flat_map(|(file, expression)| self.value(*file, *expression).to_vec()).collect())
    }

    /// The meanings of a module that exports a value as a whole. A call gives a value that the importing code does not
    /// name.
    fn whole_means(&mut self, module: Module) -> Option<Vec<Meaning>> {
        let parts = self.parts(module);
        if parts.whole.is_empty() || !self.work(parts.whole.len()) {
            return None;
        }
        let mut meanings = Vec::new();
        for (file, expression) in &parts.whole {
            let op = self.facts(*file).expressions[expression.row()].op;
            let is_value = GIVING.contains(&op);
            let values = self.value(*file, *expression);
            meanings
                .extend(values.iter().map(|value| if is_value { Meaning::Value(*value) } else { meaning_of(*value) }));
        }
        Some(meanings)
    }

    /// The parts of a module. Notes a consultation of all its files.
    fn parts(&mut self, module: Module) -> Rc<Parts> {
        let parts = match self.parts.get(&module) {
            Some(parts) => parts.clone(),
            None => {
                let scopes = self.modules.scopes(module);
                let facts = |file: u32| self.project.files[file as usize].facts();
                let exported =
                    |file: u32| facts(file).list(facts(file).header.whole).iter().map(move |one| (file, *one));
                let whole = scopes.iter().filter(|(_, scope)| *scope == ROOT).flat_map(|(file, _)| exported(*file));
                let whole = whole.collect();
                let has_stars = |(file, scope): &&(u32, ScopeId)| facts(*file).scopes[scope.row()].stars > 0;
                let starred = scopes.iter().filter(has_stars).copied().collect();
                self.parts.entry(module).insert_entry(Rc::new(Parts { scopes, whole, starred })).get().clone()
            }
        };
        let count = parts.scopes.len();
        // With includes, each file would otherwise consult every other.
        let is_noted = !self.semantics.includes && self.looked_through.insert((self.asking, module));
        if count <= FEW || is_noted && self.work(count * NOTE) {
            parts.scopes.iter().for_each(|(file, _)| self.consult(*file));
        }
        parts
    }

    /// Whether a bare name is bound in a scope or around it.
    pub fn is_bound(&mut self, file: u32, scope: ScopeId, name: NameId) -> bool {
        let facts = self.facts(file);
        let mut at = scope;
        while at != ScopeId::NONE && self.work(1) {
            if !facts.bound(at, name).is_empty() {
                return true;
            }
            at = facts.scopes[at.row()].parent;
        }
        !self.lookup(file, scope, name).0.is_empty()
    }

    /// The meanings of a bare name in a scope, and whether a class scope bound it directly.
    pub fn lookup(&mut self, file: u32, scope: ScopeId, name: NameId) -> (Vec<Meaning>, bool) {
        let facts = self.facts(file);
        let (mut at, mut is_direct) = (scope, true);
        // Wildcard imports rank below the module's own names, whatever their order.
        let mut starred = Vec::new();
        while at != ScopeId::NONE && self.work(1) {
            let it = &facts.scopes[at.row()];
            let is_class = it.kind == ScopeKind::Class;
            if is_class && self.semantics.class_names == ClassNames::Inherited && it.class != DefinitionId::NONE {
                let class = self.extended(Def { file, place: it.class });
                let found = self.inherited(class, facts.hashes[name.row()], false);
                if !found.is_empty() {
                    return (found, true);
                }
            } else if !is_class || is_direct && self.semantics.class_names == ClassNames::Hidden {
                let found = facts.bound(at, name);
                if !found.is_empty() {
                    return (self.follow_all(file, found), is_class);
                }
            }
            if it.stars > 0 {
                starred.push(at);
            }
            if it.kind == ScopeKind::Module {
                let hash = facts.hashes[name.row()];
                let module = self.modules.of(file, at);
                let mut found = Vec::new();
                for (other, place) in self.bound_in(module, hash, Some(file)) {
                    found.extend(self.follow_all(other, place..place + 1));
                }
                if !found.is_empty() {
                    return (found, false);
                }
                for scope in starred {
                    let mut steps = Vec::new();
                    self.add_stars(file, scope, SEEN, &mut steps);
                    let found = self.search(steps, hash, FxHashSet::from_iter([module]));
                    if !found.is_empty() {
                        return (found, false);
                    }
                }
                break;
            }
            is_direct &= it.kind == ScopeKind::Block;
            at = it.parent;
        }
        (Vec::new(), false)
    }

    /// The bindings of a name in a module's scopes, each with its file; with `seen_by`, only those that this file sees.
    fn bound_in(&mut self, module: Module, name: u64, seen_by: Option<u32>) -> Vec<(u32, u32)> {
        let mut bound = self.bound_in_all(module, name);
        if let Some(file) = seen_by.filter(|_| self.semantics.includes)
            && self.work(bound.len())
        {
            self.modules.keep_seen(file, &mut bound);
        }
        if let Some(first) = bound.first().map(|(file, _)| *file)
            && self.modules.first_counts()
        {
            bound.retain(|(file, _)| *file == first);
        }
        bound.truncate(MOST_BOUND);
        bound
    }

    fn bound_in_all(&mut self, module: Module, name: u64) -> Vec<(u32, u32)> {
        let parts = self.parts(module);
        if parts.scopes.len() <= FEW {
            let bound = |(file, scope): &(u32, ScopeId)| {
                let (file, facts) = (*file, self.facts(*file));
                let places = facts.find_name(name).map_or(0..0, |name| facts.bound(*scope, name));
                places.take(MOST_BOUND).map(move |place| (file, place))
            };
            return parts.scopes.iter().flat_map(bound).collect();
        }
        if let Some(index) = self.indexes.get(&module) {
            return index.get(&name).cloned().unwrap_or_default();
        }
        let mut index: FxHashMap<u64, Vec<(u32, u32)>> = FxHashMap::default();
        for &(file, scope) in &parts.scopes {
            let facts = self.project.files[file as usize].facts();
            let it = &facts.scopes[scope.row()];
            for place in it.first_binding..it.first_binding + it.bindings {
                let name = facts.hashes[facts.bindings[place as usize].name.row()];
                let places = index.entry(name).or_default();
                if places.len() < MOST_INDEXED {
                    places.push((file, place));
                }
            }
        }
        let found = index.get(&name).cloned().unwrap_or_default();
        self.indexes.insert(module, index);
        found
    }

    /// The places where a module is declared, if it has a symbol: Rust's `mod a;`.
    pub fn declarations(&mut self, module: Module) -> Vec<Site> {
        let Some((around, name)) = self.modules.declared(module) else { return Vec::new() };
        let name = codelode_lang::facts::hash(name);
        let bound = self.bound_in(around, name, None).into_iter();
        bound
            .filter_map(|(file, place)| {
                let binding = self.facts(file).bindings[place as usize];
                let is_declared = binding.kind == BindingKind::Alias && binding.at != NONE;
                is_declared.then_some(Site { file, at: binding.at })
            })
            .collect()
    }

    /// The meanings of a name that a module exports.
    fn export(&mut self, module: Module, name: u64) -> Vec<Meaning> {
        match self.modules.apart(module)[..] {
            [] => self.search(vec![Step::Module(module)], name, FxHashSet::default()),
            ref parts => parts
                .iter()
                .flat_map(|part| self.search(vec![Step::Module(*part)], name, FxHashSet::default()))
                .collect(),
        }
    }

    /// The first meaning of a name along these steps; the last step comes first. The search is iterative and enters
    /// each module once, because wildcard imports can form long chains.
    fn search(&mut self, mut steps: Vec<Step>, name: u64, mut entered: FxHashSet<Module>) -> Vec<Meaning> {
        let mut modules = Vec::new();
        while let Some(step) = steps.pop().filter(|_| self.work(1)) {
            let found = match step {
                Step::Module(module) if !entered.insert(module) => continue,
                Step::Module(module) if !self.modules.apart(module).is_empty() => {
                    steps.extend(self.modules.apart(module).into_iter().rev().map(Step::Module));
                    continue;
                }
                Step::Module(module) => {
                    let found = self.offered(module, name);
                    modules.push(module);
                    if found.is_empty() {
                        for (file, scope) in self.parts(module).starred.iter().rev() {
                            self.add_stars(*file, *scope, OFFERED, &mut steps);
                        }
                    }
                    found
                }
                Step::Star(file, from) => {
                    let values = self.value(file, from);
                    steps.extend(values.iter().rev().filter_map(|value| match *value {
                        Value::Module(module) => Some(Step::Module(module)),
                        _ => None,
                    }));
                    let others = values.iter().filter(|value| !matches!(value, Value::Module(_)));
                    others.map(|value| self.member(*value, name)).find(|found| !found.is_empty()).unwrap_or_default()
                }
            };
            if !found.is_empty() {
                return found;
            }
        }
        // A name without a binding means a submodule, of the module itself or else of its wildcard imports.
        let Some(text) = self.text_anywhere(name) else { return Vec::new() };
        let child = modules.into_iter().find_map(|module| self.modules.child(module, text));
        child.map(Meaning::Module).into_iter().collect()
    }

    /// Adds the wildcard imports of a scope as steps, so that the first is followed first.
    fn add_stars(&self, file: u32, scope: ScopeId, flag: u8, steps: &mut Vec<Step>) {
        let stars = self.facts(file).stars(scope).iter().rev().filter(|star| star.flags & flag != 0);
        steps.extend(stars.map(|star| Step::Star(file, star.from)));
    }

    /// The meanings of a name that a module itself exports, or that its whole value has as a member.
    fn offered(&mut self, module: Module, name: u64) -> Vec<Meaning> {
        let mut found = Vec::new();
        match self.parts(module).scopes[..] {
            [(file, ROOT)] if self.facts(file).header.exports != ScopeId::NONE => {
                let facts = self.facts(file);
                if let Some(name) = facts.find_name(name) {
                    found = self.follow_all(file, facts.bound(facts.header.exports, name));
                }
            }
            _ => {
                for (file, place) in self.bound_in(module, name, None) {
                    found.extend(self.follow_all(file, place..place + 1));
                }
            }
        }
        // `from . import json` in a package leads back to itself. Then it means the submodule of that name.
        if found.is_empty()
            && let Some(values) = self.whole(module)
        {
            found = values.into_iter().flat_map(|value| self.member(value, name)).collect();
        }
        found
    }

    fn text_of(&self, file: u32, name: u64) -> Option<&'a str> {
        let facts = self.facts(file);
        facts.find_name(name).map(|name| facts.name(name))
    }

    /// A name's text, from any file that writes it.
    pub(super) fn text_anywhere(&mut self, name: u64) -> Option<&'a str> {
        if let Some(text) = self.texts.get(&name) {
            return *text;
        }
        // The text is the same in any file, so this counts as no consultation. The asking file usually has it.
        let text = self.text_of(self.asking, name).or_else(|| {
            self.project.files.iter().find_map(|file| {
                let facts = file.facts();
                facts.find_name(name).map(|name| facts.name(name))
            })
        });
        self.texts.insert(name, text);
        text
    }

    pub fn follow_all(&mut self, file: u32, bindings: Range<u32>) -> Vec<Meaning> {
        let facts = self.facts(file);
        let bindings = bindings.take(MOST_BOUND);
        let mut meanings = Vec::with_capacity(bindings.len());
        for place in bindings {
            if !self.work(1) {
                break;
            }
            let binding = &facts.bindings[place as usize];
            match binding.kind {
                BindingKind::Alias => meanings.extend(self.meaning(file, ExpressionId(binding.a)).iter()),
                BindingKind::Definition => {
                    meanings.push(Meaning::Definition(Def { file, place: DefinitionId(binding.a) }))
                }
                BindingKind::Variable | BindingKind::Parameter | BindingKind::Value | BindingKind::Narrowed => {
                    meanings.push(Meaning::Variable { file, binding: place });
                }
            }
        }
        meanings
    }

    /// The meanings of a value's member.
    pub fn member(&mut self, value: Value, name: u64) -> Vec<Meaning> {
        match value {
            Value::Instance(def) | Value::Class(def) => {
                let of_parts = self.in_all_parts(def, name);
                if !of_parts.is_empty() {
                    return of_parts;
                }
                let is_class = matches!(value, Value::Class(_));
                let found = if is_class { self.of_class(def, name) } else { self.inherited(def, name, false) };
                if !found.is_empty() || !self.semantics.looks_down {
                    return found;
                }
                // Any of the subclasses may be meant.
                self.descendants(def).into_iter().flat_map(|below| self.own(below, name)).take(MOST_MEANT).collect()
            }
            Value::Super(def) => self.inherited(def, name, true),
            Value::Function(def) => self.own(def, name),
            Value::Module(module) => self.export(module, name),
            // The items of a tuple are its members `.0`, `.1`, …
            Value::Tuple(row) => {
                let row = self.items(row);
                let item = (0..row.len()).find(|item| codelode_lang::facts::hash(&format!(".{item}")) == name);
                item.map_or_else(Vec::new, |item| row[item].iter().map(|value| Meaning::Value(*value)).collect())
            }
            Value::Container(_) | Value::FunctionType { .. } | Value::Applied { .. } => Vec::new(),
        }
    }
}

/// The meaning of a value.
fn meaning_of(value: Value) -> Meaning {
    match value {
        Value::Function(def) | Value::Class(def) => Meaning::Definition(def),
        Value::Module(module) => Meaning::Module(module),
        other => Meaning::Value(other),
    }
}
