//! How code is searched by its syntax: what a pattern may be written as, and what well-known smells look like.

/// How a language's syntax is searched.
pub struct Syntax {
    /// Begins names in place of a pattern's `$`; `$` itself where the language allows it.
    pub sigil: char,
    /// What may stand before and after a pattern that is no whole file by itself.
    pub contexts: &'static [(&'static str, &'static str)],
    /// Smells of [`SMELLS`] and the tree-sitter queries that find them; the match is the capture `match`, or all of them.
    pub smells: &'static [(&'static str, &'static str)],
}

impl Syntax {
    /// Patterns that stand by themselves, with a letter for `$` that few names begin with.
    pub const PLAIN: Self = Self { sigil: 'µ', contexts: &[], smells: &[] };
}

/// Every smell, and what it is.
pub const SMELLS: [(&str, &str); 6] = [
    ("empty_catch", "an error that is caught and dropped"),
    ("bare_except", "a handler that catches everything"),
    ("deep_nesting", "branches and loops five deep"),
    ("eval", "text that is run as code"),
    ("hardcoded_secret", "a credential written as a literal"),
    ("todo", "a comment that says TODO, FIXME, XXX or HACK"),
];
