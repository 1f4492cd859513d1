//! A session with a client: its instructions and tools, and the calls to them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult,
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    MetaObject, PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, watch};

use super::offers::{self, OfferedCall};
use super::roots;
use super::surface::{self, MoreToolsRequest};
use codelode_base::config::Surface;
use codelode_service::answer::{FOUND, FREQUENCIES, FROM_NODE, TRACE_PARENT, Trace};
use codelode_service::tools::{self, Context, Envelope, Error, Request, TOOLS};

/// The number of calls that run at the same time; further ones wait.
pub(super) const CALLS_AT_ONCE: usize = 32;
/// The longest call in a server with many callers.
const LONGEST_CALL: Duration = Duration::from_secs(600);
/// The longest time for a client to send its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest wait of a call for them: without roots it may mean another repository.
const ROOTS_PATIENCE: Duration = Duration::from_millis(500);
/// The interval of progress messages to a client.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// The interval at which those who listen are told of new repositories.
const NEWS_INTERVAL: Duration = Duration::from_secs(1);
/// Methods that are answered if their parameters are right.
const METHODS: &[&str] = &[
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "server/discover",
    "subscriptions/listen",
];

/// A session.
pub(super) struct Server {
    cx: Arc<Context>,
    session: Arc<Session>,
    /// Whether each request has a caller of its own.
    has_guests: bool,
}

/// The state of a session.
struct Session {
    surface: Mutex<Surface>,
    roots: watch::Sender<Roots>,
    turns: Arc<Turns>,
}

/// Turns for calls. Those of other nodes of a fleet have their own: they wait for nobody, while a call that waits for other nodes
/// would keep a turn from them, as theirs do there.
pub(super) struct Turns {
    own: Semaphore,
    of_nodes: Semaphore,
}

impl Turns {
    /// So many for each sort of calls.
    pub(super) fn new(n: usize) -> Self {
        Self { own: Semaphore::new(n), of_nodes: Semaphore::new(n) }
    }

    /// The turn of a call.
    async fn take(&self, is_from_node: bool) -> SemaphorePermit<'_> {
        let turns = if is_from_node { &self.of_nodes } else { &self.own };
        turns.acquire().await.expect("the semaphore is never closed")
    }
}

/// The caller of a request, in a server with many.
pub(super) trait RemoteCaller: Send + Sync {
    /// The state of the process, as far as the caller may see it.
    fn context(&self) -> &Arc<Context>;
    /// Turns for calls, so that one caller leaves some to the others.
    fn turns(&self) -> &Turns;
    /// The repository that it means when it names none.
    fn default_repo(&self) -> Option<&str>;
    /// Its token.
    fn token(&self) -> Option<Arc<str>>;
    /// Notes a call of a tool with its trace, and how it ended.
    fn called(&self, tool: &str, outcome: &str, took: Duration, trace: Option<&Trace>);
}

/// The folders that the client works in.
#[derive(Clone, Default)]
struct Roots {
    paths: Vec<PathBuf>,
    /// Roots that cannot be used, until an answer has named them.
    unusable: Vec<String>,
    /// The client has been asked and has not answered yet.
    asked: bool,
}

/// A step of a running call.
struct Step {
    done: u64,
    total: Option<u64>,
    message: String,
}

impl Server {
    /// A new session.
    pub(super) fn new(cx: Arc<Context>) -> Self {
        Self::with_turns(cx, Arc::new(Turns::new(CALLS_AT_ONCE)))
    }

    /// A new session that shares its turns with others.
    fn with_turns(cx: Arc<Context>, turns: Arc<Turns>) -> Self {
        let surface = Mutex::new(cx.config.surface.clone());
        let session = Session { surface, roots: watch::Sender::default(), turns };
        Self { cx, session: Arc::new(session), has_guests: false }
    }

    /// A new session of a server with many callers, who share its turns.
    #[cfg(feature = "http")]
    pub(super) fn for_guests(cx: Arc<Context>, turns: Arc<Turns>) -> Self {
        Self { has_guests: true, ..Self::with_turns(cx, turns) }
    }

