//! The transport of 2024-11-05: a stream of events, and messages to another address.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::web::{PATIENCE, Reply, Site};

const REVISION: &str = "2024-11-05";
const SSE: [&str; 2] = ["--transport", "sse"];

/// A client with its stream.
struct Client<'a> {
    site: &'a Site,
    token: Option<&'a str>,
    events: BufReader<TcpStream>,
    messages: String,
}

impl<'a> Client<'a> {
    fn open(site: &'a Site, token: Option<&'a str>) -> Self {
        let mut stream = site.connect();
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        let bearer = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let request = format!("GET /sse HTTP/1.1\r\nHost: localhost\r\n{bearer}Accept: text/event-stream\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("the server reads");
        let mut client = Self { site, token, events: BufReader::new(stream), messages: String::new() };
        client.messages = client.event("endpoint");
        client
    }

    /// The text of the next event, which has this name.
    fn event(&mut self, name: &str) -> String {
        let mut line = String::new();
        let mut named = String::new();
        loop {
            line.clear();
            assert!(self.events.read_line(&mut line).expect("the stream goes on") > 0, "it ends");
            if let Some(is) = line.strip_prefix("event: ") {
                named = is.trim().to_owned();
            }
            if let Some(text) = line.strip_prefix("data: ") {
                assert_eq!(named, name);
                return text.trim().to_owned();
            }
        }
    }

    fn message(&mut self) -> Value {
        serde_json::from_str(&self.event("message")).expect("it is JSON")
    }

    fn post(&self, body: &str) -> Reply {
        let client = self.site.client();
        let client = match self.token {
            Some(token) => client.with_token(token),
            None => client,
        };
        client.send_to("POST", &self.messages, body, &[])
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        assert_eq!(self.post(&body).status, 202);
        loop {
            let message = self.message();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn initialize(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        self.ask(0, "initialize", json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}))
    }
}

#[test]
fn answers_come_over_the_stream_as_strictly_checked_as_elsewhere() {
    let site = Site::start(&SSE);
    let mut client = Client::open(&site, None);
    let early = client.ask(1, "tools/list", json!({}));
    assert!(early["error"]["message"].as_str().is_some_and(|why| why.contains("initialize")), "{early}");
    assert_eq!(client.initialize()["result"]["protocolVersion"], REVISION);
    assert_eq!(client.post(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#).status, 202);
    assert!(client.ask(2, "tools/list", json!({}))["result"]["tools"].as_array().is_some_and(|all| all.len() > 5));
    let arguments = json!({"query": "add", "repo": site.repo("shop")});
    let found = client.ask(3, "tools/call", json!({"name": "search_symbols", "arguments": arguments}));
    let text = found["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.contains("numbers.py::add"), "{text}");
    assert_eq!(client.post("{").status, 400);
    assert_eq!(client.ask(4, "completion/complete", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask(5, "ping", json!({}))["result"], json!({}), "the session goes on");
    assert_eq!(site.client().number("codelode_open_sessions"), 1.0);
}

#[test]
fn progress_comes_before_the_answer() {
    let site = Site::start(&[&SSE[..], &["--root", "."]].concat());
    let mut client = Client::open(&site, None);
    client.initialize();
    let folder = site.folder("many");
    for i in 0..400 {
        std::fs::write(folder.join(format!("f{i}.py")), format!("def f{i}():\n    return {i}\n")).expect("ours");
    }
    let params = json!({"name": "index_folder", "arguments": {"path": folder}, "_meta": {"progressToken": "p"}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    assert_eq!(client.post(&body).status, 202);
    assert_eq!(client.message()["params"]["progressToken"], "p");
}

#[test]
fn a_session_is_its_callers_alone_and_lives_as_long_as_its_stream() {
    let place = tempfile::tempdir().expect("a folder");
    let path =
        super::http::tokens(place.path(), &[("alice", "repos = [\"local/shop-*\"]"), ("bob", "repos = [\"*\"]")]);
    let site = Site::start(&[&SSE[..], &["--tokens", path.to_str().expect("a path")]].concat());
    assert_eq!(site.client().get("/sse").status, 401);
    let mut alice = Client::open(&site, Some("alice-alice"));
    alice.initialize();
    let count = |client: &mut Client<'_>| {
        let answer = client.ask(7, "tools/call", json!({"name": "list_repos", "arguments": {}}));
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        serde_json::from_str::<Value>(&text).expect("JSON")["count"].clone()
    };
    assert_eq!(count(&mut alice), 1);
    let ping = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
    let thief = site.client().with_token("bob-bob");
    assert_eq!(thief.send_to("POST", &alice.messages, ping, &[]).status, 404, "replayed by another");
    assert_eq!(thief.send_to("POST", "/messages?session_id=1", ping, &[]).status, 404);
    // Rights that change count in an open session, and a token that is gone opens nothing.
    super::http::tokens(place.path(), &[("alice", "repos = [\"*\"]")]);
    assert_eq!(count(&mut alice), 2);
    let messages = alice.messages.clone();
    drop(alice);
    let again = site.client().with_token("alice-alice");
    let begun = std::time::Instant::now();
    while again.send_to("POST", &messages, ping, &[]).status != 404 {
        assert!(begun.elapsed() < PATIENCE, "the session outlives its stream");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(thief.send_to("POST", &messages, ping, &[]).status, 401);
}

#[test]
fn told_to_end_it_closes_its_streams() {
    let mut site = Site::start(&SSE);
    let events = {
        let mut client = Client::open(&site, None);
        client.initialize();
        client.events
    };
    site.signal(libc::SIGTERM);
    assert!(site.ended().success());
    drop(events);
}
