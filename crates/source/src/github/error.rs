//! GitHub API errors: eleven kinds of refusal behind six status codes.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

use super::Rate;
use codelode_net as net;

/// Maximum length, in characters, of a message quoted from GitHub.
const LONGEST: usize = 200;

/// Reason for a failed GitHub request.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Network failure.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// Not a valid repository name.
    #[error("`{0}` is not a repository on GitHub: write owner/name")]
    BadName(String),
    /// Not a valid branch, tag or commit name.
    #[error("`{0}` is not a name of a branch, a tag or a commit")]
    BadRef(String),
    /// 401: the token is invalid or expired.
    #[error("GitHub rejects the token: make a new one and set GITHUB_TOKEN")]
    Unauthorized,
    /// 403 or 429: a rate limit is reached.
    #[error("{0}")]
    Limited(Limit),
    /// 403: the organisation requires the token to be authorised for single sign-on.
    #[error("the organisation wants single sign-on: authorise the token{}", .at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default())]
    Sso {
        /// URL for the authorisation.
        at: Option<String>,
    },
    /// 403: GitHub has blocked the repository.
    #[error("GitHub has blocked access to this repository: {0}")]
    Blocked(String),
    /// 403: permission denied.
    #[error("GitHub refuses this: {0}; a token with more rights may help")]
    Forbidden(String),
    /// 404: not found, or not visible.
    #[error("GitHub knows no such repository{}", if *.has_token { ", or the token may not see it" } else { ", or it is private: set GITHUB_TOKEN" })]
    NotFound {
        /// Whether a token was used.
        has_token: bool,
    },
    /// 422 or 404: the repository exists, but has no such branch, tag or commit.
    #[error("the repository has no branch, tag or commit `{0}`")]
    NoSuchRef(String),
    /// 409: the repository has no commits.
    #[error("the repository is empty")]
    Empty,
    /// 422 or 400: GitHub rejects the request as invalid.
    #[error("GitHub cannot answer this: {0}")]
    Invalid(String),
    /// 451: taken down.
    #[error("GitHub withholds this for legal reasons")]
    Legal,
    /// 5xx after all attempts.
    #[error("GitHub has a server error (status {status}); retry later")]
    Trouble {
        /// HTTP status.
        status: u16,
        /// `Retry-After`, if given.
        wait: Option<Duration>,
    },
    /// Any other status.
    #[error("GitHub answers with status {status}: {message}")]
    Unexpected {
        /// HTTP status.
        status: u16,
        /// GitHub's message.
        message: String,
    },
    /// A success status with an invalid body.
    #[error("GitHub's answer cannot be read: {0}")]
    Malformed(String),
    /// The download cannot be written to disk.
    #[error("cannot keep what was downloaded: {0}")]
    Disk(String),
}

/// A rate limit that is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Whether it is the unannounced secondary limit on speed, not the one counted per hour or minute.
    pub is_secondary: bool,
    /// Time to wait, if GitHub says.
    pub wait: Option<Duration>,
    /// State of the primary limit.
    pub rate: Option<Rate>,
    /// Whether a token was used.
    pub has_token: bool,
}

impl Limit {
    /// Time of the reset, in seconds since 1970.
    pub fn reset(&self) -> Option<u64> {
        self.rate.as_ref().filter(|_| !self.is_secondary).map(|rate| rate.reset)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_secondary {
            "GitHub's rate limit is reached"
        } else {
            "GitHub API rate limit exceeded"
        })?;
        if let Some(reset) = self.reset() {
            let then = std::time::UNIX_EPOCH + Duration::from_secs(reset.min(253_402_300_799));
            write!(f, "; it resets at {}", humantime::format_rfc3339_seconds(then))?;
        } else if let Some(wait) = self.wait {
            write!(f, "; try again in {} s", wait.as_secs())?;
        }
        if self.has_token { Ok(()) } else { f.write_str("; more is allowed with a token in GITHUB_TOKEN") }
    }
}

/// The body of an error response.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorBody {
    message: String,
    block: Option<serde_json::Value>,
    errors: Vec<serde_json::Value>,
}

/// Converts an error response to an [`Error`].
pub(super) fn of_answer(head: &net::Response, body: &[u8], rate: Option<Rate>, has_token: bool) -> Error {
    let words: ErrorBody = serde_json::from_slice(body).unwrap_or_default();
    let lower = words.message.to_lowercase();
    let wait = head.retry_after();
    let used_up = rate.as_ref().is_some_and(|rate| rate.remaining == 0);
    let too_fast = lower.contains("secondary rate limit") || lower.contains("abuse detection");
    let limited = |is_secondary| Error::Limited(Limit { is_secondary, wait, rate: rate.clone(), has_token });
    match head.status {
        401 => Error::Unauthorized,
        403 | 429 if too_fast => limited(true),
        403 | 429 if used_up || lower.contains("api rate limit exceeded") => limited(false),
        403 if head.header("x-github-sso").is_some() => {
            let url = head.header("x-github-sso").and_then(|value| value.split("url=").nth(1));
            Error::Sso { at: url.map(|url| url.split(';').next().unwrap_or(url).trim().chars().take(300).collect()) }
        }
        403 if words.block.is_some() || lower.contains("access blocked") => Error::Blocked(message_of(&words)),
        403 if wait.is_none() => Error::Forbidden(message_of(&words)),
        403 | 429 => limited(true),
        404 => Error::NotFound { has_token },
        409 if lower.contains("empty") => Error::Empty,
        400 | 422 => Error::Invalid(message_of(&words)),
        451 => Error::Legal,
        status @ 500..=599 => Error::Trouble { status, wait },
        status => Error::Unexpected { status, message: message_of(&words) },
    }
}

/// GitHub's message on one short line, with the first error detail.
fn message_of(words: &ErrorBody) -> String {
    let detail = words.errors.first().and_then(|error| {
        let text = error.get("message").unwrap_or(error).as_str()?;
        Some(format!(" ({text})"))
    });
    let text = format!("{}{}", words.message, detail.unwrap_or_default());
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LONGEST).collect();
    if text.is_empty() { "it does not say why".to_owned() } else { text }
}
