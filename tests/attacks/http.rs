//! Requests of hostile clients over HTTP: none gets an answer that it should not, and the server goes on.

use std::fs;
use std::io::{Read, Write};

use proptest::prelude::*;
use serde_json::json;

use super::web::{Client, PATIENCE, Reply, Site};

pub(super) const REVISION: &str = "2025-06-18";
/// A server may have so many megabytes resident while it refuses requests.
pub(super) const LITTLE: i64 = 200;
/// So many with as many sessions as it keeps.
const MUCH: i64 = 400;
/// So many with as many calls as run at once; all large requests together were 1,500.
const BUSY: i64 = 700;

/// Whether a client of good manners is still served.
pub(super) fn serves(client: &Client) {
    let mut client = client.clone();
    client.forget_session();
    client.open(REVISION);
    assert!(client.call("list_repos", json!({}))["count"].is_u64());
    assert_eq!(client.close().status, 204);
}

pub(super) fn peak(site: &Site) -> i64 {
    let status = fs::read_to_string(format!("/proc/{}/status", site.child.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system counts it");
    line.trim().trim_end_matches(" kB").parse::<i64>().expect("a number") / 1024
}

/// Sends bytes as they are and closes that direction; gives the answer.
pub(super) fn raw(site: &Site, bytes: &[u8]) -> Reply {
    let mut stream = site.connect();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    Reply::read(&mut stream)
}

#[test]
fn malformed_requests_get_no_answer_that_they_should_not() {
    let site = Site::start(&[]);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let flood: String = (0..5_000).map(|i| format!("X-{i}: y\r\n")).collect();
    let long = "x".repeat(200_000);
    let hostile = [
        "GARBAGE\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{body}\r\n0\r\n\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{body}\r\n0\r\n\r\n"),
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}", body.len()),
        format!("{head}Transfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n\r\n{body}"),
        format!("{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{body}"),
        format!("{head}Content-Length: -1\r\n\r\n{body}"),
        format!("{head}Content-Length: 99999999999999999999\r\n\r\n{body}"),
        format!("{head}Content-Length: {}\r\n\r\n{body}", body.len() + 10),
        format!("{head}{flood}\r\n{body}"),
        format!("{head}X-Long: {long}\r\n\r\n{body}"),
        format!("POST /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        format!("{head}Bad Header: x\r\n\r\n"),
        format!("{head}X: a\r\n b\r\n\r\n"),
        "POST /mcp HTTP/1.1\r\n\r\n".to_owned(),
        "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "TRACE /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        "GET /mcp%2f..%2fmetrics HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
        format!("{head}Origin: https://evil.example\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
        format!("{head}Mcp-Session-Id: 1\r\nMcp-Session-Id: 2\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
        format!("{head}Mcp-Session-Id: \u{7f}\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
    ];
    for request in &hostile {
        let reply = raw(&site, request.as_bytes());
        assert!(!(200..300).contains(&reply.status), "{request:.200}: {reply:?}");
    }
    serves(&site.client());
    assert!(peak(&site) < LITTLE, "took {} MB", peak(&site));
}

#[test]
fn any_bytes_leave_the_server_serving() {
    let site = Site::start(&[]);
    let good = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
        Content-Type: application/json\r\nContent-Length: 40\r\nConnection: close\r\n\r\n\
        {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(edits in prop::collection::vec((0..good.len(), any::<u8>()), 1..6), end in 0..good.len())| {
        let mut bytes = good.to_vec();
        for (at, byte) in edits {
            bytes[at] = byte;
        }
        bytes.truncate(end.max(20));
        let reply = raw(&site, &bytes);
        prop_assert!(!(200..300).contains(&reply.status), "{:?}", reply);
    });
    serves(&site.client());
}

#[test]
fn guessed_and_replayed_secrets_open_nothing() {
    let site = Site::start_with(&[], &[("CODELODE_HTTP_TOKEN", "a token that nobody guesses")]);
    let mut owner = site.client().with_token("a token that nobody guesses");
    owner.open(REVISION);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for wrong in [
        &[][..],
        &[("Authorization", "")],
        &[("Authorization", "Bearer")],
        &[("Authorization", "Bearer ")],
        &[("Authorization", "Bearer a token that nobody guesse")],
        &[("Authorization", "Bearer a token that nobody guessesx")],
        &[("Authorization", "Basic a token that nobody guesses")],
        &[("Authorization", "a token that nobody guesses")],
        &[("Authorization", "Bearer x"), ("Authorization", "Bearer a token that nobody guesses")],
        &[("Authorization", "Bearer eyJhbGciOiJub25lIn0.e30.")],
        &[("X-Forwarded-For", "127.0.0.1"), ("X-Real-Ip", "127.0.0.1"), ("Forwarded", "for=127.0.0.1")],
        &[("Cookie", "token=a token that nobody guesses")],
    ] {
        let stranger = site.client();
        for path in ["/mcp", "/mcp?token=a%20token%20that%20nobody%20guesses"] {
            let refused = stranger.send_to("POST", path, ping, wrong);
            assert_eq!(refused.status, 401, "{path} {wrong:?}: {refused:?}");
            assert!(refused.header("www-authenticate").is_some_and(|how| how.starts_with("Bearer")), "{refused:?}");
        }
        assert_eq!(stranger.send_to("GET", "/metrics", "", wrong).status, 401);
    }
    let secret = "nobody guesses";
    assert!(!site.log().contains(secret), "{}", site.log());
    // Sessions: guessed, ended, and of no one.
    for session in ["", "0", "../../etc", &"x".repeat(10_000), "00000000-0000-0000-0000-000000000000"] {
        let reply = owner.send_with("POST", ping, &[("Mcp-Session-Id", session)]);
        assert_eq!(reply.status, 404, "{session:.50}: {reply:?}");
    }
    assert_eq!(owner.close().status, 204);
    assert_eq!(owner.post_ping().status, 404);
    serves(&owner);
}

#[test]
fn those_that_dawdle_keep_nobody_out() {
    let site = Site::start(&[]);
    let mut slow = Vec::new();
    for i in 0..300 {
        let mut stream = site.connect();
        let sent: &[u8] = match i % 3 {
            0 => b"",
            1 => b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-",
            _ => b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n{",
        };
        stream.write_all(sent).expect("the server reads");
        slow.push(stream);
    }
    serves(&site.client());
    // The server leaves a body that does not come; heads have the same kind of limit.
    let mut answer = [0; 12];
    slow[2].set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    slow[2].read_exact(&mut answer).expect("an answer comes before the client has sent all");
    assert_eq!(&answer, b"HTTP/1.1 408");
    serves(&site.client());
    assert!(peak(&site) < LITTLE, "took {} MB", peak(&site));
}

#[test]
fn large_bodies_are_not_kept() {
    let site = Site::start(&[]);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    for _ in 0..20 {
        let mut stream = site.connect();
        stream.write_all(head.as_bytes()).expect("the server reads");
        let chunk = format!("100000\r\n{}\r\n", " ".repeat(0x10_0000));
        // The server stops reading after a few.
        let n_taken = (0..200).take_while(|_| stream.write_all(chunk.as_bytes()).is_ok()).count();
        assert!(n_taken < 100, "it reads on");
    }
    let nested = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(site.client().send("POST", &nested).status, 400);
    serves(&site.client());
    assert!(peak(&site) < LITTLE, "took {} MB", peak(&site));
}

#[test]
fn many_large_requests_share_a_bounded_memory() {
    let site = Site::start(&[]);
    let slow = site.folder("slow");
    fs::write(slow.join("slow.js"), format!("x = 1{};\n{}", "+1".repeat(20_000), "f();\n".repeat(30_000)))
        .expect("the folder is ours");
    let slow = slow.to_str().expect("a path is text").to_owned();
    site.run(&["index", &slow]);
    let ask = |tool: &str, arguments: serde_json::Value| {
        let mut client = site.client();
        client.open(REVISION);
        let params = json!({"name": tool, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        // A body that has to wait for too long is refused.
        let status = client.send("POST", &request.to_string()).status;
        assert!([200, 408].contains(&status), "{status}");
    };
    std::thread::scope(|scope| {
        // As many as run at once, so that the others wait with all that they hold.
        for _ in 0..32 {
            scope.spawn(|| ask("search_ast", json!({"pattern": "(_ (_) @a) @b", "repo": slow})));
        }
        for _ in 0..150 {
            scope.spawn(|| ask("list_repos", json!({"repo": "z".repeat(3_900_000)})));
        }
    });
    serves(&site.client());
    assert!(peak(&site) < BUSY, "took {} MB", peak(&site));
}

#[test]
fn bodies_in_pieces_of_a_byte_take_no_more_than_others() {
    let site = Site::start(&[]);
    let pieces = "1\r\n \r\n".repeat(500_000);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut stream = site.connect();
                let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
                // The server may leave a body that takes too long.
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(pieces.as_bytes()));
            });
        }
    });
    serves(&site.client());
    assert!(peak(&site) < LITTLE / 2, "took {} MB", peak(&site));
}

#[test]
fn sessions_of_a_hoarder_make_room() {
    let site = Site::start(&[]);
    let mut first = site.client();
    first.open(REVISION);
    for _ in 0..2_100 {
        site.client().open(REVISION);
    }
    let open = site.client().number("codelode_open_sessions");
    assert!(open <= 2_048.0, "{open} sessions");
    assert_eq!(first.post_ping().status, 404, "the oldest made room");
    serves(&site.client());
    assert!(peak(&site) < MUCH, "took {} MB", peak(&site));
}
