//! Patterns and smells of Java.

use crate::languages::Syntax;

pub const SYNTAX: Syntax = Syntax {
    sigil: '$',
    contexts: &[("class C { void f() {\n", "\n} }"), ("class C { void f() {\n", ";\n} }"), ("class C {\n", "\n}")],
    first_column_is_top: false,
    around_members: &[],
    text: &[],
    typed_call: None,
    smells: &[
        ("empty_catch", r#"(catch_clause "catch" body: (block . "{" . "}")) @match"#),
        (
            "bare_except",
            r#"(catch_clause (catch_formal_parameter (catch_type . (type_identifier) @t .))
            (#any-of? @t "Exception" "Throwable")) @match"#,
        ),
        ("eval", r#"((method_invocation name: (identifier) @f) @match (#eq? @f "eval"))"#),
        (
            "hardcoded_secret",
            r#"((variable_declarator name: (_) @name value: (string_literal) @value) @match
            (#match? @name "(?i)(passw(or)?d|secret(_?key)?|api_?key|token|private_?key)$")
            (#match? @value "^\"[^\" {}$<>%]{8,}\"$"))"#,
        ),
        ("todo", r#"([(line_comment) (block_comment)] @match (#match? @match "\\b(TODO|FIXME|XXX|HACK)\\b"))"#),
    ],
};
