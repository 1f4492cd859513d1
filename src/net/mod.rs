//! The one guarded way out to the network, for whoever reaches repositories.
//!
//! A [`Client`] goes to public hosts over TLS, and elsewhere only where the operator allows it: looked at by URL for each
//! request and each redirect, and by address when a connection is made, so that a name cannot mean one host when it is
//! checked and another when it is used. A secret goes to the origin it belongs to and is left behind by every redirect
//! away from it. Every wait and every answer has a limit, no proxy is used, and nothing is retried that may have had an effect.

mod address;
mod body;
mod error;
mod guard;
mod retry;
#[cfg(test)]
pub(crate) mod stand;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, LOCATION};
use url::{Origin, Url};

pub use address::is_public;
pub use body::Body;
pub use error::Error;
pub use guard::Guard;
use guard::host_of;

/// Redirects in a row that are followed.
const REDIRECTS: usize = 5;
/// Headers that may be sent on to another origin: they say what we want, not who we are.
const HARMLESS: &[&str] =
    &["accept", "accept-encoding", "content-type", "git-protocol", "if-none-match", "range", "x-github-api-version"];

/// How the network is used.
#[derive(Clone, Debug)]
pub struct Options {
    /// Hosts that may be on a private network and may be reached without TLS, by name or address; `*` for all.
    pub trusted_hosts: Vec<String>,
    /// A file with certificates (PEM) of authorities that are trusted beside the system's.
    pub ca_file: Option<PathBuf>,
    /// How long to wait for a connection.
    pub connect: Duration,
    /// How long to wait for an answer to begin, or to go on.
    pub silence: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            trusted_hosts: Vec::new(),
            ca_file: None,
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(30),
        }
    }
}

/// What is asked of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Asked again when it fails in passing.
    Get,
    /// Asked once.
    Post,
}

/// A secret and the only origin that it is told to, over TLS only.
#[derive(Clone)]
pub struct Credentials {
    origin: Origin,
    /// The user for basic authentication; `None` for a bearer token.
    user: Option<String>,
    secret: String,
}

impl Credentials {
    /// A token for the origin of a URL.
    pub fn bearer(url: &Url, token: &str) -> Self {
        Self { origin: url.origin(), user: None, secret: token.to_owned() }
    }

    /// A user and a password for the origin of a URL.
    pub fn basic(url: &Url, user: &str, password: &str) -> Self {
        Self { origin: url.origin(), user: Some(user.to_owned()), secret: password.to_owned() }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.origin.ascii_serialization())
    }
}

/// One question to a host.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is asked.
    pub method: Method,
    /// Of whom. A user and a password in it are not sent.
    pub url: Url,
    /// Names and values. Another origin that we are redirected to gets only what says nothing of us.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Vec<u8>,
    /// The secret, if the host asks for one.
    pub credentials: Option<Credentials>,
    /// The largest answer, in bytes, unpacked.
    pub limit: u64,
    /// How long the whole exchange may take.
    pub time: Duration,
    /// How often to try; only a [`Method::Get`] is tried again.
    pub attempts: u32,
    /// Whether the answer may be packed by gzip on its way.
    pub packed: bool,
    /// Set when nobody wants the answer any more; looked at between pieces.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Request {
    /// Asks for what is at a URL: at most 64 MB within two minutes, in three attempts.
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::Get,
            url,
            headers: Vec::new(),
            body: Vec::new(),
            credentials: None,
            limit: 64 << 20,
            time: Duration::from_secs(120),
            attempts: 3,
            packed: false,
            cancelled: None,
        }
    }

    /// Sends a body to a URL, once.
    pub fn post(url: Url, body: Vec<u8>) -> Self {
        Self { method: Method::Post, body, attempts: 1, ..Self::get(url) }
    }

    /// The same with one more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }
}

/// An answer whose body is still to be read, by its [`std::io::Read`]; see [`Error::of_io`] for its errors.
#[derive(Debug)]
pub struct Response {
    /// As HTTP counts it.
    pub status: u16,
    /// Who answered in the end.
    pub url: Url,
    /// What follows.
    pub body: Body,
    headers: HeaderMap,
}

impl Response {
    /// A header as text; `None` when it is missing or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// How long the host asks us to wait before we come back. We never wait ourselves: who asked may know better.
    pub fn retry_after(&self) -> Option<Duration> {
        retry::retry_after(self.header("retry-after")?, self.header("date"))
    }

    /// Whether the host has trouble that may be over in a moment and does not say how long.
    fn is_passing(&self) -> bool {
        matches!(self.status, 500 | 502 | 503 | 504) && self.header("retry-after").is_none()
    }
}

/// An answer with its whole body.
#[derive(Debug)]
pub struct Answer {
    /// The answer, its body read to the end.
    pub head: Response,
    /// The body.
    pub bytes: Vec<u8>,
}

/// Goes out to the network. Cheap to clone; nothing is opened before the first request.
#[derive(Clone, Debug)]
pub struct Client {
    options: Arc<Options>,
    guard: Guard,
    inner: Arc<OnceLock<Result<reqwest::blocking::Client, Error>>>,
}

impl Client {
    /// A client by these rules.
    pub fn new(options: Options) -> Self {
        let guard = Guard::new(&options.trusted_hosts);
        Self { options: Arc::new(options), guard, inner: Arc::default() }
    }

    /// Where it may go.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Asks, follows redirects, and gives the answer as soon as it begins. A failure in passing is tried again.
    pub fn send(&self, request: &Request) -> Result<Response, Error> {
        self.persist(request, |deadline| self.follow(request, deadline), Response::is_passing)
    }

