//! Lowering of Scala functions and values.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{field, fields, home, is_open, plain, term};
use super::{classes, patterns, types};
use crate::facts::{
    ANY_NUMBER, Bound, Definition, DefinitionId, ExpressionId, FEWER, NONE, PROPERTY, ScopeId, ScopeKind, UNKNOWN,
};

/// Parameters of a function.
#[derive(Default)]
pub(super) struct ParameterList {
    types: Vec<ExpressionId>,
    flags: u16,
}

impl ParameterList {
    /// Adds a parameter with what its type is and how it is written.
    pub(super) fn add(&mut self, of: ExpressionId, has_default: bool, written: Option<Node<'_>>) {
        let is_open = written.is_some_and(|written| written.kind() == "repeated_parameter_type");
        self.types.push(if is_open { UNKNOWN } else { of });
        if is_open {
            self.flags = ANY_NUMBER;
        } else if has_default && self.flags == 0 {
            self.flags = FEWER;
        }
    }

    /// The number of parameters.
    pub(super) fn len(&self) -> usize {
        self.types.len()
    }

    /// The type of the first one.
    pub(super) fn first(&self) -> ExpressionId {
        self.types.first().copied().unwrap_or(UNKNOWN)
    }

    /// Adds a function with these parameters.
    pub(super) fn define(&self, cx: &mut Lower<'_, '_>, function: Definition) -> DefinitionId {
        let parameters = cx.facts.list(&self.types);
        cx.facts.define(Definition { parameters, flags: function.flags | self.flags, ..function })
    }
}

/// The parameters of a list, bound in `scope`.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> ParameterList {
    let mut takes = ParameterList::default();
    for part in cx.children(list) {
        if part.kind() != "parameter" {
            // `using Type`, without a name.
            cx.value(part, scope);
            continue;
        }
        let written = field(part, "type");
        let of = written.map_or(UNKNOWN, |of| types::written(cx, of, scope));
        let default = field(part, "default_value");
        default.map(|value| cx.value(value, scope));
        takes.add(of, default.is_some(), written);
        if let Some(name) = field(part, "name") {
            let name = term(cx, plain(cx, name));
            cx.facts.bind(scope, name, Bound::parameter().of(of));
        }
    }
    takes
}

/// A function, also one in a function.
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    declare_function(cx, node, at.scope, at.scope, UNKNOWN);
    at.says(UNKNOWN)
}

/// A function whose names are seen from `scope`, and which is bound in `home`. It may extend a type.
pub(super) fn declare_function<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    bound: ScopeId,
    alias: ExpressionId,
) {
    let Some(name_node) = field(node, "name") else { return };
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let mut takes: Option<ParameterList> = None;
    let mut generics = Vec::new();
    for list in fields(node, "parameters") {
        if list.kind() == "type_parameters" {
            generics = types::parameters(cx, list, inner);
            continue;
        }
        // Further lists are given to what the first one gives.
        let read = parameters(cx, list, inner);
        takes = takes.or(Some(read));
    }
    for part in cx.children(node).into_iter().filter(|part| part.kind() == "annotation") {
        cx.value(part, scope);
    }
    let returns = field(node, "return_type").map_or(UNKNOWN, |of| types::written(cx, of, inner));
    let (text, place) = (plain(cx, name_node), name_node.start_byte() as u32);
    let owner = cx.facts.class_of(bound).unwrap_or(DefinitionId::NONE);
    let is_constructor = text == "this";
    let name = if is_constructor { cx.facts.name(classes::CONSTRUCTOR) } else { term(cx, text) };
    let generics = cx.facts.list(&generics);
    let flags = if takes.is_none() { PROPERTY } else { 0 };
    let definition = Definition { name, at: place, owner, returns, alias, generics, flags, ..Definition::default() };
    let function = takes.unwrap_or_default().define(cx, definition);
    let bound = home(cx, bound);
    cx.facts.bind(bound, name, Bound::definition(function).at(place));
    if let Some(body) = field(node, "body") {
        let value = cx.value(body, inner);
        if returns == UNKNOWN && !is_constructor {
            cx.facts.returns(function, value);
        }
    }
}

/// `val pattern: Type = value`
pub(super) fn variable<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = field(node, "type").map_or(UNKNOWN, |of| types::written(cx, of, at.scope));
    // Names of a value are its own, and no members of the class around.
    let inner = if is_open(cx, at.scope) { cx.facts.scope(ScopeKind::Function, at.scope) } else { at.scope };
    let value = fields(node, "value").into_iter().fold(UNKNOWN, |_, value| cx.value(value, inner));
    for part in cx.children(node).into_iter().filter(|part| part.kind() == "annotation") {
        cx.value(part, at.scope);
    }
    let Some(pattern) = field(node, "pattern") else { return at.says(UNKNOWN) };
    let bound = home(cx, at.scope);
    match pattern.kind() {
        "identifier" | "operator_identifier" => named(cx, pattern, bound, Bound::variable().value(value).of(of)),
        "identifiers" => {
            for name in cx.children(pattern) {
                named(cx, name, bound, Bound::variable().value(value).of(of));
            }
        }
        _ => patterns::bind(cx, pattern, value, bound),
    }
    at.says(UNKNOWN)
}

fn named(cx: &mut Lower<'_, '_>, node: Node<'_>, scope: ScopeId, bound: Bound) {
    let name = term(cx, plain(cx, node));
    let at = if is_open(cx, scope) { node.start_byte() as u32 } else { NONE };
    cx.facts.bind(scope, name, bound.at(at));
}

/// `val name: Type`
pub(super) fn declared<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = field(node, "type").map_or(UNKNOWN, |of| types::written(cx, of, at.scope));
    let bound = home(cx, at.scope);
    for name in fields(node, "name") {
        named(cx, name, bound, Bound::variable().of(of));
    }
    at.says(UNKNOWN)
}
