//! Lowering of Python imports.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::field;
use super::narrowing::home;
use crate::facts::{Bound, ELSE_WITHIN, MODULES_ONLY, OFFERED, SEEN, ScopeId, ScopeKind};
use codelode_base::model::Role;

/// Kinds of import statements.
pub const STATEMENTS: &[(&str, &str)] =
    &[("import_statement", ""), ("import_from_statement", ""), ("future_import_statement", "")];

/// Package of a module: its first name. A relative one is in the project.
pub fn package(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

/// `import a.b` and `import a.b as c`.
pub(super) fn import<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    for child in cx.children(node) {
        let (path, alias) = match child.kind() {
            "aliased_import" => (field(child, "name"), field(child, "alias")),
            _ => (Some(child), None),
        };
        let Some(path) = path else { continue };
        let text = cx.text(path);
        let whole = cx.facts.module(text, scope);
        cx.facts.import(child.start_byte() as u32, whole, 0);
        // `import a.b` binds `a`.
        let (name, module) = match alias {
            Some(alias) => (cx.name(alias), whole),
            None => {
                let first = text.split('.').next().unwrap_or(text).trim();
                (cx.facts.name(first), cx.facts.module(first, scope))
            }
        };
        cx.facts.bind(home(cx, scope), name, Bound::alias(module));
    }
}

/// `from a import b, c as d` and `from a import *`.
pub(super) fn import_from<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some(from) = field(node, "module_name") else { return };
    let spec: String = cx.text(from).split_ascii_whitespace().collect();
    let module = cx.facts.module(&spec, scope);
    let at = node.start_byte() as u32;
    let is_dots = spec.bytes().all(|byte| byte == b'.');
    if !is_dots {
        cx.facts.import(at, module, 0);
    }
    for child in cx.children(node).into_iter().skip(1) {
        let (imported, alias) = match child.kind() {
            "aliased_import" => (field(child, "name"), field(child, "alias")),
            "wildcard_import" => {
                let mut outermost = scope;
                while !cx.facts.is(outermost, ScopeKind::Module) {
                    outermost = cx.facts.parent(outermost);
                }
                cx.facts.star(outermost, module, SEEN | OFFERED);
                continue;
            }
            _ => (Some(child), None),
        };
        let Some(imported) = imported else { continue };
        let name = cx.name(imported);
        let meant = cx.facts.member(module, name);
        cx.facts.occurrence(span_of(imported), Role::Import, meant);
        cx.facts.import(at, meant, MODULES_ONLY | if is_dots { ELSE_WITHIN } else { 0 });
        let bound = alias.map_or(name, |alias| cx.name(alias));
        cx.facts.bind(home(cx, scope), bound, Bound::alias(meant));
    }
}
