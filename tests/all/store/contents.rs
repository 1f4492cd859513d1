//! An index holds the text of its files, whatever that is and however it was damaged, and the next question sees a change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use codelode::extract::extract;
use codelode::languages::{self, LANGUAGES};
use codelode::model::SourceFile;
use codelode::store::{Entry, Prepared, SnapshotFacts, Store};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{PATIENCE, Place, Ran, Server, State, module, modules, names};

/// A cut, a doubling or a stranger's bytes, somewhere in a text.
#[derive(Clone, Debug)]
enum Wound {
    Cut(Index, Index),
    Double(Index, Index),
    Insert(Index, Vec<u8>),
}

fn wounds() -> impl Strategy<Value = Vec<Wound>> {
    let wound = prop_oneof![
        any::<(Index, Index)>().prop_map(|(from, to)| Wound::Cut(from, to)),
        any::<(Index, Index)>().prop_map(|(from, to)| Wound::Double(from, to)),
        (any::<Index>(), proptest::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Wound::Insert(at, bytes)),
    ];
    proptest::collection::vec(wound, 0..6)
}

fn wounded(mut text: Vec<u8>, wounds: &[Wound]) -> Vec<u8> {
    for wound in wounds {
        let place = |at: &Index| at.index(text.len() + 1);
        match wound {
            Wound::Cut(from, to) => {
                let (from, to) = (place(from).min(place(to)), place(from).max(place(to)));
                text.drain(from..to);
            }
            Wound::Double(from, to) => {
                let (from, to) = (place(from).min(place(to)), place(from).max(place(to)));
                let again = text[from..to].to_vec();
                text.splice(to..to, again);
            }
            Wound::Insert(at, bytes) => {
                let at = place(at);
                text.splice(at..at, bytes.iter().copied());
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_file_holds_it_comes_back_byte_by_byte(wounds in wounds()) {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let store = Store::at(folder.path().join("store"));
        let mut writer = store.writer(PATIENCE).expect("nobody else writes");
        let (mut files, mut entries) = (BTreeMap::new(), Vec::new());
        for spec in LANGUAGES {
            let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/lang/src/languages").join(spec.id);
            for extension in spec.extensions {
                let path = format!("sample.{extension}");
                let Ok(sample) = fs::read(rooms.join(&path)) else { continue };
                files.insert(path, (spec, wounded(sample, &wounds)));
            }
        }
        for (path, (spec, text)) in &files {
            let language = languages::of_file(path, text).map(|(number, _)| number);
            let prepared = Prepared::new(path.clone(), text.clone(), Prepared::hash(text), language, &extract(spec, text));
            let file = SourceFile { path: path.clone(), size: text.len() as u64, mtime_ns: 0, ctime_ns: 0 };
            entries.push(Entry { file, state: Ok(writer.add(prepared).expect("there is room")) });
        }
        writer.commit("main", &entries, &[], SnapshotFacts::default()).expect("there is room");

        let snapshot = store.snapshot("main").expect("it was committed");
        snapshot.verify().expect("its tables are whole");
        let mut ids = BTreeSet::new();
        for (path, (_, text)) in &files {
            let file = snapshot.file(path).expect("it was committed");
            assert_eq!(file.content(), text);
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', text).collect();
            let line = |at: u32| 1 + ends.partition_point(|end| *end < at as usize) as u32;
            for symbol in file.symbols() {
                let span = symbol.span();
                assert!(span.start < span.end && span.end as usize <= text.len());
                assert_eq!(symbol.source(), &text[span.start as usize..span.end as usize]);
                assert!(span.contains(symbol.name_span()) && symbol.file.is_intact());
                assert_eq!(symbol.content_hash(), <[u8; 32]>::from(Sha256::digest(symbol.source())));
                assert_eq!((symbol.first_line(), symbol.end_line()), (line(span.start), line(span.end - 1)));
                assert_eq!(symbol.line(), line(symbol.name_span().start));
                assert!(ids.insert(symbol.id()), "{} is there twice", symbol.id());
            }
        }
    }
}

#[test]
fn an_index_that_cannot_be_read_says_how_to_rebuild_it_and_is() {
    let state = modules(4, 0);
    let place = Place::holding(&state);
    let store = names(&place.index()).into_iter().map(|(path, _)| path);
    let store = store.filter(|path| path.ends_with("manifest.json")).collect::<Vec<_>>();
    let [manifest] = &store[..] else { panic!("one store: {store:?}") };
    let good = fs::read_to_string(manifest).expect("it is there");
    let newer = good.replacen(&format!("\"format\":{}", codelode::store::FORMAT), "\"format\":999", 1);
    fs::write(manifest, &newer).expect("it is ours");
    let answer = place.call("search_symbols", json!({"query": "marker"}));
    assert_eq!(answer["code"], "index_outdated", "{answer}");
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("update codelode")), "{answer}");
    let ran = Ran::of(&mut place.command(&["index", "."]));
    assert!(ran.status == 2 && ran.err.contains("update codelode"), "{} {}", ran.out, ran.err);
    assert_eq!(fs::read_to_string(manifest).expect("it is there"), newer, "what a newer version made is kept");
    for (how, text) in [("cut off", &good[..good.len() / 2]), ("of another kind", "[]")] {
        fs::write(manifest, text).expect("it is ours");
        // Another process writes, so it cannot be made anew for the question's sake.
        let lock = File::options().write(true).open(manifest.with_file_name("lock")).expect("there is one");
        lock.lock().expect("nobody else holds it");
        let answer = place.call("search_symbols", json!({"query": "marker"}));
        drop(lock);
        assert_eq!(answer["code"], "unavailable", "{how}: {answer}");
        let rebuild = answer["details"]["rebuild"].as_str().unwrap_or_else(|| panic!("{how}: {answer}"));
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(rebuild)), "{how}: {answer}");

        // The very words that it says.
        let script = format!("codelode() {{ \"$codelode\" \"$@\"; }}; {rebuild}");
        let ran = Ran::of(&mut place.shell(&script));
        assert_eq!(ran.status, 0, "{how}: {rebuild}: {} {}", ran.out, ran.err);
        assert_eq!(place.held(), state, "{how}");
    }
}

