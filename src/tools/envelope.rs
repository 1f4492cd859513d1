//! The one door to every tool: it times, checks arguments, runs, keeps the answer within its token budget and writes
//! the answer or the error in one shape.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) use super::arguments::arguments;
use super::budget::{self, Draft, Thrift};
use super::error::nearest;
use super::indexes::{self, Indexes};
use super::mend;
use super::remotes::Remotes;
use super::session::Session;
use super::{Code, Error, Request, TOOLS, ToolSpec, tokens};
use crate::config::Config;
use crate::store::{Sidecar, Snapshot};
use crate::watch::Watching;

/// What a process keeps between calls.
pub struct Context {
    /// What was decided at the start.
    pub config: Config,
    /// What was called, how long it took and what it saved.
    pub session: Session,
    /// The indexes that are open.
    pub indexes: Indexes,
    /// Ways to repositories elsewhere.
    pub remotes: Remotes,
}

impl Context {
    /// A process that has answered nothing yet.
    pub fn new(config: Config) -> Self {
        let session = Session::open(&config.home);
        let indexes = Indexes::new(&config);
        Self { config, session, indexes, remotes: Remotes::default() }
    }

    /// The same for a process that stays: checkouts that are asked about again are kept fresh from then on.
    pub fn kept_by(self, watching: Arc<Watching>) -> Self {
        Self { indexes: self.indexes.kept_by(watching), ..self }
    }

    /// Ends a process that has answered what it was asked: what it counted is written. What is open stays open, because the
    /// system closes it faster than we do.
    pub fn end(self) {
        self.remotes.settle(None);
        std::mem::forget(self.indexes);
    }
}

/// Arguments that every tool takes beside its own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SharedArguments {
    /// How many tokens the answer may have (default 8000).
    pub max_tokens: Option<u64>,
    /// How the answer is written.
    pub format: Format,
    /// `next_cursor` of an answer that was cut: goes on where it ended.
    pub cursor: Option<String>,
    /// Only the number of results.
    pub count_only: bool,
}

/// The names of [`SharedArguments`].
pub const SHARED: [&str; 4] = ["max_tokens", "format", "cursor", "count_only"];

/// An answer cannot be smaller than this and still say something.
const MIN_TOKENS: usize = 50;

/// How an answer is written for its reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON without spaces.
    #[default]
    Json,
    /// The same content as dense text.
    Compact,
}

/// How an answer stands to the files it speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// They are as they were indexed.
    Fresh,
    /// Some have changed since.
    Stale,
    /// They are being read again.
    Indexing,
}

impl Freshness {
    /// The word that answers carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Stale => "stale",
            Self::Indexing => "indexing",
        }
    }
}

/// One call of a tool, as the tool sees it.
pub struct Call<'a> {
    /// What the process keeps.
    pub cx: &'a Context,
    /// Who asks.
    pub request: &'a Request,
    /// How many tokens the answer may have.
    pub max_tokens: usize,
    /// How many items of the list a cursor says were given already.
    pub offset: usize,
    /// Only the number of items is wanted.
    pub count_only: bool,
    /// How the answer will be written.
    pub format: Format,
    /// It may ask for symbols by what they are called, and not only for files and their text.
    pub asks_for_symbols: bool,
    /// Fingerprint of what is asked, see [`question`].
    question: u32,
    notes: Mutex<Notes>,
}

/// What a tool tells the door beside its answer.
#[derive(Default)]
struct Notes {
    repo: Option<String>,
    freshness: Option<Freshness>,
    baseline: BTreeMap<String, u64>,
    total: Option<usize>,
    count: Option<usize>,
    narrow: Option<String>,
    thrift: Option<Thrift>,
    found: Option<bool>,
    meta: Map<String, Value>,
    from: Vec<(Sidecar, Arc<Snapshot>)>,
}

impl<'a> Call<'a> {
    /// A question about text of a skin that wants no answer in an envelope.
    pub(super) fn of(cx: &'a Context, request: &'a Request) -> Self {
        Self {
            cx,
            request,
            max_tokens: usize::MAX,
            offset: 0,
            count_only: false,
            format: Format::Json,
            asks_for_symbols: false,
            question: 0,
            notes: Mutex::default(),
        }
    }

