//! HTTP server: where it listens, who may ask, and how much. It knows nothing of the protocol that it carries: an
//! [`Endpoint`] answers at its paths, and [`Pages`] everywhere else.
//!
//! [`bind`] decides before anything is served: beyond loopback there is no server without tokens. [`Bound::listen`] lets
//! clients in once there is what answers them, [`Bound::run`] accepts connections until a signal ends the process, `site` answers a request or refuses it with a reason,
//! [`tokens`] knows the callers, `oauth` those with tokens of an authorization server, `forge`
//! those with tokens of GitHub or GitLab, `cookies` those who come with a
//! browser, `forwarded` where they come from through proxies, and [`metrics`] counts.

mod again;
mod callers;
mod connections;
mod cookies;
mod events;
mod forge;
mod forwarded;
mod guard;
mod hooks;
mod jwt;
mod keys;
pub mod metrics;
mod oauth;
mod replays;
mod serve;
mod shares;
mod site;
mod strangers;
mod tls;
pub mod tokens;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::sync::OwnedSemaphorePermit;

pub use events::{events, merged};
pub use hooks::{Hooked, Kept};
pub use hyper::body::Bytes;
pub use hyper::header::{self, HeaderMap, HeaderValue};
pub use hyper::http::request::Parts;
pub use hyper::{Method, Request, Response, StatusCode};
pub use replays::Replays;
pub use shares::Shares;

use codelode_base::config::Config;
use cookies::Key;
use forge::Forge;
use forwarded::Proxies;
use guard::Guard;
use metrics::{Metrics, Page};
use oauth::OAuth;
use tls::Tls;
use tokens::{Grant, Tokens};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 1024;

/// Body of a request, whole and within its limit.
pub type Whole = Full<Bytes>;
/// An answer.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;
/// An answer to come.
pub type Pending<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// A repository that is held here and lies elsewhere, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Its id here.
    pub id: String,
    /// Its URL there.
    pub url: String,
}

/// A service behind this server.
pub trait Endpoint: Send + Sync + 'static {
    /// Paths that are its own.
    fn paths(&self) -> &'static [&'static str] {
        &[]
    }
    /// Answers a request that anyone may make, such as for a description, at the address that it was sent to.
    fn described(&self, _path: &str, _origin: &str) -> Option<Answer> {
        None
    }
    /// Repositories that it holds of forges, whose rights callers may have.
    fn elsewhere(&self) -> Vec<Elsewhere> {
        Vec::new()
    }
    /// Answers a request whose caller is known.
    fn answer<'a>(&'a self, visit: Arc<Visit>, request: Request<Bytes>) -> Pending<'a>;
    /// Whether it can answer.
    fn is_ready(&self) -> bool;
    /// Adds its own measurements.
    fn measure(&self, page: &mut Page);
    /// Tells others that it will end. May take a while.
    fn leave(&self) {}
    /// Ends everything that still runs.
    fn close(&self);
}

/// Pages for browsers, which sign in by a cookie.
pub trait Pages: Endpoint {
    /// Answers a request that anyone may make, such as for a style sheet.
    fn for_anyone(&self, path: &str) -> Option<Answer>;
    /// Asks for a token, with the problem of the last one; after that, the page at `target` is shown.
    fn sign_in(&self, target: &str, problem: Option<&str>) -> Answer;
}

/// Services of a server.
pub struct Services {
    /// Answers at its own paths.
    pub endpoint: Option<Arc<dyn Endpoint>>,
    /// Answers at every other path.
    pub pages: Option<Arc<dyn Pages>>,
    /// Repositories that webhooks may name.
    pub kept: Option<Arc<dyn Kept>>,
}

/// A request that was let in. While it exists, the request counts as running.
pub struct Visit {
    /// Id of the request, for logs.
    pub id: String,
    /// Rights of the caller; `None` where anyone at this machine is let in.
    pub grant: Option<Arc<Grant>>,
    /// Its token.
    pub token: Option<Arc<str>>,
    /// Its turns, and its share of the memory for large bodies.
    turns: Mutex<Vec<OwnedSemaphorePermit>>,
}

impl Visit {
    /// Name of the caller.
    pub fn caller(&self) -> &str {
        self.grant.as_ref().map_or("local", |grant| &grant.name)
    }

