//! What a tool answers when it cannot answer: what is wrong, and what to do next.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Value};

/// What sort of failure it is: a caller's program decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The arguments do not fit the tool.
    InvalidArguments,
    /// What was asked for does not exist.
    NotFound,
    /// More than one thing fits.
    Ambiguous,
    /// There is no index to ask.
    NotIndexed,
    /// An index made by another version.
    IndexOutdated,
    /// Semantic search was asked for and nothing is set up to do it.
    NoEmbeddingProvider,
    /// A remote has been asked too much or too fast; `details` say when it may be asked again.
    RateLimitExceeded,
    /// A remote does not let us do this: a token is missing, wrong or too weak.
    AccessDenied,
    /// The caller gave up.
    Cancelled,
    /// It may work later: the disk is full, a file is locked.
    Unavailable,
    /// A fault of ours.
    Internal,
}

impl Code {
    /// As clients read it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::NotFound => "not_found",
            Self::Ambiguous => "ambiguous",
            Self::NotIndexed => "not_indexed",
            Self::IndexOutdated => "index_outdated",
            Self::NoEmbeddingProvider => "no_embedding_provider",
            Self::RateLimitExceeded => "rate_limit_exceeded",
            Self::AccessDenied => "access_denied",
            Self::Cancelled => "cancelled",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

/// A tool's refusal.
#[derive(Clone, Debug)]
pub struct Error {
    /// What sort.
    pub code: Code,
    /// What is wrong and what to do next, in one or two sentences.
    pub message: String,
    /// Facts for a program: the nearest names, the candidates.
    pub details: Map<String, Value>,
}

impl Error {
    /// A refusal without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    /// The same with one more fact.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Names that look less like the word than this are no help.
const ALIKE: f64 = 0.7;

/// Comparing takes time in proportion to both lengths, and a caller may send any length.
const COMPARED: usize = 200;

/// The candidates most like a word, best first and at most `n`: what a caller may have meant.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, n: usize) -> Vec<&'a str> {
    let word: String = word.chars().take(COMPARED).collect::<String>().to_lowercase();
    let mut alike: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (likeness(&word, &candidate.to_lowercase()), candidate))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then(a.1.cmp(b.1)));
    alike.truncate(n);
    alike.into_iter().map(|(_, candidate)| candidate).collect()
}

/// How alike two lower-case names are, from 0 to 1. One that holds the other is always alike.
fn likeness(word: &str, candidate: &str) -> f64 {
    if candidate.len() > 4 * COMPARED {
        return 0.0;
    }
    let edits = strsim::normalized_damerau_levenshtein(word, candidate);
    let start = strsim::jaro_winkler(word, candidate);
    let held = word.len() >= 3 && candidate.len() >= 3 && (candidate.contains(word) || word.contains(candidate));
    let spelled = (edits + start) / 2.0;
    if held { spelled.max(ALIKE + 0.3 * edits) } else { spelled }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_misses_are_found_best_first() {
        let names = ["query", "kind", "language", "max_results", "file_pattern", "fuzzy"];
        assert_eq!(nearest("querry", names, 3), ["query"]);
        assert_eq!(nearest("max_result", names, 3), ["max_results"]);
        assert_eq!(nearest("maxResults", names, 1), ["max_results"]);
        assert_eq!(nearest("max", names, 1), ["max_results"]);
        assert!(nearest("zzz", names, 3).is_empty());
        assert!(nearest("", names, 3).is_empty());
        assert!(nearest(&"q".repeat(1_000_000), names, 3).is_empty());
    }
}
