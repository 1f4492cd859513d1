//! Keeping indexes fresh: what happens in a folder is in the next answer, and nobody has to look for it.

mod server;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::ops::Deref;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::PATIENCE;
use crate::place::Place;
use codelode::pipeline::{self, Drift, LeftOut};
use codelode::store::{Registry, Sidecar};
use codelode::watch::claude::{self, ClaudeEvent};
use codelode::watch::{self, Error, KeeperAnswer, Options, WatchHandle, ask};

/// So long is it never quiet: only questions bring changes in.
const NEVER: Duration = Duration::from_secs(3600);

/// A folder that is watched, and the lines that a watcher has written of it.
struct Watched {
    place: Place,
    told: Arc<Mutex<Vec<String>>>,
}

impl Deref for Watched {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Watched {
    fn new() -> Self {
        Self { place: Place::new(), told: Arc::default() }
    }

    fn sidecar(&self) -> Sidecar {
        pipeline::sidecar_of(&self.source(), &self.config())
    }

    fn watching(&self, options: Options) -> WatchHandle {
        let told = Arc::clone(&self.told);
        let tell = move |line: &str| told.lock().expect("nobody panics here").push(line.to_owned());
        WatchHandle::new(self.config(), options, Arc::new(tell))
    }

    /// Watches, and brings in changes only when asked.
    fn watched(&self) -> WatchHandle {
        let watching = self.watching(Options { debounce: NEVER, idle: None });
        assert_eq!(watching.add(&self.source()).expect("the folder is there"), self.source());
        self.until("somebody answers", || self.standing().is_some());
        watching
    }

    fn standing(&self) -> Option<KeeperAnswer> {
        ask(&self.config().home, &self.sidecar().snapshot, &self.source(), PATIENCE)
    }

    /// Waits for something.
    fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < PATIENCE, "{what}: not in time; told {:?}", self.told.lock());
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn was_told(&self, words: &str) -> bool {
        self.told.lock().expect("nobody panics here").iter().any(|line| line.contains(words))
    }

    /// Text by path, as the index holds it.
    fn held(&self) -> BTreeMap<String, String> {
        let sidecar = self.sidecar();
        let store = Registry::new(&self.config().home).store(&sidecar.store);
        let snapshot = store.snapshot(&sidecar.snapshot).expect("it is indexed");
        let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
        snapshot.files().map(|file| (file.path().to_owned(), text(file.content()))).collect()
    }

    /// The same as it is on disk, without what git keeps.
    fn there(&self) -> BTreeMap<String, String> {
        fn add(root: &Path, folder: &Path, all: &mut BTreeMap<String, String>) {
            for entry in fs::read_dir(folder).expect("folders can be read").flatten() {
                let path = entry.path();
                if path.is_dir() && entry.file_name() != ".git" {
                    add(root, &path, all);
                } else if path.is_file() {
                    let name = path.strip_prefix(root).expect("it is inside").to_string_lossy().into_owned();
                    all.insert(name, fs::read_to_string(&path).expect("it is text"));
                }
            }
        }
        let mut all = BTreeMap::new();
        add(&self.source(), &self.source(), &mut all);
        all
    }

    /// Asks, and what is answered is so.
    fn check(&self, what: &str) {
        assert_eq!(self.standing(), Some(KeeperAnswer::Fresh), "{what}: told {:?}", self.told.lock());
        assert_eq!(self.held(), self.there(), "{what}");
    }
}

/// A child that does not outlive its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn function(name: &str) -> String {
    format!("def {name}():\n    return 1\n")
}

