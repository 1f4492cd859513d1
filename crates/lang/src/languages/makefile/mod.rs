//! Makefiles: targets, variables and texts under a name.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Cx, Definition, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "makefile",
    aliases: &["make"],
    extensions: &["mk", "mak"],
    file_names: &["Makefile", "makefile", "GNUmakefile", "Makefile.in", "Makefile.am"],
    interpreters: &["make"],
    grammar: grammar!("makefile", tree_sitter_make, HIGHLIGHTS_QUERY),
    rules: &[
        (Rule::Define(targets), &["rule"]),
        (symbol(Kind::Constant, Detail::Variable, "name", ""), &["variable_assignment"]),
        (symbol(Kind::Function, Detail::Macro, "name", "value"), &["define_directive"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments::HASH,
    ..LanguageSpec::PLAIN
};

/// The targets of a rule, but neither patterns nor special ones such as `.PHONY`. As values, they weigh less in a search
/// than a program's functions.
fn targets(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(list) = part(node, "targets") else { return };
    let comments = cx.spec.comments;
    let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
    for name in list.named_children(&mut list.walk()).filter(|name| name.kind() == "word") {
        if !cx.has_time() {
            break;
        }
        if !cx.text(name).starts_with('.') && !cx.text(name).contains('%') {
            let definition = Definition::new(node, name, Kind::Constant, Detail::Object);
            cx.define(Definition { doc, ..definition.before(part(node, "recipe")) });
        }
    }
}
