//! A request's way to its answer: path, host and origin, caller, turn, size; then the endpoint or the pages.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::again::Held;
use super::callers::{Callers, Proved, Refusal, Visitor};
use super::cookies::{self, SIGN_IN, SIGN_OUT};
use super::forwarded::Source;
use super::hooks::{self, HOOKS};
use super::metrics::{Metrics, Page};
use super::oauth::METADATA;
use super::shares::Shares;
use super::strangers::network;
use super::tokens::Grant;
use super::{
    Answer, Elsewhere, Endpoint, HeaderValue, Method, Pages, Parts, Request, Services, StatusCode, Visit, header,
    plain, see_other,
};

/// Size limit of a body. Clients send no source files, so a larger one is a mistake or an attack.
const LARGEST_BODY: usize = 4 * 1024 * 1024;
/// Size limit of a form, which holds a token and a path.
const LARGEST_FORM: usize = 16 * 1024;
/// A body up to this size waits for nobody.
const SMALL_BODY: u64 = 64 * 1024;
/// Kilobytes of larger bodies that are held at once, from their first byte until they are answered.
const MOST_OF_BODIES: usize = 64 * 1024;
/// Time limit for a body to arrive.
const SLOWEST_BODY: Duration = Duration::from_secs(30);
/// Letters of a method in the log.
const LONGEST_METHOD: usize = 16;
/// Requests that run or wait at once.
pub(super) const MOST_RUNNING: u32 = 1024;
/// Those of one caller.
const MOST_OF_ONE: usize = 512;

/// A server with its callers, limits and services.
pub(super) struct Site {
    pub(super) callers: Callers,
    pub(super) services: Services,
    pub(super) metrics: Arc<Metrics>,
    pub(super) turns: Arc<Semaphore>,
    pub(super) is_closing: AtomicBool,
    large_bodies: Arc<Semaphore>,
    /// Memory for the larger bodies of each caller.
    bodies_of_callers: Shares,
    /// The same for those who have no token: in all, and of each address.
    bodies_of_strangers: Arc<Semaphore>,
    bodies_of_addresses: Shares,
    /// Webhooks' messages that were taken.
    messages: hooks::Taken,
    /// Turns of each caller.
    of_callers: Shares,
    ids: Ids,
}

impl Services {
    /// Every service.
    pub(super) fn all(&self) -> impl Iterator<Item = &dyn Endpoint> {
        let pages = self.pages.iter().map(|pages| &**pages as &dyn Endpoint);
        self.endpoint.iter().map(|endpoint| &**endpoint).chain(pages)
    }

    /// Repositories that are held of forges.
    pub(super) fn elsewhere(&self) -> Vec<Elsewhere> {
        self.all().flat_map(Endpoint::elsewhere).collect()
    }

    /// Paths of the endpoint.
    fn paths(&self) -> &'static [&'static str] {
        self.endpoint.as_ref().map_or(&[], |endpoint| endpoint.paths())
    }
}

impl Site {
    pub(super) fn new(callers: Callers, metrics: Arc<Metrics>, services: Services) -> Self {
        let turns = Arc::new(Semaphore::new(MOST_RUNNING as usize));
        let large_bodies = Arc::new(Semaphore::new(MOST_OF_BODIES));
        Self {
            callers,
            services,
            metrics,
            turns,
            is_closing: AtomicBool::new(false),
            large_bodies,
            bodies_of_callers: Shares::new(MOST_OF_BODIES / 4),
            bodies_of_strangers: Arc::new(Semaphore::new(MOST_OF_BODIES / 4)),
            bodies_of_addresses: Shares::new(LARGEST_BODY / 1024),
            messages: hooks::Taken::default(),
            of_callers: Shares::new(MOST_OF_ONE),
            ids: Ids::new(),
        }
    }

