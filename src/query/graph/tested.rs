//! Tests that use a definition: whether they are about it or only helped by it.

use std::ops::Range;

use super::Graph;
use super::surroundings::folder;
use crate::model::Kind;
use crate::store::{Edge, SymbolView};

/// The shortest name of a file that tells its tests from others.
const SHORTEST: usize = 3;
/// First words of the names of functions by which tests start afresh, or fail at once.
const SERVING: &[&str] = &["reset", "clear", "restore", "must"];
/// Names of files that stand for their folders.
const FOLDER_FILES: &[&str] = &["__init__", "index", "mod", "lib", "main"];
/// Folders that differ between code and its tests.
const SAME: &[&str] = &["test", "tests", "__tests__", "spec", "src", "main", "lib"];
/// First words of lines that begin a test where tests are calls: `it("adds", () => {`.
const CALLED: &[&[u8]] = &[b"it(", b"test(", b"it.", b"test."];
/// First words of lines that begin a group of such tests.
const GROUPS: &[&[u8]] = &[b"describe(", b"describe.", b"suite(", b"context("];

/// Whether a function that only tests use serves them, by the first word of its name: `resetCache`, `_clear_all`,
/// `MustParse`.
pub(super) fn serves_tests(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    SERVING.iter().any(|word| {
        let start = name.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        start.is_some() && !name[word.len()..].starts_with(|c: char| c.is_ascii_lowercase())
    })
}

/// Whether a file of tests is about a file, by their names: `cart_test.go`, `test_cart_sums.py`, `CartTest.java`.
pub(super) fn is_tested_by(own: &str, test: &str) -> bool {
    let (own, test) = (letters(own), letters(test));
    own.len().min(test.len()) >= SHORTEST && (test.contains(&own) || own.contains(&test))
}

/// The letters of the name of a file, without words for tests; of the folder where the file is that of a folder.
fn letters(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name).to_lowercase();
    let stem = if FOLDER_FILES.contains(&&*stem) { folder.rsplit('/').next().unwrap_or_default() } else { &stem };
    let words = stem.split(|c: char| !c.is_alphanumeric()).map(|word| word.trim_start_matches("test"));
    words
        .map(|word| ["tests", "test", "specs", "spec"].iter().fold(word, |word, end| word.trim_end_matches(end)))
        .collect()
}

/// Whether tests lie in the folder of a file, or in one that is theirs in all but the folder's name for tests:
/// `src/main/java/shop` and `src/test/java/shop`.
pub(super) fn is_beside_tests(own: &str, test: &str) -> bool {
    let folders = |path| folder(path).split('/').filter(|part| !SAME.contains(part));
    folders(own).eq(folders(test))
}

/// Whether a test is about something that only tests use: it bears its name, or it uses no other function of the program.
/// `lives` says of a node whether the program uses it.
pub(super) fn has_own_test(graph: &Graph<'_>, symbol: &SymbolView<'_>, lives: impl Fn(u32) -> bool) -> bool {
    let name = plain(&symbol.name());
    graph.edges.users(symbol.number()).any(|edge| {
        let Some(Test { title, range, is_run }) = test_around(graph, edge) else { return false };
        let in_file = graph.edges.in_file(edge.file);
        let own = &in_file[in_file.partition_point(|own| own.at < range.start)..];
        let mut own = own.iter().take_while(|own| own.at < range.end).flat_map(|own| graph.edges.targets(own));
        let is_of_program = |target| graph.node(target).is_some_and(|node| is_function(graph, node) && lives(node));
        plain(&title).contains(&name) || is_run && !own.any(is_of_program)
    })
}

/// A test, as far as one can tell.
struct Test {
    /// Its name, or its words and those of its groups.
    title: String,
    /// Its bytes in its file.
    range: Range<u32>,
    /// Whether a runner starts it, and no other test.
    is_run: bool,
}

/// The test that an occurrence is in: the call that is given it, or the outermost function around it.
fn test_around(graph: &Graph<'_>, edge: &Edge) -> Option<Test> {
    let file = graph.snapshot.file_by_number(edge.file)?;
    let called = file.conventions().structural.then(|| called_test(file.content(), edge.at)).flatten();
    called.or_else(|| {
        let around = std::iter::successors(graph.from(edge), |inner| graph.parent(*inner));
        let symbol = &graph.symbols[around.filter(|node| is_function(graph, *node)).last()? as usize];
        let (title, span) = (symbol.name().into_owned(), symbol.span());
        Some(Test { title, range: span.start..span.end, is_run: graph.edges.users(symbol.number()).next().is_none() })
    })
}

/// The last call that begins a test before a place, up to the next one.
fn called_test(content: &[u8], place: u32) -> Option<Test> {
    let (mut start, mut group, mut title, mut at) = (None, &b""[..], &b""[..], 0);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        if CALLED.iter().any(|word| text.starts_with(word)) {
            if at > place {
                break;
            }
            (start, title) = (Some(at), text);
        } else if GROUPS.iter().any(|word| text.starts_with(word)) && at <= place {
            group = text;
        }
        at += line.len() as u32;
    }
    let title = [group, title].map(|line| String::from_utf8_lossy(quoted(line))).concat();
    Some(Test { title, range: start?..at, is_run: true })
}

/// The first quoted text of a line.
fn quoted(line: &[u8]) -> &[u8] {
    let mut parts = line.splitn(2, |byte| matches!(byte, b'\'' | b'"' | b'`'));
    let rest = parts.nth(1).unwrap_or_default();
    rest.split(|byte| matches!(byte, b'\'' | b'"' | b'`')).next().unwrap_or_default()
}

fn is_function(graph: &Graph<'_>, node: u32) -> bool {
    matches!(graph.symbols[node as usize].kind(), Kind::Function | Kind::Method)
}

/// The letters and digits of a name, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
