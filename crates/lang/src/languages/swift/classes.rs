//! Lowering of Swift types, their extensions and the cases of enumerations.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{all, child, class_around, field, home, is_open, named, plain, privacy};
use super::{calls, members, types};
use crate::facts::{Bound, Definition, DefinitionId, DefinitionKind, ExpressionId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// The name that the extended type is bound to among the members of an extension.
const EXTENDED: &str = "extension";
const CLASS: DefinitionKind = DefinitionKind::Class;

/// A class, a structure, an enumeration, an actor, a protocol or an extension.
pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let kind = field(node, "declaration_kind").map_or("", |word| cx.text(word));
    if kind == "extension" {
        extension(cx, node, name_node, at.scope);
        return at.says(UNKNOWN);
    }
    let bound = home(cx, node, at.scope);
    let around = cx.facts.scope(ScopeKind::Block, at.scope);
    let generics = types::parameters(cx, node, around);
    let (name, place) = (named(cx, name_node), name_node.start_byte() as u32);
    let list = cx.facts.list(&generics);
    let owner = cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE);
    let flags = privacy(cx, node);
    let definition = Definition { name, at: place, owner, kind: CLASS, generics: list, flags, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, around);
    cx.facts.bind(bound, name, Bound::definition(class).at(place));
    // Extensions elsewhere see the type parameters as members.
    for parameter in generics {
        let name = crate::facts::NameId(cx.facts.look(parameter).b);
        cx.facts.bind(members, name, Bound::alias(parameter));
    }
    if kind == "enum" {
        let own = cx.facts.expression(Op::ClassOf, class, 0);
        let (name, of) = (cx.facts.name("allCases"), types::container(cx, "Array", &[own]));
        cx.facts.bind(members, name, Bound::variable().of(of));
    }
    body(cx, node, class, members, around);
    at.says(UNKNOWN)
}

/// `extension Type: Protocol where … { … }`
fn extension<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, name: Node<'t>, scope: ScopeId) {
    let around = cx.facts.scope(ScopeKind::Block, scope);
    let of = types::written(cx, name, around);
    types::parameters(cx, node, around);
    let (class, members) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, around);
    cx.facts.extend(of, class);
    // A value of it is one of a type from outside, too.
    cx.facts.base(class, of);
    let extended = cx.facts.name(EXTENDED);
    cx.facts.bind(members, extended, Bound::meaning(of));
    body(cx, node, class, members, around);
}

/// The type that a scope of members extends.
pub(super) fn extended(cx: &mut Lower<'_, '_>, scope: ScopeId) -> Option<ExpressionId> {
    let name = cx.facts.name(EXTENDED);
    cx.facts.bound_in(scope, name).next().map(|binding| ExpressionId(binding.a))
}

/// The bases and the members.
fn body<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: DefinitionId, members: ScopeId, around: ScopeId) {
    let is_struct = field(node, "declaration_kind").is_some_and(|word| word.kind() == "struct");
    for part in cx.children(node) {
        match part.kind() {
            "modifiers" | "attribute" => drop(cx.value(part, around)),
            "inheritance_specifier" => {
                for base in cx.children(part) {
                    let base = cx.read(base, NodeContext { scope: around, role: Role::Base }).value;
                    cx.facts.base(class, base);
                }
            }
            "class_body" | "enum_class_body" | "protocol_body" => {
                for member in cx.pieces(part) {
                    cx.value(member, members);
                }
                if is_struct {
                    members::memberwise(cx, part, class, members);
                }
            }
            _ => {}
        }
    }
}

