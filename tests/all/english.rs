//! Plain English in papers, schemas, errors and help: short sentences, commands that begin with a verb, and no phrase that hides
//! its subject.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Words of a sentence, on average and in nine sentences of ten: what ripgrep's README and guide keep to.
const MEAN: f64 = 16.0;
const NINETIETH: usize = 28;
/// Words of the longest sentence.
const LONGEST: usize = 45;
/// Words from which a line of a table or a list is a sentence, and no label.
const SENTENCE: usize = 4;
/// Beginnings of longer sentences: each is a list of names.
const LISTS: &[&str] = &["keys and stores of keys:", "credentials of programs:"];

/// Phrases whose subject a reader has to look for.
static RIDDLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\b(of those|that of|whoever|what is)\b").expect("it is a regex"));

/// Verbs that the line of a command begins with.
const VERBS: &[&str] = &[
    "Add",
    "Assess",
    "Browse",
    "Call",
    "Check",
    "Clone",
    "Compare",
    "Compute",
    "Delete",
    "Detect",
    "Explain",
    "Export",
    "Find",
    "Get",
    "Grep",
    "Index",
    "Keep",
    "List",
    "Make",
    "Map",
    "Open",
    "Pack",
    "Pick",
    "Plan",
    "Print",
    "Publish",
    "Rank",
    "Record",
    "Replace",
    "Review",
    "Search",
    "See",
    "Serve",
    "Set",
    "Show",
    "Suggest",
    "Summarize",
    "Tell",
    "Trace",
    "Update",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The papers that a person reads.
fn papers() -> Vec<PathBuf> {
    let folders = [root().to_owned(), root().join("docs")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("it is in the repository"));
    let paths = entries.map(|entry| entry.expect("it can be listed").path());
    let mut papers: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    papers.push(root().join("benches/README.md"));
    papers.sort();
    papers
}

/// The paragraphs, items of lists and cells of tables of a page. Code, headings and comments are left out.
fn prose(page: &str) -> Vec<String> {
    let comment = Regex::new(r"(?s)<!--.*?-->").expect("it is a regex");
    let item = Regex::new(r"^(?:[-*]|\d+\.) ").expect("it is a regex");
    let (mut blocks, mut is_code) = (vec![String::new()], false);
    for line in comment.replace_all(page, "").lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        if is_fence || is_code || line.is_empty() || line.starts_with('#') {
            blocks.push(String::new());
        } else if line.starts_with('|') {
            blocks.extend(line.replace(r"\|", " ").split('|').map(|cell| cell.trim().to_owned()));
            blocks.push(String::new());
        } else if item.is_match(line) {
            blocks.push(item.replace(line, "").into_owned());
        } else {
            let block = blocks.last_mut().expect("there is one from the beginning");
            *block = format!("{block} {line}");
        }
    }
    blocks
}