    /// The same, with the whole body. An answer that breaks off is asked for again.
    pub fn fetch(&self, request: &Request) -> Result<Answer, Error> {
        let read = |deadline| {
            let mut head = self.follow(request, deadline)?;
            let bytes = head.body.read_whole()?;
            Ok(Answer { head, bytes })
        };
        self.persist(request, read, |answer| answer.head.is_passing())
    }

    /// Tries as often as a request allows, while there is time.
    fn persist<T>(
        &self,
        request: &Request,
        attempt: impl Fn(Instant) -> Result<T, Error>,
        is_passing: impl Fn(&T) -> bool,
    ) -> Result<T, Error> {
        let began = Instant::now();
        let deadline = began + request.time;
        let attempts = if request.method == Method::Get { request.attempts.max(1) } else { 1 };
        let mut n = 1;
        loop {
            if request.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let result = attempt(deadline);
            let again = match &result {
                Ok(answer) => is_passing(answer),
                Err(err) => err.is_passing(),
            };
            let wait = retry::backoff(n);
            if !again || n >= attempts || Instant::now() + wait >= deadline {
                return result.map_err(|err| match err {
                    Error::Timeout { host, .. } => Error::Timeout { host, after: began.elapsed() },
                    err => err,
                });
            }
            tracing::debug!(host = host_of(&request.url), attempt = n, ?wait, "asking again");
            thread::sleep(wait);
            n += 1;
        }
    }

    /// Asks once, and goes where the answer sends us, if that is allowed.
    fn follow(&self, request: &Request, deadline: Instant) -> Result<Response, Error> {
        let mut url = request.url.clone();
        strip(&mut url);
        self.guard.check(&url)?;
        for _ in 0..=REDIRECTS {
            if request.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let response = self.exchange(request, &url, deadline)?;
            let Some(next) = target(request.method, &url, &response) else { return Ok(response) };
            let next = next?;
            self.guard.check_redirect(&url, &next)?;
            url = next;
        }
        let (from, to) = (host_of(&request.url).to_owned(), host_of(&url).to_owned());
        Err(Error::Redirect { from, to, why: "there were too many redirects" })
    }

    /// One question, one answer.
    fn exchange(&self, request: &Request, url: &Url, deadline: Instant) -> Result<Response, Error> {
        let host = host_of(url);
        let silence = self.options.silence.min(deadline.saturating_duration_since(Instant::now()));
        if silence.is_zero() {
            return Err(Error::Timeout { host: host.to_owned(), after: request.time });
        }
        let client = self.inner.get_or_init(|| build(&self.options, &self.guard)).as_ref().map_err(Clone::clone)?;
        let mut asked = match request.method {
            Method::Get => client.get(url.clone()),
            Method::Post => client.post(url.clone()).body(request.body.clone()),
        };
        let at_home = url.origin() == request.url.origin();
        for (name, value) in &request.headers {
            let harmless = HARMLESS.iter().any(|known| name.eq_ignore_ascii_case(known));
            let secret = name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("cookie");
            if harmless || (at_home && (!secret || url.scheme() == "https")) {
                asked = asked.header(name, value);
            }
        }
        if request.packed {
            asked = asked.header("accept-encoding", "gzip");
        }
        if let Some(Credentials { origin, user, secret }) = &request.credentials
            && *origin == url.origin()
            && url.scheme() == "https"
        {
            asked = match user {
                Some(user) => asked.basic_auth(user, Some(secret)),
                None => asked.bearer_auth(secret),
            };
        }
        let answer = asked.timeout(silence).send().map_err(|err| Error::of_exchange(err, host, silence))?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let packed = headers.get("content-encoding").is_some_and(|how| how.as_bytes() == b"gzip");
        let body = Body::new(answer, packed, request, host, deadline)?;
        Ok(Response { status, url: url.clone(), body, headers })
    }
}

/// Where an answer sends us; `None` when it does not, or when the question may not be asked elsewhere.
fn target(method: Method, from: &Url, response: &Response) -> Option<Result<Url, Error>> {
    let follows = match method {
        Method::Get => matches!(response.status, 301 | 302 | 303 | 307 | 308),
        // Other codes would make a question without a body of it.
        Method::Post => matches!(response.status, 307 | 308),
    };
    let place = response.headers.get(LOCATION).filter(|_| follows)?;
    let url = std::str::from_utf8(place.as_bytes()).ok().and_then(|place| from.join(place).ok());
    let Some(mut url) = url else {
        let (from, to) = (host_of(from).to_owned(), "a place that is no URL".to_owned());
        return Some(Err(Error::Redirect { from, to, why: "there is nowhere to go" }));
    };
    strip(&mut url);
    Some(Ok(url))
}

/// Takes a user and a password out of a URL: reqwest would send them.
fn strip(url: &mut Url) {
    // Only URLs without a host refuse, and those are refused anyway.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

/// Sets up the client below.
fn build(options: &Options, guard: &Guard) -> Result<reqwest::blocking::Client, Error> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails only where another part of the process has chosen already, and then that choice holds.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = reqwest::blocking::Client::builder()
        .user_agent(concat!("codelode/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .dns_resolver(Arc::new(guard.clone()))
        .connect_timeout(options.connect)
        .timeout(options.silence);
    if let Some(path) = &options.ca_file {
        let problem = |why: &dyn fmt::Display| Error::Setup(format!("`ca_file` {}: {why}", path.display()));
        let pem = fs::read(path).map_err(|err| problem(&err))?;
        let certificates = reqwest::Certificate::from_pem_bundle(&pem).map_err(|err| problem(&err))?;
        if certificates.is_empty() {
            return Err(problem(&"holds no certificate in PEM form"));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    builder.build().map_err(|err| Error::of_exchange(err, "", options.connect))
}
