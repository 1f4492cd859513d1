//! Repositories that hold hostile files.

use serde_json::json;

use super::{MEMORY, Place, hostile, peak};

#[test]
fn hostile_files_are_indexed_and_shown() {
    for files in hostile::files(hostile::SIZE).chunks(5) {
        let place = Place::with(files.iter().cloned());
        let mut server = place.serve();
        for (name, _) in files {
            let outline = server.call("get_file_outline", json!({"file_path": name}));
            assert_eq!(outline["file"], *name, "{outline}");
            // Four bytes are a token, and none of these names is in a script that takes more.
            assert!(outline.to_string().len() < 8_000 * 5, "{name}: {} bytes", outline.to_string().len());
        }
        let answer = server.call("find_references", json!({"identifier": "a"}));
        assert!(answer["error"].is_null(), "{answer}");
        assert!(peak(&server) < MEMORY, "took {} MB", peak(&server));
    }
}

#[test]
fn what_is_nested_deep_is_found_by_a_bounded_name() {
    let deep = "mod a {".repeat(3_000) + &"}".repeat(2_970) + "fn deepest() {}" + &"}".repeat(30);
    let place = Place::with([("deep.rs", deep)]);
    let found = place.call("search_symbols", &json!({"query": "deepest"}));
    let id = found["results"][0]["id"].as_str().expect("it is found");
    assert!(id.len() < 300, "{id}");
    let source = place.call("get_symbol_source", &json!({"symbol_id": id}));
    assert_eq!(source["source"], "fn deepest() {}", "{source}");
}
