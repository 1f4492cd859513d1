//! Common path of every answer: shared arguments, timing, the tool's run, the token budget, and one shape for answers
//! and errors.

use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::arguments::arguments;
use super::budget::{self, Draft};
use super::notes::{AvoidedReading, METHOD};
use super::session::Session;
use super::{Error, Notes, Request, tokens};
use codelode_base::config::Config;
pub use codelode_base::config::Format;

/// Arguments shared by all tools.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SharedArguments {
    /// Token limit of the answer (default 8000).
    pub max_tokens: Option<u64>,
    /// Answer format (default: the server's setting).
    pub format: Option<Format>,
    /// `next_cursor` of a cut answer: gets the next page.
    pub cursor: Option<String>,
    /// Return only the number of results.
    pub count_only: bool,
}

/// Names of [`SharedArguments`].
pub const SHARED: [&str; 4] = ["max_tokens", "format", "cursor", "count_only"];

/// Minimum token budget of a useful answer.
const MIN_TOKENS: usize = 50;
/// The longest error message, in characters.
const LONGEST_MESSAGE: usize = 1_500;

/// Freshness of an answer relative to its files on disk, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// The files are unchanged since indexing.
    Fresh,
    /// The files were not compared with the disk.
    Unchecked,
    /// Some files have changed since.
    Stale,
    /// The files are being read again.
    Indexing,
}

impl Freshness {
    /// The word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Unchecked => "unchecked",
            Self::Stale => "stale",
            Self::Indexing => "indexing",
        }
    }

    /// The verdict on something that was not found: newer files may hold it.
    pub fn doubt(self) -> Option<&'static str> {
        match self {
            Self::Fresh => None,
            Self::Unchecked => Some("not_known: files are still being compared with the index"),
            Self::Stale | Self::Indexing => Some("not_known: changed files are still being read"),
        }
    }
}

/// Properties of a tool for its answers.
#[derive(Clone, Copy)]
pub struct ToolProperties {
    /// Name of the tool over MCP.
    pub name: &'static str,
    /// Key of the list that is cut when the answer exceeds its budget.
    pub list: Option<&'static str>,
}

/// The shared part of a tool's question.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Token budget of the answer.
    pub max_tokens: usize,
    /// Number of list items before the cursor.
    pub offset: usize,
    /// Whether only the number of items is wanted.
    pub count_only: bool,
    /// Whether the answer is written as compact text.
    pub compact: bool,
    /// Fingerprint of the question, see [`fingerprint`].
    fingerprint: u32,
}

impl Question {
    /// Creates a question without limits, for callers that need no envelope.
    pub fn unbounded() -> Self {
        Self { max_tokens: usize::MAX, offset: 0, count_only: false, compact: false, fingerprint: 0 }
    }

    /// Cursor for a tool whose answer is cut by other pieces than list items: continues after `given` pieces.
    pub fn cursor(&self, given: usize) -> String {
        write_cursor(self.fingerprint, given)
    }

    /// Cursor for a question to a tool with other arguments: continues after `given` pieces.
    pub fn cursor_of(tool: &str, args: &Map<String, Value>, given: usize) -> String {
        write_cursor(fingerprint(tool, args), given)
    }
}

/// A finished answer.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The whole answer or error, including `_meta`.
    pub value: Value,
    /// Text for a model: JSON, or compact text on request.
    pub text: String,
    /// Whether it is an error.
    pub is_error: bool,
    /// Whether anything was found, which decides the exit status at the terminal.
    pub found: bool,
}

/// Answers a question to a tool through `run`, and counts the call. `config` gives the defaults.
pub fn answered(
    tool: ToolProperties,
    session: &Session,
    config: &Config,
    args: Map<String, Value>,
    request: &Request,
    run: impl FnOnce(Question, Map<String, Value>) -> Result<(Map<String, Value>, Notes), Error>,
) -> Envelope {
    let start = Instant::now();
    let asked = args.get("max_tokens").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    let max_tokens = asked.unwrap_or(config.max_tokens).min(config.max_tokens);
    let envelope = match answer(tool, session, config, args, request, start, run) {
        Ok((envelope, tokens, saved)) => {
            session.record(tool.name, start.elapsed(), tokens, saved, false);
            envelope
        }
        Err(err) => {
            let envelope = failure(&err, start, max_tokens);
            let tokens = tokens::estimate(&envelope.text);
            session.record(tool.name, start.elapsed(), tokens, 0, true);
            envelope
        }
    };
    session.flush_when_due();
    let error = envelope.is_error.then(|| envelope.value["code"].as_str().unwrap_or_default().to_owned());
    tracing::debug!(target: "codelode", tool = tool.name, ms = milliseconds(start), error, "call ended");
    envelope
}

/// Creates an error answer without running a tool.
pub fn refused(err: &Error, most: usize) -> Envelope {
    failure(err, Instant::now(), most)
}

