//! Indexes in a bucket of a server that speaks S3's protocol: PyPI's `moto`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};

use serde_json::{Value, json};

use super::{World, git, pushes_are_killed};
use crate::client::{PATIENCE, skipped};
use crate::web::Site;

/// The server, which ends with this.
pub struct Moto {
    child: Child,
    port: u16,
}

impl Moto {
    /// Starts it with a bucket `indexes`; `None` where it is not installed.
    pub fn start() -> Option<Self> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/papers/bin/moto_server");
        if !program.exists() {
            skipped("there is no moto_server, see .ci/run");
            return None;
        }
        let free = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
        let port = free.expect("a port is free").port();
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut moto = Self { child: child.expect("it can be started"), port };
        let begun = Instant::now();
        while moto.make_bucket().is_err() {
            assert!(moto.child.try_wait().expect("it is our child").is_none(), "it does not start");
            assert!(begun.elapsed() < PATIENCE, "it does not listen");
            thread::sleep(Duration::from_millis(50));
        }
        Some(moto)
    }

    fn make_bucket(&self) -> io::Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream
            .write_all(b"PUT /indexes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Ok(())
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A world whose programs know the server.
    fn world(&self) -> World {
        World { environment: self.environment(), ..World::new() }
    }

    /// Variables of programs that know the server.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ACCESS_KEY_ID", "shop".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "never shown".to_owned()),
            ("AWS_REGION", "eu-central-1".to_owned()),
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)),
            ("CODELODE_TRUSTED_HOSTS", "127.0.0.1".to_owned()),
        ]
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PLACE: &str = "s3://indexes/of/ours";

#[test]
fn a_bucket_serves_clones_and_takes_what_it_lacks() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.world();
    git(world.folder.path(), &["clone", "-q", "first", "second"]);
    thread::sleep(Duration::from_millis(60));
    let (_, err) = world.succeed("second", "index0", &["index", "--from", PLACE, "--name", "our/shop"]);
    assert!(err.contains("has no index of it"), "{err}");
    let push = ["push", PLACE, "--name", "our/shop", "--key", "tree-sha", "--json"];
    let pushed = |world: &World, push: &[&str]| -> Value {
        serde_json::from_str(&world.succeed("first", "index1", push).0).expect("it is JSON")
    };
    let first = pushed(&world, &push);
    assert_eq!((&first["up_to_date"], &first["objects_held"]), (&Value::from(false), &Value::from(0)));
    let again = pushed(&world, &push);
    assert_eq!((&again["up_to_date"], &again["objects_sent"]), (&Value::from(true), &Value::from(0)));
    let (_, err) = world.succeed("second", "index2", &["index", "--from", PLACE, "--name", "our/shop"]);
    assert!(err.contains("taken: our/shop with 30 files; 0 differ here, 0 are gone"), "{err}");
    world.succeed("second", "index3", &["index", "."]);
    assert_eq!(world.answers("second", "index2"), world.answers("second", "index3"));

    // An edit sends what is new, and whoever has an index takes it.
    fs::write(world.at("first/shop/m3.py"), "def f3(x, y): return x\n").expect("it is ours");
    let edited = pushed(&world, &["push", PLACE, "--name", "our/shop", "--json"]);
    assert!(edited["objects_held"].as_u64() > Some(0), "{edited}");
    let (_, err) = world.succeed("second", "index2", &["pull", PLACE, "--name", "our/shop", "--key", "latest"]);
    assert!(err.contains("taken: our/shop with 30 files; 1 differ here, 0 are gone"), "{err}");
}

#[test]
fn of_two_writers_both_publish_and_the_last_is_whole() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.world();
    git(world.folder.path(), &["clone", "-q", "first", "second"]);
    git(world.folder.path(), &["clone", "-q", "first", "third"]);
    for folder in ["first", "second"] {
        fs::write(world.at(folder).join("shop/m3.py"), format!("def of_{folder}(x): return x\n")).expect("it is ours");
        world.succeed(folder, &format!("index-{folder}"), &["index", "."]);
    }
    for round in 0..4 {
        thread::scope(|scope| {
            for folder in ["first", "second"] {
                let push = ["push", PLACE, "--name", "our/shop", "--key", "main"];
                let world = &world;
                scope.spawn(move || world.succeed(folder, &format!("index-{folder}"), &push));
            }
        });
        let index = format!("index-{round}");
        world.succeed("third", &index, &["index", "--from", PLACE, "--name", "our/shop", "--key", "main"]);
        world.succeed("third", "index-own", &["index", "."]);
        assert_eq!(world.answers("third", &index), world.answers("third", "index-own"));
    }
}

#[test]
fn a_push_to_a_bucket_that_is_killed_leaves_nothing_half() {
    let Some(moto) = Moto::start() else { return };
    pushes_are_killed(&moto.world(), PLACE, 8);
}

#[test]
fn a_bucket_that_is_not_there_is_named_and_no_secret_is() {
    let Some(mut moto) = Moto::start() else { return };
    let mut world = moto.world();
    let failed = |world: &World, place: &str| {
        let output = world.run("first", "index1", &["push", place, "--name", "our/shop"]);
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && !err.contains("never shown"), "{err}");
        err
    };
    let err = failed(&world, "s3://nowhere/of/ours");
    assert!(err.contains("s3://nowhere/of/ours") && err.contains("NoSuchBucket"), "{err}");
    moto.child.kill().expect("it runs");
    moto.child.wait().expect("it is our child");
    let err = failed(&world, PLACE);
    assert!(err.contains(PLACE), "{err}");
    // Private hosts are asked only when they are trusted by name.
    world.environment.retain(|(name, _)| *name != "CODELODE_TRUSTED_HOSTS");
    let err = failed(&world, PLACE);
    assert!(err.contains("`trusted_hosts`"), "{err}");
}

#[test]
fn a_replica_follows_a_bucket() {
    let Some(moto) = Moto::start() else { return };
    let world = moto.world();
    let push = ["push", PLACE, "--name", "our/shop"];
    world.succeed("first", "index1", &push);
    let cache = world.at("cache");
    let variables: Vec<(&str, &str)> = world.environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let flags = ["--from", PLACE, "--cache-dir", cache.to_str().expect("text")];
    let replica = Site::start_with(&flags, &variables);
    let mut client = replica.client();
    client.open("2025-06-18");
    assert_eq!(client.call("list_repos", json!({}))["repos"][0]["repo"], "our/shop");
    let mut finds = |name: &str| {
        let found = client.call("search_symbols", json!({"repo": "our/shop", "query": name}));
        found["results"].to_string().contains(&format!("::{name}#"))
    };
    assert!(finds("f7"), "{}", replica.log());
    fs::write(world.at("first/shop/m3.py"), "def newly_made(x): return x\n").expect("it is ours");
    world.succeed("first", "index1", &push);
    let begun = Instant::now();
    while !finds("newly_made") {
        assert!(begun.elapsed() < PATIENCE, "{}", replica.log());
        thread::sleep(Duration::from_millis(100));
    }
    drop(moto);
    assert!(finds("newly_made"), "the bucket may be gone");
    assert!(!replica.log().contains("never shown"));
}
