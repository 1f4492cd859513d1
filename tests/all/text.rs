//! Text search finds what ripgrep finds: random patterns over this repository's own sources and some files that are hard
//! to read, against a line-by-line search that knows no index and, where it is installed, against `rg` itself.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use codelode::pipeline::{self, Options, RunControl};
use codelode::query::scan::{Candidates, Limits};
use codelode::query::text::{Case, Pattern, search_text};
use codelode::store::{Registry, Snapshot};
use codelode::tools::{Context, Request};
use serde_json::{Value, json};

use crate::place::{Place, called};
use crate::random::Random;

static NEVER: AtomicBool = AtomicBool::new(false);

/// How many patterns are tried.
const PATTERNS: usize = 300;

/// Files whose text is not plain.
const HARD: &[(&str, &[u8])] = &[
    ("empty.txt", b""),
    ("open_end.txt", b"first\nno newline at the end"),
    ("windows.txt", b"first line\r\nsecond line\r\n\r\nsome function here\r\n"),
    ("latin1.txt", b"caf\xe9 function\nna\xefve Stra\xdfe\n\xff\xfe function\n"),
    ("marked.txt", b"\xef\xbb\xbffunction first\nfunction second\n"),
    ("marked_bad.txt", b"\xef\xbb\xbffunction \xff first\nsecond \xff\xff function\n"),
    ("folded.txt", "\u{212a}elvin \u{17f}earch ta\u{17f}k\nSTRA\u{1e9e}E stra\u{df}e\n\u{c9}t\u{e9} \u{e9}T\u{c9}\n".as_bytes()),
    ("wide.txt", "\u{691c}\u{7d22}\u{30a8}\u{30f3}\u{30b8}\n\u{43f}\u{43e}\u{438}\u{441}\u{43a} \u{41f}\u{41e}\u{418}\u{421}\u{41a}\n\u{1f50d} find\n".as_bytes()),
    ("controls.txt", b"a\x0bb\x0cc\x1b[0m\x7f\ttab\rreturn\n"),
];

struct Corpus {
    place: Place,
    snapshot: Snapshot,
}

/// The corpus, made once for all tests.
fn corpus() -> &'static Corpus {
    static CORPUS: LazyLock<Corpus> = LazyLock::new(make_corpus);
    &CORPUS
}

fn make_corpus() -> Corpus {
    let place = Place::new();
    let root = place.source();
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Enough for every sort of pattern: of all of them, searches line by line would take minutes.
    for (room, folder) in [("cli", "src/cli"), ("query", "crates/query/src"), ("store", "crates/store/src")] {
        super::copy(&own.join(folder), &root.join("src").join(room));
    }
    for (name, bytes) in HARD {
        place.write(name, bytes);
    }
    // Beyond what is looked at to tell text from other files, and beyond a reader's first buffer.
    for (name, len) in [("late_nul.txt", 9_000), ("very_late_nul.txt", 100_000)] {
        let mut bytes: Vec<u8> = b"function before\nsearch before\n".iter().copied().cycle().take(len).collect();
        bytes.push(0);
        bytes.extend_from_slice(b"\nfunction after\n");
        place.write(name, &bytes);
    }
    let config = place.config();
    let watcher =
        RunControl { progress: &codelode::model::unfollowed, cancelled: &NEVER, patience: Duration::from_secs(5) };
    let report = pipeline::index_folder(&root, &config, &Options::default(), &watcher).expect("it can be indexed");
    let store = Registry::new(&config.home).store(&report.sidecar.store);
    let snapshot = store.snapshot(&report.sidecar.snapshot).expect("it was committed just now");
    assert!(snapshot.files().count() > 100, "the corpus is not where it should be");
    Corpus { place, snapshot }
}

type Lines = BTreeSet<(String, u64)>;

/// Matches by the index.
fn found(snapshot: &Snapshot, pattern: &Pattern) -> Result<Lines, String> {
    let matcher = pattern.compile()?;
    let keep = |_: &codelode::store::FileView<'_>| true;
    let candidates = Candidates::new(snapshot, &matcher.grams, pattern.name(), &keep).expect("the index can be read");
    let limits = Limits { until: Instant::now() + Duration::from_secs(60), cancelled: &NEVER };
    let mut lines = Lines::new();
    search_text(candidates, &matcher, 0, usize::MAX, limits, &mut |file, hits| {
        for hit in hits {
            lines.extend((0..hit.lines).map(|next| (file.path().to_owned(), hit.line + next)));
        }
        true
    });
    Ok(lines)
}

