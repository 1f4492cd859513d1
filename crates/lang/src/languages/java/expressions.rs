//! Lowering of Java expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::lower::{field, inside, local, method_name, own, part, pattern, visit};
use super::members::{CONSTRUCTOR, anonymous, constructor_name, lambda};
use super::types::{annotation, array, array_of, primitive, type_of};
use crate::facts::{ExpressionId, ListId, NameId, Op, ScopeId, UNKNOWN};
use codelode_base::model::Role;

/// Reads an expression and returns it; `role` is the role of its outermost name.
pub(super) fn expression<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        "identifier" | "type_identifier" | "scoped_identifier" | "scoped_type_identifier" => {
            qualified(cx, node, scope, role)
        }
        "this" => own(cx, scope, Op::SelfOf),
        "super" => own(cx, scope, Op::SuperOf),
        "field_access" => {
            if let Some(package) = package(cx, node, scope) {
                return package;
            }
            let on = receiver(cx, node, scope);
            let Some(name) = field(node, "field") else { return UNKNOWN };
            match name.kind() {
                // `Outer.this`.
                "this" => cx.facts.of(Op::Instance, on),
                _ => {
                    let text = cx.name(name);
                    let meant = cx.facts.member(on, text);
                    cx.facts.occurrence(span_of(name), role, meant);
                    if on == UNKNOWN { UNKNOWN } else { meant }
                }
            }
        }
        "method_invocation" => invocation(cx, node, scope),
        "explicit_constructor_invocation" => {
            part(cx, node, "object", scope);
            let Some(word) = field(node, "constructor") else { return UNKNOWN };
            let of = own(cx, scope, if word.kind() == "super" { Op::SuperOf } else { Op::ClassOf });
            let name = cx.facts.name(CONSTRUCTOR);
            let callee = cx.facts.member(of, name);
            let (_, fitting) = arguments(cx, node, scope, callee);
            cx.facts.occurrence(span_of(word), Role::Call, fitting);
            UNKNOWN
        }
        "object_creation_expression" => creation(cx, node, scope),
        "array_creation_expression" => {
            let mut of = field(node, "type").map_or(UNKNOWN, |of| type_of(cx, of, scope, Role::Type));
            for child in cx.children(node) {
                match child.kind() {
                    "annotation" | "marker_annotation" => annotation(cx, child, scope),
                    "dimensions" => of = array_of(cx, of, Some(child)),
                    "dimensions_expr" => {
                        inside(cx, child, scope);
                        of = array(cx, of);
                    }
                    "array_initializer" => drop(visit(cx, child, scope)),
                    _ => {}
                }
            }
            cx.facts.of(Op::Instance, of)
        }
        "array_access" => {
            let on = part(cx, node, "array", scope);
            part(cx, node, "index", scope);
            cx.facts.of(Op::Element, on)
        }
        "assignment_expression" => {
            if let Some(left) = field(node, "left") {
                cx.deeper(|cx| expression(cx, left, scope, Role::Write));
            }
            part(cx, node, "right", scope)
        }
        "parenthesized_expression" => cx.first(node).map_or(UNKNOWN, |inner| visit(cx, inner, scope)),
        "cast_expression" => {
            let mut types = Vec::new();
            let value = field(node, "value");
            for child in cx.children(node) {
                if Some(child) == value {
                    visit(cx, child, scope);
                } else {
                    types.push(type_of(cx, child, scope, Role::Type));
                }
            }
            let of = cx.facts.union(&types);
            cx.facts.of(Op::Instance, of)
        }
        "ternary_expression" => {
            part(cx, node, "condition", scope);
            let either = [part(cx, node, "consequence", scope), part(cx, node, "alternative", scope)];
            cx.facts.union(&either)
        }
        "instanceof_expression" => {
            let value = part(cx, node, "left", scope);
            if let Some(of) = field(node, "right") {
                let of = type_of(cx, of, scope, Role::Type);
                if let Some(name) = field(node, "name") {
                    local(cx, name, scope, value, of);
                }
            }
            if let Some(of) = field(node, "pattern") {
                pattern(cx, of, scope);
            }
            UNKNOWN
        }
        "pattern" => {
            pattern(cx, node, scope);
            UNKNOWN
        }
        "lambda_expression" => lambda(cx, node, scope, UNKNOWN, 0),
        "method_reference" => reference(cx, node, scope),
        // A text is known to have no class of the project.
        "string_literal" | "template_expression" => {
            inside(cx, node, scope);
            let name = cx.facts.name("String");
            cx.facts.named(scope, name)
        }
        "decimal_integer_literal" | "hex_integer_literal" | "octal_integer_literal" | "binary_integer_literal" => {
            let is_long = cx.text(node).ends_with(['l', 'L']);
            primitive(cx, if is_long { "long" } else { "int" })
        }
        "decimal_floating_point_literal" | "hex_floating_point_literal" => {
            let is_float = cx.text(node).ends_with(['f', 'F']);
            primitive(cx, if is_float { "float" } else { "double" })
        }
        "character_literal" => primitive(cx, "char"),
        "null_literal" => primitive(cx, "null"),
        "true" | "false" => primitive(cx, "boolean"),
        "binary_expression" => binary(cx, node, scope),
        "string_interpolation" => inside(cx, node, scope),
        "class_literal" | "type_arguments" => {
            for of in cx.children(node) {
                type_of(cx, of, scope, Role::Type);
            }
            UNKNOWN
        }
        "annotation" | "marker_annotation" => {
            annotation(cx, node, scope);
            UNKNOWN
        }
        "generic_type" | "array_type" | "annotated_type" => type_of(cx, node, scope, Role::Type),
        "modifiers" => UNKNOWN,
        _ => inside(cx, node, scope),
    }
}

