//! Phrases in quotes, and their places in texts.

use super::rank::{begins, commonness};
use codelode_store::SymbolView;

/// Consecutive words, ignoring case and with any white space between them.
pub struct Phrase {
    /// The words; not empty, and without white space.
    words: Vec<Vec<u8>>,
    /// The index of the word with the rarest letter, and the letter's index in it. It is searched first.
    rarest: (usize, usize),
    /// Whether all letters are ASCII. If not, texts are converted to lower case first.
    is_ascii: bool,
}

impl Phrase {
    /// Splits a phrase into words. A phrase without words occurs everywhere.
    pub fn new(phrase: &str) -> Self {
        let words: Vec<Vec<u8>> = phrase.to_lowercase().split_ascii_whitespace().map(Vec::from).collect();
        let letters = || words.iter().enumerate().flat_map(|(nth, word)| (0..word.len()).map(move |at| (nth, at)));
        let rarest = letters().min_by_key(|(nth, at)| commonness(words[*nth][*at])).unwrap_or_default();
        Self { words, rarest, is_ascii: phrase.is_ascii() }
    }

    /// The number of its words.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Whether it occurs in a symbol's definition or documentation.
    pub fn is_written(&self, symbol: &SymbolView<'_>) -> bool {
        // Checking whether the words can follow each other is cheaper than removing comment marks from documentation.
        let may_be_documented = || self.is_in(symbol.doc_source(), |byte| !byte.is_ascii_alphanumeric());
        self.is_in(symbol.source(), is_space)
            || may_be_documented() && self.is_in(symbol.docstring().as_bytes(), is_space)
    }

    /// Whether it occurs in a text, with at least one separator between words.
    fn is_in(&self, text: &[u8], may_separate: impl Fn(u8) -> bool + Copy) -> bool {
        let (nth, place) = self.rarest;
        let Some((before, [word, after @ ..])) = self.words.split_at_checked(nth) else { return true };
        let letter = word[place];
        let lower;
        let text = if self.is_ascii {
            text
        } else {
            lower = String::from_utf8_lossy(text).to_lowercase();
            lower.as_bytes()
        };
        memchr::memchr2_iter(letter.to_ascii_lowercase(), letter.to_ascii_uppercase(), text).any(|at| {
            let Some(start) = at.checked_sub(place) else { return false };
            begins(&text[start..], word)
                && follow(after, &text[start + word.len()..], may_separate)
                && precede(before, &text[..start], may_separate)
        })
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Whether a text begins with the words, each after a separator.
fn follow(words: &[Vec<u8>], text: &[u8], may_separate: impl Fn(u8) -> bool + Copy) -> bool {
    let [word, rest @ ..] = words else { return true };
    let gap = text.iter().take_while(|byte| may_separate(**byte)).count();
    // A separator byte may also belong to the word.
    (1..=gap).any(|at| begins(&text[at..], word) && follow(rest, &text[at + word.len()..], may_separate))
}

/// Whether a text ends with the words, each before a separator.
fn precede(words: &[Vec<u8>], text: &[u8], may_separate: impl Fn(u8) -> bool + Copy) -> bool {
    let [rest @ .., word] = words else { return true };
    let gap = text.iter().rev().take_while(|byte| may_separate(**byte)).count();
    (1..=gap).any(|gap| {
        let start = (text.len() - gap).checked_sub(word.len());
        start.is_some_and(|start| begins(&text[start..], word) && precede(rest, &text[..start], may_separate))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_in(text: &[u8], phrase: &str) -> bool {
        Phrase::new(phrase).is_in(text, is_space)
    }

    #[test]
    fn phrases_are_found_across_lines_and_cases() {
        let text = b"raise Error(\"Connection\n    RESET by peer\")";
        assert!(is_in(text, "connection reset by"));
        assert!(is_in(text, "RESET"));
        assert!(!is_in(text, "connection by"));
        assert!(!is_in(text, "connectionreset"));
        assert!(!is_in(b"", "a b"));
        assert!(is_in("die Länge".as_bytes(), "DIE LÄNGE"));
    }

    #[test]
    fn what_may_separate_may_be_a_part_of_a_word() {
        let is_sign = |byte: u8| !byte.is_ascii_alphanumeric();
        for (text, phrase, is_there) in [
            ("the\n// *same* thing", "the *same* thing", true),
            ("the\n * same thing", "the same thing", true),
            ("-- x", "- x", true),
            ("x --", "x -", true),
            ("thesame", "the same", false),
        ] {
            assert_eq!(Phrase::new(phrase).is_in(text.as_bytes(), is_sign), is_there, "{phrase} in {text}");
        }
    }

    proptest! {
        #[test]
        fn a_phrase_is_written_where_its_words_are(text in "[aB \n*]{0,24}", phrase in "[ab*]{1,3}( [ab*]{1,2}){0,3}") {
            // The reference result: a search at every place.
            let words: Vec<&str> = phrase.split(' ').collect();
            let lower = text.to_ascii_lowercase();
            let stands_at = |at: usize| {
                let mut left = &lower[at..];
                words.iter().enumerate().all(|(nth, word)| {
                    let trimmed = left.trim_ascii_start();
                    let is_apart = nth == 0 || trimmed.len() < left.len();
                    let rest = if nth == 0 { left.strip_prefix(word) } else { trimmed.strip_prefix(word) };
                    left = rest.unwrap_or_default();
                    is_apart && rest.is_some()
                })
            };
            prop_assert_eq!(is_in(text.as_bytes(), &phrase), (0..=lower.len()).any(stands_at));
        }
    }
}
