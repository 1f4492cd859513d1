//! Ruby: classes, modules, methods, constants, and the methods that `attr_accessor` and its kin make.

mod classes;
mod expressions;
mod semantics;
mod shapes;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, ManifestPart, Package, Relating, Rule};
use codelode_base::model::{Detail, Kind};

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
        (Rule::BySign { signs: METHODS, name: "name", body: "body" }, &["method", "singleton_method"]),
        (symbol(Kind::Constant, Detail::Constant, "left:constant", ""), &["assignment"]),
        (symbol(Kind::Method, Detail::Alias, "name", "body"), &["alias"]),
        (Rule::Called { function: "method", words: ACCESSORS, names: "arguments/simple_symbol" }, &["call"]),
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
        packages: &[Package { file: "Gemfile", says: &["gemspec"], names: ManifestPart::Nothing }],
        tells_dead: false,
        is_implied: |name| matches!(name, "initialize" | "to_s" | "inspect" | "method_missing" | "each" | "call"),
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// A method outside of every class and module is called like a function.
const METHODS: &[(&str, Kind, Detail)] =
    &[("../program", Kind::Function, Detail::Function), ("", Kind::Method, Detail::Method)];

const ACCESSORS: &[(&str, Kind, Detail)] = &[
    ("attr_reader", Kind::Constant, Detail::Property),
    ("attr_writer", Kind::Constant, Detail::Property),
    ("attr_accessor", Kind::Constant, Detail::Property),
];
