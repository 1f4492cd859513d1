//! Makes the facts of one file. A lowering says what it sees, in any order; [`Builder::finish`] sorts it into tables.

use rustc_hash::FxHashMap;
use zerocopy::IntoBytes;

use super::tables::{
    Binding, BindingKind, Declared, Definition, EMPTY, Expression, Extension, Header, Import, ModuleName, NONE,
    Occurrence, Op, Scope, ScopeKind, Star, UNKNOWN, VERSION, hash,
};
use crate::model::{Role, Span};

/// Facts in the making. Scope 0 is the file's own, expression 0 the unknown one.
#[derive(Debug)]
pub struct Builder {
    names: FxHashMap<Box<str>, u32>,
    texts: Vec<Box<str>>,
    scopes: Vec<Scope>,
    bindings: Vec<(u32, Binding)>,
    /// The bindings of a name in a scope so far, the newest first: each with the place of the one before.
    bound: FxHashMap<(u32, u32), u32>,
    before: Vec<u32>,
    /// The newest scope that each name was looked up from.
    named: Vec<u32>,
    definitions: Vec<Definition>,
    values: Vec<Vec<u32>>,
    bases: Vec<Vec<u32>>,
    expressions: Vec<Expression>,
    known: FxHashMap<Expression, u32>,
    lists: Vec<u32>,
    known_lists: FxHashMap<Box<[u32]>, u32>,
    stars: Vec<(u32, Star)>,
    occurrences: Vec<Occurrence>,
    imports: Vec<Import>,
    modules: Vec<ModuleName>,
    extensions: Vec<Extension>,
    exports: u32,
    whole: Vec<u32>,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Facts that say nothing yet.
    pub fn new() -> Self {
        let mut builder = Self {
            names: FxHashMap::default(),
            texts: Vec::new(),
            scopes: Vec::new(),
            bindings: Vec::new(),
            bound: FxHashMap::default(),
            before: Vec::new(),
            named: Vec::new(),
            definitions: Vec::new(),
            values: Vec::new(),
            bases: Vec::new(),
            expressions: Vec::new(),
            known: FxHashMap::default(),
            lists: Vec::new(),
            known_lists: FxHashMap::default(),
            stars: Vec::new(),
            occurrences: Vec::new(),
            imports: Vec::new(),
            modules: Vec::new(),
            extensions: Vec::new(),
            exports: NONE,
            whole: Vec::new(),
        };
        builder.scope(ScopeKind::Module, NONE);
        builder.expression(Op::Unknown, 0, 0);
        builder.list(&[]);
        builder
    }

    /// A name. Where a language keeps fields and methods apart, its lowering spells them differently: `size` and `size()`.
    pub fn name(&mut self, text: &str) -> u32 {
        if let Some(name) = self.names.get(text) {
            return *name;
        }
        let name = self.texts.len() as u32;
        self.texts.push(text.into());
        self.names.insert(text.into(), name);
        name
    }

    /// A name's text.
    pub fn text(&self, name: u32) -> &str {
        self.texts.get(name as usize).map_or("", |text| text)
    }

    /// A new scope inside another.
    pub fn scope(&mut self, kind: ScopeKind, parent: u32) -> u32 {
        self.scopes.push(Scope { parent, class: NONE, kind: kind as u8, ..Scope::default() });
        self.scopes.len() as u32 - 1
    }

    /// The scope around one; [`NONE`] around the root.
    pub fn parent(&self, scope: u32) -> u32 {
        self.scopes[scope as usize].parent
    }

    /// Moves a scope into another: a class whose type parameters were seen later.
    pub fn set_parent(&mut self, scope: u32, parent: u32) {
        self.scopes[scope as usize].parent = parent;
    }

    /// What sort of scope it is.
    pub fn is(&self, scope: u32, kind: ScopeKind) -> bool {
        self.scopes[scope as usize].kind == kind as u8
    }

    /// The class whose members a scope holds.
    pub fn class_of(&self, scope: u32) -> Option<u32> {
        Some(self.scopes[scope as usize].class).filter(|class| *class != NONE)
    }

