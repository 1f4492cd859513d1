//! Ruby: classes, modules, methods, constants, and the methods that `attr_accessor` and its kin make.

mod classes;
mod expressions;
mod semantics;
mod shapes;

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, Named, Package, Relating, Rule};
use crate::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "ruby",
    aliases: &["rb"],
    extensions: &["rb", "rake", "gemspec", "ru", "rbw"],
    file_names: &["Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Brewfile", "Thorfile"],
    interpreters: &["ruby", "jruby", "rake"],
    grammar: grammar!("ruby", tree_sitter_ruby, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Class, Detail::Class, "name", "body"), &["class"]),
        (symbol(Kind::Type, Detail::Module, "name", "body"), &["module"]),
        (Rule::Told { signs: METHODS, name: "name", body: "body" }, &["method", "singleton_method"]),
        (symbol(Kind::Constant, Detail::Constant, "left:constant", ""), &["assignment"]),
        (symbol(Kind::Method, Detail::Alias, "name", "body"), &["alias"]),
        (Rule::Define(accessors), &["call"]),
        (
            Rule::Branch,
            &["if", "elsif", "unless", "while", "until", "for", "when", "in_clause", "rescue", "conditional"],
        ),
        (
            Rule::Branch,
            &["if_modifier", "unless_modifier", "while_modifier", "until_modifier", "&&", "||", "and", "or"],
        ),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments {
        block: &[("=begin", "=end")],
        silent: &["#!", "# frozen_string_literal", "# encoding", "# -*-", "# rubocop:", "# typed:"],
        ..Comments::HASH
    },
    qualified: &[("scope_resolution", "scope", "name")],
    relating: Some(Relating { lower: classes::lower, shapes: shapes::SHAPES, semantics: &semantics::SEMANTICS }),
    conventions: &Conventions {
        constructors: &["initialize"],
        tests: &["test_", "setup", "teardown"],
        test_files: &["*_test", "*_spec", "test_*", "spec_helper", "test_helper"],
        packages: &[Package { file: "Gemfile", says: &["gemspec"], names: Named::Nothing }],
        tells_dead: false,
        is_implied: |name| matches!(name, "initialize" | "to_s" | "inspect" | "method_missing" | "each" | "call"),
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// A method outside of every class and module is called like a function.
const METHODS: &[(&str, Kind, Detail)] =
    &[("../program", Kind::Function, Detail::Function), ("", Kind::Method, Detail::Method)];

/// `attr_reader :a, :b`.
fn accessors(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let method = node.child_by_field_name("method").map(|method| cx.text(method)).unwrap_or_default();
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    if !matches!(method, "attr_reader" | "attr_writer" | "attr_accessor") {
        return;
    }
    let comments = cx.spec.comments;
    let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
    for name in arguments.named_children(&mut arguments.walk()).filter(|name| name.kind() == "simple_symbol") {
        let mut definition = Definition::new(node, name, Kind::Constant, Detail::Property);
        definition.name.start += 1;
        cx.define(Definition { doc, ..definition });
    }
}
