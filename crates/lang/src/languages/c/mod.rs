//! C: functions, types with their fields, macros and the variables of files. A mere declaration is no symbol; the
//! definition is.

pub(super) mod declarator;
pub(super) mod expressions;
pub(super) mod includes;
pub(super) mod lower;
pub(super) mod macros;
pub(super) mod preprocess;
mod shapes;

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, LanguageSpec, Owner, Place, Relating, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "c",
    extensions: &["c", "h"],
    grammar: grammar!("c", tree_sitter_c, HIGHLIGHT_QUERY),
    preprocess: Some(preprocess::preprocess),
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
        (Rule::Branch, BRANCHES),
    ],
    silent: include_str!("silent.txt"),
    comments: COMMENTS,
    around: &["type_definition"],
    qualified: DECLARATORS,
    imports: &[("preproc_include", "")],
    package: includes::package,
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &includes::SEMANTICS }),
    conventions: &CONVENTIONS,
    ..LanguageSpec::PLAIN
};

pub(super) const FUNCTION: (Rule, &[&str]) =
    (symbol(Kind::Function, Detail::Function, "declarator", "body"), &["function_definition"]);
pub(super) const MACRO: (Rule, &[&str]) = (
    Rule::BySign { signs: &[("value:preproc_arg", Kind::Constant, Detail::Macro)], name: "name", body: "" },
    &["preproc_def"],
);
pub(super) const MACRO_FUNCTION: (Rule, &[&str]) =
    (symbol(Kind::Function, Detail::Macro, "name", "value"), &["preproc_function_def"]);

// Only with a body; without one a type is used.
pub(super) const STRUCT: &[(&str, Kind, Detail)] = &[("body/{", Kind::Class, Detail::Struct)];
pub(super) const UNION: &[(&str, Kind, Detail)] = &[("body/{", Kind::Class, Detail::Union)];
pub(super) const ENUM: &[(&str, Kind, Detail)] = &[("body/{", Kind::Type, Detail::Enum)];
/// An unnamed type has the name of its `typedef`.
pub(super) const TYPEDEF: &[(&str, Kind, Detail)] = &[
    ("type/name", Kind::Type, Detail::Alias),
    ("type:struct_specifier", Kind::Class, Detail::Struct),
    ("type:union_specifier", Kind::Class, Detail::Union),
    ("type:enum_specifier", Kind::Type, Detail::Enum),
    ("", Kind::Type, Detail::Alias),
];

pub(super) const BRANCHES: &[&str] = &[
    "if_statement",
    "for_statement",
    "while_statement",
    "do_statement",
    "case_statement",
    "conditional_expression",
    "&&",
    "||",
];

/// Declarators whose inner one is not a field.
pub(super) const DECLARATORS: &[(&str, &str, &str)] = &[
    ("function_declarator", "", "declarator"),
    ("pointer_declarator", "", "declarator"),
    ("array_declarator", "", "declarator"),
    ("init_declarator", "", "declarator"),
    ("parenthesized_declarator", "", INNER),
    ("attributed_declarator", "", INNER),
];
const INNER: &str = "pointer_declarator|function_declarator|array_declarator|parenthesized_declarator|\
                     identifier|field_identifier|type_identifier";

pub(super) const COMMENTS: Comments =
    Comments { silent: &["// clang-format", "// NOLINT", "/* clang-format"], ..Comments::C };

/// Conventions of C, and of C++, which shares its files.
pub(super) static CONVENTIONS: Conventions = Conventions {
    mains: &["main"],
    starts: &[(Kind::Function, "main")],
    tests: &["test_", "TEST"],
    test_files: &["*_test", "*_tests", "test_*", "test-*", "*-test", "*Test", "test"],
    owner: Owner::Type,
    tells_dead: false,
    ..Conventions::NEUTRAL
};

/// The variables of a file, without declared functions and external definitions.
pub(super) fn variables<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let is_extern = node
        .children(&mut node.walk())
        .any(|child| child.kind() == "storage_class_specifier" && cx.text(child) == "extern");
    // Near a syntax error, parts of a function may be outside of it.
    let is_astray = cx.ancestor(0).is_some_and(|parent| parent.is_error() || parent.kind() == "compound_statement");
    if cx.place() == Place::Module && !is_extern && !is_astray && !declares_function(node) {
        cx.symbol(node, Kind::Constant, Detail::Variable, "declarator", "");
    }
}

/// Whether a declaration is of a function: its declarator, or one in it, has parameters. `int (*f)(void)` is still a
/// variable.
pub(super) fn declares_function(node: Node<'_>) -> bool {
    let mut inner = node.child_by_field_name("declarator");
    while let Some(declarator) = inner {
        let held = declarator.child_by_field_name("declarator");
        if declarator.kind() == "function_declarator" {
            return held.is_none_or(|held| held.kind() != "parenthesized_declarator");
        }
        inner = if declarator.kind() == "reference_declarator" { declarator.named_child(0) } else { held };
    }
    false
}
