//! Lowering of C expressions without a shape in the table.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::field;
use crate::facts::{EMPTY, ExpressionId, Op, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// The value of a part of a node.
fn part<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, name: &str, at: NodeContext) -> ExpressionId {
    field(node, name).map_or(UNKNOWN, |part| cx.read(part, at).value)
}

pub(in crate::languages) fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let target = part(cx, node, "left", NodeContext { role: Role::Write, ..at });
    let value = part(cx, node, "right", NodeContext::used(at.scope));
    at.says(if target == UNKNOWN { value } else { target })
}

/// An operation on two values; a sum may be a pointer.
pub(in crate::languages) fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let [left, _] = ["left", "right"].map(|name| part(cx, node, name, NodeContext::used(at.scope)));
    let is_sum = field(node, "operator").is_some_and(|operator| matches!(cx.text(operator), "+" | "-"));
    at.says(if is_sum { left } else { UNKNOWN })
}

pub(in crate::languages) fn conditional<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    part(cx, node, "condition", NodeContext::used(at.scope));
    let either = ["consequence", "alternative"].map(|name| part(cx, node, name, NodeContext::used(at.scope)));
    at.says(cx.facts.union(&either))
}

/// The value of the last part.
pub(in crate::languages) fn last<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let values = cx.list(node, NodeContext::used(at.scope));
    at.says(values.last().copied().unwrap_or(UNKNOWN))
}

/// The arguments of a call, with pieces that the grammar takes for errors: types.
fn arguments<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let Some(list) = field(node, "arguments") else { return Vec::new() };
    list.named_children(&mut list.walk()).filter(|part| part.is_error() || !part.is_extra()).collect()
}

pub(in crate::languages) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let callee = part(cx, node, "function", NodeContext { role: Role::Call, ..at });
    // Macros may take a type and one of its fields, which no function does: `container_of(at, struct item, list)`.
    let (mut of, mut found) = (UNKNOWN, UNKNOWN);
    let mut is_tag = false;
    for argument in arguments(node) {
        let text = cx.text(argument);
        if of != UNKNOWN && argument.kind() == "identifier" {
            let (name, bare) = (cx.name(argument), cx.facts.name(text));
            let (member, bare) = (cx.facts.member(of, name), cx.facts.named(at.scope, bare));
            let meant = cx.facts.expression(Op::Else, member, bare);
            cx.facts.occurrence(span_of(argument), Role::Reference, meant);
            of = UNKNOWN;
            continue;
        }
        of = UNKNOWN;
        if argument.kind() == "identifier" && matches!(text, "struct" | "union" | "enum") {
            is_tag = true;
        } else if let (true, Some(named)) = (argument.is_error() && is_tag, cx.first(argument)) {
            let name = cx.facts.name(&format!("struct {}", cx.text(named)));
            let meant = cx.facts.named(at.scope, name);
            cx.facts.occurrence(span_of(named), Role::Type, meant);
            of = cx.facts.of(Op::Instance, meant);
            found = of;
            is_tag = false;
        } else {
            let value = cx.value(argument, at.scope);
            if argument.kind() == "identifier" && text.ends_with("_t") {
                of = cx.facts.of(Op::Instance, value);
                found = of;
            }
            is_tag = false;
        }
    }
    let given = if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, EMPTY) };
    at.says(cx.facts.union(&[given, found]))
}

/// `offsetof(type, field)`.
pub(in crate::languages) fn offset<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = part(cx, node, "type", NodeContext { role: Role::Type, ..at });
    if let Some(member) = field(node, "member") {
        let of = cx.facts.of(Op::Instance, of);
        cx.member(member, of, Role::Reference);
    }
    at.says(UNKNOWN)
}

/// A value of a written type, `(struct item){…}`.
pub(in crate::languages) fn compound_literal<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    at: NodeContext,
) -> NodeResult {
    let of = part(cx, node, "type", NodeContext { role: Role::Type, ..at });
    let value = cx.facts.of(Op::Instance, of);
    if let Some(list) = field(node, "value") {
        // Of `(int[]){…}`, the elements are no lists.
        literal(cx, list, at.scope, value, 0);
    }
    at.says(value)
}

/// A list of values for something whose type is not known here.
pub(in crate::languages) fn untyped_literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    literal(cx, node, at.scope, UNKNOWN, 0);
    at.says(UNKNOWN)
}

/// Reads the braces of a value. `arrays` is its number of dimensions.
pub(in crate::languages) fn literal<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    value: ExpressionId,
    arrays: usize,
) {
    for child in cx.children(node) {
        if child.kind() != "initializer_pair" {
            // Without designators, an element of a struct may be any of its fields.
            let inner = if arrays > 0 { value } else { UNKNOWN };
            element(cx, child, scope, inner, arrays.saturating_sub(1));
            continue;
        }
        let mut place = value;
        let mut left = arrays;
        for designator in child.children_by_field_name("designator", &mut child.walk()) {
            match (designator.kind(), cx.first(designator)) {
                ("field_designator", Some(name)) => {
                    cx.member(name, place, Role::Write);
                    let name = cx.name(name);
                    place = cx.facts.member(place, name);
                    // Of a field, the declaration alone knows whether it is an array.
                    left = 1;
                }
                (_, Some(index)) => {
                    cx.value(index, scope);
                    left = left.saturating_sub(1);
                }
                _ => {}
            }
        }
        if let Some(held) = field(child, "value") {
            element(cx, held, scope, place, left);
        }
    }
}

fn element<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, value: ExpressionId, arrays: usize) {
    if node.kind() == "initializer_list" {
        cx.deeper(|cx| literal(cx, node, scope, value, arrays));
    } else {
        cx.value(node, scope);
    }
}
