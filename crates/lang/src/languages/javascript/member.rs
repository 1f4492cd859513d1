//! Members of a class or of an object literal.

use tree_sitter::Node;

use super::value::{Sort, Value, prototype_owner, target, value_of};
use super::{decorated, define, name_of};
use crate::languages::definition::span_of;
use crate::languages::{Cx, Definition};
use codelode_base::model::{Detail, Kind, Span};

/// The most levels of nested objects that are followed to their owner.
const DEPTH: usize = 12;

/// A method with or without a body, in a class, an object literal, or a type.
pub(in crate::languages) fn method(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let Some(parent) = cx.ancestor(0) else { return };
    if is_statement(cx, name) {
        return;
    }
    let container = match parent.kind() {
        "object" => owner(cx, 0, 0),
        _ => Span::default(),
    };
    let body = node.child_by_field_name("body");
    let detail = method_detail(cx, parent, node, name);
    let definition = Definition::new(node, name, Kind::Method, detail);
    let definition = Definition { name: name_of(name), container, runs: body.is_some(), ..definition };
    define(cx, decorated(definition, node).before(body));
}

/// Whether a method is really a statement: where the text is broken, `if (x) { … }` looks like a method called `if`.
fn is_statement(cx: &Cx<'_, '_>, name: Node<'_>) -> bool {
    matches!(cx.text(name), "if" | "for" | "while" | "switch" | "catch" | "function")
        && (0..).map_while(|up| cx.ancestor(up)).any(|above| above.is_error())
}

/// Getter, setter, constructor or plain method.
fn method_detail(cx: &Cx<'_, '_>, parent: Node<'_>, node: Node<'_>, name: Node<'_>) -> Detail {
    let modifiers = (0..8).map_while(|index| node.child(index)).take_while(|child| child.id() != name.id());
    let mut is_static = false;
    for modifier in modifiers {
        match modifier.kind() {
            "get" | "static get" => return Detail::Getter,
            "set" => return Detail::Setter,
            "static" => is_static = true,
            _ => {}
        }
    }
    match parent.kind() {
        "class_body" if !is_static && cx.text(name) == "constructor" => Detail::Constructor,
        _ => Detail::Method,
    }
}

/// A field of a class; a function in a field is a method.
pub(in crate::languages) fn field(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name").or_else(|| node.child_by_field_name("property")) else { return };
    let value = node.child_by_field_name("value").map(|value| value_of(cx, value));
    let (kind, detail, body) = match value {
        Some(Value::Function(value)) => (Kind::Method, Detail::Method, value.child_by_field_name("body")),
        Some(Value::Class(value)) => (Kind::Class, Detail::Class, value.child_by_field_name("body")),
        _ => {
            let is_static = (0..4).map_while(|index| node.child(index)).any(|child| child.kind() == "static");
            (Kind::Constant, if is_static { Detail::Static } else { Detail::Field }, None)
        }
    };
    let definition = Definition { name: name_of(name), ..Definition::new(node, name, kind, detail) };
    define(cx, decorated(definition, node).before(body));
}

/// `key: value` of an object literal: a function or a class gets its name there, data does not.
pub(in crate::languages) fn pair(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(value) = node.child_by_field_name("value") else { return };
    let (kind, detail, value) = match value_of(cx, value) {
        Value::Function(value) => (Kind::Method, Detail::Method, value),
        Value::Class(value) => (Kind::Class, Detail::Class, value),
        _ => return,
    };
    let Some(key) = node.child_by_field_name("key") else { return };
    // In a property descriptor the function's own name is clearer: `{ get: function size() {} }`.
    let described = match cx.text(key) {
        "get" => Some(Detail::Getter),
        "set" => Some(Detail::Setter),
        "value" => Some(detail),
        _ => None,
    };
    let (key, detail) = match (described, value.child_by_field_name("name")) {
        (Some(described), Some(own)) if kind == Kind::Method => (own, described),
        _ => (key, detail),
    };
    let container = owner(cx, 0, 0);
    let definition = Definition::new(node, key, kind, detail).before(value.child_by_field_name("body"));
    define(cx, Definition { name: name_of(key), container, ..definition });
}

/// The owner of the object literal `up` levels above the current node: empty if it is an enclosing symbol, otherwise
/// its name.
///
/// A property with methods (`users` of `api = { users: { list() {} } }`) and a `module.exports` with methods become
/// symbols here, at the first of their methods: most objects are data and have none.
fn owner(cx: &mut Cx<'_, '_>, up: usize, depth: usize) -> Span {
    let mut up = up + 1;
    for _ in 0..DEPTH {
        let Some(holder) = cx.ancestor(up) else { return Span::default() };
        match holder.kind() {
            "parenthesized_expression" | "as_expression" | "satisfies_expression" | "call_expression" => up += 1,
            "arguments" => {
                // `Object.assign(Owner.prototype, { … })`.
                if let Some(owner) = holder.named_child(0).and_then(|first| prototype_owner(cx, first)) {
                    return owner;
                }
                up += 1;
            }
            "variable_declarator" => {
                let name = holder.child_by_field_name("name").filter(|name| name.kind() == "identifier");
                return unless_enclosing(cx, name.map(span_of).unwrap_or_default());
            }
            "assignment_expression" => {
                let Some(target) = holder.child_by_field_name("left").and_then(|left| target(cx, left)) else {
                    return Span::default();
                };
                return match target.sort {
                    Sort::PrototypeItself => target.container,
                    Sort::Module => {
                        let outer = cx.ancestor(up + 1).filter(|outer| outer.kind() == "expression_statement");
                        let definition =
                            Definition::new(outer.unwrap_or(holder), target.node, Kind::Constant, Detail::Property);
                        define_late(cx, definition);
                        Span::default()
                    }
                    _ => unless_enclosing(cx, target.name),
                };
            }
            "pair" => {
                let Some(key) = holder.child_by_field_name("key") else { return Span::default() };
                let name = name_of(key);
                if depth >= DEPTH || cx.enclosing().is_some_and(|symbol| symbol.name == name) {
                    return unless_enclosing(cx, name);
                }
                let outer = owner(cx, up + 1, depth + 1);
                let in_symbol = outer.is_empty() && cx.enclosing().is_some_and(|symbol| symbol.kind == Kind::Constant);
                let definition = Definition::new(holder, key, Kind::Constant, Detail::Property);
                if in_symbol && define_late(cx, Definition { name, ..definition }) {
                    return Span::default();
                }
                return name;
            }
            _ => return Span::default(),
        }
    }
    Span::default()
}

/// `name`, unless it is that of the innermost symbol.
fn unless_enclosing(cx: &Cx<'_, '_>, name: Span) -> Span {
    if cx.enclosing().is_some_and(|symbol| symbol.name == name) { Span::default() } else { name }
}

/// Defines a symbol that begins before the current node; returns whether it is defined. Symbols must be in source
/// order, so it fails if another was defined inside it meanwhile.
fn define_late(cx: &mut Cx<'_, '_>, definition: Definition) -> bool {
    if cx.enclosing().is_some_and(|symbol| symbol.name == definition.name) {
        return true;
    }
    if cx.latest().is_some_and(|symbol| symbol.span.start > definition.span.start) {
        return false;
    }
    define(cx, definition);
    true
}
