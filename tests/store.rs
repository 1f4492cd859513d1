//! The index in bad times, through the real program: killed, raced, without room, without the right to write, moved,
//! shared, and behind its sources.
//!
//! `CODELODE_KILLS=500 cargo test --test store` kills more often than daily work can wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use codelode::config::Config;
use codelode::extract::extract;
use codelode::languages::LANGUAGES;
use codelode::model::SourceFile;
use codelode::pipeline::{self, Watcher};
use codelode::store::{Clause, Entry, Error, Field, Prepared, Registry, Snapshot, SnapshotFacts, Store};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Nothing here takes this long, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a folder or an index holds: text by path.
type State = BTreeMap<String, String>;

/// Folders with sources, and an index directory of their own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        fs::create_dir(folder.path().join("source")).expect("the folder is new");
        Self { folder }
    }

    /// A place whose sources are so and indexed, and old enough that their times are believed.
    fn indexed(state: &State) -> Self {
        let place = Self::new();
        place.write(&State::new(), state);
        place.age();
        place.succeed(&["index", "."]);
        place
    }

    fn path(&self) -> PathBuf {
        // Where a temporary folder lies behind a link, an index names what the link leads to.
        self.folder.path().canonicalize().expect("the folder is there")
    }

    fn source(&self) -> PathBuf {
        self.path().join("source")
    }

    fn index(&self) -> PathBuf {
        self.path().join("index")
    }

    /// Makes the sources so; they were as in `before`.
    fn write(&self, before: &State, after: &State) {
        for path in before.keys().filter(|path| !after.contains_key(*path)) {
            fs::remove_file(self.source().join(path)).expect("it was written");
        }
        for (path, text) in after.iter().filter(|(path, text)| before.get(*path) != Some(text)) {
            let path = self.source().join(path);
            fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
            fs::write(path, text).expect("files can be written");
        }
    }

    /// Makes everything an hour old: what was written a moment ago is looked at twice.
    fn age(&self) {
        let then = SystemTime::now() - Duration::from_secs(3600);
        let mut folders = vec![self.source()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("it is there").flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    let file = File::options().write(true).open(entry.path()).expect("it is ours");
                    file.set_modified(then).expect("times can be set");
                }
            }
            File::open(folder).expect("it is there").set_modified(then).expect("times can be set");
        }
        // The system's own times cannot be set: they grow old by themselves.
        thread::sleep(Duration::from_millis(60));
    }

    /// Gives a command this place's environment and nothing of the machine's.
    fn at_home(&self, mut command: Command) -> Command {
        command.current_dir(self.source()).stdin(Stdio::null()).env("HOME", self.folder.path());
        for name in ["CODELODE_PATH_MAP", "CODELODE_TOOLS", "CODELODE_LOG", "CODELODE_FRESHNESS"] {
            command.env_remove(name);
        }
        command.env("CODELODE_INDEX_PATH", self.index());
        command
    }

    /// The program, to be run where the sources are.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(args);
        self.at_home(command)
    }

    /// A shell, to be run there; `$codelode` is the program.
    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", script]).env("codelode", env!("CARGO_BIN_EXE_codelode"));
        self.at_home(command)
    }

    /// The same in a mount namespace of its own, where anybody may mount and nothing outlives the shell.
    fn mounting_shell(&self, script: &str) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "bash", "-c", script]);
        command.env("codelode", env!("CARGO_BIN_EXE_codelode"));
        self.at_home(command)
    }

    /// Whether this machine lets us mount.
    fn can_mount(&self) -> bool {
        let script = format!("mount -t tmpfs none {:?}", self.folder.path());
        self.mounting_shell(&script).output().is_ok_and(|output| output.status.success())
    }

    /// Runs the program, which must succeed.
    fn succeed(&self, args: &[&str]) -> String {
        let ran = Ran::of(&mut self.command(args));
        assert_eq!(ran.status, 0, "{args:?}: {} {}", ran.out, ran.err);
        ran.out
    }

    /// Calls a tool in a process of its own.
    fn call(&self, tool: &str, args: Value) -> Value {
        let ran = Ran::of(&mut self.command(&["call", "--json", tool, &args.to_string()]));
        serde_json::from_str(&ran.out).unwrap_or_else(|err| panic!("{tool}: {err}: {} {}", ran.out, ran.err))
    }

    /// The newest snapshot of the sources; `None` when they are not indexed.
    fn snapshot(&self) -> Option<Snapshot> {
        snapshot(&self.index(), &self.source())
    }

    /// What the index holds; nothing when there is none.
    fn held(&self) -> State {
        self.snapshot().map_or_else(State::new, |snapshot| state_of(&snapshot))
    }
}

/// How a run ended.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Ran {
    fn of(command: &mut Command) -> Self {
        let Output { status, stdout, stderr } = command.output().expect("the program is there");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
        Self { status: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }
}

/// The newest snapshot of a folder, as a reader in another process than the writer gets it.
fn snapshot(index: &Path, root: &Path) -> Option<Snapshot> {
    let registry = Registry::new(index.join("codelode"));
    let sidecar = registry.get(&Registry::local_id(root))?;
    match registry.store(&sidecar.store).snapshot(&sidecar.snapshot) {
        Ok(snapshot) => Some(snapshot),
        Err(Error::Missing(_) | Error::NoSnapshot) => None,
        Err(err) => panic!("a reader is never in the way: {err}"),
    }
}

