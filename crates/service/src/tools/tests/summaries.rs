//! Summaries by a model through the tools, with a server that summarises.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::tools::{Context, Envelope, Request, call};
use codelode_base::config::{Config, Secret};
use codelode_net::test_server::{PATIENCE, Reply, TestServer};

/// A folder of code, an index directory, and a server that summarises.
struct Place {
    folder: tempfile::TempDir,
    server: TestServer,
    /// Names of the symbols that were asked about, in order.
    asked: Arc<Mutex<Vec<String>>>,
    /// Requests that the server answers before it refuses the key.
    allowed: Arc<Mutex<usize>>,
}

impl Place {
    fn new() -> Self {
        let (asked, allowed): (Arc<Mutex<Vec<String>>>, _) = (Arc::default(), Arc::new(Mutex::new(usize::MAX)));
        let (seen, left) = (asked.clone(), allowed.clone());
        let test_server = TestServer::https(move |asked| {
            let body: Value = serde_json::from_slice(&asked.body).expect("it is JSON");
            let message = body["messages"][1]["content"].as_str().expect("a message");
            let items: Vec<Value> = serde_json::from_str(message).expect("items");
            let mut left = left.lock().expect("nothing panics");
            if *left == 0 {
                return Reply::new(401, "{}");
            }
            *left -= 1;
            let names = items.iter().map(|item| item["name"].as_str().expect("a name").to_owned());
            let line = |item: &Value| match item["name"].as_str() {
                Some("Canvas.paint") => format!("{}: Draws strokes with a brush.", item["number"]),
                _ => format!("{}: Handles the {}.", item["number"], item["name"]),
            };
            let lines: Vec<String> = items.iter().map(line).collect();
            seen.lock().expect("nothing panics").extend(names);
            let answer = json!({
                "choices": [{"message": {"content": lines.join("\n")}}],
                "usage": {"prompt_tokens": 50, "completion_tokens": 10}
            });
            Reply::new(200, answer.to_string())
        });
        let place = Self { folder: tempfile::tempdir().expect("there is room"), server: test_server, asked, allowed };
        place.write("shop.py", "def checkout(cart):\n    return cart.total()\n\n\nLIMIT = 3\n");
        place.write("net.py", "def send(data):\n    \"\"\"Sends a packet.\"\"\"\n    return len(data)\n");
        place.write("art.py", "class Canvas:\n    def paint(self, shape):\n        return shape\n");
        place.write("tests/test_shop.py", "def test_checkout():\n    assert True\n");
        place
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("code")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is ours");
        std::fs::write(path, text).expect("the folder is ours");
    }

    fn config(&self) -> Config {
        let ca_file = self.folder.path().join("ca.pem");
        std::fs::write(&ca_file, &self.server.certificate).expect("the folder is ours");
        let mut config = Config {
            home: self.folder.path().join("index"),
            trusted_hosts: vec!["localhost".to_owned()],
            ca_file: Some(ca_file),
            ..Config::default()
        };
        config.models.openai.base = Url::parse(&self.server.url("/v1")).expect("it is a URL");
        config.models.openai.key = Some(Secret("sk-secret".to_owned()));
        config.models.openai.model = Some("toy".to_owned());
        config.models.summary_timeout = PATIENCE;
        config.models.summary_batch = 1;
        config.models.summary_concurrency = 1;
        config.models.summary_price = Some((1000.0, 1000.0));
        config
    }

    /// Asks a new process, as a person or as a client.
    fn ask(&self, for_people: bool, tool: &str, args: Value) -> Envelope {
        ask(&Context::new(self.config()), self, for_people, tool, args)
    }

    /// Names that were asked about since the last call, sorted.
    fn asked(&self) -> Vec<String> {
        let mut names = std::mem::take(&mut *self.asked.lock().expect("nothing panics"));
        names.sort();
        names
    }

    fn index(&self) -> Value {
        let answer = self.ask(true, "index_folder", json!({"use_ai_summaries": true}));
        assert!(!answer.is_error, "{}", answer.value);
        answer.value
    }
}

fn ask(cx: &Context, place: &Place, for_people: bool, tool: &str, args: Value) -> Envelope {
    let patience = Some(PATIENCE);
    let request = Request { directory: Some(place.root()), patience, for_people, ..Request::default() };
    let Value::Object(mut args) = args else { panic!("arguments are an object") };
    args.insert("format".to_owned(), "json".into());
    call(cx, tool, args, &request)
}

fn summary(answer: &Envelope) -> &str {
    answer.value["results"][0]["summary"].as_str().unwrap_or_else(|| panic!("{}", answer.value))
}

#[test]
fn nothing_is_sent_unless_it_is_asked_for() {
    let place = Place::new();
    assert!(!place.ask(true, "index_folder", json!({})).is_error);
    assert!(!place.ask(false, "index_folder", json!({"use_ai_summaries": false})).is_error);
    assert_eq!(place.server.connections(), 0);
    let mut config = place.config();
    config.models = Default::default();
    let answer = ask(&Context::new(config), &place, true, "index_folder", json!({"use_ai_summaries": true}));
    let warnings = answer.value["warnings"].to_string();
    assert!(!answer.is_error && warnings.contains("ANTHROPIC_API_KEY"), "{warnings}");
}

