//! Lowering of C++ declarations; see `resolve` for the requirements.
//!
//! Files are seen through their includes, as in C. A namespace is a module of all files that declare it; in a file, its
//! scope lies in the one around it. A pointer, a reference or an array is treated as what it points to, and a template
//! by its name.

use tree_sitter::Node;

use super::super::c::declarator::{declarator, parameters};
use super::super::c::includes::INSIDE;
use super::super::c::lower::{LINKED, bind, declarators, field, initial, is_call, is_stored, mention, type_of};
use super::super::c::{macros, preprocess};
use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::{classes, names};
use crate::facts::{Bound, Declared, Definition, DefinitionKind, Op, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let linked = cx.facts.scope(ScopeKind::Module, ScopeId::NONE);
    debug_assert_eq!(linked, LINKED, "the root scope is the only one before it");
    let namespaces = cx.facts.module(INSIDE, ROOT);
    cx.facts.star(ROOT, namespaces, SEEN);
    cx.parts(root, ROOT);
    for place in preprocess::left_out(cx.source(), true) {
        macros::used(cx, place);
    }
}

/// Whether names bound in a scope are those of the file or of a namespace.
fn is_open(cx: &Lower<'_, '_>, scope: ScopeId) -> bool {
    scope == ROOT || cx.facts.is(scope, ScopeKind::File)
}

/// `namespace a::b { … }`
pub(super) fn namespace<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(body) = field(node, "body") else { return at.says(UNKNOWN) };
    let is_inline = node.children(&mut node.walk()).any(|word| word.kind() == "inline");
    let name = field(node, "name").filter(|_| !is_inline);
    let Some(name) = name else {
        // The names of one without a name, or of an inline one, are those of the namespace around it.
        cx.parts(body, at.scope);
        return at.says(UNKNOWN);
    };
    let mut whole = cx.facts.declared_around(at.scope).to_owned();
    let mut scope = at.scope;
    for part in cx.text(name).split("::") {
        whole = if whole.is_empty() { part.trim().to_owned() } else { format!("{whole}::{}", part.trim()) };
        scope = cx.facts.scope(ScopeKind::File, scope);
        let text = cx.facts.name(&whole);
        cx.facts.declare(Declared::Inline, text, scope, ROOT);
        let module = cx.facts.module(&whole, ROOT);
        cx.facts.star(scope, module, SEEN);
    }
    cx.parts(body, scope);
    at.says(UNKNOWN)
}

/// `template <typename T> …`: its parameters may be any type.
pub(super) fn template<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parameters = field(node, "parameters");
    for one in parameters.map(|list| cx.children(list)).unwrap_or_default() {
        let value = ["default_value", "default_type"].into_iter().find_map(|part| field(one, part));
        value.map(|value| cx.value(value, at.scope));
        let named = field(one, "declarator").or(field(one, "name")).or_else(|| cx.first(one));
        if let Some(named) = named.filter(|named| matches!(named.kind(), "identifier" | "type_identifier")) {
            let name = cx.name(named);
            if !cx.facts.binds(at.scope, name) {
                cx.facts.bind(at.scope, name, Bound::variable());
            }
        }
    }
    for part in cx.children(node).into_iter().filter(|part| Some(*part) != parameters) {
        cx.read(part, at);
    }
    at.says(UNKNOWN)
}

