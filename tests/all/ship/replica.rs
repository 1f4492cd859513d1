//! Servers that are replicas of a place of indexes, through the binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::lsp::editor::write;
use crate::proxies;
use crate::web::{Client, PATIENCE, Site};

const V2025: &str = "2025-06-18";

/// A server that publishes its two repositories, and folders for the place and for replicas of it.
struct World {
    site: Site,
    folder: TempDir,
}

impl World {
    /// The place holds `our/shop` and `our/vault`.
    fn new() -> Self {
        let world = Self { site: Site::start(&[]), folder: TempDir::new().expect("there is room") };
        world.push("shop");
        world.push("vault");
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join(name)
    }

    fn place(&self) -> String {
        self.at("place").to_str().expect("text").to_owned()
    }

    fn push(&self, name: &str) {
        let root = self.site.folder(name);
        let named = format!("our/{name}");
        let pushed = self.site.run(&["push", &self.place(), "--name", &named, "--repo", root.to_str().expect("text")]);
        assert!(pushed.contains(&named), "{pushed}");
    }

    fn replica(&self, cache: &str, flags: &[&str]) -> Site {
        let (place, cache) = (self.place(), self.at(cache));
        let own = ["--from", &place, "--cache-dir", cache.to_str().expect("text")];
        self.site.beside(&[&own[..], flags].concat())
    }
}

fn client(site: &Site) -> Client {
    let mut client = site.client();
    client.open(V2025);
    client
}

fn listed(client: &mut Client) -> Vec<String> {
    let answer = client.call("list_repos", json!({}));
    let repos = answer["repos"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    repos.iter().filter_map(|repo| repo["repo"].as_str().map(str::to_owned)).collect()
}

fn search(client: &mut Client, repo: &str, name: &str) -> Value {
    client.call("search_symbols", json!({"repo": repo, "query": name}))
}

fn finds(client: &mut Client, repo: &str, name: &str) -> bool {
    search(client, repo, name)["results"].to_string().contains(&format!("::{name}#"))
}

/// Waits until something holds.
fn until(what: &str, site: &Site, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}: {}", site.log());
        thread::sleep(Duration::from_millis(100));
    }
}

/// Number of stores in an index directory.
fn stores(cache: &Path) -> usize {
    let stores = fs::read_dir(cache.join("codelode/stores")).into_iter().flatten().flatten();
    stores.filter(|store| store.path().join("manifest.json").exists()).count()
}

#[test]
fn a_replica_fetches_what_is_asked_for_and_what_is_newer() {
    let world = World::new();
    let replica = world.replica("cache", &[]);
    let client = &mut client(&replica);
    assert_eq!(listed(client), ["our/shop", "our/vault"]);
    assert_eq!(stores(&world.at("cache")), 0, "nothing is fetched unasked");
    let found = search(client, "our/shop", "add");
    assert_eq!(found["results"][0]["id"], "numbers.py::add#function", "{found}");
    assert_eq!(stores(&world.at("cache")), 1);
    let uses = client.call("find_references", json!({"repo": "our/shop", "symbol_id": "numbers.py::add#function"}));
    assert!(uses.to_string().contains("Counter.count"), "{uses}");
    let source =
        client.call("get_symbol_source", json!({"repo": "our/shop", "symbol_id": "numbers.py::Counter#class"}));
    assert!(source["source"].as_str().is_some_and(|source| source.contains("return add(1, 2)")), "{source}");
    let text = client.call("search_text", json!({"repo": "our/vault", "query": "secret_word"}));
    assert_eq!(text["results"][0]["file"], "safe.py", "{text}");

    fs::write(world.site.folder("shop").join("more.py"), "def newly_made():\n    return 1\n").expect("ours");
    world.push("shop");
    until("a newer index is taken", &replica, || finds(client, "our/shop", "newly_made"));
    assert!(finds(client, "our/shop", "add"));
    fs::write(world.site.folder("third").join("t.py"), "def of_the_third():\n    return 1\n").expect("ours");
    world.push("third");
    assert!(finds(client, "our/third", "of_the_third"), "what has just come is found by its name");
    let unknown = search(client, "our/nothing", "x");
    assert_eq!(unknown["code"], "not_indexed", "{unknown}");
}

