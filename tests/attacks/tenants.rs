//! Two tenants on one server: one asks every tool for what the other has, by its names, ids, paths, packages and cursors. All
//! answers are those of a server that never had them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use codelode::store::Registry;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::http::REVISION;
use super::random::Random;
use super::web::{Client, Site};

/// Calls, unless `CODELODE_TENANT_CALLS` says another number.
const CALLS: usize = 2_000;
/// Words that stand in files of the other tenant, and in no question.
const MARKS: [&str; 3] = ["mark_of_bens_vault", "mark_of_bens_package", "mark_of_bens_past"];
/// Tools whose answers come from elsewhere: a model, or all repositories of a forge.
const ELSEWHERE: [&str; 2] = ["embed_repo", "search_repositories"];

/// The folders of both tenants below one root.
struct Estate {
    folder: Arc<tempfile::TempDir>,
    source: std::path::PathBuf,
}

impl Estate {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let source = folder.path().canonicalize().expect("it is there").join("source");
        let estate = Self { folder: Arc::new(folder), source };
        let package = |mark: &str| {
            [
                (
                    "node_modules/leftpad/package.json",
                    r#"{"name": "leftpad", "version": "1.0.0", "main": "pad.js"}"#.to_owned(),
                ),
                ("node_modules/leftpad/pad.js", format!("export function pad(text) {{ return \"{mark}\" + text; }}\n")),
                ("main.js", "import { pad } from 'leftpad';\nexport function show() { return pad('a'); }\n".to_owned()),
            ]
        };
        let shop =
            "def add(a, b):\n    return a + b\n\n\nclass Counter:\n    def count(self):\n        return add(1, 2)\n";
        estate.write("ann/shop", &package("plain"));
        estate.write("ann/shop", &[("numbers.py", shop.to_owned())]);
        estate.write("ben/vault", &package(MARKS[1]));
        estate.write("ben/vault", &[("safe.py", format!("PAST = '{}'\n", MARKS[2]))]);
        commit(&estate.source.join("ben/vault"), "Begins with the past");
        let safe = format!(
            "KEY = '{}'\n\n\nclass Safe:\n    def open(self):\n        return KEY\n\n\ndef add(a):\n    return Safe().open()\n",
            MARKS[0]
        );
        estate.write("ben/vault", &[("safe.py", safe)]);
        commit(&estate.source.join("ben/vault"), "Adds a safe");
        // A namesake of the other's, in a folder of one's own.
        estate.write("ben/shop", &[("numbers.py", shop.replace("add", "sum_of_ben"))]);
        commit(&estate.source.join("ann/shop"), "Adds numbers");
        estate
    }

    fn write(&self, folder: &str, files: &[(&str, String)]) {
        for (name, text) in files {
            let path = self.source.join(folder).join(name);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is ours");
            fs::write(path, text).expect("the folder is ours");
        }
    }

    /// A server with an index of its own. Both callers have rights to their own folders alone.
    fn serve(&self) -> Site {
        let entry = |name: &str| {
            let digest: String = Sha256::digest(name.repeat(4)).iter().map(|byte| format!("{byte:02x}")).collect();
            format!("[{name}]\nsha256 = \"{digest}\"\nrepos = [{:?}]\nindex = true\n", self.source.join(name))
        };
        let tokens = self.folder.path().join("tokens.toml");
        fs::write(&tokens, entry("ann") + &entry("ben")).expect("the folder is ours");
        let flags = ["--tokens", tokens.to_str().expect("a path"), "--root", ".", "--tools", "full", "--web"];
        let variables = [("CODELODE_FRESHNESS", "strict"), ("CODELODE_WATCHER", "no")];
        Site::start_in(self.folder.clone(), &flags, &variables)
    }

    /// Takes the other tenant, and all that the server knew of it, off the disk.
    fn forget_ben(&self) {
        fs::rename(self.source.join("ben"), self.folder.path().join("gone")).expect("it is there");
        fs::rename(self.folder.path().join("index"), self.folder.path().join("index-of-both")).expect("it is there");
    }
}

