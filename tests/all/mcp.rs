//! The program as a client's subprocess: what goes in by the line, what comes out by the line.

use std::io::Write;
use std::ops::{Deref, DerefMut};

use serde_json::{Value, json};

use crate::cli::numbers;
use crate::client::{Server, silent_server};
use crate::place::Place;

/// A running server in a small repository, and the client's end of it.
struct Session {
    server: Server,
    place: Place,
}

impl Deref for Session {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

impl Session {
    /// Starts the program.
    fn start(args: &[&str]) -> Self {
        let place = numbers();
        Self { server: Server::spawn(place.command(args)), place }
    }

    /// Starts the program and opens a session.
    fn open() -> Self {
        let mut session = Self::start(&["serve"]);
        session.initialize();
        session
    }

    /// Calls a tool: whether it failed, and what it says.
    fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        let value = serde_json::from_str(text).unwrap_or_else(|err| panic!("no JSON: {text}: {err}"));
        (result["isError"] == true, value)
    }

    /// Indexes the small repository.
    fn index(&mut self) -> Value {
        let (failed, answer) = self.call("index_folder", json!({"path": self.place.source()}));
        assert!(!failed, "{answer}");
        answer
    }

    /// It still answers.
    fn assert_alive(&mut self) {
        let (failed, answer) = self.call("get_session_stats", json!({}));
        assert!(!failed, "{answer}");
    }

    fn close(self) {
        self.server.close();
    }
}

#[test]
fn a_session_from_hello_to_goodbye() {
    let mut server = Session::start(&[]);
    let hello = server.initialize();
    assert_eq!(hello["result"]["serverInfo"], json!({"name": "codelode", "version": env!("CARGO_PKG_VERSION")}));
    let instructions = hello["result"]["instructions"].as_str().expect("a text");
    assert!(instructions.contains("Files here: python 1."), "{instructions}");
    let answer = server.ask("tools/list", json!({}));
    let names: Vec<&str> =
        answer["result"]["tools"].as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["search_symbols", "find_references", "get_symbol_source", "more_tools"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }

    let indexed = server.index();
    assert_eq!(indexed["success"], true, "{indexed}");
    let (failed, found) = server.call("search_symbols", json!({"query": "add"}));
    assert!(!failed, "{found}");
    let id = found["results"][0]["id"].as_str().expect("add is found").to_owned();
    assert_eq!(id, "numbers.py::add#function");
    let (failed, symbol) = server.call("get_symbol_source", json!({"symbol_id": id}));
    assert!(!failed, "{symbol}");
    assert!(symbol["source"].as_str().is_some_and(|source| source.starts_with("def add(a, b):")), "{symbol}");
    let (failed, repos) = server.call("list_repos", json!({}));
    assert!(!failed, "{repos}");
    assert_eq!(repos["repos"].as_array().map(Vec::len), Some(1), "{repos}");
    server.close();
}

#[test]
fn the_first_question_indexes_the_folder_that_the_server_is_in() {
    let mut server = Session::open();
    let (failed, found) = server.call("search_symbols", json!({"query": "add"}));
    assert!(!failed, "{found}");
    assert_eq!(found["results"][0]["id"], "numbers.py::add#function", "{found}");
    assert_eq!(found["_meta"]["first_indexed"]["symbols"], 3, "{found}");
    let (_, again) = server.call("search_symbols", json!({"query": "add"}));
    assert_eq!(again["_meta"].get("first_indexed"), None, "{again}");
}

