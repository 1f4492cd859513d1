//! MCP at an HTTP endpoint. rmcp speaks the revisions: sessions up to 2025-11-25, single requests from 2026-07-28 on.
//! Here every message is read as strictly as over the standard streams, a session belongs to the caller who opened
//! it, and each request is answered from what its caller may see.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{SessionManager, StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio::sync::Semaphore;

use super::message::{INVALID_REQUEST, Message, RUNNING, checked, refusal};
use super::server::{CALLS_AT_ONCE, Guest, Server};
use crate::http::metrics::{Metrics, Page};
use crate::http::{Answer, Bytes, HeaderMap, Method, Pending, Request, StatusCode, Visit, Whole, json, plain};
use crate::tools::{Code, Context, TOOLS, Views};

/// Calls of one caller that run at once.
const CALLS_OF_ONE: usize = CALLS_AT_ONCE * 3 / 4;
/// Header with the id of a session.
const SESSION: &str = "mcp-session-id";
/// Sessions in which nothing happens for so long end.
const IDLE: Duration = Duration::from_secs(12 * 3600);
/// Sessions of one caller; the one that was idle longest makes room.
const MOST_OF_ONE: usize = 2048;
/// Sessions of all callers.
const MOST: usize = 8192;

/// The endpoint.
pub(super) struct Endpoint {
    views: Arc<Views>,
    service: StreamableHttpService<Server, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    state: Arc<Mutex<State>>,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct State {
    /// Sessions by id.
    sessions: HashMap<Arc<str>, Opened>,
    /// Turns of callers, by name.
    turns: HashMap<String, Arc<Semaphore>>,
    /// Unanswered requests of sessions.
    running: HashSet<(Arc<str>, RequestId)>,
}

/// A session of a caller.
struct Opened {
    by: String,
    used: Instant,
}

/// A request of a caller, until it is answered.
struct Caller {
    visit: Arc<Visit>,
    cx: Arc<Context>,
    turns: Arc<Semaphore>,
    metrics: Arc<Metrics>,
    _running: Option<Running>,
}

/// An unanswered request of a session. Its id is free again when this is dropped.
struct Running {
    state: Arc<Mutex<State>>,
    key: (Arc<str>, RequestId),
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.state).running.remove(&self.key);
    }
}

impl Guest for Caller {
    fn context(&self) -> &Arc<Context> {
        &self.cx
    }

    fn turns(&self) -> &Semaphore {
        &self.turns
    }

    fn called(&self, tool: &str, outcome: &str, took: Duration) {
        let tool = TOOLS.iter().find(|spec| spec.name == tool).map_or("unknown", |spec| spec.name);
        let outcomes = ["ok", "cancelled"].into_iter().chain(Code::ALL.iter().map(|code| code.as_str()));
        let outcome = outcomes.into_iter().find(|known| *known == outcome).unwrap_or("error");
        self.metrics.call(tool, outcome, took);
        let ms = (took.as_secs_f64() * 100_000.0).round() / 100.0;
        let Visit { id, .. } = &*self.visit;
        tracing::info!(target: "access", id, caller = self.visit.caller(), tool, outcome, ms, "call");
    }
}

impl Endpoint {
    /// The endpoint of a process.
    pub(super) fn new(views: Arc<Views>, metrics: Arc<Metrics>) -> Self {
        let mut sessions = SessionConfig::default();
        // Hints for reconnecting are empty events, which older clients take for broken messages.
        sessions.sse_retry = None;
        sessions.keep_alive = Some(IDLE);
        let mut manager = LocalSessionManager::default();
        manager.session_config = sessions;
        let manager = Arc::new(manager);
        // Host, Origin and size are checked before.
        let config =
            StreamableHttpServerConfig::default().disable_allowed_hosts().with_sse_retry(None).with_json_response(true);
        let turns = Arc::new(Semaphore::new(CALLS_AT_ONCE));
        let of_session = views.base().clone();
        let service = StreamableHttpService::new(
            move || Ok(Server::for_guests(of_session.clone(), turns.clone())),
            manager.clone(),
            config,
        );
        Self { views, service, manager, state: Arc::default(), metrics }
    }

