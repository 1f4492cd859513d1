//! Lowering of expressions and assignment targets.

use tree_sitter::Node;

use super::functions::{self, ArgumentSource, ThisBinding};
use super::jsdoc::JsDocTypes;
use super::narrowing::{narrowed, silent};
use super::types::{self, annotation};
use super::{FUNCTIONS, classes, exports, field};
use crate::facts::{
    BindingKind, Bound, Definition, DefinitionId, DefinitionKind, ExpressionId, NONE, NameId, Op, ScopeId, ScopeKind,
    UNKNOWN,
};
use crate::languages::definition::span_of;
use crate::languages::lower::Lower;
use codelode_base::model::Role;

/// The most items of a list that are looked at.
const MOST_ITEMS: usize = 4;

/// Reads an expression and returns it; `role` is the role of its outermost name.
pub(super) fn walk<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    cx.deeper(|cx| one(cx, node, scope, role))
}

fn one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        "identifier" | "shorthand_property_identifier" | "type_identifier" => {
            let name = cx.name(node);
            let meant = cx.facts.named(scope, name);
            cx.facts.occurrence(span_of(node), role, meant);
            meant
        }
        "this" => {
            let name = cx.facts.name("this");
            cx.facts.named(scope, name)
        }
        "super" => {
            let class = cx.facts.class_around(scope);
            class.map_or(UNKNOWN, |class| cx.facts.expression(Op::SuperOf, class, 0))
        }
        "member_expression" | "nested_identifier" => member(cx, node, scope, role),
        "subscript_expression" => {
            let on = field(node, "object").map_or(UNKNOWN, |object| walk(cx, object, scope, Role::Reference));
            let Some(index) = field(node, "index") else { return UNKNOWN };
            walk(cx, index, scope, Role::Reference);
            if on != UNKNOWN && index.kind() == "string" {
                let name = cx.text(index).trim_matches(['\'', '"']);
                let name = cx.facts.name(name);
                let member = cx.facts.member(on, name);
                if let Some(text) = cx.first(index) {
                    cx.facts.if_known(span_of(text), role, member);
                }
                return member;
            }
            cx.facts.of(Op::Element, on)
        }
        "call_expression" => call(cx, node, scope, UNKNOWN),
        "new_expression" => {
            let Some(constructor) = field(node, "constructor") else { return UNKNOWN };
            let of = walk(cx, constructor, scope, Role::Call);
            let types = field(node, "type_arguments").map(|list| types::arguments(cx, list, scope));
            let list = types.as_ref().filter(|_| of != UNKNOWN).map(|types| cx.facts.list(types));
            let taker = list.map_or(of, |list| cx.facts.expression(Op::Generic, of, list));
            arguments(cx, node, scope, taker, ArgumentSource::Nothing);
            match types {
                Some(types) => {
                    let list = cx.facts.list(&types);
                    let of = cx.facts.expression(Op::Generic, of, list);
                    cx.facts.of(Op::Instance, of)
                }
                None => cx.facts.of(Op::New, of),
            }
        }
        "parenthesized_expression" | "non_null_expression" | "instantiation_expression" => {
            let mut value = UNKNOWN;
            for (place, part) in cx.children(node).into_iter().enumerate() {
                match place {
                    0 => value = walk(cx, part, scope, role),
                    _ => drop(annotation(cx, part, scope)),
                }
            }
            value
        }
        "as_expression" | "satisfies_expression" | "type_assertion" => {
            let parts = cx.children(node);
            let (value, of) = match (node.kind(), &parts[..]) {
                ("type_assertion", [of, value]) => (*value, Some(*of)),
                (_, [value, of]) => (*value, Some(*of)),
                (_, [value]) => (*value, None),
                _ => return UNKNOWN,
            };
            let of = match of {
                Some(of) if of.kind() == "type_arguments" => types::arguments(cx, of, scope).first().copied(),
                Some(of) => Some(annotation(cx, of, scope)),
                None => None,
            };
            let value = match value.kind() {
                "object" | "array" => {
                    let wanted = cx.facts.of(Op::Instance, of.unwrap_or(UNKNOWN));
                    expected(cx, value, scope, wanted)
                }
                _ => walk(cx, value, scope, role),
            };
            match of {
                Some(of) if of != UNKNOWN && node.kind() != "satisfies_expression" => cx.facts.of(Op::Instance, of),
                _ => value,
            }
        }
        "await_expression" => {
            let value = cx.first(node).map_or(UNKNOWN, |value| walk(cx, value, scope, role));
            cx.facts.of(Op::Await, value)
        }
        "ternary_expression" => either(cx, node, scope, &|cx, part, scope| walk(cx, part, scope, role)),
        "binary_expression" => {
            let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return UNKNOWN };
            let operator = field(node, "operator").map_or("", |operator| operator.kind());
            let first = walk(cx, left, scope, Role::Reference);
            let inner = match operator {
                "&&" => narrowed(cx, left, scope, true),
                "||" => narrowed(cx, left, scope, false),
                _ => scope,
            };
            let second = walk(cx, right, inner, Role::Reference);
            match operator {
                "&&" => second,
                "||" | "??" => cx.facts.union(&[first, second]),
                _ => cx.facts.foreign(),
            }
        }
        "assignment_expression" => assignment(cx, node, scope),
        "augmented_assignment_expression" => {
            if let Some(left) = field(node, "left") {
                target(cx, left, scope, UNKNOWN);
            }
            field(node, "right").map_or(UNKNOWN, |right| walk(cx, right, scope, Role::Reference))
        }
        "update_expression" => {
            if let Some(argument) = field(node, "argument") {
                walk(cx, argument, scope, Role::Write);
            }
            UNKNOWN
        }
        "sequence_expression" => {
            let parts = cx.children(node);
            parts.into_iter().map(|part| walk(cx, part, scope, Role::Reference)).last().unwrap_or(UNKNOWN)
        }
        "object" => classes::object(cx, node, scope, UNKNOWN, false),
        "array" => array(cx, node, scope, UNKNOWN),
        "class" => {
            let class = classes::class(cx, node, scope, None);
            cx.facts.expression(Op::ClassOf, class, 0)
        }
        "arrow_function" | "function_expression" | "generator_function" => {
            function(cx, node, scope, ArgumentSource::Nothing)
        }
        "type_arguments" | "type_annotation" => {
            types::arguments(cx, node, scope);
            UNKNOWN
        }
        "jsx_opening_element" | "jsx_self_closing_element" | "jsx_closing_element" => {
            for child in cx.children(node) {
                let is_name = field(node, "name") == Some(child);
                let is_element = is_name && child.kind() == "identifier" && !is_component(cx.text(child));
                let role = if is_name && node.kind() != "jsx_closing_element" { Role::Call } else { Role::Reference };
                if !is_element {
                    walk(cx, child, scope, role);
                }
            }
            UNKNOWN
        }
        "string" | "number" | "regex" | "true" | "false" => cx.facts.foreign(),
        "template_string" => {
            for part in cx.children(node) {
                walk(cx, part, scope, Role::Reference);
            }
            cx.facts.foreign()
        }
        "property_identifier"
        | "private_property_identifier"
        | "undefined"
        | "null"
        | "jsx_text"
        | "import"
        | "meta_property"
        | "jsx_namespace_name" => UNKNOWN,
        "statement_block" => {
            super::statement(cx, node, scope, DefinitionId::NONE);
            UNKNOWN
        }
        _ => {
            for part in cx.children(node) {
                walk(cx, part, scope, Role::Reference);
            }
            UNKNOWN
        }
    }
}

