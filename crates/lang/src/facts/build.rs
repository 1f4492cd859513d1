//! Builder for the facts of one file. A lowering adds facts in any order; [`Builder::finish`] sorts them into tables.

use rustc_hash::{FxHashMap, FxHashSet};
use zerocopy::IntoBytes;

use super::bound::Bound;
use super::ids::{Column, DefinitionId, ExpressionId, ListId, NameId, ScopeId};
use super::marks::FileMarks;
use super::tables::{
    Binding, Declared, Definition, EMPTY, Expression, Extension, HOLDS, Header, IN_PATH, Import, ModuleName, NONE,
    Occurrence, Op, ROOT, Scope, ScopeKind, Star, UNKNOWN, VERSION, hash,
};
use codelode_base::model::{Role, Span};

/// Facts under construction. Scope 0 is the file's own scope, expression 0 the unknown expression.
#[derive(Debug)]
pub struct Builder {
    names: FxHashMap<Box<str>, NameId>,
    texts: Vec<Box<str>>,
    /// Bytes of all names.
    text: usize,
    scopes: Vec<Scope>,
    bindings: Vec<(ScopeId, Binding)>,
    /// Newest binding of each name in each scope; `before` links a binding to the previous one.
    bound: FxHashMap<(ScopeId, NameId), u32>,
    before: Vec<u32>,
    /// Newest scope that each name was looked up from.
    named: Vec<ScopeId>,
    definitions: Vec<Definition>,
    values: Vec<Vec<ExpressionId>>,
    bases: Vec<Vec<ExpressionId>>,
    expressions: Vec<Expression>,
    known: FxHashMap<Expression, ExpressionId>,
    lists: Vec<u32>,
    known_lists: FxHashMap<Box<[ExpressionId]>, ListId>,
    stars: Vec<(ScopeId, Star)>,
    occurrences: Vec<Occurrence>,
    imports: Vec<Import>,
    imported: FxHashSet<NameId>,
    modules: Vec<ModuleName>,
    extensions: Vec<Extension>,
    exports: ScopeId,
    whole: Vec<ExpressionId>,
    mentions: Vec<u32>,
    /// Marks of the file and of its symbols.
    pub(crate) marks: FileMarks,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// Creates a builder with the root scope, the unknown expression and the empty list.
    pub fn new() -> Self {
        let mut builder = Self {
            names: FxHashMap::default(),
            texts: Vec::new(),
            text: 0,
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
            imported: FxHashSet::default(),
            modules: Vec::new(),
            extensions: Vec::new(),
            exports: ScopeId::NONE,
            whole: Vec::new(),
            mentions: Vec::new(),
            marks: FileMarks::default(),
        };
        builder.scope(ScopeKind::Module, ScopeId::NONE);
        builder.expression(Op::Unknown, 0, 0);
        builder.list(&[]);
        builder
    }

    /// Interns a name. Languages that keep fields and methods apart spell them differently: `size` and `size()`.
    pub fn name(&mut self, text: &str) -> NameId {
        if let Some(name) = self.names.get(text) {
            return *name;
        }
        let name = NameId(self.texts.len() as u32);
        self.text += text.len();
        self.texts.push(text.into());
        self.names.insert(text.into(), name);
        name
    }

    /// About how many bytes the facts take while they are made.
    pub fn room(&self) -> usize {
        // Names and expressions are in a table and in its hash map; every table is copied once more when facts are
        // packed.
        self.text * 3
            + self.texts.len() * 80
            + self.scopes.len() * 2 * size_of::<Scope>()
            + self.bindings.len() * 3 * size_of::<Binding>()
            + self.definitions.len() * 3 * size_of::<Definition>()
            + self.expressions.len() * 5 * size_of::<Expression>()
            + self.lists.len() * 16
            + self.occurrences.len() * 2 * size_of::<Occurrence>()
            + self.mentions.len() * 8
            + self.marks.symbols.len() * 4
    }

    /// Text of a name.
    pub fn text(&self, name: NameId) -> &str {
        self.texts.get(name.row()).map_or("", |text| text)
    }

    /// Adds a scope inside another.
    pub fn scope(&mut self, kind: ScopeKind, parent: ScopeId) -> ScopeId {
        self.scopes.push(Scope { parent, class: DefinitionId::NONE, kind, ..Scope::default() });
        ScopeId(self.scopes.len() as u32 - 1)
    }

