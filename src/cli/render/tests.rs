//! Answers become text, at a terminal and in a pipe.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::super::output::{Output, Paint};
use super::super::words::Words;

const TERMINAL: Words = Words::OfTerminal(None);

/// Checks the text printed for an answer.
fn check(answer: Value, expected: Expect) {
    let mut out = Output::new(Paint::none());
    super::answer(&answer, &mut out);
    expected.assert_eq(out.text());
}

/// Checks the text printed for an answer on a terminal with `columns` columns.
fn check_at(columns: usize, answer: &Value, expected: Expect) {
    let mut out = Output::new(Paint::none()).with_columns(columns);
    super::answer(answer, &mut out);
    let wide = out.text().lines().find(|line| line.chars().count() > columns);
    assert_eq!(wide, None);
    expected.assert_eq(out.text());
}

#[test]
fn uses_are_grouped_by_definition_and_file() {
    let of = |of: u64, file: &str, line: u64, text: &str, around: &str| {
        json!({"file": file, "line": line, "column": 9,
        "text": text, "kind": "call", "in": around, "of": of, "confidence": "resolved"})
    };
    let answer = json!({
        "definitions": [
            {"id": "src/app.py::App.make#method", "line": 12, "uses": 1},
            {"id": "src/helpers.py::make#function", "line": 5, "uses": 3},
        ],
        "references": [
            of(0, "src/app.py", 39, "self.make(1)", "App.finalize"),
            of(1, "tests/test_make.py", 85, "made = make(\"Awesome\", 404, headers={}, **options)", "test_make"),
            of(1, "tests/test_make.py", 90, "made = make()", "test_make"),
            of(1, "tests/test_make.py", 107, "made = make()", "test_make_with_a_name_that_is_very_long"),
        ],
    });
    check_at(
        80,
        &answer,
        expect![[r#"
        definitions (2)
          src/app.py:12     method    App.make  1 use
          src/helpers.py:5  function  make      3 uses
        uses of App.make (1)
          src/app.py:39:9  call  self.make(1)  in App.finalize
        uses of make (3)
          tests/test_make.py
            in test_make:
             85  call  made = make("Awesome", 404, headers={}, **options)
             90  call  made = make()
            in test_make_with_a_name_that_is_very_long:
            107  call  made = make()
    "#]],
    );
    check_at(
        140,
        &answer,
        expect![[r#"
        definitions (2)
          src/app.py:12     method    App.make  1 use
          src/helpers.py:5  function  make      3 uses
        uses of App.make (1)
          src/app.py:39:9  call  self.make(1)  in App.finalize
        uses of make (3)
          tests/test_make.py
             85  call  made = make("Awesome", 404, headers={}, **options)  in test_make
             90  call  made = make()
            107  call  made = make()                                       in test_make_with_a_name_that_is_very_long
    "#]],
    );
    check(
        answer,
        expect![[r#"
        src/app.py:12     definition  method    App.make  1 use
        src/helpers.py:5  definition  function  make      3 uses
        src/app.py:39:9           use  call  self.make(1)  in App.finalize  of App.make
        tests/test_make.py:85:9   use  call  made = make("Awesome", 404, headers={}, **options)  in test_make  of make
        tests/test_make.py:90:9   use  call  made = make()  in test_make  of make
        tests/test_make.py:107:9  use  call  made = make()  in test_make_with_a_name_that_is_very_long  of make
    "#]],
    );
}

#[test]
fn calls_say_whose_line_a_number_is() {
    let answer = json!({"symbol": "app.py::App.run#method",
    "callers": [
        {"id": "app.py::App.wsgi#method", "file": "app.py", "line": 66, "at": [97]},
        {"id": "app.py::App.__call__#method", "file": "app.py", "line": 118, "at": [125], "depth": 2, "via": "App.wsgi"},
    ],
    "callees": [
        {"id": "tools.py::check#function", "file": "tools.py", "line": 8, "at": [14, 18]},
        {"id": "other.py::look#function", "file": "other.py", "line": 1, "at": [9], "at_file": "tools.py", "depth": 2, "via": "check"},
    ]});
    check_at(
        80,
        &answer,
        expect![[r#"
        method App.run in app.py
        callers (2)
          app.py
             66  method  App.wsgi      calls it at line 97
            118  method  App.__call__  calls App.wsgi at line 125
        callees (2)
          tools.py:8  function  check  called at app.py:14, 18
          other.py:1  function  look   called by check at tools.py:9
    "#]],
    );
    check(
        answer,
        expect![[r#"
        app.py:66   caller  method  App.wsgi      calls it at line 97
        app.py:118  caller  method  App.__call__  calls App.wsgi at line 125
        tools.py:8  callee  function  check  called at app.py:14, 18
        other.py:1  callee  function  look   called by check at tools.py:9
    "#]],
    );
    // A list alone has the same form.
    check(
        json!({"symbol": "app.py::f#function", "callers": [{"id": "b.py::g#function", "file": "b.py", "line": 3, "at": [4]}]}),
        expect![[r#"
            b.py:3  caller  function  g  calls it at line 4
        "#]],
    );
}

#[test]
fn changes_are_told_once() {
    let answer = json!({"since_sha": "2c1b30d", "until_sha": "WORKTREE", "worktree_counts": true, "changed_files_count": 2,
    "files_without_symbols": 0, "added_count": 1, "modified_count": 2,
    "added": [{"symbol_id": "a.py::A.f#method", "line": 3, "change_type": "added"}],
    "modified": [
        {"symbol_id": "a.py::A#class", "line": 1, "change_type": "modified", "only_members": true},
        {"symbol_id": "a.py::A.g#method", "line": 9, "change_type": "modified", "signature_changed": true},
    ]});
    check_at(
        80,
        &answer,
        expect![[r#"
        from:               2c1b30d
        to:                 WORKTREE
        with edits that are not committed
        files that differ:  2
        added (1)
          a.py:3  method  A.f
        modified (2)
          a.py
            1  class   A    only in its members
            9  method  A.g  signature changed
    "#]],
    );
    check(
        answer,
        expect![[r#"
        a.py:3  added  method  A.f
        a.py:1  modified  class   A    only in its members
        a.py:9  modified  method  A.g  signature changed
    "#]],
    );
}

#[test]
fn commits_are_lines_with_their_symbols_below() {
    let answer = json!({"result_count": 1, "searched_commits": 9, "commits": [{"sha": "2c1b30d8aa11bb22", "author": "ann",
        "subject": "Fix zero months", "time": "2024-03-10T12:00:00Z", "files_count": 2, "files": ["a.py", "docs/b.md"],
        "symbols_count": 2, "symbols": [{"symbol_id": "a.py::f#function", "change_type": "modified"}]}]});
    check_at(
        80,
        &answer,
        expect![[r#"
            2c1b30d8aa  2024-03-10  ann  Fix zero months
              modified  a.py::f#function
              file      docs/b.md
              1 more symbol
        "#]],
    );
    let answer = json!({"symbol_id": "a.py::g#function", "result_count": 1, "commits": [{"sha": "2c1b30d8aa11bb22",
        "author": "ann", "subject": "Name it so", "time": "2024-03-10T12:00:00Z", "change_type": "renamed",
        "was": "a.py::f#function"}]});
    check(
        answer,
        expect![[r#"
            2c1b30d8aa  2024-03-10  ann  renamed  Name it so
            2c1b30d8aa  was a.py::f#function
        "#]],
    );
}

#[test]
fn several_answers_are_told_apart() {
    let one = |name: &str, line: u64| {
        json!({"identifier": name, "is_referenced": true, "definitions": 1, "resolved_count": 1,
        "content_references": [{"file": "a.py", "matches": [{"line": line, "text": "add(1)", "confidence": "name"}]}]})
    };
    let answer = json!({"results": [one("add", 3), one("sub", 9)]});
    check_at(
        80,
        &answer,
        expect![[r#"
        add
          definitions:  1
          uses:         1
          written at (1)
            a.py:3  add(1)  only the name is the same
        sub
          definitions:  1
          uses:         1
          written at (1)
            a.py:9  add(1)  only the name is the same
    "#]],
    );
    check(
        answer,
        expect![[r#"
        a.py:3  mention  add(1)  only the name is the same; of add
        a.py:9  mention  add(1)  only the name is the same; of sub
    "#]],
    );
}

#[test]
fn what_all_lines_share_is_said_once() {
    let shown = |answer: &Value| {
        let mut out = Output::new(Paint::none()).with_columns(80);
        super::answer(answer, &mut out);
        out.text().to_owned()
    };
    let line = |line: u64| json!({"line": line, "text": "see add", "confidence": "name"});
    let answer = json!({"identifier": "add", "is_referenced": false, "definitions": 1, "content_references":
        [{"file": "a.md", "matches": [line(1), line(2)]}, {"file": "b.md", "matches": [line(7)]}]});
    let text = shown(&answer);
    assert!(text.contains("written at (2 files), only the name is the same\n"), "{text}");
    assert_eq!(text.matches("only the name is the same").count(), 1, "{text}");
    let id = |name: &str| format!("src/ctx.py::AppContext.{name}#constant");
    let answer = json!({"renamed_count": 2, "renamed": [
        {"id": id("_flashes"), "line": 3, "was": id("flashes")},
        {"id": id("_after"), "line": 4, "was": "src/globals.py::after#function"}]});
    let text = shown(&answer);
    assert!(text.contains("was AppContext.flashes\n"), "{text}");
    assert!(text.contains("was function after in src/globals.py\n"), "{text}");
}

#[test]
fn signatures_are_cut_after_an_argument() {
    let signature =
        "def __init__(self, initial: Mapping[str, Any] | None = None, update: Update | None = None) -> None";
    check_at(
        60,
        &json!({"file": "a.py", "symbols": [
            {"name": "__init__", "kind": "method", "line": 3, "signature": signature, "summary": "Makes it."},
            {"name": "seen", "kind": "constant", "line": 9, "signature": "seen = 1"},
        ]}),
        expect![[r#"
            a.py
            3  def __init__(self, …
                 Makes it.
            9  constant  seen = 1
        "#]],
    );
}

#[test]
fn a_hit_whose_name_is_only_similar_says_so_in_words() {
    check(
        json!({"results": [{"id": "a.py::add#function", "file": "a.py", "line": 7, "kind": "function", "name": "add",
            "signature": "def add(a)", "summary": "", "score": 0.3, "match_type": "fuzzy", "fuzzy_similarity": 0.5, "edit_distance": 11}]}),
        expect![[r#"
            a.py:7  function  add  def add(a)  a similar name
        "#]],
    );
}

#[test]
fn a_map_is_shown_line_by_line() {
    let map = json!({"files": [{"file": "a.py", "symbols": ["1: class A", "  2: def f(self)"]}], "files_left_out": 0});
    check_at(
        80,
        &map,
        expect![[r#"
            a.py
            1: class A
              2: def f(self)
        "#]],
    );
    check(
        map,
        expect![[r#"
            a.py:1  class A
            a.py:2  def f(self)
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
            src/a.py:7         function  add    def add(a, b):  Adds.
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
fn source_stands_below_its_place_and_in_a_pipe_behind_it() {
    let symbol = json!({"id": "a.py::add#function", "file": "a.py", "line": 8, "source_line": 7, "end_line": 9,
        "kind": "function", "name": "add", "source": "@cached\ndef add(a, b):\n    return a + b"});
    let mut around = symbol.clone();
    around["before"] = json!("import os\n");
    around["after"] = json!("  # Done.\nx = 1");
    check_at(
        80,
        &around,
        expect![[r#"
            a.py:7-9  function  add
            import os
            @cached
            def add(a, b):
                return a + b
              # Done.
            x = 1
        "#]],
    );
    check(
        around,
        expect![[r#"
            a.py-6-import os
            a.py:7:@cached
            a.py:8:def add(a, b):
            a.py:9:    return a + b
            a.py-10-x = 1
        "#]],
    );
    let several = json!({"symbols": [symbol], "errors": [{"id": "b", "error": "there is no symbol b"}]});
    check_at(
        80,
        &several,
        expect![[r#"
            a.py:7-9  function  add
            @cached
            def add(a, b):
                return a + b
            b: there is no symbol b
        "#]],
    );
    // In a pipe it goes to standard error.
    check(
        several,
        expect![[r#"
            a.py:7:@cached
            a.py:8:def add(a, b):
            a.py:9:    return a + b
        "#]],
    );
    let bundle = json!({
        "symbols": [{"symbol_id": "a.py::add#function", "line": 8, "source_line": 7, "source": "@cached\ndef add(a, b):"}],
        "imports": [{"file": "a.py", "statements": ["from functools import (\n    cached,\n)", "import os"]}],
        "dependencies": [{"symbol_id": "b.py::f#function", "line": 3, "signature": "def f()"}],
    });
    check(
        bundle,
        expect![[r#"
            a.py:7:@cached
            a.py:8:def add(a, b):
            a.py  import  from functools import ( cached, )
            a.py  import  import os
            b.py:3  uses  function  f  def f()
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
            a.py:7:def run(self)
        "#]],
    );
}

#[test]
fn nothing_found_says_where_it_was_looked_for() {
    let answer = json!({"result_count": 0, "results": [], "negative_evidence": {"verdict": "absent", "scanned_symbols": 40,
        "scanned_files": 1, "left_out": {"too_large": 2}, "nearest": ["add"]}});
    let expected = ["looked at 40 symbols in 1 file", "not indexed: 2 too large", "did you mean: add"];
    assert_eq!(super::notes(&answer, TERMINAL), expected);
}

#[test]
fn a_search_that_ran_out_of_time_says_so() {
    let expected = ["the time was up before every file was looked into: there may be more"];
    assert_eq!(super::notes(&json!({"results": [], "truncated": true, "timed_out": true}), TERMINAL), expected);
    assert_eq!(super::notes(&json!({"count": 7, "_meta": {"timed_out": true}}), TERMINAL), expected);
    assert!(super::notes(&json!({"count": 7, "_meta": {}}), TERMINAL).is_empty());
}

#[test]
fn outlines_are_indented_and_numbered() {
    let outline = json!({"file": "a.py", "symbols": [
        {"id": "a.py::Adder#class", "name": "Adder", "kind": "class", "line": 3, "signature": "class Adder:",
            "attributes": ["sum", "last"], "children": [
            {"id": "a.py::Adder.add#method", "name": "add", "kind": "method", "line": 10,
                "signature": "def add(self):", "summary": "Adds."},
        ]},
    ]});
    check_at(
        80,
        &outline,
        expect![[r#"
            a.py
             3  class Adder:
                  sum; last
            10    def add(self):  Adds.
        "#]],
    );
    check(
        outline,
        expect![[r#"
            a.py:3  class  Adder  class Adder:  with sum; last
            a.py:10  method  Adder.add  def add(self):  Adds.
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
            "languages": {"python": 1000, "go": 200}, "skipped": {"binary": 2, "too_large": 5, "secret": 3, "ignored": 0}, "warnings": ["a: bad"]}),
        expect![[r#"
            local/x  1200 files, 1 symbol
            3 added
            1000 python
            200 go
            left out: 5 too large
            left out: 3 secrets
            left out: 2 binary
            warning: a: bad
        "#]],
    );
    check(
        json!({"success": true, "repo": "local/x", "file_count": 2, "symbol_count": 3, "files_added": 2,
            "context": {"dbt": {"columns": 4, "models": 2}},
            "summaries": {"model": "m", "host": "h", "summarized": 1, "summaries_pending": 2, "used_tokens": 9, "cost_usd": 0.5},
            "embeddings": {"model": "t", "embedded": 3, "missing": 0}}),
        expect![[r#"
            local/x  2 files, 3 symbols
            2 added
            dbt: 4 columns
            dbt: 2 models
            1 symbol summarised by m at h, 9 tokens, $0.5; 2 pending
            3 texts embedded by t
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
            local/x-1      5       40  2026-11-01  missing: /x
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
            a.py:7         method    Adder.add~2  100 % sure; unused
            long/b.py:120  function  f            90 % sure; only in tests
        "#]],
    );
}

#[test]
fn nothing_beside_a_list_is_lost() {
    let mut out = Output::new(Paint::none());
    let answer =
        json!({"overrides": ["a.py::A.f#method"], "callers": [{"id": "b.py::g#function", "line": 3}], "callees": []});
    super::answer(&answer, &mut out);
    assert_eq!(out.text(), "a.py  overrides  method  A.f\nb.py:3  caller  function  g\n");
}

#[test]
fn several_lists_have_headings() {
    check(
        json!({"symbol": "a.py::f#function", "callers": [{"id": "b.py::g#function", "file": "b.py", "line": 3, "at": [4, 9],
            "callers": [{"id": "c.py::h#function", "file": "c.py", "line": 1, "at": [2]}]}],
            "callees": [{"id": "a.py::k#function", "file": "a.py", "line": 8}], "removed_count": 0}),
        expect![[r#"
            b.py:3  caller  function  g  calls it at line 4, 9
            a.py:8  callee  function  k
        "#]],
    );
}

#[test]
fn matches_are_named_by_their_file() {
    check(
        json!({"repository": "a/b", "matches": [{"path": "a.py", "line_matches": [
            {"line_number": 3, "line": "  x = 1", "ranges": [[2, 3]]}]}], "stats": {"files_searched": 5, "left_out": {"binary": 2}}}),
        expect![[r#"
            a.py:3  x = 1
            stats
              files searched: 5
        "#]],
    );
}

#[test]
fn symbols_of_a_file_are_a_line_each_in_a_pipe() {
    check(
        json!({"confirmed": [{"file": "a.py", "symbols": ["f", "g.h"], "more": 3}, {"file": "b.py"}]}),
        expect![[r#"
            a.py  depends  f
            a.py  depends  g.h
            a.py  depends  and 3 more
            b.py  depends
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
            a -> os (outside)
        "#]],
    );
}

#[test]
fn a_graph_at_a_terminal_begins_with_the_file() {
    check_at(
        80,
        &json!({"file": "a", "imports": ["b"], "importers": ["c"], "nodes": ["a", "b", "c", "d"],
            "edges": [[0, 1], [2, 0], [1, 3]], "external": ["os", "re"]}),
        expect![[r#"
            a
              imports (1)
                b
              imported by (1)
                c
              imports from outside: os, re
              further imports (1)
                b
                  d
        "#]],
    );
}

#[test]
fn facts_are_named_and_counts_come_largest_first() {
    check(
        json!({"is_stale": false, "languages": {"go": 2, "python": 30}, "top_keywords": ["a", "b"], "none": {}, "empty": []}),
        expect![[r#"
            languages: 30 python
            languages: 2 go
            frequent words: a
            frequent words: b
        "#]],
    );
    check(json!({"count": 3, "_meta": {}}), expect![["3\n"]]);
}

#[test]
fn errors_say_what_was_perhaps_meant() {
    let error = json!({"error": "there is no symbol x", "code": "not_found", "details": {"nearest": ["a", {"id": "b"}], "n": 1}});
    assert_eq!(super::error(&error, Paint::none(), TERMINAL), "error: there is no symbol x\n  did you mean: a, b\n");
    let error =
        json!({"error": "no symbol has the id \"x\"; did you mean \"a\"?", "details": {"nearest": ["a", "b", "c"]}});
    let told = super::error(&error, Paint::none(), TERMINAL);
    assert_eq!(told, "error: no symbol has the id \"x\"; did you mean \"a\"?\n  or: b, c\n");
    let ids = ["one", "another"].map(|owner| format!("src/shop/{owner}.py::{owner}.open_session#method"));
    let error = json!({"error": "it fits several symbols", "details": {"candidates": ids}});
    assert_eq!(
        super::error(&error, Paint::none(), TERMINAL),
        format!("error: it fits several symbols\n  candidates:\n    {}\n    {}\n", ids[0], ids[1])
    );
}

#[test]
fn a_cut_answer_says_how_to_go_on() {
    let answer =
        json!({"results": [1, 2], "total": 9, "left": 7, "next_cursor": "c2", "_meta": {"freshness": "stale"}});
    assert_eq!(
        super::notes(&answer, TERMINAL),
        ["7 more of 9; the next: --cursor c2", "some files have changed since they were indexed"]
    );
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
            codelode tree --max-depth 2                folders
        "#]],
    );
}

#[test]
fn columns_and_files_that_define_are_named() {
    let shown = |answer: Value| {
        let mut out = Output::new(Paint::none()).with_columns(120);
        super::answer(&answer, &mut out);
        out.text().to_owned()
    };
    let column =
        json!({"model": "customers", "file": "m/customers.sql", "column": "customer_id", "description": "Its key."});
    let columns = shown(json!({"result_count": 1, "results": [column]}));
    assert!(columns.contains("customer_id") && columns.contains("m/customers.sql"), "{columns}");
    let uses = json!({"definitions": [{"id": "m/orders.sql", "line": 1, "uses": 5}], "references": []});
    let uses = shown(uses);
    assert!(uses.contains("m/orders.sql"), "{uses}");
}
