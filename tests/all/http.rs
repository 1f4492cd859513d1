//! The program as a server over HTTP: sessions, single requests, tokens and rights, limits, and its end.

use std::fs;
use std::io::{BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::web::{Client, Reply, Site};

const V2025: &str = "2025-06-18";
const V2026: &str = "2026-07-28";

/// A file of tokens; each token is its caller's name, twice over.
pub fn tokens(folder: &Path, callers: &[(&str, &str)]) -> PathBuf {
    let path = folder.join("tokens.toml");
    let entry = |(name, rights): &(&str, &str)| {
        let digest: String = Sha256::digest(token(name)).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("[{name}]\nsha256 = \"{digest}\"\n{rights}\n")
    };
    fs::write(&path, callers.iter().map(entry).collect::<String>()).expect("the folder is ours");
    path
}

pub fn token(name: &str) -> String {
    format!("{name}-{name}")
}

#[test]
fn a_session_calls_tools_as_over_the_standard_streams() {
    for revision in ["2025-03-26", V2025, "2025-11-25"] {
        let site = Site::start(&[]);
        let mut client = site.client();
        let opened = client.open(revision);
        assert_eq!(opened["result"]["protocolVersion"], revision, "{opened}");
        assert_eq!(opened["result"]["serverInfo"]["name"], "codelode");
        let instructions = opened["result"]["instructions"].as_str().expect("there are some");
        assert!(!instructions.contains("Files here"), "the server's folder is nobody's: {instructions}");
        let tools = client.ask("tools/list", json!({}));
        assert!(tools["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{tools}");
        let answer = client.call("search_symbols", json!({"query": "add", "repo": site.repo("shop")}));
        let own = site.run(&[
            "call",
            "search_symbols",
            &json!({"query": "add", "repo": site.repo("shop")}).to_string(),
            "--json",
        ]);
        let own: Value = serde_json::from_str(&own).expect("JSON");
        assert_eq!(answer["results"], own["results"], "{answer}");
        assert!(answer["results"].as_array().is_some_and(|hits| !hits.is_empty()));
        assert_eq!(client.close().status, 204);
        assert_eq!(client.send("POST", &json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}).to_string()).status, 404);
    }
}

