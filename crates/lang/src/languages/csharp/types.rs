//! Lowering of C# types and of names after a dot.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::field;
use crate::facts::{ExpressionId, NameId, Op, ROOT, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// The name of all array types, for the methods that extend them.
pub(super) const ARRAY: &str = "[]";

/// The type in a part of a node.
pub(super) fn of_part<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, part: &str, scope: ScopeId) -> ExpressionId {
    field(node, part).map_or(UNKNOWN, |of| cx.read(of, NodeContext { scope, role: Role::Type }).value)
}

/// The name of a type, which is not hidden by a member of that name: `Color Color { get; }`.
pub(super) fn type_name(cx: &mut Lower<'_, '_>, text: &str) -> NameId {
    cx.facts.name(&format!("type {text}"))
}

/// A bare name.
pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text = cx.text(node);
    if text == "_" {
        return at.says(UNKNOWN);
    }
    let name = in_role(cx, text, at.role);
    let meant = cx.facts.named(at.scope, name);
    cx.facts.occurrence(span_of(node), at.role, meant);
    needs(cx, node, at.role, name, meant);
    at.says(meant)
}

/// Notes that the file needs the one of a type.
pub(super) fn needs(cx: &mut Lower<'_, '_>, node: Node<'_>, role: Role, name: NameId, meant: ExpressionId) {
    if matches!(role, Role::Type | Role::Base | Role::Import) {
        cx.facts.needs(node.start_byte() as u32, name, meant);
    }
}

/// A name as it is spelt where only a type may stand, or elsewhere.
fn in_role(cx: &mut Lower<'_, '_>, text: &str, role: Role) -> NameId {
    match role {
        Role::Type | Role::Base | Role::Import => type_name(cx, text),
        _ => cx.facts.name(text),
    }
}

/// `int`, `string` and their like, by the names that overloads are chosen by.
pub(super) fn predefined<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(match cx.text(node) {
        "void" => UNKNOWN,
        word => built_in(cx, word, at.scope),
    })
}

/// A type that is part of the language.
pub(super) fn built_in(cx: &mut Lower<'_, '_>, word: &str, scope: ScopeId) -> ExpressionId {
    let name = match word {
        "string" => "String",
        "object" => "Object",
        "bool" => "boolean",
        word => word,
    };
    let name = type_name(cx, name);
    cx.facts.named(scope, name)
}

/// The types in a node.
pub(super) fn all<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    cx.list(node, NodeContext { role: Role::Type, ..at });
    at.says(UNKNOWN)
}

/// The node of a name without its type arguments, and its text with their number.
pub(super) fn spelt<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> (Node<'t>, String) {
    let text = |cx: &Lower<'_, 't>, node| cx.text(node).to_owned();
    let parts = if node.kind() == "generic_name" { cx.children(node) } else { Vec::new() };
    match parts[..] {
        [name, list, ..] => (name, format!("{}`{}", cx.text(name), commas(cx, list))),
        _ => (node, text(cx, node)),
    }
}

/// The number of items in a list, whose items may be left out: `<,>`.
fn commas<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>) -> usize {
    let written = cx.children(list).len();
    let commas = list.children(&mut list.walk()).filter(|part| part.kind() == ",").count();
    written.max(commas + 1)
}

/// The type arguments of a name.
pub(super) fn arguments<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let list = cx.children(node).into_iter().find(|part| part.kind() == "type_argument_list");
    let all = list.map(|list| cx.children(list)).unwrap_or_default();
    all.into_iter().map(|of| cx.read(of, NodeContext { scope, role: Role::Type }).value).collect()
}

/// `Name<T>`
pub(super) fn generic<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (name, text) = spelt(cx, node);
    let all = arguments(cx, node, at.scope);
    let text = in_role(cx, &text, at.role);
    let of = cx.facts.named(at.scope, text);
    cx.facts.occurrence(span_of(name), at.role, of);
    needs(cx, name, at.role, text, of);
    at.says(applied(cx, cx.text(name), of, &all))
}

/// A type with arguments. Those of functions stand for what they take and return.
pub(super) fn applied(cx: &mut Lower<'_, '_>, name: &str, of: ExpressionId, all: &[ExpressionId]) -> ExpressionId {
    let (takes, gives) = match (name, all) {
        ("Func", [takes @ .., gives]) => (takes, *gives),
        ("Action" | "Predicate" | "Comparison", takes) => (takes, UNKNOWN),
        _ => {
            let list = cx.facts.list(all);
            return cx.facts.expression(Op::Generic, of, list);
        }
    };
    let takes = cx.facts.list(takes);
    cx.facts.expression(Op::FunctionType, gives, takes)
}

pub(super) fn array<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = of_part(cx, node, "type", at.scope);
    field(node, "rank").map(|rank| cx.value(rank, at.scope));
    let list = cx.facts.list(&[of]);
    let array = type_name(cx, ARRAY);
    let array = cx.facts.named(at.scope, array);
    at.says(cx.facts.expression(Op::Generic, array, list))
}

pub(super) fn tuple<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let items: Vec<ExpressionId> =
        cx.children(node).into_iter().map(|item| of_part(cx, item, "type", at.scope)).collect();
    let list = cx.facts.list(&items);
    at.says(cx.facts.expression(Op::Tuple, list, 0))
}

/// A name: bare, or after the value before its dot.
pub(super) fn named(cx: &mut Lower<'_, '_>, on: Option<ExpressionId>, name: NameId, scope: ScopeId) -> ExpressionId {
    match on {
        None => cx.facts.named(scope, name),
        Some(on) => cx.facts.member(on, name),
    }
}

/// The value before a dot, with the name after it.
pub(super) fn split<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<(ExpressionId, Node<'t>)> {
    let (of, name) = match node.kind() {
        "qualified_name" => ("qualifier", node),
        "alias_qualified_name" => ("alias", node),
        "conditional_access_expression" => {
            let bound = cx.children(node).into_iter().find(|part| part.kind() == "member_binding_expression");
            ("condition", bound?)
        }
        _ => ("expression", node),
    };
    let (of, name) = (field(node, of)?, field(name, "name")?);
    let is_global = node.kind() == "alias_qualified_name" && cx.text(of) == "global";
    if of.kind() == "identifier" && cx.text(of).starts_with(char::is_uppercase) {
        // It may be a type: `Prices.Sum(…)`.
        let name = type_name(cx, cx.text(of));
        let meant = cx.facts.named(scope, name);
        needs(cx, of, Role::Type, name, meant);
    }
    Some((if is_global { cx.facts.module("", ROOT) } else { cx.value(of, scope) }, name))
}

/// `value.Member`, `Namespace.Type<T>`, `value?.Member`, `value?[0]`.
pub(super) fn member<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some((on, after)) = split(cx, node, at.scope) else {
        let on = field(node, "condition").map_or(UNKNOWN, |on| cx.value(on, at.scope));
        for part in cx.children(node).into_iter().skip(1) {
            cx.value(part, at.scope);
        }
        return at.says(cx.facts.of(Op::Element, on));
    };
    let (name, text) = spelt(cx, after);
    let all = arguments(cx, after, at.scope);
    let text = in_role(cx, &text, at.role);
    let meant = cx.facts.member(on, text);
    cx.facts.occurrence(span_of(name), at.role, meant);
    needs(cx, name, at.role, text, meant);
    at.says(match (on, after.kind()) {
        (UNKNOWN, _) => UNKNOWN,
        (_, "generic_name") => applied(cx, cx.text(name), meant, &all),
        _ => meant,
    })
}
