//! Lowering of TypeScript types.

use tree_sitter::Node;

use super::expressions::walk;
use super::field;
use super::functions::{generics, type_parameters};
use crate::facts::{Bound, Definition, DefinitionKind, ExpressionId, MEANS_VALUE, Op, ScopeId, ScopeKind, UNKNOWN};
use crate::languages::definition::span_of;
use crate::languages::lower::Lower;
use codelode_base::model::Role;

/// Types whose members are those of their first argument.
pub(super) const TRANSPARENT: &[&str] =
    &["Partial", "Required", "Readonly", "NonNullable", "Omit", "Pick", "Awaited", "NoInfer", "DeepReadonly"];

/// Types of the language's own without members of the project.
const PRIMITIVES: &[&str] = &["string", "number", "boolean", "bigint", "symbol"];

/// Whether it is the type of nothing, beside which another type says what a value is: `Item | null`.
fn is_nothing(cx: &Lower<'_, '_>, node: Node<'_>) -> bool {
    matches!(cx.text(node), "null" | "undefined" | "void" | "never")
}

/// Reads a type and returns it.
pub(super) fn annotation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    cx.deeper(|cx| one(cx, node, scope))
}

fn one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "type_annotation"
        | "parenthesized_type"
        | "readonly_type"
        | "optional_type"
        | "rest_type"
        | "type_predicate_annotation"
        | "asserts_annotation"
        | "asserts"
        | "opting_type_annotation"
        | "omitting_type_annotation"
        | "adding_type_annotation" => cx.first(node).map_or(UNKNOWN, |inner| annotation(cx, inner, scope)),
        "type_identifier"
        | "identifier"
        | "nested_type_identifier"
        | "nested_identifier"
        | "member_expression"
        | "call_expression" => named(cx, node, scope, Role::Type),
        "this_type" | "this" => {
            let class = cx.facts.class_around(scope);
            class.map_or(UNKNOWN, |class| cx.facts.expression(Op::SelfOf, class, 0))
        }
        "generic_type" => generic(cx, node, scope, Role::Type),
        "array_type" => {
            let of = cx.first(node).map_or(UNKNOWN, |inner| annotation(cx, inner, scope));
            container(cx, &[of])
        }
        "tuple_type" => {
            let mut items = Vec::new();
            for item in cx.children(node) {
                let of = match item.kind() {
                    "required_parameter" | "optional_parameter" => field(item, "type"),
                    _ => Some(item),
                };
                items.push(of.map_or(UNKNOWN, |of| annotation(cx, of, scope)));
            }
            let list = cx.facts.list(&items);
            cx.facts.expression(Op::Tuple, list, 0)
        }
        "union_type" | "intersection_type" => {
            // The grammar nests them: `(A | B) | C`.
            let (mut parts, mut waiting) = (Vec::new(), vec![node]);
            while let Some(part) = waiting.pop() {
                match part.kind() == node.kind() {
                    true => waiting.extend(cx.children(part).into_iter().rev()),
                    false => parts.push(part),
                }
            }
            parts.retain(|part| !is_nothing(cx, *part));
            let types: Vec<ExpressionId> = parts.into_iter().map(|part| annotation(cx, part, scope)).collect();
            cx.facts.union(&types)
        }
        "function_type" | "constructor_type" => {
            let (inner, takes) = signature(cx, node, scope);
            let gives = field(node, "return_type").or_else(|| field(node, "type"));
            let gives = gives.map_or(UNKNOWN, |gives| annotation(cx, gives, inner));
            let list = cx.facts.list(&takes);
            if node.kind() == "constructor_type" {
                return cx.facts.of(Op::TypeOf, gives);
            }
            cx.facts.expression(Op::FunctionType, gives, list)
        }
        "type_query" => {
            let before = cx.facts.occurrences();
            let of = cx.first(node).map_or(UNKNOWN, |inner| walk(cx, inner, scope, Role::Type));
            cx.facts.flag_since(before, MEANS_VALUE);
            cx.facts.of(Op::TypeOf, of)
        }
        "object_type" => {
            let mapped = mapped(cx, node, scope);
            if let Some((of, true)) = mapped {
                return of;
            }
            let (kind, generics) = (DefinitionKind::Object, generics(cx, scope));
            let (object, members) = cx.facts.class(Definition { kind, generics, ..Definition::default() }, scope);
            super::classes::signatures(cx, node, object, members);
            let own = cx.facts.expression(Op::Object, object, 0);
            mapped.map_or(own, |(of, _)| cx.facts.union(&[of, own]))
        }
        "lookup_type" => {
            let parts = cx.children(node);
            let types: Vec<ExpressionId> = parts.iter().map(|part| annotation(cx, *part, scope)).collect();
            let ([of, ..], [_, key]) = (&types[..], &parts[..]) else { return UNKNOWN };
            let of = cx.facts.of(Op::Instance, *of);
            let taken = match cx.text(*key).strip_prefix(['\'', '"']) {
                Some(key) if of != UNKNOWN => {
                    let name = cx.facts.name(key.trim_end_matches(['\'', '"']));
                    let member = cx.facts.member(of, name);
                    let text = parts.get(1).and_then(|key| cx.first(*key)).and_then(|key| cx.first(key).or(Some(key)));
                    if let Some(text) = text {
                        cx.facts.if_known(span_of(text), Role::Type, member);
                    }
                    member
                }
                Some(_) => UNKNOWN,
                None => cx.facts.of(Op::Element, of),
            };
            cx.facts.of(Op::TypeOf, taken)
        }
        "conditional_type" | "mapped_type_clause" | "index_signature" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            if let Some(name) = field(node, "name") {
                bind_type(cx, name, inner);
            }
            for child in cx.children(node) {
                if field(node, "name") != Some(child) {
                    annotation(cx, child, inner);
                }
            }
            UNKNOWN
        }
        "infer_type" => {
            for (place, child) in cx.children(node).into_iter().enumerate() {
                match place {
                    0 => bind_type(cx, child, scope),
                    _ => drop(annotation(cx, child, scope)),
                }
            }
            UNKNOWN
        }
        "type_predicate" => {
            let of = field(node, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope));
            if cx.facts.is_void(of) { UNKNOWN } else { cx.facts.of(Op::Predicate, of) }
        }
        "predefined_type" if PRIMITIVES.contains(&cx.text(node)) => cx.facts.foreign(),
        "literal_type" if !is_nothing(cx, node) => cx.facts.foreign(),
        "predefined_type" | "literal_type" | "string" | "property_identifier" => UNKNOWN,
        _ => {
            for child in cx.children(node) {
                annotation(cx, child, scope);
            }
            UNKNOWN
        }
    }
}