#[test]
fn rubbish_is_answered_and_the_server_lives_on() {
    let mut server = Session::open();
    let deep = "[".repeat(100_000);
    let rubbish = [
        ("rubbish", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":", -32700),
        ("\u{1F980}", -32700),
        (deep.as_str(), -32600),
        ("[]", -32600),
        ("{}", -32600),
        ("7", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"tools/lost\"}", -32601),
        ("{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"tools/call\",\"params\":{\"name\":[]}}", -32602),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"tools/call\",\"params\":{\"name\":\"x\",\"arguments\":\"y\"}}",
            -32602,
        ),
    ];
    for (line, code) in rubbish {
        server.send(line);
        let answer = server.receive();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        server.assert_alive();
    }
    let input = server.input.as_mut().expect("the input is open");
    input.write_all(b"\xff\xfe\x00\n").expect("the server reads");
    assert_eq!(server.receive()["error"]["code"], -32700);
    server.assert_alive();
    server.close();
}

#[test]
fn huge_values_are_answered() {
    let mut server = Session::open();
    // One that is read, and makes a bad argument.
    let (failed, answer) = server.call("search_symbols", json!({"query": "x".repeat(3 << 20)}));
    assert!(answer.to_string().len() < 100_000, "it is not sent back whole");
    let _ = failed;
    let (failed, answer) = server.call(&"t".repeat(1 << 20), json!({}));
    assert!(failed && answer.to_string().len() < 10_000, "{answer:.200}");
    let (failed, answer) = server.call("search_symbols", json!({"query": "add", "max_results": u64::MAX}));
    assert!(failed || answer["results"].is_array(), "{answer}");
    let (failed, _) = server.call("search_symbols", json!({"query": "add", "max_results": -1}));
    assert!(failed);
    // One that is refused before it is whole.
    server.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(20 << 20)));
    assert_eq!(server.receive()["error"]["code"], -32600);
    server.assert_alive();
    server.close();
}

#[test]
fn wrong_calls_are_results_that_say_what_is_wrong() {
    let mut server = Session::open();
    server.index();
    let (failed, answer) = server.call("search_symbol", json!({"query": "add"}));
    assert!(failed);
    assert_eq!(answer["code"], "not_found", "{answer}");
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("search_symbols")), "{answer}");
    for arguments in [
        json!({}),
        json!({"query": {"a": 1}}),
        json!({"query": "add", "querry": 1}),
        json!({"query": "add", "max_results": "x"}),
    ] {
        let (failed, answer) = server.call("search_symbols", arguments);
        assert!(failed, "{answer}");
        assert_eq!(answer["code"], "invalid_arguments", "{answer}");
    }
    let (failed, answer) = server.call("get_symbol_source", json!({"symbol_id": "numbers.py::ad#function"}));
    assert!(failed || answer["errors"].is_array(), "{answer}");
    server.close();
}

#[test]
fn calls_at_the_same_time_are_all_answered() {
    let mut server = Session::open();
    server.index();
    let mut waiting: Vec<u64> = (0..64)
        .map(|n| {
            let (name, arguments) = match n % 3 {
                0 => ("search_symbols", json!({"query": "add"})),
                1 => ("list_repos", json!({})),
                _ => ("get_session_stats", json!({})),
            };
            server.request("tools/call", json!({"name": name, "arguments": arguments}))
        })
        .collect();
    while !waiting.is_empty() {
        let answer = server.receive();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        waiting.retain(|id| answer["id"] != *id);
    }
    server.close();
}

#[test]
fn progress_rises_and_ends_before_the_answer() {
    // The first question reads the whole folder, be it a request for that or not.
    for (tool, arguments) in [("index_folder", json!({"path": "."})), ("find_dead_code", json!({}))] {
        let mut server = Session::open();
        let code = (0..50).map(|n| format!("def function_{n}(a):\n    return a + {n}\n")).collect::<String>();
        for n in 0..200 {
            server.place.write(&format!("module_{n}.py"), &code);
        }
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "t"}});
        let id = server.request("tools/call", params);
        let mut last = -1.0;
        loop {
            let message = server.receive();
            if message["id"] == id {
                assert_eq!(message["result"]["isError"], false, "{message}");
                break;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
            assert_eq!(message["params"]["progressToken"], "t");
            let progress = message["params"]["progress"].as_f64().expect("progress is a number");
            assert!(progress > last, "{message}");
            last = progress;
        }
        assert!(last >= 0.0, "{tool} tells of its progress");
        server.assert_alive();
        server.close();
    }
}

