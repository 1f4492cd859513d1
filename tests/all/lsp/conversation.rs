//! The order of a conversation, and bad input: an error each, and the server goes on.

use std::time::Instant;

use serde_json::{Value, json};

use super::editor::{Editor, one, shown, uri, usual};
use crate::client::PATIENCE;

const PROJECT: &str = "--- a.py\ndef f(): pass\n\nf()\n";

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const NOT_INITIALIZED: i64 = -32002;
const CANCELLED: i64 = -32800;

#[test]
fn requests_out_of_order_are_refused() {
    let mut editor = Editor::silent(PROJECT);
    assert_eq!(editor.refused("textDocument/hover", json!({})), NOT_INITIALIZED);
    assert_eq!(editor.refused("shutdown", Value::Null), NOT_INITIALIZED);
    assert_eq!(editor.refused("initialize", json!({"capabilities": 7})), INVALID_PARAMS);
    editor.tell("textDocument/didOpen", json!({}));
    editor.begin(usual(), Value::Null);
    assert_eq!(editor.refused("initialize", json!({"capabilities": {}})), INVALID_REQUEST);
    assert_eq!(shown(&editor.at("textDocument/definition", "a.py", "f", 1)), ["a.py:1:5"]);
    editor.ask("shutdown", Value::Null);
    assert_eq!(editor.refused("textDocument/hover", json!({})), INVALID_REQUEST);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn leaving_without_a_word_is_an_error() {
    let mut editor = Editor::open(PROJECT);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.leave(), Some(2));
    assert_eq!(Editor::silent(PROJECT).leave(), Some(2));
}

#[test]
fn unfit_requests_have_the_error_they_should_and_the_next_is_answered() {
    let mut editor = Editor::open(PROJECT);
    let document = json!({"uri": editor.uri("a.py")});
    let far = json!({"line": 4_000_000_000_u32, "character": 4_000_000_000_u32});
    assert_eq!(editor.refused("textDocument/telepathy", json!({})), METHOD_NOT_FOUND);
    assert_eq!(editor.refused("textDocument/hover", Value::Null), INVALID_PARAMS);
    let negative = json!({"textDocument": document, "position": {"line": -1, "character": 0}});
    assert_eq!(editor.refused("textDocument/hover", negative), INVALID_PARAMS);
    assert_eq!(editor.ask("textDocument/hover", json!({"textDocument": document, "position": far})), Value::Null);
    let here = json!({"line": 0, "character": 4});
    for elsewhere in ["file:///etc/passwd", "untitled:Untitled-1", "file:///nowhere/at%20all.py", "file:///a%00b", "x:"]
    {
        let params = json!({"textDocument": {"uri": elsewhere}, "position": here});
        assert_eq!(editor.ask("textDocument/definition", params), Value::Null, "{elsewhere}");
    }
    let params = json!({"textDocument": {"uri": "no address at all"}, "position": here});
    assert_eq!(editor.refused("textDocument/definition", params), INVALID_PARAMS);
    assert_eq!(shown(&editor.at("textDocument/definition", "a.py", "f", 1)), ["a.py:1:5"]);
}

#[test]
fn rubbish_on_the_stream_is_an_error_and_the_server_goes_on() {
    let mut editor = Editor::open(PROJECT);
    let mut code = |bytes: &[u8]| {
        editor.send(bytes);
        loop {
            let message = editor.next();
            if message.get("method").is_none() {
                assert_eq!(message["id"], Value::Null);
                return message["error"]["code"].as_i64();
            }
        }
    };
    assert_eq!(code(b"Content-Length: 1\r\n\r\n{"), Some(PARSE_ERROR));
    assert_eq!(code(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), Some(PARSE_ERROR));
    assert_eq!(code(b"Content-Length: 2\r\n\r\n[]"), Some(INVALID_REQUEST));
    assert_eq!(code(&[b"Content-Length: 4\r\n\r\n".as_slice(), &[0xff; 4]].concat()), Some(PARSE_ERROR));
    let deep = "[".repeat(100_000);
    assert_eq!(code(format!("Content-Length: {}\r\n\r\n{deep}", deep.len()).as_bytes()), Some(PARSE_ERROR));
    assert_eq!(shown(&editor.at("textDocument/definition", "a.py", "f", 1)), ["a.py:1:5"]);
}

