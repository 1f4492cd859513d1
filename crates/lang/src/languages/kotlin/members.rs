//! Lowering of Kotlin functions and properties.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::classes::received;
use super::lower::{bind_value, called, child, destructured, field, home, variable};
use super::types;
use crate::facts::{
    ANY_NUMBER, Bound, Definition, DefinitionId, ExpressionId, FEWER, NONE, Op, PROPERTY, ScopeId, ScopeKind, UNKNOWN,
};

/// Parameters of a function.
#[derive(Default)]
pub(super) struct ParameterList {
    types: Vec<ExpressionId>,
    flags: u16,
}

impl ParameterList {
    /// Adds a parameter; returns the type that its name has inside.
    pub(super) fn add(
        &mut self,
        cx: &mut Lower<'_, '_>,
        of: ExpressionId,
        has_default: bool,
        is_open: bool,
    ) -> ExpressionId {
        if is_open {
            self.types.push(UNKNOWN);
            self.flags = ANY_NUMBER;
            let list = cx.facts.list(&[of]);
            return cx.facts.expression(Op::Generic, UNKNOWN, list);
        }
        self.types.push(of);
        if has_default && self.flags == 0 {
            self.flags = FEWER;
        }
        of
    }
}

/// Adds a function with these parameters.
pub(super) fn taking(cx: &mut Lower<'_, '_>, function: Definition, takes: &ParameterList) -> DefinitionId {
    // Of a list that is open, what is in front of the open place is wanted.
    let parameters = cx.facts.list(&takes.types);
    cx.facts.define(Definition { parameters, flags: function.flags | takes.flags, ..function })
}

/// The parameters of a list, bound in `scope`.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId) -> ParameterList {
    let mut takes = ParameterList::default();
    let parts = cx.children(list);
    let mut is_open = false;
    for (place, part) in parts.iter().enumerate() {
        match part.kind() {
            "parameter_modifiers" => {
                is_open = cx.children(*part).into_iter().any(|word| cx.text(word) == "vararg");
                cx.value(*part, scope);
            }
            "parameter" => {
                let next = parts.get(place + 1).map_or("", |next| next.kind());
                let has_default = !matches!(next, "" | "parameter" | "parameter_modifiers");
                let all = cx.children(*part);
                let of = all.last().map_or(UNKNOWN, |of| types::written(cx, *of, scope));
                let of = takes.add(cx, of, has_default, is_open);
                is_open = false;
                if let [name, written, ..] = all[..] {
                    let is_callable = types::is_function(cx, written);
                    let text = cx.text(name);
                    bind_value(cx, scope, text, Bound::parameter().of(of), is_callable);
                }
            }
            _ => drop(cx.value(*part, scope)),
        }
    }
    takes
}

/// The type that a function or a property extends, and the scope of its body.
fn extended<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    name: Option<Node<'t>>,
    scope: ScopeId,
) -> (ExpressionId, ScopeId) {
    let end = name.map_or(0, |name| name.start_byte());
    let receiver = cx.children(node).into_iter().find(|part| part.start_byte() < end && types::is_type(*part));
    let Some(receiver) = receiver else { return (UNKNOWN, cx.facts.scope(ScopeKind::Function, scope)) };
    let of = types::written(cx, receiver, scope);
    let members = received(cx, of, scope);
    let inner = cx.facts.scope(ScopeKind::Function, members);
    let (this, value) = (cx.facts.name("this"), cx.facts.of(Op::Instance, of));
    cx.facts.bind(inner, this, Bound::meaning(value));
    (of, inner)
}

/// A function, also one in a function or without a name.
pub(super) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let name_node = field(node, "name");
    let around = if child(cx, node, "type_parameters").is_some() {
        cx.facts.scope(ScopeKind::Block, at.scope)
    } else {
        at.scope
    };
    let generics = types::parameters(cx, node, around);
    let generics = cx.facts.list(&generics);
    let list = child(cx, node, "function_value_parameters");
    let (alias, inner) = extended(cx, node, name_node.or(list), around);
    if let Some(name) = name_node.filter(|_| alias != UNKNOWN) {
        let (label, this) = (format!("this@{}", cx.text(name)), cx.facts.name("this"));
        let (label, value) = (cx.facts.name(&label), cx.facts.named(inner, this));
        cx.facts.bind(inner, label, Bound::meaning(value));
    }
    let mut takes = ParameterList::default();
    let (mut returns, mut body) = (UNKNOWN, None);
    for part in cx.children(node) {
        match part.kind() {
            "modifiers" => drop(cx.value(part, at.scope)),
            "function_value_parameters" => takes = parameters(cx, part, inner),
            "function_body" => body = Some(part),
            _ if types::is_type(part) && list.is_some_and(|list| part.start_byte() > list.start_byte()) => {
                returns = types::written(cx, part, inner);
            }
            _ => {}
        }
    }
    let text = name_node.map_or("", |name| cx.text(name));
    let (name, place) = (called(cx, text), name_node.map_or(NONE, |name| name.start_byte() as u32));
    let owner = cx.facts.class_of(at.scope).unwrap_or(DefinitionId::NONE);
    let definition = Definition { name, at: place, owner, returns, alias, generics, ..Definition::default() };
    let function = taking(cx, definition, &takes);
    if name_node.is_some() {
        let bound = home(cx, node, at.scope);
        cx.facts.bind(bound, name, Bound::definition(function).at(place));
    }
    if let Some(body) = body {
        let value = self::body(cx, body, inner);
        if returns == UNKNOWN {
            cx.facts.returns(function, value);
        }
    }
    at.says(if name_node.is_some() { UNKNOWN } else { cx.facts.expression(Op::Function, function, 0) })
}

