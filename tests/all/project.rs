//! Settings that live with a project: `.codelode.toml` at its root.

use std::fs;

use serde_json::{Value, json};

use crate::place::Place;

impl Place {
    /// A tool's answer from a new process, which compares the folder at once.
    fn anew(&self, tool: &str, args: Value) -> Value {
        self.ask(&self.context(), tool, args)
    }

    /// Paths of the symbols of a name, in ranked order.
    fn files_of(&self, name: &str) -> Vec<String> {
        let answer = self.anew("search_symbols", json!({"query": name}));
        let hits = answer["results"].as_array().expect("a list").iter();
        hits.map(|hit| hit["file"].as_str().expect("a path").to_owned()).collect()
    }
}

#[test]
fn a_project_says_what_is_left_out_and_brought_back() {
    let code = "def wanted():\n    return 1\n";
    let place = Place::of(&[("a.py", code), ("data/b.py", code), ("node_modules/c.py", code), (".env", "wanted = 1")]);
    let sorted = |mut found: Vec<String>| {
        found.sort();
        found
    };
    assert_eq!(sorted(place.files_of("wanted")), ["a.py", "data/b.py"]);
    place.write(".codelode.toml", "extra_ignore = [\"data/\"]\ninclude = [\"node_modules/\", \".env\"]\n");
    assert_eq!(sorted(place.files_of("wanted")), ["a.py", "node_modules/c.py"], "the file is read when it changes");
    let text = place.anew("search_text", json!({"query": "wanted = 1"}));
    assert_eq!(text["results"], json!([]), "no project brings secrets back: {text}");
    place.write(".codelode.toml", "extra_ignore = []");
    assert_eq!(sorted(place.files_of("wanted")), ["a.py", "data/b.py"]);
    fs::remove_file(place.source().join(".codelode.toml")).expect("it is there");
    assert_eq!(sorted(place.files_of("wanted")), ["a.py", "data/b.py"]);
}

#[test]
fn refused_settings_are_warnings_of_the_index() {
    let place = Place::of(&[("a.py", "def a(): ...\n")]);
    place.write(".codelode.toml", "trusted_hosts = [\"*\"]\nmax_file_size = 90000000\nlanguages = [\"*.x=klingon\"]\n");
    let answer = place.anew("index_folder", json!({"path": "."}));
    let warnings = answer["warnings"].to_string();
    for expected in ["`trusted_hosts` in .codelode.toml was refused", "above the limit of 512000", "klingon"] {
        assert!(warnings.contains(expected), "{warnings}");
    }
    assert_eq!(answer["success"], true);
    place.write(".codelode.toml", "token = 'x'\ninclud = ['a']\nlanguages = { a = 'b' }\n");
    let answer = place.anew("index_folder", json!({"path": "."}));
    let warnings: Vec<&str> = answer["warnings"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(warnings.iter().all(|warning| !warning.contains('\n')), "{warnings:?}");
    let about = |key: &str| *warnings.iter().find(|warning| warning.contains(key)).expect("it is refused");
    assert!(!about("`token`").contains("did you mean"), "{warnings:?}");
    assert!(about("`includ`").contains("did you mean `include`?"), "{warnings:?}");
    assert!(about("`languages`").contains("expected a sequence"), "{warnings:?}");
    place.write(".codelode.toml", "tests = ['a']\nextra_ignore = [\n");
    let answer = place.anew("index_folder", json!({"path": "."}));
    let warning = answer["warnings"][0].as_str().expect("a text");
    assert!(warning.contains("was not used: line ") && !warning.contains('\n'), "{warning}");
}

#[test]
fn a_settings_file_is_not_read_through_a_link() {
    let place = Place::of(&[("a.py", "def a(): ...\n"), ("b.py", "def b(): ...\n")]);
    let outside = place.path().join("outside.toml");
    fs::write(&outside, "extra_ignore = [\"b.py\"]").expect("the folder is ours");
    std::os::unix::fs::symlink(&outside, place.source().join(".codelode.toml")).expect("there is no such file yet");
    let answer = place.anew("index_folder", json!({"path": "."}));
    assert!(answer["warnings"].to_string().contains(".codelode.toml was not used"), "{answer}");
    assert_eq!(place.files_of("b"), ["b.py"]);
}

#[test]
fn a_project_names_the_languages_of_its_files() {
    let place = Place::of(&[("page.inc", "def shown():\n    return 1\n"), ("gen.py", "def hidden():\n    return 1\n")]);
    assert_eq!(place.files_of("shown"), [""; 0]);
    assert_eq!(place.files_of("hidden"), ["gen.py"]);
    place.write(".codelode.toml", "languages = [\"*.inc=py\", \"gen.py=text\"]\n");
    assert_eq!(place.files_of("shown"), ["page.inc"]);
    assert_eq!(place.files_of("hidden"), [""; 0]);
    let shape = place.anew("search_ast", json!({"pattern": "return $X", "language": "python"}));
    assert!(shape.to_string().contains("page.inc") && !shape.to_string().contains("gen.py"), "{shape}");
    place.write(".codelode.toml", "");
    assert_eq!(place.files_of("shown"), [""; 0]);
    assert_eq!(place.files_of("hidden"), ["gen.py"]);
}

#[test]
fn a_project_names_its_tests_and_its_entry_points() {
    let place = Place::of(&[
        ("qa/check.py", "def load_order():\n    return 1\n"),
        ("shop.py", "def load_order():\n    return 2\n\ndef on_start():\n    return 3\n"),
    ]);
    let dead = || {
        let answer = place.anew("find_dead_code", json!({"min_confidence": 0, "include_tests": true}));
        let dead = answer["dead_symbols"].as_array().expect("a list").iter();
        let mut ids: Vec<String> = dead.map(|item| item["symbol_id"].as_str().expect("an id").to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(place.files_of("load order")[0], "shop.py");
    assert!(dead().contains(&"shop.py::on_start#function".to_owned()));
    place.write(".codelode.toml", "tests = [\"shop.py\"]\n");
    assert_eq!(place.files_of("load order")[0], "qa/check.py", "tests come after the code that they test");
    place.write(".codelode.toml", "entry_points = [\"on_*\"]\n");
    assert!(!dead().contains(&"shop.py::on_start#function".to_owned()));
}

#[test]
fn a_project_says_which_files_nobody_wrote_here() {
    let code = "def merge():\n    return 1\n";
    let place = Place::of(&[("api/out.py", code), ("lib/kept.py", code), ("vendored/mine.py", code)]);
    let judged = || {
        let answer = place.anew("find_dead_code", json!({"min_confidence": 0}));
        let dead = answer["dead_symbols"].as_array().expect("a list").iter();
        dead.map(|item| item["file"].as_str().expect("a path").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(judged(), ["api/out.py", "lib/kept.py"]);
    place.write(".codelode.toml", "generated = [\"api/\"]\nvendored = [\"lib/\", \"!vendored/\"]\n");
    assert_eq!(judged(), ["vendored/mine.py"]);
}