#[test]
fn the_newest_revision_needs_no_session_and_its_headers_must_agree() {
    let site = Site::start(&[]);
    let client = site.client();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": V2026,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let send = |method: &str, mut params: Value, headers: &[(&str, &str)]| {
        params["_meta"] = meta.clone();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut all = vec![("MCP-Protocol-Version", V2026)];
        all.extend(headers);
        client.send_with("POST", &body, &all)
    };
    let found = send("server/discover", json!({}), &[("Mcp-Method", "server/discover")]).message();
    assert!(found["result"]["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!(V2026))), "{found}");
    let changes = |of: &str| found["result"]["capabilities"][of]["listChanged"] == true;
    assert!(changes("resources") && !changes("tools"), "only what is told of is promised: {found}");
    let listed = send("tools/list", json!({}), &[("Mcp-Method", "tools/list")]).message();
    assert!(listed["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 5), "{listed}");
    assert!(listed["result"]["ttlMs"].is_u64(), "{listed}");
    let call = json!({"name": "search_symbols", "arguments": {"query": "add", "repo": site.repo("shop")}});
    let answer = send("tools/call", call.clone(), &[("Mcp-Method", "tools/call"), ("Mcp-Name", "search_symbols")]);
    assert!(answer.header("mcp-session-id").is_none());
    let text = answer.message()["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
    assert!(text.contains("numbers.py::add"), "{text}");
    for wrong in [
        &[("Mcp-Method", "tools/call"), ("Mcp-Name", "search_text")][..],
        &[("Mcp-Method", "tools/list"), ("Mcp-Name", "search_symbols")],
        &[],
    ] {
        let refused = send("tools/call", call.clone(), wrong);
        assert_eq!(refused.status, 400, "{wrong:?}: {}", refused.body);
    }
}

/// The body of a request of the newest revision.
fn newest(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": V2026,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

#[test]
fn methods_that_the_newest_revision_lacks_are_not_there() {
    let site = Site::start(&[]);
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "nothing/such"] {
        let headers = [("MCP-Protocol-Version", V2026), ("Mcp-Method", method)];
        let reply = site.client().send_with("POST", &newest(method, json!({})), &headers);
        let code = reply.messages().pop().map(|message| message["error"]["code"].clone());
        assert_eq!((reply.status, code), (404, Some(json!(-32601))), "{method}: {}", reply.body);
    }
}

#[test]
fn those_who_listen_are_told_of_repositories_that_they_see() {
    let place = tempfile::tempdir().expect("a folder");
    let chief = "repos = [\"*\"]\nindex = true\ninvalidate = true";
    let path = tokens(place.path(), &[("shopper", "repos = [\"local/shop-*\"]"), ("chief", chief)]);
    let mut site = Site::start(&["--tokens", path.to_str().expect("a path"), "--root", "."]);
    let listen = |name: &str| {
        let wanted = json!({"resourcesListChanged": true, "toolsListChanged": true});
        let body = newest("subscriptions/listen", json!({"notifications": wanted}));
        let headers = [("MCP-Protocol-Version", V2026), ("Mcp-Method", "subscriptions/listen")];
        site.client().with_token(&token(name)).events(&body, &headers)
    };
    let (mut told, mut not_told) = (listen("chief"), listen("shopper"));
    for stream in [&mut told, &mut not_told] {
        let first = Client::event(stream).expect("it begins");
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        assert_eq!(first["params"]["notifications"], json!({"resourcesListChanged": true}), "{first}");
    }
    let mut client = site.client().with_token(&token("chief"));
    client.open(V2025);
    client.call("index_folder", json!({"path": site.folder("unseen")}));
    let news = Client::event(&mut told).expect("it goes on");
    assert_eq!(news["method"], "notifications/resources/list_changed", "{news}");
    assert_eq!(client.number("codelode_running_requests"), 0.0, "who listens takes no turn");
    site.signal(libc::SIGTERM);
    assert!(site.ended().success());
    // Others see no change, and their stream ends.
    let last = Client::event(&mut not_told);
    assert!(last.as_ref().is_none_or(|last| last["method"].is_null()), "{last:?}");
}

#[test]
fn anyone_may_read_what_the_server_is_and_where() {
    let secret = [("CODELODE_HTTP_TOKEN", "a token that nobody guesses")];
    let site = Site::start_with(&["--allow-host", "code.example", "--trust-proxy", "127.0.0.1"], &secret);
    let get = |path: &str, headers: &[(&str, &str)]| site.client().send_to("GET", path, "", headers);
    let proxied = [("X-Forwarded-Host", "code.example"), ("X-Forwarded-Proto", "https")];
    let reply = get("/mcp/server-card", &proxied);
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/mcp-server-card+json")));
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    let card: Value = serde_json::from_str(&reply.body).expect("it is JSON");
    assert_eq!(card["name"], "io.github.codelode/codelode");
    assert_eq!(card["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(card["description"], env!("CARGO_PKG_DESCRIPTION"));
    let remote = &card["remotes"][0];
    assert_eq!((&remote["type"], &remote["url"]), (&json!("streamable-http"), &json!("https://code.example/mcp")));
    assert!(remote["supportedProtocolVersions"].as_array().is_some_and(|all| all.contains(&json!(V2026))), "{remote}");
    let catalog = get("/.well-known/ai-catalog.json", &proxied);
    let catalog: Value = serde_json::from_str(&catalog.body).expect("it is JSON");
    assert_eq!(catalog["entries"][0]["url"], "https://code.example/mcp/server-card");
    let elsewhere = get("/mcp/server-card", &[("Host", "evil.example")]);
    assert!(elsewhere.status != 200 && !elsewhere.body.contains("evil.example"), "{elsewhere:?}");
}

#[test]
fn messages_are_read_as_strictly_as_over_the_standard_streams() {
    let site = Site::start(&[]);
    let mut client = site.client();
    client.open(V2025);
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": \"ping\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1.5, \"method\": \"ping\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"initialize\", \"params\": {}}", -32602),
    ] {
        let refused = client.send("POST", body);
        assert_eq!(
            (refused.status, &refused.message()["error"]["code"]),
            (400, &json!(code)),
            "{body}: {}",
            refused.body
        );
    }
    let many = format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"ping\", \"params\": {{\"x\": [{}0]}}}}",
        "0,".repeat(30_000)
    );
    assert_eq!(client.send("POST", &many).message()["error"]["code"], -32600);
    let large = " ".repeat(4 * 1024 * 1024 + 1);
    assert_eq!(client.send("POST", &large).status, 413);
    // Another status than 200 would end the session for some clients.
    for method in ["nothing/such", "completion/complete", "resources/subscribe"] {
        assert_eq!(client.ask(method, json!({}))["error"]["code"], -32601, "{method}");
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}), "the session goes on");
}

#[test]
fn a_batch_is_answered_in_the_one_revision_that_has_them() {
    let site = Site::start(&[]);
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"name": "list_repos", "arguments": {}}},
        {"jsonrpc": "2.0", "id": 3, "method": "nothing/such"},
        {"jsonrpc": "2.0", "id": 4},
    ]);
    let mut client = site.client();
    client.open("2025-03-26");
    let reply = client.send("POST", &batch.to_string());
    let mut ids: Vec<String> = reply.messages().iter().map(|message| message["id"].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["\"two\"", "1", "3", "4"], "{}", reply.body);
    assert!(reply.body.contains("numbers") || reply.body.contains("shop"), "{}", reply.body);
    let told = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]).to_string();
    assert_eq!(client.send("POST", &told).status, 202);
    let many: Vec<Value> = (0..65).map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).collect();
    let opening = json!([{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}]);
    for wrong in [json!(many), json!([]), opening] {
        assert_eq!(client.send("POST", &wrong.to_string()).status, 400);
    }
    let mut newer = site.client();
    newer.open(V2025);
    assert_eq!(newer.send("POST", &batch.to_string()).message()["error"]["code"], -32600);
}

