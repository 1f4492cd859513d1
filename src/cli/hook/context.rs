//! Context for an agent's search: the definitions and uses of a name, or the symbol that a phrase means.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Question;
use super::pattern::Asked;
use crate::cli::render::n_of;
use codelode_service::answer::tokens;
use codelode_service::catalog::locate;
use codelode_service::tools::{self, Code, Context, Envelope, Request};

/// The most tokens of a text.
const MOST_TOKENS: usize = 150;
/// The definitions shown. A name with more than [`COMMON`] is too common to say anything.
const DEFINITIONS: usize = 3;
const COMMON: usize = 8;
/// The definitions from which those in the searched files are selected.
const IN_SCOPE: usize = 40;
/// Words for the object itself, before a member.
const SELVES: [&str; 5] = ["", "self", "cls", "this", "super"];
/// The uses shown.
const USES: usize = 5;
/// The longest signature, in characters.
const SIGNATURE: usize = 120;
/// The longest wait for a changed file to be read again. After that, the index answers as it is.
const PATIENCE: Duration = Duration::from_millis(20);

/// Facts about a question. `None` if there are none, or if the agent has seen them in `shown`.
pub(super) fn of(cx: &Context, question: &Question, shown: &str) -> Option<String> {
    let index = locate::indexed_at(cx.indexes.registry(), &cx.config, &question.folder)?;
    // A search in files outside the index, such as build output or logs, is no question about the project's names.
    let are_plain = question.places.iter().all(|place| !is_pattern(place));
    let is_elsewhere = !question.places.is_empty()
        && are_plain
        && !locate::holds_any(cx.indexes.registry(), &cx.config, &index, &question.places);
    if is_elsewhere {
        return None;
    }
    let root = cx.config.path_map.to_local(&index.root);
    let scope = Scope::of(question, &root, shown);
    match &question.asked {
        // A list of files with the name in it is already the answer.
        Asked::Name(name) if question.is_for_files && holds(shown, name) => None,
        Asked::Name(name) => of_name(cx, &index.repo, name, &scope),
        Asked::Phrase(words) => of_phrase(cx, &index.repo, words, &scope),
    }
}

/// One line about the index of a folder, for the start of a session.
pub(super) fn of_session(cx: &Context, folder: &Path) -> Option<String> {
    let index = locate::indexed_at(cx.indexes.registry(), &cx.config, folder)?;
    let (files, symbols) = (index.file_count, index.symbol_count);
    let mut languages: Vec<(&String, &u64)> = index.languages.iter().collect();
    languages.sort_by_key(|(_, files)| std::cmp::Reverse(**files));
    let languages: Vec<&str> = languages.into_iter().take(3).map(|(language, _)| language.as_str()).collect();
    Some(format!(
        "codelode has indexed this folder ({files} files, {symbols} symbols; {}): `codelode search WORDS` finds symbols, `refs NAME` uses, `calls NAME` callers, \
         `outline FILE` and `get NAME` read.",
        languages.join(", ")
    ))
}

/// Whether a shell would expand a path before a program sees it.
fn is_pattern(place: &Path) -> bool {
    place.to_string_lossy().contains(['*', '?', '[', '{', '$', '~', '`'])
}

/// The places that a search was about: named ones and found ones.
struct Scope<'a> {
    /// The searched files and folders, relative to the root; empty for all.
    places: Vec<String>,
    /// Whether only files were searched, no folders.
    is_in_files: bool,
    /// The result that the agent has seen.
    shown: &'a str,
}

impl<'a> Scope<'a> {
    fn of(question: &Question, root: &Path, shown: &'a str) -> Self {
        let inside = |place: &PathBuf| {
            let real = place.canonicalize().ok()?;
            Some(real.strip_prefix(root).ok()?.to_str()?.to_owned())
        };
        let places: Option<Vec<String>> = question.places.iter().map(inside).collect();
        let places = places.filter(|places| places.iter().all(|place| !place.is_empty()));
        let is_in_files = !question.places.is_empty() && question.places.iter().all(|place| place.is_file());
        Self { places: places.unwrap_or_default(), is_in_files, shown }
    }

