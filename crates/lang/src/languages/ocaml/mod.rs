//! OCaml: values and functions, types with their constructors and fields, modules and classes.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// Implementations.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "ocaml",
    aliases: &["ml"],
    extensions: &["ml"],
    interpreters: &["ocaml"],
    grammar: grammar!("ocaml", tree_sitter_ocaml, LANGUAGE_OCAML, OCAML_NODE_TYPES, HIGHLIGHTS_QUERY),
    silent: include_str!("silent.txt"),
    ..COMMON
};

/// Interfaces, which have a grammar of their own.
pub static INTERFACE: LanguageSpec = LanguageSpec {
    id: "ocaml",
    extensions: &["mli"],
    grammar: grammar!("ocaml", tree_sitter_ocaml, LANGUAGE_OCAML_INTERFACE, INTERFACE_NODE_TYPES, HIGHLIGHTS_QUERY),
    silent: include_str!("silent.mli.txt"),
    ..COMMON
};

const COMMON: LanguageSpec = LanguageSpec {
    rules: &[
        (Rule::Define(binding), &["let_binding"]),
        (
            Rule::BySign { signs: DECLARED, name: "value_name|parenthesized_operator", body: "" },
            &["value_specification", "external"],
        ),
        (Rule::BySign { signs: TYPES, name: "name", body: "body" }, &["type_binding"]),
        (symbol(Kind::Constant, Detail::Member, "constructor_name", ""), &["constructor_declaration"]),
        (symbol(Kind::Constant, Detail::Field, "field_name", ""), &["field_declaration"]),
        (symbol(Kind::Type, Detail::Module, "module_name^", "body"), &["module_binding"]),
        (symbol(Kind::Type, Detail::Interface, "module_type_name^", "body"), &["module_type_definition"]),
        (symbol(Kind::Class, Detail::Class, "class_name", "body"), &["class_binding"]),
        (symbol(Kind::Type, Detail::Interface, "class_type_name", "body"), &["class_type_binding"]),
        (symbol(Kind::Method, Detail::Method, "method_name", "body"), &["method_definition", "method_specification"]),
        (symbol(Kind::Constant, Detail::Field, "instance_variable_name", ""), &["instance_variable_definition"]),
        (Rule::Branch, &["if_expression", "match_case", "for_expression", "while_expression", "&&", "||"]),
    ],
    comments: Comments { block: &[("(*", "*)")], ..Comments::NONE },
    around: &["value_definition", "type_definition", "module_definition", "class_definition"],
    conventions: &Conventions { tests: &["test_"], test_files: &["test_*", "*_test"], ..Conventions::NEUTRAL },
    ..LanguageSpec::PLAIN
};

/// A function, also within another, or a value, which is local in an expression.
fn binding<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let is_local =
        cx.ancestor(1).is_some_and(|around| matches!(around.kind(), "let_expression" | "let_class_expression"));
    let signs = if is_local { FUNCTIONS } else { VALUES };
    cx.symbol_by_sign(node, signs, "pattern:value_name|pattern:parenthesized_operator", "body");
}

const VALUES: &[(&str, Kind, Detail)] = &[
    ("parameter/pattern", Kind::Function, Detail::Function),
    ("body:function_expression/match_case", Kind::Function, Detail::Function),
    ("body:fun_expression/body", Kind::Function, Detail::Function),
    ("", Kind::Constant, Detail::Variable),
];
const FUNCTIONS: &[(&str, Kind, Detail)] = VALUES.split_at(3).0;
const DECLARED: &[(&str, Kind, Detail)] = &[
    ("type:function_type/codomain", Kind::Function, Detail::Function),
    ("type:polymorphic_type/type:function_type/codomain", Kind::Function, Detail::Function),
    ("", Kind::Constant, Detail::Variable),
];
const TYPES: &[(&str, Kind, Detail)] = &[
    ("body:record_declaration/field_declaration", Kind::Class, Detail::Record),
    ("body:variant_declaration/constructor_declaration", Kind::Type, Detail::Enum),
    ("", Kind::Type, Detail::Alias),
];
