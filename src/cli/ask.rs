//! Commands that call a tool, or search like ripgrep: the call with its progress and its questions to the user, and the
//! printed answer.

use std::io::{self, IsTerminal, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Map, Value, json};

use super::grep::Asked;
use super::output::{Output, Paint};
use super::progress::Bar;
use super::words::Words;
use super::{Color, FAILED, FOUND, Global, NOTHING, complain, fail, flags, note_to};
use super::{command, editor, grep as search, here, output, pick as picker, render, server, visible};
use codelode_base::config::{self, Settings};
use codelode_base::model::Phase;
use codelode_service::answer::reading;
use codelode_service::tools::{self, Code, Context, Envelope, Error, Request};

/// The longest wait for changed files at a terminal. After that, the answer may be old.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Terminal answers are complete by default, because tokens do not matter there.
const ALL_TOKENS: u64 = 1_000_000;

/// Calls a tool and prints its answer.
pub(super) fn ask(global: &Global, tool: &str, mut arguments: Map<String, Value>, words: Words) -> u8 {
    let flags = flags(global, Settings::default());
    let config = match config::load(&flags) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    if let Err(problem) = note_to(&config) {
        return complain(&problem);
    }
    if let Some(url) = &config.server {
        return server::ask(global, url, &config, tool, arguments, words);
    }
    let takes_repo = command::takes(tool, "repo");
    let repo = global.repo.clone().filter(|_| takes_repo);
    complete_arguments(global, tool, &mut arguments, repo.map(|repo| here::local_path(repo, false)));
    if global.repo.is_none() && !arguments.contains_key("repo") {
        here::absolute(&mut arguments, tool, takes_repo);
    }

    let cx = Context::new(config);
    let bar = Arc::new(Mutex::new(Bar::new(global.quiet)));
    let mut envelope = call(&cx, tool, arguments, global, &bar);
    let hit = global.open.filter(|_| !envelope.is_error).and_then(|nth| nth_hit(&cx, &envelope.value, nth));
    if let Some((path, line)) = hit {
        cx.end();
        return editor::open(&path, line);
    }
    if !global.json {
        here::show(&cx, &mut envelope.value, envelope.is_error);
        if io::stdout().is_terminal() || (envelope.is_error && io::stderr().is_terminal()) {
            visible::uncolour(&mut envelope.value);
            visible::uncolour_text(&mut envelope.text);
        }
    }
    let paint = Paint::of(global.color, io::stdout().is_terminal());
    {
        // Nothing is drawn into the answer while it is printed.
        let mut bar = bar.lock().expect("drawing does not panic");
        bar.finish();
        print(&envelope, global, tool, paint, words);
    }
    for root in cx.unfinished() {
        index_later(&cx, &root, global);
    }
    cx.end();
    status_of(&envelope)
}

/// Adds the arguments that every command takes.
pub(super) fn complete_arguments(
    global: &Global,
    tool: &str,
    arguments: &mut Map<String, Value>,
    repo: Option<String>,
) {
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            arguments.entry(name).or_insert(value);
        }
    };
    set("repo", repo.map(Value::from));
    let is_read = is_read(global, tool);
    // Text for reading is limited, as over MCP.
    let all = if is_read { None } else { Some(ALL_TOKENS) };
    set("max_tokens", global.max_tokens.or(all).map(Value::from));
    set("cursor", global.cursor.clone().map(Value::from));
    set("count_only", global.count_only.then(|| true.into()));
    set("format", Some(if is_read { "compact" } else { "json" }.into()));
    let is_in_rows = command::IN_ROWS.contains(&tool) && io::stdout().is_terminal();
    let is_text = !global.json && !is_read && !is_in_rows;
    let as_text = command::AS_TEXT.iter().find(|(name, ..)| *name == tool && is_text);
    if let Some((_, argument, text)) = as_text {
        set(argument, Some((*text).into()));
    }
    here::places(arguments, tool);
}

