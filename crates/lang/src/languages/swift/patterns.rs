//! Lowering of Swift patterns, whose parts lie in a row.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::{all, named, plain};
use super::types;
use crate::facts::{Bound, ExpressionId, Op, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// Binds the names of a pattern, which is held against a value. `binds` tells that bare names are bound.
pub(super) fn bind<'t>(cx: &mut Lower<'_, 't>, parts: &[Node<'t>], value: ExpressionId, binds: bool, scope: ScopeId) {
    cx.deeper(|cx| bind_parts(cx, parts, value, binds, scope));
}

fn bind_parts<'t>(cx: &mut Lower<'_, 't>, parts: &[Node<'t>], value: ExpressionId, mut binds: bool, scope: ScopeId) {
    let mut parts = parts;
    while let Some((first, rest)) = parts.split_first()
        && matches!(first.kind(), "value_binding_pattern" | "case")
    {
        binds |= first.kind() == "value_binding_pattern";
        parts = rest;
    }
    let Some(first) = parts.first() else { return };
    if let Some(at) = parts.iter().position(|part| part.kind() == "as") {
        let of = parts.get(at + 1).map_or(UNKNOWN, |of| types::written(cx, *of, scope));
        let value = cx.facts.of(Op::Instance, of);
        return bind(cx, &parts[..at], value, binds, scope);
    }
    if first.kind() == "is" {
        for of in &parts[1..] {
            types::written(cx, *of, scope);
        }
        return;
    }
    if let Some(at) = parts.iter().position(|part| part.kind() == ".") {
        return case(cx, parts, at, value, binds, scope);
    }
    let items: Vec<Node<'t>> = parts.iter().copied().filter(|part| part.kind() == "pattern").collect();
    if let [only] = items[..]
        && parts.iter().filter(|part| part.is_named()).count() == 1
    {
        return bind(cx, &all(only), value, binds, scope);
    }
    if !items.is_empty() {
        for (place, item) in (0u32..).zip(items) {
            let value = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place) };
            bind(cx, &all(item), value, binds, scope);
        }
        return;
    }
    for part in parts.iter().filter(|part| part.is_named()) {
        match part.kind() {
            "wildcard_pattern" => {}
            "simple_identifier" if binds => {
                let name = named(cx, *part);
                cx.facts.bind(scope, name, Bound::variable().value(value));
            }
            "type_annotation" => drop(types::annotated(cx, *part, scope)),
            _ => drop(super::calls::expect(cx, *part, value, scope)),
        }
    }
}

/// `.name(a, label: b)`, `Type.name(a)`: the case of an enumeration.
fn case<'t>(cx: &mut Lower<'_, 't>, parts: &[Node<'t>], dot: usize, value: ExpressionId, binds: bool, scope: ScopeId) {
    let of = parts[..dot].iter().find(|part| part.is_named());
    let on = of.map_or(value, |of| types::written(cx, *of, scope));
    let Some(name_node) = parts.get(dot + 1) else { return };
    let name = named(cx, *name_node);
    let meant = cx.facts.member(on, name);
    cx.facts.occurrence(span_of(*name_node), Role::Reference, meant);
    let items = parts[dot + 2..].iter().filter(|part| part.kind() == "pattern");
    for (place, item) in (0u32..).zip(items) {
        let held = match plain(cx, *name_node) {
            _ if on == UNKNOWN => UNKNOWN,
            // Cases of the library's own types.
            "some" => on,
            "success" => cx.facts.of(Op::Key, on),
            "failure" => cx.facts.of(Op::Element, on),
            _ => cx.facts.expression(Op::Wanted, meant, place),
        };
        bind(cx, &all(*item), held, binds, scope);
    }
}
