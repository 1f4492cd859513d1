//! Tokenization of text into search terms.
//!
//! Words of code are identifiers. `parseHTTPHeader` is found by its parts `parse`, `http` and `header`, and as a
//! whole by `parsehttpheader`, like `parse_http_header`. English stemming maps `parsing` to `parse`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::rc::Rc;

use frostem::{Algorithm, Stemmer};
use rustc_hash::FxHasher;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::learned::{self, Row};

/// Longest word that counts as language; longer ones are data.
const LONGEST_WORD: usize = 120;
/// Number of words in a thread's cache.
const REMEMBERED: usize = 60_000;

/// Stop words: they occur in most function bodies and say nothing about the topic.
const EMPTY_WORDS: &[&str] = &[
    "a",
    "an",
    "and",
    "are",
    "as",
    "async",
    "at",
    "await",
    "be",
    "bool",
    "boolean",
    "but",
    "by",
    "can",
    "const",
    "def",
    "do",
    "elif",
    "else",
    "end",
    "err",
    "false",
    "final",
    "fn",
    "for",
    "from",
    "func",
    "function",
    "has",
    "have",
    "if",
    "impl",
    "in",
    "int",
    "into",
    "is",
    "it",
    "its",
    "let",
    "mut",
    "new",
    "nil",
    "no",
    "none",
    "not",
    "null",
    "of",
    "on",
    "or",
    "private",
    "protected",
    "pub",
    "public",
    "return",
    "self",
    "should",
    "so",
    "static",
    "str",
    "such",
    "than",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "this",
    "to",
    "true",
    "undefined",
    "use",
    "var",
    "void",
    "was",
    "we",
    "when",
    "where",
    "which",
    "while",
    "will",
    "with",
    "would",
    "you",
];

/// Cache of the terms of recent words.
#[derive(Default)]
struct Memory {
    words: HashMap<Box<str>, CachedTerms, BuildHasherDefault<FxHasher>>,
    terms: Vec<Rc<str>>,
    /// The learned row of each term.
    rows: Vec<Option<Row>>,
}

/// Cached terms of a word.
#[derive(Clone)]
struct CachedTerms {
    /// Its terms, as indices into [`Memory::terms`].
    terms: Range<usize>,
    /// Whether it is one of [`EMPTY_WORDS`].
    is_empty: bool,
}

