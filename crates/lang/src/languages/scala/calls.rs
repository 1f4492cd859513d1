//! Lowering of Scala calls and lambdas.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::expressions::{self, extending};
use super::lower::{field, fields, needs, plain, statements, term};
use super::{classes, types};
use crate::facts::{Bound, Definition, ExpressionId, LAST, ListId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Functions that make a container of the types that are written.
const MAKING: &[&str] = &["empty", "newBuilder"];

/// Functions that give a value of the type that is written.
const GIVING: &[&str] = &["implicitly", "intercept", "summon"];

pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (Some(mut function), Some(list)) = (field(node, "function"), field(node, "arguments")) else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    let mut written = None;
    if function.kind() == "generic_function" {
        written = field(function, "type_arguments");
        function = field(function, "function").unwrap_or(function);
    }
    let types = written.map(|list| cx.list(list, NodeContext { role: Role::Type, ..at })).unwrap_or_default();
    let value = match function.kind() {
        "identifier" if cx.text(function) == "this" => {
            classes::delegated(cx, function, list, at.scope);
            UNKNOWN
        }
        "identifier" => {
            let text = plain(cx, function);
            let name = term(cx, text);
            needs(cx, function, at.scope, name);
            let callee = cx.facts.named(at.scope, name);
            let own = of_capital(cx, text, at.scope).unwrap_or(UNKNOWN);
            let all = arguments(cx, list, at.scope, callee, own);
            let fitting = cx.facts.expression(Op::Fitting, callee, all);
            cx.facts.occurrence(span_of(function), Role::Call, fitting);
            match types[..] {
                [only] if GIVING.contains(&text) => cx.facts.of(Op::Instance, only),
                _ => made(cx, &types, own).unwrap_or_else(|| cx.facts.expression(Op::Call, fitting, all)),
            }
        }
        "field_expression" => {
            let Some((on, name_node)) = expressions::split(cx, function, at.scope) else { return at.says(UNKNOWN) };
            let text = plain(cx, name_node);
            let name = term(cx, text);
            let member = cx.facts.member(on, name);
            let callee = extending(cx, member, name, at.scope);
            let own = if text.starts_with(char::is_uppercase) || text == "copy" { on } else { UNKNOWN };
            let own = match text {
                "copy" => cx.facts.of(Op::TypeOf, own),
                _ if own == UNKNOWN => UNKNOWN,
                text => {
                    let name = cx.facts.name(text);
                    cx.facts.member(own, name)
                }
            };
            let all = arguments(cx, list, at.scope, callee, own);
            let fitting = cx.facts.expression(Op::Fitting, member, all);
            let fitting = extending(cx, fitting, name, at.scope);
            cx.facts.occurrence(span_of(name_node), Role::Call, fitting);
            let made = if MAKING.contains(&text) { made(cx, &types, UNKNOWN) } else { None };
            made.unwrap_or_else(|| cx.facts.expression(Op::Call, fitting, all))
        }
        // A further list of arguments, or what a call gives is called.
        kind => {
            let callee = cx.value(function, at.scope);
            let all = arguments(cx, list, at.scope, UNKNOWN, UNKNOWN);
            if callee == UNKNOWN {
                UNKNOWN
            } else if kind == "call_expression" {
                let applied = cx.facts.expression(Op::Call, callee, all);
                cx.facts.union(&[callee, applied])
            } else {
                cx.facts.expression(Op::Call, callee, all)
            }
        }
    };
    at.says(value)
}

/// An instance of a type with arguments that are written: `Name[A](…)`.
fn made(cx: &mut Lower<'_, '_>, types: &[ExpressionId], of: ExpressionId) -> Option<ExpressionId> {
    if types.is_empty() {
        return None;
    }
    let list = cx.facts.list(types);
    let of = cx.facts.expression(Op::Generic, of, list);
    Some(cx.facts.of(Op::Instance, of))
}

