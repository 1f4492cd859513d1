//! Lowering of Ruby expressions.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::super::shape::{NodeContext, NodeResult};
use super::classes::{define, field, owner, parameters};
use crate::facts::{BindingKind, Bound, EMPTY, ExpressionId, NameId, Op, ROOT, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::{Role, Span};

/// The meaning of a name outside of classes: what all files bind to it.
pub(super) fn name_of_file(cx: &mut Lower<'_, '_>, name: NameId) -> ExpressionId {
    let all = cx.facts.module("", ROOT);
    cx.facts.member(all, name)
}

/// Reads statements; returns the value of the last.
pub(super) fn statements<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    let mut value = UNKNOWN;
    for part in cx.pieces(node) {
        value = cx.value(part, scope);
    }
    value
}

pub(super) fn last<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let value = statements(cx, node, at.scope);
    at.says(value)
}

/// Branches, or `a || b`: the value is one of theirs.
pub(super) fn either<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let tested = ["condition", "value", "pattern"].map(|name| field(node, name));
    let is_choice = field(node, "operator").is_none_or(|operator| matches!(cx.text(operator), "||" | "or"));
    let mut values = Vec::new();
    for part in cx.pieces(node) {
        let value = cx.value(part, at.scope);
        values.extend((is_choice && !tested.contains(&Some(part))).then_some(value));
    }
    at.says(cx.facts.union(&values))
}

pub(super) fn own<'t>(cx: &mut Lower<'_, 't>, _: Node<'t>, at: NodeContext) -> NodeResult {
    let name = cx.facts.name("self");
    at.says(cx.facts.named(at.scope, name))
}

/// A variable, or a call of a method without arguments.
pub(super) fn identifier<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let name = cx.name(node);
    let meant = cx.facts.named(at.scope, name);
    let is_local = |kind: BindingKind| kind != BindingKind::Definition && kind != BindingKind::Alias;
    if cx.facts.lookup(at.scope, name).iter().any(|binding| is_local(binding.kind)) {
        return at.says(meant);
    }
    cx.facts.occurrence(span_of(node), Role::Call, meant);
    at.says(cx.facts.expression(Op::Call, meant, EMPTY))
}

pub(super) fn constant<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let name = cx.name(node);
    let meant = cx.facts.named(at.scope, name);
    cx.facts.occurrence(span_of(node), at.role, meant);
    at.says(meant)
}

/// `Outer::Name`, `::Name`
pub(super) fn scoped<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let on = field(node, "scope").map(|on| cx.value(on, at.scope));
    let Some(name) = field(node, "name") else { return at.says(UNKNOWN) };
    let on = on.unwrap_or_else(|| cx.facts.module("", ROOT));
    cx.member(name, on, at.role);
    let name = cx.name(name);
    at.says(if on == UNKNOWN { UNKNOWN } else { cx.facts.member(on, name) })
}

/// `@name`, which is a member of its class.
pub(super) fn variable<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let name = cx.name(node);
    let class = cx.facts.class_around(at.scope);
    let own = class.map_or(UNKNOWN, |class| cx.facts.expression(Op::SelfOf, class, 0));
    at.says(if own == UNKNOWN { UNKNOWN } else { cx.facts.member(own, name) })
}

/// `left = right`
pub(super) fn assignment<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let Some(left) = field(node, "left") else { return at.says(UNKNOWN) };
    let value = field(node, "right").map_or(UNKNOWN, |right| cx.value(right, at.scope));
    assign(cx, left, value, at.scope);
    at.says(value)
}

fn assign<'t>(cx: &mut Lower<'_, 't>, left: Node<'t>, value: ExpressionId, scope: ScopeId) {
    match left.kind() {
        "identifier" => {
            let name = cx.name(left);
            cx.facts.bind(scope, name, Bound::variable().value(value));
        }
        "constant" => {
            let (name, into) = (cx.name(left), owner(cx, scope));
            cx.facts.bind(into, name, Bound::variable().value(value).at(left.start_byte() as u32));
        }
        "instance_variable" | "class_variable" => {
            let (name, into) = (cx.name(left), owner(cx, scope));
            cx.facts.bind(into, name, Bound::variable().value(value));
        }
        "call" => {
            let on = field(left, "receiver").map_or(UNKNOWN, |on| cx.value(on, scope));
            let Some(name_node) = field(left, "method") else { return };
            let (reader, writer) = (cx.name(name_node), cx.facts.name(&format!("{}=", cx.text(name_node))));
            let (reader, writer) = (cx.facts.member(on, reader), cx.facts.member(on, writer));
            let meant = if on == UNKNOWN { writer } else { cx.facts.expression(Op::Else, writer, reader) };
            cx.facts.occurrence(span_of(name_node), Role::Write, meant);
        }
        "left_assignment_list" | "rest_assignment" | "destructured_left_assignment" => {
            for part in cx.children(left) {
                cx.deeper(|cx| assign(cx, part, UNKNOWN, scope));
            }
        }
        _ => drop(cx.value(left, scope)),
    }
}