/// Whether an answer is compact text, as models get it: on request, or in a pipe if no option asks for another form.
pub(super) fn is_read(global: &Global, tool: &str) -> bool {
    let asks_for_lines = global.json || global.no_heading || global.open.is_some() || global.color == Color::Always;
    global.compact || (!asks_for_lines && command::READ.contains(&tool) && !io::stdout().is_terminal())
}

/// The exit status of an answer.
pub(super) fn status_of(envelope: &Envelope) -> u8 {
    match (envelope.is_error, envelope.found) {
        (true, _) => FAILED,
        (false, false) => NOTHING,
        (false, true) => FOUND,
    }
}

/// The file on this machine, and the line, of the hit number `nth`, counted from one.
fn nth_hit(cx: &Context, answer: &Value, nth: usize) -> Option<(PathBuf, Option<u64>)> {
    let (repo, path, line) = editor::places(answer).into_iter().nth(nth.checked_sub(1)?)?;
    let repo = repo.or_else(|| answer.pointer("/_meta/repo")?.as_str())?;
    let sidecar = cx.indexes.registry().get(repo)?;
    Some((cx.config.path_map.to_local(&sidecar.root).join(path), line))
}

/// Searches text or syntax like ripgrep. If nothing is indexed here yet, the folder is indexed first.
pub(super) fn grep(global: &Global, asked: &Asked<'_>, given: &ArgMatches) -> u8 {
    with_context(global, |cx| {
        if let Some(url) = &cx.config.server {
            return Ok(server::search(global, url, &cx.config, asked.command(), given));
        }
        let _phase = Phase::begin(asked.command());
        search::run(asked, global, cx, &|err| indexed_instead(err, cx, global))
    })
}

/// Runs the symbol picker.
pub(super) fn pick(global: &Global, how: &picker::Pick) -> u8 {
    with_context(global, |cx| {
        server::refuse(cx)?;
        let symbols = picker::symbols(global, cx, &|err| indexed_instead(err, cx, global))?;
        Ok(picker::run(global, how, &symbols))
    })
}

/// Runs a command that is not a tool, and prints its error.
pub(super) fn with_context(global: &Global, run: impl FnOnce(&Context) -> Result<u8, Error>) -> u8 {
    let config = match config::load(&flags(global, Settings::default())) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    if let Err(problem) = note_to(&config) {
        return complain(&problem);
    }
    let cx = Context::new(config);
    let result = run(&cx);
    cx.end();
    result.unwrap_or_else(|err| {
        let paint = Paint::of(global.color, io::stderr().is_terminal());
        let mut error = json!({"error": err.message, "details": err.details});
        if io::stderr().is_terminal() {
            visible::uncolour(&mut error);
        }
        output::complain(&render::error(&error, paint, Words::OfTerminal(None)));
        FAILED
    })
}

/// Indexes the folder that a call refused to index, if the user agrees; otherwise returns the error.
fn indexed_instead(err: Error, cx: &Context, global: &Global) -> Result<(), Error> {
    let refusal = json!({"code": err.code.as_str(), "details": err.details});
    match agreed_to_index(&refusal, global).map(|root| index(cx, &root, global)) {
        None => Err(err),
        Some(indexed) if indexed.is_error => Err(Error::unavailable(message_of(&indexed.value))),
        Some(_) => Ok(()),
    }
}

/// The message of an error, in the form of tool errors.
fn message_of(error: &Value) -> String {
    error["error"].as_str().unwrap_or_default().to_owned()
}

/// Calls a tool. If it refuses to index a large or unusual folder, asks the user and calls it again.
fn call(cx: &Context, tool: &str, arguments: Map<String, Value>, global: &Global, bar: &Arc<Mutex<Bar>>) -> Envelope {
    let first = call_once(cx, tool, arguments.clone(), bar);
    let Some(root) = agreed_to_index(&first.value, global) else { return first };
    let indexed = index(cx, &root, global);
    if indexed.is_error || tool == "index_folder" {
        return indexed;
    }
    call_once(cx, tool, arguments, bar)
}

/// Indexes a folder.
fn index(cx: &Context, root: &Path, global: &Global) -> Envelope {
    let arguments = Map::from_iter([("path".to_owned(), root.to_string_lossy().into())]);
    call_once(cx, "index_folder", arguments, &Arc::new(Mutex::new(Bar::new(global.quiet))))
}

