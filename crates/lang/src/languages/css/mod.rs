//! CSS: rules by their selectors, animations, and custom properties.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "css",
    extensions: &["css"],
    grammar: grammar!("css", tree_sitter_css, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Class, Detail::Selector, "selectors", "block"), &["rule_set"]),
        (symbol(Kind::Type, Detail::NamedType, "keyframes_name", "keyframe_block_list"), &["keyframes_statement"]),
        (Rule::Define(property), &["declaration"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { block: &[("/*", "*/")], ..Comments::NONE },
    conventions: &Conventions { served: &[".css"], ..Conventions::NEUTRAL },
    ..LanguageSpec::PLAIN
};

/// `--name: value`.
fn property<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    if part(node, "property_name").is_some_and(|name| cx.text(name).starts_with("--")) {
        cx.symbol(node, Kind::Constant, Detail::Property, "property_name", "");
    }
}
