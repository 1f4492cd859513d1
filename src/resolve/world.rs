//! Names: what a bare name, a member or a module's export means, with imports followed to the end.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::ir::{BindingKind, DefinitionKind, Facts, NONE, OFFERED, Op, ROOT, SEEN, ScopeKind};
use super::semantics::{ClassNames, Effect, Module, Modules, Project, Semantics};
use super::values::{Sets, Value};

/// A definition of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Def {
    pub file: u32,
    pub place: u32,
}

/// What a name means once imports are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Meaning {
    Definition(Def),
    /// A binding that is no definition: a variable, a parameter.
    Variable {
        file: u32,
        binding: u32,
    },
    Module(Module),
    /// What a module as a whole is.
    Value(Value),
}

/// A question that may lead back to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// What an expression means.
    Meaning(u32, u32),
    /// Its value.
    Value(u32, u32),
    /// An instance of it.
    Instance(u32, u32),
    /// The direct bases of a class.
    Bases(Def),
    /// A class and all its bases.
    Order(Def),
}

/// How deep questions may lead to questions.
const DEEPEST: usize = 90;
/// So many questions may follow from one. In a knot of types that lead to each other nothing is remembered before the knot is
/// closed, and to ask the same again and again there would take for ever.
const MOST_ASKED: usize = 5_000;
/// How many re-exports are followed.
const MOST_EXPORTS: usize = 16;
/// How many subclasses are looked through.
const MOST_SUBCLASSES: usize = 60;

/// Answers that are kept for each expression of a file, by its place; [`NONE`] for one not asked yet.
#[derive(Default)]
pub(super) struct Memo {
    pub meanings: Vec<u32>,
    pub values: Vec<u32>,
    pub instances: Vec<u32>,
}

/// Everything that is known of a project while it is being resolved.
pub(super) struct World<'a> {
    pub project: &'a Project<'a>,
    pub semantics: &'static Semantics,
    pub modules: Box<dyn Modules + 'a>,
    pub sets: Sets,
    pub memos: Vec<Memo>,
    pub lists: Vec<Rc<[Meaning]>>,
    orders: FxHashMap<Def, Rc<[Def]>>,
    bases: FxHashMap<Def, Rc<[Def]>>,
    /// What extends a class, and the class that an extension extends.
    extensions: FxHashMap<Def, Vec<Def>>,
    extended: FxHashMap<Def, Def>,
    subclasses: FxHashMap<Def, Vec<Def>>,
    /// What the scopes of large modules bind, by name: the file and place of each binding.
    indexes: FxHashMap<Module, FxHashMap<u64, Vec<(u32, u32)>>>,
    /// The text of names whose hash alone was known.
    texts: FxHashMap<u64, Option<&'a str>>,
    pub methods: Vec<(u64, Effect)>,
    pub functions: Vec<(u64, Effect)>,
    active: FxHashMap<Question, usize>,
    /// The outermost question that an answer since the last beginning depends on and that is not answered yet.
    lowest: usize,
    /// How many questions the outermost one has led to.
    asked: usize,
}

/// A question that has begun.
pub(super) struct Begun {
    question: Question,
    depth: usize,
    outer: usize,
}

