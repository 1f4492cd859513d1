//! Files whose text or name is not UTF-8.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use crate::place::Place;

/// A text as UTF-16, with its mark.
fn wide(text: &str, is_little: bool) -> Vec<u8> {
    let bytes = |unit: u16| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() };
    format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
}

/// The file, line and column of each use.
fn places(answer: &Value) -> Vec<(String, u64, u64)> {
    let rows = answer["references"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let number = |row: &Value, key: &str| row[key].as_u64().expect("a number");
    rows.iter()
        .map(|row| (row["file"].as_str().expect("a path").to_owned(), number(row, "line"), number(row, "column")))
        .collect()
}

const USER: &str = "from a import target\r\n\r\ndef \u{fc}ber():\r\n    return '\u{1f980}', target()\r\n";

#[test]
fn utf_16_is_read_like_any_other_text() {
    let place = Place::of(&[("a.py", "def target():\n    return 1\n")]);
    place.write("little.py", &wide(USER, true)).write("big.py", &wide(USER, false));
    place.write("marked.py", format!("\u{feff}{USER}").as_bytes());
    let found = place.call("find_references", json!({"identifier": "target"}));
    let of = |file: &str| [(file.to_owned(), 1, 15), (file.to_owned(), 4, 17)];
    assert_eq!(places(&found), [of("big.py"), of("little.py"), of("marked.py")].concat(), "{found}");
    assert!(found["_meta"]["not_read"].is_null(), "{found}");
    assert_eq!(found["references"][1]["in"], "\u{fc}ber");
    let content = place.call("get_file_content", json!({"file_path": "big.py"}));
    assert_eq!(content["content"], USER, "{content}");
    let verified = place.call("get_symbol_source", json!({"symbol_id": "big.py::\u{fc}ber#function", "verify": true}));
    assert_eq!(verified["content_verified"], true, "{verified}");
    // A rename keeps the encoding.
    place.found(&["rename", "target", "goal"]);
    for (file, is_little) in [("little.py", true), ("big.py", false)] {
        let now = fs::read(place.source().join(file)).expect("it is there");
        assert_eq!(now, wide(&USER.replace("target", "goal"), is_little), "{file}");
    }
}

#[test]
fn utf_16_differs_from_its_commit_only_after_an_edit() {
    let place = Place::repository();
    place.write("wide.py", &wide("def one():\n    return 1\n", true));
    place.commit("first");
    place.write("wide.py", &wide("def one():\n    return 2\n", true));
    place.commit("second");
    let answer = place.call("get_changed_symbols", json!({"since_sha": "HEAD~1"}));
    assert_eq!(answer["modified"][0]["symbol_id"], "wide.py::one#function", "{answer}");
    let answer = place.call("get_changed_symbols", json!({"since_sha": "HEAD", "until_sha": "WORKTREE"}));
    assert_eq!(answer["changed_files_count"], 0, "{answer}");
}

#[test]
fn a_name_that_is_not_utf_8_is_spelled() {
    let place = Place::of(&[("a.py", "def target():\n    return 1\n")]);
    let path = place.source().join(OsStr::from_bytes(b"caf\xe9.py"));
    if fs::write(&path, "from a import target\ntarget()\n").is_err() {
        return; // Some file systems take only text.
    }
    let found = place.call("find_references", json!({"identifier": "target"}));
    let file = "caf\\xe9.py".to_owned();
    assert_eq!(places(&found), [(file.clone(), 1, 15), (file.clone(), 2, 1)], "{found}");
    let content = place.call("get_file_content", json!({"file_path": file}));
    assert!(content["content"].as_str().is_some_and(|text| text.ends_with("target()\n")), "{content}");
    let printed = place.command(&["text", "^target", "--no-heading"]).output().expect("the program is there");
    assert!(printed.stdout.starts_with(b"caf\xe9.py:2:target()"), "{printed:?}");
    // An edit is seen, and so is the end of the file.
    fs::write(&path, "from a import target\n\ntarget()\n").expect("it takes any name");
    let found = place.call("find_references", json!({"identifier": "target"}));
    assert_eq!(places(&found)[1], (file, 3, 1), "{found}");
    place.found(&["rename", "target", "goal"]);
    assert_eq!(fs::read(&path).expect("it is there"), b"from a import goal\n\ngoal()\n");
    fs::remove_file(&path).expect("it is there");
    let found = place.call("find_references", json!({"identifier": "goal"}));
    assert_eq!(places(&found), [], "{found}");
}
