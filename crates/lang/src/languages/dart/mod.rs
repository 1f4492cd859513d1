//! Dart: classes, mixins, extensions and enums with their members, functions, and the variables of files.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, ManifestPart, Package, Public, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "dart",
    extensions: &["dart"],
    interpreters: &["dart"],
    grammar: grammar!("dart", tree_sitter_dart, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Class, Detail::Class, "name", "body"), &["class_declaration", "extension_type_declaration"]),
        (symbol(Kind::Class, Detail::Trait, "name", "body"), &["mixin_declaration"]),
        (symbol(Kind::Type, Detail::Extension, "name", "body"), &["extension_declaration"]),
        (symbol(Kind::Type, Detail::Enum, "name", "body"), &["enum_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["enum_entry"]),
        (symbol(Kind::Type, Detail::Alias, "type_identifier^", ""), &["type_alias"]),
        (symbol(Kind::Function, Detail::Function, "name", ""), &["function_signature"]),
        (symbol(Kind::Function, Detail::Getter, "name", ""), &["getter_signature"]),
        (symbol(Kind::Function, Detail::Setter, "name", ""), &["setter_signature"]),
        (symbol(Kind::Method, Detail::Method, "operator", ""), &["operator_signature"]),
        (symbol(Kind::Method, Detail::Constructor, "name$", ""), CONSTRUCTORS),
        (symbol(Kind::Constant, Detail::Variable, "name", ""), &["initialized_identifier", "static_final_declaration"]),
        (Rule::Branch, &["if_statement", "for_statement", "while_statement", "do_statement", "catch_clause"]),
        (Rule::Branch, &["switch_statement_case", "conditional_expression", "&&", "||"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { silent: &["// ignore", "// @dart"], ..Comments::C },
    decorators: &["annotation"],
    around: &[
        "method_signature",
        "method_declaration",
        "function_declaration",
        "getter_declaration",
        "setter_declaration",
        "local_function_declaration",
        "declaration",
        "member_declaration",
    ],
    conventions: &Conventions {
        mains: &["main"],
        starts: &[(Kind::Function, "main")],
        test_files: &["*_test"],
        public: Public::Unless("_"),
        packages: &[Package { file: "pubspec.yaml", says: &[], names: ManifestPart::Nothing }],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const CONSTRUCTORS: &[&str] = &[
    "constructor_signature",
    "constant_constructor_signature",
    "factory_constructor_signature",
    "redirecting_factory_constructor_signature",
];
