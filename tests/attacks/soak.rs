//! Twenty minutes of edits, questions, kills and hostile files. Every answer is compared with that of a fresh index of the
//! same files, and the memory of a server that is never killed is watched.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Server;
use super::random::Random;
use super::{Place, bytes_below, hostile};

/// Size of a hostile file.
const HOSTILE: usize = 60_000;
/// Modules of the folder.
const MODULES: usize = 40;
/// Growth of private memory that is no leak: what allocators keep, and tables of the newest state.
const SLACK: u64 = 24 << 20;

/// A module that uses two others; its function is named after the round.
fn module(number: usize, round: usize) -> String {
    let (one, two) = ((number * 7 + 1) % MODULES, (number * 11 + 3) % MODULES);
    format!(
        "from base import shared\nimport module_{one}\nimport module_{two}\n\n\nclass Part{number}:\n    \"\"\"Part of round {round}.\"\"\"\n\n    def run(self):\n        return shared({round})\n\n\ndef marker_{number}_{round}(value):\n    return shared(value) + {round}\n"
    )
}

/// Bytes of a process that it shares with no other.
fn private(server: &Server) -> u64 {
    let text = fs::read_to_string(format!("/proc/{}/smaps_rollup", server.child.id())).expect("it runs");
    let line = text.lines().find_map(|line| line.strip_prefix("Private_Dirty:")).expect("the system counts it");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// The part of an answer that depends on the files alone. The order of hits may depend on how an index came to be. An
/// answer that calls itself old, or says that the time was up, is asked for again.
fn essence(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let is_final = |answer: &Value| {
        let freshness = &answer["_meta"]["freshness"];
        freshness != "indexing" && freshness != "stale" && answer["timed_out"] != true
    };
    let mut answer = server.until(tool, arguments.clone(), is_final);
    answer.as_object_mut().expect("answers are objects").remove("_meta");
    if tool != "search_symbols" {
        return answer;
    }
    let ids = answer["results"].as_array().into_iter().flatten().map(|hit| hit["id"].to_string());
    json!(ids.collect::<BTreeSet<_>>())
}

/// Questions about a folder in a round, each of which reads another part of the index.
fn questions(random: &mut Random, round: usize) -> Vec<(&'static str, Value)> {
    let file = format!("module_{}.py", random.below(MODULES));
    let earlier = round - random.below(round.min(5));
    vec![
        ("search_text", json!({"query": format!("+ {earlier}"), "max_results": 100})),
        ("search_text", json!({"query": r"shared\(\d+\)$", "is_regex": true, "max_results": 100})),
        // A name that is not there is answered by those nearest to it: which ten of many that are equally near may depend on
        // how an index came to be.
        ("search_symbols", json!({"query": format!("marker_{}_{earlier}", random.below(MODULES)), "max_results": 100})),
        ("get_file_outline", json!({"file_path": file})),
        ("get_file_content", json!({"file_path": file})),
        (
            "get_symbol_source",
            json!({"symbol_id": format!("{file}::Part{}.run#method", file.trim_matches(|c: char| !c.is_ascii_digit()))}),
        ),
        ("find_references", json!({"identifier": "shared", "file_pattern": "module_*.py"})),
        ("find_importers", json!({"file_path": file})),
    ]
}

/// Changes a few files: modules are rewritten, removed and added, and hostile files come and go.
fn edit(place: &Place, random: &mut Random, hostile: &[(&'static str, String)], round: usize) {
    for _ in 0..1 + random.below(6) {
        let number = random.below(MODULES);
        let path = place.source().join(format!("module_{number}.py"));
        match random.below(6) {
            0 => drop(fs::remove_file(path)),
            _ => fs::write(path, module(number, round)).expect("the folder is ours"),
        }
    }
    if random.below(4) == 0 {
        let (name, text) = &hostile[random.below(hostile.len())];
        let path = place.source().join(name);
        match path.exists() {
            true => fs::remove_file(path).expect("the folder is ours"),
            false => fs::write(path, text).expect("the folder is ours"),
        }
    }
}

/// Begins a run or a call in a process and kills it in the middle.
fn kill(place: &Place, random: &mut Random) {
    let arguments = [&["index", "."][..], &["index", ".", "--no-incremental"], &["dead"], &["text", "shared"]];
    let mut command = place.unlimited(arguments[random.below(arguments.len())], "index");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it is built");
    thread::sleep(Duration::from_millis(random.below(400) as u64));
    let _ = child.kill();
    let _ = child.wait();
}

/// `CODELODE_SOAK_MINUTES` sets another time than twenty minutes. Figures are printed each minute.
#[test]
#[ignore = "takes twenty minutes"]
fn soak() {
    let minutes: u64 = std::env::var("CODELODE_SOAK_MINUTES").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let base = "def shared(value):\n    return value\n".to_owned();
    let place = Place::with([("base.py", base)]);
    for number in 0..MODULES {
        fs::write(place.source().join(format!("module_{number}.py")), module(number, 1)).expect("the folder is ours");
    }
    let hostile = hostile::files(HOSTILE);
    let serve = |index: &str| {
        let mut command = place.unlimited(&["serve"], index);
        command.env("CODELODE_FRESHNESS", "strict");
        Server::start(command)
    };
    let mut server = serve("index");
    let mut random = Random(0x5DEE_CE66_D1CE_4E5B);
    let begun = Instant::now();
    let (mut n_questions, mut n_kills, mut n_compared, mut wrong) = (0, 0, 0, Vec::new());
    let (mut early, mut late, mut told) = (0, 0, 0);
    let (mut round, mut fresh) = (1, 0);
    while begun.elapsed() < Duration::from_secs(60 * minutes) {
        round += 1;
        edit(&place, &mut random, &hostile, round);
        if random.below(5) == 0 {
            kill(&place, &mut random);
            n_kills += 1;
        }
        let asked = questions(&mut random, round);
        let mut ask = |(tool, arguments): &(&'static str, Value)| essence(&mut server, tool, arguments);
        let answers: Vec<Value> = asked.iter().map(&mut ask).collect();
        n_questions += answers.len();
        if round % 8 == 0 {
            let index = format!("fresh-{round}");
            let mut other = serve(&index);
            for ((tool, arguments), answer) in asked.iter().zip(answers) {
                let expected = essence(&mut other, tool, arguments);
                n_compared += 1;
                if answer != expected {
                    wrong.push(format!(
                        "round {round}, {tool} {arguments}: {answer:.2000}\ninstead of {expected:.2000}"
                    ));
                }
            }
            other.close();
            let index = place.0.path().join(index);
            fresh = bytes_below(&index);
            fs::remove_dir_all(index).expect("it was just made");
        }
        let minute = begun.elapsed().as_secs() / 60;
        if minute > told {
            told = minute;
            // Memory is given back when it has been quiet for a moment.
            thread::sleep(Duration::from_secs(4));
            late = private(&server);
            early = if minute <= (minutes / 4).max(1) { late.max(early) } else { early };
            let disk = bytes_below(&place.0.path().join("index"));
            println!(
                "{minute} min: {round} rounds, {n_questions} questions, {n_compared} compared, {} wrong, {n_kills} kills, {:.1} MB private, {:.1} MB on disk ({:.1} fresh)",
                wrong.len(),
                late as f64 / 1e6,
                disk as f64 / 1e6,
                fresh as f64 / 1e6,
            );
            let doctor = place.unlimited(&["doctor"], "index").stdin(Stdio::null()).output().expect("it is built");
            assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stdout));
        }
    }
    server.close();
    let sizes = ["index", "fresh"].map(|index| {
        for arguments in [&["index", "."][..], &["refs", "shared"], &["dead"]] {
            let ran = place.unlimited(arguments, index).stdin(Stdio::null()).stdout(Stdio::null()).status();
            assert!(ran.expect("it is built").success(), "{arguments:?}");
        }
        bytes_below(&place.0.path().join(index))
    });
    println!("{} bytes on disk, {} fresh", sizes[0], sizes[1]);
    assert!(sizes[0] <= 2 * sizes[1] + (1 << 20), "{sizes:?} bytes on disk, and fresh");
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(late <= early + early / 4 + SLACK, "private memory grew from {early} to {late}");
}
