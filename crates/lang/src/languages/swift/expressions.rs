//! Lowering of Swift names and expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::calls::{ROOTED, expect, is_implicit, member};
use super::lower::{FILE, IMPLICIT, all, class_around, field, is_open, named, nearest, needs, plain};
use super::members::dotted;
use super::{semantics, types};
use crate::facts::{ExpressionId, NameId, Op, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// A bare name.
pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text = plain(cx, node);
    if text == "Self" {
        return at.says(own_type(cx, at.scope));
    }
    let name = cx.facts.name(text);
    let mut meant = cx.facts.named(at.scope, name);
    let is_local = nearest(cx, at.scope, name).is_some_and(|scope| !is_open(cx, scope));
    if !is_local && !text.starts_with(char::is_uppercase) {
        meant = cx.facts.of(Op::Uncalled, meant);
    }
    cx.facts.occurrence(span_of(node), at.role, meant);
    needs(cx, node, at.scope, name);
    at.says(meant)
}

/// `Self`: the type around.
pub(super) fn own_type(cx: &mut Lower<'_, '_>, scope: ScopeId) -> ExpressionId {
    class_around(cx, scope).map_or(UNKNOWN, |class| cx.facts.expression(Op::ClassOf, class, 0))
}

/// A member, or else what extends a type from outside under that name.
pub(super) fn extending(cx: &mut Lower<'_, '_>, member: ExpressionId, name: NameId) -> ExpressionId {
    let name = dotted(cx, name);
    let named = cx.facts.named(FILE, name);
    cx.facts.expression(Op::Extension, member, named)
}

/// The sign before a value.
pub(super) fn sign(node: Node<'_>) -> &str {
    field(node, "operation").map_or("", |sign| sign.kind())
}

/// The value that a dot without one before it means.
fn implied(cx: &mut Lower<'_, '_>, scope: ScopeId) -> ExpressionId {
    let name = cx.facts.name(IMPLICIT);
    if nearest(cx, scope, name).is_some() { cx.facts.named(scope, name) } else { UNKNOWN }
}

/// The value before the last point of an expression that begins with one, and the name behind it. The sign was read as if
/// it belonged to all that follows.
fn behind_dot<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<(ExpressionId, Node<'t>)> {
    match node.kind() {
        "simple_identifier" => Some((implied(cx, scope), node)),
        "navigation_expression" => {
            let (target, name) = (field(node, "target")?, last_name(node)?);
            let (on, first) = cx.deeper(|cx| behind_dot(cx, target, scope))?;
            let meant = selected(cx, on, first, NodeContext::used(scope));
            Some((meant, name))
        }
        _ => None,
    }
}

/// The name behind the last point.
fn last_name(node: Node<'_>) -> Option<Node<'_>> {
    field(field(node, "suffix")?, "suffix")
}

/// The parts of `value.name` and `.name`.
pub(super) fn split<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<(ExpressionId, Node<'t>)> {
    if node.kind() == "prefix_expression" {
        let target = field(node, "target").filter(|_| sign(node) == ".")?;
        return behind_dot(cx, target, scope);
    }
    let (target, name) = (field(node, "target")?, last_name(node)?);
    Some((cx.value(target, scope), name))
}

/// `value.name`
pub(super) fn navigation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some((on, last)) = split(cx, node, at.scope) else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    at.says(selected(cx, on, last, at))
}

/// A member of a value that is not called.
fn selected<'t>(cx: &mut Lower<'_, 't>, on: ExpressionId, last: Node<'t>, at: NodeContext) -> ExpressionId {
    let text = plain(cx, last);
    match text {
        "self" | "Type" | "Protocol" => return on,
        _ if last.kind() == "integer_literal" => {
            let place = text.parse().unwrap_or(0);
            return if on == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, on, place) };
        }
        _ => {}
    }
    let name = cx.facts.name(text);
    let mut meant = member(cx, on, name);
    if on != UNKNOWN && !text.starts_with(char::is_uppercase) {
        meant = cx.facts.of(Op::Uncalled, meant);
    }
    cx.facts.occurrence(span_of(last), at.role, meant);
    if on == UNKNOWN {
        return UNKNOWN;
    }
    // The items of a dictionary.
    if let Some(place) = ["key", "value"].iter().position(|known| *known == text) {
        let item = cx.facts.expression(Op::Item, on, place as u32);
        return cx.facts.union(&[meant, item]);
    }
    // Members of containers that give parts of them: `all.first`.
    if semantics::SEMANTICS.methods.iter().any(|(known, _)| *known == text) {
        let list = cx.facts.list(&[]);
        let called = cx.facts.expression(Op::Call, meant, list);
        return cx.facts.union(&[meant, called]);
    }
    meant
}

/// `.name`, `-value`, `!value`
pub(super) fn prefix<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(target) = field(node, "target") else { return at.says(UNKNOWN) };
    let word = sign(node);
    if word == "." {
        return match behind_dot(cx, target, at.scope) {
            Some((on, last)) => at.says(selected(cx, on, last, at)),
            None => at.says(cx.value(target, at.scope)),
        };
    }
    let value = cx.value(target, at.scope);
    at.says(if word == "bang" { types::built_in(cx, "Bool") } else { value })
}

