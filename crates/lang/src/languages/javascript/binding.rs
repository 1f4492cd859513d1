//! Values that get a name: from a variable, an assignment, an export, or their own.

use tree_sitter::Node;

use super::value::{DEPTH, Sort, Target, Value, bare, is_type_wrapper, target, value_of};
use super::{decorated, define, function_detail};
use crate::languages::definition::span_of;
use crate::languages::{Cx, Definition, Place};
use codelode_base::model::{Detail, Kind, Span};

/// Functions and classes that are values and may have a name of their own. Arrow functions never do.
pub(in crate::languages) const EXPRESSIONS: &[&str] = &["function_expression", "generator_function", "class"];

/// Whether the node `up` levels above the current one is the module itself, or a namespace.
fn in_module(cx: &Cx<'_, '_>, up: usize) -> bool {
    let mut up = up;
    loop {
        match cx.ancestor(up).map(|ancestor| ancestor.kind()) {
            None | Some("program") => return cx.place() != Place::Function,
            Some("export_statement" | "ambient_declaration") => up += 1,
            Some("statement_block") => {
                let owner = cx.ancestor(up + 1).map(|owner| owner.kind());
                return matches!(owner, Some("internal_module" | "module" | "ambient_declaration"));
            }
            // The rest of a broken file is inside an error instead.
            Some("ERROR") => {
                return cx.ancestor(up + 1).is_none_or(|above| above.kind() == "program")
                    && cx.place() != Place::Function;
            }
            _ => return false,
        }
    }
}

/// `name = value` of `const`, `let`, `var` and `using`: functions and classes anywhere, other values in a module.
pub(in crate::languages) fn declarator(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(value) = node.child_by_field_name("value") else {
        if in_module(cx, 1) {
            data_declarator(cx, node);
        }
        return;
    };
    match value_of(cx, value) {
        found @ (Value::Function(_) | Value::Class(_)) => {
            let Some(name) = node.child_by_field_name("name").filter(|name| name.kind() == "identifier") else {
                return;
            };
            let outer = declaration(cx, node);
            // A value that is passed on is used by its receiver.
            let value = bare(value);
            let part = if value.kind() == "assignment_expression" { Part::Handed } else { Part::Own };
            define_value(cx, outer, name, span_of(name), Span::default(), part, &found);
            chain(cx, value, outer, span_of(name), &found);
        }
        Value::Import if !is_exported(cx) => {}
        Value::Import | Value::Reference | Value::Data => {
            if in_module(cx, 1) {
                data_declarator(cx, node);
                chain(cx, value, declaration(cx, node), Span::default(), &Value::Data);
            }
        }
    }
}

/// Whether a declarator is of an exported statement, whose names are the module's own whatever they stand for.
fn is_exported(cx: &Cx<'_, '_>) -> bool {
    cx.ancestor(1).is_some_and(|outer| outer.kind() == "export_statement")
}

/// The node of a declarator's definition: the whole statement if it is the only one.
fn declaration<'n, 't: 'n>(cx: &Cx<'_, 't>, node: Node<'n>) -> Node<'n> {
    let Some(statement) = cx.ancestor(0).filter(|statement| statement.named_child_count() == 1) else { return node };
    match cx.ancestor(1) {
        Some(outer) if outer.kind() == "export_statement" => outer,
        Some(outer) if outer.kind() == "ambient_declaration" => {
            cx.ancestor(2).filter(|outer| outer.kind() == "export_statement").unwrap_or(outer)
        }
        _ if matches!(statement.kind(), "lexical_declaration" | "variable_declaration" | "using_declaration") => {
            statement
        }
        _ => node,
    }
}

/// The variables of a module that one declarator makes.
fn data_declarator(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(pattern) = node.child_by_field_name("name") else { return };
    let is_const = cx.ancestor(0).and_then(|statement| statement.child(0)).is_some_and(|word| word.kind() == "const");
    let detail = if is_const { Detail::Constant } else { Detail::Variable };
    let outer = declaration(cx, node);
    let mut names = Vec::new();
    pattern_names(pattern, &mut names, 0);
    for name in names {
        define(cx, Definition::new(node, name, Kind::Constant, detail).within(outer));
    }
}

