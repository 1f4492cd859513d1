//! Lowering of Rust expressions and statements.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::{field, invocation, item};
use super::patterns::{field_of, pattern, places, rebinds};
use super::types::{TRANSPARENT, annotation, path};
use super::wanted::{self, may_hold_closure, valued};
use crate::facts::{BindingKind, Bound, Definition, EMPTY, ExpressionId, NONE, Op, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Reads the statements of a block, in a scope made for them; returns the value of its last expression.
pub(super) fn block<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, mut scope: ScopeId) -> ExpressionId {
    let mut value = UNKNOWN;
    for statement in cx.children(node) {
        value = UNKNOWN;
        match statement.kind() {
            "let_declaration" => scope = cx.deeper(|cx| Some(declaration(cx, statement, scope))).unwrap_or(scope),
            "expression_statement" => {
                // Without a semicolon it is the block's value: `if … { … } else { … }` at the end.
                let is_value = statement.child_count() == 1;
                if let Some(expression) = cx.first(statement) {
                    let given = walk(cx, expression, scope, Role::Reference);
                    value = if is_value { given } else { UNKNOWN };
                }
            }
            "label" => {}
            _ => {
                if !cx.deeper(|cx| item(cx, statement, scope)) {
                    value = walk(cx, statement, scope, Role::Reference);
                }
            }
        }
    }
    value
}

/// A `let` statement; returns the scope for the nodes after it.
fn declaration<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ScopeId {
    let of = field(node, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
    let value = field(node, "value")
        .map_or(UNKNOWN, |value| valued(cx, node, of, |cx| walk(cx, value, scope, Role::Reference)));
    if let Some(otherwise) = field(node, "alternative") {
        walk(cx, otherwise, scope, Role::Reference);
    }
    let Some(pattern) = field(node, "pattern") else { return scope };
    bind(cx, pattern, scope, value, of)
}

/// Binds a pattern so that earlier uses keep their meaning; returns the scope for the nodes after it.
fn bind<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, value: ExpressionId, of: ExpressionId) -> ScopeId {
    let scope = match rebinds(cx, node, scope) {
        true => cx.facts.scope(ScopeKind::Block, scope),
        false => scope,
    };
    pattern(cx, node, scope, value, of);
    scope
}

/// The condition of an `if`, a `while` or an arm; returns the scope for the guarded code.
fn condition<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ScopeId {
    match node.kind() {
        "let_condition" => {
            let value = field(node, "value").map_or(UNKNOWN, |value| walk(cx, value, scope, Role::Reference));
            field(node, "pattern").map_or(scope, |pattern| bind(cx, pattern, scope, value, UNKNOWN))
        }
        "let_chain" => {
            let parts = cx.children(node);
            parts
                .into_iter()
                .fold(scope, |scope, part| cx.deeper(|cx| Some(condition(cx, part, scope))).unwrap_or(scope))
        }
        _ => {
            walk(cx, node, scope, Role::Reference);
            scope
        }
    }
}

/// Reads an expression and returns it; `role` is the role of its outermost name.
pub(super) fn walk<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    cx.deeper(|cx| walk_one(cx, node, scope, role))
}

/// Name that is bound to the value of `**self` in an implementation for a reference or a box.
pub(super) const INNER: &str = "**self";

