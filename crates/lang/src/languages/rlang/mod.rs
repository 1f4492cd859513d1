//! R: functions and values that are assigned to a name, and the classes and methods of S4 and R6, which are calls to the
//! grammar.

use tree_sitter::Node;

use super::definition::span_of;
use super::spec::grammar;
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, ManifestPart, Package, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "rlang",
    aliases: &["r"],
    extensions: &["r"],
    interpreters: &["Rscript"],
    grammar: grammar!("rlang", tree_sitter_r, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::Define(assigned), &["binary_operator"]),
        (Rule::Define(call), &["call"]),
        (Rule::Define(member), &["argument"]),
        (Rule::Branch, &["if_statement", "for_statement", "while_statement", "repeat_statement", "&&", "||"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { line: &["#'", "#"], silent: &["#!", "# nolint"], ..Comments::NONE },
    conventions: &Conventions {
        tests: &["test_"],
        test_files: &["test-*", "test_*", "testthat"],
        packages: &[Package { file: "DESCRIPTION", says: &[], names: ManifestPart::Nothing }],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const ASSIGNED: &[(&str, Kind, Detail)] = &[
    ("rhs:function_definition/body", Kind::Function, Detail::Function),
    ("operator:<-", Kind::Constant, Detail::Variable),
    ("operator:<<-", Kind::Constant, Detail::Variable),
    ("operator:=", Kind::Constant, Detail::Variable),
];

/// Functions, classes, and values outside of functions.
fn assigned<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let rhs = node.child_by_field_name("rhs");
    if rhs.is_some_and(|call| call.kind() == "call" && CLASSES.contains(&called(cx, call))) {
        return cx.symbol(node, Kind::Class, Detail::Class, "lhs:identifier", "rhs/arguments");
    }
    // A function without a name is no symbol, and what is in it is as local as in others.
    let mut around = (0..MOST_AROUND).map_while(|up| cx.ancestor(up));
    let signs = if around.any(|of| of.kind() == "function_definition") { &ASSIGNED[..1] } else { ASSIGNED };
    cx.symbol_by_sign(node, signs, "lhs:identifier", "rhs:function_definition/body");
}

/// Functions that make a class.
const CLASSES: &[&str] = &["setClass", "setRefClass", "R6Class"];
/// How far up a function is looked for around a value.
const MOST_AROUND: usize = 64;

/// The name of the called function, without its package.
fn called<'s>(cx: &Cx<'s, '_>, node: Node<'_>) -> &'s str {
    let function = node.child_by_field_name("function").map(|function| cx.text(function)).unwrap_or_default();
    function.rsplit(':').next().unwrap_or(function)
}

/// `setClass("Name", …)`, `setGeneric("name", …)` and their kin.
fn call(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let (kind, detail) = match called(cx, node) {
        word if CLASSES.contains(&word) => (Kind::Class, Detail::Class),
        "setGeneric" | "setMethod" | "setValidity" => (Kind::Function, Detail::Function),
        _ => return,
    };
    let first = node.child_by_field_name("arguments").and_then(|list| list.named_child(0));
    let text = first.and_then(|first| first.child_by_field_name("value")).filter(|value| value.kind() == "string");
    let name = text.and_then(|text| text.child_by_field_name("content"));
    // Most classes are assigned to their name.
    let is_assigned =
        |name: &Node<'_>| cx.enclosing().is_some_and(|of| of.name.of(cx.source()) == cx.text(*name).as_bytes());
    if let Some(name) = name.filter(|name| !is_assigned(name)) {
        let comments = cx.spec.comments;
        let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
        cx.define(Definition { doc, ..Definition::new(node, name, kind, detail) });
    }
}

/// `name = function(…) …` in a list of an R6 class.
fn member(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let part = |name: &str| node.child_by_field_name(name);
    let (Some(name), Some(value)) = (part("name"), part("value")) else { return };
    let class = cx.ancestor(4).filter(|class| class.kind() == "call" && called(cx, *class) == "R6Class");
    if class.is_none() || value.kind() != "function_definition" {
        return;
    }
    let comments = cx.spec.comments;
    let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
    let mut definition = Definition::new(node, name, Kind::Method, Detail::Method);
    definition.signature.end = value.child_by_field_name("body").map_or(span_of(node).end, |body| span_of(body).start);
    cx.define(Definition { doc, ..definition });
}
