//! Rights: for any rights and any calls of every tool, an answer is that of a server which holds only what the caller may
//! see.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use codelode::config::{Config, Freshness};
use codelode::model::Rights;
use codelode::store::Registry;
use codelode::tools::{self, Context, Request, TOOLS};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::place::{Place, git};
use crate::random::Random;

const REPOS: [(&str, &str, &str); 4] = [
    (
        "shop",
        "numbers.py",
        "def add(a, b):\n    return a + b\n\n\nclass Counter:\n    def count(self):\n        return add(1, 2)\n",
    ),
    ("shops", "numbers.py", "def add(a, b, c):\n    return a + b + c\n\n\ndef adds():\n    return add(1, 2, 3)\n"),
    (
        "vault",
        "safe.py",
        "SECRET = 'word'\n\n\nclass Safe:\n    def open(self):\n        return SECRET\n\n\ndef add():\n    return Safe().open()\n",
    ),
    (
        "web",
        "lib/main.ts",
        "export function add(a: number) { return a }\nexport class Page { show() { return add(1) } }\n",
    ),
];

/// A symbol of each repository, and the name it is called by.
const SYMBOLS: [(&str, &str); 4] = [
    ("numbers.py::Counter#class", "Counter"),
    ("numbers.py::add#function", "add"),
    ("safe.py::Safe#class", "Safe"),
    ("lib/main.ts::Page#class", "Page"),
];

/// Tools whose answers come from elsewhere: another host, or a model.
const ELSEWHERE: [&str; 5] =
    ["embed_repo", "grep_repository", "index_repo", "list_repository_refs", "search_repositories"];
/// Tools that change an index, which these callers may not.
const UPKEEP: [&str; 3] = ["index_file", "index_folder", "invalidate_cache"];

/// Four folders with a history, an index of all, and indexes of some, each made when it is first asked for.
struct Repositories {
    place: Place,
    made: Mutex<BTreeMap<usize, PathBuf>>,
    n_callers: AtomicUsize,
}

impl Repositories {
    fn new() -> Self {
        let place = Self { place: Place::new(), made: Mutex::default(), n_callers: AtomicUsize::new(0) };
        let cx = context(place.home(usize::MAX));
        for (name, file, text) in REPOS {
            let path = place.source(name).join(file);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder is ours");
            for (message, text) in [("Begins with a line", "x = 1\n"), ("Adds what there is", text)] {
                fs::write(&path, text).expect("the folder is ours");
                commit(&place.source(name), message);
            }
            let indexed =
                tools::call(&cx, "index_folder", object(json!({"path": place.source(name)})), &Request::default());
            assert!(!indexed.is_error, "{}", indexed.text);
        }
        place
    }

    fn source(&self, name: &str) -> PathBuf {
        self.place.source().join(name)
    }

    fn home(&self, mask: usize) -> PathBuf {
        self.place.path().join(format!("index-{mask}"))
    }

    fn id(&self, name: &str) -> String {
        Registry::local_id(&self.source(name))
    }

    /// A server with these repositories only.
    fn with_only(&self, mask: usize) -> Context {
        context(self.home_with_only(mask))
    }

    /// A server with a copy of an index, which may be changed.
    fn with_copy(&self, home: &Path) -> Context {
        let copy = self.place.path().join(format!("copy-{}", self.n_callers.fetch_add(1, Ordering::Relaxed)));
        super::copy(home, &copy);
        context(copy)
    }

    /// The index of all repositories without those that are not in the mask.
    fn home_with_only(&self, mask: usize) -> PathBuf {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let home = made.entry(mask).or_insert_with(|| {
            let home = self.home(mask);
            super::copy(&self.home(usize::MAX), &home);
            let registry = Registry::new(&home);
            for (_, (name, _, _)) in hidden(mask) {
                let sidecar = registry.get(&self.id(name)).expect("it is indexed");
                fs::remove_dir_all(home.join("stores").join(&sidecar.store)).expect("the copy is ours");
                registry.remove(&sidecar.repo).expect("the copy is ours");
            }
            home
        });
        home.clone()
    }

