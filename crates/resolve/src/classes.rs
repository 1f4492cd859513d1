//! Classes: their members, extensions, bases and subclasses.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::names::{Def, MOST_BOUND, Meaning, Resolver};
use super::questions::{CacheScope, Question};
use super::values::Value;
use codelode_lang::facts::{
    BindingKind, DefinitionId, DefinitionKind, Expression, ExpressionId, Facts, GIVES_WAY, ListId, NAMED, Op,
    STANDS_IN, ScopeId, UNKNOWN,
};

/// The most direct and indirect bases of a class; real classes have some dozens.
pub(super) const MOST_BASES: usize = 250;
/// The most subclasses searched for a member.
const MOST_SUBCLASSES: usize = 60;

impl Resolver<'_> {
    /// Resolves the types that a file's extensions extend.
    pub fn extensions_of(&mut self, file: u32) {
        self.enter(file);
        for extension in self.facts(file).extensions {
            let own = Def { file, place: extension.definition };
            let values = self.value(file, extension.of);
            // A class in parts is extended by each part. Its first part stands for the whole.
            let is_part = values.contains(&Value::Class(own));
            for value in values.iter().take(if is_part { 1 } else { usize::MAX }) {
                let whole = match *value {
                    Value::Class(whole) | Value::Function(whole) => whole,
                    // Extending an instance adds no members to it, except for an object, which is its own only
                    // instance.
                    Value::Instance(whole) if self.definition(whole).kind == DefinitionKind::Object => whole,
                    _ => continue,
                };
                let whole = self.behind_alias(whole);
                // A stand-in for an external class holds the members itself.
                if whole == own || self.definition(whole).flags & STANDS_IN != 0 {
                    continue;
                }
                self.extends.push((own, whole));
            }
        }
    }

    /// The class that an alias stands for.
    fn behind_alias(&mut self, mut class: Def) -> Def {
        // A longer chain of aliases is a cycle.
        const MOST: usize = 8;
        for _ in 0..MOST {
            let definition = self.definition(class);
            if definition.alias == UNKNOWN || definition.flags & NAMED != 0 {
                break;
            }
            let behind = self.instance(class.file, definition.alias);
            match behind[..] {
                [Value::Instance(one)] if one != class => class = one,
                _ => break,
            }
        }
        class
    }

    /// Resolves the direct bases of a file's classes.
    pub fn bases_of(&mut self, file: u32, found: &mut Vec<(Def, Def)>) {
        self.enter(file);
        for (place, definition) in self.facts(file).definitions.iter().enumerate() {
            let def = Def { file, place: DefinitionId(place as u32) };
            if definition.kind == DefinitionKind::Function || self.extended.contains_key(&def) {
                continue;
            }
            self.is_here = false;
            found.extend(self.bases(def).iter().map(|base| (def, *base)));
            // The types depend on each other in a cycle, so the result depends on the first question.
            if self.is_here {
                self.tangled.insert(file);
            }
        }
    }

    /// A member of a class, or of its nearest base that has one.
    pub fn inherited(&mut self, class: Def, name: u64, skip_own: bool) -> Vec<Meaning> {
        let order = self.order(class);
        let mut found = Vec::new();
        for class in order.iter().skip(usize::from(skip_own)) {
            let own = self.own(*class, name);
            if found.is_empty() {
                found = own;
            } else if own.iter().any(|meaning| self.declares(*meaning)) {
                // An attribute assigned in a class has the type that a base declares for it.
                found.extend(own);
                break;
            }
            if found.iter().any(|meaning| !matches!(meaning, Meaning::Variable { .. }) || self.declares(*meaning)) {
                break;
            }
        }
        found
    }

    /// Whether only subclasses of the receiver's class have the member, in several branches of the hierarchy. Then the
    /// call may mean any of them.
    pub(super) fn may_be_of_several(&mut self, file: u32, member: Expression, meanings: &[Meaning]) -> bool {
        if !self.semantics.looks_down {
            return false;
        }
        let name = self.facts(file).hashes[member.b as usize];
        let has_none = |resolver: &mut Self, value: &Value| match *value {
            Value::Instance(class) | Value::Class(class) => resolver.inherited(class, name, false).is_empty(),
            _ => false,
        };
        let on = self.value(file, ExpressionId(member.a));
        if on.is_empty() || !on.iter().all(|value| has_none(self, value)) {
            return false;
        }
        let mut owners: Vec<Def> = Vec::new();
        for meaning in meanings {
            let Meaning::Definition(def) = *meaning else { continue };
            let owner = self.definition(def).owner;
            owners.push(self.extended(Def { file: def.file, place: owner }));
        }
        owners.sort_unstable();
        owners.dedup();
        let is_below = |resolver: &mut Self, class: Def| {
            let above = resolver.order(class);
            owners.iter().any(|other| *other != class && above.contains(other))
        };
        owners.iter().filter(|owner| !is_below(self, **owner)).count() > 1
    }

    /// A member of a definition or of its extensions.
    pub fn own(&mut self, def: Def, name: u64) -> Vec<Meaning> {
        let mut found = self.written(def, name);
        let mut giving_way = Vec::new();
        for extension in self.extensions_to(def) {
            let gives_way = self.definition(extension).flags & GIVES_WAY != 0;
            let into = if gives_way { &mut giving_way } else { &mut found };
            into.extend(self.written(extension, name));
        }
        if found.is_empty() {
            found = giving_way;
        }
        if found.is_empty() && self.definition(def).kind == DefinitionKind::Object {
            found = self.spread(def, name);
        }
        found
    }

    /// A member of a trait in the implementations for a value's types; the trait's own member if there is none.
    pub(super) fn implemented(&mut self, file: u32, member: ExpressionId, value: ExpressionId) -> Vec<Meaning> {
        let it = self.facts(file).expressions[member.row()];
        let mut found = Vec::new();
        if it.op == Op::Member {
            let name = self.facts(file).hashes[it.b as usize];
            let traits = self.value(file, ExpressionId(it.a));
            let written = last_name(self.facts(file), ExpressionId(it.a));
            for value in self.value(file, value).iter() {
                let Value::Instance(class) = *value else { continue };
                for part in self.extensions_to(class) {
                    let bases = self.list(part.file, self.definition(part).bases);
                    let is_of = bases.iter().any(|base| {
                        let of = self.value(part.file, *base);
                        // An unknown trait is compared by its name.
                        (traits.is_empty() && written.is_some() && last_name(self.facts(part.file), *base) == written)
                            || of.iter().any(|one| matches!(one, Value::Class(_)) && traits.contains(one))
                    });
                    if is_of {
                        found.extend(self.written(part, name));
                    }
                }
            }
        }
        if found.is_empty() { self.meaning(file, member).to_vec() } else { found }
    }

    /// A member of a module that is spread in an object: `{ ...module }`.
    fn spread(&mut self, object: Def, name: u64) -> Vec<Meaning> {
        let mut found = Vec::new();
        for base in self.list(object.file, self.definition(object).bases).iter().take(MOST_BASES) {
            for value in self.value(object.file, *base).iter().filter(|value| matches!(value, Value::Module(_))) {
                found.extend(self.member(*value, name));
            }
        }
        found
    }

    /// The extensions of a class, each of which counts as work; empty once the work is used up.
    pub fn extensions_to(&mut self, class: Def) -> Vec<Def> {
        let count = self.extensions.get(&class).map_or(0, Vec::len);
        if !self.work(1 + count) {
            return Vec::new();
        }
        self.extensions.get(&class).cloned().unwrap_or_default()
    }

    /// The class that an extension extends; any other definition itself.
    pub fn extended(&self, def: Def) -> Def {
        self.extended.get(&def).copied().unwrap_or(def)
    }

    /// A member of a definition itself. A function definition takes precedence over assignments.
    pub(super) fn written(&mut self, def: Def, name: u64) -> Vec<Meaning> {
        let facts = self.facts(def.file);
        let Some(name) = facts.find_name(name) else { return Vec::new() };
        let definition = self.definition(def);
        let bound = |scope: ScopeId| if scope == ScopeId::NONE { 0..0 } else { facts.bound(scope, name) };
        let members = bound(definition.members);
        let is_definition = |place: &u32| facts.bindings[*place as usize].kind == BindingKind::Definition;
        let defined: Vec<u32> = members.clone().take(MOST_BOUND).filter(is_definition).collect();
        if !defined.is_empty() {
            return defined.into_iter().flat_map(|place| self.follow_all(def.file, place..place + 1)).collect();
        }
        let mut found = self.follow_all(def.file, members);
        found.extend(self.follow_all(def.file, bound(definition.attributes)));
        found
    }

    /// The direct bases of a class within the project.
    pub fn bases(&mut self, class: Def) -> Rc<[Def]> {
        self.consult(class.file);
        if let Some((bases, kept)) = self.bases.get(&class) {
            self.is_here |= *kept == CacheScope::Here;
            return bases.clone();
        }
        if let Some(bases) = self.known_bases(class) {
            self.bases.insert(class, (bases.clone(), CacheScope::Always));
            return bases;
        }
        let is_class = self.definition(class).kind != DefinitionKind::Function;
        if is_class && self.settled[class.file as usize] && !self.extended.contains_key(&class) {
            return Rc::from([]);
        }
        let Some(begun) = self.begin(Question::Bases(class)) else { return Rc::from([]) };
        let definition = self.definition(class);
        let mut bases: Vec<Def> = Vec::new();
        for part in std::iter::once(class).chain(self.extensions_to(class)) {
            let written = self.list(part.file, self.definition(part).bases);
            for base in written.iter().take(MOST_BASES) {
                for value in self.value(part.file, *base).iter() {
                    match *value {
                        Value::Class(base) => bases.push(base),
                        Value::Instance(base) => bases.extend(self.constructed(base).unwrap_or_else(|| vec![base])),
                        _ => {}
                    }
                }
            }
        }
        if definition.alias != UNKNOWN {
            for value in self.instance(class.file, definition.alias).iter() {
                if let Value::Instance(base) = *value {
                    bases.push(base);
                }
            }
        }
        let mut seen = Vec::new();
        bases.retain(|base| {
            let is_new = *base != class && seen.len() < MOST_BASES && !seen.contains(base);
            seen.extend(is_new.then_some(*base));
            is_new
        });
        let bases: Rc<[Def]> = bases.into();
        let kept = self.end(begun);
        if kept != CacheScope::Not {
            self.bases.insert(class, (bases.clone(), kept));
        }
        bases
    }

    /// The classes of the values that an instance constructs, if its type describes a constructor.
    pub(super) fn constructed(&mut self, of: Def) -> Option<Vec<Def>> {
        let name = self.semantics.constructs;
        if name.is_empty() || self.inherited(of, codelode_lang::facts::hash(name), false).is_empty() {
            return None;
        }
        let mut made = Vec::new();
        self.call_member(Value::Instance(of), &[name], &mut made);
        let as_class = |value: Value| if let Value::Instance(def) = value { Some(def) } else { None };
        Some(made.into_iter().filter_map(as_class).collect())
    }

    /// The direct bases of a class as resolved before.
    pub(super) fn known_bases(&self, class: Def) -> Option<Rc<[Def]>> {
        let known = if self.are_bases_known { &self.derives[..] } else { &[] };
        let rest = &known[known.partition_point(|(own, _)| *own < class)..];
        let own = &rest[..rest.partition_point(|(own, _)| *own == class)];
        (!own.is_empty()).then(|| own.iter().map(|(_, base)| *base).collect())
    }

    /// A class and all its bases in the language's order: depth first, with a class before its bases; or nearest first.
    pub fn order(&mut self, class: Def) -> Rc<[Def]> {
        self.consult(class.file);
        if let Some((order, kept)) = self.orders.get(&class) {
            self.is_here |= *kept == CacheScope::Here;
            return order.clone();
        }
        let Some(begun) = self.begin(Question::Order(class)) else { return Rc::from([class]) };
        let order = if self.semantics.shallowest { self.by_steps(class) } else { self.by_bases(class) };
        let order: Rc<[Def]> = order.into();
        let kept = self.end(begun);
        if kept != CacheScope::Not {
            self.orders.insert(class, (order.clone(), kept));
        }
        order
    }

    fn by_steps(&mut self, class: Def) -> Vec<Def> {
        let mut order = vec![class];
        let mut at = 0;
        while at < order.len() && order.len() < MOST_BASES && self.work(order.len()) {
            for base in self.directly_above(order[at]) {
                if !order.contains(&base) {
                    order.push(base);
                }
            }
            at += 1;
        }
        order
    }

    fn by_bases(&mut self, class: Def) -> Vec<Def> {
        let above = self.directly_above(class);
        // Collects the bases last to first, each after its own bases; reversed afterwards.
        let (mut order, mut seen, mut path) = (Vec::new(), vec![class], vec![(class, above)]);
        while let Some((class, above)) = path.last_mut() {
            match above.pop() {
                Some(base) if seen.len() < MOST_BASES && !seen.contains(&base) && self.work(seen.len()) => {
                    seen.push(base);
                    let above = self.directly_above(base);
                    path.push((base, above));
                }
                Some(_) => {}
                None => {
                    order.push(*class);
                    path.pop();
                }
            }
        }
        order.reverse();
        order
    }

    fn directly_above(&mut self, class: Def) -> Vec<Def> {
        let mut above = self.bases(class).to_vec();
        above.extend(self.underlying_classes(class));
        above
    }

    /// Classes named as underlying types by extensions of a class. Their members are found, but the class does not
    /// derive from them.
    fn underlying_classes(&mut self, class: Def) -> Vec<Def> {
        if !self.extensions.contains_key(&class) {
            return Vec::new();
        }
        let as_class = |value: Value| if let Value::Instance(def) = value { Some(def) } else { None };
        self.aliased(class).into_iter().filter_map(as_class).collect()
    }

    /// Instances of the type that a class, or an extension of it, aliases.
    pub fn aliased(&mut self, class: Def) -> Vec<Value> {
        let mut found = Vec::new();
        for part in std::iter::once(class).chain(self.extensions_to(class)) {
            let alias = self.definition(part).alias;
            found.extend(self.instance(part.file, alias).iter().filter(|value| **value != Value::Instance(class)));
        }
        found
    }

    /// The classes below a class, the nearest first, up to [`MOST_SUBCLASSES`].
    pub fn descendants(&mut self, class: Def) -> Vec<Def> {
        let found = below(&self.subclasses, class);
        self.work(found.len());
        found
    }
}