/// The class that a call by a name with a capital letter makes.
fn of_capital(cx: &mut Lower<'_, '_>, text: &str, scope: ScopeId) -> Option<ExpressionId> {
    let name = text.starts_with(char::is_uppercase).then(|| cx.facts.name(text))?;
    Some(cx.facts.named(scope, name))
}

/// `f[A, B]`
pub(super) fn applied<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let types = field(node, "type_arguments").map(|list| cx.list(list, NodeContext { role: Role::Type, ..at }));
    if let Some(&[only]) = types.as_deref()
        && field(node, "function").is_some_and(|function| GIVING.contains(&cx.text(function)))
    {
        return at.says(cx.facts.of(Op::Instance, only));
    }
    at.says(field(node, "function").map_or(UNKNOWN, |function| cx.read(function, at).value))
}

/// The list of arguments. Those with names are of unknown place; the names are members of `own`, if that is known.
pub(super) fn arguments<'t>(
    cx: &mut Lower<'_, 't>,
    list: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    own: ExpressionId,
) -> ListId {
    let mut all = Vec::new();
    if list.kind() != "arguments" {
        let read = cx.deeper(|cx| passed(cx, list, scope, callee, 0));
        return cx.facts.list(&[read]);
    }
    for (place, argument) in (0..).zip(cx.children(list)) {
        let label = field(argument, "left")
            .filter(|left| argument.kind() == "assignment_expression" && left.kind() == "identifier");
        let Some(label) = label else {
            all.push(cx.deeper(|cx| passed(cx, argument, scope, callee, place)));
            continue;
        };
        if own != UNKNOWN {
            let name = term(cx, plain(cx, label));
            let meant = cx.facts.member(own, name);
            cx.facts.occurrence(span_of(label), Role::Reference, meant);
        }
        if let Some(value) = field(argument, "right") {
            cx.deeper(|cx| passed(cx, value, scope, UNKNOWN, 0));
        }
        all.push(UNKNOWN);
    }
    cx.facts.list(&all)
}

/// Argument number `place` of a call.
fn passed<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    place: u32,
) -> ExpressionId {
    let place = place.min(LAST) << 16;
    let given = |cx: &mut Lower<'_, '_>, own: u32| match callee {
        UNKNOWN => UNKNOWN,
        callee => cx.facts.expression(Op::Passed, callee, place | own),
    };
    match node.kind() {
        "lambda_expression" => {
            let values = [given(cx, 0), given(cx, 1)];
            literal(cx, node, scope, &values)
        }
        "case_block" => {
            let value = given(cx, 0);
            let function = cx.facts.define(Definition::default());
            let inner = cx.facts.scope(ScopeKind::Function, scope);
            let result = expressions::branches(cx, node, value, inner);
            cx.facts.returns(function, result);
            cx.facts.expression(Op::Function, function, 0)
        }
        // `f { x => … }`
        "block" | "indented_block" | "colon_argument" => match cx.children(node)[..] {
            [only] if only.kind() == "lambda_expression" => passed(cx, only, scope, callee, place >> 16),
            _ => block(cx, node, scope, callee, place),
        },
        // `_.name` is a function of what is passed.
        _ if has_blank(cx, node) => {
            let value = given(cx, 0);
            let function = cx.facts.define(Definition::default());
            let inner = cx.facts.scope(ScopeKind::Function, scope);
            let blank = term(cx, "_");
            cx.facts.bind(inner, blank, Bound::variable().value(value));
            let result = cx.value(node, inner);
            cx.facts.returns(function, result);
            cx.facts.expression(Op::Function, function, 0)
        }
        _ => cx.value(node, scope),
    }
}

/// Whether an expression is a function because of a blank in it: `_.name`, `_ + 1`. Blanks in lists of arguments
/// belong to those.
fn has_blank<'t>(cx: &mut Lower<'_, 't>, mut node: Node<'t>) -> bool {
    loop {
        let next = match node.kind() {
            "wildcard" => return true,
            "field_expression" => field(node, "value"),
            "call_expression" | "generic_function" => field(node, "function"),
            "infix_expression" => field(node, "left"),
            "prefix_expression" | "postfix_expression" => cx.first(node),
            _ => None,
        };
        let Some(next) = next else { return false };
        node = next;
    }
}

