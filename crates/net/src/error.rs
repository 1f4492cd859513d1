//! Network errors. They never hold a URL's path, query or user, which may contain a token.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// The way out for a server that nobody vouches for.
const OF_AUTHORITY: &str =
    "`ca_file` names a file with its certificate authority, or with its own certificate if that is not an authority";
/// The way out for a server that shows the certificate of an authority.
const OF_SERVER: &str = "give the server one that the authority has signed, or a self-signed one with CA:FALSE \
                         (openssl req -x509 -addext basicConstraints=critical,CA:FALSE)";

/// Reason for a failed request. A response with an error status is not an `Error`.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// Not a URL with a host.
    #[error("this URL cannot be fetched: {0}")]
    BadUrl(String),
    /// The URL's scheme is not allowed.
    #[error("{scheme}:// is not used to reach {host}: use https://, or name the host in `trusted_hosts`")]
    Scheme {
        /// The scheme.
        scheme: String,
        /// The host.
        host: String,
    },
    /// The host is not on the public internet.
    #[error(
        "{host} is at {address}, which is not on the public internet: name the host in `trusted_hosts` to allow it"
    )]
    Private {
        /// The host's name.
        host: String,
        /// The address that the name resolves to, or the address in the URL.
        address: IpAddr,
    },
    /// The response redirects to a forbidden URL.
    #[error("{from} redirects to {to}, which is not followed: {why}")]
    Redirect {
        /// The redirecting host.
        from: String,
        /// The target's scheme, host and port.
        to: String,
        /// The reason for refusing.
        why: &'static str,
    },
    /// The response is larger than the limit.
    #[error("{host} sends more than {limit} bytes, which is the limit")]
    TooLarge {
        /// The host.
        host: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The request timed out.
    #[error("{host} did not answer within {:.1} s", .after.as_secs_f64())]
    Timeout {
        /// The host.
        host: String,
        /// Time waited.
        after: Duration,
    },
    /// The connection could not be established.
    #[error("cannot reach {host}: {problem}")]
    Connect {
        /// The host.
        host: String,
        /// The system's error message.
        problem: String,
    },
    /// The host's TLS certificate is not valid or not trusted.
    #[error("{host} is not trusted: {problem}")]
    Tls {
        /// The host.
        host: String,
        /// The TLS error, and the way out.
        problem: String,
    },
    /// The connection broke, or the response is not valid HTTP.
    #[error("the connection to {host} broke: {problem}")]
    Broken {
        /// The host.
        host: String,
        /// The cause.
        problem: String,
    },
    /// The client could not be set up.
    #[error("cannot use the network: {0}")]
    Setup(String),
    /// The request was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Whether the error is transient, so that a retry may succeed.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Timeout { .. } | Self::Connect { .. } | Self::Broken { .. })
    }

    /// Recovers the error wrapped in an `io::Error` from [`super::Body`].
    pub fn of_io(err: io::Error, host: &str) -> Self {
        match err.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            Some(inner) => inner.clone(),
            None => Self::Broken { host: host.to_owned(), problem: err.to_string() },
        }
    }

    fn of_tls(host: String, err: &rustls::Error) -> Self {
        // Its cause is known by its name only.
        let is_authority =
            matches!(err, rustls::Error::InvalidCertificate(why) if format!("{why:?}").contains("CaUsedAsEndEntity"));
        let (problem, advice) = match is_authority {
            true => ("its certificate is one of an authority, which is not a server's".to_owned(), OF_SERVER),
            false => (err.to_string(), OF_AUTHORITY),
        };
        Self::Tls { host, problem: format!("{problem}; {advice}") }
    }

    /// Converts a `reqwest` error of an exchange with `host`.
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
                return Self::of_tls(host, tls);
            }
            problem = cause.to_string();
            // An `io::Error` does not return its inner error as its source.
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
