//! Go's expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::{block, field};
use super::types;
use crate::facts::{Op, ScopeKind, UNKNOWN};
use crate::model::Role;

/// Writes down the names in an expression; `role` is what its outermost name does. Gives the expression.
pub(super) fn walk<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32, role: Role) -> u32 {
    cx.deeper(|cx| walk_one(cx, node, scope, role))
}

fn walk_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32, role: Role) -> u32 {
    let part = |cx: &mut Lower<'_, 't>, name: &str| {
        field(node, name).map_or(UNKNOWN, |part| walk(cx, part, scope, Role::Reference))
    };
    match node.kind() {
        "identifier" => {
            if cx.text(node) == "_" {
                return UNKNOWN;
            }
            let name = cx.name(node);
            let meant = cx.facts.named(scope, name);
            cx.facts.occurrence(span_of(node), role, meant);
            meant
        }
        "selector_expression" => {
            let on = part(cx, "operand");
            let Some(member) = field(node, "field") else { return UNKNOWN };
            let name = cx.name(member);
            let meant = cx.facts.member(on, name);
            cx.facts.occurrence(span_of(member), role, meant);
            // Of the unknown nothing is known, but what is written was.
            if on == UNKNOWN { UNKNOWN } else { meant }
        }
        "call_expression" => call(cx, node, scope),
        "parenthesized_expression" => cx.first(node).map_or(UNKNOWN, |inner| walk(cx, inner, scope, role)),
        "composite_literal" => {
            let Some(of) = field(node, "type") else { return UNKNOWN };
            let meant = types::of(cx, of, scope);
            let value = cx.facts.of(Op::Instance, meant);
            if let Some(body) = field(node, "body") {
                literal(cx, body, scope, value, Some(of));
            }
            value
        }
        "type_assertion_expression" | "type_conversion_expression" => {
            part(cx, "operand");
            let of = field(node, "type").map_or(UNKNOWN, |of| types::of(cx, of, scope));
            cx.facts.of(Op::Instance, of)
        }
        "func_literal" => {
            let inner = cx.facts.scope(ScopeKind::Function, scope);
            let takes = field(node, "parameters").map(|list| types::parameters(cx, list, scope, Some(inner)));
            let gives = types::results(cx, node, scope, Some(inner));
            if let Some(body) = field(node, "body") {
                block(cx, body, inner);
            }
            let of = types::function(cx, gives, &takes.unwrap_or_default());
            cx.facts.of(Op::Instance, of)
        }
        "index_expression" => {
            let on = part(cx, "operand");
            part(cx, "index");
            cx.facts.of(Op::Element, on)
        }
        "slice_expression" => {
            for bound in ["start", "end", "capacity"] {
                part(cx, bound);
            }
            part(cx, "operand")
        }
        "unary_expression" => {
            let on = field(node, "operand").map_or(UNKNOWN, |on| walk(cx, on, scope, role));
            match field(node, "operator").map(|operator| cx.text(operator)) {
                Some("<-") => cx.facts.of(Op::Element, on),
                Some("!") => UNKNOWN,
                _ => on,
            }
        }
        "binary_expression" => {
            let (left, right) = (part(cx, "left"), part(cx, "right"));
            match field(node, "operator").map(|operator| cx.text(operator)) {
                Some("<<" | ">>") => left,
                Some("==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||") => UNKNOWN,
                _ => cx.facts.union(&[left, right]),
            }
        }
        "literal_value" => {
            literal(cx, node, scope, UNKNOWN, None);
            UNKNOWN
        }
        "interpreted_string_literal"
        | "raw_string_literal"
        | "int_literal"
        | "float_literal"
        | "rune_literal"
        | "imaginary_literal"
        | "nil"
        | "true"
        | "false"
        | "iota"
        | "field_identifier"
        | "package_identifier"
        | "label_name" => UNKNOWN,
        "type_instantiation_expression" => {
            let mut meant = UNKNOWN;
            for (place, of) in cx.children(node).into_iter().enumerate() {
                let of = types::of(cx, of, scope);
                meant = if place == 0 { of } else { meant };
            }
            meant
        }
        "type_identifier" | "qualified_type" | "generic_type" | "pointer_type" | "slice_type" | "array_type"
        | "map_type" | "channel_type" | "function_type" | "struct_type" | "interface_type" | "parenthesized_type" => {
            types::of(cx, node, scope)
        }
        _ => {
            for child in cx.children(node) {
                walk(cx, child, scope, Role::Reference);
            }
            UNKNOWN
        }
    }
}

fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32) -> u32 {
    let (Some(function), Some(arguments)) = (field(node, "function"), field(node, "arguments")) else {
        return UNKNOWN;
    };
    let arguments = cx.children(arguments);
    if function.kind() == "identifier"
        && let ("new" | "make", Some(of)) = (cx.text(function), arguments.first())
    {
        let of = types::of(cx, *of, scope);
        for argument in &arguments[1..] {
            walk(cx, *argument, scope, Role::Reference);
        }
        return cx.facts.of(Op::Instance, of);
    }
    let callee = walk(cx, function, scope, Role::Call);
    if let Some(list) = field(node, "type_arguments") {
        for argument in cx.children(list) {
            types::of(cx, argument, scope);
        }
    }
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(walk(cx, argument, scope, Role::Reference));
    }
    if callee == UNKNOWN {
        return UNKNOWN;
    }
    // Only the first says anything: of `append(x, …)` and the like.
    let list = cx.facts.list(&values[..values.len().min(1)]);
    cx.facts.expression(Op::Call, callee, list)
}

/// What is in the braces of a literal that builds `value`, of the type that is written as `of`.
fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: u32, value: u32, of: Option<Node<'t>>) {
    let is_list = of
        .is_some_and(|of| matches!(of.kind(), "map_type" | "slice_type" | "array_type" | "implicit_length_array_type"));
    // What the type says of elements whose own type is left out.
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
                    _ => drop(walk(cx, name, scope, Role::Reference)),
                }
            }
        }
        match held {
            Some(held) if held.kind() == "literal_value" => {
                let built = cx.facts.of(Op::Element, value);
                cx.deeper(|cx| literal(cx, held, scope, built, element));
            }
            Some(held) => drop(walk(cx, held, scope, Role::Reference)),
            None => {}
        }
    }
}
