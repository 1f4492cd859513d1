//! The query language: words, and among them `kind:class`, `lang:rust`, `file:src/net`, `-file:tests`, `repo:name`
//! and "quoted phrases".
//!
//! Other words with a colon, such as `std::fs` or `a:b`, are ordinary words, and so is a term in quotes.

use globset::{GlobBuilder, GlobMatcher, escape};

use super::issue::is_issue;

/// A query in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The words outside terms, including those of phrases.
    pub text: String,
    /// Values of `kind:`.
    pub kinds: Vec<String>,
    /// Values of `lang:` and `language:`.
    pub languages: Vec<String>,
    /// Values of `file:`.
    pub files: Vec<String>,
    /// Values of `-file:`.
    pub other_files: Vec<String>,
    /// Other terms with a `-` before them, which have no meaning.
    pub negated: Vec<String>,
    /// Values of `repo:`.
    pub repos: Vec<String>,
    /// Phrases in quotes, with one space for each run of white space.
    pub phrases: Vec<String>,
    /// The number of words outside quotes.
    pub words: usize,
}

/// Splits a query.
pub fn parse(query: &str) -> Terms {
    let mut terms = Terms::default();
    if !query.contains([':', '"']) || is_issue(query) {
        terms.words = query.split_whitespace().count();
        query.clone_into(&mut terms.text);
        return terms;
    }
    let mut text: Vec<&str> = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (key, value) = rest[..end].split_once(':').unwrap_or_default();
        let list = match key {
            "kind" => Some(&mut terms.kinds),
            "lang" | "language" => Some(&mut terms.languages),
            "file" => Some(&mut terms.files),
            "-file" => Some(&mut terms.other_files),
            "-kind" | "-lang" | "-language" | "-repo" => Some(&mut terms.negated),
            "repo" => Some(&mut terms.repos),
            _ => None,
        };
        if let Some((inside, after)) = quoted(rest) {
            let phrase = inside.split_whitespace().collect::<Vec<_>>().join(" ");
            text.push(inside.trim());
            if !phrase.is_empty() {
                terms.phrases.push(phrase);
            }
            rest = after.trim_start();
        } else if let Some(list) = list
            // `file::open` is a qualified name, and `file://` begins a URL.
            && !value.is_empty()
            && !value.starts_with(':')
            && !value.starts_with("//")
        {
            let (value, after) = quoted(&rest[key.len() + 1..]).unwrap_or((value, &rest[end..]));
            list.push(value.trim().to_owned());
            rest = after.trim_start();
        } else {
            text.push(&rest[..end]);
            terms.words += 1;
            rest = rest[end..].trim_start();
        }
    }
    terms.text = text.join(" ");
    terms
}

/// The text between the quotes that a text begins with, and the rest. A single quote is an ordinary character.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('"')?.split_once('"')
}

/// The pattern of `file:`: a glob if it has a glob character, otherwise any part of a path, ignoring case.
pub fn file_glob(value: &str) -> Result<GlobMatcher, globset::Error> {
    let is_glob = value.contains(['*', '?', '[', '{']);
    let value = value.trim_start_matches("./");
    let pattern = if is_glob { value.to_owned() } else { format!("*{}*", escape(value)) };
    let pattern = if is_glob && !value.contains('/') { format!("**/{pattern}") } else { pattern };
    let glob = GlobBuilder::new(&pattern).literal_separator(is_glob).case_insensitive(!is_glob).build()?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::phrase::Phrase;
    use super::*;

    #[test]
    fn terms_are_told_from_words() {
        let terms =
            parse("kind:class  load lang:rust file:src/net file:\"a b.rs\" \"not  found\" repo:local/x std::fs a:b");
        assert_eq!(terms.text, "load not  found std::fs a:b");
        assert_eq!((terms.kinds, terms.languages), (vec!["class".to_owned()], vec!["rust".to_owned()]));
        assert_eq!(
            (terms.files, terms.repos),
            (vec!["src/net".to_owned(), "a b.rs".to_owned()], vec!["local/x".to_owned()])
        );
        assert_eq!((terms.phrases, terms.words), (vec!["not found".to_owned()], 3));
    }

    #[test]
    fn what_only_looks_like_a_term_is_a_word() {
        for query in [
            "std::fs",
            "a:b",
            "file::open",
            "kind:",
            "kind: class",
            "file://x",
            "fix(css): set it",
            "say \"a",
            "x\"y\"",
            "Kind:x",
        ] {
            let terms = parse(query);
            assert_eq!((terms.text.as_str(), terms.phrases.len()), (query, 0));
            assert!(terms.kinds.is_empty() && terms.files.is_empty(), "{query}");
        }
        assert_eq!(parse("\"kind:class\"").phrases, ["kind:class"]);
        let without = parse("-file:tests Model -x:y -kind:class -1");
        assert_eq!(
            (without.text.as_str(), without.other_files, without.negated.len()),
            ("Model -x:y -1", vec!["tests".to_owned()], 1)
        );
    }

    #[test]
    fn a_file_term_is_a_glob_or_a_part() {
        for (term, path, fits) in [
            ("net", "src/Network/a.rs", true),
            ("src/net", "src/net/a.rs", true),
            ("net/src", "src/net/a.rs", false),
            ("*.rs", "src/net/a.rs", true),
            ("src/*.rs", "src/net/a.rs", false),
            ("a[b", "a[b.rs", false),
            ("./src/net", "src/net/a.rs", true),
        ] {
            assert_eq!(file_glob(term).is_ok_and(|glob| glob.is_match(path)), fits, "{term} {path}");
        }
    }

    proptest! {
        #[test]
        fn no_query_is_too_strange(query in "\\PC*|([a-c:\"* ]|kind:|lang:|-?file:|repo:|\u{3000}|é){0,30}") {
            let terms = parse(&query);
            // Only white space, quotes and the keys of terms are lost.
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
            let kept = [&terms.kinds, &terms.languages, &terms.files, &terms.other_files, &terms.negated, &terms.repos];
            let taken: usize = kept.iter().flat_map(|list| list.iter()).map(|value| letters(value) + 8).sum();
            prop_assert!(letters(&terms.text) <= letters(&query));
            prop_assert!(letters(&terms.text) + taken >= letters(&query));
            for value in &terms.files {
                let _ = file_glob(value);
            }
            for phrase in &terms.phrases {
                let _ = Phrase::new(phrase);
            }
        }

        #[test]
        fn words_without_signs_stay_as_they_are(query in "[a-zA-Z_. ]{0,40}") {
            prop_assert_eq!(parse(&query).text, query);
        }
    }
}
