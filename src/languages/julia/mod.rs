//! Julia: modules, types with their fields, functions of both forms, macros and constants.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, LanguageSpec, ManifestPart, Package, Rule};
use crate::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "julia",
    aliases: &["jl"],
    extensions: &["jl"],
    interpreters: &["julia"],
    grammar: grammar!("julia", tree_sitter_julia, "highlights.scm"),
    rules: &[
        (symbol(Kind::Type, Detail::Module, "name", "name>"), &["module_definition"]),
        (symbol(Kind::Class, Detail::Struct, TYPE, "type_head>"), &["struct_definition"]),
        (symbol(Kind::Type, Detail::NamedType, TYPE, "type_head>"), &["abstract_definition", "primitive_definition"]),
        (
            Rule::BySign {
                signs: &[("../struct_definition", Kind::Constant, Detail::Field)],
                name: "identifier^",
                body: "",
            },
            &["typed_expression"],
        ),
        (symbol(Kind::Function, Detail::Function, FUNCTION, "signature>"), &["function_definition"]),
        (symbol(Kind::Function, Detail::Macro, FUNCTION, "signature>"), &["macro_definition"]),
        (Rule::Define(assignment), &["assignment"]),
        (Rule::Branch, &["if_statement", "elseif_clause", "for_statement", "while_statement", "catch_clause"]),
        (Rule::Branch, &["ternary_expression", "if_clause"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { block: &[("#=", "=#")], ..Comments::HASH },
    around: &["const_statement"],
    qualified: &[
        ("where_expression", "", "call_expression^|typed_expression^|where_expression^"),
        ("typed_expression", "", "call_expression^"),
        ("call_expression", "", "field_expression^|parametrized_type_expression^|identifier^|operator^"),
        ("binary_expression", "", "parametrized_type_expression^|identifier^"),
        ("parametrized_type_expression", "", "identifier^"),
        ("field_expression", "", "quote_expression|identifier$|operator"),
        // `Base.:(==)(a, b)`.
        ("quote_expression", "", "parenthesized_expression|operator|identifier"),
        ("parenthesized_expression", "", "operator|identifier"),
    ],
    conventions: &Conventions {
        test_files: &["runtests", "test_*", "*_test"],
        packages: &[Package { file: "Project.toml", says: &[], names: ManifestPart::Nothing }],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const TYPE: &str = "type_head/identifier|parametrized_type_expression|binary_expression";
const FUNCTION: &str = "signature/call_expression|typed_expression|where_expression|identifier";

/// `name(…) = …`, or a value.
fn assignment<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let name = match node.named_child(0).map(|left| left.kind()) {
        Some("call_expression") => "call_expression^",
        Some("where_expression") => "where_expression^",
        Some("identifier") => return cx.symbol(node, Kind::Constant, Detail::Variable, "identifier^", ""),
        _ => return,
    };
    cx.symbol(node, Kind::Function, Detail::Function, name, "operator^");
}
