//! Lowering of definitions with members: classes, interfaces, object literals, enums, namespaces.

use tree_sitter::Node;

use super::expressions::{bare, expected, is_typescript, outer_types, walk};
use super::functions::{self, ArgumentSource, ThisBinding, type_parameters};
use super::jsdoc::JsDocTypes;
use super::literals;
use super::types::{self, annotation};
use super::{FUNCTIONS, body, field, has_word};
use crate::facts::{
    BindingKind, Bound, Definition, DefinitionId, DefinitionKind, EMPTY, ExpressionId, ListId, NONE, NameId, Op,
    ScopeId, ScopeKind, TYPE_ONLY, UNKNOWN,
};
use crate::languages::definition::span_of;
use crate::languages::lower::Lower;
use codelode_base::model::Role;

/// The name of a key, and its place: inside the quotes of a string.
fn key<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> (NameId, u32) {
    let at = node.start_byte() as u32;
    match node.kind() {
        "string" => {
            let name = cx.text(node).trim_matches(['\'', '"']);
            (cx.facts.name(name), at + 1)
        }
        "computed_property_name" => {
            if let Some(inner) = cx.first(node) {
                walk(cx, inner, scope, Role::Reference);
            }
            (cx.name(node), at)
        }
        _ => (cx.name(node), at),
    }
}

/// A scope for type parameters around a definition, where it has some, and the list of them.
fn around<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> (ScopeId, ListId) {
    if field(node, "type_parameters").is_none() {
        return (scope, EMPTY);
    }
    let around = cx.facts.scope(ScopeKind::Block, scope);
    let generics = type_parameters(cx, node, around);
    (around, generics)
}

/// A class; returns its definition. `given` is the name from the target that it is bound to: the scope with that name
/// ([`ScopeId::NONE`] for none), the name and its place.
pub(super) fn class<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    given: Option<(ScopeId, NameId, u32)>,
) -> DefinitionId {
    let own = field(node, "name").map(|own| (cx.name(own), own.start_byte() as u32));
    let (mut around, generics) = self::around(cx, node, scope);
    let (name, at) = given.map(|(_, name, at)| (name, at)).or(own).unwrap_or((NameId::NONE, NONE));
    if node.kind() == "class" && own.is_some() && around == scope {
        around = cx.facts.scope(ScopeKind::Block, scope);
    }
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { name, at, kind, generics, ..Definition::default() }, around);
    match (given, own) {
        (Some((holder, name, at)), _) if holder != ScopeId::NONE => {
            cx.facts.bind(holder, name, Bound::definition(class).at(at));
        }
        (None, Some((name, at))) if node.kind() != "class" => {
            cx.facts.bind(scope, name, Bound::definition(class).at(at));
        }
        _ => {}
    }
    if let Some((own, at)) = own.filter(|_| node.kind() == "class") {
        cx.facts.bind(around, own, Bound::definition(class).at(at));
    }
    for child in cx.children(node) {
        match child.kind() {
            "decorator" => drop(walk(cx, child, scope, Role::Reference)),
            "class_heritage" => {
                for part in cx.children(child) {
                    heritage(cx, part, around, class);
                }
            }
            "class_body" => class_body(cx, child, class, members),
            _ => {}
        }
    }
    class
}

/// The types that a class extends or implements.
fn heritage<'t>(cx: &mut Lower<'_, 't>, part: Node<'t>, scope: ScopeId, class: DefinitionId) {
    match part.kind() {
        "extends_clause" | "implements_clause" | "extends_type_clause" => {
            for base in cx.children(part) {
                let base = match base.kind() {
                    "type_arguments" => continue,
                    "generic_type" => types::generic(cx, base, scope, Role::Base),
                    "type_identifier" | "nested_type_identifier" => types::named(cx, base, scope, Role::Base),
                    _ => {
                        let of = walk(cx, base, scope, Role::Base);
                        match base.next_named_sibling().filter(|next| next.kind() == "type_arguments") {
                            Some(given) => {
                                let types = types::arguments(cx, given, scope);
                                let list = cx.facts.list(&types);
                                if of == UNKNOWN { of } else { cx.facts.expression(Op::Generic, of, list) }
                            }
                            None => of,
                        }
                    }
                };
                cx.facts.base(class, base);
            }
        }
        _ => {
            let base = walk(cx, part, scope, Role::Base);
            cx.facts.base(class, base);
        }
    }
}