/// A name that may be qualified by packages and classes, in types and imports.
pub(super) fn qualified<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, role: Role) -> ExpressionId {
    match node.kind() {
        "identifier" | "type_identifier" => {
            let name = cx.name(node);
            let meant = cx.facts.named(scope, name);
            cx.facts.occurrence(span_of(node), role, meant);
            meant
        }
        "scoped_identifier" | "scoped_type_identifier" => {
            let parts: Vec<Node<'t>> =
                cx.children(node).into_iter().filter(|part| !part.kind().ends_with("annotation")).collect();
            let [of, name] = parts[..] else { return UNKNOWN };
            let on = qualifier(cx, of, scope);
            let text = cx.name(name);
            let meant = cx.facts.member(on, text);
            cx.facts.occurrence(span_of(name), role, meant);
            if on == UNKNOWN { UNKNOWN } else { meant }
        }
        _ => type_of(cx, node, scope, role),
    }
}

/// The qualifier before a dot, where only packages and classes are possible: packages are in lower case.
pub(super) fn qualifier<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let is_package = matches!(node.kind(), "identifier" | "type_identifier") && is_small(cx.text(node));
    if is_package { cx.facts.module(cx.text(node), scope) } else { type_of(cx, node, scope, Role::Reference) }
}

fn is_small(name: &str) -> bool {
    name.starts_with(|first: char| first.is_lowercase())
}

/// `com.shop.Cart` among expressions: names in lower case up to a capitalized one, the first of them unbound.
fn package<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> Option<ExpressionId> {
    let last = field(node, "field").filter(|last| last.kind() == "identifier" && !is_small(cx.text(*last)))?;
    let mut parts = vec![last];
    let mut at = field(node, "object")?;
    while at.kind() == "field_access" {
        let part = field(at, "field").filter(|part| part.kind() == "identifier" && is_small(cx.text(*part)))?;
        parts.push(part);
        at = field(at, "object")?;
    }
    if at.kind() != "identifier" || parts.len() < 2 || !is_small(cx.text(at)) {
        return None;
    }
    let first = cx.name(at);
    if !cx.facts.lookup(scope, first).is_empty() {
        return None;
    }
    let mut meant = cx.facts.module(cx.text(at), scope);
    for part in parts.into_iter().rev() {
        let name = cx.name(part);
        meant = cx.facts.member(meant, name);
    }
    cx.facts.occurrence(span_of(last), Role::Reference, meant);
    Some(meant)
}

/// The receiver of a call or an access.
fn receiver<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let Some(object) = field(node, "object") else { return UNKNOWN };
    let on = visit(cx, object, scope);
    // `Interface.super.method()`.
    let is_super = cx.children(node).iter().any(|child| child.kind() == "super" && *child != object);
    if is_super { cx.facts.of(Op::Instance, on) } else { on }
}

