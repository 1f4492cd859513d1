//! Types that a derive makes of others: builders of structs, as several crates have them, in which a setter bears the
//! name of its field, and enums of the same variants without their values (`EnumDiscriminants`).

use tree_sitter::Node;

use super::super::lower::Lower;
use super::lower::field;
use crate::facts::{BindingKind, Bound, Definition, DefinitionId, DefinitionKind, Op, ScopeId, ScopeKind, UNKNOWN};

/// Whether an attribute derives such a type.
pub(super) fn derives(attribute: &str) -> bool {
    let derived = attribute.split("derive(").nth(1).and_then(|rest| rest.split(')').next()).unwrap_or_default();
    derived.split(',').any(|name| {
        let name = name.rsplit("::").next().unwrap_or(name).trim();
        matches!(name, "Builder" | "TypedBuilder" | "EnumDiscriminants")
    })
}

/// Adds `NameDiscriminants`, the variants of which are those of the enum.
pub(super) fn discriminants<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let Some(named) = field(node, "name") else { return };
    let name = cx.name(named);
    let meant = cx.facts.named(scope, name);
    let text = cx.facts.name(&format!("{}Discriminants", cx.text(named)));
    cx.facts.bind(scope, text, Bound::alias(meant));
}

/// Adds `Name::builder()`, `NameBuilder`, a setter for each field, and `build()`.
pub(super) fn builder<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let (Some(named), Some(body)) = (field(node, "name"), field(node, "body")) else { return };
    let name = cx.name(named);
    let Some((_, binding)) = cx.facts.nearest(scope, name).filter(|(_, it)| it.kind == BindingKind::Definition) else {
        return;
    };
    let built = DefinitionId(binding.a);
    let around = cx.facts.scope(ScopeKind::Block, scope);
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { kind, ..Definition::default() }, around);
    let own = cx.facts.expression(Op::ClassOf, class, 0);
    let whole = cx.facts.expression(Op::ClassOf, built, 0);
    // `build` may give a result.
    let list = cx.facts.list(&[whole]);
    let held = cx.facts.expression(Op::Generic, UNKNOWN, list);
    let returns = cx.facts.union(&[whole, held]);
    let build = cx.facts.define(Definition { owner: class, returns, ..Definition::default() });
    let text = cx.facts.name("build");
    cx.facts.bind(members, text, Bound::definition(build));
    for part in cx.children(body).into_iter().filter(|part| part.kind() == "field_declaration") {
        let Some(name) = field(part, "name") else { continue };
        let (name, at) = (cx.name(name), name.start_byte() as u32);
        let setter = Definition { name, at, owner: class, returns: own, ..Definition::default() };
        let text = format!("maybe_{}", cx.facts.text(name));
        let setter = cx.facts.define(setter);
        cx.facts.bind(members, name, Bound::definition(setter).at(at));
        // The field may be optional.
        let maybe = cx.facts.name(&text);
        let setter = cx.facts.define(Definition { owner: class, returns: own, ..Definition::default() });
        cx.facts.bind(members, maybe, Bound::definition(setter));
    }
    let (block, extra) = cx.facts.class(Definition { kind, ..Definition::default() }, around);
    cx.facts.extend(whole, block);
    let starts = cx.facts.define(Definition { returns: own, ..Definition::default() });
    let text = cx.facts.name("builder");
    cx.facts.bind(extra, text, Bound::definition(starts));
    let text = cx.facts.name(&format!("{}Builder", cx.text(named)));
    cx.facts.bind(scope, text, Bound::meaning(own));
}
