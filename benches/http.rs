//! A server over HTTP: its overhead beside standard streams, its latency and processor time under load from another process, edits
//! under that load, and the memory of idle sessions and of twenty repositories. `cargo bench --bench http [-- SECONDS]`; another
//! program than the one just built is named by `CODELODE_BENCH_PROGRAM`.
//!
//! The repository is made here: a hundred thousand functions that call each other. Calls are 70 % searches, 20 % sources and
//! 10 % references. Latency under load is counted from the moment at which a call was due, so a slow answer delays no other.
//! The machine must do nothing else.

mod measure;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use measure::results::{Results, report};
use serde_json::{Value, json};

const FILES: usize = 2_000;
const FUNCTIONS: usize = 50;
/// Calls one after the other.
const SEQUENTIAL: usize = 2_000;
/// Calls before anything is measured.
const CALLS_BEFORE: usize = 200;
/// Clients, and calls of all of them in a second.
const LOADS: [(usize, usize); 3] = [(200, 200), (200, 1_000), (1_000, 2_000)];
const IDLE: usize = 1_000;
const REPOSITORIES: usize = 20;
/// Pause between edits under load.
const EDIT_EVERY: Duration = Duration::from_secs(1);
const REVISION: &str = "2025-06-18";

fn main() {
    let _results = Results::of("http");
    let seconds: u64 = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(10);
    let program =
        std::env::var_os("CODELODE_BENCH_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_codelode").into(), PathBuf::from);
    let place = std::env::temp_dir().join(format!("codelode-http-{}", std::process::id()));
    let source = place.join("source");
    write(&source, FILES);
    let run = |folder: &Path, index: &str, arguments: &[&str]| {
        let mut command = Command::new(&program);
        let home = place.join(index);
        command.args(arguments).current_dir(folder).env("CODELODE_INDEX_PATH", home).env("HOME", &place);
        command
    };
    let index = |folder: &Path, index: &str| {
        let indexed = run(folder, index, &["index", "."]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(indexed.expect("the program starts").success(), "the repository is not indexed");
    };
    let serve =
        |index: &str| Server::start(run(&place, index, &["serve", "--transport", "streamable-http", "--port", "0"]));
    let began = Instant::now();
    index(&source, "one");
    report!("{} symbols indexed in {:.1} s", FILES * FUNCTIONS, began.elapsed().as_secs_f64());

    let server = serve("one");
    beside_streams(Streams::start(run(&source, "one", &["serve"])), &server);
    for (n_clients, per_second) in LOADS {
        let before = server.processor_ms();
        let (mut times, n_errors) = load(&server, n_clients, per_second, seconds);
        let of_each = (server.processor_ms() - before) / times.len() as f64;
        times.sort_by(f64::total_cmp);
        let shown = shown(&times);
        report!(
            "{n_clients:5} clients, {per_second:5}/s   {shown}   {n_errors} errors, {of_each:.2} ms of processor time each"
        );
    }
    let (n_clients, per_second) = LOADS[1];
    let edited = thread::scope(|scope| {
        let (edits, server) = (Edits { source: &source, next: 0 }, &server);
        let editor = scope.spawn(move || edits.seen(&mut Http::open(server.port), seconds));
        load(server, n_clients, per_second, seconds);
        editor.join().expect("the editor ends")
    });
    report!("{} edits seen under {per_second}/s   {}", edited.len(), shown(&edited));
    drop(server);

    let server = serve("one");
    let before = server.resident();
    let sessions: Vec<Http> = (0..IDLE).map(|_| Http::open(server.port)).collect();
    report!("{IDLE} idle sessions: {} MB resident, {before} MB before", server.resident());
    drop((server, sessions));

    for number in 0..REPOSITORIES {
        let folder = place.join(format!("repository-{number}"));
        write(&folder, FILES / REPOSITORIES);
        index(&folder, "twenty");
    }
    let server = serve("twenty");
    let mut client = Http::open(server.port);
    for n in 0..REPOSITORIES * CALLS_BEFORE {
        let folder = place.join(format!("repository-{}", n % REPOSITORIES));
        assert!(client.ask(&asked(n, FILES / REPOSITORIES, Some(&folder), false)), "call {n} has no result");
    }
    report!("{REPOSITORIES} repositories, each asked {CALLS_BEFORE} times: {} MB resident", server.resident());
    drop(server);
    let _ = fs::remove_dir_all(&place);
}

