//! Many processes over one store: readers beside a writer, writers in turn, servers and worktrees that share it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use codelode::config::Config;
use codelode::pipeline::{self, RunControl};
use codelode::store::{Error, Registry};
use codelode::tools::{self, Context, Request};
use codelode::watch::{Options, WatchHandle};
use serde_json::{Value, json};

use crate::client::signal;
use crate::place::git;

use super::{
    PATIENCE, Place, Server, State, bytes_of, generation_of, module, modules, names, number_of, snapshot, state_of,
};

/// Tells that its holder has ended, be it by a panic.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_reader_sees_whole_generations_while_another_process_writes() {
    const GENERATIONS: usize = 10;
    let place = Place::holding(&modules(12, 0));
    let done = AtomicBool::new(false);
    let first = place.snapshot().expect("it is indexed");
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _ends = Ends(&done);
            for generation in 1..=GENERATIONS {
                // The number of files changes as well, so that a table of another moment would show.
                let n_modules = |generation| 12 + generation % 4;
                place.rewrite(
                    &modules(n_modules(generation - 1), generation - 1),
                    &modules(n_modules(generation), generation),
                );
                place.found(&["index", "."]);
            }
        });
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = 0;
                    let mut n_read = 0;
                    while !done.load(Ordering::Acquire) {
                        let snapshot = place.snapshot().expect("there was an index before");
                        let state = state_of(&snapshot);
                        let generation = generation_of(&state);
                        assert_eq!(state.len(), 12 + generation % 4, "generation {generation}");
                        assert!(generation >= last, "{generation} after {last}");
                        last = generation;
                        n_read += 1;
                    }
                    n_read
                })
            })
            .collect();
        let n_read: usize = readers.into_iter().map(|reader| reader.join().expect("no reader fails")).sum();
        writer.join().expect("no run fails");
        println!("{n_read} snapshots read during {GENERATIONS} commits");
    });
    assert_eq!(generation_of(&place.held()), GENERATIONS);
    // It was opened before all of this, and is searched only now.
    assert_eq!(generation_of(&state_of(&first)), 0);
}

#[test]
fn threads_of_a_server_see_their_edits_or_say_that_they_do_not() {
    let place = Place::holding(&modules(12, 0));
    let config = Config { home: place.index().join("codelode"), ..Config::default() };
    let options = Options { debounce: Duration::from_millis(20), idle: None };
    let watching = Arc::new(WatchHandle::new(config.clone(), options, Arc::new(|_: &str| {})));
    let cx = Context::new(config).kept_by(watching);
    let request = Request { directory: Some(place.source()), ..Request::default() };
    let is_fresh = |name: &str| {
        let args = json!({"query": name, "max_results": 1});
        let answer = tools::call(&cx, "search_symbols", args.as_object().expect("it is one").clone(), &request);
        let answer: Value = serde_json::from_str(&answer.text).expect("answers are JSON");
        let is_fresh = answer["_meta"]["freshness"] == "fresh";
        assert!(!is_fresh || answer["results"][0]["name"] == name, "{name}: {answer}");
        is_fresh
    };
    let edit_and_ask = |thread: usize, nth: usize| {
        let name = format!("own_{thread}_{nth}");
        let text = format!("def {name}():\n    pass\n");
        fs::write(place.source().join(format!("own_{thread}.py")), text).expect("it is ours");
        is_fresh(&name)
    };
    let n_fresh: usize = thread::scope(|scope| {
        let ask = &edit_and_ask;
        let threads: Vec<_> =
            (0..6).map(|thread| scope.spawn(move || (0..20).filter(|nth| ask(thread, *nth)).count())).collect();
        threads.into_iter().map(|thread| thread.join().expect("no answer is wrong")).sum()
    });
    println!("{n_fresh} of 120 answers were fresh");
    // On a busy machine none may be, before the last edit is read.
    let begun = Instant::now();
    while !is_fresh("own_0_19") {
        assert!(begun.elapsed() < PATIENCE, "no answer is fresh");
    }
}