fn class_body<'t>(cx: &mut Lower<'_, 't>, block: Node<'t>, class: DefinitionId, members: ScopeId) {
    // All names are bound before a body is walked, because its assignments to `this` may be to declared members.
    let mut methods = Vec::new();
    for child in cx.children(block) {
        match child.kind() {
            "method_definition" | "method_signature" | "abstract_method_signature" => {
                let Some(name) = field(child, "name") else { continue };
                let (name, at) = key(cx, name, members);
                let method = cx.facts.define(Definition { name, at, owner: class, ..Definition::default() });
                cx.facts.bind(members, name, Bound::definition(method).at(at));
                methods.push((child, method));
            }
            "public_field_definition" | "field_definition" => {
                let Some(name) = field(child, "name").or_else(|| field(child, "property")) else { continue };
                let (name, at) = key(cx, name, members);
                cx.deeper(|cx| class_field(cx, child, name, at, class, members));
            }
            "class_static_block" => {
                let inner = own_scope(cx, members, Op::ClassOf, class);
                for block in cx.children(child) {
                    body(cx, block, inner, DefinitionId::NONE);
                }
            }
            "index_signature" => index_signature(cx, child, members),
            _ => drop(walk(cx, child, members, Role::Reference)),
        }
    }
    for (node, method) in methods {
        for decorator in cx.children(node).into_iter().filter(|child| child.kind() == "decorator") {
            walk(cx, decorator, members, Role::Reference);
        }
        let op = if is_static(node) { Op::ClassOf } else { Op::SelfOf };
        cx.deeper(|cx| {
            functions::function(cx, node, members, method, ThisBinding::Of(op, class), ArgumentSource::Overrides)
        });
    }
}

fn is_static(node: Node<'_>) -> bool {
    has_word(node, "static") || has_word(node, "static get")
}

/// A scope in which `this` is of a class.
fn own_scope(cx: &mut Lower<'_, '_>, parent: ScopeId, op: Op, class: DefinitionId) -> ScopeId {
    let inner = cx.facts.scope(ScopeKind::Function, parent);
    let this = cx.facts.name("this");
    let own = cx.facts.expression(op, class, 0);
    cx.facts.bind(inner, this, Bound::meaning(own));
    inner
}

fn class_field<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    name: NameId,
    at: u32,
    class: DefinitionId,
    members: ScopeId,
) {
    for decorator in cx.children(node).into_iter().filter(|child| child.kind() == "decorator") {
        walk(cx, decorator, members, Role::Reference);
    }
    let of = match field(node, "type") {
        Some(of) => annotation(cx, of, members),
        None if is_typescript(node) => UNKNOWN,
        None => JsDocTypes::above(cx, node).of(cx, members),
    };
    if is_typescript(node) && !is_static(node) {
        let said = field(node, "value").filter(|value| has_word(node, "readonly") || value.kind() == "as_expression");
        literals::member(cx, name, field(node, "type"), said, has_word(node, "?"), members);
    }
    let Some(value) = field(node, "value") else {
        return cx.facts.bind(members, name, Bound::variable().of(of).at(at));
    };
    let op = if is_static(node) { Op::ClassOf } else { Op::SelfOf };
    let inner = own_scope(cx, members, op, class);
    let function = bare(cx, value);
    if FUNCTIONS.contains(&function.kind()) {
        outer_types(cx, value, function, inner);
        let method = cx.facts.define(Definition { name, at, owner: class, ..Definition::default() });
        cx.facts.bind(members, name, Bound::definition(method).at(at));
        let given = if of == UNKNOWN { ArgumentSource::Overrides } else { functions::wanted(cx, of) };
        functions::function(cx, function, inner, method, ThisBinding::Outer, given);
        return;
    }
    let value = match function.kind() {
        "object" => {
            outer_types(cx, value, function, inner);
            object(cx, function, inner, of, false)
        }
        _ => {
            let wanted = cx.facts.of(Op::Instance, of);
            expected(cx, value, inner, wanted)
        }
    };
    cx.facts.bind(members, name, Bound::variable().value(value).of(of).at(at));
}

