//! MCP at an HTTP endpoint. rmcp speaks the revisions: sessions up to 2025-11-25, single requests from 2026-07-28 on.
//! Here every message is read as strictly as over the standard streams, a session belongs to the caller who opened
//! it, and each request is answered from what its caller may see.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ProtocolVersion, RequestId};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{SessionManager, StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::card;
use super::guests::Guests;
use super::message::{INVALID_REQUEST, METHOD_NOT_FOUND, Message, RUNNING, checked_size, checked_without, refusal};
use super::server::Server;
use codelode_http::metrics::Page;
use codelode_http::{
    Answer, Bytes, Elsewhere, HeaderMap, Method, Parts, Pending, Replays, Request, StatusCode, Visit, Whole, json,
    merged, plain,
};

/// Header with the id of a session.
const SESSION: &str = "mcp-session-id";
/// Header with the revision of the protocol.
const REVISION: &str = "mcp-protocol-version";
/// Header with the id of the last event that a client has of a stream.
const LAST_EVENT: &str = "last-event-id";
/// The first revision without sessions; later ones are greater by their letters.
const WITHOUT_SESSIONS: &[u8] = b"2026-07-28";
/// Methods that it lacks. rmcp refuses the others.
const REMOVED: [&str; 1] = ["initialize"];
/// Sessions in which nothing happens for so long end.
const IDLE: Duration = Duration::from_secs(12 * 3600);
/// Sessions of one caller; the one that was idle longest makes room.
const MOST_OF_ONE: usize = 1024;
/// Messages of a batch.
const MOST_IN_BATCH: usize = 64;
/// Sessions of all callers; of whoever has the most, the one that was idle longest makes room.
const MOST: usize = 4096;

/// The endpoint.
pub(super) struct Endpoint {
    guests: Arc<Guests>,
    service: StreamableHttpService<Server, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    state: Arc<Mutex<State>>,
    replays: Arc<Replays>,
}

#[derive(Default)]
struct State {
    /// Sessions by id.
    sessions: HashMap<Arc<str>, Opened>,
    /// Unanswered requests of sessions.
    running: HashSet<(Arc<str>, RequestId)>,
}

/// A session of a caller.
struct Opened {
    by: String,
    used: Instant,
    /// Whether its revision has batches of messages.
    batches: bool,
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

impl Endpoint {
    /// The endpoint of a process.
    pub(super) fn new(guests: Guests) -> Self {
        let guests = Arc::new(guests);
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
        let of_session = guests.clone();
        let service = StreamableHttpService::new(move || Ok(of_session.server()), manager.clone(), config);
        Self { guests, service, manager, state: Arc::default(), replays: Arc::default() }
    }

    async fn answered(&self, visit: Arc<Visit>, request: Request<Bytes>) -> Answer {
        let (parts, body) = request.into_parts();
        let Ok(session) = session_of(&parts.headers) else {
            return plain(StatusCode::BAD_REQUEST, "the id of the session is malformed\n");
        };
        let session = match session {
            Some(id) if !self.belongs(&id, &visit) => {
                return plain(StatusCode::NOT_FOUND, "there is no such session; send `initialize` for a new one\n");
            }
            session => session,
        };
        match &session {
            Some(id) if parts.method == Method::POST && is_batch(&body) && self.takes_batches(id) => {
                self.batch(visit, id, &parts, &body).await
            }
            _ => self.single(visit, session, parts, body).await,
        }
    }

