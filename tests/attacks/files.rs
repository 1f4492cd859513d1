//! Repositories that hold hostile files.

use serde_json::json;

use super::{MEMORY, Place, bytes_below, hostile, peak};

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
        for (tool, arguments) in [
            ("find_references", json!({"identifier": "a"})),
            ("find_references", json!({"identifier": "f"})),
            ("find_dead_code", json!({})),
        ] {
            let answer = server.call(tool, arguments);
            assert!(answer["error"].is_null(), "{tool}: {answer}");
        }
        assert!(peak(&server) < MEMORY, "took {} MB", peak(&server));
        let source: usize = files.iter().map(|(_, text)| text.len()).sum();
        let index = bytes_below(&place.0.path().join("index")) as usize;
        assert!(index < source * 40 + 1_000_000, "an index of {index} bytes for {source}");
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

#[test]
fn a_line_that_is_longer_than_an_answer_is_cut() {
    let place = Place::with([("long.py", format!("x = '{}'\ny = 1\n", "ab".repeat(200_000)))]);
    let answer = place.call("get_file_content", &json!({"file_path": "long.py", "max_tokens": 8_000}));
    let content = answer["content"].as_str().expect("a text");
    assert!(content.starts_with("x = 'abab") && content.len() < 100_000, "{} bytes", content.len());
    assert_eq!(answer["bytes_left"], 400_007 - content.len(), "{answer:.300}");
    let rest = json!({"file_path": "long.py", "max_tokens": 8_000, "cursor": answer["next_cursor"]});
    assert_eq!(place.call("get_file_content", &rest)["content"], "y = 1\n");
}
