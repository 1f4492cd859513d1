//! Fixtures of pytest: a parameter of a test is given what the fixture of its name makes.
//!
//! Fixtures are bound under names of their own beside the module's names: parameters mean no other function.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use crate::facts::{Bound, DefinitionId, ExpressionId, NameId, ROOT, SEEN, ScopeId, ScopeKind};
use crate::model::Role;

/// Files whose fixtures a test has without an import, the nearest first.
const FILES: &[&str] = &[".conftest", "..conftest", "...conftest", "....conftest"];

fn name_of(cx: &mut Lower<'_, '_>, fixture: &str) -> NameId {
    cx.facts.name(&format!("fixture {fixture}"))
}

/// Binds a fixture; `decorator` may give it another name: `fixture(name="cart")`.
pub(super) fn define(cx: &mut Lower<'_, '_>, decorator: &str, function_name: &str, function: DefinitionId) {
    let given = decorator.split_once("name=").and_then(|(_, given)| given.split(['"', '\'']).nth(1));
    let name = name_of(cx, given.unwrap_or(function_name));
    cx.facts.bind(ROOT, name, Bound::definition(function));
}

/// Records what the parameters of a test or of a fixture mean.
pub(super) fn used<'t>(cx: &mut Lower<'_, 't>, parameters: Node<'t>) {
    for parameter in cx.children(parameters) {
        let named = if parameter.kind() == "typed_parameter" { cx.first(parameter) } else { Some(parameter) };
        let Some(named) = named.filter(|named| named.kind() == "identifier" && cx.text(*named) != "self") else {
            continue;
        };
        let scope = outer(cx);
        let name = name_of(cx, cx.text(named));
        let meant = cx.facts.named(scope, name);
        // It asks for the name, as an import does.
        cx.facts.occurrence(span_of(named), Role::Import, meant);
    }
}

/// The scope from which fixtures of the file and of those around it are seen.
fn outer(cx: &mut Lower<'_, '_>) -> ScopeId {
    let name = cx.facts.name("fixtures of pytest");
    if let Some((_, bound)) = cx.facts.nearest(ROOT, name) {
        return ScopeId(cx.facts.look(ExpressionId(bound.a)).a);
    }
    let scope = cx.facts.scope(ScopeKind::File, ROOT);
    for file in FILES {
        let module = cx.facts.module(file, ROOT);
        cx.facts.star(scope, module, SEEN);
    }
    let own = cx.facts.named(scope, name);
    cx.facts.bind(ROOT, name, Bound::alias(own));
    scope
}
