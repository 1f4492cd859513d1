//! Haskell: types with their constructors and fields, classes, and functions, each with its clauses and its signature.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, LanguageSpec, Place, Rule};
use crate::model::{Detail, Kind};

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
    let is_value = is_value && if is_signature { !cx.text(node).contains("->") } else { node.kind() == "bind" };
    let (kind, detail) = if is_value { (Kind::Constant, Detail::Variable) } else { (Kind::Function, Detail::Function) };
    cx.symbol(node, kind, detail, way, "match");
}