impl<'a> World<'a> {
    /// A project whose classes know each other.
    pub fn new(project: &'a Project<'a>, semantics: &'static Semantics) -> Self {
        let hashed =
            |table: &[(&str, Effect)]| table.iter().map(|(name, effect)| (super::ir::hash(name), *effect)).collect();
        let memos = |project: &Project<'_>| project.files.iter().map(|_| Memo::default()).collect();
        let mut world = Self {
            project,
            semantics,
            modules: (semantics.modules)(project),
            sets: Sets::default(),
            memos: memos(project),
            lists: vec![Rc::from([])],
            orders: FxHashMap::default(),
            bases: FxHashMap::default(),
            extensions: FxHashMap::default(),
            extended: FxHashMap::default(),
            subclasses: FxHashMap::default(),
            indexes: FxHashMap::default(),
            texts: FxHashMap::default(),
            methods: hashed(semantics.methods),
            functions: hashed(semantics.functions),
            active: FxHashMap::default(),
            lowest: usize::MAX,
            asked: 0,
        };
        for (file, of) in project.files.iter().enumerate() {
            for extension in of.facts.extensions {
                let own = Def { file: file as u32, place: extension.definition };
                for value in world.value(own.file, extension.of).iter() {
                    let whole = match *value {
                        Value::Class(whole) | Value::Function(whole) => whole,
                        // Something that has a class is given no members of its own; an object has no other.
                        Value::Instance(whole) if world.definition(whole).kind == DefinitionKind::Object as u8 => whole,
                        _ => continue,
                    };
                    world.extensions.entry(whole).or_default().push(own);
                    world.extended.entry(own).or_insert(whole);
                }
            }
        }
        world.memos = memos(project);
        for (file, of) in project.files.iter().enumerate() {
            for (place, definition) in of.facts.definitions.iter().enumerate() {
                if definition.kind == DefinitionKind::Function as u8 {
                    continue;
                }
                let def = Def { file: file as u32, place: place as u32 };
                if world.extended.contains_key(&def) {
                    continue;
                }
                for base in world.bases(def).iter() {
                    world.subclasses.entry(*base).or_default().push(def);
                }
            }
        }
        // What was answered so far did not know of subclasses; and before that, of extensions.
        world.memos = memos(project);
        world
    }

    pub fn facts(&self, file: u32) -> &'a Facts<'a> {
        &self.project.files[file as usize].facts
    }

