//! Local names narrowed by conditions: `instanceof`, calls of TypeScript's guards, and members that tell types apart.

use tree_sitter::Node;

use super::expressions::is_typescript;
use super::field;
use super::literals::{self, End, Switch};
use crate::facts::{BindingKind, Bound, ExpressionId, NONE, Op, ScopeId, ScopeKind, UNKNOWN};
use crate::languages::lower::Lower;

/// How names of guards begin.
const GUARDS: &[&str] = &["is", "has", "can", "assert"];
/// Statements after which the next one is not reached.
const LEAVING: &[&str] = &["return_statement", "throw_statement", "continue_statement", "break_statement"];

/// The scope where a condition holds, or does not: in it a local name may be an instance of a class, or none.
pub(super) fn narrowed<'t>(cx: &mut Lower<'_, 't>, condition: Node<'t>, scope: ScopeId, holds: bool) -> ScopeId {
    cx.deeper(|cx| Some(narrowed_in(cx, condition, scope, holds, &mut Vec::new()))).unwrap_or(scope)
}

/// The scope where one of two conditions holds: what both tell of a name.
fn either<'t>(
    cx: &mut Lower<'_, 't>,
    sides: [Node<'t>; 2],
    scope: ScopeId,
    holds: bool,
    told: &mut Vec<Node<'t>>,
) -> ScopeId {
    let mut by_side = [Vec::new(), Vec::new()];
    let mut inner = [scope; 2];
    for place in 0..2 {
        inner[place] =
            cx.deeper(|cx| Some(narrowed_in(cx, sides[place], scope, holds, &mut by_side[place]))).unwrap_or(scope);
    }
    let [first, second] = by_side;
    let Some(named) = first.into_iter().find(|one| second.iter().any(|other| cx.text(*other) == cx.text(*one))) else {
        return scope;
    };
    let name = cx.name(named);
    let values = inner.map(|inner| cx.facts.named(inner, name));
    let both = cx.facts.union(&values);
    let of = cx.facts.of(Op::TypeOf, both);
    let scope = cx.facts.scope(ScopeKind::Block, scope);
    cx.facts.bind(scope, name, Bound::narrowed(of));
    told.push(named);
    scope
}

fn narrowed_in<'t>(
    cx: &mut Lower<'_, 't>,
    condition: Node<'t>,
    scope: ScopeId,
    holds: bool,
    names: &mut Vec<Node<'t>>,
) -> ScopeId {
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
            "binary_expression" if operator == "&&" || operator == "||" => {
                let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { continue };
                scope = either(cx, [left, right], scope, holds, names);
            }
            "binary_expression" if operator == "instanceof" => {
                let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { continue };
                if let Some(value) = local(cx, left, scope) {
                    let class = silent(cx, right, scope);
                    scope = cx.tell(left, value, class, holds, scope);
                    names.push(left);
                }
            }
            "binary_expression" if is_typescript(node) => {
                let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { continue };
                let told = match operator {
                    "in" => literals::within(cx, left, right, scope),
                    "==" | "===" | "!=" | "!==" => literals::compared(cx, left, right, scope),
                    _ => None,
                };
                if let Some((named, of, class)) = told {
                    scope = cx.tell(named, of, class, holds != operator.starts_with('!'), scope);
                    names.push(named);
                }
            }
            "member_expression" if is_typescript(node) => {
                if let Some((named, of, class)) = literals::flag(cx, node, holds, scope) {
                    scope = cx.tell(named, of, class, false, scope);
                    names.push(named);
                }
            }
            "call_expression" => {
                let Some((told, value)) = told(cx, node, scope) else { continue };
                let call = silent_call(cx, node, scope);
                if call == UNKNOWN {
                    continue;
                }
                scope = cx.tell(told, value, call, holds, scope);
                names.push(told);
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
            let leaves = field(node, "consequence").is_some_and(|then| end(then) != End::Falls);
            let condition = field(node, "condition").filter(|_| leaves);
            condition.map_or(scope, |condition| narrowed(cx, condition, scope, false))
        }
        "switch_statement" if is_typescript(node) => {
            Switch::of(cx, node, scope).map_or(scope, |switch| switch.after(cx, scope))
        }
        "expression_statement" => {
            let call = cx.first(node).filter(|call| call.kind() == "call_expression");
            let called = call.and_then(|call| field(call, "function")).map_or("", |own| cx.text(own));
            let condition = match called.rsplit('.').next().unwrap_or_default() {
                "assert" | "invariant" => {
                    call.and_then(|call| field(call, "arguments")).and_then(|given| cx.first(given))
                }
                _ => call.filter(|_| called.contains("assert")),
            };
            condition.map_or(scope, |condition| narrowed(cx, condition, scope, true))
        }
        _ => scope,
    }
}

/// How a statement, or the last one of a block, ends.
pub(super) fn end(node: Node<'_>) -> End {
    let places = (0..node.named_child_count() as u32).rev();
    let mut statements = places.filter_map(|place| node.named_child(place)).filter(|child| !child.is_extra());
    let last = if node.kind() == "statement_block" { statements.next() } else { Some(node) };
    match last.map_or("", |last| last.kind()) {
        "break_statement" => End::Breaks,
        kind if LEAVING.contains(&kind) => End::Leaves,
        _ => End::Falls,
    }
}

/// The value of a local name; `None` for other expressions. A binding with a place would lose it.
pub(super) fn local<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
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
pub(super) fn silent<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
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
            match on {
                UNKNOWN => UNKNOWN,
                // Members of a prototype are members of an instance.
                _ if cx.text(property) == "prototype" => cx.facts.of(Op::New, on),
                _ => cx.facts.member(on, name),
            }
        }
        "this" => {
            let name = cx.facts.name("this");
            cx.facts.named(scope, name)
        }
        "subscript_expression" => {
            let on = field(node, "object").map_or(UNKNOWN, |object| cx.deeper(|cx| silent(cx, object, scope)));
            cx.facts.of(Op::Element, on)
        }
        "non_null_expression" => cx.first(node).map_or(UNKNOWN, |inner| cx.deeper(|cx| silent(cx, inner, scope))),
        _ => UNKNOWN,
    }
}
