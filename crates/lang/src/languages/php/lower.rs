//! Lowering of PHP files and statements; see `resolve` for the requirements.
//!
//! A namespace is a module of all files that declare it; in it lies a scope of the file with its `use` lines. Functions
//! and methods are spelt `name()`, variables and properties `$name`, constants `:NAME`, and types as they are.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::types;
use crate::facts::{Bound, Declared, ExpressionId, NameId, Op, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let all = cx.children(root);
    namespace(cx, &all, ROOT, "");
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// Reads the statements of a namespace with the scope `module`.
fn namespace<'t>(cx: &mut Lower<'_, 't>, all: &[Node<'t>], module: ScopeId, name: &str) {
    let file = cx.facts.scope(ScopeKind::File, module);
    // The namespaces in it; functions and constants are those without a namespace too.
    let inside = if name.is_empty() { "*".to_owned() } else { format!("{name}\\*") };
    for spec in [inside, "\\".to_owned()] {
        let from = cx.facts.module(&spec, ROOT);
        cx.facts.star(file, from, SEEN);
    }
    for (place, part) in all.iter().enumerate() {
        if part.kind() != "namespace_definition" {
            cx.value(*part, file);
            continue;
        }
        let name: String = field(*part, "name").map_or("", |name| cx.text(name)).split_ascii_whitespace().collect();
        let inner = cx.facts.scope(ScopeKind::Module, ScopeId::NONE);
        let text = cx.facts.name(&name);
        cx.facts.declare(Declared::Inline, text, inner, ROOT);
        match field(*part, "body") {
            Some(body) => {
                let all = cx.children(body);
                cx.deeper(|cx| namespace(cx, &all, inner, &name));
            }
            None => return cx.deeper(|cx| namespace(cx, &all[place + 1..], inner, &name)),
        }
    }
}

/// The spelling of a name by the word before it: `function`, `const` or none.
fn spelt(cx: &mut Lower<'_, '_>, word: &str, name: &str) -> NameId {
    match word {
        "function" => cx.facts.name(&format!("{name}()")),
        "const" => cx.facts.name(&format!(":{name}")),
        _ => cx.facts.name(name),
    }
}

/// `use A\B as C, D\{E, function f};`
pub(super) fn uses<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let word = |node: Node<'t>| {
        let kinds = node.children(&mut node.walk()).map(|part| part.kind()).collect::<Vec<_>>();
        kinds.into_iter().find(|kind| matches!(*kind, "function" | "const")).unwrap_or("")
    };
    let (all, own) = (cx.children(node), word(node));
    let prefix = all.iter().find(|part| part.kind() == "namespace_name").map_or("", |prefix| cx.text(*prefix));
    for part in &all {
        let clauses = if part.kind() == "namespace_use_group" { cx.children(*part) } else { vec![*part] };
        for clause in clauses.into_iter().filter(|clause| clause.kind() == "namespace_use_clause") {
            let alias = field(clause, "alias");
            let Some(named) = cx.children(clause).into_iter().find(|part| Some(*part) != alias) else { continue };
            let written = cx.text(named).trim_start_matches('\\');
            let whole = if prefix.is_empty() { written.to_owned() } else { format!("{prefix}\\{written}") };
            let whole = whole.trim_start_matches('\\');
            let (of, name) = whole.rsplit_once('\\').unwrap_or(("", whole));
            let word = [word(clause), own].into_iter().find(|word| !word.is_empty()).unwrap_or_default();
            let from = cx.facts.module(&format!("\\{of}"), ROOT);
            let name = spelt(cx, word, name);
            let meant = cx.facts.member(from, name);
            let last = types::last(cx, named);
            cx.facts.occurrence(span_of(last), Role::Import, meant);
            cx.facts.import(clause.start_byte() as u32, meant, 0);
            let bound = alias.map_or(name, |alias| spelt(cx, word, cx.text(alias)));
            cx.facts.bind(at.scope, bound, Bound::alias(meant));
        }
    }
    at.says(UNKNOWN)
}

/// Binds a variable.
pub(super) fn bind<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, bound: Bound) {
    if node.kind() == "variable_name" {
        let name = cx.name(node);
        cx.facts.bind(scope, name, bound);
    }
}

/// Binds what stands on the left of `=` or after `as`.
pub(super) fn target<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, value: ExpressionId) {
    match node.kind() {
        "variable_name" => bind(cx, node, scope, Bound::variable().value(value)),
        "list_literal" | "array_creation_expression" => {
            for (place, part) in (0..).zip(cx.children(node)) {
                let item = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place) };
                cx.deeper(|cx| target(cx, part, scope, item));
            }
        }
        "by_ref" | "array_element_initializer" => {
            if let Some(inner) = cx.children(node).last() {
                cx.deeper(|cx| target(cx, *inner, scope, value));
            }
        }
        _ => drop(cx.read(node, NodeContext { scope, role: Role::Write })),
    }
}

/// `foreach ($values as $key => $value) …`
pub(super) fn foreach<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let body = field(node, "body");
    let mut parts = cx.children(node).into_iter().filter(|part| Some(*part) != body);
    let over = parts.next().map_or(UNKNOWN, |over| cx.value(over, at.scope));
    let (each, key) = (cx.facts.of(Op::Each, over), cx.facts.of(Op::Key, over));
    for part in parts {
        match (part.kind(), &cx.children(part)[..]) {
            ("pair", [index, value]) => {
                target(cx, *index, at.scope, key);
                target(cx, *value, at.scope, each);
            }
            _ => target(cx, part, at.scope, each),
        }
    }
    if let Some(body) = body {
        cx.value(body, at.scope);
    }
    at.says(UNKNOWN)
}

/// `catch (A | B $name) { … }`
pub(super) fn catch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = types::of_part(cx, node, "type", at.scope);
    if let Some(name) = field(node, "name") {
        bind(cx, name, at.scope, Bound::variable().of(of));
    }
    if let Some(body) = field(node, "body") {
        cx.value(body, at.scope);
    }
    at.says(UNKNOWN)
}

/// `static $name = …`
pub(super) fn static_variable<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let value = field(node, "value").map_or(UNKNOWN, |value| cx.value(value, at.scope));
    if let Some(name) = field(node, "name") {
        bind(cx, name, at.scope, Bound::variable().value(value));
    }
    at.says(UNKNOWN)
}
