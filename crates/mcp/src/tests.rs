//! Sessions over a pipe in memory: messages of a client, and the answers.

mod found;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::surface;
use codelode_base::config::{Config, Surface};
use codelode_service::answer::SHARED;
use codelode_service::tools::{Context, TOOLS};

/// A client with a session of its own.
struct Client {
    input: WriteHalf<DuplexStream>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    session: JoinHandle<()>,
    _home: tempfile::TempDir,
}

impl Client {
    /// Starts a session without any message.
    fn start() -> Self {
        let home = tempfile::tempdir().expect("there is room for a folder");
        let cx = Arc::new(Context::new(Config { home: home.path().to_owned(), ..Config::default() }));
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let session = tokio::spawn(super::session(cx, input, output));
        let (output, input) = tokio::io::split(ours);
        Self { input, output: BufReader::new(output).lines(), session, _home: home }
    }

    /// Starts a session and opens it.
    async fn open(capabilities: Value) -> Self {
        let mut client = Self::start();
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
        client
            .send(&json!({"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": params}).to_string())
            .await;
        let answer = client.receive().await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "codelode");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client
    }

    /// Sends a line.
    async fn send(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes()).await;
    }

    /// Sends bytes.
    async fn bytes(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).await.expect("the server reads");
    }

    /// The next message.
    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(20), self.output.next_line()).await;
        let line = line.expect("an answer comes in time").expect("it is text").expect("the session goes on");
        serde_json::from_str(&line).expect("it is JSON")
    }

    /// Sends a request, and waits for the answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string()).await;
        loop {
            let message = self.receive().await;
            if message["id"] == 7 && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Closes the client's end; the session must end.
    async fn close(self) {
        drop((self.input, self.output));
        tokio::time::timeout(Duration::from_secs(20), self.session)
            .await
            .expect("it ends in time")
            .expect("it does not panic");
    }
}

/// Lines of invalid input, with the code and id of the answer.
const RUBBISH: &[(&str, i64, &str)] = &[
    ("rubbish", -32700, "null"),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, "null"),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}", -32700, "null"),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"n\":1e999}}", -32700, "1"),
    ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\\ud800\"}}", -32700, "1"),
    ("\u{0}", -32700, "null"),
    ("[]", -32600, "null"),
    ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, "null"),
    ("null", -32600, "null"),
    ("42", -32600, "null"),
    ("\"ping\"", -32600, "null"),
    ("{}", -32600, "null"),
    ("{\"id\":3,\"method\":\"ping\"}", -32600, "3"),
    ("{\"jsonrpc\":\"1.0\",\"id\":\"a\",\"method\":\"ping\"}", -32600, "\"a\""),
    ("{\"jsonrpc\":\"2.0\",\"id\":3}", -32600, "3"),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":5}", -32600, "3"),
    ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, "null"),
    ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, "1.5"),
    ("{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"ping\"}", -32600, "1e+20"),
    ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600, "null"),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"result\":{}}", -32600, "3"),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/cal\"}", -32601, "3"),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"\"}", -32601, "3"),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\"}", -32602, "3"),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{}}", -32602, "3"),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":5}}", -32602, "3"),
    (
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"x\",\"arguments\":[1]}}",
        -32602,
        "3",
    ),
    ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"initialize\",\"params\":{}}", -32602, "3"),
];

#[tokio::test]
async fn every_rubbish_line_is_answered_and_the_session_lives_on() {
    let mut client = Client::open(json!({})).await;
    for (line, code, id) in RUBBISH {
        client.send(line).await;
        let answer = client.receive().await;
        assert_eq!(answer["error"]["code"], *code, "{line}: {answer}");
        assert_eq!(answer["id"].to_string(), *id, "{line}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{line}: {answer}");
    }
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    client.close().await;
}

