//! Repositories elsewhere, through the binary: indexed ref by ref, searched without an index, and whatever goes wrong.

#[allow(dead_code, reason = "the library's own tests use the rest")]
#[path = "../../crates/net/src/test_server.rs"]
mod test_server;

use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::client::PATIENCE;
use crate::place::{Place, Ran, git};
use test_server::{Behaviour, ReceivedRequest, TestServer, git_backend};

/// A repository with a commit, and a folder for indexes.
struct Origin {
    place: Place,
}

impl Origin {
    fn new(files: &[(&str, &str)]) -> Self {
        let origin = Self { place: Place::new() };
        origin.place.git(&["init", "-q", "-b", "main"]);
        origin.commit(files);
        origin
    }

    fn root(&self) -> PathBuf {
        self.place.source()
    }

    fn commit(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            self.place.write(path, text);
        }
        self.place.commit("more");
    }

    /// The program, to be run outside of the repository.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        command.arg("--json").current_dir(self.place.path()).env("CODELODE_TRUSTED_HOSTS", "127.0.0.1");
        command
    }

    /// The answer of a command.
    fn run(&self, arguments: &[&str]) -> Value {
        Ran::of(&mut self.command(arguments)).json()
    }
}

#[test]
fn refs_of_a_repository_are_snapshots_of_one_store() {
    let world = Origin::new(&[("a.py", "def first(): pass\n"), ("b.py", "def same(): pass\n")]);
    git(&world.root(), &["tag", "v1"]);
    world.commit(&[("a.py", "def second(): pass\n")]);
    let url = format!("file://{}", world.root().display());

    let main = world.run(&["index-repo", &url]);
    assert_eq!((&main["file_count"], &main["up_to_date"]), (&Value::from(2), &Value::from(false)));
    assert_eq!(main["git_head"], git(&world.root(), &["rev-parse", "HEAD"]));
    assert_eq!(main["tree"], git(&world.root(), &["rev-parse", "HEAD^{tree}"]));
    assert_eq!(world.run(&["index-repo", &url])["up_to_date"], true);

    let old = world.run(&["index-repo", &url, "v1"]);
    let (main, old) = (main["repo"].as_str().expect("an id"), old["repo"].as_str().expect("an id"));
    assert_eq!(old, format!("{main}@v1"));
    let stores = world.place.home().join("stores");
    assert_eq!(stores.read_dir().expect("it is there").count(), 1);
    let names = |repo: &str, query: &str| world.run(&["search", query, "--repo", repo])["results"].to_string();
    assert!(names(main, "second").contains("second") && !names(main, "first").contains("\"first\""));
    assert!(names(old, "first").contains("first") && !names(old, "second").contains("\"second\""));
    assert_eq!(world.run(&["file", "a.py", "--repo", old])["content"], "def first(): pass\n");

    // A file that a branch gains is in its index.
    world.commit(&[("c.py", "def third(): pass\n")]);
    let newer = world.run(&["index-repo", &url]);
    let counts = ["files_added", "files_changed", "files_removed"].map(|key| newer[key].as_u64().expect("a count"));
    assert_eq!((counts, &newer["up_to_date"]), ([1, 0, 0], &Value::from(false)));
    assert_eq!(world.run(&["doctor"])["findings"], serde_json::json!([]), "that there is no folder is not a fault");
}

#[test]
fn a_damaged_index_says_how_it_is_made_anew() {
    let world = Origin::new(&[("a.py", "def first(): pass\n")]);
    git(&world.root(), &["tag", "v1"]);
    let url = format!("file://{}", world.root().display());
    let main = world.run(&["index-repo", &url])["repo"].as_str().expect("an id").to_owned();
    let old = world.run(&["index-repo", &url, "v1"])["repo"].as_str().expect("an id").to_owned();
    let stores = world.place.home().join("stores");
    let store = stores.read_dir().expect("it is there").next().expect("there is one").expect("it can be read").path();
    std::fs::write(store.join("manifest.json"), "{").expect("it is ours");

    for (repo, anew) in
        [(&main, format!("{url} --no-incremental")), (&old, format!("{url} refs/tags/v1 --no-incremental"))]
    {
        let refused = world.run(&["search", "first", "--repo", repo]);
        let rebuild = refused["details"]["rebuild"].as_str().unwrap_or_else(|| panic!("{refused}"));
        assert_eq!(rebuild, format!("codelode index-repo {anew}"));
        let arguments: Vec<&str> = rebuild.split(' ').skip(1).collect();
        assert_eq!(world.run(&arguments)["success"], true);
        assert!(world.run(&["search", "first", "--repo", repo])["results"].to_string().contains("first"));
        std::fs::write(store.join("manifest.json"), "{").expect("it is ours");
    }
}

