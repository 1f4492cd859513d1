//! Why nothing came over the network. No error holds a URL's path, query or user: a token may be in there.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// Why a request failed. An answer with a bad status is no failure.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// It is no URL of a host.
    #[error("this is no URL that can be fetched: {0}")]
    BadUrl(String),
    /// The scheme is not allowed.
    #[error("{scheme}:// is not used to reach {host}: use https://, or name the host in `trusted_hosts`")]
    Scheme {
        /// As it was asked for.
        scheme: String,
        /// Where to.
        host: String,
    },
    /// The host is not on the public internet.
    #[error(
        "{host} is at {address}, which is not on the public internet: name the host in `trusted_hosts` to allow it"
    )]
    Private {
        /// By its name.
        host: String,
        /// What the name means, or what was asked for.
        address: IpAddr,
    },
    /// The answer sends us somewhere we do not go.
    #[error("{from} redirects to {to}, which is not followed: {why}")]
    Redirect {
        /// Who sends us.
        from: String,
        /// Where to: scheme and host only.
        to: String,
        /// Why not.
        why: &'static str,
    },
    /// The answer is larger than the limit.
    #[error("{host} sends more than {limit} bytes, which is the limit")]
    TooLarge {
        /// Who.
        host: String,
        /// In bytes.
        limit: u64,
    },
    /// It took too long.
    #[error("{host} did not answer within {:.1} s", .after.as_secs_f64())]
    Timeout {
        /// Who.
        host: String,
        /// How long we waited.
        after: Duration,
    },
    /// No connection could be made.
    #[error("cannot reach {host}: {problem}")]
    Connect {
        /// Whom.
        host: String,
        /// What the system says.
        problem: String,
    },
    /// The host could not prove who it is.
    #[error("{host} is not trusted: {problem}; name its certificate authority in `ca_file`")]
    Tls {
        /// Who.
        host: String,
        /// What is wrong.
        problem: String,
    },
    /// The connection broke, or what came is no HTTP.
    #[error("the connection to {host} broke: {problem}")]
    Broken {
        /// To whom.
        host: String,
        /// What was wrong.
        problem: String,
    },
    /// The client could not be set up.
    #[error("cannot use the network: {0}")]
    Setup(String),
    /// Nobody wants the answer any more.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Whether the same request may succeed in a moment.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Timeout { .. } | Self::Connect { .. } | Self::Broken { .. })
    }

    /// The error that a body's reader gave as an `io::Error`.
    pub fn of_io(err: io::Error, host: &str) -> Self {
        match err.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            Some(inner) => inner.clone(),
            None => Self::Broken { host: host.to_owned(), problem: err.to_string() },
        }
    }

    /// What a failed exchange with a host means.
    pub(super) fn of_exchange(err: reqwest::Error, host: &str, after: Duration) -> Self {
        let host = host.to_owned();
        let err = err.without_url();
        let mut problem = err.to_string();
        let mut next: Option<&(dyn StdError + 'static)> = err.source();
        while let Some(cause) = next {
            if let Some(refused) = cause.downcast_ref::<Self>() {
                return refused.clone();
            }
            if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
                return Self::Tls { host, problem: tls.to_string() };
            }
            problem = cause.to_string();
            // What an `io::Error` carries is not its source, but stands in its place.
            let carried = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            next = carried.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| cause.source());
        }
        if err.is_timeout() {
            Self::Timeout { host, after }
        } else if err.is_connect() {
            Self::Connect { host, problem }
        } else if err.is_builder() {
            Self::Setup(problem)
        } else {
            Self::Broken { host, problem }
        }
    }
}
