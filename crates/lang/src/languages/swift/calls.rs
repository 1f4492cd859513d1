//! Lowering of Swift calls, closures, and of expressions whose type is expected from outside of them.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::expressions::{self, extending};
use super::lower::{FILE, IMPLICIT, all, body, child, field, named, needs, plain};
use super::members::{CONSTRUCTOR, SUBSCRIPT, dotted, labeled, set_by};
use super::types;
use crate::facts::{BLOCK, Bound, Definition, ExpressionId, ListId, NameId, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// The name that the root of a key path without a type is bound to, as in `\.name`.
pub(super) const ROOTED: &str = "\\";

/// An argument: its label, and its value unless only the label is written.
struct Given<'t> {
    label: String,
    value: Option<Node<'t>>,
}

/// Arguments of a call.
#[derive(Default)]
struct Arguments<'t> {
    all: Vec<Given<'t>>,
    /// The bracket of a subscript.
    bracket: Option<Node<'t>>,
}

/// The arguments in parentheses or brackets, and the blocks behind them.
fn arguments_of<'t>(cx: &mut Lower<'_, 't>, suffix: Node<'t>) -> Arguments<'t> {
    let mut found = Arguments::default();
    let mut label = None;
    for part in cx.children(suffix) {
        match part.kind() {
            "value_arguments" => {
                found.bracket = part.child(0).filter(|sign| sign.kind() == "[");
                for one in cx.children(part).into_iter().filter(|one| one.kind() == "value_argument") {
                    argument(cx, one, &mut found.all);
                }
            }
            "simple_identifier" => label = Some(plain(cx, part).to_owned()),
            "lambda_literal" => {
                let label = label.take().unwrap_or_else(|| BLOCK.to_owned());
                found.all.push(Given { label, value: Some(part) });
            }
            _ => {}
        }
    }
    found
}

fn argument<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, found: &mut Vec<Given<'t>>) {
    let value = field(node, "value");
    let mut label = String::new();
    for part in cx.children(node).into_iter().filter(|part| part.kind() == "value_argument_label") {
        plain(cx, part).clone_into(&mut label);
        if value.is_none() {
            found.push(Given { label: label.clone(), value: None });
        }
    }
    if value.is_some() {
        found.push(Given { label, value });
    }
}

/// A call whose arguments are read when the callee is known.
struct Callee {
    /// The function, or a member.
    on: ExpressionId,
    /// The name of a member, for extensions of types from outside.
    name: Option<NameId>,
    /// The initialiser, if it may be a type that is called.
    made: ExpressionId,
}

impl Callee {
    /// The callee with the functions that fit some arguments; then the same with initialisers.
    fn fitting(&self, cx: &mut Lower<'_, '_>, list: ListId) -> (ExpressionId, ExpressionId) {
        let mut fitting = cx.facts.expression(Op::Fitting, self.on, list);
        if let Some(name) = self.name {
            let name = dotted(cx, name);
            let named = cx.facts.named(FILE, name);
            fitting = cx.facts.expression(Op::Extension, fitting, named);
        }
        if self.made == UNKNOWN {
            return (fitting, fitting);
        }
        let made = cx.facts.expression(Op::Fitting, self.made, list);
        let list = cx.facts.list(&[fitting, made]);
        (fitting, cx.facts.expression(Op::Union, list, 0))
    }
}

/// Reads the arguments of a call; returns what is called with them, as in [`Callee::fitting`], and their list.
fn called<'t>(
    cx: &mut Lower<'_, 't>,
    given: &Arguments<'t>,
    callee: Option<&Callee>,
    scope: ScopeId,
) -> ((ExpressionId, ExpressionId), ListId) {
    let asks = |value: Node<'t>| value.kind() == "lambda_literal" || is_implicit(value) || is_rooted(value);
    let asks = given.all.iter().filter_map(|one| one.value).any(asks);
    let mut before = UNKNOWN;
    if let Some(callee) = callee.filter(|_| asks) {
        let labels: Vec<ExpressionId> = given.all.iter().map(|one| labeled(cx, UNKNOWN, &one.label)).collect();
        let list = cx.facts.list(&labels);
        before = callee.fitting(cx, list).1;
    }
    let mut values = Vec::new();
    for (place, one) in (0u32..).zip(&given.all) {
        let value = one.value.map_or(UNKNOWN, |value| cx.deeper(|cx| passed(cx, value, before, place, scope)));
        values.push(labeled(cx, value, &one.label));
    }
    let list = cx.facts.list(&values);
    (callee.map_or((UNKNOWN, UNKNOWN), |callee| callee.fitting(cx, list)), list)
}