/// `left + right`
pub(super) fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (Some(left), Some(right)) = (field(node, "lhs"), field(node, "rhs")) else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    let (on, other) = if is_implicit(left) {
        let other = cx.value(right, at.scope);
        (expect(cx, left, other, at.scope), other)
    } else {
        let on = cx.value(left, at.scope);
        (on, expect(cx, right, on, at.scope))
    };
    let mut value = on;
    let is_custom = node.kind() == "infix_expression";
    if let Some(sign) = field(node, "op")
        && (on != UNKNOWN || is_custom)
    {
        let name = named(cx, sign);
        let list = cx.facts.list(&[on, other]);
        let found = cx.facts.member(on, name);
        let fitting = cx.facts.expression(Op::Fitting, found, list);
        let mut callee = extending(cx, fitting, name);
        if is_custom {
            let any = cx.facts.named(at.scope, name);
            let any = cx.facts.expression(Op::Fitting, any, list);
            let both = cx.facts.list(&[callee, any]);
            callee = cx.facts.expression(Op::Union, both, 0);
            value = cx.facts.expression(Op::Call, callee, list);
        }
        cx.facts.occurrence(span_of(sign), Role::Call, callee);
    }
    let is_test = matches!(
        node.kind(),
        "comparison_expression" | "equality_expression" | "conjunction_expression" | "disjunction_expression"
    );
    at.says(if is_test { types::built_in(cx, "Bool") } else { value })
}

/// `condition ? a : b`, `a ?? b`, `[a, b]`, `(a, b)`, of which nothing is expected.
pub(super) fn parts<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(expect(cx, node, UNKNOWN, at.scope))
}

/// The items of a tuple, or what is in parentheses.
pub(super) fn items<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    expected: ExpressionId,
    scope: ScopeId,
) -> ExpressionId {
    let parts = all(node);
    let is_label = |place: usize| parts.get(place + 1).is_some_and(|next| next.kind() == ":");
    let named = parts.iter().enumerate().filter(|(place, part)| part.is_named() && !is_label(*place));
    let items: Vec<Node<'t>> = named.map(|(_, part)| *part).collect();
    if let [only] = items[..] {
        return expect(cx, only, expected, scope);
    }
    let mut values = Vec::new();
    for (place, item) in (0u32..).zip(items) {
        let wanted = if expected == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, expected, place) };
        values.push(expect(cx, item, wanted, scope));
    }
    let list = cx.facts.list(&values);
    cx.facts.expression(Op::Tuple, list, 0)
}

/// An array of some values.
pub(super) fn array_of(cx: &mut Lower<'_, '_>, values: &[ExpressionId]) -> ExpressionId {
    // More elements add nothing to what one may be.
    const MOST: usize = 8;
    let types: Vec<ExpressionId> = values.iter().take(MOST).map(|value| cx.facts.of(Op::TypeOf, *value)).collect();
    let of = cx.facts.union(&types);
    let array = types::container(cx, "Array", &[of]);
    cx.facts.of(Op::Instance, array)
}

/// `[Name]`, `[Name: Other]` as types, which are called.
pub(super) fn container_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let all = cx.list(node, NodeContext { scope, role: Role::Type });
    types::container(cx, if node.kind() == "array_literal" { "Array" } else { "Dictionary" }, &all)
}

/// `[key: value]`
pub(super) fn dictionary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = cx.list(node, NodeContext::used(at.scope));
    let [key, value, ..] = all[..] else { return at.says(UNKNOWN) };
    let (key, value) = (cx.facts.of(Op::TypeOf, key), cx.facts.of(Op::TypeOf, value));
    let of = types::container(cx, "Dictionary", &[key, value]);
    at.says(cx.facts.of(Op::Instance, of))
}

/// `value as Type`
pub(super) fn cast<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut of = UNKNOWN;
    let written = cx.children(node).into_iter().rev().find(|part| types::is_type(*part));
    if let Some(written) = written {
        of = types::written(cx, written, at.scope);
    }
    let expected = cx.facts.of(Op::Instance, of);
    field(node, "expr").map(|value| expect(cx, value, expected, at.scope));
    at.says(expected)
}

/// `value is Type`
pub(super) fn test<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    cx.parts(node, at.scope);
    at.says(types::built_in(cx, "Bool"))
}

/// `value!`, `try value`, `await value`
pub(super) fn same<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = field(node, "target").or_else(|| field(node, "expr")).or_else(|| cx.first(node));
    at.says(inner.map_or(UNKNOWN, |inner| cx.read(inner, at).value))
}

/// `\Type`, `\`: the root of a key path.
pub(super) fn key_path<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(of) = cx.first(node) {
        let of = cx.read(of, NodeContext { role: Role::Type, ..at }).value;
        return at.says(cx.facts.of(Op::Instance, of));
    }
    let name = cx.facts.name(ROOTED);
    at.says(if nearest(cx, at.scope, name).is_some() { cx.facts.named(at.scope, name) } else { UNKNOWN })
}

pub(super) fn text<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for part in all(node).into_iter().filter(Node::is_named) {
        cx.value(part, at.scope);
    }
    at.says(types::built_in(cx, "String"))
}

pub(super) fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = match node.kind() {
        "boolean_literal" => "Bool",
        "real_literal" => "Double",
        _ => "Int",
    };
    at.says(types::built_in(cx, of))
}
