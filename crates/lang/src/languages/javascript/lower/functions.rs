//! Lowering of functions, their parameters, and patterns.

use tree_sitter::Node;

use super::expressions::{expected, is_typescript, walk};
use super::jsdoc::JsDocTypes;
use super::types::annotation;
use super::{body, field, has_word, place};
use crate::facts::{
    Bound, Definition, DefinitionId, EMPTY, ExpressionId, ListId, Op, PROPERTY, ScopeId, ScopeKind, UNKNOWN,
};
use crate::languages::definition::span_of;
use crate::languages::lower::Lower;
use codelode_base::model::Role;

/// The meaning of `this` in a function.
#[derive(Clone, Copy)]
pub(super) enum ThisBinding {
    /// `this` of a class or object: [`Op::SelfOf`], [`Op::ClassOf`].
    Of(Op, DefinitionId),
    /// A value.
    Value(ExpressionId),
    /// `this` of the enclosing code, as in an arrow function.
    Outer,
    Unknown,
}

impl ThisBinding {
    /// `this` in a function without an owner: an instance, if it is a constructor.
    pub(super) fn own_of(node: Node<'_>, function: DefinitionId) -> Self {
        if node.kind() == "arrow_function" { ThisBinding::Outer } else { ThisBinding::Of(Op::SelfOf, function) }
    }
}

/// Context of a function, from which its parameters get their values.
#[derive(Clone, Copy)]
pub(super) enum ArgumentSource {
    /// It is an argument of this callee, at this place.
    Argument(ExpressionId, u32),
    /// It overrides a method of a base of its class, or of its object's type.
    Overrides,
    /// It is wanted as this value.
    Of(ExpressionId),
    /// It is a reducer over the elements of this value: its second parameter is an element.
    Folds(ExpressionId),
    /// Its first parameter is this value.
    Gives(ExpressionId),
    Nothing,
}

/// The context of a function where this type is wanted.
pub(super) fn wanted(cx: &mut Lower<'_, '_>, of: ExpressionId) -> ArgumentSource {
    if of == UNKNOWN {
        return ArgumentSource::Nothing;
    }
    let parameters = cx.facts.list(&[of]);
    let taker = cx.facts.define(Definition { parameters, ..Definition::default() });
    ArgumentSource::Argument(cx.facts.expression(Op::Function, taker, 0), 0)
}

/// The context of a function that is a member of an object where this value is wanted.
pub(super) fn given_by(wanted: ExpressionId) -> ArgumentSource {
    if wanted == UNKNOWN { ArgumentSource::Overrides } else { ArgumentSource::Of(wanted) }
}

/// Completes the definition of any function from its node, and walks its body.
pub(super) fn function<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    function: DefinitionId,
    this: ThisBinding,
    given: ArgumentSource,
) {
    let mut around = scope;
    // Its own name is seen in it unless it binds that itself.
    if node.kind() == "function_expression"
        && let Some(own) = field(node, "name")
    {
        around = cx.facts.scope(ScopeKind::Block, scope);
        let own = cx.name(own);
        cx.facts.bind(around, own, Bound::definition(function));
    }
    let inner = cx.facts.scope(ScopeKind::Function, around);
    let name = cx.facts.name("this");
    match this {
        ThisBinding::Of(op, of) => {
            let own = cx.facts.expression(op, of, 0);
            cx.facts.bind(inner, name, Bound::meaning(own));
        }
        ThisBinding::Value(own) => cx.facts.bind(inner, name, Bound::meaning(own)),
        ThisBinding::Unknown => cx.facts.bind(inner, name, Bound::parameter()),
        ThisBinding::Outer => {}
    }
    if has_word(node, "get") || has_word(node, "set") || has_word(node, "static get") {
        cx.facts.definition(function).flags |= PROPERTY;
    }
    let generics = type_parameters(cx, node, inner);
    cx.facts.definition(function).generics = generics;
    let said = if is_typescript(node) { JsDocTypes::default() } else { JsDocTypes::above(cx, node) };
    if let Some(list) = field(node, "parameters").or_else(|| field(node, "parameter")) {
        parameters(cx, list, inner, given, function, &said);
    }
    if let Some(returns) = field(node, "return_type").or_else(|| field(node, "type")) {
        let returns = annotation(cx, returns, inner);
        cx.facts.definition(function).returns = returns;
    } else {
        let returns = said.returns(cx, inner);
        cx.facts.definition(function).returns = returns;
    }
    if let ArgumentSource::Of(wanted) = given
        && cx.facts.definition(function).returns == UNKNOWN
    {
        let none = cx.facts.list(&[]);
        let result = cx.facts.expression(Op::Call, wanted, none);
        let name = cx.facts.name(RESULT);
        cx.facts.bind(inner, name, Bound::meaning(result));
    }
    match field(node, "body") {
        Some(block) if block.kind() == "statement_block" => body(cx, block, inner, function),
        Some(value) => {
            let wanted = returned(cx, function, inner);
            let value = expected(cx, value, inner, wanted);
            cx.facts.returns(function, value);
        }
        None => {}
    }
}

