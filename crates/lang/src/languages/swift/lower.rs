//! Lowering of Swift files and statements; see `resolve` for the requirements.
//!
//! All files of a module see one another; in the module lies a scope of the file with its imports and its private names.
//! Arguments and parameters carry their labels, which tell overloads apart. Members that extensions add are members of
//! the type, if it is one of the project. They are bound in the module too, with a dot before the name: for values that
//! are known to be of a type from outside.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::{calls, patterns, types};
use crate::facts::{Bound, DefinitionId, ExpressionId, NameId, Op, PRIVATE, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// The scope of the file, the first in the root.
pub(super) const FILE: ScopeId = ScopeId(1);
/// The name that the value of an implicit member is bound to, as in `.name`.
pub(super) const IMPLICIT: &str = ".";
/// The name that a value is bound to which a function is to return.
pub(super) const RETURNED: &str = "return";

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let file = cx.facts.scope(ScopeKind::File, ROOT);
    let mut scope = file;
    for part in cx.pieces(root) {
        scope = cx.read(part, NodeContext::used(scope)).scope;
    }
    // Modules themselves, for whole names.
    let modules = cx.facts.module("*", ROOT);
    cx.facts.star(file, modules, SEEN);
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// All parts of a node with signs and words, without comments.
pub(super) fn all<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.children(&mut node.walk()).filter(|part| part.is_error() || !part.is_extra()).collect()
}

/// A child of this kind.
pub(super) fn child<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    cx.children(node).into_iter().find(|part| part.kind() == kind)
}

/// Whether a declaration has one of these words before it.
pub(super) fn has_word<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, words: &[&str]) -> bool {
    let Some(modifiers) = child(cx, node, "modifiers") else { return false };
    cx.children(modifiers).into_iter().any(|part| words.contains(&cx.text(part)))
}

/// The name of a node, without the marks around one that is a word of the language.
pub(super) fn plain<'s>(cx: &Lower<'s, '_>, node: Node<'_>) -> &'s str {
    cx.text(node).trim_matches('`')
}

pub(super) fn named(cx: &mut Lower<'_, '_>, node: Node<'_>) -> NameId {
    let text = plain(cx, node);
    cx.facts.name(text)
}

/// The scope in which a declaration is bound: names of a file that are not private belong to its module.
pub(super) fn home<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ScopeId {
    if scope == FILE && !has_word(cx, node, &["private", "fileprivate"]) { ROOT } else { scope }
}

/// The flag of a declaration that only its file sees.
pub(super) fn privacy<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> u16 {
    if has_word(cx, node, &["private", "fileprivate"]) { PRIVATE } else { 0 }
}

/// Whether names of a scope are seen from elsewhere, so that they are symbols.
pub(super) fn is_open(cx: &Lower<'_, '_>, scope: ScopeId) -> bool {
    !cx.facts.is(scope, ScopeKind::Function) && !cx.facts.is(scope, ScopeKind::Block)
}

/// `import Module`, `import struct Module.Name`
pub(super) fn import<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(path) = child(cx, node, "identifier") else { return at.says(UNKNOWN) };
    let parts = cx.children(path);
    let [first, ref rest @ ..] = parts[..] else { return at.says(UNKNOWN) };
    let of = cx.facts.module(plain(cx, first), ROOT);
    cx.facts.import(first.start_byte() as u32, of, 0);
    if rest.is_empty() {
        let flags = if cx.text(node).contains("@_exported") { SEEN | crate::facts::OFFERED } else { SEEN };
        let scope = if flags == SEEN { FILE } else { ROOT };
        cx.facts.star(scope, of, flags);
        return at.says(UNKNOWN);
    }
    let mut meant = of;
    for part in rest {
        let name = named(cx, *part);
        meant = cx.facts.member(meant, name);
        cx.facts.occurrence(span_of(*part), Role::Import, meant);
    }
    let name = named(cx, rest[rest.len() - 1]);
    cx.facts.bind(FILE, name, Bound::alias(meant));
    at.says(UNKNOWN)
}

/// How far out a name is looked for while a file is read. Each condition of a statement makes a scope; all the way, for
/// each name, would be the square of a file.
const FARTHEST: usize = 400;

/// The nearest scope that binds a name so far.
pub(super) fn nearest(cx: &Lower<'_, '_>, mut scope: ScopeId, name: NameId) -> Option<ScopeId> {
    for _ in 0..FARTHEST {
        if scope == ScopeId::NONE || cx.facts.binds(scope, name) {
            break;
        }
        scope = cx.facts.parent(scope);
    }
    Some(scope).filter(|scope| *scope != ScopeId::NONE && cx.facts.binds(*scope, name))
}

