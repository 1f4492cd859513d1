//! Lowering of C# expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::classes;
use super::lower::{bind_local, field};
use super::shapes::MEMBERS;
use super::types;
use crate::facts::{Definition, DefinitionId, EMPTY, ExpressionId, ListId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// `this`, `base`
pub(super) fn own<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let op = if node.kind() == "this" { Op::SelfOf } else { Op::SuperOf };
    at.says(cx.facts.class_around(at.scope).map_or(UNKNOWN, |class| cx.facts.expression(op, class, 0)))
}

/// A value of a type that is part of the language.
fn built_in(cx: &mut Lower<'_, '_>, scope: ScopeId, word: &str) -> ExpressionId {
    let of = types::built_in(cx, word, scope);
    cx.facts.of(Op::Instance, of)
}

/// `value is Type`
pub(super) fn is_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    field(node, "left").map(|left| cx.value(left, at.scope));
    types::of_part(cx, node, "right", at.scope);
    at.says(built_in(cx, at.scope, "bool"))
}

pub(super) fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    cx.parts(node, at.scope);
    let text = cx.text(node);
    let name = match node.kind() {
        "integer_literal" if text.ends_with(['l', 'L']) => "long",
        "integer_literal" => "int",
        "real_literal" if text.ends_with(['f', 'F']) => "float",
        "real_literal" => "double",
        "boolean_literal" => "bool",
        "character_literal" => "char",
        _ => "string",
    };
    at.says(built_in(cx, at.scope, name))
}

/// The list of arguments, without those that are given by name.
fn arguments<'t>(cx: &mut Lower<'_, 't>, list: Option<Node<'t>>, scope: ScopeId, callee: ExpressionId) -> ListId {
    let nodes = list.map(|list| cx.children(list)).unwrap_or_default();
    let mut all = Vec::with_capacity(nodes.len());
    for (place, argument) in (0..).zip(nodes) {
        let inner = cx.children(argument).last().copied();
        let is_named = field(argument, "name").is_some();
        all.push(match inner {
            Some(inner) if inner.kind() == "lambda_expression" => {
                cx.deeper(|cx| function(cx, inner, scope, if is_named { UNKNOWN } else { callee }, place))
            }
            _ if is_named => {
                cx.value(argument, scope);
                UNKNOWN
            }
            _ => cx.value(argument, scope),
        });
    }
    cx.facts.list(&all)
}

/// Reads labels of arguments that name properties of a record: `new Person(First: name)`.
pub(super) fn labels<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, class: ExpressionId) {
    for argument in cx.children(list) {
        let Some(label) = field(argument, "name") else { continue };
        // A parameter of another class begins with a small letter.
        if cx.text(label).starts_with(char::is_uppercase) {
            let made = cx.facts.of(Op::Instance, class);
            cx.member(label, made, Role::Reference);
        }
    }
}

/// A call's callee for its arguments.
fn fitting<'t>(
    cx: &mut Lower<'_, 't>,
    list: Option<Node<'t>>,
    scope: ScopeId,
    callee: ExpressionId,
) -> (ExpressionId, ListId) {
    let all = arguments(cx, list, scope, callee);
    (if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Fitting, callee, all) }, all)
}

pub(super) fn invocation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (Some(called), list) = (field(node, "function"), field(node, "arguments")) else { return at.says(UNKNOWN) };
    let (on, name) = match called.kind() {
        "identifier" | "generic_name" => (None, called),
        kind if MEMBERS.contains(&kind) => match types::split(cx, called, at.scope) {
            Some((on, name)) => (Some(on), name),
            None => (None, called),
        },
        _ => {
            let callee = cx.value(called, at.scope);
            let (fitting, all) = fitting(cx, list, at.scope, callee);
            return at.says(if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, fitting, all) });
        }
    };
    types::arguments(cx, name, at.scope);
    let (node, _) = types::spelt(cx, name);
    let text = cx.name(node);
    let callee = types::named(cx, on, text, at.scope);
    let (fitting, all) = fitting(cx, list, at.scope, callee);
    if on == Some(UNKNOWN) {
        cx.facts.occurrence(span_of(node), Role::Call, callee);
        return at.says(UNKNOWN);
    }
    cx.facts.occurrence(span_of(node), Role::Call, fitting);
    at.says(cx.facts.expression(Op::Call, fitting, all))
}

/// `new Type(…) { … }`: both the class and its constructors are meant by its name.
pub(super) fn creation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(written) = field(node, "type") else { return at.says(UNKNOWN) };
    let (on, last) = match MEMBERS.contains(&written.kind()) {
        true => types::split(cx, written, at.scope).map_or((None, written), |(on, name)| (Some(on), name)),
        false => (None, written),
    };
    let of = if matches!(last.kind(), "identifier" | "generic_name") {
        let (name, text) = types::spelt(cx, last);
        let all = types::arguments(cx, last, at.scope);
        let text = types::type_name(cx, &text);
        let class = types::named(cx, on, text, at.scope);
        types::needs(cx, name, Role::Type, text, class);
        let constructor = cx.facts.name(&format!("new {}", cx.text(name)));
        let constructors = cx.facts.member(class, constructor);
        let callee = cx.facts.union(&[class, constructors]);
        let list = field(node, "arguments");
        list.into_iter().for_each(|list| labels(cx, list, class));
        let (fitting, _) = fitting(cx, list, at.scope, callee);
        cx.facts.occurrence(span_of(name), Role::Call, fitting);
        if all.is_empty() { class } else { types::applied(cx, "", class, &all) }
    } else {
        field(node, "arguments").map(|list| cx.value(list, at.scope));
        cx.read(written, NodeContext { scope: at.scope, role: Role::Type }).value
    };
    let made = cx.facts.of(Op::Instance, of);
    if let Some(initializer) = field(node, "initializer") {
        self::initializer(cx, initializer, made, at.scope);
    }
    at.says(made)
}