    /// Folder of the process. That of a server is no caller's.
    fn directory(&self) -> Option<PathBuf> {
        if self.has_guests { None } else { std::env::current_dir().ok() }
    }

    /// The current surface.
    fn surface(&self) -> Surface {
        self.session.surface.lock().expect("no panic while it is held").clone()
    }

    /// Asks the client for its roots, if it supports them.
    #[expect(deprecated, reason = "newer revisions of the protocol drop roots; clients of today have them")]
    async fn ask_for_roots(&self, peer: &Peer<RoleServer>) {
        let has_roots = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
        if !has_roots {
            return;
        }
        self.session.roots.send_modify(|roots| roots.asked = true);
        let found = match tokio::time::timeout(ROOTS_TIMEOUT, peer.list_roots()).await {
            Ok(Ok(answer)) => {
                let has_guests = self.has_guests;
                // A folder on another machine may be slow to look at.
                let read = move || {
                    let exists = |path: &Path| (!has_guests).then(|| path.exists());
                    roots::read(answer.roots.iter().map(|root| root.uri.as_str()), exists)
                };
                tokio::task::spawn_blocking(read).await.ok()
            }
            Ok(Err(err)) => {
                tracing::info!(%err, "the client does not say its roots");
                None
            }
            Err(_) => {
                tracing::info!("the client does not say its roots in time");
                None
            }
        };
        self.session.roots.send_modify(|roots| {
            roots.asked = false;
            if let Some((paths, unusable)) = found {
                (roots.paths, roots.unusable) = (paths, unusable);
            }
        });
    }

    /// The client's roots, if they arrive soon enough, and for one answer those that cannot be used.
    async fn roots(&self) -> Roots {
        let mut roots = self.session.roots.subscribe();
        let _ = tokio::time::timeout(ROOTS_PATIENCE, roots.wait_for(|roots| !roots.asked)).await;
        let known = self.session.roots.borrow().clone();
        if !known.unusable.is_empty() {
            self.session.roots.send_modify(|roots| roots.unusable.clear());
        }
        known
    }