/// The class around a scope.
pub(super) fn class_around(cx: &Lower<'_, '_>, mut scope: ScopeId) -> Option<DefinitionId> {
    for _ in 0..FARTHEST {
        if scope == ScopeId::NONE {
            break;
        }
        if let Some(class) = cx.facts.class_of(scope) {
            return Some(class);
        }
        scope = cx.facts.parent(scope);
    }
    None
}

/// Notes that the file needs the one of a name of its module.
pub(super) fn needs(cx: &mut Lower<'_, '_>, node: Node<'_>, mut scope: ScopeId, name: NameId) {
    for _ in 0..FARTHEST {
        if scope == ScopeId::NONE || cx.facts.binds(scope, name) {
            return;
        }
        if scope == FILE {
            let meant = cx.facts.named(FILE, name);
            return cx.facts.needs(node.start_byte() as u32, name, meant);
        }
        scope = cx.facts.parent(scope);
    }
}

/// Statements in a row: their value is that of the last one.
pub(super) fn statements<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut scope = cx.facts.scope(ScopeKind::Block, at.scope);
    let mut value = UNKNOWN;
    for part in cx.pieces(node) {
        let said = cx.read(part, NodeContext::used(scope));
        (value, scope) = (said.value, said.scope);
    }
    at.says(value)
}

/// The body of a function that returns values of this type: an only expression is returned.
pub(super) fn body<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, returned: ExpressionId, scope: ScopeId) -> ExpressionId {
    let name = cx.facts.name(RETURNED);
    cx.facts.bind(scope, name, Bound::meaning(returned));
    let mut inner = node;
    while matches!(inner.kind(), "function_body" | "statements") {
        match cx.pieces(inner)[..] {
            [only] => inner = only,
            _ => return cx.deeper(|cx| cx.value(if node.kind() == "statements" { node } else { inner }, scope)),
        }
    }
    let inside = cx.facts.scope(ScopeKind::Block, scope);
    calls::expect(cx, inner, returned, inside)
}

/// `return value`, `throw value`
pub(super) fn transfer<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let is_return = node.child(0).is_some_and(|word| word.kind() == "return");
    let mut value = UNKNOWN;
    for part in cx.children(node).into_iter().filter(|part| part.kind() != "throw_keyword") {
        if is_return {
            let name = cx.facts.name(RETURNED);
            let wanted = cx.facts.named(at.scope, name);
            value = calls::expect(cx, part, wanted, at.scope);
        } else {
            value = cx.value(part, at.scope);
        }
    }
    at.says(value)
}

/// Binds a local name. Earlier uses of a name that means something else keep it: `guard let item = item`. Returns the
/// scope for what comes after.
pub(super) fn local(cx: &mut Lower<'_, '_>, name: NameId, bound: Bound, scope: ScopeId) -> ScopeId {
    let is_used = cx.facts.is_named_since(scope, name) || cx.facts.binds(scope, name);
    let after = if is_used { cx.facts.scope(ScopeKind::Block, scope) } else { scope };
    cx.facts.bind(after, name, bound);
    after
}

/// Reads the conditions of a statement, each in the scope that the one before left; returns the scope for what they
/// guard, and the parts behind them.
fn conditions<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> (ScopeId, Vec<Node<'t>>) {
    let mut scope = cx.facts.scope(ScopeKind::Block, scope);
    let mut parts = all(node);
    let is_after = |part: &Node<'_>| matches!(part.kind(), "{" | "statements" | "else");
    let end = parts.iter().position(is_after).unwrap_or(parts.len());
    let rest = parts.split_off(end);
    let (mut depth, mut one) = (0, Vec::new());
    for part in parts.into_iter().skip(1) {
        match part.kind() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if part.kind() == "," && depth == 0 {
            scope = condition(cx, &std::mem::take(&mut one), scope);
        } else {
            one.push(part);
        }
    }
    scope = condition(cx, &one, scope);
    (scope, rest)
}