    pub fn definition(&self, def: Def) -> &'a super::ir::Definition {
        &self.facts(def.file).definitions[def.place as usize]
    }

    /// Begins a question. `None` when it is being asked already, or when it is asked too deep or after too many others: then
    /// what is answered meanwhile must not be kept, because it lacks this part.
    pub fn begin(&mut self, question: Question) -> Option<Begun> {
        if self.active.is_empty() {
            self.asked = 0;
        }
        self.asked += 1;
        if let Some(depth) = self.active.get(&question) {
            self.lowest = self.lowest.min(*depth);
            return None;
        }
        let depth = self.active.len();
        if depth > DEEPEST || self.asked > MOST_ASKED {
            self.lowest = 0;
            return None;
        }
        self.active.insert(question, depth);
        let outer = std::mem::replace(&mut self.lowest, usize::MAX);
        Some(Begun { question, depth, outer })
    }

    /// Ends a question; true when its answer may be kept.
    pub fn end(&mut self, begun: Begun) -> bool {
        self.active.remove(&begun.question);
        let is_whole = self.lowest >= begun.depth;
        self.lowest = if is_whole { begun.outer } else { self.lowest.min(begun.outer) };
        is_whole
    }

    /// What an expression means.
    pub fn meaning(&mut self, file: u32, expression: u32) -> Rc<[Meaning]> {
        let memo = &mut self.memos[file as usize].meanings;
        if memo.is_empty() {
            memo.resize(self.project.files[file as usize].facts.expressions.len(), NONE);
        }
        if let Some(list) = self.lists.get(memo[expression as usize] as usize) {
            return list.clone();
        }
        let Some(begun) = self.begin(Question::Meaning(file, expression)) else { return self.lists[0].clone() };
        let mut meanings = self.mean(file, expression);
        meanings.sort_unstable();
        meanings.dedup();
        let list: Rc<[Meaning]> = if meanings.is_empty() { self.lists[0].clone() } else { meanings.into() };
        if self.end(begun) {
            let number = if list.is_empty() { 0 } else { self.lists.len() as u32 };
            if number > 0 {
                self.lists.push(list.clone());
            }
            self.memos[file as usize].meanings[expression as usize] = number;
        }
        list
    }

    fn mean(&mut self, file: u32, expression: u32) -> Vec<Meaning> {
        let facts = self.facts(file);
        let it = facts.expressions[expression as usize];
        if it.op == Op::Name as u8 {
            return self.lookup(file, it.a, it.b).0;
        }
        if it.op == Op::Member as u8 {
            let name = facts.hashes[it.b as usize];
            let mut meanings = Vec::new();
            let of = facts.expressions[it.a as usize];
            if of.op == Op::Module as u8 {
                // What a module offers by name counts for more than what it is as a whole.
                let Some(module) = self.modules.find(file, of.b, facts.name(of.a)) else { return meanings };
                meanings = self.export(module, name, &mut Vec::new());
                if meanings.is_empty() && facts.name(it.b) == self.semantics.default_export {
                    let values = self.whole(module).unwrap_or_default();
                    meanings.extend(values.into_iter().map(meaning_of));
                }
                return meanings;
            }
            for value in self.value(file, it.a).iter() {
                meanings.extend(self.member(*value, name));
            }
            return meanings;
        }
        if it.op == Op::Else as u8 {
            let found = self.meaning(file, it.a);
            let of = facts.expressions[it.a as usize].a;
            if !found.is_empty() || self.value(file, of).is_empty() {
                return found.to_vec();
            }
            return self.meaning(file, it.b).to_vec();
        }
        if it.op == Op::Module as u8 {
            let Some(module) = self.modules.find(file, it.b, facts.name(it.a)) else { return Vec::new() };
            return match self.whole(module) {
                Some(values) => values.iter().map(|value| meaning_of(*value)).collect(),
                None => vec![Meaning::Module(module)],
            };
        }
        if it.op == Op::Union as u8 {
            return facts.list(it.a).iter().flat_map(|one| self.meaning(file, *one).to_vec()).collect();
        }
        self.value(file, expression).iter().map(|value| meaning_of(*value)).collect()
    }

    /// What a module as a whole is, when it says so.
    fn whole(&mut self, module: Module) -> Option<Vec<Value>> {
        let mut values = Vec::new();
        let mut is_whole = false;
        for (file, scope) in self.modules.scopes(module) {
            let facts = self.facts(file);
            for expression in facts.list(facts.header.whole).iter().filter(|_| scope == ROOT) {
                is_whole = true;
                values.extend(self.value(file, *expression).iter());
            }
        }
        is_whole.then_some(values)
    }

    /// Whether a bare name is bound at all, as seen from a scope.
    pub fn is_bound(&mut self, file: u32, scope: u32, name: u32) -> bool {
        let facts = self.facts(file);
        let mut at = scope;
        while at != NONE {
            if !facts.bound(at, name).is_empty() {
                return true;
            }
            at = facts.scopes[at as usize].parent;
        }
        !self.lookup(file, scope, name).0.is_empty()
    }

    /// What a bare name means, seen from a scope, and whether it was found directly in a class.
    pub fn lookup(&mut self, file: u32, scope: u32, name: u32) -> (Vec<Meaning>, bool) {
        let facts = self.facts(file);
        let (mut at, mut is_direct) = (scope, true);
        // Stars count for less than what the module itself binds, wherever they stand.
        let mut starred = Vec::new();
        while at != NONE {
            let it = &facts.scopes[at as usize];
            let is_class = it.kind == ScopeKind::Class as u8;
            if is_class && self.semantics.class_names == ClassNames::Inherited && it.class != NONE {
                let found = self.inherited(Def { file, place: it.class }, facts.hashes[name as usize], false);
                if !found.is_empty() {
                    return (found, true);
                }
            } else if is_direct || !is_class {
                let found = facts.bound(at, name);
                if !found.is_empty() {
                    return (self.follow_all(file, found), is_class);
                }
            }
            if it.stars > 0 {
                starred.push(at);
            }
            if it.kind == ScopeKind::Module as u8 {
                let hash = facts.hashes[name as usize];
                let module = self.modules.of(file, at);
                let mut found = Vec::new();
                for (other, place) in self.bound_in(module, hash) {
                    found.extend(self.follow_all(other, place..place + 1));
                }
                if !found.is_empty() {
                    return (found, false);
                }
                for scope in starred {
                    let found = self.starred(file, scope, SEEN, hash, &mut vec![module]);
                    if !found.is_empty() {
                        return (found, false);
                    }
                }
                break;
            }
            is_direct &= it.kind == ScopeKind::Block as u8;
            at = it.parent;
        }
        (Vec::new(), false)
    }

    /// The bindings of a name in the scopes of a module: each with its file.
    fn bound_in(&mut self, module: Module, name: u64) -> Vec<(u32, u32)> {
        let mut bound = self.bound_in_all(module, name);
        if let Some(first) = bound.first().map(|(file, _)| *file)
            && self.modules.first_counts()
        {
            bound.retain(|(file, _)| *file == first);
        }
        bound
    }

    fn bound_in_all(&mut self, module: Module, name: u64) -> Vec<(u32, u32)> {
        // So few are looked through each time.
        const FEW: usize = 3;
        if let Some(index) = self.indexes.get(&module) {
            return index.get(&name).cloned().unwrap_or_default();
        }
        let scopes = self.modules.scopes(module);
        if scopes.len() <= FEW {
            let bound = |(file, scope): (u32, u32)| {
                let facts = self.facts(file);
                let places = facts.find_name(name).map_or(0..0, |name| facts.bound(scope, name));
                places.map(move |place| (file, place))
            };
            return scopes.into_iter().flat_map(bound).collect();
        }
        let mut index: FxHashMap<u64, Vec<(u32, u32)>> = FxHashMap::default();
        for (file, scope) in scopes {
            let facts = self.facts(file);
            let it = &facts.scopes[scope as usize];
            for place in it.first_binding..it.first_binding + it.bindings {
                let name = facts.hashes[facts.bindings[place as usize].name as usize];
                index.entry(name).or_default().push((file, place));
            }
        }
        let found = index.get(&name).cloned().unwrap_or_default();
        self.indexes.insert(module, index);
        found
    }

    /// What the stars of a scope offer under a name.
    fn starred(&mut self, file: u32, scope: u32, flag: u8, name: u64, seen: &mut Vec<Module>) -> Vec<Meaning> {
        for star in self.facts(file).stars(scope).iter().filter(|star| star.flags & flag != 0) {
            for value in self.value(file, star.from).iter() {
                let found = match *value {
                    Value::Module(module) => self.export(module, name, seen),
                    other => self.member(other, name),
                };
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
    }

    /// What a module offers under a name.
    fn export(&mut self, module: Module, name: u64, seen: &mut Vec<Module>) -> Vec<Meaning> {
        if seen.contains(&module) || seen.len() > MOST_EXPORTS {
            return Vec::new();
        }
        seen.push(module);
        let scopes = self.modules.scopes(module);
        let mut found = Vec::new();
        match scopes[..] {
            [(file, ROOT)] if self.facts(file).header.exports != NONE => {
                let facts = self.facts(file);
                if let Some(name) = facts.find_name(name) {
                    found = self.follow_all(file, facts.bound(facts.header.exports, name));
                }
            }
            _ => {
                for (file, place) in self.bound_in(module, name) {
                    found.extend(self.follow_all(file, place..place + 1));
                }
            }
        }
        // `from . import json` in a package leads back to itself: then the file of that name is meant.
        if !found.is_empty() {
            return found;
        }
        if let Some(values) = self.whole(module) {
            let found: Vec<Meaning> = values.into_iter().flat_map(|value| self.member(value, name)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        for (file, scope) in &scopes {
            let found = self.starred(*file, *scope, OFFERED, name, seen);
            if !found.is_empty() {
                return found;
            }
        }
        let text = scopes.iter().find_map(|(file, _)| self.text_of(*file, name));
        text.or_else(|| self.text_anywhere(name))
            .and_then(|text| self.modules.child(module, text))
            .map_or_else(Vec::new, |child| vec![Meaning::Module(child)])
    }

    fn text_of(&self, file: u32, name: u64) -> Option<&'a str> {
        let facts = self.facts(file);
        facts.find_name(name).map(|name| facts.name(name))
    }

    /// A name's text, from whichever file writes it.
    fn text_anywhere(&mut self, name: u64) -> Option<&'a str> {
        if let Some(text) = self.texts.get(&name) {
            return *text;
        }
        let text = (0..self.project.files.len() as u32).find_map(|file| self.text_of(file, name));
        self.texts.insert(name, text);
        text
    }

    fn follow_all(&mut self, file: u32, bindings: Range<u32>) -> Vec<Meaning> {
        let facts = self.facts(file);
        let mut meanings = Vec::with_capacity(bindings.len());
        for place in bindings {
            let binding = &facts.bindings[place as usize];
            if binding.kind == BindingKind::Alias as u8 {
                meanings.extend(self.meaning(file, binding.a).iter());
            } else if binding.kind == BindingKind::Definition as u8 {
                meanings.push(Meaning::Definition(Def { file, place: binding.a }));
            } else {
                meanings.push(Meaning::Variable { file, binding: place });
            }
        }
        meanings
    }

    /// What a member of a value means.
    pub fn member(&mut self, value: Value, name: u64) -> Vec<Meaning> {
        match value {
            Value::Instance(def) | Value::Class(def) => {
                let found = self.inherited(def, name, false);
                if !found.is_empty() || !self.semantics.looks_down {
                    return found;
                }
                for below in self.descendants(def) {
                    let found = self.own(below, name);
                    if !found.is_empty() {
                        return found;
                    }
                }
                Vec::new()
            }
            Value::Super(def) => self.inherited(def, name, true),
            Value::Function(def) => self.own(def, name),
            Value::Module(module) => self.export(module, name, &mut Vec::new()),
            // The items of a tuple are its members `.0`, `.1`, …
            Value::Tuple(row) => {
                let row = self.sets.rows[row as usize].clone();
                let item = (0..row.len()).find(|item| super::ir::hash(&format!(".{item}")) == name);
                item.map_or_else(Vec::new, |item| row[item].iter().map(|value| Meaning::Value(*value)).collect())
            }
            Value::Container(_) | Value::FunctionType { .. } => Vec::new(),
        }
    }

    /// A member of a class or the nearest of its bases that has it.
    fn inherited(&mut self, class: Def, name: u64, skip_own: bool) -> Vec<Meaning> {
        let order = self.order(class);
        let mut found = Vec::new();
        for class in order.iter().skip(usize::from(skip_own)) {
            let own = self.own(*class, name);
            if found.is_empty() {
                found = own;
            } else if own.iter().any(|meaning| self.declares(*meaning)) {
                // What a class assigns has the type that a base declares.
                found.extend(own);
                break;
            }
            if found.iter().any(|meaning| !matches!(meaning, Meaning::Variable { .. }) || self.declares(*meaning)) {
                break;
            }
        }
        found
    }

    /// A member of a definition or of what extends it.
    pub fn own(&mut self, def: Def, name: u64) -> Vec<Meaning> {
        let mut found = self.written(def, name);
        for extension in self.extensions.get(&def).cloned().unwrap_or_default() {
            found.extend(self.written(extension, name));
        }
        found
    }

    /// The class that a definition extends, else the definition itself.
    pub fn extended(&self, def: Def) -> Def {
        self.extended.get(&def).copied().unwrap_or(def)
    }

    /// A member of a definition itself. What is defined as a function counts for more than what is assigned.
    fn written(&mut self, def: Def, name: u64) -> Vec<Meaning> {
        let facts = self.facts(def.file);
        let Some(name) = facts.find_name(name) else { return Vec::new() };
        let definition = self.definition(def);
        let bound = |scope: u32| if scope == NONE { 0..0 } else { facts.bound(scope, name) };
        let members = bound(definition.members);
        let is_definition = |place: &u32| facts.bindings[*place as usize].kind == BindingKind::Definition as u8;
        let defined: Vec<u32> = members.clone().filter(is_definition).collect();
        if !defined.is_empty() {
            return defined.into_iter().flat_map(|place| self.follow_all(def.file, place..place + 1)).collect();
        }
        let mut found = self.follow_all(def.file, members);
        found.extend(self.follow_all(def.file, bound(definition.attributes)));
        found
    }

    /// The direct bases of a class that are ours.
    pub fn bases(&mut self, class: Def) -> Rc<[Def]> {
        if let Some(bases) = self.bases.get(&class) {
            return bases.clone();
        }
        let Some(begun) = self.begin(Question::Bases(class)) else { return Rc::from([]) };
        let definition = self.definition(class);
        let mut bases: Vec<Def> = Vec::new();
        let extensions = self.extensions.get(&class).cloned().unwrap_or_default();
        for part in std::iter::once(class).chain(extensions) {
            for base in self.facts(part.file).list(self.definition(part).bases) {
                for value in self.value(part.file, *base).iter() {
                    match *value {
                        Value::Class(base) | Value::Instance(base) => bases.push(base),
                        _ => {}
                    }
                }
            }
        }
        if definition.alias != super::ir::UNKNOWN {
            for value in self.instance(class.file, definition.alias).iter() {
                if let Value::Instance(base) = *value {
                    bases.push(base);
                }
            }
        }
        let mut seen = Vec::new();
        bases.retain(|base| *base != class && !seen.contains(base) && (seen.push(*base), true).1);
        let bases: Rc<[Def]> = bases.into();
        if self.end(begun) {
            self.bases.insert(class, bases.clone());
        }
        bases
    }

    /// A class and all its bases, the nearest first.
    pub fn order(&mut self, class: Def) -> Rc<[Def]> {
        if let Some(order) = self.orders.get(&class) {
            return order.clone();
        }
        let Some(begun) = self.begin(Question::Order(class)) else { return Rc::from([class]) };
        let mut order = vec![class];
        let mut at = 0;
        while at < order.len() {
            let bases = self.bases(order[at]);
            for base in bases.iter().copied().chain(self.lent(order[at])) {
                if !order.contains(&base) {
                    order.push(base);
                }
            }
            at += 1;
        }
        let order: Rc<[Def]> = order.into();
        if self.end(begun) {
            self.orders.insert(class, order.clone());
        }
        order
    }

    /// The classes that extensions of a class say lie beneath it: its members are found, but it is no kind of them.
    fn lent(&mut self, class: Def) -> Vec<Def> {
        if !self.extensions.contains_key(&class) {
            return Vec::new();
        }
        let as_class = |value: Value| if let Value::Instance(def) = value { Some(def) } else { None };
        self.aliased(class).into_iter().filter_map(as_class).collect()
    }

    /// Instances of the type that a class is another name of, or that it or an extension of it says lies beneath.
    pub fn aliased(&mut self, class: Def) -> Vec<Value> {
        let extensions = self.extensions.get(&class).cloned().unwrap_or_default();
        let mut found = Vec::new();
        for part in std::iter::once(class).chain(extensions) {
            let alias = self.definition(part).alias;
            found.extend(self.instance(part.file, alias).iter().filter(|value| **value != Value::Instance(class)));
        }
        found
    }

    /// The classes below a class, the nearest first, as far as it is worth looking.
    pub fn descendants(&self, class: Def) -> Vec<Def> {
        let mut found: Vec<Def> = self.subclasses.get(&class).cloned().unwrap_or_default();
        let mut at = 0;
        while at < found.len() && found.len() < MOST_SUBCLASSES {
            for below in self.subclasses.get(&found[at]).into_iter().flatten() {
                if !found.contains(below) {
                    found.push(*below);
                }
            }
            at += 1;
        }
        found.truncate(MOST_SUBCLASSES);
        found
    }
}

/// What a value is the value of.
fn meaning_of(value: Value) -> Meaning {
    match value {
        Value::Function(def) | Value::Class(def) => Meaning::Definition(def),
        Value::Module(module) => Meaning::Module(module),
        other => Meaning::Value(other),
    }
}
