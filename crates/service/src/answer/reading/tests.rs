//! Answers and their texts for a reader.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// Checks the text of an answer.
fn check(answer: &Value, expected: Expect) {
    expected.assert_eq(&super::answer(answer));
}

/// A use of the first or second definition.
fn used(of: Option<u64>, file: &str, line: u64, text: &str, within: &str) -> Value {
    let mut item =
        json!({"file": file, "line": line, "column": 9, "text": text, "kind": "call", "confidence": "resolved"});
    if let Some(of) = of {
        item["of"] = of.into();
    }
    if !within.is_empty() {
        item["in"] = within.into();
    }
    item
}

#[test]
fn uses_stand_below_their_definition_and_file() {
    check(
        &json!({
            "definitions": [{"id": "shop/cart.py::Cart.total#method", "line": 5, "also_at": [":9"], "uses": 4}],
            "references": [
                used(None, "a.py", 3, "x = cart.total() + cart.total()", "pay"),
                used(None, "a.py", 3, "x = cart.total() + cart.total()", "pay"),
                used(None, "a.py", 9, "cart.total()", ""),
                used(None, "b.py", 1, "total = Cart.total", "B.run"),
            ],
            "possible": 1,
            "possible_places": [{"file": "c.py", "line": 2, "text": "it.total()", "in": "f"}],
            "_meta": {"timing_ms": 1.0, "repo": "local/x", "freshness": "fresh"},
        }),
        expect![[r#"
            4 uses of method Cart.total, shop/cart.py:5 and :9
            a.py
            3:x = cart.total() + cart.total()  in pay
            9:cart.total()
            b.py:1:total = Cart.total  in B.run
            1 possible, as the receiver is not known:
            c.py:2:it.total()  in f"#]],
    );
}

#[test]
fn of_many_uses_the_first_of_each_file_are_shown_whole() {
    let mut uses: Vec<Value> = (1..=30).map(|line| used(None, "a.py", line, "cart.total()", "pay")).collect();
    uses.push(used(None, "b.py", 4, "bill.total()", ""));
    check(
        &json!({
            "definitions": [{"id": "shop/cart.py::Cart.total#method", "line": 5, "uses": 31}],
            "references": uses,
            "possible": 1,
            "possible_places": [{"file": "c.py", "line": 2, "text": "it.total()", "in": "f"}],
        }),
        expect![[r#"
            31 uses of method Cart.total, shop/cart.py:5
            a.py
            1:cart.total()  in pay
            2:cart.total()  in pay
            3:cart.total()  in pay
            and 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
            b.py:4:bill.total()
            1 possible, as the receiver is not known:
            c.py:2:it.total()  in f"#]],
    );
}

#[test]
fn each_definition_of_a_name_has_its_uses_below_it() {
    check(
        &json!({
            "definitions": [
                {"number": 0, "id": "a.py::add#function", "line": 1, "uses": 1},
                {"number": 1, "id": "b.py::B.add#method", "line": 7, "uses": 0},
                {"number": 2, "id": "c.py::C.add#method", "line": 2, "uses": 1},
            ],
            "references": [used(Some(0), "x.py", 4, "add(1)", "f"), used(Some(2), "x.py", 8, "c.add(1)", "g")],
            "possible": 75,
            "possible_receivers": [{"receiver": "w.Header()", "count": 63}, {"receiver": "no receiver", "count": 12}],
            "_meta": {"freshness": "stale"},
        }),
        expect![[r#"
            stale: some files have changed since they were indexed
            1 use of function add, a.py:1
            x.py:4:add(1)  in f
            1 use of method C.add, c.py:2
            x.py:8:c.add(1)  in g
            no uses: B.add b.py:7
            75 possible, as the receiver is not known: w.Header() 63, no receiver 12; `include_possible` lists them"#]],
    );
}

#[test]
fn callers_have_the_line_of_their_definition_and_that_of_the_call() {
    check(
        &json!({
            "symbol": "app.py::App.run#method",
            "line": 14,
            "overrides": ["base.py::Base.run#method"],
            "callers": [
                {"id": "app.py::App.wsgi#method", "file": "app.py", "line": 66, "at": [97], "calls": ["return self.run()"]},
                {"id": "app.py::main#function", "file": "app.py", "line": 118, "at": [125, 130], "calls": ["app.run()", "App().run()"]},
                {"id": "b.py::go#function", "file": "b.py", "line": 2, "at": [3], "calls": ["main()"], "depth": 2, "via": "main"},
            ],
            "looked_at": {"files": 40, "tests": 12},
            "called_outside_functions": ["c.py:9"],
        }),
        expect![[r#"
            3 callers of method App.run, app.py:14; complete: no other call is possible in 40 files, 12 of them tests
            app.py
            66 App.wsgi  97:return self.run()
            118 main  125:app.run()  and 130
            b.py:2 go (2 steps, by main)  3:main()
            called outside of functions: c.py:9"#]],
    );
    check(
        &json!({"symbol": "app.py::App.run#method", "line": 14,
            "callees": [{"id": "tools.py::check#function", "file": "tools.py", "line": 8, "at": [16], "calls": ["check(self)"],
                "overridden_by": ["Big.check"]}]}),
        expect![[r#"
            1 callee of method App.run, app.py:14
            tools.py:8 check (or Big.check instead)  16:check(self)  in app.py"#]],
    );
}

#[test]
fn callers_through_a_base_are_counted_apart() {
    let caller = |name: &str, line: u64| {
        let long = "self.server.run(argument_of_a_long_name, another_argument_of_a_long_name)";
        json!({"id": format!("a.py::{name}#function"), "file": "a.py", "line": line, "at": [line + 1], "calls": [long]})
    };
    let mut through = caller("start", 40);
    (through["depth"], through["via"], through["through"]) = (2.into(), "Base.run".into(), true.into());
    check(
        &json!({"symbol": "app.py::App.run#method", "line": 14, "callers": [caller("main", 3), through]}),
        expect![[r#"
            1 direct caller of method App.run, app.py:14; complete: no other call is possible
            a.py:3 main  4:self.server.run(argument_of_a_long_name, another_argumen…
            1 caller of Base.run, which may run it:
            a.py:40 start  41:self.server.run(argument_of_a_long_name, another_argumen…"#]],
    );
    let callers: Vec<Value> = (0..13).map(|n| caller(&format!("f{n}"), 10 * n)).collect();
    check(
        &json!({"symbol": "app.py::App.run#method", "line": 14, "callers": callers,
            "through": [{"id": "base.py::Base.run#method", "callers": 12}]}),
        expect![[r#"
            13 direct callers of method App.run, app.py:14; complete: no other call is possible
            a.py
            0 f0  at 1
            10 f1  at 11
            20 f2  at 21
            30 f3  at 31
            40 f4  at 41
            50 f5  at 51
            60 f6  at 61
            70 f7  at 71
            80 f8  at 81
            90 f9  at 91
            100 f10  at 101
            110 f11  at 111
            120 f12  at 121
            12 callers of Base.run, which may run it, not listed; `through` lists them"#]],
    );
}

#[test]
fn source_stands_below_its_file_with_numbers() {
    let symbol = json!({"id": "shop/cart.py::Cart.total#method", "kind": "method", "name": "total", "file": "shop/cart.py",
        "line": 8, "source_line": 7, "end_line": 9, "signature": "def total(self)", "source": "    @cached\n    def total(self):\n        return 1",
        "before": "import os\n", "after": "  # Done.\nx = 1"});
    check(
        &symbol,
        expect![[r#"
            shop/cart.py
            Cart.total
            6:import os
            7:    @cached
            8:    def total(self):
            9:        return 1
            10:x = 1"#]],
    );
    check(
        &json!({"symbols": [{"id": "a.py::f#function", "file": "a.py", "line": 1, "source": "def f(): ..."}],
            "errors": [{"id": "g", "error": "no symbol has the id \"g\"", "nearest": ["a.py::f#function"]}]}),
        expect![[r#"
            a.py
            1:def f(): ...
            no symbol has the id "g": a.py::f#function"#]],
    );
}

#[test]
fn an_outline_says_each_thing_once() {
    check(
        &json!({"file": "a.py", "language": "python", "line_count": 40, "summary": "A shop.", "has_errors": true, "symbols": [
            {"id": "a.py::Cart#class", "kind": "class", "name": "Cart", "signature": "class Cart", "line": 3, "end_line": 30,
                "attributes": ["sum", "last"],
                "children": [{"id": "a.py::Cart.add#method", "kind": "method", "name": "add", "signature": "def add(self)",
                    "summary": "Adds.", "line": 10, "end_line": 10}]},
            {"id": "a.py::LIMIT#constant", "kind": "constant", "name": "LIMIT", "signature": "LIMIT = 3", "line": 40, "end_line": 40},
        ]}),
        expect![[r#"
            a.py, 40 lines — A shop.
            some of it could not be parsed: symbols may be missing
            3-30 class Cart
             sum; last
             10 def add(self) — Adds.
            40 constant LIMIT = 3"#]],
    );
}

#[test]
fn hits_are_rows_and_a_weak_rest_is_a_count() {
    let hit = |file: &str, line: u64, name: &str, kind: &str, signature: &str| {
        json!({"id": format!("{file}::{name}#{kind}"), "kind": kind, "name": name, "file": file, "line": line,
            "signature": signature, "summary": "", "score": 60})
    };
    check(
        &json!({"result_count": 2, "confidence": "low", "weaker": 40, "further": ["src/b.c", "src/d.c"], "unknown_words": ["zz"], "results": [
            hit("shop/cart.py", 12, "Cart.total", "method", "def total(self)"),
            hit("src/a.c", 9, "total", "function", "int total(void)"),
            hit("shop/cart.py", 3, "LIMIT", "constant", "LIMIT = 3"),
        ]}),
        expect![[r#"
            shop/cart.py
            12 Cart.total: def total(self)
            3 constant LIMIT = 3
            src/a.c:9 int total(void)
            perhaps also src/b.c, src/d.c"#]],
    );
    let mut section = hit("docs/a.md", 1, "Adding", "type", "");
    section["detail"] = "section".into();
    check(
        &json!({"result_count": 4, "confidence": "low", "results": [
            section,
            hit("a.py", 2, "LIMIT", "constant", ""),
            hit("b.py", 7, "Cart.total", "method", ""),
            hit("a.py", 9, "add", "function", ""),
        ]}),
        expect![[r#"
            a.py:9 add, 2 LIMIT
            b.py:7 Cart.total
            docs/a.md:1 Adding"#]],
    );
    let mut made = hit("gen/a.c", 9, "total", "function", "int total(void)");
    made["origin"] = "generated".into();
    check(
        &json!({"result_count": 1, "confidence": "medium", "weaker": 3, "results": [made]}),
        expect![[r#"
            gen/a.c:9 int total(void) (generated)"#]],
    );
    let mut only = hit("a.py", 2, "add", "function", "def add(a)");
    only["uses"] = 5.into();
    only["source"] = "def add(a):\n    return a".into();
    only["summary"] = "Adds.".into();
    check(
        &json!({"result_count": 1, "confidence": "high", "results": [only]}),
        expect![[r#"
            a.py:2 add — Adds. (5 uses)
            2:def add(a):
            3:    return a"#]],
    );
    check(
        &json!({"result_count": 0, "confidence": "none", "results": [], "negative_evidence": {"verdict": "not_found",
            "scanned_symbols": 40, "scanned_files": 1, "nearest": ["a.py::add#function"], "ask": "with fuzzy"}}),
        expect![[r#"
            nothing found; looked at 40 symbols in 1 file
            similar: a.py::add#function
            ask with fuzzy"#]],
    );
}

#[test]
fn a_question_is_answered_with_candidates_before_sources() {
    check(
        &json!({"confidence": "high", "left_out": 9, "files": [{"file": "a.py", "why": "f"}, {"file": "b.md", "why": "text"}],
            "candidates": [
                {"id": "a.py::f#function", "line": 1, "signature": "def f(x)", "why": "stored"},
                {"id": "t/test_a.py::T.rjust#method", "line": 8, "signature": "def rjust(self)"},
            ],
            "items": [{"symbol_id": "a.py::f#function", "line": 1, "source": "def f(x):\n    \"F.\n    \"\n    return x",
                "left_out_lines": [3, 9], "used_by": ["b.py::g#function"]}],
            "_meta": {"freshness": "indexing", "read_so_far": {"files": 14, "of": 404}}}),
        expect![[r#"
            from 14 of 404 files: the index is still being made, and missing results may be in the rest
            a.py:1 def f(x) — stored
            t/test_a.py:8 T.rjust: def rjust(self)
            b.md: its text

            a.py
            1:def f(x):
            2:    "F.
            10:    "
            11:    return x
            used by b.py::g"#]],
    );
}

#[test]
fn a_tree_has_names_and_a_map_has_symbols() {
    check(
        &json!({"repo": "local/x", "path_prefix": "", "depth": 2, "tree": [
            {"path": "shop/", "type": "dir", "children": [
                {"path": "shop/cart.py", "type": "file", "language": "python", "symbol_count": 2, "line_count": 40},
                {"path": "shop/old/", "type": "dir", "file_count": 3},
            ]},
            {"path": "README.md", "type": "file", "line_count": 9},
        ]}),
        expect![[r#"
            files, with their numbers of lines
            shop/
             cart.py 40
             old/ 3 files
            README.md 9"#]],
    );
    check(
        &json!({"files": [{"file": "a.py", "symbols": ["3: class Cart", "  5: def add(self)"], "symbols_left_out": 4}],
            "total": 3, "left": 2, "next_cursor": "c1-2"}),
        expect![[r#"
            2 more files are left out; the next with next_cursor c1-2
            a.py
            3: class Cart
              5: def add(self)
            4 more"#]],
    );
}

#[test]
fn other_lists_stand_below_their_names_and_files() {
    check(
        &json!({"class": {"id": "a.py::Cart#class", "name": "Cart", "file": "a.py", "line": 3}, "ancestors": [],
            "descendants": [
                {"id": "a.py::Big#class", "name": "Big", "file": "a.py", "line": 30},
                {"id": "a.py::Bigger#class", "name": "Bigger", "file": "a.py", "line": 40, "depth": 2},
                {"id": "b.py::Other#class", "name": "Other", "file": "b.py", "line": 1},
            ], "outside": ["abc.ABC"], "left": 4, "next_cursor": "c3-1"}),
        expect![[r#"
            class a.py:3 Cart
            descendants (3):
            a.py
            30 Big
            40 Bigger depth 2
            b.py:1 Other
            outside: abc.ABC
            4 more; the next with next_cursor c3-1"#]],
    );
    check(
        &json!({"symbol": "a.py::f#function", "direct_dependents_count": 2,
            "confirmed": [{"file": "b.py", "symbols": ["g", "h"]}, {"file": "c.py"}], "potential": []}),
        expect![[r#"
            function f, a.py
            direct dependents count: 2
            confirmed (2):
            b.py:g, h
            c.py"#]],
    );
}
