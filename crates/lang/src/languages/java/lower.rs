//! Lowering of Java files and statements; see `resolve` for the requirements.
//!
//! Methods have a namespace of their own: their names are spelt `name()`, and constructors `new Name()`. The single
//! method of a functional interface is also bound as `->`.

use tree_sitter::Node;

use super::super::definition::span_of;
use super::super::lower::Lower;
use super::expressions::{expression, qualifier};
use super::members::{class, is_type};
use super::types::{annotations, array_of, type_of};
use crate::facts::{Bound, Declared, ExpressionId, NameId, Op, ROOT, SEEN, ScopeId, ScopeKind, UNKNOWN};
use codelode_base::model::Role;

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    // Types belong to the package, imports to the file alone.
    let file = cx.facts.scope(ScopeKind::File, ROOT);
    for child in cx.children(root) {
        match child.kind() {
            "package_declaration" => {
                for part in cx.children(child) {
                    if matches!(part.kind(), "identifier" | "scoped_identifier") {
                        let name: String = cx.text(part).split_ascii_whitespace().collect();
                        let name = cx.facts.name(&name);
                        cx.facts.declare(Declared::Package, name, ROOT, ROOT);
                    }
                }
                annotations(cx, child, file);
            }
            "import_declaration" => import(cx, child, file),
            "module_declaration" => {}
            kind if is_type(kind) => class(cx, child, ROOT, file),
            _ => drop(visit(cx, child, file)),
        }
    }
}

/// A method's name in the world of methods.
pub(super) fn method_name(cx: &mut Lower<'_, '_>, node: Node<'_>) -> NameId {
    let name = format!("{}()", cx.text(node));
    cx.facts.name(&name)
}

/// `import a.b.C`, `import a.b.*`, `import static a.b.C.m`, `import static a.b.C.*`.
fn import<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let at = node.start_byte() as u32;
    let is_static = node.children(&mut node.walk()).any(|child| child.kind() == "static");
    let children = cx.children(node);
    let Some(path) = children.first().copied() else { return };
    if children.iter().any(|child| child.kind() == "asterisk") {
        let from = qualifier(cx, path, scope);
        cx.facts.import(at, from, 0);
        cx.facts.star(scope, from, SEEN);
        return;
    }
    let Some((of, last)) = field(path, "scope").zip(field(path, "name")) else { return };
    let of = qualifier(cx, of, scope);
    let name = cx.name(last);
    let mut meant = cx.facts.member(of, name);
    cx.facts.bind(scope, name, Bound::alias(meant));
    if is_static {
        // The name may be that of a field, of a type and of methods, all at once.
        let name = method_name(cx, last);
        let method = cx.facts.member(of, name);
        cx.facts.bind(scope, name, Bound::alias(method));
        meant = cx.facts.union(&[meant, method]);
    }
    cx.facts.import(at, if is_static { of } else { meant }, 0);
    cx.facts.occurrence(span_of(last), Role::Import, meant);
}

pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The class around a scope, as an expression.
pub(super) fn own(cx: &mut Lower<'_, '_>, scope: ScopeId, op: Op) -> ExpressionId {
    cx.facts.class_around(scope).map_or(UNKNOWN, |class| cx.facts.expression(op, class, 0))
}

/// Binds a local variable.
pub(super) fn local(cx: &mut Lower<'_, '_>, name: Node<'_>, scope: ScopeId, value: ExpressionId, of: ExpressionId) {
    if name.kind() == "identifier" {
        let name = cx.name(name);
        cx.facts.bind(scope, name, Bound::variable().value(value).of(of));
    }
}

/// Reads a statement or an expression and returns its value.
pub(super) fn visit<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    cx.deeper(|cx| visit_one(cx, node, scope))
}

/// Visits the children.
pub(super) fn inside<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    for child in cx.children(node) {
        visit(cx, child, scope);
    }
    UNKNOWN
}

/// The part of a node that a field names.
pub(super) fn part<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, name: &str, scope: ScopeId) -> ExpressionId {
    field(node, name).map_or(UNKNOWN, |part| visit(cx, part, scope))
}

