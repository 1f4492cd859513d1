//! Models behind a real server, asked by real processes: killed runs go on, and a server that is down costs a warning.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{PATIENCE, Server};
use crate::place::{Place, Ran};

/// A server with OpenAI's interface that embeds and summarises, slowly.
pub struct Provider {
    pub base: String,
    /// How often each text was paid for.
    paid: Arc<Mutex<HashMap<String, usize>>>,
    /// Texts of each request for summaries, and the most tokens that its answer may have.
    asked: Arc<Mutex<Vec<(usize, Value)>>>,
    /// Whether requests wait, and whether one came while they did.
    holds: Arc<AtomicBool>,
    held: Arc<AtomicBool>,
    /// Requests under way, and the most that were at once.
    under_way: Arc<[AtomicUsize; 2]>,
}

impl Provider {
    fn start() -> Self {
        Self::that_ends_after(usize::MAX)
    }

    /// One that lets requests wait for ever once so many texts are paid for.
    pub fn that_ends_after(most: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let base = format!("http://localhost:{}/v1", listener.local_addr().expect("it is bound").port());
        let paid: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
        let asked: Arc<Mutex<Vec<(usize, Value)>>> = Arc::default();
        let (holds, held): (Arc<AtomicBool>, Arc<AtomicBool>) = Default::default();
        let under_way: Arc<[AtomicUsize; 2]> = Arc::default();
        let (counted, waits) = ((paid.clone(), asked.clone()), (holds.clone(), held.clone(), under_way.clone()));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let ((paid, asked), (holds, held, under_way)) = (counted.clone(), waits.clone());
                std::thread::spawn(move || {
                    let now = under_way[0].fetch_add(1, Ordering::SeqCst) + 1;
                    under_way[1].fetch_max(now, Ordering::SeqCst);
                    while holds.load(Ordering::Relaxed) || paid.lock().expect("nothing panics").len() >= most {
                        held.store(true, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    answer(stream, &paid, &asked, &|| {
                        under_way[0].fetch_sub(1, Ordering::SeqCst);
                    })
                });
            }
        });
        Self { base, paid, asked, holds, held, under_way }
    }

    /// Requests that are under way, and the most that were at once.
    fn under_way(&self) -> (usize, usize) {
        (self.under_way[0].load(Ordering::SeqCst), self.under_way[1].load(Ordering::SeqCst))
    }

    /// Texts paid for, and payments beyond the first for each.
    fn paid(&self) -> (usize, usize) {
        let paid = self.paid.lock().expect("nothing panics");
        (paid.len(), paid.values().sum::<usize>() - paid.len())
    }

    fn wait_for(&self, texts: usize) {
        let begun = Instant::now();
        while self.paid().0 < texts {
            assert!(begun.elapsed() < PATIENCE, "{texts} texts are not reached: {:?}", self.paid());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Answers one request, and calls `answering` before. A client that was killed is no error.
fn answer(
    stream: TcpStream,
    paid: &Mutex<HashMap<String, usize>>,
    asked: &Mutex<Vec<(usize, Value)>>,
    answering: &dyn Fn(),
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut line, mut length, mut path) = (String::new(), 0, String::new());
    while reader.read_line(&mut line).ok()? > 0 && line.trim() != "" {
        if let Some((name, value)) = line.split_once(':').filter(|_| !path.is_empty()) {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        } else {
            path = line.split(' ').nth(1)?.to_owned();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    std::thread::sleep(Duration::from_millis(20));
    let texts: Vec<String> = match path.ends_with("/embeddings") {
        true => body["input"].as_array()?.iter().filter_map(|text| text.as_str().map(str::to_owned)).collect(),
        false => {
            let items: Vec<Value> = serde_json::from_str(body["messages"][1]["content"].as_str()?).ok()?;
            asked.lock().expect("nothing panics").push((items.len(), body["max_tokens"].clone()));
            items.iter().filter_map(|item| item["name"].as_str().map(str::to_owned)).collect()
        }
    };
    let answer = match path.ends_with("/embeddings") {
        true => json!({"data": texts.iter().map(|text| json!({"embedding": vector(text)})).collect::<Vec<_>>()}),
        false => {
            let line = |(number, name): (usize, &String)| format!("{number}: Describes {name} well.");
            let lines: Vec<String> = (1..).zip(&texts).map(line).collect();
            json!({"choices": [{"message": {"content": lines.join("\n")}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
        }
    };
    for text in texts {
        *paid.lock().expect("nothing panics").entry(text).or_default() += 1;
    }
    let answer = answer.to_string();
    answering();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", answer.len());
    (&stream).write_all(format!("{head}{answer}").as_bytes()).ok()
}

fn vector(text: &str) -> [f64; 3] {
    let has = |word: &str| if text.contains(word) { 1.0 } else { 0.1 };
    [has("purchase") + has("checkout"), has("packet"), 0.1]
}

/// Functions of the folder.
const FUNCTIONS: usize = 40;

/// A folder with many functions, and a program that knows the provider.
pub struct Customer {
    pub place: Place,
    base: String,
}

impl Customer {
    pub fn new(base: &str) -> Self {
        let function = |n: usize| format!("def step{n}(state):\n    return state + {n}\n\n\n");
        let steps: String = (1..FUNCTIONS).map(function).collect();
        let shop = "def checkout(cart):\n    return cart.total()\n";
        Self { place: Place::of(&[("steps.py", steps.as_str()), ("shop.py", shop)]), base: base.to_owned() }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(args);
        command.env_clear().env("HOME", self.place.path()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("CODE_INDEX_PATH", self.place.index()).env("OPENAI_API_BASE", &self.base);
        command.env("OPENAI_EMBED_MODEL", "toy").env("OPENAI_MODEL", "toy").env("CODELODE_TRUSTED_HOSTS", "localhost");
        command.env("CODELODE_EMBED_BATCH_SIZE", "1").env("CODELODE_EMBED_CONCURRENCY", "1");
        command.env("OPENAI_BATCH_SIZE", "1").env("OPENAI_CONCURRENCY", "1");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }
}

#[test]
fn a_killed_run_keeps_what_it_has_paid_for() {
    // The larger file is described as well.
    let runs = [(&["embed", "--json"][..], FUNCTIONS), (&["index", "--use-ai-summaries", "--json"], FUNCTIONS + 1)];
    for (args, all) in runs {
        let server = Provider::start();
        let place = Customer::new(&server.base);
        for texts in [FUNCTIONS / 4, FUNCTIONS / 2] {
            let mut child =
                place.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
            server.wait_for(texts);
            child.kill().expect("it is ours");
            child.wait().expect("it is ours");
        }
        let done = place.run(args).json();
        let (paid, twice) = server.paid();
        assert_eq!(paid, all, "{args:?}: {done}");
        // At each kill one request is under way, and the answer before it may be being written.
        assert!(twice <= 2 * 2, "{args:?}: {twice} texts were paid for twice: {done}");
        let again = place.run(args).json();
        assert_eq!(server.paid(), (paid, twice), "{args:?}: {again}");
    }
}

#[test]
fn a_killed_server_keeps_what_it_has_paid_for() {
    let provider = Provider::start();
    let place = Customer::new(&provider.base);
    let all = FUNCTIONS + FUNCTIONS + 1;
    let both = json!({"path": place.place.source(), "embed": true, "use_ai_summaries": true});
    // Before anything is paid for, while much is being stored, and shortly before the end.
    let kills = [0, 1, all / 3, all / 2, all - 4];
    for texts in kills {
        let mut server = Server::start(place.command(&["serve"]));
        server.call("index_folder", both.clone());
        provider.wait_for(texts);
        server.child.kill().expect("it is ours");
        server.child.wait().expect("it is ours");
    }
    let mut server = Server::start(place.command(&["serve"]));
    let indexed = server.call("index_folder", both.clone());
    assert_ne!(indexed["summaries"]["summaries_pending"], FUNCTIONS + 1, "what was paid for is lost: {indexed}");
    provider.wait_for(all);
    server.until("index_folder", both.clone(), |told| told["summaries"]["summaries_pending"] == 0);
    server.until("embed_repo", json!({}), |told| told["missing"] == 0);
    server.close();
    let (paid, twice) = provider.paid();
    assert_eq!(paid, all);
    // At each kill a request of both sorts is under way, and the answer before it may be being written.
    assert!(twice <= kills.len() * 2 * 2, "{twice} texts were paid for twice");

    let mut server = Server::start(place.command(&["serve"]));
    for n in [1, FUNCTIONS / 2, FUNCTIONS - 1] {
        let found = server.call("search_symbols", json!({"query": format!("step{n}")}));
        assert_eq!(found["results"][0]["summary"], format!("Describes step{n} well."), "{found}");
    }
    assert_eq!(server.call("index_folder", both)["summaries"]["summaries_pending"], 0);
    let embedded = server.call("embed_repo", json!({}));
    assert_eq!((&embedded["embedded"], &embedded["cached"]), (&json!(0), &json!(FUNCTIONS)), "{embedded}");
    server.close();
    assert_eq!(provider.paid(), (paid, twice), "nothing is paid for again");
}

#[test]
fn no_answer_of_a_server_waits_for_a_model() {
    let provider = Provider::start();
    provider.holds.store(true, Ordering::Relaxed);
    let place = Customer::new(&provider.base);
    let mut command = place.command(&["serve"]);
    command.env("CODELODE_EMBED_TIMEOUT", "60");
    let mut server = Server::start(command);
    let both = json!({"path": place.place.source(), "embed": true, "use_ai_summaries": true});
    let indexed = server.call("index_folder", both);
    assert_eq!((&indexed["embeddings"]["embedded"], &indexed["summaries"]["summarized"]), (&json!(0), &json!(0)));
    assert_eq!(indexed["summaries"]["summaries_pending"], FUNCTIONS + 1, "{indexed}");
    let found = server.call("search_symbols", json!({"query": "checkout"}));
    assert_eq!(found["results"][0]["name"], "checkout", "{found}");
    // A request was sent beside the answers, which came before the model's.
    let begun = Instant::now();
    while !provider.held.load(Ordering::Relaxed) {
        assert!(begun.elapsed() < PATIENCE, "nothing is asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(provider.paid(), (0, 0));
    provider.holds.store(false, Ordering::Relaxed);
    provider.wait_for(FUNCTIONS + FUNCTIONS + 1);
    let told = |answer: &Value| answer["results"][0]["summary"] == "Describes checkout well.";
    server.until("search_symbols", json!({"query": "checkout"}), told);
    server.close();
}

#[test]
fn a_server_that_is_down_costs_a_warning_at_the_terminal() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free");
    let place = Customer::new(&format!("http://localhost:{}/v1", closed.port()));
    let found = place.run(&["search", "--semantic", "checkout of a cart"]);
    assert!(found.status == 0 && found.out.contains("shop.py:1"), "{found:?}");
    assert_eq!(found.out.matches("found by words alone").count(), 1, "{found:?}");
    let only = place.run(&["search", "--semantic-only", "checkout of a cart"]);
    assert_eq!(only.status, 2, "{}", only.err);
}

#[test]
fn a_watcher_summarises_unless_it_is_told_not_to() {
    let ways = [(&["serve", "--watcher"][..], true), (&["serve", "--watcher", "--watcher-no-ai-summaries"], false)];
    for (args, summarises) in ways {
        let provider = Provider::start();
        let place = Customer::new(&provider.base);
        let mut command = place.command(args);
        command.env("CODELODE_USE_AI_SUMMARIES", "1");
        let mut server = Server::start(command);
        let indexed = server.call("index_folder", json!({"path": place.place.source()}));
        assert_eq!(indexed["summaries"].is_object(), summarises, "{indexed}");
        place.place.write("later.py", "def later():\n    return 1\n");
        let is_there = |found: &Value| found["results"][0]["name"] == "later";
        let is_told = |found: &Value| found["results"][0]["summary"] == "Describes later well.";
        server.until("search_symbols", json!({"query": "later"}), |found| {
            is_there(found) && (is_told(found) || !summarises)
        });
        provider.wait_for(if summarises { FUNCTIONS + 2 } else { 0 });
        server.close();
        assert_eq!(provider.paid().0, if summarises { FUNCTIONS + 2 } else { 0 }, "{args:?}");
    }
}

#[test]
fn as_many_requests_are_under_way_as_the_settings_say() {
    let sorts =
        [("OPENAI_CONCURRENCY", &["index", "--use-ai-summaries"][..]), ("CODELODE_EMBED_CONCURRENCY", &["embed"])];
    for (variable, args) in sorts {
        let provider = Provider::start();
        provider.holds.store(true, Ordering::Relaxed);
        let place = Customer::new(&provider.base);
        let mut command = place.command(args);
        let mut child = command.env(variable, "3").stdout(Stdio::null()).spawn().expect("the program starts");
        let begun = Instant::now();
        while provider.under_way().0 < 3 {
            assert!(begun.elapsed() < PATIENCE, "{variable}: {:?} are under way", provider.under_way());
            std::thread::sleep(Duration::from_millis(5));
        }
        provider.holds.store(false, Ordering::Relaxed);
        assert!(child.wait().expect("it is ours").success());
        assert!(provider.paid().0 >= FUNCTIONS);
        assert_eq!(provider.under_way(), (0, 3), "{variable}");
    }
}

/// A part of every key of the test below, which no file has by chance.
const MARK: &str = "qv7Zx0wKey";

#[test]
fn variables_of_models_act_and_no_key_is_written_anywhere() {
    let server = Provider::start();
    let place = Customer::new(&server.base);
    let log = place.place.path().join("log");
    let keys = [("GOOGLE_API_KEY", "AIza-qv7Zx0wKey"), ("ANTHROPIC_API_KEY", "sk-qv7Zx0wKey")];
    let run = |base: &str, args: &[&str]| {
        let mut command = place.command(args);
        command.envs(keys).env("CODELODE_SUMMARY_PROVIDER", "openai").env("JCODEMUNCH_USE_AI_SUMMARIES", "1");
        command.env("OPENAI_BATCH_SIZE", "5").env("OPENAI_MAX_TOKENS", "77").env("JCODEMUNCH_SHARE_SAVINGS", "1");
        command.env("CODELODE_LOG", "debug").env("CODELODE_LOG_FILE", &log).env("OPENAI_API_BASE", base);
        Ran::of(&mut command)
    };
    let indexed = run(&server.base, &["index", "--json"]);
    assert_eq!((indexed.status, server.paid()), (0, (FUNCTIONS + 1, 0)), "{indexed:?}");
    let asked = std::mem::take(&mut *server.asked.lock().expect("nothing panics"));
    assert!(asked.iter().all(|(texts, most)| *texts <= 5 && *most == 77), "{asked:?}");
    assert_eq!(asked.len(), (FUNCTIONS + 1).div_ceil(5), "{asked:?}");

    // A service that takes no key over an open line, one that is not there, and what is said about the settings.
    let mut with_key = place.command(&["embed"]);
    with_key.env("OPENAI_API_KEY", "sk-qv7Zx0wKey").env("CODELODE_LOG", "debug").env("CODELODE_LOG_FILE", &log);
    let all = [
        indexed,
        Ran::of(&mut with_key),
        run("http://localhost:1/v1", &["embed"]),
        run(&server.base, &["models"]),
        run(&server.base, &["config"]),
        run(&server.base, &["doctor"]),
    ];
    for ran in &all {
        assert!(!format!("{ran:?}").contains(MARK), "{ran:?}");
    }
    let said = std::fs::read_to_string(&log).expect("there is a log");
    assert!(said.contains("share_savings has no effect: nothing is shared"), "{said}");
    let mut folders = vec![place.place.path()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it is ours").flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let bytes = std::fs::read(&path).unwrap_or_default();
                    assert!(!bytes.windows(MARK.len()).any(|part| part == MARK.as_bytes()), "{}", path.display());
                }
            }
        }
    }
}