#[test]
fn an_index_that_is_made_anew_leaves_out_what_it_left_out_before() {
    let place = Place::new();
    place.rewrite(&State::new(), &modules(9, 0));
    place.call("index_folder", json!({"path": ".", "extra_ignore_patterns": ["part_1/"]}));
    let state: State = modules(9, 0).into_iter().filter(|(path, _)| !path.starts_with("part_1/")).collect();
    assert_eq!(place.held(), state);
    for (path, _) in names(&place.index()).into_iter().filter(|(path, _)| path.ends_with("manifest.json")) {
        fs::write(path, "[]").expect("it is ours");
    }
    let answer = place.call("search_symbols", json!({"query": "marker"}));
    assert!(answer["_meta"]["rebuilt"].is_string(), "{answer}");
    assert_eq!(place.held(), state, "the rules were written down beside the store as well");
}

#[test]
fn what_changed_is_seen_by_the_next_question() {
    let place = Place::holding(&modules(4, 0));
    let names = |query: &str| {
        let found = place.call("search_symbols", json!({"query": query, "max_results": 50}));
        let results = found["results"].as_array().cloned().unwrap_or_default();
        results.iter().filter_map(|result| result["id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let source = place.source();
    let write = |path: &str, text: &str| fs::write(source.join(path), text).expect("it is ours");

    write("part_0/module_0.py", "def marker_edited():\n    pass\n");
    assert_eq!(names("marker_edited"), ["part_0/module_0.py::marker_edited#function"]);
    let old = "part_0/module_0.py::marker_part_0_module_0_py_0#function";
    assert!(!names("marker_part_0_module_0_py_0").iter().any(|id| id == old));
    write("part_0/fresh.py", "def marker_new():\n    pass\n");
    assert_eq!(names("marker_new"), ["part_0/fresh.py::marker_new#function"]);
    fs::rename(source.join("part_0/fresh.py"), source.join("part_1/renamed.py")).expect("it is ours");
    assert_eq!(names("marker_new"), ["part_1/renamed.py::marker_new#function"]);
    fs::remove_file(source.join("part_1/renamed.py")).expect("it is ours");
    assert!(names("marker_new").iter().all(|id| !id.contains("marker_new")));
    let outline = place.call("get_file_outline", json!({"file_path": "part_1/renamed.py"}));
    assert_eq!(outline["code"], "not_found", "{outline}");
}

#[test]
fn a_server_never_calls_old_what_is_new_nor_fresh_what_is_old() {
    let place = Place::holding(&modules(4, 0));
    let mut command = place.command(&["serve"]);
    command.env("CODELODE_FRESHNESS", "strict");
    let mut server = Server::start(command);
    let source = place.source();
    let path = "part_0/module_0.py";
    let id = format!("{path}::marker#function");
    let write = |path: &str, text: &str| fs::write(source.join(path), text).expect("it is ours");

    // Each edit follows the last question at once, long before the folder as a whole would be looked at again.
    for generation in 0..5 {
        let text = format!("def marker():\n    return {generation}\n");
        write(path, &text);
        let symbol = match generation {
            // A name that no index knows yet is found when the folder has been looked at.
            0 => server.until("get_symbol_source", json!({"symbol_id": id}), |answer| answer["source"].is_string()),
            _ => server.fresh("get_symbol_source", json!({"symbol_id": id})),
        };
        assert_eq!(symbol["source"], text.trim_end(), "{symbol}");
        let file = server.fresh("get_file_content", json!({"file_path": path}));
        assert_eq!(file["content"], text, "{file}");
    }
    fs::rename(source.join(path), source.join("renamed.py")).expect("it is ours");
    let found = server.fresh("search_symbols", json!({"query": "marker", "file_pattern": "part_0/module_0.py"}));
    assert_eq!(found["result_count"], 0, "{found}");
    server.until("search_symbols", json!({"query": "marker", "file_pattern": "renamed.py"}), |answer| {
        answer["results"][0]["id"] == "renamed.py::marker#function"
    });
    write("new.py", "def marker_new():\n    pass\n");
    server.until("search_symbols", json!({"query": "marker_new"}), |answer| {
        answer["results"][0]["id"] == "new.py::marker_new#function"
    });
    fs::remove_file(source.join("new.py")).expect("it is ours");
    let gone = server.fresh("get_file_content", json!({"file_path": "new.py"}));
    assert_eq!(gone["code"], "not_found", "{gone}");
    server.close();
}

#[test]
fn a_file_that_takes_too_much_memory_keeps_its_text() {
    let place = Place::new();
    let list = "x = [\n".to_owned() + &"(1, 'a', b, c.d(e)),\n".repeat(400_000) + "]\n";
    place.rewrite(&State::new(), &State::from([("large.py".into(), list), ("small.py".into(), module("small.py", 0))]));
    let mut command = place.command(&["index", ".", "--json"]);
    let ran = Ran::of(command.env("CODELODE_MAX_FILE_SIZE", "100000000"));
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_else(|err| panic!("{err}: {} {}", ran.out, ran.err));
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("large.py: parsing took more than 200 MB; its text is searchable"), "{answer}");
    assert_eq!((answer["file_count"].as_u64(), answer["symbol_count"].as_u64()), (Some(2), Some(1)), "{answer}");
    let mut command = place.command(&["call", "--json", "search_text", &json!({"query": "c.d(e)"}).to_string()]);
    let ran = Ran::of(command.env("CODELODE_MAX_FILE_SIZE", "100000000"));
    assert!(ran.out.contains("large.py"), "{} {}", ran.out.chars().take(500).collect::<String>(), ran.err);
}