#[test]
fn a_cancelled_call_gets_no_answer_and_its_id_is_free_again() {
    let place = numbers();
    let mut command = place.command(&["serve"]);
    command.env("CODELODE_TRUSTED_HOSTS", "127.0.0.1");
    let mut server = Session { server: Server::start(command), place };
    // A call that never ends by itself.
    let (silent, url) = silent_server();
    let id = server.request("tools/call", json!({"name": "index_repo", "arguments": {"url": url}}));
    let asked = silent.accept().expect("it asks");
    server
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).to_string());
    // By the time that another request is answered, the call has ended.
    for id in [json!("another"), json!(id)] {
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string());
        assert_eq!(server.receive(), json!({"jsonrpc": "2.0", "id": id, "result": {}}), "no other answer is due");
    }
    drop(asked);
    server.assert_alive();
    server.close();
}

#[test]
fn an_id_in_use_is_refused() {
    let mut server = Session::open();
    let call = json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {"name": "get_session_stats"}})
        .to_string();
    server.send(&format!("{call}\n{call}"));
    let answers = [server.receive(), server.receive()];
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32600), "{answers:?}");
    assert!(answers.iter().any(|answer| answer["result"]["isError"] == false), "{answers:?}");
    server.close();
}

#[test]
fn calls_that_run_at_the_end_of_the_input_are_answered() {
    let mut server = Session::open();
    let source = server.place.source();
    let id = server.request("tools/call", json!({"name": "index_folder", "arguments": {"path": source}}));
    drop(server.input.take());
    let answer = server.receive();
    assert_eq!(answer["id"], id, "{answer}");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    server.close();
}

#[test]
fn nothing_before_hello_ends_the_server() {
    let mut server = Session::start(&["serve"]);
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    server.send("rubbish");
    assert_eq!(server.receive()["error"]["code"], -32700);
    assert_eq!(server.ask("tools/list", json!({}))["error"]["code"], -32600);
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
    server.initialize();
    server.assert_alive();
    server.close();
}

#[test]
fn surfaces_are_chosen_at_the_start() {
    let n_tools = |surface: &str| {
        let mut server = Session::start(&["serve", "--tools", surface]);
        server.initialize();
        let answer = server.ask("tools/list", json!({}));
        let n_tools = answer["result"]["tools"].as_array().map_or(0, Vec::len);
        server.close();
        n_tools
    };
    assert_eq!(n_tools("search_symbols,get_symbol_source"), 2);
    // The one that stands for all others is in the first and not needed in the last.
    assert!(n_tools("lean") <= n_tools("core") && n_tools("core") <= n_tools("full") + 1);
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    let mut server = Session::start(&["serve"]);
    server.send("rubbish");
    server.receive();
    server.close();
    Session::start(&["serve"]).close();
}