fn walk_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        "identifier" | "self" | "scoped_identifier" => path(cx, node, scope, role),
        "string_literal" | "raw_string_literal" | "char_literal" | "integer_literal" | "float_literal"
        | "boolean_literal" | "unit_expression" | "lifetime" | "label" | "attribute_item" | "metavariable" => UNKNOWN,
        "field_expression" => {
            let (Some(of), Some(name)) = (field(node, "value"), field(node, "field")) else { return UNKNOWN };
            let on = walk(cx, of, scope, Role::Reference);
            let text = format!(".{}", cx.text(name));
            let text = cx.facts.name(&text);
            let meant = cx.facts.member(on, text);
            if name.kind() == "field_identifier" {
                cx.facts.occurrence(span_of(name), role, meant);
            }
            if on == UNKNOWN { UNKNOWN } else { meant }
        }
        "call_expression" => call(cx, node, scope),
        "generic_function" => {
            if let Some(arguments) = field(node, "type_arguments") {
                annotation(cx, arguments, scope, Role::Type);
            }
            field(node, "function").map_or(UNKNOWN, |of| walk(cx, of, scope, role))
        }
        "macro_invocation" => invocation(cx, node, scope),
        "closure_expression" => {
            let given = wanted::taker(cx, node).map_or(ArgumentSource::Nothing, ArgumentSource::Taken);
            closure(cx, node, scope, &given)
        }
        "struct_expression" => literal(cx, node, scope),
        "unary_expression" if cx.text(node) == INNER => {
            let own = cx.first(node).map_or(UNKNOWN, |own| walk(cx, own, scope, role));
            let name = cx.facts.name(INNER);
            let is_bound = cx.facts.nearest(scope, name).is_some();
            if is_bound { cx.facts.named(scope, name) } else { own }
        }
        "reference_expression" | "unary_expression" | "parenthesized_expression" | "await_expression" => {
            let value = field(node, "value");
            let value = value.or_else(|| cx.children(node).into_iter().find(|it| it.kind() != "mutable_specifier"));
            value.map_or(UNKNOWN, |value| walk(cx, value, scope, role))
        }
        "try_expression" => {
            let value = cx.first(node).map_or(UNKNOWN, |value| walk(cx, value, scope, Role::Reference));
            cx.facts.of(Op::Element, value)
        }
        "index_expression" => {
            let parts = cx.children(node);
            let values: Vec<ExpressionId> = parts.iter().map(|part| walk(cx, *part, scope, Role::Reference)).collect();
            let Some(on) = values.first() else { return UNKNOWN };
            match parts.get(1).is_some_and(|index| index.kind() == "range_expression") {
                true => *on,
                false => cx.facts.of(Op::Element, *on),
            }
        }
        "type_cast_expression" => {
            if let Some(value) = field(node, "value") {
                walk(cx, value, scope, Role::Reference);
            }
            let of = field(node, "type").map_or(UNKNOWN, |of| annotation(cx, of, scope, Role::Type));
            cx.facts.of(Op::Instance, of)
        }
        "tuple_expression" => {
            let parts: Vec<ExpressionId> =
                cx.children(node).into_iter().map(|part| walk(cx, part, scope, Role::Reference)).collect();
            let list = cx.facts.list(&parts);
            cx.facts.expression(Op::Tuple, list, 0)
        }
        "array_expression" => {
            let parts: Vec<ExpressionId> =
                cx.children(node).into_iter().map(|part| walk(cx, part, scope, Role::Reference)).collect();
            let element = cx.facts.union(&parts[..parts.len().min(4)]);
            container(cx, &[element])
        }
        "block" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            block(cx, node, inner)
        }
        "unsafe_block" | "async_block" | "const_block" | "gen_block" | "try_block" | "else_clause" => {
            let children = cx.children(node);
            children.into_iter().fold(UNKNOWN, |_, part| walk(cx, part, scope, Role::Reference))
        }
        "if_expression" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            let guarded = field(node, "condition").map_or(inner, |it| condition(cx, it, inner));
            let yes = field(node, "consequence").map_or(UNKNOWN, |it| walk(cx, it, guarded, Role::Reference));
            let no = field(node, "alternative").map_or(UNKNOWN, |it| walk(cx, it, scope, Role::Reference));
            cx.facts.union(&[yes, no])
        }
        "while_expression" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            let guarded = field(node, "condition").map_or(inner, |it| condition(cx, it, inner));
            if let Some(body) = field(node, "body") {
                walk(cx, body, guarded, Role::Reference);
            }
            UNKNOWN
        }
        "for_expression" => {
            let over = field(node, "value").map_or(UNKNOWN, |value| walk(cx, value, scope, Role::Reference));
            let each = cx.facts.of(Op::Each, over);
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            if let Some(left) = field(node, "pattern") {
                pattern(cx, left, inner, each, UNKNOWN);
            }
            if let Some(body) = field(node, "body") {
                block(cx, body, inner);
            }
            UNKNOWN
        }
        "match_expression" => {
            let value = field(node, "value").map_or(UNKNOWN, |value| walk(cx, value, scope, Role::Reference));
            let arms = field(node, "body").map(|body| cx.children(body)).unwrap_or_default();
            let mut given = Vec::new();
            for arm in arms.into_iter().filter(|arm| arm.kind() == "match_arm") {
                let mut inner = cx.facts.scope(ScopeKind::Block, scope);
                if let Some(left) = field(arm, "pattern") {
                    pattern(cx, left, inner, value, UNKNOWN);
                    if let Some(guard) = field(left, "condition") {
                        inner = condition(cx, guard, inner);
                    }
                }
                let value = field(arm, "value").map_or(UNKNOWN, |value| walk(cx, value, inner, Role::Reference));
                given.push(value);
            }
            given.retain(|value| *value != UNKNOWN);
            cx.facts.union(&given[..given.len().min(5)])
        }
        "assignment_expression" => {
            let value = field(node, "right").map_or(UNKNOWN, |right| walk(cx, right, scope, Role::Reference));
            if let Some(left) = field(node, "left") {
                walk(cx, left, scope, Role::Write);
                // A variable declared without a value gets its value here.
                let name = if left.kind() == "identifier" { cx.name(left) } else { return UNKNOWN };
                if let Some((home, binding)) = cx.facts.nearest(scope, name)
                    && (ExpressionId(binding.a), ExpressionId(binding.b), binding.at) == (UNKNOWN, UNKNOWN, NONE)
                    && binding.kind == BindingKind::Variable
                {
                    cx.facts.bind(home, name, Bound::variable().value(value));
                }
            }
            UNKNOWN
        }
        "let_condition" | "let_chain" => {
            condition(cx, node, scope);
            UNKNOWN
        }
        "let_declaration" => {
            declaration(cx, node, scope);
            UNKNOWN
        }
        "type_arguments" => annotation(cx, node, scope, Role::Type),
        _ => {
            for part in cx.children(node) {
                if !item(cx, part, scope) {
                    walk(cx, part, scope, Role::Reference);
                }
            }
            UNKNOWN
        }
    }
}

