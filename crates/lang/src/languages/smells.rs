//! Syntax search: pattern syntax, and queries for well-known code smells.

/// Syntax search settings of a language.
pub struct Syntax {
    /// Prefix of metavariables in place of a pattern's `$`; `$` itself if the language allows it in names.
    pub sigil: char,
    /// Code before and after a pattern that is not a complete file by itself.
    pub contexts: &'static [(&'static str, &'static str)],
    /// A function or class that begins in the first column stands in nothing else.
    pub first_column_is_top: bool,
    /// Kinds of nodes that can hold the definition of a class's member. A match of any other kind is part of one member.
    pub around_members: &'static [&'static str],
    /// Kinds of nodes that hold plain text around code. A pattern that is only such a node was not understood.
    pub text: &'static [&'static str],
    /// An awaited call with type arguments, as the grammar knows it: patterns of calls without them match such a call as well.
    pub typed_call: Option<&'static str>,
    /// Tree-sitter queries for smells of [`SMELLS`]; the match is the capture `match`, or all captures.
    pub smells: &'static [(&'static str, &'static str)],
}

impl Syntax {
    /// Default settings: no contexts or smells, and `$` replaced by a letter that few names begin with.
    pub const PLAIN: Self = Self {
        sigil: 'µ',
        contexts: &[],
        first_column_is_top: false,
        around_members: &[],
        text: &[],
        typed_call: None,
        smells: &[],
    };
}

/// All smells with their descriptions.
pub const SMELLS: [(&str, &str); 6] = [
    ("empty_catch", "an error that is caught and dropped"),
    ("bare_except", "a handler that catches everything"),
    ("deep_nesting", "branches and loops five deep"),
    ("eval", "text that is run as code"),
    ("hardcoded_secret", "a credential written as a literal"),
    ("todo", "a comment that says TODO, FIXME, XXX or HACK"),
];