#[test]
fn a_stream_that_breaks_off_is_resumed_while_its_call_runs_and_afterwards() {
    let site = Site::start(&["--root", "."]);
    let mut client = site.client();
    client.open(V2025);
    let folder = site.folder("many");
    for i in 0..3_000 {
        fs::write(folder.join(format!("f{i}.py")), format!("def f{i}():\n    return {i}\n")).expect("ours");
    }
    let params = json!({"name": "index_folder", "arguments": {"path": folder}, "_meta": {"progressToken": "p"}});
    let body = json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params}).to_string();
    let id = {
        let mut stream = client.events(&body, &[]);
        let first = Client::event(&mut stream).expect("it begins");
        assert_eq!(first["params"]["progressToken"], "p");
        Client::id(&mut stream).expect("an event has an id")
    };
    let rest = client.send_to("GET", "/mcp", "", &[("Last-Event-ID", &id)]);
    assert!(rest.messages().iter().any(|message| message["id"] == 77), "{rest:?}");
    // The same once more, now that the call has ended and its answer was sent.
    let again = client.send_to("GET", "/mcp", "", &[("Last-Event-ID", &id)]);
    assert!(again.messages().iter().any(|message| message["id"] == 77), "{again:?}");
    let mut other = site.client();
    other.open(V2025);
    let foreign = other.send_to("GET", "/mcp", "", &[("Last-Event-ID", &id)]);
    assert!(!foreign.body.contains("77"), "{foreign:?}");
}

