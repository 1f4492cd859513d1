//! Lowering of PHP names and types, in code and in comments.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::lower::field;
use crate::facts::{ExpressionId, Op, ROOT, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// The type in a part of a node.
pub(super) fn of_part<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, part: &str, scope: ScopeId) -> ExpressionId {
    field(node, part).map_or(UNKNOWN, |of| cx.read(of, NodeContext { scope, role: Role::Type }).value)
}

/// The last part of a name.
pub(super) fn last<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> Node<'t> {
    if node.kind() == "qualified_name" { cx.children(node).last().copied().unwrap_or(node) } else { node }
}

/// The class around a scope by a word: `self`, `static`, `parent`.
fn by_word(cx: &mut Lower<'_, '_>, word: &str, scope: ScopeId) -> Option<ExpressionId> {
    let op = match word {
        "self" | "static" | "$this" => Op::ClassOf,
        "parent" => Op::SuperOf,
        _ => return None,
    };
    Some(cx.facts.class_around(scope).map_or(UNKNOWN, |class| cx.facts.expression(op, class, 0)))
}

/// `self`, `static`, `parent` before `::`.
pub(super) fn relative<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let meant = by_word(cx, cx.text(node), at.scope);
    at.says(meant.unwrap_or(UNKNOWN))
}

/// The meaning of a written name, whose last part is spelt so.
fn meaning(cx: &mut Lower<'_, '_>, written: &str, spelt: &str, scope: ScopeId) -> ExpressionId {
    let name = cx.facts.name(spelt);
    let Some((before, _)) = written.rsplit_once('\\') else { return cx.facts.named(scope, name) };
    let mut parts = before.split('\\');
    let of = match parts.next() {
        Some("") | None => cx.facts.module(&format!("\\{}", before.trim_start_matches('\\')), ROOT),
        Some(first) => {
            let first = cx.facts.name(first);
            let first = cx.facts.named(scope, first);
            parts.fold(first, |of, part| {
                let part = cx.facts.name(part);
                cx.facts.member(of, part)
            })
        }
    };
    cx.facts.member(of, name)
}

/// A name: of a type, of a function that is called, or of a constant.
pub(super) fn name<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let last = last(cx, node);
    let text = cx.text(last);
    let spelt = match at.role {
        Role::Type | Role::Base if by_word(cx, text, at.scope).is_some() => return relative(cx, last, at),
        Role::Type | Role::Base => text.to_owned(),
        Role::Call => format!("{text}()"),
        _ => format!(":{text}"),
    };
    let meant = meaning(cx, cx.text(node), &spelt, at.scope);
    cx.facts.occurrence(span_of(last), at.role, meant);
    at.says(meant)
}

/// `new Name`, `#[Name]`: both the class and its constructor are meant. `new self` does not write the name of the class.
pub(super) fn made<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let last = last(cx, node);
    let own = by_word(cx, cx.text(last), scope);
    let class = own.unwrap_or_else(|| meaning(cx, cx.text(node), cx.text(last), scope));
    let name = cx.facts.name(super::classes::CONSTRUCTOR);
    let constructor = cx.facts.member(class, name);
    let meant = if own.is_some() { constructor } else { cx.facts.union(&[class, constructor]) };
    cx.facts.occurrence(span_of(last), Role::Call, meant);
    class
}

/// `A|B`
pub(super) fn any_of<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let types = cx.list(node, NodeContext { role: Role::Type, ..at });
    at.says(cx.facts.union(&types))
}

/// The class before `::` or after `new`.
pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let role = if matches!(node.kind(), "name" | "qualified_name") { Role::Type } else { Role::Reference };
    cx.read(node, NodeContext { scope, role }).value
}

/// A type as a comment says it: `?Shop\Item`, `Item[]`, `array<string, Item>`, `Item|null`, `$this`.
pub(super) fn documented(cx: &mut Lower<'_, '_>, text: &str, scope: ScopeId) -> ExpressionId {
    let text = text.trim().trim_start_matches('?');
    if let Some((of, arguments)) = text.split_once('<').filter(|_| text.ends_with('>') && !text.contains('|')) {
        let arguments: Vec<ExpressionId> =
            arguments[..arguments.len() - 1].split(',').map(|one| cx.deeper(|cx| documented(cx, one, scope))).collect();
        let of = documented(cx, of, scope);
        let list = cx.facts.list(&arguments);
        return cx.facts.expression(Op::Generic, of, list);
    }
    let mut types = Vec::new();
    for one in text.split('|').map(|one| one.trim_matches(['(', ')'])) {
        let (name, depth) = one.strip_suffix("[]").map_or((one, 0), |name| (name, 1));
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_\\$".contains(&byte));
        if !is_name || BUILT_IN.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let last = name.rsplit('\\').next().unwrap_or(name);
        let mut of = match by_word(cx, name, scope) {
            Some(own) => own,
            None => meaning(cx, name, last, scope),
        };
        if depth > 0 {
            let list = cx.facts.list(&[of]);
            of = cx.facts.expression(Op::Generic, UNKNOWN, list);
        }
        types.push(of);
    }
    cx.facts.union(&types)
}

/// Types that are no classes.
const BUILT_IN: &[&str] = &[
    "array", "bool", "boolean", "callable", "double", "false", "float", "int", "integer", "iterable", "list", "mixed",
    "never", "null", "object", "resource", "scalar", "string", "true", "void",
];

/// The type after a word in the comment above a node: `@return Item`, `@param Item $name`, `@var Item`.
pub(super) fn noted<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    word: &str,
    name: &str,
    scope: ScopeId,
) -> ExpressionId {
    let comment = cx.comment_above(node, "/**");
    for line in comment.lines() {
        let Some((_, rest)) = line.split_once(word) else { continue };
        let Some(rest) = rest.strip_prefix([' ', '\t']) else { continue };
        let rest = rest.trim().trim_end_matches("*/").trim_end();
        // A type with arguments may have spaces in it.
        let mut depth = 0;
        let end = rest.find(|char: char| {
            depth += i32::from(char == '<') - i32::from(char == '>');
            char.is_whitespace() && depth <= 0
        });
        let (of, after) = rest.split_at(end.unwrap_or(rest.len()));
        let after = after.trim_start().trim_start_matches("...");
        let is_it = name.is_empty()
            || after.split(|char: char| !char.is_alphanumeric() && char != '_' && char != '$').next() == Some(name);
        if is_it {
            return documented(cx, of, scope);
        }
    }
    UNKNOWN
}