/// The value of a member: its binding, and the value. `owner` is `this` in it, and `wanted` a value like the one that is
/// expected.
pub(super) fn member_value<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    name: NameId,
    at: u32,
    owner: Option<(Op, DefinitionId)>,
    wanted: ExpressionId,
) -> (Bound, ExpressionId) {
    let value = bare(cx, node);
    if FUNCTIONS.contains(&value.kind()) {
        outer_types(cx, node, value, scope);
        let (this, class) = match owner {
            Some((op, class)) if value.kind() != "arrow_function" => (ThisBinding::Of(op, class), class),
            Some((_, class)) => (ThisBinding::Outer, class),
            None => (ThisBinding::Unknown, DefinitionId::NONE),
        };
        let function = cx.facts.define(Definition { name, at, owner: class, ..Definition::default() });
        let given = match functions::given_by(wanted) {
            ArgumentSource::Overrides if owner.is_none() => ArgumentSource::Nothing,
            given => given,
        };
        functions::function(cx, value, scope, function, this, given);
        return (Bound::definition(function), cx.facts.expression(Op::Function, function, 0));
    }
    if value.kind() == "class" {
        let class = self::class(cx, value, scope, Some((ScopeId::NONE, name, at)));
        return (Bound::definition(class), cx.facts.expression(Op::ClassOf, class, 0));
    }
    let value = expected(cx, node, scope, wanted);
    (Bound::variable().value(value), value)
}

/// An object literal; returns it as an expression. `of` is the written type. The properties of a module's exports are
/// aliases of their values.
pub(super) fn object<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    of: ExpressionId,
    is_exports: bool,
) -> ExpressionId {
    let wanted = cx.facts.of(Op::Instance, of);
    literal(cx, node, scope, (of, wanted), is_exports)
}

/// Records the key of an object as a use of the member of the value that is wanted; returns what is wanted of its value: that
/// member, or an element of a type that has any keys. It says nothing where the value is not known: a key is a name of its own.
fn used_key(cx: &mut Lower<'_, '_>, key: Node<'_>, name: NameId, wanted: ExpressionId) -> ExpressionId {
    if wanted == UNKNOWN || !matches!(key.kind(), "property_identifier" | "shorthand_property_identifier") {
        return UNKNOWN;
    }
    let member = cx.facts.member(wanted, name);
    cx.facts.if_known(span_of(key), Role::Write, member);
    let element = cx.facts.of(Op::Element, wanted);
    cx.facts.union(&[member, element])
}