/// `value`, `let name = value`, `case pattern = value`
fn condition<'t>(cx: &mut Lower<'_, 't>, parts: &[Node<'t>], scope: ScopeId) -> ScopeId {
    let Some(first) = parts.first() else { return scope };
    let at = parts.iter().position(|part| part.kind() == "=");
    let (before, after) = parts.split_at(at.unwrap_or(parts.len()));
    match first.kind() {
        "case" => {
            let value = after.get(1).map_or(UNKNOWN, |value| cx.value(*value, scope));
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            patterns::bind(cx, &before[1..], value, false, inner);
            inner
        }
        "value_binding_pattern" => {
            let Some(name_node) = before.iter().find(|part| part.kind() == "simple_identifier") else {
                // `let (a, b) = value`
                let value = after.get(1).map_or(UNKNOWN, |value| cx.value(*value, scope));
                let inner = cx.facts.scope(ScopeKind::Block, scope);
                patterns::bind(cx, before, value, true, inner);
                return inner;
            };
            let name = named(cx, *name_node);
            let written = before.iter().find(|part| part.kind() == "type_annotation");
            let of = written.map_or(UNKNOWN, |of| types::annotated(cx, *of, scope));
            let expected = cx.facts.of(Op::Instance, of);
            let value = match after.get(1) {
                Some(value) => calls::expect(cx, *value, expected, scope),
                // `if let name`
                None => {
                    let meant = cx.facts.named(scope, name);
                    cx.facts.occurrence(span_of(*name_node), Role::Reference, meant);
                    meant
                }
            };
            local(cx, name, Bound::variable().value(value).of(of), scope)
        }
        _ => {
            for part in parts.iter().filter(|part| part.is_named()) {
                cx.value(*part, scope);
            }
            scope
        }
    }
}

/// `if conditions { … } else { … }`, `while conditions { … }`
pub(super) fn branch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (mut scope, rest) = conditions(cx, node, at.scope);
    let mut values = Vec::new();
    for part in rest {
        match part.kind() {
            "else" => scope = at.scope,
            _ if part.is_named() => values.push(cx.value(part, scope)),
            _ => {}
        }
    }
    at.says(cx.facts.union(&values))
}

/// `guard conditions else { … }`
pub(super) fn guard<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (scope, rest) = conditions(cx, node, at.scope);
    for part in rest.into_iter().filter(|part| part.is_named() && part.kind() != "else") {
        cx.value(part, at.scope);
    }
    NodeResult { value: UNKNOWN, scope }
}

/// `for pattern in values where condition { … }`
pub(super) fn each<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Block, at.scope);
    let item = field(node, "item");
    let collection = field(node, "collection");
    let of = child(cx, node, "type_annotation").map_or(UNKNOWN, |of| types::annotated(cx, of, at.scope));
    let values = collection.map_or(UNKNOWN, |values| cx.value(values, at.scope));
    let one = if of == UNKNOWN { cx.facts.of(Op::Each, values) } else { cx.facts.of(Op::Instance, of) };
    if let Some(item) = item {
        let parts = all(item);
        patterns::bind(cx, &parts, one, true, inner);
    }
    for part in cx.pieces(node) {
        if Some(part) != item && Some(part) != collection && part.kind() != "type_annotation" {
            cx.value(part, inner);
        }
    }
    at.says(UNKNOWN)
}

/// `switch value { case pattern: … }`
pub(super) fn switch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let subject = field(node, "expr");
    let value = subject.map_or(UNKNOWN, |subject| cx.value(subject, at.scope));
    let mut values = Vec::new();
    for entry in cx.pieces(node) {
        if Some(entry) == subject {
            continue;
        }
        let inner = cx.facts.scope(ScopeKind::Block, at.scope);
        for part in cx.pieces(entry) {
            match part.kind() {
                "switch_pattern" => {
                    for pattern in cx.children(part) {
                        let parts = all(pattern);
                        cx.deeper(|cx| patterns::bind(cx, &parts, value, false, inner));
                    }
                }
                _ => {
                    let said = cx.value(part, inner);
                    values.extend((part.kind() == "statements").then_some(said));
                }
            }
        }
    }
    // More branches add nothing to what a value may be.
    values.truncate(8);
    at.says(cx.facts.union(&values))
}

/// `catch pattern { … }`
pub(super) fn catch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Block, at.scope);
    let name = cx.facts.name("error");
    cx.facts.bind(inner, name, Bound::variable());
    let pattern = field(node, "error");
    if let Some(pattern) = pattern {
        let parts = all(pattern);
        patterns::bind(cx, &parts, UNKNOWN, false, inner);
    }
    for part in cx.pieces(node).into_iter().filter(|part| Some(*part) != pattern) {
        cx.value(part, inner);
    }
    at.says(UNKNOWN)
}

/// `target = value`
pub(super) fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let target =
        field(node, "target").map_or(UNKNOWN, |target| cx.read(target, NodeContext { role: Role::Write, ..at }).value);
    if let Some(value) = field(node, "result") {
        calls::expect(cx, value, target, at.scope);
    }
    at.says(UNKNOWN)
}
