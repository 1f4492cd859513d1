//! HCL of Terraform and others: blocks by their labels, and local values.

use tree_sitter::Node;

use super::definition::span_of;
use super::spec::grammar;
use super::symbol::part;
use super::{Comments, Cx, Definition, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "hcl",
    aliases: &["terraform"],
    extensions: &["tf", "tfvars", "hcl", "nomad"],
    grammar: grammar!("hcl", tree_sitter_hcl, "highlights.scm"),
    rules: &[(Rule::Define(block), &["block"]), (Rule::Define(value), &["attribute"])],
    silent: include_str!("silent.txt"),
    comments: Comments { line: &["#", "//"], block: &[("/*", "*/")], ..Comments::NONE },
    ..LanguageSpec::PLAIN
};

/// A block outside of all others: `resource "kind" "name" { … }`.
fn block<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let is_outer = cx.ancestor(1).is_some_and(|around| around.kind() == "config_file");
    let Some(word) = part(node, "identifier^").filter(|_| is_outer) else { return };
    let (kind, detail) = match cx.text(word) {
        "variable" | "output" => (Kind::Constant, Detail::Variable),
        "module" => (Kind::Type, Detail::Module),
        _ => (Kind::Class, Detail::Object),
    };
    let labels: Vec<Node<'t>> =
        node.named_children(&mut node.walk()).filter(|label| label.kind() == "string_lit").collect();
    let inside = |label: &Node<'_>| part(*label, "template_literal").map(span_of);
    let name = labels.last().and_then(inside).unwrap_or(span_of(word));
    let container = if labels.len() > 1 { labels.first().and_then(inside) } else { None };
    let comments = cx.spec.comments;
    let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
    let definition = Definition::new(node, word, kind, detail).before(part(node, "block_start"));
    cx.define(Definition { name, container: container.unwrap_or(Span::default()), doc, ..definition });
}

/// A value of `locals { … }`, or of a file of values.
fn value<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let around = cx.ancestor(1);
    let is_local = |block: Node<'_>| part(block, "identifier^").is_some_and(|word| cx.text(word) == "locals");
    let is_meant = around.is_some_and(|around| around.kind() == "config_file" || is_local(around));
    if is_meant {
        cx.symbol(node, Kind::Constant, Detail::Variable, "identifier^", "");
    }
}
