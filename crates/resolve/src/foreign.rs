//! Foreign values: the code shows that their type is external. So their members are no members of project types, even
//! if the names match.

use super::names::{Def, Meaning, Resolver};
use super::values::Value;
use super::{nearest, written};
use codelode_lang::facts::{
    BindingKind, DefinitionKind, Expression, ExpressionId, HOLDS, ListId, NameId, Op, OutsideCalls, PROPERTY, UNKNOWN,
};

/// The most expressions examined for one answer. A longer chain stays unknown.
const MOST_STEPS: u32 = 64;

/// The part of a value that is external. The least of several counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Foreign {
    /// It is not known to be external.
    Unknown,
    /// The value itself, but perhaps not its elements: a list.
    Container,
    /// The value and everything that its members return.
    Whole,
}

use Foreign::{Container, Unknown, Whole};

/// A search through expressions: the open ones, and the steps left. An open expression counts as foreign.
struct Search {
    open: Vec<(u32, ExpressionId, bool)>,
    left: u32,
}

/// Whether an expression's value is known to have an external type.
pub(super) fn is_foreign(resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId) -> bool {
    let mut search = Search { open: Vec::new(), left: MOST_STEPS };
    let found = search.value(resolver, file, expression);
    found != Unknown && search.left > 0
}

impl Search {
    fn value(&mut self, resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId) -> Foreign {
        self.one(resolver, file, expression, false)
    }

    fn of_type(&mut self, resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId) -> Foreign {
        self.one(resolver, file, expression, true)
    }

    fn one(&mut self, resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId, is_type: bool) -> Foreign {
        if expression == UNKNOWN || self.left == 0 || !resolver.work(1) {
            return Unknown;
        }
        self.left -= 1;
        let question = (file, expression, is_type);
        if self.open.contains(&question) {
            return Whole;
        }
        self.open.push(question);
        let it = resolver.facts(file).expressions[expression.row()];
        let found = match it.op {
            Op::Foreign if it.b == HOLDS => Container,
            Op::Foreign => Whole,
            _ if is_type => self.type_written(resolver, file, expression, it),
            _ => self.value_written(resolver, file, expression, it),
        };
        self.open.pop();
        found
    }

    fn value_written(
        &mut self,
        resolver: &mut Resolver<'_>,
        file: u32,
        expression: ExpressionId,
        it: Expression,
    ) -> Foreign {
        let of = ExpressionId(it.a);
        match it.op {
            Op::Name => self.name(resolver, file, expression, it),
            Op::Member => self.member(resolver, file, expression, of),
            Op::Call => self.call(resolver, file, it),
            Op::Module if resolver.meaning(file, expression).is_empty() => {
                if super::may_be_own(resolver, file, expression) { Unknown } else { Whole }
            }
            Op::New => {
                let whole = self.of_type(resolver, file, of);
                if resolver.semantics.outside_calls == OutsideCalls::Inferred { whole.min(Container) } else { whole }
            }
            Op::Instance => self.of_type(resolver, file, of),
            Op::Union => self.least(resolver, file, resolver.facts(file).list(ListId(it.a)), Self::value),
            Op::Item => match self.result(resolver, file, of, it.b) {
                Some(found) => found,
                None if self.value(resolver, file, of) == Whole => Whole,
                None => Unknown,
            },
            Op::Element | Op::Each | Op::Key | Op::Await | Op::Enter => {
                let whole = self.value(resolver, file, of);
                if whole == Whole { Whole } else { Unknown }
            }
            Op::TypeOf | Op::Generic | Op::Labeled | Op::Except => self.value(resolver, file, of),
            Op::Else | Op::Fitting | Op::Extension | Op::Uncalled | Op::Returning | Op::Taking => {
                self.value(resolver, file, of)
            }
            Op::Proven => self.of_type(resolver, file, of),
            _ => Unknown,
        }
    }

    /// A bare name: the least of its bindings, or a builtin.
    fn name(&mut self, resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId, it: Expression) -> Foreign {
        let facts = resolver.facts(file);
        let bound = nearest(facts, it);
        if !bound.is_empty() {
            let mut found = Whole;
            for binding in bound {
                found = found.min(self.binding(resolver, file, binding.kind, binding.a, binding.b));
                if found == Unknown {
                    break;
                }
            }
            return found;
        }
        match &*resolver.meaning(file, expression) {
            [] => Whole,
            meanings => self.meanings(resolver, meanings),
        }
    }

