//! Values: the possible results of an expression at run time, as far as the source shows.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::classes::MOST_BASES;
use super::generics::effect;
use super::names::{Def, Meaning, Resolver};
use super::questions::{CacheScope, Question};
use codelode_lang::facts::{
    BindingKind, DefinitionId, DefinitionKind, Effect, Expression, ExpressionId, ListId, Module, NONE, NameId, Op,
    PROPERTY, ScopeId, UNKNOWN,
};

/// A possible value of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Value {
    Instance(Def),
    Class(Def),
    Function(Def),
    /// `super` in a class.
    Super(Def),
    Module(Module),
    /// A value of an external type with type arguments: a row in [`Sets::rows`].
    Container(u32),
    /// A tuple with its items: a row in [`Sets::rows`].
    Tuple(u32),
    FunctionType {
        file: u32,
        expression: ExpressionId,
    },
    /// The type arguments of the generic instance next to it: a row in [`Sets::rows`]. It is no value itself.
    Applied {
        def: Def,
        row: u32,
    },
}

/// The possible values of an expression: several if it is ambiguous, none if it is unknown.
pub(super) type Set = Rc<[Value]>;

/// The most values kept; more say nothing.
const MOST_VALUES: usize = 16;

/// Sets and rows of sets; each is stored once.
#[derive(Default)]
pub(super) struct Sets {
    known: FxHashMap<Set, u32>,
    sets: Vec<Set>,
    known_rows: FxHashMap<Rc<[Set]>, u32>,
    pub rows: Vec<Rc<[Set]>>,
}

impl Sets {
    fn number(&mut self, set: &Set) -> u32 {
        if let Some(number) = self.known.get(set) {
            return *number;
        }
        self.sets.push(set.clone());
        let number = self.sets.len() as u32 - 1;
        self.known.insert(set.clone(), number);
        number
    }

    /// Stores a container's type arguments or a tuple's items, and returns the row.
    pub fn row(&mut self, sets: Vec<Set>) -> u32 {
        let row: Rc<[Set]> = sets.into();
        if let Some(number) = self.known_rows.get(&row) {
            return *number;
        }
        self.rows.push(row.clone());
        let number = self.rows.len() as u32 - 1;
        self.known_rows.insert(row, number);
        number
    }
}

/// Values being collected.
pub(super) type Values = Vec<Value>;