    /// The repository that was asked.
    pub fn repo(&self, id: &str) {
        self.notes().repo = Some(id.to_owned());
    }

    /// How the answer stands to the files it speaks of.
    pub fn freshness(&self, freshness: Freshness) {
        self.notes().freshness = Some(freshness);
    }

    /// What the answer is made from.
    pub fn answers_from(&self, sidecar: &Sidecar, snapshot: &Arc<Snapshot>) {
        let mut notes = self.notes();
        if !notes.from.iter().any(|(_, known)| Arc::ptr_eq(known, snapshot)) {
            notes.from.push((sidecar.clone(), snapshot.clone()));
        }
    }

    /// A file that would have been read whole without this answer, and its bytes. Each counts once.
    pub fn baseline(&self, file: &str, bytes: u64) {
        self.notes().baseline.insert(file.to_owned(), bytes);
    }

    /// One more fact for `_meta`.
    pub fn note(&self, key: &str, value: impl Into<Value>) {
        self.notes().meta.insert(key.to_owned(), value.into());
    }

    /// A fact that was noted for `_meta`.
    pub(super) fn noted(&self, key: &str) -> Option<Value> {
        self.notes().meta.get(key).cloned()
    }

    /// How many items there are in all, those before [`Call::offset`] and those not given included.
    pub fn total(&self, items: usize) {
        self.notes().total = Some(items);
    }

    /// What `count_only` answers where it is not the number of items.
    pub fn count(&self, count: usize) {
        self.notes().count = Some(count);
    }

    /// How to ask for less, said only when the answer is cut.
    pub fn narrow(&self, how: &str) {
        self.notes().narrow = Some(how.to_owned());
    }

    /// How small the list is kept.
    pub(super) fn thrift(&self, thrift: Thrift) {
        self.notes().thrift = Some(thrift);
    }

    /// Whether something was found, where it is not whether the list holds anything.
    pub fn found(&self, found: bool) {
        self.notes().found = Some(found);
    }

    /// At most `limit` of all items, from where the cursor stands; notes how many there are.
    pub fn page<T>(&self, items: Vec<T>, limit: usize) -> Vec<T> {
        self.total(items.len());
        items.into_iter().skip(self.offset).take(limit).collect()
    }

