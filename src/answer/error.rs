//! Errors of tools, each with its cause and the next step.

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
