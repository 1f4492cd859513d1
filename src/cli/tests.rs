//! Command lines become arguments; answers become text.

use clap::CommandFactory;
use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::output::{Output, Paint};
use super::words::Words;
use super::{Cli, command, render};
use crate::tools::{Call, Error, TOOLS, Tool, ToolSpec};

/// Finds things, best first.
///
/// The long story.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Args {
    /// Where to look.
    repo: Option<String>,
    /// What to look for.
    query: String,
    /// How many.
    #[serde(default = "ten")]
    max_results: usize,
    /// In which order.
    sort_by: Option<Sort>,
    /// Also what is spelled differently.
    #[serde(default)]
    fuzzy: bool,
    /// Only what changed.
    #[serde(default = "yes")]
    incremental: bool,
    /// Patterns to leave out.
    #[serde(default)]
    exclude: Vec<String>,
    weight: Option<f32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is looked at")]
enum Sort {
    Relevance,
    Centrality,
}

fn ten() -> usize {
    10
}

fn yes() -> bool {
    true
}

#[derive(Serialize, JsonSchema)]
struct Nothing {}

struct Find;

impl Tool for Find {
    const NAME: &'static str = "find_things";
    const COMMAND: &'static str = "find";
    const POSITIONAL: &'static [&'static str] = &["query"];
    type Args = Args;
    type Output = Nothing;
    fn run(_: &Call<'_>, _: Args) -> Result<Nothing, Error> {
        Ok(Nothing {})
    }
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct GetArgs {
    symbol_id: Option<String>,
    symbol_ids: Option<Vec<String>>,
}

struct GetMany;

impl Tool for GetMany {
    const NAME: &'static str = "get_many_things";
    const COMMAND: &'static str = "get";
    const POSITIONAL: &'static [&'static str] = &["symbol_ids"];
    type Args = GetArgs;
    type Output = Nothing;
    fn run(_: &Call<'_>, _: GetArgs) -> Result<Nothing, Error> {
        Ok(Nothing {})
    }
}

struct Get;

impl Tool for Get {
    const NAME: &'static str = "get_things";
    const COMMAND: &'static str = "get";
    const POSITIONAL: &'static [&'static str] = &["symbol_id"];
    type Args = GetArgs;
    type Output = Nothing;
    fn run(_: &Call<'_>, _: GetArgs) -> Result<Nothing, Error> {
        Ok(Nothing {})
    }
}

/// The arguments of a command line, or the parser's error.
fn typed(spec: &ToolSpec, line: &str) -> Result<Value, String> {
    let parser = Cli::command().subcommand(command::filled(clap::Command::new(spec.command), spec, true));
    let matches = parser.try_get_matches_from(line.split_whitespace()).map_err(|err| err.to_string())?;
    let (_, matches) = matches.subcommand().expect("the line names a command");
    command::arguments(spec, matches).map(Value::Object)
}

#[test]
fn flags_become_arguments() {
    let find = ToolSpec::of::<Find>();
    let check = |line: &str, expected: Value| assert_eq!(typed(&find, line), Ok(expected), "{line}");
    check("codelode find retry", json!({"query": "retry"}));
    check("codelode find retry middleware", json!({"query": "retry middleware"}));
    check("codelode find retry --fuzzy --max-results 3", json!({"query": "retry", "max_results": 3, "fuzzy": true}));
    check("codelode find --no-incremental retry", json!({"query": "retry", "incremental": false}));
    check("codelode find --exclude a --exclude b retry", json!({"query": "retry", "exclude": ["a", "b"]}));
    check(
        "codelode find retry --sort-by centrality --weight -0.5",
        json!({"query": "retry", "sort_by": "centrality", "weight": -0.5}),
    );
    check("codelode --json find --repo here retry", json!({"query": "retry"}));
    check("codelode find -- --fuzzy", json!({"query": "--fuzzy"}));
    let refused = |line: &str, expected: &str| {
        let message = typed(&find, line).expect_err("it does not fit");
        assert!(message.contains(expected), "{line}: {message}");
    };
    refused("codelode find", "<QUERY>");
    refused("codelode find retry --fuzy", "'--fuzzy'");
    refused("codelode find retry --max-results many", "give a whole number");
    refused("codelode find retry --sort-by size", "relevance, centrality");
}

