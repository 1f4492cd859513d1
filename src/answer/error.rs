//! Errors of tools, each with its cause and the next step.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Value};

/// Kind of failure, for programs that react to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The arguments do not fit the tool.
    InvalidArguments,
    /// The requested thing does not exist.
    NotFound,
    /// More than one thing matches.
    Ambiguous,
    /// No index exists.
    NotIndexed,
    /// The index was made by another version.
    IndexOutdated,
    /// Semantic search was requested, but no provider is configured.
    NoEmbeddingProvider,
    /// A remote limits requests; `details` give the time of the next attempt.
    RateLimitExceeded,
    /// A remote denies access: a token is missing, wrong or too weak. Or the caller has no right to it.
    AccessDenied,
    /// The caller has cancelled.
    Cancelled,
    /// A temporary failure: the disk is full, a file is locked.
    Unavailable,
    /// A bug.
    Internal,
}

impl Code {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::InvalidArguments,
        Self::NotFound,
        Self::Ambiguous,
        Self::NotIndexed,
        Self::IndexOutdated,
        Self::NoEmbeddingProvider,
        Self::RateLimitExceeded,
        Self::AccessDenied,
        Self::Cancelled,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The word in answers.
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

/// Error of a tool.
#[derive(Clone, Debug)]
pub struct Error {
    /// Kind of failure.
    pub code: Code,
    /// Cause and next step, in one or two sentences.
    pub message: String,
    /// Details for programs: the nearest names, the candidates.
    pub details: Map<String, Value>,
}

impl Error {
    /// Creates an error without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    /// Adds a detail.
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

/// Minimum similarity of a useful suggestion.
const ALIKE: f64 = 0.7;

/// Maximum length compared: comparison takes time proportional to both lengths, and callers may send any length.
const COMPARED: usize = 200;

/// The `n` candidates most similar to a word, best first.
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

/// Similarity of two lower-case names, from 0 to 1. A name that contains the other is always similar.
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
