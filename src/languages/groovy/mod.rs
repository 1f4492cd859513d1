//! Groovy, also of Gradle: types with their members, functions, and the variables of scripts.

mod skeleton;
mod tokens;

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, LanguageSpec, Rule};
use crate::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "groovy",
    aliases: &["gradle"],
    extensions: &["groovy", "gradle", "gvy"],
    file_names: &["Jenkinsfile"],
    interpreters: &["groovy"],
    grammar: grammar!("groovy", tree_sitter_groovy, "highlights.scm"),
    preprocess: Some(skeleton::preprocess),
    rules: &[
        (Rule::Define(class), &["class_declaration"]),
        (symbol(Kind::Class, Detail::Record, "name", "body"), &["record_declaration"]),
        (symbol(Kind::Type, Detail::Interface, "name", "body"), &["interface_declaration"]),
        (symbol(Kind::Type, Detail::Annotation, "name", "body"), &["annotation_type_declaration"]),
        (symbol(Kind::Type, Detail::Enum, "name", "body"), &["enum_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", "body"), &["enum_constant"]),
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["method_declaration", "function_definition"]),
        (symbol(Kind::Method, Detail::Constructor, "name", "body"), &["constructor_declaration"]),
        (symbol(Kind::Constant, Detail::Field, "declarator/name", ""), &["field_declaration", "constant_declaration"]),
        (symbol(Kind::Constant, Detail::Variable, "declarator/name", ""), &["local_variable_declaration"]),
        (Rule::Branch, &["if_statement", "for_statement", "enhanced_for_statement", "while_statement", "do_statement"]),
        (Rule::Branch, &["catch_clause", "switch_label", "ternary_expression", "&&", "||"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::C,
    decorators: &["marker_annotation", "annotation"],
    conventions: &Conventions {
        test_decorators: &["Test"],
        test_files: &["*Test", "*Tests", "*Spec"],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// A class with a name; an anonymous one is a class to the grammar alone.
fn class<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let before = part(node, "name").and_then(|name| cx.source().get(..name.start_byte())).unwrap_or_default();
    let word = before.trim_ascii_end();
    if word.ends_with(b"class") || word.ends_with(b"trait") {
        cx.symbol(node, Kind::Class, Detail::Class, "name", "body");
    }
}
