//! Swift: types of every sort and their extensions, functions, initializers and properties.

mod calls;
mod classes;
mod expressions;
mod lower;
mod members;
mod modules;
mod patterns;
mod semantics;
mod shapes;
mod types;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, ManifestPart, Package, Public, Relating, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "swift",
    extensions: &["swift"],
    interpreters: &["swift"],
    grammar: grammar!("swift", tree_sitter_swift, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::BySign { signs: TYPES, name: "name", body: "body" }, &["class_declaration"]),
        (symbol(Kind::Type, Detail::Protocol, "name", "body"), &["protocol_declaration"]),
        (symbol(Kind::Type, Detail::Alias, "name:type_identifier", ""), &["typealias_declaration"]),
        (symbol(Kind::Type, Detail::NamedType, "name:type_identifier", ""), &["associatedtype_declaration"]),
        (symbol(Kind::Function, Detail::Function, CALLED, "body"), &["function_declaration"]),
        (symbol(Kind::Method, Detail::Method, CALLED, "body"), &["protocol_function_declaration"]),
        (symbol(Kind::Method, Detail::Constructor, "name", "body"), &["init_declaration"]),
        (symbol(Kind::Method, Detail::Method, "deinit", "body"), &["deinit_declaration"]),
        (symbol(Kind::Method, Detail::Method, "subscript", "computed_property"), &["subscript_declaration"]),
        (Rule::BySign { signs: VALUES, name: BOUND, body: "computed_value" }, &["property_declaration"]),
        (symbol(Kind::Constant, Detail::Property, BOUND, ""), &["protocol_property_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["enum_entry"]),
        (Rule::Branch, &["if_statement", "guard_statement", "for_statement", "while_statement"]),
        (Rule::Branch, &["repeat_while_statement", "switch_entry", "catch_block", "ternary_expression"]),
        (Rule::Branch, &["&&", "||", "??"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { documents: &["///", "/**"], ..Comments::MARKED },
    decorators: &["attribute"],
    imports: &[("import_declaration", "")],
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &semantics::SEMANTICS }),
    qualified: &[("user_type", "", "type_identifier"), ("pattern", "", "bound_identifier")],
    conventions: &Conventions {
        mains: &["main"],
        starts: &[(Kind::Function, "main"), (Kind::Method, "main")],
        constructors: &["init"],
        tests: &["test", "setUp", "tearDown"],
        test_decorators: &["Test", "Suite"],
        test_files: &["*Test", "*Tests", "*Spec"],
        public: Public::Word(&["public", "open"]),
        packages: &[Package { file: "Package.swift", says: &[], names: ManifestPart::Nothing }],
        is_implied: |name| matches!(name, "callAsFunction" | "dynamicallyCall" | "subscript"),
        overloads_are_one: false,
        tells_dead: false,
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const TYPES: &[(&str, Kind, Detail)] = &[
    ("struct", Kind::Class, Detail::Struct),
    ("enum", Kind::Type, Detail::Enum),
    ("extension", Kind::Type, Detail::Extension),
    ("", Kind::Class, Detail::Class),
];
const VALUES: &[(&str, Kind, Detail)] = &[
    ("../class_body", Kind::Constant, Detail::Property),
    ("../enum_class_body", Kind::Constant, Detail::Property),
    ("", Kind::Constant, Detail::Variable),
];
/// The first, because a function's result is in the field `name` too.
const CALLED: &str = "name^";
const BOUND: &str = "name/bound_identifier";
