//! PHP: functions, classes, interfaces, traits and enums with their members, and constants.

mod classes;
mod expressions;
mod lower;
mod semantics;
mod shapes;
mod types;

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{
    Comments, Conventions, Cx, Definition, LanguageSpec, ManifestPart, Package, Public, Relating, Rule, Syntax,
};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "php",
    extensions: &["php", "phtml", "php5", "php7", "phpt"],
    interpreters: &["php"],
    grammar: grammar!("php", tree_sitter_php, LANGUAGE_PHP, PHP_NODE_TYPES, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_definition"]),
        (symbol(Kind::Method, Detail::Method, "name", "body"), &["method_declaration"]),
        (symbol(Kind::Class, Detail::Class, "name", "body"), &["class_declaration"]),
        (symbol(Kind::Type, Detail::Interface, "name", "body"), &["interface_declaration"]),
        (symbol(Kind::Type, Detail::Trait, "name", "body"), &["trait_declaration"]),
        (symbol(Kind::Type, Detail::Enum, "name", "body"), &["enum_declaration"]),
        (symbol(Kind::Constant, Detail::Member, "name", ""), &["enum_case"]),
        (symbol(Kind::Constant, Detail::Constant, "const_element/name", ""), &["const_declaration"]),
        (symbol(Kind::Constant, Detail::Field, "property_element/name/name", ""), &["property_declaration"]),
        (Rule::Define(promoted), &["property_promotion_parameter"]),
        (Rule::Branch, &["if_statement", "else_if_clause", "for_statement", "foreach_statement", "while_statement"]),
        (Rule::Branch, &["do_statement", "case_statement", "match_conditional_expression", "catch_clause"]),
        (Rule::Branch, &["conditional_expression", "&&", "||", "and", "or", "??"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { line: &["//", "#"], silent: &["/**/", "#["], ..Comments::MARKED },
    decorators: &["attribute_list"],
    imports: &[("namespace_use_declaration", "<?php ")],
    relating: Some(Relating { lower: lower::lower, shapes: shapes::SHAPES, semantics: &semantics::SEMANTICS }),
    conventions: &Conventions {
        constructors: &["__construct"],
        tests: &["test", "setUp", "tearDown"],
        test_decorators: &["Test", "DataProvider"],
        test_files: &["*Test", "*TestCase"],
        public: Public::Unless("_"),
        packages: &[Package { file: "composer.json", says: &["\"name\""], names: ManifestPart::Nothing }],
        is_implied: |name| name.starts_with("__"),
        overloads_are_one: false,
        tells_dead: false,
        ..Conventions::NEUTRAL
    },
    syntax: &SYNTAX,
    ..LanguageSpec::PLAIN
};

/// Syntax search: without an opening tag, anything is text.
static SYNTAX: Syntax = Syntax {
    contexts: &[("<?php ", ";"), ("<?php ", ""), ("<?php class C { ", " }")],
    text: &["text"],
    ..Syntax::PLAIN
};

/// A parameter of a constructor that is a property of the class too.
fn promoted(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    if let Some(name) = node.child_by_field_name("name").and_then(|variable| variable.named_child(0)) {
        cx.define(Definition { of_outer: true, ..Definition::new(node, name, Kind::Constant, Detail::Field) });
    }
}
