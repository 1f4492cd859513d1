//! Killed and called off anywhere, an index is the old or the new, and the next run goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use codelode::config::Config;
use codelode::pipeline::{self, RunControl};
use codelode::store::{Error, Registry, Store};
use serde_json::json;

use super::{PATIENCE, Place, Ran, Random, Server, State, bytes_below, module, modules, names, number_of, state_of};

/// Work that is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    /// A run over everything.
    Indexing,
    /// A question that reads an edit first.
    Updating,
    /// A run that removes what earlier ones left for later.
    Collecting,
    /// Forgetting the checkout.
    Forgetting,
}

/// So many files are left to be removed before a run does it.
const MOST_GARBAGE: usize = 64;

/// How many files are left to be removed from the search index.
fn garbage(place: &Place) -> usize {
    store_of(place).manifest().expect("it can be read").garbage.len()
}

#[test]
fn killed_anywhere_an_index_is_the_old_or_the_new() {
    let n_kills = std::env::var("CODELODE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(25);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut state = modules(20, 0);
    let place = Place::new();
    place.rewrite(&State::new(), &state);
    let begun = Instant::now();
    place.found(&["index", "."]);
    let usual = begun.elapsed();

    let mut told: BTreeMap<Work, (usize, usize)> = BTreeMap::new();
    for kill in 1..=n_kills {
        let work = match kill % 8 {
            0 | 2 | 4 => Work::Indexing,
            1 | 5 => Work::Updating,
            3 | 7 => Work::Collecting,
            _ => Work::Forgetting,
        };
        // Now and then the first commit of all.
        if kill % 8 == 0 {
            place.found(&["invalidate", "."]);
        }
        let mut here = state.clone();
        if work == Work::Collecting {
            let file = |n: usize| (format!("many/{n}.py"), module(&format!("many/{n}.py"), kill));
            let most: State = here
                .iter()
                .map(|(path, text)| (path.clone(), text.clone()))
                .chain((0..MOST_GARBAGE + 16).map(file))
                .collect();
            place.rewrite(&here, &most);
            place.found(&["index", "."]);
            let mut fewer = most.clone();
            (0..MOST_GARBAGE - 4).for_each(|n| drop(fewer.remove(&file(n).0)));
            place.rewrite(&most, &fewer);
            place.found(&["index", "."]);
            assert!(garbage(&place) >= MOST_GARBAGE - 4, "with the twenty that go next there is enough to collect");
            here = fewer;
        }
        let old = place.held();
        let edited = random.edited(&state, kill);
        if work != Work::Forgetting {
            place.rewrite(&here, &edited);
            state = edited;
        }
        let mut command = match work {
            Work::Indexing | Work::Collecting => place.command(&["index", "."]),
            Work::Updating => place.command(&["search", "marker"]),
            Work::Forgetting => place.command(&["invalidate", "."]),
        };
        command.env("CODELODE_FRESHNESS", "strict");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
        if kill % 3 == 0 {
            thread::sleep(usual * random.below(1000) as u32 / 800);
        } else {
            // A commit is a small part of a run, and this is what is to be hit: each file that appears is a moment of it.
            wait_for_steps(&mut child, &place.index(), 1 + random.below(12));
        }
        child.kill().expect("it is our child");
        child.wait().expect("it was killed");

        let held = place.held();
        let new = if work == Work::Forgetting { State::new() } else { state.clone() };
        assert!(held == old || held == new, "kill {kill}, {work:?}: neither the old state nor the new");
        let (n_old, n_new) = told.entry(work).or_default();
        *if held == new { n_new } else { n_old } += 1;

        // The next answer may not know the newest state, but does not pass the old for it.
        let answer = place.call("search_symbols", json!({"query": "marker", "max_results": 1}));
        let says_fresh = answer["_meta"]["freshness"] == "fresh";
        assert!(!says_fresh || place.held() == state, "kill {kill}, {work:?}: {answer}");
        place.found(&["index", "."]);
        assert_eq!(place.held(), state, "kill {kill}, {work:?}: the next run makes it good");
        assert!(work != Work::Collecting || garbage(&place) <= MOST_GARBAGE, "kill {kill}: it is collected");
    }
    for (work, (n_old, n_new)) in told {
        println!("{work:?}: {n_old} kills left the old state, {n_new} the new");
    }
}

/// Derived tables that the next question finds: relations of the newest state, those to take over from, and ranks.
fn derived(place: &Place) -> (bool, bool, bool) {
    let snapshot = place.snapshot().expect("it is indexed");
    let has_edges = snapshot.edges().is_some();
    // A run may be killed between writing the new edges and removing the earlier ones, which nobody needs then.
    (has_edges, !has_edges && snapshot.earlier_edges().is_some(), snapshot.ranks().is_some())
}

#[test]
fn after_any_history_the_doctor_finds_nothing_wrong_and_mending_costs_nothing() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut state = modules(12, 0);
    let place = Place::holding(&state);
    let mut seen = BTreeMap::new();
    for step in 1..=number_of("CODELODE_HISTORIES", 40) {
        let killed = random.below(4) == 0;
        if random.below(3) > 0 {
            let edited = random.edited(&state, step);
            place.rewrite(&state, &edited);
            state = edited;
        }
        let args: &[&str] = match random.below(5) {
            0 => &["index", "."],
            1 | 2 => &["search", "marker"],
            3 => &["refs", "marker_part_0_module_0_py_0"],
            _ => &["call", "get_symbol_importance", "{}"],
        };
        let mut command = place.command(args);
        command.env("CODELODE_FRESHNESS", "strict");
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
        if killed {
            wait_for_steps(&mut child, &place.index(), 1 + random.below(10));
            child.kill().expect("it is our child");
        }
        child.wait().expect("it is our child");

        let before = derived(&place);
        for fix in [&["doctor", "--json", "--quiet"][..], &["doctor", "--json", "--quiet", "--fix"]] {
            let ran = Ran::of(&mut place.command(fix));
            assert_eq!(ran.status, 0, "step {step}, {args:?}: {}", ran.out);
            assert!(killed || !ran.out.contains("from killed runs"), "step {step}, {args:?}: {}", ran.out);
        }
        assert_eq!(derived(&place), before, "step {step}, {args:?}: no table is removed that somebody needs");
        *seen.entry(before).or_insert(0) += 1;
    }
    assert!(seen.keys().any(|(edges, earlier, _)| !edges && *earlier), "edits before questions: {seen:?}");
    assert!(seen.keys().any(|(edges, _, _)| *edges), "questions: {seen:?}");
}

