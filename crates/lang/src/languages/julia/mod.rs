//! Julia: modules, types with their fields, functions of both forms, macros and constants.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, LanguageSpec, ManifestPart, Package, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "julia",
    aliases: &["jl"],
    extensions: &["jl"],
    interpreters: &["julia"],
    grammar: grammar!("julia", tree_sitter_julia, "highlights.scm"),
    rules: &[
        (symbol(Kind::Type, Detail::Module, "name:identifier", "name>"), &["module_definition"]),
        (Rule::Define(defined_type), &["struct_definition", "abstract_definition", "primitive_definition"]),
        (
            Rule::BySign {
                signs: &[("../struct_definition", Kind::Constant, Detail::Field)],
                name: "identifier^",
                body: "",
            },
            &["typed_expression"],
        ),
        (Rule::Define(function), &["function_definition", "macro_definition"]),
        (Rule::Define(assignment), &["assignment"]),
        (Rule::Branch, &["if_statement", "elseif_clause", "for_statement", "while_statement", "catch_clause"]),
        (Rule::Branch, &["ternary_expression", "if_clause"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { block: &[("#=", "=#")], ..Comments::HASH },
    around: &["const_statement"],
    qualified: &[
        ("where_expression", "", "call_expression^|typed_expression^|where_expression^"),
        ("typed_expression", "", "call_expression^|parametrized_type_expression|identifier$"),
        (
            "call_expression",
            "",
            "field_expression^|parametrized_type_expression^|identifier^|operator^|parenthesized_expression^",
        ),
        ("parametrized_type_expression", "", "identifier^|field_expression^"),
        ("field_expression", "", "interpolation_expression|quote_expression|identifier$|operator"),
        // `Base.:(==)(a, b)`.
        ("quote_expression", "", "parenthesized_expression|operator|identifier"),
        // `(of::Type)(a)` is named by the type.
        ("parenthesized_expression", "", "operator|identifier|typed_expression|unary_typed_expression"),
        ("unary_typed_expression", "", "parametrized_type_expression|identifier"),
    ],
    conventions: &Conventions {
        test_files: &["runtests", "test_*", "*_test"],
        packages: &[Package { file: "Project.toml", says: &[], names: ManifestPart::Nothing }],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// A type, with what it derives from or without.
fn defined_type<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let (kind, detail) = match node.kind() {
        "struct_definition" => (Kind::Class, Detail::Struct),
        _ => (Kind::Type, Detail::NamedType),
    };
    let derived = part(node, "type_head/binary_expression").and_then(|derived| derived.named_child(0));
    let name = match derived.map(|name| name.kind()) {
        Some("identifier") => "type_head/binary_expression/identifier^",
        Some(_) => "type_head/binary_expression/parametrized_type_expression^",
        None => "type_head/identifier|parametrized_type_expression",
    };
    cx.symbol(node, kind, detail, name, "type_head>");
}

/// Whether a name is put together by a macro: `function $(name)(…)`.
fn is_made(cx: &Cx<'_, '_>, head: Node<'_>) -> bool {
    let text = cx.text(head);
    let name = text.find('(').map_or(text, |open| &text[..open]);
    name.contains('$')
}

fn function<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    if part(node, "signature").is_some_and(|head| is_made(cx, head)) {
        return;
    }
    let detail = if node.kind() == "macro_definition" { Detail::Macro } else { Detail::Function };
    let name = "signature/call_expression|typed_expression|where_expression|identifier";
    cx.symbol(node, Kind::Function, detail, name, "signature>");
}

/// `name(…) = …`, or a value.
fn assignment<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let Some(left) = node.named_child(0).filter(|left| !is_made(cx, *left)) else { return };
    let name = match left.kind() {
        "call_expression" => "call_expression^",
        "where_expression" => "where_expression^",
        // `name(…)::Type = …`
        "typed_expression" if part(left, "call_expression").is_some() => "typed_expression^",
        "identifier" => return cx.symbol(node, Kind::Constant, Detail::Variable, "identifier^", ""),
        _ => return,
    };
    cx.symbol(node, Kind::Function, Detail::Function, name, "operator^");
}
