//! Calls of tools from a skin: finds the tool, runs it, and runs it again if the index it answered from turned out to
//! be damaged.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{Call, Code, Envelope, Error, Request, TOOLS, ToolSpec, nearest, words};
use crate::answer::{self, Notes, Question};
use crate::catalog::locate::EXCERPT;
use crate::catalog::{self, Context};
use crate::parts::{fan, several};

/// Key of the client's roots that cannot be used, in `_meta` of an answer or among the details of an error.
const UNUSABLE_ROOTS: &str = "unusable_roots";

/// Calls a tool by its name.
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
    match tools.iter().find(|spec| spec.name == name) {
        Some(spec) => {
            let own = |args: Map<String, Value>, request: Request| call_among(tools, cx, name, args, &request);
            if let Some(answer) = fan::fanned(spec.asked(), spec.read_only, cx, &args, request, &own) {
                return answer;
            }
            let own = |args: Map<String, Value>, request: Request| call_among(tools, cx, name, args, &request);
            let (tool, is_read_only, input) = (spec.asked(), spec.read_only, spec.input);
            let asked = several::Asked { tool, is_read_only, input, cx, args: &args, request, own: &own };
            if let Some(answer) = asked.of_roots() {
                return answer;
            }
            let run = |question, args| run_whole(spec, cx, request, question, args);
            let answer = answer::answered(spec.asked(), &cx.session, &cx.config, args.clone(), request, run);
            asked.below(&answer).unwrap_or(answer)
        }
        None => answer::refused(&unknown_tool(tools, name), cx.config.max_tokens),
    }
}

fn unknown_tool(tools: &[ToolSpec], name: &str) -> Error {
    let shown: String = name.chars().take(100).collect();
    let near = nearest(&shown, tools.iter().map(|spec| spec.name), 3);
    match near.first() {
        Some(first) => {
            Error::not_found(format!("there is no tool `{shown}`; did you mean `{first}`?")).with("nearest", near)
        }
        None => Error::not_found(format!("there is no tool `{shown}`")),
    }
}

/// Runs the tool, once more if its index was damaged and could be repaired.
fn run_whole(
    spec: &ToolSpec,
    cx: &Context,
    request: &Request,
    question: Question,
    mut args: Map<String, Value>,
) -> Result<(Map<String, Value>, Notes), Error> {
    let given = args.clone();
    let shortened = words::shortened(spec.name, &mut args);
    let paths = words::absolute(&mut args, request.roots.iter().chain(&request.directory).next().map(PathBuf::as_path));
    let asked = |args: Map<String, Value>, words| {
        let mut call = Call::new(cx, request, question, (spec.name, given.clone()));
        call.caller.words = words;
        call.caller.paths.clone_from(&paths);
        if let Some(hint) = &shortened {
            call.note("hint", hint.clone());
        }
        if !request.unusable_roots.is_empty() {
            call.note(UNUSABLE_ROOTS, request.unusable_roots.clone());
        }
        let body = run(spec, &call, args);
        let (notes, from) = call.caller.into_parts();
        (body, notes, from)
    };
    // Numbers and later pages are of the whole.
    let is_of_all = question.count_only || question.offset > 0;
    let words = if is_of_all { Vec::new() } else { words::of_question(spec.name, &args) };
    let (mut body, mut notes, mut from) = asked(args.clone(), words);
    if notes.noted(EXCERPT).is_some() && says_no(spec, &body, &notes) {
        // A word that an excerpt lacks may be in the rest.
        (body, notes, from) = asked(args.clone(), Vec::new());
    }
    if let Some((sidecar, err)) = catalog::damage(&from, &body) {
        let caller = cx.caller(request);
        if catalog::rebuilt(&caller, sidecar, &err) {
            // Earlier notes describe the damaged index.
            let rebuilt = caller.taken_back("rebuilt").or_else(|| notes.taken_back("rebuilt"));
            (body, notes, from) = asked(args, Vec::new());
            if let Some(rebuilt) = rebuilt {
                notes.note("rebuilt", rebuilt);
            }
        }
    }
    if let Some((sidecar, err)) = catalog::damage(&from, &body) {
        return Err(catalog::store_error(err, sidecar));
    }
    if says_no(spec, &body, &notes)
        && let Some(doubt) = notes.doubt()
    {
        body = doubted(body, doubt);
    }
    let body = body.map_err(|err| match request.unusable_roots.is_empty() {
        true => err,
        false => err.with(UNUSABLE_ROOTS, request.unusable_roots.clone()),
    });
    Ok((body?, notes))
}

/// Marks an absence that newer files may refute.
fn doubted(body: Result<Map<String, Value>, Error>, doubt: &str) -> Result<Map<String, Value>, Error> {
    match body {
        Ok(mut body) => {
            // Searches give their verdict with what they looked through.
            if !body.contains_key("negative_evidence") {
                body.insert("verdict".to_owned(), doubt.into());
            }
            Ok(body)
        }
        Err(err) if err.code == Code::NotFound => Err(err.with("verdict", doubt)),
        Err(err) => Err(err),
    }
}

/// Keys of answers that say of parts of a question that there is no such thing; left out otherwise.
const ABSENCES: &[&str] = &["errors", "negative_evidence", "not_found", "unknown_words"];

/// Whether an answer is that something does not exist, or was not found.
fn says_no(spec: &ToolSpec, body: &Result<Map<String, Value>, Error>, notes: &Notes) -> bool {
    let Ok(body) = body else { return true };
    if notes.is_absent() {
        return true;
    }
    let is_said = |part: &Value| part.as_array().is_none_or(|all| !all.is_empty());
    if ABSENCES.iter().any(|key| body.get(*key).is_some_and(is_said)) {
        return true;
    }
    let list = notes.listed().or(spec.list).and_then(|list| body.get(list)).and_then(Value::as_array);
    !notes.was_found().unwrap_or_else(|| !list.is_some_and(Vec::is_empty))
}

/// Runs the tool; a panic becomes an error, so one bad call does not end the process.
fn run(spec: &ToolSpec, call: &Call<'_>, args: Map<String, Value>) -> Result<Map<String, Value>, Error> {
    let answer = catch_unwind(AssertUnwindSafe(|| (spec.run)(call, args))).unwrap_or_else(|panic| {
        let what = panic_text(&*panic);
        tracing::error!(tool = spec.name, "panicked: {what}");
        Err(Error::internal(format!("internal error in {}: {what}", spec.name)))
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
