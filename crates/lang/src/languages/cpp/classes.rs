//! Lowering of C++ classes with their members, in the class and outside of it, and of functions.

use tree_sitter::Node;

use super::super::c::declarator::{Declarator, declarator};
use super::super::c::lower::{bind, declarators, field, is_stored, is_unnamed, type_of};
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::names;
use crate::facts::{
    ANY_NUMBER, Bound, Definition, DefinitionId, DefinitionKind, FEWER, NONE, NameId, Op, SEEN, ScopeId, ScopeKind,
    UNKNOWN,
};
use codelode_base::model::Role;

/// The name of all constructors of a class: as a function, it would hide the class.
pub(in crate::languages) const CONSTRUCTOR: &str = "new";

/// The scope of the members of a class that a declared name with `::` belongs to, else `scope`.
pub(super) fn owner<'t>(cx: &mut Lower<'_, 't>, inside: Node<'t>, scope: ScopeId) -> ScopeId {
    let mut at = inside;
    while at.kind() != "qualified_identifier" {
        let is_inner =
            |child: &Node<'t>| child.kind().ends_with("declarator") || child.kind() == "qualified_identifier";
        let inner = field(at, "declarator").or_else(|| cx.children(at).into_iter().find(is_inner));
        let Some(inner) = inner.filter(|_| at.kind().ends_with("declarator")) else { return scope };
        at = inner;
    }
    let (Some(on), _) = names::split(cx, at, scope) else { return scope };
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { kind, ..Definition::default() }, scope);
    cx.facts.extend(on, class);
    // Names of the namespace that is written first are seen as well.
    if let (Some(around), Some("qualified_identifier")) =
        (field(at, "scope"), field(at, "name").map(|name| name.kind()))
    {
        let name = cx.name(around);
        let around = cx.facts.named(scope, name);
        cx.facts.star(members, around, SEEN);
    }
    members
}

/// A function with its body.
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = type_of(cx, node, at.scope);
    let inside = field(node, "declarator");
    let scope = inside.map_or(at.scope, |inside| owner(cx, inside, at.scope));
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    if let Some(declared) = inside.and_then(|inside| declarator(cx, inside, of, scope, Some(inner))) {
        define(cx, node, &declared, scope);
    }
    let before = [field(node, "type"), inside];
    for part in cx.children(node).into_iter().filter(|part| !before.contains(&Some(*part))) {
        cx.value(part, inner);
    }
    at.says(UNKNOWN)
}

/// Binds a function, or the declaration of a method in its class.
fn define<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, declared: &Declarator<'t>, scope: ScopeId) {
    let class = cx.facts.class_of(scope);
    let is_named = matches!(declared.name.kind(), "identifier" | "field_identifier");
    let text: String = match class {
        Some(_) if is_named && field(node, "type").is_none() => CONSTRUCTOR.to_owned(),
        _ => cx.text(declared.name).split_whitespace().collect(),
    };
    let (name, at) = (cx.facts.name(&text), declared.name.start_byte() as u32);
    let parameters = cx.facts.list(&declared.takes);
    let is_open = cx.text(node).split('{').next().is_some_and(|head| head.contains("..."));
    // Defaults may be written at another declaration.
    let flags = if is_open { ANY_NUMBER } else { FEWER };
    let owner = class.unwrap_or(DefinitionId::NONE);
    let function =
        Definition { name, at, owner, parameters, returns: declared.returns, flags, ..Definition::default() };
    let function = cx.facts.define(function);
    let is_linked = !is_stored(cx, node, "static");
    bind(cx, scope, name, Bound::definition(function).at(at), is_linked);
}