    /// Answers a batch of messages, which only the revision of 2025-03-26 has: by one stream with the answer of each.
    async fn batch(&self, visit: Arc<Visit>, session: &Arc<str>, parts: &Parts, body: &Bytes) -> Answer {
        let refusal = |problem: &str| refused(&refusal(&Value::Null, INVALID_REQUEST, problem), false);
        let messages: Vec<Value> = match checked_size(body).map(|()| serde_json::from_slice(body)) {
            Ok(Ok(messages)) => messages,
            Ok(Err(err)) => return refusal(&format!("the batch is not JSON: {err}")),
            Err(problem) => return refusal(&problem),
        };
        if messages.is_empty() || messages.len() > MOST_IN_BATCH {
            return refusal(&format!("a batch has from one to {MOST_IN_BATCH} messages"));
        }
        if messages.iter().any(|message| message["method"] == "initialize") {
            return refusal("`initialize` is sent alone");
        }
        let mut answers = Vec::new();
        for message in &messages {
            let body = Bytes::from(message.to_string());
            answers.push(self.single(visit.clone(), Some(session.clone()), parts.clone(), body).await);
        }
        match answers.iter().all(|answer| answer.status() == StatusCode::ACCEPTED) {
            true => answers.remove(0),
            false => merged(answers),
        }
    }