    /// Calls a tool for the caller of the request. `None` if the client has cancelled.
    async fn call(
        &self,
        name: String,
        arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Option<Envelope> {
        let Some(guest) = guest_of(context) else {
            if self.has_guests {
                return Some(refused(Error::internal("the caller of this request is not known")));
            }
            return self.run(&self.cx, None, None, name, arguments, context).await;
        };
        let trace = trace_of(context).or_else(|| guest.context().peers().map(|_| Trace::new())).map(Arc::new);
        let began = Instant::now();
        let _turn = tokio::select! {
            turn = guest.turns().take(is_of_node(guest.context(), context)) => turn,
            () = context.ct.cancelled() => return None,
        };
        let answer = tokio::time::timeout(
            LONGEST_CALL,
            self.run(guest.context(), guest.default_repo(), trace.clone(), name.clone(), arguments, context),
        );
        let answer = answer.await.unwrap_or_else(|_| {
            let message = format!("the call took longer than {} minutes", LONGEST_CALL.as_secs() / 60);
            Some(refused(Error::unavailable(message)))
        });
        let outcome = match &answer {
            None => "cancelled",
            Some(Envelope { is_error: true, value, .. }) => value["code"].as_str().unwrap_or("error"),
            Some(_) => "ok",
        };
        guest.called(&name, outcome, began.elapsed(), trace.as_deref());
        answer
    }

    /// Runs a tool on a thread of its own, and reports progress meanwhile. `None` if the client has cancelled.
    async fn run(
        &self,
        cx: &Arc<Context>,
        default_repo: Option<&str>,
        trace: Option<Arc<Trace>>,
        name: String,
        mut arguments: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Option<Envelope> {
        let is_from_node = is_of_node(cx, context);
        let _turn = tokio::select! {
            turn = self.session.turns.take(is_from_node) => turn,
            () = context.ct.cancelled() => return None,
        };
        let Roots { paths, unusable, .. } = self.roots().await;
        let mut request = Request {
            roots: paths,
            unusable_roots: unusable,
            directory: self.directory(),
            bearer: guest_of(context).and_then(|guest| guest.token()),
            is_from_node,
            frequencies: context.meta.0.get(FREQUENCIES).filter(|_| is_from_node).cloned(),
            trace,
            ..Request::default()
        };
        if let Some(repo) = default_repo.filter(|_| needs_repo(cx, &name, &arguments, &request.roots)) {
            arguments.insert("repo".to_owned(), repo.into());
        }
        let token = context.meta.get_progress_token();
        let (sender, mut steps) = mpsc::unbounded_channel();
        if token.is_some() {
            request.progress = Some(throttled(sender));
        }
        let cancelled = Arc::clone(&request.cancelled);
        // A call that is no longer awaited ends as well.
        let mut ends = CancelOnDrop(Some(Arc::clone(&cancelled)));
        let cx = Arc::clone(cx);
        let mut call = tokio::task::spawn_blocking(move || tools::call(&cx, &name, arguments, &request));
        let answer = loop {
            tokio::select! {
                biased;
                () = context.ct.cancelled() => {
                    // The thread sees this at its next check; its answer is not awaited.
                    cancelled.store(true, Ordering::Relaxed);
                    return None;
                }
                Some(step) = steps.recv() => tell(&context.peer, token.as_ref(), step).await,
                answer = &mut call => break answer,
            }
        };
        // Work that an answered call began in the background goes on.
        ends.0 = None;
        // Progress must not follow the answer.
        while let Ok(step) = steps.try_recv() {
            tell(&context.peer, token.as_ref(), step).await;
        }
        Some(answer.unwrap_or_else(|err| {
            let what =
                err.try_into_panic().map(|payload| panic_message(&*payload)).unwrap_or_else(|err| err.to_string());
            refused(Error::internal(format!("the call broke off: {what}")))
        }))
    }

    /// Calls the tool that a prompt or a resource is made from.
    async fn asked(&self, asked: OfferedCall, context: &RequestContext<RoleServer>) -> Result<Envelope, ErrorData> {
        let answer = self.call(asked.tool.to_owned(), asked.arguments, context).await;
        answer.ok_or_else(|| ErrorData::new(ErrorCode::INTERNAL_ERROR, "cancelled", None))
    }

    /// Answers a call of the tool that gives access to hidden ones.
    async fn more(&self, arguments: JsonObject, context: &RequestContext<RoleServer>) -> Option<Envelope> {
        let answer = match surface::more(arguments) {
            Err(err) => return Some(refused(err)),
            Ok(MoreToolsRequest::Call(name, arguments)) => return self.call(name, arguments, context).await,
            Ok(MoreToolsRequest::List) => surface::others(&self.surface()),
            Ok(MoreToolsRequest::Describe(name)) => surface::description(name).unwrap_or_default(),
            Ok(MoreToolsRequest::Widen(wider)) => {
                *self.session.surface.lock().expect("no panic while it is held") = wider.clone();
                let _ = context.peer.notify_tool_list_changed().await;
                let names: Vec<_> = surface::listing(&wider).into_iter().map(|tool| tool.name).collect();
                json!({"shown": names})
            }
        };
        Some(Envelope { text: answer.to_string(), value: answer, is_error: false, found: true })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let languages = self.directory().map(|here| tools::languages_of(&self.cx, &here));
        let languages = if self.has_guests { None } else { Some(languages.unwrap_or_default()) };
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new("codelode", env!("CARGO_PKG_VERSION")))
            .with_instructions(surface::instructions(&self.surface(), languages.as_deref()))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut answer = self.negotiate_initialize(&request)?;
        // Only a client that listens is told of new repositories, and listening came with the revision without sessions.
        if let Some(resources) = &mut answer.capabilities.resources {
            resources.list_changed = None;
        }
        // The negotiated version holds from now on, not the requested one.
        let mut client = request;
        client.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(client);
        Ok(answer)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.ask_for_roots(&context.peer).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.ask_for_roots(&context.peer).await;
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            let shown: String = cursor.chars().take(40).collect();
            let problem = format!("`cursor` {shown:?} is unknown: all tools come in one list");
            return Err(ErrorData::invalid_params(problem, None));
        }
        Ok(ListToolsResult::with_all_items(surface::listing(&self.surface())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let envelope = match request.name.as_ref() {
            surface::MORE_TOOLS => self.more(arguments, &context).await,
            name => self.call(name.to_owned(), arguments, &context).await,
        };
        match envelope {
            Some(envelope) => {
                let content = vec![ContentBlock::text(envelope.text)];
                let mut result =
                    if envelope.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
                if !envelope.found && !envelope.is_error {
                    result.meta = Some(MetaObject(Map::from_iter([(FOUND.to_owned(), false.into())])));
                }
                Ok(result.into())
            }
            // rmcp does not send this: a cancelled call gets no answer.
            None => Err(ErrorData::new(ErrorCode::INTERNAL_ERROR, "cancelled", None)),
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(offers::prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let answer = self.asked(offers::of_prompt(&request.name, &arguments)?, &context).await?;
        Ok(offers::prompt(&request.name, &arguments, &answer)?.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let arguments = cursor.map(|cursor| ("cursor".to_owned(), Value::from(cursor))).into_iter().collect();
        let answer = self.asked(OfferedCall { tool: "list_repos", arguments }, &context).await?;
        if answer.is_error {
            return Err(ErrorData::invalid_params(answer.text, None));
        }
        let (resources, next_cursor) = offers::resources(&answer);
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(offers::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let answer = self.asked(offers::of_resource(&request.uri)?, &context).await?;
        Ok(offers::resource(&request.uri, &answer)?.into())
    }

    fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<DiscoverResult, ErrorData>> + Send + '_ {
        let mut info = self.get_info();
        // Without a session nobody's list of tools changes, and a subscription to its changes is not taken.
        if let Some(tools) = &mut info.capabilities.tools {
            tools.list_changed = None;
        }
        let versions = self.supported_protocol_versions().into_owned();
        std::future::ready(Ok(DiscoverResult::from_server_info(versions, info)))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Tools and prompts stay the same while the process runs.
        let mut accepted = SubscriptionFilter::new();
        accepted.resources_list_changed = requested.resources_list_changed;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let guest = guest_of(subscription.request_context());
        let cx = guest.as_ref().map_or(&self.cx, |guest| guest.context()).clone();
        // Afterwards the client asks again, and so does this server who it is.
        let _ = tokio::time::timeout(LONGEST_CALL, async {
            let mut known = repositories(&cx).await;
            loop {
                tokio::select! {
                    () = subscription.cancelled() => return,
                    () = tokio::time::sleep(NEWS_INTERVAL) => {}
                }
                let now = repositories(&cx).await;
                if known != now && subscription.sink().notify_resource_list_changed().await.is_err() {
                    return;
                }
                known = now;
            }
        })
        .await;
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        // A known method with invalid parameters arrives here as well.
        if METHODS.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(problem_with(&method, params.unwrap_or_default()), None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("there is no method {method:?}"), None))
    }
}

/// The caller of a request, where each has its own.
#[cfg(feature = "http")]
fn guest_of(context: &RequestContext<RoleServer>) -> Option<Arc<dyn RemoteCaller>> {
    context.extensions.get::<codelode_http::Parts>()?.extensions.get::<Arc<dyn RemoteCaller>>().cloned()
}

/// The caller of a request: over the standard streams there is one for all.
#[cfg(not(feature = "http"))]
fn guest_of(_: &RequestContext<RoleServer>) -> Option<Arc<dyn RemoteCaller>> {
    None
}

/// Whether another node of a fleet asks, and proves it.
fn is_of_node(cx: &Context, context: &RequestContext<RoleServer>) -> bool {
    let mark = context.meta.0.get(FROM_NODE);
    mark.zip(cx.peers()).is_some_and(|(mark, peers)| peers.is_of_node(mark))
}

/// The trace that a request belongs to, by its `_meta` or its headers.
#[cfg(feature = "http")]
fn trace_of(context: &RequestContext<RoleServer>) -> Option<Trace> {
    let in_meta = context.meta.0.get(TRACE_PARENT).and_then(Value::as_str);
    let in_headers = || context.extensions.get::<codelode_http::Parts>()?.headers.get(TRACE_PARENT)?.to_str().ok();
    in_meta.or_else(in_headers).and_then(Trace::read)
}

#[cfg(not(feature = "http"))]
fn trace_of(_: &RequestContext<RoleServer>) -> Option<Trace> {
    None
}

/// Whether a call leaves open which repository it is about: it names none, and no root of the client lies in one.
fn needs_repo(cx: &Context, name: &str, arguments: &JsonObject, roots: &[PathBuf]) -> bool {
    let takes_repo = || {
        let spec = TOOLS.iter().find(|spec| spec.name == name);
        spec.is_some_and(|spec| (spec.input)().to_value().pointer("/properties/repo").is_some())
    };
    let is_named = ["repo", "repos"].iter().any(|key| arguments.contains_key(*key));
    let all = cx.indexes.registry().all();
    let mut folders = all.iter().filter(|one| one.remote.is_none()).map(|one| cx.config.path_map.to_local(&one.root));
    let is_inside = folders.any(|folder| roots.iter().any(|root| root.starts_with(&folder)));
    !is_named && !is_inside && takes_repo()
}

/// Ids of the repositories that a caller sees.
async fn repositories(cx: &Arc<Context>) -> Vec<String> {
    let cx = cx.clone();
    let all = move || cx.indexes.registry().all().into_iter().map(|sidecar| sidecar.repo).collect();
    tokio::task::spawn_blocking(all).await.unwrap_or_default()
}

/// Cancels a call when it is dropped before the answer.
struct CancelOnDrop(Option<Arc<AtomicBool>>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(cancelled) = &self.0 {
            cancelled.store(true, Ordering::Relaxed);
        }
    }
}

/// The problem with the parameters of a known method.
pub(super) fn problem_with(method: &str, params: Value) -> String {
    let problem = match method {
        "initialize" => serde_json::from_value::<InitializeRequestParams>(params).err(),
        "tools/call" => serde_json::from_value::<CallToolRequestParams>(params).err(),
        "prompts/get" => serde_json::from_value::<GetPromptRequestParams>(params).err(),
        "resources/read" => serde_json::from_value::<ReadResourceRequestParams>(params).err(),
        _ => serde_json::from_value::<PaginatedRequestParams>(params).err(),
    };
    match problem {
        Some(problem) => format!("the parameters of {method} do not fit: {problem}"),
        None => format!("the parameters of {method} do not fit"),
    }
}

/// A progress function limited to about ten steps a second, each larger than the one before, and the last one.
fn throttled(sender: mpsc::UnboundedSender<Step>) -> Arc<codelode_base::model::Progress<'static>> {
    let last: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
    Arc::new(move |done, total, message| {
        let mut last = last.lock().expect("no panic while it is held");
        let now = Instant::now();
        if let Some((time, step)) = *last
            && (done <= step || (now - time < PROGRESS_INTERVAL && total != Some(done)))
        {
            return;
        }
        *last = Some((now, done));
        // The session may be over; then progress is dropped.
        let _ = sender.send(Step { done, total, message: message.to_owned() });
    })
}

/// Reports a step to a client.
async fn tell(peer: &Peer<RoleServer>, token: Option<&ProgressToken>, step: Step) {
    let Some(token) = token else { return };
    // Counts of files and bytes are far below the 2^53 where floating point starts to round.
    let mut params = ProgressNotificationParam::new(token.clone(), step.done as f64);
    if let Some(total) = step.total {
        params = params.with_total(total as f64);
    }
    if !step.message.is_empty() {
        params = params.with_message(step.message);
    }
    let _ = peer.notify_progress(params).await;
}

/// An error in the form of the tools' own errors.
fn refused(err: Error) -> Envelope {
    let mut value = Map::new();
    value.insert("error".to_owned(), err.message.into());
    value.insert("code".to_owned(), err.code.as_str().into());
    if !err.details.is_empty() {
        value.insert("details".to_owned(), err.details.into());
    }
    let value = Value::Object(value);
    Envelope { text: value.to_string(), value, is_error: true, found: false }
}

/// The message of a panic.
fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no reason given").to_owned()
}
