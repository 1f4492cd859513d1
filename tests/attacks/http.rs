//! Requests of hostile clients over HTTP: none gets an answer that it should not, and the server goes on.

use std::fs;
use std::io::{Read, Write};

use proptest::prelude::*;
use serde_json::json;

use super::web::{Client, PATIENCE, Reply, Site};

const REVISION: &str = "2025-06-18";
/// A server may have so many megabytes resident while it refuses requests.
const LITTLE: i64 = 200;
/// So many with as many sessions as it keeps.
const MUCH: i64 = 400;
/// So many with as many calls as run at once; all large requests together were 1,500.
const BUSY: i64 = 700;

/// Whether a client of good manners is still served.
fn serves(client: &Client) {
    let mut client = client.clone();
    client.forget_session();
    client.open(REVISION);
    assert!(client.call("list_repos", json!({}))["count"].is_u64());
    assert_eq!(client.close().status, 204);
}

fn peak(site: &Site) -> i64 {
    let status = fs::read_to_string(format!("/proc/{}/status", site.child.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the system counts it");
    line.trim().trim_end_matches(" kB").parse::<i64>().expect("a number") / 1024
}

/// Sends bytes as they are and closes that direction; gives the answer.
fn raw(site: &Site, bytes: &[u8]) -> Reply {
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

/// Requests of [`requests_of_every_sort_get_no_answer_that_they_should_not`], unless `CODELODE_REQUESTS` says another number.
const REQUESTS: usize = 2_000;

/// A source of choices.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

/// A hostile request: parts that are each right, wrong or broken, at least one of them so that nothing may be answered.
fn of_any_sort(dice: &mut Dice) -> Vec<u8> {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_repos","arguments":{}}}"#;
    let of = |all: &[&str], dice: &mut Dice| all[dice.below(all.len())].to_owned();
    let method = of(
        &["POST", "POST", "POST", "GET", "DELETE", "PUT", "PATCH", "TRACE", "OPTIONS", "CONNECT", "post", "P\0ST"],
        dice,
    );
    let path = of(
        &[
            "/mcp",
            "/mcp",
            "/mcp",
            "/metrics",
            "/mcp?x=1",
            "/mcp/",
            "//mcp",
            "/mcp/../mcp",
            "/%6d%63%70",
            "/mcp%00",
            "/mcp;a",
            "/hooks/github",
            "/hooks/gitlab",
            "/hooks/generic?repo=shop",
            "/hooks/../mcp",
            "/.well-known/../metrics",
            "/sse",
            "/messages?session_id=1",
            "http://localhost/mcp",
            "*",
            "/web",
            "/sign-in",
            "\\mcp",
        ],
        dice,
    );
    let token = of(
        &[
            "",
            "Authorization: Bearer guessed",
            "Authorization: Bearer a token that nobody guesse",
            "Authorization: Bearer ",
            "Authorization: Basic YTpi",
            "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.",
            "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.AAAA",
            "Authorization: Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJhIn0.AAAA",
            "Cookie: codelode_8901=6775657373",
            "X-Hub-Signature-256: sha256=00",
            "X-Gitlab-Token: guessed",
            "X-Signature-256: sha256=",
            "Authorization: Bearer x\r\nAuthorization: Bearer a token that nobody guesses",
        ],
        dice,
    );
    let extra = of(
        &[
            "",
            "Origin: https://evil.example",
            "Origin: null",
            "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: localhost",
            "Mcp-Session-Id: 1",
            "Mcp-Session-Id: ../../etc",
            "MCP-Protocol-Version: 2026-07-28",
            "MCP-Protocol-Version: 9999-99-99",
            "Last-Event-ID: 0/0",
            "Expect: 100-continue",
            "Upgrade: h2c\r\nConnection: Upgrade",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: gzip",
            "Content-Encoding: gzip",
            "X: \u{1}",
            "Range: bytes=0-",
            "Connection: keep-alive, \u{7f}",
        ],
        dice,
    );
    let host = of(
        &[
            "localhost",
            "localhost",
            "localhost",
            "evil.example",
            "localhost:99999",
            "",
            "a@localhost",
            "localhost\r\nHost: localhost",
        ],
        dice,
    );
    let body = match dice.below(6) {
        0 => ping.to_owned(),
        1 => call.to_owned(),
        2 => "[".repeat(1 + dice.below(5_000)),
        3 => format!("[{ping},{ping}]"),
        4 => call.replace("1,", &format!("{},", "9".repeat(1 + dice.below(400)))),
        _ => String::new(),
    };
    let length = match dice.below(8) {
        0 => "99999999".to_owned(),
        1 => "-1".to_owned(),
        2 => format!("{}\r\nContent-Length: 0", body.len()),
        _ => body.len().to_string(),
    };
    let flood: String = match dice.below(20) {
        0 => (0..60 + dice.below(2_000)).map(|n| format!("X-{n}: y\r\n")).collect(),
        1 => format!("X: {}\r\n", "y".repeat(30_000 + dice.below(70_000))),
        _ => String::new(),
    };
    let lines = [token, extra].map(|line| if line.is_empty() { line } else { line + "\r\n" }).concat();
    let kind = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{kind}{lines}{flood}Content-Length: {length}\r\n\r\n");
    let mut bytes = [head.as_bytes(), body.as_bytes()].concat();
    if dice.below(10) == 0 {
        let at = dice.below(bytes.len());
        bytes.truncate(at);
    }
    bytes
}

#[test]
fn requests_of_every_sort_get_no_answer_that_they_should_not() {
    let place = tempfile::tempdir().expect("there is room for a folder");
    let path = |name: &str, text: &str| {
        let path = place.path().join(name);
        fs::write(&path, text).expect("the folder is ours");
        path.display().to_string()
    };
    let tokens = path("tokens.toml", "[readers]\nscope = \"read\"\nrepos = [\"*\"]\n");
    let repos = path(
        "repos.toml",
        "[shop]\nurl = \"https://code.invalid/shop\"\npoll = \"never\"\nsecret_env = \"HOOK_SECRET\"\n",
    );
    // Nobody answers for the keys of this issuer.
    let issuer = ["--oauth-issuer", "http://127.0.0.1:1", "--oauth-resource", "https://code.example/mcp"];
    let flags = [&["--tokens", &tokens, "--repos", &repos, "--web"][..], &issuer].concat();
    let secrets = [
        ("CODELODE_HTTP_TOKEN", "a token that nobody guesses"),
        ("HOOK_SECRET", "a secret of the forge"),
        ("CODELODE_TRUSTED_HOSTS", "127.0.0.1"),
    ];
    let site = Site::start_with(&flags, &secrets);
    let n_requests = std::env::var("CODELODE_REQUESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let site = &site;
            scope.spawn(move || {
                let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (thread + 1));
                for _ in 0..n_requests / 4 {
                    let request = of_any_sort(&mut dice);
                    let reply = raw(site, &request);
                    let shown = String::from_utf8_lossy(&request[..request.len().min(600)]).into_owned();
                    // A browser is asked to sign in, which is an answer, too.
                    let asks_to_sign_in = reply.body.contains("<form") && !reply.body.contains("local/");
                    assert!(!(200..300).contains(&reply.status) || asks_to_sign_in, "{shown}: {reply:?}");
                    assert!(!reply.body.contains("local/shop"), "{shown}: {reply:?}");
                }
            });
        }
    });
    serves(&site.client().with_token("a token that nobody guesses"));
    assert!(peak(&site) < LITTLE, "took {} MB", peak(&site));
}
