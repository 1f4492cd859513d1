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
    grammar: grammar!("bash", tree_sitter_bash),
    rules: &[
        (symbol(Kind::Function, Detail::Function, "name", "body"), &["function_definition"]),
        (Rule::Told { signs: VALUES, name: "name:variable_name", body: "" }, &["variable_assignment"]),
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