/// The names that a pattern binds, in source order.
fn pattern_names<'t>(pattern: Node<'t>, names: &mut Vec<Node<'t>>, depth: usize) {
    match pattern.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => names.push(pattern),
        "pair_pattern" | "assignment_pattern" | "object_assignment_pattern" => {
            let inner = pattern.child_by_field_name("value").or_else(|| pattern.child_by_field_name("left"));
            if let Some(inner) = inner.filter(|_| depth < DEPTH) {
                pattern_names(inner, names, depth + 1);
            }
        }
        "object_pattern" | "array_pattern" | "rest_pattern" if depth < DEPTH => {
            let mut cursor = pattern.walk();
            for inner in pattern.named_children(&mut cursor) {
                pattern_names(inner, names, depth + 1);
            }
        }
        _ => {}
    }
}

/// `target = value`: as [`declarator`], but only if it makes a new name.
pub(in crate::languages) fn assignment(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(parent) = cx.ancestor(0) else { return };
    // The head of a chain handles all of it.
    let mut around = (0..).map_while(|up| cx.ancestor(up)).skip_while(|above| is_type_wrapper(*above));
    if around.next().is_some_and(|head| matches!(head.kind(), "assignment_expression" | "variable_declarator")) {
        return;
    }
    let Some(right) = node.child_by_field_name("right") else { return };
    let is_statement = parent.kind() == "expression_statement";
    let found = value_of(cx, right);
    match found {
        Value::Function(_) | Value::Class(_) => {}
        Value::Data | Value::Reference if is_statement && in_module(cx, 1) => {}
        _ => return,
    }
    let outer = if is_statement { parent } else { node };
    chain(cx, node, outer, Span::default(), &found);
}

/// JavaScript's [`assignment`]: `this.name = value` in a constructor declares a field, unless the class has done so.
/// TypeScript's classes declare all they have.
pub(super) fn assignment_or_field(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let statement = cx.ancestor(0).filter(|parent| parent.kind() == "expression_statement");
    let (Some(statement), true) = (statement, in_constructor(cx)) else { return assignment(cx, node) };
    let target = node.child_by_field_name("left").and_then(|left| target(cx, left));
    let right = node.child_by_field_name("right").map(|right| value_of(cx, right));
    // Only fields that the constructor always sets: statements directly in its body.
    let in_body = cx.ancestor(2).is_some_and(|owner| owner.kind() == "method_definition");
    match (target, right) {
        (Some(target), Some(Value::Data | Value::Reference | Value::Import))
            if in_body && target.of_this && !cx.outer_has(text(cx, target.name)) =>
        {
            let definition = Definition::new(statement, target.node, Kind::Constant, Detail::Field);
            define(cx, Definition { name: target.name, of_outer: true, ..definition });
        }
        _ => assignment(cx, node),
    }
}

/// Whether the innermost symbol is a constructor.
fn in_constructor(cx: &Cx<'_, '_>) -> bool {
    cx.enclosing().is_some_and(|symbol| symbol.detail == Detail::Constructor)
}

/// The text of a span.
fn text<'s>(cx: &Cx<'s, '_>, span: Span) -> &'s str {
    std::str::from_utf8(span.of(cx.source())).unwrap_or_default()
}

/// Defines the targets of `a = b = value`, each name once; `known` has been defined already.
fn chain(cx: &mut Cx<'_, '_>, first: Node<'_>, outer: Node<'_>, known: Span, found: &Value<'_>) {
    let mut defined: Vec<&str> = Vec::new();
    if !known.is_empty() {
        defined.push(text(cx, known));
    }
    let mut link = Some(first);
    for _ in 0..DEPTH {
        let Some(node) = link.filter(|link| link.kind() == "assignment_expression") else { return };
        if let Some(target) = node.child_by_field_name("left").and_then(|left| target(cx, left)) {
            assign(cx, &target, outer, found, &mut defined);
        }
        link = node.child_by_field_name("right").map(bare);
    }
}

