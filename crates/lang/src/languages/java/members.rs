//! Lowering of Java classes of every kind, their members, and parameters.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::arguments;
use super::lower::{field, inside, method_name, part, visit};
use super::types::{annotations, array, array_of, type_of, type_parameters};
use crate::facts::{
    ANY_NUMBER, Bound, Definition, DefinitionId, DefinitionKind, EMPTY, ExpressionId, NameId, Op, ScopeId, ScopeKind,
    UNKNOWN,
};
use codelode_base::model::Role;

/// Whether a node declares a type.
pub(super) fn is_type(kind: &str) -> bool {
    matches!(
        kind,
        "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
    )
}

/// A type: its name is bound in the scope `bound`, and its own names are resolved in `around`.
pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, bound: ScopeId, mut around: ScopeId) {
    let Some(name_node) = field(node, "name") else { return };
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let owner = cx.facts.class_of(bound).unwrap_or(DefinitionId::NONE);
    annotations(cx, node, around);
    let mut generics = EMPTY;
    if field(node, "type_parameters").is_some() {
        around = cx.facts.scope(ScopeKind::Block, around);
        generics = type_parameters(cx, node, around);
    }
    let kind = DefinitionKind::Class;
    let definition = Definition { name, at, owner, kind, generics, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, around);
    cx.facts.bind(bound, name, Bound::definition(class).at(at));
    for child in cx.children(node) {
        let is_base = match child.kind() {
            "superclass" | "super_interfaces" | "extends_interfaces" => true,
            "permits" => false,
            _ => continue,
        };
        for of in cx.children(child) {
            let listed = if of.kind() == "type_list" { cx.children(of) } else { vec![of] };
            for of in listed {
                let base = type_of(cx, of, around, if is_base { Role::Base } else { Role::Type });
                if is_base {
                    cx.facts.base(class, base);
                }
            }
        }
    }
    let body = field(node, "body");
    if let Some(components) = field(node, "parameters") {
        record(cx, components, body, class, members);
    }
    if node.kind() == "enum_declaration" {
        enumeration(cx, class, members);
    }
    if let Some(body) = body {
        self::body(cx, body, class, members);
    }
}

/// A class without a name: `new Base() {…}`, a constant of an enum with a body.
pub(super) fn anonymous<'t>(cx: &mut Lower<'_, 't>, body: Node<'t>, base: ExpressionId, scope: ScopeId) {
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { kind, ..Definition::default() }, scope);
    cx.facts.base(class, base);
    self::body(cx, body, class, members);
}

/// A record's components: each is a field and an accessor method.
fn record<'t>(
    cx: &mut Lower<'_, 't>,
    components: Node<'t>,
    body: Option<Node<'t>>,
    class: DefinitionId,
    members: ScopeId,
) {
    let written: Vec<&str> = body
        .map(|body| cx.children(body))
        .unwrap_or_default()
        .into_iter()
        .filter(|member| member.kind() == "method_declaration")
        .filter_map(|member| field(member, "name"))
        .map(|name| cx.text(name))
        .collect();
    for (name_node, of) in parameters(cx, components, members) {
        let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
        cx.facts.bind(members, name, Bound::variable().of(of).at(at));
        if !written.contains(&cx.text(name_node)) {
            let name = method_name(cx, name_node);
            let getter = cx.facts.define(Definition { name, at, owner: class, returns: of, ..Definition::default() });
            cx.facts.bind(members, name, Bound::definition(getter).at(at));
        }
    }
}

/// Members of every enum: `values` and `valueOf`.
fn enumeration(cx: &mut Lower<'_, '_>, class: DefinitionId, members: ScopeId) {
    let own = cx.facts.expression(Op::ClassOf, class, 0);
    let list = cx.facts.list(&[own]);
    let all = cx.facts.expression(Op::Generic, UNKNOWN, list);
    for (name, returns) in [("values()", all), ("valueOf()", own)] {
        let name = cx.facts.name(name);
        let method = cx.facts.define(Definition { name, owner: class, returns, ..Definition::default() });
        cx.facts.bind(members, name, Bound::definition(method));
    }
}

