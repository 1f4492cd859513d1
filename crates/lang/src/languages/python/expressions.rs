//! Expressions of Python: their meaning, and the names in them.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::{FirstParameter, field, parameters, target};
use super::made;
use super::narrowing::{home, narrowed};
use super::types::annotation;
use crate::facts::{BindingKind, Bound, Definition, ExpressionId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// A dotted name in a pattern, `a.b.c`.
pub(super) fn dotted<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let mut value = UNKNOWN;
    for (place, part) in cx.children(node).into_iter().enumerate() {
        let name = cx.name(part);
        value = if place == 0 { cx.facts.named(scope, name) } else { cx.facts.member(value, name) };
        cx.facts.occurrence(span_of(part), Role::Reference, value);
    }
    value
}

/// Reads an expression and returns it; `role` is the role of its outermost name.
pub(super) fn walk<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    cx.deeper(|cx| walk_one(cx, node, scope, role))
}

fn walk_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        "identifier" => {
            let name = cx.name(node);
            let meant = cx.facts.named(scope, name);
            cx.facts.occurrence(span_of(node), role, meant);
            meant
        }
        "attribute" => {
            let (Some(object), Some(attribute)) = (field(node, "object"), field(node, "attribute")) else {
                return UNKNOWN;
            };
            let on = walk(cx, object, scope, Role::Reference);
            let name = cx.name(attribute);
            let meant = cx.facts.member(on, name);
            cx.facts.occurrence(span_of(attribute), role, meant);
            if cx.text(attribute) == "__class__" {
                return own_class(cx, object, scope);
            }
            if cx.text(attribute) == "__dict__" {
                return cx.facts.foreign_container();
            }
            // A member of an unknown value is unknown, but its occurrence is recorded above.
            if on == UNKNOWN { UNKNOWN } else { meant }
        }
        "call" => call(cx, node, scope),
        "keyword_argument" => field(node, "value").map_or(UNKNOWN, |value| walk(cx, value, scope, Role::Reference)),
        "integer" | "float" | "true" | "false" => cx.facts.foreign(),
        "none" | "ellipsis" => UNKNOWN,
        "string" | "concatenated_string" => {
            for part in cx.children(node) {
                if matches!(part.kind(), "interpolation" | "string") {
                    walk(cx, part, scope, Role::Reference);
                }
            }
            cx.facts.foreign()
        }
        "parenthesized_expression" | "named_expression" | "await" => {
            let value = field(node, "value").or_else(|| cx.first(node));
            let value = value.map_or(UNKNOWN, |value| walk(cx, value, scope, role));
            match (node.kind(), field(node, "name")) {
                ("await", _) => cx.facts.of(Op::Await, value),
                ("named_expression", Some(name)) => {
                    target(cx, name, scope, value, UNKNOWN);
                    value
                }
                _ => value,
            }
        }
        "subscript" => {
            let mut parts = cx.children(node).into_iter();
            let on = parts.next().map_or(UNKNOWN, |on| walk(cx, on, scope, Role::Reference));
            let mut is_slice = false;
            for part in parts {
                is_slice |= part.kind() == "slice";
                walk(cx, part, scope, Role::Reference);
            }
            if is_slice { on } else { cx.facts.of(Op::Element, on) }
        }
        "conditional_expression" => {
            let [yes, condition, no] = cx.children(node)[..] else { return UNKNOWN };
            walk(cx, condition, scope, Role::Reference);
            let [yes, no] = [(yes, true), (no, false)].map(|(part, holds)| {
                let inner = narrowed(cx, condition, scope, holds);
                walk(cx, part, inner, Role::Reference)
            });
            cx.facts.union(&[yes, no])
        }
        "boolean_operator" => {
            let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return UNKNOWN };
            let first = walk(cx, left, scope, Role::Reference);
            let is_and = field(node, "operator").is_some_and(|operator| operator.kind() == "and");
            let inner = narrowed(cx, left, scope, is_and);
            let second = walk(cx, right, inner, Role::Reference);
            cx.facts.union(&[first, second])
        }
        "tuple" | "expression_list" => {
            let parts: Vec<ExpressionId> =
                cx.children(node).into_iter().map(|part| walk(cx, part, scope, Role::Reference)).collect();
            let list = cx.facts.list(&parts);
            cx.facts.expression(Op::Tuple, list, 0)
        }
        "list" | "set" => {
            let parts: Vec<ExpressionId> =
                cx.children(node).into_iter().map(|part| walk(cx, part, scope, Role::Reference)).collect();
            let element = cx.facts.union(&parts[..parts.len().min(4)]);
            container(cx, &[element])
        }
        "dictionary" => {
            let mut values = Vec::new();
            for pair in cx.children(node) {
                field(pair, "key").map(|key| walk(cx, key, scope, Role::Reference));
                let value = field(pair, "value").or_else(|| cx.first(pair));
                values.extend(value.map(|value| walk(cx, value, scope, Role::Reference)));
            }
            let element = cx.facts.union(&values[..values.len().min(4)]);
            container(cx, &[UNKNOWN, element])
        }
        "lambda" => lambda(cx, node, scope, FirstParameter::Nothing),
        "list_comprehension" | "set_comprehension" | "dictionary_comprehension" | "generator_expression" => {
            comprehension(cx, node, scope)
        }
        "yield" | "type" | "interpolation" => {
            for part in cx.children(node) {
                walk(cx, part, scope, role);
            }
            UNKNOWN
        }
        _ => {
            for part in cx.children(node) {
                walk(cx, part, scope, Role::Reference);
            }
            UNKNOWN
        }
    }
}