/// Classes of the standard library whose lambdas get what the call around them hands out: `sorted(Comparator.comparing(a -> …))`.
const DESCRIBING: &[&str] = &["Collectors", "Comparator"];
/// Classes whose methods work on their first argument: `Collections.sort(list, …)`.
const ON_FIRST: &[&str] = &["Collections", "Arrays"];
/// Classes that hold what their one argument holds, where they are written with `<>`.
const COPYING: &[&str] = &[
    "ArrayList",
    "LinkedList",
    "HashSet",
    "LinkedHashSet",
    "TreeSet",
    "ArrayDeque",
    "PriorityQueue",
    "HashMap",
    "LinkedHashMap",
    "TreeMap",
];

/// Whether a call begins with one of the [`DESCRIBING`] classes.
fn describes<'t>(cx: &Lower<'_, 't>, node: Node<'t>) -> bool {
    const MOST: usize = 8;
    let calls = std::iter::successors(Some(node), |call| field(*call, "object"));
    let first = calls.take(MOST).take_while(|call| call.kind() != "lambda_expression").last();
    node.kind() == "method_invocation" && first.is_some_and(|first| DESCRIBING.contains(&cx.text(first)))
}

fn invocation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    invocation_within(cx, node, scope, UNKNOWN)
}

/// A call whose lambdas get what `outer` hands out, if that is known.
fn invocation_within<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, outer: ExpressionId) -> ExpressionId {
    let Some(name_node) = field(node, "name") else { return UNKNOWN };
    let object = field(node, "object");
    let is_bare = object.is_none();
    let on = match object.filter(|object| outer != UNKNOWN && object.kind() == "method_invocation") {
        Some(object) => cx.deeper(|cx| Some(invocation_within(cx, object, scope, outer))).unwrap_or(UNKNOWN),
        None => receiver(cx, node, scope),
    };
    let name = method_name(cx, name_node);
    let callee = if is_bare { cx.facts.named(scope, name) } else { cx.facts.member(on, name) };
    if let Some(types) = field(node, "type_arguments") {
        visit(cx, types, scope);
    }
    let is_known = is_bare || on != UNKNOWN;
    let callee_or_none = if is_known { callee } else { UNKNOWN };
    let (first, fitting) = arguments_within(cx, node, scope, callee_or_none, outer);
    cx.facts.occurrence(span_of(name_node), Role::Call, if is_known { fitting } else { callee });
    if is_known { cx.facts.expression(Op::Call, fitting, first) } else { UNKNOWN }
}

/// The list of a call's first argument, the only one whose value matters, and the meaning of the callee for all
/// arguments.
pub(super) fn arguments<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
) -> (ListId, ExpressionId) {
    arguments_within(cx, node, scope, callee, UNKNOWN)
}

fn arguments_within<'t>(
    cx: &mut Lower<'_, 't>,
    node: Node<'t>,
    scope: ScopeId,
    callee: ExpressionId,
    outer: ExpressionId,
) -> (ListId, ExpressionId) {
    let nodes = field(node, "arguments").map(|arguments| cx.children(arguments)).unwrap_or_default();
    let mut all = Vec::with_capacity(nodes.len());
    for (place, argument) in (0..).zip(nodes) {
        all.push(match argument.kind() {
            "lambda_expression" if outer != UNKNOWN => cx.deeper(|cx| lambda(cx, argument, scope, outer, 0)),
            "lambda_expression" => cx.deeper(|cx| lambda(cx, argument, scope, callee, place)),
            _ if describes(cx, argument) => {
                let object = field(node, "object").filter(|object| ON_FIRST.contains(&cx.text(*object)));
                let hands_out = match (outer, object, all.first()) {
                    (UNKNOWN, Some(_), Some(first)) => {
                        let name = cx.facts.look(callee).b;
                        cx.facts.member(*first, NameId(name))
                    }
                    (UNKNOWN, ..) => callee,
                    _ => outer,
                };
                cx.deeper(|cx| Some(invocation_within(cx, argument, scope, hands_out))).unwrap_or(UNKNOWN)
            }
            _ => visit(cx, argument, scope),
        });
    }
    let (first, all) = (cx.facts.list(&all[..all.len().min(1)]), cx.facts.list(&all));
    let fitting = if callee == UNKNOWN { UNKNOWN } else { cx.facts.expression(Op::Fitting, callee, all) };
    (first, fitting)
}