/// Matches by a search of every line. Files that are read in part only are left to `rg`.
fn scanned(snapshot: &Snapshot, pattern: &Pattern) -> Lines {
    let text = if pattern.fixed { regex::escape(&pattern.patterns[0]) } else { pattern.patterns[0].clone() };
    let text = if pattern.word { format!(r"\b{{start-half}}(?:{text})\b{{end-half}}") } else { text };
    let regex = regex::bytes::RegexBuilder::new(&text)
        .multi_line(true)
        .case_insensitive(pattern.case == Case::Insensitive)
        .build()
        .expect("it was compiled before");
    let mut lines = Lines::new();
    for file in snapshot.files().filter(|file| !is_special(file.path())) {
        let content = file.content();
        let mut all: Vec<&[u8]> = content.split(|byte| *byte == b'\n').collect();
        // Text after the last newline is a line only when there is some.
        if all.last().is_some_and(|last| last.is_empty()) {
            all.pop();
        }
        for (number, line) in all.into_iter().enumerate() {
            if regex.is_match(line) {
                lines.insert((file.path().to_owned(), number as u64 + 1));
            }
        }
    }
    lines
}

fn is_special(path: &str) -> bool {
    path.contains("nul") || path.contains("marked")
}

/// Matches by ripgrep.
fn ripgrep(root: &Path, pattern: &Pattern) -> Lines {
    let mut command = Command::new("rg");
    // Lists that package managers write are not indexed.
    let flags = ["--no-config", "--json", "--no-ignore", "--hidden", "--glob", "!package-lock.json"];
    command.args(flags).current_dir(root);
    let flags = [
        (pattern.fixed, "-F"),
        (pattern.case == Case::Insensitive, "-i"),
        (pattern.case == Case::Smart, "-S"),
        (pattern.word, "-w"),
        (pattern.multi_line, "-U"),
    ];
    command.args(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag));
    let output = command.arg("-e").arg(&pattern.patterns[0]).arg(".").output().expect("rg runs");
    let mut lines = Lines::new();
    for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: serde_json::Value = serde_json::from_slice(line).expect("rg writes JSON");
        if message["type"] != "match" {
            continue;
        }
        let data = &message["data"];
        let path = data["path"]["text"].as_str().expect("paths are text").trim_start_matches("./").to_owned();
        let first = data["line_number"].as_u64().expect("lines are numbered");
        let count = match data["lines"]["text"].as_str() {
            Some(text) => text.lines().count() as u64,
            None => 1,
        };
        lines.extend((0..count.max(1)).map(|next| (path.clone(), first + next)));
    }
    lines
}

/// The version of the ripgrep that is installed, if one is. Before 14, words were another thing.
fn ripgrep_version() -> Option<u32> {
    let output = Command::new("rg").arg("--version").output().ok()?;
    String::from_utf8_lossy(&output.stdout).split([' ', '.']).nth(1)?.parse().ok()
}

/// A part of a line of the corpus, as it is or as a regular expression made of it.
fn random_pattern(random: &mut Random, lines: &[String]) -> Pattern {
    let line = loop {
        let line: Vec<char> = random.one(lines).chars().collect();
        if !line.is_empty() {
            break line;
        }
    };
    let start = random.below(line.len());
    let len = 1 + random.below(24);
    let part = &line[start..(start + len).min(line.len())];
    let fixed = random.below(3) == 0;
    let mut text: String = part.iter().collect();
    if !fixed {
        text = part
            .iter()
            .map(|char| {
                let escaped = regex::escape(&char.to_string());
                match random.below(18) {
                    0 => ".".to_owned(),
                    1 => r"\w".to_owned(),
                    2 => format!("{escaped}?"),
                    3 => format!("{escaped}+"),
                    4 => format!("(?:{escaped}|x)"),
                    5 if char.is_alphanumeric() => format!("[{char}q-s]"),
                    6 => format!("{escaped}*.*"),
                    7 => format!("(?:{escaped}){{1,3}}"),
                    _ => escaped,
                }
            })
            .collect();
        match random.below(12) {
            0 => text = format!("^{text}"),
            1 => text = format!("{text}$"),
            2 => text = format!("{text}|function"),
            3 => text = format!(r"\s{text}"),
            4 => text = format!(r"(?:{text})+"),
            _ => {}
        }
    }
    let case = *random.one(&[Case::Sensitive, Case::Insensitive]);
    Pattern { patterns: vec![text], fixed, case, word: random.below(5) == 0, ..Pattern::default() }
}

