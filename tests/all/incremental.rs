//! An index that grew edit by edit holds and answers what one does that was made at once.
//!
//! `CODELODE_EDIT_RUNS=100000 cargo test --release --test all incremental::` replays more than daily work can wait for; a run is up to
//! a dozen edits, moves and deletions, and asks every tool. `CODELODE_EDIT_EVENTS=1000000` replays longer histories, in which the
//! index is brought up to date now after one edit and now after many, and every record is compared now and then.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use codelode::config::Config;
use codelode::pipeline::{self, Options, RunControl};
use codelode::store::{Clause, Field, Registry, Snapshot};
use codelode::tools::{self, Context, Request};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::place::Place;

/// Something that happens to a folder between two looks at it.
#[derive(Clone, Debug)]
enum Event {
    /// A file is written: which, and which of its texts.
    Write(usize, usize),
    Remove(usize),
    /// A file takes the place of another.
    Move(usize, usize),
    MoveFolder(usize, usize),
    /// Another program saves it: written beside it, then put in its place.
    Replace(usize, usize),
    /// The ignore file changes.
    Ignore(usize),
    /// A file becomes a folder of the same name, or the other way round.
    Swap(usize),
    /// It is written again as it was.
    Touch(usize),
    /// The index is made new by looking at everything.
    Index,
    /// The index is brought up to date with what a cheap look saw.
    Refresh,
}

/// A change of files by a person or a program.
fn edit() -> impl Strategy<Value = Event> {
    let file = 0..PATHS.len();
    prop_oneof![
        6 => (file.clone(), 0..TEXTS).prop_map(|(file, text)| Event::Write(file, text)),
        2 => file.clone().prop_map(Event::Remove),
        2 => (file.clone(), file.clone()).prop_map(|(from, to)| Event::Move(from, to)),
        1 => (0..FOLDERS.len(), 0..FOLDERS.len()).prop_map(|(from, to)| Event::MoveFolder(from, to)),
        2 => (file.clone(), 0..TEXTS).prop_map(|(file, text)| Event::Replace(file, text)),
        1 => (0..IGNORED.len()).prop_map(Event::Ignore),
        1 => file.clone().prop_map(Event::Swap),
        1 => file.prop_map(Event::Touch),
    ]
}

/// A step that brings the index up to date.
fn update() -> impl Strategy<Value = Event> {
    prop_oneof![1 => Just(Event::Index), 2 => Just(Event::Refresh)]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![16 => edit(), 6 => update()]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    proptest::collection::vec(event(), 1..12)
}

const FOLDERS: [&str; 4] = ["pkg", "pkg/inner", "web", "moved"];
const PATHS: [&str; 12] = [
    "pkg/__init__.py",
    "pkg/base.py",
    "pkg/user.py",
    "pkg/inner/deep.py",
    "top.py",
    "web/a.ts",
    "web/b.ts",
    "web/index.js",
    "notes.md",
    "moved/base.py",
    "go/main.go",
    "data.txt",
];
const IGNORED: [&str; 4] = ["", "pkg/inner/\n", "*.ts\n", "user.py\n!base.py\n"];
/// So many texts a file can have.
const TEXTS: usize = 6;

/// One of the texts of a file. They use each other's names, so that an edit of one changes what another means.
fn text(path: &str, which: usize) -> Vec<u8> {
    if which == TEXTS - 1 {
        // Some are nothing that is read.
        return if path.len().is_multiple_of(2) { Vec::new() } else { b"no text\0at all".to_vec() };
    }
    let ending = path.rsplit('.').next().unwrap_or_default();
    let other = (which + 1) % (TEXTS - 1);
    let text = match ending {
        "py" => format!(
            "from pkg.base import shared_{which}, Base\nimport pkg.inner.deep as deep\n\n\nclass Base:\n    \"\"\"Holds {which}.\"\"\"\n\n    \
             def method(self):\n        return shared_{which}()\n\n\nclass Derived{which}(Base):\n    def method(self):\n        \
             return deep.shared_{other}(self)\n\n\ndef shared_{which}():\n    value = Base()\n    return value.method()\n"
        ),
        "ts" | "js" => format!(
            "import {{ shared{which}, Base }} from './b';\n\nexport class Base {{\n  method() {{ return shared{which}(); }}\n}}\n\n\
             export class Derived{which} extends Base {{}}\n\nexport function shared{other}() {{\n  return new Base().method();\n}}\n"
        ),
        "go" => format!(
            "package main\n\nfunc shared{which}() int {{ return {other} }}\n\nfunc main() {{ shared{which}() }}\n"
        ),
        // Nearly the same size each time, so that times alone must tell.
        _ => format!("shared_{which} is written here\n"),
    };
    text.into_bytes()
}

