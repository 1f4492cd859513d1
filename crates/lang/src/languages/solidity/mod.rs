//! Solidity: contracts, interfaces and libraries with their functions, modifiers, events, errors and state.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, Public, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "solidity",
    aliases: &["sol"],
    extensions: &["sol"],
    grammar: grammar!("solidity", tree_sitter_solidity, "highlights.scm"),
    rules: &[
        (symbol(Kind::Class, Detail::Class, "name", "body"), &["contract_declaration"]),
        (symbol(Kind::Type, Detail::Interface, "name", "body"), &["interface_declaration"]),
        (symbol(Kind::Type, Detail::Module, "name", "body"), &["library_declaration"]),
        (symbol(Kind::Class, Detail::Struct, "name", "body"), &["struct_declaration"]),
        (symbol(Kind::Constant, Detail::Field, "name", ""), &["struct_member"]),
        (symbol(Kind::Type, Detail::Enum, "name", "body"), &["enum_declaration"]),
        (Rule::Define(member), &["enum_value"]),
        (symbol(Kind::Constant, Detail::Event, "name", ""), &["event_definition"]),
        (symbol(Kind::Type, Detail::NamedType, "name", ""), &["error_declaration", "user_defined_type_definition"]),
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_definition", "modifier_definition"]),
        (symbol(Kind::Method, Detail::Constructor, "constructor", "body"), &["constructor_definition"]),
        (symbol(Kind::Method, Detail::Method, "fallback|receive", "body"), &["fallback_receive_definition"]),
        (symbol(Kind::Constant, Detail::Constant, "name", ""), &["constant_variable_declaration"]),
        (symbol(Kind::Constant, Detail::Variable, "name", ""), &["state_variable_declaration"]),
        (Rule::Branch, &["if_statement", "for_statement", "while_statement", "do_while_statement", "catch_clause"]),
        (Rule::Branch, &["ternary_expression", "&&", "||"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { silent: &["// SPDX", "// solhint"], ..Comments::C },
    conventions: &Conventions {
        tests: &["test"],
        test_files: &["*.t", "*Test"],
        public: Public::Word(&["public", "external"]),
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// A name of an enum, which is a node without parts.
fn member(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    cx.define(Definition::new(node, node, Kind::Constant, Detail::Member));
}