    /// The innermost class around a scope: whose `self` or `super` is meant there.
    pub fn class_around(&self, mut scope: u32) -> Option<u32> {
        while scope != NONE {
            if let Some(class) = self.class_of(scope) {
                return Some(class);
            }
            scope = self.parent(scope);
        }
        None
    }

    /// A definition. `at` is where its name is written.
    pub fn define(&mut self, definition: Definition) -> u32 {
        self.definitions.push(definition);
        self.values.push(Vec::new());
        self.bases.push(Vec::new());
        self.definitions.len() as u32 - 1
    }

    /// A class with a scope for its members, inside another scope: the definition and that scope.
    pub fn class(&mut self, definition: Definition, parent: u32) -> (u32, u32) {
        let members = self.scope(ScopeKind::Class, parent);
        let class = self.define(Definition { members, ..definition });
        self.scopes[members as usize].class = class;
        (class, members)
    }

    /// A definition, to be completed.
    pub fn definition(&mut self, definition: u32) -> &mut Definition {
        &mut self.definitions[definition as usize]
    }

    /// A function returns this value.
    pub fn returns(&mut self, definition: u32, value: u32) {
        // A few tell what it gives; looking at all of a parser's is in vain.
        const MOST: usize = 4;
        let values = &mut self.values[definition as usize];
        if value != UNKNOWN && values.len() < MOST && !values.contains(&value) {
            values.push(value);
        }
    }

    /// A class has this base.
    pub fn base(&mut self, definition: u32, base: u32) {
        if base != UNKNOWN {
            self.bases[definition as usize].push(base);
        }
    }

    /// The scope of the attributes that are given to a definition from elsewhere.
    pub fn attributes(&mut self, definition: u32) -> u32 {
        if self.definitions[definition as usize].attributes == NONE {
            let scope = self.scope(ScopeKind::Class, NONE);
            self.definitions[definition as usize].attributes = scope;
        }
        self.definitions[definition as usize].attributes
    }

    /// Binds a name. `at` is where it is written, [`NONE`] when it is not.
    pub fn bind(&mut self, scope: u32, name: u32, kind: BindingKind, a: u32, b: u32, at: u32) {
        let place = self.bindings.len() as u32;
        let before = self.bound.insert((scope, name), place).unwrap_or(NONE);
        self.before.push(before);
        self.bindings.push((scope, Binding { name, a, b, at, kind: kind as u8, reserved: [0; 3] }));
    }

    /// Whether a scope binds a name so far.
    pub fn binds(&self, scope: u32, name: u32) -> bool {
        self.bound.contains_key(&(scope, name))
    }

    /// Whether a bare name is used so far as it is seen from a scope.
    pub fn is_used(&self, scope: u32, name: u32) -> bool {
        self.known.contains_key(&Expression { a: scope, b: name, op: Op::Name as u8, reserved: [0; 3] })
    }

    /// Whether a name was looked up so far from a scope or one made later: its uses would see what it binds now.
    pub fn is_named_since(&self, scope: u32, name: u32) -> bool {
        self.named.get(name as usize).is_some_and(|newest| *newest != NONE && *newest >= scope)
    }

    /// The innermost scope that binds a name so far, seen from one, and its newest binding there.
    pub fn nearest(&self, mut scope: u32, name: u32) -> Option<(u32, Binding)> {
        while scope != NONE {
            if let Some(place) = self.bound.get(&(scope, name)) {
                return Some((scope, self.bindings[*place as usize].1));
            }
            scope = self.parent(scope);
        }
        None
    }

    /// Forgets what a name meant in a scope: `let x = …` again.
    pub fn unbind(&mut self, scope: u32, name: u32) {
        let mut place = self.bound.remove(&(scope, name)).unwrap_or(NONE);
        while place != NONE {
            self.bindings[place as usize].0 = NONE;
            place = self.before[place as usize];
        }
    }

    /// The bindings that a bare name has so far, seen from a scope, newest first: in the innermost scope that has any.
    pub fn lookup(&self, mut scope: u32, name: u32) -> Vec<Binding> {
        while scope != NONE {
            let mut place = self.bound.get(&(scope, name)).copied().unwrap_or(NONE);
            if place != NONE {
                let mut found = Vec::new();
                while place != NONE {
                    found.push(self.bindings[place as usize].1);
                    place = self.before[place as usize];
                }
                return found;
            }
            scope = self.parent(scope);
        }
        Vec::new()
    }

