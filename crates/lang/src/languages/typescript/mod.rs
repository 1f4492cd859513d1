//! TypeScript: JavaScript with interfaces, aliases, enums, namespaces, signatures and parameter properties.

mod preprocess;

use tree_sitter::Node;

use super::javascript::{
    self, BRANCHES, EXPRESSIONS, FUNCTIONS, RELATING, SILENT, binding, decorated, define, may_hold, member, name_of,
};
use super::spec::grammar;
use super::{Comments, Cx, Definition, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "typescript",
    aliases: &["ts"],
    extensions: &["ts", "mts", "cts"],
    interpreters: &["deno", "ts-node", "tsx"],
    grammar: grammar!(
        "typescript",
        tree_sitter_typescript,
        LANGUAGE_TYPESCRIPT,
        TYPESCRIPT_NODE_TYPES,
        HIGHLIGHTS_QUERY
    ),
    highlighted_as: Some(&javascript::SPEC),
    rules: RULES,
    silent: include_str!("silent.txt"),
    comments: Comments::C,
    conventions: &javascript::conventions::CONVENTIONS,
    relating: Some(RELATING),
    syntax: &javascript::syntax::SYNTAX,
    imports: javascript::modules::TYPED_STATEMENTS,
    package: javascript::modules::package,
    preprocess: Some(preprocess::preprocess),
    distribution: Some(javascript::modules::DISTRIBUTION),
    ..LanguageSpec::PLAIN
};

/// TypeScript with JSX, which has a grammar of its own because `<T>x` has another meaning there.
pub static TSX: LanguageSpec = LanguageSpec {
    id: "typescript",
    aliases: &["ts"],
    extensions: &["tsx"],
    grammar: grammar!("typescript", tree_sitter_typescript, LANGUAGE_TSX, TSX_NODE_TYPES, HIGHLIGHTS_QUERY),
    highlighted_as: Some(&javascript::SPEC),
    rules: RULES,
    silent: include_str!("silent.tsx.txt"),
    comments: Comments::C,
    conventions: &javascript::conventions::CONVENTIONS,
    relating: Some(RELATING),
    syntax: &javascript::syntax::SYNTAX,
    imports: javascript::modules::TYPED_STATEMENTS,
    package: javascript::modules::package,
    distribution: Some(javascript::modules::DISTRIBUTION),
    ..LanguageSpec::PLAIN
};

/// Scripts of pages, without a grammar and a name: what all languages of pages share.
pub(super) const IN_PAGES: LanguageSpec = LanguageSpec {
    highlighted_as: Some(&javascript::SPEC),
    rules: RULES,
    comments: Comments::C,
    conventions: &super::scripts::CONVENTIONS,
    relating: Some(RELATING),
    syntax: &javascript::syntax::SYNTAX,
    imports: javascript::modules::TYPED_STATEMENTS,
    package: javascript::modules::package,
    distribution: Some(javascript::modules::DISTRIBUTION),
    sanitize: Some(super::scripts::of_vue),
    ..LanguageSpec::PLAIN
};

const RULES: &[(Rule, &[&str])] = &[
    (Rule::Define(javascript::function), FUNCTIONS),
    (Rule::Define(javascript::function), &["function_signature"]),
    (Rule::Define(javascript::class), &["class_declaration", "abstract_class_declaration"]),
    (Rule::Define(binding::expression), binding::EXPRESSIONS),
    (Rule::Define(binding::declarator), &["variable_declarator"]),
    (Rule::Define(binding::assignment), &["assignment_expression"]),
    (Rule::Define(binding::export), &["export_statement"]),
    (Rule::Define(member::method), &["method_definition", "abstract_method_signature"]),
    (Rule::Define(member::field), &["public_field_definition"]),
    (Rule::Define(member::pair), &["pair"]),
    (Rule::Define(signature), &["method_signature", "property_signature"]),
    (Rule::Define(parameter), &["required_parameter", "optional_parameter"]),
    (Rule::Define(interface), &["interface_declaration"]),
    (Rule::Define(alias), &["type_alias_declaration"]),
    (Rule::Define(enumeration), &["enum_declaration"]),
    (Rule::Define(namespace), &["internal_module", "module"]),
    (Rule::Attribute, &["decorator"]),
    (Rule::Branch, BRANCHES),
    (Rule::Skip, SILENT),
    (Rule::WalkIf(may_hold), EXPRESSIONS),
    (Rule::Skip, TYPES),
];

