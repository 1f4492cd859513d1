//! Lowering of items inside a macro's call: of macros that pass them on (`cfg_if!`, `lazy_static!`), and of
//! `bitflags!`, which has a grammar of its own.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::{associated_part, bind_self, field, item};
use super::tokens::tokens_but;
use super::types::macro_name;
use crate::facts::{Bound, Definition, DefinitionId, DefinitionKind, Op, ScopeId, ScopeKind};
use codelode_base::model::Span;

/// The place of items.
#[derive(Clone, Copy)]
pub(super) enum ItemContext {
    /// In a module or a function.
    Scope(ScopeId),
    /// In an `impl` or a trait: the definition, the scope of its members, and the scope around those.
    Type { class: DefinitionId, members: ScopeId, around: ScopeId },
}

/// Reads the items in a macro's call and the other names there; false if there are no items.
pub(super) fn items<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, home: ItemContext) -> bool {
    let Some(called) = field(node, "macro") else { return false };
    let Some(tree) = cx.children(node).into_iter().find(|child| child.kind() == "token_tree") else { return false };
    let scope = match home {
        ItemContext::Scope(scope) => scope,
        ItemContext::Type { around, .. } => around,
    };
    let mut read = Vec::new();
    if let (ItemContext::Scope(_), "bitflags") = (home, cx.text(called).rsplit("::").next().unwrap_or_default()) {
        flags(cx, tree, scope, &mut read);
    } else if let Some(root) = cx.embedded(tree) {
        let mut found = Vec::new();
        find(cx, root, &mut found);
        for inside in found {
            let is_item = cx.deeper(|cx| match home {
                ItemContext::Scope(scope) => item(cx, inside, scope),
                ItemContext::Type { class, members, around } => associated_part(cx, inside, class, members, around),
            });
            read.extend(is_item.then(|| span_of(inside)));
        }
    }
    if read.is_empty() {
        return false;
    }
    macro_name(cx, called, scope);
    tokens_but(cx, tree, scope, &read);
    true
}

/// The items in a tree, at any depth of nodes with statements. Nodes with errors may be no items at all.
fn find<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, found: &mut Vec<Node<'t>>) {
    for child in cx.children(node) {
        let is_item = child.kind().ends_with("_item") || matches!(child.kind(), "use_declaration" | "macro_definition");
        match child.kind() {
            "attribute_item" | "inner_attribute_item" => {}
            "macro_invocation" => found.push(child),
            "function_signature_item" if !child.has_error() => found.push(child),
            _ if is_item && !child.has_error() => found.push(child),
            "ERROR"
            | "if_expression"
            | "else_clause"
            | "block"
            | "expression_statement"
            | "match_expression"
            | "match_block"
            | "match_arm" => cx.deeper(|cx| find(cx, child, found)),
            _ => {}
        }
    }
}

/// `struct Name: u8 { const A = 1; }` and `impl Name: u8 { … }`, any number of them. `read` gets the names.
fn flags<'t>(cx: &mut Lower<'_, 't>, tree: Node<'t>, scope: ScopeId, read: &mut Vec<Span>) {
    let mut cursor = tree.walk();
    let tokens: Vec<Node<'t>> = tree.children(&mut cursor).filter(|token| !token.is_extra()).collect();
    let (mut word, mut name) = ("", None);
    for token in tokens {
        match token.kind() {
            kind @ ("struct" | "impl") => (word, name) = (kind, None),
            "identifier" if !word.is_empty() && name.is_none() => name = Some(token),
            "token_tree" if cx.text(token).starts_with('{') => {
                if let Some(name) = name.take() {
                    flag_set(cx, word, name, token, scope, read);
                }
                word = "";
            }
            _ => {}
        }
    }
}

fn flag_set<'t>(
    cx: &mut Lower<'_, 't>,
    word: &str,
    name_node: Node<'t>,
    body: Node<'t>,
    scope: ScopeId,
    read: &mut Vec<Span>,
) {
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let around = cx.facts.scope(ScopeKind::Block, scope);
    let kind = DefinitionKind::Class;
    let class = Definition { kind, ..Definition::default() };
    let (class, members) = if word == "struct" {
        read.push(span_of(name_node));
        let (class, members) = cx.facts.class(Definition { name, at, ..class }, around);
        cx.facts.bind(scope, name, Bound::definition(class).at(at));
        (class, members)
    } else {
        let (class, members) = cx.facts.class(class, around);
        let of = cx.facts.named(scope, name);
        cx.facts.extend(of, class);
        (class, members)
    };
    bind_self(cx, around, class);
    let own = cx.facts.expression(Op::SelfOf, class, 0);
    let mut names = Vec::new();
    let mut cursor = body.walk();
    let mut is_next = false;
    for token in body.children(&mut cursor) {
        if is_next && token.kind() == "identifier" {
            let name = cx.name(token);
            cx.facts.bind(members, name, Bound::variable().value(own).at(token.start_byte() as u32));
            names.push(span_of(token));
        }
        is_next = token.kind() == "const";
    }
    tokens_but(cx, body, around, &names);
    read.push(span_of(body));
}