    /// A cursor for a tool whose answer is cut elsewhere than in a list: goes on after `given` pieces.
    pub fn cursor(&self, given: usize) -> String {
        write_cursor(self.question, given)
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        // A note is one assignment, so a panic beside it leaves nothing half done.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer as a skin gives it on.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The whole answer or error, `_meta` included.
    pub value: Value,
    /// What a model reads: the value as JSON, or as compact text when that was asked for.
    pub text: String,
    /// It is an error.
    pub is_error: bool,
    /// Something was found: decides the exit status at the terminal.
    pub found: bool,
}

/// Calls the tool of that name.
pub fn call(cx: &Context, name: &str, args: Map<String, Value>, request: &Request) -> Envelope {
    call_among(TOOLS, cx, name, args, request)
}

pub(super) fn call_among(
    tools: &[ToolSpec],
    cx: &Context,
    name: &str,
    args: Map<String, Value>,
    request: &Request,
) -> Envelope {
    let start = Instant::now();
    let Some(spec) = tools.iter().find(|spec| spec.name == name) else {
        return failure(&unknown_tool(tools, name), start, cx.config.max_tokens);
    };
    let asked = args.get("max_tokens").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    let max_tokens = asked.unwrap_or(cx.config.max_tokens).min(cx.config.max_tokens);
    let envelope = match answer(cx, spec, args, request, start) {
        Ok((envelope, tokens, saved)) => {
            cx.session.record(spec.name, start.elapsed(), tokens, saved, false);
            envelope
        }
        Err(err) => {
            let envelope = failure(&err, start, max_tokens);
            let tokens = tokens::estimate(&envelope.text);
            cx.session.record(spec.name, start.elapsed(), tokens, 0, true);
            envelope
        }
    };
    cx.session.flush_when_due();
    envelope
}

fn unknown_tool(tools: &[ToolSpec], name: &str) -> Error {
    let shown: String = name.chars().take(100).collect();
    let near = nearest(name, tools.iter().map(|spec| spec.name), 3);
    match near.first() {
        Some(first) => Error::new(Code::NotFound, format!("there is no tool `{shown}`; did you mean `{first}`?"))
            .with("nearest", near),
        None => Error::new(Code::NotFound, format!("there is no tool `{shown}`")),
    }
}

/// Runs the tool and writes its answer; also says how many tokens that has, and how many it saved.
fn answer(
    cx: &Context,
    spec: &ToolSpec,
    mut args: Map<String, Value>,
    request: &Request,
    start: Instant,
) -> Result<(Envelope, usize, u64), Error> {
    let shared = take_shared(&mut args)?;
    let question = question(spec.name, &args);
    let offset = match shared.cursor.as_deref() {
        None | Some("") => 0,
        Some(cursor) => read_cursor(spec.name, question, cursor)?,
    };
    let max_tokens = shared.max_tokens.map_or(cx.config.max_tokens, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let max_tokens = max_tokens.max(MIN_TOKENS);
    if request.is_cancelled() {
        return Err(Error::new(Code::Cancelled, "the call was cancelled before it began"));
    }
    let notes = Mutex::default();
    let SharedArguments { format, count_only, .. } = shared;
    let mut call =
        Call { cx, request, max_tokens, offset, count_only, format, asks_for_symbols: true, question, notes };
    let mut body = run(spec, &call, args.clone());
    let mut from = std::mem::take(&mut call.notes().from);
    if let Some((sidecar, err)) = indexes::damage(&from, &body)
        && mend::mended(&call, sidecar, &err)
    {
        // What was noted was noted of what is damaged.
        let rebuilt = call.notes().meta.remove("rebuilt");
        call.notes = Mutex::default();
        call.notes().meta.extend(rebuilt.map(|rebuilt| ("rebuilt".to_owned(), rebuilt)));
        body = run(spec, &call, args);
        from = std::mem::take(&mut call.notes().from);
    }
    if let Some((sidecar, err)) = indexes::damage(&from, &body) {
        return Err(indexes::store_error(err, sidecar));
    }
    let body = body?;
    let notes = call.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut draft = Draft::new(question, body, spec.list, offset, notes.total);
    draft.narrow = notes.narrow;
    draft.spare = spec.spare;
    draft.compact = shared.format == Format::Compact;
    let mut found = !draft.is_empty_list();
    if shared.count_only && (draft.has_list() || notes.count.is_some()) {
        found = draft.count(notes.count) > 0;
    }
    let found = notes.found.unwrap_or(found);

    let mut meta = Meta {
        repo: notes.repo,
        freshness: notes.freshness,
        saved: None,
        facts: notes.meta,
        // Stands for what is known only at the end; what is written in its place is never longer.
        timing_ms: 8_888_888.88,
    };
    // Counting is what grep does, too.
    let baseline_tokens = if shared.count_only { 0 } else { notes.baseline.values().sum::<u64>() / 4 };
    if baseline_tokens > 0 {
        meta.saved = Some((baseline_tokens, cx.session.total_saved().saturating_add(baseline_tokens)));
    }
    draft.meta = meta.written(draft.is_cut());
    if let Some(thrift) = &notes.thrift {
        budget::save(&mut draft, thrift);
    }
    let written = budget::fit(&mut draft, max_tokens)?;

    meta.timing_ms = milliseconds(start);
    // What `_meta` says of the time and the savings is shorter now than what stood for it, by a token or two.
    let tokens = tokens::estimate(&written);
    let saved = baseline_tokens.saturating_sub(tokens as u64);
    meta.saved = (saved > 0).then(|| (saved, cx.session.total_saved().saturating_add(saved)));
    draft.meta = meta.written(draft.is_cut());
    let value = draft.value();
    let text = budget::written(&value, draft.compact);
    Ok((Envelope { value, text, is_error: false, found }, tokens, saved))
}

/// Takes the shared arguments out of what the tool will see.
fn take_shared(args: &mut Map<String, Value>) -> Result<SharedArguments, Error> {
    let mut shared = Map::new();
    for name in SHARED {
        if let Some(value) = args.shift_remove(name) {
            shared.insert(name.to_owned(), value);
        }
    }
    if shared.is_empty() {
        return Ok(SharedArguments::default());
    }
    arguments(shared, || schemars::schema_for!(SharedArguments))
}

/// Runs the tool; a panic becomes an error, so one bad call does not end the process.
fn run(spec: &ToolSpec, call: &Call<'_>, args: Map<String, Value>) -> Result<Map<String, Value>, Error> {
    let answer = catch_unwind(AssertUnwindSafe(|| (spec.run)(call, args))).unwrap_or_else(|panic| {
        let what = panic_text(&*panic);
        tracing::error!(tool = spec.name, "panicked: {what}");
        Err(Error::new(Code::Internal, format!("{} failed by a fault of its own: {what}", spec.name)))
    })?;
    match answer {
        Value::Object(answer) => Ok(answer),
        other => Ok(Map::from_iter([("result".to_owned(), other)])),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

/// What `_meta` says.
struct Meta {
    timing_ms: f64,
    repo: Option<String>,
    freshness: Option<Freshness>,
    /// Tokens saved by this answer and in all.
    saved: Option<(u64, u64)>,
    facts: Map<String, Value>,
}

impl Meta {
    fn written(&self, truncated: bool) -> Map<String, Value> {
        let mut meta = Map::new();
        meta.insert("timing_ms".to_owned(), self.timing_ms.into());
        if let Some(repo) = &self.repo {
            meta.insert("repo".to_owned(), repo.as_str().into());
        }
        if truncated {
            meta.insert("truncated".to_owned(), true.into());
        }
        if let Some(freshness) = self.freshness {
            meta.insert("freshness".to_owned(), freshness.as_str().into());
        }
        if let Some((saved, total)) = self.saved {
            meta.insert("tokens_saved".to_owned(), saved.into());
            meta.insert("total_tokens_saved".to_owned(), total.into());
            meta.insert("estimate_method".to_owned(), "file_bytes/4".into());
        }
        for (key, value) in &self.facts {
            meta.insert(key.clone(), value.clone());
        }
        meta
    }
}

/// Writes an error in its one shape.
fn failure(err: &Error, start: Instant, max_tokens: usize) -> Envelope {
    let mut body = Map::new();
    body.insert("error".to_owned(), err.message.as_str().into());
    body.insert("code".to_owned(), err.code.as_str().into());
    if !err.details.is_empty() {
        body.insert("details".to_owned(), err.details.clone().into());
    }
    let mut draft = Draft::new(0, body, None, 0, None);
    draft.meta.insert("timing_ms".to_owned(), milliseconds(start).into());
    // Details that list ten thousand candidates help nobody. What cannot be cut any further goes out as it is.
    _ = budget::fit(&mut draft, max_tokens.max(MIN_TOKENS));
    draft.meta = Map::from_iter([("timing_ms".to_owned(), milliseconds(start).into())]);
    let value = draft.value();
    let text = budget::written(&value, false);
    Envelope { value, text, is_error: true, found: false }
}

fn milliseconds(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 100_000.0).round() / 100.0
}

/// Fingerprint of a tool and what it is asked (FNV-1a). The size of a page is not part of the question.
fn question(tool: &str, args: &Map<String, Value>) -> u32 {
    let fnv = |text: &str| {
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    };
    let asked = args.iter().filter(|(key, value)| *key != "max_results" && !value.is_null());
    // The order of arguments says nothing.
    asked.fold(fnv(tool), |hash, (key, value)| hash ^ fnv(&format!("{key}={value}")))
}

/// Where a list goes on, with a check that it was this question's answer that said so.
pub(super) fn write_cursor(question: u32, offset: usize) -> String {
    let check = (question ^ offset as u32).wrapping_mul(0x9e37_79b1) >> 16;
    format!("c{offset}-{check:04x}")
}

fn read_cursor(tool: &str, question: u32, cursor: &str) -> Result<usize, Error> {
    let offset =
        cursor.strip_prefix('c').and_then(|rest| rest.split_once('-')).and_then(|(offset, _)| offset.parse().ok());
    match offset {
        Some(offset) if write_cursor(question, offset) == cursor => Ok(offset),
        _ => {
            let shown: String = cursor.chars().take(40).collect();
            let message = format!(
                "`cursor` {shown:?} was not given by {tool} for this question; leave it out to start from the beginning"
            );
            Err(Error::new(Code::InvalidArguments, message))
        }
    }
}
