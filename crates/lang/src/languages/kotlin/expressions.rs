//! Lowering of Kotlin expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::classes::RECEIVED;
use super::lower::{FARTHEST, block, called, field, file_scope, has_sign, needs, variable};
use super::types;
use crate::facts::{Bound, DefinitionId, ExpressionId, NONE, NameId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// The most branches whose values count, and the most tests of a condition.
const MOST_BRANCHES: usize = 8;

/// A bare name.
pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text = cx.text(node);
    let name = cx.facts.name(text);
    let meant = cx.facts.named(at.scope, name);
    cx.facts.occurrence(span_of(node), at.role, meant);
    needs(cx, node, at.scope, name);
    at.says(meant)
}

/// The innermost class around a scope, other than those of receivers, or the value that `this` is bound to nearer.
fn around(cx: &mut Lower<'_, '_>, mut scope: ScopeId) -> (Option<DefinitionId>, Option<ExpressionId>) {
    let (this, received) = (cx.facts.name("this"), cx.facts.name(RECEIVED));
    let mut value = None;
    for _ in 0..FARTHEST {
        if scope == ScopeId::NONE {
            break;
        }
        if value.is_none() && cx.facts.binds(scope, this) {
            value = Some(cx.facts.named(scope, this));
        }
        if let Some(class) = cx.facts.class_of(scope)
            && cx.facts.definition(class).name != received
        {
            return (Some(class), value);
        }
        scope = cx.facts.parent(scope);
    }
    (None, value)
}

/// `this`, `this@Name`, `super`
pub(super) fn own<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text = cx.text(node);
    cx.list(node, NodeContext { role: Role::Type, ..at });
    if node.kind() == "this_expression"
        && let Some((_, label)) = text.split_once('@')
    {
        if !label.starts_with(char::is_uppercase) {
            let labeled = cx.facts.name(text);
            return at.says(cx.facts.named(at.scope, labeled));
        }
        let label = cx.facts.name(label);
        let of = cx.facts.named(at.scope, label);
        return at.says(cx.facts.of(Op::Instance, of));
    }
    let (class, value) = around(cx, at.scope);
    if node.kind() == "this_expression"
        && let Some(value) = value
    {
        return at.says(value);
    }
    let op = if node.kind() == "this_expression" { Op::SelfOf } else { Op::SuperOf };
    at.says(class.map_or(UNKNOWN, |class| cx.facts.expression(op, class, 0)))
}

/// The scope in which functions are searched that extend a type: that of the members of the class around, or of the file.
fn extensions(cx: &mut Lower<'_, '_>, mut scope: ScopeId) -> ScopeId {
    let file = file_scope(cx);
    for _ in 0..FARTHEST {
        if scope == file || scope == ScopeId::NONE {
            break;
        }
        if let Some(class) = cx.facts.class_of(scope)
            && cx.facts.definition(class).at != NONE
        {
            return scope;
        }
        scope = cx.facts.parent(scope);
    }
    file
}

/// A member, or else what extends the type of the value under that name.
pub(super) fn extending(cx: &mut Lower<'_, '_>, member: ExpressionId, name: NameId, scope: ScopeId) -> ExpressionId {
    let scope = extensions(cx, scope);
    let named = cx.facts.named(scope, name);
    cx.facts.expression(Op::Extension, member, named)
}

/// The parts of `value.name`.
pub(super) fn split<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<(ExpressionId, Node<'t>)> {
    let parts = cx.children(node);
    let name = parts.last().copied().filter(|last| last.kind() == "identifier" && parts.len() > 1)?;
    Some((cx.value(parts[0], scope), name))
}

/// `value.name`, `value?.name`, `value::name`
pub(super) fn navigation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some((on, last)) = split(cx, node, at.scope) else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    if has_sign(node, "::") {
        return at.says(referenced(cx, last, Some(on), at.scope));
    }
    let name = cx.name(last);
    let member = cx.facts.member(on, name);
    let meant = extending(cx, member, name, at.scope);
    cx.facts.occurrence(span_of(last), at.role, meant);
    at.says(if on == UNKNOWN { UNKNOWN } else { meant })
}

