//! Lowering of JavaScript and TypeScript: one for both, because they import each other. See `resolve` for
//! the requirements.
//!
//! This file has statements and declarations; [`expressions`], [`functions`], [`classes`], [`types`] and [`exports`]
//! do the rest. `this` is a name like others, bound by every function but the arrows.

mod classes;
mod exports;
mod expressions;
mod functions;
mod jsdoc;
mod literals;
mod narrowing;
mod types;

pub(super) use self::classes::{CALL, CONSTRUCT, ELEMENT};

use tree_sitter::Node;

use self::expressions::walk;
use self::functions::{ArgumentSource, ThisBinding};
use self::narrowing::{after, narrowed};
use crate::facts::{Bound, Declared, Definition, DefinitionId, NONE, NameId, Op, ROOT, ScopeId, ScopeKind, UNKNOWN};
use crate::languages::definition::span_of;
use crate::languages::lower::Lower;
use codelode_base::model::Role;

/// Functions that are values.
const FUNCTIONS: &[&str] = &["arrow_function", "function_expression", "generator_function"];

/// Records a file's facts about names.
pub fn lower<'t>(cx: &mut Lower<'_, 't>, root: Node<'t>) {
    if !expressions::is_typescript(root) {
        jsdoc::typedefs(cx);
    }
    body(cx, root, ROOT, DefinitionId::NONE);
    // The names of a script are global, as for the TypeScript compiler.
    if !cx.facts.is_connected() {
        let global = cx.facts.name("");
        cx.facts.declare(Declared::Package, global, ROOT, ROOT);
    }
}

fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// Whether one of the words before a definition's name is this: `static`, `get`, `default`.
fn has_word(node: Node<'_>, word: &str) -> bool {
    const MOST: u32 = 8;
    let words = (0..MOST).map_while(|place| node.child(place)).take_while(|child| child.kind() != "formal_parameters");
    words.into_iter().any(|child| child.kind() == word)
}

/// The place of a binding that may be a symbol: in a module, a namespace or a class. The scope of a namespace is a
/// [`ScopeKind::File`]: its names are visible inside and exported by name.
fn place(cx: &Lower<'_, '_>, scope: ScopeId, node: Node<'_>) -> u32 {
    let is_outer = [ScopeKind::Module, ScopeKind::File, ScopeKind::Class].iter().any(|kind| cx.facts.is(scope, *kind));
    if is_outer { node.start_byte() as u32 } else { NONE }
}

/// The statements of a block. `function` is the definition that their `return`s belong to, [`NONE`] outside of
/// functions.
fn body<'t>(cx: &mut Lower<'_, 't>, block: Node<'t>, scope: ScopeId, function: DefinitionId) {
    let statements = cx.children(block);
    // Functions and classes are seen by the statements before them.
    let is_hoisted = |node: &Node<'t>| node.kind().ends_with("_declaration") && field(*node, "name").is_some();
    let last = statements.iter().rposition(is_hoisted);
    let mut scope = scope;
    for (place, statement) in statements.into_iter().enumerate() {
        cx.deeper(|cx| self::statement(cx, statement, scope, function));
        if last.is_none_or(|last| last < place) {
            scope = after(cx, statement, scope);
        }
    }
}

