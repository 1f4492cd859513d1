//! Symbols: named definitions in a file.

use std::borrow::Cow;

/// A byte range of a file, half open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`; empty if `end` is before `start`.
    pub fn new(start: usize, end: usize) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        Self { start, end: end.max(start) }
    }

    /// First `most` bytes of the range.
    pub fn clipped(self, most: usize) -> Self {
        Self { end: self.end.min(self.start.saturating_add(u32::try_from(most).unwrap_or(u32::MAX))), ..self }
    }

    /// The parts before and after another range; the second is empty where that does not lie within.
    pub fn without(self, hole: Self) -> [Self; 2] {
        let before = Self { end: self.end.min(hole.start.max(self.start)), ..self };
        let after = Self { start: self.start.max(hole.end.min(self.end)), ..self };
        if hole.is_empty() || before.end == self.end { [self, Self::default()] } else { [before, after] }
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the range is empty, which stands for "none".
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of `source` in this range; empty if it is out of bounds.
    pub fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Whether `other` lies inside.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// Kind of a symbol, one of five that every client knows. [`Detail`] holds the language's own term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A free function or a macro.
    Function = 0,
    /// A function that is a member of a type.
    Method = 1,
    /// A type that holds data: class, struct, record, union.
    Class = 2,
    /// Any other type: interface, trait, enum, alias; and namespaces and modules.
    Type = 3,
    /// A named value: constant, variable of a module, field, enum member.
    Constant = 4,
}

impl Kind {
    /// All kinds, indexed by number.
    pub const ALL: [Self; 5] = [Self::Function, Self::Method, Self::Class, Self::Type, Self::Constant];

    /// The word used in tool arguments and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Type => "type",
            Self::Constant => "constant",
        }
    }

    /// Parses a word written by [`Kind::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Declares the details once: variant and word.
macro_rules! details {
    ($($variant:ident $word:literal,)*) => {
        /// Kind of a symbol in its language's own term.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Detail {
            $(#[doc = concat!("`", $word, "`")] $variant,)*
        }

        impl Detail {
            /// All details, indexed by number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word used in answers.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

details! {
    Function "function",
    Method "method",
    Class "class",
    Constant "constant",
    Interface "interface",
    Trait "trait",
    Struct "struct",
    Union "union",
    Enum "enum",
    Record "record",
    Annotation "annotation",
    Alias "alias",
    NamedType "type",
    Module "module",
    Namespace "namespace",
    Macro "macro",
    Constructor "constructor",
    Getter "getter",
    Setter "setter",
    Property "property",
    Field "field",
    Variable "variable",
    Static "static",
    Member "member",
    Component "component",
    Object "object",
    Extension "extension",
    Protocol "protocol",
    Event "event",
    Delegate "delegate",
    Section "section",
    Selector "selector",
}

impl Detail {
    /// Parses a word written by [`Detail::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|detail| detail.as_str() == text)
    }
}

/// Whether a word names a symbol's kind: one of the five, or the language's own term.
pub fn names_kind(word: &str, kind: Kind, detail: Detail) -> bool {
    Kind::parse(word).map_or(detail.as_str() == word, |named| named == kind)
}

/// Marks of a definition: what modifiers, exports and the syntax around it say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(pub u16);

impl Marks {
    /// A word, an export of its file or its interface makes it public.
    pub const PUBLIC: Self = Self(1);
    /// The word `private` stands before its name, and its type is not split into parts.
    pub const PRIVATE: Self = Self(2);
    /// It may override a member of an external base.
    pub const OVERRIDES: Self = Self(4);
    /// It lies in the brackets of a macro's call.
    pub const IN_MACRO: Self = Self(8);
    /// An attribute of the block around it may register it.
    pub const REGISTERED: Self = Self(16);
    /// The block around it is part of the tests.
    pub const OF_TESTS: Self = Self(32);
    /// The block around it implements a trait.
    pub const FILLS_IN: Self = Self(64);
    /// It is the value of a member: `{ open: function () {} }`, `shop.open = function () {}`.
    pub const OF_MEMBER: Self = Self(128);
    /// A comment above it exposes it to another program: `//export name`.
    pub const EXPOSED: Self = Self(256);
    /// The word `operator` stands before its name, so a sign calls it.
    pub const OPERATOR: Self = Self(512);

    /// The marks by their bits, which are numbers on disk.
    pub const NAMES: [&str; 10] = [
        "public",
        "private",
        "overrides",
        "in_macro",
        "registered",
        "of_tests",
        "fills_in",
        "of_member",
        "exposed",
        "operator",
    ];

    /// Whether it has all of these marks.
    pub fn has(self, marks: Self) -> bool {
        self.0 & marks.0 == marks.0
    }

    /// Adds marks if a condition holds.
    pub fn add(&mut self, marks: Self, holds: bool) {
        self.0 |= if holds { marks.0 } else { 0 };
    }
}

/// A named definition in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Range of the name.
    pub name: Span,
    /// Language-independent kind.
    pub kind: Kind,
    /// Kind in the language's own term.
    pub detail: Detail,
    /// Range of the whole definition, with decorators, attributes and `export`, without a comment above it.
    pub span: Span,
    /// One-based line of the name, which attributes and decorators may precede.
    pub line: u32,
    /// One-based line of the last byte.
    pub end_line: u32,
    /// Range of the definition without its body.
    pub signature: Span,
    /// The documentation comment or docstring with its markers; empty when there is none.
    pub doc: Span,
    /// Decorators, attributes or annotations, in source order.
    pub decorators: Vec<Span>,
    /// Index of the enclosing symbol in [`Extraction::symbols`], always lower than this one's.
    pub parent: Option<u32>,
    /// The symbol is a value inside an expression, such as a returned or passed function: evaluating the expression
    /// uses it.
    pub handed: bool,
    /// Marks by modifiers and by the syntax around it.
    pub marks: Marks,
    /// Name of an owner that is not an enclosing symbol: a Go receiver, a Rust `impl`, `Foo.prototype`.
    pub container: Span,
    /// Cyclomatic complexity (McCabe 1976): one plus the number of branches. Zero for a symbol without a body.
    pub complexity: u16,
}

/// Result of parsing one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// Symbols in source order, parents before their children.
    pub symbols: Vec<Symbol>,
    /// The file has syntax errors; the symbols are from the readable parts.
    pub has_errors: bool,
    /// A limit was reached after the file was parsed: symbols or facts beyond it are missing.
    pub is_cut: bool,
    /// Time ended the reading, which effort should have ended before: another run may read more.
    pub timed_out: bool,
    /// Facts about names for `resolve`; empty if its language is not resolved.
    pub facts: Vec<u8>,
    /// The limit that was exceeded, or another reason for symbols that are missing.
    pub failure: Option<Cow<'static, str>>,
}

impl Extraction {
    /// Whether the file could not be parsed at all.
    pub fn is_given_up(&self) -> bool {
        self.failure.is_some() && !self.is_cut
    }

    /// Own text of each symbol without its children's text, so that every word counts once.
    pub fn own_texts(&self) -> Vec<Vec<Span>> {
        let mut texts: Vec<Vec<Span>> = self.symbols.iter().map(|symbol| vec![symbol.span]).collect();
        for symbol in &self.symbols {
            let Some(parent) = symbol.parent else { continue };
            let parts = &mut texts[parent as usize];
            // Symbols come in source order, so the child lies in the last part.
            if let Some(last) = parts.last_mut().filter(|last| last.contains(symbol.span)) {
                let rest = Span { start: symbol.span.end, end: last.end };
                last.end = symbol.span.start;
                parts.push(rest);
            }
        }
        texts
    }
}
