//! Input from clients: messages, queries and patterns, up to the answers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::names::language;
use codelode_base::config::Config;
use codelode_mcp as mcp;
use codelode_query::syntax::SyntaxQuery;
use codelode_service::tools::{self, Context, Request};
use codelode_store::Snapshot;

/// An index of the samples of all languages.
struct Place {
    cx: Arc<Context>,
    snapshot: Snapshot,
    request: Request,
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("there is room for a folder").keep();
    let source = folder.join("source");
    fs::create_dir(&source).expect("the folder is ours");
    for path in samples(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/lang/src/languages")) {
        fs::copy(&path, source.join(path.file_name().expect("it was listed"))).expect("the folder is ours");
    }
    let config = Config { home: folder.join("index"), watcher: false, ..Config::default() };
    let cx = Arc::new(Context::new(config));
    let request = Request { directory: Some(source.clone()), ..Request::default() };
    let args = Map::from_iter([("path".to_owned(), json!(source))]);
    let answer = tools::call(&cx, "index_folder", args, &request);
    assert!(!answer.is_error, "{}", answer.text);
    std::env::set_current_dir(&source).expect("the folder is ours");
    let registry = codelode_store::Registry::new(&cx.config.home);
    let sidecar = registry.all().pop().expect("it was indexed");
    let snapshot = registry.store(&sidecar.store).snapshot(&sidecar.snapshot).expect("it was indexed");
    Place { cx, snapshot, request }
});

/// The samples of the languages.
fn samples(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = folders.flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let is_sample = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("sample.") && !name.ends_with(".tags")
    };
    files.map(|entry| entry.path()).filter(is_sample).collect()
}

/// Asks a tool; a fault of the program's own is none of its answers.
fn ask(tool: &str, args: Value) {
    let Value::Object(args) = args else { return };
    let answer = tools::call(&PLACE.cx, tool, args, &PLACE.request);
    assert!(!answer.is_error || answer.value["code"] != "internal", "{}", answer.text);
}

/// Arguments and tools that are not sent: they reach places outside of the folder, change indexes or ask servers.
const ELSEWHERE: &[&str] =
    &["\"/", "\"~", "\".", ":/", ":~", ":.", "\\", "index_", "invalidate", "_repositor", "list_repository"];

fn is_elsewhere(data: &[u8]) -> bool {
    ELSEWHERE.iter().any(|word| memchr::memmem::find(data, word.as_bytes()).is_some())
}

/// A search for symbols or text; the first byte chooses which, and how.
pub fn queries(data: &[u8]) {
    let Some((first, query)) = data.split_first() else { return };
    if is_elsewhere(query) {
        return;
    }
    let query = String::from_utf8_lossy(query);
    let (is_set, other) = (|bit: u8| first >> bit & 1 == 1, first >> 5);
    match first % 3 {
        0 => ask("search_symbols", json!({"query": query, "fuzzy": is_set(3), "include_source": is_set(4)})),
        1 => {
            let sizes = json!({"query": query, "is_regex": is_set(3), "whole_word": is_set(4), "context_lines": other});
            ask("search_text", sizes);
        }
        _ => {
            let (query, glob) = query.split_once('\n').unwrap_or((&query, "**/*.py"));
            match other {
                0 | 1 => ask("get_ranked_context", json!({"query": query})),
                2 => ask("find_references", json!({"identifier": query})),
                3 => ask("get_symbol_source", json!({"symbol_id": query})),
                4 => ask("find_dead_code", json!({"entry_point_patterns": [glob]})),
                5 => ask("search_text", json!({"query": query, "file_pattern": glob})),
                6 => ask("get_symbol_importance", json!({"scope": glob})),
                _ => ask("search_symbols", json!({"query": query, "file_pattern": glob})),
            }
        }
    }
}

/// A pattern of code or a query of trees, for the language that the first byte chooses.
pub fn patterns(data: &[u8]) {
    let Some((spec, pattern)) = language(data) else { return };
    let Ok(pattern) = std::str::from_utf8(pattern) else { return };
    let Ok(query) = SyntaxQuery::new(pattern, Some(spec.id)) else { return };
    let until = Instant::now() + Duration::from_secs(2);
    for file in PLACE.snapshot.files().filter(|file| query.reads(file)) {
        for hit in query.find(&file, &|| Instant::now() >= until).hits {
            assert!(file.content().get(hit.start..hit.end).is_some(), "{hit:?}");
        }
    }
}

/// Lines of a client in a session. After an even first byte the session is opened before them.
pub fn messages(data: &[u8]) {
    let Some((first, lines)) = data.split_first() else { return };
    if is_elsewhere(lines) {
        return;
    }
    let opening: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
"#;
    let opening = if first % 2 == 0 { opening } else { b"" };
    let answers = mcp::fuzzing::session(PLACE.cx.clone(), &[opening, lines].concat());
    for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let answer: Value = serde_json::from_slice(line).expect("an answer is JSON");
        assert!(!answer.to_string().contains("by a fault of its own"), "{answer}");
    }
}
