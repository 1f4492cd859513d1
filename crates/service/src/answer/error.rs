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

    /// Refuses arguments that do not fit the tool.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArguments, message)
    }

    /// Reports that the requested thing does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// Reports that more than one thing matches.
    pub fn ambiguous(message: impl Into<String>) -> Self {
        Self::new(Code::Ambiguous, message)
    }

    /// Reports that no index exists.
    pub fn not_indexed(message: impl Into<String>) -> Self {
        Self::new(Code::NotIndexed, message)
    }

    /// Reports an index of another version.
    pub fn index_outdated(message: impl Into<String>) -> Self {
        Self::new(Code::IndexOutdated, message)
    }

    /// Refuses a semantic search, because no provider is configured.
    pub fn no_embedding_provider(message: impl Into<String>) -> Self {
        Self::new(Code::NoEmbeddingProvider, message)
    }

    /// Reports that a remote limits requests.
    pub fn rate_limit_exceeded(message: impl Into<String>) -> Self {
        Self::new(Code::RateLimitExceeded, message)
    }

    /// Reports that a remote denies access, or that the caller has no right.
    pub fn access_denied(message: impl Into<String>) -> Self {
        Self::new(Code::AccessDenied, message)
    }

    /// Reports that the caller has cancelled.
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::new(Code::Cancelled, message)
    }

    /// Reports a temporary failure.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Code::Unavailable, message)
    }

    /// Reports a bug.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
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