    /// Ids of the repositories in the mask.
    fn ids(&self, mask: usize) -> Vec<String> {
        let seen = REPOS.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0);
        seen.map(|(_, (name, ..))| self.id(name)).collect()
    }
}

/// Commits all files of a folder.
fn commit(folder: &Path, message: &str) {
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", message]] {
        git(folder, arguments);
    }
}

fn hidden(mask: usize) -> impl Iterator<Item = (usize, (&'static str, &'static str, &'static str))> {
    REPOS.into_iter().enumerate().filter(move |(i, _)| mask & (1 << i) == 0)
}

fn context(home: PathBuf) -> Context {
    Context::new(Config { home, freshness: Freshness::Strict, watcher: false, ..Config::default() })
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// A name of a repository: right, nearly right or wrong.
fn repo(place: &Repositories, random: &mut Random) -> String {
    let (name, file, _) = *random.one(&REPOS);
    match random.below(9) {
        0..3 => place.id(name),
        3 => name.to_owned(),
        4 => place.source(name).display().to_string(),
        5 => place.source(name).join(file).display().to_string(),
        6 => place.source(name).join("../vault").display().to_string(),
        7 => format!("{}x", place.id(name)),
        _ => (*random.one(&["nothing", "local/shop", ".", "../shop", "/etc", "*", "acme/shop"])).to_owned(),
    }
}

/// An argument of a tool.
fn argument(place: &Repositories, random: &mut Random, name: &str, schema: &Value) -> Value {
    let (_, file, _) = *random.one(&REPOS);
    let id = *random.one(&[
        "numbers.py::add#function",
        "safe.py::Safe.open#method",
        "add",
        "Counter.count",
        "lib/main.ts::Page#class",
    ]);
    let word = *random.one(&["add", "open", "SECRET", "Safe", "def", "Page", "nothing_like_it"]);
    match name {
        "repo" | "repo_a" | "repo_b" | "url" | "repository" => repo(place, random).into(),
        "path" if random.below(2) == 0 => file.into(),
        "path" => repo(place, random).into(),
        "repos" => (0..1 + random.below(2)).map(|_| Value::from(repo(place, random))).collect(),
        "query" | "pattern" | "identifier" => word.into(),
        "symbol_id" => id.into(),
        "file_path" | "file" => file.into(),
        _ if name.ends_with("_ids") || name == "identifiers" => json!([id, word]),
        _ if name.ends_with("_paths") => json!([file]),
        _ => match schema["type"].as_str().or(schema["type"][0].as_str()) {
            Some("boolean") => (random.below(2) == 0).into(),
            Some("integer") => random.below(4).into(),
            Some("array") => json!([]),
            _ => word.into(),
        },
    }
}

/// A call with arguments that its tool has; a third of the calls are of the tools that are preferred.
fn call(place: &Repositories, seed: u64, preferred: &[&str]) -> (&'static str, Map<String, Value>) {
    let mut random = Random(seed | 1);
    random.below(2);
    let is_preferred = !preferred.is_empty() && random.below(3) == 0;
    let among: Vec<_> = TOOLS.iter().filter(|spec| !is_preferred || preferred.contains(&spec.name)).collect();
    let spec = among[random.below(among.len())];
    let schema = (spec.input)().to_value();
    let needed: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut arguments = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let likely = if needed.contains(&name.as_str()) {
            20
        } else if name.starts_with("repo") {
            12
        } else {
            3
        };
        if random.below(20) < likely {
            arguments.insert(name.clone(), argument(place, &mut random, name, property));
        }
    }
    (spec.name, arguments)
}

/// An answer without its times, and without the sums of tokens of earlier answers, in which times are written.
fn timeless(mut answer: Value) -> Value {
    let written = ["session_response_tokens", "total_response_tokens"];
    let timed = ["session_duration_s", "since", "latency_per_tool", "indexed_at"];
    let repos = answer.get_mut("repos").and_then(Value::as_array_mut).into_iter().flatten();
    repos.filter_map(Value::as_object_mut).for_each(|repo| drop(repo.remove("indexed_at")));
    let is_time =
        |key: &str| timed.contains(&key) || written.contains(&key) || key.ends_with("_ms") || key == "duration_seconds";
    if let Some(answer) = answer.as_object_mut() {
        answer.retain(|key, _| !is_time(key));
    }
    for part in ["_meta", "stats"] {
        if let Some(part) = answer.get_mut(part).and_then(Value::as_object_mut) {
            part.retain(|key, _| !is_time(key));
        }
    }
    answer
}

#[test]
fn an_answer_is_that_of_a_server_with_only_what_the_caller_may_see() {
    let place = Repositories::new();
    let all = context(place.home(usize::MAX));
    let n_errors = AtomicUsize::new(0);
    let n_calls = AtomicUsize::new(0);
    let config = ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(mask in 0..16_usize, seeds in prop::collection::vec(any::<u64>(), 1..30))| {
        let caller = format!("caller-{}", place.n_callers.fetch_add(1, Ordering::Relaxed));
        let globs = place.ids(mask);
        let ours = all.seen_by(&caller, Rights::to_see(&globs).expect("ids are globs"));
        let only = place.with_only(mask).seen_by(&caller, Rights::to_see(&["*".to_owned()]).expect("it is a glob"));
        for seed in seeds {
            let (tool, arguments) = call(&place, seed, &[]);
            let given = tools::call(&ours, tool, arguments.clone(), &Request::default());
            let expected = tools::call(&only, tool, arguments.clone(), &Request::default());
            n_calls.fetch_add(1, Ordering::Relaxed);
            n_errors.fetch_add(usize::from(given.is_error), Ordering::Relaxed);
            prop_assert_eq!(timeless(given.value), timeless(expected.value), "{} {:?} with {:?}", tool, arguments, globs);
        }
    });
    let (n_errors, n_calls) = (n_errors.into_inner(), n_calls.into_inner());
    assert!(n_errors * 10 < n_calls * 9, "{n_errors} of {n_calls} calls are errors, which tell too little");
}

