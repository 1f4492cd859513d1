//! Objective-C: all that C has, and classes with their properties and methods, protocols and categories.

mod declarators;

use tree_sitter::Node;

use self::declarators::DECLARATORS;
use super::c::{
    BRANCHES, COMMENTS, CONVENTIONS, ENUM, FUNCTION, MACRO, MACRO_FUNCTION, STRUCT, TYPEDEF, UNION,
    variables as variables_of_c,
};
use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Cx, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "objc",
    aliases: &["objective-c", "objectivec"],
    extensions: &["m", "mm"],
    claims: &[("h", is_objective)],
    grammar: grammar!("objc", tree_sitter_objc, HIGHLIGHTS_QUERY),
    highlighted_as: Some(&super::c::SPEC),
    preprocess: Some(super::c::preprocess::preprocess),
    rules: &[
        FUNCTION,
        (Rule::BySign { signs: STRUCT, name: "name", body: "body" }, &["struct_specifier"]),
        (Rule::BySign { signs: UNION, name: "name", body: "body" }, &["union_specifier"]),
        (Rule::BySign { signs: ENUM, name: "name", body: "body" }, &["enum_specifier"]),
        (Rule::BySign { signs: TYPEDEF, name: "declarator", body: "type/body" }, &["type_definition"]),
        (symbol(Kind::Constant, Detail::Field, "declarator", ""), &["field_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["enumerator"]),
        MACRO,
        MACRO_FUNCTION,
        (Rule::Define(variables), &["declaration"]),
        (Rule::BySign { signs: CLASS, name: "identifier^", body: INSIDE }, &["class_interface"]),
        (Rule::Container(of_implementation), &["class_implementation"]),
        (symbol(Kind::Type, Detail::Protocol, "identifier^", INSIDE), &["protocol_declaration"]),
        (symbol(Kind::Method, Detail::Method, "identifier^", "compound_statement"), &["method_definition"]),
        (symbol(Kind::Method, Detail::Method, "identifier^", ""), &["method_declaration"]),
        (symbol(Kind::Constant, Detail::Property, DECLARED, ""), &["property_declaration"]),
        (symbol(Kind::Constant, Detail::Field, DECLARED, ""), &["instance_variable"]),
        (Rule::Branch, BRANCHES),
    ],
    silent: include_str!("silent.txt"),
    comments: COMMENTS,
    around: &["type_definition"],
    qualified: DECLARATORS,
    imports: &[("preproc_include", "")],
    conventions: &CONVENTIONS,
    ..LanguageSpec::PLAIN
};

const CLASS: &[(&str, Kind, Detail)] =
    &[("category:identifier", Kind::Type, Detail::Extension), ("", Kind::Class, Detail::Class)];
const INSIDE: &str = "instance_variables|property_declaration^|method_declaration^";
const DECLARED: &str = "struct_declaration/struct_declarator/identifier|pointer_declarator|function_declarator";
/// The variables of a file, without those that a macro such as `FOUNDATION_EXPORT` says are defined elsewhere.
fn variables<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    const MOST_BEFORE: usize = 200;
    let start = node.start_byte();
    // The macro may have been left out for the grammar.
    let before = &cx.source()[start.saturating_sub(MOST_BEFORE)..start];
    let line = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut words = line.split(|byte| !is_word(byte)).chain(cx.text(node).as_bytes().split(|byte| !is_word(byte)));
    let is_elsewhere = words
        .find(|word| !word.is_empty())
        .is_some_and(|word| word.ends_with(b"_EXPORT") || word.ends_with(b"_EXTERN"));
    if !is_elsewhere || part(node, "declarator/value").is_some() {
        variables_of_c(cx, node);
    }
}

/// The class whose methods an implementation has.
fn of_implementation<'t>(_: &Cx<'_, '_>, node: Node<'t>) -> Option<Node<'t>> {
    part(node, "identifier^")
}

/// Whether a header is written in Objective-C, by words that C does not have.
fn is_objective(text: &[u8]) -> bool {
    const WORDS: &[&str] = &["@interface ", "@protocol ", "@class ", "@import ", "#import "];
    let mut lines = text[..text.len().min(HEAD)].split(|byte| *byte == b'\n');
    lines.any(|line| WORDS.iter().any(|word| line.starts_with(word.as_bytes())))
}

/// The part of a header that is searched for words of Objective-C, in bytes.
const HEAD: usize = 100_000;