/// `a + b`: a sum with a text is a text, a comparison is a truth value.
fn binary<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let either = [part(cx, node, "left", scope), part(cx, node, "right", scope)];
    match field(node, "operator").map_or("", |operator| cx.text(operator)) {
        "+" => {
            let name = cx.facts.name("String");
            let is_text = |one: &ExpressionId| {
                let it = cx.facts.look(*one);
                it.op == Op::Name && NameId(it.b) == name
            };
            either.into_iter().find(is_text).unwrap_or_else(|| arithmetic(cx, either))
        }
        "-" | "*" | "/" | "%" => arithmetic(cx, either),
        "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" => primitive(cx, "boolean"),
        _ => UNKNOWN,
    }
}

/// The result of arithmetic with a small number, which is of the other type.
fn arithmetic(cx: &mut Lower<'_, '_>, [left, right]: [ExpressionId; 2]) -> ExpressionId {
    let int = primitive(cx, "int");
    match (left == int, right == int) {
        (true, _) => right,
        (_, true) => left,
        _ => UNKNOWN,
    }
}

/// `new Cart(…)`, `new Base() {…}`, `outer.new Inner()`.
fn creation<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let Some(created) = field(node, "type") else { return UNKNOWN };
    let (mut outer, mut body) = (UNKNOWN, None);
    for child in cx.children(node) {
        match child.kind() {
            "class_body" => body = Some(child),
            "annotation" | "marker_annotation" => annotation(cx, child, scope),
            "type_arguments" => drop(visit(cx, child, scope)),
            "argument_list" => {}
            _ if child == created => {}
            _ => outer = visit(cx, child, scope),
        }
    }
    let (mut head, mut types) = (created, Vec::new());
    if created.kind() == "generic_type" {
        for child in cx.children(created) {
            match child.kind() {
                "type_arguments" => {
                    for argument in cx.children(child) {
                        types.push(type_of(cx, argument, scope, Role::Type));
                    }
                }
                _ => head = child,
            }
        }
    }
    // The class and its constructors are both meant by its name.
    let (before, last) = match head.kind() {
        "scoped_type_identifier" => {
            let parts = cx.children(head);
            let last = parts.last().copied().unwrap_or(head);
            let of = parts.first().copied().filter(|of| *of != last);
            (of, last)
        }
        _ => (None, head),
    };
    let text = cx.text(last);
    let name = cx.facts.name(text);
    let class = match before {
        Some(of) => {
            let on = qualifier(cx, of, scope);
            cx.facts.member(on, name)
        }
        None if outer != UNKNOWN => cx.facts.member(outer, name),
        None => cx.facts.named(scope, name),
    };
    let given = field(node, "arguments").map_or(0, |arguments| cx.children(arguments).len());
    let constructors = [Some(given), None].map(|takes| {
        let name = constructor_name(cx, text, takes);
        cx.facts.member(class, name)
    });
    let callee = cx.facts.union(&[class, constructors[0], constructors[1]]);
    let (first, fitting) = arguments(cx, node, scope, callee);
    cx.facts.occurrence(span_of(last), Role::Call, fitting);
    if let ("generic_type", [], [first], true) =
        (created.kind(), &types[..], &cx.facts.items(first)[..], COPYING.contains(&text))
        && body.is_none()
    {
        let made = cx.facts.of(Op::Instance, class);
        return cx.facts.union(&[made, *first]);
    }
    if let Some(body) = body {
        anonymous(cx, body, class, scope);
    }
    let of = match types.is_empty() {
        true => class,
        false => {
            let list = cx.facts.list(&types);
            cx.facts.expression(Op::Generic, class, list)
        }
    };
    cx.facts.of(Op::Instance, of)
}

/// `Cart::total`, `this::total`, `Cart::new`.
fn reference<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let children = cx.children(node);
    let Some(object) = children.first().copied() else { return UNKNOWN };
    let on = visit(cx, object, scope);
    for types in children.iter().filter(|child| child.kind() == "type_arguments") {
        visit(cx, *types, scope);
    }
    match children.last().copied().filter(|last| last.kind() == "identifier" && *last != object) {
        Some(name_node) => {
            let name = method_name(cx, name_node);
            let meant = cx.facts.member(on, name);
            cx.facts.occurrence(span_of(name_node), Role::Reference, meant);
            if on == UNKNOWN { UNKNOWN } else { meant }
        }
        None => on,
    }
}
