//! The form of a query: a name, words, or a kind of description.

use super::prose::is_change;
use super::telling::{bare_word, is_language};
use super::words;
use codelode_lang::languages::LanguageSpec;
use codelode_store::stems;

/// The form of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One name, perhaps qualified: `parse`, `Model.save`, `fs::read`.
    Identifier,
    /// Two to four bare words: a name in pieces, or a topic.
    Words,
    /// A sentence about code as in documentation: `Returns the length of a list`.
    Prose,
    /// A question, or keywords: `how are routes matched`, `parse dates with time zones`.
    Question,
    /// A description of a change, like the title of a commit or an issue.
    Change,
}

impl Form {
    /// The form of a query.
    pub fn of(query: &str) -> Self {
        let is_name = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "_$.:#/-".contains(c));
        let is_word = |word: &str| word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let words: Vec<&str> = query.split_whitespace().collect();
        match words.len() {
            1 if is_name(words[0]) => Self::Identifier,
            2..=4 if words.iter().all(|word| is_word(word)) && !words.iter().any(|word| is_article(word)) => {
                Self::Words
            }
            _ => Self::of_description(query),
        }
    }

    /// The form of a query that is known to be a description.
    pub(crate) fn of_description(query: &str) -> Self {
        match query {
            _ if is_change(query) => Self::Change,
            _ if is_sentence(query) => Self::Prose,
            _ => Self::Question,
        }
    }

    /// Adjusts the form for code mainly in one language. `add noise to audio in python` looks like a change, but titles
    /// of changes seldom name the language, and if they do they begin with a capital letter.
    pub fn among(self, query: &str, language: Option<&LanguageSpec>) -> Self {
        let names = |language| query.split_whitespace().any(|word| is_language(&bare_word(word), language));
        let is_asked = self == Self::Change && query.starts_with(char::is_lowercase) && language.is_some_and(names);
        if is_asked { Self::Question } else { self }
    }

    /// Whether it is any kind of description.
    pub fn is_prose(self) -> bool {
        self.is_of_code() || self == Self::Change
    }

    /// Whether it describes code, not a change.
    pub(crate) fn is_of_code(self) -> bool {
        matches!(self, Self::Prose | Self::Question)
    }
}

/// Words that questions begin with.
const ASKING: &[&str] = &[
    "are", "can", "describe", "do", "does", "explain", "how", "is", "locate", "should", "what", "when", "where",
    "which", "who", "why",
];
/// Words after the verb of a sentence, which do not come second in a list of keywords.
const AFTER_VERBS: &[&str] = &[
    "a", "all", "an", "any", "each", "every", "given", "if", "its", "new", "on", "out", "some", "that", "the", "this",
    "to", "true", "up", "when", "whether",
];

/// Whether a description is written as in documentation: it begins with a capital letter or a verb in the third person.
/// Search queries seldom do.
fn is_sentence(query: &str) -> bool {
    let mut words = query.split_whitespace();
    let first = words.next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
    if query.trim_end().ends_with('?') || ASKING.contains(&&*first.to_lowercase()) {
        return false;
    }
    let mut letters = first.chars();
    // Only the first letter is a capital, unlike in `HTTP` and `RequestParser`.
    if letters.next().is_some_and(char::is_uppercase) && letters.all(|c| !c.is_uppercase()) {
        return true;
    }
    let is_third_person = first.len() > 3 && first.ends_with('s') && !first.ends_with("ss");
    let is_verb = || stems(first).pop().is_some_and(|stem| words::deeds(&stem) != 0);
    let mut goes_on = || words.next().is_some_and(|second| AFTER_VERBS.contains(&second));
    is_third_person && (is_verb() || goes_on())
}

/// Removes signs that a query is a name: a call's brackets, a macro's mark, an id's kind, and a kind or keyword beside
/// an identifier (`the Model class`, `def save`).
pub fn bare(query: &str) -> &str {
    /// Words that stand before a name in code, and nowhere else.
    const KEYWORDS: [&str; 3] = ["def", "fn", "func"];
    const SORTS: [&str; 12] = [
        "class",
        "constant",
        "enum",
        "function",
        "interface",
        "macro",
        "method",
        "module",
        "struct",
        "trait",
        "type",
        "variable",
    ];
    let is_one = |text: &str| !text.contains(char::is_whitespace);
    let query = match query.rsplit_once('#') {
        Some((id, _)) if id.contains("::") && is_one(id) => id.trim(),
        _ => query.trim(),
    };
    let query = query.trim_end_matches("()");
    if is_one(query) {
        return query.strip_suffix('!').filter(|name| !name.is_empty()).unwrap_or(query);
    }
    let words: Vec<&str> = query.split_whitespace().filter(|word| !is_article(word)).collect();
    let is_written_as_names = |word: &str| word.contains(|c: char| c.is_uppercase() || "_.:".contains(c));
    match words[..] {
        [keyword, name] if KEYWORDS.contains(&keyword) => name,
        [sort, name] | [name, sort] if SORTS.contains(&sort) && is_written_as_names(name) => name,
        _ => query,
    }
}

/// Whether a word is an article, which queries for names do not contain.
fn is_article(word: &str) -> bool {
    ["a", "an", "the"].iter().any(|article| article.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_documentation_are_told_from_questions() {
        for sentence in
            ["Returns the length of a list", "A stream that was closed by its peer", "sets error and its cause"]
        {
            assert_eq!(Form::of(sentence), Form::Prose, "{sentence}");
        }
        for question in [
            "how are routes matched against paths",
            "How does the router resolve a path",
            "Is a stream closed by its peer?",
            "HTTP retries with an exponential pause",
            "headers parsing and validation of requests",
            "parse dates with time zones in python",
        ] {
            assert_eq!(Form::of(question), Form::Question, "{question}");
        }
    }

    #[test]
    fn a_change_that_names_the_language_of_the_code_is_a_question() {
        let python = codelode_lang::languages::of_id("python").map(|(_, spec)| spec);
        for (query, form) in [
            ("add noise to audio samples in python", Form::Question),
            ("add noise to audio samples in java", Form::Change),
            ("Drop support for Python 3.8", Form::Change),
        ] {
            assert_eq!(Form::of(query).among(query, python), form, "{query}");
            assert_eq!(Form::of(query).among(query, None), Form::Change, "{query}");
        }
    }

    #[test]
    fn what_only_says_that_a_name_is_meant_is_no_part_of_it() {
        for (query, name) in [
            ("save()", "save"),
            ("json!", "json"),
            ("!", "!"),
            ("a/b.py::Model.save#method~2", "a/b.py::Model.save"),
            ("#define", "#define"),
            ("the Model class", "Model"),
            ("class read_all", "read_all"),
            ("def save", "save"),
            ("class method", "class method"),
            ("type check", "type check"),
        ] {
            assert_eq!(bare(query), name, "{query}");
        }
    }
}