fn visit_one<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    match node.kind() {
        "block"
        | "constructor_body"
        | "for_statement"
        | "while_statement"
        | "do_statement"
        | "static_initializer"
        | "try_with_resources_statement" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            inside(cx, node, inner)
        }
        "if_statement" => {
            // `if (x instanceof A a) …` binds inside, `if (!(x instanceof A a)) return;` for the statements after it.
            let condition = field(node, "condition").map_or("", |condition| cx.text(condition));
            let is_negated = condition.trim_start_matches(['(', ' ']).starts_with('!');
            let inner = if is_negated { scope } else { cx.facts.scope(ScopeKind::Block, scope) };
            inside(cx, node, inner)
        }
        "local_variable_declaration" => {
            annotations(cx, node, scope);
            let of = field(node, "type").map_or(UNKNOWN, |of| local_type(cx, of, scope));
            for declarator in cx.children(node) {
                if declarator.kind() == "variable_declarator" {
                    let value = part(cx, declarator, "value", scope);
                    if let Some(name) = field(declarator, "name") {
                        let of = array_of(cx, of, field(declarator, "dimensions"));
                        local(cx, name, scope, value, of);
                    }
                }
            }
            UNKNOWN
        }
        "enhanced_for_statement" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            annotations(cx, node, inner);
            let over = part(cx, node, "value", scope);
            let each = cx.facts.of(Op::Each, over);
            let of = field(node, "type").map_or(UNKNOWN, |of| local_type(cx, of, inner));
            if let Some(name) = field(node, "name") {
                local(cx, name, inner, each, of);
            }
            part(cx, node, "body", inner)
        }
        "resource" => {
            let Some((of, name)) = field(node, "type").zip(field(node, "name")) else {
                return inside(cx, node, scope);
            };
            annotations(cx, node, scope);
            let of = local_type(cx, of, scope);
            let value = part(cx, node, "value", scope);
            local(cx, name, scope, value, of);
            UNKNOWN
        }
        "catch_clause" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            for parameter in cx.children(node) {
                if parameter.kind() != "catch_formal_parameter" {
                    visit(cx, parameter, inner);
                    continue;
                }
                annotations(cx, parameter, inner);
                let caught = cx.children(parameter).into_iter().find(|child| child.kind() == "catch_type");
                let caught = caught.map_or(UNKNOWN, |caught| type_of(cx, caught, inner, Role::Type));
                if let Some(name) = field(parameter, "name") {
                    local(cx, name, inner, UNKNOWN, caught);
                }
            }
            UNKNOWN
        }
        "switch_expression" => {
            let on = part(cx, node, "condition", scope);
            let cases = field(node, "body").map(|body| cx.children(body)).unwrap_or_default();
            for case in cases {
                let inner = cx.facts.scope(ScopeKind::Block, scope);
                for child in cx.children(case) {
                    match child.kind() {
                        "switch_label" => label(cx, child, inner, on),
                        _ => drop(visit(cx, child, inner)),
                    }
                }
            }
            UNKNOWN
        }
        "labeled_statement" => {
            for child in cx.children(node).into_iter().skip(1) {
                visit(cx, child, scope);
            }
            UNKNOWN
        }
        "break_statement" | "continue_statement" => UNKNOWN,
        "return_statement" | "yield_statement" | "throw_statement" | "expression_statement" => inside(cx, node, scope),
        kind if is_type(kind) => {
            class(cx, node, scope, scope);
            UNKNOWN
        }
        _ => expression(cx, node, scope, Role::Reference),
    }
}

/// The type of a local variable; unknown for `var`.
fn local_type<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) -> ExpressionId {
    if cx.text(node) == "var" { UNKNOWN } else { type_of(cx, node, scope, Role::Type) }
}

/// `case A, B:`, `case Point(var x, var y) when …`: a lone name is a constant of the switched value, or any other.
fn label<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, on: ExpressionId) {
    for child in cx.children(node) {
        if child.kind() == "identifier" {
            let name = cx.name(child);
            let (plain, constant) = (cx.facts.named(scope, name), cx.facts.member(on, name));
            let meant = if on == UNKNOWN { plain } else { cx.facts.union(&[constant, plain]) };
            cx.facts.occurrence(span_of(child), Role::Reference, meant);
        } else {
            visit(cx, child, scope);
        }
    }
}

/// The bindings of `instanceof` and `case`: `Circle c`, `Point(int x, var y)`.
pub(super) fn pattern<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId) {
    let children = cx.children(node);
    match node.kind() {
        "type_pattern" | "record_pattern_component" => {
            let Some((name, of)) = children.split_last() else { return };
            let of = of.last().map_or(UNKNOWN, |of| local_type(cx, *of, scope));
            local(cx, *name, scope, UNKNOWN, of);
        }
        "record_pattern" => {
            for (place, child) in children.into_iter().enumerate() {
                match place {
                    0 => drop(type_of(cx, child, scope, Role::Type)),
                    _ => cx.deeper(|cx| pattern(cx, child, scope)),
                }
            }
        }
        _ => {
            for child in children {
                cx.deeper(|cx| pattern(cx, child, scope));
            }
        }
    }
}
