//! Fleets of workers, through the binary: a queue on NATS servers, repositories in folders, indexes in a shared folder or a
//! bucket.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ring::hmac;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{PATIENCE, signal};
use crate::ship::git;
use crate::web::Site;

mod killed;
mod nodes;
mod servers;

use servers::{Servers, parsed};

/// Repositories, a place for indexes, and servers with a queue.
struct World {
    folder: TempDir,
    servers: Servers,
    /// The place.
    to: String,
    /// Variables of the programs that run in it.
    environment: Vec<(&'static str, String)>,
}

impl World {
    /// So many NATS servers; `None` where they are not installed.
    fn new(n_servers: usize) -> Option<Self> {
        let servers = Servers::start(n_servers)?;
        let folder = TempDir::new().expect("there is room");
        let to = folder.path().join("place").to_str().expect("text").to_owned();
        Some(Self { folder, servers, to, environment: Vec::new() })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join(name)
    }

    /// Makes repositories of a few files.
    fn repositories(&self, n: usize) -> Vec<String> {
        let names: Vec<String> = (0..n).map(|at| format!("shop{at}")).collect();
        for name in &names {
            let root = self.at(name);
            fs::create_dir_all(&root).expect("the folder is ours");
            git(&root, &["init", "-q", "-b", "main"]);
            for file in 0..4 {
                self.write(name, &format!("m{file}.py"), &format!("def of_{name}_{file}(x):\n    return x + {file}\n"));
            }
            self.commit(name);
        }
        names
    }

    fn write(&self, repo: &str, file: &str, text: &str) {
        fs::write(self.at(repo).join(file), text).expect("the folder is ours");
    }

    fn commit(&self, repo: &str) {
        git(&self.at(repo), &["add", "-A"]);
        git(&self.at(repo), &["commit", "-q", "-m", "more"]);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_codelode"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null()).env("HOME", self.at("home"));
        command.env("CODELODE_INDEX_PATH", self.at("index")).env("CODELODE_NATS", self.servers.urls());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary is there")
    }

    fn answer(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let out = String::from_utf8_lossy(&output.stdout);
        assert!(!out.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        parsed(out.trim())
    }

    /// How many of these repositories have which state after they were submitted.
    fn submit(&self, repos: &[&str]) -> BTreeMap<String, u64> {
        let paths: Vec<String> = repos.iter().map(|repo| self.at(repo).to_str().expect("text").to_owned()).collect();
        let paths = paths.iter().map(String::as_str);
        let arguments: Vec<&str> = ["fleet", "index", "--to", &self.to].into_iter().chain(paths).collect();
        serde_json::from_value(self.answer(&arguments)["counts"].clone()).expect("they are numbers")
    }

    fn worker(&self, name: &str, flags: &[&str]) -> Command {
        let cache = self.at(&format!("cache-{name}"));
        let own = ["fleet", "work", "--to", &self.to, "--pause", "1s", "--json", "--cache-dir"];
        let silence: &[&str] = if flags.contains(&"--silence") { &[] } else { &["--silence", "2s"] };
        self.command(&[&own[..], &[cache.to_str().expect("text")], silence, flags].concat())
    }

    /// Starts a worker that ends when no job is left.
    fn start(&self, name: &str, flags: &[&str]) -> Child {
        let mut command = self.worker(name, &[flags, &["--until-empty"]].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is there")
    }

    /// Events of a worker, until no job is left.
    fn work(&self, name: &str, flags: &[&str]) -> Vec<Value> {
        events(self.start(name, flags))
    }

    /// The listing of a repository in the place, if there is one.
    fn listing(&self, repo: &str) -> Option<Value> {
        let keys = fs::read_dir(Path::new(&self.to).join(repo).join("keys")).ok()?;
        let keys = keys.flatten().filter(|key| !key.file_name().to_string_lossy().starts_with('.'));
        let mut keys = keys.map(|key| key.path());
        Some(parsed(&fs::read_to_string(keys.next()?).ok()?))
    }

    fn head(&self, repo: &str) -> String {
        git(&self.at(repo), &["rev-parse", "HEAD"])
    }

    /// Asserts that the newest commits of these repositories are published, whole.
    fn all_are_published(&self, repos: &[String]) {
        for repo in repos {
            let name = format!("local/{repo}");
            let listing = self.listing(&name).unwrap_or_else(|| panic!("{name} is not published"));
            assert_eq!(listing["commit"], self.head(repo), "{name}");
            whole(Path::new(&self.to), &name, &listing);
        }
    }
}

/// Asserts that all objects of a listing are there.
fn whole(place: &Path, name: &str, listing: &Value) {
    for part in
        listing["files"].as_array().expect("a list").iter().flat_map(|file| file["parts"].as_array().expect("a list"))
    {
        let object = part["object"].as_str().expect("text");
        let packed =
            fs::read(place.join(name).join("objects").join(object)).unwrap_or_else(|err| panic!("{object}: {err}"));
        let size = part["bytes"].as_u64().expect("a number") as usize;
        let content = lz4_flex::block::decompress(&packed, size).expect("it is whole");
        assert_eq!(blake3::hash(&content).to_hex().as_str(), part["hash"], "{object}");
    }
}

/// Events of a worker until its end.
fn events(worker: Child) -> Vec<Value> {
    let Output { status, stdout, stderr } = worker.wait_with_output().expect("it was started");
    let lines = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.code().is_some_and(|code| code < 2), "{lines}{}", String::from_utf8_lossy(&stderr));
    lines.lines().map(parsed).collect()
}

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a str> {
    let meant = events.iter().filter(|event| event["event"] == kind);
    meant.map(|event| event["job"].as_str().expect("text")).collect()
}

#[test]
fn each_commit_is_indexed_once_and_published() {
    let Some(world) = World::new(1) else { return };
    let repos = world.repositories(5);
    let all: Vec<&str> = repos.iter().map(String::as_str).collect();
    let counts = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
        pairs.iter().map(|(word, n)| ((*word).to_owned(), *n)).collect()
    };
    assert_eq!(world.submit(&all), counts(&[("queued", 5)]));
    assert_eq!(world.submit(&all), counts(&[("in the queue", 5)]), "duplicates are dropped");
    let status = world.answer(&["fleet", "status"]);
    assert_eq!((&status["waiting"], &status["dead"]), (&json!(5), &json!(0)), "{status}");