#[test]
fn random_patterns_find_what_a_search_of_every_line_finds() {
    let Corpus { place, snapshot } = corpus();
    let lines: Vec<String> = snapshot
        .files()
        .flat_map(|file| String::from_utf8_lossy(file.content()).lines().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let hard: Vec<String> = snapshot
        .files()
        .filter(|file| !file.path().starts_with("src/"))
        .flat_map(|file| String::from_utf8_lossy(file.content()).lines().take(6).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let ripgrep_version = ripgrep_version().unwrap_or(0);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut matched = 0;
    for at in 0..PATTERNS {
        let pattern = random_pattern(&mut random, if at % 3 == 0 { &hard } else { &lines });
        // A newline or a NUL byte cannot be looked for.
        let Ok(found) = found(snapshot, &pattern) else { continue };
        matched += usize::from(!found.is_empty());
        let usual: Lines = found.iter().filter(|(path, _)| !is_special(path)).cloned().collect();
        assert_eq!(usual, scanned(snapshot, &pattern), "{pattern:?}");
        if at % 4 == 0 && ripgrep_version >= if pattern.word { 14 } else { 1 } {
            assert_eq!(found, ripgrep(&place.source(), &pattern), "{pattern:?} against rg");
        }
    }
    assert!(matched > PATTERNS / 2, "only {matched} patterns matched anything");
}

#[test]
fn hard_files_are_read_as_they_should_be() {
    let Corpus { snapshot, .. } = corpus();
    let of = |text: &str, case: Case| -> Vec<(String, u64)> {
        let pattern = Pattern { patterns: vec![text.to_owned()], case, ..Pattern::default() };
        let found = found(snapshot, &pattern).expect("it is a pattern");
        found.into_iter().filter(|(path, _)| !path.starts_with("src/")).collect()
    };
    let at = |path: &str, line| (path.to_owned(), line);
    assert_eq!(of("^function first", Case::Sensitive), [at("marked.txt", 1)]);
    assert_eq!(of(r"^function (?-u:\xff) first", Case::Sensitive), [at("marked_bad.txt", 1)]);
    assert_eq!(of("kelvin search task", Case::Insensitive), [at("folded.txt", 1)]);
    assert_eq!(of("STRASSE|stra\u{df}e", Case::Insensitive), [at("folded.txt", 2)]);
    assert_eq!(of("function after", Case::Sensitive), []);
    assert_eq!(of(r"second line\r$", Case::Sensitive), [at("windows.txt", 2)]);
    assert_eq!(of(r"(?-u)\xff\xfe", Case::Sensitive), [at("latin1.txt", 3)]);
    assert_eq!(of("newline at the end$", Case::Sensitive), [at("open_end.txt", 2)]);
}

#[test]
fn a_match_goes_over_lines_only_when_asked() {
    let Corpus { snapshot, .. } = corpus();
    let text = vec![r"first line\r\nsecond".to_owned()];
    assert!(Pattern { patterns: text.clone(), ..Pattern::default() }.compile().is_err());
    let found = found(snapshot, &Pattern { patterns: text, multi_line: true, ..Pattern::default() }).expect("it is");
    assert_eq!(found, Lines::from([("windows.txt".to_owned(), 1), ("windows.txt".to_owned(), 2)]));
}

#[test]
fn patterns_that_blow_up_elsewhere_end_here() {
    let Corpus { snapshot, .. } = corpus();
    let regex = |text: &str| Pattern { patterns: vec![text.to_owned()], ..Pattern::default() };
    for text in [r"(a+)+$", r"(a|a)*b", r"(\w+\s?)+$", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(.*)(.*)(.*)(.*)x\by"] {
        found(snapshot, &regex(text)).expect("it is a pattern");
    }
    for text in [r"(((\w{100}){100}){100}){100}", r"\pL{1000000}", r"(?:x{1000}){1000}"] {
        let refused = found(snapshot, &regex(text)).expect_err("it needs too much memory");
        assert!(refused.contains("size limit") || refused.contains("too big"), "{refused}");
    }
    let nested = "(".repeat(10_000) + "a" + &")".repeat(10_000);
    assert!(found(snapshot, &regex(&nested)).is_err());
}

#[test]
fn a_search_ends_when_its_time_is_up_or_nobody_wants_it() {
    let Corpus { snapshot, .. } = corpus();
    let pattern = Pattern { patterns: vec![r"\w+".to_owned()], ..Pattern::default() };
    let matcher = pattern.compile().expect("it is a pattern");
    let keep = |_: &codelode::store::FileView<'_>| true;
    let outcome = |limits: Limits<'_>, after: &mut dyn FnMut()| {
        let candidates =
            Candidates::new(snapshot, &matcher.grams, pattern.name(), &keep).expect("the index can be read");
        let mut files = 0;
        let outcome = search_text(candidates, &matcher, 0, usize::MAX, limits, &mut |_, _| {
            files += 1;
            after();
            true
        });
        (outcome, files)
    };
    let (ended, files) = outcome(Limits { until: Instant::now(), cancelled: &NEVER }, &mut || {});
    assert!(ended.timed_out);
    assert_eq!(files, 0);
    let cancelled = AtomicBool::new(false);
    let later = Instant::now() + Duration::from_secs(60);
    let (ended, files) =
        outcome(Limits { until: later, cancelled: &cancelled }, &mut || cancelled.store(true, Ordering::Relaxed));
    assert!(ended.timed_out, "what was found until then is given");
    assert!((1..100).contains(&files), "{files} files after it was called off");
}

/// A folder, indexed, and a process that answers about it.
struct Indexed {
    place: Place,
    cx: Context,
}

impl Indexed {
    fn of<T: AsRef<[u8]>>(files: &[(&str, T)]) -> Self {
        let place = Place::of(files);
        let indexed = Self { cx: place.context(), place };
        indexed.ask("index_folder", json!({"path": indexed.place.source()}));
        indexed
    }

    fn write(&self, path: &str, text: &(impl AsRef<[u8]> + ?Sized)) {
        self.place.write(path, text);
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        called(&self.cx, &self.place.source(), tool, arguments).value
    }

    fn ask(&self, tool: &str, arguments: Value) -> Value {
        self.place.ask(&self.cx, tool, arguments)
    }

    /// `file:line symbol` of each match.
    fn places(&self, tool: &str, arguments: Value) -> Vec<String> {
        places(&self.ask(tool, arguments))
    }
}

fn places(answer: &Value) -> Vec<String> {
    let mut places = Vec::new();
    for file in answer["results"].as_array().expect("there is a list") {
        for found in file["matches"].as_array().expect("each file has matches") {
            let symbol = found["symbol"].as_str().unwrap_or("-");
            places.push(format!("{}:{} {symbol}", file["file"].as_str().expect("files have names"), found["line"]));
        }
    }
    places
}

const MODULE: &str =
    "class Account:\n    def deposit(self, amount):\n        self.balance += amount\n        return self.balance\n";
const USE: &str = "from bank import Account\n\n\ndef pay(account):\n    try:\n        account.deposit(10)\n    except:\n        pass\n";

fn bank() -> Indexed {
    Indexed::of(&[
        ("zoo/bank.py", MODULE),
        ("app/main.py", USE),
        ("tests/test_bank.py", "def test_deposit():\n    Account().deposit(1)\n"),
        ("docs/guide.md", "Call `deposit` to deposit.\n"),
    ])
}

#[test]
fn definitions_come_first_then_source_then_tests_each_with_its_symbol() {
    let place = bank();
    let found = place.places("search_text", json!({"query": "deposit"}));
    assert_eq!(
        found,
        [
            "zoo/bank.py:2 Account.deposit#method",
            "app/main.py:6 pay#function",
            "docs/guide.md:1 -",
            "tests/test_bank.py:1 test_deposit#function",
            "tests/test_bank.py:2 test_deposit#function",
        ]
    );
    assert_eq!(place.places("search_text", json!({"query": "deposit("}))[0], "zoo/bank.py:2 Account.deposit#method");
    let found = |arguments: Value| place.places("search_text", arguments).len();
    assert_eq!(found(json!({"query": "DEPOSIT", "case_sensitive": true})), 0);
    assert_eq!(found(json!({"query": "deposit", "whole_word": true})), 4);
    assert_eq!(found(json!({"query": r"deposit\(\w+\)", "is_regex": true, "language": "python"})), 2);
    assert_eq!(found(json!({"query": "deposit", "file_pattern": "tests/"})), 2);
    assert_eq!(found(json!({"query": "deposit", "repos": ["*"]})), 5);
    let counted = place.ask("search_text", json!({"query": "deposit", "count_only": true}));
    assert_eq!(counted["count"], 5);
    let around = place.ask("search_text", json!({"query": "+=", "context_lines": 1}));
    let first = &around["results"][0]["matches"][0];
    assert_eq!(first["before"], json!(["    def deposit(self, amount):"]));
    assert_eq!(first["after"], json!(["        return self.balance"]));
}

#[test]
fn cursors_lead_to_every_match_once() {
    let lines: String = (0..500).map(|line| format!("needle {line}\n")).collect();
    let place = Indexed::of(&[("a.txt", lines.as_str()), ("b.txt", &lines), ("c.txt", "needle\n")]);
    for budget in [8_000, 400] {
        let (mut all, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut arguments = json!({"query": "needle", "max_results": 150, "max_tokens": budget});
            if let Some(cursor) = cursor {
                arguments["cursor"] = cursor.into();
            }
            let answer = place.ask("search_text", arguments);
            let page = places(&answer);
            assert_eq!(answer["result_count"], page.len());
            assert!(!page.is_empty() && answer.get("shortened").is_none(), "{answer}");
            all.extend(page);
            cursor = answer["next_cursor"].as_str().map(str::to_owned);
            assert_eq!(cursor.is_some(), answer["truncated"] == true, "{answer}");
            if cursor.is_none() {
                break;
            }
        }
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!((all.len(), distinct.len()), (1001, 1001));
    }
}

#[test]
fn an_edit_is_found_at_once_and_absence_is_said_of_what_was_looked_at() {
    let place = bank();
    let nothing = place.ask("search_text", json!({"query": "withdraw"}));
    assert_eq!(nothing["negative_evidence"]["verdict"], "not_found");
    assert_eq!(nothing["negative_evidence"]["scanned_files"], 4);
    place.write("app/main.py", &format!("{USE}    account.withdraw(5)\n"));
    // A look that is younger than this counts as part of the same question.
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(place.places("search_text", json!({"query": "withdraw"})), ["app/main.py:9 pay#function"]);
    place.write("app/main.py", USE);
    assert!(place.places("search_text", json!({"query": "withdraw"})).is_empty());
    let near = place.ask("search_text", json!({"query": "depositt"}));
    assert_eq!(near["negative_evidence"]["nearest"][0], "zoo/bank.py::Account.deposit#method");
    let wrong = place.call("search_text", json!({"query": "a(b", "is_regex": true}));
    assert!(wrong["error"].as_str().is_some_and(|error| error.contains("unclosed group")), "{wrong}");
    let wrong = place.call("search_text", json!({"query": "return\n"}));
    assert!(wrong["error"].as_str().is_some_and(|error| error.contains("`multiline`")), "{wrong}");
    let called_off = Request { cancelled: std::sync::Arc::new(AtomicBool::new(true)), ..Request::default() };
    let arguments = json!({"query": "deposit"}).as_object().cloned().expect("it is one");
    let answer = codelode::tools::call(&place.cx, "search_text", arguments, &called_off).value;
    assert_eq!(answer["code"], "cancelled");
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let place = Indexed::of(&[("long.txt", &format!("{}needle{}\n", "é".repeat(50_000), "x".repeat(50_000)))]);
    let answer = place.ask("search_text", json!({"query": "needle"}));
    let text = answer["results"][0]["matches"][0]["text"].as_str().expect("it is text");
    assert!(text.contains("éneedlex") && text.len() < 300, "{text}");
    assert!(text.starts_with('…') && text.ends_with('…'), "{text}");
}

#[test]
fn syntax_is_found_by_code_by_query_and_by_smell() {
    let place = bank();
    let answer = place.ask("search_ast", json!({"pattern": "$OBJECT.deposit($$$ARGUMENTS)", "language": "python"}));
    assert_eq!(places(&answer), ["app/main.py:6 pay#function", "tests/test_bank.py:2 test_deposit#function"]);
    let captures = &answer["results"][0]["matches"][0]["captures"];
    assert_eq!(*captures, json!({"ARGUMENTS": "10", "OBJECT": "account"}));
    let found = |arguments: Value| place.places("search_ast", arguments);
    assert_eq!(found(json!({"pattern": "$A.balance += $A"})), Vec::<String>::new());
    assert_eq!(found(json!({"pattern": "self.$A += $B"})), ["zoo/bank.py:3 Account.deposit#method"]);
    let query = "(function_definition name: (identifier) @name (#eq? @name \"pay\"))";
    assert_eq!(found(json!({"pattern": query})), ["app/main.py:4 pay#function"]);
    assert_eq!(found(json!({"preset": "bare_except"})), ["app/main.py:7 pay#function"]);
    assert_eq!(found(json!({"preset": "empty_catch"})), ["app/main.py:7 pay#function"]);
    for (arguments, expected) in [
        (json!({"pattern": "if (", "language": "python"}), "cannot be read"),
        // A templating grammar takes anything as text, but that is no code.
        (json!({"pattern": "if ("}), "line 1, column 1 cannot be read: \"if (\", for python; write one whole"),
        (json!({"pattern": "<?php echo 1 ?>"}), "for python"),
        (json!({"pattern": "x", "language": "cobol"}), "the languages are python"),
        (json!({"preset": "empty_catches"}), "empty_catch"),
        (json!({}), "`pattern`"),
    ] {
        let answer = place.call("search_ast", arguments);
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(expected)), "{answer}");
    }
}