#[test]
fn progress_comes_before_the_answer_and_a_cancelled_call_ends() {
    let site = Site::start(&["--root", "."]);
    let mut client = site.client();
    client.open(V2025);
    let folder = site.folder("many");
    for i in 0..400 {
        fs::write(folder.join(format!("f{i}.py")), format!("def f{i}():\n    return {i}\n")).expect("ours");
    }
    let arguments = json!({"path": folder});
    let params = json!({"name": "index_folder", "arguments": arguments, "_meta": {"progressToken": "p"}});
    let messages = client.stream("tools/call", params);
    let (answer, steps) = messages.split_last().expect("an answer");
    assert!(answer["result"]["isError"] != true, "{answer}");
    assert!(!steps.is_empty() && steps.iter().all(|step| step["params"]["progressToken"] == "p"), "{steps:?}");

    // A pattern that takes long, called off from another connection.
    let text = "ab".repeat(100_000);
    for i in 0..40 {
        fs::write(folder.join(format!("t{i}.txt")), &text).expect("ours");
    }
    let slow = json!({"query": "(a|b|ab)*c{1,40}(a|b)*d", "is_regex": true, "repo": folder});
    let id = client.begin("tools/call", json!({"name": "search_text", "arguments": slow}));
    client.notify("notifications/cancelled", json!({"requestId": id}));
    let begun = Instant::now();
    while client.number("codelode_running_requests") > 0.0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "a cancelled call goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
}

#[test]
fn an_id_that_is_in_use_is_refused_and_is_free_again_afterwards() {
    let site = Site::start(&[]);
    let mut client = site.client();
    client.open(V2025);
    let ping = |client: &Client| client.send("POST", &json!({"jsonrpc": "2.0", "id": 7, "method": "ping"}).to_string());
    assert_eq!(ping(&client).message()["result"], json!({}));
    assert_eq!(ping(&client).message()["result"], json!({}));
}

#[test]
fn without_a_root_a_repository_is_named_and_paths_outside_are_refused() {
    let site = Site::start(&[]);
    let mut client = site.client();
    client.open(V2025);
    let answer = client.call("search_symbols", json!({"query": "add"}));
    assert_eq!(answer["code"], "ambiguous", "{answer}");
    assert_eq!(answer["details"]["candidates"].as_array().map(Vec::len), Some(2), "{answer}");
    // The root of an indexed checkout is known anyway; nothing else of the disk is.
    let inside = client.call("get_file_outline", json!({"repo": site.folder("shop"), "file_path": "numbers.py"}));
    assert!(inside["error"].is_null(), "{inside}");
    let (index, missing) = (site.folder("unseen"), site.folder("unseen").join("no such"));
    for path in ["/etc", "/nowhere", ".", "..", "../unseen"].map(PathBuf::from).iter().chain([&index, &missing]) {
        for (tool, arguments) in [
            ("index_folder", json!({"path": path})),
            ("index_file", json!({"path": path})),
            ("resolve_repo", json!({"path": path})),
            ("search_text", json!({"query": "x", "repo": path})),
            ("grep_repository", json!({"pattern": "x", "repository": path})),
            ("index_repo", json!({"url": format!("file://{}", path.display())})),
            ("list_repository_refs", json!({"repository": path})),
            ("invalidate_cache", json!({"repo": path})),
        ] {
            let answer = client.call(tool, arguments);
            let code = answer["code"].as_str().unwrap_or_else(|| panic!("{tool} {path:?}: {answer}"));
            assert!(["access_denied", "invalid_arguments", "not_indexed"].contains(&code), "{tool} {path:?}: {answer}");
            assert!(!answer.to_string().contains("does not exist"), "{tool} {path:?}: {answer}");
        }
    }
}

