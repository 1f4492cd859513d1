//! Syntax search for Python: contexts of patterns, and queries for smells.

use crate::languages::Syntax;

pub const SYNTAX: Syntax = Syntax {
    sigil: 'µ',
    contexts: &[("class C:\n  def f(self):\n    ", "\n")],
    first_column_is_top: true,
    text: &[],
    smells: &[
        ("empty_catch", "(except_clause (block . (pass_statement) .)) @match"),
        ("bare_except", r#"(except_clause . "except" . ":") @match"#),
        ("eval", r#"(call function: (identifier) @f (#any-of? @f "eval" "exec")) @match"#),
        (
            "hardcoded_secret",
            r#"((assignment left: (_) @name right: (string) @value) @match
            (#match? @name "(?i)(passw(or)?d|secret(_?key)?|api_?key|token|private_?key)['\"]?\\]?$")
            (#match? @value "^[rbu]*['\"][^'\" {}$<>%]{8,}['\"]$"))
            ((keyword_argument name: (_) @name value: (string) @value) @match
            (#match? @name "(?i)(passw(or)?d|secret(_?key)?|api_?key|private_?key)$")
            (#match? @value "^[rbu]*['\"][^'\" {}$<>%]{8,}['\"]$"))
            ([(assignment left: (_) @name right: (string) @value)
              (keyword_argument name: (_) @name value: (string) @value)] @match
            (#match? @name "(?i)secret_key['\"]?\\]?$")
            (#match? @value "^[rbu]*['\"][^'\" {}$<>%]{1,7}['\"]$"))"#,
        ),
        ("todo", r#"((comment) @match (#match? @match "\\b(TODO|FIXME|XXX|HACK)\\b"))"#),
    ],
};
