//! Names that are given to a macro by example. A macro is taken for a function that returns what it asks for members
//! with the names that it is given: `$value.$name()`.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::walk;
use super::wanted::valued;
use crate::facts::{EMPTY, ExpressionId, ListId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// The most values of one macro that are known.
const MOST: usize = 16;

/// Macros of the standard library and of logs, which are given values.
const OF_VALUES: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "bail",
    "dbg",
    "debug",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "ensure",
    "eprint",
    "eprintln",
    "error",
    "format",
    "format_args",
    "info",
    "matches",
    "panic",
    "print",
    "println",
    "todo",
    "trace",
    "unimplemented",
    "unreachable",
    "vec",
    "warn",
    "write",
    "writeln",
];

/// The values that a macro's expansion asks for members with given names.
pub(super) fn asked<'t>(cx: &mut Lower<'_, 't>, expansion: Node<'t>, scope: ScopeId, found: &mut Vec<ExpressionId>) {
    let Some(root) = cx.embedded(expansion).filter(|root| root.start_byte() == expansion.start_byte()) else { return };
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    let first = cx.facts.recorded();
    // In a function, a macro mostly gives what the function gives.
    let of = cx.wanted.1;
    for statement in cx.children(root) {
        let whole = if statement.kind() == "expression_statement" { cx.first(statement) } else { None };
        let whole = whole.unwrap_or(statement);
        cx.deeper(|cx| valued(cx, whole, of, |cx| walk(cx, whole, inner, Role::Reference)));
    }
    for (at, meant) in cx.facts.take_back(first) {
        let is_given = (at as usize).checked_sub(1).is_some_and(|before| cx.source()[before] == b'$');
        let mut it = cx.facts.look(meant);
        // It is given to another macro.
        if it.op == Op::Union
            && let Some(first) = cx.facts.items(ListId(it.a)).first()
        {
            it = cx.facts.look(*first);
        }
        let on = ExpressionId(it.a);
        if is_given && it.op == Op::Member && on != UNKNOWN && found.len() < MOST && !found.contains(&on) {
            found.push(on);
        }
    }
}

/// The value that a macro asks for members, as far as it may be one that does.
pub(super) fn asked_by(cx: &mut Lower<'_, '_>, (name, meant): (&str, ExpressionId)) -> ExpressionId {
    if OF_VALUES.contains(&name) { UNKNOWN } else { cx.facts.expression(Op::Call, meant, EMPTY) }
}

/// Records a word that a macro may ask for as a field or a method; returns its meaning.
pub(super) fn given(cx: &mut Lower<'_, '_>, word: Node<'_>, asked: ExpressionId) -> ExpressionId {
    if asked == UNKNOWN {
        return UNKNOWN;
    }
    let text = cx.text(word);
    let (method, field) = (cx.facts.name(text), cx.facts.name(&format!(".{text}")));
    let (method, field) = (cx.facts.member(asked, method), cx.facts.member(asked, field));
    let meant = cx.facts.union(&[method, field]);
    cx.facts.occurrence(span_of(word), Role::Reference, meant);
    meant
}