#[test]
fn rights_to_index_and_to_remove_reach_no_further_than_those_to_see() {
    let place = Repositories::new();
    let sources = place.source("").components().collect::<PathBuf>();
    let config = ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() };
    let seeds = prop::collection::vec(any::<u64>(), 1..15);
    proptest!(config, |(mask in 0..16_usize, may in any::<[bool; 3]>(), seeds in seeds)| {
        let [index, invalidate, offered] = may;
        let globs = place.ids(mask);
        let roots = Some(if offered { vec![sources.clone()] } else { Vec::new() });
        let rights = Rights { index, invalidate, roots, ..Rights::to_see(&globs).expect("ids are globs") };
        let (all, some) = (place.with_copy(&place.home(usize::MAX)), place.with_copy(&place.home_with_only(mask)));
        let (ours, only) = (all.seen_by("caller", rights.clone()), some.seen_by("caller", rights.clone()));
        for seed in seeds {
            let (tool, arguments) = call(&place, seed, &UPKEEP);
            let given = timeless(tools::call(&ours, tool, arguments.clone(), &Request::default()).value);
            let expected = timeless(tools::call(&only, tool, arguments.clone(), &Request::default()).value);
            prop_assert_eq!(given, expected, "{} {:?} with {:?}", tool, arguments, rights);
        }
        let left: Vec<String> = all.indexes.registry().all().into_iter().map(|sidecar| sidecar.repo).collect();
        for (_, (name, ..)) in hidden(mask) {
            prop_assert!(left.contains(&place.id(name)), "{} is gone with {:?}", name, rights);
        }
    });
}

