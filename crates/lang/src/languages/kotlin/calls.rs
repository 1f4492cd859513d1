//! Lowering of Kotlin calls and lambdas.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::classes::received;
use super::expressions::{extending, split};
use super::lower::{FARTHEST, bind_value, called, child, destructured, has_sign, needs, statements, variable};
use super::types::{self, RECEIVER};
use crate::facts::{Bound, Definition, ExpressionId, LAST, ListId, NameId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Types of a lambda's parameter and of the call's result, for functions of the language's own library.
struct LibraryFunction {
    /// The value before the dot is the lambda's receiver, rather than its parameter.
    is_receiver: bool,
    /// The call gives what the lambda gives, rather than the value before the dot.
    gives_result: bool,
}

/// Functions that run a lambda with one value.
fn known(name: &str) -> Option<LibraryFunction> {
    let (is_receiver, gives_result) = match name {
        "apply" => (true, false),
        "run" | "with" => (true, true),
        "also" | "takeIf" | "takeUnless" => (false, false),
        "let" | "use" => (false, true),
        _ => return None,
    };
    Some(LibraryFunction { is_receiver, gives_result })
}

/// Functions that give what their lambda gives.
const RUN: &[&str] = &["lazy", "run", "runBlocking", "runTest", "synchronized", "withContext"];

/// Functions whose lambdas have no receiver.
const PLAIN: &[&str] = &[
    "all",
    "also",
    "any",
    "associate",
    "associateBy",
    "associateWith",
    "count",
    "filter",
    "filterNot",
    "find",
    "first",
    "firstOrNull",
    "flatMap",
    "fold",
    "forEach",
    "forEachIndexed",
    "getOrElse",
    "getOrPut",
    "groupBy",
    "indexOfFirst",
    "joinToString",
    "last",
    "lazy",
    "let",
    "map",
    "mapIndexed",
    "mapNotNull",
    "maxBy",
    "minBy",
    "none",
    "onEach",
    "partition",
    "repeat",
    "require",
    "check",
    "single",
    "sortedBy",
    "sumOf",
    "takeIf",
    "takeUnless",
    "takeWhile",
    "use",
];

/// Functions that make an empty container of the types that are written.
const MAKING: &[&str] = &[
    "arrayListOf",
    "arrayOf",
    "arrayOfNulls",
    "emptyArray",
    "emptyList",
    "emptyMap",
    "emptySequence",
    "emptySet",
    "hashMapOf",
    "hashSetOf",
    "linkedMapOf",
    "linkedSetOf",
    "listOf",
    "mapOf",
    "mutableListOf",
    "mutableMapOf",
    "mutableSetOf",
    "sequenceOf",
    "setOf",
    "ArrayList",
    "HashMap",
    "HashSet",
    "LinkedHashMap",
    "LinkedHashSet",
    "ArrayDeque",
    "buildList",
    "buildSet",
    "buildMap",
];

/// The parts of a call.
struct Parts<'t> {
    callee: Node<'t>,
    types: Option<Node<'t>>,
    list: Option<Node<'t>>,
    lambda: Option<Node<'t>>,
}

/// The parts of a call; `f(…) { … }` is one call, however it was parsed.
fn parts<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>) -> Option<Parts<'t>> {
    let mut all = cx.children(node);
    let is_lambda = |part: &Node<'_>| part.kind() == "annotated_lambda";
    let outer = if all.len() == 2 && all[0].kind() == "call_expression" { all.pop().filter(is_lambda) } else { None };
    if let Some(lambda) = outer {
        let inner = cx.children(all[0]);
        if inner.iter().any(is_lambda) {
            all.push(lambda);
        } else {
            all = inner;
            all.push(lambda);
        }
    } else {
        all = cx.children(node);
    }
    let of = |kind: &str| all.iter().skip(1).find(|part| part.kind() == kind).copied();
    let (types, list, lambda) = (of("type_arguments"), of("value_arguments"), of("annotated_lambda"));
    Some(Parts { callee: *all.first()?, types, list, lambda })
}

/// Whether a name is bound in the function around, not as something that is called.
fn is_local(cx: &mut Lower<'_, '_>, mut scope: ScopeId, name: NameId, call: NameId) -> bool {
    for _ in 0..FARTHEST {
        if !cx.facts.is(scope, ScopeKind::Function) && !cx.facts.is(scope, ScopeKind::Block) {
            break;
        }
        if cx.facts.binds(scope, call) {
            return false;
        }
        if cx.facts.binds(scope, name) {
            return true;
        }
        scope = cx.facts.parent(scope);
    }
    false
}

pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(parts) = parts(cx, node) else { return at.says(UNKNOWN) };
    let scope = at.scope;
    let (on, name_node) = match parts.callee.kind() {
        "identifier" => (None, Some(parts.callee)),
        "navigation_expression" if !has_sign(parts.callee, "::") => match split(cx, parts.callee, scope) {
            Some((on, name)) => (Some(on), Some(name)),
            None => (None, None),
        },
        _ => (None, None),
    };
    let written = parts.types.map(|list| types::arguments(cx, list, scope)).unwrap_or_default();
    let Some(name_node) = name_node else {
        let callee = cx.value(parts.callee, scope);
        let all = passed(cx, &parts, scope, callee, "").0;
        return at.says(if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, all) });
    };
    let text = cx.text(name_node);
    let call = called(cx, text);
    let (callee, member) = match on {
        None => {
            let (plain, mut callee) = (cx.facts.name(text), cx.facts.named(scope, call));
            if is_local(cx, scope, plain, call) {
                let local = cx.facts.named(scope, plain);
                callee = cx.facts.union(&[callee, local]);
            }
            needs(cx, name_node, scope, call);
            (callee, UNKNOWN)
        }
        Some(on) => {
            let member = cx.facts.member(on, call);
            // Only a lambda asks what the function may be, whatever it is called with.
            let has_lambda = parts.lambda.is_some() || parts.list.is_some_and(|list| cx.text(list).contains('{'));
            (if has_lambda { extending(cx, member, call, scope) } else { member }, member)
        }
    };
    let own = on.or_else(|| of_capital(cx, text, scope)).unwrap_or(UNKNOWN);
    let own = if on.is_some() && text != "copy" { UNKNOWN } else { own };
    let run = known(text).filter(|_| parts.lambda.is_some());
    let (all, result, first) = match (&run, on) {
        (Some(run), Some(on)) => given(cx, &parts, scope, run, on),
        (Some(run), None) if text == "with" => {
            let first = arguments(cx, parts.list, scope, UNKNOWN, UNKNOWN, text);
            let on = cx.facts.items(first).first().copied().unwrap_or(UNKNOWN);
            given(cx, &Parts { list: None, ..parts }, scope, run, on)
        }
        _ => {
            let list = passed_to(cx, &parts, scope, callee, own, text);
            (list.0, list.1, UNKNOWN)
        }
    };
    let fitting = match on {
        None => cx.facts.expression(Op::Fitting, callee, all),
        Some(_) => {
            let fitting = cx.facts.expression(Op::Fitting, member, all);
            extending(cx, fitting, call, scope)
        }
    };
    cx.facts.occurrence(span_of(name_node), Role::Call, fitting);
    let value = match run {
        Some(run) if run.gives_result => result,
        Some(_) if on.is_some() => first,
        _ if on.is_none() && RUN.contains(&text) && parts.lambda.is_some() => result,
        _ => {
            let mut value = cx.facts.expression(Op::Call, fitting, all);
            if !written.is_empty() && on.is_none() {
                let list = cx.facts.list(&written);
                let of = if MAKING.contains(&text) { Some(UNKNOWN) } else { of_capital(cx, text, scope) };
                if let Some(of) = of {
                    let of = cx.facts.expression(Op::Generic, of, list);
                    value = cx.facts.of(Op::Instance, of);
                }
            }
            value
        }
    };
    at.says(value)
}

/// The class that a call by a name with a capital letter makes.
fn of_capital(cx: &mut Lower<'_, '_>, text: &str, scope: ScopeId) -> Option<ExpressionId> {
    let name = text.starts_with(char::is_uppercase).then(|| cx.facts.name(text))?;
    Some(cx.facts.named(scope, name))
}

/// Arguments and a lambda, of which it is known what it is given: the list, the lambda's result and what it is given.
fn given<'t>(
    cx: &mut Lower<'_, 't>,
    parts: &Parts<'t>,
    scope: ScopeId,
    run: &LibraryFunction,
    on: ExpressionId,
) -> (ListId, ExpressionId, ExpressionId) {
    arguments(cx, parts.list, scope, UNKNOWN, UNKNOWN, "");
    let Some(lambda) = parts.lambda.and_then(|lambda| child(cx, lambda, "lambda_literal")) else {
        return (cx.facts.list(&[]), UNKNOWN, on);
    };
    let (receiver, one) = if run.is_receiver { (on, UNKNOWN) } else { (UNKNOWN, on) };
    let (function, result) = cx.deeper(|cx| literal(cx, lambda, scope, receiver, &[one], run.is_receiver));
    (cx.facts.list(&[function]), result, on)
}

/// The list of arguments with the lambda behind them, and its result.
fn passed<'t>(
    cx: &mut Lower<'_, 't>,
    parts: &Parts<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    name: &str,
) -> (ListId, ExpressionId) {
    passed_to(cx, parts, scope, callee, UNKNOWN, name)
}

fn passed_to<'t>(
    cx: &mut Lower<'_, 't>,
    parts: &Parts<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    own: ExpressionId,
    name: &str,
) -> (ListId, ExpressionId) {
    let list = arguments(cx, parts.list, scope, callee, own, name);
    let Some(annotated) = parts.lambda else { return (list, UNKNOWN) };
    let mut result = (UNKNOWN, UNKNOWN);
    for part in cx.children(annotated) {
        match part.kind() {
            "lambda_literal" => result = cx.deeper(|cx| lambda_for(cx, part, scope, callee, LAST, name)),
            _ => drop(cx.value(part, scope)),
        }
    }
    let mut all = cx.facts.items(list);
    all.push(result.0);
    (cx.facts.list(&all), result.1)
}