#[test]
fn a_root_of_the_client_counts_only_inside_what_it_may_name() {
    let site = Site::start(&[]);
    for (root, code) in [(site.folder("shop"), Value::Null), (site.folder("unseen"), json!("ambiguous"))] {
        let mut client = site.client();
        client.open_with(V2025, json!({"roots": {}}));
        client.tell_roots(&[&root]);
        assert_eq!(client.call("search_symbols", json!({"query": "add"}))["code"], code, "{root:?}");
    }
}

#[test]
fn beyond_loopback_there_is_no_server_without_tokens() {
    let said = Site::refused(&["--host", "0.0.0.0"], &[]);
    assert!(said.contains("--tokens") && said.contains("CODELODE_HTTP_TOKEN"), "{said}");
    let said = Site::refused(&["--host", "0.0.0.0"], &[("CODELODE_HTTP_TOKEN", "short")]);
    assert!(said.contains("guessed"), "{said}");
    let site = Site::start_with(&["--host", "0.0.0.0"], &[("CODELODE_HTTP_TOKEN", "a token that nobody guesses")]);
    assert_eq!(site.client().post_ping().status, 401);
    let mut client = site.client().with_token("a token that nobody guesses");
    client.open(V2025);
    assert_eq!(client.call("list_repos", json!({}))["count"], 2);
}

#[test]
fn a_caller_sees_and_counts_only_what_its_token_may_see() {
    let place = tempfile::tempdir().expect("a folder");
    let path = tokens(
        place.path(),
        &[
            ("shopper", "repos = [\"local/shop-*\"]"),
            ("chief", "repos = [\"*\"]\nindex = true\ninvalidate = true"),
            ("nobody", "repos = []"),
        ],
    );
    let site = Site::start(&["--tokens", path.to_str().expect("a path"), "--root", "."]);
    let open = |name: &str| {
        let mut client = site.client().with_token(&token(name));
        client.open(V2025);
        client
    };
    let (mut shopper, mut chief, mut nobody) = (open("shopper"), open("chief"), open("nobody"));
    let n_repos = |client: &mut Client| client.call("list_repos", json!({}))["count"].clone();
    assert_eq!([n_repos(&mut shopper), n_repos(&mut chief), n_repos(&mut nobody)], [1, 2, 0]);
    let found = shopper.call("search_symbols", json!({"query": "add"}));
    assert_eq!(found["_meta"]["repo"], site.repo("shop"), "the only one that it sees: {found}");
    for named in [site.repo("vault"), "vault".to_owned(), site.folder("vault").display().to_string()] {
        for (tool, arguments) in [
            ("search_text", json!({"query": "secret_word", "repo": named})),
            ("get_file_content", json!({"file_path": "safe.py", "repo": named})),
            ("search_symbols", json!({"query": "open_safe", "repos": [named]})),
            ("resolve_repo", json!({"path": named})),
            ("get_symbol_diff", json!({"repo_a": site.repo("shop"), "repo_b": named})),
            ("index_folder", json!({"path": site.folder("vault")})),
            ("index_file", json!({"path": site.folder("vault").join("safe.py")})),
            ("invalidate_cache", json!({"repo": named})),
        ] {
            let answer = shopper.call(tool, arguments.clone());
            assert!(answer["code"].is_string(), "{tool} {named}: {answer}");
            // Paths and names that it was given may be repeated.
            let mut text = answer.to_string();
            for given in arguments.as_object().into_iter().flatten() {
                text = text.replace(given.1.as_str().unwrap_or(&named), "");
            }
            let told = ["vault-", "safe", "secret"].iter().any(|word| text.contains(word));
            assert!(!told, "{tool} {named}: {answer}");
        }
    }
    let all = shopper.call("search_text", json!({"query": "def", "repos": ["*"]}));
    assert!(!all.to_string().contains("safe.py"), "{all}");
    assert_eq!(shopper.call("index_folder", json!({"path": site.folder("shop")}))["code"], "access_denied");
    assert_eq!(shopper.call("invalidate_cache", json!({"repo": site.repo("shop")}))["code"], "access_denied");
    assert_eq!(shopper.call("index_repo", json!({"url": "pallets/flask"}))["code"], "access_denied");
    assert_eq!(shopper.call("search_repositories", json!({"query": "x"}))["code"], "access_denied");
    let resources = shopper.ask("resources/list", json!({}));
    assert_eq!(resources["result"]["resources"].as_array().map(Vec::len), Some(1), "{resources}");
    assert_eq!(nobody.call("search_symbols", json!({"query": "add"}))["code"], "not_indexed");
    let stats = nobody.call("get_session_stats", json!({}));
    assert_eq!((&stats["session_calls"], &stats["total_calls"]), (&json!(2), &json!(2)), "its own calls: {stats}");
    let indexed = chief.call("index_folder", json!({"path": site.folder("unseen")}));
    assert_eq!(indexed["success"], true, "{indexed}");
    assert_eq!([n_repos(&mut shopper), n_repos(&mut chief)], [1, 3]);
    let gone = chief.call("invalidate_cache", json!({"repo": site.repo("unseen")}));
    assert!(gone["error"].is_null(), "{gone}");
    for (name, status) in [("shopper", 403), ("chief", 200), ("nobody", 403)] {
        assert_eq!(site.client().with_token(&token(name)).get("/metrics").status, status, "{name}");
    }
    assert_eq!(site.client().get("/metrics").status, 401);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(site.client().get(path).status, 200, "{path}");
    }
}