/// Argument number `place` of a call.
fn passed<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    callee: ExpressionId,
    place: u32,
    scope: ScopeId,
) -> ExpressionId {
    let given = |cx: &mut Lower<'_, '_>, own: u32| match callee {
        UNKNOWN => UNKNOWN,
        callee => cx.facts.expression(Op::Passed, callee, place << 16 | own),
    };
    if node.kind() == "lambda_literal" {
        let values = [given(cx, 0), given(cx, 1)];
        return literal(cx, node, &values, scope);
    }
    if is_rooted(node) {
        let value = given(cx, 0);
        return key_path(cx, node, value, scope);
    }
    let wanted = if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Wanted, callee, place) };
    expect(cx, node, wanted, scope)
}

/// `\.name`: a function of a value.
fn key_path<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, value: ExpressionId, scope: ScopeId) -> ExpressionId {
    let function = cx.facts.define(Definition::default());
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let name = cx.facts.name(ROOTED);
    cx.facts.bind(inner, name, Bound::meaning(value));
    let result = cx.value(node, inner);
    cx.facts.returns(function, result);
    cx.facts.expression(Op::Function, function, 0)
}

/// The first part of a chain of members and calls.
fn first_of(mut node: Node<'_>) -> Node<'_> {
    while let Some(inner) = match node.kind() {
        "navigation_expression" | "postfix_expression" => field(node, "target"),
        "call_expression" => node.named_child(0),
        _ => None,
    } {
        node = inner;
    }
    node
}

/// Whether an expression begins with a dot.
pub(super) fn is_implicit(node: Node<'_>) -> bool {
    let inner = match node.kind() {
        "ternary_expression" => field(node, "if_true"),
        "try_expression" | "await_expression" => field(node, "expr"),
        "array_literal" | "tuple_expression" => node.named_child(0),
        "value_argument" => field(node, "value"),
        "conjunction_expression" | "disjunction_expression" => field(node, "lhs"),
        "nil_coalescing_expression" => field(node, "if_nil"),
        _ => Some(first_of(node)),
    };
    inner.is_some_and(|node| {
        let node = first_of(node);
        node.kind() == "prefix_expression" && expressions::sign(node) == "."
            || matches!(node.kind(), "array_literal" | "tuple_expression") && node.named_child(0).is_some()
    })
}

/// Whether an expression is a key path without a type.
fn is_rooted(node: Node<'_>) -> bool {
    let node = first_of(node);
    node.kind() == "key_path_expression" && node.named_child(0).is_none_or(|of| of.kind() != "type_identifier")
}

/// The value of an expression, of which `expected` is a value of the same type.
pub(super) fn expect<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    expected: ExpressionId,
    scope: ScopeId,
) -> ExpressionId {
    cx.deeper(|cx| expect_one(cx, node, expected, scope))
}

fn expect_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, expected: ExpressionId, scope: ScopeId) -> ExpressionId {
    let part = |cx: &mut Lower<'_, 't>, name: &str| {
        field(node, name).map_or(UNKNOWN, |part| expect(cx, part, expected, scope))
    };
    match node.kind() {
        "ternary_expression" => {
            field(node, "condition").map(|condition| cx.value(condition, scope));
            let values = [part(cx, "if_true"), part(cx, "if_false")];
            cx.facts.union(&values)
        }
        "nil_coalescing_expression" => {
            let values = [part(cx, "value"), part(cx, "if_nil")];
            cx.facts.union(&values)
        }
        "try_expression" | "await_expression" => part(cx, "expr"),
        // The sign `.` before a name is read as if it belonged to all that follows.
        "conjunction_expression" | "disjunction_expression" if is_implicit(node) => {
            part(cx, "lhs");
            field(node, "rhs").map(|right| cx.value(right, scope));
            types::built_in(cx, "Bool")
        }
        "array_literal" => {
            let element = cx.facts.of(Op::Element, expected);
            let values: Vec<ExpressionId> =
                cx.children(node).into_iter().map(|one| expect(cx, one, element, scope)).collect();
            expressions::array_of(cx, &values)
        }
        "tuple_expression" => expressions::items(cx, node, expected, scope),
        _ if is_implicit(node) => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            let name = cx.facts.name(IMPLICIT);
            cx.facts.bind(inner, name, Bound::meaning(expected));
            cx.value(node, inner)
        }
        _ => cx.value(node, scope),
    }
}

pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = cx.children(node);
    let [callee, suffix] = parts[..] else {
        cx.parts(node, at.scope);
        return at.says(UNKNOWN);
    };
    let given = arguments_of(cx, suffix);
    if let Some(bracket) = given.bracket {
        return at.says(indexed(cx, callee, &given, bracket, at.scope));
    }
    let (on, name_node) = match callee.kind() {
        "simple_identifier" => (None, Some(callee)),
        "navigation_expression" | "prefix_expression" => match expressions::split(cx, callee, at.scope) {
            Some((on, name)) => (Some(on), Some(name)),
            None => (None, None),
        },
        _ => (None, None),
    };
    let Some(name_node) = name_node else {
        let is_type = matches!(callee.kind(), "array_literal" | "dictionary_literal");
        let value =
            if is_type { expressions::container_type(cx, callee, at.scope) } else { cx.value(callee, at.scope) };
        let list = called(cx, &given, None, at.scope).1;
        return at.says(match value {
            UNKNOWN => UNKNOWN,
            value if is_type => cx.facts.of(Op::Instance, value),
            value => cx.facts.expression(Op::Call, value, list),
        });
    };
    let text = plain(cx, name_node);
    if let ("type", [Given { label, value: Some(of) }], None) = (text, &given.all[..], on)
        && label == "of"
    {
        let value = cx.value(*of, at.scope);
        return at.says(cx.facts.of(Op::TypeOf, value));
    }
    let name = cx.facts.name(text);
    let is_type = text.starts_with(char::is_uppercase);
    let constructor = cx.facts.name(CONSTRUCTOR);
    let of = match on {
        None if text == "Self" => expressions::own_type(cx, at.scope),
        None => {
            needs(cx, name_node, at.scope, name);
            cx.facts.named(at.scope, name)
        }
        Some(on) => cx.facts.member(on, name),
    };
    let made = if is_type { cx.facts.member(of, constructor) } else { UNKNOWN };
    if is_type {
        labels(cx, suffix, of);
    }
    let callee = Callee { on: of, name: on.filter(|on| *on != UNKNOWN).map(|_| name), made };
    let ((fitting, meant), list) = called(cx, &given, Some(&callee), at.scope);
    let is_named = given.all.iter().any(|one| one.value.is_none());
    cx.facts.occurrence(span_of(name_node), if is_named { Role::Reference } else { Role::Call }, meant);
    let value = match on {
        _ if is_named => fitting,
        Some(UNKNOWN) => UNKNOWN,
        // An initialiser of the library's makes a value of the type, too.
        Some(on) if text == CONSTRUCTOR => cx.facts.of(Op::Instance, on),
        _ => cx.facts.expression(Op::Call, fitting, list),
    };
    at.says(value)
}

/// Reads labels of arguments that name properties of a structure: `Point(x: 1)`.
fn labels<'t>(cx: &mut Lower<'_, 't>, suffix: Node<'t>, of: ExpressionId) {
    let list = cx.children(suffix).into_iter().find(|part| part.kind() == "value_arguments");
    for argument in list.map(|list| cx.children(list)).unwrap_or_default() {
        let label = cx.children(argument).into_iter().find(|part| part.kind() == "value_argument_label");
        let Some(label) = label else { continue };
        let name = cx.facts.name(plain(cx, label));
        let name = set_by(cx, name);
        let meant = cx.facts.member(of, name);
        cx.facts.occurrence(span_of(label), Role::Reference, meant);
    }
}

/// `value[index]`
fn indexed<'t>(
    cx: &mut Lower<'_, 't>,
    on: Node<'t>,
    given: &Arguments<'t>,
    bracket: Node<'t>,
    scope: ScopeId,
) -> ExpressionId {
    let on = cx.value(on, scope);
    let name = cx.facts.name(SUBSCRIPT);
    let member = cx.facts.member(on, name);
    let callee = Callee { on: member, name: Some(name), made: UNKNOWN };
    let ((fitting, _), list) = called(cx, given, Some(&callee).filter(|_| on != UNKNOWN), scope);
    if on == UNKNOWN {
        return UNKNOWN;
    }
    cx.facts.occurrence(span_of(bracket), Role::Call, fitting);
    let element = cx.facts.of(Op::Element, on);
    let called = cx.facts.expression(Op::Call, fitting, list);
    cx.facts.union(&[called, element])
}

