//! Kotlin: types of every kind, their functions, constructors and properties, and definitions outside of types.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, Rule};
use crate::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "kotlin",
    aliases: &["kt"],
    extensions: &["kt", "kts"],
    grammar: grammar!("kotlin", tree_sitter_kotlin_ng),
    rules: &[
        (
            Rule::Told {
                signs: &[
                    ("interface", Kind::Type, Detail::Interface),
                    ("enum", Kind::Type, Detail::Enum),
                    ("annotation", Kind::Type, Detail::Annotation),
                    ("", Kind::Class, Detail::Class),
                ],
                name: "name",
                body: "class_body|enum_class_body",
            },
            &["class_declaration"],
        ),
        (symbol(Kind::Class, Detail::Object, "name", "class_body"), &["object_declaration", "companion_object"]),
        (symbol(Kind::Function, Detail::Function, "name", "function_body"), &["function_declaration"]),
        (symbol(Kind::Method, Detail::Constructor, "constructor", "block"), &["secondary_constructor"]),
        (symbol(Kind::Constant, Detail::Property, PROPERTY, "getter|setter"), &["property_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "identifier", "class_body"), &["enum_entry"]),
        (symbol(Kind::Type, Detail::Alias, "type", ""), &["type_alias"]),
        (Rule::Told { signs: PARAMETERS, name: "identifier", body: "" }, &["class_parameter"]),
        (Rule::Branch, &["if_expression", "when_entry", "for_statement", "while_statement", "do_while_statement"]),
        (Rule::Branch, &["catch_block", "&&", "||", "?:"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::MARKED,
    decorators: &["annotation"],
    conventions: &Conventions {
        starts: &[(Kind::Function, "main")],
        test_decorators: &["Test", "ParameterizedTest"],
        test_files: &["*Test", "*Tests", "*Spec"],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const PROPERTY: &str = "variable_declaration/identifier";

/// Parameters of a constructor that are properties of the class.
const PARAMETERS: &[(&str, Kind, Detail)] =
    &[("val", Kind::Constant, Detail::Property), ("var", Kind::Constant, Detail::Property)];