#[tokio::test]
async fn what_wants_no_answer_gets_none() {
    let mut client = Client::open(json!({})).await;
    let silent = [
        "",
        "  \r",
        r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#,
        r#"{"jsonrpc":"2.0","id":55,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":55,"error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":55,"error":"no"}"#,
    ];
    for line in silent {
        client.send(line).await;
    }
    client.send("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r").await;
    assert_eq!(client.receive().await, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    client.close().await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let mut client = Client::open(json!({})).await;
    client.bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n").await;
    assert_eq!(client.receive().await["error"]["code"], -32700);
    client.bytes(&[b"[".repeat(1_000_000), b"\n".to_vec()].concat()).await;
    assert_eq!(client.receive().await["error"]["code"], -32600);
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    client.close().await;
}

#[tokio::test]
async fn a_line_without_end_is_refused_before_it_ends() {
    let mut client = Client::open(json!({})).await;
    let chunk = vec![b'x'; 1024 * 1024];
    for _ in 0..17 {
        client.bytes(&chunk).await;
    }
    assert_eq!(client.receive().await["error"]["code"], -32600);
    for _ in 0..8 {
        client.bytes(&chunk).await;
    }
    client.bytes(b"\n").await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    client.close().await;
}

#[tokio::test]
async fn nothing_but_ping_is_answered_before_the_session_is_open() {
    let mut client = Client::start();
    assert_eq!(client.ask("tools/list", json!({})).await["error"]["code"], -32600);
    assert_eq!(client.ask("tools/call", json!({"name": "get_session_stats"})).await["error"]["code"], -32600);
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    let params =
        json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let answer = client.ask("initialize", params).await;
    assert_eq!(answer["result"]["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(client.ask("tools/list", json!({})).await["result"]["tools"].is_array());
    client.close().await;
}

#[tokio::test]
async fn the_newest_revision_needs_no_initialize() {
    let mut client = Client::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = client.ask("tools/list", json!({"_meta": meta})).await;
    assert!(answer["result"]["tools"].is_array(), "{answer}");
    let answer = client.ask("tools/call", json!({"name": "get_session_stats", "arguments": {}, "_meta": meta})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(client.ask("tools/list", json!({})).await["error"]["code"], -32600);
    client.close().await;
}

#[tokio::test]
async fn a_failing_tool_is_a_result() {
    let mut client = Client::open(json!({})).await;
    for params in [json!({"name": "no_such_tool"}), json!({"name": "get_session_stats", "arguments": {"no_such": 1}})] {
        let answer = client.ask("tools/call", params).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().expect("one text");
        let error: Value = serde_json::from_str(text).expect("it is JSON");
        assert!(error["error"].is_string() && error["code"].is_string(), "{error}");
        assert!(answer["result"].get("structuredContent").is_none());
    }
    client.close().await;
}

#[tokio::test]
async fn roots_are_asked_for_once_and_again_when_they_change() {
    let mut client = Client::open(json!({"roots": {"listChanged": true}})).await;
    for _ in 0..2 {
        let question = client.receive().await;
        assert_eq!(question["method"], "roots/list");
        let answer = json!({"roots": [{"uri": "file:///a%20b"}]});
        client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string()).await;
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#).await;
    }
    client.close().await;
}

#[tokio::test]
async fn a_root_that_cannot_be_used_is_named_once() {
    let mut client = Client::open(json!({"roots": {}})).await;
    let question = client.receive().await;
    let here = std::env::temp_dir();
    let roots: Vec<Value> =
        ["https://example.org/a", &here.to_string_lossy()].iter().map(|uri| json!({"uri": uri})).collect();
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}).to_string()).await;
    let named = |answer: &Value| {
        let text = answer["result"]["content"][0]["text"].as_str().expect("one text");
        let answer: Value = serde_json::from_str(text).expect("it is JSON");
        [answer["_meta"]["unusable_roots"].clone(), answer["details"]["unusable_roots"].clone()]
    };
    let call = json!({"name": "get_session_stats"});
    let [first, _] = named(&client.ask("tools/call", call.clone()).await);
    assert_eq!(first, json!(["https://example.org/a: no folder of this machine"]));
    assert_eq!(named(&client.ask("tools/call", call).await), [Value::Null, Value::Null]);
    // An error names it as well.
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#).await;
    let question = client.receive().await;
    let roots = json!({"roots": [{"uri": "file://elsewhere/a"}]});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": roots}).to_string()).await;
    let failing = json!({"name": "get_file_outline", "arguments": {"repo": "local/gone", "file_path": "a.py"}});
    let [_, in_error] = named(&client.ask("tools/call", failing).await);
    assert_eq!(in_error, json!(["file://elsewhere/a: no folder of this machine"]));
    client.close().await;
}