/// Runs the tool and writes its answer. Also returns its tokens, and the tokens saved.
fn answer(
    tool: ToolProperties,
    session: &Session,
    config: &Config,
    mut args: Map<String, Value>,
    request: &Request,
    start: Instant,
    run: impl FnOnce(Question, Map<String, Value>) -> Result<(Map<String, Value>, Notes), Error>,
) -> Result<(Envelope, usize, u64), Error> {
    let shared = take_shared(&mut args)?;
    let fingerprint = fingerprint(tool.name, &args);
    let offset = match shared.cursor.as_deref() {
        None | Some("") => 0,
        Some(cursor) => read_cursor(tool.name, fingerprint, cursor)?,
    };
    let max_tokens = shared.max_tokens.map_or(config.max_tokens, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let max_tokens = max_tokens.max(MIN_TOKENS);
    if request.is_cancelled() {
        return Err(Error::cancelled("the call was cancelled before it began"));
    }
    let count_only = shared.count_only;
    let compact = shared.format.unwrap_or(config.format) == Format::Compact;
    let (body, notes) = run(Question { max_tokens, offset, count_only, compact, fingerprint }, args)?;
    let mut notes = notes.into_inner();
    let (freshness, facts) = (notes.freshness(), notes.take_facts());
    let mut draft = Draft::new(fingerprint, body, notes.list.or(tool.list), offset, notes.total);
    draft.narrow = notes.narrow;
    draft.compact = compact;
    let mut found = !draft.is_empty_list();
    if shared.count_only && (draft.has_list() || notes.count.is_some()) {
        found = draft.count(notes.count) > 0;
    }
    let found = notes.found.unwrap_or(found);

    let mut meta = Meta {
        repo: notes.repo,
        freshness,
        saved: None,
        facts,
        // Placeholder for the final time, which is never longer.
        timing_ms: 8_888_888.88,
    };
    // A count saves nothing: grep can count, too.
    let baseline_tokens =
        if shared.count_only { 0 } else { notes.baseline.values().map(AvoidedReading::bytes).sum::<u64>() / 4 };
    if baseline_tokens > 0 {
        meta.saved = Some((baseline_tokens, session.total_saved().saturating_add(baseline_tokens)));
    }
    draft.meta = meta.written(draft.is_cut());
    let written = budget::fit(&mut draft, max_tokens)?;

    meta.timing_ms = milliseconds(start);
    // The final time and savings may be a token or two shorter than their placeholders.
    let tokens = tokens::estimate(&written);
    let saved = baseline_tokens.saturating_sub(tokens as u64);
    meta.saved = (saved > 0).then(|| (saved, session.total_saved().saturating_add(saved)));
    draft.meta = meta.written(draft.is_cut());
    let value = draft.value();
    let text = budget::written(&value, draft.compact);
    Ok((Envelope { value, text, is_error: false, found }, tokens, saved))
}

/// Removes the shared arguments from those of the tool.
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

/// Content of `_meta`.
struct Meta {
    timing_ms: f64,
    repo: Option<String>,
    freshness: Option<Freshness>,
    /// Tokens saved by this answer, and in total.
    saved: Option<(u64, u64)>,
    facts: Map<String, Value>,
}

impl Meta {
    fn written(&self, truncated: bool) -> Map<String, Value> {
        let mut meta = Map::new();
        meta.insert("timing_ms".to_owned(), self.timing_ms.into());
        if let Some(repo) = self.repo.as_ref().filter(|_| !self.facts.contains_key("repos")) {
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
            meta.insert("estimate_method".to_owned(), METHOD.into());
        }
        for (key, value) in &self.facts {
            meta.insert(key.clone(), value.clone());
        }
        meta
    }
}

/// Writes an error in its common shape.
fn failure(err: &Error, start: Instant, max_tokens: usize) -> Envelope {
    let mut body = Map::new();
    // A long message usually repeats an argument, so it is cut.
    let message = match err.message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}…", &err.message[..end]),
        None => err.message.clone(),
    };
    body.insert("error".to_owned(), message.into());
    body.insert("code".to_owned(), err.code.as_str().into());
    if !err.details.is_empty() {
        body.insert("details".to_owned(), err.details.clone().into());
    }
    let mut draft = Draft::new(0, body, None, 0, None);
    draft.meta.insert("timing_ms".to_owned(), milliseconds(start).into());
    // Details with ten thousand candidates are useless. An error that cannot be cut further is sent as it is.
    _ = budget::fit(&mut draft, max_tokens.max(MIN_TOKENS));
    draft.meta = Map::from_iter([("timing_ms".to_owned(), milliseconds(start).into())]);
    let value = draft.value();
    let text = budget::written(&value, false);
    Envelope { value, text, is_error: true, found: false }
}

fn milliseconds(start: Instant) -> f64 {
    (start.elapsed().as_secs_f64() * 100_000.0).round() / 100.0
}

/// Fingerprint of a tool and its arguments (FNV-1a), without the page size.
fn fingerprint(tool: &str, args: &Map<String, Value>) -> u32 {
    let fnv = |text: &str| {
        text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    };
    let asked = args.iter().filter(|(key, value)| *key != "max_results" && !value.is_null());
    // The order of arguments does not matter.
    asked.fold(fnv(tool), |hash, (key, value)| hash ^ fnv(&format!("{key}={value}")))
}

/// Cursor of a list position, with a check that it belongs to the question.
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
            let message =
                format!("`cursor` {shown:?} is not from this question to {tool}; omit it to start from the beginning");
            Err(Error::invalid_arguments(message))
        }
    }
}