fn commit(folder: &Path, message: &str) {
    for arguments in
        [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", message], &["branch", "-f", "branch_of_all"]]
    {
        let mut command = Command::new("git");
        command.current_dir(folder).args(["-c", "user.name=f", "-c", "user.email=f@a"]).args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(command.status().expect("git is installed where tests run").success(), "git {arguments:?}");
    }
}

fn client(site: &Site, name: &str) -> Client {
    let mut client = site.client().with_token(&name.repeat(4));
    client.open(REVISION);
    client
}

/// Indexes the folders of a tenant and the packages of one.
fn settle(client: &mut Client, folders: &[&Path]) {
    for folder in folders {
        let made = client.call("index_folder", json!({"path": folder}));
        assert!(made["error"].is_null(), "{made}");
    }
    let found = client.call("search_symbols", json!({"query": "pad", "deps": true, "repo": folders[0]}));
    assert!(found.to_string().contains("npm:leftpad@1.0.0"), "{found}");
}

/// Names and cursors of the other tenant, and some of its own.
struct Words {
    repos: Vec<String>,
    paths: Vec<String>,
    symbols: Vec<String>,
    words: Vec<String>,
    cursors: Vec<String>,
}

/// Everything that the other tenant can name, as it is told to that tenant, and some of one's own.
fn words(estate: &Estate, ben: &mut Client) -> Words {
    let at = |path: &str| estate.source.join(path).to_str().expect("a path").to_owned();
    let id = |path: &str| Registry::local_id(&estate.source.join(path));
    let listed = ben.call("list_repos", json!({"deps": true}));
    let package = listed["repos"][0]["repo"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned();
    let vault = id("ben/vault");
    let pages = [
        ben.call("search_text", json!({"repo": vault, "query": "e", "max_results": 1})),
        ben.call("get_repo_outline", json!({"repo": vault, "max_tokens": 100})),
        ben.call("search_commits", json!({"repo": vault, "max_results": 1})),
    ];
    let head = Command::new("git").arg("-C").arg(at("ben/vault")).args(["rev-parse", "HEAD"]).output();
    let head = String::from_utf8(head.expect("git is installed").stdout).expect("digits").trim().to_owned();
    let mut cursors: Vec<String> =
        pages.iter().filter_map(|page| Some(page["next_cursor"].as_str()?.to_owned())).collect();
    assert!(!cursors.is_empty(), "{pages:?}");
    cursors.push("eyJvIjoxfQ".to_owned());
    let repos = [
        vault.clone(),
        id("ben/shop"),
        "vault".to_owned(),
        "shop".to_owned(),
        "leftpad".to_owned(),
        "npm:leftpad@1.0.0".to_owned(),
        package,
        at("ben/vault"),
        at("ben/shop"),
        at("ben"),
        at("ann/shop/../../ben/vault"),
        format!("{vault}@HEAD"),
        id("ann/shop"),
        at("ann/shop"),
    ];
    let paths = [
        "safe.py".to_owned(),
        "numbers.py".to_owned(),
        "../../ben/vault/safe.py".to_owned(),
        at("ben/vault/safe.py"),
        at("ben/vault/node_modules/leftpad/pad.js"),
        at("ann/shop/../../ben/vault/safe.py"),
        format!("file://{}", at("ben/vault")),
        "pad.js".to_owned(),
        "node_modules/leftpad/pad.js".to_owned(),
    ];
    let symbols = [
        "safe.py::Safe#class".to_owned(),
        "safe.py::Safe.open#method".to_owned(),
        format!("{vault}::safe.py::Safe#class"),
        format!("{}::Safe#class", at("ben/vault/safe.py")),
        "pad.js::pad#function".to_owned(),
        "numbers.py::add#function".to_owned(),
        "numbers.py::Counter#class".to_owned(),
    ];
    let words =
        ["Safe", "open", "KEY", "add", "pad", "sum_of_ben", "Counter", "safe", "HEAD~1", "branch_of_all", &head];
    Words {
        repos: repos.to_vec(),
        paths: paths.to_vec(),
        symbols: symbols.to_vec(),
        words: words.map(str::to_owned).to_vec(),
        cursors,
    }
}

/// A value for an argument, by its name and schema.
fn argument(words: &Words, random: &mut Random, name: &str, schema: &Value) -> Value {
    let list = |one: Value| json!([one]);
    match name {
        "cursor" => random.one(&words.cursors).as_str().into(),
        "repo" | "repo_a" | "repo_b" | "url" | "repository" => random.one(&words.repos).as_str().into(),
        "repos" => list(random.one(&words.repos).as_str().into()),
        "path" if random.below(2) == 0 => random.one(&words.repos).as_str().into(),
        "path" | "file" | "file_path" => random.one(&words.paths).as_str().into(),
        _ if name.ends_with("_paths") => list(random.one(&words.paths).as_str().into()),
        "symbol_id" => random.one(&words.symbols).as_str().into(),
        _ if name.ends_with("_ids") || name == "targets" => list(random.one(&words.symbols).as_str().into()),
        "identifiers" => list(random.one(&words.words).as_str().into()),
        _ => match schema["type"].as_str().or(schema["type"][0].as_str()) {
            _ if schema["enum"].is_array() => {
                let all = schema["enum"].as_array().expect("it is one");
                all[random.below(all.len())].clone()
            }
            Some("boolean") => (random.below(2) == 0).into(),
            Some("integer") => (1 + random.below(3)).into(),
            Some("array") => list(random.one(&words.words).as_str().into()),
            _ => random.one(&words.words).as_str().into(),
        },
    }
}

/// A call of a tool with arguments that it has, about the other tenant mostly.
fn call(words: &Words, tools: &[Value], random: &mut Random) -> (String, Value) {
    let tool = &tools[random.below(tools.len())];
    let schema = &tool["inputSchema"];
    let needed: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut arguments = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let likely = match name.as_str() {
            one if needed.contains(&one) => 20,
            "repo" => 15,
            "repos" | "cursor" | "deps" => 4,
            _ => 3,
        };
        if random.below(20) < likely {
            arguments.insert(name.clone(), argument(words, random, name, property));
        }
    }
    (tool["name"].as_str().expect("it has a name").to_owned(), Value::Object(arguments))
}

/// A page of the other tenant's.
fn page(words: &Words, random: &mut Random) -> String {
    let (repo, path, word) = (random.one(&words.repos), random.one(&words.paths), random.one(&words.words));
    let encoded = |text: &str| text.replace('%', "%25").replace('~', "%7E").replace(' ', "%20");
    match random.below(5) {
        0 => format!("/r/{}/", encoded(repo)),
        1 => format!("/r/{}/{}", encoded(repo), encoded(path)),
        2 => format!("/raw/{}/{}", encoded(repo), encoded(path)),
        3 => format!("/raw/{}@HEAD~1/{}", encoded(repo), encoded(path)),
        _ => format!("/search?q={}&repo={}", encoded(word), encoded(repo)),
    }
}

/// A text of an answer without what differs between two runs: times, and sums of tokens in which times are written.
fn timeless(value: &mut Value) {
    let is_time = |key: &str| {
        let timed =
            ["since", "indexed_at", "latency_per_tool", "seconds", "session_response_tokens", "total_response_tokens"];
        timed.contains(&key) || key.ends_with("_ms") || key.ends_with("_s") || key == "duration_seconds" || key == "ms"
    };
    match value {
        Value::Object(object) => {
            object.retain(|key, _| !is_time(key));
            object.values_mut().for_each(timeless);
        }
        Value::Array(all) => all.iter_mut().for_each(timeless),
        _ => {}
    }
}

/// An answer as it is compared.
fn told(answer: &Value) -> String {
    if let Some(text) = answer["result"]["content"][0]["text"].as_str() {
        return match serde_json::from_str::<Value>(text) {
            Ok(mut value) => {
                timeless(&mut value);
                value.to_string()
            }
            Err(_) => text.to_owned(),
        };
    }
    answer["error"].to_string()
}

/// Asks all questions; gives the answers.
fn asked(site: &Site, words: &Words, n_calls: usize) -> Vec<(String, String)> {
    let mut ann = client(site, "ann");
    let listed = ann.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let is_asked = |tool: &&Value| !ELSEWHERE.iter().any(|name| tool["name"] == **name);
    let tools: Vec<Value> = tools.iter().filter(is_asked).cloned().collect();
    assert!(tools.len() > 30, "{} tools", tools.len());
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut all = Vec::with_capacity(n_calls);
    for nth in 0..n_calls {
        if nth % 10 == 9 {
            let path = page(words, &mut random);
            let reply = ann.get(&path);
            all.push((path, format!("{} {}", reply.status, reply.body)));
            continue;
        }
        let (tool, arguments) = call(words, &tools, &mut random);
        let answer = ann.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        all.push((format!("{tool} {arguments}"), told(&answer)));
    }
    all
}

#[test]
fn a_tenant_is_answered_as_by_a_server_that_never_had_the_other() {
    let n_calls = std::env::var("CODELODE_TENANT_CALLS").ok().and_then(|n| n.parse().ok()).unwrap_or(CALLS);
    let estate = Estate::new();
    let at = |path: &str| estate.source.join(path);
    let site = estate.serve();
    let mut ben = client(&site, "ben");
    settle(&mut ben, &[&at("ben/vault"), &at("ben/shop")]);
    let words = words(&estate, &mut ben);
    settle(&mut client(&site, "ann"), &[&at("ann/shop")]);
    let with_both = asked(&site, &words, n_calls);
    drop(site);
    estate.forget_ben();
    let site = estate.serve();
    settle(&mut client(&site, "ann"), &[&at("ann/shop")]);
    let alone = asked(&site, &words, n_calls);
    let mut n_errors = 0;
    for ((question, told), (_, expected)) in with_both.iter().zip(&alone) {
        assert!(!MARKS.iter().any(|mark| told.contains(mark)), "{question}: {told:.2000}");
        assert_eq!(told, expected, "{question}");
        n_errors += usize::from(told.contains("\"code\":"));
    }
    println!("{n_calls} questions, {n_errors} refused");
    assert!(n_errors * 10 < n_calls * 9, "{n_errors} of {n_calls} are errors, which tell too little");
}
