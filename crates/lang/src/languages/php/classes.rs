//! Lowering of PHP classes, their members, and functions.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{bind, field};
use super::types;
use crate::facts::{
    ANY_NUMBER, Bound, Definition, DefinitionId, DefinitionKind, ExpressionId, NONE, NameId, Op, ScopeId, ScopeKind,
    UNKNOWN,
};
use codelode_base::model::Role;

/// The method that `new` runs.
pub(super) const CONSTRUCTOR: &str = "__construct()";

/// The scope in which a file's definitions are bound: of its namespace, not of its `use` lines.
fn bound_in(cx: &Lower<'_, '_>, scope: ScopeId) -> ScopeId {
    if cx.facts.is(scope, ScopeKind::File) { cx.facts.parent(scope) } else { scope }
}

/// A class, interface, trait or enumeration.
pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let name_node = field(node, "name");
    let (name, place) = name_node.map_or((NameId::NONE, NONE), |name| (cx.name(name), name.start_byte() as u32));
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { name, at: place, kind, ..Definition::default() }, at.scope);
    if name_node.is_some() {
        // A definition in a function or an `if` is of the namespace too.
        let mut scope = at.scope;
        while cx.facts.is(scope, ScopeKind::Function) || cx.facts.is(scope, ScopeKind::Class) {
            scope = cx.facts.parent(scope);
        }
        let scope = bound_in(cx, scope);
        cx.facts.bind(scope, name, Bound::definition(class).at(place));
    }
    let body = field(node, "body");
    for part in cx.children(node) {
        match part.kind() {
            "base_clause" | "class_interface_clause" => {
                for base in cx.children(part) {
                    let base = cx.read(base, NodeContext { scope: at.scope, role: Role::Base }).value;
                    cx.facts.base(class, base);
                }
            }
            "name" => {}
            _ if Some(part) == body => {
                for member in cx.children(part) {
                    cx.value(member, members);
                }
            }
            _ => drop(cx.value(part, at.scope)),
        }
    }
    at.says(cx.facts.expression(Op::ClassOf, class, 0))
}

/// `use A, B;` in a class.
pub(super) fn traits<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for part in cx.children(node) {
        if matches!(part.kind(), "name" | "qualified_name") {
            let base = cx.read(part, NodeContext { scope: at.scope, role: Role::Base }).value;
            if let Some(class) = cx.facts.class_of(at.scope) {
                cx.facts.base(class, base);
            }
        }
    }
    at.says(UNKNOWN)
}

/// `NAME = value` after `const`.
pub(super) fn constants<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut parts = cx.children(node).into_iter();
    let name = parts.next();
    let value = parts.next().map_or(UNKNOWN, |value| cx.value(value, at.scope));
    if let Some(name_node) = name {
        let name = cx.facts.name(&format!(":{}", cx.text(name_node)));
        let scope = bound_in(cx, at.scope);
        cx.facts.bind(scope, name, Bound::variable().value(value).at(name_node.start_byte() as u32));
    }
    at.says(UNKNOWN)
}

/// `case Name = value;` of an enumeration.
pub(super) fn case<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    field(node, "value").map(|value| cx.value(value, at.scope));
    if let (Some(name_node), Some(class)) = (field(node, "name"), cx.facts.class_of(at.scope)) {
        let own = cx.facts.expression(Op::SelfOf, class, 0);
        let name = cx.facts.name(&format!(":{}", cx.text(name_node)));
        cx.facts.bind(at.scope, name, Bound::variable().value(own).at(name_node.start_byte() as u32));
    }
    at.says(UNKNOWN)
}

/// `private Type $name = value;`
pub(super) fn properties<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut of = types::of_part(cx, node, "type", at.scope);
    if field(node, "type").is_none_or(|of| cx.text(of).ends_with("array")) {
        let noted = types::noted(cx, node, "@var", "", at.scope);
        of = if noted == UNKNOWN { of } else { noted };
    }
    let written = field(node, "type");
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != written) {
        if part.kind() != "property_element" {
            cx.value(part, at.scope);
            continue;
        }
        let value = field(part, "default_value").map_or(UNKNOWN, |value| cx.value(value, at.scope));
        if let Some(name) = field(part, "name") {
            property(cx, name, at.scope, value, of);
        }
    }
    at.says(UNKNOWN)
}

