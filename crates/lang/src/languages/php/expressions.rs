//! Lowering of PHP expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{field, target};
use super::types;
use crate::facts::{ExpressionId, Op, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// `$name`, `$this`
pub(super) fn variable<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if cx.text(node) == "$this" {
        return at
            .says(cx.facts.class_around(at.scope).map_or(UNKNOWN, |class| cx.facts.expression(Op::SelfOf, class, 0)));
    }
    let name = cx.name(node);
    at.says(cx.facts.named(at.scope, name))
}

/// The value before `->` or `::`.
fn receiver<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match (field(node, "object"), field(node, "scope")) {
        (Some(object), _) => cx.value(object, scope),
        (None, Some(class)) => types::class(cx, class, scope),
        _ => UNKNOWN,
    }
}

/// The written name of a member: none when it is computed.
fn member_name<'t>(cx: &Lower<'_, 't>, node: Node<'t>) -> Option<Node<'t>> {
    let name = field(node, "name")?;
    match (name.kind(), node.kind()) {
        ("name", _) => Some(name),
        ("variable_name", "scoped_property_access_expression") => cx.first(name),
        _ => None,
    }
}

/// `$value->name`, `Name::$name`
pub(super) fn member<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let on = receiver(cx, node, at.scope);
    let Some(name_node) = member_name(cx, node) else {
        field(node, "name").map(|name| cx.value(name, at.scope));
        return at.says(UNKNOWN);
    };
    let name = cx.facts.name(&format!("${}", cx.text(name_node)));
    let meant = cx.facts.member(on, name);
    cx.facts.occurrence(span_of(name_node), at.role, meant);
    at.says(if on == UNKNOWN { UNKNOWN } else { meant })
}

/// `Name::CONSTANT`, `Name::class`
pub(super) fn constant<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.children(node);
    let [class, name_node] = parts[..] else { return at.says(UNKNOWN) };
    let on = types::class(cx, class, at.scope);
    if name_node.kind() != "name" || cx.text(name_node) == "class" {
        return at.says(UNKNOWN);
    }
    let name = cx.facts.name(&format!(":{}", cx.text(name_node)));
    let meant = cx.facts.member(on, name);
    cx.facts.occurrence(span_of(name_node), at.role, meant);
    at.says(if on == UNKNOWN { UNKNOWN } else { meant })
}

/// `name(…)`, `$value->name(…)`, `Name::name(…)`
pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let callee = match field(node, "function") {
        Some(function) => cx.read(function, NodeContext { scope: at.scope, role: Role::Call }).value,
        None => {
            let on = receiver(cx, node, at.scope);
            match member_name(cx, node) {
                Some(name_node) => {
                    let name = cx.facts.name(&format!("{}()", cx.text(name_node)));
                    let meant = cx.facts.member(on, name);
                    cx.facts.occurrence(span_of(name_node), Role::Call, meant);
                    if on == UNKNOWN { UNKNOWN } else { meant }
                }
                None => {
                    field(node, "name").map(|name| cx.value(name, at.scope));
                    UNKNOWN
                }
            }
        }
    };
    let all = field(node, "arguments").map(|list| arguments(cx, list, at.scope)).unwrap_or_default();
    let list = cx.facts.list(&all);
    at.says(if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, list) })
}

fn arguments<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let mut all = Vec::new();
    for argument in cx.children(list) {
        let name = field(argument, "name");
        let value =
            cx.children(argument).into_iter().find(|part| Some(*part) != name && part.kind() != "reference_modifier");
        all.push(value.map_or(UNKNOWN, |value| cx.value(value, scope)));
    }
    all
}

/// `new Name(…)`, `new class (…) { … }`
pub(super) fn creation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut class = UNKNOWN;
    for part in cx.children(node) {
        match part.kind() {
            "arguments" => drop(arguments(cx, part, at.scope)),
            "name" | "qualified_name" => class = types::made(cx, part, at.scope),
            _ => class = cx.value(part, at.scope),
        }
    }
    at.says(cx.facts.of(Op::New, class))
}

/// `$name = value`, `[$a, $b] = values`
pub(super) fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut value = field(node, "right").map_or(UNKNOWN, |right| cx.value(right, at.scope));
    if let Some(left) = field(node, "left") {
        let noted = types::noted(cx, node.parent().unwrap_or(node), "@var", cx.text(left), at.scope);
        if noted != UNKNOWN {
            value = cx.facts.of(Op::Instance, noted);
        }
        target(cx, left, at.scope, value);
    }
    at.says(value)
}

/// `condition ? a : b`
pub(super) fn either<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let condition = field(node, "condition").map_or(UNKNOWN, |part| cx.value(part, at.scope));
    let body = field(node, "body").map(|part| cx.value(part, at.scope));
    let other = field(node, "alternative").map_or(UNKNOWN, |part| cx.value(part, at.scope));
    at.says(cx.facts.union(&[body.unwrap_or(condition), other]))
}

/// `a ?? b`, `a instanceof B`
pub(super) fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let left = field(node, "left").map_or(UNKNOWN, |left| cx.value(left, at.scope));
    let operator = field(node, "operator").map_or("", |operator| cx.text(operator));
    let Some(right) = field(node, "right") else { return at.says(UNKNOWN) };
    if operator == "instanceof" {
        types::class(cx, right, at.scope);
        return at.says(UNKNOWN);
    }
    let right = cx.value(right, at.scope);
    at.says(if operator == "??" { cx.facts.union(&[left, right]) } else { UNKNOWN })
}

/// `$values[$place]`
pub(super) fn element<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut parts = cx.children(node).into_iter();
    let of = parts.next().map_or(UNKNOWN, |of| cx.value(of, at.scope));
    for part in parts {
        cx.value(part, at.scope);
    }
    at.says(cx.facts.of(Op::Element, of))
}
