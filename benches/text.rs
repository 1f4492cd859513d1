//! Cost of text search compared with ripgrep: making the index, a page of matches in process, all matches at a
//! terminal.

mod measure;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use codelode::query::scan::{Candidates, Limits};
use codelode::query::text::{Case, Pattern, search_text};
use codelode::store::{FileView, GramWriter, Snapshot, grams};
use codelode::tools::{self, Context, Request};
use measure::results::{Results, report};
use measure::{CORPORA, Indexed, Sample, corpus, cpu_seconds, scratch};
use serde_json::json;

/// If set, measures a gigabyte as well, whose index takes minutes to make.
const GIGABYTE: &str = "CODELODE_GIGABYTE";
/// The number of names searched.
const NAMES: usize = 100;
/// Times that each command is run.
const RUNS: usize = 7;
/// Words that most files hold, and patterns that no gram helps with.
const FREQUENT: [&str; 4] = ["return", "the", "import", "name"];
const OPEN: [&str; 3] = [r"\w{12}\s+\w{12}\s+\w{12}", r"[0-9]{7,}", r"^\s*[A-Z]\w+ [a-z]\w+;$"];

fn main() {
    let _results = Results::of("text");
    let folder = scratch();
    if measure::wants("text/go-std")
        && let Some(root) = corpus("go-std")
    {
        report("go-std", &root, &folder.path().join("small"));
    }
    if measure::wants("text/sparse")
        && let Some(root) = corpus("go-std")
    {
        let indexed = Indexed::new(&root, &folder.path().join("sparse"));
        let snapshot = indexed.snapshot();
        measure::sparse::compare(&snapshot, &rare_names(&snapshot));
    }
    if measure::wants("text/gigabyte") && std::env::var_os(GIGABYTE).is_some() {
        let root = folder.path().join("gigabyte");
        assemble(&root);
        report("all corpora, twice", &root, &folder.path().join("large"));
    }
}

/// All corpora, and all of them once more with every file edited.
fn assemble(root: &Path) {
    for name in CORPORA {
        let Some(original) = corpus(name) else { continue };
        measure::copy(&original, &root.join(name), true);
        let edited = root.join("edited").join(name);
        measure::copy(&original, &edited, false);
        edit(&edited);
    }
}

/// Makes every file another one.
fn edit(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("it was copied just now").flatten() {
        let path = entry.path();
        if path.is_dir() {
            edit(&path);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            std::fs::write(&path, text.replace("get", "fetch") + "\n").expect("the copy is ours");
        }
    }
}

fn report(name: &str, root: &Path, index_dir: &Path) {
    let indexed = Indexed::new(root, index_dir);
    let snapshot = indexed.snapshot();
    let facts = snapshot.facts();
    report!("\n{name}: {} files, {:.0} MB of text\n", facts.files, facts.bytes as f64 / 1e6);
    report!("| what | codelode | ripgrep | ratio |\n|---|---|---|---|");
    building(&snapshot);
    let names = rare_names(&snapshot);
    let regexes: Vec<String> = names.iter().map(|name| format!(r"\b{name}\s*[(:=]")).collect();
    pages("rare name, first page", &snapshot, &names, true);
    pages("rare regex, first page", &snapshot, &regexes, false);
    pages("frequent word, first page", &snapshot, &FREQUENT.map(str::to_owned), true);
    door(&indexed, &names);
    let last = names.last().expect("there are names").as_str();
    terminal("rare name", &indexed, &["-n", last]);
    terminal("rare name, files as indexed", &indexed, &["-n", "--as-indexed", last]);
    terminal("rare regex, files as indexed", &indexed, &["-n", "--as-indexed", &format!(r"{last}\s*\(")]);
    for pattern in OPEN {
        terminal(&format!("no literal, `{pattern}`"), &indexed, &["-c", pattern]);
    }
}

/// The index alone: its size beside the text, and how fast it is made on one core.
fn building(snapshot: &Snapshot) {
    let (mut text, mut size, mut writer) = (0, 0, GramWriter::default());
    let started = cpu_seconds();
    for file in snapshot.files() {
        text += file.content().len();
        writer.add(file.number(), &grams(file.content()));
        if writer.is_full(usize::MAX) {
            size += writer.take(0).map_or(0, |(_, bytes)| bytes.len());
        }
    }
    size += writer.take(0).map_or(0, |(_, bytes)| bytes.len());
    let took = cpu_seconds() - started;
    report!("| grams made, MB/s of one core | {:.0} | | |", text as f64 / 1e6 / took);
    report!("| size of grams / text | {:.3} | | |", size as f64 / text as f64);
}