    async fn answered(&self, visit: Arc<Visit>, request: Request<Bytes>) -> Answer {
        let (mut parts, body) = request.into_parts();
        let Ok(session) = session_of(&parts.headers) else {
            return plain(StatusCode::BAD_REQUEST, "the id of the session is malformed\n");
        };
        let session = match session {
            Some(id) if !self.belongs(&id, &visit) => {
                return plain(StatusCode::NOT_FOUND, "there is no such session; send `initialize` for a new one\n");
            }
            session => session,
        };
        let (mut running, mut opens) = (None, false);
        if parts.method == Method::POST {
            let message = match checked(&body) {
                Message::Good(message) => message,
                Message::Refused(reply) => return refused(&reply),
                Message::Nothing => return plain(StatusCode::BAD_REQUEST, "this is no message\n"),
            };
            match &session {
                None if is_initialize(&message) => {
                    if let Err(full) = self.make_room(&visit).await {
                        return full;
                    }
                    opens = true;
                }
                Some(session) => match self.start(session, &message) {
                    Ok(started) => running = started,
                    Err(reply) => return refused(&reply),
                },
                None => {}
            }
        }
        let caller = Caller {
            visit: visit.clone(),
            cx: self.views.of(visit.grant.as_ref().map(|grant| (&*grant.name, &grant.rights))),
            turns: self.turns_of(visit.caller()),
            metrics: self.metrics.clone(),
            _running: running,
        };
        let guest: Arc<dyn Guest> = Arc::new(caller);
        parts.extensions.insert(guest);
        let closes = (parts.method == Method::DELETE).then_some(session).flatten();
        let request = Request::from_parts(parts, Whole::new(body));
        if opens {
            return self.opened(visit, request).await;
        }
        let mut answer = self.service.handle(request).await;
        if let Some(closed) = closes {
            lock(&self.state).sessions.remove(&closed);
            // Clients take 202 for a failure.
            if answer.status() == StatusCode::ACCEPTED {
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
        }
        answer
    }

    /// Opens a session. A client that leaves meanwhile leaves a session that is counted as its own.
    async fn opened(&self, visit: Arc<Visit>, request: Request<Whole>) -> Answer {
        let (service, state) = (self.service.clone(), self.state.clone());
        let opening = tokio::spawn(async move {
            let answer = service.handle(request).await;
            if let Ok(Some(id)) = session_of(answer.headers()) {
                let opened = Opened { by: visit.caller().to_owned(), used: Instant::now() };
                lock(&state).sessions.insert(id, opened);
            }
            answer
        });
        let failed = |_| plain(StatusCode::INTERNAL_SERVER_ERROR, "the session was not opened\n");
        opening.await.unwrap_or_else(failed)
    }

    /// Whether a session is one of the caller's own.
    fn belongs(&self, session: &str, visit: &Visit) -> bool {
        match lock(&self.state).sessions.get_mut(session) {
            Some(opened) if opened.by == visit.caller() => {
                opened.used = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Records a request of a session; an error if its id is in use.
    fn start(&self, session: &Arc<str>, message: &ClientJsonRpcMessage) -> Result<Option<Running>, Value> {
        let JsonRpcMessage::Request(request) = message else { return Ok(None) };
        let key = (session.clone(), request.id.clone());
        match lock(&self.state).running.insert(key.clone()) {
            true => Ok(Some(Running { state: self.state.clone(), key })),
            false => Err(refusal(&request.id.clone().into_json_value(), INVALID_REQUEST, RUNNING)),
        }
    }

    /// Makes room for one more session of a caller.
    async fn make_room(&self, visit: &Visit) -> Result<(), Answer> {
        let alive: HashSet<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let oldest = {
            let mut state = lock(&self.state);
            state.sessions.retain(|id, _| alive.contains(id));
            if state.sessions.len() >= MOST {
                tracing::warn!("more than {MOST} sessions at once");
                return Err(plain(StatusCode::SERVICE_UNAVAILABLE, "too many sessions; close one with DELETE\n"));
            }
            let own = state.sessions.iter().filter(|(_, opened)| opened.by == visit.caller());
            let oldest = own.clone().min_by_key(|(_, opened)| opened.used).map(|(id, _)| id.clone());
            oldest.filter(|_| own.count() >= MOST_OF_ONE)
        };
        if let Some(oldest) = oldest {
            lock(&self.state).sessions.remove(&oldest);
            if let Err(err) = self.manager.close_session(&oldest).await {
                tracing::info!(%err, "a session was not closed");
            }
        }
        Ok(())
    }

    fn turns_of(&self, caller: &str) -> Arc<Semaphore> {
        let mut state = lock(&self.state);
        match state.turns.get(caller) {
            Some(turns) => turns.clone(),
            None => {
                let turns = Arc::new(Semaphore::new(CALLS_OF_ONE));
                state.turns.insert(caller.to_owned(), turns.clone());
                turns
            }
        }
    }
}

impl crate::http::Endpoint for Endpoint {
    fn answer<'a>(&'a self, visit: Arc<Visit>, request: Request<Bytes>) -> Pending<'a> {
        Box::pin(self.answered(visit, request))
    }

    fn is_ready(&self) -> bool {
        // An index directory that does not exist yet is made by the first run.
        self.views.base().config.home.try_exists().is_ok()
    }

    fn measure(&self, page: &mut Page) {
        let sessions = self.manager.sessions.try_read().map(|sessions| sessions.len()).unwrap_or_default();
        page.gauge("codelode_open_sessions", "Sessions that are open.", [(Vec::new(), sessions as f64)]);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let all = self.views.base().indexes.registry().all();
        let ages = all.iter().map(|sidecar| {
            let age = now.as_secs_f64() - sidecar.indexed_at as f64;
            (vec![("repo", sidecar.repo.clone())], age.max(0.0).floor())
        });
        page.gauge("codelode_index_age_seconds", "Seconds since all files were last looked at.", ages);
    }

    fn close(&self) {
        self.service.config.cancellation_token.cancel();
        self.views.all().iter().for_each(|cx| cx.session.flush());
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // A panic leaves the tables whole.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The session that a message belongs to; an error if that is open to doubt.
fn session_of(headers: &HeaderMap) -> Result<Option<Arc<str>>, ()> {
    let mut ids = headers.get_all(SESSION).iter();
    match (ids.next(), ids.next()) {
        (None, _) => Ok(None),
        (Some(id), None) => id.to_str().map(|id| Some(id.into())).map_err(|_| ()),
        _ => Err(()),
    }
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::InitializeRequest(_))
}

/// The refusal of a message.
fn refused(reply: &Value) -> Answer {
    json(StatusCode::BAD_REQUEST, reply.to_string())
}