/// A function or a property after `::`.
fn referenced<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, on: Option<ExpressionId>, scope: ScopeId) -> ExpressionId {
    let names = [called(cx, cx.text(node)), cx.name(node)];
    let meant = names.map(|name| match on {
        None => cx.facts.named(scope, name),
        Some(on) => {
            let member = cx.facts.member(on, name);
            extending(cx, member, name, scope)
        }
    });
    let either = cx.facts.union(&meant);
    if on.is_none() {
        needs(cx, node, scope, names[0]);
    }
    cx.facts.occurrence(span_of(node), Role::Reference, either);
    either
}

/// `::name`, `Type::name`, `Type::class`
pub(super) fn reference<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (mut on, mut value) = (None, UNKNOWN);
    for part in cx.children(node) {
        match part.kind() {
            "identifier" => value = referenced(cx, part, on, at.scope),
            _ => on = Some(types::written(cx, part, at.scope)),
        }
    }
    at.says(value)
}

/// `value[index]`
pub(super) fn indexed<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let values: Vec<ExpressionId> = cx.children(node).into_iter().map(|part| cx.value(part, at.scope)).collect();
    at.says(values.first().map_or(UNKNOWN, |on| cx.facts.of(Op::Element, *on)))
}

/// The name of the function that an operator runs.
fn operator(sign: &str) -> Option<&'static str> {
    Some(match sign {
        "+" => "plus()",
        "-" => "minus()",
        "*" => "times()",
        "/" => "div()",
        "%" => "rem()",
        _ => return None,
    })
}

pub(super) fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let sign = field(node, "operator").map_or("", |operator| cx.text(operator));
    let left = field(node, "left").map_or(UNKNOWN, |left| cx.value(left, at.scope));
    let mut scope = at.scope;
    if sign == "&&"
        && let Some(left) = field(node, "left")
    {
        scope = narrowed(cx, left, scope);
    }
    let right = field(node, "right").map_or(UNKNOWN, |right| cx.value(right, scope));
    let value = match (sign, operator(sign)) {
        ("?:", _) => cx.facts.union(&[left, right]),
        (_, Some(name)) if left != UNKNOWN => {
            let text = types::built_in(cx, "String");
            if sign == "+" && (left == text || right == text) {
                return at.says(text);
            }
            let name = cx.facts.name(name);
            let list = cx.facts.list(&[right]);
            let member = cx.facts.member(left, name);
            let fitting = cx.facts.expression(Op::Fitting, member, list);
            let callee = extending(cx, fitting, name, at.scope);
            cx.facts.expression(Op::Call, callee, list)
        }
        (_, Some(_)) => UNKNOWN,
        _ => types::built_in(cx, "Boolean"),
    };
    at.says(value)
}

/// `value!!`, `!value`, `-value`
pub(super) fn unary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let sign = field(node, "operator").map_or("", |operator| cx.text(operator));
    let role = if matches!(sign, "++" | "--") { Role::Write } else { Role::Reference };
    let value = field(node, "argument").map_or(UNKNOWN, |of| cx.read(of, NodeContext { role, ..at }).value);
    at.says(if sign == "!" { types::built_in(cx, "Boolean") } else { value })
}

/// `value is Type`, `value in values`
pub(super) fn test<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    cx.parts(node, at.scope);
    at.says(types::built_in(cx, "Boolean"))
}

/// `value is Type && …`: a scope in which local names have the types that a condition asks for.
fn narrowed<'t>(cx: &mut Lower<'_, 't>, mut condition: Node<'t>, scope: ScopeId) -> ScopeId {
    let mut tests = Vec::new();
    while tests.len() < MOST_BRANCHES {
        match condition.kind() {
            "parenthesized_expression" => match cx.first(condition) {
                Some(inner) => condition = inner,
                None => break,
            },
            "binary_expression" if field(condition, "operator").is_some_and(|sign| cx.text(sign) == "&&") => {
                tests.extend(field(condition, "right"));
                match field(condition, "left") {
                    Some(left) => condition = left,
                    None => break,
                }
            }
            _ => {
                tests.push(condition);
                break;
            }
        }
    }
    let mut inner = None;
    for test in tests {
        let is_test = test.kind() == "is_expression" && has_sign(test, "is");
        if let (true, Some(value), Some(of)) = (is_test, field(test, "left"), field(test, "right")) {
            narrow(cx, value, of, scope, &mut inner);
        }
    }
    inner.unwrap_or(scope)
}