    /// Parent of a scope; [`NONE`] for the root.
    pub fn parent(&self, scope: ScopeId) -> ScopeId {
        self.scopes[scope.row()].parent
    }

    /// Moves a scope into another: a class whose type parameters were seen later.
    pub fn set_parent(&mut self, scope: ScopeId, parent: ScopeId) {
        self.scopes[scope.row()].parent = parent;
    }

    /// Whether a scope is of this kind.
    pub fn is(&self, scope: ScopeId, kind: ScopeKind) -> bool {
        self.scopes[scope.row()].kind == kind
    }

    /// The class whose members a scope holds.
    pub fn class_of(&self, scope: ScopeId) -> Option<DefinitionId> {
        Some(self.scopes[scope.row()].class).filter(|class| *class != DefinitionId::NONE)
    }

    /// Innermost class around a scope: the class that `self` or `super` refers to there.
    pub fn class_around(&self, mut scope: ScopeId) -> Option<DefinitionId> {
        while scope != ScopeId::NONE {
            if let Some(class) = self.class_of(scope) {
                return Some(class);
            }
            scope = self.parent(scope);
        }
        None
    }

    /// Adds a definition.
    pub fn define(&mut self, definition: Definition) -> DefinitionId {
        self.definitions.push(definition);
        self.values.push(Vec::new());
        self.bases.push(Vec::new());
        DefinitionId(self.definitions.len() as u32 - 1)
    }

    /// Adds a class with a scope for its members. Returns the definition and the member scope.
    pub fn class(&mut self, definition: Definition, parent: ScopeId) -> (DefinitionId, ScopeId) {
        let members = self.scope(ScopeKind::Class, parent);
        let class = self.define(Definition { members, ..definition });
        self.scopes[members.row()].class = class;
        (class, members)
    }

    /// Mutable access to a definition, to complete it.
    pub fn definition(&mut self, definition: DefinitionId) -> &mut Definition {
        &mut self.definitions[definition.row()]
    }

    /// Records a return value of a function.
    pub fn returns(&mut self, definition: DefinitionId, value: ExpressionId) {
        // Four return values are enough to infer the type. Looking at all those of a parser finds nothing more.
        const MOST: usize = 4;
        let values = &mut self.values[definition.row()];
        if value != UNKNOWN && values.len() < MOST && !values.contains(&value) {
            values.push(value);
        }
    }

    /// Records a base of a class.
    pub fn base(&mut self, definition: DefinitionId, base: ExpressionId) {
        if base != UNKNOWN {
            self.bases[definition.row()].push(base);
        }
    }

    /// Scope for attributes assigned to a definition from elsewhere.
    pub fn attributes(&mut self, definition: DefinitionId) -> ScopeId {
        if self.definitions[definition.row()].attributes == ScopeId::NONE {
            let scope = self.scope(ScopeKind::Class, ScopeId::NONE);
            self.definitions[definition.row()].attributes = scope;
        }
        self.definitions[definition.row()].attributes
    }

    /// Binds a name in a scope.
    pub fn bind(&mut self, scope: ScopeId, name: NameId, bound: Bound) {
        let place = self.bindings.len() as u32;
        let before = self.bound.insert((scope, name), place).unwrap_or(NONE);
        self.before.push(before);
        self.bindings.push((scope, Binding { name, ..bound.0 }));
    }

    /// Whether a scope binds a name so far.
    pub fn binds(&self, scope: ScopeId, name: NameId) -> bool {
        self.bound.contains_key(&(scope, name))
    }

    /// Whether a bare name was used from this scope so far.
    pub fn is_used(&self, scope: ScopeId, name: NameId) -> bool {
        self.known.contains_key(&Expression { a: scope.0, b: name.0, op: Op::Name, reserved: [0; 3] })
    }

    /// Whether a name was looked up from this scope or a newer one. A binding added now would be visible to those
    /// uses.
    pub fn is_named_since(&self, scope: ScopeId, name: NameId) -> bool {
        self.named.get(name.row()).is_some_and(|newest| *newest != ScopeId::NONE && *newest >= scope)
    }

