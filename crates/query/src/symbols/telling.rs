//! The significant words of a description.

use codelode_lang::languages::LanguageSpec;

/// Words ignored in a description, though they may matter in a name.
pub(crate) const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "can", "do", "does", "for", "from", "has", "have", "if",
    "in", "into", "is", "it", "its", "no", "not", "of", "on", "or", "should", "so", "such", "than", "that", "the",
    "their", "then", "there", "these", "this", "to", "was", "we", "were", "when", "where", "which", "while", "will",
    "with", "would", "how", "what", "i", "you",
];

/// A word without the marks around it, in lower case.
pub(super) fn bare_word(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Whether a bare word names a language, also with a version: `python3`.
pub(super) fn is_language(word: &str, language: &LanguageSpec) -> bool {
    let name = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    language.id == name || language.aliases.contains(&name)
}

/// A description without its stop words, and without the name of the main language, which matches too much code.
pub(crate) fn telling_words(query: &str, language: Option<&LanguageSpec>) -> String {
    /// The fewest words that remain after the language's name is dropped.
    const LEAST: usize = 2;
    let telling: Vec<&str> =
        query.split_whitespace().filter(|word| !STOP_WORDS.contains(&bare_word(word).as_str())).collect();
    let others = telling.iter().filter(|word| !language.is_some_and(|own| is_language(&bare_word(word), own)));
    let others: Vec<&str> = others.copied().collect();
    match (telling.len(), others.len()) {
        (0, _) => query.to_owned(),
        (_, LEAST..) => others.join(" "),
        _ => telling.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use codelode_lang::languages::of_id;

    fn check(query: &str, expected: &str) {
        let language = of_id("python").map(|(_, spec)| spec);
        assert_eq!(telling_words(query, language), expected, "{query}");
    }

    #[test]
    fn the_language_of_the_code_tells_nothing_in_a_question() {
        check("how to parse json files in python", "parse json files");
        check("Python3 script that parses json", "script parses json");
        check("parse java files in py", "parse java files");
        // With two words, the language's name is kept.
        check("the python version", "python version");
        check("how is it", "how is it");
        assert_eq!(telling_words("parse json in python", None), "parse json python");
    }
}