/// A container outside the project that holds these values.
pub(super) fn container(cx: &mut Lower<'_, '_>, values: &[ExpressionId]) -> ExpressionId {
    if values.iter().all(|value| *value == UNKNOWN) {
        return UNKNOWN;
    }
    let types: Vec<ExpressionId> = values.iter().map(|value| cx.facts.of(Op::TypeOf, *value)).collect();
    let list = cx.facts.list(&types);
    let generic = cx.facts.expression(Op::Generic, UNKNOWN, list);
    cx.facts.expression(Op::Instance, generic, 0)
}

/// `Name { field: value, … }`.
fn literal<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let Some(of) = field(node, "name") else { return UNKNOWN };
    let meant = path(cx, of, scope, Role::Reference);
    let text = cx.text(of);
    for part in field(node, "body").map(|body| cx.children(body)).unwrap_or_default() {
        let name = match part.kind() {
            "field_initializer" => field(part, "field").or_else(|| cx.first(part)),
            "shorthand_field_initializer" => cx.children(part).into_iter().find(|part| part.kind() == "identifier"),
            _ => {
                walk(cx, part, scope, Role::Reference);
                continue;
            }
        };
        let Some(name) = name else { continue };
        let mut of = UNKNOWN;
        if name.kind() != "integer_literal" {
            let own = field_of(cx, meant, text, cx.text(name));
            cx.facts.occurrence(span_of(name), Role::Write, own);
            if field(part, "value").is_some_and(|value| may_hold_closure(cx, value)) {
                of = cx.facts.of(Op::TypeOf, own);
            }
        }
        match field(part, "value") {
            Some(value) => valued(cx, part, of, |cx| walk(cx, value, scope, Role::Reference)),
            None => path(cx, name, scope, Role::Reference),
        };
    }
    cx.facts.of(Op::Instance, meant)
}

