//! The program as a server over HTTP, and a client of it that sends what it is told to, byte by byte.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Nothing here takes this long, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A server with two small repositories, `shop` and `vault`, and a folder `unseen` that is not indexed.
pub struct Site {
    pub child: Child,
    address: SocketAddr,
    log: Arc<Mutex<String>>,
    folder: Arc<tempfile::TempDir>,
}

impl Site {
    /// Starts a server with these flags beside the transport.
    pub fn start(flags: &[&str]) -> Self {
        Self::start_with(flags, &[])
    }

    /// Starts it in an environment with these variables.
    pub fn start_with(flags: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::begin(&serving(flags), variables)
    }

    /// Starts the pages of one person, and gives the path that they are opened at.
    #[allow(dead_code, reason = "attacks look at no pages")]
    pub fn browse(arguments: &[&str]) -> (Self, String) {
        let site = Self::begin(&[&["web", "--no-open"], arguments].concat(), &[]);
        let log = site.log_with("open http");
        let address = log.split_whitespace().find(|word| word.starts_with("http://")).expect("it shows one");
        let path = address.strip_prefix(&site.url()).expect("it is its own").to_owned();
        (site, path)
    }

    fn begin(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::begin_in(Arc::new(prepared()), arguments, variables)
    }

    /// Starts a second server for the same repositories.
    #[allow(dead_code, reason = "attacks need only one")]
    pub fn beside(&self, flags: &[&str]) -> Self {
        Self::begin_in(self.folder.clone(), &serving(flags), &[])
    }

    /// Starts a server in a folder whose `source` is served, with an index in `index`.
    #[allow(dead_code, reason = "only attacks have folders of their own")]
    pub fn start_in(folder: Arc<tempfile::TempDir>, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::begin_in(folder, &serving(flags), variables)
    }

