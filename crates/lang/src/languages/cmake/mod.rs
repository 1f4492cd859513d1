//! CMake: functions, macros, variables and targets.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Cx, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "cmake",
    extensions: &["cmake"],
    file_names: &["CMakeLists.txt"],
    grammar: grammar!("cmake", tree_sitter_cmake, HIGHLIGHTS_QUERY),
    rules: &[
        (
            symbol(Kind::Function, Detail::Function, "function_command/argument_list/argument^", "body"),
            &["function_def"],
        ),
        (symbol(Kind::Function, Detail::Macro, "macro_command/argument_list/argument^", "body"), &["macro_def"]),
        (Rule::Define(command), &["normal_command"]),
        (Rule::Branch, &["if_command", "elseif_command", "foreach_command", "while_command"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { block: &[("#[[", "]]")], ..Comments::HASH },
    ..LanguageSpec::PLAIN
};

/// Commands that give a name to something.
fn command<'t>(cx: &mut Cx<'_, 't>, node: Node<'t>) {
    let word = part(node, "identifier").map(|word| cx.text(word)).unwrap_or_default();
    let (kind, detail) = match word.to_ascii_lowercase().as_str() {
        "set" | "option" => (Kind::Constant, Detail::Variable),
        "add_library" | "add_executable" | "add_custom_target" => (Kind::Class, Detail::Object),
        _ => return,
    };
    let is_value = part(node, "argument_list/argument").is_some_and(|name| cx.text(name).contains("${"));
    if !is_value {
        cx.symbol(node, kind, detail, "argument_list/argument^", "");
    }
}
