//! The surface of a file: the names visible to other files, as *items* with a hash of their definition. Comparing two
//! surfaces shows which names an edit may have changed for other files.

use rustc_hash::{FxHashMap, FxHashSet};

use codelode_lang::facts::{
    BindingKind, ClassNames, Column, Definition, DefinitionId, DefinitionKind, Expression, ExpressionId, Facts, ListId,
    NONE, NameId, Op, ROOT, STRUCTURAL, ScopeId, ScopeKind, UNKNOWN,
};

/// A name that is visible to other files, or has a symbol. Items of one name in one file share a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Hash of the name.
    pub name: u64,
    pub hash: u32,
    /// The position of the name; [`NONE`] if the source does not write it.
    pub at: u32,
    /// Its index among the file's definitions or bindings.
    pub place: u32,
    /// A combination of [`BINDING`], [`WRITTEN`], [`DERIVES`] and [`INTERFACE`].
    pub flags: u32,
}

/// The item is a binding, not a definition.
pub(super) const BINDING: u32 = 1;
/// The name is written at its definition.
pub(super) const WRITTEN: u32 = 2;
/// The item is a class with bases.
pub(super) const DERIVES: u32 = 4;
/// Other classes may satisfy the item without naming it.
pub(super) const INTERFACE: u32 = 8;

/// The names of a file that are visible to other files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Surface {
    /// Hash of the unnamed parts: wildcard imports, modules, extensions.
    pub frame: u64,
    /// By name, definitions before bindings, otherwise in source order.
    pub items: Vec<Item>,
}

impl Surface {
    pub fn of(facts: &Facts<'_>) -> Self {
        let mut reader = Reader::new(facts);
        let frame = reader.frame();
        let mut items = Vec::new();
        let mut hashes = Vec::new();
        for (place, definition) in facts.definitions.iter().enumerate() {
            if definition.name == NameId::NONE {
                continue;
            }
            let is_class = definition.kind != DefinitionKind::Function;
            let flags = [
                (definition.at != NONE, WRITTEN),
                (is_class && !facts.list(definition.bases).is_empty(), DERIVES),
                (definition.flags & STRUCTURAL != 0, INTERFACE),
            ];
            let flags = flags.iter().filter(|(is, _)| *is).map(|(_, flag)| flag).sum();
            let name = facts.hashes[definition.name.row()];
            items.push(Item { name, hash: 0, at: definition.at, place: place as u32, flags });
            hashes.push(reader.begun(|reader| reader.definition(DefinitionId(place as u32))));
        }
        for scope in 0..facts.scopes.len() as u32 {
            let (id, it) = (reader.shared[scope as usize], &facts.scopes[scope as usize]);
            for place in it.first_binding..it.first_binding + it.bindings {
                let binding = &facts.bindings[place as usize];
                if id == 0 && binding.at == NONE {
                    continue;
                }
                let flags = BINDING | if facts.names_a_thing(binding) { WRITTEN } else { 0 };
                let name = facts.hashes[binding.name.row()];
                items.push(Item { name, hash: 0, at: binding.at, place, flags });
                hashes.push(reader.begun(|reader| {
                    reader.put(id);
                    reader.binding(place);
                }));
            }
        }
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_unstable_by_key(|item| (items[*item].name, items[*item].flags & BINDING, items[*item].place));
        let mut hashed: Vec<(Item, u64)> = order.into_iter().map(|item| (items[item], hashes[item])).collect();
        for of_name in hashed.chunk_by_mut(|(a, _), (b, _)| a.name == b.name) {
            let mut all = SurfaceHasher::default();
            for (item, hash) in of_name.iter() {
                all.put(*hash);
                all.put(u64::from(item.flags));
            }
            of_name.iter_mut().for_each(|(item, _)| item.hash = all.finish() as u32);
        }
        Self { frame, items: hashed.into_iter().map(|(item, _)| item).collect() }
    }
}

/// A hash being computed.
#[derive(Clone, Copy, Default)]
struct SurfaceHasher(u64);

