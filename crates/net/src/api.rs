//! JSON over HTTP with a key: one request, repeated while the server asks for patience.
//!
//! For requests that may be sent twice without harm, such as questions to a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use url::Url;

use super::{Client, Credentials, Error, Request, guard, retry};

/// Longest `Retry-After` that is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Pause between looks at the cancellation flag.
const LOOK: Duration = Duration::from_millis(50);
/// Letters of a server's message that are kept.
const MESSAGE: usize = 200;

/// A request with a JSON body.
#[derive(Clone, Debug)]
pub struct Call {
    /// Target.
    pub url: Url,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Key, sent over TLS only.
    pub credentials: Option<Credentials>,
    /// Body.
    pub body: Value,
    /// Maximum time of one attempt.
    pub time: Duration,
    /// Maximum number of attempts.
    pub attempts: u32,
    /// Cancellation flag.
    pub cancelled: Arc<AtomicBool>,
}

/// Failure of a [`Call`]. No message holds a key.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// The network failed, or the URL is not allowed.
    #[error(transparent)]
    Net(#[from] Error),
    /// The key is missing, wrong or too weak.
    #[error("{host} refuses the key (status {status})")]
    Denied {
        /// The host.
        host: String,
        /// Status code.
        status: u16,
    },
    /// Too many requests.
    #[error("{host} allows no more requests for now{}", .after.map(|after| format!("; try again in {} s", after.as_secs())).unwrap_or_default())]
    Limited {
        /// The host.
        host: String,
        /// Time until the next request is allowed, if the host says it.
        after: Option<Duration>,
    },
    /// Any other status.
    #[error("{host} answers with status {status}{}", if .message.is_empty() { String::new() } else { format!(": {}", .message) })]
    Status {
        /// The host.
        host: String,
        /// Status code.
        status: u16,
        /// Message of the server, on one line.
        message: String,
    },
    /// The answer has another form than expected.
    #[error("the answer of {host} has another form than expected: {problem}")]
    Malformed {
        /// The host.
        host: String,
        /// Description of the problem.
        problem: String,
    },
}

impl Failure {
    /// A malformed answer of a URL's host.
    pub fn malformed(url: &Url, problem: impl Into<String>) -> Self {
        Self::Malformed { host: guard::host_of(url).to_owned(), problem: problem.into() }
    }

    /// Whether the caller has cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Net(Error::Cancelled))
    }
}

impl Client {
    /// Sends a request and reads the JSON of the answer. Transient failures, rate limits and overload are waited for.
    pub fn ask(&self, call: &Call) -> Result<Value, Failure> {
        let mut attempt = 1;
        loop {
            let (failure, wait) = match self.ask_once(call) {
                Ok(answer) => return Ok(answer),
                Err((failure, wait)) => (failure, wait),
            };
            let wait = wait.map(|asked| asked.max(retry::backoff(attempt)));
            match wait.filter(|wait| attempt < call.attempts && *wait <= LONGEST_WAIT) {
                Some(wait) => pause(wait, &call.cancelled)?,
                None => return Err(failure),
            }
            attempt += 1;
        }
    }

    /// One attempt. A failure comes with the time to wait before the next one, if another may succeed.
    fn ask_once(&self, call: &Call) -> Result<Value, (Failure, Option<Duration>)> {
        let host = guard::host_of(&call.url).to_owned();
        let body = call.body.to_string().into_bytes();
        let mut request = Request {
            credentials: call.credentials.clone(),
            time: call.time,
            cancelled: Some(call.cancelled.clone()),
            ..Request::post(call.url.clone(), body).header("content-type", "application/json")
        };
        request.headers.extend(call.headers.iter().cloned());
        let answer = self.fetch(&request).map_err(|err| {
            let wait = err.is_passing().then_some(Duration::ZERO);
            (err.into(), wait)
        })?;
        let (status, after) = (answer.head.status, answer.head.retry_after());
        match status {
            200..=299 => serde_json::from_slice(&answer.bytes)
                .map_err(|err| (Failure::Malformed { host, problem: format!("it is not JSON ({err})") }, None)),
            401 | 403 => Err((Failure::Denied { host, status }, None)),
            429 => Err((Failure::Limited { host, after }, Some(after.unwrap_or_default()))),
            _ => {
                let message = message(&answer.bytes, call.credentials.as_ref());
                let wait = (status >= 500).then(|| after.unwrap_or_default());
                Err((Failure::Status { host, status, message }, wait))
            }
        }
    }
}

/// A URL below a base.
pub fn below(base: &Url, parts: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(parts);
    }
    url
}

/// Message of an error answer, on one line and without the key.
fn message(bytes: &[u8], credentials: Option<&Credentials>) -> String {
    let Ok(answer) = serde_json::from_slice::<Value>(bytes) else { return String::new() };
    let places = ["/error/message", "/message", "/detail", "/error"];
    let Some(text) = places.iter().find_map(|place| answer.pointer(place)?.as_str()) else { return String::new() };
    let text = match credentials {
        Some(credentials) => text.replace(&credentials.secret, "***"),
        None => text.to_owned(),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|letter| !letter.is_control()).take(MESSAGE).collect()
}

/// Waits, unless the caller cancels.
fn pause(wait: Duration, cancelled: &AtomicBool) -> Result<(), Error> {
    let until = Instant::now() + wait;
    loop {
        if cancelled.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(LOOK));
    }
}
