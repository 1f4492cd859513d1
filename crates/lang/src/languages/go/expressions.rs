//! Lowering of Go expressions without a shape in the table.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{block, field};
use super::types;
use codelode_base::model::Role;

use crate::facts::{ExpressionId, Op, ScopeId, ScopeKind, UNKNOWN};

/// A composite literal, `T{…}`.
pub(super) fn composite<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(of) = field(node, "type") else { return at.says(UNKNOWN) };
    let meant = types::of(cx, of, at.scope);
    let value = cx.facts.of(Op::Instance, meant);
    if let Some(body) = field(node, "body") {
        literal(cx, body, at.scope, value, Some(of));
    }
    at.says(value)
}

/// A function literal.
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let takes = field(node, "parameters").map(|list| types::parameters(cx, list, at.scope, Some(inner)));
    let gives = types::results(cx, node, at.scope, Some(inner));
    if let Some(body) = field(node, "body") {
        block(cx, body, inner);
    }
    let of = types::function(cx, gives, &takes.unwrap_or_default());
    at.says(cx.facts.of(Op::Instance, of))
}

pub(super) fn unary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let on = field(node, "operand").map_or(UNKNOWN, |on| cx.read(on, at).value);
    at.says(match field(node, "operator").map(|operator| cx.text(operator)) {
        Some("<-") => cx.facts.of(Op::Element, on),
        Some("!") => cx.facts.foreign(),
        _ => on,
    })
}

pub(super) fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let [left, right] =
        ["left", "right"].map(|part| field(node, part).map_or(UNKNOWN, |part| cx.value(part, at.scope)));
    at.says(match field(node, "operator").map(|operator| cx.text(operator)) {
        Some("<<" | ">>") => left,
        Some("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") => cx.facts.foreign(),
        _ => cx.facts.union(&[left, right]),
    })
}

/// A literal without its type, such as an element of another literal.
pub(super) fn untyped<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    literal(cx, node, at.scope, UNKNOWN, None);
    at.says(UNKNOWN)
}

/// A conversion, `T(x)`. The grammar takes `f[T](x)` for one, which may also be a call.
pub(super) fn converted<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let operand = field(node, "operand").map_or(UNKNOWN, |operand| cx.value(operand, at.scope));
    let Some(of) = field(node, "type") else { return at.says(UNKNOWN) };
    let meant = types::of(cx, of, at.scope);
    let converted = cx.facts.of(Op::Instance, meant);
    if of.kind() != "generic_type" || meant == UNKNOWN {
        return at.says(converted);
    }
    let given = cx.facts.list(&[operand]);
    let called = cx.facts.expression(Op::Call, meant, given);
    at.says(cx.facts.union(&[called, converted]))
}

/// A generic function with type arguments, `f[T]`.
pub(super) fn instantiated<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.list(node, NodeContext { role: Role::Type, ..at });
    let [function, types @ ..] = &parts[..] else { return at.says(UNKNOWN) };
    if *function == UNKNOWN {
        return at.says(UNKNOWN);
    }
    let types = cx.facts.list(types);
    at.says(cx.facts.expression(Op::Generic, *function, types))
}

pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = at.scope;
    let (Some(function), Some(arguments)) = (field(node, "function"), field(node, "arguments")) else {
        return at.says(UNKNOWN);
    };
    let arguments = cx.children(arguments);
    if function.kind() == "identifier"
        && let ("new" | "make", Some(of)) = (cx.text(function), arguments.first())
    {
        let of = types::of(cx, *of, scope);
        for argument in &arguments[1..] {
            cx.value(*argument, scope);
        }
        return at.says(cx.facts.of(Op::Instance, of));
    }
    let mut callee = cx.read(function, NodeContext { role: Role::Call, ..at }).value;
    if let Some(list) = field(node, "type_arguments") {
        let types: Vec<ExpressionId> =
            cx.children(list).into_iter().map(|argument| types::of(cx, argument, scope)).collect();
        let types = cx.facts.list(&types);
        callee = if callee == UNKNOWN { callee } else { cx.facts.expression(Op::Generic, callee, types) };
    } else if function.kind() == "index_expression" && callee != UNKNOWN {
        // `f[*T](x)` looks like a call of an element.
        let of = field(function, "index").map_or(UNKNOWN, |index| silent(cx, index, scope));
        let types = cx.facts.list(&[of]);
        callee = if of == UNKNOWN { callee } else { cx.facts.expression(Op::Generic, callee, types) };
    }
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(cx.value(argument, scope));
    }
    if callee == UNKNOWN {
        return at.says(UNKNOWN);
    }
    // Only the first arguments affect the result, as in `append(x, …)`.
    let list = cx.facts.list(&values[..values.len().min(2)]);
    at.says(cx.facts.expression(Op::Call, callee, list))
}

/// The type that a name in brackets, or a pointer to it, may be; its occurrences have been recorded.
fn silent<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let node = if node.kind() == "unary_expression" { field(node, "operand").unwrap_or(node) } else { node };
    if node.kind() != "identifier" {
        return UNKNOWN;
    }
    let name = cx.name(node);
    cx.facts.named(scope, name)
}

/// Maps of the standard library with a name of their own.
const NAMED_MAPS: &[&str] = &["http.Header", "mail.Header", "textproto.MIMEHeader", "url.Values"];

/// Whether the keys of a literal of a type are values, not fields.
fn is_list_or_map<'t>(cx: &Lower<'_, 't>, of: Node<'t>) -> bool {
    match of.kind() {
        "map_type" | "slice_type" | "array_type" | "implicit_length_array_type" => true,
        "qualified_type" => NAMED_MAPS.contains(&cx.text(of)),
        _ => false,
    }
}

/// Reads the braces of a literal. `value` is the literal, `of` its type node.
fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, value: ExpressionId, of: Option<Node<'t>>) {
    let is_list = of.is_some_and(|of| is_list_or_map(cx, of));
    // The type of elements that omit their own.
    let element = of.and_then(|of| field(of, "element").or_else(|| field(of, "value")));
    let key = of.and_then(|of| field(of, "key"));
    for child in cx.children(node) {
        let inside = |part: Node<'t>, cx: &Lower<'_, 't>| match part.kind() {
            "literal_element" => cx.first(part),
            _ => Some(part),
        };
        let mut held = inside(child, cx);
        if child.kind() == "keyed_element" {
            held = field(child, "value").and_then(|held| inside(held, cx));
            if let Some(name) = field(child, "key").and_then(|key| inside(key, cx)) {
                match name.kind() {
                    "literal_value" => {
                        let built = cx.facts.of(Op::Key, value);
                        cx.deeper(|cx| literal(cx, name, scope, built, key));
                    }
                    "identifier" if !is_list => {
                        let spelt = cx.name(name);
                        let member = cx.facts.member(value, spelt);
                        let bare = cx.facts.named(scope, spelt);
                        let meant = cx.facts.expression(Op::Else, member, bare);
                        cx.facts.occurrence(span_of(name), Role::Write, meant);
                    }
                    _ => _ = cx.value(name, scope),
                }
            }
        }
        match held {
            Some(held) if held.kind() == "literal_value" => {
                let built = cx.facts.of(Op::Element, value);
                cx.deeper(|cx| literal(cx, held, scope, built, element));
            }
            Some(held) => _ = cx.value(held, scope),
            None => {}
        }
    }
}
