//! Lowering of `global`: names of the module that a function assigns.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::narrowing;
use crate::facts::{BindingKind, Bound, ExpressionId, NameId, Op, ROOT, ScopeId};
use codelode_base::model::Role;

/// `global a, b`: the names stand for those of the module.
pub(super) fn statement<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let scope = narrowing::home(cx, scope);
    for written in cx.children(node) {
        let name = cx.name(written);
        if scope != ROOT && !cx.facts.binds(scope, name) {
            let meant = cx.facts.named(ROOT, name);
            cx.facts.bind(scope, name, Bound::alias(meant));
        }
        cx.bare(written, scope, Role::Reference);
    }
}

/// The scope in which an assignment binds a name: that of the module after `global`.
pub(super) fn home(cx: &Lower<'_, '_>, scope: ScopeId, name: NameId) -> ScopeId {
    let is_of_module = |meant: ExpressionId| {
        let it = cx.facts.look(meant);
        it.op == Op::Name && (ScopeId(it.a), NameId(it.b)) == (ROOT, name)
    };
    let mut bound = cx.facts.bound_in(scope, name);
    let is_global = bound.any(|binding| binding.kind == BindingKind::Alias && is_of_module(ExpressionId(binding.a)));
    if is_global { ROOT } else { scope }
}