    /// Innermost scope that binds a name so far, seen from `scope`, and the newest binding there.
    pub fn nearest(&self, mut scope: ScopeId, name: NameId) -> Option<(ScopeId, Binding)> {
        while scope != ScopeId::NONE {
            if let Some(place) = self.bound.get(&(scope, name)) {
                return Some((scope, self.bindings[*place as usize].1));
            }
            scope = self.parent(scope);
        }
        None
    }

    /// Removes the bindings of a name in a scope: `let x = …` again.
    pub fn unbind(&mut self, scope: ScopeId, name: NameId) {
        let mut place = self.bound.remove(&(scope, name)).unwrap_or(NONE);
        while place != NONE {
            self.bindings[place as usize].0 = ScopeId::NONE;
            place = self.before[place as usize];
        }
    }

    /// Bindings of a bare name so far, newest first, from the innermost scope that has any.
    pub fn lookup(&self, mut scope: ScopeId, name: NameId) -> Vec<Binding> {
        while scope != ScopeId::NONE {
            let found: Vec<Binding> = self.bound_in(scope, name).copied().collect();
            if !found.is_empty() {
                return found;
            }
            scope = self.parent(scope);
        }
        Vec::new()
    }

    /// Bindings of a name in one scope so far, newest first.
    pub fn bound_in(&self, scope: ScopeId, name: NameId) -> impl Iterator<Item = &Binding> {
        let first = self.bound.get(&(scope, name)).copied();
        let places =
            std::iter::successors(first, |place| Some(self.before[*place as usize]).filter(|next| *next != NONE));
        places.map(|place| &self.bindings[place as usize].1)
    }

    /// Interns an expression; equal expressions share one number.
    pub fn expression(&mut self, op: Op, a: impl Into<Column>, b: impl Into<Column>) -> ExpressionId {
        let (Column(a), Column(b)) = (a.into(), b.into());
        let expression = Expression { a, b, op, reserved: [0; 3] };
        let next = ExpressionId(self.expressions.len() as u32);
        let place = *self.known.entry(expression).or_insert(next);
        if place == next {
            self.expressions.push(expression);
        }
        place
    }

    /// Unary expression of `of`; unknown when `of` is.
    pub fn of(&mut self, op: Op, of: ExpressionId) -> ExpressionId {
        if of == UNKNOWN { UNKNOWN } else { self.expression(op, of, 0) }
    }

    /// Bare name, seen from a scope.
    pub fn named(&mut self, scope: ScopeId, name: NameId) -> ExpressionId {
        if self.named.len() <= name.row() {
            self.named.resize(name.row() + 1, ScopeId::NONE);
        }
        let newest = &mut self.named[name.row()];
        *newest = if *newest == ScopeId::NONE { scope } else { scope.max(*newest) };
        self.expression(Op::Name, scope, name)
    }

    /// Member of an expression. Members of unknown receivers are kept, so that answers can report the unknown
    /// receiver.
    pub fn member(&mut self, of: ExpressionId, name: NameId) -> ExpressionId {
        self.expression(Op::Member, of, name)
    }

    /// A value of a type of the language's own: a literal.
    pub fn foreign(&mut self) -> ExpressionId {
        self.expression(Op::Foreign, UNKNOWN, 0)
    }

    /// A value of a type of the language's own that holds others: a list.
    pub fn foreign_container(&mut self) -> ExpressionId {
        self.expression(Op::Foreign, UNKNOWN, HOLDS)
    }

    /// Whether nothing of the project is in an expression: it is unknown or a literal.
    pub fn is_void(&self, expression: ExpressionId) -> bool {
        expression == UNKNOWN || self.look(expression).op == Op::Foreign
    }

    /// Union of expressions, ignoring unknown ones and literals; a literal if all are.
    pub fn union(&mut self, of: &[ExpressionId]) -> ExpressionId {
        let known: Vec<ExpressionId> = of.iter().copied().filter(|one| !self.is_void(*one)).collect();
        match known[..] {
            // Of literals, one that holds others tells the least, and has the higher number.
            [] if of.contains(&UNKNOWN) => UNKNOWN,
            [] => match of.iter().find(|one| self.look(**one).b == HOLDS).or(of.first()) {
                Some(literal) => *literal,
                None => UNKNOWN,
            },
            [only] => only,
            _ => {
                let list = self.list(&known);
                self.expression(Op::Union, list, 0)
            }
        }
    }