/// The class of what `self` or `cls` is: `self.__class__`, `type(self)`.
fn own_class<'t>(cx: &mut Lower<'_, 't>, of: Node<'t>, scope: ScopeId) -> ExpressionId {
    if of.kind() != "identifier" {
        return UNKNOWN;
    }
    let name = cx.name(of);
    let bound = cx.facts.lookup(scope, name).into_iter().find(|binding| binding.kind == BindingKind::Value);
    let own = bound.map(|binding| cx.facts.look(ExpressionId(binding.a))).filter(|own| own.op == Op::SelfOf);
    own.map_or(UNKNOWN, |own| cx.facts.expression(Op::ClassOf, own.a, 0))
}

fn lambda<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, given: FirstParameter<'_>) -> ExpressionId {
    let function = cx.facts.define(Definition::default());
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    if let Some(parameters) = field(node, "parameters") {
        self::parameters(cx, parameters, inner, scope, given, function);
    }
    let value = field(node, "body").map_or(UNKNOWN, |body| walk(cx, body, inner, Role::Reference));
    cx.facts.returns(function, value);
    cx.facts.expression(Op::Function, function, 0)
}

/// A built-in container with these values.
pub(super) fn container(cx: &mut Lower<'_, '_>, values: &[ExpressionId]) -> ExpressionId {
    if values.iter().all(|value| cx.facts.is_void(*value)) {
        return cx.facts.foreign_container();
    }
    let types: Vec<ExpressionId> = values.iter().map(|value| cx.facts.of(Op::TypeOf, *value)).collect();
    let list = cx.facts.list(&types);
    let generic = cx.facts.expression(Op::Generic, UNKNOWN, list);
    cx.facts.expression(Op::Instance, generic, 0)
}

