//! Type parameters: binds them for members of a `Box<Item>`, for classes derived from one, and for calls by their
//! arguments.

use rustc_hash::FxHashMap;

use super::names::{Def, Meaning, Resolver};
use super::values::{Set, Value, Values};
use codelode_lang::facts::{DefinitionId, EMPTY, Effect, Expression, ExpressionId, ListId, Op, UNKNOWN};

/// The types bound to type parameters, by file and index of the parameter's binding.
pub(super) type Environment = FxHashMap<(u32, u32), Set>;

/// The deepest nesting of types, and the most classes, that are examined.
const DEEPEST: usize = 8;
const MOST_CLASSES: usize = 40;

/// The effect of a function or a method, by the hash of its name.
pub(super) fn effect(table: &[(u64, Effect)], name: u64) -> Option<Effect> {
    table.iter().find(|(other, _)| *other == name).map(|(_, effect)| *effect)
}

impl Resolver<'_> {
    /// A container of instances of a class.
    pub fn all_of(&mut self, class: Def) -> Value {
        Value::Container(self.sets.row(vec![Set::from([Value::Instance(class)])]))
    }

    /// Adds the elements of a container made from arguments such as `first`: the argument itself, and its elements if
    /// it is a container.
    pub fn gathered(&mut self, first: Value, found: &mut Values) {
        found.push(first);
        if let Value::Container(_) = first {
            self.element(first, found);
        }
    }

    /// Adds type arguments to instances of generic project types.
    pub fn apply_to(&mut self, found: &mut Values, arguments: &[Set]) {
        for place in 0..found.len() {
            if let Value::Instance(def) = found[place]
                && self.definition(def).generics != EMPTY
                && arguments.iter().any(|set| !set.is_empty())
            {
                let row = self.sets.row(arguments.to_vec());
                found.push(Value::Applied { def, row });
            }
        }
    }

    /// The values of a member whose type uses the receiver's type parameters. `None` if it uses none, or they are
    /// unknown.
    pub fn of_parameters(&mut self, file: u32, it: Expression, meanings: &[Meaning]) -> Option<Values> {
        let written = |resolver: &Self, meaning: &Meaning| match *meaning {
            Meaning::Variable { file, binding } => {
                Some((file, ExpressionId(resolver.facts(file).bindings[binding as usize].b)))
            }
            Meaning::Definition(def) => Some((def.file, resolver.definition(def).returns)),
            _ => None,
        };
        let typed =
            |resolver: &Self, meaning: &Meaning| written(resolver, meaning).is_some_and(|(_, of)| of != UNKNOWN);
        if !meanings.iter().any(|meaning| typed(self, meaning)) {
            return None;
        }
        let environment = self.environment_of(file, it)?;
        let (mut found, mut any) = (Vec::new(), false);
        for meaning in meanings {
            let is_read = matches!(meaning, Meaning::Variable { .. }) || self.is_property(*meaning);
            let of = written(self, meaning).filter(|_| is_read);
            match of.and_then(|(file, of)| self.substituted(file, of, &environment, 0)) {
                Some(given) => (any, _) = (true, found.extend(given)),
                None => found.extend(self.values_of(&[*meaning], true)),
            }
        }
        any.then_some(found)
    }

    /// The values of a call whose return type uses type parameters, which the receiver or the arguments bind.
    pub fn call_of_parameters(
        &mut self,
        file: u32,
        callee: Expression,
        function: Def,
        arguments: &[ExpressionId],
    ) -> Option<Values> {
        let definition = self.definition(function);
        if definition.returns == UNKNOWN {
            return None;
        }
        let written = if callee.op == Op::Generic { self.list(file, ListId(callee.b)) } else { &[] };
        let callee = super::callee(self.facts(file), callee);
        let is_member = callee.op == Op::Member && definition.owner != DefinitionId::NONE;
        if is_member && let Some(itself) = self.itself(file, callee, function) {
            return Some(itself);
        }
        let mut environment = if is_member { self.environment_of(file, callee) } else { None }.unwrap_or_default();
        if definition.generics != EMPTY {
            let generics = self.facts(function.file).list(definition.generics);
            for (parameter, of) in generics.iter().zip(written) {
                let given = self.instance(file, *of);
                self.stand_for(function.file, *parameter, &given, &mut environment);
            }
            let wanted = self.facts(function.file).list(definition.parameters);
            let places = if self.counts_labels(file, arguments, &[function]) {
                self.places(function, file, arguments).unwrap_or_default()
            } else {
                (0..arguments.len()).collect()
            };
            for (place, given) in places.into_iter().zip(arguments) {
                let Some(wanted) = wanted.get(place) else { continue };
                let given = self.value(file, *given);
                self.unify(function.file, *wanted, &given, &mut environment, 0);
            }
        }
        if environment.is_empty() {
            return None;
        }
        self.substituted(function.file, definition.returns, &environment, 0)
    }

    /// Binds the type parameters of a member's receiver; `None` if it has none.
    pub fn environment_of(&mut self, file: u32, member: Expression) -> Option<Environment> {
        let receivers = self.value(file, ExpressionId(member.a));
        self.environment(&receivers)
    }

    /// Binds type parameters by the possible values of a receiver.
    pub fn environment(&mut self, receivers: &[Value]) -> Option<Environment> {
        let mut environment = Environment::default();
        for value in receivers {
            match *value {
                Value::Applied { def, row } => {
                    let given = self.sets.rows[row as usize].clone();
                    self.give(def, &given, &mut environment, &mut Vec::new());
                }
                Value::Instance(def) | Value::Super(def) => {
                    let order = self.order(def);
                    // The receiver's own type arguments come with its `Applied` value.
                    if order.iter().skip(1).any(|base| self.definition(*base).generics != EMPTY) {
                        self.give(def, &[], &mut environment, &mut Vec::new());
                    }
                }
                _ => {}
            }
        }
        (!environment.is_empty()).then_some(environment)
    }

    /// Binds the type parameters of a class and its bases, given the class's type arguments.
    fn give(&mut self, class: Def, given: &[Set], environment: &mut Environment, seen: &mut Vec<Def>) {
        if seen.contains(&class) || seen.len() > MOST_CLASSES {
            return;
        }
        seen.push(class);
        for part in std::iter::once(class).chain(self.extensions_to(class)) {
            let facts = self.facts(part.file);
            let parameters: Vec<ExpressionId> = match part == class {
                true => facts.list(self.definition(class).generics).to_vec(),
                // `impl<T> Box<T>` declares its own type parameters.
                false if given.is_empty() => Vec::new(),
                false => {
                    let written = if self.work(facts.extensions.len()) { facts.extensions } else { &[] };
                    let own = written.iter().find(|extension| extension.definition == part.place);
                    own.map_or_else(Vec::new, |own| self.arguments_of(part.file, own.of))
                }
            };
            for (parameter, set) in parameters.into_iter().zip(given) {
                self.unify(part.file, parameter, set, environment, 0);
            }
            let alias = Some(self.definition(part).alias).filter(|alias| *alias != UNKNOWN);
            for base in self.list(part.file, self.definition(part).bases).iter().chain(&alias) {
                let arguments = self.arguments_of(part.file, *base);
                let arguments: Vec<Set> = arguments
                    .into_iter()
                    .map(|of| match self.substituted(part.file, of, environment, 0) {
                        Some(found) => as_set(found),
                        None => self.instance(part.file, of),
                    })
                    .collect();
                for value in self.value(part.file, *base).iter() {
                    if let Value::Class(above) | Value::Instance(above) = *value {
                        self.give(above, &arguments, environment, seen);
                    }
                }
            }
        }
    }

    /// The type arguments in a written type.
    pub(super) fn arguments_of(&self, file: u32, of: ExpressionId) -> Vec<ExpressionId> {
        let facts = self.facts(file);
        let it = facts.expressions[of.row()];
        if it.op == Op::Generic {
            return facts.list(ListId(it.b)).to_vec();
        }
        let parts = if it.op == Op::Union { facts.list(ListId(it.a)) } else { &[] };
        let generic = parts.iter().map(|part| facts.expressions[part.row()]);
        generic
            .into_iter()
            .find(|part| part.op == Op::Generic)
            .map_or_else(Vec::new, |it| facts.list(ListId(it.b)).to_vec())
    }

    pub(super) fn stand_for(&mut self, file: u32, parameter: ExpressionId, set: &Set, environment: &mut Environment) {
        if set.is_empty() {
            return;
        }
        for meaning in self.meaning(file, parameter).iter() {
            if let Meaning::Variable { file, binding } = *meaning {
                environment.entry((file, binding)).or_insert_with(|| set.clone());
            }
        }
    }

    /// Instances of a type with its type parameters replaced; `None` if it has none.
    pub fn substituted(
        &mut self,
        file: u32,
        of: ExpressionId,
        environment: &Environment,
        depth: usize,
    ) -> Option<Values> {
        if of == UNKNOWN || depth > DEEPEST || !self.work(1) {
            return None;
        }
        let facts = self.facts(file);
        let it = facts.expressions[of.row()];
        let is = |op: Op| it.op == op;
        if is(Op::Labeled) {
            return self.substituted(file, ExpressionId(it.a), environment, depth + 1);
        }
        if is(Op::Name) || is(Op::Member) {
            let meant = self.meaning(file, of);
            return meant.iter().find_map(|meaning| match *meaning {
                Meaning::Variable { file, binding } => environment.get(&(file, binding)).map(|set| set.to_vec()),
                _ => None,
            });
        }
        if is(Op::Object) {
            return self.substituted_object(file, DefinitionId(it.a), environment, depth);
        }
        let list = match is(Op::Generic) {
            true => self.list(file, ListId(it.b)),
            false if is(Op::Union) || is(Op::Tuple) => self.list(file, ListId(it.a)),
            false => return None,
        };
        let mut any = false;
        let mut parts: Vec<Set> = Vec::new();
        for part in list {
            let found = self.substituted(file, *part, environment, depth + 1);
            any |= found.is_some();
            parts.push(found.map_or_else(|| self.instance(file, *part), as_set));
        }
        if !any {
            return None;
        }
        if is(Op::Union) {
            return Some(parts.iter().flat_map(|set| set.iter().copied()).collect());
        }
        if is(Op::Tuple) {
            return Some(vec![Value::Tuple(self.sets.row(parts))]);
        }
        let found = self.instance(file, ExpressionId(it.a)).to_vec();
        Some(self.generic(found, parts))
    }

    /// An object type with its type parameters replaced.
    fn substituted_object(
        &mut self,
        file: u32,
        object: DefinitionId,
        environment: &Environment,
        depth: usize,
    ) -> Option<Values> {
        let def = Def { file, place: object };
        let generics = self.list(file, self.definition(def).generics);
        let sets: Vec<Option<Values>> =
            generics.iter().map(|parameter| self.substituted(file, *parameter, environment, depth + 1)).collect();
        if sets.iter().all(Option::is_none) {
            return None;
        }
        let row = sets.into_iter().map(|set| as_set(set.unwrap_or_default())).collect();
        let row = self.sets.row(row);
        Some(vec![Value::Instance(def), Value::Applied { def, row }])
    }

    /// Binds the type parameters in a wanted type by the given values.
    pub(super) fn unify(
        &mut self,
        file: u32,
        wanted: ExpressionId,
        given: &Set,
        environment: &mut Environment,
        depth: usize,
    ) {
        if wanted == UNKNOWN || given.is_empty() || depth > DEEPEST || !self.work(1) {
            return;
        }
        let facts = self.facts(file);
        let it = facts.expressions[wanted.row()];
        let is = |op: Op| it.op == op;
        if is(Op::Name) || is(Op::Member) {
            return self.stand_for(file, wanted, given, environment);
        }
        if is(Op::Union) {
            let list = self.list(file, ListId(it.a));
            return list.iter().for_each(|one| self.unify(file, *one, given, environment, depth + 1));
        }
        let instances: Values = given.iter().filter_map(|value| as_instance(*value)).collect();
        if is(Op::TypeOf) || is(Op::Labeled) {
            let instances = if is(Op::TypeOf) { instances } else { given.to_vec() };
            return self.unify(file, ExpressionId(it.a), &as_set(instances), environment, depth + 1);
        }
        if is(Op::FunctionType) || is(Op::Generic) {
            self.unify_function(file, it, given, environment, depth);
        }
        if !is(Op::Generic) {
            return;
        }
        let list = facts.list(ListId(it.b));
        let ours = self.instance(file, ExpressionId(it.a));
        for value in given.iter() {
            // The type parameters of project types may have defaults.
            let (row, may_lack) = match *value {
                Value::Container(row) if ours.is_empty() => (row, false),
                Value::Applied { def, row } if ours.contains(&Value::Instance(def)) => (row, true),
                _ => continue,
            };
            let row = self.sets.rows[row as usize].clone();
            if row.len() == list.len() || may_lack && row.len() < list.len() {
                for (wanted, set) in list.iter().zip(row.iter()) {
                    self.unify(file, *wanted, set, environment, depth + 1);
                }
            }
        }
        // The argument of `Class<T>` is a class.
        if let ([of], true, false) = (list, ours.is_empty() && ExpressionId(it.a) != UNKNOWN, instances.is_empty()) {
            self.unify(file, *of, &as_set(instances), environment, depth + 1);
        }
    }
}

