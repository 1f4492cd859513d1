//! The conversation with one client: its order, its requests and their cancellation.
//!
//! One thread reads messages, one writes them, and a few answer requests. The reading thread alone changes the state
//! of the workspace; each request keeps the state as of its arrival.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use lsp_server::{ErrorCode, Notification, Request, RequestId};
use lsp_types::{
    CancelParams, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams, DidOpenTextDocumentParams,
    InitializeParams, NumberOrString, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::indexing::{self, Indexing};
use super::requests::{answer, capabilities};
use super::view::{Failure, RequestView};
use super::wire::{self, Incoming, Reader, write};
use super::workspace::{Folder, Options, Workspace};
use codelode_base::allocator;
use codelode_service::answer;
use codelode_service::tools::Context;

/// Number of requests that are answered at once.
const WORKERS: usize = 4;
/// Work after which a thread gives its free memory back at once, since so much is left: a parse, or thousands of places.
const LONG: Duration = Duration::from_millis(2);

/// The client's end of the conversation.
#[derive(Clone)]
pub(super) struct Client {
    out: Sender<Outgoing>,
}

enum Outgoing {
    Message(Vec<u8>),
    /// Everything before is to be written before this is answered.
    End(Sender<()>),
}

impl Client {
    pub fn send(&self, message: impl Into<Vec<u8>>) {
        // Without a writer the client has gone.
        let _ = self.out.send(Outgoing::Message(message.into()));
    }

    /// Tells a client that no errors of this server are to come for a text: agents wait seconds for them.
    fn tell_no_errors(&self, options: &Options, uri: &Uri, version: i32) {
        if options.errors {
            let params = json!({ "uri": uri, "version": version, "diagnostics": [] });
            let method = "textDocument/publishDiagnostics";
            self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
        }
    }

    /// Sends the message that answers a request, or an error.
    fn respond(&self, id: &RequestId, message: Result<Vec<u8>, Failure>) {
        self.send(message.unwrap_or_else(|failure| wire::error(Some(id), failure.code, &failure.why)));
    }
}

/// Messages and other news for the thread that keeps the state.
pub(super) enum Event {
    Read(Incoming),
    /// The client has left.
    Gone,
    /// Indexes of the workspace's folders are there, or cannot be made.
    Indexed,
    /// A worker has answered a request.
    Answered,
}

/// Order of the conversation.
enum Stage {
    Fresh,
    Running(Arc<Workspace>),
    Down(Leaving),
    /// The client has left without `shutdown`.
    Left,
}

/// End of the conversation: the requests that came before `shutdown` are answered first.
struct Leaving {
    /// The `shutdown` that has no answer yet.
    asked: Option<RequestId>,
    /// Whether the client has left.
    is_gone: bool,
}

/// A request to be answered.
struct Job {
    request: Request,
    workspace: Arc<Workspace>,
    cancelled: Arc<AtomicBool>,
}

/// Requests without an answer.
type Pending = Arc<Mutex<HashMap<RequestId, Arc<AtomicBool>>>>;

struct Server {
    cx: Arc<Context>,
    client: Client,
    stage: Stage,
    pending: Pending,
    jobs: Sender<Job>,
    events: Sender<Event>,
    /// States to make answers ready for.
    ahead: Sender<Arc<Workspace>>,
    /// Requests that wait for the first index.
    waiting: Vec<Job>,
    indexing: Indexing,
}

/// Serves one client until it leaves, and returns whether it left in order.
pub(super) fn serve(
    cx: Arc<Context>,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<bool> {
    let (out, written) = unbounded();
    let (jobs, todo) = unbounded();
    let (events, news) = unbounded();
    let (client, pending) = (Client { out }, Pending::default());
    named("lsp-write", move || write_all(&written, output))?;
    for _ in 0..WORKERS {
        let (client, pending, todo, answered) = (client.clone(), pending.clone(), todo.clone(), events.clone());
        named("lsp-work", move || work(&client, &pending, &todo, &answered))?;
    }
    let (ahead, states) = unbounded();
    named("lsp-ahead", move || indexing::prepare_answers(&states))?;
    let reading = events.clone();
    named("lsp-read", move || read_all(input, &reading))?;
    let (stage, waiting, indexing) = (Stage::Fresh, Vec::new(), Indexing::default());
    let mut server = Server { cx, client, stage, pending, jobs, events, ahead, waiting, indexing };
    let is_in_order = server.run(&news);
    let (ended, end) = unbounded();
    if server.client.out.send(Outgoing::End(ended)).is_ok() {
        let _ = end.recv();
    }
    Ok(is_in_order)
}

fn named(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

fn read_all(input: impl BufRead, events: &Sender<Event>) {
    let mut reader = Reader::new(input);
    while let Ok(Some(message)) = reader.read() {
        if events.send(Event::Read(message)).is_err() {
            return;
        }
    }
    let _ = events.send(Event::Gone);
}

fn write_all(messages: &Receiver<Outgoing>, mut output: impl Write) {
    for message in messages {
        match message {
            // A client that does not read any more has left or will.
            Outgoing::Message(message) => drop(write(&mut output, &message)),
            Outgoing::End(ended) => drop(ended.send(())),
        }
    }
}

fn work(client: &Client, pending: &Pending, todo: &Receiver<Job>, events: &Sender<Event>) {
    // Each thread keeps free memory of its own.
    let mut worked = None;
    loop {
        let Job { request, workspace, cancelled } = match todo.recv_timeout(indexing::QUIET) {
            Ok(job) => job,
            Err(RecvTimeoutError::Timeout) => {
                worked = None;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        worked.get_or_insert_with(allocator::work);
        let started = Instant::now();
        let Request { id, method, params } = request;
        let request = answer::Request {
            roots: workspace.folders.iter().map(|folder| folder.real.clone()).collect(),
            cancelled: cancelled.clone(),
            ..answer::Request::default()
        };
        let asked = RequestView { workspace: &workspace, request };
        let answered = || asked.check().and_then(|()| answer(&asked, &id, &method, params));
        let result = catch_unwind(AssertUnwindSafe(answered)).unwrap_or_else(|_| {
            Err(Failure::new(ErrorCode::InternalError, format!("answering {method} failed: an internal error")))
        });
        let result = if cancelled.load(Ordering::Relaxed) { Err(cancellation()) } else { result };
        let mut unanswered = pending.lock().unwrap_or_else(PoisonError::into_inner);
        // Once the list is empty, all answers are on their way.
        client.respond(&id, result);
        unanswered.remove(&id);
        drop(unanswered);
        let _ = events.send(Event::Answered);
        if started.elapsed() > LONG {
            worked = None;
        }
    }
}

fn cancellation() -> Failure {
    Failure::new(ErrorCode::RequestCanceled, "cancelled")
}

impl Server {
    /// Handles events until the client leaves; returns whether it said so before.
    fn run(&mut self, news: &Receiver<Event>) -> bool {
        for event in news {
            match event {
                Event::Gone => self.leave(),
                Event::Answered => {}
                Event::Indexed => {
                    self.indexing.is_done = true;
                    self.waiting.drain(..).for_each(|job| drop(self.jobs.send(job)));
                }
                Event::Read(Incoming::Request(request)) => self.request(request),
                Event::Read(Incoming::Notification(notification)) if notification.method == "exit" => self.leave(),
                Event::Read(Incoming::Notification(notification)) => self.notification(notification),
                Event::Read(Incoming::Response) => {}
                Event::Read(Incoming::Damaged { id, code, why }) => {
                    self.client.send(wire::error(id.as_ref(), code, &why));
                }
            }
            if let Some(is_in_order) = self.ended() {
                return is_in_order;
            }
        }
        false
    }

    /// The client has left, in order or not.
    fn leave(&mut self) {
        match &mut self.stage {
            Stage::Down(leaving) => leaving.is_gone = true,
            stage => *stage = Stage::Left,
        }
    }

    /// Answers `shutdown` after all that was asked before. Once the client has left, returns whether it did so in
    /// order.
    fn ended(&mut self) -> Option<bool> {
        let is_answered = self.lock().is_empty();
        match &mut self.stage {
            Stage::Left => Some(false),
            Stage::Down(leaving) if is_answered => {
                if let Some(id) = leaving.asked.take() {
                    self.client.respond(&id, wire::result(&id, &Value::Null).map_err(Failure::failed));
                }
                leaving.is_gone.then_some(true)
            }
            _ => None,
        }
    }

    fn request(&mut self, request: Request) {
        let refused = |code, why: &str| Err(Failure::new(code, why));
        let result = match (&self.stage, request.method.as_str()) {
            (Stage::Fresh, "initialize") => self.initialize(request.params),
            (Stage::Fresh, _) => refused(ErrorCode::ServerNotInitialized, "send `initialize` first"),
            (Stage::Down(_) | Stage::Left, _) => refused(ErrorCode::InvalidRequest, "the server is shut down"),
            (Stage::Running(_), "initialize") => refused(ErrorCode::InvalidRequest, "`initialize` is sent once"),
            (Stage::Running(_), "shutdown") => {
                // Requests without `initialized` before them wait for an index, too.
                if !self.indexing.has_begun() {
                    self.index();
                }
                self.stage = Stage::Down(Leaving { asked: Some(request.id), is_gone: false });
                return;
            }
            (Stage::Running(workspace), _) => {
                let workspace = workspace.clone();
                return self.begin(request, workspace);
            }
        };
        let message = result.and_then(|it| wire::result(&request.id, &it).map_err(Failure::failed));
        self.client.respond(&request.id, message);
    }

    /// Passes a request to the workers, once the workspace is indexed.
    fn begin(&mut self, request: Request, workspace: Arc<Workspace>) {
        let cancelled = Arc::new(AtomicBool::new(false));
        let before = self.lock().insert(request.id.clone(), cancelled.clone());
        if let Some(before) = before {
            self.lock().insert(request.id.clone(), before);
            let failure = Failure::new(ErrorCode::InvalidRequest, "a request with this id has no answer yet");
            return self.client.respond(&request.id, Err(failure));
        }
        let job = Job { request, workspace, cancelled };
        match self.indexing.is_done {
            true => drop(self.jobs.send(job)),
            false => self.waiting.push(job),
        }
    }

    fn initialize(&mut self, params: Value) -> Result<Value, Failure> {
        let params: InitializeParams = serde_json::from_value(params)
            .map_err(|err| Failure::new(ErrorCode::InvalidParams, format!("the parameters do not fit: {err}")))?;
        let workspace = Workspace::new(self.cx.clone(), &params);
        let answer = capabilities(&workspace.options);
        self.stage = Stage::Running(Arc::new(workspace));
        Ok(answer)
    }

    fn notification(&mut self, notification: Notification) {
        let Stage::Running(workspace) = &mut self.stage else { return };
        let Notification { method, params } = notification;
        let is_of_text = method.starts_with("textDocument/did");
        match method.as_str() {
            "initialized" => self.index(),
            "$/cancelRequest" => {
                if let Some(CancelParams { id }) = read(params) {
                    self.cancel(&match id {
                        NumberOrString::Number(id) => id.into(),
                        NumberOrString::String(id) => id.into(),
                    });
                }
            }
            "textDocument/didOpen" => {
                if let Some(params) = read::<DidOpenTextDocumentParams>(params) {
                    let document = &params.text_document;
                    self.client.tell_no_errors(&workspace.options, &document.uri, document.version);
                    Arc::make_mut(workspace).documents.open(params);
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = read::<DidChangeTextDocumentParams>(params) {
                    let encoding = workspace.options.encoding;
                    let document = &params.text_document;
                    self.client.tell_no_errors(&workspace.options, &document.uri, document.version);
                    Arc::make_mut(workspace).documents.change(params, encoding);
                }
            }
            "textDocument/didClose" => {
                if let Some(params) = read(params) {
                    Arc::make_mut(workspace).documents.close(&params);
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                if let Some(DidChangeWorkspaceFoldersParams { event }) = read(params) {
                    let workspace = Arc::make_mut(workspace);
                    let removed: Vec<Folder> =
                        event.removed.iter().filter_map(|folder| Folder::at(&folder.uri)).collect();
                    workspace.folders.retain(|folder| !removed.contains(folder));
                    let added = event.added.iter().filter_map(|folder| Folder::at(&folder.uri));
                    workspace.folders.extend(added);
                    self.index();
                }
            }
            _ => {}
        }
        if let (Stage::Running(workspace), true) = (&self.stage, is_of_text && self.indexing.is_done) {
            let _ = self.ahead.send(workspace.clone());
        }
    }

    /// Indexes the folders of the workspace in the background.
    fn index(&mut self) {
        if let Stage::Running(workspace) = &self.stage {
            let (workspace, client, events) = (workspace.clone(), self.client.clone(), self.events.clone());
            let number = self.indexing.begin();
            let started = named("lsp-index", move || {
                indexing::index(&workspace, &client, number);
                let _ = events.send(Event::Indexed);
            });
            if started.is_err() {
                let _ = self.events.send(Event::Indexed);
            }
        }
    }

    /// Cancels a request. One that waits for the index is answered at once.
    fn cancel(&mut self, id: &RequestId) {
        if let Some(cancelled) = self.lock().get(id) {
            cancelled.store(true, Ordering::Relaxed);
        }
        if let Some(place) = self.waiting.iter().position(|job| job.request.id == *id) {
            self.waiting.remove(place);
            self.lock().remove(id);
            self.client.respond(id, Err(cancellation()));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestId, Arc<AtomicBool>>> {
        // A panic elsewhere leaves the list intact.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the parameters of a notification; those that do not fit are ignored, as there is no answer to it.
fn read<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).inspect_err(|err| tracing::info!(%err, "a notification is ignored")).ok()
}
