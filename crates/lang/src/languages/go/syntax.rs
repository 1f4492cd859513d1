//! Syntax search for Go: contexts of patterns, and queries for smells.

use crate::languages::Syntax;

pub const SYNTAX: Syntax = Syntax {
    sigil: 'µ',
    contexts: &[("package p\nfunc f() {\n", "\n}"), ("package p\n", "\n")],
    first_column_is_top: false,
    around_members: &[],
    text: &[],
    typed_call: None,
    smells: &[
        (
            "empty_catch",
            r#"(if_statement condition: (binary_expression right: (nil)) consequence: (block . "{" . "}")) @match"#,
        ),
        (
            "hardcoded_secret",
            r#"([(short_var_declaration left: (_) @name right: (expression_list . (interpreted_string_literal) @value .))
              (assignment_statement left: (_) @name right: (expression_list . (interpreted_string_literal) @value .))
              (const_spec name: (_) @name value: (expression_list . (interpreted_string_literal) @value .))
              (var_spec name: (_) @name value: (expression_list . (interpreted_string_literal) @value .))] @match
            (#match? @name "(?i)(passw(or)?d|secret(_?key)?|api_?key|token|private_?key)$")
            (#match? @value "^\"[^\" {}$<>%]{8,}\"$"))"#,
        ),
        ("todo", r#"((comment) @match (#match? @match "\\b(TODO|FIXME|XXX|HACK)\\b"))"#),
    ],
};