/// A call that a tool can answer about a repository.
fn right_call(place: &Repositories, tool: &str, schema: &Value, i: usize) -> Map<String, Value> {
    let ((name, file, _), (symbol, word)) = (REPOS[i], SYMBOLS[i]);
    let values = [
        ("repo", json!(place.id(name))),
        ("repo_a", json!(place.id(name))),
        ("repo_b", json!(place.id(REPOS[(i + 1) % REPOS.len()].0))),
        ("repository", json!(place.source(name))),
        ("url", json!(place.source(name))),
        ("path", json!(if tool == "index_file" { place.source(name).join(file) } else { place.source(name) })),
        ("file", json!(file)),
        ("file_path", json!(file)),
        ("symbol_id", json!(symbol)),
        ("symbol_ids", json!([symbol])),
        ("identifier", json!(word)),
        ("query", json!(word)),
        ("pattern", json!("add($$$A)")),
        ("language", json!(if file.ends_with(".py") { "python" } else { "typescript" })),
        ("new_name", json!("renamed")),
        ("new_signature", json!("def add(b, a, c=0)")),
        ("targets", json!([symbol])),
        ("since_sha", json!("HEAD~1")),
        ("base", json!("HEAD~1")),
    ];
    // Each tool takes one of these ways to name its object.
    let others: &[&str] = match tool {
        "find_references" | "get_symbol_source" | "get_context_bundle" | "get_class_hierarchy" => {
            &["file", "identifier", "symbol_ids"]
        }
        "find_tests" => &["base"],
        "search_commits" | "search_repositories" => &["path", "query"],
        _ => &[],
    };
    let has = |name: &str| schema["properties"].get(name).is_some() && !others.contains(&name);
    values.into_iter().filter(|(name, _)| has(name)).map(|(name, value)| (name.to_owned(), value)).collect()
}