#[test]
fn prompts_hold_what_the_tools_answer() {
    let mut server = Session::open();
    let prompts = server.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> =
        prompts.as_array().expect("a list").iter().filter_map(|prompt| prompt["name"].as_str()).collect();
    assert_eq!(names, ["explain_symbol", "plan_change"]);
    assert_eq!(prompts[0]["arguments"][0]["required"], true);
    let explain = json!({"name": "explain_symbol", "arguments": {"symbol": "add"}});
    let answer = server.ask("prompts/get", explain);
    let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(text.contains("return a + b") && text.contains("Counter.count"), "{text}");
    let plan = json!({"name": "plan_change", "arguments": {"change": "add"}});
    let answer = server.ask("prompts/get", plan);
    let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(text.contains("Plan this change: add") && text.contains("return a + b"), "{text}");
    for (params, says) in [
        (json!({"name": "nope"}), "explain_symbol and plan_change"),
        (json!({"name": "explain_symbol"}), "needs `symbol`"),
        (json!({"name": "explain_symbol", "arguments": {"symbl": "add"}}), "takes `symbol`"),
        (json!({"name": "explain_symbol", "arguments": {"symbol": "nowhere"}}), "no symbol has the id \"nowhere\""),
        (json!({}), "do not fit"),
    ] {
        let error = server.ask("prompts/get", params)["error"].clone();
        assert_eq!(error["code"], -32602, "{error}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(says)), "{error}");
    }
}

#[test]
fn resources_are_files_under_the_rules_of_tools() {
    let mut server = Session::open();
    server.place.write(".env", "PASSWORD=a\n").write("a b/c.py", "def c():\n    pass\n");
    let template = server.ask("resources/templates/list", json!({}))["result"]["resourceTemplates"][0].clone();
    assert!(template["uriTemplate"].as_str().is_some_and(|uri| uri.starts_with("codelode://")), "{template}");
    server.ask("tools/call", json!({"name": "index_folder", "arguments": {}}));
    let list = server.ask("resources/list", json!({}))["result"]["resources"].clone();
    let root = list[0]["uri"].as_str().unwrap_or_else(|| panic!("{list}")).to_owned();
    let mut read = |uri: String| server.ask("resources/read", json!({"uri": uri}));
    let tree = read(root.clone());
    assert!(tree["result"]["contents"][0]["text"].as_str().is_some_and(|text| text.contains("numbers.py")), "{tree}");
    let file = read(format!("{root}numbers.py"));
    let content = &file["result"]["contents"][0];
    assert!(content["text"].as_str().is_some_and(|text| text.starts_with("def add(a, b):\n")), "{file}");
    assert_eq!((&content["mimeType"], &content["_meta"]["freshness"]), (&json!("text/plain"), &json!("fresh")));
    let lines = read(format!("{root}numbers.py#L7-L8"));
    assert_eq!(lines["result"]["contents"][0]["text"], "    def count(self):\n        return add(1, 2)\n");
    let spaced = read(format!("{root}a%20b/c.py"));
    assert_eq!(spaced["result"]["contents"][0]["text"], "def c():\n    pass\n");
    for (uri, code) in [
        (format!("{root}nope.py"), -32002),
        (format!("{root}.env"), -32002),
        (format!("{root}../../etc/passwd"), -32602),
        ("codelode://local/nope-12345678/a.py".to_owned(), -32002),
        ("codelode://".to_owned(), -32602),
        ("codelode:///x".to_owned(), -32602),
        ("file:///etc/passwd".to_owned(), -32602),
        (format!("{root}numbers.py#top"), -32602),
        (format!("{root}numbers.py#L8-L7"), -32602),
        (format!("{root}numbers.py?x=1"), -32602),
        (format!("{root}%00"), -32602),
        (format!("{root}%ff"), -32602),
    ] {
        let error = read(uri.clone())["error"].clone();
        assert_eq!(error["code"], code, "{uri}: {error}");
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{uri}: {error}");
    }
    let repo = root.trim_end_matches('/');
    for path in [
        "/..",
        "/../x",
        "/../../etc/passwd",
        "/a/../../x",
        "/%2e%2e/x",
        "/%252e%252e%252fx",
        "//etc/passwd",
        "/%2Fetc/passwd",
    ] {
        let error = read(format!("{repo}{path}"))["error"].clone();
        assert_eq!(error["code"], -32602, "{path}: {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("leaves its repository"), "{path}: {error}");
    }
    let owner = repo.rsplit_once('/').map_or(repo, |(owner, _)| owner);
    let error = read(format!("{owner}/../x"))["error"].clone();
    assert!(error["message"].as_str().is_some_and(|message| message.contains("leaves its repository")), "{error}");
}