/// Reads a value where one like `wanted` is expected, whose members the keys of an object are.
pub(super) fn expected<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    wanted: ExpressionId,
) -> ExpressionId {
    match node.kind() {
        _ if wanted == UNKNOWN => walk(cx, node, scope, Role::Reference),
        "object" => cx.deeper(|cx| classes::literal(cx, node, scope, (UNKNOWN, wanted), false)),
        "array" => {
            let item = cx.facts.of(Op::Element, wanted);
            cx.deeper(|cx| array(cx, node, scope, item))
        }
        "parenthesized_expression" => match cx.children(node)[..] {
            [inner] => cx.deeper(|cx| expected(cx, inner, scope, wanted)),
            _ => walk(cx, node, scope, Role::Reference),
        },
        _ => walk(cx, node, scope, Role::Reference),
    }
}

/// Whether a member's receiver is `value satisfies module`, of which the grammar makes a value: the member is a part of the
/// type then.
fn ends_in_type(node: Node<'_>) -> bool {
    const MOST: usize = 8;
    let objects = std::iter::successors(field(node, "object"), |object| {
        field(*object, "object").filter(|_| object.kind() == "member_expression")
    });
    objects.take(MOST).any(|object| object.kind() == "satisfies_expression")
}

/// The value before `satisfies a.b.C` and its type.
fn member_of_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> (ExpressionId, ExpressionId) {
    if node.kind() == "satisfies_expression" {
        return match cx.children(node)[..] {
            [value, of] => (walk(cx, value, scope, Role::Reference), annotation(cx, of, scope)),
            _ => (UNKNOWN, UNKNOWN),
        };
    }
    let (Some(object), Some(property)) = (field(node, "object"), field(node, "property")) else {
        return (UNKNOWN, UNKNOWN);
    };
    let (value, of) = cx.deeper(|cx| Some(member_of_type(cx, object, scope))).unwrap_or((UNKNOWN, UNKNOWN));
    cx.member(property, of, Role::Type);
    let name = cx.name(property);
    (value, if of == UNKNOWN { of } else { cx.facts.member(of, name) })
}