#[test]
fn every_kind_of_change_is_in_the_next_answer() {
    let place = Watched::new();
    let source = place.source();
    place.write("a.py", &function("first"));
    place.write("deep/er/b.py", &function("second"));
    let _watching = place.watched();
    place.check("nothing");

    place.write("a.py", &function("edited"));
    place.check("an edit");
    let mut file = fs::File::options().append(true).open(source.join("a.py")).expect("it is there");
    for line in 0..3 {
        writeln!(file, "# line {line}").expect("it can be written");
        place.check("a line more, the file open");
    }
    drop(file);
    place.write("new.py", &function("new"));
    place.check("a new file");
    place.write("new/folder/in/folder/c.py", &function("third"));
    place.check("a file in new folders");
    place.write("new/folder/in/folder/c.py", &function("fourth"));
    place.write("new/folder/d.py", &function("fifth"));
    place.check("changes in new folders");
    fs::rename(source.join("new.py"), source.join("deep/renamed.py")).expect("both are ours");
    place.check("a moved file");
    fs::write(source.join(".a.py.swp"), function("saved")).expect("it is ours");
    fs::rename(source.join(".a.py.swp"), source.join("a.py")).expect("both are ours");
    place.check("an editor's save");
    fs::rename(source.join("a.py"), source.join("a.py~")).expect("both are ours");
    place.write("a.py", &function("saved_by_another"));
    fs::remove_file(source.join("a.py~")).expect("it is ours");
    place.check("another editor's save");
    fs::rename(source.join("new"), source.join("deep/moved")).expect("both are ours");
    place.check("a moved folder");
    place.write("deep/moved/folder/d.py", &function("sixth"));
    place.check("an edit in a moved folder");
    place.write("new/folder/d.py", &function("seventh"));
    place.check("another folder in its place");
    fs::remove_dir_all(source.join("deep")).expect("it is ours");
    place.write("deep/er/b.py", &function("eighth"));
    place.check("a folder removed and made again");
    place.write("deep/er/b.py", &function("ninth"));
    place.check("an edit in it");
    fs::rename(source.join("deep"), source.join("kept")).expect("both are ours");
    fs::rename(source.join("new"), source.join("deep")).expect("both are ours");
    fs::rename(source.join("kept"), source.join("new")).expect("both are ours");
    place.check("two folders that changed places");
    place.write("deep/folder/d.py", &function("tenth"));
    place.write("new/er/b.py", &function("eleventh"));
    place.check("edits in both");
    fs::remove_file(source.join("a.py")).expect("it is ours");
    place.check("a removed file");
}

#[test]
fn whatever_happens_is_in_the_next_answer() {
    let place = Watched::new();
    for file in 0..30 {
        place.write(&format!("{}/{}/{file}.py", file % 3, file % 5), &function(&format!("f{file}")));
    }
    let _watching = place.watched();
    let source = place.source();
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for step in 0..120 {
        for _ in 0..=next(4) {
            let folder = format!("{}/{}", next(4), next(6));
            let file = format!("{folder}/{}.py", next(8));
            let other = format!("{}/{}", next(4), next(6));
            // Most of it works; what does not changes nothing.
            let _ = match next(6) {
                0 | 1 => {
                    place.write(&file, &function(&format!("step_{step}_{}", next(1000))));
                    Ok(())
                }
                2 => fs::remove_file(source.join(&file)),
                3 => fs::rename(source.join(&file), source.join(format!("{}.py", next(9)))),
                4 => fs::rename(source.join(&folder), source.join(&other)),
                _ if next(4) == 0 => fs::remove_dir_all(source.join(&folder)),
                _ => fs::rename(source.join(&file), source.join(format!("{folder}/{}.py", next(8)))),
            };
        }
        place.check(&format!("step {step}"));
    }
}