/// Indexes a folder in a process of its own after an early answer, so that the caller need not wait.
pub(super) fn index_later(cx: &Context, root: &Path, global: &Global) {
    let _ = io::stdout().flush();
    let started = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(["index", "--quiet"]).current_dir(root);
        // A relative `--index-dir` depends on the current folder. Other sources of the setting are found again.
        if let Some(place) = &global.index_dir {
            command.arg("--index-dir").arg(std::path::absolute(place)?);
        }
        command.args(global.max_memory.map(|most| format!("--max-memory={most}")));
        command.args(global.allow_secrets.iter().flatten().map(|pattern| format!("--allow-secrets={pattern}")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Ctrl-C must only reach the program in the foreground.
        command.process_group(0).arg("--").arg(root).spawn()
    });
    if started.is_err() {
        index(cx, root, global);
    }
}

/// The folder that the user agrees to index after a refusal.
fn agreed_to_index(refusal: &Value, global: &Global) -> Option<PathBuf> {
    let detail = |key| refusal.pointer(&format!("/details/{key}")).and_then(Value::as_str);
    let (root, why) = detail("root").zip(detail("why"))?;
    let is_asked = refusal["code"] == Code::NotIndexed.as_str();
    if !is_asked || global.quiet || global.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    output::complain(&format!("{root} is not indexed: {why}. Index it now? [y/N] "));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()).then(|| PathBuf::from(root))
}

/// Calls a tool, with a progress bar.
fn call_once(cx: &Context, tool: &str, arguments: Map<String, Value>, bar: &Arc<Mutex<Bar>>) -> Envelope {
    let is_for_models = arguments.get("format").is_some_and(|format| format == "compact");
    let request = Request { for_people: !is_for_models, ..request(bar) };
    let envelope = tools::call(cx, tool, arguments, &request);
    bar.lock().expect("drawing does not panic").finish();
    envelope
}

/// A request from a terminal, with the current folder and a long patience.
pub(super) fn request(bar: &Arc<Mutex<Bar>>) -> Request {
    let step = Arc::clone(bar);
    Request {
        directory: std::env::current_dir().ok(),
        patience: Some(PATIENCE),
        progress: Some(Arc::new(move |done, total, message: &str| {
            step.lock().expect("drawing does not panic").step(done, total, message);
        })),
        ..Request::default()
    }
}

/// Prints an answer, or an error.
pub(super) fn print(envelope: &Envelope, global: &Global, tool: &str, paint: Paint, words: Words) {
    if global.json {
        let pretty = io::stdout().is_terminal();
        let text = if pretty { format!("{:#}", envelope.value) } else { envelope.value.to_string() };
        output::print_bytes(format!("{text}\n").as_bytes());
        return;
    }
    if envelope.is_error {
        let paint = Paint::of(global.color, io::stderr().is_terminal());
        output::complain(&render::error(&envelope.value, paint, words));
        return;
    }
    let mut out = Output::new(paint).fitting_terminal();
    out.words = words;
    if is_read(global, tool) {
        // A server's compact text is printed unchanged.
        let text = match envelope.value {
            Value::Null => envelope.text.clone(),
            _ => reading::worded(&envelope.value, &|message| words.say(message)),
        };
        out.raw(&text);
        return out.print();
    }
    render::answer(&envelope.value, &mut out);
    if !global.quiet {
        let mut notes: Vec<String> = (!envelope.found).then(|| "nothing found".to_owned()).into_iter().collect();
        notes.append(&mut out.asides);
        let is_text = command::AS_TEXT.iter().any(|(name, ..)| *name == tool);
        if out.is_piped() && !global.no_heading && !is_text {
            // Who reads both streams would get them after the output of the next command.
            notes.extend(render::trust(&envelope.value, words));
            out.begin_with(&notes);
        } else {
            notes.extend(render::notes(&envelope.value, words));
            out.notes(notes, Paint::of(global.color, io::stderr().is_terminal()));
        }
    }
    out.print();
}