/// Whether the name of a JSX element is that of a component and not of HTML.
fn is_component(name: &str) -> bool {
    name.starts_with(|first: char| !first.is_lowercase())
}

fn member<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    if ends_in_type(node) {
        return member_of_type(cx, node, scope).0;
    }
    // By position: in `typeof a.b.c` the grammar assigns the field of an inner node to the outer one.
    let (object, property) = (cx.first(node), node.child(node.child_count().saturating_sub(1)));
    let (Some(object), Some(property)) = (object, property.filter(|property| Some(*property) != object)) else {
        return UNKNOWN;
    };
    let on = match exports::is_exports(cx, object, scope) {
        // The module itself.
        true => cx.facts.module("", scope),
        false => walk(cx, object, scope, Role::Reference),
    };
    let name = cx.name(property);
    let meant = cx.facts.member(on, name);
    cx.facts.occurrence(span_of(property), role, meant);
    let receiver = cx.facts.look(on);
    if cx.text(property) == "constructor" && object.kind() == "this" && receiver.op == Op::Name {
        let own = cx.facts.lookup(scope, NameId(receiver.b)).into_iter().find(|own| own.kind == BindingKind::Value);
        let own = own.map(|own| cx.facts.look(ExpressionId(own.a))).filter(|own| own.op == Op::SelfOf);
        return own.map_or(UNKNOWN, |own| cx.facts.expression(Op::ClassOf, own.a, 0));
    }
    // Members of an unknown value are unknown, but the names in it are recorded.
    match on {
        UNKNOWN => UNKNOWN,
        // Members of a prototype are members of an instance.
        _ if cx.text(property) == "prototype" => cx.facts.of(Op::New, on),
        _ => meant,
    }
}

