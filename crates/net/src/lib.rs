//! HTTP client for all network access, with checks on hosts, secrets, size and time.
//!
//! A [`Client`] connects to public hosts over TLS, and to others only if the operator trusts them. It checks the URL
//! of each request and redirect, and the address of each connection, so that DNS rebinding gains nothing. A secret is
//! sent only to its own origin. Every wait and every response has a limit, no proxy is used, and only [`Method::Get`]
//! is retried.
//!
//! It will never know what the bytes mean that it fetches, and nothing else in codelode opens a connection outwards, but
//! for the clients of a cluster.

mod address;
pub mod api;
mod body;
mod error;
mod guard;
mod retry;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod test_server;
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
use url::{Host, Origin, Url};

pub use address::is_public;
pub use body::Body;
pub use error::Error;
pub use guard::Guard;
use guard::host_of;

/// Maximum number of redirects per request.
const REDIRECTS: usize = 5;
/// Headers forwarded to another origin: they reveal nothing about the user.
const HARMLESS: &[&str] =
    &["accept", "accept-encoding", "content-type", "git-protocol", "if-none-match", "range", "x-github-api-version"];

/// Network settings.
#[derive(Clone, Debug)]
pub struct Options {
    /// Hosts, by name or address, that may be private and may be reached without TLS; `*` for all.
    pub trusted_hosts: Vec<String>,
    /// A PEM file of certificate authorities trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Timeout for connecting.
    pub connect: Duration,
    /// Timeout for the response to start, and for each pause within it.
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

/// HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Retried after a transient failure.
    Get,
    /// Never retried, like those below.
    Post,
    /// Only the headers.
    Head,
    /// Writes what the URL names.
    Put,
    /// Removes what the URL names.
    Delete,
}

/// A secret, sent over TLS to one origin only.
#[derive(Clone)]
pub struct Credentials {
    origin: Origin,
    form: Form,
    secret: String,
    /// Whether it may be sent without TLS to this machine.
    is_plain_here: bool,
}

/// How a secret is sent.
#[derive(Clone)]
enum Form {
    /// As a bearer token.
    Bearer,
    /// As the password of this user.
    Basic(String),
    /// In a header of this name.
    Header(&'static str),
}

impl Credentials {
    /// A bearer token for the origin of a URL.
    pub fn bearer(url: &Url, token: &str) -> Self {
        Self { origin: url.origin(), form: Form::Bearer, secret: token.to_owned(), is_plain_here: false }
    }

    /// User name and password for the origin of a URL.
    pub fn basic(url: &Url, user: &str, password: &str) -> Self {
        Self {
            origin: url.origin(),
            form: Form::Basic(user.to_owned()),
            secret: password.to_owned(),
            is_plain_here: false,
        }
    }

    /// Allows sending to this machine without TLS.
    pub fn plain_here(self) -> Self {
        Self { is_plain_here: true, ..self }
    }

    /// A key in a header of its own, for the origin of a URL.
    pub fn header(url: &Url, name: &'static str, key: &str) -> Self {
        Self { origin: url.origin(), form: Form::Header(name), secret: key.to_owned(), is_plain_here: false }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Credentials({})", self.origin.ascii_serialization())
    }
}

/// An HTTP request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Target URL. A user name and password in it are not sent.
    pub url: Url,
    /// Header names and values. After a redirect to another origin, only harmless ones are sent.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: Vec<u8>,
    /// Credentials, if the host requires any.
    pub credentials: Option<Credentials>,
    /// Maximum size of the response in bytes, decompressed.
    pub limit: u64,
    /// Timeout for the whole exchange.
    pub time: Duration,
    /// Maximum number of attempts; only a [`Method::Get`] is retried.
    pub attempts: u32,
    /// Whether to accept a gzip-compressed response.
    pub packed: bool,
    /// Whether the `authorization` header is a signature of this request. That is no secret: a trusted host gets it
    /// without TLS, too.
    pub is_signed: bool,
    /// Cancellation flag, checked before each attempt, redirect and read.
    pub cancelled: Option<Arc<AtomicBool>>,
}

impl Request {
    /// A GET request with a limit of 64 MB, two minutes and three attempts.
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
            is_signed: false,
            cancelled: None,
        }
    }

    /// A POST request, sent once.
    pub fn post(url: Url, body: Vec<u8>) -> Self {
        Self { method: Method::Post, body, attempts: 1, ..Self::get(url) }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }
}

/// A response whose body is read through [`std::io::Read`]; [`Error::of_io`] converts its errors.
#[derive(Debug)]
pub struct Response {
    /// HTTP status code.
    pub status: u16,
    /// Final URL, after redirects.
    pub url: Url,
    /// Response body, still unread.
    pub body: Body,
    headers: HeaderMap,
}

impl Response {
    /// A header's value; `None` if it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// All headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The host's `Retry-After`. The client never waits for it: that is the caller's decision.
    pub fn retry_after(&self) -> Option<Duration> {
        retry::retry_after(self.header("retry-after")?, self.header("date"))
    }

