//! Lowering of Scala names and expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::{field, inside, is_bound, needs, plain, statements, term};
use super::{classes, patterns, semantics, types};
use crate::facts::{ExpressionId, NameId, Op, ROOT, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// More branches add nothing to what a value may be.
const MOST_BRANCHES: usize = 8;

pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text = plain(cx, node);
    if matches!(text, "this" | "super") {
        return at.says(classes::own(cx, text, at.scope));
    }
    let name = term(cx, text);
    let meant = cx.facts.named(at.scope, name);
    cx.facts.occurrence(span_of(node), at.role, meant);
    needs(cx, node, at.scope, name);
    at.says(meant)
}

/// `_`: what is passed to the function that it makes.
pub(super) fn blank<'t>(cx: &mut Lower<'_, 't>, _: Node<'t>, at: NodeContext) -> NodeResult {
    let name = term(cx, "_");
    let value = if is_bound(cx, at.scope, name) { cx.facts.named(at.scope, name) } else { UNKNOWN };
    at.says(value)
}

/// A member, or else what extends the type of the value under that name.
pub(super) fn extending(cx: &mut Lower<'_, '_>, member: ExpressionId, name: NameId, scope: ScopeId) -> ExpressionId {
    let named = cx.facts.named(scope, name);
    cx.facts.expression(Op::Extension, member, named)
}

/// The parts of `value.name`.
pub(super) fn split<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<(ExpressionId, Node<'t>)> {
    let (value, name) = (field(node, "value")?, field(node, "field")?);
    let on = match cx.deeper(|cx| package(cx, value, scope)) {
        Some(package) => package,
        None => cx.value(value, scope),
    };
    Some((on, name))
}

/// A path of packages, and what is in them: one begins with a small letter, and is bound nowhere.
fn package<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
    match node.kind() {
        "identifier" => {
            let text = plain(cx, node);
            if text == "_root_" {
                return Some(cx.facts.module("", ROOT));
            }
            let own = term(cx, text);
            if !text.starts_with(char::is_lowercase) || matches!(text, "this" | "super") || is_bound(cx, scope, own) {
                return None;
            }
            let name = cx.facts.name(text);
            let found = [cx.facts.named(scope, own), cx.facts.named(scope, name)];
            let either = cx.facts.union(&found);
            cx.facts.occurrence(span_of(node), Role::Reference, found[0]);
            needs(cx, node, scope, own);
            Some(either)
        }
        "field_expression" => {
            let (value, name) = (field(node, "value")?, field(node, "field")?);
            let on = cx.deeper(|cx| package(cx, value, scope))?;
            let meant = inside(cx, on, name);
            let own = own_name(cx, name);
            let member = cx.facts.member(on, own);
            let own = extending(cx, member, own, scope);
            cx.facts.occurrence(span_of(name), Role::Reference, own);
            let value = called(cx, own, name);
            Some(cx.facts.union(&[meant, value]))
        }
        _ => None,
    }
}

fn own_name(cx: &mut Lower<'_, '_>, node: Node<'_>) -> NameId {
    let text = plain(cx, node);
    term(cx, text)
}

/// `value.name`
pub(super) fn select<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some((on, last)) = split(cx, node, at.scope) else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    at.says(selected(cx, on, last, at))
}

/// A member of a value, read without arguments.
pub(super) fn selected<'t>(cx: &mut Lower<'_, 't>, on: ExpressionId, last: Node<'t>, at: NodeContext) -> ExpressionId {
    let name = own_name(cx, last);
    // `Outer.this`
    if matches!(plain(cx, last), "this" | "super") {
        return cx.facts.of(Op::Instance, on);
    }
    let member = cx.facts.member(on, name);
    let meant = extending(cx, member, name, at.scope);
    cx.facts.occurrence(span_of(last), at.role, meant);
    if on == UNKNOWN { UNKNOWN } else { called(cx, meant, last) }
}

/// The value of a member. Functions of containers without arguments are called without parentheses: `all.head`.
fn called(cx: &mut Lower<'_, '_>, meant: ExpressionId, name: Node<'_>) -> ExpressionId {
    let text = plain(cx, name);
    if semantics::SEMANTICS.methods.iter().any(|(known, _)| known.strip_suffix("()") == Some(text)) {
        let list = cx.facts.list(&[]);
        let called = cx.facts.expression(Op::Call, meant, list);
        return cx.facts.union(&[meant, called]);
    }
    meant
}

/// `if (condition) … else …`
pub(super) fn either<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut values = Vec::new();
    for part in cx.pieces(node) {
        let value = cx.value(part, at.scope);
        if [field(node, "consequence"), field(node, "alternative")].contains(&Some(part)) {
            values.push(value);
        }
    }
    at.says(cx.facts.union(&values))
}

/// `value match { case … }`
pub(super) fn matched<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let value = field(node, "value").map_or(UNKNOWN, |value| cx.value(value, at.scope));
    at.says(field(node, "body").map_or(UNKNOWN, |body| branches(cx, body, value, at.scope)))
}

/// The values of cases that a value is held against.
pub(super) fn branches<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    value: ExpressionId,
    scope: ScopeId,
) -> ExpressionId {
    let mut values = Vec::new();
    for part in cx.children(node) {
        let said = match part.kind() {
            "case_clause" => cx.deeper(|cx| patterns::clause(cx, part, value, scope)),
            "case_block" | "indented_cases" => cx.deeper(|cx| branches(cx, part, value, scope)),
            _ => cx.value(part, scope),
        };
        if values.len() < MOST_BRANCHES {
            values.push(said);
        }
    }
    cx.facts.union(&values)
}

/// `try … catch { … } finally …`
pub(super) fn attempt<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut values = Vec::new();
    for part in cx.pieces(node) {
        let value = cx.value(part, at.scope);
        if part.kind() != "finally_clause" && values.len() < MOST_BRANCHES {
            values.push(value);
        }
    }
    at.says(cx.facts.union(&values))
}

/// `value: Type`
pub(super) fn ascribed<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (mut of, mut value) = (UNKNOWN, UNKNOWN);
    let written = field(node, "type").or_else(|| field(node, "return_type"));
    for part in cx.children(node) {
        if Some(part) == written {
            of = types::written(cx, part, at.scope);
        } else if part.kind() != "annotation" {
            value = cx.value(part, at.scope);
        }
    }
    at.says(if of == UNKNOWN { value } else { cx.facts.of(Op::Instance, of) })
}

/// `(a, b)`
pub(super) fn tuple<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = cx.list(node, NodeContext::used(at.scope));
    let list = cx.facts.list(&all);
    at.says(cx.facts.expression(Op::Tuple, list, 0))
}

pub(super) fn text<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    for part in cx.children(node).into_iter().filter(|part| part.kind() == "interpolated_string") {
        let inner = cx.facts.scope(ScopeKind::Block, at.scope);
        let parts = cx.children(part);
        cx.deeper(|cx| statements(cx, &parts, inner));
    }
    at.says(types::built_in(cx, "String"))
}
