//! MCP over HTTP as of 2024-11-05: a client opens a stream of events, is told there where to send its messages, and
//! reads every answer from the stream.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::serve_directly;
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;

use super::card;
use super::gate::Gate;
use super::guests::Guests;
use super::message::{Message, checked};
use codelode_http::metrics::Page;
use codelode_http::tokens::random;
use codelode_http::{Answer, Bytes, Elsewhere, Method, Parts, Pending, Request, StatusCode, Visit, events, plain};

/// Path of the stream.
const STREAM: &str = "/sse";
/// Path of messages.
const MESSAGES: &str = "/messages";
/// Name of the session in the query of messages.
const SESSION: &str = "session_id";
/// Streams of one caller.
const MOST_OF_ONE: usize = 512;
/// Messages of a session that wait, in either direction.
const MOST_WAITING: usize = 64;

/// The endpoint.
pub(super) struct Endpoint {
    guests: Guests,
    sessions: Sessions,
}

/// Sessions by id.
type Sessions = Arc<Mutex<HashMap<String, Arc<Session>>>>;

/// A session, which lives as long as its stream.
struct Session {
    by: String,
    gate: Arc<Gate>,
    input: mpsc::Sender<ClientJsonRpcMessage>,
    output: mpsc::Sender<Bytes>,
}

/// The server's side of a session.
struct Stream {
    gate: Arc<Gate>,
    input: mpsc::Receiver<ClientJsonRpcMessage>,
    output: mpsc::Sender<Bytes>,
}

impl Endpoint {
    /// The endpoint of a process.
    pub(super) fn new(guests: Guests) -> Self {
        Self { guests, sessions: Arc::default() }
    }

    /// Opens a session.
    fn opened(&self, visit: &Visit) -> Answer {
        let id = match random() {
            Ok(id) => id,
            Err(err) => {
                tracing::error!(%err, "the system has no random bytes");
                return plain(StatusCode::INTERNAL_SERVER_ERROR, "the session was not opened\n");
            }
        };
        let (input, messages) = mpsc::channel(MOST_WAITING);
        let (output, stream) = mpsc::channel(MOST_WAITING);
        let gate: Arc<Gate> = Arc::default();
        {
            let mut sessions = lock(&self.sessions);
            if sessions.values().filter(|session| session.by == visit.caller()).count() >= MOST_OF_ONE {
                return plain(StatusCode::TOO_MANY_REQUESTS, "you have too many sessions; close one\n");
            }
            let session = Session { by: visit.caller().to_owned(), gate: gate.clone(), input, output: output.clone() };
            sessions.insert(id.clone(), Arc::new(session));
        }
        let first = event("endpoint", format_args!("{MESSAGES}?{SESSION}={id}"));
        output.try_send(first).expect("a new channel has room");
        let (server, sessions) = (self.guests.server(), self.sessions.clone());
        tokio::spawn(async move {
            let running = serve_directly(server, Stream { gate, input: messages, output }, None);
            if let Err(err) = running.waiting().await {
                tracing::error!(%err, "a session broke off");
            }
            lock(&sessions).remove(&id);
        });
        events(stream)
    }

    /// Takes a message of a session.
    async fn taken(&self, visit: Arc<Visit>, parts: Parts, body: Bytes) -> Answer {
        let query = url::form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let named = query.into_owned().find(|(name, _)| name == SESSION).map(|(_, id)| id).unwrap_or_default();
        let session = lock(&self.sessions).get(&named).filter(|session| session.by == visit.caller()).cloned();
        let Some(session) = session else {
            return plain(StatusCode::NOT_FOUND, "there is no such session; open a stream for a new one\n");
        };
        let message = match checked(&body) {
            Message::Good(message) => session.gate.admit(message),
            other => other,
        };
        let is_taken = match message {
            Message::Good(mut message) => {
                let mut parts = parts;
                parts.extensions.insert(self.guests.caller(visit, None));
                message.insert_extension(parts);
                session.input.send(*message).await.is_ok()
            }
            // Without an id the client cannot tell which message was refused.
            Message::Refused(reply) if reply["id"] == Value::Null => {
                return plain(StatusCode::BAD_REQUEST, format!("{reply}\n"));
            }
            Message::Refused(reply) => session.output.send(event("message", reply)).await.is_ok(),
            Message::Nothing => return plain(StatusCode::BAD_REQUEST, "this is not a message\n"),
        };
        match is_taken {
            true => plain(StatusCode::ACCEPTED, "accepted\n"),
            false => plain(StatusCode::NOT_FOUND, "the session has ended\n"),
        }
    }

    async fn answered(&self, visit: Arc<Visit>, request: Request<Bytes>) -> Answer {
        let (parts, body) = request.into_parts();
        match (parts.uri.path(), &parts.method) {
            (STREAM, &Method::GET) => self.opened(&visit),
            (MESSAGES, &Method::POST) => self.taken(visit, parts, body).await,
            // By this, clients of both transports learn which one is spoken.
            (STREAM, _) => plain(StatusCode::METHOD_NOT_ALLOWED, "the stream is opened with GET\n"),
            _ => plain(StatusCode::METHOD_NOT_ALLOWED, "messages are sent with POST\n"),
        }
    }
}

impl codelode_http::Endpoint for Endpoint {
    fn paths(&self) -> &'static [&'static str] {
        &[STREAM, MESSAGES]
    }

    fn described(&self, path: &str, origin: &str) -> Option<Answer> {
        card::of_server(path, origin, "sse", "/sse")
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
        let n_sessions = lock(&self.sessions).len();
        self.guests.measure(page, n_sessions);
    }

    fn close(&self) {
        // A session ends when nobody can send to it, and its stream ends with it.
        lock(&self.sessions).clear();
        self.guests.flush();
    }
}

impl Transport<RoleServer> for Stream {
    // A client that is gone is no error: the session ends.
    type Error = Infallible;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let (output, gate) = (self.output.clone(), self.gate.clone());
        async move {
            let text = serde_json::to_string(&message).expect("messages have string keys and finite numbers");
            let _ = output.send(event("message", text)).await;
            gate.sent(&message);
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        tokio::select! {
            message = self.input.recv() => message,
            () = self.output.closed() => None,
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// An event, whose text has one line.
fn event(name: &str, text: impl Display) -> Bytes {
    format!("event: {name}\ndata: {text}\n\n").into()
}

fn lock(sessions: &Sessions) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
    // A panic leaves the table whole.
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}