#[test]
fn a_session_is_its_callers_alone_and_tokens_change_without_a_restart() {
    let place = tempfile::tempdir().expect("a folder");
    let path = tokens(place.path(), &[("alice", "repos = [\"*\"]"), ("bob", "repos = [\"*\"]")]);
    let site = Site::start(&["--tokens", path.to_str().expect("a path")]);
    let mut alice = site.client().with_token(&token("alice"));
    alice.open(V2025);
    let mut thief = alice.clone().with_token(&token("bob"));
    assert_eq!(thief.post_ping().status, 404, "replayed by another");
    assert_eq!(thief.get("/mcp").status, 404);
    assert_eq!(thief.close().status, 404);
    assert_eq!(alice.post_ping().status, 200);
    tokens(place.path(), &[("bob", "repos = [\"*\"]")]);
    assert_eq!(alice.post_ping().status, 401, "her token is gone");
    thief.forget_session();
    assert!(thief.open(V2025)["result"].is_object());
    fs::write(&path, "[bob").expect("ours");
    assert_eq!(thief.post_ping().status, 503, "nobody is let in by a broken file");
}

#[test]
fn rights_that_change_count_in_an_open_session() {
    let place = tempfile::tempdir().expect("a folder");
    let path = tokens(place.path(), &[("alice", "repos = [\"*\"]")]);
    let site = Site::start(&["--tokens", path.to_str().expect("a path")]);
    let mut alice = site.client().with_token(&token("alice"));
    alice.open(V2025);
    assert_eq!(alice.call("list_repos", json!({}))["count"], 2);
    tokens(place.path(), &[("alice", "repos = [\"local/shop-*\"]")]);
    assert_eq!(alice.call("list_repos", json!({}))["count"], 1);
}