/// The type whose members a mapped type has, `{ [K in keyof T]: … }`, and whether their types are the same: `T[K]`, maybe
/// changed in depth. Only then the names in it have been recorded.
fn mapped<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<(ExpressionId, bool)> {
    let [signature] = cx.children(node)[..] else { return None };
    let clause = cx.first(signature).filter(|clause| clause.kind() == "mapped_type_clause")?;
    let (key, over) = (field(clause, "name")?, field(clause, "type")?);
    if over.kind() != "index_type_query" || field(clause, "alias").is_some() {
        return None;
    }
    let of = cx.first(over)?;
    let value = field(signature, "type");
    let taken = format!("{}[{}]", cx.text(of), cx.text(key));
    let alias = node.parent().filter(|alias| alias.kind() == "type_alias_declaration");
    let alias = alias.and_then(|alias| field(alias, "name")).map_or("", |name| cx.text(name));
    let written = value.map_or("", |value| cx.text(value).trim_start_matches(['?', '-', '+', ':', ' ']));
    let is_same = written.strip_prefix(&taken).is_some_and(|rest| !rest.trim_start().starts_with('['))
        || written.starts_with(&format!("{alias}<{taken}>"));
    if !is_same {
        return Some((silent_type(cx, of, scope), false)).filter(|(of, _)| *of != UNKNOWN);
    }
    // In the scope of the type parameters, of which it may be one.
    let of = annotation(cx, of, scope);
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    bind_type(cx, key, inner);
    value.map(|value| annotation(cx, value, inner));
    Some((of, true))
}

/// The type of a name whose occurrence is recorded elsewhere.
fn silent_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    if node.kind() != "type_identifier" {
        return UNKNOWN;
    }
    let name = cx.name(node);
    cx.facts.named(scope, name)
}

/// A name that a type introduces.
fn bind_type(cx: &mut Lower<'_, '_>, name: Node<'_>, scope: ScopeId) {
    let name = cx.name(name);
    cx.facts.bind(scope, name, Bound::variable());
}

/// The name of a type.
pub(super) fn named<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    if node.kind() != "nested_type_identifier" {
        return walk(cx, node, scope, role);
    }
    let (Some(module), Some(name)) = (field(node, "module"), field(node, "name")) else { return UNKNOWN };
    let of = walk(cx, module, scope, Role::Reference);
    cx.member(name, of, role);
    let name = cx.name(name);
    if of == UNKNOWN { UNKNOWN } else { cx.facts.member(of, name) }
}

/// A type with arguments; `role` is the role of its name.
pub(super) fn generic<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    let Some(base) = field(node, "name").or_else(|| cx.first(node)) else { return UNKNOWN };
    let text = cx.text(base);
    let of = named(cx, base, scope, role);
    let types = field(node, "type_arguments").map_or_else(Vec::new, |list| arguments(cx, list, scope));
    let first = types.first().copied().unwrap_or(UNKNOWN);
    match text {
        "InstanceType" => cx.facts.of(Op::Instance, first),
        "ReturnType" => {
            let function = cx.facts.of(Op::Instance, first);
            let none = cx.facts.list(&[]);
            let call = if function == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, function, none) };
            cx.facts.of(Op::TypeOf, call)
        }
        _ if TRANSPARENT.contains(&text) => first,
        _ => {
            let list = cx.facts.list(&types);
            cx.facts.expression(Op::Generic, of, list)
        }
    }
}

/// The types between `<` and `>`.
pub(super) fn arguments<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    cx.children(list).into_iter().map(|argument| annotation(cx, argument, scope)).collect()
}

/// The type of a container outside the project.
pub(super) fn container(cx: &mut Lower<'_, '_>, types: &[ExpressionId]) -> ExpressionId {
    if types.contains(&UNKNOWN) && types.iter().all(|of| cx.facts.is_void(*of)) {
        return cx.facts.foreign_container();
    }
    let list = cx.facts.list(types);
    cx.facts.expression(Op::Generic, UNKNOWN, list)
}

/// The scope of a type's own type parameters, and the types of its parameters.
fn signature<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> (ScopeId, Vec<ExpressionId>) {
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    type_parameters(cx, node, inner);
    let mut takes = Vec::new();
    for parameter in field(node, "parameters").map_or_else(Vec::new, |list| cx.children(list)) {
        let of = field(parameter, "type").map_or(UNKNOWN, |of| annotation(cx, of, inner));
        if field(parameter, "pattern").is_none_or(|pattern| pattern.kind() != "this") {
            takes.push(of);
        }
    }
    (inner, takes)
}