    /// The distance of a file from the search: 0 for a file that was searched and found, 3 for one that was neither.
    fn distance(&self, found: &Value) -> u8 {
        let Some(file) = found["file"].as_str() else { return 3 };
        let is_below = |place: &String| {
            file.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_searched = self.places.is_empty() || self.places.iter().any(is_below);
        let is_shown = self.shown.contains(file) || (is_searched && self.places.iter().any(|place| place == file));
        match (is_searched, is_shown) {
            (true, true) => 0,
            (true, false) => 1,
            (false, true) => 2,
            (false, false) => 3,
        }
    }
}

/// Whether a text contains a name, ignoring case.
fn holds(shown: &str, name: &str) -> bool {
    shown.to_lowercase().contains(&name.to_lowercase())
}

/// The definitions of a name; of a common name only those in the searched files. `None` if there are none or too many.
fn definitions(cx: &Context, repo: &str, name: &str, scope: Option<&Scope<'_>>) -> Option<Vec<Value>> {
    let scope = scope.filter(|scope| !scope.places.is_empty());
    let most = if scope.is_some() { IN_SCOPE } else { COMMON + 1 };
    let found = ask(cx, repo, "search_symbols", json!({"query": name, "max_results": most, "max_tokens": 8000}))?;
    let (owner, last) = name.rsplit_once('.').unwrap_or(("", name));
    let owner = owner.rsplit('.').next().filter(|owner| !SELVES.contains(owner)).unwrap_or_default();
    // `path.append` only means the `append` of `path`, which is a class or a file.
    let is_owned = |symbol: &Value| {
        let (file, id) = (symbol["file"].as_str().unwrap_or_default(), symbol["id"].as_str().unwrap_or_default());
        let is_in_file = Path::new(file).file_stem().is_some_and(|stem| stem == owner);
        owner.is_empty() || is_in_file || id.contains(&format!("{owner}.{last}#"))
    };
    let symbols = found["results"].as_array()?.iter().filter(|symbol| symbol["name"] == last && is_owned(symbol));
    let mut symbols: Vec<Value> = symbols.cloned().collect();
    if let (true, Some(scope)) = (symbols.len() > COMMON, scope) {
        symbols.retain(|symbol| scope.distance(symbol) < 2);
    }
    (1..=COMMON).contains(&symbols.len()).then_some(symbols)
}

fn of_name(cx: &Context, repo: &str, name: &str, scope: &Scope<'_>) -> Option<String> {
    let mut symbols = definitions(cx, repo, name, Some(scope))?;
    symbols.sort_by_key(|symbol| scope.distance(symbol));
    let known = uses_known(cx, repo, name).unwrap_or_default();
    let uses_of =
        |id: &Value| known["definitions"].as_array()?.iter().find(|found| found["id"] == *id)?["uses"].as_u64();
    let uses = uses(&known, scope);
    let is_near = |found: &&Value| scope.distance(found) < 3;
    // A constant elsewhere only shares the name. So does a method, if single files were searched.
    let is_meant = |symbol: &&Value| {
        let is_found_by_chance = symbol["kind"] == "constant" || (symbol["kind"] == "method" && scope.is_in_files);
        is_near(symbol) || !is_found_by_chance
    };
    if !symbols.iter().any(|symbol| is_meant(&symbol)) && !uses.iter().any(is_near) {
        return None;
    }
    let mut text = String::from("codelode: ");
    for (nth, symbol) in symbols.iter().take(DEFINITIONS).enumerate() {
        let uses = uses_of(&symbol["id"]).map_or_else(String::new, |uses| format!(" ({})", n_of(uses, "use", "uses")));
        let begin = if nth == 0 { "" } else { "\n" };
        text.push_str(&format!("{begin}{}: {}{uses}", place(symbol), signature(symbol)));
    }
    if symbols.len() > DEFINITIONS {
        text.push_str(&format!("\nand {} more of that name", symbols.len() - DEFINITIONS));
    }
    // Lines that the agent has already seen need no repetition.
    let is_shown = |found: &Value| scope.shown.contains(&place(found));
    if symbols.len() == 1 && is_shown(&symbols[0]) && uses.iter().all(|found| is_shown(found)) {
        return None;
    }
    for (nth, found) in uses.iter().enumerate() {
        let within = found["in"].as_str().map_or_else(String::new, |within| format!(" {within}"));
        let use_ = format!("{}{}{within}", if nth == 0 { "\nused in " } else { ", " }, place(found));
        if tokens::estimate(&text) + tokens::estimate(&use_) > MOST_TOKENS {
            break;
        }
        text.push_str(&use_);
    }
    (tokens::estimate(&text) <= MOST_TOKENS).then_some(text)
}

/// The best uses: first one per file, near the search before others, calls before imports, sources before tests.
fn uses<'k>(known: &'k Value, scope: &Scope<'_>) -> Vec<&'k Value> {
    let mut uses: Vec<&Value> = known["references"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|found| found["confidence"] == "resolved")
        .collect();
    let is_test = |found: &Value| found["file"].as_str().is_some_and(|file| file.contains("test"));
    uses.sort_by_cached_key(|found| (scope.distance(found), found["kind"] == "import", is_test(found)));
    let (mut files, mut symbols): (Vec<&Value>, Vec<(&Value, &Value)>) = (Vec::new(), Vec::new());
    let (mut first, mut further) = (Vec::new(), Vec::new());
    for found in uses {
        let key = (&found["file"], &found["in"]);
        if symbols.contains(&key) {
            continue;
        }
        symbols.push(key);
        let is_new = !files.contains(&key.0);
        files.push(key.0);
        if is_new { first.push(found) } else { further.push(found) }
    }
    first.into_iter().chain(further).take(USES).collect()
}

fn of_phrase(cx: &Context, repo: &str, words: &str, scope: &Scope<'_>) -> Option<String> {
    let found = ask(cx, repo, "search_symbols", json!({"query": words, "max_results": 2, "max_tokens": 2000}))?;
    let best = found["results"].as_array()?.first().filter(|_| found["confidence"] == "high")?;
    let text = format!("codelode: {words:?} may be {}: {}", place(best), signature(best));
    let is_new = !scope.shown.contains(&place(best)) && (scope.places.is_empty() || scope.distance(best) < 3);
    (is_new && tokens::estimate(&text) <= MOST_TOKENS).then_some(text)
}

/// `path:line`.
fn place(found: &Value) -> String {
    format!("{}:{}", found["file"].as_str().unwrap_or_default(), found["line"])
}

/// The signature on one line, or else the name.
fn signature(symbol: &Value) -> String {
    let text = symbol["signature"].as_str().or(symbol["name"].as_str()).unwrap_or_default();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SIGNATURE { line } else { line.chars().take(SIGNATURE).chain(['…']).collect() }
}

/// The uses of a name, if names are resolved already. Otherwise another process resolves them for the next search,
/// because that takes longer than an agent may wait.
fn uses_known(cx: &Context, repo: &str, name: &str) -> Option<Value> {
    let answer = call(cx, repo, "find_references", json!({"identifier": name, "max_tokens": 4000}));
    if answer.value["code"] == Code::Unavailable.as_str()
        && let Ok(program) = std::env::current_exe()
    {
        let mut command = Command::new(program);
        let folder = cx.config.home.parent().unwrap_or(&cx.config.home);
        command.args(["refs", name, "--quiet", "--repo", repo]).arg("--index-dir").arg(folder);
        // The process outlives the hook. A failure only means that uses stay missing.
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn();
    }
    (!answer.is_error && answer.found).then_some(answer.value)
}

/// Calls a tool; `None` on an error.
fn ask(cx: &Context, repo: &str, tool: &str, arguments: Value) -> Option<Value> {
    let answer = call(cx, repo, tool, arguments);
    (!answer.is_error && answer.found).then_some(answer.value)
}

fn call(cx: &Context, repo: &str, tool: &str, arguments: Value) -> Envelope {
    let mut given = Map::from_iter([("repo".to_owned(), repo.into())]);
    if let Value::Object(arguments) = arguments {
        given.extend(arguments);
    }
    let request = Request { patience: Some(PATIENCE), as_indexed: true, ..Request::default() };
    tools::call(cx, tool, given, &request)
}