/// The members of a class. All are bound before any is read.
fn body<'t>(cx: &mut Lower<'_, 't>, body: Node<'t>, class: DefinitionId, members: ScopeId) {
    let mut all = Vec::new();
    for member in cx.children(body) {
        match member.kind() {
            "enum_body_declarations" => all.extend(cx.children(member)),
            _ => all.push(member),
        }
    }
    let mut functions = Vec::with_capacity(all.len());
    let mut without_body = Vec::new();
    for member in &all {
        functions.push(DefinitionId::NONE);
        match member.kind() {
            "method_declaration"
            | "annotation_type_element_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration" => {
                let Some(name_node) = field(*member, "name") else { continue };
                let is_method = !member.kind().contains("constructor");
                let text = cx.text(name_node);
                let name = match is_method {
                    true => method_name(cx, name_node),
                    // A compact one takes a record's components.
                    false => {
                        let implied = body.parent().and_then(|record| arity(cx, record, None));
                        let takes = arity(cx, *member, implied);
                        constructor_name(cx, text, takes)
                    }
                };
                let at = name_node.start_byte() as u32;
                let function = cx.facts.define(Definition { name, at, owner: class, ..Definition::default() });
                cx.facts.bind(members, name, Bound::definition(function).at(at));
                if !is_method {
                    let name = cx.facts.name(CONSTRUCTOR);
                    cx.facts.bind(members, name, Bound::definition(function));
                } else if field(*member, "body").is_none() {
                    without_body.push(function);
                }
                functions.pop();
                functions.push(function);
            }
            "field_declaration" | "constant_declaration" => {
                annotations(cx, *member, members);
                let of = field(*member, "type").map_or(UNKNOWN, |of| type_of(cx, of, members, Role::Type));
                for declarator in cx.children(*member) {
                    if let Some(name) = field(declarator, "name").filter(|_| declarator.kind() == "variable_declarator")
                    {
                        let of = array_of(cx, of, field(declarator, "dimensions"));
                        let (name, at) = (cx.name(name), name.start_byte() as u32);
                        cx.facts.bind(members, name, Bound::variable().of(of).at(at));
                    }
                }
            }
            "enum_constant" => {
                if let Some(name) = field(*member, "name") {
                    let own = cx.facts.expression(Op::SelfOf, class, 0);
                    let (name, at) = (cx.name(name), name.start_byte() as u32);
                    cx.facts.bind(members, name, Bound::variable().value(own).at(at));
                }
            }
            _ => {}
        }
    }
    // A lambda implements an interface with one method without a body.
    if let ([only], "interface_body") = (&without_body[..], body.kind()) {
        let name = cx.facts.name(OPEN);
        cx.facts.bind(members, name, Bound::definition(*only));
    }
    for (member, function) in all.into_iter().zip(functions) {
        cx.deeper(|cx| self::member(cx, member, class, members, function));
    }
}

/// The name under which `this(…)` and `super(…)` find constructors.
pub(super) const CONSTRUCTOR: &str = "new()";
/// The name of the method that a lambda implements.
pub(super) const OPEN: &str = "->";

/// The name of a class's constructors with this number of parameters, or any number. It contains the class, because
/// constructors are not inherited.
pub(super) fn constructor_name(cx: &mut Lower<'_, '_>, class: &str, takes: Option<usize>) -> NameId {
    let takes = takes.map_or("…".to_owned(), |takes| takes.to_string());
    cx.facts.name(&format!("new {class}({takes})"))
}

/// The number of a method's parameters; `None` for any number. `implied` is used without a parameter list.
fn arity<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, implied: Option<usize>) -> Option<usize> {
    field(node, "parameters").map_or(implied, |list| arity_of(cx, list))
}

/// The number of parameters in a list; `None` for any number.
fn arity_of<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>) -> Option<usize> {
    let parameters = cx.children(list);
    let is_open = parameters.iter().any(|parameter| parameter.kind() == "spread_parameter");
    (!is_open).then(|| parameters.iter().filter(|parameter| parameter.kind() == "formal_parameter").count())
}