/// An object literal of a type, where a value like `wanted` is expected.
pub(super) fn literal<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    (of, wanted): (ExpressionId, ExpressionId),
    is_exports: bool,
) -> ExpressionId {
    let kind = DefinitionKind::Object;
    let (object, members) = cx.facts.class(Definition { kind, ..Definition::default() }, scope);
    cx.facts.base(object, of);
    let wanted = literals::wanted(cx, node, wanted);
    for child in cx.children(node) {
        match child.kind() {
            "method_definition" => {
                let Some(key_node) = field(child, "name") else { continue };
                let (name, at) = key(cx, key_node, scope);
                let wanted = used_key(cx, key_node, name, wanted);
                let method = cx.facts.define(Definition { name, at, owner: object, ..Definition::default() });
                cx.facts.bind(members, name, Bound::definition(method).at(at));
                let this = ThisBinding::Of(Op::SelfOf, object);
                let given = functions::given_by(wanted);
                cx.deeper(|cx| functions::function(cx, child, scope, method, this, given));
            }
            "pair" => {
                let (Some(key_node), Some(value)) = (field(child, "key"), field(child, "value")) else { continue };
                let (name, at) = key(cx, key_node, scope);
                let wanted = used_key(cx, key_node, name, wanted);
                let owner = Some((Op::SelfOf, object));
                let (bound, value) = cx
                    .deeper(|cx| Some(member_value(cx, value, scope, name, at, owner, wanted)))
                    .unwrap_or((Bound::variable(), UNKNOWN));
                let it = cx.facts.look(value).op;
                let is_name = it == Op::Name || it == Op::Member;
                let is_alias = bound.is(BindingKind::Variable) && is_exports && is_name;
                cx.facts.bind(members, name, if is_alias { Bound::alias(value) } else { bound.at(at) });
            }
            "shorthand_property_identifier" => {
                let name = cx.name(child);
                let meant = cx.facts.named(scope, name);
                cx.facts.occurrence(span_of(child), Role::Reference, meant);
                used_key(cx, child, name, wanted);
                cx.facts.bind(members, name, Bound::alias(meant));
            }
            "spread_element" => {
                let all = cx.first(child).map_or(UNKNOWN, |all| walk(cx, all, scope, Role::Reference));
                cx.facts.base(object, all);
            }
            _ => drop(walk(cx, child, scope, Role::Reference)),
        }
    }
    cx.facts.expression(Op::Object, object, 0)
}

pub(super) fn interface<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some(name_node) = field(node, "name") else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let (around, generics) = around(cx, node, scope);
    let kind = DefinitionKind::Class;
    let definition = Definition { name, at, kind, generics, flags: TYPE_ONLY, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, around);
    cx.facts.bind(scope, name, Bound::definition(class).at(at));
    for child in cx.children(node) {
        match child.kind() {
            "extends_type_clause" | "extends_clause" => heritage(cx, child, around, class),
            "interface_body" | "object_type" => signatures(cx, child, class, members),
            _ => {}
        }
    }
}

/// The members of an interface or of an object type.
pub(super) fn signatures<'t>(cx: &mut Lower<'_, 't>, block: Node<'t>, class: DefinitionId, members: ScopeId) {
    for child in cx.children(block) {
        match child.kind() {
            "property_signature" => {
                let Some(name) = field(child, "name") else { continue };
                let (name, at) = key(cx, name, members);
                let written = field(child, "type");
                let of = written.map_or(UNKNOWN, |of| annotation(cx, of, members));
                let is_never = written.and_then(|of| cx.first(of)).is_some_and(|of| cx.text(of) == "never");
                cx.facts.bind(members, name, Bound::variable().of(of).at(at).nothing_if(is_never));
                literals::member(cx, name, written, None, has_word(child, "?"), members);
            }
            "method_signature" | "call_signature" | "construct_signature" => {
                let (name, at) = match field(child, "name") {
                    Some(name) => key(cx, name, members),
                    None if child.kind() == "call_signature" => (cx.facts.name(CALL), NONE),
                    None => (cx.facts.name(CONSTRUCT), NONE),
                };
                let method = cx.facts.define(Definition { name, at, owner: class, ..Definition::default() });
                cx.facts.bind(members, name, Bound::definition(method).at(at));
                cx.deeper(|cx| {
                    functions::function(
                        cx,
                        child,
                        members,
                        method,
                        ThisBinding::Of(Op::SelfOf, class),
                        ArgumentSource::Nothing,
                    )
                });
            }
            "index_signature" => index_signature(cx, child, members),
            _ => {}
        }
    }
}