#[test]
fn a_stream_or_a_call_ends_when_its_caller_loses_rights_and_others_go_on() {
    let place = tempfile::tempdir().expect("a folder");
    let (all, shop) = ("repos = [\"*\"]\nindex = true", "repos = [\"local/shop-*\"]\nindex = true");
    let more = "repos = [\"local/shop-*\", \"x/*\"]\nindex = true";
    let path = tokens(place.path(), &[("alice", all), ("bob", all), ("carol", shop)]);
    // A provider of embeddings that takes every request and answers none.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let base = format!("http://localhost:{}/v1", silent.local_addr().expect("it is bound").port());
    let provider =
        [("OPENAI_API_BASE", &*base), ("OPENAI_EMBED_MODEL", "toy"), ("CODELODE_TRUSTED_HOSTS", "localhost")];
    let site = Site::start_with(&["--tokens", path.to_str().expect("a path"), "--web"], &provider);
    let streams = ["alice", "bob", "carol"].map(|name| {
        let wanted = json!({"notifications": {"resourcesListChanged": true}});
        let headers = [("MCP-Protocol-Version", V2026), ("Mcp-Method", "subscriptions/listen")];
        let newest = site.client().with_token(&token(name)).events(&newest("subscriptions/listen", wanted), &headers);
        let mut client = site.client().with_token(&token(name));
        client.open(V2025);
        [newest, BufReader::new(client.listen())]
    });
    let [mut call_of_alice, mut call_of_carol] = [("alice", "vault"), ("carol", "shop")].map(|(name, repo)| {
        let params = json!({"name": "embed_repo", "arguments": {"repo": site.repo(repo)}});
        let headers = [("MCP-Protocol-Version", V2026), ("Mcp-Method", "tools/call"), ("Mcp-Name", "embed_repo")];
        let stream = site.client().with_token(&token(name)).events(&newest("tools/call", params), &headers);
        (stream, silent.accept().expect("the provider is asked"))
    });
    // One token is gone, one sees less, and one sees more.
    tokens(place.path(), &[("bob", shop), ("carol", more)]);
    let goes_on = |stream: &mut BufReader<TcpStream>| {
        stream.get_ref().set_read_timeout(Some(Duration::from_millis(100))).expect("it is a socket");
        let ended = stream.read_to_end(&mut Vec::new());
        assert!(ended.is_err(), "it goes on: {ended:?}");
    };
    let mut told = String::new();
    call_of_alice.0.read_to_string(&mut told).expect("it ends");
    assert!(!told.contains("\"result\""), "{told}");
    goes_on(&mut call_of_carol.0);
    let [alice, bob, carol] = streams;
    for mut stream in alice.into_iter().chain(bob) {
        while Client::event(&mut stream).is_some() {}
    }
    carol.into_iter().for_each(|mut stream| goes_on(&mut stream));
}

#[test]
fn a_caller_that_names_no_repository_means_the_default_of_its_token() {
    let place = tempfile::tempdir().expect("a folder");
    let site = Site::start(&[]);
    let shop = site.repo("shop");
    let vault = site.repo("vault");
    let rights = |default: &str| format!("repos = [\"local/*\"]\ndefault = \"{default}\"");
    let (own, other) = (rights(&shop), rights("local/nothing"));
    let path = tokens(place.path(), &[("alice", &own), ("bob", &other), ("carol", "repos = [\"*\"]")]);
    let site = site.beside(&["--tokens", path.to_str().expect("a path")]);
    let repo = |name: &str, arguments: Value, roots: &[&Path]| {
        let mut client = site.client().with_token(&token(name));
        client.open_with(V2025, if roots.is_empty() { json!({}) } else { json!({"roots": {}}) });
        if !roots.is_empty() {
            client.tell_roots(roots);
        }
        let answer = client.call("search_symbols", arguments);
        answer["_meta"]["repo"].as_str().or(answer["code"].as_str()).unwrap_or_default().to_owned()
    };
    assert_eq!(repo("alice", json!({"query": "add"}), &[]), shop);
    assert_eq!(repo("alice", json!({"query": "add", "repo": vault}), &[]), vault, "a name comes first");
    assert_eq!(repo("alice", json!({"query": "add"}), &[&site.folder("vault")]), vault, "and so does a root");
    assert_eq!(repo("alice", json!({"query": "add"}), &[Path::new("/elsewhere")]), shop);
    let missing = repo("bob", json!({"query": "add"}), &[]);
    assert!(["not_indexed", "not_found"].contains(&missing.as_str()), "{missing}");
    assert_eq!(repo("carol", json!({"query": "add"}), &[]), "ambiguous");
}

