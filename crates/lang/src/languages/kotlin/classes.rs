//! Lowering of Kotlin classes, interfaces, objects and enumerations.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{bind_value, called, child, field, has_sign, has_word, home};
use super::{calls, members, types};
use crate::facts::{
    Bound, Definition, DefinitionId, DefinitionKind, ExpressionId, NONE, Op, ScopeId, ScopeKind, UNKNOWN,
};
use codelode_base::model::Role;

/// The name under which `this(…)` and `super(…)` find constructors.
pub(super) const CONSTRUCTOR: &str = "new()";
/// The name of a class whose members a lambda sees, or a function that extends a type.
pub(super) const RECEIVED: &str = "<receiver>";
const CLASS: DefinitionKind = DefinitionKind::Class;

/// Facts of a class that its members need.
struct Class<'a> {
    name: &'a str,
    class: DefinitionId,
    members: ScopeId,
    /// The scope of its names without its members.
    around: ScopeId,
    /// The scope that its name is bound in.
    bound: ScopeId,
    generics: Vec<ExpressionId>,
}

/// A class, an interface, an enumeration or an object.
pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let bound = home(cx, node, at.scope);
    let mut around = at.scope;
    let mut generics = Vec::new();
    if child(cx, node, "type_parameters").is_some() {
        around = cx.facts.scope(ScopeKind::Block, around);
        generics = types::parameters(cx, node, around);
    }
    let text = cx.text(name_node);
    let (name, place) = (cx.facts.name(text), name_node.start_byte() as u32);
    let list = cx.facts.list(&generics);
    let owner = cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE);
    let definition = Definition { name, at: place, owner, kind: CLASS, generics: list, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, around);
    cx.facts.bind(bound, name, Bound::definition(class).at(place));
    let call = called(cx, text);
    cx.facts.bind(bound, call, Bound::definition(class).at(place));
    body(cx, node, &Class { name: text, class, members, around, bound, generics });
    at.says(UNKNOWN)
}

/// `companion object { … }`: its members are seen as those of the class around it, which does not derive from it.
pub(super) fn companion<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let named = field(node, "name");
    let text = named.map_or("Companion", |name| cx.text(name));
    let (name, place) = (cx.facts.name(text), named.map_or(NONE, |name| name.start_byte() as u32));
    let outer = cx.facts.class_of(at.scope);
    let definition = Definition {
        name,
        at: place,
        owner: outer.unwrap_or(DefinitionId::NONE),
        kind: CLASS,
        ..Definition::default()
    };
    let (class, members) = cx.facts.class(definition, at.scope);
    cx.facts.bind(at.scope, name, Bound::definition(class).at(place));
    if let Some(outer) = outer {
        let alias = cx.facts.expression(Op::ClassOf, class, 0);
        let (lent, _) = cx.facts.class(Definition { kind: CLASS, alias, ..Definition::default() }, ScopeId::NONE);
        let outer = cx.facts.expression(Op::ClassOf, outer, 0);
        cx.facts.extend(outer, lent);
    }
    let own = Class { name: text, class, members, around: at.scope, bound: at.scope, generics: Vec::new() };
    body(cx, node, &own);
    at.says(UNKNOWN)
}

/// `object : Base() { … }`
pub(super) fn anonymous<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (class, members) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, at.scope);
    let own = Class { name: "", class, members, around: at.scope, bound: members, generics: Vec::new() };
    body(cx, node, &own);
    at.says(cx.facts.expression(Op::SelfOf, class, 0))
}

/// `typealias Name = Type`
pub(super) fn alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "type") else { return at.says(UNKNOWN) };
    let bound = home(cx, node, at.scope);
    let around = cx.facts.scope(ScopeKind::Block, at.scope);
    types::parameters(cx, node, around);
    let of = cx.children(node).into_iter().rev().find(|part| types::is_type(*part));
    let alias = of.map_or(UNKNOWN, |of| types::written(cx, of, around));
    let (name, place) = (cx.name(name_node), name_node.start_byte() as u32);
    let (class, _) =
        cx.facts.class(Definition { name, at: place, kind: CLASS, alias, ..Definition::default() }, ScopeId::NONE);
    let call = called(cx, cx.text(name_node));
    for name in [name, call] {
        cx.facts.bind(bound, name, Bound::definition(class).at(place));
    }
    at.says(UNKNOWN)
}

/// A class that has the members of a value, seen without a name before them.
pub(super) fn received(cx: &mut Lower<'_, '_>, value: ExpressionId, scope: ScopeId) -> ScopeId {
    let name = cx.facts.name(RECEIVED);
    let (class, members) = cx.facts.class(Definition { name, kind: CLASS, ..Definition::default() }, scope);
    cx.facts.base(class, value);
    members
}

