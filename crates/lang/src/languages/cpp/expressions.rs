//! Lowering of C++ expressions that C does not have, or has otherwise.

use tree_sitter::Node;

use super::super::c::declarator::parameters;
use super::super::c::lower::field;
use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::names;
use crate::facts::{Definition, ExpressionId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

pub(super) fn this<'t>(cx: &mut Lower<'_, 't>, _: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(cx.facts.class_around(at.scope).map_or(UNKNOWN, |class| cx.facts.expression(Op::SelfOf, class, 0)))
}

/// The value before `.` or `->`; of a container, what is behind an iterator.
fn receiver<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let on = field(node, "argument").map_or(UNKNOWN, |on| cx.value(on, scope));
    let is_arrow = field(node, "operator").is_some_and(|operator| cx.text(operator) == "->");
    if is_arrow { cx.facts.of(Op::Await, on) } else { on }
}

/// `value.name`, `value->name`
pub(super) fn member<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let on = receiver(cx, node, at.scope);
    at.says(field(node, "field").map_or(UNKNOWN, |name| names::meaning(cx, Some(on), name, at)))
}

/// `values[place]`, `*pointer`: of a container its element, else the value itself.
pub(super) fn held<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = field(node, "argument");
    let value = of.map_or(UNKNOWN, |of| cx.value(of, at.scope));
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != of) {
        cx.value(part, at.scope);
    }
    let is_address = field(node, "operator").is_some_and(|operator| cx.text(operator) == "&");
    at.says(if is_address { value } else { cx.facts.of(Op::Await, value) })
}

/// A sum may be a pointer, and a shift a stream.
pub(super) fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let [left, _] = ["left", "right"].map(|part| field(node, part).map_or(UNKNOWN, |part| cx.value(part, at.scope)));
    let operator = field(node, "operator").map_or("", |operator| cx.text(operator));
    at.says(if matches!(operator, "+" | "-" | "<<" | ">>") { left } else { UNKNOWN })
}

/// A call: the overloads that fit its arguments are meant.
pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(function) = field(node, "function") else { return at.says(UNKNOWN) };
    let (on, last) = match function.kind() {
        "identifier" | "template_function" => (None, function),
        "qualified_identifier" => names::split(cx, function, at.scope),
        "field_expression" => {
            let on = receiver(cx, function, at.scope);
            (Some(on), field(function, "field").unwrap_or(function))
        }
        _ => {
            let callee = cx.value(function, at.scope);
            let all = arguments(cx, node, at.scope);
            let all = cx.facts.list(&all);
            return at.says(if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, all) });
        }
    };
    let types = names::arguments(cx, last, at.scope);
    let name_node = names::bare(last);
    let text = cx.text(name_node);
    let all = arguments(cx, node, at.scope);
    let is_made = text.ends_with("_cast") || matches!(text, "make_unique" | "make_shared");
    if let ([of, ..], true) = (&types[..], is_made) {
        return at.says(cx.facts.of(Op::Instance, *of));
    }
    let name = cx.name(name_node);
    let callee = match on {
        None => cx.facts.named(at.scope, name),
        Some(on) => cx.facts.member(on, name),
    };
    let list = cx.facts.list(&all);
    let fitting = if on == Some(UNKNOWN) { callee } else { cx.facts.expression(Op::Fitting, callee, list) };
    cx.facts.occurrence(span_of(name_node), Role::Call, fitting);
    at.says(match (text, &all[..]) {
        ("move" | "forward", [value]) => *value,
        _ if on == Some(UNKNOWN) => UNKNOWN,
        _ => cx.facts.expression(Op::Call, fitting, list),
    })
}

fn arguments<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    field(node, "arguments").map(|list| cx.list(list, NodeContext::used(scope))).unwrap_or_default()
}

/// `[captures](parameters) { … }`
pub(super) fn lambda<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    field(node, "captures").map(|captures| cx.value(captures, at.scope));
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let list = field(node, "declarator").and_then(|declarator| field(declarator, "parameters"));
    let takes = list.map(|list| parameters(cx, list, at.scope, Some(inner))).unwrap_or_default();
    let parameters = cx.facts.list(&takes);
    let function = cx.facts.define(Definition { parameters, ..Definition::default() });
    field(node, "body").map(|body| cx.value(body, inner));
    at.says(cx.facts.expression(Op::Function, function, 0))
}