fn array<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, wanted: ExpressionId) -> ExpressionId {
    let mut items = Vec::new();
    let mut is_tuple = true;
    for item in cx.children(node) {
        if item.kind() == "spread_element" {
            is_tuple = false;
            let of = cx.first(item).map_or(UNKNOWN, |of| walk(cx, of, scope, Role::Reference));
            items.push(cx.facts.of(Op::Each, of));
        } else {
            items.push(expected(cx, item, scope, wanted));
        }
    }
    if items.iter().all(|item| cx.facts.is_void(*item)) {
        return cx.facts.foreign_container();
    }
    if is_tuple && items.len() <= MOST_ITEMS {
        let list = cx.facts.list(&items);
        return cx.facts.expression(Op::Tuple, list, 0);
    }
    items.truncate(MOST_ITEMS);
    let item = cx.facts.union(&items);
    let of = cx.facts.of(Op::TypeOf, item);
    let container = types::container(cx, &[of]);
    cx.facts.of(Op::Instance, container)
}

/// A function that is a value.
fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, given: ArgumentSource) -> ExpressionId {
    function_of(cx, node, scope, given, None)
}

/// A function that is a value, with what `this` is in it.
fn function_of<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    given: ArgumentSource,
    this: Option<ThisBinding>,
) -> ExpressionId {
    // A named function may be a symbol.
    let own = field(node, "name").map(|own| (cx.name(own), own.start_byte() as u32));
    let (name, at) = own.unwrap_or((NameId::NONE, NONE));
    let function = cx.facts.define(Definition { name, at, ..Definition::default() });
    let this = this.unwrap_or(ThisBinding::own_of(node, function));
    functions::function(cx, node, scope, function, this, given);
    cx.facts.expression(Op::Function, function, 0)
}

/// A call whose result is wanted as a type.
pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, result: ExpressionId) -> ExpressionId {
    if let Some(module) = exports::required(cx, node, scope) {
        return module;
    }
    let Some(function) = field(node, "function") else { return UNKNOWN };
    let callee = walk(cx, function, scope, Role::Call);
    let types = field(node, "type_arguments").map(|types| types::arguments(cx, types, scope));
    let it = cx.facts.look(callee);
    let method = if it.op == Op::Member { cx.facts.text(NameId(it.b)).to_owned() } else { String::new() };
    let given = if method == "reduce" || method == "reduceRight" {
        ArgumentSource::Folds(ExpressionId(it.a))
    } else if method == "then" && exports::is_import(cx, ExpressionId(it.a)) {
        // `import('./a').then((module) => …)`
        ArgumentSource::Gives(ExpressionId(it.a))
    } else {
        ArgumentSource::Nothing
    };
    let tells = types.is_none() && callee != UNKNOWN && cx.facts.look(result).op == Op::Generic;
    let taker = match &types {
        Some(types) if callee != UNKNOWN && types.iter().any(|of| *of != UNKNOWN) => {
            let types = cx.facts.list(types);
            cx.facts.expression(Op::Generic, callee, types)
        }
        _ if tells => cx.facts.expression(Op::Returning, callee, result),
        _ => callee,
    };
    let first = arguments(cx, node, scope, taker, given);
    if callee == UNKNOWN {
        return UNKNOWN;
    }
    // Only the first argument affects the result, as in `Object.values(x)`.
    let list = cx.facts.list(&[first]);
    match &method[..] {
        "bind" => ExpressionId(it.a),
        "call" | "apply" => cx.facts.expression(Op::Call, it.a, list),
        _ => {
            let types = types.filter(|types| types.iter().any(|of| *of != UNKNOWN));
            let types = types.map(|types| cx.facts.list(&types));
            let callee = types.map_or(callee, |types| cx.facts.expression(Op::Generic, callee, types));
            cx.facts.expression(Op::Call, callee, list)
        }
    }
}

