//! Each language's sample, and the symbols that are read from it.
//!
//! `UPDATE_EXPECT=1 cargo test --test all languages::` writes what is read now; read it before you commit it.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use codelode::extract::extract;
use codelode::languages::{LANGUAGES, LanguageSpec, first_sentence, listed};
use codelode::model::{Extraction, Kind, Span};
use expect_test::expect_file;
use serde_json::Value;

use crate::cli::numbers;
use crate::client::Waiting;
use crate::random::Random;

/// One line a symbol: lines, kind, name, signature, and what else there is to say.
fn tags(spec: &LanguageSpec, extraction: &Extraction, source: &[u8]) -> String {
    let text = |span: Span| String::from_utf8_lossy(span.of(source)).into_owned();
    let mut out = String::new();
    let mut names: Vec<String> = Vec::new();
    for symbol in &extraction.symbols {
        let mut name = String::new();
        if let Some(parent) = symbol.parent {
            write!(name, "{}.", names[parent as usize]).unwrap();
        }
        if !symbol.container.is_empty() {
            write!(name, "{}.", text(symbol.container)).unwrap();
        }
        name += &text(symbol.name);
        let signature = text(symbol.signature);
        let signature = signature.split_whitespace().collect::<Vec<_>>().join(" ");
        write!(out, "{}-{} {}", symbol.line, symbol.end_line, symbol.kind.as_str()).unwrap();
        if symbol.kind.as_str() != symbol.detail.as_str() {
            write!(out, "/{}", symbol.detail.as_str()).unwrap();
        }
        write!(out, " {name} | {signature}").unwrap();
        if symbol.complexity > 1 {
            write!(out, " | complexity {}", symbol.complexity).unwrap();
        }
        for decorator in &symbol.decorators {
            write!(out, " | {}", text(*decorator).split_whitespace().collect::<Vec<_>>().join(" ")).unwrap();
        }
        if !symbol.doc.is_empty() {
            write!(out, " | doc: {}", first_sentence(&spec.comments.clean(&text(symbol.doc)), 120)).unwrap();
        }
        out.push('\n');
        names.push(name);
    }
    out
}

#[test]
fn samples_give_their_symbols() {
    for spec in LANGUAGES {
        let samples = samples(spec);
        assert!(!samples.is_empty(), "{} has no sample", spec.id);
        for (path, source) in samples {
            let found = extract(spec, &source);
            assert_eq!(found.failure, None);
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            expect_file![path.with_extension(format!("{extension}.tags"))].assert_eq(&tags(spec, &found, &source));
        }
    }
}

#[test]
fn samples_define_and_call_something() {
    for spec in LANGUAGES {
        let texts = samples(spec).into_iter().map(|(_, text)| text).collect::<Vec<_>>().concat();
        let names: Vec<String> = samples(spec)
            .iter()
            .flat_map(|(_, text)| extract(spec, text).symbols.into_iter().map(|symbol| (symbol, text.clone())))
            .filter(|(symbol, _)| matches!(symbol.kind, Kind::Function | Kind::Method))
            .map(|(symbol, text)| String::from_utf8_lossy(symbol.name.of(&text)).into_owned())
            .collect();
        // Some languages only describe.
        if names.is_empty() {
            continue;
        }
        let text = String::from_utf8_lossy(&texts);
        let called = |name: &String| text.matches(name.as_str()).count() > 1;
        assert!(names.iter().any(called), "{}: its sample calls nothing that it defines", spec.id);
    }
}

/// The most lines of data of a language with symbols only, for each of its grammars.
const MOST_LINES: usize = 60;

#[test]
fn a_language_with_symbols_only_is_a_page_of_data_and_two_lines_elsewhere() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/lang/src/languages");
    let read = |path: &str| std::fs::read_to_string(room.join(path)).expect("it is text");
    let table = read("mod.rs");
    for spec in LANGUAGES.iter().filter(|spec| spec.relating.is_none()) {
        let text = read(&format!("{}/mod.rs", spec.id));
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or(&text);
        // Functions for what no rule says are no data.
        let (mut lines, mut in_function) = (0, false);
        for line in code.lines().filter(|line| !line.is_empty()) {
            in_function |= line.starts_with("fn ") || line.starts_with("pub");
            in_function &= !line.starts_with("pub static");
            lines += usize::from(!in_function);
            in_function &= line != "}";
        }
        let grammars = LANGUAGES.iter().filter(|other| other.id == spec.id).count();
        assert!(lines <= MOST_LINES * grammars, "{} has {lines} lines of data", spec.id);
        let named = |line: &&str| line.split(|c: char| !c.is_alphanumeric()).any(|word| word == spec.id);
        assert_eq!(table.lines().filter(named).count(), 1 + grammars, "{}: lines elsewhere", spec.id);
    }
}

