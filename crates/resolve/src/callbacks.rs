//! Types of callback parameters, and of parameters in methods that override others.

use super::generics::Environment;
use super::names::{Def, Meaning, Resolver};
use super::values::{Value, Values};
use codelode_lang::facts::{
    DefinitionId, DefinitionKind, EMPTY, Expression, ExpressionId, LAST, ListId, NameId, Op, UNKNOWN,
};

/// Container methods that pass two elements to a function.
const COMPARING: &[&str] = &["sort", "sorted", "toSorted", "sortWith", "max", "min", "maxWith", "minWith", "reduce"];

/// Container methods that take elements.
const ADDING: &[&str] = &["push", "unshift"];

impl Resolver<'_> {
    /// The values that a callee passes to its callback's parameter.
    pub(super) fn passed(&mut self, file: u32, it: Expression) -> Values {
        let (argument, parameter) = ((it.b >> 16) as usize, (it.b & 0xffff) as usize);
        let mut found = Vec::new();
        let callees = self.value(file, ExpressionId(it.a));
        let written = super::callee(self.facts(file), super::written(self.facts(file), ExpressionId(it.a)));
        let is_member = written.op == Op::Member && !callees.is_empty();
        let of_receiver = if is_member { self.environment_of(file, written) } else { None };
        let call = self.facts(file).expressions[it.a as usize];
        let (taker, first) = match call.op {
            Op::Taking => (ExpressionId(call.a), ExpressionId(call.b)),
            _ => (ExpressionId(it.a), UNKNOWN),
        };
        let call = self.facts(file).expressions[taker.row()];
        let result = if call.op == Op::Returning { ExpressionId(call.b) } else { UNKNOWN };
        for callee in callees.iter() {
            let functions: Vec<Def> = match *callee {
                Value::Function(def) => vec![def],
                Value::Class(_) | Value::Super(_) => {
                    let members = self.member(*callee, codelode_lang::facts::hash(self.semantics.constructor));
                    let function = |meaning: &Meaning| match meaning {
                        Meaning::Definition(def) => Some(*def),
                        _ => None,
                    };
                    members.iter().filter_map(function).collect()
                }
                _ => Vec::new(),
            };
            for function in functions {
                let facts = self.facts(function.file);
                let types = facts.list(self.definition(function).parameters);
                let Some(argument) = self.place_of(function, file, ExpressionId(it.a), argument) else { continue };
                let wanted = if argument == LAST as usize { types.last() } else { types.get(argument) };
                let Some(wanted) = wanted.filter(|wanted| **wanted != UNKNOWN) else { continue };
                let environment = self.told_by_result(function, file, result, of_receiver.clone());
                let environment = self.told_in_call(function, file, taker, environment);
                let environment = self.told_by_first(function, file, first, environment);
                for (file, takes) in self.callbacks(function.file, *wanted, parameter, &mut found) {
                    if let Some(given) = self.facts(file).list(takes).get(parameter) {
                        let known = environment.as_ref().and_then(|known| self.substituted(file, *given, known, 0));
                        found.extend(known.unwrap_or_else(|| self.instance(file, *given).to_vec()));
                    }
                }
            }
        }
        let callee = super::callee(self.facts(file), super::written(self.facts(file), ExpressionId(it.a)));
        let compares = || {
            let name = self.facts(file).name(NameId(callee.b));
            parameter == 1 && COMPARING.contains(&name.trim_end_matches("()"))
        };
        if callees.is_empty() && callee.op == Op::Member && (parameter == 0 || compares()) {
            // A container's own methods pass its elements.
            let holds = |value: &&Value| matches!(value, Value::Container(_) | Value::Tuple(_));
            for receiver in self.value(file, ExpressionId(callee.a)).iter().filter(holds) {
                self.element(*receiver, &mut found);
            }
        }
        found
    }

    /// Binds a function's type parameters: from the receiver, and from the type that the context expects of the result.
    fn told_by_result(
        &mut self,
        function: Def,
        file: u32,
        result: ExpressionId,
        known: Option<Environment>,
    ) -> Option<Environment> {
        let definition = self.definition(function);
        if result == UNKNOWN || definition.generics == EMPTY || definition.returns == UNKNOWN {
            return known;
        }
        let mut environment = known.unwrap_or_default();
        let given = self.instance(file, result);
        self.unify(function.file, definition.returns, &given, &mut environment, 0);
        (!environment.is_empty()).then_some(environment)
    }

    /// The values of the type that a callee expects of an argument.
    pub(super) fn wanted(&mut self, file: u32, it: Expression) -> Values {
        let callee = ExpressionId(it.a);
        let mut found = Vec::new();
        let written = super::callee(self.facts(file), super::written(self.facts(file), callee));
        let environment = if written.op == Op::Member { self.environment_of(file, written) } else { None };
        for meaning in self.makers(file, callee) {
            let Meaning::Definition(function) = meaning else {
                // The callee is a value, so its function types give the parameters.
                let mut lists = Vec::new();
                for value in self.values_of(&[meaning], true) {
                    let beneath =
                        if let Value::Instance(def) = value { self.underlying_types(def) } else { vec![value] };
                    lists.extend(beneath.into_iter().filter_map(|value| match value {
                        Value::FunctionType { file, expression } => Some((file, expression)),
                        _ => None,
                    }));
                }
                for (file, function) in lists {
                    let facts = self.facts(file);
                    let takes = facts.list(ListId(facts.expressions[function.row()].b));
                    if let Some(of) = takes.get(it.b as usize) {
                        found.extend(self.instance(file, *of).iter());
                    }
                }
                continue;
            };
            let Some(place) = self.place_of(function, file, callee, it.b as usize) else { continue };
            let types = self.facts(function.file).list(self.definition(function).parameters);
            let Some(of) = types.get(place) else { continue };
            let known = self.told_in_call(function, file, callee, environment.clone());
            let known = known.as_ref().and_then(|known| self.substituted(function.file, *of, known, 0));
            found.extend(known.unwrap_or_else(|| self.instance(function.file, *of).to_vec()));
        }
        if written.op == Op::Member && ADDING.contains(&self.facts(file).name(NameId(written.b))) {
            for receiver in self.value(file, ExpressionId(written.a)).iter() {
                if let Value::Container(_) = *receiver {
                    self.element(*receiver, &mut found);
                }
            }
        }
        found
    }

    /// The meanings of a callee; for a class, its constructors.
    fn makers(&mut self, file: u32, callee: ExpressionId) -> Vec<Meaning> {
        let mut found = Vec::new();
        for meaning in self.meaning(file, callee).iter() {
            match *meaning {
                Meaning::Definition(def) if self.definition(def).kind == DefinitionKind::Class => {
                    let constructor = codelode_lang::facts::hash(self.semantics.constructor);
                    found.extend(self.member(Value::Class(def), constructor));
                }
                Meaning::Value(value @ Value::Super(_)) => {
                    found.extend(self.member(value, codelode_lang::facts::hash(self.semantics.constructor)));
                }
                other => {
                    found.push(other);
                    found.extend(self.described(other));
                }
            }
        }
        found
    }

    /// The constructors that a value's type describes.
    fn described(&mut self, meaning: Meaning) -> Vec<Meaning> {
        let name = self.semantics.constructs;
        if name.is_empty() || !matches!(meaning, Meaning::Variable { .. }) {
            return Vec::new();
        }
        let values = self.values_of(&[meaning], true);
        let types =
            values.into_iter().filter_map(|value| if let Value::Instance(def) = value { Some(def) } else { None });
        types.flat_map(|def| self.inherited(def, codelode_lang::facts::hash(name), false)).collect()
    }

    /// The values of a parameter, by the type in the overridden method.
    pub(super) fn inherited_parameter(&mut self, function: Def, place: usize) -> Values {
        let definition = self.definition(function);
        let mut found = Vec::new();
        if definition.owner == DefinitionId::NONE {
            return found;
        }
        let Some(name) = self.facts(function.file).hashes.get(definition.name.row()) else { return found };
        let class = self.extended(Def { file: function.file, place: definition.owner });
        for meaning in self.member(Value::Super(class), *name) {
            if let Meaning::Definition(overridden) = meaning {
                let types = self.facts(overridden.file).list(self.definition(overridden).parameters);
                if let Some(written) = types.get(place) {
                    found.extend(self.instance(overridden.file, *written).iter());
                }
            }
        }
        found
    }

    /// The function types of an alias, or of the parts of its union.
    pub(super) fn functions_of_alias(&self, def: Def) -> Vec<Expression> {
        let facts = self.facts(def.file);
        let alias = facts.expressions[self.definition(def).alias.row()];
        let parts = if alias.op == Op::Union { self.facts(def.file).list(ListId(alias.a)) } else { &[] };
        let parts = parts.iter().map(|part| facts.expressions[part.row()]).chain([alias]);
        parts.filter(|part| part.op == Op::FunctionType).collect()
    }

    /// The values of a parameter of a function expression, by the type that the context expects.
    pub(super) fn parameter_of(&mut self, file: u32, it: Expression) -> Values {
        let facts = self.facts(file);
        let function = facts.expressions[it.a as usize];
        let only = [ExpressionId(it.a)];
        let parts = if function.op == Op::Union { facts.list(ListId(function.a)) } else { &only };
        let mut found = Vec::new();
        for part in parts {
            self.add_parameter_of(file, *part, it.b as usize, &mut found);
        }
        found
    }

    fn add_parameter_of(&mut self, file: u32, function: ExpressionId, place: usize, found: &mut Values) {
        let mut taken: Vec<(u32, ExpressionId, Option<Environment>)> = Vec::new();
        let written = self.facts(file).expressions[function.row()];
        let of_receiver = if written.op == Op::Member { self.environment_of(file, written) } else { None };
        for value in self.value(file, function).iter() {
            let environment = match *value {
                Value::Applied { .. } => self.environment(&[*value]),
                _ => of_receiver.clone(),
            };
            let mut lists = Vec::new();
            let beneath = match *value {
                Value::Instance(def) => self.underlying_types(def),
                Value::Applied { def, .. } => {
                    lists.extend(self.functions_of_alias(def).into_iter().map(|it| (def.file, ListId(it.b))));
                    Vec::new()
                }
                other => vec![other],
            };
            for value in beneath {
                match value {
                    Value::FunctionType { file, expression } => {
                        lists.push((file, ListId(self.facts(file).expressions[expression.row()].b)));
                    }
                    Value::Function(def) => lists.push((def.file, self.definition(def).parameters)),
                    _ => {}
                }
            }
            if let Value::Instance(def) | Value::Applied { def, .. } = *value {
                for name in self.semantics.call {
                    for meaning in self.member(Value::Instance(def), codelode_lang::facts::hash(name)) {
                        let Meaning::Definition(def) = meaning else { continue };
                        lists.push((def.file, self.definition(def).parameters));
                    }
                }
            }
            for (file, list) in lists {
                taken.extend(self.facts(file).list(list).get(place).map(|of| (file, *of, environment.clone())));
            }
        }
        for (file, of, environment) in taken {
            let known = environment.and_then(|known| self.substituted(file, of, &known, 0));
            found.extend(known.unwrap_or_else(|| self.instance(file, of).to_vec()));
        }
    }

    /// Binds type parameters by the first argument of a call: `keyed(items, (item) => item.name)`.
    fn told_by_first(
        &mut self,
        function: Def,
        file: u32,
        first: ExpressionId,
        known: Option<Environment>,
    ) -> Option<Environment> {
        let definition = self.definition(function);
        let wanted = self.facts(function.file).list(definition.parameters).first().copied();
        let Some(wanted) = wanted.filter(|_| first != UNKNOWN && definition.generics != EMPTY) else { return known };
        let mut environment = known.unwrap_or_default();
        let given = self.value(file, first);
        self.unify(function.file, wanted, &given, &mut environment, 0);
        (!environment.is_empty()).then_some(environment)
    }

    /// Binds type parameters by the types written in a call: `make<Item>({ … })`, also with `new`.
    fn told_in_call(
        &mut self,
        function: Def,
        file: u32,
        callee: ExpressionId,
        known: Option<Environment>,
    ) -> Option<Environment> {
        let it = self.facts(file).expressions[callee.row()];
        if it.op != Op::Generic {
            return known;
        }
        let definition = self.definition(function);
        let mut parameters = self.list(function.file, definition.generics);
        if parameters.is_empty() && definition.owner != DefinitionId::NONE {
            let owner = self.definition(Def { file: function.file, place: definition.owner });
            parameters = self.list(function.file, owner.generics);
        }
        let mut environment = known.unwrap_or_default();
        for (parameter, of) in parameters.iter().zip(self.list(file, ListId(it.b))) {
            let given = self.instance(file, *of);
            self.stand_for(function.file, *parameter, &given, &mut environment);
        }
        (!environment.is_empty()).then_some(environment)
    }

    /// The parameter lists of functions that a type accepts, each with its file: of function types, and of instances'
    /// call methods. Parameters of external function types are type arguments, and are added to `found` instead.
    fn callbacks(
        &mut self,
        file: u32,
        wanted: ExpressionId,
        parameter: usize,
        found: &mut Values,
    ) -> Vec<(u32, ListId)> {
        let mut takes = Vec::new();
        for value in self.instance(file, wanted).iter() {
            let beneath = match *value {
                Value::Instance(def) => self.underlying_types(def),
                other => vec![other],
            };
            for value in beneath {
                match value {
                    Value::FunctionType { file, expression } => {
                        takes.push((file, ListId(self.facts(file).expressions[expression.row()].b)));
                    }
                    Value::Container(row) => {
                        let row = &self.sets.rows[row as usize];
                        found.extend(row.get(parameter).or(row.last()).into_iter().flat_map(|set| set.iter()));
                    }
                    _ => {}
                }
            }
            if let Value::Instance(_) = *value {
                for name in self.semantics.call {
                    for meaning in self.member(*value, codelode_lang::facts::hash(name)) {
                        if let Meaning::Definition(def) = meaning {
                            takes.push((def.file, self.definition(def).parameters));
                        }
                    }
                }
            }
        }
        takes
    }
}
