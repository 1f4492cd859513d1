//! Hostile requests of every sort over HTTP, by the thousand: parts that are each right, wrong or broken; tokens that were
//! truly signed and count for nothing; sessions of others; senders that dawdle. None gets an answer that it should not.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ring::hmac;
use serde_json::{Value, json};

use super::http::{LITTLE, REVISION, peak, raw, serves};
use super::issuer::{Issuer, RESOURCE, encoded, ready};
use super::random::Random;
use super::web::{Reply, Site};

/// Requests, unless `CODELODE_REQUESTS` says another number.
const REQUESTS: usize = 2_000;
/// Connections that dawdle all the time.
const DAWDLERS: usize = 100;
/// The token of the owner.
const OWN: &str = "a token that nobody guesses";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A hostile request: parts that are each right, wrong or broken, at least one of them so that nothing may be answered.
fn of_parts(random: &mut Random, forged: &str) -> Vec<u8> {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_repos","arguments":{}}}"#;
    let of = |all: &[&str], random: &mut Random| all[random.below(all.len())].to_owned();
    let method = of(
        &["POST", "POST", "POST", "GET", "DELETE", "PUT", "PATCH", "TRACE", "OPTIONS", "CONNECT", "post", "P\0ST"],
        random,
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
        random,
    );
    let bearer = format!("Authorization: Bearer {forged}");
    let token = of(
        &[
            "",
            &bearer,
            &bearer,
            "Authorization: Bearer guessed",
            "Authorization: Bearer a token that nobody guesse",
            "Authorization: Bearer ",
            "Authorization: Basic YTpi",
            "Authorization: Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.",
            "Cookie: codelode_8901=6775657373",
            "X-Hub-Signature-256: sha256=00",
            "X-Gitlab-Token: guessed",
            "X-Signature-256: sha256=",
            "Authorization: Bearer x\r\nAuthorization: Bearer a token that nobody guesses",
        ],
        random,
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
        random,
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
        random,
    );
    let body = match random.below(6) {
        0 => ping.to_owned(),
        1 => call.to_owned(),
        2 => "[".repeat(1 + random.below(5_000)),
        3 => format!("[{ping},{ping}]"),
        4 => call.replace("1,", &format!("{},", "9".repeat(1 + random.below(400)))),
        _ => String::new(),
    };
    let length = match random.below(8) {
        0 => "99999999".to_owned(),
        1 => "-1".to_owned(),
        2 => format!("{}\r\nContent-Length: 0", body.len()),
        _ => body.len().to_string(),
    };
    let flood: String = match random.below(20) {
        0 => (0..60 + random.below(2_000)).map(|n| format!("X-{n}: y\r\n")).collect(),
        1 => format!("X: {}\r\n", "y".repeat(30_000 + random.below(70_000))),
        _ => String::new(),
    };
    let lines = [token, extra].map(|line| if line.is_empty() { line } else { line + "\r\n" }).concat();
    let kind = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
    let head =
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{kind}{lines}{flood}Content-Length: {length}\r\n\r\n");
    let mut bytes = [head.as_bytes(), body.as_bytes()].concat();
    if random.below(10) == 0 {
        let at = random.below(bytes.len());
        bytes.truncate(at);
    }
    bytes
}

