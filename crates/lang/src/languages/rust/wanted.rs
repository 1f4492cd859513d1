//! The type that the code around a closure wants: that of a result, a variable, a field or an argument.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::walk;
use super::lower::field;
use crate::facts::{Definition, ExpressionId, Op, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// Reads the value of a node, for which this type is written.
pub(super) fn valued<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    of: ExpressionId,
    read: impl FnOnce(&mut Lower<'_, 't>) -> ExpressionId,
) -> ExpressionId {
    let outer = std::mem::replace(&mut cx.wanted, (node.id(), of));
    let value = read(cx);
    cx.wanted = outer;
    value
}

/// Reads an argument, which may hold a closure in a box.
pub(super) fn argument<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    place: u32,
) -> ExpressionId {
    if callee == UNKNOWN || node.kind() != "call_expression" || !may_hold_closure(cx, node) {
        return walk(cx, node, scope, Role::Reference);
    }
    let wanted = cx.facts.expression(Op::Wanted, callee, place);
    let of = cx.facts.of(Op::TypeOf, wanted);
    valued(cx, node, of, |cx| walk(cx, node, scope, Role::Reference))
}

/// Whether a closure may be in a node of usual length.
pub(super) fn may_hold_closure(cx: &Lower<'_, '_>, node: Node<'_>) -> bool {
    const LONG: usize = 4096;
    let text = span_of(node).of(cx.source());
    memchr::memchr(b'|', &text[..text.len().min(LONG)]).is_some()
}

/// A function that takes what a closure is wanted as, if the code around says it.
pub(super) fn taker<'t>(cx: &mut Lower<'_, 't>, closure: Node<'t>) -> Option<ExpressionId> {
    let (home, of) = cx.wanted;
    let parts = if of == UNKNOWN { None } else { parts(cx, closure, home) }?;
    let mut value = cx.facts.of(Op::Instance, of);
    for part in parts.into_iter().rev() {
        value = match part {
            Part::Held => cx.facts.of(Op::Element, value),
            Part::Item(place) => cx.facts.expression(Op::Item, value, place),
        };
    }
    let of = cx.facts.of(Op::TypeOf, value);
    let parameters = cx.facts.list(&[of]);
    let function = cx.facts.define(Definition { parameters, ..Definition::default() });
    Some(cx.facts.expression(Op::Function, function, 0))
}

/// A step from a value to a part of it.
enum Part {
    /// The value in an option or a result.
    Held,
    /// An item of a tuple.
    Item(u32),
}

/// The steps from a node to the one whose value is read, the innermost first; `None` if it is no part of that value.
fn parts<'t>(cx: &Lower<'_, 't>, mut node: Node<'t>, home: usize) -> Option<Vec<Part>> {
    const HIGHEST: usize = 24;
    let (mut parts, mut is_returned) = (Vec::new(), false);
    for _ in 0..HIGHEST {
        let above = node.parent()?;
        if above.id() == home {
            return (!is_returned || above.kind() == "function_item").then_some(parts);
        }
        match above.kind() {
            "closure_expression" | "async_block" | "function_item" => return None,
            _ if is_returned => {}
            "return_expression" => is_returned = true,
            "tuple_expression" => {
                let mut cursor = above.walk();
                let place = above.named_children(&mut cursor).filter(|it| !it.is_extra()).position(|it| it == node)?;
                parts.push(Part::Item(place as u32));
            }
            "arguments" => {
                node = above.parent()?;
                let called = field(node, "function").map_or("", |function| cx.text(function));
                match called {
                    "Some" | "Ok" => parts.push(Part::Held),
                    "Box::new" | "Rc::new" | "Arc::new" | "Box::pin" => {}
                    _ => return None,
                }
                if node.id() == home {
                    return Some(parts);
                }
                continue;
            }
            "block" if above.named_child(above.named_child_count().checked_sub(1)? as u32) == Some(node) => {}
            "if_expression" if field(above, "condition") != Some(node) => {}
            "match_expression" if field(above, "value") != Some(node) => {}
            "parenthesized_expression"
            | "reference_expression"
            | "unsafe_block"
            | "else_clause"
            | "match_arm"
            | "match_block"
            | "type_cast_expression" => {}
            "expression_statement" if above.child_count() == 1 => {}
            _ => return None,
        }
        node = above;
    }
    None
}