/// What a snapshot holds. Its parts must tell the same: content, symbols, search and counts.
fn state_of(snapshot: &Snapshot) -> State {
    snapshot.verify().expect("its tables are whole");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_owned()).expect("the tests write text");
    let state: State = snapshot.files().map(|file| (file.path().to_owned(), text(file.content()))).collect();
    assert_eq!(snapshot.facts().files, state.len() as u64);
    let mut written = BTreeSet::new();
    for file in snapshot.files() {
        for symbol in file.symbols() {
            assert_eq!(symbol.source(), symbol.span().of(file.content()), "{}", symbol.id());
            written.insert(symbol.id());
        }
    }
    let clause = Clause::new(Field::Name, "marker", 1.0);
    let found = snapshot.search(&[clause], 100_000, &mut |_| true).expect("what is mapped can be searched");
    let found: BTreeSet<String> =
        found.into_iter().map(|(id, _)| snapshot.symbol(id).expect("it is in this snapshot").id()).collect();
    assert_eq!(found, written, "search and content are of one moment");
    let symbols: BTreeSet<&str> =
        state.values().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("def ")).collect();
    assert_eq!(symbols.len(), written.len());
    state
}

/// A module that says which file and which generation it is.
fn module(path: &str, generation: usize) -> String {
    let stem: String = path.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let filler = format!("    # {}\n", "so that there is something to write ".repeat(1 + generation % 7));
    format!("def marker_{stem}_{generation}(value):\n{filler}    return value + {generation}\n")
}

/// The generation that all files are of.
fn generation_of(state: &State) -> usize {
    let of = |text: &str| text.rsplit(' ').next().and_then(|last| last.trim().parse().ok()).expect("a module ends so");
    let all: BTreeSet<usize> = state.values().map(|text| of(text)).collect();
    assert_eq!(all.len(), 1, "a mix of generations");
    all.into_iter().next().expect("there is one")
}

/// So many modules of one generation.
fn modules(n: usize, generation: usize) -> State {
    let paths = (0..n).map(|n| format!("part_{}/module_{n}.py", n % 3));
    paths.map(|path| (path.clone(), module(&path, generation))).collect()
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// A few files changed, added and removed.
    fn edited(&mut self, state: &State, generation: usize) -> State {
        let mut edited = state.clone();
        for _ in 0..1 + self.below(8) {
            let path = format!("part_{}/module_{}.py", self.below(3), self.below(20));
            match self.below(4) {
                0 => drop(edited.remove(&path)),
                _ => drop(edited.insert(path.clone(), module(&path, generation))),
            }
        }
        edited
    }
}

/// What is killed.
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
    let registry = Registry::new(place.index().join("codelode"));
    let sidecar = registry.get(&Registry::local_id(&place.source())).expect("it is indexed");
    registry.store(&sidecar.store).manifest().expect("it can be read").garbage.len()
}