#[test]
fn what_git_does_is_in_the_next_answer() {
    let place = Watched::new();
    let write = |edit: usize| {
        for file in (0..300).filter(|file| edit == 0 || file % 3 == 0) {
            place.write(&format!("part_{}/{file}.py", file % 10), &function(&format!("f{file}_{edit}")));
        }
    };
    place.git(&["init", "-q", "-b", "main"]);
    write(0);
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "first"]);
    let _watching = place.watched();
    place.git(&["checkout", "-q", "-b", "branch"]);
    write(1);
    place.write("only/here.py", &function("here"));
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "second"]);
    place.check("a commit");
    for _ in 0..2 {
        place.git(&["checkout", "-q", "main"]);
        place.check("the old branch");
        place.git(&["checkout", "-q", "branch"]);
        place.check("the new branch");
    }
    place.git(&["checkout", "-q", "main"]);
    place.write("on/main.py", &function("main"));
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "third"]);
    place.git(&["checkout", "-q", "branch"]);
    place.git(&["rebase", "-q", "main"]);
    place.check("a rebase");
    place.git(&["stash", "-q", "-u"]);
    place.git(&["reset", "-q", "--hard", "main"]);
    place.check("a reset");
    place.git(&["mv", "part_1", "moved"]);
    place.check("a moved folder");
}

#[test]
fn ignore_files_count_when_they_change() {
    let place = Watched::new();
    place.git(&["init", "-q"]);
    place.write("kept.py", &function("kept"));
    place.write("out/a.py", &function("a"));
    place.write("out/b.py", &function("b"));
    let _watching = place.watched();
    let paths = || {
        assert_eq!(place.standing(), Some(KeeperAnswer::Fresh));
        place.held().into_keys().collect::<Vec<_>>()
    };
    assert_eq!(paths(), ["kept.py", "out/a.py", "out/b.py"]);
    place.write(".gitignore", "out/\n");
    assert_eq!(paths(), [".gitignore", "kept.py"]);
    // No event comes from there; its files are read all the same when it counts again.
    place.write("out/c.py", &function("c"));
    assert_eq!(paths(), [".gitignore", "kept.py"]);
    place.write(".gitignore", "out/a.py\n");
    assert_eq!(paths(), [".gitignore", "kept.py", "out/b.py", "out/c.py"]);
    place.write("out/b.py", &function("edited"));
    place.check_one("out/b.py", &function("edited"));
    // Files in folders that are not watched count as well.
    fs::write(place.source().join(".git/info/exclude"), "kept.py\n").expect("it is git's, and ours");
    assert_eq!(paths(), [".gitignore", "out/b.py", "out/c.py"]);
}

