//! Lowering of C declarations; see `resolve` for the requirements.
//!
//! The names of a file are bound in its root scope, which the files that include it see. Functions and variables that
//! the linker knows are bound in the scope [`LINKED`] as well. A declaration without a definition, such as a prototype
//! in a header, is an alias of the linked name. Tags are a namespace of their own, spelt with `struct`. A pointer or an
//! array is treated as its target type.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::declarator::{Declarator, declarator};
use super::expressions;
use super::includes::PROGRAM;
use super::{macros, preprocess};
use crate::facts::{
    BindingKind, Bound, Definition, DefinitionId, DefinitionKind, EMPTY, ExpressionId, NONE, NameId, Op, ROOT, ScopeId,
    ScopeKind, UNKNOWN,
};
use codelode_base::model::Role;

/// The scope of a file's functions and variables with external linkage.
pub const LINKED: ScopeId = ScopeId(1);

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    let linked = cx.facts.scope(ScopeKind::Module, ScopeId::NONE);
    debug_assert_eq!(linked, LINKED, "the root scope is the only one before it");
    cx.parts(root, ROOT);
    for place in preprocess::left_out(cx.source(), false) {
        macros::used(cx, place);
    }
}

pub(in crate::languages) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// `#include "file"`. The file's names are seen through [`super::includes`]; the star notes which file it is.
pub(in crate::languages) fn include<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(path) = field(node, "path") else { return at.says(UNKNOWN) };
    let spec = match path.kind() {
        "string_literal" | "system_lib_string" => cx.text(path).trim_end_matches(['"', '>']),
        // The path is the value of a macro.
        _ => return at.says(cx.value(path, at.scope)),
    };
    let module = cx.facts.module(spec, ROOT);
    cx.facts.import(node.start_byte() as u32, module, 0);
    cx.facts.star(ROOT, module, 0);
    at.says(UNKNOWN)
}

/// The type of a declaration.
pub(in crate::languages) fn type_of<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    field(node, "type").map_or(UNKNOWN, |of| cx.read(of, NodeContext { scope, role: Role::Type }).value)
}

/// Whether a declaration has this storage class.
pub(in crate::languages) fn is_stored<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, class: &str) -> bool {
    let parts = cx.children(node);
    parts.into_iter().any(|part| part.kind() == "storage_class_specifier" && cx.text(part) == class)
}

pub(in crate::languages) fn declarators<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.children_by_field_name("declarator", &mut node.walk()).collect()
}

/// Binds a definition in its scope, instead of earlier declarations, and for the linker.
pub(in crate::languages) fn bind(cx: &mut Lower<'_, '_>, scope: ScopeId, name: NameId, bound: Bound, linked: bool) {
    if scope == ROOT {
        let is_alias = |binding: &crate::facts::Binding| binding.kind == BindingKind::Alias;
        // The newest decides, unless it is a prototype: a name may have thousands.
        if cx.facts.bound_in(ROOT, name).all(is_alias) {
            cx.facts.unbind(ROOT, name);
        }
        if linked {
            cx.facts.bind(LINKED, name, bound);
        }
    }
    // Names of namespaces and classes are seen by other files too.
    let is_seen = scope == ROOT || cx.facts.is(scope, ScopeKind::File) || cx.facts.is(scope, ScopeKind::Class);
    cx.facts.bind(scope, name, if is_seen { bound } else { bound.at(NONE) });
}

pub(in crate::languages) fn function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of = type_of(cx, node, at.scope);
    let inner = cx.facts.scope(ScopeKind::Function, at.scope);
    let declared = field(node, "declarator").and_then(|inside| declarator(cx, inside, of, at.scope, Some(inner)));
    if let Some(declared) = declared {
        let (name, name_at) = (cx.name(declared.name), declared.name.start_byte() as u32);
        let parameters = cx.facts.list(&declared.takes);
        let returns = declared.returns;
        let function = cx.facts.define(Definition { name, at: name_at, parameters, returns, ..Definition::default() });
        let linked = !is_stored(cx, node, "static");
        bind(cx, at.scope, name, Bound::definition(function).at(name_at), linked);
    }
    let mut scope = inner;
    let own = cx.children(node).into_iter();
    // The declarations between the parameters of an old function and its body are of the parameters.
    for part in own.filter(|part| matches!(part.kind(), "declaration" | "compound_statement")) {
        scope = cx.read(part, NodeContext::used(scope)).scope;
    }
    at.says(UNKNOWN)
}

