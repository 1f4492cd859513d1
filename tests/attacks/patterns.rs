//! Patterns of `search_ast` that are hard to read or to look for.

use std::time::Duration;

use serde_json::json;

use super::{MEMORY, Place, hostile, peak};

/// One small file of each language.
const SMALL: &[(&str, &str)] = &[
    ("a.py", "def f(x):\n    return g((x))\n"),
    ("a.js", "function f(x){return g((x))}\n"),
    ("a.ts", "function f(x:number){return g((x))}\n"),
    ("a.go", "package a\nfunc f(x int) int { return g((x)) }\n"),
    ("a.rs", "fn f(x:i32)->i32{ g((x)) }\n"),
    ("A.java", "class A { int f(int x){ return g((x)); } }\n"),
];

/// As long as a pattern may be, nested as deep as that allows.
fn bombs() -> Vec<String> {
    let around = |before: &str, inside: &str, after: &str| {
        let depth = 9_990 / (before.len() + after.len());
        before.repeat(depth) + inside + &after.repeat(depth)
    };
    vec![
        around("(", "a", ")"),
        around("(", "", ""),
        around("(", "_", ")"),
        around("[", "", "]"),
        around("[", "(_)", "]"),
        around("f(", "", ")"),
        around("-", "a", ""),
        around("!", "a", ""),
        around("&", "a", ""),
        around("", "a", ".b"),
        around("", "a", "+a"),
        around("{", "", "}"),
        around("a?b:", "c", ""),
        around("lambda:", "a", ""),
        around("()=>", "a", ""),
        around("", "a", "[0]"),
        around("function f(){", "", "}"),
        around("class A{", "", "}"),
        around("L<", "x", ">"),
        around("not ", "a", ""),
        around("if(a)", "b", ""),
        around("*", "a", ""),
        around("", "(_)", "*"),
        around("(_ ", "", ")"),
        around("", "(_)", r#"(#match? @a "\\w{9}")"#),
        around("f(a[{x: (", "", ""),
    ]
}

#[test]
fn no_pattern_ends_the_server() {
    let place = Place::with(SMALL.iter().map(|(name, text)| (*name, (*text).to_owned())));
    let mut server = place.serve();
    for pattern in bombs() {
        for language in ["python", "typescript", "rust"] {
            server.call("search_ast", json!({"pattern": pattern, "language": language}));
        }
        server.call("search_ast", json!({"pattern": pattern}));
    }
    let found = server.call("search_ast", json!({"pattern": "g($A)", "language": "python"}));
    assert_eq!(found["result_count"], 1, "{found}");
    assert!(peak(&server) < MEMORY, "took {} MB", peak(&server));
}

/// Files with deep and wide trees, and what is hard to look for in them.
fn trees() -> Vec<(&'static str, String)> {
    let pair = |depth: usize| format!("({0}1{1}) == ({0}1{1})", "(".repeat(depth), ")".repeat(depth));
    let mut files = hostile::files(hostile::SIZE);
    files.retain(|(name, _)| ["calls.js", "chain.js", "chain.java", "sum.py", "parentheses.py"].contains(name));
    files.push(("statements.js", "f();\n".repeat(48_000)));
    files.push(("alike.py", format!("a = {}\nb = {}\n", pair(3), pair(40_000))));
    files.push(("unary.js", format!("x = {}a;\n", "!".repeat(200_000))));
    files
}

#[test]
fn a_search_ends_in_time_and_can_be_called_off() {
    let place = Place::with(trees());
    let mut server = place.serve();
    let hard = [
        json!({"preset": "deep_nesting"}),
        json!({"pattern": "(program (_)* @a)"}),
        json!({"pattern": "((_) @x (#match? @x \"(a+)+$\"))"}),
        json!({"pattern": "(_ (_) @a) @b"}),
        json!({"pattern": "$A.b()"}),
        json!({"pattern": "$A == $A"}),
        json!({"pattern": "f($A)"}),
    ];
    for arguments in &hard {
        let answer = server.call("search_ast", arguments.clone());
        assert!(answer["error"].is_null(), "{arguments}: {answer}");
    }
    for _ in 0..5 {
        for arguments in &hard {
            server.begin_and_cancel("search_ast", arguments.clone(), Duration::from_millis(5));
        }
    }
    let found =
        server.call("search_ast", json!({"pattern": "$A == $A", "file_pattern": "alike.py", "language": "python"}));
    assert!(found["error"].is_null(), "{found}");
    assert!(peak(&server) < MEMORY, "took {} MB", peak(&server));
}