/// A folder with sources, and two index directories.
struct Edited {
    place: Place,
}

impl Edited {
    fn new() -> Self {
        let place = Self { place: Place::new() };
        for path in PATHS {
            place.write(path, &text(path, 0));
        }
        place
    }

    fn source(&self) -> PathBuf {
        self.place.source()
    }

    fn config(&self, home: &str) -> Config {
        Config {
            home: self.place.path().join(home),
            freshness: codelode::config::Freshness::Strict,
            ..Config::default()
        }
    }

    fn write(&self, path: &str, text: &[u8]) {
        let path = self.source_path(path);
        let _ = path.parent().map(fs::create_dir_all);
        // A folder may stand where a file was, and the other way round.
        let _ = fs::write(path, text);
    }

    fn source_path(&self, path: &str) -> PathBuf {
        self.source().join(path)
    }

    /// Applies a change; an impossible one, such as a file moving onto a folder, does nothing.
    fn apply(&self, event: &Event, config: &Config) {
        let path = |file: usize| self.source_path(PATHS[file]);
        match *event {
            Event::Write(file, which) => self.write(PATHS[file], &text(PATHS[file], which)),
            Event::Remove(file) => drop(fs::remove_file(path(file))),
            Event::Move(from, to) => {
                let _ = path(to).parent().map(fs::create_dir_all);
                let _ = fs::rename(path(from), path(to));
            }
            Event::MoveFolder(from, to) => {
                let _ = fs::rename(self.source_path(FOLDERS[from]), self.source_path(FOLDERS[to]));
            }
            Event::Replace(file, which) => {
                let beside = path(file).with_extension("tmp~");
                if fs::write(&beside, text(PATHS[file], which)).is_ok() && fs::rename(&beside, path(file)).is_err() {
                    let _ = fs::remove_file(beside);
                }
            }
            Event::Ignore(which) => self.write(".ignore", IGNORED[which].as_bytes()),
            Event::Swap(file) if path(file).is_dir() => drop(fs::remove_dir_all(path(file))),
            Event::Swap(file) => {
                let _ = fs::remove_file(path(file));
                self.write(&format!("{}/inside.py", PATHS[file]), &text("inside.py", 1));
            }
            Event::Touch(file) => {
                if let Ok(now) = fs::read(path(file)) {
                    self.write(PATHS[file], &now);
                }
            }
            Event::Index => self.index(config, &Options::default()),
            Event::Refresh => self.refresh(config),
        }
    }

    fn index(&self, config: &Config, options: &Options) {
        pipeline::index_folder(&self.source(), config, options, &watcher(&AtomicBool::new(false)))
            .expect("there is room");
    }

    /// Brings the index up to date as a question does.
    fn refresh(&self, config: &Config) {
        let (sidecar, snapshot) = self.open(config);
        let drift = pipeline::drift(&self.source(), &snapshot);
        if !drift.is_none() {
            let cancelled = AtomicBool::new(false);
            pipeline::refresh(&sidecar, &snapshot, &drift, config, &watcher(&cancelled)).expect("there is room");
        }
    }

    fn open(&self, config: &Config) -> (codelode::store::Sidecar, Snapshot) {
        let sidecar = pipeline::sidecar_of(&self.source(), config);
        let snapshot = Registry::new(&config.home).store(&sidecar.store).snapshot(&sidecar.snapshot);
        (sidecar, snapshot.expect("it was indexed"))
    }
}

fn watcher(cancelled: &AtomicBool) -> RunControl<'_> {
    RunControl { progress: &codelode::model::unfollowed, cancelled, patience: Duration::from_secs(60) }
}

/// Everything that a snapshot says of its files, text by text and symbol by symbol.
fn files_of(snapshot: &Snapshot) -> Vec<String> {
    let mut told: Vec<String> =
        snapshot.table().iter().map(|row| format!("{} {} {:?}", row.path, row.size, row.state.err())).collect();
    for file in snapshot.files() {
        assert!(file.is_intact());
        told.push(format!(
            "{} {:?} {} {} {:?} {} {:?}",
            file.path(),
            file.hash(),
            file.lines(),
            file.language(),
            (file.has_errors(), file.is_cut()),
            file.has_nul(),
            file.facts()
        ));
        for symbol in file.symbols() {
            told.push(format!(
                "  {} {:?} {}-{} {:?} {:?} {} {:?} {:?} {}",
                symbol.id(),
                symbol.detail(),
                symbol.line(),
                symbol.end_line(),
                symbol.span(),
                symbol.name_span(),
                symbol.signature(500),
                symbol.docstring(),
                symbol.decorators(),
                symbol.complexity()
            ));
        }
    }
    told
}