/// `Type(…)` after a colon or behind `@`.
pub(super) fn invocation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let role = if at.role == Role::Base { Role::Base } else { Role::Type };
    let mut of = UNKNOWN;
    for part in cx.children(node) {
        match part.kind() {
            "value_arguments" => drop(calls::arguments(cx, Some(part), at.scope, UNKNOWN, of, "")),
            _ => of = cx.read(part, NodeContext { role, ..at }).value,
        }
    }
    at.says(of)
}

/// The bases, the constructors and the members.
fn body<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: &Class<'_>) {
    let parts = cx.children(node);
    // Initializers see the parameters of the constructor, too.
    let inner = cx.facts.scope(ScopeKind::Function, own.members);
    for part in parts {
        match part.kind() {
            "modifiers" => drop(cx.value(part, own.around)),
            "primary_constructor" => primary(cx, part, node, own, inner),
            "delegation_specifiers" => {
                for base in cx.children(part) {
                    bases(cx, base, own, inner);
                }
            }
            "class_body" | "enum_class_body" => {
                if part.kind() == "enum_class_body" {
                    enumeration(cx, own);
                }
                for member in cx.children(part) {
                    cx.deeper(|cx| self::member(cx, member, own, inner));
                }
            }
            _ => {}
        }
    }
}

/// `Base(…)`, `Base`, `Base by value`
fn bases<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: &Class<'_>, inner: ScopeId) {
    for part in cx.children(node) {
        let (of, rest) = match part.kind() {
            "annotation" => {
                cx.value(part, own.around);
                continue;
            }
            "constructor_invocation" | "explicit_delegation" => match cx.children(part)[..] {
                [of, rest, ..] => (of, Some(rest)),
                [of] => (of, None),
                _ => continue,
            },
            _ => (part, None),
        };
        let base = cx.read(of, NodeContext { scope: own.around, role: Role::Base }).value;
        cx.facts.base(own.class, base);
        match rest {
            Some(list) if list.kind() == "value_arguments" => {
                let constructor = cx.facts.name(CONSTRUCTOR);
                let callee = cx.facts.member(base, constructor);
                calls::arguments(cx, rest, inner, callee, base, "");
            }
            Some(value) => drop(cx.value(value, inner)),
            None => {}
        }
    }
}

fn member<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: &Class<'_>, inner: ScopeId) {
    match node.kind() {
        "property_declaration" => drop(members::declare_property(cx, node, own.members, inner)),
        "anonymous_initializer" => drop(cx.parts(node, inner)),
        "secondary_constructor" => secondary(cx, node, own),
        "enum_entry" => entry(cx, node, own),
        _ => drop(cx.value(node, own.members)),
    }
}

/// Members of every enumeration.
fn enumeration(cx: &mut Lower<'_, '_>, own: &Class<'_>) {
    let one = cx.facts.expression(Op::ClassOf, own.class, 0);
    let list = cx.facts.list(&[one]);
    let all = cx.facts.expression(Op::Generic, UNKNOWN, list);
    for (name, returns) in [("values()", all), ("valueOf()", one)] {
        let name = cx.facts.name(name);
        let method = cx.facts.define(Definition { name, owner: own.class, returns, ..Definition::default() });
        cx.facts.bind(own.members, name, Bound::definition(method));
    }
    let entries = cx.facts.name("entries");
    cx.facts.bind(own.members, entries, Bound::variable().of(all));
}

/// `NAME(…) { … }`
fn entry<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: &Class<'_>) {
    let value = cx.facts.expression(Op::SelfOf, own.class, 0);
    for part in cx.children(node) {
        match part.kind() {
            "identifier" => {
                let (name, place) = (cx.name(part), part.start_byte() as u32);
                cx.facts.bind(own.members, name, Bound::variable().value(value).at(place));
            }
            "value_arguments" => {
                let constructor = cx.facts.name(CONSTRUCTOR);
                let of = cx.facts.expression(Op::ClassOf, own.class, 0);
                let callee = cx.facts.member(of, constructor);
                calls::arguments(cx, Some(part), own.members, callee, of, "");
            }
            "class_body" => {
                let definition = Definition { kind: CLASS, ..Definition::default() };
                let (class, members) = cx.facts.class(definition, own.members);
                let base = cx.facts.expression(Op::ClassOf, own.class, 0);
                cx.facts.base(class, base);
                let inner = cx.facts.scope(ScopeKind::Function, members);
                let own = Class { name: "", class, members, around: members, bound: members, generics: Vec::new() };
                for one in cx.children(part) {
                    cx.deeper(|cx| member(cx, one, &own, inner));
                }
            }
            _ => drop(cx.value(part, own.members)),
        }
    }
}