/// `new(…)` of a type that is written elsewhere.
pub(super) fn created<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, of: ExpressionId, scope: ScopeId) -> ExpressionId {
    let made = cx.facts.of(Op::Instance, of);
    for part in cx.children(node) {
        match part.kind() {
            "initializer_expression" => initializer(cx, part, made, scope),
            _ => drop(cx.value(part, scope)),
        }
    }
    made
}

/// `{ Member = value, … }`: the members are those of the value that is made.
fn initializer<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, of: ExpressionId, scope: ScopeId) {
    for part in cx.children(node) {
        let named = field(part, "left").filter(|left| left.kind() == "identifier");
        let (Some(name), Some(value)) =
            (named.filter(|_| part.kind() == "assignment_expression"), field(part, "right"))
        else {
            cx.value(part, scope);
            continue;
        };
        cx.member(name, of, Role::Write);
        let text = cx.name(name);
        let member = cx.facts.member(of, text);
        match value.kind() {
            "initializer_expression" => cx.deeper(|cx| initializer(cx, value, member, scope)),
            _ => drop(cx.value(value, scope)),
        }
    }
}

/// `new Type[] { … }`
pub(super) fn of_array<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = types::of_part(cx, node, "type", at.scope);
    for part in cx.children(node).into_iter().skip(1) {
        cx.value(part, at.scope);
    }
    at.says(cx.facts.of(Op::Instance, of))
}

/// `new { Name = value }`: the names are of no type.
pub(super) fn anonymous<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for part in cx.children(node) {
        if part.next_sibling().is_none_or(|next| next.kind() != "=") {
            cx.value(part, at.scope);
        }
    }
    at.says(UNKNOWN)
}

/// `value with { Member = value }`
pub(super) fn with<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut parts = cx.children(node).into_iter();
    let of = parts.next().map_or(UNKNOWN, |of| cx.value(of, at.scope));
    for part in parts {
        for (place, one) in cx.children(part).into_iter().enumerate() {
            match place {
                0 if one.kind() == "identifier" => cx.member(one, of, Role::Write),
                _ => drop(cx.value(one, at.scope)),
            }
        }
    }
    at.says(of)
}

pub(super) fn lambda<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(function(cx, node, at.scope, UNKNOWN, 0))
}

/// `(a, b) => …`: its parameters get their values from `callee`, whose argument number `place` it is.
fn function<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    place: u32,
) -> ExpressionId {
    let function = cx.facts.define(Definition { parameters: EMPTY, ..Definition::default() });
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let list = field(node, "parameters");
    let named = match list {
        Some(one) if one.kind() == "implicit_parameter" => vec![(one, UNKNOWN)],
        Some(list) => classes::parameters(cx, list, inner).into_iter().map(|one| (one.name, one.of)).collect(),
        None => Vec::new(),
    };
    for (own, (name, of)) in (0..).zip(named) {
        let given = match callee {
            UNKNOWN => UNKNOWN,
            callee => cx.facts.expression(Op::Passed, callee, place << 16 | own),
        };
        bind_local(cx, name, inner, given, of);
    }
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != list) {
        let value = cx.value(part, inner);
        if Some(part) == field(node, "body") {
            cx.facts.returns(function, value);
        }
    }
    cx.facts.expression(Op::Function, function, 0)
}

pub(super) fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(left) = field(node, "left") {
        cx.read(left, NodeContext { role: Role::Write, ..at });
    }
    at.says(field(node, "right").map_or(UNKNOWN, |right| cx.value(right, at.scope)))
}

pub(super) fn conditional<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let values = ["condition", "consequence", "alternative"]
        .map(|part| field(node, part).map_or(UNKNOWN, |part| cx.value(part, at.scope)));
    at.says(cx.facts.union(&values[1..]))
}

/// A sum with a text is a text, a comparison is a truth value, and all else is what the operator of the left one gives.
pub(super) fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let [left, right] =
        ["left", "right"].map(|part| field(node, part).map_or(UNKNOWN, |part| cx.value(part, at.scope)));
    let operator = field(node, "operator").map_or("", |operator| cx.text(operator));
    let text = built_in(cx, at.scope, "string");
    at.says(match operator {
        "??" => cx.facts.union(&[left, right]),
        "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" => built_in(cx, at.scope, "bool"),
        "+" if left == text || right == text => text,
        _ if left == UNKNOWN => UNKNOWN,
        _ => {
            let name = cx.facts.name(&format!("operator {operator}"));
            let defined = cx.facts.member(left, name);
            let list = cx.facts.list(&[left, right]);
            cx.facts.expression(Op::Call, defined, list)
        }
    })
}

pub(super) fn awaited<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let value = cx.first(node).map_or(UNKNOWN, |value| cx.value(value, at.scope));
    at.says(cx.facts.of(Op::Await, value))
}

/// `: this(…)`, `: base(…)`
pub(super) fn initialized<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: DefinitionId, scope: ScopeId) {
    let Some(word) = node.children(&mut node.walk()).find(|word| matches!(word.kind(), "this" | "base")) else {
        return;
    };
    let op = if word.kind() == "this" { Op::ClassOf } else { Op::SuperOf };
    let of = cx.facts.expression(op, class, 0);
    let name = cx.facts.name(classes::CONSTRUCTOR);
    let callee = cx.facts.member(of, name);
    let list = cx.children(node).into_iter().find(|part| part.kind() == "argument_list");
    let (fitting, _) = fitting(cx, list, scope, callee);
    cx.facts.occurrence(span_of(word), Role::Call, fitting);
}