    /// Answers a single message.
    async fn single(&self, visit: Arc<Visit>, session: Option<Arc<str>>, mut parts: Parts, body: Bytes) -> Answer {
        let is_newest = parts.headers.get(REVISION).is_some_and(|revision| revision.as_bytes() >= WITHOUT_SESSIONS);
        let (mut running, mut opens) = (None, None);
        if let (&Method::GET, Some(session), Some(last)) = (&parts.method, &session, parts.headers.get(LAST_EVENT))
            && let Some(rest) = last.to_str().ok().and_then(|last| self.replays.after(session, last))
        {
            return rest;
        }
        if parts.method == Method::POST {
            let message = match checked_without(&body, if is_newest { &REMOVED } else { &[] }) {
                Message::Good(message) => message,
                Message::Refused(reply) => return refused(&reply, is_newest),
                Message::Nothing => return plain(StatusCode::BAD_REQUEST, "this is not a message\n"),
            };
            match &session {
                None if is_initialize(&message) => {
                    self.make_room(&visit).await;
                    opens = Some(takes_batches(&message));
                }
                Some(session) => match self.start(session, &message) {
                    Ok(started) => running = started,
                    Err(reply) => return refused(&reply, is_newest),
                },
                None => {}
            }
            if is_listen(&message) {
                visit.rest();
            }
        }
        let held = running.map(|running| Box::new(running) as Box<dyn Send + Sync>);
        let guest = self.guests.caller(visit.clone(), held);
        parts.extensions.insert(guest);
        let asks = parts.method == Method::POST;
        let closes = session.clone().filter(|_| parts.method == Method::DELETE);
        let request = Request::from_parts(parts, Whole::new(body));
        if let Some(batches) = opens {
            return self.opened(visit, request, batches).await;
        }
        let mut answer = self.service.handle(request).await;
        if let Some(closed) = closes {
            lock(&self.state).sessions.remove(&closed);
            // Clients take 202 for a failure.
            if answer.status() == StatusCode::ACCEPTED {
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
        }
        match session {
            Some(session) if asks => self.replays.kept(session, answer),
            _ => answer,
        }
    }

    /// Opens a session. A client that leaves meanwhile leaves a session that is counted as its own.
    async fn opened(&self, visit: Arc<Visit>, request: Request<Whole>, batches: bool) -> Answer {
        let (service, state) = (self.service.clone(), self.state.clone());
        let opening = tokio::spawn(async move {
            let answer = service.handle(request).await;
            if let Ok(Some(id)) = session_of(answer.headers()) {
                let opened = Opened { by: visit.caller().to_owned(), used: Instant::now(), batches };
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

    fn takes_batches(&self, session: &str) -> bool {
        lock(&self.state).sessions.get(session).is_some_and(|opened| opened.batches)
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
    async fn make_room(&self, visit: &Visit) {
        let alive: HashSet<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let leaving = {
            let mut state = lock(&self.state);
            state.sessions.retain(|id, _| alive.contains(id));
            let leaving = leaving(&state.sessions, visit.caller());
            leaving.inspect(|leaving| _ = state.sessions.remove(leaving))
        };
        if let Some(leaving) = leaving
            && let Err(err) = self.manager.close_session(&leaving).await
        {
            tracing::info!(%err, "a session was not closed");
        }
    }
}

impl codelode_http::Endpoint for Endpoint {
    fn paths(&self) -> &'static [&'static str] {
        &["/mcp"]
    }

    fn described(&self, path: &str, origin: &str) -> Option<Answer> {
        card::of_server(path, origin, "streamable-http", "/mcp")
    }

    fn elsewhere(&self) -> Vec<Elsewhere> {
        self.guests.elsewhere()
    }

    fn answer<'a>(&'a self, visit: Arc<Visit>, request: Request<Bytes>) -> Pending<'a> {
        Box::pin(self.answered(visit, request))
    }

    fn is_ready(&self) -> bool {
        self.guests.is_ready()
    }

    fn measure(&self, page: &mut Page) {
        let n_sessions = self.manager.sessions.try_read().map(|sessions| sessions.len()).unwrap_or_default();
        self.guests.measure(page, n_sessions);
    }

    fn leave(&self) {
        self.guests.leave();
    }

    fn close(&self) {
        self.service.config.cancellation_token.cancel();
        self.guests.flush();
    }
}

/// The session that has to make room for one more of a caller.
fn leaving(sessions: &HashMap<Arc<str>, Opened>, caller: &str) -> Option<Arc<str>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    sessions.values().for_each(|opened| *counts.entry(&opened.by).or_default() += 1);
    let is_full = counts.get(caller).is_some_and(|n| *n >= MOST_OF_ONE);
    let largest = || counts.iter().max_by_key(|(_, n)| **n).map(|(by, _)| *by).filter(|_| sessions.len() >= MOST);
    let by = if is_full { Some(caller) } else { largest() }?;
    let own = sessions.iter().filter(|(_, opened)| opened.by == by);
    own.min_by_key(|(_, opened)| opened.used).map(|(id, _)| id.clone())
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

/// Whether the revision that a client asks for has batches.
fn takes_batches(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    let ClientRequest::InitializeRequest(request) = &request.request else { return false };
    request.params.protocol_version == ProtocolVersion::V_2025_03_26
}

fn is_batch(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"[")
}

fn is_listen(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::SubscriptionsListenRequest(_))
}

/// The refusal of a message. In a session, an answer with another status than 200 is a failure of the transport: 404 ends
/// it. Newer revisions ask for 404 where a method is missing.
fn refused(reply: &Value, is_newest: bool) -> Answer {
    let status = match reply["error"]["code"] == METHOD_NOT_FOUND {
        true if is_newest => StatusCode::NOT_FOUND,
        true => StatusCode::OK,
        false => StatusCode::BAD_REQUEST,
    };
    json(status, reply.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_the_most_sessions_makes_room_for_others() {
        let mut sessions = HashMap::new();
        let leaves = |sessions: &HashMap<Arc<str>, Opened>, by: &str| leaving(sessions, by).map(|id| id.to_string());
        for (by, n) in [("ann", MOST_OF_ONE), ("ben", 10), ("cat", MOST_OF_ONE - 1), ("dan", MOST_OF_ONE - 2)] {
            for nth in 0..n {
                let opened = Opened { by: by.to_owned(), used: Instant::now(), batches: false };
                sessions.insert(format!("{by}-{nth}").into(), opened);
            }
        }
        assert_eq!(leaves(&sessions, "ann").as_deref(), Some("ann-0"), "her own that was idle longest");
        assert_eq!(leaves(&sessions, "ben"), None);
        for nth in 0..MOST - sessions.len() {
            let opened = Opened { by: format!("x{}", nth % 3), used: Instant::now(), batches: false };
            sessions.insert(format!("more-{nth}").into(), opened);
        }
        assert_eq!(leaves(&sessions, "ben").as_deref(), Some("ann-0"), "of whoever has the most");
        assert_eq!(leaves(&sessions, "new").as_deref(), Some("ann-0"));
    }
}