impl Resolver<'_> {
    /// The possible values of an expression.
    pub fn value(&mut self, file: u32, expression: ExpressionId) -> Set {
        self.remembered(file, expression, false)
    }

    /// The possible instances of a type.
    pub fn instance(&mut self, file: u32, expression: ExpressionId) -> Set {
        self.remembered(file, expression, true)
    }

    fn remembered(&mut self, file: u32, expression: ExpressionId, as_instance: bool) -> Set {
        if expression == UNKNOWN {
            return Rc::from([]);
        }
        self.consult(file);
        let memo = &mut self.memos[file as usize];
        let memo = if as_instance { &mut memo.instances } else { &mut memo.values };
        if memo.is_empty() {
            memo.resize(self.project.files[file as usize].facts().expressions.len(), NONE);
        }
        let remembered = memo[expression.row()];
        if let Some(number) = self.recall(remembered) {
            return self.sets.sets[number].clone();
        }
        let question = match as_instance {
            true => Question::Instance(file, expression),
            false => Question::Value(file, expression),
        };
        let Some(begun) = self.begin(question) else { return Rc::from([]) };
        let it = self.facts(file).expressions[expression.row()];
        let mut found = match as_instance {
            true => self.make_instance(file, expression, it),
            false => self.evaluate(file, expression, it),
        };
        found.sort_unstable();
        found.dedup();
        found.truncate(MOST_VALUES);
        let set: Set = found.into();
        let kept = self.end(begun);
        if kept != CacheScope::Not {
            let number = self.sets.number(&set) | kept.mark();
            let memo = &mut self.memos[file as usize];
            let memo = if as_instance { &mut memo.instances } else { &mut memo.values };
            memo[expression.row()] = number;
        }
        set
    }

    fn evaluate(&mut self, file: u32, expression: ExpressionId, it: Expression) -> Values {
        let own = |resolver: &Self, place: u32| resolver.extended(Def { file, place: DefinitionId(place) });
        match it.op {
            Op::Name => {
                // Through the name's meaning, which is cached. Where it is defined shows whether it is a property.
                let meanings = self.meaning(file, expression);
                let has_property = meanings.iter().any(|meaning| self.is_property(*meaning));
                let calls = has_property && self.lookup(file, ScopeId(it.a), NameId(it.b)).1;
                self.values_of(&meanings, calls)
            }
            Op::Member => {
                let meanings = self.meaning(file, expression);
                if meanings.is_empty() {
                    return self.of_any_key(file, ExpressionId(it.a));
                }
                self.of_parameters(file, it, &meanings).unwrap_or_else(|| self.values_of(&meanings, true))
            }
            Op::Extension => {
                let meanings = self.meaning(file, expression);
                let member = ExpressionId(it.a);
                let is_member = !self.meaning(file, member).is_empty();
                if is_member { self.value(file, member).to_vec() } else { self.values_of(&meanings, true) }
            }
            Op::Uncalled => {
                let meanings = self.meaning(file, expression);
                let is_all = meanings == self.meaning(file, ExpressionId(it.a));
                if is_all { self.value(file, ExpressionId(it.a)).to_vec() } else { self.values_of(&meanings, true) }
            }
            Op::Module | Op::Fitting | Op::Implemented | Op::Keyword => {
                let meanings = self.meaning(file, expression);
                self.values_of(&meanings, true)
            }
            Op::Call => self.call_expression(file, it),
            Op::New => {
                let mut found = Vec::new();
                for value in self.value(file, ExpressionId(it.a)).iter() {
                    match *value {
                        // A function may be a constructor. Its instances have the members that it assigns to `this`.
                        Value::Class(def) | Value::Function(def) => found.push(Value::Instance(def)),
                        Value::Instance(def) => {
                            let made = self.constructed(def).unwrap_or_default();
                            found.extend(made.into_iter().map(Value::Instance));
                        }
                        _ => {}
                    }
                }
                found
            }
            Op::Instance => self.instance(file, ExpressionId(it.a)).to_vec(),
            Op::SelfOf | Op::Object => vec![Value::Instance(own(self, it.a))],
            Op::ClassOf => vec![Value::Class(own(self, it.a))],
            Op::SuperOf => vec![Value::Super(own(self, it.a))],
            Op::Function => vec![Value::Function(own(self, it.a))],
            Op::TypeOf | Op::Generic => self.value(file, ExpressionId(it.a)).to_vec(),
            Op::Union => self.list(file, ListId(it.a)).iter().flat_map(|one| self.value(file, *one).to_vec()).collect(),
            Op::Tuple => {
                let items = self.list(file, ListId(it.a)).iter().map(|item| self.value(file, *item)).collect();
                vec![Value::Tuple(self.sets.row(items))]
            }
            Op::Item => {
                let of = self.value(file, ExpressionId(it.a));
                of.iter().flat_map(|value| self.item(*value, it.b as usize)).collect()
            }
            Op::Element => self.out_of(file, ExpressionId(it.a), Self::element),
            Op::Each => self.out_of(file, ExpressionId(it.a), Self::each),
            Op::Key => self.out_of(file, ExpressionId(it.a), Self::key),
            Op::Await => self.out_of(file, ExpressionId(it.a), Self::awaited),
            Op::Enter => self.out_of(file, ExpressionId(it.a), Self::entered),
            Op::Overridden => self.inherited_parameter(Def { file, place: DefinitionId(it.a) }, it.b as usize),
            Op::Passed => self.passed(file, it),
            Op::Wanted => self.wanted(file, it),
            Op::ParameterOf => self.parameter_of(file, it),
            Op::Proven => self.proven(file, it),
            Op::Except => self.except(file, it),
            Op::Labeled | Op::Returning | Op::Taking => self.value(file, ExpressionId(it.a)).to_vec(),
            // A literal or a type is no project value, and a key with two meanings has no value.
            Op::Unknown | Op::Foreign | Op::FunctionType | Op::Else | Op::Predicate => Vec::new(),
        }
    }

    /// A part of every value of an expression, such as its element.
    fn out_of(&mut self, file: u32, of: ExpressionId, part: fn(&mut Self, Value, &mut Values)) -> Values {
        let mut found = Vec::new();
        for value in self.value(file, of).iter() {
            part(self, *value, &mut found);
        }
        found
    }

    fn make_instance(&mut self, file: u32, expression: ExpressionId, it: Expression) -> Values {
        // The type of a class object is that class.
        let is_type_of = it.op == Op::TypeOf;
        let to_instance = |value: Value| as_class(value).filter(|_| !is_type_of).map_or(value, Value::Instance);
        match it.op {
            Op::Union => {
                return self
                    .list(file, ListId(it.a))
                    .iter()
                    .flat_map(|one| self.instance(file, *one).to_vec())
                    .collect();
            }
            Op::Generic => {
                let found = self.instance(file, ExpressionId(it.a)).to_vec();
                let arguments: Vec<Set> =
                    self.list(file, ListId(it.b)).iter().map(|one| self.instance(file, *one)).collect();
                return self.generic(found, arguments);
            }
            Op::Tuple => {
                let items = self.list(file, ListId(it.a)).iter().map(|item| self.instance(file, *item)).collect();
                return vec![Value::Tuple(self.sets.row(items))];
            }
            Op::FunctionType => return vec![Value::FunctionType { file, expression }],
            Op::Labeled => return self.instance(file, ExpressionId(it.a)).to_vec(),
            Op::Name | Op::Member => {}
            _ => return self.value(file, expression).iter().map(|value| to_instance(*value)).collect(),
        }
        let mut found = Vec::new();
        for meaning in self.meaning(file, expression).iter() {
            match *meaning {
                // A variable may name a type: `Handler = Callable[[Request], Response]`.
                Meaning::Variable { file, binding } if self.is_untyped(file, binding) => {
                    let stands_for = ExpressionId(self.facts(file).bindings[binding as usize].a);
                    found.extend(self.instance(file, stands_for).iter());
                }
                other => found.extend(self.values_of(&[other], true).into_iter().map(to_instance)),
            }
        }
        found
    }

    /// Instances of a type with type arguments, given the instances of the plain type. An external type becomes a
    /// container.
    pub fn generic(&mut self, found: Values, arguments: Vec<Set>) -> Values {
        let mut found: Values = found.into_iter().flat_map(|value| self.behind_parameter(value, &arguments)).collect();
        let has_alias = |value: &Value| matches!(value, Value::Instance(def) if self.definition(*def).alias != UNKNOWN);
        if (found.is_empty() || found.iter().all(has_alias)) && arguments.iter().any(|set| !set.is_empty()) {
            found.push(Value::Container(self.sets.row(arguments.clone())));
        }
        self.apply_to(&mut found, &arguments);
        found
    }

    /// The values of a type that may be an alias of one of its own parameters: `type Index<I> = I`.
    fn behind_parameter(&mut self, value: Value, arguments: &[Set]) -> Values {
        let Value::Instance(def) = value else { return vec![value] };
        let (facts, definition) = (self.facts(def.file), self.definition(def));
        let place = |of: ExpressionId| facts.list(definition.generics).iter().position(|parameter| *parameter == of);
        let given = |of: ExpressionId| if of == UNKNOWN { None } else { arguments.get(place(of)?) };
        if let Some(given) = given(definition.alias) {
            return given.to_vec();
        }
        // For example `type Loaded<T> = T & { at: Date }`.
        let it = facts.expressions[definition.alias.row()];
        let parts = if it.op == Op::Union { facts.list(ListId(it.a)) } else { &[] };
        let given = parts.iter().filter_map(|part| given(*part)).flat_map(|set| set.iter().copied());
        std::iter::once(value).chain(given).collect()
    }

    /// Whether a meaning is a variable with a written type.
    pub fn declares(&self, meaning: Meaning) -> bool {
        let Meaning::Variable { file, binding } = meaning else { return false };
        let facts = self.facts(file);
        let binding = &facts.bindings[binding as usize];
        // A builtin type has no project members.
        binding.kind == BindingKind::Variable
            && binding.at != NONE
            && !matches!(facts.expressions[binding.b as usize].op, Op::Unknown | Op::Foreign)
    }

    fn is_untyped(&self, file: u32, binding: u32) -> bool {
        let binding = &self.facts(file).bindings[binding as usize];
        binding.kind == BindingKind::Variable && ExpressionId(binding.b) == UNKNOWN
    }

    pub fn is_property(&self, meaning: Meaning) -> bool {
        matches!(meaning, Meaning::Definition(def) if self.definition(def).flags & PROPERTY != 0)
    }

    /// The values of a name's meanings. With `calls_properties`, properties give their result.
    pub fn values_of(&mut self, meanings: &[Meaning], calls_properties: bool) -> Values {
        let mut found = Vec::new();
        // If one binding declares the type, the others only assign.
        let is_declared = meanings.iter().any(|meaning| self.declares(*meaning));
        for meaning in meanings {
            match *meaning {
                Meaning::Variable { .. } if is_declared && !self.declares(*meaning) => {}
                Meaning::Module(module) => found.push(Value::Module(module)),
                Meaning::Value(value) => found.push(value),
                Meaning::Definition(def) => {
                    let definition = self.definition(def);
                    match definition.kind {
                        DefinitionKind::Class => found.push(Value::Class(def)),
                        DefinitionKind::Object => found.push(Value::Instance(def)),
                        DefinitionKind::Function if definition.flags & PROPERTY != 0 && calls_properties => {
                            self.call(Value::Function(def), &mut found);
                        }
                        DefinitionKind::Function => found.push(Value::Function(def)),
                    }
                }
                Meaning::Variable { file, binding } => {
                    let binding = self.facts(file).bindings[binding as usize];
                    match binding.kind {
                        BindingKind::Value => found.extend(self.value(file, ExpressionId(binding.a)).iter()),
                        BindingKind::Narrowed => found.extend(self.instance(file, ExpressionId(binding.a)).iter()),
                        BindingKind::Definition | BindingKind::Alias => {}
                        BindingKind::Variable | BindingKind::Parameter => {
                            let typed = self.instance(file, ExpressionId(binding.b));
                            let is_known = !typed.is_empty();
                            found.extend(typed.iter());
                            // A name visible to other files has its declared type, even an external one. A local name
                            // has the value assigned to it.
                            if !is_known && (ExpressionId(binding.b) == UNKNOWN || binding.at == NONE) {
                                found.extend(self.value(file, ExpressionId(binding.a)).iter());
                            }
                        }
                    }
                }
            }
        }
        found
    }

    fn call_expression(&mut self, file: u32, it: Expression) -> Values {
        let facts = self.facts(file);
        let mut found = Vec::new();
        let callees = self.value(file, ExpressionId(it.a));
        let callee = super::written(facts, ExpressionId(it.a));
        let arguments = facts.list(ListId(it.b));
        for value in callees.iter() {
            let given = match *value {
                Value::Function(def) => self.call_of_parameters(file, callee, def, arguments),
                _ => None,
            };
            let before = found.len();
            match given {
                Some(given) => found.extend(given),
                None => self.call(*value, &mut found),
            }
            if let Value::Function(def) = *value {
                self.as_received(file, callee, def, &mut found, before);
            }
        }
        let callee = super::callee(facts, callee);
        if callee.op == Op::Member {
            let name = facts.hashes[callee.b as usize];
            let is_answered = !found.is_empty();
            for receiver in self.value(file, ExpressionId(callee.a)).iter() {
                let named = effect(&self.methods, name);
                match receiver {
                    // Project functions gave the answer already.
                    Value::Container(_) | Value::Tuple(_) if is_answered => {}
                    Value::Container(_) | Value::Tuple(_) => {
                        let effect = named.or(self.semantics.other_methods);
                        self.apply(effect, *receiver, file, arguments, &mut found);
                    }
                    // Methods that every value has, if no project class defines them: `clone`, `as_ref`.
                    Value::Instance(_) if callees.is_empty() && named == Some(Effect::Same) => found.push(*receiver),
                    // The underlying type answers instead.
                    Value::Instance(def) if callees.is_empty() && named.is_some() => {
                        for value in self.underlying_types(*def) {
                            self.apply(named, value, file, arguments, &mut found);
                        }
                    }
                    // Class methods that give instances: a derived `default`, or `values`.
                    Value::Class(def) if callees.is_empty() => match named {
                        Some(Effect::Same) => found.push(Value::Instance(*def)),
                        Some(Effect::Values) => found.push(self.all_of(*def)),
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        if callees.is_empty() && found.is_empty() && self.semantics.gives_argument {
            self.give_argument(file, super::written(facts, ExpressionId(it.a)), &mut found);
        }
        if callees.is_empty()
            && (callee.op == Op::Name || callee.op == Op::Member)
            && let Some(effect) = effect(&self.functions, facts.hashes[callee.b as usize])
            && let Some(first) = arguments.first()
        {
            for value in self.value(file, *first).iter() {
                self.apply(Some(effect), *value, file, arguments, &mut found);
            }
        }
        found
    }

    /// Adds the value of the type argument with which an unknown function is called, if any.
    fn give_argument(&mut self, file: u32, callee: Expression, found: &mut Values) {
        let types = if callee.op == Op::Generic { self.list(file, ListId(callee.b)) } else { &[] };
        let [of] = types else { return };
        let given = self.instance(file, *of);
        if !given.is_empty() {
            found.extend(given.iter());
            let row = self.sets.row(vec![given]);
            found.push(Value::Container(row));
        }
    }

    /// Adds the results of a call with this effect on a value.
    fn apply(&mut self, effect: Option<Effect>, on: Value, file: u32, arguments: &[ExpressionId], found: &mut Values) {
        match effect {
            Some(Effect::Same) => found.push(on),
            Some(Effect::Element) => self.element(on, found),
            Some(Effect::Key) => self.key(on, found),
            Some(Effect::Wrap) => {
                let row = self.sets.row(vec![Rc::from([on])]);
                found.push(Value::Container(row));
            }
            Some(how @ (Effect::Map | Effect::Given)) => {
                let mut given = Vec::new();
                if let Some(function) = arguments.last() {
                    for function in self.value(file, *function).iter() {
                        self.call(*function, &mut given);
                    }
                }
                if how == Effect::Given {
                    found.extend(given);
                } else if !given.is_empty() {
                    given.sort_unstable();
                    given.dedup();
                    let row = self.sets.row(vec![given.into()]);
                    found.push(Value::Container(row));
                }
            }
            Some(how @ (Effect::Keys | Effect::Values | Effect::Each | Effect::Gather)) => {
                let mut held = Vec::new();
                match how {
                    Effect::Keys => self.key(on, &mut held),
                    Effect::Values => self.element(on, &mut held),
                    Effect::Gather => self.gathered(on, &mut held),
                    _ => self.each(on, &mut held),
                }
                let row = self.sets.row(vec![held.into()]);
                found.push(Value::Container(row));
            }
            Some(how @ (Effect::Pairs | Effect::Numbered)) => {
                let (mut keys, mut elements) = (Vec::new(), Vec::new());
                if how == Effect::Pairs {
                    self.key(on, &mut keys);
                    self.element(on, &mut elements);
                } else {
                    self.each(on, &mut elements);
                }
                let pair = self.sets.row(vec![keys.into(), elements.into()]);
                let row = self.sets.row(vec![Rc::from([Value::Tuple(pair)])]);
                found.push(Value::Container(row));
            }
            None => {}
        }
    }

    /// Adds the results of calling a value.
    pub fn call(&mut self, callee: Value, found: &mut Values) {
        match callee {
            Value::Class(class) => self.construct(class, found),
            Value::Function(function) => {
                let definition = self.definition(function);
                if definition.returns != UNKNOWN {
                    found.extend(self.instance(function.file, definition.returns).iter());
                } else {
                    for value in self.list(function.file, definition.values) {
                        found.extend(self.value(function.file, *value).iter());
                    }
                }
            }
            Value::FunctionType { file, expression } => {
                let returns = ExpressionId(self.facts(file).expressions[expression.row()].a);
                found.extend(self.instance(file, returns).iter());
            }
            Value::Applied { def, .. } => {
                let Some(environment) = self.environment(&[callee]) else { return };
                for name in self.semantics.call {
                    for meaning in self.member(Value::Instance(def), codelode_lang::facts::hash(name)) {
                        let Meaning::Definition(method) = meaning else { continue };
                        let returns = self.definition(method).returns;
                        let given = self.substituted(method.file, returns, &environment, 0);
                        found.extend(given.unwrap_or_default());
                    }
                }
                // An alias of function types.
                for it in self.functions_of_alias(def) {
                    let given = self.substituted(def.file, ExpressionId(it.a), &environment, 0);
                    found.extend(given.unwrap_or_default());
                }
            }
            Value::Instance(def) => {
                for value in self.underlying_types(def) {
                    self.call(value, found);
                }
                self.call_member(callee, self.semantics.call, found);
            }
            _ => {}
        }
    }

    /// Calls the first of these members that exists; false if none does.
    pub fn call_member(&mut self, on: Value, names: &[&str], found: &mut Values) -> bool {
        for name in names {
            let members = self.member(on, codelode_lang::facts::hash(name));
            if !members.is_empty() {
                let before = found.len();
                for value in self.values_of(&members, false) {
                    if matches!(value, Value::Function(_)) {
                        self.call(value, found);
                    }
                }
                return found.len() > before;
            }
        }
        false
    }

    /// The types beneath a named type, through any number of aliases: `type Handlers []Handler`.
    pub fn underlying_types(&mut self, def: Def) -> Values {
        let (mut found, mut named) = (Vec::new(), vec![def]);
        let mut at = 0;
        while at < named.len() && named.len() < MOST_BASES {
            for value in self.aliased(named[at]) {
                match value {
                    Value::Instance(def) if named.contains(&def) => {}
                    Value::Instance(def) => named.push(def),
                    other => found.push(other),
                }
            }
            at += 1;
        }
        found
    }
}

fn as_class(value: Value) -> Option<Def> {
    if let Value::Class(def) = value { Some(def) } else { None }
}