    /// Counts the request as running no longer: it only waits for news.
    pub fn rest(&self) {
        // A panic leaves the turns or none.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The reason for not serving.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is wrong or taken.
    #[error("cannot listen at {place}")]
    Listen {
        /// Host and port.
        place: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Anyone in the network could ask.
    #[error(
        "other machines can reach {0}, so tokens are required: give --tokens FILE, or set CODELODE_HTTP_TOKENS or CODELODE_HTTP_TOKEN"
    )]
    Open(IpAddr),
    /// The tokens, or the certificate, are unusable.
    #[error("{0}")]
    Unusable(String),
    /// The system provides no threads, file descriptors or random bytes.
    #[error("cannot start serving")]
    Start(#[source] io::Error),
}

/// A server that has its address and does not answer yet.
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    endpoint: &'static str,
    guard: Guard,
    tokens: Option<Tokens>,
    oauth: Option<OAuth>,
    forge: Option<Arc<Forge>>,
    proxies: Proxies,
    key: Option<Key>,
    tls: Option<Tls>,
    /// Counts of requests and calls.
    pub metrics: Arc<Metrics>,
}

/// Takes the address that the settings name. Clients are refused until [`Bound::listen`].
pub fn bind(config: &Config) -> Result<Bound, Error> {
    let http = &config.http;
    let tokens = Tokens::of(http).map_err(Error::Unusable)?;
    let oauth = OAuth::of(config, tokens.as_ref()).map_err(Error::Unusable)?;
    let forge = Forge::of(config).map(Arc::new);
    let proxies = Proxies::of(&http.trusted_proxies).map_err(Error::Unusable)?;
    let tls = Tls::of(http).map_err(Error::Unusable)?;
    let place = format!("{}:{}", http.host, http.port);
    let unheard = |source| Error::Listen { place: place.clone(), source };
    // A bare address of version 6 has colons of its own.
    let host = http.host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = (host, http.port).to_socket_addrs().map_err(unheard)?.collect();
    if let (None, None, Some(open)) = (&tokens, &forge, addresses.iter().find(|address| !address.ip().is_loopback())) {
        return Err(Error::Open(open.ip()));
    }
    let listener = bind_first(&addresses).map_err(unheard)?;
    listener.set_nonblocking(true).map_err(unheard)?;
    let address = listener.local_addr().map_err(unheard)?;
    let guard = Guard::new(http, address.ip());
    Ok(Bound {
        listener,
        address,
        endpoint: http.transport.endpoint(),
        guard,
        tokens,
        oauth,
        forge,
        proxies,
        key: None,
        tls,
        metrics: Arc::default(),
    })
}

/// Takes the first of some addresses that is free, without listening there.
fn bind_first(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        let bound = Socket::new(Domain::for_address(*address), Type::STREAM, Some(Protocol::TCP)).and_then(|socket| {
            // A server that starts again has connections that linger.
            socket.set_reuse_address(true)?;
            socket.bind(&(*address).into())?;
            Ok(socket)
        });
        match bound {
            Ok(socket) => return Ok(socket.into()),
            Err(err) => last = err,
        }
    }
    Err(last)
}

impl Bound {
    /// Lets clients in: from now on they wait for answers, and are no longer refused.
    pub fn listen(&self) -> Result<(), Error> {
        let heard = SockRef::from(&self.listener).listen(BACKLOG);
        heard.map_err(|source| Error::Listen { place: self.address.to_string(), source })
    }

    /// URL of its endpoint.
    pub fn url(&self) -> String {
        format!("{}{}", self.origin(), self.endpoint)
    }

    /// URL of its pages, without a slash at the end.
    pub fn origin(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Locks the pages. Returns the query that opens them for one browser, once.
    pub fn lock(&mut self) -> Result<String, Error> {
        let (key, ticket) = Key::new().map_err(Error::Start)?;
        self.key = Some(key);
        Ok(format!("{}={ticket}", cookies::TICKET))
    }
}

/// An answer in plain text.
pub fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    written(status, "text/plain; charset=utf-8", text.into())
}

/// An answer in JSON.
pub fn json(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    written(status, "application/json", text.into())
}

/// An answer in HTML.
pub fn html(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    written(status, "text/html; charset=utf-8", text.into())
}

/// An answer of some kind of content.
pub fn content(kind: &'static str, bytes: impl Into<Bytes>) -> Answer {
    written(StatusCode::OK, kind, bytes.into())
}

/// An answer that anyone may have and keep for an hour, web pages elsewhere as well.
pub fn public(kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = content(kind, text);
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// An answer that leads elsewhere.
pub fn see_other(target: &str) -> Answer {
    let mut answer = plain(StatusCode::SEE_OTHER, "");
    // A target with control characters leads nowhere.
    let target = HeaderValue::from_str(target).unwrap_or(HeaderValue::from_static("/"));
    answer.headers_mut().insert(header::LOCATION, target);
    answer
}

fn written(status: StatusCode, kind: &'static str, text: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(text).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}
