//! Files that are not read to their end: how rare that is, and that answers say so.

use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::place::Place;

/// A library, and a file of deep nests whose reading ends before it.
fn with_a_cut_file() -> Place {
    let deep = "mod a {".repeat(2_000) + &"}".repeat(2_000) + "\npub fn user() { crate::target() }\n";
    Place::of(&[("src/lib.rs", "mod deep;\npub fn target() {}\n"), ("src/deep.rs", deep.as_str())])
}

#[test]
fn a_long_list_of_constants_is_read_to_its_end() {
    let list: String = (0..8_000).map(|number| format!("X{number} = {number}\n")).collect();
    let text = format!("from a import target\n{list}\ndef user(): return target()\n");
    let place = Place::of(&[("a.py", "def target(): pass\n"), ("b.py", text.as_str())]);
    let found = place.call("find_references", json!({"identifier": "target"}));
    let lines: Vec<_> = found["references"].as_array().into_iter().flatten().map(|it| it["line"].clone()).collect();
    assert_eq!(lines, [json!(1), json!(8_003)], "{found}");
    assert!(found["_meta"]["not_read_whole"].is_null(), "{found}");
}

#[test]
fn answers_name_the_cut_files_that_may_change_them() {
    let place = with_a_cut_file();
    let note = json!({"files": ["src/deep.rs"]});
    for (tool, args) in [
        ("find_references", json!({"identifier": "target"})),
        ("find_references", json!({"identifiers": ["target", "absent"]})),
        ("find_references", json!({"identifier": "user"})),
        ("check_references", json!({"identifier": "target"})),
        ("get_call_hierarchy", json!({"symbol_id": "target"})),
        ("get_blast_radius", json!({"symbol_id": "target"})),
        ("plan_delete", json!({"symbol_id": "target"})),
    ] {
        let answer = place.call(tool, args.clone());
        assert_eq!(answer["_meta"]["not_read_whole"], note, "{tool} {args}: {answer}");
    }
    let plan = place.call("plan_rename", json!({"symbol_id": "target", "new_name": "goal"}));
    assert_eq!(plan["is_sure"], false, "{plan}");
    assert!(plan["doubts"].to_string().contains("its file was not read completely"), "{plan}");
    // A name that the file does not write is none of its business.
    place.write("src/lib.rs", "mod deep;\npub fn target() {}\npub fn other() {}\n");
    let other = place.call("find_references", json!({"identifier": "other"}));
    assert!(other["_meta"]["not_read_whole"].is_null(), "{other}");
    let shown = place.found(&["refs", "target"]);
    assert!(shown.contains("read in part, so that uses there are not known: src/deep.rs"), "{shown}");
    let listed = place.call("list_repos", json!({"skipped": true}));
    assert_eq!(listed["left_out"], json!([{"path": "src/deep.rs", "reason": "read_in_part"}]), "{listed}");
    assert!(place.found(&["doctor"]).contains("src/deep.rs: read in part"));
}

/// Processes that keep every core busy until this is dropped.
struct Load(Vec<Child>);

impl Load {
    fn of(processes: usize) -> Self {
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn();
        Self((0..processes).map(|_| busy().expect("there is a shell")).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Everything that an index holds of definitions and bound uses.
fn exported(place: &Place) -> String {
    place.found(&["index", "."]);
    place.run(&["list", "--skipped"]).out + &place.found(&["export", "--format", "ndjson"])
}

/// Indexes small repositories again and again beside busy processes: each index is as one that was made on a quiet machine.
fn is_the_same_under_load(repositories: usize, times: usize, processes: usize) {
    let samples: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/crates/lang/src/languages"))
        .expect("it is there")
        .flatten()
        .flat_map(|language| std::fs::read_dir(language.path()).into_iter().flatten().flatten())
        .filter(|file| file.path().file_stem().is_some_and(|stem| stem == "sample"))
        .map(|file| file.path())
        .collect();
    let made = |number: usize| {
        let place = Place::new();
        for sample in samples.iter().skip(number % 7).step_by(7) {
            let text = std::fs::read(sample).expect("it is there");
            let ending = sample.extension().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
            place.write(&format!("part_{number}/sample.{ending}"), &text);
        }
        place
    };
    let places: Vec<Place> = (0..repositories).map(made).collect();
    let quiet: Vec<String> = places.iter().map(exported).collect();
    let _load = Load::of(processes);
    for _ in 0..times {
        for (place, quiet) in places.iter().zip(&quiet) {
            std::fs::remove_dir_all(place.index()).expect("it was made");
            assert!(exported(place) == *quiet, "another index beside busy processes");
        }
    }
}

#[test]
fn an_index_is_the_same_on_a_busy_machine() {
    is_the_same_under_load(2, 1, 4);
}

#[test]
#[ignore = "takes minutes"]
fn two_hundred_indexes_are_the_same_beside_eight_busy_processes() {
    is_the_same_under_load(20, 10, 8);
}