#[test]
fn a_refresh_keeps_what_somebody_else_indexed_meanwhile() {
    let place = Place::holding(&modules(4, 0));
    let config = Config { home: place.index().join("codelode"), ..Config::default() };
    let sidecar = pipeline::sidecar_of(&place.source(), &config);
    let watcher =
        RunControl { progress: &codelode::model::unfollowed, cancelled: &AtomicBool::new(false), patience: PATIENCE };
    let before = place.snapshot().expect("it is indexed");
    let path = "part_0/module_0.py";
    fs::write(place.source().join(path), module(path, 1)).expect("it is ours");
    let drift = pipeline::drift(&place.source(), &before);
    assert_eq!(drift.changed, [path]);

    fs::write(place.source().join("new.py"), module("new.py", 1)).expect("it is ours");
    place.found(&["index", "."]);
    pipeline::refresh(&sidecar, &before, &drift, &config, &watcher).expect("nothing is in the way");
    let mut state = modules(4, 0);
    state.extend([path, "new.py"].map(|path| (path.to_owned(), module(path, 1))));
    assert_eq!(place.held(), state);
}

/// Waits until a process has a file open. Where the system does not say, it waits for what is long enough on an idle machine.
fn wait_for_open_file(process: u32, path: &Path) {
    let folder = format!("/proc/{process}/fd");
    if !Path::new(&folder).exists() {
        return thread::sleep(Duration::from_secs(2));
    }
    let path = path.canonicalize().expect("it is there");
    let begun = Instant::now();
    let is_it = |file: fs::DirEntry| fs::read_link(file.path()).is_ok_and(|target| target == path);
    while !fs::read_dir(&folder).expect("it runs").flatten().any(is_it) {
        assert!(begun.elapsed() < PATIENCE, "it does not open {}", path.display());
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_that_waited_publishes_nothing_older_than_others_did_meanwhile() {
    let place = Place::holding(&modules(4, 0));
    let path = "part_0/module_0.py";
    fs::write(place.source().join(path), module(path, 1)).expect("it is ours");
    let registry = Registry::new(place.index().join("codelode"));
    let sidecar = registry.get(&Registry::local_id(&place.source())).expect("it is indexed");
    let writer = registry.store(&sidecar.store).writer(PATIENCE).expect("nobody else writes");
    // It has looked at the folder and waits for the writer.
    let mut late =
        place.command(&["index", "."]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
    wait_for_open_file(late.id(), &registry.store(&sidecar.store).dir().join("lock"));
    signal(late.id(), libc::SIGSTOP);
    drop(writer);
    fs::write(place.source().join("new.py"), module("new.py", 1)).expect("it is ours");
    place.found(&["index", "."]);
    signal(late.id(), libc::SIGCONT);
    assert!(late.wait().expect("it ends").success());
    let mut state = modules(4, 0);
    state.extend([path, "new.py"].map(|path| (path.to_owned(), module(path, 1))));
    assert_eq!(place.held(), state);
}

#[test]
fn processes_that_write_at_the_same_time_take_turns() {
    let place = Place::holding(&modules(8, 0));
    place.rewrite(&modules(8, 0), &modules(10, 1));
    let children: Vec<Child> = (0..4)
        .map(|_| place.command(&["index", "."]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(place.held(), modules(10, 1));
}

/// Bytes of all packs of an index directory.
fn pack_bytes(index: &Path) -> u64 {
    let packs = names(index).into_iter().filter(|(path, _)| path.to_string_lossy().contains("/pack."));
    packs.map(|(path, _)| fs::metadata(path).expect("it is there").len()).sum()
}

#[test]
fn worktrees_of_one_repository_share_what_they_have_in_common() {
    let place = Place::new();
    let state = modules(10, 0);
    place.rewrite(&State::new(), &state);
    let (first, second) = (place.source(), place.path().join("second"));
    git(&first, &["init", "-q"]);
    git(&first, &["add", "."]);
    git(&first, &["commit", "-q", "-m", "first"]);
    git(&first, &["worktree", "add", "-q", "--detach", "../second"]);

    place.found(&["index", "."]);
    let alone = pack_bytes(&place.index());
    place.found(&["index", "../second"]);
    assert_eq!(pack_bytes(&place.index()), alone, "the second holds nothing of its own");
    let stores = fs::read_dir(place.index().join("codelode/stores")).expect("there is one").count();
    assert_eq!(stores, 1);

    let held = |root: &Path| state_of(&snapshot(&place.index(), root).expect("it is indexed"));
    let path = "part_0/module_0.py";
    fs::write(second.join(path), module(path, 1)).expect("it is ours");
    place.found(&["index", "../second"]);
    assert_eq!(held(&first), state);
    let mut edited = state.clone();
    edited.insert(path.to_owned(), module(path, 1));
    assert_eq!(held(&second), edited);
    assert!(pack_bytes(&place.index()) < alone * 2, "an edit brings no more than it must");

    let names = |root: &Path| {
        let found = place.call("search_symbols", json!({"repo": root, "query": "marker_part_0_module_0_py"}));
        let results = found["results"].as_array().cloned().unwrap_or_default();
        let names = results.iter().filter_map(|result| result["name"].as_str().map(str::to_owned));
        names.filter(|name| name.contains("module_0")).collect::<Vec<_>>()
    };
    assert_eq!(names(&first), ["marker_part_0_module_0_py_0"]);
    assert_eq!(names(&second), ["marker_part_0_module_0_py_1"]);

    // One that is forgotten takes nothing from the other, and the last takes all.
    place.found(&["invalidate", "../second"]);
    assert_eq!(held(&first), state);
    place.found(&["invalidate", "."]);
    assert_eq!(fs::read_dir(place.index().join("codelode/stores")).expect("the folder stays").count(), 0);
}

/// Bytes of memory that a process shares with nobody.
fn private_bytes(process: u32) -> u64 {
    bytes_of(process, "Private_")
}

/// `CODELODE_SERVERS=20 CODELODE_SERVED=/a/repository cargo test --release --test all many_servers -- --nocapture` gives the
/// figure.
#[test]
fn many_servers_share_one_store_and_none_waits_to_read() {
    let n_servers = number_of("CODELODE_SERVERS", 4);
    let place = Place::holding(&modules(30, 0));
    let root = std::env::var("CODELODE_SERVED").map_or_else(|_| place.source(), PathBuf::from);
    place.found(&["index", &root.to_string_lossy()]);
    let mut servers: Vec<Server> = (0..n_servers).map(|_| Server::start(place.command(&["serve"]))).collect();
    let questions = [
        ("search_symbols", json!({"repo": root, "query": "marker value"})),
        ("search_text", json!({"repo": root, "query": "return"})),
        ("get_repo_outline", json!({"repo": root})),
        ("find_references", json!({"repo": root, "identifier": "value"})),
    ];
    let ask_all = |servers: &mut Vec<Server>| {
        for server in servers {
            for (tool, args) in &questions {
                let answer = server.call(tool, args.clone());
                assert!(answer.get("error").is_none(), "{tool}: {answer}");
            }
        }
    };
    ask_all(&mut servers);

    // One writes, and may take as long as it likes.
    let registry = Registry::new(place.index().join("codelode"));
    let sidecar = registry.get(&Registry::local_id(&root)).expect("it is indexed");
    let store = registry.store(&sidecar.store);
    let writer = store.writer(PATIENCE).expect("nobody else writes");
    assert!(matches!(store.writer(Duration::ZERO), Err(Error::Busy)), "one writes at a time");
    ask_all(&mut servers);
    drop(writer);

    let mut private: Vec<u64> = servers.iter().map(|server| private_bytes(server.child.id()) >> 20).collect();
    private.sort_unstable();
    println!("{n_servers} servers: {private:?} MB private");
    assert!(private.iter().all(|megabytes| *megabytes <= 40), "{private:?} MB");
    servers.into_iter().for_each(Server::close);
}
