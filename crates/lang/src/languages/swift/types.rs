//! Lowering of Swift types.

use std::collections::HashMap;

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{child, class_around, needs, plain};
use crate::facts::{Bound, ExpressionId, Op, ROOT, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// The type that a node writes.
pub(super) fn written<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    cx.read(node, NodeContext { scope, role: Role::Type }).value
}

/// Kinds of types.
const TYPES: &[&str] = &[
    "user_type",
    "array_type",
    "dictionary_type",
    "optional_type",
    "tuple_type",
    "function_type",
    "opaque_type",
    "existential_type",
    "metatype",
    "protocol_composition_type",
    "suppressed_constraint",
    "type_pack_expansion",
    "type_parameter_pack",
    "bracket_qualified_type",
];

/// Whether a node is a type.
pub(super) fn is_type(node: Node<'_>) -> bool {
    TYPES.contains(&node.kind())
}

/// `: Type`
pub(super) fn annotated<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let of = cx.children(node).into_iter().find(|part| is_type(*part));
    of.map_or(UNKNOWN, |of| written(cx, of, scope))
}

/// A value of a type that is part of the language.
pub(super) fn built_in(cx: &mut Lower<'_, '_>, name: &str) -> ExpressionId {
    let of = library(cx, name);
    cx.facts.of(Op::Instance, of)
}

/// A type that is part of the language.
fn library(cx: &mut Lower<'_, '_>, name: &str) -> ExpressionId {
    let name = cx.facts.name(name);
    cx.facts.named(ROOT, name)
}

/// A type with arguments, of the language's own containers.
pub(super) fn container(cx: &mut Lower<'_, '_>, name: &str, of: &[ExpressionId]) -> ExpressionId {
    let (type_name, list) = (library(cx, name), cx.facts.list(of));
    cx.facts.expression(Op::Generic, type_name, list)
}

fn role(at: NodeContext) -> Role {
    if matches!(at.role, Role::Base | Role::Call) { at.role } else { Role::Type }
}

/// `Self`, in a type: the type around.
fn own(cx: &mut Lower<'_, '_>, scope: ScopeId) -> ExpressionId {
    class_around(cx, scope).map_or(UNKNOWN, |class| cx.facts.expression(Op::ClassOf, class, 0))
}

/// `Module.Name<A>.Inner`
pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.children(node);
    let last = parts.iter().rev().find(|part| part.kind() == "type_identifier").copied();
    let mut of = None;
    for part in parts {
        match part.kind() {
            "type_identifier" => {
                let text = plain(cx, part);
                if of.is_none() && text == "Self" {
                    of = Some(own(cx, at.scope));
                    continue;
                }
                // `Name.Type`: the type itself as a value.
                if let Some(inner) = of
                    && matches!(text, "Type" | "Protocol")
                {
                    of = Some(cx.facts.of(Op::TypeOf, inner));
                    continue;
                }
                let name = cx.facts.name(text);
                let meant = match of {
                    None => cx.facts.named(at.scope, name),
                    Some(of) => cx.facts.member(of, name),
                };
                cx.facts.occurrence(span_of(part), if Some(part) == last { role(at) } else { Role::Type }, meant);
                if of.is_none() {
                    needs(cx, part, at.scope, name);
                }
                of = Some(meant);
            }
            "type_arguments" => {
                let all = cx.list(part, NodeContext { role: Role::Type, ..at });
                let is_optional = last.is_some_and(|last| cx.text(last) == "Optional");
                if let ([only], true) = (&all[..], is_optional) {
                    return at.says(*only);
                }
                let list = cx.facts.list(&all);
                of = of.map(|of| cx.facts.expression(Op::Generic, of, list));
            }
            _ => drop(cx.value(part, at.scope)),
        }
    }
    at.says(of.unwrap_or(UNKNOWN))
}

/// A name of a type, where nothing else can stand.
pub(super) fn bare<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text = plain(cx, node);
    if text == "Self" {
        return at.says(own(cx, at.scope));
    }
    let name = cx.facts.name(text);
    let meant = cx.facts.named(at.scope, name);
    cx.facts.occurrence(span_of(node), role(at), meant);
    needs(cx, node, at.scope, name);
    at.says(meant)
}

/// `[A]`
pub(super) fn array<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = cx.list(node, NodeContext { role: Role::Type, ..at });
    at.says(container(cx, "Array", &all))
}