#[test]
fn killed_anywhere_an_index_is_the_old_or_the_new() {
    let n_kills = std::env::var("CODELODE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(25);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut state = modules(20, 0);
    let place = Place::new();
    place.write(&State::new(), &state);
    let begun = Instant::now();
    place.succeed(&["index", "."]);
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
            place.succeed(&["invalidate", "."]);
        }
        let mut here = state.clone();
        if work == Work::Collecting {
            let file = |n: usize| (format!("many/{n}.py"), module(&format!("many/{n}.py"), kill));
            let most: State = here
                .iter()
                .map(|(path, text)| (path.clone(), text.clone()))
                .chain((0..MOST_GARBAGE + 16).map(file))
                .collect();
            place.write(&here, &most);
            place.succeed(&["index", "."]);
            let mut fewer = most.clone();
            (0..MOST_GARBAGE - 4).for_each(|n| drop(fewer.remove(&file(n).0)));
            place.write(&most, &fewer);
            place.succeed(&["index", "."]);
            assert!(garbage(&place) >= MOST_GARBAGE - 4, "with the twenty that go next there is enough to collect");
            here = fewer;
        }
        let old = place.held();
        let edited = random.edited(&state, kill);
        if work != Work::Forgetting {
            place.write(&here, &edited);
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

        // Whoever is asked next may not know the newest, but does not pass the old for it.
        let answer = place.call("search_symbols", json!({"query": "marker", "max_results": 1}));
        let says_fresh = answer["_meta"]["freshness"] == "fresh";
        assert!(!says_fresh || place.held() == state, "kill {kill}, {work:?}: {answer}");
        place.succeed(&["index", "."]);
        assert_eq!(place.held(), state, "kill {kill}, {work:?}: the next run makes it good");
        assert!(work != Work::Collecting || garbage(&place) <= MOST_GARBAGE, "kill {kill}: it is collected");
    }
    for (work, (n_old, n_new)) in told {
        println!("{work:?}: {n_old} kills left the old state, {n_new} the new");
    }
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

/// Every file below a folder with its inode, as far as it can be seen while somebody writes.
fn names(folder: &Path) -> BTreeSet<(PathBuf, u64)> {
    use std::os::unix::fs::DirEntryExt;
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        all.insert((entry.path(), entry.ino()));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            all.extend(names(&entry.path()));
        }
    }
    all
}

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
    let place = Place::indexed(&modules(12, 0));
    let done = AtomicBool::new(false);
    let first = place.snapshot().expect("it is indexed");
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _ends = Ends(&done);
            for generation in 1..=GENERATIONS {
                // The number of files changes as well, so that a table of another moment would show.
                let n_modules = |generation| 12 + generation % 4;
                place.write(
                    &modules(n_modules(generation - 1), generation - 1),
                    &modules(n_modules(generation), generation),
                );
                place.succeed(&["index", "."]);
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
fn a_refresh_keeps_what_somebody_else_indexed_meanwhile() {
    let place = Place::indexed(&modules(4, 0));
    let config = Config { home: place.index().join("codelode"), ..Config::default() };
    let sidecar = pipeline::sidecar_of(&place.source(), &config);
    let watcher = Watcher { progress: &|_, _, _| {}, cancelled: &AtomicBool::new(false), patience: PATIENCE };
    let before = place.snapshot().expect("it is indexed");
    let path = "part_0/module_0.py";
    fs::write(place.source().join(path), module(path, 1)).expect("it is ours");
    let drift = pipeline::drift(&place.source(), &before);
    assert_eq!(drift.changed, [path]);

    fs::write(place.source().join("new.py"), module("new.py", 1)).expect("it is ours");
    place.succeed(&["index", "."]);
    pipeline::refresh(&sidecar, &before, &drift, &config, &watcher).expect("nothing is in the way");
    let mut state = modules(4, 0);
    state.extend([path, "new.py"].map(|path| (path.to_owned(), module(path, 1))));
    assert_eq!(place.held(), state);
}

#[test]
fn processes_that_write_at_the_same_time_take_turns() {
    let place = Place::indexed(&modules(8, 0));
    place.write(&modules(8, 0), &modules(10, 1));
    let children: Vec<Child> = (0..4)
        .map(|_| place.command(&["index", "."]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(place.held(), modules(10, 1));
}

#[test]
fn without_room_a_run_says_so_and_the_old_state_answers() {
    let (old, new) = (modules(20, 0), modules(20, 1));
    let place = Place::indexed(&old);
    place.write(&old, &new);
    // Files may grow to so many KiB: the first that is too large is another one each time.
    for limit in [0, 1, 2, 3, 4, 5] {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$codelode\" index .");
        let ran = Ran::of(&mut place.shell(&script));
        assert_eq!(ran.status, 2, "{limit} KiB: {} {}", ran.out, ran.err);
        assert!(ran.err.contains("File too large"), "{limit} KiB: {}", ran.err);
        assert_eq!(place.held(), old, "{limit} KiB");
    }
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$codelode\" --json search marker_part_0_module_0_py_0";
    let ran = Ran::of(&mut place.shell(script));
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err));
    assert_eq!(answer["results"][0]["name"], "marker_part_0_module_0_py_0", "{answer}");
    assert_eq!(answer["_meta"]["freshness"], "stale", "{answer}");
    assert!(answer["_meta"]["stale_because"].as_str().is_some_and(|why| why.contains("too large")), "{answer}");
    // With room again, all is well.
    place.succeed(&["index", "."]);
    assert_eq!(place.held(), new);
}