/// A declaration of functions or variables.
pub(super) fn declaration<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if cx.facts.class_of(at.scope).is_some() {
        // The declaration of a constructor, to the grammar.
        return classes::fields(cx, node, at);
    }
    if is_call(cx, node, at.scope) {
        return at.says(UNKNOWN);
    }
    let of = type_of(cx, node, at.scope);
    let is_open = is_open(cx, at.scope);
    let (is_static, is_extern) = (is_stored(cx, node, "static"), is_stored(cx, node, "extern"));
    let mut scope = at.scope;
    for inside in declarators(node) {
        if let Some(value) = field(inside, "value")
            && let Some(names) = field(inside, "declarator").filter(|names| names.kind().starts_with("structured"))
        {
            let value = cx.value(value, scope);
            for (place, name) in (0..).zip(cx.children(names)) {
                let item = if value == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Item, value, place) };
                let name = cx.name(name);
                cx.facts.bind(scope, name, Bound::variable().value(item));
            }
            continue;
        }
        let into = classes::owner(cx, inside, scope);
        let Some(declared) = declarator(cx, inside, of, into, None) else { continue };
        let (name, place) = (cx.name(declared.name), declared.name.start_byte() as u32);
        if declared.is_function && is_open || is_extern && declared.value.is_none() {
            match scope {
                ROOT if declared.name.kind() == "identifier" && into == scope => {
                    mention(cx, &declared, scope, !is_static);
                }
                _ if into == scope => cx.bare(declared.name, scope, Role::Reference),
                _ => {}
            }
            continue;
        }
        // In a function, `Item item(other)` is a variable more often than a function.
        let of = if declared.is_function { of } else { declared.of };
        let is_own = into == scope;
        if !is_open && is_own {
            scope = cx.fresh(&[name], scope);
        }
        // `int Item::count = 0;` is a member.
        let into = if is_own { scope } else { into };
        let value = declared.value.map_or(UNKNOWN, |value| initial(cx, value, of, declared.arrays, into));
        let bound = Bound::variable().value(value).of(of);
        bind(cx, into, name, if is_open { bound.at(place) } else { bound }, !is_static);
    }
    NodeResult { value: UNKNOWN, scope }
}

/// `using namespace a::b;`, `using a::b;`
pub(super) fn using<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(named) = cx.first(node) else { return at.says(UNKNOWN) };
    let is_all = node.children(&mut node.walk()).any(|word| word.kind() == "namespace");
    let (on, last) = names::split(cx, named, at.scope);
    if is_all {
        let of = names::meaning(cx, on, last, at);
        cx.facts.star(at.scope, of, SEEN);
    } else if let Some(on) = on {
        let name = cx.name(last);
        let meant = cx.facts.member(on, name);
        cx.facts.occurrence(span_of(last), Role::Import, meant);
        if cx.facts.class_of(at.scope).is_none() {
            cx.facts.bind(at.scope, name, Bound::alias(meant));
        }
    }
    at.says(UNKNOWN)
}

/// `using Name = type;`, `namespace name = a::b;`
pub(super) fn alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let (name, place) = (cx.name(name_node), name_node.start_byte() as u32);
    let Some(of) = field(node, "type") else {
        let whole: String = cx.children(node).last().map_or("", |last| cx.text(*last)).split_whitespace().collect();
        let module = cx.facts.module(&whole, ROOT);
        cx.facts.bind(at.scope, name, Bound::alias(module));
        return at.says(UNKNOWN);
    };
    let alias = cx.read(of, NodeContext { role: Role::Type, ..at }).value;
    let kind = DefinitionKind::Class;
    let (class, _) = cx.facts.class(Definition { name, at: place, kind, alias, ..Definition::default() }, at.scope);
    cx.facts.bind(at.scope, name, Bound::definition(class).at(place));
    at.says(UNKNOWN)
}

/// `for (type name : values) …`
pub(super) fn each<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = cx.facts.scope(ScopeKind::Block, at.scope);
    let over = field(node, "right").map_or(UNKNOWN, |over| cx.value(over, at.scope));
    let each = cx.facts.of(Op::Each, over);
    let of = type_of(cx, node, at.scope);
    if let Some(declared) = field(node, "declarator").and_then(|inside| declarator(cx, inside, of, scope, None)) {
        let name = cx.name(declared.name);
        cx.facts.bind(scope, name, Bound::variable().value(each).of(declared.of));
    }
    field(node, "body").map(|body| cx.value(body, scope));
    at.says(UNKNOWN)
}

/// `catch (const Error& error) { … }`
pub(super) fn catch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = cx.facts.scope(ScopeKind::Block, at.scope);
    field(node, "parameters").map(|list| parameters(cx, list, at.scope, Some(scope)));
    field(node, "body").map(|body| cx.value(body, scope));
    at.says(UNKNOWN)
}