/// `Name<A>(…)`
pub(super) fn construction<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let of =
        field(node, "constructed_type").map_or(UNKNOWN, |of| cx.read(of, NodeContext { role: Role::Call, ..at }).value);
    if let Some(suffix) = child(cx, node, "constructor_suffix") {
        let given = arguments_of(cx, suffix);
        let constructor = cx.facts.name(CONSTRUCTOR);
        let on = cx.facts.member(of, constructor);
        called(cx, &given, Some(&Callee { on, name: None, made: UNKNOWN }), at.scope);
    }
    at.says(cx.facts.of(Op::Instance, of))
}

/// `@Name(label: value)`
pub(super) fn attribute<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let parts = all(node);
    let Some(of) = parts.iter().find(|part| part.kind() == "user_type") else { return at.says(UNKNOWN) };
    if matches!(cx.text(*of), "available" | "objc" | "backDeployed" | "_spi" | "inline" | "discardableResult") {
        return at.says(UNKNOWN);
    }
    let mut given = Arguments::default();
    let mut label = String::new();
    for (place, part) in parts.iter().enumerate().filter(|(_, part)| part.is_named() && *part != of) {
        if part.kind() == "simple_identifier" && parts.get(place + 1).is_some_and(|next| next.kind() == ":") {
            plain(cx, *part).clone_into(&mut label);
        } else {
            given.all.push(Given { label: std::mem::take(&mut label), value: Some(*part) });
        }
    }
    let class = cx.read(*of, NodeContext { role: Role::Type, ..at }).value;
    let constructor = cx.facts.name(CONSTRUCTOR);
    let on = cx.facts.member(class, constructor);
    called(cx, &given, Some(&Callee { on, name: None, made: UNKNOWN }), at.scope);
    at.says(UNKNOWN)
}

/// `#name(…)`
pub(super) fn macro_call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    if let Some(suffix) = child(cx, node, "call_suffix") {
        let given = arguments_of(cx, suffix);
        called(cx, &given, None, at.scope);
    }
    at.says(UNKNOWN)
}

/// A closure that nothing is known of.
pub(super) fn lambda<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    at.says(literal(cx, node, &[], at.scope))
}

/// `{ (a: A, b) -> C in … }`, with a value for each parameter.
fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, given: &[ExpressionId], scope: ScopeId) -> ExpressionId {
    let function = cx.facts.define(Definition::default());
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    let value_of = |place: usize| given.get(place).copied().unwrap_or(UNKNOWN);
    let (mut returned, mut has_names) = (UNKNOWN, false);
    if let Some(captures) = field(node, "captures") {
        for item in cx.children(captures) {
            let (name, value) = (field(item, "name"), field(item, "value"));
            match (name, value) {
                (Some(name), Some(value)) => {
                    let value = cx.value(value, scope);
                    let name = named(cx, name);
                    cx.facts.bind(inner, name, Bound::variable().value(value));
                }
                (Some(name), None) => drop(cx.value(name, scope)),
                _ => {}
            }
        }
    }
    if let Some(written) = field(node, "type") {
        for part in cx.children(written) {
            if part.kind() != "lambda_function_type_parameters" {
                let of = types::written(cx, part, inner);
                returned = if types::is_type(part) { cx.facts.of(Op::Instance, of) } else { returned };
                continue;
            }
            has_names = true;
            for (place, parameter) in cx.children(part).into_iter().enumerate() {
                let (mut name, mut of) = (None, UNKNOWN);
                for one in cx.children(parameter) {
                    match one.kind() {
                        "simple_identifier" => name = Some(one),
                        _ => of = types::written(cx, one, inner),
                    }
                }
                let Some(name) = name else { continue };
                let name = named(cx, name);
                cx.facts.bind(inner, name, Bound::variable().value(value_of(place)).of(of));
            }
        }
    }
    if !has_names {
        for (place, name) in ["$0", "$1"].into_iter().enumerate() {
            let name = cx.facts.name(name);
            cx.facts.bind(inner, name, Bound::variable().value(value_of(place)));
        }
    }
    if let Some(statements) = child(cx, node, "statements") {
        let value = body(cx, statements, returned, inner);
        cx.facts.returns(function, if returned == UNKNOWN { value } else { returned });
    }
    cx.facts.expression(Op::Function, function, 0)
}

/// A member of a value, also one that extends its type.
pub(super) fn member(cx: &mut Lower<'_, '_>, on: ExpressionId, name: NameId) -> ExpressionId {
    let member = cx.facts.member(on, name);
    if on == UNKNOWN { member } else { extending(cx, member, name) }
}
