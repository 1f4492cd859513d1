//! A client that speaks to the program over its standard streams, as an agent's does.

#[path = "../skipping.rs"]
mod skipping;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[allow(unused_imports, reason = "attacks skip nothing")]
pub use skipping::{skipped, skipped_anywhere};

/// Nothing here takes this long, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server of git that hears a question and never answers, and the address of a repository there.
pub fn silent_server() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("git://{}/shop.git", listener.local_addr().expect("it is bound"));
    (listener, url)
}

/// Sends a signal to a child of this test.
pub fn signal(process: u32, signal: libc::c_int) {
    // SAFETY: it is a plain system call.
    assert_eq!(unsafe { libc::kill(process.cast_signed(), signal) }, 0);
}

/// The time of a program that is waited for: on a busy machine the clock says little, so what it has worked counts too.
pub struct Waiting {
    process: u32,
    begun: Instant,
    worked_before: Option<Duration>,
}

impl Waiting {
    pub fn new(process: u32) -> Self {
        Self { process, begun: Instant::now(), worked_before: worked(process) }
    }

    /// Whether it takes too long: it does nothing, or it works for longer than anything may.
    pub fn is_over(&self) -> bool {
        let since = self.worked_before.and_then(|before| Some(worked(self.process)?.saturating_sub(before)));
        let is_at_work = since.is_some_and(|since| since > Duration::from_secs(1) && since < PATIENCE);
        self.begun.elapsed() > PATIENCE && !is_at_work
    }
}

/// Processor time of a running program, where the system tells it.
fn worked(process: u32) -> Option<Duration> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name, in brackets, may hold anything; what follows are numbers. Linux counts in hundredths.
    let fields: Vec<&str> = line.rsplit(')').next()?.split(' ').collect();
    let ticks = [12, 13].iter().map(|&at| fields.get(at)?.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks * 10))
}

/// The program as a client's subprocess.
pub struct Server {
    pub child: Child,
    pub input: Option<ChildStdin>,
    pub lines: Receiver<String>,
    n_asked: u64,
}

impl Server {
    /// Starts it and opens a session.
    pub fn start(command: Command) -> Self {
        let mut server = Self::spawn(command);
        server.initialize();
        server
    }

    /// Starts it.
    pub fn spawn(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it is built");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, input, lines, n_asked: 0 }
    }

    /// Opens the session; the server's answer to that.
    pub fn initialize(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let answer = self.ask("initialize", params);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }

    /// Opens the session of a client that works in these folders.
    #[allow(dead_code, reason = "attacks have no roots")]
    pub fn initialize_in(&mut self, roots: &[&Path]) {
        let client = json!({"name": "test", "version": "1"});
        let capabilities = json!({"roots": {}});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client});
        self.ask("initialize", params);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let asked = self.receive();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let roots: Vec<Value> = roots.iter().map(|root| json!({"uri": format!("file://{}", root.display())})).collect();
        self.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}}).to_string());
    }

    /// Sends a line as it is.
    pub fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("the input is open"), "{line}").expect("the server reads");
    }

    /// The next message.
    pub fn receive(&self) -> Value {
        let waiting = Waiting::new(self.child.id());
        let line = loop {
            match self.lines.recv_timeout(Duration::from_secs(1)) {
                Ok(line) => break line,
                Err(RecvTimeoutError::Timeout) => assert!(!waiting.is_over(), "no answer comes in time"),
                Err(RecvTimeoutError::Disconnected) => panic!("the server has ended"),
            }
        };
        serde_json::from_str(&line).unwrap_or_else(|err| panic!("no protocol: {line:?}: {err}"))
    }

    /// Sends a request and gives its id.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        self.n_asked += 1;
        let id = self.n_asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        id
    }

    /// The answer to a request.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Begins a call and takes it back after a while; no answer is waited for.
    #[allow(dead_code, reason = "only attacks call off what they began")]
    pub fn begin_and_cancel(&mut self, tool: &str, args: Value, after: Duration) {
        let id = self.request("tools/call", json!({"name": tool, "arguments": args}));
        thread::sleep(after);
        let params = json!({"requestId": id});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string());
    }

    /// A tool's answer or error.
    pub fn call(&mut self, tool: &str, args: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": args}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        serde_json::from_str(text).unwrap_or_else(|err| panic!("no JSON: {text}: {err}"))
    }

    /// Asks until the answer is as wanted.
    pub fn until(&mut self, tool: &str, args: Value, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.call(tool, args.clone());
            if wanted(&answer) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{tool} {args} still says {answer}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The first answer that does not call itself old: on a busy machine it may come after some that do.
    pub fn fresh(&mut self, tool: &str, args: Value) -> Value {
        self.until(tool, args, |answer| !["indexing", "stale"].iter().any(|word| answer["_meta"]["freshness"] == *word))
    }

    /// Closes the input; the program must end by itself, and well.
    pub fn close(mut self) {
        drop(self.input.take());
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end");
            thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "{status}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A failed test shall not leave a server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
