//! PowerShell: functions, filters, classes with their members, and enums.

use tree_sitter::Node;

use super::spec::{grammar, symbol};
use super::symbol::part;
use super::{Comments, Conventions, Cx, Definition, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind, Span};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "powershell",
    aliases: &["pwsh", "posh"],
    extensions: &["ps1", "psm1", "psd1"],
    interpreters: &["pwsh"],
    grammar: grammar!("powershell", tree_sitter_powershell, HIGHLIGHTS_QUERY),
    preprocess: Some(preprocess),
    rules: &[
        (Rule::Define(function), &["function_statement"]),
        (symbol(Kind::Class, Detail::Class, "simple_name^", "{"), &["class_statement"]),
        (symbol(Kind::Method, Detail::Method, "simple_name^", "script_block"), &["class_method_definition"]),
        (Rule::Define(property), &["class_property_definition"]),
        (symbol(Kind::Type, Detail::Enum, "simple_name^", "{"), &["enum_statement"]),
        (symbol(Kind::Constant, Detail::Member, "simple_name", ""), &["enum_member"]),
        (Rule::Branch, &["if_statement", "elseif_clause", "for_statement", "foreach_statement", "while_statement"]),
        (Rule::Branch, &["do_statement", "switch_clause", "catch_clause", "trap_statement"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments {
        block: &[("<#", "#>")],
        silent: &["#!", "#Requires", "#region", "#endregion"],
        ..Comments::HASH
    },
    conventions: &Conventions { test_files: &["*.Tests"], ..Conventions::NEUTRAL },
    ..LanguageSpec::PLAIN
};

/// The text that the grammar reads instead, of the same length; `None` if it is the text itself: an empty script block that is
/// a value becomes a variable, `$a = {}`. The grammar wants a statement in it.
fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    let mut made: Option<Vec<u8>> = None;
    for at in memchr::memchr_iter(b'{', text) {
        let inside = text[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let close = at + 1 + inside;
        if text.get(close) == Some(&b'}') && text[..at].trim_ascii_end().ends_with(b"=") {
            let made = &mut made.get_or_insert_with(|| text.to_vec())[at..=close];
            made.fill(b' ');
            made[..2].copy_from_slice(b"$_");
        }
    }
    made
}

/// Scopes that a function may be put into, `function global:Get-Item`. It is called without one.
const SCOPES: &[&str] = &["global:", "script:", "local:", "private:"];

/// A function, named without the scope that it is put into.
fn function(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = part(node, "function_name") else { return };
    let text = cx.text(name);
    let is_scope = |scope: &&&str| text.get(..scope.len()).is_some_and(|start| start.eq_ignore_ascii_case(scope));
    let scope = SCOPES.iter().find(is_scope).map_or(0, |scope| scope.len());
    let comments = cx.spec.comments;
    let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
    let mut definition = Definition::new(node, name, Kind::Function, Detail::Function).before(part(node, "{"));
    definition.name = Span::new(definition.name.start as usize + scope, definition.name.end as usize);
    cx.define(Definition { doc, ..definition });
}

/// A property, without the sign of its variable.
fn property(cx: &mut Cx<'_, '_>, node: Node<'_>) {
    let Some(name) = part(node, "variable") else { return };
    let comments = cx.spec.comments;
    let doc = cx.doc_above(node.start_byte(), |comment| comments.document(comment));
    let mut definition = Definition::new(node, name, Kind::Constant, Detail::Property);
    // The grammar makes up a variable of no length where one is missing: that has no sign.
    definition.name = Span::new(definition.name.start as usize + 1, definition.name.end as usize);
    cx.define(Definition { doc, ..definition });
}

#[cfg(test)]
mod tests {
    use super::preprocess;

    #[test]
    fn empty_blocks_that_are_values_are_variables() {
        let read = |text: &str| crate::languages::tests::preprocessed(preprocess, text);
        assert_eq!(read("param($a = {}, $b = { })"), "param($a = $_, $b = $_ )\n");
        for kept in ["function a {}", "$a = @{}", "$a = { 1 }", "if ($a) { }"] {
            assert_eq!(read(kept), format!("{kept}\n"));
        }
    }
}
