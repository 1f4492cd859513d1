//! Erlang: modules, functions with their clauses, records, types, callbacks and macros.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, LanguageSpec, ManifestPart, Package, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "erlang",
    aliases: &["erl"],
    extensions: &["erl", "hrl", "escript"],
    interpreters: &["escript"],
    grammar: grammar!("erlang", tree_sitter_erlang, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Type, Detail::Module, "name", ""), &["module_attribute"]),
        (Rule::Define(function), &["fun_decl"]),
        (symbol(Kind::Class, Detail::Record, "name", ""), &["record_decl"]),
        (
            Rule::BySign { signs: &[("../record_decl", Kind::Constant, Detail::Field)], name: "name", body: "" },
            &["record_field"],
        ),
        (symbol(Kind::Type, Detail::Alias, "name/name", ""), &["type_alias", "opaque"]),
        (symbol(Kind::Function, Detail::Protocol, "fun", ""), &["callback"]),
        (Rule::BySign { signs: MACROS, name: "lhs/name", body: "replacement" }, &["pp_define"]),
        (Rule::Attribute, &["spec"]),
        (Rule::Branch, &["cr_clause", "if_clause", "catch_clause"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { line: &["%"], silent: &["%%%==", "%%--", "%%=="], ..Comments::NONE },
    conventions: &Conventions {
        test_files: &["*_SUITE", "*_tests", "prop_*"],
        packages: &[Package { file: "rebar.config", says: &[], names: ManifestPart::Nothing }],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

const MACROS: &[(&str, Kind, Detail)] =
    &[("lhs/args", Kind::Function, Detail::Macro), ("", Kind::Constant, Detail::Macro)];

/// A clause: all of one name are one function.
fn function<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let name = part(node, "clause/name").map(|name| cx.text(name)).unwrap_or_default();
    if !cx.goes_on(name, node) {
        cx.symbol(node, Kind::Function, Detail::Function, "clause/name", "clause/body");
    }
}
