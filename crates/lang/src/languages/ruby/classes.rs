//! Lowering of Ruby classes and modules with their methods; see `resolve` for the requirements.
//!
//! All declarations of a class are parts of one. Classes outside of others are bound in the root scope, which all files
//! share; in a file, their names mean all parts. Methods of a class and of its instances are members alike.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::expressions::{name_of_file, statements};
use crate::facts::{
    Bound, Definition, DefinitionId, DefinitionKind, EMPTY, ExpressionId, NameId, Op, ROOT, ScopeId, ScopeKind, UNKNOWN,
};
use codelode_base::model::Role;

/// A name that no program has, bound where methods are those of a class itself.
const OF_CLASS: &str = "<<";
/// The scope of a file's own code.
const FILE: ScopeId = ScopeId(1);
/// The most classes around a class that count for its name.
const DEEPEST: usize = 50;
const CLASS: DefinitionKind = DefinitionKind::Class;

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let file = cx.facts.scope(ScopeKind::File, ROOT);
    debug_assert_eq!(file, FILE, "the root scope is the only one before it");
    cx.parts(root, FILE);
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The scope around that methods and constants are bound in: that of a class, or the root.
pub(super) fn owner(cx: &Lower<'_, '_>, mut scope: ScopeId) -> ScopeId {
    while scope != ScopeId::NONE && cx.facts.class_of(scope).is_none() {
        scope = cx.facts.parent(scope);
    }
    if scope == ScopeId::NONE { ROOT } else { scope }
}

/// The name of a class with those of the classes around it.
fn path_of(cx: &mut Lower<'_, '_>, mut class: DefinitionId) -> String {
    let mut parts = Vec::new();
    while class != DefinitionId::NONE && parts.len() < DEEPEST {
        let definition = *cx.facts.definition(class);
        parts.extend((definition.name != NameId::NONE).then(|| cx.facts.text(definition.name).to_owned()));
        class = definition.owner;
    }
    parts.reverse();
    parts.join("::")
}

/// `class Name < Base`, `module Name`, `class Outer::Name`.
pub(super) fn class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(mut name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let mut outer = owner(cx, at.scope);
    let around = cx.facts.class_of(outer).map_or(String::new(), |class| path_of(cx, class));
    let path = match cx.text(name_node) {
        text if around.is_empty() || text.starts_with("::") => text.trim_start_matches("::").to_owned(),
        text => format!("{around}::{text}"),
    };
    if name_node.kind() == "scope_resolution" {
        match field(name_node, "scope") {
            Some(of) => {
                let of = cx.value(of, at.scope);
                let (class, members) = cx.facts.class(Definition { kind: CLASS, ..Definition::default() }, at.scope);
                cx.facts.extend(of, class);
                outer = members;
            }
            None => outer = ROOT,
        }
        let Some(name) = field(name_node, "name") else { return at.says(UNKNOWN) };
        name_node = name;
    }
    let (name, place) = (cx.name(name_node), name_node.start_byte() as u32);
    let class_around = cx.facts.class_of(outer).unwrap_or(DefinitionId::NONE);
    let definition = Definition { name, at: place, owner: class_around, kind: CLASS, ..Definition::default() };
    let (class, members) = cx.facts.class(definition, at.scope);
    cx.facts.bind(outer, name, Bound::definition(class).at(place));
    // All parts of a class are bound in the root scope by the whole name.
    let path = cx.facts.name(&path);
    let whole = name_of_file(cx, path);
    match outer {
        ROOT if !cx.facts.binds(FILE, name) => cx.facts.bind(FILE, name, Bound::alias(whole)),
        ROOT => {}
        _ => cx.facts.bind(ROOT, path, Bound::definition(class)),
    }
    cx.facts.extend(whole, class);
    if let Some(base) = field(node, "superclass").and_then(|base| cx.first(base)) {
        let base = cx.read(base, NodeContext { scope: at.scope, role: Role::Base }).value;
        cx.facts.base(class, base);
    }
    let own = cx.facts.expression(Op::ClassOf, class, 0);
    let inner = cx.facts.scope(ScopeKind::Block, members);
    bind_self(cx, inner, own);
    if let Some(body) = field(node, "body") {
        cx.parts(body, inner);
    }
    at.says(own)
}