/// The samples of a language, with their paths.
fn samples(spec: &LanguageSpec) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/lang/src/languages").join(spec.id);
    let shared = spec.claims.iter().map(|(extension, _)| extension);
    let paths = spec.extensions.iter().chain(shared).map(|extension| room.join(format!("sample.{extension}")));
    paths.filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?))).collect()
}

/// Mutations of each sample. A grammar is C, whose faults end the process; `MUTATIONS=5000` looks for them in earnest.
const MUTATIONS: usize = 60;

#[test]
fn mutated_samples_are_read() {
    let times = std::env::var("MUTATIONS").ok().and_then(|times| times.parse().ok()).unwrap_or(MUTATIONS);
    let only = std::env::var("LANGUAGE").ok();
    let chosen = |spec: &&&LanguageSpec| only.as_deref().is_none_or(|only| only == spec.id);
    let guard = Guard::new();
    for spec in LANGUAGES.iter().filter(chosen) {
        let samples: Vec<Vec<u8>> = samples(spec).into_iter().map(|(_, text)| text).collect();
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for time in 0..times {
            let mut text = samples[random.below(samples.len())].clone();
            for _ in 0..=random.below(6) {
                mutate(&mut text, &mut random);
            }
            guard.reads(format!("{}.{time}", spec.id), &text);
            for symbol in extract(spec, &text).symbols {
                assert!(symbol.span.contains(symbol.name) && symbol.span.end as usize <= text.len(), "{}", spec.id);
            }
        }
    }
    guard.ends();
}

/// Names the text that is being read, and ends the process where reading it does not end: a scanner in C cannot be stopped.
struct Guard(Sender<Option<(String, Vec<u8>)>>);

impl Guard {
    fn new() -> Self {
        let (sender, receiver) = channel::<Option<(String, Vec<u8>)>>();
        std::thread::spawn(move || {
            let mut next = receiver.recv().ok().flatten();
            while let Some((name, text)) = next {
                let waiting = Waiting::new(std::process::id());
                next = loop {
                    match receiver.recv_timeout(Duration::from_secs(1)) {
                        Ok(next) => break next,
                        Err(RecvTimeoutError::Disconnected) => return,
                        Err(RecvTimeoutError::Timeout) if !waiting.is_over() => {}
                        Err(RecvTimeoutError::Timeout) => {
                            let path = std::env::temp_dir().join(format!("mutated.{name}"));
                            std::fs::write(&path, &text).expect("there is room for a text");
                            eprintln!("reading does not end: {}; `cargo run --example tree` shows it", path.display());
                            std::process::abort();
                        }
                    }
                };
            }
        });
        Self(sender)
    }

    fn reads(&self, name: String, text: &[u8]) {
        self.0.send(Some((name, text.to_vec()))).expect("it listens until the end");
    }

    fn ends(&self) {
        self.0.send(None).expect("it listens until the end");
    }
}

/// A newcomer reads here, at once, all that a language needs beside its folder.
#[test]
fn a_language_is_named_wherever_all_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("it is text");
    let (program, crate_, attacks) =
        (read("Cargo.toml"), read("crates/lang/Cargo.toml"), read("tests/attacks/hostile.rs"));
    let (manual, editor, stored) =
        (read("docs/languages.md"), read("editors/claude-code/.lsp.json"), read("schema/stored.json"));
    let mut missing = Vec::new();
    for spec in LANGUAGES {
        let (id, ending) = (spec.id, spec.extensions.first().copied().unwrap_or_default());
        let folder = format!("crates/lang/src/languages/{id}");
        let needs = [
            ("Cargo.toml: a feature", program.contains(&format!("\n{id} = [\"codelode-lang/{id}\"]"))),
            ("crates/lang/Cargo.toml: a feature", crate_.contains(&format!("\n{id} = ["))),
            (
                "silent.txt in its folder, by UPDATE_EXPECT=1 cargo test -p codelode-lang languages",
                root.join(&folder).join("silent.txt").exists(),
            ),
            (
                "a sample in its folder, and its tags by UPDATE_EXPECT=1 cargo test --test all languages",
                !samples(spec).is_empty(),
            ),
            (
                "tests/attacks/hostile.rs: a row of LANGUAGES",
                ending.is_empty() || attacks.contains(&format!("id: \"{id}\"")),
            ),
            ("docs/languages.md, by UPDATE_EXPECT=1", manual.contains(id)),
            (
                "editors/claude-code/.lsp.json, by UPDATE_EXPECT=1",
                ending.is_empty() || editor.contains(&format!("\".{ending}\"")),
            ),
            (
                "schema/stored.json, by UPDATE_EXPECT=1, and a higher CONTENT in crates/store",
                stored.contains(&format!("\"{id}\"")),
            ),
        ];
        missing.extend(needs.into_iter().filter(|(_, there)| !there).map(|(what, _)| format!("{id}: {what}")));
    }
    assert!(missing.is_empty(), "a language is to be named here as well:\n{}", missing.join("\n"));
}

