//! Text search finds what ripgrep finds: random patterns over this repository's own sources and some files that are hard
//! to read, against a line-by-line search that knows no index and, where it is installed, against `rg` itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use codelode::config::Config;
use codelode::pipeline::{self, Options, Watcher};
use codelode::query::text::{Candidates, Case, Limits, Pattern, search_text};
use codelode::store::{Registry, Snapshot};
use tempfile::TempDir;

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
    folder: TempDir,
    snapshot: Snapshot,
}

/// The corpus, made once for all tests.
fn corpus() -> &'static Corpus {
    static CORPUS: LazyLock<Corpus> = LazyLock::new(make_corpus);
    &CORPUS
}

fn make_corpus() -> Corpus {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let root = folder.path().join("root");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &root.join("src"));
    for (name, bytes) in HARD {
        fs::write(root.join(name), bytes).expect("it can be written");
    }
    // Beyond what is looked at to tell text from other files, and beyond a reader's first buffer.
    for (name, len) in [("late_nul.txt", 9_000), ("very_late_nul.txt", 100_000)] {
        let mut bytes: Vec<u8> = b"function before\nsearch before\n".iter().copied().cycle().take(len).collect();
        bytes.push(0);
        bytes.extend_from_slice(b"\nfunction after\n");
        fs::write(root.join(name), bytes).expect("it can be written");
    }
    let config = Config { home: folder.path().join("home"), ..Config::default() };
    let watcher = Watcher { progress: &|_, _, _| {}, cancelled: &NEVER, patience: Duration::from_secs(5) };
    let report = pipeline::index_folder(&root, &config, &Options::default(), &watcher).expect("it can be indexed");
    let store = Registry::new(&config.home).store(&report.sidecar.store);
    let snapshot = store.snapshot(&report.sidecar.snapshot).expect("it was committed just now");
    assert!(snapshot.files().count() > 100, "the corpus is not where it should be");
    Corpus { folder, snapshot }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be made");
    for entry in fs::read_dir(from).expect("it can be read").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match source.is_dir() {
            true => copy(&source, &target),
            false => drop(fs::copy(&source, &target).expect("it can be copied")),
        }
    }
}

type Lines = BTreeSet<(String, u64)>;

/// What the index finds.
fn found(snapshot: &Snapshot, pattern: &Pattern) -> Result<Lines, String> {
    let matcher = pattern.compile()?;
    let keep = |_: &codelode::store::FileView<'_>| true;
    let candidates = Candidates::new(snapshot, pattern, &matcher, &keep).expect("the index can be read");
    let limits = Limits { until: Instant::now() + Duration::from_secs(60), cancelled: &NEVER };
    let mut lines = Lines::new();
    search_text(candidates, &matcher, 0, false, limits, &mut |file, hits| {
        for hit in hits {
            lines.extend((0..hit.lines).map(|next| (file.path().to_owned(), hit.line + next)));
        }
        true
    });
    Ok(lines)
}

/// What a search of every line finds. Files that are read in part only are left to `rg`.
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
        // What follows the last newline is a line only when there is something.
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

/// What ripgrep finds.
fn ripgrep(root: &Path, pattern: &Pattern) -> Lines {
    let mut command = Command::new("rg");
    command.args(["--no-config", "--json", "--no-ignore", "--hidden"]).current_dir(root);
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

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A part of a line of the corpus, as it is or as a regular expression made of it.
fn random_pattern(random: &mut Random, lines: &[String]) -> Pattern {
    let line = loop {
        let line: Vec<char> = random.pick(lines).chars().collect();
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
    let case = *random.pick(&[Case::Sensitive, Case::Insensitive]);
    Pattern { patterns: vec![text], fixed, case, word: random.below(5) == 0, multi_line: false }
}

#[test]
fn random_patterns_find_what_a_search_of_every_line_finds() {
    let Corpus { folder, snapshot } = corpus();
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
            assert_eq!(found, ripgrep(&folder.path().join("root"), &pattern), "{pattern:?} against rg");
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
    let started = Instant::now();
    for text in [r"(a+)+$", r"(a|a)*b", r"(\w+\s?)+$", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(.*)(.*)(.*)(.*)x\by"] {
        found(snapshot, &regex(text)).expect("it is a pattern");
    }
    for text in [r"(((\w{100}){100}){100}){100}", r"\pL{1000000}", r"(?:x{1000}){1000}"] {
        let refused = found(snapshot, &regex(text)).expect_err("it needs too much memory");
        assert!(refused.contains("size limit") || refused.contains("too big"), "{refused}");
    }
    let nested = "(".repeat(10_000) + "a" + &")".repeat(10_000);
    assert!(found(snapshot, &regex(&nested)).is_err());
    assert!(started.elapsed() < Duration::from_secs(60), "it took {:?}", started.elapsed());
}

#[test]
fn a_search_ends_when_its_time_is_up_or_nobody_wants_it() {
    let Corpus { snapshot, .. } = corpus();
    let pattern = Pattern { patterns: vec![r"\w+".to_owned()], ..Pattern::default() };
    let matcher = pattern.compile().expect("it is a pattern");
    let keep = |_: &codelode::store::FileView<'_>| true;
    let outcome = |limits: Limits<'_>, after: &mut dyn FnMut()| {
        let candidates = Candidates::new(snapshot, &pattern, &matcher, &keep).expect("the index can be read");
        let mut files = 0;
        let outcome = search_text(candidates, &matcher, 0, false, limits, &mut |_, _| {
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