fn bind_self(cx: &mut Lower<'_, '_>, scope: ScopeId, own: ExpressionId) {
    let name = cx.facts.name("self");
    cx.facts.bind(scope, name, Bound::meaning(own));
}

/// `class << self`
pub(super) fn singleton_class<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let inner = cx.facts.scope(ScopeKind::Block, at.scope);
    let mark = cx.facts.name(OF_CLASS);
    cx.facts.bind(inner, mark, Bound::meaning(UNKNOWN));
    if let Some(body) = field(node, "body") {
        cx.parts(body, inner);
    }
    at.says(UNKNOWN)
}

/// `def name(…) … end`
pub(super) fn method<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(name_node) = field(node, "name") else { return at.says(UNKNOWN) };
    let (name, place) = (cx.name(name_node), name_node.start_byte() as u32);
    let (scope, mark) = (owner(cx, at.scope), cx.facts.name(OF_CLASS));
    let is_of_class = node.kind() == "singleton_method" || cx.facts.binds(at.scope, mark);
    let class = cx.facts.class_of(scope);
    let function = define(cx, scope, name, place);
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    if let Some(class) = class {
        let own = cx.facts.expression(if is_of_class { Op::ClassOf } else { Op::SelfOf }, class, 0);
        bind_self(cx, inner, own);
        let (above, word) = (cx.facts.expression(Op::SuperOf, class, 0), cx.facts.name("super"));
        let above = cx.facts.member(above, name);
        cx.facts.bind(inner, word, Bound::alias(above));
    }
    if let Some(list) = field(node, "parameters") {
        parameters(cx, list, inner, UNKNOWN);
    }
    if let Some(body) = field(node, "body") {
        let value = if body.kind() == "body_statement" { statements(cx, body, inner) } else { cx.value(body, inner) };
        cx.facts.returns(function, value);
    }
    at.says(UNKNOWN)
}

/// Binds a function in the scope of its class.
pub(super) fn define(cx: &mut Lower<'_, '_>, scope: ScopeId, name: NameId, at: u32) -> DefinitionId {
    let owner = cx.facts.class_of(scope).unwrap_or(DefinitionId::NONE);
    let function = cx.facts.define(Definition { name, at, owner, ..Definition::default() });
    cx.facts.bind(scope, name, Bound::definition(function).at(at));
    function
}

/// Binds parameters of a method or block; the first is `first`.
pub(super) fn parameters<'t>(cx: &mut Lower<'_, 't>, list: Node<'t>, scope: ScopeId, mut first: ExpressionId) {
    for parameter in cx.children(list) {
        let default = field(parameter, "value").map_or(UNKNOWN, |value| cx.value(value, scope));
        let named = if parameter.kind() == "identifier" { Some(parameter) } else { field(parameter, "name") };
        match named {
            Some(named) => {
                let name = cx.name(named);
                let value = if first == UNKNOWN { default } else { first };
                cx.facts.bind(scope, name, Bound::parameter().value(value));
            }
            None => cx.deeper(|cx| parameters(cx, parameter, scope, UNKNOWN)),
        }
        first = UNKNOWN;
    }
}

/// `alias new old`
pub(super) fn alias<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let (Some(new), Some(old)) = (field(node, "name"), field(node, "alias")) {
        let scope = owner(cx, at.scope);
        let (name, place) = (cx.name(new), new.start_byte() as u32);
        let function = define(cx, scope, name, place);
        let old_name = cx.name(old);
        let meant = cx.facts.named(at.scope, old_name);
        cx.bare(old, at.scope, Role::Reference);
        let value = cx.facts.expression(Op::Call, meant, EMPTY);
        cx.facts.returns(function, value);
    }
    at.says(UNKNOWN)
}