thread_local! {
    // The same few thousand words make up most of a repository, so each is split and stemmed only once.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Tokenizer that splits text into words, and words into terms.
#[derive(Clone, Default)]
pub struct Words {
    token: Token,
    skips_empty: bool,
}

impl Words {
    /// Variant that skips [`EMPTY_WORDS`], for text. Names keep them.
    pub fn of_text() -> Self {
        Self { skips_empty: true, ..Self::default() }
    }
}

/// Tokenizer that splits names into overlapping trigrams of their letters and digits, ignoring case and separators.
#[derive(Clone, Default)]
pub struct Trigrams {
    token: Token,
    flat: String,
}

/// Tokenizer that takes a text whole.
#[derive(Clone, Default)]
pub struct WholeTextTokenizer {
    token: Token,
}

/// Terms of a text, word by word.
pub struct WordStream<'a> {
    text: &'a str,
    at: usize,
    /// Remaining terms of the current word, as indices into [`Memory::terms`].
    pending: Range<usize>,
    skips_empty: bool,
    token: &'a mut Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;
    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, at: 0, pending: 0..0, skips_empty: self.skips_empty, token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        MEMORY.with_borrow_mut(|memory| {
            loop {
                if let Some(term) = self.pending.next() {
                    self.token.text.clear();
                    self.token.text.push_str(&memory.terms[term]);
                    self.token.position = self.token.position.wrapping_add(1);
                    return true;
                }
                let Some((word, end)) = next_word(self.text, self.at) else { return false };
                self.at = end;
                let known = memory.terms_of(word);
                if !(self.skips_empty && known.is_empty) {
                    self.pending = known.terms;
                }
            }
        })
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Trigrams of a text, word by word; a shorter word is its own trigram.
pub struct TrigramStream<'a> {
    words: std::str::SplitAsciiWhitespace<'a>,
    word: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for Trigrams {
    type TokenStream<'a> = TrigramStream<'a>;
    fn token_stream<'a>(&'a mut self, text: &'a str) -> TrigramStream<'a> {
        self.token.reset();
        self.flat.clear();
        let mut at = 0;
        while let Some((word, end)) = next_word(text, at) {
            self.flat.push_str(&flattened(word));
            self.flat.push(' ');
            at = end;
        }
        TrigramStream { words: self.flat.split_ascii_whitespace(), word: "", token: &mut self.token }
    }
}

impl TokenStream for TrigramStream<'_> {
    fn advance(&mut self) -> bool {
        if self.word.is_empty() {
            let Some(word) = self.words.next() else { return false };
            self.word = word;
        }
        let mut borders = self.word.char_indices().map(|(at, _)| at).skip(1);
        let (second, end) = (borders.next(), borders.nth(1));
        self.token.text.clear();
        self.token.text.push_str(&self.word[..end.unwrap_or(self.word.len())]);
        self.token.position = self.token.position.wrapping_add(1);
        self.word = match (second, end) {
            (Some(second), Some(_)) => &self.word[second..],
            _ => "",
        };
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// The single term of a text taken whole.
pub struct One<'a> {
    token: &'a mut Token,
    done: bool,
}

impl Tokenizer for WholeTextTokenizer {
    type TokenStream<'a> = One<'a>;
    fn token_stream<'a>(&'a mut self, text: &'a str) -> One<'a> {
        self.token.reset();
        self.token.text.push_str(text);
        // A new stream stands before the first position.
        self.token.position = 0;
        One { token: &mut self.token, done: text.is_empty() }
    }
}

impl TokenStream for One<'_> {
    fn advance(&mut self) -> bool {
        !std::mem::replace(&mut self.done, true)
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Next run of letters, digits and underscores from byte `at`, and its end.
fn next_word(text: &str, mut at: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    loop {
        while at < bytes.len() && !is_word(bytes[at]) {
            at += 1;
        }
        if at == bytes.len() {
            return None;
        }
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        if at - start <= LONGEST_WORD {
            return Some((&text[start..at], at));
        }
    }
}

impl Memory {
    /// Terms of a word: its parts, and the whole word when it has several.
    fn terms_of(&mut self, word: &str) -> CachedTerms {
        if let Some(known) = self.words.get(word) {
            return known.clone();
        }
        if self.words.len() >= REMEMBERED {
            *self = Self::default();
        }
        let first = self.terms.len();
        let stemmer = Stemmer::new(Algorithm::English);
        let mut stem = |word: String| {
            let stemmed = stemmer.stem(&word);
            if !stemmed.is_empty() {
                self.rows.push(learned::row(&stemmed));
                self.terms.push(stemmed.into());
            }
        };
        let parts = parts(word);
        for part in &parts {
            stem(part.to_lowercase());
        }
        if parts.len() > 1 {
            stem(parts.concat().to_lowercase());
        }
        let is_empty = EMPTY_WORDS.binary_search(&word.to_lowercase().as_str()).is_ok();
        let known = CachedTerms { terms: first..self.terms.len(), is_empty };
        self.words.insert(word.into(), known.clone());
        known
    }
}

/// Splits a word where case, letters and digits change, without underscores: `HTTPServer2_x` gives `HTTP`, `Server`,
/// `2`, `x`.
pub fn parts(word: &str) -> Vec<&str> {
    #[derive(PartialEq, Clone, Copy)]
    enum Class {
        Lower,
        Upper,
        Digit,
        Border,
    }
    let class = |c: char| match c {
        _ if c.is_numeric() => Class::Digit,
        _ if c.is_uppercase() => Class::Upper,
        _ if c.is_alphabetic() => Class::Lower,
        _ => Class::Border,
    };
    let mut parts = Vec::new();
    let (mut start, mut last, mut last_at) = (0, Class::Border, 0);
    for (at, c) in word.char_indices() {
        let now = class(c);
        let cut = match (last, now) {
            _ if last == now => false,
            (Class::Upper, Class::Lower) => {
                // The last capital of a run begins the next word: `HTTPServer`.
                if last_at > start {
                    parts.push(&word[start..last_at]);
                    start = last_at;
                }
                false
            }
            _ => true,
        };
        if cut {
            if last != Class::Border && start < at {
                parts.push(&word[start..at]);
            }
            start = at;
        }
        (last, last_at) = (now, at);
    }
    if last != Class::Border && start < word.len() {
        parts.push(&word[start..]);
    }
    parts
}

/// Normalized name for fuzzy search: lower case, letters and digits only.
pub fn flattened(name: &str) -> String {
    if name.is_ascii() {
        let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
        return letters.map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    }
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Stems of a text's words; each part of an identifier counts as a word.
pub fn stems(text: &str) -> Vec<Rc<str>> {
    let mut stems = Vec::new();
    each_word(text, |memory, parts| {
        stems.extend_from_slice(&memory.terms[parts]);
        true
    });
    stems
}

/// Adds the learned rows of a text's stems, of which no more than `room` are read; what is left of it is returned.
pub fn learned_rows(text: &str, mut room: usize, rows: &mut Vec<Row>) -> usize {
    each_word(text, |memory, parts| {
        rows.extend(memory.rows[parts.clone()].iter().take(room).flatten());
        room = room.saturating_sub(parts.len());
        room > 0
    });
    room
}

/// Visits the terms of each word's parts, until the visitor has had enough.
fn each_word(text: &str, mut visit: impl FnMut(&Memory, Range<usize>) -> bool) {
    MEMORY.with_borrow_mut(|memory| {
        let mut at = 0;
        while let Some((word, end)) = next_word(text, at) {
            at = end;
            let terms = memory.terms_of(word).terms;
            // The last of several terms is the whole word.
            if !visit(memory, terms.start..terms.end - usize::from(terms.len() > 1)) {
                return;
            }
        }
    });
}

/// Distinct terms that a tokenizer produces for a query, in order.
pub fn terms(mut tokenizer: impl Tokenizer, text: &str) -> Vec<String> {
    let mut stream = tokenizer.token_stream(text);
    let mut terms: Vec<String> = Vec::new();
    while stream.advance() {
        let term = &stream.token().text;
        if !terms.contains(term) {
            terms.push(term.clone());
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_where_their_sort_of_letter_changes() {
        let check = |word, expected: &[&str]| assert_eq!(parts(word), expected, "{word}");
        check("parseHTTPHeader", &["parse", "HTTP", "Header"]);
        check("snake_case__x", &["snake", "case", "x"]);
        check("SHA256sum", &["SHA", "256", "sum"]);
        check("_private", &["private"]);
        check("X", &["X"]);
        check("__", &[]);
        check("Größe", &["Größe"]);
    }

    #[test]
    fn spellings_of_one_name_meet_in_one_term() {
        let whole = |word| terms(Words::default(), word).pop();
        assert_eq!(whole("parse_http_header"), whole("ParseHTTPHeader"));
        assert_eq!(terms(Words::default(), "x.parsing(y)"), ["x", "pars", "y"]);
    }

    #[test]
    fn text_is_read_without_its_empty_words() {
        assert!(EMPTY_WORDS.is_sorted());
        assert_eq!(terms(Words::of_text(), "Return the new Value"), ["valu"]);
        assert_eq!(terms(Words::default(), "is_new"), ["is", "new", "isnew"]);
    }

    #[test]
    fn short_names_are_their_own_trigram() {
        assert_eq!(terms(Trigrams::default(), "Ab"), ["ab"]);
        assert_eq!(terms(Trigrams::default(), "a_bcd"), ["abc", "bcd"]);
    }
}