    /// Module named by a text, seen from a scope.
    pub fn module(&mut self, spec: &str, mut scope: ScopeId) -> ExpressionId {
        while !self.is(scope, ScopeKind::Module) {
            scope = self.parent(scope);
        }
        let spec = self.name(spec);
        self.expression(Op::Module, spec, scope)
    }

    /// Interns a list; equal lists share one number.
    pub fn list(&mut self, items: &[ExpressionId]) -> ListId {
        if let Some(list) = self.known_lists.get(items) {
            return *list;
        }
        let list = ListId(self.lists.len() as u32);
        self.lists.push(items.len() as u32);
        self.lists.extend(items.iter().map(|item| item.0));
        self.known_lists.insert(items.into(), list);
        list
    }

    /// Items of a list.
    pub fn items(&self, list: ListId) -> Vec<ExpressionId> {
        let start = list.row();
        let items = &self.lists[start + 1..start + 1 + self.lists[start] as usize];
        items.iter().map(|item| ExpressionId(*item)).collect()
    }

    /// Reads an expression back.
    pub fn look(&self, expression: ExpressionId) -> Expression {
        self.expressions[expression.row()]
    }

    /// Records an occurrence: the name at `span` means `expression`.
    pub fn occurrence(&mut self, span: Span, role: Role, expression: ExpressionId) {
        self.flagged(span, role, expression, 0);
    }

    /// Records an occurrence that counts only where its meaning is known: elsewhere it is no possible use.
    pub fn if_known(&mut self, span: Span, role: Role, expression: ExpressionId) {
        let list = self.list(&[expression]);
        let only = self.expression(Op::Union, list, 0);
        self.occurrence(span, role, only);
    }

    /// Gives the last occurrence at a place another meaning.
    pub fn mean_at(&mut self, span: Span, expression: ExpressionId) {
        if let Some(last) = self.occurrences.iter_mut().rev().find(|one| one.at == span.start) {
            last.expression = expression;
        }
    }

    /// The number of occurrences so far.
    pub fn recorded(&self) -> usize {
        self.occurrences.len()
    }

    /// Takes back the occurrences after the first ones; returns their places and meanings.
    pub fn take_back(&mut self, first: usize) -> Vec<(u32, ExpressionId)> {
        self.occurrences.drain(first..).map(|one| (one.at, one.expression)).collect()
    }

    /// Records an occurrence with [`IN_PATH`].
    pub fn in_path(&mut self, span: Span, role: Role, expression: ExpressionId) {
        self.flagged(span, role, expression, IN_PATH);
    }

    fn flagged(&mut self, span: Span, role: Role, expression: ExpressionId, flags: u8) {
        let len = u16::try_from(span.len()).unwrap_or(u16::MAX);
        self.occurrences.push(Occurrence { at: span.start, expression, len, role, flags });
    }

    /// The number of occurrences so far.
    pub fn occurrences(&self) -> usize {
        self.occurrences.len()
    }

    /// Gives a flag to the occurrences since there were so many.
    pub fn flag_since(&mut self, count: usize, flag: u8) {
        self.occurrences[count..].iter_mut().for_each(|occurrence| occurrence.flags |= flag);
    }

    /// First bytes of the occurrences so far, ascending.
    pub fn occurrence_starts(&self) -> Vec<u32> {
        let mut starts: Vec<u32> = self.occurrences.iter().map(|occurrence| occurrence.at).collect();
        starts.sort_unstable();
        starts
    }

    /// The number of a name, if it was interned.
    pub fn known_name(&self, text: &str) -> Option<NameId> {
        self.names.get(text).copied()
    }

    /// By name: whether a function or a block binds it.
    pub fn local_names(&self) -> Vec<bool> {
        let mut local = vec![false; self.texts.len()];
        for (scope, binding) in self.bindings.iter().filter(|(scope, _)| *scope != ScopeId::NONE) {
            local[binding.name.row()] |= self.is(*scope, ScopeKind::Function) || self.is(*scope, ScopeKind::Block);
        }
        local
    }

    /// Records a word of code that is no occurrence and may mean something all the same. Ascending.
    pub fn mention(&mut self, at: u32) {
        self.mentions.push(at);
    }

