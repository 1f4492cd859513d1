//! Cost of indexing: from nothing, without changes, and after one edit.

mod measure;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use codelode::languages::of_file;
use codelode::pipeline::{drift, refresh};
use codelode::store::{Clause, Field, Registry};
use criterion::{Criterion, SamplingMode, criterion_group};
use measure::results::{Results, report};
use measure::{CORPORA, Indexed, Sample, corpus, cpu_seconds, megabytes, scratch, watcher};
use tree_sitter::Parser;

/// Set in a process of this bench's own that does one thing, so that memory and processor time are those of the one thing.
const ALONE: &str = "CODELODE_BENCH_ALONE";

#[global_allocator]
static ALLOCATOR: codelode::allocator::Allocator = codelode::allocator::Allocator;

fn main() {
    let alone = std::env::var(ALONE);
    if alone.as_deref() != Ok("parse") {
        // Parsing alone uses tree-sitter's default allocator.
        // SAFETY: nothing else runs yet.
        unsafe { codelode::allocator::install() };
    }
    if let Ok(what) = alone {
        let [root, index_dir] = [1, 2].map(|place| std::env::args_os().nth(place).expect("cold() gives both"));
        return match what.as_str() {
            "index" => index_alone(root.as_ref(), index_dir.as_ref()),
            _ => parse_alone(root.as_ref(), index_dir.as_ref()),
        };
    }
    let _results = Results::of("indexing");
    cold();
    benches();
    Criterion::default().configure_from_args().final_summary();
}

criterion_group!(benches, unchanged, edit);

/// Prints the cost of a cold index, compared with parsing the same files and dropping the trees. `cold/NAME` is about any
/// folder beside the corpora.
fn cold() {
    let wanted = CORPORA.into_iter().map(str::to_owned).filter(|name| measure::wants(&format!("cold/{name}")));
    let named = std::env::args().filter_map(|arg| Some(arg.strip_prefix("cold/")?.to_owned()));
    let named = named.filter(|name| !name.is_empty() && !CORPORA.contains(&name.as_str()));
    let there: Vec<_> = wanted.chain(named).filter_map(|name| Some((corpus(&name)?, name))).collect();
    if there.is_empty() {
        return;
    }
    report!(
        "| corpus | files | lines | parse CPU s | index CPU s | ratio | wall/CPU | peak RSS MB | index bytes / source bytes |"
    );
    report!("|---|---|---|---|---|---|---|---|---|");
    for (root, name) in there {
        let index_dir = scratch();
        let indexed = alone("index", &root, index_dir.path());
        let [files, lines, bytes, cpu, wall, peak] = indexed[..] else { panic!("index_alone prints six numbers") };
        let parse = alone("parse", &root, index_dir.path())[0];
        let size = measure::bytes_below(index_dir.path()) as f64 / bytes;
        let (ratio, parallel) = (cpu / parse, wall / cpu);
        report!(
            "| {name} | {files} | {lines} | {parse:.2} | {cpu:.2} | {ratio:.2} | {parallel:.2} | {peak:.0} | {size:.2} |"
        );
    }
    report!();
}

/// Runs one thing in a process of its own and reads the numbers that it prints.
fn alone(what: &str, root: &Path, index_dir: &Path) -> Vec<f64> {
    let this = std::env::current_exe().expect("a running program has a path");
    let output = Command::new(this).env(ALONE, what).args([root, index_dir]).output().expect("it runs once more");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers are text");
    text.split_whitespace().map(|number| number.parse().expect("it prints numbers only")).collect()
}

fn index_alone(root: &Path, index_dir: &Path) {
    let started = Instant::now();
    let facts = Indexed::new(root, index_dir).report.facts;
    let (wall, cpu, peak) = (started.elapsed().as_secs_f64(), cpu_seconds(), megabytes("self", "VmHWM"));
    println!("{} {} {} {cpu} {wall} {peak}", facts.files, facts.lines, facts.bytes);
}