#[test]
fn what_a_commit_does_not_hold_as_text_is_counted_and_named() {
    let world = Origin::new(&[
        ("kept.py", "x = 1\n"),
        ("lost.py", "y = 2\n"),
        (".gitignore", "tracked.py\n"),
        (".ignore", "ignored.py\n"),
        (".env", "SECRET=1\n"),
        ("go.mod", "module x\n"),
        ("vendor/v.go", "package v\n"),
    ]);
    std::os::unix::fs::symlink("kept.py", world.root().join("link.py")).expect("links can be made");
    std::fs::write(world.root().join("binary.py"), b"a\0b").expect("files can be written");
    std::fs::write(world.root().join("ignored.py"), "z = 3\n").expect("files can be written");
    std::fs::write(world.root().join("tracked.py"), "z = 4\n").expect("files can be written");
    git(&world.root(), &["add", "-f", "ignored.py", "tracked.py", "."]);
    let commit = git(&world.root(), &["rev-parse", "HEAD"]);
    git(&world.root(), &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    git(&world.root(), &["commit", "-q", "-m", "all sorts"]);
    let blob = git(&world.root(), &["rev-parse", "HEAD:lost.py"]);
    std::fs::remove_file(world.root().join(".git/objects").join(&blob[..2]).join(&blob[2..])).expect("it is loose");

    let root = world.root();
    let url = root.to_str().expect("a plain path");
    let indexed = world.run(&["index-repo", url]);
    let expected = serde_json::json!({
        "binary": 1, "ignored": 1, "missing": 1, "secret": 1, "submodule": 1, "symlink": 1, "vendored": 1,
    });
    assert_eq!(indexed["skipped"], expected);
    assert!(indexed["warnings"].to_string().contains("lost.py"), "{}", indexed["warnings"]);

    let found = world.run(&["grep", url, "= [0-9]"]);
    let paths: Vec<&str> =
        found["matches"].as_array().expect("a list").iter().filter_map(|file| file["path"].as_str()).collect();
    assert_eq!(paths, ["ignored.py", "kept.py", "tracked.py"]);
    let left_out = serde_json::json!({"binary": 1, "secret": 1, "submodule": 1, "symlink": 1, "unreadable": 1});
    assert_eq!(found["stats"]["left_out"], left_out);
    assert!(found["warnings"].to_string().contains("lost.py"));
}

#[test]
fn a_link_is_followed_within_its_commit() {
    let world = Origin::new(&[("src/a.py", "x = 1\n")]);
    for (link, target) in [
        ("link.py", "src/a.py"),
        ("src/again.py", "../link.py"),
        ("out", "../../../../../../etc/passwd"),
        ("etc", "/etc/passwd"),
        ("round", "round"),
    ] {
        std::os::unix::fs::symlink(target, world.root().join(link)).expect("links can be made");
    }
    world.commit(&[]);
    let url = format!("file://{}", world.root().display());
    let file = |path: &str| world.run(&["file", path, "--repo", &url]);
    for link in ["link.py", "src/again.py"] {
        let found = file(link);
        assert_eq!((&found["content"], &found["_meta"]["link_to"]), (&"x = 1\n".into(), &"src/a.py".into()), "{found}");
    }
    for link in ["out", "etc", "round"] {
        let refused = file(link);
        assert_eq!(refused["code"], "not_found", "{refused}");
        assert!(refused["error"].as_str().is_some_and(|text| text.contains("is a link")), "{refused}");
    }
}

#[test]
fn a_repository_is_searched_as_it_was_asked() {
    let world = Origin::new(&[
        ("src/a.rs", "fn one() {}\nfn Two() {}\nlet one = one();\n"),
        ("src/b.py", "one\n"),
        ("target/c.rs", "one\n"),
        ("docs/one.md", "nothing\n"),
    ]);
    let root = world.root();
    let url = root.to_str().expect("a plain path");
    let found = |more: &[&str]| -> String {
        let answer = world.run(&[&["grep", url], more].concat());
        let files = answer["matches"].as_array().expect("a list").clone();
        let lines = |file: &Value| -> Vec<String> {
            let path = file["path"].as_str().expect("a path");
            let each = file["line_matches"].as_array().expect("a list");
            each.iter().map(|line| format!("{path}:{} {}", line["line_number"], line["ranges"])).collect()
        };
        format!(
            "{} of {}",
            files.iter().flat_map(lines).collect::<Vec<_>>().join(", "),
            answer["stats"]["total_matches"]
        )
    };
    let all = "src/a.rs:1 [[3,3]], src/a.rs:3 [[4,3],[10,3]], src/b.py:1 [[0,3]], target/c.rs:1 [[0,3]] of 4";
    assert_eq!(found(&["one"]), all);
    assert_eq!(found(&["ONE"]), all);
    assert_eq!(found(&["ONE", "--case-sensitive"]), " of 0");
    assert_eq!(found(&["one()", "--no-use-regex"]), "src/a.rs:1 [[3,5]], src/a.rs:3 [[10,5]] of 2");
    assert_eq!(found(&["one", "--file-extensions", "py"]), "src/b.py:1 [[0,3]] of 1");
    assert_eq!(found(&["one", "--exclude-dirs", "src"]), "target/c.rs:1 [[0,3]] of 1");
    assert_eq!(found(&["one", "--include-globs", "src/*.rs", "--take", "1"]), "src/a.rs:1 [[3,3]] of 2");
    assert_eq!(found(&["one", "--skip", "1", "--take", "2"]), "src/a.rs:3 [[4,3],[10,3]], src/b.py:1 [[0,3]] of 4");
    assert_eq!(world.run(&["grep", url, "one", "--ref-name", "nowhere"])["code"], "not_found");
    assert_eq!(world.run(&["grep", url, "one("])["code"], "invalid_arguments");
}

#[test]
fn a_run_that_was_killed_in_the_middle_costs_nothing_later() {
    let world = Origin::new(&[("a.py", "x = 1\n")]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let url = format!("git://127.0.0.1:{port}/.git");
    let mut child = world.command(&["grep", &url, "x"]).stdout(Stdio::null()).spawn().expect("the binary is there");
    let (mut stream, _) = listener.accept().expect("it connects");
    // It has said what it wants and waits for ever.
    stream.read_exact(&mut [0; 4]).expect("it says so");
    child.kill().and_then(|()| child.wait()).expect("it is a child of ours");
    drop((stream, listener));

    let daemon = Path::new(&git(&world.root(), &["--exec-path"])).join("git-daemon");
    let mut daemon = Command::new(daemon)
        .args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"])
        .arg(format!("--port={port}"))
        .arg(format!("--base-path={}", world.root().display()))
        .stderr(Stdio::null())
        .spawn()
        .expect("git is installed where tests run");
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < PATIENCE, "the daemon does not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    let found = world.run(&["grep", &url, "x"]);
    daemon.kill().and_then(|()| daemon.wait()).expect("it is a child of ours");
    assert_eq!(found["stats"]["total_matches"], 1, "{found}");
}

fn is_fetch(asked: &ReceivedRequest) -> bool {
    asked.method == "POST" && String::from_utf8_lossy(&asked.body).contains("command=fetch")
}

/// Text that does not pack, so that a server has something to send.
fn noise(bytes: usize, mut seed: u64) -> String {
    let mut text = String::with_capacity(bytes);
    while text.len() < bytes {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Six bits a letter, and a line's end now and then.
        text.push(if seed >> 58 == 0 { '\n' } else { char::from(b'!' + (seed >> 57) as u8 % 90) });
    }
    text
}

/// Every file below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn a_clone_and_an_update_that_are_killed_in_the_middle_of_a_pack_cost_nothing_later() {
    // Of a single object nothing is kept before all of it is there.
    let noises = |seed: u64| -> Vec<(String, String)> {
        (0..16).map(|n| (format!("noise/{n}"), noise(1 << 16, 100 * seed + n))).collect()
    };
    let commit = |world: &Origin, seed: u64| {
        let files = noises(seed);
        world.commit(&files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect::<Vec<_>>());
    };
    let world = Origin::new(&[("a.py", "x = 1\n")]);
    commit(&world, 1);
    let stalls = Arc::new(AtomicBool::new(true));
    let (root, now) = (world.root(), stalls.clone());
    let test_server = TestServer::http(move |asked| {
        let reply = git_backend(&root, asked);
        let stalled = is_fetch(asked) && now.load(Ordering::SeqCst);
        if stalled { reply.with_behaviour(Behaviour::Stalls) } else { reply }
    });
    let url = format!("http://127.0.0.1:{}/.git", test_server.address.port());
    let clones = world.place.home().join("git");
    // Objects that are being received lie beside the known ones.
    let half = || {
        let halves = files_below(&clones).into_iter().filter(|path| path.to_string_lossy().contains("/objects/pack/"));
        halves
            .filter(|path| path.extension().is_none_or(|ending| ending != "pack" && ending != "idx"))
            .collect::<Vec<_>>()
    };
    let large = |paths: &[PathBuf]| paths.iter().any(|path| path.metadata().is_ok_and(|facts| facts.len() > 100_000));
    for round in 0..2 {
        stalls.store(true, Ordering::SeqCst);
        let mut child =
            world.command(&["index-repo", &url]).stdout(Stdio::null()).spawn().expect("the binary is there");
        let begun = Instant::now();
        while !large(&half()) {
            assert!(begun.elapsed() < PATIENCE, "round {round}: no half of a pack comes");
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill().and_then(|()| child.wait()).expect("it is a child of ours");
        assert!(large(&half()), "round {round}: half a pack is on the disk");
        stalls.store(false, Ordering::SeqCst);
        let indexed = world.run(&["index-repo", &url]);
        assert_eq!(
            (&indexed["success"], &indexed["file_count"]),
            (&Value::from(true), &Value::from(17 + round)),
            "{indexed}"
        );
        assert_eq!(half(), Vec::<PathBuf>::new());
        assert_eq!(files_below(&clones.join("aside")), Vec::<PathBuf>::new());
        world.commit(&[("more.py", &format!("y = {round}\n"))]);
        commit(&world, 2 + round);
    }
}

#[test]
fn a_process_can_keep_its_clones_to_itself() {
    let world = Origin::new(&[("a.py", "x = 1\n")]);
    let root = world.root();
    let test_server = TestServer::http(move |asked| git_backend(&root, asked));
    let url = format!("http://127.0.0.1:{}/.git", test_server.address.port());
    let clones = world.place.home().join("git");
    for fetches in 1..=2 {
        let found = world.run(&["grep", &url, "x", "--cache-mode", "process"]);
        assert_eq!(found["stats"]["total_matches"], 1, "{found}");
        assert_eq!(test_server.asked().iter().filter(|asked| is_fetch(asked)).count(), fetches);
        assert_eq!(files_below(&clones), Vec::<PathBuf>::new(), "they went with it");
    }
    // Leftovers of a killed process go, however many keep to themselves; those of a living one stay.
    let processes = clones.join("processes");
    let left = |name: &str| {
        std::fs::create_dir_all(processes.join(name)).expect("folders can be made");
        std::fs::write(processes.join(name).join("x"), "x").expect("files can be written");
        let lock = std::fs::File::create(processes.join(format!("{name}.lock"))).expect("files can be made");
        let long_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
        lock.set_modified(long_ago).expect("it is ours");
        lock
    };
    drop(left("1-a"));
    let lives = left("2-b");
    lives.lock().expect("nobody else has it");
    world.run(&["grep", &url, "x", "--cache-mode", "process"]);
    let mut kept = files_below(&processes);
    kept.sort();
    assert_eq!(kept, [processes.join("2-b/x"), processes.join("2-b.lock")]);
    let shared = world.run(&["grep", &url, "x", "--cache-mode", "shared"]);
    assert!(shared["_meta"]["fetched_bytes"].as_u64() > Some(0), "{shared}");
    assert_eq!(world.run(&["grep", &url, "x"])["_meta"].get("fetched_bytes"), None);
    assert!(!world.command(&["grep", &url, "x", "--cache-mode", "nobody"]).output().expect("it runs").status.success());
}

/// Output of a script that has a disk of its own in the place of a folder, which only it sees and which goes with it; `None` where
/// the system does not let us. The script has `$home`, the folder, and `$program`.
fn on_a_disk(
    options: &str,
    home: &Path,
    script: &str,
    arguments: impl Iterator<Item = String>,
) -> Option<std::process::Output> {
    let script = format!("mount -t tmpfs -o {options} tmpfs \"$1\" || exit 99; home=$1 program=$2; shift 2\n{script}");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", &script, "sh"]).arg(home);
    command.arg(env!("CARGO_BIN_EXE_codelode")).args(arguments);
    command.env("CODELODE_INDEX_PATH", home).env("CODELODE_TRUSTED_HOSTS", "127.0.0.1");
    match command.output() {
        Ok(output) if output.status.code() != Some(99) && !output.stdout.is_empty() => Some(output),
        other => {
            crate::client::skipped(&format!("a disk cannot be mounted here: {other:?}"));
            None
        }
    }
}

#[test]
fn an_index_directory_that_is_only_read_is_no_hindrance() {
    let world = Origin::new(&[("a.py", "x = 1\n")]);
    let root = world.root();
    let test_server = TestServer::http(move |asked| git_backend(&root, asked));
    let url = format!("http://127.0.0.1:{}/.git", test_server.address.port());
    let aside = TempDir::new().expect("room");
    let script = "TMPDIR=$2 \"$program\" grep \"$1\" 'x = 1' --json </dev/null; find \"$home\" \"$2\" -mindepth 1";
    let arguments = [url, aside.path().to_str().expect("a plain path").to_owned()];
    let home = TempDir::new().expect("room");
    let Some(output) = on_a_disk("ro", home.path(), script, arguments.into_iter()) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    let (answer, left) = text.split_once('\n').expect("it answers");
    let answer: Value = serde_json::from_str(answer).expect("in JSON");
    assert_eq!(answer["stats"]["total_matches"], 1, "{answer}");
    assert_eq!(left, "", "what was kept aside is gone");
}

#[test]
fn a_full_disk_is_made_room_on_and_says_what_is_missing() {
    let sizes = [2 << 20, 2 << 20, 3 << 20, 12 << 20];
    let origins: Vec<Origin> =
        sizes.iter().zip(1..).map(|(size, seed)| Origin::new(&[("noise", &noise(*size, seed))])).collect();
    let roots: Vec<PathBuf> = origins.iter().map(|world| world.root()).collect();
    let test_server = TestServer::http(move |asked| {
        let place =
            asked.path.strip_prefix("/").and_then(|path| path.split('/').next()).and_then(|place| place.parse().ok());
        let root: &PathBuf = &roots[place.unwrap_or(0_usize)];
        let path = asked.path.splitn(3, '/').nth(2).map_or_else(String::new, |rest| format!("/{rest}"));
        git_backend(root, &ReceivedRequest { path, ..asked.clone() })
    });
    let home = TempDir::new().expect("room");
    let urls = (0..sizes.len()).map(|place| format!("http://127.0.0.1:{}/{place}/.git", test_server.address.port()));
    let script =
        "for url; do \"$program\" tree --repo \"$url\" --json </dev/null; done; find \"$home\" -path '*/aside/*'";
    let Some(output) = on_a_disk("size=5m", home.path(), script, urls) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = text.lines();
    let mut answer = || -> Value { serde_json::from_str(lines.next().expect("each answers")).expect("in JSON") };
    // The first two leave no room for the third, which is worth more than what nobody uses.
    for place in 0..3 {
        let answer = answer();
        assert_eq!(answer["tree"][0]["path"], "noise", "{place}: {answer}");
    }
    let full = answer();
    assert_eq!(full["code"], "unavailable", "{full}");
    let message = full["error"].as_str().expect("an error says what is wrong");
    assert!(
        message.starts_with("no space left in ") && message.contains("were fetched before it was full"),
        "{message}"
    );
    assert_eq!(lines.next(), None, "nothing of it is left");
}

#[test]
fn credentials_in_a_commit_are_shown_to_nobody_who_did_not_ask_for_them() {
    let world = Origin::new(&[
        ("a.py", "def first(): pass  # MARK\n"),
        (".env", "TOKEN=MARK\n"),
        ("keys/id_rsa", "MARK\n"),
        ("keys/.ssh/config", "MARK\n"),
        (".env.js", "function marked() { return 'MARK' }\n"),
    ]);
    std::os::unix::fs::symlink(".env", world.root().join("link.txt")).expect("a link can be made");
    world.commit(&[(".env.js", "function marked() { return 'MARK 2' }\n"), ("a.py", "def second(): pass  # MARK\n")]);
    let url = format!("file://{}", world.root().display());
    let root = world.root();
    let root = root.to_str().expect("a path of ours");

    for repository in [url.as_str(), root] {
        let found = world.run(&["grep", repository, "MARK"]);
        assert_eq!((&found["stats"]["total_matches"], &found["stats"]["left_out"]["secret"]), (&1.into(), &4.into()));
        let allowed = world.run(&["grep", repository, "MARK", "--allow-secrets", ".env", "--allow-secrets", "keys/"]);
        assert_eq!(
            (&allowed["stats"]["total_matches"], &allowed["stats"]["left_out"]["secret"]),
            (&4.into(), &1.into())
        );
    }
    for path in [".env", "keys/.ssh/config", "link.txt"] {
        let refused = world.run(&["file", path, "--repo", &url]);
        assert!(refused["error"].as_str().is_some_and(|text| text.contains("--allow-secrets")), "{refused}");
    }
    assert_eq!(world.run(&["file", "link.txt", "--repo", &url, "--allow-secrets", ".env"])["content"], "TOKEN=MARK\n");
    let tree = world.run(&["tree", "--repo", &url]);
    assert_eq!(tree["_meta"]["secret_files_left_out"], 4);
    assert!(!tree["tree"].to_string().contains("env"), "{tree}");

    // An index of a folder, and what its history says.
    let folder = &world.place.path().join("folder");
    git(&world.place.path(), &["clone", "-q", root, "folder"]);
    std::fs::copy(world.root().join(".env"), folder.join(".env")).expect("there is room");
    let root = folder.to_str().expect("a path of ours");
    let changed = |allowed: &[&str]| {
        let arguments = [&["changed", "HEAD~1", "HEAD", "--repo", root], allowed].concat();
        world.run(&arguments)
    };
    world.run(&["index", root]);
    assert!(!changed(&[]).to_string().contains("marked"));
    assert_eq!(changed(&[])["_meta"]["secret_files_left_out"], 1);
    assert!(changed(&["--allow-secrets", ".env.js"]).to_string().contains("marked"));
    let asked = serde_json::json!({"query": "TOKEN", "repo": root}).to_string();
    let text = |allowed: &[&str]| world.run(&[&["call", "search_text", &asked], allowed].concat());
    assert!(text(&["--allow-secrets", ".env"]).to_string().contains("TOKEN=MARK"));
    assert!(!text(&[]).to_string().contains("TOKEN=MARK"), "what one process allowed does not stay allowed");
}
