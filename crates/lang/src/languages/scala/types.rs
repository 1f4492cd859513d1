//! Lowering of Scala types.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{field, inside, is_bound, needs, plain, term};
use crate::facts::{Bound, ExpressionId, Op, ROOT, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// The type that a node writes.
pub(super) fn written<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    cx.read(node, NodeContext { scope, role: Role::Type }).value
}

/// A value of a type that is part of the language.
pub(super) fn built_in(cx: &mut Lower<'_, '_>, name: &str) -> ExpressionId {
    let name = cx.facts.name(name);
    let of = cx.facts.named(ROOT, name);
    cx.facts.of(Op::Instance, of)
}

fn role(at: NodeContext) -> Role {
    if matches!(at.role, Role::Base | Role::Call) { at.role } else { Role::Type }
}

pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text = plain(cx, node);
    let name = cx.facts.name(text);
    let meant = cx.facts.named(at.scope, name);
    cx.facts.occurrence(span_of(node), role(at), meant);
    needs(cx, node, at.scope, name);
    at.says(meant)
}

/// `a.b.Name`
pub(super) fn path<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.children(node);
    let [before, name] = parts[..] else { return at.says(UNKNOWN) };
    let of = cx.deeper(|cx| stable(cx, before, at.scope));
    let text = plain(cx, name);
    let plain = cx.facts.name(text);
    let meant = cx.facts.member(of, plain);
    cx.facts.occurrence(span_of(name), role(at), meant);
    at.says(meant)
}

/// The meaning of the part before the last point of a path: packages, or a value.
pub(super) fn stable<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    if node.kind() == "stable_identifier" {
        let parts = cx.children(node);
        let [before, name] = parts[..] else { return UNKNOWN };
        let of = cx.deeper(|cx| stable(cx, before, scope));
        let meant = inside(cx, of, name);
        if plain(cx, name).starts_with(char::is_uppercase) {
            cx.facts.occurrence(span_of(name), Role::Reference, meant);
        }
        return meant;
    }
    let text = plain(cx, node);
    let own = term(cx, text);
    if text.starts_with(char::is_uppercase) || is_bound(cx, scope, own) || matches!(text, "this" | "super") {
        return cx.value(node, scope);
    }
    let name = cx.facts.name(text);
    let found = [cx.facts.named(scope, own), cx.facts.named(scope, name)];
    cx.facts.union(&found)
}

/// `Outer#Inner`
pub(super) fn projected<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = field(node, "type").map_or(UNKNOWN, |of| written(cx, of, at.scope));
    let Some(selector) = field(node, "selector") else { return at.says(UNKNOWN) };
    let name = cx.facts.name(plain(cx, selector));
    let meant = cx.facts.member(of, name);
    cx.facts.occurrence(span_of(selector), role(at), meant);
    at.says(meant)
}

/// `Name[A, B]`
pub(super) fn generic<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = field(node, "type").map_or(UNKNOWN, |of| cx.read(of, NodeContext { role: role(at), ..at }).value);
    let Some(list) = field(node, "type_arguments") else { return at.says(of) };
    let all = cx.list(list, NodeContext { role: Role::Type, ..at });
    let all = cx.facts.list(&all);
    at.says(cx.facts.expression(Op::Generic, of, all))
}

/// `name.type`
pub(super) fn singleton<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(inner) = cx.first(node) else { return at.says(UNKNOWN) };
    let value = if inner.kind() == "identifier" { cx.value(inner, at.scope) } else { stable(cx, inner, at.scope) };
    at.says(cx.facts.of(Op::TypeOf, value))
}

/// `A => B`, `(A, B) => C`
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let at = NodeContext { role: Role::Type, ..at };
    let takes = field(node, "parameter_types").map(|list| cx.list(list, at)).unwrap_or_default();
    let gives = field(node, "return_type").map_or(UNKNOWN, |of| cx.read(of, at).value);
    let takes = cx.facts.list(&takes);
    at.says(cx.facts.expression(Op::FunctionType, gives, takes))
}

/// `A with B`, `A & B`, `A @annotated`, `=> A`: each of them.
pub(super) fn joined<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut all = Vec::new();
    for part in cx.children(node) {
        match part.kind() {
            "annotation" | "refinement" | "arguments" => drop(cx.parts(part, at.scope)),
            "identifier" | "operator_identifier" => {}
            _ => all.push(cx.read(part, NodeContext { role: role(at), ..at }).value),
        }
    }
    at.says(cx.facts.union(&all))
}

/// `A*`
pub(super) fn repeated<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = field(node, "type").or_else(|| cx.first(node)).map_or(UNKNOWN, |of| written(cx, of, at.scope));
    let list = cx.facts.list(&[of]);
    at.says(cx.facts.expression(Op::Generic, UNKNOWN, list))
}

/// The type parameters of a declaration, bound in `scope` with their bounds.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let mut all = Vec::new();
    let mut name = None;
    // Names and bounds follow one another; a parameter with a variance is a node of its own.
    let mut parts: Vec<Node<'t>> = Vec::new();
    for part in cx.children(list) {
        match part.kind() {
            "covariant_type_parameter" | "contravariant_type_parameter" => parts.extend(cx.children(part)),
            _ => parts.push(part),
        }
    }
    let mut bounds = Vec::new();
    for part in parts.into_iter().map(Some).chain([None]) {
        if let Some(part) = part
            && !matches!(part.kind(), "identifier" | "operator_identifier")
        {
            match part.kind() {
                "upper_bound" => bounds.extend(field(part, "type").map(|of| written(cx, of, scope))),
                "lower_bound" | "view_bound" | "context_bound" => drop(cx.parts(part, scope)),
                _ => {}
            }
            continue;
        }
        if let Some(own) = name.take() {
            let (own, bound) = (cx.facts.name(own), cx.facts.union(&std::mem::take(&mut bounds)));
            cx.facts.bind(scope, own, Bound::variable().of(bound));
            all.push(cx.facts.named(scope, own));
        }
        name = part.map(|part| plain(cx, part));
    }
    all
}
