//! Patterns and smells of JavaScript, and of TypeScript, which has the same nodes.

use crate::languages::Syntax;

/// See [`Syntax`].
pub const SYNTAX: Syntax = Syntax {
    sigil: '$',
    contexts: &[("class C {\n", "\n}")],
    first_column_is_top: false,
    around_members: &[],
    text: &[],
    typed_call: Some("await f<T>(x)"),
    smells: &[
        ("empty_catch", r#"(catch_clause "catch" body: (statement_block . "{" . "}")) @match"#),
        (
            "eval",
            r#"(call_expression function: (identifier) @f (#eq? @f "eval")) @match
            (new_expression constructor: (identifier) @f (#eq? @f "Function")) @match"#,
        ),
        (
            "hardcoded_secret",
            r#"([(variable_declarator name: (_) @name value: (string) @value)
              (assignment_expression left: (_) @name right: (string) @value)
              (pair key: (_) @name value: (string) @value)] @match
            (#match? @name "(?i)(passw(or)?d|secret(_?key)?|api_?key|token|private_?key)['\"]?$")
            (#match? @value "^['\"][^'\" {}$<>%]{8,}['\"]$"))"#,
        ),
        ("todo", r#"((comment) @match (#match? @match "\\b(TODO|FIXME|XXX|HACK)\\b"))"#),
    ],
};