/// Binds a property by its variable.
fn property<'t>(cx: &mut Lower<'_, 't>, variable: Node<'t>, members: ScopeId, value: ExpressionId, of: ExpressionId) {
    let name = cx.name(variable);
    let place = cx.first(variable).unwrap_or(variable).start_byte() as u32;
    cx.facts.bind(members, name, Bound::variable().value(value).of(of).at(place));
}

/// Parameters bound in `inner`: their types, and how many must be given. Promoted ones are properties too.
fn parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, inner: ScopeId) -> (Vec<ExpressionId>, bool) {
    let list = field(node, "parameters").map(|list| cx.children(list)).unwrap_or_default();
    let (mut all, mut is_open) = (Vec::new(), false);
    for one in list {
        let Some(name) = field(one, "name") else { continue };
        let written = field(one, "type");
        let mut of = types::of_part(cx, one, "type", scope);
        if written.is_none_or(|of| cx.text(of).ends_with("array")) {
            let noted = types::noted(cx, node, "@param", cx.text(name), scope);
            of = if noted == UNKNOWN { of } else { noted };
        }
        if one.kind() == "variadic_parameter" {
            let list = cx.facts.list(&[of]);
            of = cx.facts.expression(Op::Generic, UNKNOWN, list);
        }
        let value = field(one, "default_value").map_or(UNKNOWN, |value| cx.value(value, scope));
        field(one, "attributes").map(|attributes| cx.value(attributes, scope));
        is_open |= one.kind() == "variadic_parameter" || field(one, "default_value").is_some();
        bind(cx, name, inner, Bound::parameter().value(value).of(of));
        if one.kind() == "property_promotion_parameter" {
            property(cx, name, scope, UNKNOWN, of);
        }
        all.push(of);
    }
    (all, is_open)
}

/// A function or a method.
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let (takes, is_open) = parameters(cx, node, at.scope, inner);
    let mut returns = types::of_part(cx, node, "return_type", at.scope);
    if field(node, "return_type").is_none_or(|of| matches!(cx.text(of), "array" | "iterable" | "?array")) {
        let noted = types::noted(cx, node, "@return", "", at.scope);
        returns = if noted == UNKNOWN { returns } else { noted };
    }
    let (name, place) = (cx.facts.name(&format!("{}()", cx.text(name_node))), name_node.start_byte() as u32);
    let parameters = cx.facts.list(&takes);
    let owner = cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE);
    let flags = if is_open { ANY_NUMBER } else { 0 };
    let definition = Definition { name, at: place, owner, parameters, returns, flags, ..Definition::default() };
    let function = cx.facts.define(definition);
    let scope = bound_in(cx, at.scope);
    cx.facts.bind(scope, name, Bound::definition(function).at(place));
    for part in ["attributes", "body"].into_iter().filter_map(|part| field(node, part)) {
        cx.value(part, inner);
    }
    at.says(UNKNOWN)
}

/// `function (…) use ($a) { … }`, `fn (…) => …`
pub(super) fn lambda<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let (takes, _) = parameters(cx, node, at.scope, inner);
    let returns = types::of_part(cx, node, "return_type", at.scope);
    let parameters = cx.facts.list(&takes);
    let function = cx.facts.define(Definition { parameters, returns, ..Definition::default() });
    let value = field(node, "body").map_or(UNKNOWN, |body| cx.value(body, inner));
    cx.facts.returns(function, value);
    at.says(cx.facts.expression(Op::Function, function, 0))
}

/// `#[Name(…)]`
pub(super) fn attribute<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for part in cx.children(node) {
        match part.kind() {
            "name" | "qualified_name" => drop(types::made(cx, part, at.scope)),
            _ => drop(cx.value(part, at.scope)),
        }
    }
    at.says(UNKNOWN)
}
