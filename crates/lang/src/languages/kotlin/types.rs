//! Lowering of Kotlin types.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::needs;
use crate::facts::{Bound, ExpressionId, Op, ROOT, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// The place of a function type's receiver among its parameters.
pub(super) const RECEIVER: u32 = 8;

/// The type that a node writes.
pub(super) fn written<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    cx.read(node, NodeContext { scope, role: Role::Type }).value
}

/// Whether a node is a type.
pub(super) fn is_type(node: Node<'_>) -> bool {
    matches!(node.kind(), "user_type" | "nullable_type" | "function_type" | "non_nullable_type" | "parenthesized_type")
}

/// Whether a type is that of a function.
pub(super) fn is_function<'t>(cx: &mut Lower<'_, 't>, mut node: Node<'t>) -> bool {
    while matches!(node.kind(), "nullable_type" | "parenthesized_type") {
        let Some(inner) = cx.children(node).into_iter().find(|part| is_type(*part)) else { return false };
        node = inner;
    }
    node.kind() == "function_type"
}

/// A value of a type that is part of the language.
pub(super) fn built_in(cx: &mut Lower<'_, '_>, name: &str) -> ExpressionId {
    let name = cx.facts.name(name);
    let of = cx.facts.named(ROOT, name);
    cx.facts.of(Op::Instance, of)
}

/// `a.b.Name<T>.Inner`
pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.children(node);
    let last = parts.iter().rev().find(|part| part.kind() == "identifier").copied();
    let role = if at.role == Role::Base { Role::Base } else { Role::Type };
    let mut of = None;
    for part in parts {
        match part.kind() {
            "identifier" => {
                let name = cx.name(part);
                let meant = match of {
                    None => cx.facts.named(at.scope, name),
                    Some(of) => cx.facts.member(of, name),
                };
                cx.facts.occurrence(span_of(part), if Some(part) == last { role } else { Role::Type }, meant);
                if of.is_none() {
                    needs(cx, part, at.scope, name);
                }
                of = Some(meant);
            }
            "type_arguments" => {
                let all = arguments(cx, part, at.scope);
                let list = cx.facts.list(&all);
                of = of.map(|of| cx.facts.expression(Op::Generic, of, list));
            }
            _ => drop(cx.value(part, at.scope)),
        }
    }
    at.says(of.unwrap_or(UNKNOWN))
}

/// `<A, out B, *>`
pub(super) fn arguments<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let mut all = Vec::new();
    for projection in cx.children(node) {
        let of = cx.children(projection).into_iter().find(|part| is_type(*part));
        all.push(of.map_or(UNKNOWN, |of| written(cx, of, scope)));
    }
    all
}

/// `Type?`, `(Type)`, `Type & Any`
pub(super) fn inner<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut of = UNKNOWN;
    for part in cx.children(node) {
        let read = cx.read(part, at).value;
        of = if is_type(part) && of == UNKNOWN { read } else { of };
    }
    at.says(of)
}

/// `Receiver.(A, b: B) -> C`
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let at = NodeContext { role: Role::Type, ..at };
    let (mut takes, mut receiver, mut gives) = (None, UNKNOWN, UNKNOWN);
    for part in cx.children(node) {
        if part.kind() != "function_type_parameters" {
            let of = cx.read(part, at).value;
            match takes {
                _ if !is_type(part) => {}
                None => receiver = of,
                Some(_) => gives = of,
            }
            continue;
        }
        let mut types = Vec::new();
        for one in cx.children(part) {
            let of = if one.kind() == "parameter" { cx.children(one).last().copied() } else { Some(one) };
            types.push(of.map_or(UNKNOWN, |of| cx.read(of, at).value));
        }
        takes = Some(types);
    }
    let mut takes = takes.unwrap_or_default();
    if receiver != UNKNOWN {
        takes.resize(RECEIVER as usize, UNKNOWN);
        takes.push(receiver);
    }
    let takes = cx.facts.list(&takes);
    at.says(cx.facts.expression(Op::FunctionType, gives, takes))
}

/// The type parameters of a declaration, bound in `scope` with their bounds.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let parts = cx.children(node);
    let constraints = parts.iter().find(|part| part.kind() == "type_constraints").map(|list| cx.children(*list));
    let list = parts.iter().find(|part| part.kind() == "type_parameters").map(|list| cx.children(*list));
    let mut all = Vec::new();
    let mut bounds: HashMap<&str, Vec<ExpressionId>> = HashMap::new();
    for constraint in constraints.unwrap_or_default() {
        if let [name, of, ..] = cx.children(constraint)[..] {
            let of = written(cx, of, scope);
            bounds.entry(cx.text(name)).or_default().push(of);
        }
    }
    for parameter in list.unwrap_or_default() {
        let mut name = None;
        let mut of = Vec::new();
        for part in cx.children(parameter) {
            match part.kind() {
                "identifier" => name = Some(part),
                "type_parameter_modifiers" => {}
                _ => of.push(written(cx, part, scope)),
            }
        }
        let Some(name) = name else { continue };
        // Of two parameters of one name the first has the bounds.
        of.extend(bounds.remove(cx.text(name)).unwrap_or_default());
        let (name, bound) = (cx.name(name), cx.facts.union(&of));
        cx.facts.bind(scope, name, Bound::variable().of(bound));
        all.push(cx.facts.named(scope, name));
    }
    all
}