/// The hash of a path's last name, without type arguments.
pub(super) fn last_name(facts: &Facts<'_>, path: ExpressionId) -> Option<u64> {
    let mut it = facts.expressions[path.row()];
    // A type comes before the types that it holds.
    if it.op == Op::Union {
        it = facts.expressions[facts.list(ListId(it.a)).first()?.row()];
    }
    let it = if it.op == Op::Generic { facts.expressions[it.a as usize] } else { it };
    matches!(it.op, Op::Name | Op::Member).then(|| facts.hashes[it.b as usize])
}

/// The classes below a class, nearest first, at most [`MOST_SUBCLASSES`]. `subclasses` holds the direct subclasses of
/// each class.
pub(super) fn below(subclasses: &FxHashMap<Def, Vec<Def>>, class: Def) -> Vec<Def> {
    let directly = |class: &Def| subclasses.get(class).into_iter().flatten().copied();
    let mut found: Vec<Def> = directly(&class).take(MOST_SUBCLASSES).collect();
    let mut at = 0;
    while at < found.len() && found.len() < MOST_SUBCLASSES {
        for below in directly(&found[at]) {
            if found.len() == MOST_SUBCLASSES {
                break;
            }
            if !found.contains(&below) {
                found.push(below);
            }
        }
        at += 1;
    }
    found
}