/// Statements as an argument, or a lambda that begins on the line of the call: `f { x => …`, `f: x =>`.
fn block<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, callee: ExpressionId, place: u32) -> ExpressionId {
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let starts = fields(node, "lambda_start");
    for (own, part) in (0u32..).zip(starts.iter()) {
        let value = if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Passed, callee, place | own) };
        bound(cx, *part, &[value], inner);
    }
    let rest: Vec<Node<'t>> = cx.pieces(node).into_iter().filter(|part| !starts.contains(part)).collect();
    statements(cx, &rest, inner)
}

/// Binds the parameters of a lambda to what it is given.
fn bound<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, given: &[ExpressionId], scope: ScopeId) {
    let parts = if node.kind() == "bindings" { cx.children(node) } else { vec![node] };
    for (place, part) in parts.into_iter().enumerate() {
        let value = given.get(place).copied().unwrap_or(UNKNOWN);
        let (name, of) = match part.kind() {
            "binding" => (field(part, "name"), field(part, "type")),
            "identifier" => (Some(part), None),
            _ => (None, None),
        };
        let of = of.map_or(UNKNOWN, |of| types::written(cx, of, scope));
        if let Some(name) = name {
            let name = term(cx, plain(cx, name));
            cx.facts.bind(scope, name, Bound::variable().value(value).of(of));
        }
    }
}

/// A lambda that nothing is known of.
pub(super) fn lambda<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(literal(cx, node, at.scope, &[]))
}

/// `(a, b) => …`, with a value for each parameter.
fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, given: &[ExpressionId]) -> ExpressionId {
    let function = cx.facts.define(Definition::default());
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let all = fields(node, "parameters");
    let is_type = |part: &Node<'t>| !matches!(part.kind(), "bindings" | "identifier" | "wildcard");
    let of = all.iter().copied().find(|part| is_type(part)).map(|of| types::written(cx, of, inner));
    for part in all.iter().copied().filter(|part| !is_type(part)) {
        match of {
            Some(of) if part.kind() == "identifier" => {
                let name = term(cx, plain(cx, part));
                cx.facts.bind(inner, name, Bound::variable().of(of));
            }
            _ => bound(cx, part, given, inner),
        }
    }
    let rest: Vec<Node<'t>> = cx.pieces(node).into_iter().filter(|part| !all.contains(part)).collect();
    let block = cx.facts.scope(ScopeKind::Block, inner);
    let result = statements(cx, &rest, block);
    cx.facts.returns(function, result);
    cx.facts.expression(Op::Function, function, 0)
}

/// `a name b`, `a name: b`
pub(super) fn infix<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let (Some(left), Some(name_node), Some(right)) =
        (field(node, "left"), field(node, "operator"), field(node, "right"))
    else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    let text = plain(cx, name_node);
    // A function whose name ends with a colon is that of the right side.
    let (on, with) = if text.ends_with(':') { (right, left) } else { (left, right) };
    let on = cx.value(on, at.scope);
    let name = term(cx, text);
    let member = cx.facts.member(on, name);
    let callee = extending(cx, member, name, at.scope);
    let with = cx.deeper(|cx| passed(cx, with, at.scope, callee, 0));
    let all = cx.facts.list(&[with]);
    let fitting = cx.facts.expression(Op::Fitting, member, all);
    let fitting = extending(cx, fitting, name, at.scope);
    cx.facts.occurrence(span_of(name_node), Role::Call, fitting);
    at.says(cx.facts.expression(Op::Call, fitting, all))
}

/// `a name`
pub(super) fn postfix<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.children(node);
    let [left, name_node] = parts[..] else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    let on = cx.value(left, at.scope);
    at.says(expressions::selected(cx, on, name_node, at))
}
