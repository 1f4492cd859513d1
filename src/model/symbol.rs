//! Symbols: the named things of a file.

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
    /// The range from `start` to `end`; empty when they cross.
    pub fn new(start: usize, end: usize) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        Self { start, end: end.max(start) }
    }

    /// Number of bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// True for a range that holds nothing, which is how "there is none" is written.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The bytes of `source` in this range; empty when the range does not lie in it.
    pub fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// Whether `other` lies inside.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// What sort of thing a symbol is: the five that every client knows. [`Detail`] says it in the language's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Something that is called by its own name, macros included.
    Function = 0,
    /// A function that belongs to a type.
    Method = 1,
    /// A type that holds data: class, struct, record, union.
    Class = 2,
    /// Any other type: interface, trait, enum, alias; and namespaces and modules.
    Type = 3,
    /// A named value: constant, variable of a module, field, enum member.
    Constant = 4,
}

impl Kind {
    /// Every kind, by its number.
    pub const ALL: [Self; 5] = [Self::Function, Self::Method, Self::Class, Self::Type, Self::Constant];

    /// The kind as clients spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Type => "type",
            Self::Constant => "constant",
        }
    }

    /// Reads what [`Kind::as_str`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Names each detail once: variant, number, word.
macro_rules! details {
    ($($variant:ident $word:literal,)*) => {
        /// What a symbol is in its language's own word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Detail {
            $(#[doc = concat!("`", $word, "`")] $variant,)*
        }

        impl Detail {
            /// Every detail, by its number.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word that answers carry.
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
}

impl Detail {
    /// Reads what [`Detail::as_str`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|detail| detail.as_str() == text)
    }
}

/// A named thing in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Where the name is written.
    pub name: Span,
    /// What sort it is.
    pub kind: Kind,
    /// What its language calls it.
    pub detail: Detail,
    /// The whole definition: decorators, attributes and `export` included, a comment above it not.
    pub span: Span,
    /// Line of the name, one-based: attributes and decorators may stand above it.
    pub line: u32,
    /// Line of the last byte, one-based.
    pub end_line: u32,
    /// The definition without its body.
    pub signature: Span,
    /// The documentation comment or docstring with its markers; empty when there is none.
    pub doc: Span,
    /// Decorators, attributes or annotations, in source order.
    pub decorators: Vec<Span>,
    /// The enclosing symbol, by its place in [`Extraction::symbols`]; always an earlier one.
    pub parent: Option<u32>,
    /// It is a value in the middle of an expression, and who evaluates that uses it: a function that is returned or passed on.
    pub handed: bool,
    /// The owner's name where the owner is not an enclosing symbol: a Go receiver, a Rust `impl`, `Foo.prototype`.
    pub container: Span,
    /// Cyclomatic complexity (McCabe 1976): one, and one for each branch. Zero for what has no body of its own.
    pub complexity: u16,
}

/// What was read out of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extraction {
    /// In source order, an enclosing symbol before what it holds.
    pub symbols: Vec<Symbol>,
    /// The grammar met text that it could not read; what is here is what could be read.
    pub has_errors: bool,
    /// What the file says about names, as `resolve` reads it; empty where its language is not resolved yet.
    pub facts: Vec<u8>,
    /// Why nothing was read, when the file was given up.
    pub failure: Option<Cow<'static, str>>,
}
