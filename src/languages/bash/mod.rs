//! Shell scripts: functions, and the variables of scripts.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, Rule};
use crate::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "bash",
    aliases: &["shell"],
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild"],
    file_names: &[".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD", "APKBUILD"],
    interpreters: &["sh", "bash", "zsh", "dash", "ksh", "ash"],
    grammar: grammar!("bash", tree_sitter_bash, HIGHLIGHT_QUERY),
    sanitize: Some(sanitize),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_definition"]),
        (Rule::BySign { signs: VALUES, name: "name:variable_name", body: "" }, &["variable_assignment"]),
        (Rule::Branch, &["if_statement", "elif_clause", "for_statement", "c_style_for_statement", "while_statement"]),
        (Rule::Branch, &["case_item", "&&", "||"]),
    ],
    silent: include_str!("silent.txt"),
    comments: Comments { silent: &["#!", "# shellcheck", "#shellcheck"], ..Comments::HASH },
    around: &["declaration_command"],
    conventions: &Conventions {
        mains: &["main"],
        starts: &[(Kind::Function, "main")],
        tests: &["test_", "setup", "teardown"],
        test_files: &["test_*", "*_test", "test-*", "*-test"],
        ..Conventions::NEUTRAL
    },
    ..LanguageSpec::PLAIN
};

/// Assignments that are statements; one before a command is for that command only.
const VALUES: &[(&str, Kind, Detail)] =
    &[("../program", Kind::Constant, Detail::Variable), ("../declaration_command", Kind::Constant, Detail::Variable)];

/// Replaces letters beyond ASCII where a number may stand: behind a brace, a dot or a digit. The scanner looks each of them
/// up in C's table of 256 characters, and crashes far beyond it.
fn sanitize(text: &[u8]) -> Option<Vec<u8>> {
    let mut sanitized: Option<Vec<u8>> = None;
    let mut may_be_number = false;
    for (at, byte) in text.iter().enumerate() {
        if byte.is_ascii() {
            may_be_number = matches!(byte, b'{' | b'.' | b'0'..=b'9');
        } else if may_be_number {
            sanitized.get_or_insert_with(|| text.to_vec())[at] = b'_';
        }
    }
    sanitized
}

#[cfg(test)]
mod tests {
    use super::sanitize;

    #[test]
    fn only_letters_where_a_number_may_stand_are_replaced() {
        let sanitized =
            |text: &str| sanitize(text.as_bytes()).map(|made| String::from_utf8(made).expect("it is ASCII there"));
        assert_eq!(sanitized("echo {\u{10fffd}..3é}").as_deref(), Some("echo {____..3__}"));
        assert_eq!(sanitized("echo é {1..3} # über"), None);
    }
}