/// Reads the arguments of a call; returns the first.
fn arguments<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    given: ArgumentSource,
) -> ExpressionId {
    let Some(list) = field(node, "arguments") else { return UNKNOWN };
    if list.kind() != "arguments" {
        walk(cx, list, scope, Role::Reference);
        return UNKNOWN;
    }
    let mut first = UNKNOWN;
    let whole = callee;
    for (place, argument) in (0..).zip(cx.children(list)) {
        // The first argument may tell what a function behind it is given.
        let tells = place > 0 && first != UNKNOWN && whole != UNKNOWN && FUNCTIONS.contains(&argument.kind());
        let callee = if tells { cx.facts.expression(Op::Taking, whole, first) } else { whole };
        let given = match given {
            ArgumentSource::Nothing if callee != UNKNOWN => ArgumentSource::Argument(callee, place),
            given => given,
        };
        let value = match argument.kind() {
            "object" | "array" if callee != UNKNOWN => {
                let wanted = cx.facts.expression(Op::Wanted, callee, place);
                expected(cx, argument, scope, wanted)
            }
            _ => passed(cx, argument, scope, given),
        };
        if place == 0 {
            first = value;
        }
    }
    first
}

/// Reads an argument: a function, or one of two, gets its parameters from the callee.
fn passed<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, given: ArgumentSource) -> ExpressionId {
    match node.kind() {
        kind if FUNCTIONS.contains(&kind) => cx.deeper(|cx| function(cx, node, scope, given)),
        "ternary_expression" => {
            cx.deeper(|cx| either(cx, node, scope, &|cx, part, scope| passed(cx, part, scope, given)))
        }
        _ => walk(cx, node, scope, Role::Reference),
    }
}

/// Reads `condition ? one : other`, with `read` for both values.
fn either<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    read: &dyn Fn(&mut Lower<'_, 't>, Node<'t>, ScopeId) -> ExpressionId,
) -> ExpressionId {
    let (mut inner, mut other) = (scope, scope);
    if let Some(condition) = field(node, "condition") {
        walk(cx, condition, scope, Role::Reference);
        (inner, other) = (narrowed(cx, condition, scope, true), narrowed(cx, condition, scope, false));
    }
    let then = field(node, "consequence").map_or(UNKNOWN, |then| read(cx, then, inner));
    let otherwise = field(node, "alternative").map_or(UNKNOWN, |otherwise| read(cx, otherwise, other));
    cx.facts.union(&[then, otherwise])
}

fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return UNKNOWN };
    if let Some(value) = exports::assign(cx, left, right, scope) {
        return value;
    }
    if left.kind() == "member_expression" && !is_typescript(node) {
        return assign_member(cx, left, right, scope);
    }
    let value = match right.kind() {
        "object" | "array" => {
            let wanted = silent(cx, left, scope);
            expected(cx, right, scope, wanted)
        }
        "function_expression" | "generator_function" if left.kind() != "identifier" => {
            // It is called on the object whose member it becomes.
            let on = field(left, "object").map_or(UNKNOWN, |object| silent(cx, object, scope));
            let this = if on == UNKNOWN { None } else { Some(ThisBinding::Value(on)) };
            cx.deeper(|cx| function_of(cx, right, scope, ArgumentSource::Nothing, this))
        }
        _ => walk(cx, right, scope, Role::Reference),
    };
    target(cx, left, scope, value);
    value
}

/// Whether the grammar is TypeScript's, whose classes declare all their fields.
pub(super) fn is_typescript(node: Node<'_>) -> bool {
    node.language().id_for_node_kind("type_annotation", true) != 0
}