/// Fields and methods in a class.
pub(super) fn fields<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = declarators(node);
    let unnamed = field(node, "type").filter(|of| all.is_empty() && is_unnamed(*of) && of.kind() != "enum_specifier");
    if let Some(body) = unnamed.and_then(|of| field(of, "body")) {
        // The members of an unnamed struct without a name of its own are those of the outer one.
        cx.parts(body, at.scope);
        return at.says(UNKNOWN);
    }
    let of = type_of(cx, node, at.scope);
    for inside in all {
        let Some(declared) = declarator(cx, inside, of, at.scope, None) else { continue };
        if declared.is_function {
            define(cx, node, &declared, at.scope);
            continue;
        }
        let (name, place) = (cx.name(declared.name), declared.name.start_byte() as u32);
        cx.facts.bind(at.scope, name, Bound::variable().of(declared.of).at(place));
    }
    field(node, "default_value").map(|value| cx.value(value, at.scope));
    at.says(UNKNOWN)
}

/// `friend …`: a function is one of the namespace.
pub(super) fn friend<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut scope = at.scope;
    while cx.facts.is(scope, ScopeKind::Class) {
        scope = cx.facts.parent(scope);
    }
    for part in cx.children(node) {
        let is_function = matches!(part.kind(), "declaration" | "function_definition");
        cx.value(part, if is_function { scope } else { at.scope });
    }
    at.says(UNKNOWN)
}

/// `name(value)` before the body of a constructor.
pub(super) fn initializer<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for (place, part) in cx.children(node).into_iter().enumerate() {
        match part.kind() {
            "field_identifier" if place == 0 => cx.bare(part, at.scope, Role::Write),
            "template_method" if place == 0 => drop(names::meaning(cx, None, part, at)),
            _ => drop(cx.value(part, at.scope)),
        }
    }
    at.says(UNKNOWN)
}

/// Whether the names of an enumeration are its own, `enum class`.
fn is_scoped(node: Node<'_>) -> bool {
    node.children(&mut node.walk()).any(|word| matches!(word.kind(), "class" | "struct"))
}

/// A name of an enumeration, whose scope is the current one.
pub(super) fn enumerator<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    field(node, "value").map(|value| cx.value(value, at.scope));
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let (name, place) = (cx.name(name_node), name_node.start_byte() as u32);
    let class = cx.facts.class_of(at.scope);
    let own = class.map_or(UNKNOWN, |class| cx.facts.expression(Op::SelfOf, class, 0));
    cx.facts.bind(at.scope, name, Bound::variable().value(own).at(place));
    if class.is_some() && node.parent().and_then(|list| list.parent()).is_some_and(|of| !is_scoped(of)) {
        let around = cx.facts.parent(at.scope);
        cx.facts.bind(around, name, Bound::variable().value(own).at(place));
    }
    at.says(UNKNOWN)
}

/// A class, struct, union or enumeration: its definition, or a reference to it.
pub(super) fn tagged<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let name_node = field(node, "name");
    let Some(body) = field(node, "body") else {
        return name_node.map_or(at.says(UNKNOWN), |name| cx.read(name, NodeContext { role: Role::Type, ..at }));
    };
    let name_node = name_node.map(|mut name| {
        while let ("qualified_identifier" | "template_type", Some(inner)) = (name.kind(), field(name, "name")) {
            name = inner;
        }
        name
    });
    let (name, place) = name_node.map_or((NameId::NONE, NONE), |name| (cx.name(name), name.start_byte() as u32));
    let (kind, owner) = (DefinitionKind::Class, cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE));
    let definition = Definition { name, at: place, kind, owner, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, at.scope);
    if let Some(name_node) = name_node {
        // C has the name of a struct with its word.
        let tag = cx.facts.name(&format!("struct {}", cx.text(name_node)));
        for name in [name, tag] {
            cx.facts.bind(at.scope, name, Bound::definition(class).at(place));
        }
        // A class is a member of itself.
        cx.facts.bind(members, name, Bound::definition(class));
    }
    let clause = cx.children(node).into_iter().find(|part| part.kind() == "base_class_clause");
    for base in clause.map(|clause| cx.children(clause)).unwrap_or_default() {
        let base = cx.read(base, NodeContext { scope: at.scope, role: Role::Base }).value;
        cx.facts.base(class, base);
    }
    cx.parts(body, members);
    at.says(cx.facts.expression(Op::ClassOf, class, 0))
}
