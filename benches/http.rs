//! A server over HTTP: its overhead beside standard streams, its latency under load from another process, and what idle sessions
//! hold. `cargo bench --bench http [-- SECONDS]`; another program than the one just built is named by `CODELODE_BENCH_PROGRAM`.
//!
//! The repository is made here: a hundred thousand functions that call each other. Calls are 70 % searches, 20 % sources and
//! 10 % references. Latency under load is counted from the moment at which a call was due, so a slow answer delays no other.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const FILES: usize = 2_000;
const FUNCTIONS: usize = 50;
/// Calls one after the other.
const SEQUENTIAL: usize = 2_000;
/// Clients, and calls of all of them in a second.
const LOADS: [(usize, usize); 3] = [(200, 200), (200, 1_000), (1_000, 2_000)];
const IDLE: usize = 1_000;
const REVISION: &str = "2025-06-18";

fn main() {
    let seconds: u64 = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(10);
    let program =
        std::env::var_os("CODELODE_BENCH_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_codelode").into(), PathBuf::from);
    let place = std::env::temp_dir().join(format!("codelode-http-{}", std::process::id()));
    let source = place.join("source");
    write(&source);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command
            .args(arguments)
            .current_dir(&source)
            .env("CODELODE_INDEX_PATH", place.join("index"))
            .env("HOME", &place);
        command
    };
    let began = Instant::now();
    let indexed = run(&["index", "."]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(indexed.expect("the program starts").success(), "the repository is not indexed");
    println!("{} symbols indexed in {:.1} s", FILES * FUNCTIONS, began.elapsed().as_secs_f64());

    let streams = {
        let mut client = Streams::start(run(&["serve"]));
        sequential(&mut |body| client.ask(body))
    };
    println!("standard streams     {}", shown(&streams));
    let server = Server::start(run(&["serve", "--transport", "streamable-http", "--port", "0"]));
    {
        let mut client = Http::open(server.port);
        let session = sequential(&mut |body| client.ask(body));
        println!("HTTP, in a session   {}   + {:.3} ms at p50", shown(&session), at(&session, 50) - at(&streams, 50));
    }
    {
        let mut client = Http::without_session(server.port);
        let single = sequential(&mut |body| client.ask(body));
        println!("HTTP, 2026-07-28     {}   + {:.3} ms at p50", shown(&single), at(&single, 50) - at(&streams, 50));
    }
    for (n_clients, per_second) in LOADS {
        let (times, n_errors) = load(server.port, n_clients, per_second, seconds);
        println!("{n_clients:5} clients, {per_second:5}/s   {}   {n_errors} errors", shown(&times));
    }
    let before = server.resident();
    let sessions: Vec<Http> = (0..IDLE).map(|_| Http::open(server.port)).collect();
    println!("{IDLE} idle sessions: {} MB, {} MB before", server.resident(), before);
    drop(sessions);
    drop(server);
    let _ = fs::remove_dir_all(&place);
}

/// Writes the repository.
fn write(source: &Path) {
    for file in 0..FILES {
        let mut text = String::new();
        for function in 0..FUNCTIONS {
            let callee = (function + 1) % FUNCTIONS;
            let _ = write!(
                text,
                "def handle_{file}_{function}(request, limit):\n    \"\"\"Handles part {function} of order {file}.\"\"\"\n    if limit == {function}:\n        return request\n    return handle_{file}_{callee}(request, limit)\n\n\n"
            );
        }
        let path = source.join(format!("orders/part{}/file{file}.py", file / 100));
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("there is room");
        fs::write(path, text).expect("there is room");
    }
}

/// The body of the nth call.
fn call(n: usize, is_single: bool) -> String {
    let (file, function) = (n * 7_919 % FILES, n * 31 % FUNCTIONS);
    let name = format!("handle_{file}_{function}");
    let id = format!("orders/part{}/file{file}.py::{name}#function", file / 100);
    let (tool, mut arguments) = match n % 10 {
        0..7 => ("search_symbols", json!({"query": name})),
        7 | 8 => ("get_symbol_source", json!({"symbol_id": id})),
        _ => ("find_references", json!({"symbol_id": id})),
    };
    // The only repository there is.
    arguments["max_tokens"] = json!(2_000);
    let mut params = json!({"name": tool, "arguments": arguments});
    if is_single {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    json!({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params}).to_string()
}

fn tool_of(body: &str) -> &'static str {
    let tools = ["search_symbols", "get_symbol_source", "find_references"];
    tools.into_iter().find(|tool| body.contains(&format!("\"name\":\"{tool}\""))).expect("a call names its tool")
}