impl Resolver<'_> {
    /// Binds the type parameters of a wanted function type by the results of the given functions:
    /// `make(Supplier<T> by)`.
    fn unify_function(&mut self, file: u32, it: Expression, given: &Set, environment: &mut Environment, depth: usize) {
        let mut results = Vec::new();
        for function in given.iter().filter(|it| matches!(it, Value::Function(_) | Value::FunctionType { .. })) {
            self.call(*function, &mut results);
        }
        if results.is_empty() {
            return;
        }
        let results = as_set(results);
        if it.op == Op::FunctionType {
            return self.unify(file, ExpressionId(it.a), &results, environment, depth + 1);
        }
        let list = self.list(file, ListId(it.b));
        let ours = self.instance(file, ExpressionId(it.a));
        // External function interfaces have the result as last argument: `Function<A, R>`, `Supplier<T>`.
        if let (true, Some(last)) = (ours.is_empty(), list.last()) {
            return self.unify(file, *last, &results, environment, depth + 1);
        }
        for value in ours.iter() {
            let Value::Instance(def) = *value else { continue };
            for name in self.semantics.call {
                for meaning in self.member(*value, codelode_lang::facts::hash(name)) {
                    let Meaning::Definition(method) = meaning else { continue };
                    let mut inner = Environment::default();
                    let returns = self.definition(method).returns;
                    self.unify(method.file, returns, &results, &mut inner, depth + 1);
                    let own = self.list(def.file, self.definition(def).generics);
                    for (parameter, wanted) in own.iter().zip(list) {
                        for meaning in self.meaning(def.file, *parameter).iter() {
                            let Meaning::Variable { file: other, binding } = *meaning else { continue };
                            if let Some(set) = inner.get(&(other, binding)) {
                                self.unify(file, *wanted, set, environment, depth + 1);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// An instance of a class.
fn as_instance(value: Value) -> Option<Value> {
    match value {
        Value::Class(def) => Some(Value::Instance(def)),
        _ => None,
    }
}

fn as_set(mut found: Values) -> Set {
    found.sort_unstable();
    found.dedup();
    found.into()
}