#[test]
fn on_a_full_disk_a_run_says_so_and_the_old_state_answers() {
    let (old, new) = (modules(20, 0), modules(20, 1));
    let place = Place::indexed(&old);
    if !place.can_mount() {
        println!("left out: a small file system cannot be mounted here");
        return;
    }
    place.write(&old, &new);
    let script = r#"
        mkdir disk after && mount -t tmpfs -o size=4m none disk && cp -a index/. disk/ || exit 9
        export CODELODE_INDEX_PATH=$PWD/disk
        dd if=/dev/zero of=disk/ballast bs=4k status=none 2>/dev/null
        cd source
        "$codelode" index . ; echo "index: $?"
        "$codelode" --quiet search marker_part_0_module_0_py_0 >/dev/null; echo "search: $?"
        cd .. && cp -a disk/codelode after/ && rm disk/ballast && cd source
        "$codelode" index . >/dev/null; echo "with room: $?"
        "$codelode" --quiet search marker_part_0_module_0_py_1 >/dev/null; echo "search: $?"
    "#;
    let ran = Ran::of(place.mounting_shell(script).current_dir(place.path()));
    let told: Vec<&str> = ran.out.lines().filter(|line| line.contains(": ")).collect();
    assert_eq!(told, ["index: 2", "search: 0", "with room: 0", "search: 0"], "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("No space left on device"), "{}", ran.err);
    let after = snapshot(&place.path().join("after"), &place.source()).expect("the old state is whole");
    assert_eq!(state_of(&after), old);
}

/// A way to run a script.
type Shell = fn(&Place, &str) -> Command;

/// What makes the index directory read-only for a shell; `None` where neither way is open.
fn read_only(place: &Place) -> Option<(Shell, &'static str)> {
    if place.can_mount() {
        let mount = "mount --bind \"$CODELODE_INDEX_PATH\" \"$CODELODE_INDEX_PATH\" \
                     && mount -o remount,bind,ro \"$CODELODE_INDEX_PATH\" || exit 9; ";
        return Some((|place, script| place.mounting_shell(script), mount));
    }
    // Permissions bind everybody but root.
    let probe = Ran::of(&mut place.shell("chmod a-w ../index && touch ../index/probe; chmod u+w ../index"));
    let binds = probe.err.contains("denied");
    let chmod = "trap 'chmod -R u+w \"$CODELODE_INDEX_PATH\"' EXIT; chmod -R a-w \"$CODELODE_INDEX_PATH\"; ";
    binds.then_some((|place, script| place.shell(script), chmod))
}

#[test]
fn an_index_that_cannot_be_written_is_read() {
    let (old, new) = (modules(6, 0), modules(6, 1));
    let place = Place::indexed(&old);
    let Some((shell, prepare)) = read_only(&place) else {
        println!("left out: nothing keeps this user from writing");
        return;
    };
    let stats = place.index().join("codelode/stats.json");
    let counted = fs::read(&stats).ok();
    let search = format!("{prepare} \"$codelode\" --json search marker_part_1_module_1_py_0");
    let ask = || {
        let ran = Ran::of(&mut shell(&place, &search));
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err))
    };
    let answer = ask();
    assert_eq!(answer["results"][0]["name"], "marker_part_1_module_1_py_0", "{answer}");
    assert_eq!(answer["_meta"]["freshness"], "fresh", "{answer}");

    place.write(&old, &new);
    let answer = ask();
    assert_eq!(answer["results"][0]["name"], "marker_part_1_module_1_py_0", "{answer}");
    assert_eq!(answer["_meta"]["freshness"], "stale", "{answer}");
    assert!(answer["_meta"]["stale_files"].to_string().contains("part_1/module_1.py"), "{answer}");
    let ran = Ran::of(&mut shell(&place, &format!("{prepare} \"$codelode\" index .")));
    assert_eq!(ran.status, 2, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("Read-only") || ran.err.contains("denied"), "{}", ran.err);
    assert_eq!(fs::read(&stats).ok(), counted, "nothing is counted where nothing can be written");

    // A server is asked again within the time in which it does not look again: what it could not read is still old.
    let mut server = Server::start(shell(&place, &format!("{prepare} \"$codelode\" serve")));
    for _ in 0..2 {
        let answer = server.call("suggest_queries", json!({}));
        assert_eq!(answer["_meta"]["freshness"], "stale", "{answer}");
    }
    server.close();
    assert_eq!(place.held(), old);
}

#[test]
fn an_index_works_where_it_was_copied_to() {
    let place = Place::indexed(&modules(6, 0));
    let (there, here) = (place.source(), place.path().join("elsewhere/moved"));
    fs::create_dir(place.path().join("elsewhere")).expect("the folder is new");
    let copied = place.path().join("copied");
    assert!(Ran::of(Command::new("cp").arg("-a").arg(place.index()).arg(&copied)).status == 0);
    fs::rename(&there, &here).expect("both are ours");
    fs::remove_dir_all(place.index()).expect("it is ours");
    let map = format!("/no/such=/place,{}={}", there.display(), here.display());
    let ask = |tool: &str, args: Value| {
        let mut command = place.command(&["call", "--json", tool, &args.to_string()]);
        command.env("CODELODE_INDEX_PATH", &copied).env("CODELODE_PATH_MAP", &map).current_dir(place.path());
        let ran = Ran::of(&mut command);
        serde_json::from_str::<Value>(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err))
    };

    let repo = ask("resolve_repo", json!({"path": here.join("part_0")}));
    assert_eq!(repo["indexed"], true, "{repo}");
    assert_eq!(repo["source_root"], json!(here), "{repo}");
    let found = ask("search_symbols", json!({"repo": here, "query": "marker_part_1_module_1_py_0"}));
    assert_eq!(found["_meta"]["freshness"], "fresh", "{found}");
    let id = &found["results"][0]["id"];
    assert_eq!(id, "part_1/module_1.py::marker_part_1_module_1_py_0#function", "{found}");
    let symbol = ask("get_symbol_source", json!({"repo": here, "symbol_id": id, "verify": true}));
    assert_eq!(symbol["source"], module("part_1/module_1.py", 0).trim_end(), "{symbol}");
    assert_eq!(symbol["_meta"]["content_verified"], true, "{symbol}");

    // An edit is looked for where the sources are now.
    fs::write(here.join("part_1/module_1.py"), module("part_1/module_1.py", 5)).expect("it is ours");
    let found = ask("search_symbols", json!({"repo": here, "query": "marker_part_1_module_1_py_5"}));
    assert_eq!(found["results"][0]["name"], "marker_part_1_module_1_py_5", "{found}");
    assert_eq!(found["_meta"]["freshness"], "fresh", "{found}");
    assert_eq!(Registry::new(copied.join("codelode")).all().len(), 1, "it is still one repository");

    // Without sources, the stored text answers.
    fs::remove_dir_all(&here).expect("it is ours");
    let repo = repo["repo"].clone();
    let symbol = ask("get_symbol_source", json!({"repo": repo, "symbol_id": id}));
    assert_eq!(symbol["code"], "not_found", "that name was edited away: {symbol}");
    let found = ask("search_symbols", json!({"repo": repo, "query": "marker_part_1_module_1_py_5"}));
    let symbol = ask("get_symbol_source", json!({"repo": repo, "symbol_id": found["results"][0]["id"]}));
    assert_eq!(symbol["source"], module("part_1/module_1.py", 5).trim_end(), "{symbol}");
    assert_ne!(symbol["_meta"]["freshness"], "fresh", "nobody can tell: {symbol}");
    let file = ask("get_file_content", json!({"repo": repo, "file_path": "part_2/module_2.py"}));
    assert!(file["content"].as_str().is_some_and(|text| text.contains("marker_part_2_module_2_py_0")), "{file}");
}

