//! The form of a query, judged by its spelling.

use super::prose::is_change;

/// The form of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One name, perhaps qualified: `parse`, `Model.save`, `fs::read`.
    Identifier,
    /// Two to four bare words: a name in pieces, or a topic.
    Words,
    /// A longer description of what code does.
    Prose,
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

    /// The form of a query that is a description.
    pub(in crate::query) fn of_description(query: &str) -> Self {
        if is_change(query) { Self::Change } else { Self::Prose }
    }

    /// Whether it is a description.
    pub fn is_prose(self) -> bool {
        matches!(self, Self::Prose | Self::Change)
    }
}

/// A query without the signs that it is a name: a call's brackets, a macro's mark, the kind at the end of an id, and
/// a kind or keyword beside a word that is written as names are (`the Model class`, `def save`).
pub(in crate::query) fn bare(query: &str) -> &str {
    /// Words that precede a name in code, and only there.
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
