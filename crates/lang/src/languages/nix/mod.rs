//! Nix: functions and the outermost values of a file.

use tree_sitter::Node;

use super::spec::grammar;
use super::symbol::part;
use super::{Comments, Cx, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "nix",
    extensions: &["nix"],
    grammar: grammar!("nix", tree_sitter_nix, HIGHLIGHTS_QUERY),
    rules: &[(Rule::Define(binding), &["binding"]), (Rule::Branch, &["if_expression", "&&", "||"])],
    silent: include_str!("silent.txt"),
    comments: Comments { block: &[("/*", "*/")], ..Comments::HASH },
    ..LanguageSpec::PLAIN
};

/// `name = …`: each function, and each value that is not part of another.
fn binding<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let is_function = part(node, "expression:function_expression").is_some();
    let (kind, detail) =
        if is_function { (Kind::Function, Detail::Function) } else { (Kind::Constant, Detail::Variable) };
    if is_function || cx.enclosing().is_none() {
        cx.symbol(node, kind, detail, "attrpath/attr$", "expression:function_expression/body");
    }
}
