//! How a class is made and makes its instances: metaclasses, `__new__`, and fields that are arguments.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::{container, walk};
use super::lower::field;
use crate::facts::{
    BindingKind, Bound, DefinitionId, ExpressionId, KEYWORDS, MADE, MAKES_ANOTHER, METACLASS, NameId, Op, ScopeId,
    UNKNOWN,
};
use codelode_base::model::Role;

/// Decorators of classes whose fields are arguments: of `dataclasses`, `attrs` and those that follow them.
const DATA_CLASSES: &[&str] = &["dataclass", "define", "frozen", "mutable", "attrs", "attributes", "s"];

/// The last name of a decorator, without its arguments.
pub(super) fn last_name(decorator: &str) -> &str {
    let called = decorator.split('(').next().unwrap_or_default();
    called.rsplit('.').next().unwrap_or_default().trim()
}

/// Records that a decorator makes the fields of a class arguments.
pub(super) fn decorated(cx: &mut Lower<'_, '_>, decorators: &[&str], members: ScopeId) {
    if decorators.iter().any(|one| DATA_CLASSES.contains(&last_name(one))) {
        let name = cx.facts.name(KEYWORDS);
        cx.facts.bind(members, name, Bound::variable());
    }
}

/// Binds the class of a class.
pub(super) fn metaclass(cx: &mut Lower<'_, '_>, members: ScopeId, of: ExpressionId) {
    if of != UNKNOWN {
        let name = cx.facts.name(METACLASS);
        cx.facts.bind(members, name, Bound::meaning(of));
    }
}

/// Reads `with_metaclass(Meta, Base)` among the bases of a class; false for another call.
pub(super) fn with_metaclass<'t>(
    cx: &mut Lower<'_, 't>,
    call: Node<'t>,
    scope: ScopeId,
    class: DefinitionId,
    members: ScopeId,
) -> bool {
    let function = field(call, "function").filter(|function| last_name(cx.text(*function)) == "with_metaclass");
    let (Some(function), Some(arguments)) = (function, field(call, "arguments")) else { return false };
    walk(cx, function, scope, Role::Call);
    for (place, argument) in cx.children(arguments).into_iter().enumerate() {
        let role = if place == 0 { Role::Reference } else { Role::Base };
        let of = walk(cx, argument, scope, role);
        match place {
            0 => metaclass(cx, members, of),
            _ => cx.facts.base(class, of),
        }
    }
    true
}

/// The name of a field that is set under another one: `_shield = attrs.field(alias="shield")`.
fn by_alias(cx: &mut Lower<'_, '_>, alias: &str) -> NameId {
    cx.facts.name(&format!("alias {alias}"))
}

/// Binds the other name of a field of a class.
pub(super) fn other_name<'t>(cx: &mut Lower<'_, 't>, name: NameId, value: Node<'t>, members: ScopeId) {
    let Some(arguments) = field(value, "arguments").filter(|_| value.kind() == "call") else { return };
    for argument in cx.children(arguments) {
        let is_alias = field(argument, "name").is_some_and(|name| cx.text(name) == "alias");
        let Some(alias) = field(argument, "value").filter(|value| is_alias && value.kind() == "string") else {
            continue;
        };
        let alias = by_alias(cx, cx.text(alias).trim_matches(['"', '\'']));
        let own = cx.facts.named(members, name);
        cx.facts.bind(members, alias, Bound::alias(own));
    }
}

/// Records an argument with a name as a use of the field that it sets. Classes are told by their names here.
pub(super) fn keyword<'t>(cx: &mut Lower<'_, 't>, argument: Node<'t>, callee: ExpressionId, called: &str) {
    let is_class = called.trim_start_matches('_').starts_with(char::is_uppercase) || called == "cls";
    let Some(label) = field(argument, "name").filter(|_| is_class && callee != UNKNOWN) else { return };
    let name = cx.name(label);
    let meant = cx.facts.expression(Op::Keyword, callee, name);
    cx.facts.occurrence(span_of(label), Role::Write, meant);
}

/// The instance that a call of `__new__` or of a metaclass's `super().__call__` gives; `None` for other calls.
pub(super) fn instance(
    cx: &mut Lower<'_, '_>,
    callee: ExpressionId,
    given: &[ExpressionId],
    scope: ScopeId,
) -> Option<ExpressionId> {
    let it = cx.facts.look(callee);
    if it.op != Op::Member {
        return None;
    }
    match (cx.facts.text(NameId(it.b)), given) {
        ("__new__", [class, ..]) if *class != UNKNOWN => Some(cx.facts.of(Op::New, *class)),
        ("__call__", _) if cx.facts.look(ExpressionId(it.a)).op == Op::SuperOf => {
            let name = cx.facts.name("cls");
            let bound = cx.facts.lookup(scope, name);
            let is_class = bound.iter().any(|binding| binding.kind == BindingKind::Value);
            let own = cx.facts.named(scope, name);
            is_class.then(|| cx.facts.of(Op::New, own))
        }
        _ => None,
    }
}

/// Whether a type is a variable: that of a first parameter stands for the class itself.
pub(super) fn is_variable(cx: &Lower<'_, '_>, of: ExpressionId) -> bool {
    let it = cx.facts.look(of);
    let it = if it.op == Op::TypeOf { cx.facts.look(ExpressionId(it.a)) } else { it };
    let bound = if it.op == Op::Name { cx.facts.lookup(ScopeId(it.a), NameId(it.b)) } else { Vec::new() };
    !bound.is_empty() && bound.iter().all(|binding| binding.kind == BindingKind::Variable)
}

/// The type that a method gives whose first parameter is of the type `first`: `def make(cls: type[T]) -> T` gives `Self`.
pub(super) fn returned(
    cx: &mut Lower<'_, '_>,
    class: DefinitionId,
    first: ExpressionId,
    returns: ExpressionId,
) -> ExpressionId {
    let it = cx.facts.look(first);
    let is_of_first = first == returns || it.op == Op::TypeOf && ExpressionId(it.a) == returns;
    match returns != UNKNOWN && is_of_first && is_variable(cx, first) {
        true => cx.facts.expression(Op::SelfOf, class, 0),
        false => returns,
    }
}

/// Records what `__new__` says it gives.
pub(super) fn another(cx: &mut Lower<'_, '_>, class: DefinitionId, returns: ExpressionId) {
    if returns == UNKNOWN || cx.facts.look(returns).op == Op::SelfOf {
        return;
    }
    let members = cx.facts.definition(class).members;
    let name = cx.facts.name(MADE);
    cx.facts.bind(members, name, Bound::variable().of(returns));
    cx.facts.definition(class).flags |= MAKES_ANOTHER;
}

/// The type of a call of an `async` function that gives a container, which is not what is awaited.
pub(super) fn awaited(cx: &mut Lower<'_, '_>, returns: ExpressionId) -> ExpressionId {
    if !matches!(cx.facts.look(returns).op, Op::Generic | Op::Tuple | Op::Union) {
        return returns;
    }
    let list = cx.facts.list(&[returns]);
    cx.facts.expression(Op::Generic, UNKNOWN, list)
}

/// The same of a value that such a function returns.
pub(super) fn awaited_value(cx: &mut Lower<'_, '_>, value: ExpressionId) -> ExpressionId {
    if matches!(cx.facts.look(value).op, Op::Instance | Op::Tuple) { container(cx, &[value]) } else { value }
}
