//! The walls of the house: which room may use which, and which words stay in one room.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use codelode::languages::{LANGUAGES, LanguageSpec};

/// Each room and the rooms it may use, beside `model`, which all may.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("config", &[]),
    ("net", &[]),
    ("git", &["net", "config"]),
    ("github", &["net"]),
    ("discover", &["git", "config"]),
    ("facts", &[]),
    ("languages", &["facts", "parsing"]),
    ("extract", &["languages", "facts", "allocator", "parsing"]),
    ("resolve", &["facts"]),
    ("embed", &["net", "config"]),
    ("summarize", &["net", "config"]),
    ("enrich", &[]),
    ("compilers", &["store"]),
    ("installed", &["config"]),
    ("store", &["languages"]),
    ("ship", &["store", "net"]),
    ("fleet", &[]),
    (
        "pipeline",
        &[
            "config",
            "discover",
            "installed",
            "git",
            "languages",
            "extract",
            "facts",
            "resolve",
            "embed",
            "summarize",
            "net",
            "store",
            "compilers",
            "allocator",
        ],
    ),
    ("query", &["store", "languages", "extract", "git", "allocator", "parsing"]),
    (
        "catalog",
        &[
            "answer",
            "query",
            "pipeline",
            "store",
            "ship",
            "fleet",
            "watch",
            "config",
            "discover",
            "installed",
            "git",
            "github",
            "net",
            "embed",
            "summarize",
            "enrich",
            "allocator",
        ],
    ),
    ("answer", &["config"]),
    ("parts", &["answer", "catalog", "query", "store", "languages"]),
    ("tools", &["answer", "catalog", "parts", "query", "store", "languages"]),
    ("watch", &["pipeline", "store", "config", "git", "allocator"]),
    ("http", &["config", "net"]),
    ("setup", &["net"]),
    ("mcp", &["tools", "answer", "config", "http"]),
    // An unsaved file goes through `catalog`; `store` is for the types of what `query` finds.
    ("lsp", &["tools", "answer", "catalog", "query", "store", "config", "allocator"]),
    ("pictures", &["query", "store"]),
    ("export", &["store"]),
    // `store` is for the types of what `query` finds, `languages` for the colours of a text that no index holds.
    ("web", &["tools", "parts", "answer", "catalog", "query", "store", "languages", "http", "pictures"]),
    (
        "cli",
        &[
            "tools",
            "parts",
            "answer",
            "catalog",
            "mcp",
            "lsp",
            "web",
            "http",
            "net",
            "config",
            "setup",
            "watch",
            "allocator",
            "pictures",
            "export",
            // For the list of them.
            "languages",
        ],
    ),
    ("allocator", &[]),
    ("parsing", &["allocator"]),
    // It leads into every room, and the program does not hold it.
    (
        "fuzzing",
        &["config", "discover", "extract", "facts", "git", "languages", "mcp", "query", "resolve", "store", "tools"],
    ),
    ("lib", &[]),
    ("main", &["allocator", "cli"]),
];

