//! Zig: functions, the types that constants name with their members, and tests.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, ManifestPart, Package, Place, Public, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "zig",
    extensions: &["zig"],
    grammar: grammar!("zig", tree_sitter_zig, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_declaration"]),
        (Rule::Define(variable), &["variable_declaration"]),
        (Rule::Define(field), &["container_field"]),
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

/// A constant or a variable, which may name a type.
fn variable<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let is_type = part(node, TYPE).is_some();
    match is_returned(cx) && !is_type {
        true => member(cx, node, part(node, "identifier^"), Detail::Constant),
        false => cx.symbol_by_sign(node, VALUES, "identifier^", TYPE),
    }
}

/// A field of a struct or union, or a value of an enum.
fn field<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    match is_returned(cx) {
        true => member(cx, node, part(node, "name"), Detail::Field),
        false => cx.symbol(node, Kind::Constant, Detail::Field, "name", ""),
    }
}

/// Whether the node is a member of a type that a function makes, `return struct { … };`: as a member it is no local value.
fn is_returned(cx: &Cx<'_, '_>) -> bool {
    cx.place() == Place::Function && cx.ancestor(1).is_some_and(|around| around.kind() == "return_expression")
}

/// A member of a type without a name of its own.
fn member<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>, name: Option<Node<'t>>, detail: Detail) {
    let Some(name) = name else { return };
    let comments = cx.spec.comments;
    let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
    let mut definition = Definition::new(node, name, Kind::Constant, detail);
    definition.signature.end -= u32::from(cx.text(node).ends_with(';'));
    cx.define(Definition { doc, ..definition });
}
