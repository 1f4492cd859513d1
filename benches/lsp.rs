//! The language server as an editor meets it: the time of each request, after an edit too, and its memory.

mod measure;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use codelode::pipeline;
use measure::results::{Results, report};
use measure::{Indexed, Sample, corpus, scratch};
use serde_json::{Value, json};

/// Places that requests are made about.
const ASKED: usize = 300;
/// Servers started for the first answer.
const STARTS: usize = 5;
/// Time between the opening of a file and its first edit.
const LOOK: Duration = Duration::from_millis(300);
/// Time after which the server watches the folder.
const WARM: Duration = Duration::from_secs(2);

const REQUESTS: [&str; 10] = [
    "textDocument/definition",
    "textDocument/typeDefinition",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/hover",
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareTypeHierarchy",
    "textDocument/documentSymbol",
    "textDocument/semanticTokens/full",
];

/// Requests for which a text is parsed when it is asked about for the first time.
const PARSING: [&str; 2] = ["textDocument/foldingRange", "textDocument/selectionRange"];

/// The request that looks for doubts about a rename.
const RENAMING: &str = "textDocument/prepareRename";

/// Requests that begin with the items of another.
const HIERARCHIES: [(&str, [&str; 2]); 2] = [
    ("textDocument/prepareCallHierarchy", ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"]),
    ("textDocument/prepareTypeHierarchy", ["typeHierarchy/supertypes", "typeHierarchy/subtypes"]),
];

fn main() {
    let _results = Results::of("lsp");
    if let (true, Some(root)) = (measure::wants("lsp"), corpus("py-django")) {
        measure_corpus(&root);
    }
}

/// A server and its editor.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    n_asked: u64,
    started: Instant,
    /// The last answer.
    last: Value,
}

