//! Local names narrowed by conditions: `instanceof`, and calls of TypeScript's guards.

use tree_sitter::Node;

use super::expressions::is_typescript;
use super::field;
use crate::facts::{BindingKind, ExpressionId, NONE, Op, ScopeId, ScopeKind, UNKNOWN};
use crate::languages::lower::Lower;

/// How names of guards begin.
const GUARDS: &[&str] = &["is", "has", "can", "assert"];
/// Statements after which the next one is not reached.
const LEAVING: &[&str] = &["return_statement", "throw_statement", "continue_statement", "break_statement"];

/// The scope where a condition holds, or does not: in it a local name may be an instance of a class, or none.
pub(super) fn narrowed<'t>(cx: &mut Lower<'_, 't>, condition: Node<'t>, scope: ScopeId, holds: bool) -> ScopeId {
    let mut scope = scope;
    let mut waiting = vec![(condition, holds)];
    while let Some((node, holds)) = waiting.pop() {
        let operator = field(node, "operator").map_or("", |operator| operator.kind());
        match node.kind() {
            "parenthesized_expression" => waiting.extend(cx.first(node).map(|inner| (inner, holds))),
            "unary_expression" if operator == "!" => {
                waiting.extend(field(node, "argument").map(|argument| (argument, !holds)));
            }
            "binary_expression" if operator == if holds { "&&" } else { "||" } => {
                let both = [field(node, "right"), field(node, "left")];
                waiting.extend(both.into_iter().flatten().map(|part| (part, holds)));
            }
            "binary_expression" if operator == "instanceof" => {
                let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { continue };
                if let Some(value) = local(cx, left, scope) {
                    let class = silent(cx, right, scope);
                    scope = cx.tell(left, value, class, holds, scope);
                }
            }
            "call_expression" => {
                let Some((told, value)) = told(cx, node, scope) else { continue };
                let call = silent_call(cx, node, scope);
                if call == UNKNOWN {
                    continue;
                }
                scope = cx.tell(told, value, call, holds, scope);
            }
            _ => {}
        }
    }
    scope
}

/// The scope after a statement: where its condition sends away, the rest of the block is reached when it does not hold.
pub(super) fn after<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ScopeId {
    if !cx.facts.is(scope, ScopeKind::Function) && !cx.facts.is(scope, ScopeKind::Block) {
        return scope;
    }
    match node.kind() {
        "if_statement" if field(node, "alternative").is_none() => {
            let leaves = field(node, "consequence").is_some_and(|then| {
                let last = then.named_child(then.named_child_count().saturating_sub(1) as u32);
                let last = if then.kind() == "statement_block" { last } else { Some(then) };
                last.is_some_and(|last| LEAVING.contains(&last.kind()))
            });
            let condition = field(node, "condition").filter(|_| leaves);
            condition.map_or(scope, |condition| narrowed(cx, condition, scope, false))
        }
        "expression_statement" => {
            let call = cx.first(node).filter(|call| call.kind() == "call_expression");
            let asserts = |call: &Node<'t>| field(*call, "function").is_some_and(|own| cx.text(own).contains("assert"));
            call.filter(asserts).map_or(scope, |call| narrowed(cx, call, scope, true))
        }
        _ => scope,
    }
}

/// The value of a local name; `None` for other expressions. A binding with a place would lose it.
fn local<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
    if node.kind() != "identifier" {
        return None;
    }
    let name = cx.name(node);
    let bound = cx.facts.lookup(scope, name);
    let is_local =
        |kind: BindingKind| matches!(kind, BindingKind::Variable | BindingKind::Parameter | BindingKind::Narrowed);
    let all = !bound.is_empty() && bound.iter().all(|binding| binding.at == NONE && is_local(binding.kind));
    all.then(|| cx.facts.named(scope, name))
}

/// The local name of which a call may tell the type, with its value: the first argument of a guard, or its receiver.
fn told<'t>(cx: &mut Lower<'_, 't>, call: Node<'t>, scope: ScopeId) -> Option<(Node<'t>, ExpressionId)> {
    let function = field(call, "function").filter(|_| is_typescript(call))?;
    let called = cx.text(field(function, "property").unwrap_or(function));
    if !GUARDS.iter().any(|start| called.starts_with(start)) {
        return None;
    }
    let arguments = field(call, "arguments")?;
    let told = cx.first(arguments).or_else(|| field(function, "object"))?;
    Some((told, local(cx, told, scope)?))
}

/// The expression of a call whose occurrences have been recorded.
fn silent_call<'t>(cx: &mut Lower<'_, 't>, call: Node<'t>, scope: ScopeId) -> ExpressionId {
    let callee = field(call, "function").map_or(UNKNOWN, |function| silent(cx, function, scope));
    let none = cx.facts.list(&[]);
    if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, none) }
}

/// The expression of a name or a member whose occurrences have been recorded.
fn silent<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "identifier" => {
            let name = cx.name(node);
            cx.facts.named(scope, name)
        }
        "member_expression" => {
            let (Some(object), Some(property)) = (field(node, "object"), field(node, "property")) else {
                return UNKNOWN;
            };
            let on = cx.deeper(|cx| silent(cx, object, scope));
            let name = cx.name(property);
            if on == UNKNOWN { UNKNOWN } else { cx.facts.member(on, name) }
        }
        _ => UNKNOWN,
    }
}