/// The one store of a place.
fn store_of(place: &Place) -> Store {
    let registry = Registry::new(place.index().join("codelode"));
    registry.store(&registry.get(&Registry::local_id(&place.source())).expect("it is indexed").store)
}

/// Kills a rebuild in the middle, so that files are left of it.
fn leave_files(place: &Place, random: &mut Random) {
    while store_of(place).leftovers().expect("it can be read").is_empty() {
        let mut child = place.command(&["index", ".", "--no-incremental"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is built");
        wait_for_steps(&mut child, &place.index(), 1 + random.below(4));
        child.kill().expect("it is our child");
        child.wait().expect("it was killed");
    }
}

#[test]
fn what_killed_runs_left_is_gone_once_all_is_quiet() {
    let mut random = Random(0xA076_1D64_78BD_642F);
    let mut state = modules(20, 0);
    let place = Place::holding(&state);
    let relate = || place.call("get_symbol_importance", json!({}));
    let mut largest = 0;
    for kill in 1..=number_of("CODELODE_KILLS", 25) {
        let args: &[&str] = match kill % 4 {
            0 => &["index", ".", "--no-incremental"],
            1 => &["index", "."],
            2 => &["search", "marker"],
            _ => &["call", "get_symbol_importance", "{}"],
        };
        if kill % 4 != 0 {
            let edited = random.edited(&state, kill);
            place.rewrite(&state, &edited);
            state = edited;
        }
        let mut command = place.command(args);
        command.env("CODELODE_FRESHNESS", "strict").stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it is built");
        wait_for_steps(&mut child, &place.index(), 1 + random.below(14));
        child.kill().expect("it is our child");
        child.wait().expect("it was killed");
        largest = largest.max(bytes_below(&place.index()));
        let doctor = Ran::of(&mut place.command(&["doctor", "--json", "--quiet"]));
        assert_eq!(doctor.status, 0, "kill {kill}, {args:?}: {}", doctor.out);
    }
    place.age();
    place.found(&["index", "."]);
    relate();
    leave_files(&place, &mut random);
    // There is nothing to index, and so no commit.
    place.found(&["index", "."]);
    assert_eq!(store_of(&place).leftovers().expect("it can be read"), Vec::<PathBuf>::new());
    assert_eq!(place.held(), state);
    let grown = bytes_below(&place.index());
    place.found(&["invalidate", "."]);
    place.found(&["index", "."]);
    relate();
    let fresh = bytes_below(&place.index());
    println!("{grown} bytes after the kills (at most {largest}), {fresh} fresh");
    // Packs hold what was replaced until there is enough of it to write them anew.
    assert!(grown <= 3 * fresh, "{grown} bytes after the kills, {fresh} fresh");
}

#[test]
fn a_server_at_work_removes_what_killed_runs_left() {
    let place = Place::holding(&modules(12, 0));
    leave_files(&place, &mut Random(0xE703_7ED1_A0B4_28DB));
    let mut server = Server::start(place.command(&["serve"]));
    let begun = Instant::now();
    while !store_of(&place).leftovers().expect("it can be read").is_empty() {
        assert!(begun.elapsed() < PATIENCE, "its keeper does it");
        server.call("search_symbols", json!({"query": "marker"}));
    }
    server.close();
}

/// Waits until names in the stores have come and gone so many times, or the child has ended.
fn wait_for_steps(child: &mut Child, index: &Path, steps: usize) {
    let mut before = names(index);
    for _ in 0..steps {
        loop {
            let now = names(index);
            if now != before {
                before = now;
                break;
            }
            if child.try_wait().expect("it is our child").is_some() {
                return;
            }
        }
    }
}

#[test]
fn a_writer_that_is_killed_leaves_its_lock_to_the_next() {
    let place = Place::holding(&modules(8, 0));
    let store = store_of(&place);
    let lock = store.dir().join("lock");
    // A process that holds the lock and never lets go of it.
    let mut holder = Command::new("flock")
        .args(["--no-fork", "--exclusive"])
        .arg(&lock)
        .args(["sleep", "1000"])
        .spawn()
        .expect("it is there");
    let begun = Instant::now();
    while store.held() == codelode::store::WriterState::Free {
        assert!(begun.elapsed() < PATIENCE, "it takes the lock");
        thread::sleep(Duration::from_millis(5));
    }
    assert!(matches!(store.writer(Duration::ZERO), Err(Error::Busy)));
    holder.kill().expect("it is our child");
    holder.wait().expect("it was killed");
    let begun = Instant::now();
    let writer = loop {
        match store.writer(Duration::ZERO) {
            Ok(writer) => break writer,
            Err(err) => assert!(begun.elapsed() < PATIENCE, "{err}"),
        }
    };
    drop(writer);
    assert_eq!(store.held(), codelode::store::WriterState::Free);
}

#[test]
fn a_first_run_that_is_called_off_keeps_what_it_read_and_says_that_there_is_more() {
    let place = Place::new();
    let state = modules(60, 0);
    place.rewrite(&State::new(), &state);
    place.age();
    let config = Config { home: place.index().join("codelode"), ..Config::default() };
    let cancelled = AtomicBool::new(false);
    let seen = std::sync::Mutex::new(Vec::new());
    let tell = |done: u64, of: Option<u64>, what: &str| {
        if what == "indexing" {
            seen.lock().expect("nobody panics here").push((done, of));
            cancelled.store(done >= 25, Ordering::Relaxed);
        }
    };
    let watcher = RunControl { progress: &tell, cancelled: &cancelled, patience: PATIENCE };
    let options = pipeline::Options { publish_every: 10, ..pipeline::Options::default() };
    let outcome = pipeline::index_folder(&place.source(), &config, &options, &watcher);
    assert!(matches!(outcome, Err(pipeline::Error::Cancelled)), "{outcome:?}");
    let seen = seen.into_inner().expect("nobody panics here");
    assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "it goes forward: {seen:?}");
    assert!(seen.iter().all(|(_, of)| *of == Some(60)), "{seen:?}");

    let partial = place.snapshot().expect("the first parts are there");
    assert!(partial.facts().partial);
    assert_eq!(state_of(&partial).len(), 20);
    assert!(pipeline::drift(&place.source(), &partial).elsewhere, "nobody takes it for all");

    // Going on reads only what is missing.
    let n_read = std::sync::atomic::AtomicUsize::new(0);
    let count = |_: u64, _: Option<u64>, what: &str| {
        n_read.fetch_add(usize::from(what == "indexing"), Ordering::Relaxed);
    };
    let never = AtomicBool::new(false);
    let watcher = RunControl { progress: &count, cancelled: &never, patience: PATIENCE };
    let report = pipeline::index_folder(&place.source(), &config, &options, &watcher).expect("nothing is in the way");
    assert_eq!((n_read.into_inner(), report.added.len(), report.facts.partial), (40, 40, false));
    assert_eq!(place.held(), state);
}

#[test]
fn while_a_first_run_is_at_work_what_is_ready_answers() {
    let place = Place::new();
    // A part of up to 150 files may be an excerpt for another question, which answers no other one.
    let state = modules(300, 0);
    place.rewrite(&State::new(), &state);
    place.age();
    let config = Config { home: place.index().join("codelode"), ..Config::default() };
    let cancelled = AtomicBool::new(false);
    let tell = |done: u64, _: Option<u64>, _: &str| cancelled.store(done > 180, Ordering::Relaxed);
    let watcher = RunControl { progress: &tell, cancelled: &cancelled, patience: PATIENCE };
    let options = pipeline::Options { publish_every: 160, ..pipeline::Options::default() };
    assert!(pipeline::index_folder(&place.source(), &config, &options, &watcher).is_err(), "it is called off");
    // A process is writing: this one.
    let sidecar = pipeline::sidecar_of(&place.source(), &config);
    let writer = Registry::new(&config.home).store(&sidecar.store).writer(PATIENCE).expect("nobody else writes");
    let answer = place.call("search_symbols", json!({"query": "marker", "max_results": 50}));
    assert_eq!(answer["_meta"]["freshness"], "indexing", "{answer}");
    assert!(answer["results"].as_array().is_some_and(|results| !results.is_empty()), "{answer}");
    drop(writer);
    // And when nobody is, the question goes on with it.
    let answer = place.call("search_symbols", json!({"query": "marker", "max_results": 50}));
    assert_eq!(answer["_meta"]["freshness"], "fresh", "{answer}");
    assert_eq!(place.held(), state);
}