/// Methods that give each element of a container to their block.
const EACH: &[&str] = &[
    "all?",
    "any?",
    "collect",
    "count",
    "detect",
    "each",
    "each_with_index",
    "each_with_object",
    "filter",
    "filter_map",
    "find",
    "find_all",
    "flat_map",
    "group_by",
    "map",
    "max_by",
    "min_by",
    "none?",
    "partition",
    "reject",
    "select",
    "sort_by",
    "sum",
    "uniq",
];

/// `receiver.method(…) { … }`
pub(super) fn call<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let on = field(node, "receiver").map(|on| cx.value(on, at.scope));
    let method = field(node, "method");
    let text = method.map_or("call", |method| cx.text(method));
    let list = field(node, "arguments");
    // Of the class itself.
    let on = on.or_else(|| (text == "new").then(|| own(cx, node, at).value));
    if on.is_none() && declares(cx, text, list, node, at) {
        return at.says(UNKNOWN);
    }
    let arguments = list.map(|list| cx.list(list, NodeContext::used(at.scope))).unwrap_or_default();
    let each = on.filter(|_| EACH.contains(&text)).map_or(UNKNOWN, |on| cx.facts.of(Op::Each, on));
    if let Some(list) = list {
        symbols(cx, (text, on), list, each, at.scope);
    }
    if let Some(block) = field(node, "block") {
        within_block(cx, block, at.scope, each);
    }
    let (Some(method), arguments) = (method, cx.facts.list(&arguments)) else { return at.says(UNKNOWN) };
    let name = match (text, on) {
        ("new", Some(_)) => cx.facts.name("initialize"),
        _ => cx.name(method),
    };
    let callee = match on {
        Some(on) => cx.facts.member(on, name),
        None => cx.facts.named(at.scope, name),
    };
    cx.facts.occurrence(span_of(method), Role::Call, callee);
    at.says(match (text, on) {
        (_, Some(UNKNOWN)) => UNKNOWN,
        ("new", Some(on)) => cx.facts.of(Op::Instance, on),
        ("class", Some(on)) => cx.facts.of(Op::TypeOf, on),
        _ => cx.facts.expression(Op::Call, callee, arguments),
    })
}

/// Methods that are given the name of a method of their receiver.
const BY_NAME: &[&str] =
    &["__send__", "instance_method", "method", "public_method", "public_send", "respond_to?", "send", "try", "try!"];

/// Reads symbols that name methods: `map(&:name)`, `send(:name)`, and in the body of a class, which tells them to what
/// extends it, `before_action :name`.
fn symbols<'t>(
    cx: &mut Lower<'_, 't>,
    (called, on): (&str, Option<ExpressionId>),
    list: Node<'t>,
    each: ExpressionId,
    scope: ScopeId,
) {
    let body = Some(cx.facts.parent(scope)).filter(|_| cx.facts.is(scope, ScopeKind::Block));
    let class = body.filter(|members| *members != ScopeId::NONE).and_then(|members| cx.facts.class_of(members));
    let class = class.filter(|_| on.is_none()).map(|class| cx.facts.expression(Op::ClassOf, class, 0));
    let is_by_name = BY_NAME.contains(&called);
    for (place, argument) in cx.children(list).into_iter().enumerate() {
        let is_block = argument.kind() == "block_argument";
        let named = match argument.kind() {
            "block_argument" => cx.first(argument),
            "pair" => field(argument, "value"),
            _ => Some(argument),
        };
        let Some(symbol) = named.filter(|named| named.kind() == "simple_symbol") else { continue };
        let name = cx.facts.name(word(cx, symbol));
        let meant = match on {
            _ if is_block => cx.facts.member(each, name),
            Some(on) if is_by_name && place == 0 => cx.facts.member(on, name),
            None if is_by_name && place == 0 => cx.facts.named(scope, name),
            _ => match class {
                Some(class) => cx.facts.member(class, name),
                None => continue,
            },
        };
        let role = if is_block || called.ends_with("send") { Role::Call } else { Role::Reference };
        cx.facts.occurrence(name_of(symbol), role, meant);
    }
}