/// `case small = 1, nested(Size, by: Int = 1)`
pub(super) fn cases<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(class) = cx.facts.class_of(at.scope) else { return at.says(UNKNOWN) };
    let parts = cx.children(node);
    let value = cx.facts.expression(Op::SelfOf, class, 0);
    let returns = cx.facts.expression(Op::ClassOf, class, 0);
    for (index, part) in parts.iter().enumerate() {
        match part.kind() {
            "simple_identifier" => {
                let (name, place) = (named(cx, *part), part.start_byte() as u32);
                let contents = parts.get(index + 1).filter(|next| next.kind() == "enum_type_parameters");
                let Some(contents) = contents else {
                    cx.facts.bind(at.scope, name, Bound::variable().value(value).at(place));
                    continue;
                };
                let takes = associated(cx, *contents, at.scope);
                let parameters = cx.facts.list(&takes);
                let case = Definition { name, at: place, owner: class, returns, parameters, ..Definition::default() };
                let case = cx.facts.define(case);
                cx.facts.bind(at.scope, name, Bound::definition(case).at(place));
            }
            "enum_type_parameters" => {}
            _ => drop(cx.value(*part, at.scope)),
        }
    }
    at.says(UNKNOWN)
}

/// The values of a case, as parameters.
fn associated<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let mut takes = Vec::new();
    let mut label = String::new();
    let mut last: Option<(ExpressionId, String)> = None;
    let mut sign = "";
    for part in all(node) {
        let before = std::mem::replace(&mut sign, part.kind());
        match part.kind() {
            // `_ name: Type`
            "simple_identifier" if before != "=" => plain(cx, part).clone_into(&mut label),
            "," | ")" => {
                if let Some((of, label)) = last.take() {
                    takes.push(members::labeled(cx, of, &label));
                }
                label.clear();
            }
            _ if types::is_type(part) => {
                let of = types::written(cx, part, scope);
                let block = if cx.text(part).contains("->") { "{" } else { "" };
                let name = if label == "_" { "" } else { label.as_str() };
                last = Some((of, format!("{name}{block}")));
            }
            _ if before == "=" => {
                if let Some((of, label)) = &mut last {
                    label.push(crate::facts::MAY_LACK);
                    let expected = cx.facts.of(Op::Instance, *of);
                    calls::expect(cx, part, expected, scope);
                }
            }
            _ => {}
        }
    }
    takes
}

/// `typealias Name<A> = Type`
pub(super) fn alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = child(cx, node, "type_identifier") else { return at.says(UNKNOWN) };
    let around = cx.facts.scope(ScopeKind::Block, at.scope);
    types::parameters(cx, node, around);
    let of = cx.children(node).into_iter().rev().find(|part| types::is_type(*part));
    let alias = of.map_or(UNKNOWN, |of| types::written(cx, of, around));
    let (name, place) = (named(cx, name_node), name_node.start_byte() as u32);
    let owner = cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE);
    let definition = Definition { name, at: place, owner, kind: CLASS, alias, ..Definition::default() };
    let (class, _) = cx.facts.class(definition, ScopeId::NONE);
    let bound = home(cx, node, at.scope);
    cx.facts.bind(bound, name, Bound::definition(class).at(place));
    at.says(UNKNOWN)
}

/// `associatedtype Name: Bound = Type`
pub(super) fn associated_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (mut name, mut bound) = (None, UNKNOWN);
    for part in cx.children(node) {
        let is_bound = part.prev_sibling().is_some_and(|before| before.kind() == ":");
        match part.kind() {
            "type_identifier" if name.is_none() => name = Some(part),
            _ => {
                let of = cx.read(part, NodeContext { role: Role::Type, ..at }).value;
                bound = if is_bound { of } else { bound };
            }
        }
    }
    if let Some(name_node) = name.filter(|_| is_open(cx, at.scope)) {
        let (name, place) = (named(cx, name_node), name_node.start_byte() as u32);
        cx.facts.bind(at.scope, name, Bound::variable().of(bound).at(place));
    }
    at.says(UNKNOWN)
}

/// `self`, `super`
pub(super) fn own<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let op = if node.kind() == "super_expression" { Op::SuperOf } else { Op::SelfOf };
    at.says(class_around(cx, at.scope).map_or(UNKNOWN, |class| cx.facts.expression(op, class, 0)))
}