/// A cut, a doubling or a stranger's bytes, somewhere in a text.
#[derive(Clone, Debug)]
enum Wound {
    Cut(Index, Index),
    Double(Index, Index),
    Insert(Index, Vec<u8>),
}

fn wounds() -> impl Strategy<Value = Vec<Wound>> {
    let wound = prop_oneof![
        any::<(Index, Index)>().prop_map(|(from, to)| Wound::Cut(from, to)),
        any::<(Index, Index)>().prop_map(|(from, to)| Wound::Double(from, to)),
        (any::<Index>(), proptest::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Wound::Insert(at, bytes)),
    ];
    proptest::collection::vec(wound, 0..6)
}

fn wounded(mut text: Vec<u8>, wounds: &[Wound]) -> Vec<u8> {
    for wound in wounds {
        let place = |at: &Index| at.index(text.len() + 1);
        match wound {
            Wound::Cut(from, to) => {
                let (from, to) = (place(from).min(place(to)), place(from).max(place(to)));
                text.drain(from..to);
            }
            Wound::Double(from, to) => {
                let (from, to) = (place(from).min(place(to)), place(from).max(place(to)));
                let again = text[from..to].to_vec();
                text.splice(to..to, again);
            }
            Wound::Insert(at, bytes) => {
                let at = place(at);
                text.splice(at..at, bytes.iter().copied());
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_file_holds_it_comes_back_byte_by_byte(wounds in wounds()) {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let store = Store::at(folder.path().join("store"));
        let mut writer = store.writer(PATIENCE).expect("nobody else writes");
        let (mut files, mut entries) = (BTreeMap::new(), Vec::new());
        for spec in LANGUAGES {
            let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages").join(spec.id);
            for extension in spec.extensions {
                let path = format!("sample.{extension}");
                let Ok(sample) = fs::read(rooms.join(&path)) else { continue };
                files.insert(path, (spec, wounded(sample, &wounds)));
            }
        }
        for (path, (spec, text)) in &files {
            let prepared = Prepared::new(path.clone(), text.clone(), Prepared::hash(text), &extract(spec, text));
            let file = SourceFile { path: path.clone(), size: text.len() as u64, mtime_ns: 0, ctime_ns: 0 };
            entries.push(Entry { file, state: Ok(writer.add(prepared).expect("there is room")) });
        }
        writer.commit("main", &entries, &[], SnapshotFacts::default()).expect("there is room");

        let snapshot = store.snapshot("main").expect("it was committed");
        snapshot.verify().expect("its tables are whole");
        let mut ids = BTreeSet::new();
        for (path, (_, text)) in &files {
            let file = snapshot.file(path).expect("it was committed");
            assert_eq!(file.content(), text);
            for symbol in file.symbols() {
                let span = symbol.span();
                assert!(span.start < span.end && span.end as usize <= text.len());
                assert_eq!(symbol.source(), &text[span.start as usize..span.end as usize]);
                assert!(span.contains(symbol.name_span()) && symbol.file.is_intact());
                assert_eq!(symbol.content_hash(), <[u8; 32]>::from(Sha256::digest(symbol.source())));
                let line = |at: u32| 1 + text[..at as usize].iter().filter(|byte| **byte == b'\n').count() as u32;
                assert_eq!((symbol.first_line(), symbol.end_line()), (line(span.start), line(span.end - 1)));
                assert_eq!(symbol.line(), line(symbol.name_span().start));
                assert!(ids.insert(symbol.id()), "{} is there twice", symbol.id());
            }
        }
    }
}

/// Runs git, free of what the machine configures.
fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(args);
    let ran = Ran::of(command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1"));
    assert_eq!(ran.status, 0, "git {args:?}: {}", ran.err);
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
    place.write(&State::new(), &state);
    let (first, second) = (place.source(), place.path().join("second"));
    git(&first, &["init", "-q"]);
    git(&first, &["add", "."]);
    git(&first, &["commit", "-q", "-m", "first"]);
    git(&first, &["worktree", "add", "-q", "--detach", "../second"]);

    place.succeed(&["index", "."]);
    let alone = pack_bytes(&place.index());
    place.succeed(&["index", "../second"]);
    assert_eq!(pack_bytes(&place.index()), alone, "the second holds nothing of its own");
    let stores = fs::read_dir(place.index().join("codelode/stores")).expect("there is one").count();
    assert_eq!(stores, 1);

    let held = |root: &Path| state_of(&snapshot(&place.index(), root).expect("it is indexed"));
    let path = "part_0/module_0.py";
    fs::write(second.join(path), module(path, 1)).expect("it is ours");
    place.succeed(&["index", "../second"]);
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
    place.succeed(&["invalidate", "../second"]);
    assert_eq!(held(&first), state);
    place.succeed(&["invalidate", "."]);
    assert_eq!(fs::read_dir(place.index().join("codelode/stores")).expect("the folder stays").count(), 0);
}

#[test]
fn an_index_that_cannot_be_read_says_how_to_rebuild_it_and_is() {
    let state = modules(4, 0);
    let place = Place::indexed(&state);
    let store = names(&place.index()).into_iter().map(|(path, _)| path);
    let store = store.filter(|path| path.ends_with("manifest.json")).collect::<Vec<_>>();
    let [manifest] = &store[..] else { panic!("one store: {store:?}") };
    let good = fs::read_to_string(manifest).expect("it is there");
    let future = good.replacen(&format!("\"format\":{}", codelode::store::FORMAT), "\"format\":999", 1);
    assert_ne!(future, good);
    let spoilt: [(&str, &str, &str); 3] = [
        ("of another version", &future, "index_outdated"),
        ("cut off", &good[..good.len() / 2], "unavailable"),
        ("of another kind", "[]", "unavailable"),
    ];
    for (how, text, code) in spoilt {
        fs::write(manifest, text).expect("it is ours");
        // Somebody else writes, so it cannot be made anew for the question's sake.
        let lock = File::options().write(true).open(manifest.with_file_name("lock")).expect("there is one");
        lock.lock().expect("nobody else holds it");
        let answer = place.call("search_symbols", json!({"query": "marker"}));
        drop(lock);
        assert_eq!(answer["code"], code, "{how}: {answer}");
        let rebuild = answer["details"]["rebuild"].as_str().unwrap_or_else(|| panic!("{how}: {answer}"));
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(rebuild)), "{how}: {answer}");
        if code == "index_outdated" {
            let ran = Ran::of(&mut place.command(&["index", "."]));
            assert_eq!(ran.status, 2, "{how}: nothing that is whole is thrown away unasked: {}", ran.out);
            assert!(ran.err.contains("--no-incremental"), "{how}: {}", ran.err);
        }

        // The very words that it says.
        let script = format!("codelode() {{ \"$codelode\" \"$@\"; }}; {rebuild}");
        let ran = Ran::of(&mut place.shell(&script));
        assert_eq!(ran.status, 0, "{how}: {rebuild}: {} {}", ran.out, ran.err);
        assert_eq!(place.held(), state, "{how}");
    }
}

#[test]
fn what_changed_is_seen_by_the_next_question() {
    let place = Place::indexed(&modules(4, 0));
    let names = |query: &str| {
        let found = place.call("search_symbols", json!({"query": query, "max_results": 50}));
        let results = found["results"].as_array().cloned().unwrap_or_default();
        results.iter().filter_map(|result| result["id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let source = place.source();
    let write = |path: &str, text: &str| fs::write(source.join(path), text).expect("it is ours");

    write("part_0/module_0.py", "def marker_edited():\n    pass\n");
    assert_eq!(names("marker_edited"), ["part_0/module_0.py::marker_edited#function"]);
    let old = "part_0/module_0.py::marker_part_0_module_0_py_0#function";
    assert!(!names("marker_part_0_module_0_py_0").iter().any(|id| id == old));
    write("part_0/fresh.py", "def marker_new():\n    pass\n");
    assert_eq!(names("marker_new"), ["part_0/fresh.py::marker_new#function"]);
    fs::rename(source.join("part_0/fresh.py"), source.join("part_1/renamed.py")).expect("it is ours");
    assert_eq!(names("marker_new"), ["part_1/renamed.py::marker_new#function"]);
    fs::remove_file(source.join("part_1/renamed.py")).expect("it is ours");
    assert!(names("marker_new").iter().all(|id| !id.contains("marker_new")));
    let outline = place.call("get_file_outline", json!({"file_path": "part_1/renamed.py"}));
    assert_eq!(outline["code"], "not_found", "{outline}");
}

#[test]
fn a_server_never_calls_old_what_is_new_nor_fresh_what_is_old() {
    let place = Place::indexed(&modules(4, 0));
    let mut command = place.command(&["serve"]);
    command.env("CODELODE_FRESHNESS", "strict");
    let mut server = Server::start(command);
    let source = place.source();
    let path = "part_0/module_0.py";
    let id = format!("{path}::marker#function");
    let write = |path: &str, text: &str| fs::write(source.join(path), text).expect("it is ours");

    // Each edit follows the last question at once, long before the folder as a whole would be looked at again.
    for generation in 0..5 {
        let text = format!("def marker():\n    return {generation}\n");
        write(path, &text);
        let symbol = match generation {
            // A name that no index knows yet is found when the folder has been looked at.
            0 => server.until("get_symbol_source", json!({"symbol_id": id}), |answer| answer["source"].is_string()),
            _ => server.fresh("get_symbol_source", json!({"symbol_id": id})),
        };
        assert_eq!(symbol["source"], text.trim_end(), "{symbol}");
        let file = server.fresh("get_file_content", json!({"file_path": path}));
        assert_eq!(file["content"], text, "{file}");
    }
    fs::rename(source.join(path), source.join("renamed.py")).expect("it is ours");
    let found = server.fresh("search_symbols", json!({"query": "marker", "file_pattern": "part_0/module_0.py"}));
    assert_eq!(found["result_count"], 0, "{found}");
    server.until("search_symbols", json!({"query": "marker", "file_pattern": "renamed.py"}), |answer| {
        answer["results"][0]["id"] == "renamed.py::marker#function"
    });
    write("new.py", "def marker_new():\n    pass\n");
    server.until("search_symbols", json!({"query": "marker_new"}), |answer| {
        answer["results"][0]["id"] == "new.py::marker_new#function"
    });
    fs::remove_file(source.join("new.py")).expect("it is ours");
    let gone = server.fresh("get_file_content", json!({"file_path": "new.py"}));
    assert_eq!(gone["code"], "not_found", "{gone}");
    server.close();
}

#[test]
fn a_first_run_that_is_called_off_keeps_what_it_read_and_says_that_there_is_more() {
    let place = Place::new();
    let state = modules(60, 0);
    place.write(&State::new(), &state);
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
    let watcher = Watcher { progress: &tell, cancelled: &cancelled, patience: PATIENCE };
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
    let watcher = Watcher { progress: &count, cancelled: &never, patience: PATIENCE };
    let report = pipeline::index_folder(&place.source(), &config, &options, &watcher).expect("nothing is in the way");
    assert_eq!((n_read.into_inner(), report.added.len(), report.facts.partial), (40, 40, false));
    assert_eq!(place.held(), state);
}

#[test]
fn while_a_first_run_is_at_work_what_is_ready_answers() {
    let place = Place::new();
    let state = modules(30, 0);
    place.write(&State::new(), &state);
    place.age();
    let config = Config { home: place.index().join("codelode"), ..Config::default() };
    let cancelled = AtomicBool::new(false);
    let tell = |done: u64, _: Option<u64>, _: &str| cancelled.store(done > 15, Ordering::Relaxed);
    let watcher = Watcher { progress: &tell, cancelled: &cancelled, patience: PATIENCE };
    let options = pipeline::Options { publish_every: 10, ..pipeline::Options::default() };
    assert!(pipeline::index_folder(&place.source(), &config, &options, &watcher).is_err(), "it is called off");
    // Somebody is writing: for this test it is us.
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

#[test]
fn a_file_that_takes_too_much_memory_keeps_its_text() {
    let place = Place::new();
    let list = "x = [\n".to_owned() + &"(1, 'a', b, c.d(e)),\n".repeat(400_000) + "]\n";
    place.write(&State::new(), &State::from([("large.py".into(), list), ("small.py".into(), module("small.py", 0))]));
    let mut command = place.command(&["index", ".", "--json"]);
    let ran = Ran::of(command.env("CODELODE_MAX_FILE_SIZE", "100000000"));
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err));
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("large.py: parsing took more than 200 MB; its text is searchable"), "{answer}");
    assert_eq!((answer["file_count"].as_u64(), answer["symbol_count"].as_u64()), (Some(2), Some(1)), "{answer}");
    let mut command = place.command(&["call", "--json", "search_text", &json!({"query": "c.d(e)"}).to_string()]);
    let ran = Ran::of(command.env("CODELODE_MAX_FILE_SIZE", "100000000"));
    assert!(ran.out.contains("large.py"), "{} {}", ran.out.chars().take(500).collect::<String>(), ran.err);
}

/// Bytes of memory that a process shares with nobody.
fn private_bytes(process: u32) -> u64 {
    bytes_of(process, "Private_")
}

/// Bytes of memory whose counts begin so.
fn bytes_of(process: u32, counts: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).expect("it is our child, on Linux");
    let private = text.lines().filter(|line| line.starts_with(counts));
    private.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).sum::<u64>() * 1024
}