impl Editor {
    fn start(root: &Path, home: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        let started = Instant::now();
        let command = command.arg("lsp").env("CODE_INDEX_PATH", home).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it is built");
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (input, output) = (input.expect("it is piped"), BufReader::new(output.expect("it is piped")));
        let mut editor = Self { child, input, output, n_asked: 0, started, last: Value::Null };
        let capabilities = json!({"general": {"positionEncodings": ["utf-8"]}});
        editor
            .ask("initialize", json!({"rootUri": format!("file://{}", root.display()), "capabilities": capabilities}));
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: Value) -> Duration {
        self.n_asked += 1;
        let id = self.n_asked;
        let started = Instant::now();
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut len = 0;
            loop {
                let mut line = String::new();
                self.output.read_line(&mut line).expect("the server writes");
                match line.trim_end() {
                    "" => break,
                    line => {
                        len = line.strip_prefix("Content-Length: ").map_or(len, |len| len.parse().expect("a length"))
                    }
                }
            }
            let mut body = vec![0; len];
            self.output.read_exact(&mut body).expect("the server writes");
            let took = started.elapsed();
            let message: Value = serde_json::from_slice(&body).expect("the server speaks JSON");
            if message["id"] == id {
                // A rename that is in doubt is refused.
                let is_answer = message.get("error").is_none() || method == RENAMING;
                assert!(is_answer, "{method}: {message}");
                self.last = message["result"].clone();
                return took;
            }
        }
    }

    /// Memory of its own, in megabytes: without mapped files, which an index that was made just now has written.
    fn memory(&self) -> f64 {
        let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.child.id())).unwrap_or_default();
        let own = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"));
        let kilobytes = own.and_then(|rest| rest.trim().split(' ').next()?.parse::<f64>().ok());
        kilobytes.unwrap_or(f64::NAN) / 1024.0
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn measure_corpus(root: &Path) {
    let root = root.canonicalize().expect("it is there");
    let folder = scratch();
    let home = folder.path().join("index");
    let indexed = Indexed::new(&root, &home);
    let snapshot = indexed.snapshot();
    let edges = pipeline::relations(&snapshot).expect("the index can be read").all();
    let spots: Vec<Value> = edges
        .iter()
        .step_by((edges.len() / ASKED).max(1))
        .filter_map(|edge| {
            let file = snapshot.file_by_number(edge.file)?;
            let before = &file.content()[..edge.at as usize];
            let line = before.iter().filter(|byte| **byte == b'\n').count();
            let column = before.iter().rev().take_while(|byte| **byte != b'\n').count();
            let uri = format!("file://{}", root.join(file.path()).display());
            Some(json!({
                "textDocument": {"uri": uri}, "position": {"line": line, "character": column},
                "positions": [{"line": line, "character": column}],
                "context": {"includeDeclaration": true},
            }))
        })
        .collect();
    report!("| django, ms | p50 | p99 |\n|---|---|---|");
    let print = |what: &str, took: Vec<Duration>| {
        let sample = Sample::new(took);
        report!("| {what} | {:.1} | {:.1} |", sample.percentile(50), sample.percentile(99));
    };
    let (mut opened, mut first) = (Vec::new(), Vec::new());
    for spot in spots.iter().take(STARTS) {
        let mut editor = Editor::start(&root, &home);
        opened.push(editor.started.elapsed());
        first.push(editor.ask("textDocument/definition", spot.clone()));
    }
    print("start until `initialize` is answered", opened);
    print("first definition after it", first);
    let mut editor = Editor::start(&root, &home);
    for _ in 0..2 {
        editor.ask("workspace/symbol", json!({"query": "Model"}));
        std::thread::sleep(WARM);
    }
    for request in REQUESTS.into_iter().chain([RENAMING]) {
        print(request, spots.iter().map(|spot| editor.ask(request, spot.clone())).collect());
    }
    for request in PARSING {
        print(&format!("{request}, first"), spots.iter().map(|spot| editor.ask(request, spot.clone())).collect());
        let again = spots.iter().map(|spot| {
            editor.ask(request, spot.clone());
            editor.ask(request, spot.clone())
        });
        print(&format!("{request}, again"), again.collect());
    }
    for (prepare, requests) in HIERARCHIES {
        let items = spots.iter().filter_map(|spot| {
            editor.ask(prepare, spot.clone());
            editor.last.get(0).cloned()
        });
        let items: Vec<Value> = items.collect();
        for request in requests {
            print(request, items.iter().map(|item| editor.ask(request, json!({"item": item}))).collect());
        }
    }
    let words = ["Model", "get queryset", "how a form is validated", "HttpResponse"];
    print(
        "workspace/symbol",
        (0..100).map(|n| editor.ask("workspace/symbol", json!({"query": words[n % 4]}))).collect(),
    );
    report!("\nmemory of its own: {:.0} MB", editor.memory());
    let (mut parsing, mut naming) = (Vec::new(), Vec::new());
    for spot in spots.iter().step_by(3) {
        let uri = spot["textDocument"]["uri"].as_str().expect("it has one");
        let text = std::fs::read_to_string(&uri["file://".len()..]).unwrap_or_default();
        let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": text});
        editor.tell("textDocument/didOpen", json!({"textDocument": document}));
        std::thread::sleep(LOOK);
        let start = json!({"line": 0, "character": 0});
        let change = json!({"range": {"start": start, "end": start}, "text": "# edited\n"});
        let document = json!({"uri": uri, "version": 2});
        editor.tell("textDocument/didChange", json!({"textDocument": document, "contentChanges": [change]}));
        parsing.push(editor.ask("textDocument/documentSymbol", spot.clone()));
        naming.push(editor.ask("textDocument/definition", spot.clone()));
        editor.tell("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }
    report!("\n| after an edit, ms | p50 | p99 |\n|---|---|---|");
    print("symbols: one parse", parsing);
    print("definition: the names of the text", naming);
    report!("\nmemory of its own: {:.0} MB", editor.memory());
}