#[test]
fn uses_elsewhere_are_looked_for_where_the_package_is_imported_and_nothing_else_is_fetched() {
    let world = World::new();
    let package = "--- pyproject.toml\n[project]\nname = \"tea-pot\"\n--- src/teapot/__init__.py\ndef steep(leaf):\n    return leaf\n";
    let user = "--- serve.py\nfrom teapot import steep\n\n\ndef serve():\n    return steep(2)\n";
    for (name, project) in [("teapot", package), ("cafe", user)] {
        write(project, &world.site.folder(name));
        world.push(name);
    }
    let replica = world.replica("cache", &[]);
    let client = &mut client(&replica);
    let args = json!({"repo": "our/teapot", "identifier": "steep", "cross_repo": true});
    let elsewhere = |answer: &Value| -> Vec<String> {
        let all = answer["references"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        all.filter_map(|item| Some(format!("{} {}:{}", item["repo"].as_str()?, item["file"], item["line"]))).collect()
    };
    let found = client.call("find_references", args.clone());
    assert_eq!(elsewhere(&found), ["our/cafe \"serve.py\":1", "our/cafe \"serve.py\":5"], "{found}");
    let told = &found["_meta"]["cross_repo"];
    assert_eq!((&told["repositories"], &told["of"]), (&json!(3), &json!(3)), "{found}");
    assert!(told["not_searched"].is_null(), "{found}");
    assert_eq!(stores(&world.at("cache")), 2, "the other two import no such package");

    // Of two that import it later, one has an index here before it is looked into.
    write("--- shop2.py\nimport teapot\nteapot.steep(3)\n", &world.site.folder("inn"));
    write("--- safe2.py\nimport teapot\nteapot.steep(4)\n", &world.site.folder("vault"));
    assert!(finds(client, "our/vault", "open_safe"));
    ["inn", "vault"].iter().for_each(|name| world.push(name));
    assert!(search(client, "our/inn", "steep")["error"].is_null());
    until("all uses are found", &replica, || {
        let found = client.call("find_references", args.clone());
        let found = elsewhere(&found);
        ["our/inn \"shop2.py\":2", "our/vault \"safe2.py\":2"].iter().all(|place| found.iter().any(|it| it == place))
    });
}

#[test]
fn a_replica_goes_on_without_its_place_and_refuses_what_is_damaged() {
    let world = World::new();
    let replica = world.replica("cache", &[]);
    let asker = &mut client(&replica);
    assert!(finds(asker, "our/shop", "add"));
    let keys = world.at("place/our/shop/keys");
    let listing = fs::read_dir(&keys).expect("it is there").flatten().next().expect("a listing").path();
    let whole = fs::read(&listing).expect("it can be read");
    fs::write(&listing, b"{\"version\":1,").expect("ours");
    assert!(replica.log_with("our/shop").contains("malformed"), "{}", replica.log());
    assert!(finds(asker, "our/shop", "add"));
    fs::write(&listing, &whole).expect("ours");
    // An object that is not what its name says is never opened.
    let objects = world.at("place/our/vault/objects");
    let largest = fs::read_dir(&objects).expect("it is there").flatten();
    let largest = largest.max_by_key(|entry| entry.metadata().map_or(0, |facts| facts.len())).expect("some").path();
    let object = fs::read(&largest).expect("it can be read");
    fs::write(&largest, vec![7; object.len()]).expect("ours");
    let refused = search(asker, "our/vault", "open_safe");
    assert!(refused["error"].as_str().is_some_and(|error| error.contains("damaged")), "{refused}");
    fs::write(&largest, &object).expect("ours");
    assert!(finds(asker, "our/vault", "open_safe"), "it is fetched again by the next question");

    fs::rename(world.at("place"), world.at("away")).expect("ours");
    assert!(finds(asker, "our/shop", "add"));
    until("it says how long the place was not heard of", &replica, || {
        search(asker, "our/shop", "add")["_meta"]["not_compared_for_s"].as_u64().is_some_and(|since| since >= 15)
    });
    drop(replica);
    let again = world.replica("cache", &[]);
    let asker = &mut client(&again);
    assert_eq!(listed(asker), ["our/shop", "our/vault"]);
    assert!(finds(asker, "our/shop", "add"), "what was fetched is here after a new start");
    fs::rename(world.at("away"), world.at("place")).expect("ours");
    assert!(again.log_with("answers again").contains("answers again"), "{}", again.log());
}

#[test]
fn a_replica_drops_what_was_not_used_for_longest() {
    let world = World::new();
    let replica = world.replica("cache", &["--cache-size", "0"]);
    let client = &mut client(&replica);
    for (repo, name) in [("our/shop", "add"), ("our/vault", "open_safe"), ("our/shop", "add")] {
        assert!(finds(client, repo, name), "{repo}");
        assert_eq!(stores(&world.at("cache")), 1);
    }
    assert_eq!(listed(client).len(), 2);
    fs::remove_dir_all(world.at("place/our/vault")).expect("ours");
    // Lists are compared each half minute.
    until("what the place no longer has is forgotten", &replica, || listed(client).len() == 1);
}

#[test]
fn callers_of_a_replica_see_what_their_tokens_may() {
    let world = World::new();
    let digest: String = Sha256::digest("alice-alice").iter().map(|byte| format!("{byte:02x}")).collect();
    let tokens = world.at("tokens.toml");
    fs::write(&tokens, format!("[alice]\nsha256 = \"{digest}\"\nrepos = [\"our/shop\"]\n")).expect("ours");
    let replica = world.replica("cache", &["--tokens", tokens.to_str().expect("text")]);
    let mut alice = replica.client().with_token("alice-alice");
    alice.open(V2025);
    assert_eq!(listed(&mut alice), ["our/shop"]);
    assert!(finds(&mut alice, "our/shop", "add"));
    let hidden = search(&mut alice, "our/vault", "open_safe");
    let nowhere = search(&mut alice, "our/nothere", "open_safe");
    assert_eq!(hidden["code"], nowhere["code"], "{hidden}");
    assert_eq!(stores(&world.at("cache")), 1, "it is not fetched for who may not see it");
}

#[test]
fn a_replica_needs_a_place_and_http() {
    let said = Site::refused(&["--transport", "stdio", "--from", "/srv/indexes"], &[]);
    assert!(said.contains("--transport streamable-http"), "{said}");
    let said = Site::refused(&["--from", "ftp://indexes"], &[]);
    assert!(said.contains("ftp://indexes"), "{said}");
}

#[test]
fn a_balancer_brings_questions_about_one_repository_to_one_replica() {
    let Some(program) = proxies::program("nginx") else { return };
    let world = World::new();
    let replicas = ["one", "two"].map(|cache| world.replica(cache, &[]));
    let [one, two] = replicas.each_ref().map(|replica| replica.url().trim_start_matches("http://").to_owned());
    let port = proxies::free_port();
    let conf = proxies::example("nginx-replicas.conf", &[("10.0.0.11:8901", &one), ("10.0.0.12:8901", &two)]);
    let passed = "proxy_pass http://codelode; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_set_header Host $host;";
    let server = format!("server {{ listen 127.0.0.1:{port}; location / {{ {passed} }} }}\n");
    let _proxy = proxies::nginx(&program, world.folder.path(), &(conf + &server), port);
    let ask = |repo: &str, name: &str| {
        let server = format!("http://127.0.0.1:{port}/mcp?repo={repo}");
        world.site.run(&["--server", &server, "search", name, "--repo", repo])
    };
    for _ in 0..4 {
        assert!(ask("our/shop", "add").contains("def add"));
    }
    let held = ["one", "two"].map(|cache| stores(&world.at(cache)));
    assert_eq!(held.iter().sum::<usize>(), 1, "{held:?}");
    // The replica that holds it is gone: the other one answers.
    let [first, second] = replicas;
    drop(if held[0] == 1 { first } else { second });
    assert!(ask("our/shop", "add").contains("def add"));
}