fn member<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: DefinitionId, members: ScopeId, function: DefinitionId) {
    match node.kind() {
        "method_declaration"
        | "annotation_type_element_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration" => {
            let inner = cx.facts.scope(ScopeKind::Function, members);
            let generics = type_parameters(cx, node, inner);
            annotations(cx, node, inner);
            let returns = field(node, "type").map_or(UNKNOWN, |of| type_of(cx, of, inner, Role::Type));
            let returns = array_of(cx, returns, field(node, "dimensions"));
            if let Some(list) = field(node, "parameters") {
                let mut types = Vec::new();
                for (name, of) in parameters(cx, list, inner) {
                    let name = cx.name(name);
                    cx.facts.bind(inner, name, Bound::parameter().of(of));
                    types.push(of);
                }
                let types = cx.facts.list(&types);
                if function != DefinitionId::NONE {
                    cx.facts.definition(function).parameters = types;
                }
            }
            if function != DefinitionId::NONE {
                // A compact constructor has the parameters of its record's header.
                let is_open = field(node, "parameters").is_none_or(|list| arity_of(cx, list).is_none());
                let definition = cx.facts.definition(function);
                (definition.returns, definition.generics) = (returns, generics);
                definition.flags |= if is_open { ANY_NUMBER } else { 0 };
            }
            for child in cx.children(node) {
                if child.kind() == "throws" {
                    for thrown in cx.children(child) {
                        type_of(cx, thrown, inner, Role::Type);
                    }
                }
            }
            part(cx, node, "value", inner);
            if let Some(body) = field(node, "body") {
                inside(cx, body, inner);
            }
        }
        "field_declaration" | "constant_declaration" => {
            for declarator in cx.children(node) {
                if declarator.kind() == "variable_declarator" {
                    part(cx, declarator, "value", members);
                }
            }
        }
        "enum_constant" => {
            annotations(cx, node, members);
            // A constant is an instance of the enum, made by a constructor if one is written.
            if let Some(name) = field(node, "name") {
                let own = cx.facts.expression(Op::ClassOf, class, 0);
                let constructor = cx.facts.name(CONSTRUCTOR);
                let constructor = cx.facts.member(own, constructor);
                let callee = cx.facts.union(&[own, constructor]);
                let (_, fitting) = arguments(cx, node, members, callee);
                cx.facts.occurrence(span_of(name), Role::Call, fitting);
            }
            if let Some(body) = field(node, "body") {
                let base = cx.facts.expression(Op::ClassOf, class, 0);
                anonymous(cx, body, base, members);
            }
        }
        kind if is_type(kind) => self::class(cx, node, members, members),
        _ => drop(visit(cx, node, members)),
    }
}

/// The names and types of written parameters.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> Vec<(Node<'t>, ExpressionId)> {
    let mut found = Vec::new();
    for parameter in cx.children(list) {
        annotations(cx, parameter, scope);
        match parameter.kind() {
            "formal_parameter" => {
                let of = field(parameter, "type").filter(|of| cx.text(*of) != "var");
                let of = of.map_or(UNKNOWN, |of| type_of(cx, of, scope, Role::Type));
                let of = array_of(cx, of, field(parameter, "dimensions"));
                found.extend(field(parameter, "name").map(|name| (name, of)));
            }
            "spread_parameter" | "receiver_parameter" => {
                let (mut name, mut of) = (None, UNKNOWN);
                for child in cx.children(parameter) {
                    match child.kind() {
                        "modifiers" | "annotation" | "marker_annotation" | "this" | "identifier" => {}
                        "variable_declarator" => name = field(child, "name"),
                        _ => of = type_of(cx, child, scope, Role::Type),
                    }
                }
                if let Some(name) = name {
                    found.push((name, array(cx, of)));
                }
            }
            _ => {}
        }
    }
    found
}

/// `(a, b) -> …`: its parameters get their values from `callee`, whose argument number `place` it is.
pub(super) fn lambda<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    place: u32,
) -> ExpressionId {
    let function = cx.facts.define(Definition { parameters: EMPTY, ..Definition::default() });
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let mut named = Vec::new();
    if let Some(list) = field(node, "parameters") {
        match list.kind() {
            "identifier" => named.push((list, UNKNOWN)),
            "inferred_parameters" => named.extend(cx.children(list).into_iter().map(|name| (name, UNKNOWN))),
            _ => named = parameters(cx, list, inner),
        }
    }
    for (own, (name, of)) in (0..).zip(named) {
        let given = match callee {
            UNKNOWN => UNKNOWN,
            _ => cx.facts.expression(Op::Passed, callee, place << 16 | own),
        };
        let name = cx.name(name);
        cx.facts.bind(inner, name, Bound::parameter().value(given).of(of));
    }
    if let Some(body) = field(node, "body") {
        let value = visit(cx, body, inner);
        cx.facts.returns(function, value);
    }
    cx.facts.expression(Op::Function, function, 0)
}