    fn binding(&mut self, resolver: &mut Resolver<'_>, file: u32, kind: BindingKind, a: u32, b: u32) -> Foreign {
        let (a, b) = (ExpressionId(a), ExpressionId(b));
        match kind {
            BindingKind::Definition => Unknown,
            BindingKind::Alias if a == UNKNOWN || !resolver.meaning(file, a).is_empty() => Unknown,
            BindingKind::Alias | BindingKind::Value => self.value(resolver, file, a),
            BindingKind::Narrowed => self.of_type(resolver, file, a),
            BindingKind::Variable | BindingKind::Parameter if b != UNKNOWN => self.of_type(resolver, file, b),
            // A parameter's default value says little about its type.
            BindingKind::Parameter => Unknown,
            BindingKind::Variable => self.value(resolver, file, a),
        }
    }

    /// The values of project definitions by their written types.
    fn meanings(&mut self, resolver: &mut Resolver<'_>, meanings: &[Meaning]) -> Foreign {
        let mut found = Whole;
        for meaning in meanings {
            found = found.min(match *meaning {
                Meaning::Variable { file, binding } => {
                    let binding = resolver.facts(file).bindings[binding as usize];
                    self.binding(resolver, file, binding.kind, binding.a, binding.b)
                }
                Meaning::Definition(def) if resolver.definition(def).flags & PROPERTY != 0 => self.given(resolver, def),
                _ => Unknown,
            });
        }
        found
    }

    /// The value that a project function returns.
    fn given(&mut self, resolver: &mut Resolver<'_>, function: Def) -> Foreign {
        let definition = resolver.definition(function);
        if definition.kind != DefinitionKind::Function {
            return Unknown;
        }
        if definition.returns != UNKNOWN {
            return self.of_type(resolver, function.file, definition.returns);
        }
        match resolver.facts(function.file).list(definition.values) {
            [] => Unknown,
            values => self.least(resolver, function.file, values, Self::value),
        }
    }

    /// One of several results of a call of project functions, by their written types: `buffer, err := open()`.
    fn result(&mut self, resolver: &mut Resolver<'_>, file: u32, call: ExpressionId, place: u32) -> Option<Foreign> {
        let it = resolver.facts(file).expressions[call.row()];
        if it.op != Op::Call {
            return None;
        }
        let functions = resolver.value(file, ExpressionId(it.a));
        let mut found = None;
        for function in functions.iter() {
            let Value::Function(def) = *function else { return None };
            let facts = resolver.facts(def.file);
            let gives = facts.expressions[resolver.definition(def).returns.row()];
            let of = match gives.op {
                Op::Tuple => *facts.list(ListId(gives.a)).get(place as usize)?,
                _ => return None,
            };
            let one = self.of_type(resolver, def.file, of);
            found = Some(found.map_or(one, |least: Foreign| least.min(one)));
        }
        found
    }

    fn member(
        &mut self,
        resolver: &mut Resolver<'_>,
        file: u32,
        expression: ExpressionId,
        of: ExpressionId,
    ) -> Foreign {
        let meanings = resolver.meaning(file, expression);
        if !meanings.is_empty() {
            return self.meanings(resolver, &meanings);
        }
        let on = if of == UNKNOWN { std::rc::Rc::from([]) } else { resolver.value(file, of) };
        if on.is_empty() {
            let whole = self.value(resolver, file, of);
            return if whole == Whole { Whole } else { Unknown };
        }
        // The member may be inherited from an external base.
        let is_inherited = |value: &Value| match *value {
            Value::Instance(def) | Value::Class(def) | Value::Super(def) => self.has_foreign_base(resolver, def),
            _ => false,
        };
        match on.iter().all(is_inherited) {
            false => Unknown,
            true if resolver.semantics.typed => Whole,
            true => Container,
        }
    }

    /// Whether a class has a base outside the project.
    fn has_foreign_base(&mut self, resolver: &mut Resolver<'_>, class: Def) -> bool {
        let order = resolver.order(class);
        order.iter().any(|class| {
            let facts = resolver.facts(class.file);
            let bases = facts.list(resolver.definition(*class).bases);
            bases.iter().any(|base| {
                resolver.meaning(class.file, *base).is_empty() && self.of_type(resolver, class.file, *base) == Whole
            })
        })
    }