#[test]
fn several_of_one_become_the_plural() {
    for get in [ToolSpec::of::<Get>(), ToolSpec::of::<GetMany>()] {
        assert_eq!(typed(&get, "codelode get a"), Ok(json!({"symbol_id": "a"})));
        assert_eq!(typed(&get, "codelode get a b"), Ok(json!({"symbol_ids": ["a", "b"]})));
    }
    let get = ToolSpec::of::<Get>();
    assert_eq!(typed(&get, "codelode get --symbol-ids a --symbol-ids b"), Ok(json!({"symbol_ids": ["a", "b"]})));
}

#[test]
fn every_tool_makes_a_command() {
    command::parser(Cli::command(), &[]).debug_assert();
}

const TERMINAL: Words = Words::OfTerminal(None);

/// Checks the text shown for an answer.
fn check(answer: Value, expected: Expect) {
    let mut out = Output::new(Paint::none());
    render::answer(&answer, &mut out);
    expected.assert_eq(out.text());
}

#[test]
fn a_map_is_shown_line_by_line() {
    check(
        json!({"files": [{"file": "a.py", "symbols": ["1: class A", "  2: def f(self)"]}], "files_left_out": 0}),
        expect![[r#"
            a.py
            1: class A
              2: def f(self)
        "#]],
    );
}

#[test]
fn hits_are_columns() {
    let hit = |file: &str, line: u64, kind: &str, name: &str, signature: &str, summary: &str| json!({"id": "x", "file": file, "line": line, "kind": kind, "name": name, "signature": signature, "summary": summary});
    check(
        json!({"results": [
            hit("src/a.py", 7, "function", "add", "def add(a, b):", "Adds."),
            hit("src/long/b.py", 120, "class", "Adder", "class Adder:", "class Adder"),
        ]}),
        expect![[r#"
            src/a.py:7         function  add    def add(a, b):
                Adds.
            src/long/b.py:120  class     Adder  class Adder:
        "#]],
    );
}

#[test]
fn text_hits_look_as_grep_shows_them() {
    check(
        json!({"results": [{"file": "a.py", "matches": [
            {"line": 2, "text": "b = 1", "before": ["a = 0"], "after": ["c = 2"]},
            {"line": 9, "text": "b = 2"},
        ]}]}),
        expect![[r#"
            a.py-1-a = 0
            a.py:2:b = 1
            a.py-3-c = 2
            --
            a.py:9:b = 2
        "#]],
    );
}

#[test]
fn source_stands_below_its_place() {
    let symbol = json!({"id": "a.py::add#function", "file": "a.py", "line": 1, "end_line": 2, "kind": "function", "name": "add",
        "source": "def add(a, b):\n    return a + b"});
    check(
        symbol.clone(),
        expect![[r#"
            a.py:1-2  function  add
            def add(a, b):
                return a + b
        "#]],
    );
    check(
        json!({"symbols": [symbol], "errors": [{"id": "b", "error": "there is no symbol b"}]}),
        expect![[r#"
            a.py:1-2  function  add
            def add(a, b):
                return a + b
            b: there is no symbol b
        "#]],
    );
    check(json!({"file": "a.py", "content": "x = 1\n"}), expect![["x = 1\n"]]);
}

#[test]
fn source_that_is_too_long_is_an_outline() {
    check(
        json!({"id": "a.py::Big#class", "file": "a.py", "line": 1, "end_line": 9000, "kind": "class", "name": "Big",
            "outline": [{"id": "a.py::Big.run#method", "line": 7, "signature": "def run(self)"}], "truncated": true, "rest": "too long"}),
        expect![[r#"
            a.py:1-9000  class  Big
              7  def run(self)
            too long
        "#]],
    );
}

#[test]
fn nothing_found_says_where_it_was_looked_for() {
    let answer = json!({"result_count": 0, "results": [], "negative_evidence": {"verdict": "absent", "scanned_symbols": 40,
        "scanned_files": 1, "left_out": {"too_large": 2}, "nearest": ["add"]}});
    let expected = ["looked at 40 symbols in 1 file", "not indexed: 2 too large", "did you mean: add"];
    assert_eq!(render::notes(&answer, TERMINAL), expected);
}

#[test]
fn a_search_that_ran_out_of_time_says_so() {
    let expected = ["the time was up before every file was looked into: there may be more"];
    assert_eq!(render::notes(&json!({"results": [], "truncated": true, "timed_out": true}), TERMINAL), expected);
    assert_eq!(render::notes(&json!({"count": 7, "_meta": {"timed_out": true}}), TERMINAL), expected);
    assert!(render::notes(&json!({"count": 7, "_meta": {}}), TERMINAL).is_empty());
}

#[test]
fn flags_are_made_for_the_commands_that_are_asked_for() {
    let has_flags = |line: &str| {
        let args: Vec<_> = line.split(' ').map(Into::into).collect();
        let parser = command::parser(Cli::command(), &args);
        parser.find_subcommand("search").expect("it is a command").get_arguments().next().is_some()
    };
    for line in ["codelode", "codelode search add", "codelode text search", "codelode help search"] {
        assert!(has_flags(line), "{line}");
    }
    let without =
        ["codelode text add", "codelode --json --repo x ast add", "codelode text -h", "codelode outline a.py"];
    for line in
        without.into_iter().chain(["codelode help", "codelode --help", "codelode -h text", "codelode help text"])
    {
        assert!(!has_flags(line), "{line}");
    }
}

#[test]
fn outlines_are_indented_and_numbered() {
    check(
        json!({"file": "a.py", "symbols": [
            {"name": "Adder", "kind": "class", "line": 3, "signature": "class Adder:", "children": [
                {"name": "add", "kind": "method", "line": 10, "signature": "def add(self):", "summary": "Adds."},
            ]},
        ]}),
        expect![[r#"
            a.py
             3  class  class Adder:
            10    method  def add(self):
                    Adds.
        "#]],
    );
}

#[test]
fn trees_in_a_pipe_are_paths() {
    check(
        json!({"tree": [
            {"path": "src/", "type": "dir", "children": [
                {"path": "src/a.py", "type": "file", "language": "python", "symbol_count": 1, "line_count": 20},
            ]},
            {"path": "README", "type": "file"},
        ]}),
        expect![[r#"
            src/a.py  python, 20 lines, 1 symbol
            README
        "#]],
    );
}

#[test]
fn indexing_says_what_it_did_and_left_out() {
    check(
        json!({"success": true, "repo": "local/x", "file_count": 1200, "symbol_count": 1, "files_added": 3, "files_removed": 0,
            "languages": {"python": 1000, "go": 200}, "skipped": {"binary": 2, "too_large": 5, "secret": 0}, "warnings": ["a: bad"]}),
        expect![[r#"
            local/x  1200 files, 1 symbol
            3 added
            1000 python, 200 go
            left out: 5 too large, 2 binary
            warning: a: bad
        "#]],
    );
}

#[test]
fn repositories_are_a_table() {
    check(
        json!({"repos": [
            {"repo": "local/x-1", "file_count": 5, "symbol_count": 40, "indexed_at": "2026-11-01", "source_root": "/x"},
            {"repo": "a/b", "file_count": 12345, "symbol_count": 7},
        ]}),
        expect![[r#"
            repo       files  symbols  indexed     from
            local/x-1      5       40  2026-11-01  /x
            a/b        12345        7
        "#]],
    );
}

#[test]
fn a_list_of_places_is_columns_and_what_is_beside_it_goes_beside() {
    check(
        json!({"granularity": "symbol", "dead_count": 2, "dead_symbols": [
            {"symbol_id": "a.py::Adder.add~2#method", "file": "a.py", "line": 7, "confidence": 1.0, "reason": "unused"},
            {"symbol_id": "long/b.py::f#function", "line": 120, "confidence": 0.9, "reason": "only in tests"},
        ], "_meta": {"timing_ms": 1}}),
        expect![[r#"
            a.py:7         method    Adder.add~2  confidence 1.0; unused
            long/b.py:120  function  f            confidence 0.9; only in tests
        "#]],
    );
}

#[test]
fn nothing_beside_a_list_is_lost() {
    let mut out = Output::new(Paint::none());
    let answer =
        json!({"overrides": ["a.py::A.f#method"], "callers": [{"id": "b.py::g#function", "line": 3}], "callees": []});
    render::answer(&answer, &mut out);
    assert_eq!(out.text(), "b.py:3  function  g\n");
    assert_eq!(out.asides, ["overrides: a.py::A.f#method"]);
}

#[test]
fn several_lists_have_headings() {
    check(
        json!({"symbol": "a.py::f#function", "callers": [{"id": "b.py::g#function", "file": "b.py", "line": 3, "at": [4, 9],
            "callers": [{"id": "c.py::h#function", "file": "c.py", "line": 1, "at": [2]}]}],
            "callees": [{"id": "a.py::k#function", "file": "a.py", "line": 8}], "removed_count": 0}),
        expect![[r#"
            symbol: a.py::f#function
            callers (1):
              b.py:3  function  g  called at line 4, 9
                c.py:1  function  h  called at line 2
            callees (1):
              a.py:8  function  k
        "#]],
    );
}

#[test]
fn matches_are_named_by_their_file() {
    check(
        json!({"repository": "a/b", "matches": [{"path": "a.py", "line_matches": [
            {"line_number": 3, "line": "  x = 1", "ranges": [[2, 3]]}]}], "stats": {"files_searched": 5, "left_out": {"binary": 2}}}),
        expect![[r#"
            repository: a/b
            stats:
              files searched: 5
              left out: 2 binary
            matches (1):
              a.py:3  x = 1
        "#]],
    );
}

#[test]
fn symbols_of_a_file_are_a_line_each_in_a_pipe() {
    check(
        json!({"confirmed": [{"file": "a.py", "symbols": ["f", "g.h"], "more": 3}, {"file": "b.py"}]}),
        expect![[r#"
            a.py  f
            a.py  g.h
            a.py  and 3 more
            b.py
        "#]],
    );
}

#[test]
fn a_graph_is_its_edges() {
    check(
        json!({"file": "a", "nodes": ["a", "b"], "edges": [[0, 1], [1, 0]], "external": ["os"]}),
        expect![[r#"
            a -> b
            b -> a
            outside: os
        "#]],
    );
}

#[test]
fn facts_are_named_and_counts_come_largest_first() {
    check(
        json!({"is_stale": false, "languages": {"go": 2, "python": 30}, "top_keywords": ["a", "b"], "none": {}, "empty": []}),
        expect![[r#"
            is stale: no
            top keywords: a, b
            languages: 30 python, 2 go
        "#]],
    );
    check(json!({"count": 3, "_meta": {}}), expect![["3\n"]]);
}

#[test]
fn errors_say_what_was_perhaps_meant() {
    let error = json!({"error": "there is no symbol x", "code": "not_found", "details": {"nearest": ["a", {"id": "b"}], "n": 1}});
    assert_eq!(render::error(&error, Paint::none(), TERMINAL), "error: there is no symbol x\n  did you mean: a, b\n");
}

#[test]
fn a_cut_answer_says_how_to_go_on() {
    let answer =
        json!({"results": [1, 2], "total": 9, "left": 7, "next_cursor": "c2", "_meta": {"freshness": "stale"}});
    assert_eq!(
        render::notes(&answer, TERMINAL),
        ["7 of 9 left; go on with --cursor c2", "some files have changed since they were indexed"]
    );
}

#[test]
fn no_message_names_a_tool_at_the_terminal() {
    let names = || TOOLS.iter().map(|spec| spec.name);
    let names_tool = |text: &str| {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.any(|word| word.contains('_') && names().any(|name| name == word))
    };
    let mut n_messages = 0;
    for room in ["tools", "catalog", "answer", "query", "git", "discover"] {
        for message in messages(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room)) {
            if names_tool(&message) {
                n_messages += 1;
                let said = TERMINAL.say(&message);
                assert!(!names_tool(&said), "{message:?} becomes {said:?}");
            }
        }
    }
    assert!(n_messages > 15, "only {n_messages} messages name a tool");
    for spec in TOOLS.iter().filter(|spec| spec.shown.is_some()) {
        let mut command = command::filled(clap::Command::new(spec.command), spec, true);
        let help = command.render_long_help().to_string();
        assert!(!names_tool(&help), "{help}");
        assert!(!help.contains("client's root"), "{help}");
    }
}

/// The texts of several words in the sources of a room, tests left out.
fn messages(room: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(room).expect("the sources are here") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            found.extend(messages(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source is text");
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        if path.ends_with("tests.rs") || path.to_string_lossy().contains("/tests/") {
            continue;
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let texts = line.replace("\\\"", "\u{1}");
            let texts = texts.split('"').skip(1).step_by(2).map(|text| text.replace('\u{1}', "\""));
            found.extend(texts.filter(|text| text.contains(' ')));
        }
    }
    found
}

#[test]
fn ready_calls_are_commands() {
    check(
        json!({"example_queries": [
            {"tool": "search_symbols", "arguments": {"query": "add two", "max_results": 3}, "description": "words"},
            {"tool": "get_file_tree", "arguments": {"max_depth": 2}, "description": "folders"},
        ]}),
        expect![[r#"
            codelode search 'add two' --max-results 3  words
            codelode tree --max-depth 2  folders
        "#]],
    );
}