#[test]
fn a_call_is_found_as_it_is_written() {
    let call = "errors.make(1)";
    let files = [
        ("a.py", format!("def f():\n    {call}\n")),
        ("b.js", format!("function f() {{\n  {call};\n}}\n")),
        ("c.ts", format!("function f() {{\n  {call};\n}}\n")),
        ("d.go", format!("package p\nfunc f() {{\n\t{call}\n\treturn {call}\n}}\n")),
        ("e.rs", format!("fn f() {{\n    {call};\n}}\n")),
        ("F.java", format!("class F {{ void f() {{\n  {call};\n}} }}\n")),
        ("g.cc", format!("void f() {{\n  {call};\n}}\n")),
        ("H.cs", format!("class H {{ void F() {{\n  {call};\n}} }}\n")),
        ("i.rb", format!("def f\n  {call}\nend\n")),
        ("j.kt", format!("fun f() {{\n  {call}\n}}\n")),
        ("k.swift", format!("func f() {{\n  {call}\n}}\n")),
        ("l.scala", format!("object L {{ def f() = {{\n  {call}\n}} }}\n")),
        ("m.lua", format!("function f()\n  {call}\nend\n")),
    ];
    let place = Indexed::of(&files.iter().map(|(name, text)| (*name, text.as_str())).collect::<Vec<_>>());
    for pattern in [call, "errors.make($X)", "errors.make($$$)", "$A.make($X)"] {
        for (file, text) in &files {
            let language = codelode::languages::of_file(file, text.as_bytes()).expect("it is built in").1.id;
            let found = place.places("search_ast", json!({"pattern": pattern, "language": language}));
            let lines = text.lines().filter(|line| line.contains(call)).count();
            assert_eq!(found.len(), lines, "{pattern} in {file}: {found:?}");
        }
    }
}