#[test]
fn a_worktree_of_an_indexed_repository_is_answered_about_at_once() {
    let place = Watched::new();
    place.git(&["init", "-q", "-b", "main"]);
    for file in 0..20 {
        place.write(&format!("part/{file}.py"), &function(&format!("f{file}")));
    }
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "first"]);
    place.found(&["index", "."]);
    let registry = Registry::new(&place.config().home);
    let files = || {
        let manifest = registry.store(&place.sidecar().store).manifest().expect("it is indexed");
        (manifest.next_file, manifest.snapshots.len())
    };
    assert_eq!(files(), (20, 1));

    // Inside the main checkout, as agents make them, and elsewhere.
    for (nth, worktree) in [place.source().join(".claude/worktrees/one"), place.path().join("two")].iter().enumerate() {
        let name = format!("claude/{nth}");
        place.git(&["worktree", "add", "-q", "-b", &name, worktree.to_str().expect("a plain path")]);
        fs::write(worktree.join("part/0.py"), function(&format!("only_{nth}"))).expect("it is ours");
        let ask = |arguments: &[&str]| {
            let output = place.command(arguments).current_dir(worktree.join("part")).output().expect("it is built");
            String::from_utf8(output.stdout).expect("it prints text")
        };
        assert!(ask(&["resolve", "."]).contains("another checkout of it is indexed"), "{}", ask(&["resolve", "."]));
        assert_eq!(ask(&["text", "def only"]), format!("0.py:1:def only_{nth}():\n"));
        assert_eq!(files(), (21 + nth as u32, 2 + nth), "only what differs is read");
        let resolved = ask(&["call", "--json", "resolve_repo", r#"{"path": "."}"#]);
        assert!(
            resolved.contains("\"indexed\":true") && resolved.contains(worktree.to_str().expect("plain")),
            "{resolved}"
        );
        // The main checkout is another.
        assert_eq!(place.run(&["text", "def only"]).out, "");
    }

    // Nothing is kept of those that are removed.
    place.git(&["worktree", "remove", "--force", place.path().join("two").to_str().expect("a plain path")]);
    assert_eq!(place.found(&["list", "--json"]).matches("\"repo\"").count(), 2);
    assert_eq!(files(), (22, 2));
    fs::remove_dir_all(place.source().join(".claude")).expect("it is ours");
    place.found(&["index", "."]);
    assert_eq!(files(), (22, 2), "git still lists it");
    place.git(&["worktree", "prune"]);
    place.found(&["index", "."]);
    assert_eq!(files(), (22, 1));
}

#[test]
fn worktrees_of_an_agent_are_watched_while_they_are_there() {
    let place = Watched::new();
    place.git(&["init", "-q", "-b", "main"]);
    place.write("a.py", &function("first"));
    place.git(&["add", "."]);
    place.git(&["commit", "-q", "-m", "first"]);
    let source = place.source();
    let hook = |event: &str, input: &str| {
        let mut command = place.command(&["hook-event", event]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It may refuse before it has read everything.
        let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("it ends");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let mut command = place.command(&["watch-claude", "--poll-interval", "1", "--repos"]);
    let _child = Running(command.arg(&source).stdout(Stdio::null()).spawn().expect("the program is built"));

    let registry = || Registry::new(&place.config().home);
    let is_watched = |root: &Path| {
        let sidecar = pipeline::sidecar_of(root, &place.config());
        ask(&place.config().home, &sidecar.snapshot, root, PATIENCE) == Some(KeeperAnswer::Fresh)
    };
    let worktree = |name: &str, branch: &str| {
        let path = place.path().join(name);
        place.git(&["worktree", "add", "-q", "-b", branch, path.to_str().expect("a plain path")]);
        path
    };
    let (by_asking, other) = (worktree("by_asking", "claude/one"), worktree("other", "feature"));
    place.until("the worktree of an agent is watched", || is_watched(&by_asking));
    let by_hook = worktree("by_hook", "any");
    let input = format!("{{\"worktree_path\": {:?}}}", by_hook);
    assert_eq!(hook("create", &input), (Some(0), format!("{}\n", by_hook.display())));
    place.until("the worktree that a hook told of is watched", || is_watched(&by_hook));
    assert!(!is_watched(&other), "nobody asked for that");
    assert_eq!(registry().all().len(), 2);

    assert_eq!(hook("remove", &input), (Some(0), String::new()));
    place.until("it is watched no more", || !is_watched(&by_hook));
    place.until("its index is gone", || registry().all().len() == 1);
    place.git(&["worktree", "remove", by_asking.to_str().expect("a plain path")]);
    place.until("the other's index is gone", || registry().all().is_empty());
    // A client that has such a hook makes no worktree by itself: it goes where the hook says.
    let wanted = source.join(".claude/worktrees/feat");
    let input = format!("{{\"cwd\": {source:?}, \"hook_event_name\": \"WorktreeCreate\", \"name\": \"feat\"}}");
    for _ in 0..2 {
        assert_eq!(hook("create", &input), (Some(0), format!("{}\n", wanted.display())));
        assert!(wanted.join("a.py").is_file());
    }
    // Nor does it remove one. Uncommitted work is kept, and so are commits that no other branch has.
    let removal = format!("{{\"hook_event_name\": \"WorktreeRemove\", \"worktree_path\": {wanted:?}}}");
    fs::write(wanted.join("new.py"), "new = 1\n").expect("it is ours");
    assert_eq!((hook("remove", &removal).0, wanted.join("new.py").is_file()), (Some(2), true));
    fs::remove_file(wanted.join("new.py")).expect("it is ours");
    assert_eq!((hook("remove", &removal).0, wanted.exists()), (Some(0), false));
    let branch = source.join(".git/refs/heads/worktree-feat");
    assert!(!branch.exists());
    assert_eq!(hook("create", &input).0, Some(0));
    let commit = ["-C", wanted.to_str().expect("a plain path"), "commit", "-q", "--allow-empty", "-m", "work"];
    place.git(&commit);
    assert_eq!((hook("remove", &removal).0, wanted.exists()), (Some(0), false));
    assert!(branch.exists());
    assert_eq!((hook("remove", &removal).0, other.exists()), (Some(0), true), "it is gone already");
    let input = input.replace("feat", "../../../outside");
    assert_eq!(hook("create", &input), (Some(2), String::new()), "it leads out of the folder");
    assert_eq!(hook("create", "{}").0, Some(2));
    assert_eq!(hook("create", "no JSON").0, Some(2));
}

#[test]
fn hooks_that_write_at_once_and_half_lines_do_no_harm() {
    let place = Watched::new();
    let file = place.path().join("deep/hooks.jsonl");
    let record = |what, path: &str| claude::record(&file, what, Path::new(path)).expect("there is room");
    record(ClaudeEvent::Create, "/first");
    // A process was killed while writing.
    fs::File::options().append(true).open(&file).unwrap().write_all(b"{\"event\": \"create\", \"pa").unwrap();
    thread::scope(|scope| {
        for writer in 0..8 {
            let record = &record;
            scope.spawn(move || (0..25).for_each(|nth| record(ClaudeEvent::Create, &format!("/{writer}/{nth}"))));
        }
    });
    record(ClaudeEvent::Remove, "/first");
    let text = fs::read_to_string(&file).expect("it is text");
    let (whole, half): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| serde_json::from_str::<serde_json::Value>(line).is_ok());
    assert_eq!((whole.len(), half.len()), (202, 1));
    assert!(whole.iter().all(|line| line.starts_with("{\"event\":\"") && line.contains("\"timestamp\":\"")));
    assert!(text.ends_with('\n'));
    for (input, path) in [
        (r#"{"worktree_path": "/a/b"}"#, Some("/a/b")),
        (r#"{"cwd": "/a", "name": "b"}"#, Some("/a/.claude/worktrees/b")),
        (r#"{"cwd": "/a", "path": "b"}"#, Some("/a/b")),
        (r#"{"path": "b"}"#, None),
        (r#"{"cwd": "/a"}"#, None),
        ("[]", None),
    ] {
        assert_eq!(claude::worktree_of(input).as_deref(), path.map(Path::new), "{input}");
    }
}

#[test]
fn where_the_system_watches_no_more_folders_they_are_looked_at() {
    let place = Watched::new();
    let limited = |limit: &str, value: u32| {
        let script = format!("echo {value} > /proc/sys/user/max_inotify_{limit} && exec \"$0\" watch --debounce 20");
        let mut command = Command::new("unshare");
        command.args(["-Ur", "sh", "-c", &script, env!("CARGO_BIN_EXE_codelode")]).current_dir(place.source());
        command.env("CODELODE_INDEX_PATH", place.path().join("index")).stdin(Stdio::null());
        command
    };
    let mut probe = Command::new("unshare");
    probe.args(["-Ur", "sh", "-c", "echo 9 > /proc/sys/user/max_inotify_watches"]).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        return crate::client::skipped("a limit of its own cannot be set here");
    }
    for folder in 0..20 {
        place.write(&format!("{folder}/a.py"), &function("first"));
    }
    for (limit, value, told) in [("watches", 5, "max_user_watches"), ("instances", 0, "max_user_instances")] {
        let log = place.path().join(limit);
        let output = fs::File::create(&log).expect("there is room");
        let _child = Running(limited(limit, value).stdout(output).spawn().expect("unshare was there a moment ago"));
        let log = || fs::read_to_string(&log).expect("it was made");
        place.until(limit, || log().contains(told) && log().contains("polling"));
        assert_eq!(place.standing(), None, "who asks has to look as well");
        place.write("19/a.py", &function(limit));
        place.until("the edit is held", || place.held() == place.there());
    }
}

#[test]
fn a_missing_folder_does_not_cost_its_index() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    place.found(&["index", "."]);
    let (id, elsewhere) = (place.sidecar().repo, place.path());
    let ask = |args: &[&str]| {
        let output = place.command(args).current_dir(&elsewhere).output().expect("the program is built");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    fs::rename(place.source(), elsewhere.join("aside")).expect("both are ours");
    let (status, out, err) = ask(&["search", "first", "--repo", &id]);
    assert!(status == Some(0) && out.contains("a.py:1"), "{status:?} {out} {err}");
    assert!(out.starts_with("its folder is not here"), "{out}");
    let (_, out, _) = ask(&["search", "first", "--json", "--repo", &id]);
    assert!(out.contains(r#""freshness":"unchecked""#), "{out}");
    ask(&["list"]);
    let registry = Registry::new(&place.config().home);
    assert_eq!(registry.all().len(), 1);
    // Only who asks for it removes it.
    assert_eq!(ask(&["doctor", "--fix"]).0, Some(0));
    assert!(registry.all().is_empty());
}

impl Watched {
    fn check_one(&self, path: &str, text: &str) {
        assert_eq!(self.standing(), Some(KeeperAnswer::Fresh));
        assert_eq!(self.held().get(path).map(String::as_str), Some(text));
    }
}

#[test]
fn changes_come_in_by_themselves_when_it_is_quiet() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    let watching = place.watching(Options { debounce: Duration::from_millis(30), idle: None });
    watching.add(&place.source()).expect("the folder is there");
    place.until("it watches", || place.was_told("watching"));
    place.write("a.py", &function("second"));
    place.until("the edit is held", || place.held() == place.there());
    place.write("b/c.py", &function("third"));
    place.until("the new file is held", || place.held() == place.there());
    place.until("it is told", || place.was_told("b/c.py new"));
}

#[test]
fn a_folder_that_is_removed_is_watched_no_more() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    let watching = place.watching(Options { debounce: Duration::from_millis(30), idle: None });
    watching.add(&place.source()).expect("the folder is there");
    place.until("it watches", || place.was_told("watching"));
    let registry = Registry::new(&place.config().home);
    assert_eq!(registry.all().len(), 1);
    let (store, missing) = (registry.store(&place.sidecar().store), place.path().join("nowhere"));
    fs::remove_dir_all(place.source()).expect("it is ours");
    place.until("it ends", || watching.roots().is_empty());
    assert!(place.was_told("is gone; its index is kept"), "{:?}", place.told);
    assert!(registry.all().len() == 1 && store.dir().exists());
    let posts = fs::read_dir(place.config().home.join("watch")).expect("the folder stays");
    assert_eq!(posts.count(), 0, "nothing is kept for what is gone");
    assert!(matches!(watching.add(&missing), Err(Error::NoFolder(path)) if path == missing));
}

#[test]
fn what_keepers_left_goes_when_no_index_and_no_keeper_is_there() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    drop(place.watched());
    let (registry, posts) = (Registry::new(&place.config().home), place.config().home.join("watch"));
    let n_posts = || fs::read_dir(&posts).expect("the folder stays").count();
    fs::create_dir(posts.join("kept")).expect("it is new");
    let kept = fs::File::create(posts.join("kept/lock")).expect("there is room");
    kept.lock().expect("nobody has it");
    watch::sweep(&registry);
    assert_eq!(n_posts(), 2, "one has an index, the other a keeper");
    registry.remove(&place.sidecar().repo).expect("it is ours");
    watch::sweep(&registry);
    assert!(n_posts() == 1 && posts.join("kept").exists());
    drop(kept);
    watch::sweep(&registry);
    assert_eq!(n_posts(), 0);
}

#[test]
fn one_watches_and_another_takes_its_place() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    let first = place.watched();
    let second = place.watching(Options { debounce: NEVER, idle: None });
    second.add(&place.source()).expect("the folder is there");
    place.until("the second waits", || place.was_told("another process watches it already"));
    place.check("the first answers");
    drop(first);
    place.write("a.py", &function("second"));
    place.until("the second answers", || place.standing().is_some());
    place.check("the second");
    drop(second);
    assert_eq!(place.standing(), None, "nobody is there who could answer");
}

#[test]
fn a_watched_folder_that_is_left_alone_is_watched_no_more() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    let watching = place.watching(Options { debounce: NEVER, idle: Some(Duration::from_millis(200)) });
    watching.add(&place.source()).expect("the folder is there");
    place.until("it ends", || watching.roots().is_empty());
    assert!(place.was_told("idle for long"), "{:?}", place.told);
    assert_eq!(place.standing(), None);
}

#[test]
fn at_a_terminal_a_watched_folder_answers_with_the_last_edit() {
    let place = Watched::new();
    place.write("a.py", &function("first"));
    let mut command = place.command(&["watch", "--debounce", "3600000"]);
    let mut child = Running(command.stdout(Stdio::piped()).spawn().expect("the program is built"));
    place.until("it answers", || place.standing().is_some());
    for edit in 0..5 {
        place.write("a.py", &function(&format!("edit_{edit}")));
        assert_eq!(place.found(&["text", &format!("edit_{edit}")]), format!("a.py:1:def edit_{edit}():\n"));
    }
    place.write("sub/b.py", &function("elsewhere"));
    assert_eq!(place.found(&["text", "elsewhere"]), "sub/b.py:1:def elsewhere():\n");
    // A killed process leaves its socket behind. That keeps no other from looking.
    child.0.kill().expect("it runs");
    child.0.wait().expect("it is our child");
    place.write("a.py", &function("afterwards"));
    assert_eq!(place.found(&["text", "afterwards"]), "a.py:1:def afterwards():\n");
    let mut again = place.command(&["watch", "--debounce", "3600000"]);
    let _child = Running(again.stdout(Stdio::null()).spawn().expect("the program is built"));
    place.until("it answers again", || place.standing().is_some());
    place.write("a.py", &function("at_last"));
    place.check("a new watcher");
}

#[test]
fn an_editors_save_changes_one_file_and_no_folder() {
    let place = Watched::new();
    place.write("pkg/a.py", &function("first"));
    place.found(&["index", "."]);
    let (config, source) = (place.config(), place.source());
    let snapshot = Registry::new(&config.home).store(&place.sidecar().store).snapshot(&place.sidecar().snapshot);
    let snapshot = snapshot.expect("it is indexed");
    let mut left_out = LeftOut::default();
    let mut drift_of =
        |paths: &[&str]| pipeline::drift_of(&source, &snapshot, paths.iter().copied(), &mut left_out, &config);

    place.write("pkg/.a.py.swp", &function("saved"));
    fs::rename(source.join("pkg/.a.py.swp"), source.join("pkg/a.py")).expect("both are ours");
    let drift = drift_of(&["pkg/.a.py.swp", "pkg/a.py"]);
    assert_eq!(drift, Drift { changed: vec!["pkg/a.py".to_owned()], ..Drift::default() });
    // A new file may be one too many, and files that are left out have to be counted.
    place.write("pkg/b.py", &function("second"));
    assert!(drift_of(&["pkg/b.py"]).elsewhere);
    place.write(".env", "KEY=1\n");
    assert!(drift_of(&[".env"]).elsewhere);
    left_out.learn(&source, &snapshot, &config);
    let mut drift_of =
        |paths: &[&str]| pipeline::drift_of(&source, &snapshot, paths.iter().copied(), &mut left_out, &config);
    place.write(".env", "KEY=2\n");
    assert!(drift_of(&[".env"]).is_none(), "it is left out as it was");
    fs::remove_file(source.join(".env")).expect("it is ours");
    assert!(drift_of(&[".env"]).elsewhere, "it is counted no more");
}