#[test]
fn every_tool_answers_from_what_the_caller_sees() {
    let place = Repositories::new();
    let all = context(place.home(usize::MAX));
    let (mut answering, mut wrong) = (BTreeSet::new(), Vec::new());
    for mask in [0b0000, 0b0101, 0b1010, 0b1111] {
        let seen: Vec<usize> = (0..REPOS.len()).filter(|i| mask & (1 << i) != 0).collect();
        let globs: Vec<String> = seen.iter().map(|i| place.id(REPOS[*i].0)).collect();
        let caller = format!("caller-{mask}");
        let ours = all.seen_by(&caller, Rights::to_see(&globs).expect("ids are globs"));
        let only = place.with_only(mask).seen_by(&caller, Rights::to_see(&["*".to_owned()]).expect("it is a glob"));
        for (spec, i) in TOOLS.iter().flat_map(|spec| (0..REPOS.len()).map(move |i| (spec, i))) {
            let arguments = right_call(&place, spec.name, &(spec.input)().to_value(), i);
            let given = tools::call(&ours, spec.name, arguments.clone(), &Request::default());
            let expected = tools::call(&only, spec.name, arguments.clone(), &Request::default());
            if !given.is_error && seen.contains(&i) {
                answering.insert(spec.name);
            }
            let (given, expected) = (timeless(given.value), timeless(expected.value));
            if given != expected || given["code"] == "internal" {
                wrong.push(format!("{} {arguments:?} with {globs:?}: {given} instead of {expected}", spec.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let silent: Vec<&str> = TOOLS.iter().map(|spec| spec.name).filter(|name| !answering.contains(name)).collect();
    let known = |name: &&str| ELSEWHERE.contains(name) || UPKEEP.contains(name);
    assert!(silent.iter().all(known), "no call of these had an answer to compare: {silent:?}");
}

#[test]
fn upkeep_by_a_caller_leaves_what_it_does_not_see() {
    let place = Repositories::new();
    let all = context(place.home(usize::MAX));
    let rights = Rights { index: true, invalidate: true, ..Rights::to_see(&[place.id("shop")]).expect("a glob") };
    let caller = all.seen_by("caller", rights);
    let call =
        |cx: &Context, tool: &str, arguments: Value| tools::call(cx, tool, object(arguments), &Request::default());
    assert!(!call(&caller, "index_folder", json!({"path": place.source("shop"), "incremental": false})).is_error);
    assert!(!call(&caller, "list_repos", json!({})).is_error);
    assert!(!call(&caller, "invalidate_cache", json!({"repo": place.id("shop")})).is_error);
    for (name, file, _) in REPOS.iter().skip(1) {
        let read = call(&all, "get_file_content", json!({"repo": place.id(name), "file_path": file}));
        assert!(!read.is_error, "{}", read.text);
    }
    assert_eq!(call(&all, "list_repos", json!({})).value["count"], 3);
}

#[test]
fn scores_and_counts_tell_nothing_of_another_worktree() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let source = folder.path().canonicalize().expect("it exists").join("source");
    let (seen, hidden) = (source.join("seen"), source.join("hidden"));
    fs::create_dir_all(&seen).expect("the folder is ours");
    let functions = |name: &str, count: usize, of: &str| -> String {
        (0..count)
            .map(|n| format!("def {name}_{n}(a):\n    \"\"\"{of} {n}.\"\"\"\n    return receipt(a)\n\n\n"))
            .collect()
    };
    let text = functions("price", 12, "The price of an invoice") + &functions("receipt", 3, "A receipt of a price");
    fs::write(seen.join("shop.py"), text).expect("the folder is ours");
    for arguments in ["init -q", "add .", "commit -q -m one", "worktree add -q ../hidden"] {
        git(&seen, &arguments.split(' ').collect::<Vec<_>>());
    }
    fs::write(hidden.join("safe.py"), functions("receipt", 80, "An invoice and a ledger")).expect("it is ours");

    let (both, alone) = (context(folder.path().join("both")), context(folder.path().join("alone")));
    let index = |cx: &Context, path: &PathBuf| {
        let indexed = tools::call(cx, "index_folder", object(json!({"path": path})), &Request::default());
        assert!(!indexed.is_error, "{}", indexed.text);
    };
    index(&both, &seen);
    index(&both, &hidden);
    index(&alone, &seen);
    let stores: Vec<String> = both.indexes.registry().all().into_iter().map(|sidecar| sidecar.store).collect();
    assert!(stores.len() == 2 && stores[0] == stores[1], "both worktrees share a store: {stores:?}");

    let id = Registry::local_id(&seen);
    let rights = Rights::to_see(std::slice::from_ref(&id)).expect("ids are globs");
    let (both, alone) = (both.seen_by("caller", rights.clone()), alone.seen_by("caller", rights));
    let symbol = "shop.py::receipt_1#function";
    for (tool, arguments) in [
        ("search_symbols", json!({"query": "receipt"})),
        ("search_symbols", json!({"query": "invoice of a receipt", "explain": true})),
        ("search_symbols", json!({"query": "a ledger of prices", "explain": true})),
        ("search_symbols", json!({"query": "recept_7", "fuzzy": true})),
        ("get_ranked_context", json!({"query": "receipt"})),
        ("get_ranked_context", json!({"query": "the ledger of an invoice"})),
        ("get_related_symbols", json!({"symbol_id": symbol})),
        ("get_symbol_importance", json!({})),
        ("get_repo_map", json!({})),
        ("suggest_queries", json!({})),
    ] {
        let mut arguments = object(arguments);
        arguments.insert("repo".to_owned(), json!(id));
        let given = tools::call(&both, tool, arguments.clone(), &Request::default());
        let expected = tools::call(&alone, tool, arguments.clone(), &Request::default());
        assert!(!given.is_error, "{tool} {arguments:?}: {}", given.text);
        assert_eq!(timeless(given.value), timeless(expected.value), "{tool} {arguments:?}");
    }
}