fn statement<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, function: DefinitionId) {
    match node.kind() {
        "function_declaration" | "generator_function_declaration" | "function_signature" => {
            if let Some(name) = field(node, "name") {
                declared_function(cx, node, name, scope);
            }
        }
        "class_declaration" | "abstract_class_declaration" => {
            classes::class(cx, node, scope, None);
        }
        "interface_declaration" => classes::interface(cx, node, scope),
        "type_alias_declaration" => classes::alias(cx, node, scope),
        "enum_declaration" => classes::enumeration(cx, node, scope),
        "internal_module" | "module" => classes::namespace(cx, node, scope),
        "ambient_declaration" => match node.child(1).filter(|word| word.kind() == "global") {
            Some(_) => {
                let inner = cx.facts.scope(ScopeKind::File, scope);
                for child in cx.children(node) {
                    body(cx, child, inner, DefinitionId::NONE);
                }
            }
            None => body(cx, node, scope, function),
        },
        "lexical_declaration" | "variable_declaration" | "using_declaration" => {
            let mut own = scope;
            while node.kind() == "variable_declaration" && cx.facts.is(own, ScopeKind::Block) {
                own = cx.facts.parent(own);
            }
            for declarator in cx.children(node) {
                cx.deeper(|cx| self::declarator(cx, declarator, own, scope));
            }
        }
        "import_statement" | "import_alias" => exports::import(cx, node, scope),
        "export_statement" => exports::export(cx, node, scope, function),
        "return_statement" => {
            for child in cx.children(node) {
                let wanted = functions::returned(cx, function, scope);
                let value = expressions::expected(cx, child, scope, wanted);
                if function != DefinitionId::NONE {
                    cx.facts.returns(function, value);
                }
            }
        }
        "for_in_statement" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            let over = field(node, "right").map_or(UNKNOWN, |right| walk(cx, right, scope, Role::Reference));
            let is_of = field(node, "operator").is_some_and(|operator| operator.kind() == "of");
            let each = if is_of { cx.facts.of(Op::Each, over) } else { UNKNOWN };
            if let Some(left) = field(node, "left") {
                match field(node, "kind") {
                    Some(_) => functions::pattern(cx, left, inner, each, UNKNOWN),
                    None => expressions::target(cx, left, scope, each),
                }
            }
            if let Some(body) = field(node, "body") {
                statement(cx, body, inner, function);
            }
        }
        "if_statement" => {
            let condition = field(node, "condition");
            if let Some(condition) = condition {
                walk(cx, condition, scope, Role::Reference);
            }
            let inner = condition.map_or(scope, |condition| narrowed(cx, condition, scope, true));
            if let Some(then) = field(node, "consequence") {
                cx.deeper(|cx| statement(cx, then, inner, function));
            }
            if let Some(otherwise) = field(node, "alternative") {
                let inner = condition.map_or(scope, |condition| narrowed(cx, condition, scope, false));
                cx.deeper(|cx| statement(cx, otherwise, inner, function));
            }
        }
        "catch_clause" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            if let Some(parameter) = field(node, "parameter") {
                functions::pattern(cx, parameter, inner, UNKNOWN, UNKNOWN);
            }
            if let Some(block) = field(node, "body") {
                body(cx, block, inner, function);
            }
        }
        "statement_block" | "for_statement" | "switch_body" | "class_static_block" => {
            let inner = cx.facts.scope(ScopeKind::Block, scope);
            body(cx, node, inner, function);
        }
        "switch_statement" if expressions::is_typescript(node) => switch(cx, node, scope, function),
        "switch_case" => {
            let value = field(node, "value");
            for child in cx.children(node) {
                match value == Some(child) {
                    true => drop(walk(cx, child, scope, Role::Reference)),
                    false => cx.deeper(|cx| statement(cx, child, scope, function)),
                }
            }
        }
        "break_statement" | "continue_statement" | "statement_identifier" | "empty_statement" => {}
        "expression_statement" => {
            for child in cx.children(node) {
                match child.kind() {
                    "internal_module" => classes::namespace(cx, child, scope),
                    _ => drop(walk(cx, child, scope, Role::Reference)),
                }
            }
        }
        kind if kind.ends_with("_statement") || kind.ends_with("_clause") || kind == "switch_default" => {
            body(cx, node, scope, function);
        }
        "ERROR" => body(cx, node, scope, function),
        _ => drop(walk(cx, node, scope, Role::Reference)),
    }
}

/// A `switch` whose cases may tell the type of what it is on.
fn switch<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, scope: ScopeId, function: DefinitionId) {
    if let Some(value) = field(node, "value") {
        walk(cx, value, scope, Role::Reference);
    }
    let Some(block) = field(node, "body") else { return };
    let told = literals::Switch::of(cx, node, scope);
    let inner = cx.facts.scope(ScopeKind::Block, scope);
    for (place, case) in cx.children(block).into_iter().enumerate() {
        let scope = told.as_ref().map_or(inner, |told| told.within(cx, place, inner));
        cx.deeper(|cx| statement(cx, case, scope, function));
    }
}

/// A function with the name of its declaration.
fn declared_function<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, name: Node<'t>, scope: ScopeId) -> DefinitionId {
    let at = name.start_byte() as u32;
    let name = cx.name(name);
    let function = cx.facts.define(Definition { name, at, ..Definition::default() });
    cx.facts.bind(scope, name, Bound::definition(function).at(at));
    functions::function(cx, node, scope, function, ThisBinding::own_of(node, function), ArgumentSource::Nothing);
    function
}

