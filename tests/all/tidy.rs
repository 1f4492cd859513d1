//! The walls of the house that no manifest can say: which words stay in one room, and how long a file may be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use codelode::languages::{LANGUAGES, LanguageSpec};

/// Words, and the only places that may write them. A package stays where a manifest names it.
const WORDS: &[(&str, &[&str])] = &[
    (
        "async fn",
        &["crates/mcp/src", "crates/http/src", "crates/cluster/src/ship", "crates/cluster/src/fleet", "crates/web/src"],
    ),
    ("async move", &["crates/mcp/src", "crates/net/src", "crates/http/src", "crates/cluster/src/fleet"]),
    (
        "async {",
        &["crates/mcp/src", "crates/net/src", "crates/http/src", "crates/cluster/src/ship", "crates/cluster/src/fleet"],
    ),
    ("prost::", &["crates/index/src/compilers", "crates/query/src/export", "crates/base/src/model"]),
    ("println!", &["src/cli"]),
    ("env::var", &["crates/base/src/config"]),
    ("gix::", &["crates/source/src/git"]),
    ("gix_transport::", &["crates/source/src/git"]),
    (
        "unsafe {",
        &[
            "crates/store/src",
            "crates/index/src/embed",
            "crates/base/src/allocator.rs",
            "crates/lang/src/parsing.rs",
            "src/main.rs",
        ],
    ),
    ("unsafe fn", &["crates/base/src/allocator.rs"]),
    ("unsafe impl", &["crates/store/src", "crates/base/src/allocator.rs"]),
    ("unsafe extern", &["crates/base/src/allocator.rs", "crates/lang/src/parsing.rs"]),
    // Other rooms name the kind of an error by its function: `Error::not_found`.
    ("Error::new(Code::", &["crates/service/src/answer"]),
];

/// The room of languages, and files where a word that is also a language's name is an extension of files or a program.
const NAMING: &[&str] = &[
    "crates/lang/src/languages/",
    "crates/source/src/discover/noise.rs",
    "crates/source/src/discover/walk.rs",
    "crates/source/src/installed/python.rs",
    "crates/base/src/config/secrets.rs",
    "crates/base/src/config/toolchains.rs",
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

/// The largest part of the code that one crate may be, in percent. Languages are data, and many.
const LARGEST_CRATE: usize = 20;

#[test]
fn no_crate_is_a_house_of_its_own() {
    let mut lines = BTreeMap::<String, usize>::new();
    for (name, _, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        *lines.entry(name).or_default() += text.lines().count();
    }
    let all: usize = lines.values().sum();
    for (name, lines) in lines.iter().filter(|(name, _)| *name != "lang") {
        assert!(lines * 100 <= all * LARGEST_CRATE, "{name} has {lines} of {all} lines");
    }
}

#[test]
fn tools_are_apart_and_nothing_else_is_among_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_tool = |name: &str| root.join("schema/tools").join(format!("{name}.json")).exists();
    let of_tools = |path: &Path| path.starts_with(root.join("crates/service/src/tools"));
    let mut breaches = Vec::new();
    for (_, path, text) in sources().into_iter().filter(|(_, path, _)| of_tools(path) && !is_test(path)) {
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (_, path, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        for (word, places) in WORDS {
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or(line);
                if code.contains(word) && !places.iter().any(|place| path.starts_with(root.join(place))) {
                    breaches.push(format!("{}:{}: {word} belongs to {places:?}", path.display(), number + 1));
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

/// Words that a sentence of a comment does not begin with: the thing itself is its subject.
const ASKING: &[&str] = &["What", "Whatever", "Whoever", "Somebody", "Nobody"];

#[test]
fn comments_name_their_subject() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut breaches = Vec::new();
    for (path, text) in
        ["src", "crates", "tests", "benches", "examples", "fuzz"].iter().flat_map(|folder| rust(&root.join(folder)))
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

/// Every source file with its crate. Language samples are text, not source.
fn sources() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<(String, PathBuf, String)> = Vec::new();
    for house in std::fs::read_dir(root.join("crates")).expect("crates can be read") {
        let house = house.expect("so can each of them");
        let name = house.file_name().to_string_lossy().into_owned();
        found.extend(rust(&house.path().join("src")).into_iter().map(|(path, text)| (name.clone(), path, text)));
    }
    found.extend(rust(&root.join("src")).into_iter().map(|(path, text)| ("codelode".to_owned(), path, text)));
    assert!(found.len() > 300, "the sources are not where they should be");
    found.sort();
    found
}

/// Whether a file holds tests only: they may use what they test with.
fn is_test(path: &Path) -> bool {
    path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests")
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