/// Defines one target of an assignment.
fn assign<'s>(
    cx: &mut Cx<'s, '_>,
    target: &Target<'_>,
    outer: Node<'_>,
    found: &Value<'_>,
    defined: &mut Vec<&'s str>,
) {
    let mut name = target.name;
    let mut node = target.node;
    if let (Sort::Module, Value::Function(value) | Value::Class(value)) = (target.sort, found) {
        // A module that is a function has that function's name.
        if let Some(own) = value.child_by_field_name("name") {
            (node, name) = (own, span_of(own));
        }
    }
    if defined.contains(&text(cx, name)) {
        return;
    }
    match found {
        Value::Function(_) | Value::Class(_) => {
            let part = match target.sort {
                // It has another name already, or importers know it by no name.
                Sort::Variable | Sort::Module | Sort::Global => Part::Handed,
                Sort::Export => Part::Own,
                _ => Part::Member,
            };
            defined.push(text(cx, name));
            define_value(cx, outer, node, name, target.container, part, found);
        }
        _ => {
            let owner = text(cx, target.container);
            let detail = match target.sort {
                // The constructor of a prototype is implied.
                Sort::Prototype if text(cx, name) != "constructor" => Detail::Property,
                // A reference is exported or shared here, and defined elsewhere.
                _ if matches!(found, Value::Reference) => return,
                Sort::Export | Sort::Global => Detail::Variable,
                // A property of anything but a class is state, not a definition: `document.title = "…"`.
                Sort::Property if owner.starts_with(char::is_uppercase) => Detail::Property,
                _ => return,
            };
            defined.push(text(cx, name));
            let definition = Definition::new(outer, node, Kind::Constant, detail);
            define(cx, Definition { name, container: target.container, ..definition });
        }
    }
}

/// The relation of a value to the target that names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The target itself: a declaration.
    Own,
    /// A member of the target.
    Member,
    /// A value handed to the target, which counts as its use. See [`Symbol::handed`](codelode_base::model::Symbol::handed).
    Handed,
}

/// Defines the function or class that a name is given to; `outer` is all of it.
pub(super) fn define_value(
    cx: &mut Cx<'_, '_>,
    outer: Node<'_>,
    name_node: Node<'_>,
    name: Span,
    container: Span,
    part: Part,
    value: &Value<'_>,
) {
    let (kind, detail, value) = match value {
        Value::Function(value) if part == Part::Member => (Kind::Method, Detail::Method, value),
        Value::Function(value) => {
            (Kind::Function, function_detail(cx, name_node, value.child_by_field_name("body")), value)
        }
        Value::Class(value) => (Kind::Class, Detail::Class, value),
        _ => return,
    };
    let definition = Definition::new(outer, name_node, kind, detail);
    // `this.name = function () {}` in a constructor makes a method of the class.
    let of_outer = part == Part::Member && container.is_empty() && in_constructor(cx);
    let handed = part == Part::Handed;
    let definition = decorated(Definition { name, container, of_outer, handed, ..definition }, *value);
    define(cx, definition.before(value.child_by_field_name("body")));
}

/// `export default` with an unnamed value: the name is `default`.
pub(in crate::languages) fn export(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(value) = node.child_by_field_name("value") else { return };
    let found = value_of(cx, value);
    if matches!(found, Value::Import | Value::Reference) {
        return;
    }
    let mut cursor = node.walk();
    let Some(default) = node.children(&mut cursor).find(|child| child.kind() == "default") else { return };
    match found {
        Value::Function(inner) | Value::Class(inner) => {
            let name = inner.child_by_field_name("name").unwrap_or(default);
            define_value(cx, node, name, span_of(name), Span::default(), Part::Own, &found);
        }
        _ => define(cx, Definition::new(node, default, Kind::Constant, Detail::Constant)),
    }
}

/// A function or class that is a named value, unless its target has named it.
pub(in crate::languages) fn expression(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    // The keyword `class` is a node too.
    let Some(name) = node.child_by_field_name("name") else { return };
    let Some(body) = node.child_by_field_name("body") else { return };
    if cx.enclosing().is_some_and(|symbol| symbol.signature.end as usize == body.start_byte()) {
        return;
    }
    let (kind, detail) = match node.kind() {
        "class" => (Kind::Class, Detail::Class),
        _ => (Kind::Function, function_detail(cx, name, Some(body))),
    };
    let definition = decorated(Definition::new(node, name, kind, detail), node);
    define(cx, Definition { handed: true, ..definition }.before(Some(body)));
}
