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
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::message::{INVALID_REQUEST, Message, RUNNING, checked, refusal};

/// Longest line that is read. Source files are never sent by clients, so a longer one is a mistake or an attack.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// The number of unanswered requests before reading pauses.
const MAX_REQUESTS: usize = 256;
/// The number of unwritten messages before reading pauses, because the client does not read.
const MAX_WAITING: usize = 64;
/// The longest time for running calls after the client has closed its end; it may still read the answers.
const LAST_CALLS: Duration = Duration::from_secs(30);

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

/// Whether a request needs no open session.
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) | ClientRequest::PingRequest(_) => true,
        // Revisions without `initialize` name the version in each request; the server checks it.
        other => other.get_meta().protocol_version().is_some(),
    }
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
    async fn read(&mut self) -> Option<Message> {
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
                return (!line.is_empty()).then(|| checked(&line));
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
                return Some(Message::Refused(refusal(&Value::Null, INVALID_REQUEST, &problem)));
            } else if end.is_some() {
                let line = checked(&self.line);
                self.line.clear();
                // A large message must not occupy memory for the rest of the session.
                self.line.shrink_to(64 * 1024);
                return Some(line);
            }
        }
    }

    /// Accepts a message, or refuses it with the reason.
    fn admit(&mut self, message: ClientJsonRpcMessage) -> Message {
        match &message {
            JsonRpcMessage::Request(request) => {
                let id = json!(request.id);
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    self.open = true;
                }
                if !self.open && !opens(&request.request) {
                    return Message::Refused(refusal(
                        &id,
                        INVALID_REQUEST,
                        "the session is not open: send `initialize` first",
                    ));
                }
                if !self.calls.start(&request.id) {
                    return Message::Refused(refusal(&id, INVALID_REQUEST, RUNNING));
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
        Message::Good(Box::new(message))
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
                Some(Message::Good(message)) => self.admit(*message),
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
                Message::Good(message) => return Some(*message),
                Message::Refused(reply) => self.reply = Some(reply),
                Message::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
