//! Shell scripts: functions, and the variables of scripts.

use super::spec::{grammar, symbol};
use super::{Comments, Conventions, LanguageSpec, Rule};
use codelode_base::model::{Detail, Kind};

/// The language.
pub static SPEC: LanguageSpec = LanguageSpec {
    id: "bash",
    aliases: &["shell"],
    extensions: &["sh", "bash", "zsh", "ksh", "bats", "ebuild"],
    file_names: &[".bashrc", ".bash_profile", ".profile", ".zshrc", "PKGBUILD", "APKBUILD"],
    interpreters: &["sh", "bash", "zsh", "dash", "ksh", "ash"],
    grammar: grammar!("bash", tree_sitter_bash, HIGHLIGHT_QUERY),
    preprocess: Some(preprocess),
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

/// The longest pattern of an expansion, in bytes, that is looked at.
const PATTERN: usize = 300;

/// The text that the grammar reads instead, of the same length; `None` if it is the text itself.
///
/// Brackets, braces, quotes and escapes in the pattern of an expansion become letters, `${name%%]*}`: the grammar takes them for
/// what they are elsewhere.
fn preprocess(text: &[u8]) -> Option<Vec<u8>> {
    let mut made: Option<Vec<u8>> = None;
    for at in memchr::memmem::find_iter(text, b"${") {
        let from = at + 2;
        let name = text[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let sign = from + name;
        if name == 0 || !matches!(text.get(sign), Some(b'#' | b'%')) {
            continue;
        }
        let start = sign + if text.get(sign + 1) == text.get(sign) { 2 } else { 1 };
        let Some(pattern) = text.get(start..).and_then(|rest| pattern(&rest[..rest.len().min(PATTERN)])) else {
            continue;
        };
        let is_special = |byte: &u8| matches!(byte, b'{' | b'[' | b']' | b'(' | b')' | b'\\' | b'"' | b'\'');
        if pattern.iter().any(is_special) {
            let made = &mut made.get_or_insert_with(|| text.to_vec())[start..start + pattern.len()];
            made.fill(b'x');
        }
    }
    // Only one of the two texts is read.
    made.map(|made| sanitize(&made).unwrap_or(made))
}

/// The pattern that a text begins with, up to the brace that closes the expansion, in one line and without other expansions.
fn pattern(text: &[u8]) -> Option<&[u8]> {
    let (mut quote, mut is_escaped) = (0, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\n' => return None,
            b'$' | b'`' if quote != b'\'' && text.get(at + 1).is_some_and(|next| matches!(next, b'{' | b'(')) => {
                return None;
            }
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' | b'\'' if quote == 0 => quote = *byte,
            _ if quote == *byte => quote = 0,
            b'}' if quote == 0 => return Some(&text[..at]),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{preprocess, sanitize};

    #[test]
    fn patterns_of_expansions_are_letters() {
        let read = |text: &str| crate::languages::tests::preprocessed(preprocess, text);
        for (text, expected) in [
            (r#"a="${b%%]*}""#, r#"a="${b%%xx}""#),
            (r#"a=${b#*{\"c\":\""$d"\"}"#, "a=${b#xxxxxxxxxxxxxxxx}"),
            (r#"a=${b#"{x"}"#, "a=${b#xxxx}"),
            ("a=${b%.*} ${c##*/}", "a=${b%.*} ${c##*/}"),
            ("a=${b%[${c}]}", "a=${b%[${c}]}"),
            ("a=${b:-[} ${#c[@]}", "a=${b:-[} ${#c[@]}"),
            ("a=${b%(\n}", "a=${b%(\n}"),
        ] {
            assert_eq!(read(text), format!("{expected}\n"));
        }
        assert_eq!(read("a=${b%]} {\u{e9}\n"), "a=${b%x} {__\n");
    }

    #[test]
    fn only_letters_where_a_number_may_stand_are_replaced() {
        let sanitized =
            |text: &str| sanitize(text.as_bytes()).map(|made| String::from_utf8(made).expect("it is ASCII there"));
        assert_eq!(sanitized("echo {\u{10fffd}..3é}").as_deref(), Some("echo {____..3__}"));
        assert_eq!(sanitized("echo é {1..3} # über"), None);
    }
}
