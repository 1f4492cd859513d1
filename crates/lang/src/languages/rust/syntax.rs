//! Patterns and smells of Rust.

use crate::languages::Syntax;

pub const SYNTAX: Syntax = Syntax {
    sigil: 'µ',
    contexts: &[("fn f() {\n", "\n}"), ("fn f() { match x {\n", "\n} }"), ("impl T {\n", "\n}")],
    first_column_is_top: false,
    around_members: &[],
    text: &[],
    typed_call: None,
    smells: &[
        (
            "empty_catch",
            r#"((match_arm pattern: (match_pattern (tuple_struct_pattern type: (identifier) @e))
              value: (block . "{" . "}")) @match (#eq? @e "Err"))"#,
        ),
        (
            "hardcoded_secret",
            r#"([(let_declaration pattern: (_) @name value: (string_literal) @value)
              (const_item name: (_) @name value: (string_literal) @value)
              (static_item name: (_) @name value: (string_literal) @value)] @match
            (#match? @name "(?i)(passw(or)?d|secret(_?key)?|api_?key|token|private_?key)$")
            (#match? @value "^\"[^\" {}$<>%]{8,}\"$"))"#,
        ),
        ("todo", r#"([(line_comment) (block_comment)] @match (#match? @match "\\b(TODO|FIXME|XXX|HACK)\\b"))"#),
    ],
};