/// Reads what looks like a declaration and is a call: of a macro that declares something, `MODULE_LICENSE(GPL);`, or of
/// a function with a pointer's value, `drop(*name);`. Returns false for a declaration.
pub(in crate::languages) fn is_call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> bool {
    let (Some(of), [only]) = (field(node, "type"), &declarators(node)[..]) else { return false };
    if of.kind() != "type_identifier" || only.kind() != "parenthesized_declarator" {
        return false;
    }
    // A name in parentheses may be that of a variable.
    if scope != ROOT && !cx.first(*only).is_some_and(|inner| inner.kind().ends_with("declarator")) {
        return false;
    }
    cx.bare(of, scope, Role::Call);
    argument(cx, *only, scope);
    true
}

/// Reads the name in what looks like a declarator in parentheses, and is the argument of a call.
fn argument<'t>(cx: &mut Lower<'_, 't>, mut node: Node<'t>, scope: ScopeId) {
    while node.kind().ends_with("declarator") {
        let size = field(node, "size");
        size.map(|size| cx.value(size, scope));
        let Some(inner) = field(node, "declarator").or_else(|| cx.first(node)) else { return };
        node = inner;
    }
    cx.value(node, scope);
}

/// A declaration of functions or variables.
pub(in crate::languages) fn declaration<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = declarators(node);
    let (is_static, is_extern) = (is_stored(cx, node, "static"), is_stored(cx, node, "extern"));
    if is_call(cx, node, at.scope) {
        return at.says(UNKNOWN);
    }
    let of = type_of(cx, node, at.scope);
    let mut scope = at.scope;
    for inside in all {
        let Some(declared) = cx.deeper(|cx| declarator(cx, inside, of, scope, None)) else { continue };
        let (name, name_at) = (cx.name(declared.name), declared.name.start_byte() as u32);
        if declared.is_function || is_extern && declared.value.is_none() {
            mention(cx, &declared, scope, !is_static);
            continue;
        }
        if scope != ROOT {
            scope = cx.fresh(&[name], scope);
        }
        // A type that is not known may be that of the value: `__auto_type`.
        let value = declared.value.map_or(UNKNOWN, |value| initial(cx, value, declared.of, declared.arrays, scope));
        let bound = Bound::variable().value(value).of(declared.of).at(name_at);
        bind(cx, scope, name, bound, !is_static);
    }
    NodeResult { value: UNKNOWN, scope }
}

/// Reads the initial value of a variable.
pub(in crate::languages) fn initial<'t>(
    cx: &mut Lower<'_, 't>,
    value: Node<'t>,
    of: ExpressionId,
    arrays: usize,
    scope: ScopeId,
) -> ExpressionId {
    if value.kind() == "initializer_list" {
        let instance = cx.facts.of(Op::Instance, of);
        expressions::literal(cx, value, scope, instance, arrays);
        return UNKNOWN;
    }
    cx.value(value, scope)
}

/// A declaration without a definition: a reference to what is defined elsewhere.
pub(in crate::languages) fn mention(cx: &mut Lower<'_, '_>, declared: &Declarator<'_>, scope: ScopeId, linked: bool) {
    let name = cx.name(declared.name);
    if linked && !cx.facts.binds(scope, name) {
        let program = cx.facts.module(PROGRAM, ROOT);
        let defined = cx.facts.member(program, name);
        cx.facts.bind(scope, name, Bound::alias(defined));
    }
    cx.bare(declared.name, scope, Role::Reference);
}