    /// Places of the imports so far.
    pub fn imported_at(&self) -> impl Iterator<Item = u32> + '_ {
        self.imports.iter().map(|import| import.at)
    }

    /// Records an import of another file. `flags` are those of [`Import`].
    pub fn import(&mut self, at: u32, expression: ExpressionId, flags: u8) {
        self.imports.push(Import { at, expression, flags, reserved: [0; 3] });
    }

    /// Records that the file needs the one that defines a name: once for each name, in a language that imports no files.
    pub fn needs(&mut self, at: u32, name: NameId, expression: ExpressionId) {
        if self.imported.insert(name) {
            self.import(at, expression, 0);
        }
    }

    /// Binds everything that `from` offers in a scope. `flags` are those of [`Star`].
    pub fn star(&mut self, scope: ScopeId, from: ExpressionId, flags: u8) {
        self.stars.push((scope, Star { from, flags, reserved: [0; 3] }));
    }

    /// Scope of the exports, bound by their public names. After the first call, only these names are offered.
    pub fn exports(&mut self) -> ScopeId {
        if self.exports == ScopeId::NONE {
            self.exports = self.scope(ScopeKind::Block, ROOT);
        }
        self.exports
    }

    /// Sets the value of the module as a whole: `module.exports = …`.
    pub fn whole(&mut self, value: ExpressionId) {
        self.whole.push(value);
    }

    /// Whether the file imports or exports anything.
    pub fn is_connected(&self) -> bool {
        self.exports != ScopeId::NONE || !self.whole.is_empty() || !self.imports.is_empty()
    }

    /// Declares a module; see [`ModuleName`].
    pub fn declare(&mut self, kind: Declared, name: NameId, scope: ScopeId, within: ScopeId) {
        self.modules.push(ModuleName { name, scope, within, kind, reserved: [0; 3] });
    }

    /// The name of the innermost inline module around a scope; empty for none.
    pub fn declared_around(&self, mut scope: ScopeId) -> &str {
        while scope != ScopeId::NONE {
            let own = self.modules.iter().find(|module| module.scope == scope && module.kind == Declared::Inline);
            if let Some(own) = own {
                return self.text(own.name);
            }
            scope = self.parent(scope);
        }
        ""
    }

    /// The scope of an inline module declared so far.
    pub fn declared(&self, name: NameId) -> Option<ScopeId> {
        let is_it = |module: &&ModuleName| module.name == name && module.kind == Declared::Inline;
        self.modules.iter().find(is_it).map(|module| module.scope)
    }

    /// Adds the members and bases of a definition to the class that `of` means; see [`Extension`].
    pub fn extend(&mut self, of: ExpressionId, definition: DefinitionId) {
        self.extensions.push(Extension { of, definition });
    }

    /// Serializes the facts. [`unpack`](super::unpack) turns them into tables, which
    /// [`Facts::open`](super::Facts::open) reads.
    pub fn finish(mut self) -> Vec<u8> {
        let mentions = std::mem::take(&mut self.mentions);
        let marks = std::mem::take(&mut self.marks);
        let packed = super::packed::pack(&self.tables(), &marks, &mentions);
        let is_sound = |tables: Vec<u64>| super::Facts::open(&tables).is_some_and(|facts| facts.is_sound());
        debug_assert!(super::unpack(&packed).is_some_and(is_sound), "a number refers to no row");
        packed
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

        // Names are numbered by hash, so that a name of another file is found by binary search.
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
            if matches!(expression.op, Op::Name | Op::Member | Op::Labeled | Op::Keyword) {
                rename(&mut expression.b);
            } else if expression.op == Op::Module {
                rename(&mut expression.a);
            }
        }
        self.definitions.iter_mut().for_each(|definition| rename(&mut definition.name.0));
        self.modules.iter_mut().for_each(|module| rename(&mut module.name.0));
        self.bindings.iter_mut().for_each(|(_, binding)| rename(&mut binding.name.0));

        self.bindings.retain(|(scope, _)| *scope != ScopeId::NONE);
        self.bindings.sort_by_key(|(scope, binding)| (*scope, binding.name));
        for (place, (scope, _)) in self.bindings.iter().enumerate().rev() {
            let scope = &mut self.scopes[scope.row()];
            scope.first_binding = place as u32;
            scope.bindings += 1;
        }
        self.stars.sort_by_key(|(scope, _)| *scope);
        for (place, (scope, _)) in self.stars.iter().enumerate().rev() {
            let scope = &mut self.scopes[scope.row()];
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