/// A number that a larger run sets.
fn number_of(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// `CODELODE_SERVERS=20 CODELODE_SERVED=/a/repository cargo test --release --test store many_servers -- --nocapture` gives the
/// figure.
#[test]
fn many_servers_share_one_store_and_none_waits_to_read() {
    let n_servers = number_of("CODELODE_SERVERS", 4);
    let place = Place::indexed(&modules(30, 0));
    let root = std::env::var("CODELODE_SERVED").map_or_else(|_| place.source(), PathBuf::from);
    place.succeed(&["index", &root.to_string_lossy()]);
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

#[test]
fn a_writer_that_is_killed_leaves_its_lock_to_the_next() {
    let place = Place::indexed(&modules(8, 0));
    let registry = Registry::new(place.index().join("codelode"));
    let store = registry.store(&registry.get(&Registry::local_id(&place.source())).expect("it is indexed").store);
    let lock = store.dir().join("lock");
    // A process that holds the lock and never lets go of it.
    let mut holder = Command::new("flock")
        .args(["--no-fork", "--exclusive"])
        .arg(&lock)
        .args(["sleep", "1000"])
        .spawn()
        .expect("it is there");
    let begun = Instant::now();
    while store.held() == codelode::store::Held::Free {
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
    assert_eq!(store.held(), codelode::store::Held::Free);
}

/// `CODELODE_SOAK_MINUTES=60 CODELODE_SOAKED=/a/repository cargo test --release --test store soak -- --nocapture` edits a copy of
/// a repository for an hour, with a pause after each edit, and tells of memory and disk each minute.
#[test]
fn a_soak_of_edits_and_questions_leaves_memory_and_disk_as_they_were() {
    let n_rounds = number_of("CODELODE_SOAK_ROUNDS", 60);
    let minutes = std::env::var("CODELODE_SOAK_MINUTES").ok().and_then(|minutes| minutes.parse::<u64>().ok());
    let soaked = std::env::var("CODELODE_SOAKED").ok();
    let place = match &soaked {
        None => Place::indexed(&modules(60, 0)),
        Some(soaked) => {
            let place = Place::new();
            let copied =
                Command::new("cp").args(["-r", &format!("{soaked}/."), "."]).current_dir(place.source()).status();
            assert!(copied.expect("cp is there").success());
            place.succeed(&["index", "."]);
            place
        }
    };
    let code: Vec<PathBuf> = names(&place.source())
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| soaked.is_some() && path.extension().is_some_and(|ending| ending == "py"))
        .collect();
    let mut command = place.command(&["serve"]);
    command.env("CODELODE_FRESHNESS", "strict");
    let mut server = Server::start(command);
    let mut random = Random(0x5DEE_CE66_D1CE_4E5B);
    let mut state = modules(60, 0);
    let disk = |index: &Path| -> u64 {
        names(index)
            .into_iter()
            .filter_map(|(path, _)| fs::metadata(path).ok())
            .filter(|meta| meta.is_file())
            .map(|meta| meta.len())
            .sum()
    };
    let (mut early, mut largest) = (0, 0);
    let (begun, mut told) = (Instant::now(), 0);
    for round in 1.. {
        match random.below(code.len().max(1)) {
            _ if code.is_empty() => {
                let edited = random.edited(&state, round);
                place.write(&state, &edited);
                state = edited;
            }
            file => {
                let mut file = File::options().append(true).open(&code[file]).expect("it is ours");
                writeln!(file, "\n\ndef marker_{round}(value):\n    return value + {round}").expect("there is room");
            }
        }
        server.call("search_symbols", json!({"query": "marker"}));
        server.call("search_text", json!({"query": format!("value + {round}")}));
        let found = server.call("search_symbols", json!({"query": format!("marker {round}")}));
        if let Some(id) = found["results"][0]["id"].as_str() {
            server.call("get_symbol_source", json!({"symbol_id": id}));
        }
        largest = largest.max(disk(&place.index()));
        // Of one server alone, what it maps counts as its own as well: only what it has written to cannot be shared.
        let dirty = || bytes_of(server.child.id(), "Private_Dirty");
        let (done, of): (u64, u64) = match minutes {
            None => (round as u64, n_rounds as u64),
            Some(minutes) => (begun.elapsed().as_secs(), 60 * minutes),
        };
        if done >= of / 3 && early == 0 {
            early = dirty();
        }
        if minutes.is_some() {
            thread::sleep(Duration::from_millis(500));
            if begun.elapsed().as_secs() / 60 > told {
                told = begun.elapsed().as_secs() / 60;
                println!("{told} min, {round} rounds: {} bytes private, {} on disk", dirty(), disk(&place.index()));
            }
        }
        if done >= of {
            break;
        }
    }
    // Memory is given back when it has been quiet for a moment.
    thread::sleep(Duration::from_secs(3));
    let late = bytes_of(server.child.id(), "Private_Dirty");
    server.close();
    place.succeed(&["index", "."]);
    if code.is_empty() {
        assert_eq!(place.held(), state);
    }
    let grown = disk(&place.index());
    place.succeed(&["invalidate", "."]);
    place.succeed(&["index", "."]);
    let fresh = disk(&place.index());
    println!(
        "private memory {early} → {late} bytes, disk {grown} (at most {largest}) beside {fresh} fresh, {:?}",
        begun.elapsed()
    );
    assert!(late <= early + early / 4 + (4 << 20), "private memory grew from {early} to {late}");
    // A commit holds the old generation and the new for a moment, and little data is mostly what every segment has.
    assert!(grown <= 2 * fresh + (1 << 20), "{grown} bytes on disk, {fresh} fresh");
}

/// The program as a client's subprocess.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    n_asked: u64,
}

impl Server {
    /// Starts it and opens a session.
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it is built");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut server = Self { child, input, lines, n_asked: 0 };
        let client = json!({"name": "test", "version": "1"});
        server.ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}));
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("the input is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.n_asked += 1;
        let id = self.n_asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.recv_timeout(PATIENCE).expect("an answer comes in time");
            let message: Value = serde_json::from_str(&line).expect("the server speaks JSON");
            if message["id"] == id {
                return message;
            }
        }
    }

    /// A tool's answer or error.
    fn call(&mut self, tool: &str, args: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": args}));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        serde_json::from_str(text).unwrap_or_else(|err| panic!("no JSON: {text}: {err}"))
    }

    /// Asks until the answer is as wanted.
    fn until(&mut self, tool: &str, args: Value, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let answer = self.call(tool, args.clone());
            if wanted(&answer) {
                return answer;
            }
            assert!(begun.elapsed() < PATIENCE, "{tool} {args} still says {answer}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The first answer that does not call itself old: on a busy machine it may come after some that do.
    fn fresh(&mut self, tool: &str, args: Value) -> Value {
        self.until(tool, args, |answer| !["indexing", "stale"].iter().any(|word| answer["_meta"]["freshness"] == *word))
    }

    /// Closes the input; the program ends by itself.
    fn close(mut self) {
        drop(self.input.take());
        let status = self.child.wait().expect("it is our child");
        assert!(status.success(), "{status}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A failed test shall not leave a server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