    fn call(&mut self, resolver: &mut Resolver<'_>, file: u32, it: Expression) -> Foreign {
        let facts = resolver.facts(file);
        let callee = ExpressionId(it.a);
        let functions = resolver.value(file, callee);
        if !functions.is_empty() {
            let mut found = Whole;
            for function in functions.iter() {
                found = found.min(match *function {
                    Value::Function(def) => self.given(resolver, def),
                    Value::FunctionType { file, expression } => {
                        let gives = ExpressionId(resolver.facts(file).expressions[expression.row()].a);
                        self.of_type(resolver, file, gives)
                    }
                    _ => Unknown,
                });
            }
            return found;
        }
        let named = written(facts, callee);
        let has_types = named.op == Op::Generic;
        if has_types && self.least(resolver, file, facts.list(ListId(named.b)), Self::of_type) != Whole {
            return Unknown;
        }
        if self.value(resolver, file, callee) != Whole {
            return Unknown;
        }
        let arguments = facts.list(ListId(it.b));
        match resolver.semantics.outside_calls {
            // A function that takes containers may return their elements.
            OutsideCalls::Declared => {
                let holds = |value: &Value| matches!(value, Value::Container(_) | Value::Tuple(_));
                let is_held = arguments.iter().any(|argument| resolver.value(file, *argument).iter().any(holds));
                if is_held { Unknown } else { Whole }
            }
            // The function may return an argument.
            OutsideCalls::Generic => self.least(resolver, file, arguments, Self::value),
            OutsideCalls::Inferred => {
                if !is_path(resolver, file, callee) {
                    return Unknown;
                }
                let makes = facts.name(NameId(super::callee(facts, named).b)).starts_with(char::is_uppercase);
                let is_given = match makes {
                    true => arguments.iter().any(|argument| !resolver.value(file, *argument).is_empty()),
                    false => self.least(resolver, file, arguments, Self::value) == Unknown,
                };
                if is_given { Unknown } else { Container }
            }
        }
    }

    fn type_written(
        &mut self,
        resolver: &mut Resolver<'_>,
        file: u32,
        expression: ExpressionId,
        it: Expression,
    ) -> Foreign {
        let of = ExpressionId(it.a);
        match it.op {
            Op::Name | Op::Member if !resolver.meaning(file, expression).is_empty() => Unknown,
            Op::Name => {
                let bound = nearest(resolver.facts(file), it);
                // A type parameter may be any type.
                let is_imported = bound.iter().all(|binding| binding.kind == BindingKind::Alias);
                if is_imported { self.name(resolver, file, expression, it) } else { Unknown }
            }
            Op::Member | Op::Module | Op::TypeOf => self.value(resolver, file, expression),
            Op::Instance | Op::Labeled => self.of_type(resolver, file, of),
            Op::Union => self.least(resolver, file, resolver.facts(file).list(ListId(it.a)), Self::of_type),
            Op::Generic => {
                if of != UNKNOWN && self.of_type(resolver, file, of) == Unknown {
                    return Unknown;
                }
                let arguments = resolver.facts(file).list(ListId(it.b));
                self.least(resolver, file, arguments, Self::of_type).max(Container)
            }
            Op::Tuple | Op::FunctionType => Container,
            _ => Unknown,
        }
    }

    fn least(
        &mut self,
        resolver: &mut Resolver<'_>,
        file: u32,
        of: &[ExpressionId],
        one: fn(&mut Self, &mut Resolver<'_>, u32, ExpressionId) -> Foreign,
    ) -> Foreign {
        let mut least = Whole;
        for expression in of {
            least = least.min(one(self, resolver, file, *expression));
            if least == Unknown {
                break;
            }
        }
        least
    }
}

/// Whether an expression is an external name or a path below one, not a member of a value.
fn is_path(resolver: &mut Resolver<'_>, file: u32, expression: ExpressionId) -> bool {
    let facts = resolver.facts(file);
    let mut it = super::callee(facts, written(facts, expression));
    while it.op == Op::Member && ExpressionId(it.a) != UNKNOWN && resolver.work(1) {
        it = facts.expressions[it.a as usize];
    }
    it.op == Op::Module
        || it.op == Op::Name && nearest(facts, it).iter().all(|binding| binding.kind == BindingKind::Alias)
}