#[test]
fn a_description_is_found_by_the_words_of_a_summary() {
    let place = Place::new();
    assert!(!place.ask(true, "index_folder", json!({})).is_error);
    let found = |query: &str| place.ask(false, "search_symbols", json!({"query": query})).value;
    let question = "where are strokes drawn with a brush";
    assert_eq!(found(question)["results"], json!([]));
    place.index();
    let answer = found(question);
    assert_eq!(answer["results"][0]["id"], "art.py::Canvas.paint#method", "{answer}");
    // A name stays a name, and an edited symbol has no summary until it is asked about again.
    assert_eq!(found("checkout")["results"][0]["id"], "shop.py::checkout#function");
    place.write("art.py", "class Canvas:\n    def paint(self, shape):\n        return shape, 1\n");
    assert_eq!(found(question)["results"], json!([]));
}

#[test]
fn symbols_without_documentation_are_summarised_once() {
    let place = Place::new();
    let summaries = &place.index()["summaries"];
    assert_eq!(place.asked(), ["Canvas", "Canvas.paint", "checkout"]);
    assert_eq!((&summaries["summarized"], &summaries["summaries_pending"]), (&json!(3), &json!(0)));
    assert_eq!((&summaries["used_tokens"], &summaries["cost_usd"]), (&json!(180), &json!(0.18)));
    assert_eq!((&summaries["model"], &summaries["host"]), (&json!("toy"), &json!("localhost")));
    assert!(summaries["estimated_tokens"].as_u64() > Some(100) && summaries["estimated_cost_usd"].is_number());
    let found = |query: &str| place.ask(false, "search_symbols", json!({"query": query}));
    assert_eq!(summary(&found("checkout")), r#"Handles the "checkout"."#);
    assert_eq!(summary(&found("send")), "Sends a packet.");

    // A moved symbol keeps its summary, an edited one is asked about again.
    std::fs::rename(place.root().join("shop.py"), place.root().join("store.py")).expect("it is ours");
    place.write("art.py", "class Canvas:\n    def paint(self, shape):\n        return shape.area\n");
    place.index();
    assert_eq!(place.asked(), ["Canvas", "Canvas.paint"]);
    let again = place.ask(true, "index_folder", json!({"use_ai_summaries": true, "incremental": false}));
    assert_eq!((&again.value["summaries"]["summarized"], place.asked().len()), (&json!(0), 0));
}

#[test]
fn files_are_described_by_themselves_or_by_a_model() {
    let place = Place::new();
    let pay = |body: &str| {
        format!(
            "def pay(sum):\n    return {body}\n\n\ndef refund(sum):\n    return -sum\n\n\ndef fee(sum):\n    return 1\n"
        )
    };
    place.write("till.py", &pay("sum"));
    place.write("said.py", &format!("\"\"\"Takes the money.\"\"\"\n\n{}", pay("sum")));
    place.index();
    let asked = place.asked();
    assert!(asked.contains(&"till.py".to_owned()) && !asked.contains(&"said.py".to_owned()), "{asked:?}");
    let summary =
        |file: &str| place.ask(false, "get_file_outline", json!({"file_path": file})).value["summary"].clone();
    assert_eq!(summary("till.py"), r#"Handles the "till.py"."#);
    assert_eq!(summary("said.py"), "Takes the money.");
    // Less than three definitions speak for themselves.
    assert_eq!(summary("shop.py"), Value::Null);
    let found = place.ask(false, "search_symbols", json!({"query": "kind:file handles till"})).value;
    let first = &found["results"][0];
    let says = first["summary"].as_str().unwrap_or_default();
    assert!(first["file"] == "till.py" && says.starts_with(r#"Handles the "till.py"."#), "{found}");

    // It stays when a body changes, and is asked for again when a signature does.
    place.write("till.py", &pay("sum + 1"));
    place.index();
    assert_eq!(place.asked(), ["pay"]);
    assert_eq!(summary("till.py"), r#"Handles the "till.py"."#);
    place.write("till.py", &pay("sum + 1").replace("fee(sum)", "fee(sum, rate)"));
    assert_eq!(summary("till.py"), Value::Null);
    place.index();
    assert_eq!(place.asked(), ["fee", "till.py"]);
}

#[test]
fn a_run_that_ends_early_is_continued() {
    let place = Place::new();
    *place.allowed.lock().expect("nothing panics") = 2;
    let answer = place.index();
    assert_eq!((&answer["summaries"]["summarized"], &answer["summaries"]["summaries_pending"]), (&json!(2), &json!(1)));
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("1 symbols are not summarised") && warnings.contains("refuses the key"), "{warnings}");
    assert!(!answer.to_string().contains("sk-secret"));
    assert_eq!(place.asked().len(), 2);
    *place.allowed.lock().expect("nothing panics") = usize::MAX;
    assert_eq!((&place.index()["summaries"]["summarized"], place.asked().len()), (&json!(1), 1));
}

#[test]
fn a_budget_ends_a_run() {
    let place = Place::new();
    let mut config = place.config();
    config.models.summary_budget = Some(300);
    let answer = ask(&Context::new(config), &place, true, "index_folder", json!({"use_ai_summaries": true}));
    let summaries = &answer.value["summaries"];
    assert!(summaries["summaries_pending"].as_u64() > Some(0) && place.asked().len() < 3, "{summaries}");
}

#[test]
fn a_server_answers_before_summaries_arrive_and_finds_them_later() {
    let place = Place::new();
    let cx = Context::new(place.config());
    let answer = ask(&cx, &place, false, "index_folder", json!({"use_ai_summaries": true}));
    assert_eq!(answer.value["summaries"]["summaries_pending"], 3, "{}", answer.value);
    let found = || ask(&cx, &place, false, "search_symbols", json!({"query": "checkout"}));
    // They arrive beside the answers.
    let begun = std::time::Instant::now();
    while begun.elapsed() < PATIENCE {
        if !summary(&found()).is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("no summary arrives");
}
