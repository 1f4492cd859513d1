//! Gleam: functions, types with their constructors, and constants.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, ManifestPart, Package, Public, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "gleam",
    extensions: &["gleam"],
    grammar: grammar!("gleam", tree_sitter_gleam, HIGHLIGHT_QUERY),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function"]),
        (symbol(Kind::Type, Detail::NamedType, "type_name/name", "data_constructors"), &["type_definition"]),
        (symbol(Kind::Type, Detail::Alias, "type_name/name", ""), &["type_alias"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["data_constructor"]),
        (symbol(Kind::Constant, Detail::Field, "label", ""), &["data_constructor_argument"]),
        (symbol(Kind::Constant, Detail::Constant, "name", ""), &["constant"]),
        (Rule::Attribute, &["attribute"]),
        (Rule::Branch, &["case_clause", "&&", "||"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { line: &["//"], silent: &["////"], ..Comments::NONE },
    conventions: &Conventions {
        mains: &["main"],
        starts: &[(Kind::Function, "main")],
        tests: &[],
        test_files: &["*_test"],
        public: Public::Word(&["pub"]),
        packages: &[Package { file: "gleam.toml", says: &[], names: ManifestPart::Nothing }],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};
