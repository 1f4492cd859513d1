//! Local names narrowed by conditions: `isinstance`, and calls of guards (`TypeIs`, `TypeGuard`).
//!
//! A scope is added for the statements that a condition decides. It holds what is told alone: Python has no blocks, so names
//! are bound in the function around it, its [`home`].

use tree_sitter::Node;

use super::super::lower::Lower;
use super::lower::field;
use crate::facts::{BindingKind, Bound, ExpressionId, NONE, NameId, Op, ScopeId, ScopeKind, UNKNOWN};

/// How names of guards begin, after underscores.
const GUARDS: &[&str] = &["is", "has"];
/// Statements after which the next one is not reached.
const LEAVING: &[&str] = &["return_statement", "raise_statement", "continue_statement", "break_statement"];

/// The scope that binds the names of a statement.
pub(super) fn home(cx: &Lower<'_, '_>, mut scope: ScopeId) -> ScopeId {
    while cx.facts.is(scope, ScopeKind::Block) {
        scope = cx.facts.parent(scope);
    }
    scope
}

/// Adds a value that is assigned to a name of which something is told.
pub(super) fn assigned(cx: &mut Lower<'_, '_>, mut scope: ScopeId, name: NameId, value: ExpressionId) {
    while cx.facts.is(scope, ScopeKind::Block) {
        if cx.facts.binds(scope, name) {
            let of = cx.facts.of(Op::TypeOf, value);
            cx.facts.bind(scope, name, Bound::narrowed(of));
        }
        scope = cx.facts.parent(scope);
    }
}

/// The scope where a condition holds, or does not: in it a local name may be an instance of a class, or none.
pub(super) fn narrowed<'t>(cx: &mut Lower<'_, 't>, condition: Node<'t>, scope: ScopeId, holds: bool) -> ScopeId {
    let mut scope = scope;
    let mut waiting = vec![(condition, holds)];
    while let Some((node, holds)) = waiting.pop() {
        match node.kind() {
            "parenthesized_expression" => waiting.extend(cx.first(node).map(|inner| (inner, holds))),
            "not_operator" => waiting.extend(field(node, "argument").map(|argument| (argument, !holds))),
            "boolean_operator" => {
                let operator = field(node, "operator").map_or("", |operator| operator.kind());
                if operator == if holds { "and" } else { "or" } {
                    let both = [field(node, "right"), field(node, "left")];
                    waiting.extend(both.into_iter().flatten().map(|part| (part, holds)));
                }
            }
            "call" => scope = test(cx, node, scope, holds),
            _ => {}
        }
    }
    scope
}

/// The scope where a call that is a condition holds, or does not.
fn test<'t>(cx: &mut Lower<'_, 't>, call: Node<'t>, scope: ScopeId, holds: bool) -> ScopeId {
    let (Some(function), Some(arguments)) = (field(call, "function"), field(call, "arguments")) else { return scope };
    let arguments = cx.children(arguments);
    let called = cx.text(function);
    let called = called.rsplit('.').next().unwrap_or(called).trim_start_matches('_');
    let Some(value) = arguments.first().and_then(|named| local(cx, *named, scope)) else { return scope };
    let class = match (called, &arguments[..]) {
        ("isinstance", [_, classes]) => silent_type(cx, *classes, scope),
        _ if GUARDS.iter().any(|start| called.starts_with(start)) => {
            let callee = silent(cx, function, scope);
            let given = cx.facts.list(&[value]);
            if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, given) }
        }
        _ => return scope,
    };
    tell(cx, arguments[0], class, holds, scope)
}

/// The scope where a test has told the type of a name.
pub(super) fn tell<'t>(
    cx: &mut Lower<'_, 't>,
    named: Node<'t>,
    class: ExpressionId,
    holds: bool,
    scope: ScopeId,
) -> ScopeId {
    let Some(value) = local(cx, named, scope) else { return scope };
    cx.tell(named, value, class, holds, scope)
}

/// Whether the last statement of a block sends away from what follows it.
pub(super) fn leaves(block: Node<'_>) -> bool {
    let last = block.named_child(block.named_child_count().saturating_sub(1) as u32);
    last.is_some_and(|last| LEAVING.contains(&last.kind()))
}

/// The scope after a statement that tells something of what follows it.
pub(super) fn after<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ScopeId {
    match node.kind() {
        "if_statement" if field(node, "alternative").is_none() && field(node, "consequence").is_some_and(leaves) => {
            field(node, "condition").map_or(scope, |condition| narrowed(cx, condition, scope, false))
        }
        "assert_statement" => cx.first(node).map_or(scope, |condition| narrowed(cx, condition, scope, true)),
        _ => scope,
    }
}

/// The value of a name that a function binds; `None` for other expressions. A binding with a place would lose it, and `self`
/// its class.
fn local<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
    let own = home(cx, scope);
    if node.kind() != "identifier" || !cx.facts.is(own, ScopeKind::Function) {
        return None;
    }
    let name = cx.name(node);
    let is_local =
        |kind: BindingKind| matches!(kind, BindingKind::Variable | BindingKind::Parameter | BindingKind::Narrowed);
    let bound: Vec<_> = cx.facts.bound_in(own, name).copied().collect();
    let all = !bound.is_empty() && bound.iter().all(|binding| binding.at == NONE && is_local(binding.kind));
    all.then(|| cx.facts.named(scope, name))
}

/// The classes of an `isinstance` whose occurrences have been recorded.
fn silent_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "tuple" | "binary_operator" => {
            let parts = cx.children(node);
            let types: Vec<ExpressionId> = parts
                .into_iter()
                .map(|part| cx.deeper(|cx| Some(silent_type(cx, part, scope))).unwrap_or(UNKNOWN))
                .collect();
            cx.facts.union(&types)
        }
        _ => silent(cx, node, scope),
    }
}

/// The expression of a name or an attribute whose occurrences have been recorded.
fn silent<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "identifier" => {
            let name = cx.name(node);
            cx.facts.named(scope, name)
        }
        "attribute" => {
            let (Some(object), Some(attribute)) = (field(node, "object"), field(node, "attribute")) else {
                return UNKNOWN;
            };
            let on = cx.deeper(|cx| Some(silent(cx, object, scope))).unwrap_or(UNKNOWN);
            let name = cx.name(attribute);
            if on == UNKNOWN { UNKNOWN } else { cx.facts.member(on, name) }
        }
        _ => UNKNOWN,
    }
}
