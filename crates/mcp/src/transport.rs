//! JSON-RPC, one message a line. rmcp's own line transport ignores broken input; here every line gets an answer, and
//! after any bad input the next good line is served.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, BufWriter};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::gate::Gate;
use super::message::{INVALID_REQUEST, Message, Outline, checked, refusal};

/// Longest line that is read. Source files are never sent by clients, so a longer one is a mistake or an attack.
const MAX_LINE: usize = 4 * 1024 * 1024;
/// Longest line whose end is awaited for its id.
const AWAITED: usize = 4 * MAX_LINE;
/// The number of unanswered requests before reading pauses.
const MAX_REQUESTS: usize = 256;
/// The number of unwritten messages before reading pauses, because the client does not read.
const MAX_WAITING: usize = 64;
/// The longest time for running calls after the client has closed its end; it may still read the answers.
const LAST_CALLS: Duration = Duration::from_secs(30);

/// The rest of a line that is too long.
enum TooLong {
    /// Its id may come last.
    Unanswered(Outline),
    /// It is refused already.
    Answered,
}

/// The transport: lines in, lines out.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The line so far. Kept here because `receive` may be dropped between two reads, and started again.
    line: Vec<u8>,
    /// A line that is too long to be kept.
    too_long: Option<TooLong>,
    /// An answer of the transport itself that waits to be written.
    reply: Option<Value>,
    gate: Arc<Gate>,
    /// The deadline of running calls, once the input has ended.
    deadline: Option<Instant>,
    output: mpsc::Sender<Vec<u8>>,
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
        too_long: None,
        reply: None,
        gate: Arc::default(),
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
            let piece = &available[..taken];
            match &mut self.too_long {
                Some(TooLong::Unanswered(outline)) => outline.add(piece),
                Some(TooLong::Answered) => {}
                None if self.line.len() + taken <= MAX_LINE => self.line.extend_from_slice(piece),
                None => {
                    let mut outline = Outline::default();
                    outline.add(&std::mem::take(&mut self.line));
                    outline.add(piece);
                    self.too_long = Some(TooLong::Unanswered(outline));
                }
            }
            self.input.consume(taken);
            match self.too_long.take() {
                Some(TooLong::Unanswered(outline)) if end.is_some() || outline.length() > AWAITED => {
                    self.too_long = end.is_none().then_some(TooLong::Answered);
                    let most = MAX_LINE / (1024 * 1024);
                    let problem = format!("a message may have at most {most} MB; send less at once");
                    return Some(Message::Refused(refusal(&outline.id(), INVALID_REQUEST, &problem)));
                }
                Some(too_long) if end.is_none() => {
                    self.too_long = Some(too_long);
                    continue;
                }
                Some(_) => continue,
                None if end.is_none() => continue,
                None => {}
            }
            let line = checked(&self.line);
            self.line.clear();
            // A large message must not occupy memory for the rest of the session.
            self.line.shrink_to(64 * 1024);
            return Some(line);
        }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    // The end of a client is no error: the session ends with the input.
    type Error = Infallible;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let (output, gate) = (self.output.clone(), self.gate.clone());
        async move {
            let mut line = serde_json::to_vec(&message).expect("messages have string keys and finite numbers");
            line.push(b'\n');
            let _ = output.send(line).await;
            gate.sent(&message);
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
                () = self.gate.all_but(MAX_REQUESTS) => {}
                () = output.closed() => return None,
            }
            let line = tokio::select! {
                line = self.read() => line,
                () = output.closed() => return None,
            };
            let line = match line {
                Some(Message::Good(message)) => self.gate.admit(message),
                Some(line) => line,
                None => {
                    let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + LAST_CALLS);
                    tokio::select! {
                        _ = tokio::time::timeout_at(deadline, self.gate.all_but(0)) => {}
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
