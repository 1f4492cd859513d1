//! Haskell: types with their constructors and fields, classes, and functions, each with its clauses and its signature.

use tree_sitter::Node;

use super::sections::{blank, conditions, first_code, sections};
use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, LanguageSpec, Place, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "haskell",
    aliases: &["hs"],
    extensions: &["hs"],
    interpreters: &["runhaskell", "runghc", "stack"],
    grammar: grammar!("haskell", tree_sitter_haskell, "highlights.scm"),
    rules: &[
        (symbol(Kind::Type, Detail::NamedType, "name", "constructors|constructor"), &["data_type", "newtype"]),
        (symbol(Kind::Type, Detail::Alias, "name", ""), &["type_synonym", "type_family"]),
        (symbol(Kind::Type, Detail::Trait, "name", "declarations"), &["class"]),
        (Rule::Container(of_instance), &["instance"]),
        (symbol(Kind::Constant, Detail::Member, "constructor/name", ""), &["data_constructor"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["newtype_constructor", "gadt_constructor"]),
        (symbol(Kind::Constant, Detail::Field, "name/variable", ""), &["field"]),
        (Rule::Define(function), &["signature", "function", "bind"]),
        (Rule::Branch, &["alternative", "conditional", "guards", "multi_way_if"]),
    ],
    silent: include_str!("silent.txt"),
    preprocess: Some(preprocess),
    comments: Comments {
        line: &["-- |", "--"],
        block: &[("{-|", "-}"), ("{-", "-}")],
        silent: &["{-#"],
        ..Comments::NONE
    },
    conventions: &Conventions {
        mains: &["main"],
        starts: &[(Kind::Function, "main")],
        tests: &["prop_", "test_"],
        test_files: &["*Spec", "*Test", "Test*"],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// The type of an instance, whose functions are its methods.
fn of_instance<'t>(_: &Cx<'_, '_>, node: Node<'t>) -> Option<Node<'t>> {
    part(node, "patterns/name|apply|parens|list")
}

/// A signature, or a clause: all of one name are one function.
fn function<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let is_signature = node.kind() == "signature";
    // The grammar calls a type a function, too.
    if !is_signature && node.child_by_field_name("match").is_none() {
        return;
    }
    let way = match node.child_by_field_name("name").map(|name| name.kind()) {
        Some("prefix_id") => "name:prefix_id/operator",
        Some(_) => "name",
        None => "infix/operator",
    };
    let Some(name) = part(node, way).map(|name| cx.text(name)) else { return };
    if cx.goes_on(name, node) {
        return;
    }
    let is_value = name != "main" && cx.place() != Place::Type;
    let is_value = is_value
        && match is_signature {
            true => !cx.text(node).contains("->") && !has_clauses(cx.source(), node.end_byte(), name),
            false => node.kind() == "bind",
        };
    // Also in a value, where it is as local as in a function.
    if is_value && cx.ancestor(0).is_some_and(|around| around.kind() == "local_binds") {
        return;
    }
    let (kind, detail) = if is_value { (Kind::Constant, Detail::Variable) } else { (Kind::Function, Detail::Function) };
    cx.symbol(node, kind, detail, way, "match");
}

/// Whether the code behind a signature is a clause with parameters. Types of functions may have names without an arrow.
fn has_clauses(source: &[u8], end: usize, name: &str) -> bool {
    let behind = &source[end..source.len().min(end + MOST_BEHIND)];
    let clause = first_code(behind, b"--").and_then(|line| line.trim_ascii().strip_prefix(name.as_bytes()));
    let Some(rest) = clause.filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace)) else { return false };
    let parameters = rest.trim_ascii();
    !parameters.is_empty()
        && !parameters.starts_with(b"=")
        && !parameters.starts_with(b"|")
        && !parameters.starts_with(b":")
}

/// The bytes behind a signature that are searched for a clause.
const MOST_BEHIND: usize = 1_000;

/// The grammar leaves out what stands behind an `#else`. Where all sections consist of whole declarations, they are read one
/// after the other.
fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    let begins_line = |part: &[u8]| {
        first_code(part, b"--").is_none_or(|line| !line[0].is_ascii_whitespace() && !line.starts_with(b"module "))
    };
    let mut made: Option<Vec<u8>> = None;
    for condition in conditions(text).iter().filter(|condition| condition.len() > 2) {
        let end = condition.last().map_or(text.len(), |end| end.end);
        let behind = &text[end..text.len().min(end + MOST_BEHIND)];
        if sections(condition).all(|section| begins_line(&text[section])) && begins_line(behind) {
            let made = made.get_or_insert_with(|| text.to_vec());
            condition.iter().for_each(|directive| blank(made, directive.clone()));
        }
    }
    made
}