/// The text of a symbol without its colon.
fn word<'s>(cx: &Lower<'s, '_>, symbol: Node<'_>) -> &'s str {
    cx.text(symbol).trim_start_matches(':')
}

/// The place of a symbol without its colon.
fn name_of(symbol: Node<'_>) -> Span {
    let place = span_of(symbol);
    Span { start: place.start + 1, ..place }
}

/// Whether a call without a receiver declares something, and was read.
fn declares<'t>(cx: &mut Lower<'_, 't>, text: &str, list: Option<Node<'t>>, node: Node<'t>, at: NodeContext) -> bool {
    let Some(list) = list else { return false };
    match text {
        "require" | "require_relative" => {
            let Some(path) = cx.first(list).filter(|path| path.kind() == "string") else { return false };
            let path = cx.text(path).trim_matches(['"', '\'']);
            let spec = if text == "require" { path.to_owned() } else { format!("./{path}") };
            let module = cx.facts.module(&spec, ROOT);
            cx.facts.import(node.start_byte() as u32, module, 0);
        }
        "attr_reader" | "attr_writer" | "attr_accessor" => {
            let scope = owner(cx, at.scope);
            for symbol in cx.children(list).into_iter().filter(|symbol| symbol.kind() == "simple_symbol") {
                let text = cx.text(symbol).trim_start_matches(':');
                let name = cx.facts.name(text);
                let function = define(cx, scope, name, symbol.start_byte() as u32 + 1);
                if let Some(class) = cx.facts.class_of(scope) {
                    let (own, held) = (cx.facts.expression(Op::SelfOf, class, 0), cx.facts.name(&format!("@{text}")));
                    let value = cx.facts.member(own, held);
                    cx.facts.returns(function, value);
                }
            }
        }
        "include" | "prepend" | "extend" => {
            let Some(class) = cx.facts.class_around(at.scope) else { return false };
            for part in cx.children(list) {
                let base = cx.read(part, NodeContext { scope: at.scope, role: Role::Base }).value;
                cx.facts.base(class, base);
            }
        }
        "alias_method" => {
            let parts = cx.children(list);
            let [new, old] = parts[..] else { return false };
            let (new, name) = (cx.facts.name(word(cx, new)), cx.facts.name(word(cx, old)));
            let meant = cx.facts.named(at.scope, name);
            cx.facts.occurrence(name_of(old), Role::Reference, meant);
            let scope = owner(cx, at.scope);
            cx.facts.bind(scope, new, Bound::alias(meant));
        }
        // Names of methods.
        "private" | "public" | "protected" | "module_function" | "private_class_method" => {
            for part in cx.children(list) {
                if part.kind() != "simple_symbol" {
                    cx.value(part, at.scope);
                    continue;
                }
                let name = cx.facts.name(word(cx, part));
                let meant = cx.facts.named(at.scope, name);
                cx.facts.occurrence(name_of(part), Role::Reference, meant);
            }
        }
        _ => return false,
    }
    true
}

pub(super) fn block<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    within_block(cx, node, at.scope, UNKNOWN);
    at.says(UNKNOWN)
}

/// A block or lambda, whose first parameter is `first`.
fn within_block<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, first: ExpressionId) {
    if !matches!(node.kind(), "block" | "do_block" | "lambda") {
        cx.value(node, scope);
        return;
    }
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    if let Some(list) = field(node, "parameters") {
        parameters(cx, list, inner, first);
    }
    if let Some(body) = field(node, "body") {
        cx.value(body, inner);
    }
}

/// `for name in values`
pub(super) fn each<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let over = field(node, "value").map_or(UNKNOWN, |over| statements(cx, over, at.scope));
    let each = cx.facts.of(Op::Each, over);
    if let Some(name) = field(node, "pattern") {
        assign(cx, name, each, at.scope);
    }
    field(node, "body").map(|body| cx.value(body, at.scope));
    at.says(UNKNOWN)
}

/// `rescue Error => error`
pub(super) fn rescue<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, at: NodeContext) -> NodeResult {
    let raised = field(node, "exceptions").map(|all| cx.list(all, NodeContext::used(at.scope))).unwrap_or_default();
    if let Some(name) = field(node, "variable").and_then(|variable| cx.first(variable)) {
        let raised: Vec<ExpressionId> = raised.into_iter().map(|of| cx.facts.of(Op::Instance, of)).collect();
        let value = cx.facts.union(&raised);
        assign(cx, name, value, at.scope);
    }
    field(node, "body").map(|body| cx.value(body, at.scope));
    at.says(UNKNOWN)
}