/// Files deeper and longer than the scanner of YAML keeps account of.
#[test]
fn deep_and_long_yaml_is_read() {
    let (_, spec) = codelode::languages::of_id("yaml").expect("it is a language");
    let indented = |open: &str| (0..600).map(|depth| " ".repeat(depth) + open + "\n").collect::<String>();
    let same = (0..300).map(|depth| format!("{0}a:\n{0}- b:\n", "  ".repeat(depth))).collect::<String>();
    let all = ["- ".repeat(5_000), "? ".repeat(5_000), indented("a:"), indented("-"), same, "a:\n".repeat(100_000)];
    for text in all.into_iter().chain(["[".repeat(50_000), "{a: ".repeat(20_000), "a: |\n".repeat(40_000)]) {
        let found = extract(spec, format!("top: 1\n---\n{text}").as_bytes());
        assert!(found.symbols.len() < 1_000);
    }
}

/// Leaves out, doubles, moves or overwrites a piece of a text, or opens something that nothing closes.
fn mutate(text: &mut Vec<u8>, random: &mut Random) {
    const OPENING: &[&[u8]] = &[
        b"(", b"{", b"[", b"<", b"\"", b"'", b"`", b"/*", b"\"\"\"", b"${", b"#{", b"<<EOF\n", b"--[==[", b"\0",
        b"\xff", b"\r",
    ];
    let start = random.below(text.len() + 1);
    let end = (start + random.below(200)).min(text.len());
    let piece = text[start..end].to_vec();
    let elsewhere = random.below(text.len() + 1);
    match random.below(6) {
        0 => drop(text.drain(start..end)),
        1 => drop(text.splice(elsewhere..elsewhere, piece)),
        2 => text.truncate(start.max(1)),
        3 => text[start..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
        4 => {
            let opening = OPENING[random.below(OPENING.len())].repeat(1 + random.below(300));
            drop(text.splice(start..start, opening));
        }
        _ => drop(text.splice(start..end, piece.into_iter().rev())),
    }
}

/// The lines of the manual around its table of languages.
const TABLE: [&str; 2] =
    ["<!-- The table of languages is made by tests/all/languages.rs. -->", "<!-- The table ends. -->"];

#[test]
fn the_manual_lists_every_language() {
    let mut table = String::from("\n| language | files |\n|---|---|\n");
    for one in listed() {
        let files: Vec<String> = one.files().map(|file| format!("`{file}`")).collect();
        let mark = if one.relations { "**" } else { "" };
        writeln!(table, "| {mark}{}{mark} | {} |", one.id, files.join(" ")).unwrap();
    }
    let (count, related) = (listed().len(), listed().iter().filter(|one| one.relations).count());
    let said = format!("[{count} languages](docs/languages.md), {related} of them");
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(readme.contains(&said), "the README should say: {said}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/languages.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(TABLE[0]).expect("the page has a table of languages");
    let (_, after) = rest.split_once(TABLE[1]).expect("the table ends");
    let expected = format!("{before}{}{table}{}{after}", TABLE[0], TABLE[1]);
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(page == expected, "the table of languages is old; UPDATE_EXPECT=1 makes it anew");
}

#[test]
fn languages_are_listed_with_what_is_known_of_them() {
    let place = numbers();
    let table = place.found(&["languages"]);
    let line = |id: &str| {
        let found = table.lines().find(|line| line.split_whitespace().next() == Some(id));
        found.unwrap_or_default().split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(line("python")[1..5], ["yes", "yes", "yes", ".py"], "{table}");
    assert_eq!(line("c")[1..5], ["yes", "yes", "-", ".c"]);
    assert_eq!(line("lua")[1..5], ["yes", "-", "-", ".lua"]);
    let list: Value = serde_json::from_str(&place.found(&["languages", "--json"])).expect("it is JSON");
    let list = list["languages"].as_array().expect("a list");
    let typescript = list.iter().filter(|one| one["language"] == "typescript").collect::<Vec<_>>();
    assert_eq!(typescript.len(), 1, "two grammars are one language");
    assert_eq!((&typescript[0]["extensions"][3], &typescript[0]["calls"]), (&".tsx".into(), &true.into()));
    let lua = list.iter().find(|one| one["language"] == "lua").expect("it is there");
    assert_eq!((&lua["symbols"], &lua["hierarchy"]), (&true.into(), &false.into()));
}