/// Context of a closure, from which its parameters get their values.
enum ArgumentSource<'s> {
    Nothing,
    /// It is wanted as what this function takes.
    Taken(ExpressionId),
    /// It is an argument of this callee, at this place. The callee is a method of this name called on this value;
    /// `first` is the call's first argument.
    Argument {
        callee: ExpressionId,
        place: u32,
        method: &'s str,
        on: ExpressionId,
        first: ExpressionId,
    },
}

/// Closures that are passed the error of a result.
const OF_ERROR: &[&str] = &["map_err", "or_else", "unwrap_or_else", "inspect_err"];
/// Methods whose closures have an element as the second parameter too.
const OF_TWO: &[&str] = &[
    "fold",
    "try_fold",
    "rfold",
    "scan",
    "reduce",
    "sort_by",
    "sort_unstable_by",
    "max_by",
    "min_by",
    "dedup_by",
    "is_sorted_by",
];

fn closure<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, given: &ArgumentSource<'_>) -> ExpressionId {
    let function = cx.facts.define(Definition::default());
    let inner = cx.facts.scope(ScopeKind::Function, scope);
    for (place, part) in field(node, "parameters").map(places).unwrap_or_default() {
        let of = match part.kind() {
            "parameter" => field(part, "type").map_or(UNKNOWN, |of| annotation(cx, of, inner, Role::Type)),
            _ => UNKNOWN,
        };
        let value = match *given {
            ArgumentSource::Nothing => UNKNOWN,
            ArgumentSource::Taken(by) => cx.facts.expression(Op::Passed, by, place),
            ArgumentSource::Argument { method, on, .. } if OF_ERROR.contains(&method) => cx.facts.of(Op::Key, on),
            ArgumentSource::Argument { method: "map_or_else", on, place: 0, .. } => cx.facts.of(Op::Key, on),
            ArgumentSource::Argument { method, on, .. } if place == 1 && OF_TWO.contains(&method) => {
                cx.facts.of(Op::Each, on)
            }
            ArgumentSource::Argument { method: "fold" | "try_fold" | "rfold" | "scan", first, .. } => first,
            ArgumentSource::Argument { callee: UNKNOWN, .. } => UNKNOWN,
            // A pair is an item of the iteration, also of a map.
            ArgumentSource::Argument { on, .. } if part.kind() == "tuple_pattern" => cx.facts.of(Op::Each, on),
            ArgumentSource::Argument { callee, place: argument, .. } => {
                cx.facts.expression(Op::Passed, callee, argument << 16 | place)
            }
        };
        let named = if part.kind() == "parameter" { field(part, "pattern") } else { Some(part) };
        if let Some(named) = named {
            pattern(cx, named, inner, value, of);
        }
    }
    if let Some(of) = field(node, "return_type") {
        let of = annotation(cx, of, inner, Role::Type);
        cx.facts.definition(function).returns = of;
    }
    let value = field(node, "body").map_or(UNKNOWN, |body| walk(cx, body, inner, Role::Reference));
    cx.facts.returns(function, value);
    cx.facts.expression(Op::Function, function, 0)
}

/// The name of a function in `Name::function`, which may be a trait's that is implemented for its first argument.
fn of_trait<'t>(cx: &mut Lower<'_, 't>, function: Node<'t>, callee: ExpressionId) -> Option<Node<'t>> {
    let (path, name) = (field(function, "path")?, field(function, "name")?);
    let owner = cx.text(path).rsplit("::").next().unwrap_or_default();
    let may_be = owner.starts_with(char::is_uppercase) && owner != "Self";
    let is_function = function.kind() == "scoped_identifier" && !cx.text(name).starts_with(char::is_uppercase);
    (may_be && is_function && cx.facts.look(callee).op == Op::Member).then_some(name)
}

/// A callee with its type arguments.
fn with_types(cx: &mut Lower<'_, '_>, callee: ExpressionId, types: &[ExpressionId]) -> ExpressionId {
    if callee == UNKNOWN || types.iter().all(|of| *of == UNKNOWN) {
        return callee;
    }
    let list = cx.facts.list(types);
    cx.facts.expression(Op::Generic, callee, list)
}

fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let (Some(mut function), Some(arguments)) = (field(node, "function"), field(node, "arguments")) else {
        return UNKNOWN;
    };
    // The type arguments of `collect::<…>`.
    let mut types = Vec::new();
    if function.kind() == "generic_function" {
        for of in field(function, "type_arguments").map(|types| cx.children(types)).unwrap_or_default() {
            types.push(annotation(cx, of, scope, Role::Type));
        }
        let Some(called) = field(function, "function") else { return UNKNOWN };
        function = called;
    }
    let (mut on, mut method) = (UNKNOWN, "");
    let mut callee = match (function.kind(), field(function, "value"), field(function, "field")) {
        ("field_expression", Some(of), Some(name)) => {
            on = walk(cx, of, scope, Role::Reference);
            method = cx.text(name);
            let name_of = cx.name(name);
            let meant = cx.facts.member(on, name_of);
            cx.facts.occurrence(span_of(name), Role::Call, meant);
            if on == UNKNOWN { UNKNOWN } else { meant }
        }
        _ => walk(cx, function, scope, Role::Call),
    };
    let wanted = types.last().copied().unwrap_or(UNKNOWN);
    let nodes = cx.children(arguments);
    let mut values: Vec<ExpressionId> = Vec::with_capacity(nodes.len());
    for (place, argument) in (0..).zip(&nodes) {
        let first = values.first().copied().unwrap_or(UNKNOWN);
        values.push(match argument.kind() {
            "closure_expression" => {
                let taker = if method.is_empty() { wanted::taker(cx, *argument) } else { None };
                let given = ArgumentSource::Argument { callee, place, method, on, first };
                let given = taker.map_or(given, ArgumentSource::Taken);
                cx.deeper(|cx| closure(cx, *argument, scope, &given))
            }
            _ => wanted::argument(cx, *argument, scope, callee, place),
        });
    }
    let first = values.first().copied().unwrap_or(UNKNOWN);
    if let Some(name) = of_trait(cx, function, callee).filter(|_| first != UNKNOWN) {
        callee = cx.facts.expression(Op::Implemented, callee, first);
        cx.facts.mean_at(span_of(name), callee);
    }
    if !method.is_empty() {
        let wanted = cx.facts.of(Op::Instance, wanted);
        let wanted = match method {
            "collect" | "into" | "sum" | "product" => wanted,
            "parse" | "try_into" | "downcast" | "downcast_ref" | "downcast_mut" if wanted != UNKNOWN => {
                container(cx, &[wanted])
            }
            _ => UNKNOWN,
        };
        // Only a function among the arguments affects the result: `map` yields its results.
        let is_function =
            |node: &Node<'_>| matches!(node.kind(), "closure_expression" | "identifier" | "scoped_identifier");
        let given = if nodes.last().is_some_and(is_function) { values.last() } else { None };
        let list = given.map_or(EMPTY, |given| cx.facts.list(&[*given]));
        let callee = with_types(cx, callee, &types);
        let value = if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Call, callee, list) };
        return cx.facts.union(&[value, wanted]);
    }
    if callee == UNKNOWN {
        return UNKNOWN;
    }
    let text = cx.text(function);
    let mut parts = text.rsplit("::").map(|part| part.split('<').next().unwrap_or(part).trim());
    let last = parts.next().unwrap_or_default();
    match last {
        "Some" | "Ok" => return container(cx, &[first]),
        "Err" => return container(cx, &[first, UNKNOWN, UNKNOWN]),
        // A variant or a tuple struct.
        _ if last.starts_with(char::is_uppercase) => return cx.facts.of(Op::Instance, callee),
        _ => {}
    }
    let callee = with_types(cx, callee, &types);
    let value = cx.facts.expression(Op::Call, callee, EMPTY);
    let is_wrapper = matches!(last, "new" | "from" | "clone" | "pin")
        && parts.find(|part| !part.is_empty()).is_some_and(|owner| TRANSPARENT.contains(&owner));
    if is_wrapper { cx.facts.union(&[value, first]) } else { value }
}