/// Uses with their definitions, in words that do not depend on how files are numbered.
fn edges_of(snapshot: &Snapshot) -> Vec<String> {
    let edges = pipeline::relations(snapshot).expect("there is room");
    let id = |symbol| snapshot.symbol(symbol).map(|symbol| symbol.id());
    let path = |file| snapshot.file_by_number(file).map(|file| file.path().to_owned());
    let mut told = Vec::new();
    for edge in edges.all() {
        let mut targets: Vec<_> = edges.targets(edge).map(id).collect();
        targets.sort();
        let from = edge.from().map(id);
        told.push(format!(
            "{:?} {} {} {:?} {:?} {from:?} {targets:?}",
            path(edge.file),
            edge.at,
            edge.len(),
            edge.role(),
            edge.how()
        ));
    }
    for file in snapshot.files() {
        told.extend(
            edges
                .imports(file.number())
                .iter()
                .map(|import| format!("{:?} imports {:?} at {}", path(import.from), path(import.to), import.at)),
        );
        for symbol in file.symbols() {
            let mut bases: Vec<_> = edges.bases(symbol.number()).map(id).collect();
            bases.sort();
            told.push(format!("{} < {bases:?}", symbol.id()));
        }
    }
    told.sort();
    told
}

/// The symbols that the search index finds for a word.
fn found(snapshot: &Snapshot, field: Field, text: &str) -> BTreeSet<String> {
    let found = snapshot.search(&[Clause::new(field, text, 1.0)], 10_000, &mut |_| true);
    let id = |(symbol, _)| snapshot.symbol(symbol).expect("it is in the snapshot").id();
    found.expect("it can be searched").into_iter().map(id).collect()
}

/// Asks both indexes through the door that everybody uses.
fn ask(cx: &Context, root: &Path, tool: &str, mut args: Value) -> Value {
    args["repo"] = json!(root);
    let args: Map<String, Value> = args.as_object().cloned().expect("arguments are an object");
    // However much else the machine does meanwhile.
    let request = Request { patience: Some(Duration::from_secs(60)), ..Request::default() };
    let mut answer = tools::call(cx, tool, args, &request).value;
    let freshness = answer["_meta"]["freshness"].clone();
    assert!(freshness.is_null() || freshness == "fresh", "{tool}: {answer}");
    if let Some(answer) = answer.as_object_mut() {
        for untold in ["_meta", "indexed_at", "timing_ms", "is_stale"] {
            answer.remove(untold);
        }
    }
    answer
}

/// Fails with the first lines that differ.
fn same_lines(what: &str, grown: &[String], fresh: &[String]) {
    let first = grown.iter().zip(fresh).position(|(a, b)| a != b).unwrap_or(grown.len().min(fresh.len()));
    let near = |lines: &[String]| lines[first.saturating_sub(2)..lines.len().min(first + 4)].join("\n");
    assert!(grown == fresh, "{what} at {first}: grown\n{}\nfresh\n{}", near(grown), near(fresh));
}

/// Compares every record of an index that grew with those of one that is made at once, whose configuration it returns: what
/// differs is only how files are numbered.
fn check_tables(place: &Edited, grown: &Config) -> Config {
    place.refresh(grown);
    let fresh = place.config("fresh");
    let _ = fs::remove_dir_all(&fresh.home);
    place.index(&fresh, &Options::default());
    let ((_, a), (_, b)) = (place.open(grown), place.open(&fresh));
    a.verify().expect("its tables are whole");
    same_lines("files", &files_of(&a), &files_of(&b));
    let counts = |snapshot: &Snapshot| {
        let facts = snapshot.facts();
        (facts.files, facts.symbols, facts.lines, facts.bytes, facts.languages.clone(), facts.skipped.clone())
    };
    assert_eq!(counts(&a), counts(&b));
    same_lines("edges", &edges_of(&a), &edges_of(&b));
    for (field, text) in
        [(Field::Name, "shared"), (Field::Exact, "Base"), (Field::Text, "method"), (Field::Trigrams, "Deriv")]
    {
        assert_eq!(found(&a, field, text), found(&b, field, text), "{field:?} {text}");
    }
    fresh
}