/// `this.name = value`, `Owner.prototype.name = value`, `owner.name = value`: in JavaScript they declare members.
fn assign_member<'t>(cx: &mut Lower<'_, 't>, left: Node<'t>, right: Node<'t>, scope: ScopeId) -> ExpressionId {
    let (Some(object), Some(property)) = (field(left, "object"), field(left, "property")) else { return UNKNOWN };
    let prototype = |cx: &Lower<'_, '_>, node: Node<'t>| -> Option<Node<'t>> {
        let owner = field(node, "object").filter(|owner| owner.kind() == "identifier")?;
        let property = field(node, "property").filter(|_| node.kind() == "member_expression")?;
        (cx.text(property) == "prototype").then_some(owner)
    };
    if let Some(owner) = prototype(cx, left).filter(|_| right.kind() == "object") {
        // `Owner.prototype = { … }`
        let of = walk(cx, owner, scope, Role::Reference);
        let value = classes::object(cx, right, scope, UNKNOWN, false);
        let object = DefinitionId(cx.facts.look(value).a);
        cx.facts.extend(of, object);
        return value;
    }
    if let (Some(owner), Some((base, members))) = (prototype(cx, left), assigned_object(cx, right)) {
        // `Owner.prototype = Object.assign(new Base(), { … })`
        let of = walk(cx, owner, scope, Role::Reference);
        let base = walk(cx, base, scope, Role::Reference);
        let value = classes::object(cx, members, scope, UNKNOWN, false);
        let object = DefinitionId(cx.facts.look(value).a);
        cx.facts.base(object, base);
        cx.facts.extend(of, object);
        return value;
    }
    let (name, at) = (cx.name(property), property.start_byte() as u32);
    if object.kind() == "this" {
        let this = cx.facts.name("this");
        let own = cx.facts.lookup(scope, this).into_iter().find(|binding| binding.kind == BindingKind::Value);
        let own = own.map(|binding| cx.facts.look(ExpressionId(binding.a)));
        // `this` may also be whatever the function becomes a member of.
        let own = own.filter(|own| matches!(own.op, Op::SelfOf | Op::ClassOf));
        let on = walk(cx, object, scope, Role::Reference);
        cx.member(property, on, Role::Write);
        let Some(own) = own else { return walk(cx, right, scope, Role::Reference) };
        let (op, class) = (own.op, DefinitionId(own.a));
        let (bound, value) = classes::member_value(cx, right, scope, name, at, Some((op, class)), UNKNOWN);
        let members = cx.facts.definition(class).members;
        if members == ScopeId::NONE || !cx.facts.binds(members, name) {
            let attributes = cx.facts.attributes(class);
            let bound = match bound.is(BindingKind::Variable) {
                true => bound.of(JsDocTypes::above(cx, left).of(cx, scope)),
                false => bound,
            };
            cx.facts.bind(attributes, name, bound.at(at));
        }
        return value;
    }
    if let Some(definition) = local_object(cx, object, scope) {
        let on = walk(cx, object, scope, Role::Reference);
        cx.member(property, on, Role::Write);
        let (bound, value) = classes::member_value(cx, right, scope, name, at, None, UNKNOWN);
        let attributes = cx.facts.attributes(definition);
        cx.facts.bind(attributes, name, bound.at(at));
        return value;
    }
    let owner = match object.kind() {
        "identifier" if cx.facts.is(scope, ScopeKind::Module) => Some(object),
        "member_expression" => prototype(cx, object),
        _ => None,
    };
    let on = walk(cx, object, scope, Role::Reference);
    cx.member(property, on, Role::Write);
    let Some(owner) = owner else { return walk(cx, right, scope, Role::Reference) };
    let owner = cx.name(owner);
    let of = cx.facts.named(scope, owner);
    let kind = DefinitionKind::Class;
    let (part, members) = cx.facts.class(Definition { kind, ..Definition::default() }, ScopeId::NONE);
    let op = if object.kind() == "identifier" { Op::ClassOf } else { Op::SelfOf };
    let (bound, value) = classes::member_value(cx, right, scope, name, at, Some((op, part)), UNKNOWN);
    cx.facts.bind(members, name, bound.at(at));
    cx.facts.extend(of, part);
    value
}

/// The parts of `Object.assign(base, { … })`.
fn assigned_object<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    let function = field(node, "function").filter(|function| cx.text(*function) == "Object.assign");
    let arguments = function.and_then(|_| field(node, "arguments"))?;
    match cx.children(arguments)[..] {
        [base, members] if members.kind() == "object" => Some((base, members)),
        _ => None,
    }
}