#[test]
fn a_request_can_be_cancelled_and_has_one_answer() {
    let mut editor = Editor::open(PROJECT);
    let ids: Vec<i64> = (0..50).map(|_| editor.begin_asking("workspace/symbol", json!({"query": "f"}))).collect();
    for id in &ids {
        editor.tell("$/cancelRequest", json!({"id": id}));
    }
    editor.tell("$/cancelRequest", json!({"id": "another"}));
    let mut answered = Vec::new();
    while answered.len() < ids.len() {
        let message = editor.next();
        if message.get("method").is_none() {
            let code = message["error"]["code"].as_i64();
            assert!(code.is_none() || code == Some(CANCELLED), "{message}");
            answered.extend(message["id"].as_i64());
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, ids);
}

/// A script sends all at once and reads the answers afterwards.
#[test]
fn what_was_asked_before_shutdown_is_answered() {
    let mut editor = Editor::silent(PROJECT);
    let root = uri(&editor.root());
    let folders = json!([{"uri": root, "name": "project"}]);
    let params = json!({"processId": null, "workspaceFolders": folders, "capabilities": usual()});
    editor.begin_asking("initialize", params);
    editor.tell("initialized", json!({}));
    let document = json!({"uri": editor.uri("a.py")});
    let at = json!({"textDocument": document, "position": {"line": 2, "character": 0}});
    let asked: Vec<i64> = (0..5).map(|_| editor.begin_asking("textDocument/definition", at.clone())).collect();
    let down = editor.begin_asking("shutdown", Value::Null);
    editor.tell("exit", Value::Null);
    let mut answered = Vec::new();
    while !answered.contains(&down) {
        let message = editor.next();
        if let (Some(id), None) = (message["id"].as_i64(), message.get("method")) {
            assert!(message.get("error").is_none(), "{message}");
            assert!(!asked.contains(&id) || shown(&message["result"]) == ["a.py:1:5"], "{message}");
            answered.push(id);
        }
    }
    assert!(asked.iter().all(|id| answered.contains(id)), "{answered:?}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn the_first_index_is_made_with_progress() {
    let mut editor = Editor::open(PROJECT);
    editor.at("textDocument/definition", "a.py", "f", 1);
    let kinds: Vec<&str> =
        editor.early.iter().filter_map(|message| message["params"]["value"]["kind"].as_str()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"begin"), Some(&"end")));
    let mut silent = Editor::with(PROJECT, json!({}), Value::Null);
    silent.at("textDocument/definition", "a.py", "f", 1);
    assert!(silent.early.is_empty(), "{:?}", silent.early);
}

#[test]
fn several_folders_are_one_workspace() {
    let mut editor = Editor::open(PROJECT);
    let other = editor.folder.path().canonicalize().expect("it is there").join("other");
    super::editor::write("--- b.py\ndef other_thing(): pass\n", &other);
    let params = json!({"textDocument": {"uri": uri(&other.join("b.py"))}, "position": {"line": 0, "character": 5}});
    assert_eq!(editor.ask("textDocument/hover", params.clone()), Value::Null);
    let folder = json!({"uri": uri(&other), "name": "other"});
    editor.tell("workspace/didChangeWorkspaceFolders", json!({"event": {"added": [folder], "removed": []}}));
    assert_ne!(editor.ask("textDocument/hover", params.clone()), Value::Null);
    let found = editor.ask("workspace/symbol", json!({"query": "other_thing"}));
    assert!(one(&found[0]).ends_with("other/b.py:1:5"));
    editor.tell("workspace/didChangeWorkspaceFolders", json!({"event": {"added": [], "removed": [folder]}}));
    assert_eq!(editor.ask("textDocument/hover", params), Value::Null);
}

#[test]
fn a_saved_change_is_in_the_next_answer() {
    let mut editor = Editor::open(PROJECT);
    assert_eq!(shown(&editor.at("textDocument/references", "a.py", "f()", 0)), ["a.py:3:1"]);
    std::fs::write(editor.root().join("a.py"), "# more\ndef f(): pass\n\nf(); f()\n").expect("it is ours");
    // On a busy machine the index answers as it is when reading the file takes too long.
    let begun = Instant::now();
    loop {
        let found = shown(&editor.at("textDocument/references", "a.py", "f()", 0));
        if found == ["a.py:4:1", "a.py:4:6"] {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{found:?}");
    }
}

/// Agents wait for errors after each edit, by default for seconds.
#[test]
fn clients_that_show_errors_are_told_at_once_that_there_are_none() {
    let mut capabilities = usual();
    capabilities["textDocument"]["publishDiagnostics"] = json!({});
    let mut editor = Editor::with(PROJECT, capabilities, Value::Null);
    let uri = editor.uri("a.py");
    editor.tell(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": uri, "version": 3, "text": "a", "languageId": "x"}}),
    );
    let change = json!({"textDocument": {"uri": uri, "version": 4}, "contentChanges": [{"text": "b"}]});
    editor.tell("textDocument/didChange", change);
    for version in [3, 4] {
        let said = loop {
            let message = editor.next();
            if message["method"] == "textDocument/publishDiagnostics" {
                break message;
            }
        };
        assert_eq!(said["params"], json!({"uri": uri, "version": version, "diagnostics": []}));
    }
    assert_eq!(editor.close(), Some(0));
}