/// Words, and the only rooms that may write them.
const WORDS: &[(&str, &[&str])] = &[
    ("tantivy::", &["store"]),
    ("rmcp::", &["mcp"]),
    ("lsp_types::", &["lsp"]),
    ("lsp_server::", &["lsp"]),
    ("async fn", &["mcp", "http", "ship", "fleet", "web"]),
    ("async move", &["mcp", "net", "http", "fleet"]),
    ("async {", &["mcp", "net", "http", "ship", "fleet"]),
    ("tokio::", &["mcp", "net", "http", "ship", "fleet", "web"]),
    ("hyper::", &["http"]),
    ("hyper_util::", &["http"]),
    ("http_body_util::", &["http", "ship"]),
    ("object_store::", &["ship"]),
    ("async_nats::", &["fleet"]),
    ("maud::", &["web"]),
    ("clap::", &["cli"]),
    ("grep_regex::", &["query"]),
    ("ast_grep_core::", &["query"]),
    ("grep_printer::", &["cli"]),
    ("prost::", &["compilers", "export", "model"]),
    ("println!", &["cli"]),
    ("env::var", &["config"]),
    ("gix::", &["git"]),
    ("gix_transport::", &["git"]),
    ("matrixmultiply::", &["embed"]),
    ("reqwest::", &["net"]),
    ("rustls::", &["net", "http"]),
    ("use ring::", &["http"]),
    ("notify::", &["watch"]),
    ("tree_sitter_", &["languages"]),
    ("unsafe {", &["store", "embed", "allocator", "parsing", "main"]),
    ("unsafe fn", &["allocator"]),
    ("unsafe impl", &["store", "allocator"]),
    ("unsafe extern", &["allocator", "parsing"]),
    // Other rooms name the kind of an error by its function: `Error::not_found`.
    ("Error::new(Code::", &["answer"]),
    ("todo!(", &[]),
    ("unimplemented!(", &[]),
    ("dbg!(", &[]),
];

/// The room of languages, and files where a word that is also a language's name is an extension of files or a program.
const NAMING: &[&str] = &[
    "src/languages/",
    "src/discover/noise.rs",
    "src/discover/walk.rs",
    "src/installed/python.rs",
    "src/config/secrets.rs",
    "src/config/toolchains.rs",
    "src/cli/hook/shell.rs",
];

/// Languages that are forms of settings and answers, too.
const FORMS: &[&str] = &["json", "markdown", "yaml"];

/// A file does one job; a longer one does two.
const LONGEST: usize = 700;

/// So does a function.
const LONGEST_FUNCTION: usize = 100;

/// Functions that may be longer: each is one flat match over the kinds of nodes of a grammar.
const MATCHES: &[(&str, &str)] = &[
    ("java/expressions.rs", "expression"),
    ("javascript/lower/expressions.rs", "one"),
    ("javascript/lower/mod.rs", "statement"),
    ("javascript/lower/types.rs", "one"),
    ("python/expressions.rs", "walk_one"),
    ("python/lower.rs", "statement"),
    ("rust/expressions.rs", "walk_one"),
];

