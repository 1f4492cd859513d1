//! Lowering of C++ names with `::` and template arguments.

use tree_sitter::Node;

use super::super::c::declarator;
use super::super::c::lower::field;
use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use crate::facts::{ExpressionId, Op, ROOT, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// Templates that are treated as what they point to.
const POINTERS: &[&str] = &["unique_ptr", "shared_ptr", "weak_ptr", "scoped_ptr", "reference_wrapper", "optional"];

/// The node of a name without template arguments.
pub(super) fn bare(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "template_type" | "template_function" | "template_method" => field(node, "name").unwrap_or(node),
        _ => node,
    }
}

/// The types between `<` and `>`.
pub(super) fn arguments<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Vec<ExpressionId> {
    let list = field(node, "arguments").filter(|list| list.kind() == "template_argument_list");
    let all = list.map(|list| cx.children(list)).unwrap_or_default();
    all.into_iter().map(|of| cx.read(of, NodeContext { scope, role: Role::Type }).value).collect()
}

/// The parts of a name with `::`: the value before the last one, and the last one.
pub(super) fn split<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> (Option<ExpressionId>, Node<'t>) {
    let (mut on, mut at) = (None, node);
    while at.kind() == "qualified_identifier" {
        on = match field(at, "scope") {
            Some(part) => Some(meaning(cx, on, part, NodeContext::used(scope))),
            // `::name`
            None => Some(cx.facts.module("::", ROOT)),
        };
        let Some(name) = field(at, "name") else { break };
        at = name;
    }
    (on, at)
}

/// The meaning of a name after the value before its `::`, with its occurrence.
pub(super) fn meaning<'t>(
    cx: &mut Lower<'_, 't>,
    on: Option<ExpressionId>,
    node: Node<'t>,
    at: NodeContext,
) -> ExpressionId {
    let all = arguments(cx, node, at.scope);
    let name_node = bare(node);
    let name = cx.name(name_node);
    let meant = match on {
        None => cx.facts.named(at.scope, name),
        Some(on) => cx.facts.member(on, name),
    };
    let role = if name_node.kind() == "type_identifier" && at.role != Role::Base { Role::Type } else { at.role };
    cx.facts.occurrence(span_of(name_node), role, meant);
    match (node.kind(), &all[..]) {
        ("template_type", [first, ..]) if POINTERS.contains(&cx.text(name_node)) => *first,
        ("template_type", _) => {
            let list = cx.facts.list(&all);
            cx.facts.expression(Op::Generic, meant, list)
        }
        _ if on == Some(UNKNOWN) => UNKNOWN,
        _ => meant,
    }
}

/// `unsigned int`, `bool` and their like.
pub(super) fn primitive<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let text: Vec<&str> = cx.text(node).split_whitespace().collect();
    at.says(match text.join("_").as_str() {
        "void" => UNKNOWN,
        "unsigned_int" => declarator::primitive(cx, "unsigned"),
        text => declarator::primitive(cx, text),
    })
}

/// A number, a string or another value of a type of the language.
pub(super) fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    // Pieces of a string may be macros.
    cx.parts(node, at.scope);
    let text = cx.text(node);
    let is_real = text.contains(['.', 'e', 'E']) && !text.starts_with("0x");
    let of = match node.kind() {
        "number_literal" if is_real && text.ends_with(['f', 'F']) => "float",
        "number_literal" if is_real => "double",
        "number_literal" if text.contains(['l', 'L']) => return at.says(UNKNOWN),
        "number_literal" if text.contains(['u', 'U']) => "unsigned",
        "number_literal" => "int",
        "true" | "false" => "bool",
        "char_literal" => "char",
        _ => declarator::STRING,
    };
    let of = declarator::primitive(cx, of);
    at.says(cx.facts.of(Op::Instance, of))
}

/// `a::b::c`
pub(super) fn qualified<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (on, last) = split(cx, node, at.scope);
    at.says(meaning(cx, on, last, at))
}

/// `name<T>`
pub(super) fn template<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(meaning(cx, None, node, at))
}
