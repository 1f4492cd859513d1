//! JavaScript with JSX: functions, classes and their members, the values of modules, and other named values.
//!
//! Most functions of JavaScript are values: their name is that of the variable, property, field or export that they
//! are assigned to (`binding`), or of the object literal around them (`member`). TypeScript uses all of it.

pub(super) mod binding;
pub(super) mod conventions;
mod lower;
pub(super) mod member;
pub(super) mod modules;
mod runner;
pub mod syntax;
mod value;

use tree_sitter::Node;

use super::definition::span_of;
use super::spec::grammar;
use super::{Comments, Cx, Definition, LanguageSpec, Place, Relating, Rule};
use codelode_base::model::{Detail, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "javascript",
    aliases: &["js"],
    extensions: &["js", "mjs", "cjs", "jsx"],
    file_names: &["Jakefile"],
    interpreters: &["node", "nodejs", "bun"],
    grammar: grammar!("javascript", tree_sitter_javascript, HIGHLIGHT_QUERY),
    rules: &[
        (Rule::Define(function), FUNCTIONS),
        (Rule::Define(class), &["class_declaration"]),
        (Rule::Define(binding::expression), binding::EXPRESSIONS),
        (Rule::Define(binding::declarator), &["variable_declarator"]),
        (Rule::Define(binding::assignment_or_field), &["assignment_expression"]),
        (Rule::Define(binding::export), &["export_statement"]),
        (Rule::Define(member::method), &["method_definition"]),
        (Rule::Define(member::field), &["field_definition"]),
        (Rule::Define(member::pair), &["pair"]),
        (Rule::Attribute, &["decorator"]),
        (Rule::Branch, BRANCHES),
        (Rule::Skip, SILENT),
        (Rule::WalkIf(may_hold), EXPRESSIONS),
        (Rule::Skip, &["formal_parameters", "jsx_closing_element"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::C,
    conventions: &conventions::CONVENTIONS,
    relating: Some(RELATING),
    syntax: &syntax::SYNTAX,
    imports: modules::STATEMENTS,
    package: modules::package,
    distribution: Some(modules::DISTRIBUTION),
    ..LanguageSpec::PLAIN
};

/// How names are resolved, of TypeScript too: the two import each other.
pub(super) const RELATING: Relating = Relating { lower: lower::lower, shapes: &[], semantics: &modules::SEMANTICS };

/// Functions that are statements.
pub(super) const FUNCTIONS: &[&str] = &["function_declaration", "generator_function_declaration"];

/// Nodes that add a path through a function.
pub(super) const BRANCHES: &[&str] = &[
    "if_statement",
    "for_statement",
    "for_in_statement",
    "while_statement",
    "do_statement",
    "switch_case",
    "catch_clause",
    "ternary_expression",
    "&&",
    "||",
    "??",
    "&&=",
    "||=",
    "??=",
];

/// Nodes without definitions and branches.
pub(super) const SILENT: &[&str] = &["import_statement", "object_pattern", "array_pattern"];

/// Statements and expressions that are walked only if their text [`may_hold`] a definition or a branch.
pub(super) const EXPRESSIONS: &[&str] = &[
    "arguments",
    "array",
    "binary_expression",
    "call_expression",
    "expression_statement",
    "lexical_declaration",
    "member_expression",
    "new_expression",
    "parenthesized_expression",
    "return_statement",
    "subscript_expression",
    "template_string",
    "throw_statement",
    "unary_expression",
    "update_expression",
    "variable_declaration",
];

/// The longest text that is searched before it is walked. Longer ones mostly contain something, and their parts are
/// searched again.
const LOOK: usize = 256;

/// Whether an expression or a simple statement may contain a definition or a branch. A definition in an expression
/// has a `{` or a `=>`, and a branch has `&&`, `||`, `??` or `? :`; most have none of them. Searching the bytes is
/// much faster than visiting the nodes.
pub(super) fn may_hold(cx: &Cx<'_, '_>, node: Node<'_>) -> bool {
    let text = span_of(node).of(cx.source());
    let defines_data = || match cx.enclosing() {
        Some(symbol) if symbol.detail == Detail::Constructor => true,
        _ => cx.place() != Place::Function,
    };
    if text.len() > LOOK || (is_statement(node) && defines_data()) {
        return true;
    }
    let mut last = 0;
    text.iter().any(|byte| {
        let before = std::mem::replace(&mut last, *byte);
        match byte {
            b'{' => before != b'$',
            b'>' => before == b'=',
            b'&' | b'|' => before == *byte,
            b'?' => true,
            _ => false,
        }
    })
}

/// The statements that define data in a module, and in a constructor.
fn is_statement(node: Node<'_>) -> bool {
    matches!(node.kind(), "expression_statement" | "lexical_declaration" | "variable_declaration")
}

/// Nodes around a declaration that belong to it.
const OUTER: &[&str] = &["export_statement", "ambient_declaration"];

/// `function`, also with `*` and `async`, and TypeScript's without a body.
pub(super) fn function(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let body = node.child_by_field_name("body");
    let detail = function_detail(cx, name, body);
    let outer = cx.outermost(node, OUTER);
    let definition = Definition::new(node, name, Kind::Function, detail).within(outer).before(body);
    define(cx, Definition { runs: body.is_some(), ..definition });
}

/// `class` as a statement.
pub(super) fn class(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let outer = cx.outermost(node, OUTER);
    let definition = Definition::new(node, name, Kind::Class, Detail::Class).within(outer);
    let definition = decorated(decorated(definition, outer), node);
    define(cx, definition.before(node.child_by_field_name("body")));
}

/// Adds the decorators that open `node`; the signature begins after those that open the whole definition.
pub(super) fn decorated(mut definition: Definition, node: Node<'_>) -> Definition {
    if node.child(0).is_none_or(|first| first.kind() != "decorator") {
        return definition;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "decorator" => {
                let decorator = span_of(child);
                if !definition.decorators.contains(&decorator) {
                    definition.decorators.push(decorator);
                }
            }
            "comment" => {}
            _ => {
                if definition.signature.start == node.start_byte() as u32 {
                    definition.signature.start = child.start_byte() as u32;
                }
                break;
            }
        }
    }
    definition
}

/// Records a definition, with its decorators and its JSDoc comment.
pub(super) fn define(cx: &mut Cx<'_, '_>, mut definition: Definition) {
    if let Some(first) = cx.attributes().first() {
        definition.span.start = definition.span.start.min(first.start);
        definition.decorators.splice(0..0, cx.attributes().iter().copied());
    }
    definition.doc = doc(cx, definition.span.start);
    if definition.doc.is_empty() && definition.signature.start != definition.span.start {
        definition.doc = doc(cx, definition.signature.start);
    }
    cx.define(definition);
}

/// The JSDoc comment above byte `start`. Directives for tools may be between: `// eslint-disable-next-line`.
pub(super) fn doc(cx: &Cx<'_, '_>, start: u32) -> Span {
    let source = cx.source();
    let mut start = start as usize;
    for _ in 0..4 {
        let Some(before) = source.get(..start) else { return Span::default() };
        // The bytes before show that there is no comment, which is the usual case.
        let above = before.trim_ascii_end();
        if above.ends_with(b"*/") {
            return cx.doc_above(start, |opening| opening.starts_with("/**") && opening != "/**/");
        }
        let Some(newline) = before[above.len()..].iter().position(|byte| *byte == b'\n') else {
            return Span::default();
        };
        // Only hand-written code has such directives, and its lines are short.
        let line = &above[above.len().saturating_sub(200)..];
        let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let blank = before[above.len() + newline + 1..].contains(&b'\n');
        if blank || !line.trim_ascii_start().starts_with(b"//") {
            return Span::default();
        }
        start = above.len() - line.trim_ascii_start().len();
    }
    Span::default()
}

/// The name of a key, a property or a string, without a string's quotes. A number is no name, and a computed key only
/// if the brackets contain a name: `[Symbol.iterator]`.
pub(super) fn name_of(key: Node<'_>) -> Span {
    let is_name = |inner: Node<'_>| matches!(inner.kind(), "identifier" | "member_expression" | "string");
    match key.kind() {
        "number" => Span::default(),
        "computed_property_name" if !key.named_child(0).is_some_and(is_name) => Span::default(),
        "string" => Span::new(key.start_byte() + 1, key.end_byte().saturating_sub(1)),
        _ => span_of(key),
    }
}

/// The detail of a function. A component has a capitalized name and returns JSX.
pub(super) fn function_detail(cx: &Cx<'_, '_>, name: Node<'_>, body: Option<Node<'_>>) -> Detail {
    match body {
        Some(body) if cx.text(name).starts_with(char::is_uppercase) && answers_jsx(body) => Detail::Component,
        _ => Detail::Function,
    }
}

/// Whether a function body is JSX or returns it in one of its own statements.
fn answers_jsx(body: Node<'_>) -> bool {
    if body.kind() != "statement_block" {
        return is_jsx(body, 0);
    }
    let mut cursor = body.walk();
    body.named_children(&mut cursor)
        .filter(|statement| statement.kind() == "return_statement")
        .any(|statement| statement.named_child(0).is_some_and(|value| is_jsx(value, 0)))
}

/// Whether an expression yields JSX in any of its branches.
fn is_jsx(value: Node<'_>, depth: usize) -> bool {
    let any_of = |fields: &[&str]| {
        depth < 8
            && fields.iter().any(|field| value.child_by_field_name(field).is_some_and(|inner| is_jsx(inner, depth + 1)))
    };
    match value.kind() {
        "jsx_element" | "jsx_self_closing_element" => true,
        "parenthesized_expression" => depth < 8 && value.named_child(0).is_some_and(|inner| is_jsx(inner, depth + 1)),
        "ternary_expression" => any_of(&["consequence", "alternative"]),
        "binary_expression" => any_of(&["right"]),
        _ => false,
    }
}
