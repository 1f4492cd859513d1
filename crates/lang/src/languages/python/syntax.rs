//! Syntax search for Python: contexts of patterns, and queries for smells.

use crate::languages::Syntax;

pub const SYNTAX: Syntax = Syntax {
    sigil: 'µ',
    contexts: &[("class C:\n  def f(self):\n    ", "\n")],
    first_column_is_top: true,
    around_members: &[
        "module",
        "class_definition",
        "decorated_definition",
        "block",
        "if_statement",
        "elif_clause",
        "else_clause",
        "for_statement",
        "while_statement",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "with_statement",
        "match_statement",
        "case_clause",
    ],
    text: &[],
    typed_call: None,
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