/// `name: type = value`. `own` is the scope of the name, which for `var` may be outside of `scope`.
fn declarator<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, own: ScopeId, scope: ScopeId) {
    let Some(name_node) = field(node, "name") else { return };
    let of = field(node, "type").map_or(UNKNOWN, |of| types::annotation(cx, of, scope));
    let value_node = field(node, "value");
    if name_node.kind() != "identifier" {
        let value = match value_node {
            Some(value) => walk(cx, value, scope, Role::Reference),
            None => cx.facts.of(Op::Instance, of),
        };
        return functions::pattern(cx, name_node, own, value, of);
    }
    let (name, at) = (cx.name(name_node), name_node.start_byte() as u32);
    let bare = value_node.map(|value| expressions::bare(cx, value));
    let mut of = of;
    if of == UNKNOWN && !expressions::is_typescript(node) {
        of = jsdoc::JsDocTypes::above(cx, node).of(cx, scope);
    }
    if let (Some(outer), Some(bare)) = (value_node, bare)
        && (FUNCTIONS.contains(&bare.kind()) || matches!(bare.kind(), "class" | "object"))
    {
        let satisfied = expressions::outer_types(cx, outer, bare, scope);
        of = if of == UNKNOWN { satisfied } else { of };
    }
    match bare {
        Some(value) if FUNCTIONS.contains(&value.kind()) => {
            let function = cx.facts.define(Definition { name, at, ..Definition::default() });
            cx.facts.bind(own, name, Bound::definition(function).at(at));
            let given = functions::wanted(cx, of);
            functions::function(cx, value, scope, function, ThisBinding::own_of(value, function), given);
        }
        Some(value) if value.kind() == "class" => {
            classes::class(cx, value, scope, Some((own, name, at)));
        }
        Some(value) if value.kind() == "object" => {
            let value = classes::object(cx, value, scope, of, false);
            let at = place(cx, own, name_node);
            cx.facts.bind(own, name, Bound::variable().value(value).of(of).at(at));
        }
        Some(_) => {
            let wanted = cx.facts.of(Op::Instance, of);
            let value = match value_node {
                Some(call) if call.kind() == "call_expression" => {
                    cx.deeper(|cx| expressions::call(cx, call, scope, of))
                }
                Some(value) => expressions::expected(cx, value, scope, wanted),
                None => UNKNOWN,
            };
            if of == UNKNOWN && exports::is_import(cx, value) && !is_exported(node) {
                // The name is another name for the import.
                cx.facts.occurrence(span_of(name_node), Role::Import, value);
                cx.facts.bind(own, name, Bound::alias(value));
            } else {
                // The function in a wrapper call may be a symbol in any scope.
                let arguments = bare.and_then(|value| field(value, "arguments"));
                let is_wrapped = arguments.is_some_and(|arguments| {
                    cx.children(arguments).iter().any(|one| FUNCTIONS.contains(&one.kind()) || one.kind() == "class")
                });
                let at = if is_wrapped { name_node.start_byte() as u32 } else { place(cx, own, name_node) };
                cx.facts.bind(own, name, Bound::variable().value(value).of(of).at(at));
            }
        }
        None => {
            let at = place(cx, own, name_node);
            cx.facts.bind(own, name, Bound::variable().of(of).at(at));
        }
    }
}

/// Whether a declarator is of an exported statement.
fn is_exported(node: Node<'_>) -> bool {
    let outer = node.parent().and_then(|statement| statement.parent());
    outer.is_some_and(|outer| outer.kind() == "export_statement")
}

/// The names that a declaration declares.
fn declared_names<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, names: &mut Vec<NameId>) {
    match node.kind() {
        "lexical_declaration" | "variable_declaration" | "ambient_declaration" => {
            for child in cx.children(node) {
                declared_names(cx, child, names);
            }
        }
        "variable_declarator" => {
            if let Some(name) = field(node, "name") {
                pattern_names(cx, name, names);
            }
        }
        "import_alias" => {
            if let Some(name) = cx.first(node) {
                names.push(cx.name(name));
            }
        }
        _ => {
            if let Some(name) = field(node, "name") {
                // `namespace A.B` declares A.
                let text = cx.text(name).split('.').next().unwrap_or_default().trim();
                names.push(cx.facts.name(text));
            }
        }
    }
}

fn pattern_names<'t>(cx: &mut Lower<'_, 't>, node: Node<'t>, names: &mut Vec<NameId>) {
    match node.kind() {
        "identifier" | "shorthand_property_identifier_pattern" => names.push(cx.name(node)),
        "pair_pattern" | "assignment_pattern" | "object_assignment_pattern" => {
            if let Some(inner) = field(node, "value").or_else(|| field(node, "left")) {
                cx.deeper(|cx| pattern_names(cx, inner, names));
            }
        }
        _ => {
            for child in cx.children(node) {
                cx.deeper(|cx| pattern_names(cx, child, names));
            }
        }
    }
}