/// Times of calls one after the other, in milliseconds.
fn sequential(ask: &mut dyn FnMut(usize) -> bool) -> Vec<f64> {
    (0..200).for_each(|n| assert!(ask(n), "call {n} has no result"));
    let mut times: Vec<f64> = (200..200 + SEQUENTIAL)
        .map(|n| {
            let began = Instant::now();
            assert!(ask(n), "call {n} has no result");
            began.elapsed().as_secs_f64() * 1_000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

/// Times of calls that are due at fixed moments, and the number of those without a result.
fn load(port: u16, n_clients: usize, per_second: usize, seconds: u64) -> (Vec<f64>, usize) {
    let n_errors = AtomicUsize::new(0);
    let sessions: Vec<Http> = (0..n_clients).map(|_| Http::open(port)).collect();
    let (began, pause) =
        (Instant::now() + Duration::from_secs(1), Duration::from_secs_f64(n_clients as f64 / per_second as f64));
    let n_calls = per_second * seconds as usize / n_clients;
    let mut times: Vec<f64> = thread::scope(|scope| {
        let clients = sessions.into_iter().enumerate().map(|(client, mut http)| {
            let n_errors = &n_errors;
            let own = move || {
                let mut times = Vec::with_capacity(n_calls);
                for n in 0..n_calls {
                    let due = began + pause.mul_f64(n as f64 + client as f64 / n_clients as f64);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    if !http.ask(client * 104_729 + n) {
                        n_errors.fetch_add(1, Ordering::Relaxed);
                    }
                    times.push(due.elapsed().as_secs_f64() * 1_000.0);
                }
                times
            };
            thread::Builder::new().stack_size(256 * 1024).spawn_scoped(scope, own).expect("there are threads")
        });
        let clients: Vec<_> = clients.collect();
        clients.into_iter().flat_map(|client| client.join().expect("a client ends")).collect()
    });
    times.sort_by(f64::total_cmp);
    (times, n_errors.into_inner())
}

fn at(times: &[f64], percent: usize) -> f64 {
    times[(times.len() - 1) * percent / 100]
}

fn shown(times: &[f64]) -> String {
    format!("p50 {:6.3} ms, p99 {:7.3} ms", at(times, 50), at(times, 99))
}

/// A client over standard streams.
struct Streams {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Streams {
    fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("the program starts");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut client = Self { child, output };
        client.send(&initialize());
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client.line();
        client
    }

    fn send(&mut self, body: &str) {
        writeln!(self.child.stdin.as_mut().expect("it is piped"), "{body}").expect("the server reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        line
    }

    fn ask(&mut self, n: usize) -> bool {
        self.send(&call(n, false));
        self.line().contains("\"isError\":false")
    }
}

impl Drop for Streams {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn initialize() -> String {
    let client = json!({"name": "bench", "version": "1"});
    let params = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": params}).to_string()
}

/// A server over HTTP.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let child = command.args(["--log", "error"]).stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the program starts");
        let mut said = String::new();
        let mut output = BufReader::new(child.stderr.take().expect("it is piped"));
        output.read_line(&mut said).expect("it says where it listens");
        thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let port = said.rsplit(':').next().and_then(|rest| rest.split('/').next()).and_then(|port| port.parse().ok());
        Self { child, port: port.expect("it says a port") }
    }

    /// Resident megabytes.
    fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client over HTTP, with a connection that stays.
struct Http {
    stream: BufReader<TcpStream>,
    session: Option<Value>,
}

impl Http {
    fn without_session(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_nodelay(true).expect("it is a socket");
        Self { stream: BufReader::new(stream), session: None }
    }

    fn open(port: u16) -> Self {
        let mut client = Self::without_session(port);
        let (head, _) = client.post(&initialize(), "");
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("it opens a session");
        client.session = Some(id.trim().into());
        let headers = client.headers();
        client.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &headers);
        client
    }

    fn headers(&self) -> String {
        let id = self.session.as_ref().and_then(Value::as_str).unwrap_or_default();
        format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: {REVISION}\r\n")
    }

    fn ask(&mut self, n: usize) -> bool {
        let is_single = self.session.is_none();
        let body = call(n, is_single);
        let headers = match is_single {
            true => format!(
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {}\r\n",
                tool_of(&body)
            ),
            false => self.headers(),
        };
        self.post(&body, &headers).1.contains("\"isError\":false")
    }

    /// Sends a message; the head and the body of the answer.
    fn post(&mut self, body: &str, headers: &str) -> (String, String) {
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes()).expect("the server reads");
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.stream.read_line(&mut head).expect("the server answers") > 0, "the connection ends: {head}");
        }
        let head = head.to_ascii_lowercase();
        let mut body = Vec::new();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        if let Some(length) = length {
            body.resize(length, 0);
            self.stream.read_exact(&mut body).expect("the server answers");
        } else if head.contains("transfer-encoding: chunked") {
            loop {
                let mut line = String::new();
                self.stream.read_line(&mut line).expect("the server answers");
                let length = usize::from_str_radix(line.trim(), 16).expect("a length");
                let begin = body.len();
                body.resize(begin + length + 2, 0);
                self.stream.read_exact(&mut body[begin..]).expect("the server answers");
                if length == 0 {
                    break;
                }
            }
        }
        // The text of a result is JSON in JSON, whose quotes are escaped.
        (head, String::from_utf8_lossy(&body).into_owned())
    }
}