#[test]
fn smells_are_found_in_every_language() {
    let deep =
        "if a:\n".to_owned() + &(1..6).map(|n| format!("{}if a:\n", " ".repeat(n))).collect::<String>() + "      b()\n";
    let place = Indexed::of(&[
        ("a.py", "password = 'hunter2hunter2'\neval(x)  # TODO: no\n"),
        ("deep.py", &deep),
        ("b.js", "try { f() } catch (e) {}\nconst apiKey = \"abcdef123456\";\neval(x) // FIXME\n"),
        ("c.ts", "try { f() } catch {}\nif (a) { b() } else if (c) { d() }\n"),
        ("d.go", "package p\nfunc f() {\n\tif err != nil {}\n\ttoken := \"abcdef123456\" // XXX\n}\n"),
        (
            "e.rs",
            "fn f() { match g() { Ok(_) => h(), Err(_) => {} } } // HACK\nconst SECRET: &str = \"abcdef123456\";\n",
        ),
        (
            "F.java",
            "class F { void f() { try { g(); } catch (Exception e) {} } // TODO\nString password = \"abcdef123456\"; }\n",
        ),
    ]);
    let found = |preset: &str| -> Vec<String> {
        place
            .places("search_ast", json!({"preset": preset}))
            .into_iter()
            .map(|place| place.split(' ').next().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(found("empty_catch"), ["F.java:1", "b.js:1", "c.ts:1", "d.go:3", "e.rs:1"]);
    assert_eq!(found("bare_except"), ["F.java:1"]);
    assert_eq!(found("eval"), ["a.py:2", "b.js:3"]);
    assert_eq!(found("deep_nesting"), ["deep.py:5"]);
    assert_eq!(found("hardcoded_secret"), ["F.java:2", "a.py:1", "b.js:2", "d.go:4", "e.rs:2"]);
    assert_eq!(found("todo"), ["F.java:1", "a.py:2", "b.js:3", "d.go:4", "e.rs:1"]);
}
