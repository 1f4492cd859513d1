//! JSON-RPC, one message a line. rmcp's own line transport ignores broken input; here every line gets an answer, and
//! after any bad input the next good line is served.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, ClientJsonRpcMessage, ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::server::problem_with;

/// Longest line that is read. Source files are never sent by clients, so a longer one is a mistake or an attack.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// The most values in a message: as JSON in memory each takes up to a hundred times its size in a line.
const MAX_VALUES: usize = 20_000;
/// The number of unanswered requests before reading pauses.
const MAX_REQUESTS: usize = 256;
/// The number of unwritten messages before reading pauses, because the client does not read.
const MAX_WAITING: usize = 64;
/// The longest time for running calls after the client has closed its end; it may still read the answers.
const LAST_CALLS: Duration = Duration::from_secs(30);

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;

/// Prefixes of methods for capabilities that this server does not have.
const NOT_OFFERED: &[&str] = &["resources/subscribe", "resources/unsubscribe", "completion/", "logging/"];

/// The transport: lines in, lines out.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The line so far. Kept here because `receive` may be dropped between two reads, and started again.
    line: Vec<u8>,
    /// The rest of the line is skipped, because it has been answered.
    skipping: bool,
    /// The client has sent `initialize`, or uses the revision without it.
    open: bool,
    /// An answer of the transport itself that waits to be written.
    reply: Option<Value>,
    calls: Arc<Calls>,
    /// The deadline of running calls, once the input has ended.
    deadline: Option<Instant>,
    output: mpsc::Sender<Vec<u8>>,
}

/// The unanswered requests.
#[derive(Default)]
struct Calls {
    waiting: Mutex<HashSet<RequestId>>,
    done: Notify,
}

impl Calls {
    /// Records a request; false if its id is in use.
    fn start(&self, id: &RequestId) -> bool {
        self.waiting.lock().expect("no panic while it is held").insert(id.clone())
    }

    /// Removes an answered or cancelled request.
    fn end(&self, id: &RequestId) {
        self.waiting.lock().expect("no panic while it is held").remove(id);
        self.done.notify_one();
    }

    /// Waits until at most this many requests are unanswered.
    async fn all_but(&self, most: usize) {
        while self.waiting.lock().expect("no panic while it is held").len() > most {
            self.done.notified().await;
        }
    }
}

/// The kind of a line.
enum Line {
    /// A message for the server.
    Message(Box<ClientJsonRpcMessage>),
    /// A refusal, to be sent at once.
    Refused(Value),
    /// Nothing to answer.
    Nothing,
}

/// A transport over two streams, and the writing task, which ends when the transport is gone and all is written.
pub(super) fn lines<R, W>(input: R, output: W) -> (Lines<R>, JoinHandle<()>)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let lines = Lines {
        input: BufReader::with_capacity(64 * 1024, input),
        line: Vec::new(),
        skipping: false,
        open: false,
        reply: None,
        calls: Arc::default(),
        deadline: None,
        output: sender,
    };
    (lines, tokio::spawn(write(receiver, output)))
}