/// The body of a function or of an accessor; its value if it is an expression.
fn body<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let Some(inner) = cx.first(node) else { return UNKNOWN };
    let value = cx.value(inner, scope);
    if inner.kind() == "block" { UNKNOWN } else { value }
}

/// A property or a variable outside of classes.
pub(super) fn property<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    NodeResult { value: UNKNOWN, scope: declare_property(cx, node, at.scope, at.scope) }
}

/// A property or a variable, bound in `scope`; its value is read in `inner`. Returns the scope for what comes after it.
pub(super) fn declare_property<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, inner: ScopeId) -> ScopeId {
    let parts = cx.children(node);
    let declared =
        parts.iter().find(|part| matches!(part.kind(), "variable_declaration" | "multi_variable_declaration"));
    let Some(declared) = declared.copied() else { return scope };
    let mut inside = inner;
    let (mut alias, mut around) = (UNKNOWN, scope);
    let is_extending = parts.iter().any(|part| part.start_byte() < declared.start_byte() && types::is_type(*part));
    if is_extending {
        around = cx.facts.scope(ScopeKind::Block, scope);
        types::parameters(cx, node, around);
        (alias, inside) = extended(cx, node, Some(declared), around);
    }
    let (mut value, mut got, mut is_function) = (UNKNOWN, UNKNOWN, false);
    let named = if declared.kind() == "variable_declaration" { variable(cx, declared, around) } else { None };
    let of = named.map_or(UNKNOWN, |(_, of, _)| of);
    for part in parts {
        match part.kind() {
            "modifiers" => drop(cx.value(part, scope)),
            "type_parameters" | "type_constraints" => {}
            "property_delegate" => value = delegated(cx, part, inside),
            "getter" | "setter" => {
                let read = accessor(cx, part, of, inside);
                got = if part.kind() == "getter" { read } else { got };
            }
            _ if part == declared || part.start_byte() < declared.start_byte() => {}
            kind => {
                is_function = matches!(kind, "lambda_literal" | "anonymous_function" | "callable_reference");
                value = cx.value(part, inside);
            }
        }
    }
    let Some((name_node, of, is_callable)) = named else {
        destructured(cx, declared, value, scope);
        return scope;
    };
    let value = if value == UNKNOWN { got } else { value };
    let (text, place) = (cx.text(name_node), name_node.start_byte() as u32);
    let bound = home(cx, node, scope);
    if alias != UNKNOWN {
        let name = cx.facts.name(text);
        let owner = cx.facts.class_of(scope).unwrap_or(DefinitionId::NONE);
        let definition =
            Definition { name, at: place, owner, returns: of, alias, flags: PROPERTY, ..Definition::default() };
        let property = cx.facts.define(definition);
        if of == UNKNOWN {
            cx.facts.returns(property, value);
        }
        cx.facts.bind(bound, name, Bound::definition(property).at(place));
        return scope;
    }
    let mut it = Bound::variable().value(value).of(of);
    let is_callable = is_callable || is_function && of == UNKNOWN;
    if !cx.facts.is(scope, ScopeKind::Function) && !cx.facts.is(scope, ScopeKind::Block) {
        it = it.at(place);
        bind_value(cx, bound, text, it, is_callable);
        return scope;
    }
    // `val item = checkNotNull(item)`: another one is meant on the right side.
    let name = cx.facts.name(text);
    let after = if cx.facts.is_used(scope, name) { cx.fresh(&[name], scope) } else { scope };
    bind_value(cx, after, text, it, is_callable);
    after
}

/// `by value`: what the delegate gives, or a lambda that `lazy` runs.
fn delegated<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let Some(inner) = cx.first(node) else { return UNKNOWN };
    let value = cx.value(inner, scope);
    if value == UNKNOWN || cx.text(inner).starts_with("lazy") {
        return value;
    }
    let name = cx.facts.name("getValue()");
    let member = cx.facts.member(value, name);
    let list = cx.facts.list(&[]);
    cx.facts.expression(Op::Call, member, list)
}

/// `get() = …`, `set(value) { … }`
fn accessor<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, of: ExpressionId, scope: ScopeId) -> ExpressionId {
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let own = cx.facts.name("field");
    cx.facts.bind(inner, own, Bound::variable().of(of));
    let mut value = UNKNOWN;
    for part in cx.children(node) {
        match part.kind() {
            "identifier" => {
                let text = cx.text(part);
                bind_value(cx, inner, text, Bound::parameter().of(of), false);
            }
            "function_body" => value = body(cx, part, inner),
            _ if types::is_type(part) => drop(types::written(cx, part, inner)),
            _ => drop(cx.value(part, inner)),
        }
    }
    value
}
