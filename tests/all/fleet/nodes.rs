//! Nodes that answer questions together, each a process over one place of indexes.

use std::fs;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::World;
use crate::web::{Client, PATIENCE, Site};

const V2025: &str = "2025-06-18";
/// Repositories of the fleet.
const REPOS: usize = 8;

/// Three nodes over a place that workers have filled, and a replica that is none of them.
struct Fleet {
    world: World,
    nodes: Vec<Option<Site>>,
    alone: Site,
}

impl Fleet {
    /// `all` is a token that sees every repository, where tokens are asked for.
    fn new(flags: &[&str], all: Option<&str>) -> Option<Self> {
        let world = World::new(1)?;
        let repos = world.repositories(REPOS);
        for (at, repo) in repos.iter().enumerate() {
            let mut more = format!("def common_name():\n    \"\"\"Pours {}.\"\"\"\n", "tea ".repeat(at + 1));
            more.push_str(
                ["def brew_kettle(): pass\n", "def brew_kettles(cup):\n    \"\"\"Into a cup.\"\"\"\n", ""][at.min(2)],
            );
            world.write(repo, "common.py", &more);
            world.commit(repo);
        }
        world.submit(&repos.iter().map(String::as_str).collect::<Vec<_>>());
        world.work("w", &[]);
        let start = |name: &str, flags: &[&str]| {
            let cache = world.at(name);
            let own = ["--from", &world.to, "--cache-dir", cache.to_str().expect("text")];
            let urls = world.servers.urls();
            Site::start_with(
                &[&own[..], flags].concat(),
                &[("CODELODE_NATS", urls.as_str()), ("CODELODE_TRUSTED_HOSTS", "127.0.0.1")],
            )
        };
        let nodes = ["a", "b", "c"].map(|name| Some(start(name, &[&["--node", name], flags].concat())));
        // An index that is fetched before all have heard of one another stays where it is.
        for site in nodes.iter().flatten() {
            let begun = Instant::now();
            let client = || all.map_or_else(|| site.client(), |token| site.client().with_token(token));
            while !client().get("/metrics").body.contains("codelode_fleet_nodes 3\n") {
                assert!(begun.elapsed() < PATIENCE, "{}", site.log());
                thread::sleep(Duration::from_millis(100));
            }
        }
        let alone = start("alone", flags);
        Some(Self { nodes: nodes.into(), alone, world })
    }

    fn client(&self, at: usize) -> Client {
        client(self.nodes[at].as_ref().expect("it runs"))
    }

    /// The indexes that a node has fetched.
    fn held(&self, name: &str) -> usize {
        stores(&self.world.at(name))
    }
}

fn client(site: &Site) -> Client {
    let mut client = site.client();
    client.open(V2025);
    client
}

fn stores(cache: &Path) -> usize {
    let stores = fs::read_dir(cache.join("codelode/stores")).into_iter().flatten().flatten();
    stores.filter(|store| store.path().join("manifest.json").exists()).count()
}

