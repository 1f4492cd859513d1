//! Indexes of other versions: an old one answers until a new one is made, and is lost in no way.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use codelode::store::{CONTENT, FORMAT, Registry, Store};
use serde_json::{Value, json};

use super::{PATIENCE, Place, Ran, Server, modules, names};

/// The store of a place's sources.
fn store(place: &Place) -> Store {
    let registry = Registry::new(place.index().join("codelode"));
    let sidecar = registry.get(&Registry::local_id(&place.source())).expect("it is indexed");
    registry.store(&sidecar.store)
}

/// Puts another manifest in the place of a store's.
fn rewrite(store: &Store, change: impl FnOnce(&mut Value)) {
    let path = store.dir().join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).expect("it is there")).expect("it is JSON");
    manifest.as_object_mut().expect("it is an object").remove("checksum");
    change(&mut manifest);
    let text = manifest.to_string();
    let body = text.strip_suffix('}').expect("it is an object");
    let sum = blake3::hash(body.as_bytes());
    let sum = u64::from_le_bytes(sum.as_bytes()[..8].try_into().expect("eight bytes"));
    let new = path.with_extension("rewritten");
    fs::write(&new, format!("{body},\"checksum\":\"{sum:016x}\"}}")).expect("it is ours");
    fs::rename(new, path).expect("both are ours");
}

/// Makes an index look as if an earlier extraction had made it.
fn make_earlier(store: &Store) {
    rewrite(store, |manifest| {
        let snapshots = manifest["snapshots"].as_object_mut().expect("there are some").values_mut();
        snapshots.for_each(|facts| facts["content"] = json!(CONTENT - 1));
        let packs = manifest["packs"].as_array_mut().expect("there are some").iter_mut();
        packs.for_each(|pack| pack["content"] = json!(CONTENT - 1));
    });
}

fn content_of(place: &Place) -> u32 {
    place.snapshot().expect("it is indexed").content_version()
}

#[test]
fn an_index_of_an_earlier_version_answers_until_a_new_one_is_made() {
    let place = Place::holding(&modules(6, 0));
    let store = store(&place);
    make_earlier(&store);
    assert_eq!(content_of(&place), CONTENT - 1);
    // Nothing can be written for now.
    let writer = store.writer(PATIENCE).expect("nobody else writes");
    let mut server = Server::start(place.command(&["serve"]));
    let name = "marker_part_1_module_1_py_0";
    let is_marked = |answer: &Value| {
        let why = answer["_meta"]["stale_because"].as_str().unwrap_or_default();
        assert_eq!(answer["results"][0]["name"], name, "{answer}");
        assert_ne!(answer["_meta"]["freshness"], "fresh", "{answer}");
        why.contains("earlier version")
    };
    server.until("search_symbols", json!({"query": name}), is_marked);
    let answer = server.call("find_references", json!({"identifier": name}));
    assert_eq!(answer["definitions"][0]["uses"], 0, "{answer}");
    drop(writer);
    server.until("search_symbols", json!({"query": name}), |answer| answer["_meta"]["freshness"] == "fresh");
    assert_eq!(content_of(&place), CONTENT);
    server.close();

    // A process that ends with its answer makes the new one first.
    make_earlier(&store);
    let answer = place.call("search_symbols", json!({"query": name}));
    assert_eq!(
        (&answer["results"][0]["name"], &answer["_meta"]["freshness"]),
        (&json!(name), &json!("fresh")),
        "{answer}"
    );
    assert_eq!(content_of(&place), CONTENT);
}

/// The files of a store.
fn files(store: &Store) -> BTreeSet<PathBuf> {
    names(store.dir()).into_iter().map(|(path, _)| path).collect()
}

#[test]
fn an_index_that_cannot_be_read_any_more_stays_until_a_new_one_is_made() {
    let state = modules(20, 0);
    let place = Place::holding(&state);
    let store = store(&place);
    rewrite(&store, |manifest| manifest["format"] = json!(FORMAT - 1));
    let manifest = || fs::read(store.dir().join("manifest.json")).expect("it is there");
    let (before, held) = (manifest(), files(&store));
    for limit in [0, 1, 2, 4, 8] {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$codelode\" index .");
        let ran = Ran::of(&mut place.shell(&script));
        assert_eq!(ran.status, 2, "{limit} KiB: {} {}", ran.out, ran.err);
        assert!(manifest() == before && files(&store) == held, "{limit} KiB: {:?}", files(&store));
    }
    let answer = place.call("search_symbols", json!({"query": "marker_part_1_module_1_py_0"}));
    assert_eq!(answer["results"][0]["name"], "marker_part_1_module_1_py_0", "{answer}");
    assert_eq!(place.held(), state);
    assert!(store.leftovers().expect("it can be read").is_empty(), "the old files are gone");
}

#[test]
fn a_server_answers_on_when_a_newer_version_takes_its_index_over() {
    let place = Place::holding(&modules(6, 0));
    let mut server = Server::start(place.command(&["serve"]));
    let name = "marker_part_1_module_1_py_0";
    server.fresh("search_symbols", json!({"query": name}));
    rewrite(&store(&place), |manifest| manifest["format"] = json!(FORMAT + 1));
    std::thread::sleep(Duration::from_millis(10));
    for (tool, args) in [("search_symbols", json!({"query": name})), ("search_text", json!({"query": name}))] {
        let answer = server.call(tool, args);
        assert_eq!(answer["_meta"]["freshness"], "stale", "{answer}");
        assert!(answer["_meta"]["stale_because"].as_str().is_some_and(|why| why.contains("format")), "{answer}");
        assert!(answer["results"][0].to_string().contains("module_1.py"), "{answer}");
    }
    server.close();
}

#[test]
fn an_older_program_advises_an_update_and_leaves_a_newer_index_alone() {
    let state = modules(6, 0);
    let place = Place::holding(&state);
    let store = store(&place);
    rewrite(&store, |manifest| manifest["format"] = json!(FORMAT + 1));
    let manifest = || fs::read(store.dir().join("manifest.json")).expect("it is there");
    let (before, held) = (manifest(), files(&store));
    let name = "marker_part_1_module_1_py_0";
    let commands: [&[&str]; 6] = [
        &["search", name],
        &["text", name],
        &["index", "."],
        &["index", ".", "--no-incremental"],
        &["dead"],
        &["doctor", "--fix"],
    ];
    for args in commands {
        let ran = Ran::of(&mut place.command(args));
        let said = format!("{}{}", ran.out, ran.err);
        assert_ne!(ran.status, 0, "{args:?}: {said}");
        assert!(said.contains("newer codelode") && said.contains("update codelode"), "{args:?}: {said}");
        assert!(!said.contains("rebuild") && !said.contains("no-incremental"), "{args:?}: {said}");
        assert!(manifest() == before && files(&store) == held, "{args:?} changed the index");
    }
    rewrite(&store, |manifest| manifest["format"] = json!(FORMAT));
    assert_eq!(place.held(), state);
}