    /// Answers a request.
    pub(super) async fn answer(self: Arc<Self>, peer: IpAddr, request: Request<Incoming>) -> Answer {
        let (began, id) = (Instant::now(), self.ids.next());
        let (mut parts, body) = request.into_parts();
        let source = self.callers.proxies.source(peer, self.callers.is_tls, &mut parts);
        parts.extensions.insert(source);
        let request = Request::from_parts(parts, body);
        let method: String = request.method().as_str().chars().take(LONGEST_METHOD).collect();
        let path = match request.uri().path() {
            known @ ("/healthz" | "/readyz" | "/metrics") => known.to_owned(),
            own if self.services.paths().contains(&own) => own.to_owned(),
            hook if self.services.kept.is_some() && hook.starts_with(HOOKS) => HOOKS.to_owned(),
            own if self.callers.oauth.as_ref().is_some_and(|oauth| oauth.describes(own)) => METADATA.to_owned(),
            _ if self.services.pages.is_some() => "pages".to_owned(),
            _ => "elsewhere".to_owned(),
        };
        let mut answer = match self.routed(&path, &id, request).await {
            Ok(answer) => answer,
            Err((status, why)) => {
                let ms = milliseconds(began);
                let (from, status_code) = (source.client.to_string(), status.as_u16());
                tracing::info!(target: "access", id, from, method, path, status = status_code, ms, why, "refused");
                self.refused(status, why)
            }
        };
        self.metrics.answer(answer.status().as_u16());
        let headers = answer.headers_mut();
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert("x-request-id", id);
        }
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if !headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN) {
            headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
        }
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        answer
    }

    async fn routed(self: &Arc<Self>, path: &str, id: &str, request: Request<Incoming>) -> Result<Answer, Refusal> {
        let is_get = request.method() == Method::GET;
        if is_get && let Some(answer) = self.described(&request) {
            return Ok(answer);
        }
        match path {
            // Probes name no host of ours, and learn nothing.
            "/healthz" if is_get => Ok(plain(StatusCode::OK, "ok\n")),
            "/readyz" if is_get => {
                let is_ready = !self.is_closing.load(Ordering::Relaxed) && self.services.all().all(Endpoint::is_ready);
                Ok(match is_ready {
                    true => plain(StatusCode::OK, "ready\n"),
                    false => plain(StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
                })
            }
            "/metrics" if is_get => {
                let (parts, _) = request.into_parts();
                let grant = self.callers.program(&parts, &self.services).await?;
                if grant.is_some_and(|(_, grant)| !grant.rights.sees_all()) {
                    let why = "metrics cover all repositories, which this token may not see";
                    return Err((StatusCode::FORBIDDEN, why.to_owned()));
                }
                Ok(self.measured())
            }
            METADATA if is_get => {
                let (parts, _) = request.into_parts();
                self.callers.check(&parts, false)?;
                let oauth = self.callers.oauth.as_ref();
                let metadata = oauth.map(|oauth| oauth.metadata(self.callers.tokens.as_ref()));
                metadata.ok_or_else(|| (StatusCode::NOT_FOUND, "there is nothing at this path".to_owned()))
            }
            HOOKS if request.method() == Method::POST => {
                let (parts, body) = request.into_parts();
                self.callers.check(&parts, false)?;
                let from = parts.extensions.get::<Source>().map(|source| network(source.client).to_string());
                let own = self.bodies_of_addresses.of(&from.unwrap_or_default());
                let (body, _share) = self.whole(body, LARGEST_BODY, [own, self.bodies_of_strangers.clone()]).await?;
                match &self.services.kept {
                    Some(kept) => hooks::taken(kept, &self.messages, &parts, &body),
                    None => Err((StatusCode::NOT_FOUND, "there is nothing at this path".to_owned())),
                }
            }
            HOOKS => Err((StatusCode::METHOD_NOT_ALLOWED, "hooks are sent with POST".to_owned())),
            METADATA | "/healthz" | "/readyz" | "/metrics" => {
                Err((StatusCode::METHOD_NOT_ALLOWED, format!("{path} is read with GET")))
            }
            _ => match (&self.services.endpoint, &self.services.pages) {
                (Some(endpoint), _) if endpoint.paths().contains(&path) => {
                    let (parts, body) = request.into_parts();
                    let grant = self.callers.program(&parts, &self.services).await?;
                    self.asked(&**endpoint, grant, id, parts, body).await
                }
                (_, Some(pages)) => self.visited(&**pages, id, request).await,
                _ => {
                    let endpoint = self.services.paths().first().unwrap_or(&"elsewhere");
                    Err((StatusCode::NOT_FOUND, format!("there is nothing at this path; the endpoint is {endpoint}")))
                }
            },
        }
    }

    /// A description of the server, at the address that was asked.
    fn described(&self, request: &Request<Incoming>) -> Option<Answer> {
        let host = request.headers().get(header::HOST)?.to_str().ok()?;
        let is_tls = request.extensions().get::<Source>().is_some_and(|source| source.is_tls);
        let origin = format!("{}://{host}", if is_tls { "https" } else { "http" });
        let answer = self.services.endpoint.as_ref()?.described(request.uri().path(), &origin)?;
        // A page elsewhere may read it, but no name that is not ours is written into it.
        self.callers.guard.check_host(request.headers()).is_ok().then_some(answer)
    }

    /// Shows a page to a browser that has signed in.
    async fn visited(
        self: &Arc<Self>,
        pages: &dyn Pages,
        id: &str,
        request: Request<Incoming>,
    ) -> Result<Answer, Refusal> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
        if is_read && let Some(answer) = pages.for_anyone(path) {
            return Ok(answer);
        }
        if let Some(cookie) = self.callers.ticketed(&parts)? {
            return Ok(self.with_cookie(see_other(path), cookie, &parts));
        }
        match path {
            SIGN_IN if parts.method == Method::POST => {
                self.callers.check(&parts, true)?;
                // A form takes no memory from others.
                let (form, _) = self.whole(body, LARGEST_FORM, []).await?;
                let target = cookies::target(cookies::field(&form, "to"));
                let token = cookies::field(&form, "token").unwrap_or_default();
                return Ok(match self.callers.sign_in(token.trim(), &parts, &self.services).await? {
                    Some(cookie) => self.with_cookie(see_other(&target), &cookie, &parts),
                    None => pages.sign_in(&target, Some("This token is not known here.")),
                });
            }
            SIGN_OUT if parts.method == Method::POST => {
                self.callers.check(&parts, true)?;
                self.callers.sign_out(&parts);
                return Ok(self.with_cookie(see_other("/"), "", &parts));
            }
            _ if !is_read => return Err((StatusCode::METHOD_NOT_ALLOWED, "pages are read with GET".to_owned())),
            _ => {}
        }
        match self.callers.visitor(&parts, &self.services).await? {
            Visitor::Known(grant) => self.asked(pages, grant, id, parts, body).await,
            Visitor::Unknown(problem) => {
                let target = parts.uri.path_and_query().map(ToString::to_string);
                Ok(pages.sign_in(&cookies::target(target), problem))
            }
        }
    }

    fn with_cookie(&self, mut answer: Answer, value: &str, request: &Parts) -> Answer {
        let is_tls = request.extensions.get::<Source>().is_some_and(|source| source.is_tls);
        if let Some(cookie) = cookies::given(&self.callers.cookie, value, is_tls) {
            answer.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        answer
    }

    /// The caller with a token.
    pub(super) async fn granted(&self, token: &str) -> Result<Arc<Grant>, Refusal> {
        self.callers.granted(token, &self.services).await
    }

    /// Passes a request on to a service. The answer ends early when the rights of the caller do.
    async fn asked<E: Endpoint + ?Sized>(
        self: &Arc<Self>,
        endpoint: &E,
        proved: Option<Proved>,
        id: &str,
        parts: Parts,
        body: Incoming,
    ) -> Result<Answer, Refusal> {
        if self.is_closing.load(Ordering::Relaxed) {
            return Err((StatusCode::SERVICE_UNAVAILABLE, "this server is ending; try again in a moment".to_owned()));
        }
        let grant = proved.as_ref().map(|(_, grant)| grant.clone());
        let name = grant.as_ref().map_or("", |grant| grant.name.as_str());
        let own = self.of_callers.of(name).try_acquire_owned();
        let own = own.map_err(|_| (StatusCode::TOO_MANY_REQUESTS, "too many requests of yours at once".to_owned()))?;
        let turn = self.turns.clone().try_acquire_owned().map_err(|_| {
            tracing::warn!("more than {MOST_RUNNING} requests at once");
            (StatusCode::SERVICE_UNAVAILABLE, "too many requests at once; try again in a moment".to_owned())
        })?;
        let memory = [self.bodies_of_callers.of(name), self.large_bodies.clone()];
        let (whole, share) = self.whole(body, LARGEST_BODY, memory).await?;
        let turns = [turn, own].into_iter().chain(share).collect();
        let token = proved.as_ref().map(|(token, _)| token.clone());
        let visit = Arc::new(Visit { id: id.to_owned(), grant, token, turns: Mutex::new(turns) });
        let answer = endpoint.answer(visit, Request::from_parts(parts, whole.into()));
        let Some((token, grant)) = proved else { return Ok(answer.await) };
        let held = Held { site: self.clone(), token, grant };
        tokio::select! {
            biased;
            answer = answer => Ok(held.bounds(answer)),
            refusal = held.clone().lost() => Err(refusal),
        }
    }

    /// Reads a body of at most so many bytes, and its share of the memory for large ones: of the sender's own, then of all.
    async fn whole<const N: usize>(
        &self,
        body: Incoming,
        limit: usize,
        memory: [Arc<Semaphore>; N],
    ) -> Result<(Vec<u8>, Vec<OwnedSemaphorePermit>), Refusal> {
        let read = async {
            // Memory for bodies stays bounded, however many come at once.
            let most = body.size_hint().upper().unwrap_or(u64::MAX).min(limit as u64);
            let kilobytes = u32::try_from(most / 1024).expect("bodies are smaller");
            let mut share = Vec::new();
            for memory in memory.into_iter().filter(|_| most > SMALL_BODY) {
                share.push(memory.acquire_many_owned(kilobytes).await.expect("the semaphore is never closed"));
            }
            let (mut body, mut whole) = (Limited::new(body, limit), Vec::new());
            // Pieces are joined as they come: kept, a piece of one byte takes a hundred times its size.
            while let Some(piece) = body.frame().await {
                whole.extend_from_slice(&piece?.into_data().unwrap_or_default());
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((whole, share))
        };
        let whole = tokio::time::timeout(SLOWEST_BODY, read).await;
        let whole = whole.map_err(|_| (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time".to_owned()))?;
        whole.map_err(|err| match err.downcast_ref::<LengthLimitError>() {
            Some(_) => {
                let why = format!("a message may have at most {} KB; send less at once", limit / 1024);
                (StatusCode::PAYLOAD_TOO_LARGE, why)
            }
            None => (StatusCode::BAD_REQUEST, "the body is broken".to_owned()),
        })
    }

    fn refused(&self, status: StatusCode, why: String) -> Answer {
        let challenge = self.callers.challenge(status, &why);
        let mut answer = plain(status, why + "\n");
        let headers = answer.headers_mut();
        if let Some(challenge) = challenge.and_then(|challenge| HeaderValue::try_from(challenge).ok()) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        match status {
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(header::ALLOW, HeaderValue::from_static("GET"));
            }
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        answer
    }

    fn measured(&self) -> Answer {
        let mut page = Page::default();
        page.gauge("codelode_info", "Version of the server.", [(vec![("version", version())], 1.0)]);
        let running = MOST_RUNNING as usize - self.turns.available_permits();
        page.gauge("codelode_running_requests", "Requests that run or wait.", [(Vec::new(), running as f64)]);
        self.metrics.write(&mut page);
        self.services.all().for_each(|service| service.measure(&mut page));
        let mut answer = plain(StatusCode::OK, page.0);
        let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        answer.headers_mut().insert(header::CONTENT_TYPE, kind);
        answer
    }
}

fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

fn milliseconds(since: Instant) -> f64 {
    (since.elapsed().as_secs_f64() * 100_000.0).round() / 100.0
}

/// Ids of requests, which differ between processes as well.
struct Ids {
    process: u64,
    next: AtomicU64,
}

impl Ids {
    fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Milliseconds of about a year.
        Self { process: (now.as_nanos() / 1_000_000) as u64 & 0x7_ffff_ffff, next: AtomicU64::new(1) }
    }

    fn next(&self) -> String {
        format!("{:09x}-{:x}", self.process, self.next.fetch_add(1, Ordering::Relaxed))
    }
}