/// `[A: B]`
pub(super) fn dictionary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = cx.list(node, NodeContext { role: Role::Type, ..at });
    at.says(container(cx, "Dictionary", &all))
}

/// `A?`, `some A`, `any A`, `each A`: the first type in it.
pub(super) fn inner<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut of = UNKNOWN;
    for part in cx.children(node) {
        let read = cx.read(part, NodeContext { role: role(at), ..at }).value;
        of = if of == UNKNOWN { read } else { of };
    }
    at.says(of)
}

/// `A.Type`, `A.Protocol`
pub(super) fn metatype<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = inner(cx, node, at).value;
    at.says(cx.facts.of(Op::TypeOf, of))
}

/// `A & B`: each of them.
pub(super) fn joined<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = cx.list(node, NodeContext { role: role(at), ..at });
    at.says(cx.facts.union(&all))
}

/// The type of an item, `name: A`.
fn item<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> ExpressionId {
    let of = cx.children(node).into_iter().find(|part| is_type(*part));
    of.map_or(UNKNOWN, |of| cx.read(of, at).value)
}

/// `(A, name: B)`
pub(super) fn tuple<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let at = NodeContext { role: role(at), ..at };
    let items: Vec<ExpressionId> = cx.children(node).into_iter().map(|one| item(cx, one, at)).collect();
    if let [only] = items[..] {
        return at.says(only);
    }
    let list = cx.facts.list(&items);
    at.says(cx.facts.expression(Op::Tuple, list, 0))
}

/// `(A, B) -> C`
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let at = NodeContext { role: Role::Type, ..at };
    let (mut takes, mut gives) = (None, UNKNOWN);
    for part in cx.children(node) {
        match part.kind() {
            "tuple_type" if takes.is_none() => {
                takes = Some(cx.children(part).into_iter().map(|one| item(cx, one, at)).collect::<Vec<_>>());
            }
            _ if is_type(part) => {
                let of = cx.read(part, at).value;
                if takes.is_none() {
                    takes = Some(vec![of]);
                } else {
                    gives = of;
                }
            }
            _ => drop(cx.value(part, at.scope)),
        }
    }
    let takes = cx.facts.list(&takes.unwrap_or_default());
    at.says(cx.facts.expression(Op::FunctionType, gives, takes))
}

/// The type parameters of a declaration, bound in `scope` with their bounds.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let list = child(cx, node, "type_parameters").map(|list| cx.children(list)).unwrap_or_default();
    let mut constraints: HashMap<String, Vec<ExpressionId>> = HashMap::new();
    for one in cx.children(node).into_iter().filter(|part| part.kind() == "type_constraints") {
        constrained(cx, one, scope, &mut constraints);
    }
    let mut all = Vec::new();
    for parameter in list {
        let (mut name, mut bounds) = (None, Vec::new());
        for part in cx.children(parameter) {
            match part.kind() {
                "type_identifier" if name.is_none() => name = Some(part),
                "type_parameter_modifiers" => {}
                "type_parameter_pack" if name.is_none() => {
                    let of = cx.first(part);
                    name = of.map(|of| cx.first(of).unwrap_or(of));
                }
                _ => bounds.push(written(cx, part, scope)),
            }
        }
        let Some(name) = name else { continue };
        let text = plain(cx, name);
        bounds.extend(constraints.remove(text).unwrap_or_default());
        let (name, bound) = (cx.facts.name(text), cx.facts.union(&bounds));
        cx.facts.bind(scope, name, Bound::variable().of(bound));
        all.push(cx.facts.named(scope, name));
    }
    all
}

/// `where A: B, C == D`
fn constrained<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    found: &mut HashMap<String, Vec<ExpressionId>>,
) {
    for one in cx.children(node) {
        match one.kind() {
            "type_constraint" => cx.deeper(|cx| constrained(cx, one, scope, found)),
            "inheritance_constraint" | "equality_constraint" => {
                let parts = cx.children(one);
                let (Some(name), Some(of)) = (parts.first(), parts.last().filter(|_| parts.len() > 1)) else {
                    continue;
                };
                let bound = written(cx, *of, scope);
                let text = cx.text(*name).to_owned();
                if name.kind() == "identifier" && one.kind() == "inheritance_constraint" {
                    found.entry(text).or_default().push(bound);
                }
            }
            _ => {}
        }
    }
}

/// A `where` clause that bounds nothing of its own.
pub(super) fn conditions<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    constrained(cx, node, at.scope, &mut HashMap::new());
    at.says(UNKNOWN)
}
