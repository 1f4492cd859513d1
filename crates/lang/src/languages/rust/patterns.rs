//! Lowering of Rust patterns: names in them, and bindings.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::walk;
use super::lower::field;
use super::types::path;
use crate::facts::{Bound, ExpressionId, Op, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// Binds the names in a pattern to the parts of a value, of which the type `of` may be written.
pub(super) fn pattern<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    value: ExpressionId,
    of: ExpressionId,
) {
    cx.deeper(|cx| pattern_one(cx, node, scope, value, of));
}

fn pattern_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, value: ExpressionId, of: ExpressionId) {
    match node.kind() {
        "identifier" | "shorthand_field_identifier" => {
            // Constants and variants begin with a capital; there is no other difference from bindings.
            if cx.text(node).starts_with(char::is_uppercase) {
                path(cx, node, scope, Role::Reference);
            } else {
                let name = cx.name(node);
                cx.facts.bind(scope, name, Bound::variable().value(value).of(of));
            }
            return;
        }
        "mut_pattern"
        | "ref_pattern"
        | "reference_pattern"
        | "captured_pattern"
        | "or_pattern"
        | "parenthesized_pattern" => {
            for part in cx.children(node) {
                if part.kind() != "mutable_specifier" {
                    pattern(cx, part, scope, value, of);
                }
            }
            return;
        }
        "match_pattern" => {
            if let Some(part) = cx.first(node) {
                pattern(cx, part, scope, value, of);
            }
            return;
        }
        _ => {}
    }
    // Parts are taken from a value.
    let value = if of == UNKNOWN { value } else { cx.facts.of(Op::Instance, of) };
    match node.kind() {
        "tuple_pattern" => {
            for (place, part) in places(node) {
                let item = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place) };
                pattern(cx, part, scope, item, UNKNOWN);
            }
        }
        "slice_pattern" => {
            let element = cx.facts.of(Op::Element, value);
            for part in cx.children(node) {
                pattern(cx, part, scope, element, UNKNOWN);
            }
        }
        "tuple_struct_pattern" => {
            let Some(of) = field(node, "type") else { return };
            let meant = path(cx, of, scope, Role::Reference);
            let text = cx.text(of);
            let last = text.rsplit("::").next().unwrap_or(text).trim();
            for (place, part) in places(node).into_iter().filter(|(_, part)| *part != of) {
                let given = match last {
                    "Some" | "Ok" => cx.facts.of(Op::Element, value),
                    "Err" => cx.facts.of(Op::Key, value),
                    _ => part_of(cx, meant, last, &place.to_string()),
                };
                pattern(cx, part, scope, given, UNKNOWN);
            }
        }
        "struct_pattern" => {
            let Some(of) = field(node, "type") else { return };
            let meant = path(cx, of, scope, Role::Reference);
            let text = cx.text(of);
            let last = text.rsplit("::").next().unwrap_or(text).trim();
            for part in cx.children(node).into_iter().filter(|part| part.kind() == "field_pattern") {
                let Some(name) = field(part, "name") else { continue };
                let given = part_of(cx, meant, last, cx.text(name));
                let own = field_of(cx, meant, text, cx.text(name));
                cx.facts.occurrence(span_of(name), Role::Reference, own);
                pattern(cx, field(part, "pattern").unwrap_or(name), scope, given, UNKNOWN);
            }
        }
        "scoped_identifier" | "generic_pattern" => drop(walk(cx, node, scope, Role::Reference)),
        "range_pattern" => {
            for part in cx.children(node) {
                pattern(cx, part, scope, UNKNOWN, UNKNOWN);
            }
        }
        "remaining_field_pattern" => {}
        _ => drop(walk(cx, node, scope, Role::Reference)),
    }
}

/// The parts between commas, each with its place: `_` has one though it is no named node.
pub(super) fn places<'t>(node: Node<'t>) -> Vec<(u32, Node<'t>)> {
    let (mut found, mut place) = (Vec::new(), 0);
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "," => place += 1,
            _ if child.is_named() && !child.is_extra() => found.push((place, child)),
            _ => {}
        }
    }
    found
}

/// A part of a struct or of a variant of an enum, whichever the path means.
fn part_of(cx: &mut Lower<'_, '_>, meant: ExpressionId, last: &str, part: &str) -> ExpressionId {
    let of_struct = cx.facts.name(&format!(".{part}"));
    let of_variant = cx.facts.name(&format!(".{last}.{part}"));
    let (of_struct, of_variant) = (cx.facts.member(meant, of_struct), cx.facts.member(meant, of_variant));
    cx.facts.union(&[of_struct, of_variant])
}

/// The field of a name after a path, in the spelling of fields: `Type::Variant` has fields of a variant.
pub(super) fn field_of(cx: &mut Lower<'_, '_>, meant: ExpressionId, path: &str, name: &str) -> ExpressionId {
    let mut parts = path.rsplit("::").map(str::trim);
    let last = parts.next().unwrap_or_default();
    let is_variant = parts.next().is_some_and(|owner| owner.starts_with(char::is_uppercase));
    let name = if is_variant { format!(".{last}.{name}") } else { format!(".{name}") };
    let name = cx.facts.name(&name);
    cx.facts.member(meant, name)
}

/// Whether a pattern binds a name that the scope knows already or that was looked up from it. It then needs a scope
/// of its own, so that earlier uses keep their meaning.
pub(super) fn rebinds<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> bool {
    match node.kind() {
        "identifier" | "shorthand_field_identifier" => {
            let name = cx.name(node);
            cx.facts.binds(scope, name) || cx.facts.is_named_since(scope, name)
        }
        _ => cx.deeper(|cx| cx.children(node).into_iter().any(|part| rebinds(cx, part, scope))),
    }
}
