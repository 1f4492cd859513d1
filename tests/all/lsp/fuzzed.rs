//! Messages that no editor sends: the server answers each request once, never by a fault of its own, and goes on.
//!
//! `CODELODE_MESSAGES=1000000 cargo test --release --test all lsp::fuzzed` sends more of them.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use super::editor::{Editor, shown};

const PROJECT: &str = "--- a.py\nclass A:\n    def run(self): return 'é𝒳'\n\n\ndef make() -> A: return A()\n\n\nmake().run()\n--- b.ts\n\
export class B { go() { return 1; } }\nnew B().go();\n";

const METHODS: [&str; 30] = [
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/typeDefinition",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/hover",
    "textDocument/documentSymbol",
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareTypeHierarchy",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/semanticTokens/full",
    "textDocument/didOpen",
    "textDocument/didChange",
    "textDocument/didClose",
    "textDocument/didSave",
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "typeHierarchy/supertypes",
    "typeHierarchy/subtypes",
    "workspace/symbol",
    "workspace/didChangeConfiguration",
    "$/cancelRequest",
    "$/setTrace",
    "shut down",
    "initialized",
    "",
];

/// Numbers at the edges of what positions and ids can be.
fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0..12_i64).prop_map(Value::from),
        1 => prop::sample::select(vec![-1, i64::from(i32::MAX), i64::from(u32::MAX), i64::MAX, i64::MIN]).prop_map(Value::from),
        1 => any::<f64>().prop_map(|number| json!(number)),
    ]
}

/// A value of any shape.
fn anything() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number(), ".{0,20}".prop_map(Value::from)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-zA-Z]{1,12}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Parameters with everything that some request needs, parts of which are wrong or missing.
fn params(uris: Vec<String>) -> impl Strategy<Value = Value> {
    let uri = prop_oneof![8 => prop::sample::select(uris), 1 => ".{0,20}".prop_map(String::from)];
    let position = || (number(), number()).prop_map(|(line, character)| json!({"line": line, "character": character}));
    let word = prop_oneof![Just("A".to_owned()), Just("run".to_owned()), "\\PC{0,8}".prop_map(String::from)];
    let range = (position(), position()).prop_map(|(start, end)| json!({"start": start, "end": end}));
    let parts = (uri, position(), range, word, number(), anything(), any::<u16>());
    parts.prop_map(|(uri, position, range, word, number, anything, wrong)| {
        let item = json!({"name": word, "kind": 5, "uri": uri, "range": range, "selectionRange": range,
            "data": format!("a.py::{word}#class")});
        let mut params = json!({
            "textDocument": {"uri": uri, "version": number, "text": word, "languageId": "x"},
            "position": position, "positions": [position], "context": {"includeDeclaration": true},
            "contentChanges": [{"range": range, "text": word}], "newName": word, "query": word, "item": item,
            "id": number, "capabilities": {},
        });
        let keys: Vec<String> = params.as_object().expect("it is one").keys().cloned().collect();
        match wrong % 8 {
            0 => params = anything,
            1 => params[&keys[usize::from(wrong / 8) % keys.len()]] = anything,
            2 => drop(params.as_object_mut().expect("it is one").remove(&keys[usize::from(wrong / 8) % keys.len()])),
            _ => {}
        }
        params
    })
}

/// A message, or bytes that are none.
#[derive(Clone, Debug)]
enum Sent {
    Message(&'static str, Value),
    Bytes(Vec<u8>),
}

fn sent(uris: Vec<String>) -> impl Strategy<Value = Sent> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        "(Content-Length: ?-?[0-9]{0,3}(\r\n){0,2}){1,3}".prop_map(String::into_bytes),
        anything().prop_map(|value| format!("Content-Length: {}\r\n\r\n{value}", value.to_string().len()).into_bytes()),
    ];
    prop_oneof![
        24 => (prop::sample::select(&METHODS[..]), params(uris)).prop_map(|(method, params)| Sent::Message(method, params)),
        1 => bytes.prop_map(Sent::Bytes),
    ]
}

#[test]
fn whatever_is_sent_requests_are_answered_once_and_without_a_fault() {
    const FAULT: i64 = -32603;
    let mut editor = Editor::open(PROJECT);
    assert_eq!(shown(&editor.at("textDocument/definition", "a.py", "run", 1)), ["a.py:2:9"]);
    let uris =
        vec![editor.uri("a.py"), editor.uri("b.ts"), editor.uri(""), editor.uri("none.py"), "untitled:1".to_owned()];
    let messages = std::env::var("CODELODE_MESSAGES").map_or(10_000, |messages| messages.parse().expect("a number"));
    let mut runner = TestRunner::new_with_rng(
        proptest::test_runner::Config::default(),
        TestRng::deterministic_rng(RngAlgorithm::ChaCha),
    );
    let sent = sent(uris);
    let mut waiting: HashSet<i64> = HashSet::new();
    for number in 0..messages {
        match sent.new_tree(&mut runner).expect("nothing is filtered").current() {
            Sent::Message(method, params) if method.contains("/did") || method.starts_with(['$', 'i']) => {
                editor.tell(method, params);
            }
            Sent::Message(method, params) => drop(waiting.insert(editor.begin_asking(method, params))),
            Sent::Bytes(bytes) => {
                editor.send(&bytes);
                // The next bytes are the rest of a body that these announced, up to a thousand of them.
                editor.send(&[b'\n'; 1_000]);
            }
        }
        // Some are let pile up.
        while number % 50 == 49 && waiting.len() > 10 {
            let message = editor.next();
            assert_ne!(message["error"]["code"], FAULT, "{message}");
            if let Some(id) = message["id"].as_i64().filter(|_| message.get("method").is_none()) {
                assert!(waiting.remove(&id), "answered twice: {message}");
            }
        }
    }
    // The documents are as on the disk again, and the server is as well as before.
    for path in ["a.py", "b.ts"] {
        editor.tell("textDocument/didClose", json!({"textDocument": {"uri": editor.uri(path)}}));
    }
    assert_eq!(shown(&editor.at("textDocument/definition", "a.py", "run", 1)), ["a.py:2:9"]);
    assert_eq!(editor.close(), Some(0));
}
