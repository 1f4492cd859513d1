//! Rust's `use` trees.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::field;
use super::types::module_word;
use crate::facts::{Bound, ExpressionId, NameId, OFFERED, Op, SEEN, ScopeId};
use codelode_base::model::Role;

/// A tree in progress.
struct Tree {
    scope: ScopeId,
    at: u32,
    /// The path begins with the name of another crate, even if the module binds that name.
    is_foreign: bool,
}

/// `use …;`
pub(super) fn declaration<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some(argument) = field(node, "argument") else { return };
    let text = cx.text(argument);
    let first = text.split("::").next().unwrap_or(text).trim();
    let name = cx.facts.name(first);
    // `use json::json;` binds the very name that it begins with.
    let is_again = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| *word == first).count() > 1;
    let is_foreign = is_again && cx.facts.nearest(scope, name).is_none();
    let tree = Tree { scope, at: node.start_byte() as u32, is_foreign };
    walk(cx, argument, None, &tree);
}

/// `extern crate a as b;`
pub(super) fn extern_crate<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some(name_node) = field(node, "name") else { return };
    let text = cx.text(name_node);
    let meant = match text {
        "self" => cx.facts.module("crate", scope),
        _ => {
            let crates = cx.facts.module("::", scope);
            let name = cx.name(name_node);
            cx.facts.member(crates, name)
        }
    };
    if let Some(alias) = field(node, "alias") {
        let name = cx.name(alias);
        cx.facts.bind(scope, name, Bound::alias(meant));
    }
    cx.facts.import(node.start_byte() as u32, meant, 0);
}

/// Walks a tree after `prefix`: the expression so far, and its last name.
fn walk<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, prefix: Option<(ExpressionId, Node<'t>)>, tree: &Tree) {
    match node.kind() {
        "self" if prefix.is_some() => {
            let Some((meant, name)) = prefix else { return };
            leaf(cx, name, meant, name, tree);
        }
        "scoped_identifier" => {
            let Some((meant, name)) = path(cx, node, prefix, tree) else { return };
            leaf(cx, name, meant, name, tree);
        }
        "use_as_clause" => {
            let (Some(of), Some(alias)) = (field(node, "path"), field(node, "alias")) else { return };
            let Some((meant, name)) = path(cx, of, prefix, tree) else { return };
            leaf(cx, name, meant, alias, tree);
        }
        "use_list" => {
            for child in cx.children(node) {
                cx.deeper(|cx| walk(cx, child, prefix, tree));
            }
        }
        "scoped_use_list" => {
            let prefix = match field(node, "path") {
                Some(of) => inner(cx, of, prefix, tree),
                None => Some((cx.facts.module("::", tree.scope), node)),
            };
            if let (Some(list), Some(_)) = (field(node, "list"), prefix) {
                walk(cx, list, prefix, tree);
            }
        }
        "use_wildcard" => {
            let from = cx.first(node);
            if let Some((from, _)) = from.map_or(prefix, |from| inner(cx, from, prefix, tree)) {
                cx.facts.star(tree.scope, from, SEEN | OFFERED);
                cx.facts.import(tree.at, from, 0);
            }
        }
        _ => {
            let Some((meant, name)) = path(cx, node, prefix, tree) else { return };
            leaf(cx, name, meant, name, tree);
        }
    }
}

/// A path that others follow: types and modules in it are used.
fn inner<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    prefix: Option<(ExpressionId, Node<'t>)>,
    tree: &Tree,
) -> Option<(ExpressionId, Node<'t>)> {
    let (meant, name) = path(cx, node, prefix, tree)?;
    if cx.text(name).starts_with(char::is_uppercase) {
        cx.facts.occurrence(span_of(name), Role::Import, meant);
    } else if cx.facts.look(meant).op != Op::Module {
        cx.facts.in_path(span_of(name), Role::Import, meant);
    }
    Some((meant, name))
}

/// The meaning of a path, and its last name.
fn path<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    prefix: Option<(ExpressionId, Node<'t>)>,
    tree: &Tree,
) -> Option<(ExpressionId, Node<'t>)> {
    let (before, last) = match node.kind() {
        "scoped_identifier" => {
            let last = field(node, "name")?;
            match field(node, "path") {
                Some(of) => (cx.deeper(|cx| inner(cx, of, prefix, tree)).map(|(before, _)| before)?, last),
                None => (cx.facts.module("::", tree.scope), last),
            }
        }
        "identifier" | "crate" | "self" | "super" | "metavariable" | "type_identifier" => match prefix {
            Some((before, _)) => (before, node),
            None => (ExpressionId::NONE, node),
        },
        _ => return None,
    };
    if let Some(module) = module_word(cx, last, before, tree.scope) {
        return Some((module, last));
    }
    let name = cx.name(last);
    let meant = match before {
        ExpressionId::NONE if tree.is_foreign => {
            let crates = cx.facts.module("::", tree.scope);
            cx.facts.member(crates, name)
        }
        ExpressionId::NONE => cx.facts.named(tree.scope, name),
        _ => cx.facts.member(before, name),
    };
    Some((meant, last))
}

/// Binds an imported name.
fn leaf<'t>(cx: &mut Lower<'_, 't>, written: Node<'t>, meant: ExpressionId, alias: Node<'t>, tree: &Tree) {
    cx.facts.occurrence(span_of(written), Role::Import, meant);
    cx.facts.import(tree.at, meant, 0);
    let name = cx.text(alias);
    if name == "_" {
        return;
    }
    let bound = cx.facts.name(name);
    let it = cx.facts.look(meant);
    // `use a;` of another crate binds a name that is visible anyway.
    if it.op != Op::Name || NameId(it.b) != bound {
        cx.facts.bind(tree.scope, bound, Bound::alias(meant));
    }
    // It may be a macro too.
    if it.op == Op::Member && !name.starts_with(char::is_uppercase) {
        let text = format!("{}!", cx.facts.text(NameId(it.b)));
        let text = cx.facts.name(&text);
        let meant = cx.facts.member(ExpressionId(it.a), text);
        cx.facts.occurrence(span_of(written), Role::Import, meant);
        let bound = cx.facts.name(&format!("{name}!"));
        cx.facts.bind(tree.scope, bound, Bound::alias(meant));
    }
}