impl SurfaceHasher {
    fn put(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(self) -> u64 {
        let hash = (self.0 ^ self.0 >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash ^ hash >> 32
    }
}

/// Hashes an item with everything in its file that it depends on. Names of local scopes are followed to their bindings;
/// names visible to other files are items themselves.
struct Reader<'f, 'a> {
    facts: &'f Facts<'a>,
    /// A non-zero identifier for each scope with visible names; zero for a local scope.
    shared: Vec<u64>,
    mix: SurfaceHasher,
    /// The order in which expressions, local names and definitions were read for this item.
    read: FxHashMap<(u8, u32, u32), u64>,
    /// The nesting depth of the current expression.
    depth: usize,
    /// Hash of all expressions of the file; computed on first use.
    all: Option<u64>,
}

/// The deepest nesting of expressions that is followed, also through local names. A deeper one changes with any
/// expression of the file.
const DEEPEST: usize = 250;

impl<'f, 'a> Reader<'f, 'a> {
    fn new(facts: &'f Facts<'a>) -> Self {
        let mut reader = Self {
            facts,
            shared: vec![0; facts.scopes.len()],
            mix: SurfaceHasher::default(),
            read: FxHashMap::default(),
            depth: 0,
            all: None,
        };
        for definition in facts.definitions.iter().filter(|definition| definition.attributes != ScopeId::NONE) {
            reader.shared[definition.attributes.row()] = reader.name_of(definition) ^ 0x61;
        }
        for module in facts.modules {
            // The scope of an inline module, or for a module in its own file the scope that declares it.
            if facts.scopes.get(module.scope.row()).is_some_and(|scope| scope.kind == ScopeKind::Module) {
                reader.shared[module.scope.row()] ^= facts.hashes.get(module.name.row()).copied().unwrap_or(0);
            }
        }
        for scope in 0..facts.scopes.len() {
            let it = &facts.scopes[scope];
            if it.kind == ScopeKind::Class && it.class != DefinitionId::NONE {
                let class = &facts.definitions[it.class.row()];
                reader.shared[scope] = reader.name_of(class) ^ reader.around(it.parent) ^ 0x63;
            } else if it.kind == ScopeKind::Module {
                reader.shared[scope] ^= if scope == ROOT.row() { 0x6d } else { 0x6e };
            }
        }
        if let Some(exports) = reader.shared.get_mut(facts.header.exports.row()) {
            *exports = 0x65;
        }
        // Zero means local, so a shared scope must not hash to zero.
        let is_shared = |kind: ScopeKind| kind == ScopeKind::Class || kind == ScopeKind::Module;
        for (id, scope) in reader.shared.iter_mut().zip(facts.scopes) {
            *id += u64::from(*id == 0 && is_shared(scope.kind));
        }
        reader
    }

    fn name_of(&self, definition: &Definition) -> u64 {
        self.facts.hashes.get(definition.name.row()).copied().unwrap_or(7)
    }

    /// Hash of the classes around a scope.
    fn around(&self, mut scope: ScopeId) -> u64 {
        let mut all = SurfaceHasher::default();
        for _ in 0..self.facts.scopes.len() {
            let Some(it) = self.facts.scopes.get(scope.row()) else { break };
            if let Some(class) = self.facts.definitions.get(it.class.row()) {
                all.put(self.name_of(class));
            }
            scope = it.parent;
        }
        all.finish()
    }

    /// The hash of one reading that starts afresh.
    fn begun(&mut self, read: impl FnOnce(&mut Self)) -> u64 {
        self.mix = SurfaceHasher::default();
        self.read.clear();
        read(self);
        self.mix.finish()
    }

    fn put(&mut self, word: u64) {
        self.mix.put(word);
    }

    /// Whether a row is read for the first time. Otherwise the order of its first reading is hashed.
    fn is_first(&mut self, kind: u8, a: u32, b: u32) -> bool {
        let next = self.read.len() as u64;
        let when = *self.read.entry((kind, a, b)).or_insert(next);
        if when != next {
            self.put(when);
        }
        when == next
    }

    fn frame(&mut self) -> u64 {
        let facts = self.facts;
        self.begun(|reader| {
            reader.put(u64::from(facts.header.exports != ScopeId::NONE));
            reader.list(facts.header.whole);
            for scope in (0..facts.scopes.len() as u32).map(ScopeId) {
                let id = reader.shared[scope.row()];
                for star in facts.stars(scope).iter().filter(|_| id != 0) {
                    reader.put(id);
                    reader.put(u64::from(star.flags));
                    reader.expression(star.from);
                }
            }
            for module in facts.modules {
                reader.put(facts.hashes.get(module.name.row()).copied().unwrap_or(0));
                reader.put(module.kind as u64);
                for scope in [module.scope, module.within] {
                    reader.put(reader.shared.get(scope.row()).copied().unwrap_or(0));
                }
            }
            for extension in facts.extensions {
                reader.expression(extension.of);
                reader.definition(extension.definition);
            }
            // Unnamed classes are known by their bases only.
            for (place, definition) in facts.definitions.iter().enumerate() {
                let is_class = definition.kind != DefinitionKind::Function;
                if definition.name == NameId::NONE && is_class && !facts.list(definition.bases).is_empty() {
                    reader.definition(DefinitionId(place as u32));
                }
            }
        })
    }

    fn list(&mut self, list: ListId) {
        let items = self.facts.list(list);
        self.put(items.len() as u64);
        items.iter().for_each(|item| self.expression(*item));
    }

    /// Hashes a definition without its members, which are items themselves.
    fn definition(&mut self, place: DefinitionId) {
        let Some(it) = self.facts.definitions.get(place.row()) else { return };
        if !self.is_first(0, place.0, 0) {
            return;
        }
        self.put(self.name_of(it));
        let bits = [
            it.at != NONE,
            it.members != ScopeId::NONE,
            it.attributes != ScopeId::NONE,
            it.owner != DefinitionId::NONE,
        ];
        let bits = bits.iter().fold(0, |bits, bit| bits << 1 | u64::from(*bit));
        self.put(bits << 16 | (it.kind as u64) << 8 | u64::from(it.flags));
        if let Some(scope) = self.shared.get(it.members.row()) {
            self.put(*scope);
        }
        if let Some(owner) = self.facts.definitions.get(it.owner.row()) {
            self.put(self.name_of(owner));
        }
        self.expression(it.returns);
        self.expression(it.alias);
        for list in [it.bases, it.values, it.parameters, it.generics] {
            self.list(list);
        }
        for scope in [it.members, it.attributes] {
            let Some(members) = self.facts.scopes.get(scope.row()) else { continue };
            if members.stars > 0 {
                self.facts.stars(scope).iter().for_each(|star| self.expression(star.from));
            }
        }
        // Members of an unnamed definition are part of its hash, because their items do not lead to it.
        if it.name == NameId::NONE {
            for scope in [it.members, it.attributes] {
                let Some(members) = self.facts.scopes.get(scope.row()) else { continue };
                for place in members.first_binding..members.first_binding + members.bindings {
                    self.binding(place);
                }
            }
        }
    }

    fn binding(&mut self, place: u32) {
        let binding = &self.facts.bindings[place as usize];
        self.put(self.facts.hashes[binding.name.row()]);
        self.put(u64::from(binding.flags) << 8 | (binding.kind as u64) << 1 | u64::from(binding.at != NONE));
        if binding.kind == BindingKind::Definition {
            self.refer(DefinitionId(binding.a));
        } else {
            self.expression(ExpressionId(binding.a));
            self.expression(ExpressionId(binding.b));
        }
    }

    /// Hashes a reference to a definition: an item by its name, any other definition by its content.
    fn refer(&mut self, definition: DefinitionId) {
        let Some(it) = self.facts.definitions.get(definition.row()) else { return };
        if it.name == NameId::NONE {
            return self.definition(definition);
        }
        let scope = self.shared.get(it.members.row()).copied().unwrap_or(0);
        let name = self.name_of(it);
        self.put(name);
        self.put(scope);
    }

    fn expression(&mut self, place: ExpressionId) {
        if place == UNKNOWN {
            return self.put(3);
        }
        let Some(it) = self.facts.expressions.get(place.row()).copied() else { return };
        if !self.is_first(1, place.0, 0) {
            return;
        }
        if self.depth == DEEPEST {
            let all = self.all();
            return self.put(all);
        }
        self.depth += 1;
        self.operands(it);
        self.depth -= 1;
    }

    /// Hash of all names and expressions of the file.
    fn all(&mut self) -> u64 {
        let facts = self.facts;
        *self.all.get_or_insert_with(|| {
            let mut all = SurfaceHasher::default();
            facts.hashes.iter().for_each(|name| all.put(*name));
            let words = facts.expressions.iter().flat_map(|it| [it.op as u32, it.a, it.b]);
            words.chain(facts.lists.iter().copied()).for_each(|word| all.put(word.into()));
            facts.bindings.iter().flat_map(|it| [it.name.0, it.a, it.b]).for_each(|word| all.put(word.into()));
            all.finish()
        })
    }

    fn operands(&mut self, it: Expression) {
        self.put(it.op as u64);
        let is = |ops: &[Op]| ops.contains(&it.op);
        if is(&[Op::Name]) {
            self.name(ScopeId(it.a), NameId(it.b));
        } else if is(&[Op::Member, Op::Labeled, Op::Keyword]) {
            self.put(self.facts.hashes[it.b as usize]);
            self.expression(ExpressionId(it.a));
        } else if is(&[Op::Call, Op::Generic, Op::FunctionType]) {
            self.expression(ExpressionId(it.a));
            self.list(ListId(it.b));
        } else if is(&[Op::Union, Op::Tuple]) {
            self.list(ListId(it.a));
        } else if is(&[Op::SelfOf, Op::ClassOf, Op::SuperOf, Op::Function, Op::Object, Op::Overridden]) {
            self.refer(DefinitionId(it.a));
            self.put(u64::from(it.b));
            if let Some(owner) =
                self.facts.definitions.get(it.a as usize).map(|own| own.owner).filter(|own| *own != DefinitionId::NONE)
            {
                self.refer(owner);
            }
        } else if is(&[Op::Module]) {
            self.put(self.facts.hashes[it.a as usize]);
            self.put(self.shared.get(it.b as usize).copied().unwrap_or(0));
        } else if is(&[Op::Else, Op::Extension, Op::Proven, Op::Except, Op::Returning, Op::Taking]) {
            self.expression(ExpressionId(it.a));
            self.expression(ExpressionId(it.b));
        } else if it.op != Op::Unknown {
            self.expression(ExpressionId(it.a));
            self.put(u64::from(it.b));
        }
    }

    /// Hashes a name and its bindings in the enclosing scopes.
    fn name(&mut self, scope: ScopeId, name: NameId) {
        let facts = self.facts;
        self.put(facts.hashes[name.row()]);
        let (mut at, mut steps) = (scope, 0);
        while let Some(it) = facts.scopes.get(at.row()) {
            let shared = self.shared[at.row()];
            let bound = facts.bound(at, name);
            if it.stars > 0 || shared != 0 || !bound.is_empty() {
                self.put(steps);
                self.put(shared);
            }
            if shared == 0 {
                if !bound.is_empty() && self.is_first(2, at.0, name.0) {
                    self.put(bound.len() as u64);
                    bound.for_each(|place| self.binding(place));
                }
                facts.stars(at).iter().for_each(|star| self.expression(star.from));
            }
            at = it.parent;
            steps += 1;
        }
    }
}

/// The changed names that a file sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    /// Names of its own items.
    pub own: FxHashSet<u64>,
    /// Names of items in files that it consulted.
    pub others: FxHashSet<u64>,
}

/// Effects of changed names on one file.
pub(super) struct Touched {
    /// The file's names that may have changed because they depend on changed ones, directly or indirectly.
    pub names: FxHashSet<u64>,
    /// Whether an extension may now extend another class.
    pub extends: bool,
}

/// The effects of changed names on a file; `None` if there are none.
pub(super) fn touched(facts: &Facts<'_>, changed: &Changed, class_names: ClassNames) -> Option<Touched> {
    let is_in = |names: &FxHashSet<u64>| facts.hashes.iter().map(|name| names.contains(name)).collect::<Vec<bool>>();
    let (mut by_name, others) = (is_in(&changed.own), is_in(&changed.others));
    // A bare name that the file binds itself cannot mean another file's name, unless classes are searched first.
    let is_elsewhere = |scope: ScopeId, name: NameId| {
        at(&others, name) && (class_names == ClassNames::Inherited || !is_bound_outside_classes(facts, scope, name))
    };
    let mut found = vec![false; facts.hashes.len()];
    let mut definitions = vec![false; facts.definitions.len()];
    let mut expressions = vec![false; facts.expressions.len()];
    loop {
        let before = (count(&by_name), count(&definitions), count(&expressions));
        let of_definition = |place: u32, by_name: &[bool], definitions: &[bool]| {
            let Some(it) = facts.definitions.get(place as usize) else { return false };
            definitions[place as usize] || at(by_name, it.name) || {
                let owner = facts.definitions.get(it.owner.row());
                owner.is_some_and(|owner| at(by_name, owner.name) || at(definitions, it.owner))
            }
        };
        for (place, it) in facts.expressions.iter().enumerate() {
            let is = |ops: &[Op]| ops.contains(&it.op);
            let of_list = |list: ListId| facts.list(list).iter().any(|item| at(&expressions, *item));
            let is_touched = if is(&[Op::Name]) {
                at(&by_name, it.b) || is_elsewhere(ScopeId(it.a), NameId(it.b))
            } else if is(&[Op::Member, Op::Keyword]) {
                at(&by_name, it.b) || at(&others, it.b) || at(&expressions, it.a)
            } else if is(&[Op::Call, Op::Generic, Op::FunctionType]) {
                at(&expressions, it.a) || of_list(ListId(it.b))
            } else if is(&[Op::Union, Op::Tuple]) {
                of_list(ListId(it.a))
            } else if is(&[Op::SelfOf, Op::ClassOf, Op::SuperOf, Op::Function, Op::Object, Op::Overridden]) {
                // The overridden method has the same name.
                let overridden = facts.definitions.get(it.a as usize).filter(|_| is(&[Op::Overridden]));
                of_definition(it.a, &by_name, &definitions) || overridden.is_some_and(|own| at(&others, own.name))
            } else if is(&[Op::Unknown, Op::Module]) {
                false
            } else {
                at(&expressions, it.a)
                    || is(&[Op::Else, Op::Extension, Op::Proven, Op::Except, Op::Returning, Op::Taking])
                        && at(&expressions, it.b)
            };
            expressions[place] |= is_touched;
        }
        for (place, it) in facts.definitions.iter().enumerate() {
            let lists = [it.bases, it.values, it.parameters];
            let mut items = lists.iter().flat_map(|list| facts.list(*list));
            if at(&expressions, it.returns) || at(&expressions, it.alias) || items.any(|item| at(&expressions, *item)) {
                definitions[place] = true;
                set(&mut by_name, it.name);
                set(&mut found, it.name);
            }
        }
        for scope in facts.scopes {
            let own = scope.first_binding as usize..(scope.first_binding + scope.bindings) as usize;
            let mut is_any = false;
            for binding in &facts.bindings[own] {
                let is_touched = match binding.kind == BindingKind::Definition {
                    true => of_definition(binding.a, &by_name, &definitions),
                    false => at(&expressions, binding.a) || at(&expressions, binding.b),
                };
                if is_touched {
                    set(&mut by_name, binding.name);
                    set(&mut found, binding.name);
                }
                is_any |= at(&by_name, binding.name);
            }
            // Other files know an unnamed class by its members.
            if let Some(class) = facts.definitions.get(scope.class.row()).filter(|class| class.name == NameId::NONE) {
                definitions[scope.class.row()] |= is_any && class.name == NameId::NONE;
            }
        }
        for extension in facts.extensions {
            if at(&expressions, extension.of) {
                definitions[extension.definition.row()] = true;
            }
        }
        if before == (count(&by_name), count(&definitions), count(&expressions)) {
            break;
        }
    }
    let names = found.iter().zip(facts.hashes).filter(|(is, _)| **is).map(|(_, name)| *name).collect();
    let extends = facts.extensions.iter().any(|extension| at(&expressions, extension.of));
    (count(&expressions) > 0).then_some(Touched { names, extends })
}

/// Whether a scope of the file, other than a class, binds a bare name.
fn is_bound_outside_classes(facts: &Facts<'_>, mut scope: ScopeId, name: NameId) -> bool {
    while let Some(it) = facts.scopes.get(scope.row()) {
        if it.kind != ScopeKind::Class && !facts.bound(scope, name).is_empty() {
            return true;
        }
        scope = it.parent;
    }
    false
}

fn at(all: &[bool], place: impl Into<Column>) -> bool {
    all.get(place.into().row()).copied().unwrap_or(false)
}

fn set(all: &mut [bool], place: NameId) {
    if let Some(one) = all.get_mut(place.row()) {
        *one = true;
    }
}

fn count(all: &[bool]) -> usize {
    all.iter().filter(|one| **one).count()
}
