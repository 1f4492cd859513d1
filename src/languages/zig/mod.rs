//! Zig: functions, the types that constants name with their members, and tests.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, ManifestPart, Package, Public, Rule};
use crate::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "zig",
    extensions: &["zig"],
    grammar: grammar!("zig", tree_sitter_zig, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_declaration"]),
        (Rule::BySign { signs: VALUES, name: "identifier", body: TYPE }, &["variable_declaration"]),
        (symbol(Kind::Constant, Detail::Field, "name", ""), &["container_field"]),
        (symbol(Kind::Function, Detail::Function, "string|identifier", "block"), &["test_declaration"]),
        (Rule::Branch, &["if_statement", "if_expression", "for_statement", "for_expression", "while_statement"]),
        (Rule::Branch, &["while_expression", "switch_case", "catch_expression", "and", "or", "orelse"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { line: &["//"], documents: &["///"], ..Comments::NONE },
    conventions: &Conventions {
        mains: &["main"],
        starts: &[(Kind::Function, "main")],
        test_files: &["*_test", "test_*", "test", "tests"],
        public: Public::Word(&["pub"]),
        packages: &[Package { file: "build.zig", says: &[], names: ManifestPart::Nothing }],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const TYPE: &str = "struct_declaration|union_declaration|enum_declaration|opaque_declaration|error_set_declaration";
const VALUES: &[(&str, Kind, Detail)] = &[
    ("struct_declaration/{", Kind::Class, Detail::Struct),
    ("union_declaration/{", Kind::Class, Detail::Union),
    ("opaque_declaration/{", Kind::Class, Detail::Struct),
    ("enum_declaration/{", Kind::Type, Detail::Enum),
    ("error_set_declaration/{", Kind::Type, Detail::Enum),
    ("const", Kind::Constant, Detail::Constant),
    ("", Kind::Constant, Detail::Variable),
];