/// Asks until the answer is as wanted.
fn until(client: &mut Client, tool: &str, args: &Value, is_so: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let answer = client.call(tool, args.clone());
        if is_so(&answer) {
            return answer;
        }
        assert!(begun.elapsed() < PATIENCE, "{answer}");
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn three_nodes_answer_as_one_and_go_on_without_one() {
    let Some(mut fleet) = Fleet::new(&[], None) else { return };
    let symbols = json!({"query": "common_name", "repos": ["local/*"], "max_results": 5});
    let all = json!(format!("{REPOS} of {REPOS}"));
    let mut a = fleet.client(0);
    let found = until(&mut a, "search_symbols", &symbols, |answer| answer["_meta"]["fleet"]["nodes"] == 3);
    assert_eq!(found["_meta"]["fleet"]["repositories"], all, "{found}");
    assert!(found["_meta"]["fleet"]["partial"].is_null(), "{found}");
    let mut alone = client(&fleet.alone);
    let one = alone.call("search_symbols", symbols.clone());
    assert_eq!(found["results"], one["results"], "{found}\n{one}");
    assert_eq!((&found["result_count"], &found["confidence"]), (&one["result_count"], &one["confidence"]));
    assert!(one["_meta"]["fleet"].is_null(), "{one}");
    // Words and fields that only some nodes have count in all, as names that are similar to those of a few do.
    for query in ["brew_kettle", "brew_ketle", "kettle", "brew tea into a cup", "cup comon name", "nothing_of_the_kind"]
    {
        let args = json!({"query": query, "repos": ["local/*"]});
        let (several, one) = (a.call("search_symbols", args.clone()), alone.call("search_symbols", args));
        assert_eq!(several["results"], one["results"], "{query}");
        assert_eq!(several["result_count"], one["result_count"], "{query}");
    }
    // Many questions at every node at once wait for no turn of one another.
    thread::scope(|scope| {
        for site in fleet.nodes.iter().flatten() {
            for _ in 0..40 {
                scope.spawn(|| {
                    let answer = client(site).call("search_symbols", symbols.clone());
                    assert_eq!(answer["results"], found["results"], "{answer}");
                });
            }
        }
    });
    for site in fleet.nodes.iter().flatten() {
        let page = site.client().get("/metrics").body;
        assert!(page.contains("codelode_fleet_questions_total{outcome=\"silent\"} 0\n"), "{page}");
    }
    // Each holds its part: two copies of each repository at most.
    let held: Vec<usize> = ["a", "b", "c"].map(|name| fleet.held(name)).into();
    assert!(held.iter().sum::<usize>() <= 2 * REPOS && held.iter().all(|held| *held < REPOS), "{held:?}");
    assert_eq!(fleet.held("alone"), REPOS);

    for (query, more) in
        [("return x", json!({})), ("def ", json!({"max_results": 7})), ("pours", json!({"count_only": true}))]
    {
        let mut args = json!({"query": query, "repos": ["local/*"]});
        args.as_object_mut().expect("it is one").extend(more.as_object().expect("it is one").clone());
        let (several, one) = (a.call("search_text", args.clone()), alone.call("search_text", args));
        let without_meta = |answer: &Value| {
            let mut answer = answer.as_object().expect("it is one").clone();
            // Matches that are not shown are counted for a few milliseconds.
            ["_meta", "total", "at_least"].iter().for_each(|key| drop(answer.remove(*key)));
            answer
        };
        assert_eq!(without_meta(&several), without_meta(&one), "{query}");
    }
    // The next page goes on where the first ended.
    let first = a.call("search_text", json!({"query": "def ", "repos": ["local/*"], "max_results": 7}));
    let args = json!({"query": "def ", "repos": ["local/*"], "max_results": 7, "cursor": first["next_cursor"]});
    assert_eq!(a.call("search_text", args.clone())["results"], alone.call("search_text", args)["results"]);
    // Questions about one repository are answered by a node that holds it.
    for repo in 0..REPOS {
        let args = json!({"repo": format!("local/shop{repo}"), "identifier": format!("of_shop{repo}_1")});
        let uses = a.call("find_references", args.clone());
        assert_eq!(uses["definitions"], alone.call("find_references", args)["definitions"], "{uses}");
    }
    assert!(fleet.held("a") < REPOS, "{}", fleet.held("a"));

    // All of them log the question under its trace.
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let meta = json!({"traceparent": format!("00-{trace}-00f067aa0ba902b7-01")});
    a.ask("tools/call", json!({"name": "search_symbols", "arguments": symbols.clone(), "_meta": meta}));
    let has_trace = |site: &&Site| site.log().lines().any(|line| line.contains(trace) && line.contains("call"));
    let begun = Instant::now();
    while fleet.nodes.iter().flatten().filter(has_trace).count() < 2 {
        assert!(begun.elapsed() < PATIENCE, "{}", fleet.nodes[0].as_ref().expect("it runs").log());
        thread::sleep(Duration::from_millis(100));
    }

    fleet.nodes[1] = None;
    let found = a.call("search_symbols", symbols.clone());
    assert_eq!(found["_meta"]["fleet"]["repositories"], all, "the other holders answer: {found}");
    assert_eq!(found["results"], alone.call("search_symbols", symbols.clone())["results"]);

    // A drained node gets nothing new to hold.
    let drained = fleet.world.answer(&["fleet", "drain", "c"]);
    assert_eq!(drained["drained"], true, "{drained}");
    let status = fleet.world.answer(&["fleet", "status"]);
    let states: Vec<(&Value, &Value)> = status["members"]
        .as_array()
        .unwrap_or_else(|| panic!("{status}"))
        .iter()
        .map(|member| (&member["name"], &member["drained"]))
        .collect();
    assert!(
        states.contains(&(&json!("c"), &json!(true))) && states.contains(&(&json!("a"), &json!(false))),
        "{status}"
    );
    let unknown = fleet.world.run(&["fleet", "drain", "nobody"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");

    // One that is told to end takes leave.
    let mut c = fleet.nodes[2].take().expect("it runs");
    c.signal(libc::SIGTERM);
    assert!(c.ended().success(), "{}", c.log());
    let status = fleet.world.answer(&["fleet", "status"]);
    assert!(!status["members"].to_string().contains("\"name\":\"c\""), "{status}");
}

#[test]
fn a_node_that_has_not_joined_refuses_clients_at_once() {
    // Servers that take connections and say nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let free = TcpListener::bind("127.0.0.1:0").expect("a port is free").local_addr().expect("it is bound");
    let folder = tempfile::TempDir::new().expect("there is room");
    let (place, cache) = (folder.path().join("place"), folder.path().join("cache"));
    fs::create_dir(&place).expect("the folder is ours");
    let mut node = Command::new(env!("CARGO_BIN_EXE_codelode"))
        .args(["serve", "--transport", "streamable-http", "--node", "late", "--port", &free.port().to_string()])
        .args([Path::new("--from"), &place, Path::new("--cache-dir"), &cache])
        .env("HOME", folder.path())
        .env("CODELODE_NATS", format!("nats://{}", silent.local_addr().expect("it is bound")))
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program is built");
    silent.accept().expect("the node asks the servers");
    let heard = TcpStream::connect(free);
    node.kill().expect("it runs");
    node.wait().expect("it is our child");
    assert_eq!(heard.expect_err("nobody listens").kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn the_token_of_the_caller_travels_and_its_rights_hold_at_every_node() {
    let tokens = tempfile::NamedTempFile::new().expect("there is room");
    let digest = |token: &str| -> String { Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect() };
    let seen: Vec<String> = (0..3).map(|at| format!("\"local/shop{at}\"")).collect();
    let mut text = format!("[alice]\nsha256 = \"{}\"\nrepos = [{}]\n", digest("alice-alice"), seen.join(", "));
    text.push_str(&format!("[root]\nsha256 = \"{}\"\nrepos = [\"*\"]\n", digest("root-root")));
    fs::write(tokens.path(), text).expect("it is ours");
    let Some(mut fleet) = Fleet::new(&["--tokens", tokens.path().to_str().expect("text")], Some("root-root")) else {
        return;
    };
    let mut alice = fleet.nodes[0].as_ref().expect("it runs").client().with_token("alice-alice");
    alice.open(V2025);
    let args = json!({"query": "common_name", "repos": ["local/*"]});
    let is_whole = |answer: &Value| {
        answer["_meta"]["fleet"]["nodes"] == 3
            || answer["_meta"]["fleet"].is_null() && answer["results"].as_array().is_some_and(|all| all.len() == 3)
    };
    let found = until(&mut alice, "search_symbols", &args, is_whole);
    let repos: Vec<&str> = found["results"]
        .as_array()
        .unwrap_or_else(|| panic!("{found}"))
        .iter()
        .filter_map(|hit| hit["repo"].as_str())
        .collect();
    assert_eq!(repos.len(), 3, "{found}");
    assert!(!found.to_string().contains("shop3"), "{found}");
    for repo in 0..REPOS {
        let args = json!({"repo": format!("local/shop{repo}"), "query": "common_name"});
        let answer = alice.call("search_symbols", args);
        assert_eq!(answer["code"] == "not_indexed", repo >= 3, "{answer}");
    }

    // Where both holders of a repository are gone, and its index as well, an answer says so, and names what its caller may see.
    let mut root = fleet.nodes[0].as_ref().expect("it runs").client().with_token("root-root");
    root.open(V2025);
    (fleet.nodes[1], fleet.nodes[2]) = (None, None);
    let away = format!("{}-away", fleet.world.to);
    fs::rename(&fleet.world.to, &away).expect("the folder is ours");
    let found = root.call("search_symbols", args.clone());
    let told = &found["_meta"]["fleet"];
    let missing = told["not_searched"].as_array().map_or(0, Vec::len);
    assert!(told["partial"] == true && missing > 0 && missing < REPOS, "{found}");
    assert_eq!(told["repositories"], json!(format!("{} of {REPOS}", REPOS - missing)), "{found}");
    let hits = found["results"].as_array().map_or(0, Vec::len);
    assert_eq!(hits, REPOS - missing, "{found}");
    let found = alice.call("search_symbols", args.clone());
    assert!((3..REPOS).all(|repo| !found.to_string().contains(&format!("shop{repo}"))), "{found}");
    // Otherwise the node that is asked fetches it.
    fs::rename(&away, &fleet.world.to).expect("the folder is ours");
    let found = root.call("search_symbols", args);
    assert_eq!(found["results"].as_array().map_or(0, Vec::len), REPOS, "{found}");
}

/// Words of a dashboard's queries that name measurements.
fn measured(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().expect("it has panels").iter();
    let queries = panels.flat_map(|panel| panel["targets"].as_array().expect("a panel has queries"));
    let queries = queries.map(|query| query["expr"].as_str().expect("text").to_owned());
    let is_part = |char: char| char.is_ascii_alphanumeric() || char == '_';
    queries
        .flat_map(|query| query.split(|char| !is_part(char)).map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| word.starts_with("codelode_"))
        .collect()
}

#[test]
fn the_dashboard_shows_what_a_node_measures() {
    let Some(fleet) = Fleet::new(&[], None) else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/grafana.json");
    let dashboard = serde_json::from_str(&fs::read_to_string(path).expect("it is there")).expect("it is JSON");
    let mut a = fleet.client(0);
    let args = json!({"query": "common_name", "repos": ["local/*"]});
    until(&mut a, "search_symbols", &args, |answer| answer["_meta"]["fleet"]["nodes"] == 3);
    let page = a.get("/metrics").body;
    let (shown, mut lines) = (measured(&dashboard), page.lines());
    assert!(shown.len() > 10 && lines.any(|line| line == "codelode_fleet_nodes 3"), "{page}");
    let is_measured = |name: &str| {
        page.lines().any(|line| line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} ")))
    };
    for name in shown {
        assert!(is_measured(&name), "{name} is not in\n{page}");
    }
    let told = page
        .lines()
        .filter(|line| line.starts_with("codelode_"))
        .map(|line| line.split(['{', ' ']).next().unwrap_or(line));
    let all: std::collections::BTreeSet<&str> = told.collect();
    let unshown: Vec<&&str> = all
        .iter()
        .filter(|name| !dashboard.to_string().contains(**name) && !name.ends_with("_sum") && !name.ends_with("_count"))
        .collect();
    assert!(unshown.is_empty(), "nothing shows {unshown:?}");
}