/// Parses the files in the index, so that both have read the same files. Nothing has changed since, so only opening
/// it comes before the measurement.
fn parse_alone(root: &Path, index_dir: &Path) {
    let snapshot = Indexed::new(root, index_dir).snapshot();
    let sources: Vec<_> = snapshot
        .files()
        .filter_map(|file| of_file(file.path(), file.content()).map(|(_, spec)| (spec, file.content().to_vec())))
        .collect();
    let before = cpu_seconds();
    let mut parser = Parser::new();
    for (spec, source) in &sources {
        parser
            .set_language(&spec.language().expect("it is built with all languages"))
            .expect("tests/all/languages.rs loads every grammar");
        parser.parse(source, None).expect("nothing calls it off");
    }
    println!("{}", cpu_seconds() - before);
}

/// Indexing a folder in which nothing changed: a walk, and a comparison of sizes and times.
fn unchanged(criterion: &mut Criterion) {
    if !measure::wants("unchanged") {
        return;
    }
    let mut group = criterion.benchmark_group("unchanged");
    group.sample_size(20).measurement_time(Duration::from_secs(3));
    for name in ["go-std", "py-django"] {
        let Some(root) = corpus(name) else { continue };
        let index_dir = scratch();
        let indexed = Indexed::new(&root, index_dir.path());
        let (files, snapshot) = (indexed.report.facts.files, indexed.snapshot());
        group.bench_function(format!("index_folder/{name}/{files}_files"), |bencher| {
            bencher.iter(|| measure::index(&root, &indexed.config));
        });
        // The added cost of an answer if the folder has not been checked for a second.
        group.bench_function(format!("drift/{name}/{files}_files"), |bencher| {
            bencher.iter(|| assert!(drift(&root, &snapshot).is_none()));
        });
    }
    group.finish();
}

/// A small file gets one more function: from its being written to a search that finds it.
fn edit(criterion: &mut Criterion) {
    if !measure::wants("edit") {
        return;
    }
    let Some(original) = corpus("go-std") else { return };
    let folder = scratch();
    let root = folder.path().join("go-std");
    measure::copy(&original, &root, false);
    let indexed = Indexed::new(&root, &folder.path().join("index"));
    let (config, sidecar) = (&indexed.config, &indexed.report.sidecar);
    let store = Registry::new(&config.home).store(&sidecar.store);
    let mut snapshot = indexed.snapshot();
    let is_small = |file: &codelode::store::FileView<'_>| {
        file.language() == "go" && (1_000..3_000).contains(&file.content().len())
    };
    let path = root.join(snapshot.files().find(is_small).expect("Go has small files").path());
    let original = fs::read_to_string(&path).expect("corpora are text");
    let mut steps: [Vec<Duration>; 4] = Default::default();
    let mut edits = 0;
    let mut one_edit = || {
        edits += 1;
        let name = format!("freshlyWritten{edits}");
        fs::write(&path, format!("{original}\nfunc {name}() {{}}\n")).expect("the copy is ours");
        let started = Instant::now();
        let seen = drift(&root, &snapshot);
        let looked = started.elapsed();
        refresh(sidecar, &snapshot, &seen, config, &watcher()).expect("one more function can be read");
        let refreshed = started.elapsed();
        snapshot = store.snapshot(&sidecar.snapshot).expect("it was committed just now");
        let clause = Clause::new(Field::Name, &name, 1.0);
        let hits = snapshot.search(&[clause], 1, &mut |_| true).expect("the index can be read");
        let all = started.elapsed();
        assert_eq!(snapshot.symbol(hits[0].0).expect("a hit is a symbol").name(), name);
        for (step, took) in steps.iter_mut().zip([looked, refreshed - looked, all - refreshed, all]) {
            step.push(took);
        }
        all
    };
    let mut group = criterion.benchmark_group("edit");
    group.sample_size(40).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(2));
    group.bench_function("to_search", |bencher| bencher.iter_custom(|edits| (0..edits).map(|_| one_edit()).sum()));
    group.finish();
    report!("| edit until found, ms | p50 | p95 |\n|---|---|---|");
    for (step, took) in
        ["looking for changes", "reading and committing", "opening and searching", "all"].iter().zip(steps)
    {
        let took = Sample::new(took);
        report!("| {step} | {:.2} | {:.2} |", took.percentile(50), took.percentile(95));
    }
    report!();
}
