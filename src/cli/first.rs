//! First question about a repository: its index is begun, and a name from it is looked for.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::progress::Bar;
use super::render::n_of;
use super::{Global, index_later, request, visible};
use codelode_base::config::Config;
use codelode_lang::languages;
use codelode_service::catalog::indexes::shell_word;
use codelode_service::catalog::locate;
use codelode_service::tools::{self, Context, Request};

/// Central symbols to try.
const TRIED: usize = 10;
/// Uses to show.
const SHOWN: usize = 3;

/// Question that can be asked now.
pub(super) struct FirstQuestion {
    /// Command to type.
    pub(super) command: String,
    /// Beginning of its answer.
    pub(super) answer: String,
}

/// Asks a first question about a repository. Its index is made for that, of a large repository in the background. `None` without
/// an answer.
pub(super) fn asked(root: &Path, config: Config, global: &Global) -> Option<FirstQuestion> {
    if locate::is_odd(root) {
        return None;
    }
    let cx = Context::new(config);
    let bar = Arc::new(Mutex::new(Bar::new(global.quiet)));
    let request = Request { directory: Some(root.to_owned()), ..request(&bar) };
    let question = match name_in_large(&cx, &request, root) {
        Some(name) => found(&cx, &request, &name),
        None => used(&cx, &request),
    };
    bar.lock().expect("drawing does not panic").finish();
    for root in cx.unfinished() {
        index_later(&cx, &root, global);
    }
    cx.end();
    question.map(|mut question| {
        visible::uncolour_text(&mut question.command);
        visible::uncolour_text(&mut question.answer);
        question
    })
}

/// The answer of a tool, or its error.
fn call(cx: &Context, request: &Request, tool: &str, arguments: Value) -> Result<Value, Value> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let envelope = tools::call(cx, tool, arguments, request);
    if envelope.is_error { Err(envelope.value) } else { Ok(envelope.value) }
}

/// The command for an index that is only made on request, with the reason.
fn on_request(error: &Value) -> Option<FirstQuestion> {
    let why = error.pointer("/details/why")?.as_str()?;
    Some(FirstQuestion { command: "codelode index".to_owned(), answer: why.to_owned() })
}

/// The name of a source file in a large repository without an index, which answers a search before its index is complete.
fn name_in_large(cx: &Context, request: &Request, root: &Path) -> Option<String> {
    let (_, files) = locate::unindexed(&cx.caller(request), root).ok()??;
    let has_symbols = |path: &str| languages::of_path(path).is_some_and(|language| language.relating.is_some());
    let source = files.iter().filter(|file| has_symbols(&file.path)).max_by_key(|file| file.size)?;
    Some(Path::new(&source.path).file_stem()?.to_str()?.to_owned())
}

/// The search for a name.
fn found(cx: &Context, request: &Request, name: &str) -> Option<FirstQuestion> {
    let answer = call(cx, request, "search_symbols", json!({"query": name, "max_results": 1})).ok()?;
    let hit = answer["results"].get(0)?;
    let (file, signature) = (hit["file"].as_str()?, hit["signature"].as_str()?);
    Some(FirstQuestion {
        command: format!("codelode search {}", shell_word(name)),
        answer: format!("{file}:{} {signature}", hit["line"]),
    })
}

/// Uses of the most central symbol whose name is its alone.
fn used(cx: &Context, request: &Request) -> Option<FirstQuestion> {
    let central = match call(cx, request, "get_symbol_importance", json!({"top_n": TRIED})) {
        Ok(central) => central,
        Err(error) => return on_request(&error),
    };
    let ids = central["ranked_symbols"].as_array()?.iter().filter_map(|symbol| symbol["symbol_id"].as_str());
    let names = ids.filter_map(|id| id.rsplit_once("::")?.1.split('#').next());
    names.filter(|name| !name.is_empty()).find_map(|name| uses_of(cx, request, name))
}

/// Uses of a name, if it has one definition.
fn uses_of(cx: &Context, request: &Request, name: &str) -> Option<FirstQuestion> {
    let answer = call(cx, request, "find_references", json!({"identifier": name})).ok()?;
    let [definition] = answer["definitions"].as_array()?.as_slice() else { return None };
    let uses = definition["uses"].as_u64().filter(|uses| *uses > 0)?;
    let places = answer["references"].as_array()?.iter().take(SHOWN).map(place_of).collect::<Option<Vec<_>>>()?;
    Some(FirstQuestion {
        command: format!("codelode refs {}", shell_word(name)),
        answer: format!("{}: {}", n_of(uses, "use", "uses"), places.join(", ")),
    })
}

/// The place of a use, with the definition that it is in.
fn place_of(reference: &Value) -> Option<String> {
    let place = format!("{}:{}", reference["file"].as_str()?, reference["line"].as_u64()?);
    Some(match reference["in"].as_str() {
        Some(around) => format!("{place} in {around}"),
        None => place,
    })
}