fn check(place: &Edited, grown: &Config) {
    let fresh = check_tables(place, grown);
    let (a, b) = (Context::new(grown.clone()), Context::new(fresh));
    let root = place.source();
    for (tool, args) in [
        ("search_symbols", json!({"query": "shared", "max_results": 100, "explain": true})),
        ("search_symbols", json!({"query": "who holds the base of a value", "max_results": 100, "explain": true})),
        ("search_symbols", json!({"query": "Dervied1", "fuzzy": true, "explain": true})),
        ("get_ranked_context", json!({"query": "the method of a shared base", "strategy": "bm25"})),
        ("search_text", json!({"query": "shared_", "max_results": 100})),
        ("get_file_tree", json!({})),
        ("get_file_outline", json!({"file_path": "pkg/base.py"})),
        ("get_file_content", json!({"file_path": "notes.md"})),
        ("find_references", json!({"identifier": "Base"})),
        ("find_importers", json!({"file_path": "pkg/base.py"})),
        ("get_class_hierarchy", json!({"symbol_id": "pkg/base.py::Base#class"})),
        ("get_blast_radius", json!({"symbol_id": "pkg/base.py::Base#class"})),
        ("find_dead_code", json!({"min_confidence": 0.5})),
        ("get_symbol_importance", json!({})),
        ("get_repo_map", json!({})),
        ("get_repo_outline", json!({})),
        ("get_dependency_graph", json!({"file_path": "pkg/user.py", "direction": "both"})),
        ("find_implementations", json!({"symbol_id": "pkg/base.py::Base#class"})),
        ("get_related_symbols", json!({"symbol_id": "pkg/base.py::Base#class"})),
        ("get_call_hierarchy", json!({"symbol_id": "pkg/base.py::Base.method#method"})),
        ("get_context_bundle", json!({"symbol_id": "pkg/base.py::Base.method#method"})),
    ] {
        let (a, b) = (ask(&a, &root, tool, args.clone()), ask(&b, &root, tool, args));
        let lines = |answer: &Value| -> Vec<String> {
            serde_json::to_string_pretty(answer).expect("it is JSON").lines().map(str::to_owned).collect()
        };
        same_lines(tool, &lines(&a), &lines(&b));
    }
}

/// How many runs, by the environment or by what daily work can wait for.
fn runs() -> u32 {
    u32::try_from(number_of("CODELODE_EDIT_RUNS", 12)).unwrap_or(u32::MAX)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: runs(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_index_that_grew_is_one_made_at_once(events in events()) {
        let place = Edited::new();
        let grown = place.config("grown");
        place.index(&grown, &Options::default());
        for event in &events {
            place.apply(event, &grown);
        }
        check(&place, &grown);
    }
}

/// A number by the environment, or what daily work can wait for.
fn number_of(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// `CODELODE_EDIT_EVENTS=1000000 TMPDIR=/dev/shm cargo test --release --test all replayed -- --nocapture`
#[test]
fn edits_replayed_in_small_leave_what_one_look_finds() {
    /// So many edits has the history of one folder, and so many happen between two comparisons.
    const HISTORY: u64 = 10_000;
    const BETWEEN: u64 = 1_000;
    let (n_edits, first) = (number_of("CODELODE_EDIT_EVENTS", 300), number_of("CODELODE_EDIT_SEED", 1));
    let (mut n_done, mut n_updates) = (0, 0);
    for seed in first.. {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
        let place = Edited::new();
        let grown = place.config("grown");
        place.index(&grown, &Options::default());
        // Edits and questions alternate: often one edit is in the index before the next, sometimes there are many.
        let pauses = prop_oneof![1..4_u64, 1..100_u64];
        let mut pause = drawn(&pauses, &mut runner);
        for nth in 1..=HISTORY {
            place.apply(&drawn(&edit(), &mut runner), &grown);
            n_done += 1;
            pause -= 1;
            if pause == 0 {
                place.apply(&drawn(&update(), &mut runner), &grown);
                n_updates += 1;
                pause = drawn(&pauses, &mut runner);
            }
            if nth % BETWEEN == 0 || n_done == n_edits {
                println!("{n_done} edits, {n_updates} updates, seed {seed}, edit {nth}");
                check_tables(&place, &grown);
            }
            if n_done == n_edits {
                return;
            }
        }
    }
}

/// One value of a strategy.
fn drawn<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("nothing is refused").current()
}
