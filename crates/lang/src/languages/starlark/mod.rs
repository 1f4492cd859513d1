//! Starlark of Bazel, Buck and others: functions, values, and targets by the names that they are given.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, Public, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "starlark",
    aliases: &["bazel"],
    extensions: &["bzl", "bazel", "star", "sky"],
    file_names: &["BUILD", "WORKSPACE", "BUCK", "Tiltfile"],
    grammar: grammar!("starlark", tree_sitter_starlark, HIGHLIGHTS_QUERY),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_definition"]),
        (symbol(Kind::Constant, Detail::Variable, "left:identifier", ""), &["assignment"]),
        (Rule::Define(target), &["call"]),
        (Rule::Branch, &["if_statement", "elif_clause", "for_statement", "conditional_expression", "if_clause"]),
        (Rule::Branch, &["and", "or"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::HASH,
    conventions: &Conventions { public: Public::Unless("_"), ..Conventions::NEUTRAL },
    ..LanguageSpec::PLAIN
};

/// `rule(name = "target", …)` at the top of a file.
fn target(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(list) = part(node, "arguments").filter(|_| cx.ancestor(1).is_some_and(|of| of.kind() == "module")) else {
        return;
    };
    let is_name = |argument: &Node<'_>| part(*argument, "name:identifier").is_some_and(|name| cx.text(name) == "name");
    let named = list.named_children(&mut list.walk()).find(is_name);
    if let Some(name) = named.and_then(|named| part(named, "value:string/string_content")) {
        let comments = cx.spec.comments;
        let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
        cx.define(Definition { doc, ..Definition::new(node, name, Kind::Class, Detail::Object) });
    }
}
