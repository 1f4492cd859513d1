//! Lowering of Java types, type parameters and annotations.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::qualified;
use super::lower::{field, method_name, visit};
use crate::facts::{Bound, EMPTY, ExpressionId, ListId, Op, ROOT, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// Reads a type and returns it; `role` is the role of its outermost name.
pub(super) fn type_of<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    cx.deeper(|cx| type_one(cx, node, scope, role))
}

fn type_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        "type_identifier" | "identifier" | "scoped_type_identifier" | "scoped_identifier" => {
            qualified(cx, node, scope, role)
        }
        "generic_type" => {
            let (mut of, mut arguments) = (UNKNOWN, Vec::new());
            for child in cx.children(node) {
                match child.kind() {
                    "type_arguments" => {
                        for argument in cx.children(child) {
                            arguments.push(type_of(cx, argument, scope, Role::Type));
                        }
                    }
                    _ => of = type_of(cx, child, scope, role),
                }
            }
            let list = cx.facts.list(&arguments);
            cx.facts.expression(Op::Generic, of, list)
        }
        "array_type" => {
            let of = field(node, "element").map_or(UNKNOWN, |of| type_of(cx, of, scope, role));
            array_of(cx, of, field(node, "dimensions"))
        }
        "annotated_type" | "wildcard" | "superclass" | "type_bound" | "catch_type" | "type_list" => {
            let mut types = Vec::new();
            for child in cx.children(node) {
                match child.kind() {
                    "annotation" | "marker_annotation" => annotation(cx, child, scope),
                    _ => types.push(type_of(cx, child, scope, role)),
                }
            }
            cx.facts.union(&types)
        }
        // A primitive type is no class, but overloads are chosen by it.
        "integral_type" | "floating_point_type" | "boolean_type" => primitive(cx, cx.text(node)),
        _ => UNKNOWN,
    }
}

/// `int` and its like.
pub(super) fn primitive(cx: &mut Lower<'_, '_>, name: &str) -> ExpressionId {
    let name = cx.facts.name(name);
    cx.facts.named(ROOT, name)
}

/// An array of a type, when dimensions are written.
pub(super) fn array_of(cx: &mut Lower<'_, '_>, of: ExpressionId, dimensions: Option<Node<'_>>) -> ExpressionId {
    let Some(dimensions) = dimensions.filter(|_| of != UNKNOWN) else { return of };
    let depth = cx.text(dimensions).bytes().filter(|byte| *byte == b'[').count();
    (0..depth).fold(of, |of, _| array(cx, of))
}

/// An array of a type.
pub(super) fn array(cx: &mut Lower<'_, '_>, of: ExpressionId) -> ExpressionId {
    let list = cx.facts.list(&[of]);
    if of == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Generic, UNKNOWN, list) }
}

/// Type parameters of a class or method, `<T extends Bound>`; returns their list.
pub(super) fn type_parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ListId {
    let Some(parameters) = field(node, "type_parameters") else { return EMPTY };
    let mut names = Vec::new();
    for parameter in cx.children(parameters) {
        annotations(cx, parameter, scope);
        let (mut name, mut bound) = (None, UNKNOWN);
        for child in cx.children(parameter) {
            match child.kind() {
                "type_identifier" | "identifier" => name = Some(child),
                "type_bound" => bound = type_of(cx, child, scope, Role::Type),
                _ => {}
            }
        }
        if let Some(name) = name {
            let name = cx.name(name);
            cx.facts.bind(scope, name, Bound::variable().of(bound));
            names.push(cx.facts.named(scope, name));
        }
    }
    cx.facts.list(&names)
}

/// The annotations directly in a node or in its modifiers.
pub(super) fn annotations<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    for child in cx.children(node) {
        match child.kind() {
            "modifiers" => annotations(cx, child, scope),
            "annotation" | "marker_annotation" => annotation(cx, child, scope),
            _ => {}
        }
    }
}

/// `@Since(value = 1.0)`: its elements are methods.
pub(super) fn annotation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let of = field(node, "name").map_or(UNKNOWN, |name| qualified(cx, name, scope, Role::Type));
    let arguments = field(node, "arguments").map(|arguments| cx.children(arguments)).unwrap_or_default();
    for argument in arguments {
        if argument.kind() != "element_value_pair" {
            visit(cx, argument, scope);
            continue;
        }
        if let Some(key) = field(argument, "key") {
            let name = method_name(cx, key);
            let element = cx.facts.member(of, name);
            cx.facts.occurrence(span_of(key), Role::Reference, element);
        }
        if let Some(value) = field(argument, "value") {
            visit(cx, value, scope);
        }
    }
}
