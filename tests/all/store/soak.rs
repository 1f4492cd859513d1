//! Memory and disk under many edits and questions.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{PATIENCE, Place, Random, Server, bytes_below, bytes_of, modules, names, number_of};

/// `CODELODE_SOAK_MINUTES=60 CODELODE_SOAKED=/a/repository cargo test --release --test all soak -- --nocapture` edits a copy of
/// a repository for an hour, with a pause after each edit, and tells of memory and disk each minute.
#[test]
fn a_soak_of_edits_and_questions_leaves_memory_and_disk_as_they_were() {
    let n_rounds = number_of("CODELODE_SOAK_ROUNDS", 60);
    let minutes = std::env::var("CODELODE_SOAK_MINUTES").ok().and_then(|minutes| minutes.parse::<u64>().ok());
    let soaked = std::env::var("CODELODE_SOAKED").ok();
    let place = match &soaked {
        None => Place::holding(&modules(60, 0)),
        Some(soaked) => {
            let place = Place::new();
            let copied =
                Command::new("cp").args(["-r", &format!("{soaked}/."), "."]).current_dir(place.source()).status();
            assert!(copied.expect("cp is there").success());
            place.found(&["index", "."]);
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
    let (mut early, mut largest) = (0, 0);
    let (begun, mut told) = (Instant::now(), 0);
    for round in 1.. {
        match random.below(code.len().max(1)) {
            _ if code.is_empty() => {
                let edited = random.edited(&state, round);
                place.rewrite(&state, &edited);
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
        largest = largest.max(bytes_below(&place.index()));
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
                println!(
                    "{told} min, {round} rounds: {} bytes private, {} on disk",
                    dirty(),
                    bytes_below(&place.index())
                );
            }
        }
        if done >= of {
            break;
        }
    }
    // Memory is given back when it has been quiet for a moment, which takes longer on a busy machine.
    let most = early + early / 4 + (4 << 20);
    let quiet = Instant::now();
    let late = loop {
        thread::sleep(Duration::from_secs(3));
        let late = bytes_of(server.child.id(), "Private_Dirty");
        if late <= most || quiet.elapsed() >= PATIENCE {
            break late;
        }
    };
    server.close();
    place.found(&["index", "."]);
    if code.is_empty() {
        assert_eq!(place.held(), state);
    }
    let grown = bytes_below(&place.index());
    place.found(&["invalidate", "."]);
    place.found(&["index", "."]);
    let fresh = bytes_below(&place.index());
    println!(
        "private memory {early} → {late} bytes, disk {grown} (at most {largest}) beside {fresh} fresh, {:?}",
        begun.elapsed()
    );
    assert!(late <= most, "private memory grew from {early} to {late}");
    // A commit holds the old generation and the new for a moment, and little data is mostly what every segment has.
    assert!(grown <= 2 * fresh + (1 << 20), "{grown} bytes on disk, {fresh} fresh");
}