/// A token that a server of the issuer must not take: most are truly signed by it.
fn forged(random: &mut Random, issuer: &Issuer, other: &Issuer) -> String {
    let header = json!({"alg": "EdDSA", "kid": "1", "typ": "at+jwt"});
    let right = issuer.claims("all");
    let now = right["exp"].as_u64().expect("a time") - 300;
    let claims = |key: &str, value: Value| {
        let mut claims = right.clone();
        claims[key] = value;
        claims
    };
    let headed = |key: &str, value: Value| {
        let mut header = header.clone();
        header[key] = value;
        header
    };
    let signed = |claims: &Value| issuer.signed(&header, claims);
    let good = signed(&right);
    let (text, signature) = good.rsplit_once('.').expect("three parts");
    let payload = text.split_once('.').expect("two parts").1;
    match random.below(20) {
        0 => signed(&claims("exp", json!(now - 60 - random.below(100_000) as u64))),
        1 => signed(&claims("exp", json!(["a number", -1, null, {"x": 1}])[random.below(4)].clone())),
        2 => signed(&claims("nbf", json!(now + 600))),
        3 => signed(&claims("iss", json!(other.url))),
        4 => signed(&claims("aud", json!("https://other.example/mcp"))),
        5 => signed(&claims("aud", json!(["https://a.example", "https://b.example"]))),
        // Another key under the same name, and a name that nobody knows.
        6 => other.signed(&header, &right),
        7 => issuer.signed(&headed("kid", json!(format!("{}", random.below(1_000_000)))), &right),
        8 => format!("{}.{payload}.", encoded(br#"{"alg":"none"}"#)),
        9 => issuer.signed(&headed("alg", json!(["none", "None", "NONE", "nOnE"][random.below(4)])), &right),
        10 => {
            // The public key in the place of a shared secret.
            let keys: Value = serde_json::from_str(&issuer.keys.lock().expect("nobody panics with it")).expect("JSON");
            let secret = hmac::Key::new(hmac::HMAC_SHA256, keys["keys"][0]["x"].as_str().expect("a key").as_bytes());
            let text = format!("{}.{payload}", encoded(br#"{"alg":"HS256","kid":"1"}"#));
            format!("{text}.{}", encoded(hmac::sign(&secret, text.as_bytes()).as_ref()))
        }
        11 => issuer.signed(&headed("alg", json!(["RS256", "ES256", "PS512", "EdDSA "][random.below(4)])), &right),
        12 => issuer.signed(&headed("crit", json!(["exp"])), &right),
        13 => format!("{text}.{}", &signature[..signature.len() - 1 - random.below(80)]),
        14 => format!("{text}.{}{signature}", ["A", "=", ".", "%00"][random.below(4)]),
        15 => {
            // One letter of what was signed is another.
            let mut bytes = good.clone().into_bytes();
            let at = random.below(text.len());
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            String::from_utf8(bytes).expect("letters")
        }
        16 => signed(&json!({"iss": issuer.url, "scope": "all"})),
        17 => signed(&claims("sub", json!("x".repeat(25_000)))).replacen('.', "..", 1),
        18 => issuer.signed(&json!([]), &right),
        _ => format!("{}.{payload}.{signature}", encoded("[".repeat(1 + random.below(2_000)).as_bytes())),
    }
}

/// Servers under attack, and what was stolen from them.
struct Targets {
    issuer: Issuer,
    other: Issuer,
    /// One whose issuer gives its keys, and two whose issuers give none: down, and much too large.
    site: Site,
    keyless: [Site; 2],
    /// A token that opens a little, and sessions of its owner, of which the second is closed.
    reader: String,
    sessions: [String; 2],
    _place: tempfile::TempDir,
}

impl Targets {
    fn start() -> Self {
        let place = tempfile::tempdir().expect("there is room for a folder");
        let path = |name: &str, text: &str| {
            let path = place.path().join(name);
            fs::write(&path, text).expect("the folder is ours");
            path.display().to_string()
        };
        let tokens =
            path("tokens.toml", "[readers]\nscope = \"read\"\nrepos = []\n[all]\nscope = \"all\"\nrepos = [\"*\"]\n");
        let repos = path(
            "repos.toml",
            "[shop]\nurl = \"https://code.invalid/shop\"\npoll = \"never\"\nsecret_env = \"HOOK_SECRET\"\n",
        );
        let secrets = [
            ("CODELODE_HTTP_TOKEN", OWN),
            ("HOOK_SECRET", "a secret of the forge"),
            ("CODELODE_TRUSTED_HOSTS", "127.0.0.1"),
        ];
        let start = |issuer: &str, jwks: Option<&str>| {
            let mut flags = vec!["--tokens", &tokens, "--repos", &repos, "--web", "--oauth-issuer", issuer];
            flags.extend(["--oauth-resource", RESOURCE]);
            flags.extend(jwks.into_iter().flat_map(|jwks| ["--oauth-jwks", jwks]));
            Site::start_with(&flags, &secrets)
        };
        let (issuer, other, large) = (Issuer::start(), Issuer::start(), Issuer::start());
        *large.keys.lock().expect("nobody panics with it") = " ".repeat(20 << 20);
        let site = start(&issuer.url, None);
        let huge = format!("{}/keys", large.url);
        let keyless = [start(&issuer.url, Some("http://127.0.0.1:1/keys")), start(&issuer.url, Some(&huge))];
        let reader = issuer.token("read");
        ready(&site, &reader);
        let sessions = [false, true].map(|is_closed| {
            let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": REVISION, "capabilities": {}, "clientInfo": {"name": "owner", "version": "1"}}});
            let opened = site.client().with_token(OWN).send("POST", &body.to_string());
            let id = opened.header("mcp-session-id").expect("a session").to_owned();
            if is_closed {
                let ended = site.client().with_token(OWN).send_with("DELETE", "", &[("Mcp-Session-Id", &id)]);
                assert_eq!(ended.status, 204);
            }
            id
        });
        Self { issuer, other, site, keyless, reader, sessions, _place: place }
    }

    /// A hostile request, as its pieces, between which it dawdles, and the server that it goes to.
    fn request(&self, random: &mut Random) -> (&Site, Vec<Vec<u8>>) {
        let kind = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
        let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{kind}");
        let own = format!("{head}Authorization: Bearer {OWN}\r\n");
        let length = format!("Content-Length: {}\r\n", PING.len());
        let of = |all: &[&str], random: &mut Random| all[random.below(all.len())].to_owned();
        let whole = |text: String| (&self.site, vec![text.into_bytes()]);
        match random.below(100) {
            // Of every part something.
            0..45 => {
                let token = forged(random, &self.issuer, &self.other);
                (&self.site, vec![of_parts(random, &token)])
            }
            // Right but for the token.
            45..62 => {
                let token = forged(random, &self.issuer, &self.other);
                let line = of(
                    &["POST /mcp", "POST /mcp", "GET /metrics", "GET /", "GET /search?q=add", "DELETE /mcp"],
                    random,
                );
                let head = head.replacen("POST /mcp", &line, 1);
                whole(format!("{head}Authorization: Bearer {token}\r\n{length}\r\n{PING}"))
            }
            // Tokens of any sort, good ones among them, where the keys cannot be had.
            62..70 => {
                let token = match random.below(2) {
                    0 => self.issuer.token("all"),
                    _ => forged(random, &self.issuer, &self.other),
                };
                let text = format!("{head}Authorization: Bearer {token}\r\n{length}\r\n{PING}");
                (&self.keyless[random.below(2)], vec![text.into_bytes()])
            }
            // Sessions of another caller, and closed ones.
            70..77 => {
                let (session, token) = match random.below(4) {
                    0 => (&self.sessions[1], OWN.to_owned()),
                    1 => (&self.sessions[random.below(2)], forged(random, &self.issuer, &self.other)),
                    _ => (&self.sessions[random.below(2)], self.reader.clone()),
                };
                let line = of(&["POST /mcp", "POST /mcp", "GET /mcp", "DELETE /mcp"], random);
                let head = head.replacen("POST /mcp", &line, 1);
                whole(format!("{head}Authorization: Bearer {token}\r\nMcp-Session-Id: {session}\r\n{length}\r\n{PING}"))
            }
            // Pages of other sites with the owner's token, and other names of the server.
            77..84 => {
                let origin = of(
                    &[
                        "https://evil.example",
                        "null",
                        "http://localhost.evil.example",
                        "file://",
                        "http://localhost:1",
                        "x",
                    ],
                    random,
                );
                let text = format!("{own}Origin: {origin}\r\n{length}\r\n{PING}");
                whole(match random.below(3) {
                    0 => text.replacen("Host: localhost", "Host: evil.example", 1).replacen(
                        &origin,
                        "http://evil.example",
                        1,
                    ),
                    1 => format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n{length}\r\n{PING}"),
                    _ => text,
                })
            }
            // Huge bodies.
            84..88 => {
                let size = (4 << 20) + 1 + random.below(1 << 30);
                let sent = if random.below(40) == 0 { 5 << 20 } else { random.below(64 << 10) };
                whole(format!("{own}Content-Length: {size}\r\n\r\n{}", " ".repeat(sent)))
            }
            // Chunks that are none.
            88..92 => {
                let size = of(&["zz", "ffffffffffffffff", "-1", "28 ", "0x28", "", "100000000"], random);
                whole(format!("{own}Transfer-Encoding: chunked\r\n\r\n{size}\r\n{PING}\r\n"))
            }
            // Floods of headers.
            92..95 => {
                let flood: String = (0..65 + random.below(3_000)).map(|n| format!("X-{n}: y\r\n")).collect();
                whole(format!("{own}{flood}{length}\r\n{PING}"))
            }
            // Slow heads, and slow bodies, that never come to an end.
            _ => {
                let text = match random.below(2) {
                    0 => format!("{own}X-Slow: {}", "y".repeat(40)),
                    _ => format!("{own}Content-Length: {}\r\n\r\n{PING}", PING.len() + 1 + random.below(100)),
                };
                let size = text.len().div_ceil(2 + random.below(8));
                (&self.site, text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect())
            }
        }
    }
}

/// Sends pieces, with a wait between them, and gives the answer.
fn answered(site: &Site, pieces: &[Vec<u8>], random: &mut Random) -> Reply {
    let [only] = pieces else {
        let mut stream = site.connect();
        for piece in pieces {
            let _ = stream.write_all(piece);
            thread::sleep(Duration::from_millis(1 + random.below(20) as u64));
        }
        let _ = stream.shutdown(std::net::Shutdown::Write);
        return Reply::read(&mut stream);
    };
    raw(site, only)
}

/// Holds connections whose requests come byte by byte, and new ones for those that the server leaves; gives their number.
fn dawdle(site: &Site, is_over: &AtomicBool) -> usize {
    let text = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {OWN}\r\nContent-Length: 4000000\r\n\r\n{{"
    );
    let mut all: Vec<_> = (0..DAWDLERS).map(|n| (site.connect(), n % text.len())).collect();
    let mut n_begun = all.len();
    while !is_over.load(Ordering::Relaxed) {
        for (stream, at) in &mut all {
            let byte = text.as_bytes().get(*at..=*at).unwrap_or(b" ");
            match stream.write_all(byte) {
                Ok(()) => *at += 1,
                Err(_) => {
                    (*stream, *at) = (site.connect(), 0);
                    n_begun += 1;
                }
            }
        }
        thread::sleep(Duration::from_millis(100));
    }
    n_begun
}

/// Seconds of processor time that a server has taken.
fn processor(site: &Site) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", site.child.id())).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks: f64 = fields.get(11..13).into_iter().flatten().filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

#[test]
fn requests_of_every_sort_get_no_answer_that_they_should_not() {
    let targets = Targets::start();
    let n_requests = std::env::var("CODELODE_REQUESTS").ok().and_then(|n| n.parse().ok()).unwrap_or(REQUESTS);
    let statuses: Mutex<BTreeMap<u16, usize>> = Mutex::default();
    let (begun, is_over, n_left) = (Instant::now(), AtomicBool::new(false), AtomicUsize::new(4));
    let n_slow = thread::scope(|scope| {
        let slow = scope.spawn(|| dawdle(&targets.site, &is_over));
        for number in 0..4_u64 {
            let (targets, statuses, is_over, n_left) = (&targets, &statuses, &is_over, &n_left);
            scope.spawn(move || {
                let _last = Last { n_left, is_over };
                let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ (number + 1));
                for _ in 0..n_requests / 4 {
                    let (site, request) = targets.request(&mut random);
                    let reply = answered(site, &request, &mut random);
                    let shown = String::from_utf8_lossy(&request.concat()).chars().take(900).collect::<String>();
                    // A browser is asked to sign in, which is an answer, too.
                    let asks_to_sign_in = reply.body.contains("<form") && !reply.body.contains("local/");
                    assert!(!(200..300).contains(&reply.status) || asks_to_sign_in, "{shown}: {reply:?}");
                    assert!(!reply.body.contains("local/shop"), "{shown}: {reply:?}");
                    *statuses.lock().expect("nobody panics with it").entry(reply.status).or_default() += 1;
                }
            });
        }
        slow.join().expect("it only writes")
    });
    for site in [&targets.site, &targets.keyless[0], &targets.keyless[1]] {
        serves(&site.client().with_token(OWN));
        assert!(peak(site) < LITTLE, "took {} MB", peak(site));
    }
    let took = [&targets.site, &targets.keyless[0], &targets.keyless[1]].map(|site| (peak(site), processor(site)));
    println!(
        "{n_requests} requests and {n_slow} slow connections in {:.0} s; statuses {:?}; megabytes and processor seconds {took:?}",
        begun.elapsed().as_secs_f64(),
        statuses.lock().expect("nobody panics with it"),
    );
}

/// A thread that attacks; the last one to end, in whichever way, lets those that dawdle go.
struct Last<'a> {
    n_left: &'a AtomicUsize,
    is_over: &'a AtomicBool,
}

impl Drop for Last<'_> {
    fn drop(&mut self) {
        if self.n_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }
}