    /// An expression; equal ones are one.
    pub fn expression(&mut self, op: Op, a: u32, b: u32) -> u32 {
        let expression = Expression { a, b, op: op as u8, reserved: [0; 3] };
        let next = self.expressions.len() as u32;
        let place = *self.known.entry(expression).or_insert(next);
        if place == next {
            self.expressions.push(expression);
        }
        place
    }

    /// An expression of an expression: unknown when that is.
    pub fn of(&mut self, op: Op, of: u32) -> u32 {
        if of == UNKNOWN { UNKNOWN } else { self.expression(op, of, 0) }
    }

    /// A bare name.
    pub fn named(&mut self, scope: u32, name: u32) -> u32 {
        if self.named.len() <= name as usize {
            self.named.resize(name as usize + 1, NONE);
        }
        let newest = &mut self.named[name as usize];
        *newest = if *newest == NONE { scope } else { scope.max(*newest) };
        self.expression(Op::Name, scope, name)
    }

    /// A member; also of what is unknown, which the answer then says.
    pub fn member(&mut self, of: u32, name: u32) -> u32 {
        self.expression(Op::Member, of, name)
    }

    /// Any of these; the unknown ones do not count.
    pub fn union(&mut self, of: &[u32]) -> u32 {
        let known: Vec<u32> = of.iter().copied().filter(|one| *one != UNKNOWN).collect();
        match known[..] {
            [] => UNKNOWN,
            [only] => only,
            _ => {
                let list = self.list(&known);
                self.expression(Op::Union, list, 0)
            }
        }
    }

    /// A module by the text that names it, seen from a scope.
    pub fn module(&mut self, spec: &str, mut scope: u32) -> u32 {
        while !self.is(scope, ScopeKind::Module) {
            scope = self.parent(scope);
        }
        let spec = self.name(spec);
        self.expression(Op::Module, spec, scope)
    }

    /// A list; equal ones are one.
    pub fn list(&mut self, items: &[u32]) -> u32 {
        if let Some(list) = self.known_lists.get(items) {
            return *list;
        }
        let list = self.lists.len() as u32;
        self.lists.push(items.len() as u32);
        self.lists.extend_from_slice(items);
        self.known_lists.insert(items.into(), list);
        list
    }

    /// An expression's columns.
    pub fn look(&self, expression: u32) -> Expression {
        self.expressions[expression as usize]
    }

    /// A name is written here and means this.
    pub fn occurrence(&mut self, span: Span, role: Role, expression: u32) {
        let len = u16::try_from(span.len()).unwrap_or(u16::MAX);
        self.occurrences.push(Occurrence { at: span.start, expression, len, role: role as u8, reserved: 0 });
    }

    /// The file imports another. `flags` are those of [`Import`].
    pub fn import(&mut self, at: u32, expression: u32, flags: u8) {
        self.imports.push(Import { at, expression, flags, reserved: [0; 3] });
    }

    /// Everything that `from` offers is bound in a scope. `flags` are those of [`Star`].
    pub fn star(&mut self, scope: u32, from: u32, flags: u8) {
        self.stars.push((scope, Star { from, flags, reserved: [0; 3] }));
    }

    /// The scope in which exports are bound by the name that others see. From the first call on, nothing else is offered.
    pub fn exports(&mut self) -> u32 {
        if self.exports == NONE {
            self.exports = self.scope(ScopeKind::Block, 0);
        }
        self.exports
    }

    /// The module as a whole is this value: `module.exports = …`.
    pub fn whole(&mut self, value: u32) {
        self.whole.push(value);
    }

    /// A module is declared here; see [`ModuleName`].
    pub fn declare(&mut self, kind: Declared, name: u32, scope: u32, within: u32) {
        self.modules.push(ModuleName { name, scope, within, kind: kind as u8, reserved: [0; 3] });
    }

    /// The members and bases of this definition are those of the class that `of` means; see [`Extension`].
    pub fn extend(&mut self, of: u32, definition: u32) {
        self.extensions.push(Extension { of, definition });
    }