pub(in crate::languages) fn type_definition<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let mut all = declarators(node).into_iter();
    let (Some(written), Some(first)) = (field(node, "type"), all.clone().next()) else {
        return NodeResult { value: UNKNOWN, scope: cx.parts(node, at.scope) };
    };
    let of = match declarator(cx, first, UNKNOWN, at.scope, None) {
        // An unnamed type has the name of its `typedef`.
        Some(declared) if is_unnamed(written) => {
            all.next();
            let (name, name_at) = (cx.name(declared.name), declared.name.start_byte() as u32);
            let class = tag(cx, written, at.scope, name, name_at);
            cx.facts.bind(at.scope, name, Bound::definition(class).at(name_at));
            cx.facts.expression(Op::ClassOf, class, 0)
        }
        _ => cx.read(written, NodeContext { role: Role::Type, ..at }).value,
    };
    for inside in all {
        let Some(declared) = cx.deeper(|cx| declarator(cx, inside, of, at.scope, None)) else { continue };
        let (name, name_at) = (cx.name(declared.name), declared.name.start_byte() as u32);
        let kind = DefinitionKind::Class;
        let alias = Definition { name, at: name_at, kind, alias: declared.of, ..Definition::default() };
        let (class, _) = cx.facts.class(alias, at.scope);
        cx.facts.bind(at.scope, name, Bound::definition(class).at(name_at));
    }
    at.says(UNKNOWN)
}

/// Whether a type is defined here, without a name.
pub(in crate::languages) fn is_unnamed(of: Node<'_>) -> bool {
    matches!(of.kind(), "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier")
        && field(of, "name").is_none()
        && field(of, "body").is_some()
}

/// A struct, union or enum: its definition, or a reference to it.
pub(in crate::languages) fn tagged<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let scope = outside(cx, at.scope);
    let Some(name_node) = field(node, "name") else {
        let class = tag(cx, node, scope, NameId::NONE, NONE);
        return at.says(cx.facts.expression(Op::ClassOf, class, 0));
    };
    let name = cx.facts.name(&format!("struct {}", cx.text(name_node)));
    let meant = cx.facts.named(scope, name);
    if field(node, "body").is_none() {
        cx.facts.occurrence(span_of(name_node), Role::Type, meant);
        return at.says(meant);
    }
    let name_at = name_node.start_byte() as u32;
    let class = tag(cx, node, scope, name, name_at);
    cx.facts.bind(scope, name, Bound::definition(class).at(name_at));
    at.says(meant)
}

/// The innermost scope that is no struct: a struct offers no names but its fields.
fn outside(cx: &Lower<'_, '_>, mut scope: ScopeId) -> ScopeId {
    while cx.facts.is(scope, ScopeKind::Class) {
        scope = cx.facts.parent(scope);
    }
    scope
}

/// Defines a struct, union or enum with its fields or enumerators.
fn tag<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, name: NameId, at: u32) -> DefinitionId {
    let kind = DefinitionKind::Class;
    let (class, members) = cx.facts.class(Definition { name, at, kind, ..Definition::default() }, scope);
    let into = if node.kind() == "enum_specifier" { scope } else { members };
    if let Some(body) = field(node, "body") {
        cx.parts(body, into);
    }
    class
}

/// An enumerator, which is bound around its enum.
pub(in crate::languages) fn enumerator<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(value) = field(node, "value") {
        cx.value(value, at.scope);
    }
    if let Some(name_node) = field(node, "name") {
        let (name, name_at) = (cx.name(name_node), name_node.start_byte() as u32);
        cx.facts.bind(at.scope, name, Bound::variable().at(name_at));
    }
    at.says(UNKNOWN)
}

/// Fields of a struct, whose scope is the current one.
pub(in crate::languages) fn fields<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let all = declarators(node);
    let scope = outside(cx, at.scope);
    if let (Some(of), true) = (field(node, "type").filter(|of| is_unnamed(*of)), all.is_empty()) {
        // The fields of an unnamed struct without a name of its own are those of the outer one.
        let into = if of.kind() == "enum_specifier" { scope } else { at.scope };
        if let Some(body) = field(of, "body") {
            cx.parts(body, into);
        }
        return at.says(UNKNOWN);
    }
    let of = type_of(cx, node, scope);
    for inside in all {
        let Some(declared) = cx.deeper(|cx| declarator(cx, inside, of, scope, None)) else { continue };
        let (name, name_at) = (cx.name(declared.name), declared.name.start_byte() as u32);
        cx.facts.bind(at.scope, name, Bound::variable().of(declared.of).at(name_at));
    }
    at.says(UNKNOWN)
}

/// A function type.
pub(in crate::languages) fn function_type(
    cx: &mut Lower<'_, '_>,
    gives: ExpressionId,
    takes: &[ExpressionId],
) -> ExpressionId {
    let takes = if takes.is_empty() { EMPTY } else { cx.facts.list(takes) };
    cx.facts.expression(Op::FunctionType, gives, takes)
}
