//! Lowering of a macro's arguments that were parsed again, as those of a call.

use tree_sitter::Node;

use super::super::lower::Lower;
use super::expressions::walk;
use super::given::given;
use super::lower::field;
use super::tokens::{named_in_format, perhaps};
use super::types::is_local;
use crate::facts::{ExpressionId, ScopeId};
use codelode_base::model::Role;

/// The arguments, if the text of a macro was parsed as a statement without an error.
pub(super) fn of<'t>(cx: &mut Lower<'_, 't>, tree: Node<'t>) -> Option<Vec<Node<'t>>> {
    let root = cx.embedded(tree).filter(|root| root.start_byte() == tree.start_byte() && !root.has_error())?;
    let statements = cx.children(root);
    let [statement] = statements[..] else { return None };
    let all = cx.first(statement)?;
    let is_list = matches!(all.kind(), "tuple_expression" | "array_expression" | "parenthesized_expression");
    (is_list && all.end_byte() == tree.end_byte()).then(|| cx.children(all))
}

/// Reads the arguments; returns their values.
pub(super) fn read<'t>(
    cx: &mut Lower<'_, 't>,
    arguments: &[Node<'t>],
    scope: ScopeId,
    asked: ExpressionId,
) -> Vec<ExpressionId> {
    arguments.iter().map(|argument| cx.deeper(|cx| read_one(cx, *argument, scope, asked))).collect()
}

fn read_one<'t>(cx: &mut Lower<'_, 't>, argument: Node<'t>, scope: ScopeId, asked: ExpressionId) -> ExpressionId {
    // `name = value` names what a format has.
    let value = match argument.kind() {
        "assignment_expression" => field(argument, "right").unwrap_or(argument),
        _ => argument,
    };
    if value.kind() == "string_literal" {
        named_in_format(cx, value, scope);
    }
    if value.kind() == "identifier" {
        let name = cx.name(value);
        if !is_local(cx, scope, name) && !cx.text(value).starts_with(char::is_uppercase) {
            perhaps(cx, value);
            return given(cx, value, asked);
        }
    }
    walk(cx, value, scope, Role::Reference)
}
