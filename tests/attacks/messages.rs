//! Messages of a hostile client.

use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Place, peak};

/// A server may have so many megabytes resident while it refuses messages.
const LITTLE: i64 = 200;

fn place() -> Place {
    Place::with([("a.py", "def f(x):\n    return f((x))\n".to_owned())])
}

/// A call whose only argument holds this JSON again and again.
fn call(tool: &str, parameter: &str, item: &str, bytes: usize) -> String {
    let items = format!("{item},").repeat(bytes / (item.len() + 1)) + item;
    format!(
        r#"{{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{{"name":"{tool}","arguments":{{"{parameter}":[{items}]}}}}}}"#
    )
}

#[test]
fn what_is_too_large_is_refused_before_it_is_built() {
    let place = place();
    let mut server = place.serve();
    let millions = 3_900_000;
    for line in [
        call("nope", "x", "[]", millions),
        call("nope", "x", r#"{"":0}"#, millions),
        call("get_symbols", "symbol_ids", r#""a.py::f""#, millions),
        call("check_references", "identifiers", r#""f""#, millions),
        call("search_text", "query", "0", millions),
    ] {
        server.send(&line);
        let answer = server.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("big"), &json!(-32600)), "{answer}");
    }
    // Some clients write the id first and some last.
    let first = call("nope", "x", "[]", 5_000_000);
    let last = first.replacen(r#""id":"big","#, "", 1).trim_end_matches('}').to_owned() + r#"}},"id":"big"}"#;
    for line in [first, last] {
        server.send(&line);
        let answer = server.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("big"), &json!(-32600)), "{answer}");
        assert!(answer["error"]["message"].as_str().expect("a message").contains("4 MB"), "{answer}");
    }
    assert!(peak(&server) < LITTLE, "took {} MB", peak(&server));
}

#[test]
fn arguments_have_greatest_lengths() {
    let place = place();
    let mut server = place.serve();
    for (tool, arguments, expected) in [
        ("get_symbols", json!({"symbol_ids": vec!["a"; 1_001]}), "`symbol_ids` has more than 1000 entries"),
        ("get_symbols", json!({"symbol_ids": ["a".repeat(10_001)]}), "`symbol_ids` has an entry longer"),
        ("search_text", json!({"query": "a".repeat(65_537)}), "`query` is longer than 65536 bytes"),
        ("search_text", json!({"query": "a", "repo": "z".repeat(10_001)}), "`repo` is longer than 10000 bytes"),
    ] {
        let answer = server.call(tool, arguments);
        assert_eq!(answer["code"], "invalid_arguments", "{answer}");
        assert!(answer["error"].as_str().expect("a message").starts_with(expected), "{answer}");
    }
}

#[test]
fn a_pasted_log_is_a_question_that_is_cut() {
    let place = place();
    let mut server = place.serve();
    let log = "f: ".to_owned()
        + &"  File \"/usr/lib/handlers.py\", line 7, in handle\n    return call(x) ? y : *z\n".repeat(2_000);
    for tool in ["search_symbols", "get_ranked_context"] {
        let answer = server.call(tool, json!({"query": log}));
        assert!(answer["error"].is_null(), "{answer:.300}");
        assert!(answer["_meta"]["hint"].as_str().is_some_and(|hint| hint.ends_with("65536 are used")), "{answer:.300}");
    }
    // Code that begins as a query does, with more than a query may have of `?`.
    let ternaries = format!("[{}d]", "(a ? b : c), ".repeat(200));
    let answer = server.call("search_ast", json!({"pattern": ternaries, "language": "javascript"}));
    assert!(answer["error"].is_null(), "{answer:.300}");
}

#[test]
fn errors_do_not_repeat_what_they_were_given() {
    let place = place();
    let source = place.source();
    let mut server = place.serve();
    let wrong = "(".repeat(9_000);
    for (tool, arguments) in [
        ("search_text", json!({"query": wrong, "is_regex": true})),
        ("grep_repository", json!({"repository": source, "pattern": wrong})),
        ("search_text", json!({"query": "a", wrong.clone(): 1})),
        ("search_symbols", json!({"query": "a", "language": wrong})),
        ("get_file_outline", json!({"file_path": wrong})),
        ("search_ast", json!({"pattern": wrong, "language": "python"})),
        (&wrong, json!({})),
    ] {
        let answer = server.call(tool, arguments);
        assert!(answer["error"].is_string(), "{answer}");
        assert!(answer.to_string().len() < 4_000, "{tool:.20}: {} bytes", answer.to_string().len());
    }
}

#[test]
fn a_client_that_never_reads_is_not_read_from() {
    let place = place();
    place.run(&["index", "."]);
    let mut child =
        place.command(&["serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it is built");
    let mut input = child.stdin.take().expect("it is piped");
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
        .expect("it reads");
    // SAFETY: the descriptor is ours and open.
    unsafe { libc::fcntl(input.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    let (mut sent, mut idle) = (0, Instant::now());
    // It takes what it has room for, and then nothing more for a while.
    while idle.elapsed() < Duration::from_secs(2) {
        sent += 1;
        match writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": sent, "method": "tools/list"})) {
            Ok(()) => idle = Instant::now(),
            Err(err) if err.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
            Err(err) => panic!("{err}"),
        }
        assert!(sent < 1_000_000, "it reads for ever");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system counts it");
    let peak: i64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    let _ = child.kill();
    let _ = child.wait();
    assert!(peak / 1024 < LITTLE, "took {} MB", peak / 1024);
}

#[test]
fn what_does_not_fit_the_protocol_is_said() {
    let place = place();
    let mut server = place.serve();
    for (line, id, code) in [
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":5,"capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#,
            json!(7),
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{"a":"\ud800"}}"#, json!(8), -32700),
        (r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"zzz"}}"#, json!(9), -32602),
        (r#"{"jsonrpc":"2.0","id":10,"method":"completion/complete","params":{}}"#, json!(10), -32601),
        (r#"{"jsonrpc":"2.0","id":11,"method":"logging/setLevel","params":{}}"#, json!(11), -32601),
    ] {
        server.send(line);
        let answer = server.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
    }
    assert_eq!(server.ask("ping", json!({}))["result"], json!({}));
}