/// The sentences of a text. Code and the target of a link are one word.
fn sentences(text: &str) -> Vec<String> {
    let link = Regex::new(r"!?\[([^\]]*)\]\([^)]*\)").expect("it is a regex");
    let code = Regex::new(r"`[^`]*`").expect("it is a regex");
    let end = Regex::new(r#"[.!?][)"*]*\s+"#).expect("it is a regex");
    let text = code.replace_all(&link.replace_all(text, "$1"), "x").replace('\n', " ");
    end.split(&text).map(|sentence| sentence.trim().to_owned()).filter(|sentence| words(sentence) > 0).collect()
}

fn words(sentence: &str) -> usize {
    sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

/// The breaches of a text's sentences, each with the text's name.
fn breaches(name: &str, sentences: &[String]) -> Vec<String> {
    let is_list = |sentence: &&String| LISTS.iter().any(|list| sentence.starts_with(list));
    let long = sentences.iter().filter(|sentence| words(sentence) > LONGEST && !is_list(sentence));
    let mut found: Vec<String> =
        long.map(|sentence| format!("{name}: {} words: {sentence}", words(sentence))).collect();
    let mut lengths: Vec<usize> = sentences.iter().map(|it| words(it)).filter(|length| *length >= SENTENCE).collect();
    lengths.sort_unstable();
    let Some(ninetieth) = lengths.get(lengths.len() * 9 / 10) else { return found };
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    if mean > MEAN || *ninetieth > NINETIETH {
        found.push(format!("{name}: {mean:.1} words a sentence, nine of ten have up to {ninetieth}"));
    }
    found
}

#[test]
fn papers_speak_in_short_sentences() {
    let mut found = Vec::new();
    for paper in papers() {
        let text = fs::read_to_string(&paper).expect("it can be read");
        let sentences: Vec<String> = prose(&text).iter().flat_map(|block| sentences(block)).collect();
        found.extend(breaches(&paper.display().to_string(), &sentences));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn long_sentences_and_riddles_are_found() {
    let long = "word ".repeat(46);
    assert_eq!(breaches("", &sentences(&long)).len(), 2, "one for the sentence, one for the mean");
    assert!(breaches("", &sentences(&"four short words here. ".repeat(9))).is_empty());
    let page = format!("# {long}\n\n```sh\n{long}\n```\n\n| a | {long} |\n\n- {long}\n{long}\n");
    let counts: Vec<usize> = prose(&page).iter().flat_map(|it| sentences(it)).map(|it| words(&it)).collect();
    assert_eq!(counts, [1, 46, 92], "a cell, another, and an item of two lines");
    assert!(RIDDLE.is_match("Lists what is there.") && !RIDDLE.is_match("Lists the files."));
    assert_eq!(
        literals(
            r##"let a = '"'; // "no"
        f("one \" more", r#"and "two""#).expect("none")"##
        ),
        [r#"one \" more"#, r#"and "two""#]
    );
}

/// Every description below `schema/`, by its file.
fn descriptions() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in ["schema", "schema/tools"] {
        for entry in fs::read_dir(root().join(folder)).expect("it is in the repository") {
            let path = entry.expect("it can be listed").path();
            if path.extension().is_some_and(|it| it == "json") {
                let text = fs::read_to_string(&path).expect("it can be read");
                let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
                describe(&path.display().to_string(), &schema, &mut found);
            }
        }
    }
    found
}

fn describe(name: &str, schema: &Value, found: &mut Vec<(String, String)>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key == "description" => found.push((name.to_owned(), text.clone())),
                    value => describe(name, value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| describe(name, value, found)),
        _ => {}
    }
}

#[test]
fn schemas_speak_in_short_sentences_without_riddles() {
    let descriptions = descriptions();
    assert!(descriptions.len() > 1000);
    let all: Vec<String> = descriptions.iter().flat_map(|(_, text)| sentences(text)).collect();
    let mut found = breaches("schema", &all);
    let riddles = descriptions.iter().filter(|(_, text)| RIDDLE.is_match(&text.replace('\n', " ")));
    found.extend(riddles.map(|(name, text)| format!("{name}: {text}")));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The string literals of a source, without those that only its writers read.
fn literals(source: &str) -> Vec<String> {
    const COMMENT_OR_CHARACTER: &str = r"//[^\n]*|'(?:\\.[^']*|[^'\\])'";
    const RAW: &str = r###"r##"((?s:.*?))"##|r#"((?s:.*?))"#|r"([^"]*)""###;
    const PLAIN: &str = r#"(expect\(|expect_err\(|reason = )?"((?:[^"\\]|\\(?s:.))*)""#;
    let token = Regex::new(&format!("{COMMENT_OR_CHARACTER}|{RAW}|{PLAIN}")).expect("it is a regex");
    let mut found = Vec::new();
    for literal in token.captures_iter(source).filter(|it| it.get(4).is_none()) {
        let text = [1, 2, 3, 5].into_iter().find_map(|place| literal.get(place));
        found.extend(text.map(|text| text.as_str().to_owned()));
    }
    found
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is in the repository") {
        let path = entry.expect("it can be listed").path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("tests" | "tests.rs") => {}
            _ if path.is_dir() => sources(&path, found),
            _ => found.push(path),
        }
    }
}

#[test]
fn messages_hold_no_riddles() {
    let mut files = Vec::new();
    for folder in ["src", "crates"].map(|name| root().join(name)).iter().filter(|folder| folder.is_dir()) {
        sources(folder, &mut files);
    }
    let blank = Regex::new(r"\\?\s+").expect("it is a regex");
    let (mut found, mut n_literals) = (Vec::new(), 0);
    for file in files.iter().filter(|file| file.extension().is_some_and(|it| it == "rs")) {
        let text = fs::read_to_string(file).expect("sources are text");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for literal in literals(text) {
            n_literals += 1;
            let literal = blank.replace_all(&literal, " ");
            if RIDDLE.is_match(&literal) {
                found.push(format!("{}: {literal}", file.display()));
            }
        }
    }
    assert!(n_literals > 5_000, "only {n_literals} literals were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The help of a command, and the commands below it with their lines.
fn help(command: &[&str]) -> (String, Vec<(String, String)>) {
    let ran = Command::new(env!("CARGO_BIN_EXE_codelode")).args(command).arg("--help").output().expect("it runs");
    let help = String::from_utf8_lossy(&ran.stdout).into_owned();
    let line = Regex::new(r"(?m)^  ([a-z-]+)  +([A-Z].*)$").expect("it is a regex");
    let below = line.captures_iter(&help).map(|it| (it[1].to_owned(), it[2].to_owned())).collect();
    (help, below)
}

#[test]
fn help_begins_with_verbs_and_holds_no_riddles() {
    let (all, commands) = help(&[]);
    assert!(commands.len() >= 45, "{all}");
    let verbs: BTreeSet<&str> = VERBS.iter().copied().collect();
    let mut found = Vec::new();
    for (name, line) in &commands {
        let first = line.split([' ', ',']).next().unwrap_or_default();
        if !verbs.contains(first) {
            found.push(format!("{name}: {line:?} begins with no verb of the list"));
        }
        let (text, below) = help(&[name]);
        let texts = below.iter().filter(|(below, _)| below != "help").map(|(below, _)| help(&[name, below]).0);
        let riddles = texts.chain([text]).filter_map(|text| {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            RIDDLE.find(&text).map(|riddle| format!("{name} --help: … {} …", riddle.as_str()))
        });
        found.extend(riddles);
    }
    found.extend(RIDDLE.find(&all).map(|riddle| format!("--help: … {} …", riddle.as_str())));
    assert!(found.is_empty(), "{}", found.join("\n"));
}