/// The name of an object's call signature.
pub(in super::super) const CALL: &str = "()";
/// The name of an object's construct signature.
pub(in super::super) const CONSTRUCT: &str = "new ()";
/// The name of an object's index signature.
pub(in super::super) const ELEMENT: &str = "[]";

/// `[key: string]: T`, `[K in keyof T]: U`.
fn index_signature<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, members: ScopeId) {
    let inner = cx.facts.scope(ScopeKind::Block, members);
    let (name, of) = (field(node, "name"), field(node, "type"));
    for child in cx.children(node).into_iter().filter(|child| Some(*child) != name && Some(*child) != of) {
        if child.kind() != "mapped_type_clause" {
            annotation(cx, child, inner);
            continue;
        }
        let key = field(child, "name");
        for part in cx.children(child) {
            if Some(part) == key {
                let key = cx.name(part);
                cx.facts.bind(inner, key, Bound::variable());
            } else {
                annotation(cx, part, inner);
            }
        }
    }
    let returns = of.map_or(UNKNOWN, |of| annotation(cx, of, inner));
    // Which type each member is of, other rules say: `[N in Nodes as N['kind']]: Visitor<N>`.
    let is_renamed = cx.children(node).iter().any(|child| field(*child, "alias").is_some());
    if is_renamed {
        return;
    }
    let name = cx.facts.name(ELEMENT);
    let element = cx.facts.define(Definition { name, returns, ..Definition::default() });
    cx.facts.bind(members, name, Bound::definition(element));
}

/// `type Name = …`.
pub(super) fn alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let (Some(name_node), Some(value)) = (field(node, "name"), field(node, "value")) else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let (around, generics) = around(cx, node, scope);
    let alias = annotation(cx, value, around);
    let kind = DefinitionKind::Class;
    let definition = Definition { name, at, kind, alias, generics, flags: TYPE_ONLY, ..Definition::default() };
    let (class, _) = cx.facts.class(definition, around);
    cx.facts.bind(scope, name, Bound::definition(class).at(at));
}

pub(super) fn enumeration<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let (Some(name_node), Some(block)) = (field(node, "name"), field(node, "body")) else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { name, at, kind, ..Definition::default() }, scope);
    cx.facts.bind(scope, name, Bound::definition(class).at(at));
    let one = cx.facts.expression(Op::SelfOf, class, 0);
    // Members know each other without the name of the enumeration.
    let inside = cx.facts.scope(ScopeKind::Block, members);
    for child in cx.children(block) {
        let named = if child.kind() == "enum_assignment" { field(child, "name") } else { Some(child) };
        let Some(named) = named else { continue };
        let (name, at) = key(cx, named, scope);
        cx.facts.bind(members, name, Bound::variable().value(one).at(at));
        cx.facts.bind(inside, name, Bound::variable().value(one).at(at));
        if let Some(value) = field(child, "value") {
            literals::constant(cx, named, value, members);
            walk(cx, value, inside, Role::Reference);
        }
    }
}

/// `namespace A.B { … }`, `declare module "a" { … }`.
pub(super) fn namespace<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let (Some(name_node), Some(block)) = (field(node, "name"), field(node, "body")) else { return };
    let mut inner = scope;
    if name_node.kind() == "string" {
        inner = cx.facts.scope(ScopeKind::File, scope);
    } else {
        let text = cx.text(name_node);
        for part in text.split('.') {
            let (name, members) = (cx.facts.name(part.trim()), cx.facts.scope(ScopeKind::File, inner));
            let at = name_node.start_byte() as u32 + (part.as_ptr() as usize - text.as_ptr() as usize) as u32;
            let kind = DefinitionKind::Object;
            let object = cx.facts.define(Definition { name, at, members, kind, ..Definition::default() });
            cx.facts.bind(inner, name, Bound::definition(object).at(at));
            inner = members;
        }
    }
    body(cx, block, inner, DefinitionId::NONE);
}