/// A value like the one that a function says it returns, itself or in a promise.
pub(super) fn returned(cx: &mut Lower<'_, '_>, function: DefinitionId, scope: ScopeId) -> ExpressionId {
    if function == DefinitionId::NONE {
        return UNKNOWN;
    }
    let returns = cx.facts.definition(function).returns;
    if returns == UNKNOWN {
        // The function may be wanted as a type.
        let (mut own, name) = (scope, cx.facts.name(RESULT));
        while cx.facts.is(own, ScopeKind::Block) {
            own = cx.facts.parent(own);
        }
        let wanted = cx.facts.bound_in(own, name).next().map_or(UNKNOWN, |bound| ExpressionId(bound.a));
        return cx.facts.of(Op::Await, wanted);
    }
    let returned = cx.facts.of(Op::Instance, returns);
    cx.facts.of(Op::Await, returned)
}

/// Name, not written, of the value that a function is to give.
const RESULT: &str = "result=";

/// Binds the type parameters of a function, class or alias, and returns their list.
pub(super) fn type_parameters<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ListId {
    let Some(parameters) = field(node, "type_parameters") else { return EMPTY };
    let mut names = Vec::new();
    for parameter in cx.children(parameters) {
        let Some(name) = field(parameter, "name") else { continue };
        let bound = field(parameter, "constraint").and_then(|bound| cx.first(bound));
        let bound = bound.map_or(UNKNOWN, |bound| annotation(cx, bound, scope));
        if let Some(default) = field(parameter, "value").and_then(|default| cx.first(default)) {
            annotation(cx, default, scope);
        }
        let name = cx.name(name);
        cx.facts.bind(scope, name, Bound::variable().of(bound));
        names.push(cx.facts.named(scope, name));
    }
    let list = cx.facts.list(&names);
    let (all, name) = (cx.facts.expression(Op::Tuple, list, 0), cx.facts.name(GENERICS));
    cx.facts.bind(scope, name, Bound::meaning(all));
    list
}

/// Name, not written, of the type parameters of a scope.
const GENERICS: &str = "<>";

/// The type parameters that are seen from a scope.
pub(super) fn generics(cx: &mut Lower<'_, '_>, scope: ScopeId) -> ListId {
    let name = cx.facts.name(GENERICS);
    let bound = cx.facts.nearest(scope, name).map(|(_, bound)| cx.facts.look(ExpressionId(bound.a)));
    bound.map_or(EMPTY, |all| ListId(all.a))
}

/// Binds parameters.
fn parameters<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    inner: ScopeId,
    given: ArgumentSource,
    function: DefinitionId,
    said: &JsDocTypes<'_>,
) {
    let nodes = if node.kind() == "formal_parameters" { cx.children(node) } else { vec![node] };
    let mut types = Vec::new();
    for parameter in nodes {
        let (mut pattern, mut of, mut default) = (parameter, UNKNOWN, None);
        let mut is_field = false;
        match parameter.kind() {
            "required_parameter" | "optional_parameter" => {
                for decorator in cx.children(parameter).into_iter().filter(|child| child.kind() == "decorator") {
                    walk(cx, decorator, inner, Role::Reference);
                }
                let Some(named) = field(parameter, "pattern") else { continue };
                pattern = named;
                // A parameter is not the type of its own name: `reason?: reason`.
                let is_of_its_name = |of: Node<'_>| cx.text(of).trim_start_matches([':', ' ']) == cx.text(named);
                let around = field(parameter, "type").is_some_and(is_of_its_name).then(|| cx.facts.parent(inner));
                of = field(parameter, "type").map_or(UNKNOWN, |of| annotation(cx, of, around.unwrap_or(inner)));
                default = field(parameter, "value");
                is_field = ["accessibility_modifier", "override_modifier", "readonly"]
                    .iter()
                    .any(|word| has_word(parameter, word));
            }
            "assignment_pattern" => {
                let Some(left) = field(parameter, "left") else { continue };
                pattern = left;
                default = field(parameter, "right");
            }
            "decorator" => continue,
            _ => {}
        }
        let wanted = cx.facts.of(Op::Instance, of);
        let default = default.map_or(UNKNOWN, |value| expected(cx, value, inner, wanted));
        // A literal does not tell what others give.
        let default = if cx.facts.is_void(default) { UNKNOWN } else { default };
        if pattern.kind() == "this" {
            let name = cx.facts.name("this");
            cx.facts.unbind(inner, name);
            cx.facts.bind(inner, name, Bound::parameter().of(of));
            continue;
        }
        let place = types.len() as u32;
        if of == UNKNOWN {
            let name = (pattern.kind() == "identifier").then(|| cx.text(pattern));
            of = said.parameter(cx, name, place as usize, inner);
        }
        types.push(of);
        let value = match given {
            _ if of != UNKNOWN => default,
            ArgumentSource::Argument(callee, argument) => {
                cx.facts.expression(Op::Passed, callee, argument << 16 | place)
            }
            ArgumentSource::Of(function) if default == UNKNOWN => cx.facts.expression(Op::ParameterOf, function, place),
            ArgumentSource::Overrides if default == UNKNOWN => cx.facts.expression(Op::Overridden, function, place),
            ArgumentSource::Folds(over) if place == 1 => cx.facts.of(Op::Each, over),
            ArgumentSource::Gives(value) if place == 0 => value,
            _ => default,
        };
        if pattern.kind() == "identifier" {
            let name = cx.name(pattern);
            cx.facts.bind(inner, name, Bound::parameter().value(value).of(of));
            let owner = cx.facts.definition(function).owner;
            if is_field && owner != DefinitionId::NONE {
                let members = cx.facts.definition(owner).members;
                let at = pattern.start_byte() as u32;
                cx.facts.bind(members, name, Bound::variable().of(of).at(at));
            }
        } else {
            let value = if of == UNKNOWN { value } else { cx.facts.of(Op::Instance, of) };
            self::pattern(cx, pattern, inner, value, UNKNOWN);
        }
    }
    let types = cx.facts.list(&types);
    cx.facts.definition(function).parameters = types;
}