    /// Whether the status is a transient server error without a `Retry-After`.
    fn is_passing(&self) -> bool {
        matches!(self.status, 500 | 502 | 503 | 504) && self.header("retry-after").is_none()
    }
}

/// A response with its whole body.
#[derive(Debug)]
pub struct WholeResponse {
    /// The response, its body read to the end.
    pub head: Response,
    /// The body.
    pub bytes: Vec<u8>,
}

/// HTTP client. Cheap to clone; connects on the first request.
#[derive(Clone, Debug)]
pub struct Client {
    options: Arc<Options>,
    guard: Guard,
    inner: Arc<OnceLock<Result<reqwest::blocking::Client, Error>>>,
}

impl Client {
    /// A client with these settings.
    pub fn new(options: Options) -> Self {
        let guard = Guard::new(&options.trusted_hosts);
        Self { options: Arc::new(options), guard, inner: Arc::default() }
    }

    /// The rules for hosts and addresses.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The longest silence of a server.
    pub fn silence(&self) -> Duration {
        self.options.silence
    }

    /// Sends a request, follows redirects, and returns once the headers are in. Retries transient failures.
    pub fn send(&self, request: &Request) -> Result<Response, Error> {
        self.retry(request, |deadline| self.follow(request, deadline), Response::is_passing)
    }

    /// Like [`Client::send`], but reads the whole body. Retries a broken body too.
    pub fn fetch(&self, request: &Request) -> Result<WholeResponse, Error> {
        let read = |deadline| {
            let mut head = self.follow(request, deadline)?;
            let bytes = head.body.read_whole()?;
            Ok(WholeResponse { head, bytes })
        };
        self.retry(request, read, |answer| answer.head.is_passing())
    }

    /// Runs `attempt` until it succeeds, fails permanently, or runs out of attempts or time.
    fn retry<T>(
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

    /// Sends the request once and follows allowed redirects.
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

    /// A single request and response, without redirects.
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
            Method::Head => client.head(url.clone()),
            Method::Put => client.put(url.clone()).body(request.body.clone()),
            Method::Delete => client.delete(url.clone()),
        };
        let at_home = url.origin() == request.url.origin();
        for (name, value) in &request.headers {
            let harmless = HARMLESS.iter().any(|known| name.eq_ignore_ascii_case(known));
            let secret = name.eq_ignore_ascii_case("authorization") || name.eq_ignore_ascii_case("cookie");
            if harmless || (at_home && (!secret || request.is_signed || url.scheme() == "https")) {
                asked = asked.header(name, value);
            }
        }
        if request.packed {
            asked = asked.header("accept-encoding", "gzip");
        }
        if let Some(Credentials { origin, form, secret, is_plain_here }) = &request.credentials
            && *origin == url.origin()
            && (url.scheme() == "https" || (*is_plain_here && is_this_machine(url)))
        {
            asked = match form {
                Form::Bearer => asked.bearer_auth(secret),
                Form::Basic(user) => asked.basic_auth(user, Some(secret)),
                Form::Header(name) => asked.header(*name, secret),
            };
        }
        let answer = asked.timeout(silence).send().map_err(|err| Error::of_exchange(err, host, silence))?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let packed = headers.get("content-encoding").is_some_and(|how| how.as_bytes() == b"gzip");
        let body = Body::new(answer, packed, request, host, deadline)?;
        Ok(Response { status, url: url.clone(), body, headers })
    }
}

/// Target of a redirect; `None` if there is none, or if `method` must not follow it.
fn target(method: Method, from: &Url, response: &Response) -> Option<Result<Url, Error>> {
    let follows = match method {
        Method::Get => matches!(response.status, 301 | 302 | 303 | 307 | 308),
        // Other codes would turn the request into a GET without a body.
        Method::Post => matches!(response.status, 307 | 308),
        Method::Head | Method::Put | Method::Delete => false,
    };
    let place = response.headers.get(LOCATION).filter(|_| follows)?;
    let url = std::str::from_utf8(place.as_bytes()).ok().and_then(|place| from.join(place).ok());
    let Some(mut url) = url else {
        let (from, to) = (host_of(from).to_owned(), "a place that is not a URL".to_owned());
        return Some(Err(Error::Redirect { from, to, why: "there is nowhere to go" }));
    };
    strip(&mut url);
    Some(Ok(url))
}

/// Whether a URL leads to this machine: what is sent there passes no network.
fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // Resolvers answer this name themselves (RFC 6761).
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// Removes user name and password from a URL: reqwest would send them.
fn strip(url: &mut Url) {
    // Only URLs without a host fail here, and those are refused anyway.
    let _ = url.set_username("");
    let _ = url.set_password(None);
}

/// Builds the underlying reqwest client.
fn build(options: &Options, guard: &Guard) -> Result<reqwest::blocking::Client, Error> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails only if another part of the process has installed a provider, which is then used.
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