    /// The facts as they are kept: [`unpack`](super::unpack) makes tables of them, which [`Facts::open`](super::Facts::open)
    /// reads.
    pub fn finish(self) -> Vec<u8> {
        super::packed::pack(&self.tables())
    }

    fn tables(mut self) -> Vec<u8> {
        for definition in 0..self.definitions.len() {
            let (values, bases) =
                (std::mem::take(&mut self.values[definition]), std::mem::take(&mut self.bases[definition]));
            let (values, bases) = (self.list(&values), self.list(&bases));
            let definition = &mut self.definitions[definition];
            (definition.values, definition.bases) = (values, bases);
        }
        let whole = std::mem::take(&mut self.whole);
        let whole = if whole.is_empty() { EMPTY } else { self.list(&whole) };

        // Names are numbered by their hash, so that a name of another file is found by binary search.
        let mut order: Vec<(u64, u32)> = self.texts.iter().zip(0..).map(|(text, name)| (hash(text), name)).collect();
        order.sort_unstable();
        let mut renamed = vec![0; order.len()];
        let (mut text, mut ends, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
        for (new, (hash, old)) in order.iter().enumerate() {
            renamed[*old as usize] = new as u32;
            text.extend_from_slice(self.texts[*old as usize].as_bytes());
            ends.push(text.len() as u32);
            hashes.push(*hash);
        }
        let rename = |name: &mut u32| {
            if let Some(new) = renamed.get(*name as usize) {
                *name = *new;
            }
        };
        for expression in &mut self.expressions {
            if expression.op == Op::Name as u8 || expression.op == Op::Member as u8 {
                rename(&mut expression.b);
            } else if expression.op == Op::Module as u8 {
                rename(&mut expression.a);
            }
        }
        self.definitions.iter_mut().for_each(|definition| rename(&mut definition.name));
        self.modules.iter_mut().for_each(|module| rename(&mut module.name));
        self.bindings.iter_mut().for_each(|(_, binding)| rename(&mut binding.name));

        self.bindings.retain(|(scope, _)| *scope != NONE);
        self.bindings.sort_by_key(|(scope, binding)| (*scope, binding.name));
        for (place, (scope, _)) in self.bindings.iter().enumerate().rev() {
            let scope = &mut self.scopes[*scope as usize];
            scope.first_binding = place as u32;
            scope.bindings += 1;
        }
        self.stars.sort_by_key(|(scope, _)| *scope);
        for (place, (scope, _)) in self.stars.iter().enumerate().rev() {
            let scope = &mut self.scopes[*scope as usize];
            scope.first_star = place as u32;
            scope.stars = scope.stars.saturating_add(1);
        }
        self.occurrences.sort_by_key(|occurrence| occurrence.at);
        let bindings: Vec<Binding> = self.bindings.into_iter().map(|(_, binding)| binding).collect();
        let stars: Vec<Star> = self.stars.into_iter().map(|(_, star)| star).collect();

        let header = Header {
            version: VERSION,
            exports: self.exports,
            whole,
            names: hashes.len() as u32,
            scopes: self.scopes.len() as u32,
            bindings: bindings.len() as u32,
            definitions: self.definitions.len() as u32,
            expressions: self.expressions.len() as u32,
            stars: stars.len() as u32,
            occurrences: self.occurrences.len() as u32,
            imports: self.imports.len() as u32,
            modules: self.modules.len() as u32,
            extensions: self.extensions.len() as u32,
            lists: self.lists.len() as u32,
            text: text.len() as u32,
            reserved: 0,
        };
        let tables: [&[u8]; 14] = [
            header.as_bytes(),
            hashes.as_bytes(),
            ends.as_bytes(),
            self.scopes.as_bytes(),
            bindings.as_bytes(),
            self.definitions.as_bytes(),
            self.expressions.as_bytes(),
            stars.as_bytes(),
            self.occurrences.as_bytes(),
            self.imports.as_bytes(),
            self.modules.as_bytes(),
            self.extensions.as_bytes(),
            self.lists.as_bytes(),
            &text,
        ];
        tables.concat()
    }
}