#[tokio::test]
async fn a_client_that_keeps_its_roots_to_itself_is_served() {
    let mut client = Client::open(json!({"roots": {}})).await;
    let answer = client.ask("tools/call", json!({"name": "get_session_stats"})).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    client.close().await;
}

#[tokio::test]
async fn calls_at_the_same_time_are_all_answered() {
    let mut client = Client::open(json!({})).await;
    for id in 0..200 {
        let params = json!({"name": "get_session_stats", "arguments": {}});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()).await;
    }
    let mut ids = Vec::new();
    for _ in 0..200 {
        ids.push(client.receive().await["id"].as_u64().expect("our ids are numbers"));
    }
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..200));
    client.close().await;
}

#[tokio::test]
async fn more_tools_lists_describes_calls_and_widens() {
    let mut client = Client::open(json!({})).await;
    let more = |arguments: Value| json!({"name": "more_tools", "arguments": arguments});
    let text = |answer: &Value| answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();

    for arguments in [json!({}), json!({"max_tokens": 5_000})] {
        let answer = client.ask("tools/call", more(arguments)).await;
        assert!(text(&answer).contains("get_session_stats"), "{answer}");
    }
    let answer = client.ask("tools/call", more(json!({"tool": "get_session_stats"}))).await;
    assert!(text(&answer).contains("\"arguments\":{\"type\":\"object\""), "{answer}");
    for arguments in [
        json!({"tool": "get_session_stats", "arguments": {}}),
        json!({"tool": "get_session_stats", "arguments": "{}"}),
        json!({"tool": "get_session_stats", "max_tokens": 5000}),
    ] {
        let answer = client.ask("tools/call", more(arguments)).await;
        assert!(text(&answer).contains("timing_ms"), "{answer}");
        assert_eq!(answer["result"]["isError"], false);
    }
    for arguments in [
        json!({"tool": "no_such_tool"}),
        json!({"tool": 5}),
        json!({"tool": "more_tools"}),
        json!({"arguments": {}}),
        json!({"tool": "get_session_stats", "arguments": [1]}),
        json!({"surface": "wide"}),
        json!({"tool": "invalidate_cache", "arguments": {"repo": "local/gone"}}),
    ] {
        let answer = client.ask("tools/call", more(arguments)).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }

    let names = |answer: &Value| answer["result"]["tools"].as_array().expect("a list").len();
    let before = names(&client.ask("tools/list", json!({})).await);
    client
        .send(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": more(json!({"surface": "full"}))})
                .to_string(),
        )
        .await;
    let first = client.receive().await;
    let second = client.receive().await;
    assert!([&first, &second].iter().any(|message| message["method"] == "notifications/tools/list_changed"));
    let after = names(&client.ask("tools/list", json!({})).await);
    assert!(before <= after, "{before} {after}");
    assert_eq!(after, TOOLS.iter().filter(|spec| spec.shown.is_some()).count());
    client.close().await;
}