#[test]
fn rooms_use_only_the_rooms_they_may() {
    let mut breaches = Vec::new();
    for (room, path, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        let allowed = ROOMS.iter().find(|(name, _)| *name == room).map(|(_, uses)| *uses);
        let Some(allowed) = allowed else {
            breaches.push(format!("{}: the room {room} is not in ROOMS", path.display()));
            continue;
        };
        for used in used_rooms(&path, &text) {
            if used != room && used != "model" && !allowed.contains(&&*used) {
                breaches.push(format!("{}: {room} uses {used}", path.display()));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

/// The most rooms that tools may use, beside the nouns of `model`.
const MOST_OF_TOOLS: usize = 6;
/// The largest part of the code that one room may be, in percent. Languages are data, and many.
const LARGEST_ROOM: usize = 20;

#[test]
fn rooms_are_few_for_tools_and_none_is_a_house_of_its_own() {
    let (_, of_tools) = ROOMS.iter().find(|(room, _)| *room == "tools").expect("tools are a room");
    assert!(of_tools.len() <= MOST_OF_TOOLS, "tools may use {of_tools:?}");
    let mut lines = BTreeMap::<String, usize>::new();
    for (room, _, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        *lines.entry(room).or_default() += text.lines().count();
    }
    let all: usize = lines.values().sum();
    for (room, lines) in lines.iter().filter(|(room, _)| *room != "languages") {
        assert!(lines * 100 <= all * LARGEST_ROOM, "{room} has {lines} of {all} lines");
    }
}

#[test]
fn tools_are_apart_and_nothing_else_is_among_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_tool = |name: &str| root.join("schema/tools").join(format!("{name}.json")).exists();
    let of_tools = |room: &String| room == "tools";
    let mut breaches = Vec::new();
    for (_, path, text) in sources().into_iter().filter(|(room, path, _)| of_tools(room) && !is_test(path)) {
        let own = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        if own == "mod" {
            continue;
        }
        if own != "call" && !is_tool(own) {
            breaches.push(format!("{}: is not a tool", path.display()));
        }
        let named = |line: &str| {
            let uses = line.match_indices("super::").chain(line.match_indices("tools::"));
            let mut heads = uses.flat_map(|(at, top)| heads(&line[at + top.len()..]));
            heads.find(|name| name != own && is_tool(name))
        };
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(&text);
        let code: String = code.lines().map(|line| line.split("//").next().unwrap_or(line)).collect();
        if let Some(other) = named(&code) {
            breaches.push(format!("{}: uses the tool {other}", path.display()));
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn errors_of_rooms_get_their_kinds_in_one_file() {
    let mut breaches = Vec::new();
    for (_, path, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        let is_home = path.ends_with("catalog/errors.rs");
        for (number, line) in text.lines().enumerate().filter(|_| !is_home) {
            if line.contains("_error(err: ") && line.trim_end().ends_with("-> Error {") {
                breaches.push(format!("{}:{}: belongs to catalog/errors.rs", path.display(), number + 1));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn words_stay_in_their_rooms() {
    let mut breaches = Vec::new();
    for (room, path, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
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
fn only_languages_know_a_language_by_name() {
    let mut breaches = Vec::new();
    let may_name = |path: &Path| NAMING.iter().any(|place| path.to_string_lossy().contains(place));
    for (_, path, text) in sources().into_iter().filter(|(_, path, _)| !may_name(path) && !path.ends_with("tests.rs")) {
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(&text);
        for (number, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let named = |spec: &&&LanguageSpec| line.contains(&format!("\"{}\"", spec.id)) && !FORMS.contains(&spec.id);
            if let Some(spec) = LANGUAGES.iter().find(named) {
                breaches.push(format!("{}:{}: names {}", path.display(), number + 1, spec.id));
            }
            if line.contains("languages::")
                && LANGUAGES.iter().any(|spec| line.contains(&format!("languages::{}::", spec.id)))
            {
                breaches.push(format!("{}:{}: reaches into a language", path.display(), number + 1));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

#[test]
fn files_say_what_they_are_for_and_are_not_too_long() {
    let mut breaches = Vec::new();
    for (_, path, text) in sources() {
        let is_test = is_test(&path);
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
fn functions_are_not_too_long() {
    let mut long = Vec::new();
    for (_, path, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        for (name, lines) in functions(&text).into_iter().filter(|(_, lines)| *lines > LONGEST_FUNCTION) {
            let may = |(file, function): &&(&str, &str)| {
                path.ends_with(Path::new("languages").join(file)) && *function == name
            };
            match MATCHES.iter().find(may) {
                Some(known) => long.push(*known),
                None => panic!("{}: {name} has {lines} lines", path.display()),
            }
        }
    }
    let short: Vec<_> = MATCHES.iter().filter(|known| !long.contains(known)).collect();
    assert!(short.is_empty(), "no longer long: {short:?}");
}

/// The functions of a formatted source with their lengths: each ends with a bracket that is as far in as its first line.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let begins = code.starts_with("fn ")
            || code.starts_with("pub")
            || code.starts_with("unsafe")
            || code.starts_with("const fn");
        let Some((_, rest)) = code.split_once("fn ").filter(|_| begins && !code.ends_with(['}', ';'])) else {
            continue;
        };
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let (end, signature) =
            (format!("{}}}", &line[..line.len() - code.len()]), format!("{});", &line[..line.len() - code.len()]));
        let rest = lines[at + 1..].iter().position(|line| *line == end || line.starts_with(&signature));
        found.extend(rest.map(|rest| (name, rest + 2)));
    }
    found
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

/// Words that a sentence of a comment does not begin with: the thing itself is its subject.
const ASKING: &[&str] = &["What", "Whatever", "Whoever", "Somebody", "Nobody"];

#[test]
fn comments_name_their_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut breaches = Vec::new();
    for (path, text) in
        ["src", "tests", "benches", "examples", "fuzz"].iter().flat_map(|folder| rust(&root.join(folder)))
    {
        let mut is_new = true;
        for (number, line) in text.lines().enumerate() {
            let Some(said) = comment(line) else {
                is_new = true;
                continue;
            };
            let sentences = said.split(". ").enumerate().filter(|(nth, _)| is_new || *nth > 0);
            let first = |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned();
            if sentences.map(|(_, sentence)| first(sentence)).any(|word| ASKING.contains(&word.as_str())) {
                breaches.push(format!("{}:{}: {said}", path.display(), number + 1));
            }
            is_new = said.is_empty() || said.ends_with(['.', ':']);
        }
    }
    assert!(breaches.is_empty(), "begin with the thing by its name:\n{}", breaches.join("\n"));
}

/// The text of a line that is a comment.
fn comment(line: &str) -> Option<&str> {
    Some(line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).trim())
}

/// The Rust files below a folder that are not the samples of a language, nor made by a build.
fn rust(folder: &Path) -> Vec<(PathBuf, String)> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() && name != "target" {
                folders.push(path);
            } else if name.to_str().is_some_and(|name| name.ends_with(".rs") && !name.starts_with("sample.")) {
                found.push((path.clone(), std::fs::read_to_string(&path).expect("source is text")));
            }
        }
    }
    found
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

/// Whether a file holds tests only: they may use what they test with.
fn is_test(path: &Path) -> bool {
    path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests")
}

/// The rooms that a file names, by `crate::` or by as many `super::` as lead up to it, in groups of any shape.
fn used_rooms(path: &Path, text: &str) -> Vec<String> {
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap_or(path);
    let depth = inside.components().count() - usize::from(path.ends_with("mod.rs"));
    let to_the_top = "super::".repeat(depth);
    let code: String = text.lines().map(|line| line.split("//").next().unwrap_or(line)).collect::<Vec<_>>().join("\n");
    let mut rooms = Vec::new();
    for top in ["crate::", &to_the_top] {
        for (at, _) in code.match_indices(top) {
            let is_longer = code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c));
            if !is_longer {
                rooms.extend(heads(&code[at + top.len()..]));
            }
        }
    }
    rooms.retain(|room| room.starts_with(char::is_lowercase) && ROOMS.iter().any(|(name, _)| name == room));
    rooms
}

/// The first names of a path, or of every path of a group.
fn heads(path: &str) -> Vec<String> {
    let name = |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut deep, mut heads, mut is_next) = (0_usize, Vec::new(), true);
    for (at, c) in group.char_indices() {
        match c {
            '}' if deep == 0 => break,
            '{' => deep += 1,
            '}' => deep -= 1,
            ',' if deep == 0 => is_next = true,
            c if is_next && !c.is_whitespace() => {
                heads.push(name(&group[at..]));
                is_next = false;
            }
            _ => {}
        }
    }
    heads
}

#[test]
fn no_way_to_name_a_room_is_overlooked() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let used = |path: &str, text: &str| used_rooms(&src.join(path), text);
    assert_eq!(used("query/x.rs", "use crate::{\n    git::{self, Commit},\n    store,\n};"), ["git", "store"]);
    assert_eq!(used("query/x.rs", "use super::super::store::Snapshot; // crate::git"), ["store"]);
    assert_eq!(used("query/mod.rs", "fn f() { super::net::Client::new() }"), ["net"]);
    assert_eq!(used("query/graph/mod.rs", "use super::super::net;"), ["net"]);
    assert_eq!(used("query/x.rs", "use super::store_things; pub(crate) fn f() {}"), [""; 0]);
}
