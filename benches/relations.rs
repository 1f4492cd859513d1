//! Cost of relations: resolving compared with parsing, queries, whole-repository queries, new edges after an edit.

mod measure;

use std::hint::black_box;
use std::time::{Duration, Instant};

use codelode::pipeline;
use codelode::query::{self, Direction};
use codelode::store::SymbolId;
use codelode::tools::{self, Context, Request};
use codelode::{extract, languages};
use criterion::{Criterion, criterion_group};
use globset::GlobSet;
use measure::results::{Results, report};
use measure::{Indexed, Sample, corpus, scratch};
use serde_json::json;

/// Symbols that questions are asked about.
const ASKED: usize = 1_000;
/// Edits and whole-repository questions for a median.
const ROUNDS: usize = 10;

fn main() {
    let _results = Results::of("relations");
    benches();
    Criterion::default().configure_from_args().final_summary();
}

criterion_group!(benches, relations);

fn relations(criterion: &mut Criterion) {
    if !measure::wants("relations") {
        return;
    }
    for name in ["py-django", "py-sqlalchemy"] {
        if let Some(root) = corpus(name) {
            measure_corpus(criterion, name, &root);
        }
    }
}

fn timed<T>(ask: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let answer = ask();
    (started.elapsed(), answer)
}

fn measure_corpus(criterion: &mut Criterion, name: &str, root: &std::path::Path) {
    // An edit must not touch the corpus.
    let folder = scratch();
    let copied = folder.path().join("source");
    measure::copy(root, &copied, false);
    let indexed = Indexed::new(&copied, &folder.path().join("index"));
    let snapshot = indexed.snapshot();
    let related: Vec<_> = snapshot.files().filter(|file| !file.facts().is_empty()).collect();
    let (parsing, _) = timed(|| related.iter().for_each(|file| parse(file.path(), file.content())));
    let (reading, _) = timed(|| related.iter().for_each(|file| read(file.path(), file.content())));
    let (resolving, edges) = timed(|| pipeline::relations(&snapshot).expect("the index can be read"));
    let (ranking, _) = timed(|| query::ranks(&snapshot, edges).expect("the index can be read"));
    report!("| {name} | s |\n|---|---|");
    let rows = [("parsing", parsing), ("parsing, symbols and facts", reading), ("resolving", resolving)];
    for (what, took) in rows.into_iter().chain([("ranks", ranking)]) {
        report!("| {what} | {:.2} |", took.as_secs_f64());
    }

    let symbols: Vec<SymbolId> = related.iter().flat_map(|file| file.symbols()).map(|symbol| symbol.number()).collect();
    let asked: Vec<SymbolId> = symbols.iter().step_by((symbols.len() / ASKED).max(1)).copied().collect();
    report!("\n| {name}, {} symbols, ms | p50 | p99 |\n|---|---|---|", symbols.len());
    let print = |what: &str, took: Vec<Duration>| {
        let sample = Sample::new(took);
        report!("| {what} | {:.3} | {:.3} |", sample.percentile(50), sample.percentile(99));
    };
    let each = |ask: &dyn Fn(SymbolId)| asked.iter().map(|symbol| timed(|| ask(*symbol)).0).collect::<Vec<_>>();
    print("uses", each(&|symbol| drop(black_box(query::uses(&snapshot, edges, symbol)))));
    let callers = |symbol| drop(black_box(query::calls(&snapshot, edges, symbol, Direction::Callers, 2)));
    print("callers, two deep", each(&callers));
    let blast = |symbol| {
        let symbol = snapshot.symbol(symbol).expect("it was just listed");
        drop(black_box(query::blast(&snapshot, edges, &symbol, 3)));
    };
    print("blast radius", each(&blast));
    let none = GlobSet::empty();
    let dead = || drop(black_box(query::dead_code(&snapshot, edges, &query::dead::Options::new(&none))));
    print("dead code", (0..ROUNDS).map(|_| timed(dead).0).collect());
    let map = || drop(black_box(query::repo_map(&snapshot, edges, &[])));
    print("map", (0..ROUNDS).map(|_| timed(map).0).collect());
    print("an edit until its use is found", edits(&indexed));
    report!();
    let (first, mut group) = (asked[asked.len() / 2], criterion.benchmark_group(name));
    group.bench_function("uses", |bencher| bencher.iter(|| query::uses(&snapshot, edges, black_box(first))));
    group.sample_size(10).bench_function("dead code", |bencher| bencher.iter(dead));
    group.finish();
}

/// Parses a file.
fn parse(path: &str, text: &[u8]) {
    let Some((_, spec)) = languages::of_file(path, text) else { return };
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&spec.language().expect("it is built with all languages")).expect("the grammar fits");
    black_box(parser.parse(text, None));
}

/// Parses a file and reads symbols and facts out of it.
fn read(path: &str, text: &[u8]) {
    if let Some((_, spec)) = languages::of_file(path, text) {
        black_box(extract::extract(spec, text));
    }
}

/// Adds one use after the other to a file and asks for it, as a server is asked.
fn edits(indexed: &Indexed) -> Vec<Duration> {
    let path = indexed.root.join("relations_bench.py");
    let cx = Context::new(indexed.config.clone());
    let ask = |tool: &str, args: serde_json::Value| {
        let args = args.as_object().expect("arguments are an object").clone();
        let answer = tools::call(&cx, tool, args, &Request::default());
        assert!(!answer.is_error, "{}", answer.text);
        answer.text
    };
    let mut text = "def measured_function(): ...\n".to_owned();
    std::fs::write(&path, &text).expect("the copy can be written");
    ask("index_file", json!({"path": path}));
    let mut took = Vec::new();
    for round in 1..=ROUNDS {
        text.push_str("measured_function()\n");
        std::fs::write(&path, &text).expect("the copy can be written");
        let started = Instant::now();
        ask("index_file", json!({"path": path}));
        let answer = ask("find_references", json!({"identifier": "measured_function"}));
        took.push(started.elapsed());
        assert!(answer.contains(&format!("\"uses\":{round}")), "{answer}");
    }
    took
}