/// The list of arguments. Those with names are of unknown place; the names are members of `own`, if that is known.
pub(super) fn arguments<'t>(
    cx: &mut Lower<'_, 't>,
    list: Option<Node<'t>>,
    scope: ScopeId,
    callee: ExpressionId,
    own: ExpressionId,
    name: &str,
) -> ListId {
    let nodes = list.map(|list| cx.children(list)).unwrap_or_default();
    let mut all = Vec::with_capacity(nodes.len());
    for (place, argument) in (0..).zip(nodes) {
        let inner = cx.children(argument);
        let Some(value) = inner.last().copied() else { continue };
        let label = inner.first().copied().filter(|label| *label != value && has_sign(argument, "="));
        if let Some(label) = label.filter(|_| own != UNKNOWN) {
            cx.member(label, own, Role::Reference);
        }
        let read = if value.kind() == "lambda_literal" {
            let callee = if label.is_some() { UNKNOWN } else { callee };
            cx.deeper(|cx| lambda_for(cx, value, scope, callee, place, name)).0
        } else {
            cx.value(value, scope)
        };
        all.push(if label.is_some() { UNKNOWN } else { read });
    }
    cx.facts.list(&all)
}

/// A lambda that is argument number `place` of a call, as a value, and its result.
fn lambda_for<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    place: u32,
    name: &str,
) -> (ExpressionId, ExpressionId) {
    if callee == UNKNOWN {
        return literal(cx, node, scope, UNKNOWN, &[], false);
    }
    let place = place.min(LAST) << 16;
    let has_receiver = !PLAIN.contains(&name);
    let receiver = if has_receiver { cx.facts.expression(Op::Passed, callee, place | RECEIVER) } else { UNKNOWN };
    // The first of two is a number there.
    let shift = u32::from(name.ends_with("Indexed"));
    let mut all = vec![UNKNOWN; shift as usize];
    all.extend((0..2).map(|own| cx.facts.expression(Op::Passed, callee, place | own)));
    literal(cx, node, scope, receiver, &all, false)
}

/// A lambda that nothing is known of.
pub(super) fn lambda<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(literal(cx, node, at.scope, UNKNOWN, &[], false).0)
}

/// `{ a, b -> … }`, with a value for its receiver and for each of its parameters. `is_this` tells that the receiver is
/// one for certain.
fn literal<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    mut scope: ScopeId,
    receiver: ExpressionId,
    given: &[ExpressionId],
    is_this: bool,
) -> (ExpressionId, ExpressionId) {
    let function = cx.facts.define(Definition::default());
    if receiver != UNKNOWN {
        scope = received(cx, receiver, scope);
    }
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    if is_this {
        let this = cx.facts.name("this");
        cx.facts.bind(inner, this, Bound::meaning(receiver));
    }
    let list = child(cx, node, "lambda_parameters");
    match list {
        Some(list) => {
            for (place, part) in cx.children(list).into_iter().enumerate() {
                let value = given.get(place).copied().unwrap_or(UNKNOWN);
                if part.kind() == "multi_variable_declaration" {
                    destructured(cx, part, value, inner);
                } else if let Some((name, of, is_callable)) = variable(cx, part, inner) {
                    let text = cx.text(name);
                    bind_value(cx, inner, text, Bound::variable().value(value).of(of), is_callable);
                }
            }
        }
        None => {
            let value = given.first().copied().unwrap_or(UNKNOWN);
            bind_value(cx, inner, "it", Bound::variable().value(value), false);
        }
    }
    let block = cx.facts.scope(ScopeKind::Block, inner);
    let result = statements_of(cx, node, list, block);
    cx.facts.returns(function, result);
    (cx.facts.expression(Op::Function, function, 0), result)
}

fn statements_of<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, list: Option<Node<'t>>, scope: ScopeId) -> ExpressionId {
    match list {
        None => statements(cx, node, scope),
        Some(list) => {
            let (mut value, mut scope) = (UNKNOWN, scope);
            for part in cx.pieces(node).into_iter().filter(|part| *part != list) {
                let said = cx.read(part, NodeContext::used(scope));
                (value, scope) = (said.value, said.scope);
            }
            value
        }
    }
}

/// `a name b`
pub(super) fn infix<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let [left, name_node, right] = cx.children(node)[..] else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    let (on, with) = (cx.value(left, at.scope), cx.value(right, at.scope));
    let name = called(cx, cx.text(name_node));
    let (member, list) = (cx.facts.member(on, name), cx.facts.list(&[with]));
    let fitting = cx.facts.expression(Op::Fitting, member, list);
    let callee = extending(cx, fitting, name, at.scope);
    cx.facts.occurrence(span_of(name_node), Role::Call, callee);
    at.says(if on == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, list) })
}