    fn begin_in(folder: Arc<tempfile::TempDir>, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = command(folder.path(), arguments);
        let child = command.envs(variables.iter().copied()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the program is built");
        let log: Arc<Mutex<String>> = Arc::default();
        let (sender, receiver) = channel();
        let (output, kept) = (BufReader::new(child.stderr.take().expect("it is piped")), log.clone());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // Complaints have addresses, too: those of others.
                let own = ["serving at ", "open "].iter().find_map(|words| line.strip_prefix(words));
                if let Some((_, address)) = own.and_then(|own| own.split_once("://")) {
                    let end = address.find('/').unwrap_or(address.len());
                    let _ = sender.send(address[..end].to_owned());
                }
                let mut log = kept.lock().expect("nobody panics with it");
                log.push_str(&line);
                log.push('\n');
            }
        });
        let address: SocketAddr = match receiver.recv_timeout(PATIENCE) {
            Ok(address) => address.parse().expect("it says an address"),
            Err(_) => panic!("no server: {}", log.lock().expect("nobody panics with it")),
        };
        let address = SocketAddr::from(([127, 0, 0, 1], address.port()));
        Self { child, address, log, folder }
    }

    /// The complaint of a server that must not start.
    #[allow(dead_code, reason = "attacks need only a server")]
    pub fn refused(flags: &[&str], variables: &[(&str, &str)]) -> String {
        let folder = prepared();
        let output = command(folder.path(), &serving(flags)).envs(variables.iter().copied()).output();
        let output = output.expect("the program is built");
        assert_eq!(output.status.code(), Some(2), "it serves");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Its address, as people write it.
    #[allow(dead_code, reason = "attacks have a client of their own")]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Runs the program beside the server; gives its standard output.
    #[allow(dead_code, reason = "attacks run nothing beside it")]
    pub fn run(&self, arguments: &[&str]) -> String {
        run(self.folder.path(), arguments)
    }

    /// A folder beside the repositories.
    #[allow(dead_code, reason = "attacks need only a server")]
    pub fn folder(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().canonicalize().expect("it exists").join("source").join(name);
        fs::create_dir_all(&folder).expect("the folder is ours");
        folder
    }

    /// The id of a folder.
    #[allow(dead_code, reason = "attacks need only a server")]
    pub fn repo(&self, name: &str) -> String {
        codelode::store::Registry::local_id(&self.folder(name))
    }

    /// A client without a session.
    pub fn client(&self) -> Client {
        Client { address: self.address, token: None, session: None, revision: None, n_asked: 0 }
    }

    /// A connection of one's own.
    pub fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Its log so far.
    #[allow(dead_code, reason = "attacks read no log")]
    pub fn log(&self) -> String {
        self.log.lock().expect("nobody panics with it").clone()
    }

    /// The log, once it has a line with these words.
    #[allow(dead_code, reason = "attacks read no log")]
    pub fn log_with(&self, words: &str) -> String {
        let begun = Instant::now();
        loop {
            let log = self.log();
            if log.contains(words) || begun.elapsed() > PATIENCE {
                return log;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal.
    #[allow(dead_code, reason = "attacks end it by force")]
    pub fn signal(&self, signal: libc::c_int) {
        crate::client::signal(self.child.id(), signal);
    }

    /// Its status, once it has ended by itself.
    #[allow(dead_code, reason = "attacks end it by force")]
    pub fn ended(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "it goes on: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // A failed test shall not leave a server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder with two indexed repositories.
fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let files = [
        (
            "shop/numbers.py",
            "def add(a, b):\n    return a + b\n\n\nclass Counter:\n    def count(self):\n        return add(1, 2)\n",
        ),
        ("vault/safe.py", "SECRET = 'secret_word'\n\n\ndef open_safe():\n    return SECRET\n"),
        ("unseen/hidden.py", "def hidden():\n    return 1\n"),
    ];
    for (name, text) in files {
        let path = folder.path().join("source").join(name);
        fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is ours");
        fs::write(path, text).expect("the folder is ours");
    }
    run(folder.path(), &["index", "shop"]);
    run(folder.path(), &["index", "vault"]);
    folder
}

fn serving<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let transport = if flags.contains(&"--transport") { &[][..] } else { &["--transport", "streamable-http"] };
    [&["serve", "--port", "0"], transport, flags].concat()
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
    command
        .args(arguments)
        .current_dir(folder.join("source"))
        .env("CODELODE_INDEX_PATH", folder.join("index"))
        .env("HOME", folder)
        .stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().expect("the program is built");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it writes text")
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    stream.set_write_timeout(Some(PATIENCE)).expect("it is a socket");
    stream
}

/// A client with its token and session.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    token: Option<String>,
    session: Option<String>,
    revision: Option<String>,
    n_asked: u64,
}

impl Client {
    pub fn with_token(self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self }
    }

    /// Opens a session in a revision of the protocol.
    pub fn open(&mut self, revision: &str) -> Value {
        self.open_with(revision, json!({}))
    }

    /// Opens a session of a client with these capabilities.
    pub fn open_with(&mut self, revision: &str, capabilities: Value) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": capabilities, "clientInfo": client});
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string();
        let reply = self.send("POST", &body);
        let opened = reply.messages().pop().unwrap_or_else(|| panic!("{} {}", reply.status, reply.body));
        self.session = reply.header("mcp-session-id").map(str::to_owned);
        self.revision = Some(revision.to_owned());
        self.notify("notifications/initialized", json!({}));
        opened
    }

    /// Answers the server's question for roots, which comes over the stream of the session.
    #[allow(dead_code, reason = "attacks have no roots")]
    pub fn tell_roots(&self, roots: &[&Path]) {
        let mut stream = BufReader::new(self.listen());
        let mut line = String::new();
        let asked: Value = loop {
            line.clear();
            assert!(stream.read_line(&mut line).expect("the stream goes on") > 0, "it ends");
            if let Some(data) = line.strip_prefix("data:").filter(|data| data.contains("roots/list")) {
                break serde_json::from_str(data.trim()).expect("JSON");
            }
        };
        let roots: Vec<Value> = roots.iter().map(|root| json!({"uri": format!("file://{}", root.display())})).collect();
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}});
        assert_eq!(self.send("POST", &answer.to_string()).status, 202);
    }

    /// Forgets the session.
    pub fn forget_session(&mut self) {
        self.session = None;
    }

    /// Ends the session.
    pub fn close(&self) -> Reply {
        self.send("DELETE", "")
    }

    fn request(&mut self, method: &str, params: &Value) -> (u64, String) {
        self.n_asked += 1;
        let id = self.n_asked;
        (id, json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
    }

    /// The answer to a request.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.stream(method, params).pop().expect("an answer")
    }

    /// All messages of an answer's stream.
    pub fn stream(&mut self, method: &str, params: Value) -> Vec<Value> {
        let (id, body) = self.request(method, &params);
        let reply = self.send("POST", &body);
        let messages = reply.messages();
        let answered = messages.last().is_some_and(|last| last["id"] == id);
        assert!(answered, "{method}: {} {}", reply.status, reply.body);
        messages
    }

    /// Sends a request and waits for nothing; gives its id.
    #[allow(dead_code, reason = "only some begin what they do not await")]
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        let (id, body) = self.request(method, &params);
        let request = self.written("POST", "/mcp", &body, &[]);
        let mut stream = connect(self.address);
        stream.write_all(&request).expect("the server reads");
        // Its first line says that the request has been taken.
        thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        id
    }

    pub fn notify(&self, method: &str, params: Value) {
        let body = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        assert_eq!(self.send("POST", &body).status, 202, "{method}");
    }

    /// A tool's answer or error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        serde_json::from_str(text).unwrap_or_else(|err| panic!("no JSON: {text}: {err}"))
    }

    /// The stream of the session.
    #[allow(dead_code, reason = "attacks listen to nothing")]
    pub fn listen(&self) -> TcpStream {
        let mut stream = connect(self.address);
        stream.write_all(&self.written("GET", "/mcp", "", &[])).expect("the server reads");
        stream
    }

    /// The stream that answers a request.
    #[allow(dead_code, reason = "attacks listen to nothing")]
    pub fn events(&self, body: &str, headers: &[(&str, &str)]) -> BufReader<TcpStream> {
        let mut stream = connect(self.address);
        stream.write_all(&self.written("POST", "/mcp", body, headers)).expect("the server reads");
        BufReader::new(stream)
    }

    /// The next message of a stream; `None` at its end.
    #[allow(dead_code, reason = "attacks listen to nothing")]
    pub fn event(stream: &mut BufReader<TcpStream>) -> Option<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if stream.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data:").filter(|data| !data.trim().is_empty()) {
                return Some(serde_json::from_str(data.trim()).expect("it is JSON"));
            }
        }
    }

    /// The id of the event whose message was read last.
    #[allow(dead_code, reason = "attacks listen to nothing")]
    pub fn id(stream: &mut BufReader<TcpStream>) -> Option<String> {
        let mut line = String::new();
        while stream.read_line(&mut line).unwrap_or(0) > 0 {
            if let Some(id) = line.strip_prefix("id:") {
                return Some(id.trim().to_owned());
            }
            line.clear();
        }
        None
    }

    pub fn post_ping(&self) -> Reply {
        self.send("POST", &json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string())
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send_to("GET", path, "", &[])
    }

    /// A measurement without labels.
    #[allow(dead_code, reason = "attacks measure from outside")]
    pub fn number(&self, name: &str) -> f64 {
        let page = self.get("/metrics").body;
        let line = page.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{page}"));
        line.trim().parse().expect("a number")
    }

    pub fn send(&self, method: &str, body: &str) -> Reply {
        self.send_to(method, "/mcp", body, &[])
    }

    /// Sends a request with these headers in place of the usual ones.
    pub fn send_with(&self, method: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
        self.send_to(method, "/mcp", body, headers)
    }

    pub fn send_to(&self, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> Reply {
        let mut stream = connect(self.address);
        // A server that refuses early reads no more.
        let _ = stream.write_all(&self.written(method, path, body, headers));
        Reply::read(&mut stream)
    }

    fn written(&self, method: &str, path: &str, body: &str, headers: &[(&str, &str)]) -> Vec<u8> {
        let length = body.len().to_string();
        let host = self.address.to_string();
        let bearer = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let mut all = vec![
            ("Host", host.as_str()),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
            ("Content-Length", &length),
            ("Connection", "close"),
        ];
        all.extend(bearer.as_deref().map(|bearer| ("Authorization", bearer)));
        all.extend(self.session.as_deref().map(|session| ("Mcp-Session-Id", session)));
        all.extend(self.revision.as_deref().map(|revision| ("MCP-Protocol-Version", revision)));
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
        all.extend(headers);
        let headers: String = all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{method} {path} HTTP/1.1\r\n{headers}\r\n{body}").into_bytes()
    }
}

/// An answer; status 0 for a connection that was closed without one.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    /// Reads until the server closes the connection.
    pub fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A server that refuses early may reset the connection after its answer.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or(0);
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = if is_chunked { joined(body) } else { body.to_owned() };
        Self { status, headers, body }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The messages of the body, which is JSON or events.
    pub fn messages(&self) -> Vec<Value> {
        if self.header("content-type") == Some("application/json") {
            return vec![serde_json::from_str(&self.body).expect("it says that it is JSON")];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).collect()
    }
}

/// A chunked body in one piece. Lengths are of bytes, and texts here are ASCII.
fn joined(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((length, after)) = rest.split_once("\r\n") {
        let Some(length) = usize::from_str_radix(length, 16).ok().filter(|length| *length > 0) else { break };
        let Some(chunk) = after.get(..length) else { break };
        whole.push_str(chunk);
        rest = after.get(length + 2..).unwrap_or_default();
    }
    whole
}