/// Times of the same calls over standard streams, in a session and without one, each after the other.
fn beside_streams(mut streams: Streams, server: &Server) {
    let (mut session, mut single) = (Http::open(server.port), Http::without_session(server.port));
    let mut times = [const { Vec::new() }; 3];
    for n in 0..CALLS_BEFORE + SEQUENTIAL {
        for (way, times) in times.iter_mut().enumerate() {
            let body = call(n, way == 2);
            let began = Instant::now();
            let is_answered = match way {
                0 => streams.ask(&body),
                1 => session.ask(&body),
                _ => single.ask(&body),
            };
            assert!(is_answered, "call {n} has no result");
            if n >= CALLS_BEFORE {
                times.push(began.elapsed().as_secs_f64() * 1_000.0);
            }
        }
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    for (way, times_of_way) in ["standard streams", "HTTP, in a session", "HTTP, 2026-07-28"].iter().zip(&times) {
        let more = at(times_of_way, 50) - at(&times[0], 50);
        report!("{way:20} {}   + {more:.3} ms at p50", shown(times_of_way));
    }
}

/// Writes the repository.
fn write(source: &Path, n_files: usize) {
    for file in 0..n_files {
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

/// The body of the nth call, to the only repository there is.
fn call(n: usize, is_single: bool) -> String {
    asked(n, FILES, None, is_single)
}

/// The body of the nth call to a repository of so many files.
fn asked(n: usize, n_files: usize, repo: Option<&Path>, is_single: bool) -> String {
    let (file, function) = (n * 7_919 % n_files, n * 31 % FUNCTIONS);
    let name = format!("handle_{file}_{function}");
    let id = format!("orders/part{}/file{file}.py::{name}#function", file / 100);
    let (tool, mut arguments) = match n % 10 {
        0..7 => ("search_symbols", json!({"query": name})),
        7 | 8 => ("get_symbol_source", json!({"symbol_id": id})),
        _ => ("find_references", json!({"symbol_id": id})),
    };
    arguments["max_tokens"] = json!(2_000);
    if let Some(repo) = repo {
        arguments["repo"] = json!(repo);
    }
    message(n, tool, &arguments, is_single)
}

fn message(n: usize, tool: &str, arguments: &Value, is_single: bool) -> String {
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

/// Milliseconds of calls that are due at fixed moments, and the number of those without a result.
fn load(server: &Server, n_clients: usize, per_second: usize, seconds: u64) -> (Vec<f64>, usize) {
    let n_errors = AtomicUsize::new(0);
    let sessions: Vec<Http> = (0..n_clients).map(|_| Http::open(server.port)).collect();
    let (began, pause) =
        (Instant::now() + Duration::from_secs(1), Duration::from_secs_f64(n_clients as f64 / per_second as f64));
    let n_calls = per_second * seconds as usize / n_clients;
    let times: Vec<f64> = thread::scope(|scope| {
        let clients = sessions.into_iter().enumerate().map(|(client, mut http)| {
            let n_errors = &n_errors;
            let own = move || {
                let mut times = Vec::with_capacity(n_calls);
                for n in 0..n_calls {
                    let due = began + pause.mul_f64(n as f64 + client as f64 / n_clients as f64);
                    let body = call(client * 104_729 + n, false);
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    if !http.ask(&body) {
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
    (times, n_errors.into_inner())
}

/// Edits of files, one after the other.
struct Edits<'a> {
    source: &'a Path,
    next: usize,
}

impl Edits<'_> {
    /// Milliseconds until each edit is seen.
    fn seen(mut self, client: &mut Http, seconds: u64) -> Vec<f64> {
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut times = Vec::new();
        while Instant::now() < end {
            thread::sleep(EDIT_EVERY);
            times.push(self.seen_after(client));
        }
        times.sort_by(f64::total_cmp);
        times
    }

    /// Adds a function to a file, and asks for it until it is found. Milliseconds from the write to the end of that answer.
    fn seen_after(&mut self, client: &mut Http) -> f64 {
        self.next += 1;
        let path = self.source.join(format!("orders/part1/file{}.py", 100 + self.next % 100));
        let name = format!("edited_{}", self.next);
        let text = fs::read_to_string(&path).expect("it was written") + &format!("def {name}():\n    return 0\n");
        let body = message(self.next, "search_symbols", &json!({"query": name, "max_tokens": 500}), false);
        let found = format!("::{name}#function");
        let began = Instant::now();
        fs::write(&path, text).expect("there is room");
        while !client.answer(&body).contains(&found) {}
        began.elapsed().as_secs_f64() * 1_000.0
    }
}

fn at(times: &[f64], percent: usize) -> f64 {
    times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or(f64::NAN)
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

    fn ask(&mut self, body: &str) -> bool {
        self.send(body);
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

    /// Processor time of all its threads so far, in milliseconds.
    fn processor_ms(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // The name of the program may hold anything; the fields after it are numbers. A tick is a hundredth of a second.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
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

    fn ask(&mut self, body: &str) -> bool {
        self.answer(body).contains("\"isError\":false")
    }

    fn answer(&mut self, body: &str) -> String {
        let headers = match self.session {
            None => {
                let tool = tool_of(body);
                format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n")
            }
            Some(_) => self.headers(),
        };
        self.post(body, &headers).1
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