    let workers = [world.start("a", &[]), world.start("b", &[])];
    let done: Vec<Value> = workers.into_iter().flat_map(events).collect();
    let published = of_kind(&done, "published");
    let distinct: HashSet<&str> = published.iter().copied().collect();
    assert_eq!((published.len(), distinct.len()), (5, 5), "{done:?}");
    world.all_are_published(&repos);
    assert_eq!(world.submit(&all), counts(&[("published", 5)]));

    // A worker without anything of its own begins with what is published, and reads what differs.
    world.write("shop0", "m1.py", "def newly_made(x): return x\n");
    world.commit("shop0");
    // Two commits that wait are one job.
    assert_eq!(world.submit(&all), counts(&[("published", 4), ("queued", 1)]));
    world.write("shop0", "m2.py", "def made_later(x): return x\n");
    world.commit("shop0");
    assert_eq!(world.submit(&all), counts(&[("published", 4), ("queued", 1)]));
    let done = world.work("c", &[]);
    assert_eq!((done.len(), &done[0]["files_read"]), (1, &json!(2)), "{done:?}");
    world.all_are_published(&repos);

    // The published index is what a folder's own would be.
    git(world.folder.path(), &["clone", "-q", "shop0", "clone"]);
    let clone = world.at("clone");
    let clone = clone.to_str().expect("text");
    let taken = world.run(&["index", clone, "--from", &world.to, "--name", "local/shop0"]);
    let err = String::from_utf8_lossy(&taken.stderr);
    assert!(err.contains("taken: local/shop0 with 4 files; 0 differ here, 0 are gone"), "{err}");
    let found = world.answer(&["search", "made_later", "--repo", clone]);
    assert!(found["results"].to_string().contains("m2.py::made_later"), "{found}");
}

#[test]
fn a_job_that_fails_for_good_is_kept_with_its_reason() {
    let Some(world) = World::new(1) else { return };
    world.repositories(2);
    world.submit(&["shop0", "shop1"]);
    fs::rename(world.at("shop0"), world.at("away")).expect("it is ours");
    let done = world.work("a", &["--attempts", "2"]);
    assert_eq!(of_kind(&done, "published").len(), 1, "the other is not held up: {done:?}");
    assert_eq!((of_kind(&done, "failed").len(), of_kind(&done, "dead").len()), (1, 1), "{done:?}");
    let dead = world.answer(&["fleet", "dead"]);
    assert_eq!(dead["dead"][0]["repo"], "local/shop0", "{dead}");
    assert_eq!(dead["dead"][0]["attempts"], 2);
    let reason = dead["dead"][0]["reason"].as_str().expect("text");
    assert!(reason.contains("no git repository at"), "{reason}");

    // It is not tried again until somebody says so, or there is a newer commit.
    fs::rename(world.at("away"), world.at("shop0")).expect("it is ours");
    assert_eq!(world.submit(&["shop0"]), BTreeMap::from([("dead".to_owned(), 1)]));
    let root = world.at("shop0");
    let again = world.answer(&["fleet", "index", root.to_str().expect("text"), "--to", &world.to, "--again"]);
    assert_eq!(again["counts"]["queued"], 1, "{again}");
    assert_eq!(of_kind(&world.work("a", &[]), "published").len(), 1);
    assert_eq!(world.answer(&["fleet", "dead"])["dead"], json!([]));
    world.all_are_published(&["shop0".to_owned(), "shop1".to_owned()]);
}

#[test]
fn a_job_whose_workers_die_is_given_up_and_said_so() {
    let Some(mut world) = World::new(1) else { return };
    world.repositories(1);
    // Every fetch over this ssh is a long one.
    let (marker, script) = (world.at("fetching"), world.at("ssh"));
    let url = format!("ssh://git@host{}", world.at("shop0").display());
    let serve = "for last; do :; done; eval \"exec git-upload-pack $last\"";
    fs::write(&script, format!("#!/bin/sh\n{serve}\n")).expect("it is ours");
    world.environment.push(("CODELODE_SSH_COMMAND", format!("sh {}", script.display())));
    // A name that only ssh knows has to be trusted.
    world.environment.push(("CODELODE_TRUSTED_HOSTS", "host".to_owned()));
    let file = world.at("repos.toml");
    fs::write(&file, format!("[\"our/shop\"]\nurl = \"{url}\"\n")).expect("it is ours");
    let submit = ["fleet", "index", "--repos", file.to_str().expect("text"), "--to", &world.to];
    let submitted = world.answer(&submit);
    assert_eq!(submitted["counts"]["queued"], 1, "{submitted}");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\nexec cat > /dev/null\n", marker.display())).expect("it is ours");
    for _ in 0..2 {
        let mut worker = world.worker("a", &["--attempts", "2"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let worker = worker.as_mut().expect("the binary is there");
        until(|| marker.exists());
        worker.kill().expect("it runs");
        worker.wait().expect("it is our child");
        fs::remove_file(&marker).expect("it is ours");
    }
    let done = world.work("b", &["--attempts", "2"]);
    assert_eq!(of_kind(&done, "dead").len(), 1, "{done:?}");
    let reason = done.last().expect("there is one")["reason"].to_string();
    assert!(reason.contains("2 workers ended without a word"), "{reason}");

    // A worker that is told to end gives its job back at once, and that is no attempt.
    fs::write(&script, format!("#!/bin/sh\n{serve}\n")).expect("it is ours");
    assert_eq!(world.answer(&[&submit[..], &["--again"]].concat())["counts"]["queued"], 1);
    fs::write(&script, format!("#!/bin/sh\ntouch {}\nexec cat > /dev/null\n", marker.display())).expect("it is ours");
    for _ in 0..3 {
        let flags = ["--attempts", "1", "--silence", "60s"];
        let worker = world.worker("a", &flags).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let worker = worker.expect("the binary is there");
        until(|| marker.exists());
        signal(worker.id(), libc::SIGTERM);
        let told = events(worker);
        assert_eq!(of_kind(&told, "returned").len(), 1, "{told:?}");
        fs::remove_file(&marker).expect("it is ours");
    }
    fs::write(&script, format!("#!/bin/sh\n{serve}\n")).expect("it is ours");
    let done = world.work("c", &["--attempts", "1"]);
    assert_eq!(of_kind(&done, "published").len(), 1, "{done:?}");
}

/// Waits until something is so.
fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it does not come");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_queues_what_webhooks_tell_and_serves_what_workers_publish() {
    let Some(world) = World::new(1) else { return };
    world.repositories(1);
    fs::create_dir_all(&world.to).expect("it is ours");
    let url = format!("file://{}", world.at("shop0").display());
    let file = world.at("repos.toml");
    let entry = format!("[\"our/shop\"]\nurl = \"{url}\"\npoll = \"never\"\nsecret_env = \"HOOK_SECRET\"\n");
    fs::write(&file, entry).expect("it is ours");
    let (cache, file) = (world.at("replica"), file.to_str().expect("text").to_owned());
    let flags = ["--from", &world.to, "--cache-dir", cache.to_str().expect("text"), "--repos", &file];
    let refused = Site::refused(&flags, &[("HOOK_SECRET", "a secret")]);
    assert!(refused.contains("set `nats`"), "{refused}");
    let urls = world.servers.urls();
    let site = Site::start_with(&flags, &[("HOOK_SECRET", "a secret"), ("CODELODE_NATS", &urls)]);
    let waiting = || world.answer(&["fleet", "status"])["waiting"] == 1;
    until(waiting);
    let done = world.work("a", &[]);
    assert_eq!(of_kind(&done, "published"), [format!("our/shop@{}", world.head("shop0"))]);

    world.write("shop0", "m9.py", "def told_by_a_hook(x): return x\n");
    world.commit("shop0");
    let body = json!({"repository": {"clone_url": url}}).to_string();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"a secret");
    let signature: String =
        hmac::sign(&key, body.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let signature = format!("sha256={signature}");
    let headers = [("X-Hub-Signature-256", signature.as_str())];
    assert_eq!(site.client().send_to("POST", "/hooks/github", &body, &headers).status, 202);
    until(waiting);
    assert_eq!(of_kind(&world.work("b", &[]), "published").len(), 1);
    let mut client = site.client();
    client.open("2025-06-18");
    let begun = Instant::now();
    loop {
        let found = client.call("search_symbols", json!({"repo": "our/shop", "query": "told_by_a_hook"}));
        if found["results"].to_string().contains("told_by_a_hook#") {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{found}: {}", site.log());
        thread::sleep(Duration::from_millis(200));
    }
}
