//! Lowering of Scala patterns, and of the cases that they stand in.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{field, fields, is_open, needs, plain, statements, term};
use super::types;
use crate::facts::{Bound, ExpressionId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Binds the names of a pattern, which is held against a value.
pub(super) fn bind<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, value: ExpressionId, scope: ScopeId) {
    cx.deeper(|cx| bind_one(cx, node, value, scope));
}

fn bind_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, value: ExpressionId, scope: ScopeId) {
    match node.kind() {
        "identifier" if !is_constant(cx, node) => variable(cx, node, Bound::variable().value(value), scope),
        "identifier" => drop(cx.value(node, scope)),
        "stable_identifier" => {
            let meant = types::stable(cx, node, scope);
            if let Some(last) =
                cx.children(node).last().filter(|last| !plain(cx, **last).starts_with(char::is_uppercase))
            {
                cx.facts.occurrence(span_of(*last), Role::Reference, meant);
            }
        }
        "capture_pattern" => {
            let inner = field(node, "pattern");
            let of = inner.map_or(UNKNOWN, |inner| written(cx, inner, scope));
            if let Some(name) = field(node, "name").filter(|name| name.kind() != "wildcard") {
                variable(cx, name, Bound::variable().value(value).of(of), scope);
            }
            inner.into_iter().for_each(|inner| bind(cx, inner, value, scope));
        }
        "typed_pattern" => {
            let of = field(node, "type").map_or(UNKNOWN, |of| types::written(cx, of, scope));
            if let Some(inner) = field(node, "pattern") {
                if inner.kind() == "identifier" {
                    variable(cx, inner, Bound::variable().of(of), scope);
                } else {
                    let value = cx.facts.of(Op::Instance, of);
                    bind(cx, inner, value, scope);
                }
            }
        }
        "case_class_pattern" => extracted(cx, node, scope),
        "tuple_pattern" => {
            for (place, part) in (0u32..).zip(cx.children(node)) {
                let item = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place) };
                bind(cx, part, item, scope);
            }
        }
        "infix_pattern" => {
            for side in ["left", "right"] {
                field(node, side).into_iter().for_each(|part| bind(cx, part, UNKNOWN, scope));
            }
        }
        "alternative_pattern" | "named_pattern" | "named_tuple_pattern" | "repeat_pattern" => {
            let each = if node.kind() == "alternative_pattern" { value } else { UNKNOWN };
            for part in cx.children(node) {
                bind(cx, part, each, scope);
            }
        }
        "given_pattern" => drop(cx.parts(node, scope)),
        "wildcard" => {}
        _ => drop(cx.value(node, scope)),
    }
}

/// Whether a name in a pattern means a value that is compared, and binds none.
fn is_constant(cx: &Lower<'_, '_>, node: Node<'_>) -> bool {
    cx.text(node).starts_with(|letter: char| letter.is_uppercase() || letter == '`')
}

/// The type that a pattern asks for.
fn written<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let of = matches!(node.kind(), "typed_pattern" | "case_class_pattern").then(|| field(node, "type")).flatten();
    let Some(of) = of.filter(|of| of.kind() == "type_identifier") else { return UNKNOWN };
    let name = cx.facts.name(plain(cx, of));
    cx.facts.named(scope, name)
}

fn variable(cx: &mut Lower<'_, '_>, node: Node<'_>, bound: Bound, scope: ScopeId) {
    let name = term(cx, plain(cx, node));
    let bound = if is_open(cx, scope) { bound.at(node.start_byte() as u32) } else { bound };
    cx.facts.bind(scope, name, bound);
}

/// `Name(a, b)`: what takes a value apart has the name of a term.
fn extracted<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some(of) = field(node, "type") else { return };
    let (last, on) = if of.kind() == "stable_type_identifier" {
        let parts = cx.children(of);
        let [before, last] = parts[..] else { return };
        (last, Some(types::stable(cx, before, scope)))
    } else {
        (of, None)
    };
    let text = plain(cx, last);
    let (own, class) = (term(cx, text), cx.facts.name(text));
    let (meant, class) = match on {
        Some(on) => (cx.facts.member(on, own), cx.facts.member(on, class)),
        None => (cx.facts.named(scope, own), cx.facts.named(scope, class)),
    };
    cx.facts.occurrence(span_of(last), Role::Reference, meant);
    if on.is_none() {
        needs(cx, last, scope, own);
    }
    field(node, "type_arguments").map(|list| cx.parts(list, scope));
    let value = cx.facts.of(Op::Instance, class);
    for (place, part) in (1u32..).zip(fields(node, "pattern")) {
        let name = term(cx, &format!("_{place}"));
        let item = cx.facts.member(value, name);
        bind(cx, part, item, scope);
    }
}

/// A case of which nothing is known that it is held against.
pub(super) fn case<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(clause(cx, node, UNKNOWN, at.scope))
}

/// `case pattern if condition => …`
pub(super) fn clause<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, value: ExpressionId, scope: ScopeId) -> ExpressionId {
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    let pattern = field(node, "pattern");
    pattern.into_iter().for_each(|pattern| bind(cx, pattern, value, inner));
    let rest: Vec<Node<'t>> = cx.pieces(node).into_iter().filter(|part| Some(*part) != pattern).collect();
    statements(cx, &rest, inner)
}

/// `catch { case … }`, `catch case pattern => …`
pub(super) fn catch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if field(node, "pattern").is_some() {
        return case(cx, node, at);
    }
    at.says(super::expressions::branches(cx, node, UNKNOWN, at.scope))
}