/// Binds the names of a pattern to parts of a value. `of` is the declared type of the whole.
pub(super) fn pattern<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    value: ExpressionId,
    of: ExpressionId,
) {
    match node.kind() {
        "identifier" => {
            let name = cx.name(node);
            let at = place(cx, scope, node);
            cx.facts.bind(scope, name, Bound::variable().value(value).of(of).at(at));
        }
        "shorthand_property_identifier_pattern" => {
            let name = cx.name(node);
            let taken = cx.facts.member(value, name);
            cx.facts.occurrence(span_of(node), Role::Reference, taken);
            take(cx, node, scope, value, taken);
        }
        "pair_pattern" => {
            let (Some(key), Some(inner)) = (field(node, "key"), field(node, "value")) else { return };
            let mut taken = UNKNOWN;
            match key.kind() {
                "property_identifier" => {
                    let name = cx.name(key);
                    taken = cx.facts.member(value, name);
                    cx.facts.occurrence(span_of(key), Role::Reference, taken);
                }
                _ => drop(walk(cx, key, scope, Role::Reference)),
            }
            if inner.kind() == "identifier" && taken != UNKNOWN {
                take(cx, inner, scope, value, taken);
            } else {
                let taken = if value == UNKNOWN { UNKNOWN } else { taken };
                cx.deeper(|cx| pattern(cx, inner, scope, taken, UNKNOWN));
            }
        }
        "array_pattern" => {
            // A hole leaves no named child, so items are counted by the commas before them.
            let mut item = 0;
            let mut cursor = node.walk();
            let mut is_child = cursor.goto_first_child();
            while is_child {
                let child = cursor.node();
                if child.kind() == "," {
                    item += 1;
                } else if child.is_named() && !child.is_extra() {
                    let taken = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, item) };
                    let taken = if child.kind() == "rest_pattern" { value } else { taken };
                    cx.deeper(|cx| pattern(cx, child, scope, taken, UNKNOWN));
                }
                is_child = cursor.goto_next_sibling();
            }
        }
        "object_pattern" => {
            let value = if of == UNKNOWN { value } else { cx.facts.of(Op::Instance, of) };
            for child in cx.children(node) {
                cx.deeper(|cx| pattern(cx, child, scope, value, UNKNOWN));
            }
        }
        "assignment_pattern" | "object_assignment_pattern" => {
            if let Some(right) = field(node, "right") {
                walk(cx, right, scope, Role::Reference);
            }
            if let Some(left) = field(node, "left") {
                cx.deeper(|cx| pattern(cx, left, scope, value, of));
            }
        }
        "rest_pattern" => {
            for child in cx.children(node) {
                // The rest of an array is an array, the rest of an object is unknown.
                cx.deeper(|cx| pattern(cx, child, scope, value, of));
            }
        }
        _ => drop(walk(cx, node, scope, Role::Write)),
    }
}

/// Binds a name to a member that a pattern takes. A member of a module is bound as an alias.
fn take(cx: &mut Lower<'_, '_>, node: Node<'_>, scope: ScopeId, from: ExpressionId, taken: ExpressionId) {
    let name = cx.name(node);
    if super::exports::is_import(cx, from) {
        cx.facts.bind(scope, name, Bound::alias(taken));
    } else {
        let value = if from == UNKNOWN { UNKNOWN } else { taken };
        let at = place(cx, scope, node);
        cx.facts.bind(scope, name, Bound::variable().value(value).at(at));
    }
}