#[tokio::test]
async fn the_last_line_counts_without_its_end() {
    let mut client = Client::open(json!({})).await;
    client.bytes(br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    client.input.shutdown().await.expect("it is open");
    assert!(client.receive().await["result"]["tools"].is_array());
    client.close().await;
}

/// The cost of a surface in tokens, before any call.
fn tokens(text: &str) -> usize {
    tiktoken_rs::cl100k_base().expect("the vocabulary is built in").encode_ordinary(text).len()
}

#[test]
fn surfaces_keep_their_budgets() {
    let languages = ["python", "typescript", "javascript", "rust"].map(|language| (language.to_owned(), 1_234));
    for (surface, budget) in [(Surface::Lean, 1_600), (Surface::Core, 2_500), (Surface::Full, 6_000)] {
        let instructions = surface::instructions(&surface, Some(&languages));
        let tools = json!({"tools": surface::listing(&surface)});
        let (read_first, all) = (tokens(&instructions), tokens(&format!("{instructions}{tools}")));
        eprintln!("{surface:?}: {read_first} + {} of {budget} tokens", all - read_first);
        assert!(read_first <= 150, "{instructions}");
        assert!(all <= budget, "{surface:?}: {all} tokens, {budget} allowed");
    }
}

#[test]
fn tools_say_what_clients_need() {
    // Answers may be long on every surface.
    let (budget, all) = (&["max_tokens", "cursor"][..], &SHARED[..]);
    for (surface, shared) in [(Surface::Lean, budget), (Surface::Core, all), (Surface::Full, all)] {
        for tool in surface::listing(&surface) {
            let name = &tool.name;
            assert!(tool.description.as_deref().is_some_and(|text| text.len() > 10), "{name} has no description");
            let hints = tool.annotations.expect("every tool has hints");
            assert!(hints.read_only_hint.is_some() && hints.idempotent_hint == Some(true));
            // Only destructive tools ask a person first.
            assert_eq!(hints.destructive_hint, Some(*name == "invalidate_cache"), "{name}");
            assert_eq!(tool.input_schema.get("type"), Some(&json!("object")), "{name}");
            let properties =
                tool.input_schema.get("properties").and_then(Value::as_object).expect("every tool has them");
            let shown: Vec<&str> = SHARED.into_iter().filter(|shared| properties.contains_key(*shared)).collect();
            assert_eq!(shown, shared, "{name} on {surface:?}");
        }
    }
}

#[test]
fn the_lean_list_shows_what_no_grep_has() {
    let names: Vec<_> = surface::listing(&Surface::Lean).into_iter().map(|tool| tool.name).collect();
    let expected = [
        "search_symbols",
        "search_text",
        "get_symbol_source",
        "get_file_outline",
        "find_references",
        "get_call_hierarchy",
        "get_ranked_context",
        "get_changed_symbols",
        "more_tools",
    ];
    assert_eq!(names, expected);
    let instructions = surface::instructions(&Surface::Lean, Some(&[("go".to_owned(), 12)]));
    for name in expected {
        assert!(instructions.contains(name), "{name} answers no question in {instructions}");
    }
    assert!(instructions.contains("Files here: go 12."), "{instructions}");
    // Instructions name no hidden tool.
    let few = surface::instructions(&Surface::Named(vec!["search_text".to_owned()]), Some(&[]));
    assert!(few.contains("search_text") && !few.contains("search_symbols") && !few.contains("more_tools"), "{few}");
}

#[test]
fn the_tools_that_answer_most_stay_loaded() {
    let expected =
        ["search_symbols", "get_symbol_source", "find_references", "get_call_hierarchy", "get_ranked_context"];
    for surface in [Surface::Lean, Surface::Full] {
        let listed = json!(surface::listing(&surface));
        let tools = listed.as_array().expect("a list").iter();
        let marked = tools.filter(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true);
        let mut names: Vec<_> = marked.filter_map(|tool| tool["name"].as_str()).collect();
        names.sort_by_key(|name| expected.iter().position(|other| other == name));
        assert_eq!(names, expected, "{surface:?}");
    }
}

#[test]
fn named_surfaces_show_what_they_name() {
    let named = Surface::of("get_session_stats, more_tools").expect("two tools");
    let names: Vec<_> = surface::listing(&named).into_iter().map(|tool| tool.name).collect();
    assert_eq!((names, surface::check(&named)), (vec!["get_session_stats".into(), "more_tools".into()], Ok(())));
    let wrong = surface::check(&Surface::of("get_session_stat").expect("a tool")).expect_err("there is no such tool");
    assert!(wrong.contains("did you mean get_session_stats?"), "{wrong}");
    assert_eq!(Surface::of(" LEAN"), Some(Surface::Lean));
}