fn comprehension<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let mut inner = cx.facts.scope(ScopeKind::Function, scope);
    let parts = cx.children(node);
    // The clauses come after the body, but bind its names; each sees the names of earlier ones.
    for clause in parts.iter().skip(1) {
        if clause.kind() == "for_in_clause" {
            let over = field(*clause, "right").map_or(UNKNOWN, |right| walk(cx, right, inner, Role::Reference));
            let each = cx.facts.of(Op::Each, over);
            if let Some(left) = field(*clause, "left") {
                target(cx, left, inner, each, UNKNOWN);
            }
        } else {
            walk(cx, *clause, inner, Role::Reference);
            let condition = cx.first(*clause).filter(|_| clause.kind() == "if_clause");
            inner = condition.map_or(inner, |condition| narrowed(cx, condition, inner, true));
        }
    }
    let Some(body) = parts.first() else { return UNKNOWN };
    match body.kind() {
        "pair" => {
            let key = field(*body, "key").map_or(UNKNOWN, |key| walk(cx, key, inner, Role::Reference));
            let value = field(*body, "value").map_or(UNKNOWN, |value| walk(cx, value, inner, Role::Reference));
            container(cx, &[key, value])
        }
        _ => {
            let value = walk(cx, *body, inner, Role::Reference);
            container(cx, &[value])
        }
    }
}

/// The type that stands for a type variable: its bound.
fn bound_of<'t>(cx: &mut Lower<'_, 't>, nodes: &[Node<'t>], values: &[ExpressionId], scope: ScopeId) -> ExpressionId {
    for (node, value) in nodes.iter().zip(values) {
        if field(*node, "name").is_some_and(|name| cx.text(name) == "bound") {
            return match field(*node, "value") {
                Some(text) if text.kind() == "string" => annotation(cx, text, scope),
                _ => *value,
            };
        }
    }
    UNKNOWN
}

fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let (Some(function), Some(arguments)) = (field(node, "function"), field(node, "arguments")) else {
        return UNKNOWN;
    };
    let callee = walk(cx, function, scope, Role::Call);
    let called = cx.text(function);
    let called = called.rsplit('.').next().unwrap_or(called);
    let nodes = match arguments.kind() {
        // `sum(x for x in y)`: the arguments are one generator.
        "generator_expression" => vec![arguments],
        _ => cx.children(arguments),
    };
    if called == "cast" && nodes.len() == 2 {
        let of = annotation(cx, nodes[0], scope);
        walk(cx, nodes[1], scope, Role::Reference);
        return cx.facts.of(Op::Instance, of);
    }
    let mut values = Vec::with_capacity(nodes.len());
    for (place, argument) in (0..).zip(&nodes) {
        values.push(match argument.kind() {
            "lambda" if callee != UNKNOWN => {
                cx.deeper(|cx| lambda(cx, *argument, scope, FirstParameter::Argument(callee, place)))
            }
            _ => {
                if argument.kind() == "keyword_argument" {
                    made::keyword(cx, *argument, callee, called);
                }
                walk(cx, *argument, scope, Role::Reference)
            }
        });
    }
    if called == "TypeVar" {
        return bound_of(cx, &nodes, &values, scope);
    }
    let is_plain = function.kind() == "identifier";
    if is_plain && called == "super" {
        let class = cx.facts.class_around(scope);
        return class.map_or(UNKNOWN, |class| cx.facts.expression(Op::SuperOf, class, 0));
    }
    if is_plain && called == "type" && nodes.len() == 1 {
        return own_class(cx, nodes[0], scope);
    }
    if is_plain && called == "isinstance" && nodes.len() == 2 && nodes[0].kind() == "identifier" {
        // Only if the name is bound in this scope: otherwise the binding would shadow an outer one.
        let name = cx.name(nodes[0]);
        let scope = home(cx, scope);
        if cx.facts.is(scope, ScopeKind::Function) && cx.facts.binds(scope, name) {
            let classes = cx.facts.look(values[1]);
            let types = match classes.op == Op::Tuple {
                true => cx.facts.expression(Op::Union, classes.a, 0),
                false => values[1],
            };
            if types != UNKNOWN {
                cx.facts.bind(scope, name, Bound::narrowed(types));
            }
        }
    }
    if callee == UNKNOWN {
        return UNKNOWN;
    }
    if let Some(made) = made::instance(cx, callee, &values, scope) {
        return made;
    }
    // Only the first argument affects the result, as in `next(x)`.
    let list = cx.facts.list(&values[..values.len().min(1)]);
    cx.facts.expression(Op::Call, callee, list)
}
