//! The names and phrases that a search pattern asks for.

/// The shortest name worth an answer, in characters: `id` and `db` say nothing.
const SHORTEST: usize = 3;
/// Keywords that precede a definition's name, in the supported languages.
const KEYWORDS: &[&str] = &[
    "abstract",
    "async",
    "class",
    "const",
    "def",
    "enum",
    "export",
    "final",
    "fn",
    "func",
    "function",
    "fun",
    "impl",
    "import",
    "interface",
    "let",
    "mod",
    "module",
    "namespace",
    "new",
    "object",
    "private",
    "protected",
    "pub",
    "public",
    "record",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "val",
    "var",
    "void",
];

/// The question behind a pattern.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A symbol by name, perhaps with its class: `Flask.make_response`.
    Name(String),
    /// Words.
    Phrase(String),
}

/// The questions behind a grep pattern, at most two; none for syntax and numbers. A single word counts as a name, even
/// if it is common in comments.
pub(super) fn asked(pattern: &str) -> Vec<Asked> {
    let mut asked: Vec<Asked> = alternatives(pattern).filter_map(one).collect();
    asked.dedup();
    asked.truncate(2);
    asked
}

/// The question behind a file name pattern, as in `find -name '*retry*'`.
pub(super) fn asked_of_file(pattern: &str) -> Vec<Asked> {
    let name = pattern.rsplit('/').next().unwrap_or(pattern).trim_matches('*');
    // A name with an extension is a file, which the search finds itself.
    if name.contains(['*', '?', '[', '.']) || !is_name(name) { Vec::new() } else { vec![Asked::Name(name.to_owned())] }
}

/// The parts of an alternation, in either syntax: `a|b`, `a\|b`, `(a|b)`.
fn alternatives(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('|').map(|part| part.trim_end_matches('\\').trim_start_matches(['(', '^']).trim_start_matches("?:"))
}

fn one(pattern: &str) -> Option<Asked> {
    // Anchors, boundaries and call brackets only say where a name stands.
    let text =
        pattern.replace("\\b", " ").replace("\\s+", " ").replace("\\s*", " ").replace("\\s", " ").replace("\\w+", "\0");
    let text = text
        .replace(".*", " \0 ")
        .replace("\\.", ".")
        .replace("\\(", "(")
        .replace("\\)", ")")
        .replace("\\<", " ")
        .replace("\\>", " ");
    let text = text.trim_matches(|c: char| " ^$().:{=;,'\"<>".contains(c) || c.is_whitespace());
    let mut words: Vec<&str> = text.split_whitespace().filter(|word| *word != "\0").collect();
    while words.len() > 1 && KEYWORDS.contains(&words[0]) {
        words.remove(0);
    }
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.trim_matches(|c: char| "():{=;,".contains(c)))
        .filter(|word| !word.is_empty())
        .collect();
    match words[..] {
        [word] => {
            // `total(cart` asks for `total`.
            let word = word.split('(').next().unwrap_or(word).replace("::", ".");
            is_qualified(&word).then_some(Asked::Name(word))
        }
        [_, _, ..] if words.len() <= 8 && words.iter().all(|word| is_word(word)) => {
            Some(Asked::Phrase(words.join(" ")))
        }
        _ => None,
    }
}

/// Whether every dotted part is a name.
fn is_qualified(text: &str) -> bool {
    let parts = text.split('.').collect::<Vec<_>>();
    parts.len() <= 3 && parts.iter().all(|part| is_word(part)) && parts.last().is_some_and(|part| is_name(part))
}

fn is_name(text: &str) -> bool {
    text.chars().count() >= SHORTEST && is_word(text) && !KEYWORDS.contains(&text)
}

fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
        && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, expected: &[Asked]) {
        assert_eq!(asked(pattern), expected, "{pattern}");
    }

    fn name(name: &str) -> Asked {
        Asked::Name(name.to_owned())
    }

    #[test]
    fn names_are_seen_through_what_surrounds_them() {
        for pattern in [
            "total",
            "def total",
            "^def total\\b",
            "total\\(",
            "total(",
            "\\.total",
            "fn total<",
            "\\btotal\\b",
            "function total(cart",
            "pub fn total",
        ] {
            check(pattern, &[name("total")]);
        }
        check("class Cart.*", &[name("Cart")]);
        check("Cart\\.total", &[name("Cart.total")]);
        check("Cart::total", &[name("Cart.total")]);
        check("total|subtotal", &[name("total"), name("subtotal")]);
        check("def total\\|def subtotal\\|def tax", &[name("total"), name("subtotal")]);
        check("(total|subtotal)\\(", &[name("total"), name("subtotal")]);
        check("import React", &[name("React")]);
    }

    #[test]
    fn several_words_are_a_phrase_and_the_rest_is_nothing() {
        check("session cookie name", &[Asked::Phrase("session cookie name".to_owned())]);
        for pattern in
            ["", "id", "^$", "[a-z]+", "foo.*bar.*[0-9]", "TODO: 12", "def", "a b c d e f g h i", "\\d+", "==="]
        {
            check(pattern, &[]);
        }
    }

    #[test]
    fn a_file_without_extension_may_be_a_symbol() {
        assert_eq!(asked_of_file("*Retry*"), [name("Retry")]);
        assert_eq!(asked_of_file("*.py"), []);
        assert_eq!(asked_of_file("**/settings.py"), []);
    }
}
