//! Indexes that are made once and opened elsewhere, through the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub mod bucket;
mod faults;
mod replica;

/// Runs git in `folder`, free of what the machine configures.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output();
    let output = output.expect("git is installed where tests run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Folders for sources, indexes and what goes between them.
struct World {
    folder: TempDir,
    /// Variables of the programs that run in it.
    environment: Vec<(&'static str, String)>,
}

impl World {
    /// A repository with two commits in `first`, of files old enough that their times are believed.
    fn new() -> Self {
        let world = Self { folder: TempDir::new().expect("there is room"), environment: Vec::new() };
        let first = world.at("first");
        fs::create_dir_all(first.join("shop")).expect("the folder is ours");
        git(&first, &["init", "-q", "-b", "main"]);
        fs::write(first.join("shop/gone.py"), "def sesame(): return 'mellon'\n").expect("it is ours");
        world.commit("first");
        fs::remove_file(first.join("shop/gone.py")).expect("it is ours");
        for at in 0..30 {
            let text =
                format!("from shop.m{} import f{}\n\n\ndef f{at}(x):\n    return f{}(x)\n", at / 2, at / 2, at / 2);
            fs::write(first.join(format!("shop/m{at}.py")), text).expect("it is ours");
        }
        world.commit("first");
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join(name)
    }

    fn commit(&self, folder: &str) {
        git(&self.at(folder), &["add", "-A"]);
        git(&self.at(folder), &["commit", "-q", "-m", "more"]);
    }

    /// The program in a folder with an index directory.
    fn command(&self, folder: &str, index: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(arguments).current_dir(self.at(folder)).stdin(Stdio::null());
        command.env("CODELODE_INDEX_PATH", self.at(index)).env("HOME", self.at("home"));
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run(&self, folder: &str, index: &str, arguments: &[&str]) -> Output {
        self.command(folder, index, arguments).output().expect("the binary is there")
    }

    fn succeed(&self, folder: &str, index: &str, arguments: &[&str]) -> (String, String) {
        let Output { status, stdout, stderr } = self.run(folder, index, arguments);
        let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{arguments:?}: {out}{err}");
        (out.into_owned(), err.into_owned())
    }

    /// Answers about a folder, without their notes.
    fn answers(&self, folder: &str, index: &str) -> Vec<Value> {
        let questions: [&[&str]; 5] = [
            &["search", "f3", "--json"],
            &["call", "search_text", r#"{"query": "return"}"#, "--json"],
            &["calls", "f1", "--json"],
            &["importers", "shop/m3.py", "--json"],
            &["overview", "--json"],
        ];
        let answer = |question: &&[&str]| {
            let output = self.run(folder, index, question);
            let mut value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|err| {
                panic!("{question:?}: {err}: {}", String::from_utf8_lossy(&output.stderr));
            });
            if let Some(object) = value.as_object_mut() {
                object.retain(|key, _| !["_meta", "repo", "indexed_at", "git_head"].contains(&&**key));
            }
            value
        };
        questions.iter().map(answer).collect()
    }
}

#[test]
fn a_clone_opens_a_packed_index_and_reads_only_what_differs() {
    let world = World::new();
    // An index that has seen more than the last commit.
    world.succeed("first", "index1", &["index", "."]);
    fs::write(world.at("first/shop/draft.py"), "def draft(): return 'never to be shown'\n").expect("it is ours");
    world.succeed("first", "index1", &["index", "."]);
    fs::remove_file(world.at("first/shop/draft.py")).expect("it is ours");
    world.succeed("first", "index1", &["calls", "f1"]);
    let archive = world.at("shop.tar.zst");
    let archive = archive.to_str().expect("it is text");
    let (out, _) = world.succeed("first", "index1", &["pack", archive, "--json"]);
    let packed: Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!(packed["repo"], "local/first");
    assert_eq!(packed["file_count"], 30);
    assert_eq!(packed["tree"], git(&world.at("first"), &["rev-parse", "HEAD^{tree}"]));

    git(world.folder.path(), &["clone", "-q", "first", "deep/second"]);
    std::thread::sleep(std::time::Duration::from_millis(60));
    let (_, err) = world.succeed("deep/second", "index2", &["index", "--from", archive]);
    assert!(err.contains("taken: local/first with 30 files; 0 differ here, 0 are gone"), "{err}");
    world.succeed("deep/second", "index3", &["index", "."]);
    assert_eq!(world.answers("deep/second", "index2"), world.answers("deep/second", "index3"));

    // No text of another time, and no path of another place.
    let bytes = all_bytes(&world.at("index2"));
    for word in ["never to be shown", "draft", world.at("first").to_str().expect("it is text")] {
        assert!(memchr::memmem::find(&bytes, word.as_bytes()).is_none(), "{word} is there");
    }
    assert!(memchr::memmem::find(&bytes, b"return f14(x)").is_some(), "there is something to find");

    // A clone with edits pays for these.
    git(world.folder.path(), &["clone", "-q", "first", "third"]);
    fs::write(world.at("third/shop/m3.py"), "def f3(x, y): return x\n").expect("it is ours");
    fs::write(world.at("third/shop/new.py"), "def new(): pass\n").expect("it is ours");
    fs::remove_file(world.at("third/shop/m29.py")).expect("it is ours");
    std::thread::sleep(std::time::Duration::from_millis(60));
    let (_, err) = world.succeed("third", "index4", &["index", "--from", archive]);
    assert!(err.contains("2 differ here, 1 are gone"), "{err}");
    world.succeed("third", "index5", &["index", "."]);
    assert_eq!(world.answers("third", "index4"), world.answers("third", "index5"));

    // An index that is there is kept.
    let (_, err) = world.succeed("third", "index4", &["index", "--from", archive]);
    assert!(err.contains("has an index already"), "{err}");
}

#[test]
fn a_folder_without_git_opens_a_packed_index_by_contents() {
    let world = World::new();
    fs::remove_dir_all(world.at("first/.git")).expect("it is ours");
    super::copy(&world.at("first"), &world.at("second"));
    let archive = world.at("shop.tar.zst");
    let archive = archive.to_str().expect("it is text");
    let (out, _) = world.succeed("first", "index1", &["pack", archive, "--name", "our/shop"]);
    assert!(out.starts_with("our/shop: 30 files"), "{out}");
    let (_, err) = world.succeed("second", "index2", &["index", "--from", archive]);
    assert!(err.contains("taken: our/shop with 30 files; 0 differ here, 0 are gone"), "{err}");
    world.succeed("second", "index3", &["index", "."]);
    assert_eq!(world.answers("second", "index2"), world.answers("second", "index3"));
}

#[test]
fn files_that_are_no_index_are_refused_with_a_reason() {
    let world = World::new();
    fs::write(world.at("text"), "no archive").expect("it is ours");
    for (file, reason) in [("text", "is damaged"), ("none", "cannot open")] {
        let file = world.at(file);
        let output = world.run("first", "index", &["index", "--from", file.to_str().expect("it is text")]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(reason), "{err}");
        assert!(!world.at("index/codelode/repos").exists(), "something was indexed");
    }
    let output = world.run("first", "index", &["pack", "x.tar.zst", "--name", "../x"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_shared_folder_serves_clones_by_their_trees() {
    let world = World::new();
    let shared = world.at("shared");
    let shared = shared.to_str().expect("it is text");
    let from = format!("file://{shared}");
    git(world.folder.path(), &["clone", "-q", "first", "second"]);
    std::thread::sleep(std::time::Duration::from_millis(60));
    let (_, err) = world.succeed("second", "index0", &["index", "--from", &from, "--name", "our/shop"]);
    assert!(err.contains("has no index of it"), "{err}");
    let push = ["push", shared, "--name", "our/shop", "--key", "tree-sha", "--json"];
    let (out, _) = world.succeed("first", "index1", &push);
    let pushed: Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!((&pushed["up_to_date"], &pushed["objects_held"]), (&Value::from(false), &Value::from(0)));
    let (out, _) = world.succeed("first", "index1", &push);
    let pushed: Value = serde_json::from_str(&out).expect("it is JSON");
    assert_eq!((&pushed["up_to_date"], &pushed["objects_sent"]), (&Value::from(true), &Value::from(0)));

    let (_, err) = world.succeed("second", "index2", &["index", "--from", &from, "--name", "our/shop"]);
    assert!(err.contains("taken: our/shop with 30 files; 0 differ here, 0 are gone"), "{err}");
    world.succeed("second", "index3", &["index", "."]);
    assert_eq!(world.answers("second", "index2"), world.answers("second", "index3"));

    // Uncommitted files have no tree.
    fs::write(world.at("first/shop/m3.py"), "def f3(x, y): return x\n").expect("it is ours");
    let refused = world.run("first", "index1", &push);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    world.succeed("first", "index1", &["push", shared, "--name", "our/shop"]);
    // A folder that has an index replaces it.
    let (_, err) = world.succeed("second", "index2", &["pull", shared, "--name", "our/shop", "--key", "latest"]);
    assert!(err.contains("taken: our/shop with 30 files; 1 differ here, 0 are gone"), "{err}");
    assert_eq!(world.answers("second", "index2"), world.answers("second", "index3"));
}

#[test]
fn index_with_push_does_nothing_where_the_state_is_published() {
    let world = World::new();
    let shared = world.at("shared").to_str().expect("it is text").to_owned();
    let first = world.at("first").to_str().expect("it is text").to_owned();
    let folder = ["index", ".", "--push", &shared, "--push-key", "tree-sha", "--name", "our/shop", "--json"];
    let elsewhere = ["index-repo", &first, "--push", &shared, "--name", "our/copy", "--json"];
    let run = |arguments: &[&str], index: &str| -> (bool, bool) {
        let (out, _) = world.succeed("first", index, arguments);
        let answer: Value = serde_json::from_str(out.lines().last().expect("it answers")).expect("it is JSON");
        (answer["up_to_date"].as_bool().expect("it says so"), world.at(index).join("codelode/stores").exists())
    };
    for (arguments, name) in [(&folder[..], "folder"), (&elsewhere[..], "elsewhere")] {
        assert_eq!(run(arguments, &format!("{name}1")), (false, true), "{name}");
        // Again by the same machine, and by one that has nothing.
        assert!(run(arguments, &format!("{name}1")).0, "{name}");
        assert_eq!(run(arguments, &format!("{name}2")), (true, false), "{name} is not indexed again");
    }
    fs::write(world.at("first/shop/m3.py"), "def f3(x, y): return x\n").expect("it is ours");
    world.commit("first");
    for (arguments, name) in [(&folder[..], "folder"), (&elsewhere[..], "elsewhere")] {
        assert!(!run(arguments, &format!("{name}2")).0, "{name}: there is a newer commit");
        assert!(run(arguments, &format!("{name}1")).0, "{name}: and now it is published");
    }
}

#[test]
fn a_push_that_is_killed_leaves_nothing_half() {
    let world = World::new();
    let shared = world.at("shared");
    pushes_are_killed(&world, shared.to_str().expect("it is text"), 20);
}

/// Kills pushes of edits, at a time of each one's own: what is taken from the place is always whole.
fn pushes_are_killed(world: &World, place: &str, rounds: u64) {
    world.succeed("first", "index1", &["push", place, "--name", "our/shop"]);
    git(world.folder.path(), &["clone", "-q", "first", "second"]);
    for round in 0..rounds {
        let text = format!("def f3(x):\n    return {round}\n");
        fs::write(world.at("first/shop/m3.py"), text).expect("it is ours");
        let mut command = world.command("first", "index1", &["push", place, "--name", "our/shop"]);
        let mut pushing = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary is there");
        std::thread::sleep(std::time::Duration::from_millis(round * 13 % 170));
        // It may have ended.
        let _ = pushing.kill();
        pushing.wait().expect("it was started");
        let index = format!("index-{round}");
        let (_, err) = world.succeed("second", &index, &["index", "--from", place, "--name", "our/shop"]);
        assert!(err.contains("taken: our/shop with 30 files"), "{err}");
        fs::remove_dir_all(world.at(&index)).expect("it is ours");
    }
    world.succeed("first", "index1", &["push", place, "--name", "our/shop"]);
    world.succeed("second", "index2", &["pull", place, "--name", "our/shop"]);
    world.succeed("second", "index3", &["index", "."]);
    assert_eq!(world.answers("second", "index2"), world.answers("second", "index3"));
}

/// The bytes of all files below a folder.
fn all_bytes(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).expect("it is there").flatten() {
        match entry.path().is_dir() {
            true => bytes.extend(all_bytes(&entry.path())),
            false => bytes.extend(fs::read(entry.path()).expect("it is ours")),
        }
    }
    bytes
}
