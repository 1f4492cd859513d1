//! An editor: it speaks to `codelode lsp` over the standard streams.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::client::PATIENCE;

/// A running server with a project of its own.
pub struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that came before an answer.
    pub early: VecDeque<Value>,
    n_asked: i64,
    pub folder: tempfile::TempDir,
    /// The answer to `initialize`.
    pub offered: Value,
}

/// Writes a project (`--- path` begins a file) into a folder.
pub fn write(project: &str, root: &Path) {
    for part in project.split("--- ").skip(1) {
        let (path, text) = part.split_once('\n').expect("a path ends its line");
        let path = root.join(path.trim());
        std::fs::create_dir_all(path.parent().expect("it lies in the project")).expect("a folder can be made");
        std::fs::write(path, text).expect("a file can be written");
    }
}

/// Abilities of every modern editor.
pub fn usual() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-16"]},
        "window": {"workDoneProgress": true},
        "textDocument": {
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
        },
    })
}

impl Editor {
    /// Starts a server without a word to it.
    pub fn silent(project: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        write(project, &folder.path().join("project"));
        Self::of(folder)
    }

    /// Starts a server for the project in a folder.
    pub fn of(folder: tempfile::TempDir) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.arg("lsp").env("CODE_INDEX_PATH", folder.path().join("home")).current_dir(folder.path());
        for (variable, name) in [("CARGO_HOME", "cargo"), ("GOMODCACHE", "go"), ("GRADLE_USER_HOME", "gradle")] {
            command.env(variable, folder.path().join(name));
        }
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it is built");
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { child, input, messages, early: VecDeque::new(), n_asked: 0, folder, offered: Value::Null }
    }

    /// Opens a project as most editors do.
    pub fn open(project: &str) -> Self {
        Self::with(project, usual(), Value::Null)
    }

    pub fn with(project: &str, capabilities: Value, options: Value) -> Self {
        let mut editor = Self::silent(project);
        editor.begin(capabilities, options);
        editor
    }

    pub fn begin(&mut self, capabilities: Value, options: Value) {
        let root = self.root();
        let folders = json!([{"uri": uri(&root), "name": "project"}]);
        let params = json!({
            "processId": null, "rootUri": uri(&root), "workspaceFolders": folders, "capabilities": capabilities,
            "initializationOptions": options,
        });
        self.offered = self.ask("initialize", params);
        self.tell("initialized", json!({}));
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join("project")
    }

    pub fn uri(&self, path: &str) -> String {
        uri(&self.root().join(path))
    }

    pub fn send(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        // A server that has left is noticed when an answer is missing.
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }

    pub fn send_message(&mut self, message: &Value) {
        let body = message.to_string();
        self.send(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.send_message(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its id.
    pub fn begin_asking(&mut self, method: &str, params: Value) -> i64 {
        self.n_asked += 1;
        self.send_message(&json!({"jsonrpc": "2.0", "id": self.n_asked, "method": method, "params": params}));
        self.n_asked
    }

    /// The next message from the server.
    pub fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("a message comes in time")
    }

    /// The whole answer to a request.
    pub fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// The result of a request.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin_asking(method, params.clone());
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// The code of the error that a request has.
    pub fn refused(&mut self, method: &str, params: Value) -> i64 {
        let id = self.begin_asking(method, params);
        let answer = self.answer(id);
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} is answered: {answer}"))
    }

    /// The position of the `nth` place where a text stands in a file of the project, in UTF-16.
    pub fn place(&self, path: &str, text: &str, nth: usize) -> Value {
        let source = std::fs::read_to_string(self.root().join(path)).expect("it is in the project");
        position(&source, text, nth)
    }

    /// Asks about the `nth` place where a text stands in a file.
    pub fn at(&mut self, method: &str, path: &str, text: &str, nth: usize) -> Value {
        let mut params = json!({"textDocument": {"uri": self.uri(path)}, "position": self.place(path, text, nth)});
        if method == "textDocument/references" {
            params["context"] = json!({"includeDeclaration": false});
        }
        self.ask(method, params)
    }

    /// Leaves in order, and returns the exit status.
    pub fn close(mut self) -> Option<i32> {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.input = None;
        self.child.wait().expect("it was started").code()
    }

    /// Leaves without a word, and returns the exit status.
    pub fn leave(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().expect("it was started").code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut len = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => len = line.strip_prefix("Content-Length: ").map_or(len, |len| len.parse().expect("a length")),
        }
    }
    let mut body = vec![0; len];
    output.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("the server speaks JSON"))
}

pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The position of the `nth` place where a text stands in another, in UTF-16.
pub fn position(source: &str, text: &str, nth: usize) -> Value {
    let (at, _) = source.match_indices(text).nth(nth).unwrap_or_else(|| panic!("no {text:?} number {nth}"));
    let before = &source[..at];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    json!({"line": line, "character": column})
}

/// Locations as `path:line:column`, counted from one as people do, in order.
pub fn shown(locations: &Value) -> Vec<String> {
    let list = locations.as_array().cloned().unwrap_or_default();
    let mut shown: Vec<String> = list.iter().map(one).collect();
    shown.sort();
    shown
}

/// A location or an item with one.
pub fn one(location: &Value) -> String {
    let location = if location["location"].is_null() { location } else { &location["location"] };
    let uri = location["uri"].as_str().unwrap_or_default();
    let path = uri.split_once("/project/").map_or(uri, |(_, path)| path);
    let range = if location["selectionRange"].is_null() { &location["range"] } else { &location["selectionRange"] };
    let start = &range["start"];
    let number = |key: &str| start[key].as_u64().unwrap_or(0) + 1;
    format!("{path}:{}:{}", number("line"), number("character"))
}