/// Binds a constructor, for calls of the class and of `this` or `super`.
fn constructor(cx: &mut Lower<'_, '_>, own: &Class<'_>, at: u32, takes: &members::ParameterList) {
    let mut returns = cx.facts.expression(Op::ClassOf, own.class, 0);
    let generics = cx.facts.list(&own.generics);
    if !own.generics.is_empty() {
        returns = cx.facts.expression(Op::Generic, returns, generics);
    }
    let name = cx.facts.name(CONSTRUCTOR);
    let definition = Definition { name, at, owner: own.class, returns, generics, ..Definition::default() };
    let function = members::taking(cx, definition, takes);
    cx.facts.bind(own.members, name, Bound::definition(function));
    if !own.name.is_empty() {
        let call = called(cx, own.name);
        cx.facts.bind(own.bound, call, Bound::definition(function));
    }
}

/// `(val name: Type, other: Type = default)` behind the name of a class.
fn primary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: Node<'t>, own: &Class<'_>, inner: ScopeId) {
    let is_data = has_word(cx, class, "data");
    let mut takes = members::ParameterList::default();
    let mut place = 0;
    for part in cx.children(node) {
        if part.kind() != "class_parameters" {
            cx.value(part, own.around);
            continue;
        }
        for parameter in cx.children(part) {
            let (mut name, mut of, mut written, mut value) = (None, UNKNOWN, None, None);
            for part in cx.children(parameter) {
                match part.kind() {
                    "identifier" if name.is_none() => name = Some(part),
                    "modifiers" => drop(cx.value(part, own.around)),
                    _ if written.is_none() && types::is_type(part) => {
                        of = types::written(cx, part, inner);
                        written = Some(part);
                    }
                    _ => value = Some(cx.value(part, inner)),
                }
            }
            let is_open = has_word(cx, parameter, "vararg");
            of = takes.add(cx, of, value.is_some(), is_open);
            let Some(name) = name else { continue };
            let is_callable = written.is_some_and(|written| types::is_function(cx, written));
            let (text, at) = (cx.text(name), name.start_byte() as u32);
            if !has_sign(parameter, "val") && !has_sign(parameter, "var") {
                bind_value(cx, inner, text, Bound::parameter().of(of), is_callable);
                continue;
            }
            bind_value(cx, own.members, text, Bound::variable().of(of).at(at), is_callable);
            place += 1;
            if is_data {
                let name = cx.facts.name(&format!("component{place}()"));
                let definition = Definition { name, owner: own.class, returns: of, ..Definition::default() };
                let component = cx.facts.define(definition);
                cx.facts.bind(own.members, name, Bound::definition(component));
            }
        }
    }
    if is_data {
        let (name, returns) = (cx.facts.name("copy()"), cx.facts.expression(Op::ClassOf, own.class, 0));
        let copy = cx.facts.define(Definition { name, owner: own.class, returns, ..Definition::default() });
        cx.facts.bind(own.members, name, Bound::definition(copy));
    }
    constructor(cx, own, NONE, &takes);
}

/// `constructor(…) : this(…) { … }`
fn secondary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: &Class<'_>) {
    let inner = cx.facts.scope(ScopeKind::Function, own.members);
    let word = node.children(&mut node.walk()).find(|part| part.kind() == "constructor");
    let at = word.map_or(NONE, |word| word.start_byte() as u32);
    let mut takes = members::ParameterList::default();
    for part in cx.children(node) {
        match part.kind() {
            "function_value_parameters" => takes = members::parameters(cx, part, inner),
            "constructor_delegation_call" => {
                let word = part.children(&mut part.walk()).find(|word| matches!(word.kind(), "this" | "super"));
                let Some(word) = word else { continue };
                let op = if word.kind() == "this" { Op::ClassOf } else { Op::SuperOf };
                let of = cx.facts.expression(op, own.class, 0);
                let name = cx.facts.name(CONSTRUCTOR);
                let callee = cx.facts.member(of, name);
                let list = child(cx, part, "value_arguments");
                let all = calls::arguments(cx, list, inner, callee, of, "");
                let fitting = cx.facts.expression(Op::Fitting, callee, all);
                cx.facts.occurrence(span_of(word), Role::Call, fitting);
            }
            _ => drop(cx.value(part, inner)),
        }
    }
    constructor(cx, own, at, &takes);
}