/// Writes messages one after the other, and flushes when none is waiting.
async fn write<W: AsyncWrite + Send + Unpin>(mut messages: mpsc::Receiver<Vec<u8>>, output: W) {
    let mut output = BufWriter::new(output);
    while let Some(message) = messages.recv().await {
        let written = async {
            output.write_all(&message).await?;
            if messages.is_empty() { output.flush().await } else { Ok(()) }
        };
        if let Err(err) = written.await {
            // The receiver is dropped here; senders notice it, and the session ends.
            tracing::info!(%err, "the client reads no more");
            return;
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    /// Reads up to the end of a line of allowed length. `None` at the end of the input.
    ///
    /// It may be dropped at its only wait, where nothing has been taken from the input yet.
    async fn read(&mut self) -> Option<Line> {
        loop {
            let available = match self.input.fill_buf().await {
                Ok(available) => available,
                Err(err) => {
                    tracing::info!(%err, "reading from the client failed");
                    return None;
                }
            };
            if available.is_empty() {
                // A last line may lack its end.
                let line = std::mem::take(&mut self.line);
                return (!line.is_empty()).then(|| classify(&line));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let fits = self.line.len() + taken <= MAX_LINE;
            if fits && !self.skipping {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.input.consume(taken);
            if self.skipping {
                self.skipping = end.is_none();
            } else if !fits {
                self.skipping = end.is_none();
                self.line = Vec::new();
                let problem = format!("a message may have at most {} MB; send less at once", MAX_LINE / (1024 * 1024));
                return Some(Line::Refused(refusal(&Value::Null, INVALID_REQUEST, &problem)));
            } else if end.is_some() {
                let line = classify(&self.line);
                self.line.clear();
                // A large message must not occupy memory for the rest of the session.
                self.line.shrink_to(64 * 1024);
                return Some(line);
            }
        }
    }

    /// Accepts a message, or refuses it with the reason.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Line {
        match &message {
            JsonRpcMessage::Request(request) => {
                let opens = match &request.request {
                    ClientRequest::InitializeRequest(_) => {
                        self.open = true;
                        true
                    }
                    ClientRequest::PingRequest(_) => true,
                    // Revisions without `initialize` name the version in each request; the server checks it.
                    other => other.get_meta().protocol_version().is_some(),
                };
                let id = json!(request.id);
                if let ClientRequest::CustomRequest(custom) = &request.request
                    && custom.method == "initialize"
                {
                    let problem = problem_with("initialize", custom.params.clone().unwrap_or_default());
                    return Line::Refused(refusal(&id, INVALID_PARAMS, &problem));
                }
                if !self.open && !opens {
                    return Line::Refused(refusal(
                        &id,
                        INVALID_REQUEST,
                        "the session is not open: send `initialize` first",
                    ));
                }
                if !self.calls.start(&request.id) {
                    let problem = "a request with this id is still running: give each request its own id";
                    return Line::Refused(refusal(&id, INVALID_REQUEST, problem));
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(CancelledNotification { params, .. }) =
                    &notification.notification
                    && let Some(id) = &params.request_id
                {
                    self.calls.end(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        Line::Message(Box::new(message))
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    // The end of a client is no error: the session ends with the input.
    type Error = Infallible;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let (output, calls) = (self.output.clone(), Arc::clone(&self.calls));
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        async move {
            let mut line = serde_json::to_vec(&message).expect("messages have string keys and finite numbers");
            line.push(b'\n');
            let _ = output.send(line).await;
            if let Some(id) = answered {
                calls.end(&id);
            }
            Ok(())
        }
    }

    /// May be dropped at every wait and called again: unfinished work is kept in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.reply.is_some() {
                let place = self.output.reserve().await.ok()?;
                let mut line = self.reply.take().map(|reply| reply.to_string()).unwrap_or_default().into_bytes();
                line.push(b'\n');
                place.send(line);
            }
            let output = self.output.clone();
            // While a client does not read its answers, nothing is read from it.
            tokio::select! {
                () = self.calls.all_but(MAX_REQUESTS) => {}
                () = output.closed() => return None,
            }
            let line = tokio::select! {
                line = self.read() => line,
                () = output.closed() => return None,
            };
            let line = match line {
                Some(Line::Message(message)) => self.admit(*message),
                Some(line) => line,
                None => {
                    let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + LAST_CALLS);
                    tokio::select! {
                        _ = tokio::time::timeout_at(deadline, self.calls.all_but(0)) => {}
                        () = output.closed() => {}
                    }
                    return None;
                }
            };
            match line {
                Line::Message(message) => return Some(*message),
                Line::Refused(reply) => self.reply = Some(reply),
                Line::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// The kind of a line.
fn classify(line: &[u8]) -> Line {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Line::Nothing;
    }
    if std::str::from_utf8(line).is_err() {
        return Line::Refused(refusal(&Value::Null, PARSE_ERROR, "the message is not UTF-8"));
    }
    // An invalid id cannot be answered to.
    let id = || serde_json::from_slice::<Head>(line).ok().and_then(|head| head.id.0).unwrap_or_default();
    if values(line) > MAX_VALUES {
        let problem = format!("a message may hold at most {MAX_VALUES} values; send less at once");
        return Line::Refused(refusal(&id(), INVALID_REQUEST, &problem));
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(err) => return Line::Refused(refusal(&id(), PARSE_ERROR, &format!("the message is no JSON: {err}"))),
    };
    let invalid = |problem: &str| Line::Refused(refusal(&id(), INVALID_REQUEST, problem));
    let Some(object) = value.as_object() else {
        return invalid(match value {
            Value::Array(_) => "batches are not part of the protocol: send one message a line",
            _ => "a message is a JSON object",
        });
    };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` must be \"2.0\"");
    }
    match (object.get("method"), object.get("id")) {
        (Some(Value::String(_)), None) => {}
        (Some(Value::String(_)), Some(id)) if id.is_string() || id.is_i64() => {}
        (Some(Value::String(_)), Some(_)) => return invalid("`id` must be a string or a whole number"),
        (Some(_), _) => return invalid("`method` must be a string"),
        (None, _) if object.contains_key("result") || object.contains_key("error") => {}
        (None, _) => return invalid("a request has a `method`"),
    }
    let is_request = object.contains_key("method") && object.contains_key("id");
    let method = object.get("method").and_then(Value::as_str).unwrap_or_default();
    if is_request && NOT_OFFERED.iter().any(|begin| method.starts_with(begin)) {
        return Line::Refused(refusal(
            &id(),
            METHOD_NOT_FOUND,
            "this server offers tools, prompts and resources, and nothing else",
        ));
    }
    match serde_json::from_value(value) {
        Ok(message) => Line::Message(Box::new(message)),
        // An invalid answer or notification is ignored, because two programs could otherwise answer each other
        // endlessly.
        Err(_) if !is_request => Line::Nothing,
        Err(_) => invalid("the message is no JSON-RPC request: `params` must be an object"),
    }
}

/// A lower bound on the number of values in a JSON text, counted by separators.
fn values(line: &[u8]) -> usize {
    let (mut count, mut in_text, mut is_escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_text,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => count += 1,
            _ => {}
        }
    }
    count
}

/// The id of a message, read without parsing the rest of it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    id: HeadId,
}

/// A string or a number; `None` for other values.
#[derive(Default)]
struct HeadId(Option<Value>);

impl<'de> Deserialize<'de> for HeadId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Id;

        impl<'de> Visitor<'de> for Id {
            type Value = HeadId;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an id")
            }

            fn visit_str<E>(self, id: &str) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_i64<E>(self, id: i64) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_u64<E>(self, id: u64) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_f64<E>(self, id: f64) -> Result<HeadId, E> {
                Ok(HeadId(Some(id.into())))
            }

            fn visit_bool<E>(self, _: bool) -> Result<HeadId, E> {
                Ok(HeadId(None))
            }

            fn visit_unit<E>(self) -> Result<HeadId, E> {
                Ok(HeadId(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<HeadId, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(HeadId(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<HeadId, A::Error> {
                while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(HeadId(None))
            }
        }

        deserializer.deserialize_any(Id)
    }
}

/// An answer to an invalid message.
fn refusal(id: &Value, code: i64, problem: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": problem}})
}