/// The object or function that a name of a function stands for: `const kept = {}; kept.open = …`.
fn local_object<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<DefinitionId> {
    if node.kind() != "identifier" || cx.facts.is(scope, ScopeKind::Module) {
        return None;
    }
    let name = cx.name(node);
    let (home, bound) = cx.facts.nearest(scope, name)?;
    let is_local = cx.facts.is(home, ScopeKind::Function) || cx.facts.is(home, ScopeKind::Block);
    let value = cx.facts.look(ExpressionId(bound.a));
    match bound.kind {
        _ if !is_local => None,
        BindingKind::Definition => Some(DefinitionId(bound.a)),
        BindingKind::Variable if matches!(value.op, Op::Object | Op::Function) => Some(DefinitionId(value.a)),
        _ => None,
    }
}

/// Assigns a value to the left side of an assignment.
pub(super) fn target<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, value: ExpressionId) {
    match node.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => {
            let name = cx.name(node);
            cx.bare(node, scope, Role::Write);
            // A later assignment is another possible value of the variable.
            let mut own = scope;
            while own != ScopeId::NONE && !cx.facts.binds(own, name) {
                own = cx.facts.parent(own);
            }
            let is_variable = |kind: BindingKind| kind == BindingKind::Variable || kind == BindingKind::Parameter;
            if own != ScopeId::NONE
                && value != UNKNOWN
                && cx.facts.lookup(own, name).iter().any(|it| is_variable(it.kind))
            {
                // A function that is assigned in a function is a symbol.
                let is_local = cx.facts.is(own, ScopeKind::Function) || cx.facts.is(own, ScopeKind::Block);
                let is_symbol = is_local && cx.facts.look(value).op == Op::Function;
                let at = if is_symbol { node.start_byte() as u32 } else { NONE };
                cx.facts.bind(own, name, Bound::variable().value(value).at(at));
            }
        }
        "array_pattern" => {
            for (place, item) in (0..).zip(cx.children(node)) {
                let taken = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place) };
                cx.deeper(|cx| target(cx, item, scope, taken));
            }
        }
        "object_pattern" => {
            for part in cx.children(node) {
                cx.deeper(|cx| target(cx, part, scope, UNKNOWN));
            }
        }
        "pair_pattern" => {
            if let Some(inner) = field(node, "value") {
                cx.deeper(|cx| target(cx, inner, scope, UNKNOWN));
            }
        }
        "assignment_pattern" | "object_assignment_pattern" => {
            if let Some(right) = field(node, "right") {
                walk(cx, right, scope, Role::Reference);
            }
            if let Some(left) = field(node, "left") {
                cx.deeper(|cx| target(cx, left, scope, value));
            }
        }
        "rest_pattern" => {
            for part in cx.children(node) {
                cx.deeper(|cx| target(cx, part, scope, UNKNOWN));
            }
        }
        _ => drop(walk(cx, node, scope, Role::Write)),
    }
}

/// A value without parentheses and type assertions around it.
pub(super) fn bare<'t>(cx: &Lower<'_, 't>, node: Node<'t>) -> Node<'t> {
    const MOST: usize = 8;
    let mut node = node;
    for _ in 0..MOST {
        let is_wrapper = matches!(node.kind(), "parenthesized_expression" | "as_expression" | "satisfies_expression");
        match cx.first(node).filter(|_| is_wrapper) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// Reads the types around a [`bare`] value; returns one that it satisfies.
pub(super) fn outer_types<'t>(cx: &mut Lower<'_, 't>, outer: Node<'t>, bare: Node<'t>, scope: ScopeId) -> ExpressionId {
    let (mut node, mut of) = (outer, UNKNOWN);
    while node != bare {
        for part in cx.children(node).into_iter().skip(1) {
            of = annotation(cx, part, scope);
        }
        let Some(inner) = cx.first(node) else { break };
        node = inner;
    }
    of
}