/// Types written in place, whose members are no symbols.
const TYPES: &[&str] = &[
    "array_type",
    "asserts_annotation",
    "call_signature",
    "conditional_type",
    "construct_signature",
    "constructor_type",
    "extends_type_clause",
    "function_type",
    "generic_type",
    "implements_clause",
    "import_alias",
    "index_signature",
    "index_type_query",
    "literal_type",
    "lookup_type",
    "nested_type_identifier",
    "readonly_type",
    "template_literal_type",
    "tuple_type",
    "type_annotation",
    "type_arguments",
    "type_parameters",
    "type_predicate_annotation",
    "type_query",
    "union_type",
];

/// Nodes around a declaration that belong to it; a namespace is a statement's expression.
const OUTER: &[&str] = &["export_statement", "ambient_declaration", "expression_statement"];

/// A method or property that is declared and not defined: in an interface, in an alias of an object type, or as an
/// overload in a class.
fn signature(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let mut up = 0;
    // The object types that a type is put together from with `&` are its own; any other has no name.
    while cx.ancestor(up).is_some_and(|above| {
        matches!(above.kind(), "object_type" | "intersection_type" | "parenthesized_type" | "interface_body")
    }) {
        up += 1;
    }
    let named = ["class_body", "interface_declaration", "type_alias_declaration"];
    if !cx.ancestor(up).is_some_and(|above| named.contains(&above.kind())) {
        return;
    }
    if node.kind() == "method_signature" {
        return member::method(cx, node);
    }
    let Some(name) = node.child_by_field_name("name") else { return };
    let definition = Definition::new(node, name, Kind::Constant, Detail::Property);
    define(cx, Definition { name: name_of(name), ..definition });
}

/// `constructor(private name: string)` declares a field of the class.
fn parameter(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let is_field =
        |child: Node<'_>| matches!(child.kind(), "accessibility_modifier" | "override_modifier" | "readonly");
    let modifiers = (0..6).map_while(|index| node.child(index)).find(|child| child.kind() != "decorator");
    if !modifiers.is_some_and(is_field) {
        return;
    }
    let Some(name) = node.child_by_field_name("pattern").filter(|name| name.kind() == "identifier") else { return };
    let definition = Definition::new(node, name, Kind::Constant, Detail::Field);
    define(cx, decorated(Definition { of_outer: true, ..definition }, node));
}

fn interface(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    declare(cx, node, Kind::Type, Detail::Interface);
}

/// `type Name = …`.
fn alias(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    declare(cx, node, Kind::Type, Detail::Alias);
}

/// `namespace A.B {}`, `module A {}`, `declare module "name"`.
fn namespace(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let is_string = node.child_by_field_name("name").is_some_and(|name| name.kind() == "string");
    declare(cx, node, Kind::Type, if is_string { Detail::Module } else { Detail::Namespace });
}

/// Declares a type, with the nodes around it that belong to it.
fn declare(cx: &mut Cx<'_, '_>, node: Node<'_>, kind: Kind, detail: Detail) {
    // The keywords `module` and `enum` are nodes too.
    let Some(name) = node.child_by_field_name("name") else { return };
    let outer = cx.outermost(node, OUTER);
    let definition = Definition::new(node, name, kind, detail).within(outer).before(node.child_by_field_name("body"));
    define(cx, Definition { name: name_of(name), ..definition });
}

/// An enum and its members. Members may be bare names, so they are defined here and not by a rule.
fn enumeration(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    declare(cx, node, Kind::Type, Detail::Enum);
    let Some(body) = node.child_by_field_name("body") else { return };
    let mut cursor = body.walk();
    for member in body.named_children(&mut cursor) {
        let name = match member.kind() {
            "enum_assignment" => member.child_by_field_name("name"),
            "property_identifier" | "string" | "computed_property_name" => Some(member),
            _ => None,
        };
        if let Some(name) = name {
            let definition = Definition::new(member, name, Kind::Constant, Detail::Member);
            define(cx, Definition { name: name_of(name), ..definition });
        }
    }
}