/// Names of functions that few files hold, and the same ones in every run.
fn rare_names(snapshot: &Snapshot) -> Vec<String> {
    let mut names = Vec::new();
    let files: Vec<FileView<'_>> = snapshot.files().filter(|file| file.symbol_count() > 0).collect();
    for at in (0..files.len()).step_by((files.len() / (4 * NAMES)).max(1)) {
        let Some(name) = files[at].symbols().map(|symbol| symbol.name().into_owned()).find(|name| name.len() > 9)
        else {
            continue;
        };
        let pattern = Pattern { patterns: vec![name.clone()], fixed: true, ..Pattern::default() };
        let matcher = pattern.compile().expect("a name is a pattern");
        let candidates = snapshot.candidates(&matcher.grams).expect("the index can be read").len();
        // A few of each block are candidates that are none.
        if (1..=100).contains(&candidates) && !names.contains(&name) {
            names.push(name);
        }
        if names.len() == NAMES {
            break;
        }
    }
    names
}

/// The first twenty matches, in process, as a server makes them, but for the folder's being looked at.
fn pages(what: &str, snapshot: &Snapshot, patterns: &[String], fixed: bool) {
    let cancelled = AtomicBool::new(false);
    let mut took = Vec::new();
    for round in 0..4 {
        for pattern in patterns {
            let started = Instant::now();
            let pattern =
                Pattern { patterns: vec![pattern.clone()], fixed, case: Case::Insensitive, ..Pattern::default() };
            let matcher = pattern.compile().expect("they are patterns");
            let keep = |_: &FileView<'_>| true;
            let candidates = Candidates::new(snapshot, &matcher.grams, pattern.name(), &keep).expect("it can be read");
            let limits = Limits { until: Instant::now() + Duration::from_secs(10), cancelled: &cancelled };
            let mut matches = 0;
            search_text(candidates, &matcher, 0, 20, limits, &mut |_, hits| {
                matches += hits.len();
                matches < 20
            });
            if round > 0 {
                took.push(started.elapsed());
            }
        }
    }
    let took = Sample::new(took);
    report!("| {what}, p50 / p99 ms | {:.2} / {:.2} | | |", took.percentile(50), took.percentile(99));
}

/// The same through the door of the tools, answer and all.
fn door(indexed: &Indexed, names: &[String]) {
    let cx = Context::new(indexed.config.clone());
    let ask = |query: &str| {
        let arguments = json!({"query": query, "repo": indexed.report.sidecar.repo});
        let started = Instant::now();
        let answer =
            tools::call(&cx, "search_text", arguments.as_object().cloned().expect("it is"), &Request::default());
        assert!(!answer.is_error, "{}", answer.text);
        started.elapsed()
    };
    ask(&names[0]);
    for (what, queries) in [("rare name", names), ("frequent word", &FREQUENT.map(str::to_owned))] {
        let took = Sample::new(queries.iter().chain(queries).map(|query| ask(query)).collect());
        report!("| {what}, search_text, p50 / p95 ms | {:.2} / {:.2} | | |", took.percentile(50), took.percentile(95));
    }
}

/// A whole process compared with one of ripgrep, alternating, as medians.
fn terminal(what: &str, indexed: &Indexed, args: &[&str]) {
    let home = indexed.config.home.parent().expect("it is a part of the index directory").to_owned();
    let ours = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.arg("text").args(args).env("CODELODE_INDEX_PATH", &home);
        command
    };
    let theirs = || {
        let mut command = Command::new(std::env::var_os("RG").map_or_else(|| PathBuf::from("rg"), PathBuf::from));
        command.args(["--no-config", "--no-ignore", "--hidden"]);
        command.args(args.iter().filter(|arg| **arg != "--as-indexed"));
        command
    };
    let run = |mut command: Command| -> Option<Duration> {
        let started = Instant::now();
        command.current_dir(&indexed.root).stdout(Stdio::null()).stderr(Stdio::null()).stdin(Stdio::null());
        command.status().ok().filter(|status| status.code().is_some_and(|code| code < 2)).map(|_| started.elapsed())
    };
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for round in 0..=RUNS {
        let (one, two) = (run(ours()), run(theirs()));
        if round > 0 {
            own.extend(one);
            other.extend(two);
        }
    }
    let (own, other) = (Sample::new(own).percentile(50), Sample::new(other).percentile(50));
    report!("| {what}, process, p50 ms | {own:.1} | {other:.1} | {:.2} |", own / other);
}