#[test]
fn requests_for_other_names_and_from_web_pages_are_refused() {
    let site = Site::start(&["--allow-host", "code.example", "--allow-origin", "https://tools.example"]);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let status = |headers: &[(&str, &str)]| site.client().send_with("POST", &ping, headers).status;
    for refused in [
        &[("Host", "evil.example")][..],
        &[("Host", "127.0.0.1.evil.example")],
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "http://127.0.0.1")],
    ] {
        assert_eq!(status(refused), 403, "{refused:?}");
    }
    // These get as far as the session that they lack.
    for let_in in [&[("Host", "code.example")][..], &[("Origin", "https://tools.example")], &[("Host", "localhost")]] {
        assert_eq!(status(let_in), 400, "{let_in:?}");
    }
}

#[test]
fn measurements_and_the_log_tell_of_calls_and_nothing_that_was_asked() {
    let site = Site::start(&[]);
    let mut client = site.client();
    client.open(V2025);
    client.call("search_symbols", json!({"query": "a_query_of_mine", "repo": site.repo("shop")}));
    client.call("search_symbols", json!({"repo": site.repo("shop"), "bad": 1}));
    client.call("no_such_tool_of_mine", json!({}));
    let page = client.get("/metrics").body;
    for line in [
        "codelode_calls_total{tool=\"search_symbols\",outcome=\"ok\"} 1",
        "codelode_calls_total{tool=\"search_symbols\",outcome=\"invalid_arguments\"} 1",
        "codelode_calls_total{tool=\"unknown\",outcome=\"not_found\"} 1",
        "codelode_call_seconds_count{tool=\"search_symbols\"} 2",
        "codelode_open_sessions 1",
        "codelode_open_indexes 1",
        "codelode_index_cache_total{outcome=\"miss\"} 1",
    ] {
        assert!(page.lines().any(|other| other == line), "{line} is not in\n{page}");
    }
    assert!(page.contains(&format!("codelode_index_age_seconds{{repo=\"{}\"}}", site.repo("shop"))), "{page}");
    let refused = client.send_with("POST", "{}", &[("Host", "evil.example")]);
    let id = refused.header("x-request-id").expect("every answer has one").to_owned();
    let log = site.log_with(&id);
    let calls = log.lines().filter(|line| line.contains("tool=\"search_symbols\"")).count();
    assert!(calls == 2 && log.contains("caller=\"local\"") && log.contains("outcome=\"ok\""), "{log}");
    assert!(log.lines().any(|line| line.contains(&id) && line.contains("403")), "{log}");
    assert!(!log.contains("of_mine") && !page.contains("of_mine"), "{log}\n{page}");
}

#[test]
fn what_is_not_there_is_said() {
    let site = Site::start(&[]);
    for path in ["/", "/mcp/", "/mcp/../metrics", "//mcp", "/%6dcp", "/healthz/x"] {
        assert_eq!(site.client().get(path).status, 404, "{path}");
    }
    let client = site.client();
    assert_eq!(client.send_to("PUT", "/mcp", "{}", &[]).status, 405);
    assert_eq!(client.send_to("POST", "/metrics", "{}", &[]).status, 405);
    assert_eq!(client.send_with("POST", "{}", &[("Content-Type", "text/plain")]).status, 400);
}

#[test]
fn told_to_end_it_finishes_what_runs_and_goes() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut site = Site::start(&[]);
        let mut client = site.client();
        client.open(V2025);
        client.call("search_symbols", json!({"query": "add", "repo": site.repo("shop")}));
        // An open stream does not keep it.
        let stream = client.listen();
        site.signal(signal);
        assert!(site.ended().success());
        drop(stream);
    }
}

/// A reply's message, for what is sent as JSON or as events.
impl Reply {
    fn message(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no message in {} {}", self.status, self.body))
    }
}