/// Binds a local name again, as a value of a type.
fn narrow<'t>(cx: &mut Lower<'_, 't>, value: Node<'t>, of: Node<'t>, scope: ScopeId, inner: &mut Option<ScopeId>) {
    if value.kind() != "identifier" {
        return;
    }
    let name = cx.name(value);
    let Some((home, _)) = cx.facts.nearest(scope, name) else { return };
    if !cx.facts.is(home, ScopeKind::Function) && !cx.facts.is(home, ScopeKind::Block) {
        return;
    }
    // The occurrences in the type were recorded where it was read.
    let Some(to) = plain(cx, of, scope) else { return };
    let inner = *inner.get_or_insert_with(|| cx.facts.scope(ScopeKind::Block, scope));
    if !cx.facts.binds(inner, name) {
        cx.facts.bind(inner, name, Bound::narrowed(to));
    }
}

/// A type without arguments, not recorded.
fn plain<'t>(cx: &mut Lower<'_, 't>, of: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
    if of.kind() != "user_type" {
        return None;
    }
    let mut meant = None;
    for part in cx.children(of).into_iter().filter(|part| part.kind() == "identifier") {
        let name = cx.name(part);
        meant = Some(match meant {
            None => cx.facts.named(scope, name),
            Some(of) => cx.facts.member(of, name),
        });
    }
    meant
}

/// `if (condition) … else …`
pub(super) fn either<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let condition = field(node, "condition");
    let mut scope = at.scope;
    if let Some(condition) = condition {
        cx.value(condition, scope);
        scope = narrowed(cx, condition, scope);
    }
    let mut values = Vec::new();
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != condition) {
        values.push(cx.value(part, scope));
        scope = at.scope;
    }
    at.says(cx.facts.union(&values))
}

/// `when (subject) { condition -> … }`
pub(super) fn when<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = cx.facts.scope(ScopeKind::Block, at.scope);
    let (mut subject, mut values) = (None, Vec::new());
    for part in cx.children(node) {
        if part.kind() == "when_subject" {
            let (mut declared, mut last) = (None, UNKNOWN);
            for one in cx.children(part) {
                match one.kind() {
                    "variable_declaration" => declared = variable(cx, one, scope),
                    _ => last = cx.value(one, scope),
                }
                subject = Some(one);
            }
            if let Some((name, of, _)) = declared {
                subject = Some(name);
                let name = cx.name(name);
                cx.facts.bind(scope, name, Bound::variable().value(last).of(of));
            }
            continue;
        }
        let mut inner = None;
        let mut value = UNKNOWN;
        for one in cx.children(part) {
            if one.kind() == "type_test" {
                cx.list(one, NodeContext { scope, role: Role::Type });
                if let (Some(subject), Some(of)) = (subject, cx.first(one).filter(|_| has_sign(one, "is"))) {
                    narrow(cx, subject, of, scope, &mut inner);
                }
            } else {
                value = cx.value(one, inner.unwrap_or(scope));
            }
        }
        if values.len() < MOST_BRANCHES {
            values.push(value);
        }
    }
    at.says(cx.facts.union(&values))
}

/// `try { … } catch (…) { … }`
pub(super) fn attempt<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut values = Vec::new();
    for part in cx.children(node) {
        match part.kind() {
            "block" => values.push(block(cx, part, at).value),
            "catch_block" if values.len() < MOST_BRANCHES => values.push(cx.value(part, at.scope)),
            _ => drop(cx.value(part, at.scope)),
        }
    }
    at.says(cx.facts.union(&values))
}

/// The value of the last part.
pub(super) fn last<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut value = UNKNOWN;
    for part in cx.children(node) {
        value = cx.read(part, at).value;
    }
    at.says(value)
}

pub(super) fn text<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    cx.parts(node, at.scope);
    at.says(types::built_in(cx, "String"))
}
