//! The walls of the house: which room may use which, and which words stay in one room.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Each room and the rooms it may use, beside `model`, which all may.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("config", &[]),
    ("net", &[]),
    ("git", &["net", "config"]),
    ("github", &["net"]),
    ("discover", &["git", "config"]),
    ("facts", &[]),
    ("languages", &["facts"]),
    ("extract", &["languages", "facts", "allocator"]),
    ("resolve", &["facts"]),
    ("store", &["languages"]),
    ("pipeline", &["config", "discover", "git", "languages", "extract", "facts", "resolve", "store", "allocator"]),
    ("query", &["store", "languages"]),
    (
        "tools",
        &[
            "query",
            "pipeline",
            "store",
            "config",
            "discover",
            "git",
            "github",
            "languages",
            "extract",
            "net",
            "watch",
            "allocator",
        ],
    ),
    ("watch", &["pipeline", "store", "config", "git", "allocator"]),
    ("mcp", &["tools", "config"]),
    ("cli", &["tools", "mcp", "config", "watch", "allocator"]),
    ("allocator", &[]),
    ("lib", &[]),
    ("main", &["allocator", "cli"]),
];

/// Words, and the only rooms that may write them.
const WORDS: &[(&str, &[&str])] = &[
    ("tantivy::", &["store"]),
    ("rmcp::", &["mcp"]),
    ("async fn", &["mcp"]),
    ("clap::", &["cli"]),
    ("grep_regex::", &["query"]),
    ("ast_grep_core::", &["query"]),
    ("grep_printer::", &["cli"]),
    ("println!", &["cli"]),
    ("env::var", &["config"]),
    ("gix::", &["git"]),
    ("gix_transport::", &["git"]),
    ("reqwest::", &["net"]),
    ("rustls::", &["net"]),
    ("notify::", &["watch"]),
    ("tree_sitter_", &["languages"]),
    ("unsafe {", &["store", "allocator", "main"]),
    ("todo!(", &[]),
    ("unimplemented!(", &[]),
    ("dbg!(", &[]),
];

/// A file does one job; a longer one does two.
const LONGEST: usize = 700;

#[test]
fn rooms_use_only_the_rooms_they_may() {
    let mut breaches = Vec::new();
    for (room, path, text) in sources() {
        let allowed = ROOMS.iter().find(|(name, _)| *name == room).map(|(_, uses)| *uses);
        let Some(allowed) = allowed else {
            breaches.push(format!("{}: the room {room} is not in ROOMS", path.display()));
            continue;
        };
        for used in used_rooms(&text) {
            if used != room && used != "model" && !allowed.contains(&used) {
                breaches.push(format!("{}: {room} uses {used}", path.display()));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn words_stay_in_their_rooms() {
    let mut breaches = Vec::new();
    for (room, path, text) in sources().into_iter().filter(|(_, path, _)| !path.ends_with("tests.rs")) {
        for (word, rooms) in WORDS {
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or(line);
                if code.contains(word) && !rooms.contains(&room.as_str()) {
                    breaches.push(format!("{}:{}: {word} belongs to {rooms:?}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn files_say_what_they_are_for_and_are_not_too_long() {
    let mut breaches = Vec::new();
    for (_, path, text) in sources() {
        let is_test = path.ends_with("tests.rs");
        if !text.starts_with("//!") && !is_test {
            breaches.push(format!("{}: does not open with what it is for", path.display()));
        }
        if text.lines().count() > LONGEST && !is_test {
            breaches.push(format!("{}: longer than {LONGEST} lines", path.display()));
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn every_table_of_the_house_is_used() {
    let rooms: BTreeMap<String, usize> = sources().into_iter().fold(BTreeMap::new(), |mut rooms, (room, _, _)| {
        *rooms.entry(room).or_default() += 1;
        rooms
    });
    for (room, _) in ROOMS {
        assert!(rooms.contains_key(*room), "ROOMS names {room}, which is not there");
    }
}

/// Every source file with its room. Language samples are text, not source.
fn sources() -> Vec<(String, PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("src can be read").map(|entry| entry.expect("so can its files"))
        {
            let path = entry.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") && !name.starts_with("sample.") {
                let inside = path.strip_prefix(&src).expect("it was found there");
                let first = inside.components().next().expect("a file has a name").as_os_str().to_string_lossy();
                let text = std::fs::read_to_string(&path).expect("source is text");
                found.push((first.trim_end_matches(".rs").to_owned(), path, text));
            }
        }
    }
    assert!(found.len() > 20, "the sources are not where they should be");
    found.sort();
    found
}

/// The rooms named in `crate::…` paths, grouped imports included.
fn used_rooms(text: &str) -> Vec<&str> {
    let mut rooms = Vec::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or(line);
        for rest in code.split("crate::").skip(1) {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            if end > 0 {
                rooms.push(&rest[..end]);
            } else if let Some(group) = rest.strip_prefix('{') {
                rooms.extend(group.split(&[',', '}']).map(|item| item.trim().split("::").next().unwrap_or_default()));
            }
        }
    }
    rooms.retain(|room| !room.is_empty() && room.chars().next().is_some_and(char::is_lowercase));
    rooms
}
