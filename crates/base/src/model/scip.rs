//! Messages of SCIP, with the fields that are read or written here.
//!
//! Numbers of fields and values are those of `scip.proto` (SCIP Code Intelligence Protocol, release 0.10).

use prost::{Enumeration, Message};

/// An index. Indexes that follow each other in a file are one index.
#[derive(Clone, PartialEq, Message)]
pub struct Index {
    /// The program that made it, and where.
    #[prost(message, optional, tag = "1")]
    pub metadata: Option<Metadata>,
    /// One document for each file.
    #[prost(message, repeated, tag = "2")]
    pub documents: Vec<Document>,
}

/// The program that made an index, and where.
#[derive(Clone, PartialEq, Message)]
pub struct Metadata {
    /// The program.
    #[prost(message, optional, tag = "2")]
    pub tool_info: Option<ToolInfo>,
    /// URL of the folder that paths are relative to.
    #[prost(string, tag = "3")]
    pub project_root: String,
    /// Encoding of the files: 1 is UTF-8.
    #[prost(int32, tag = "4")]
    pub text_document_encoding: i32,
}

/// A program that makes indexes.
#[derive(Clone, PartialEq, Message)]
pub struct ToolInfo {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its version.
    #[prost(string, tag = "2")]
    pub version: String,
}

/// Occurrences and symbols of one file.
#[derive(Clone, PartialEq, Message)]
pub struct Document {
    /// Its path, relative to the root.
    #[prost(string, tag = "1")]
    pub relative_path: String,
    /// Where symbols are written.
    #[prost(message, repeated, tag = "2")]
    pub occurrences: Vec<Occurrence>,
    /// Symbols that the file defines.
    #[prost(message, repeated, tag = "3")]
    pub symbols: Vec<SymbolInformation>,
    /// Its language.
    #[prost(string, tag = "4")]
    pub language: String,
    /// Its text, if the index holds it.
    #[prost(string, tag = "5")]
    pub text: String,
    /// The unit of columns.
    #[prost(enumeration = "PositionEncoding", tag = "6")]
    pub position_encoding: i32,
}

/// A place where a symbol is written.
#[derive(Clone, PartialEq, Message)]
pub struct Occurrence {
    /// Line and column of the start, line (left out within one line) and column of the end; all from zero.
    #[prost(int32, repeated, tag = "1")]
    pub range: Vec<i32>,
    /// The symbol's name.
    #[prost(string, tag = "2")]
    pub symbol: String,
    /// Sum of [`SymbolRole`]s.
    #[prost(int32, tag = "3")]
    pub symbol_roles: i32,
    /// The whole definition, as a range.
    #[prost(int32, repeated, tag = "7")]
    pub enclosing_range: Vec<i32>,
}

/// Documentation and kind of one symbol.
#[derive(Clone, PartialEq, Message)]
pub struct SymbolInformation {
    /// Its name in SCIP's grammar.
    #[prost(string, tag = "1")]
    pub symbol: String,
    /// Signature and documentation, as Markdown.
    #[prost(string, repeated, tag = "3")]
    pub documentation: Vec<String>,
    /// Symbols that it implements.
    #[prost(message, repeated, tag = "4")]
    pub relationships: Vec<Relationship>,
    /// Its kind.
    #[prost(enumeration = "SymbolKind", tag = "5")]
    pub kind: i32,
    /// Its name for readers.
    #[prost(string, tag = "6")]
    pub display_name: String,
}

/// How a symbol relates to another.
#[derive(Clone, PartialEq, Message)]
pub struct Relationship {
    /// The other's name.
    #[prost(string, tag = "1")]
    pub symbol: String,
    /// Whether it implements or extends the other.
    #[prost(bool, tag = "3")]
    pub is_implementation: bool,
}

/// The unit of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum PositionEncoding {
    Unspecified = 0,
    Utf8 = 1,
    Utf16 = 2,
    Utf32 = 3,
}

/// Bits of the roles of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum SymbolRole {
    Unspecified = 0,
    Definition = 1,
    Import = 2,
    WriteAccess = 4,
    ReadAccess = 8,
    Generated = 16,
    Test = 32,
}

/// The kind of a symbol. Kinds that are not told apart here are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum SymbolKind {
    Unspecified = 0,
    Class = 7,
    Constant = 8,
    Constructor = 9,
    Enum = 11,
    EnumMember = 12,
    Event = 13,
    Field = 15,
    Function = 17,
    Getter = 18,
    Interface = 21,
    Macro = 25,
    Method = 26,
    Module = 29,
    Namespace = 30,
    Object = 33,
    Package = 35,
    Property = 41,
    Protocol = 42,
    Setter = 45,
    Struct = 49,
    Trait = 53,
    Type = 54,
    TypeAlias = 55,
    Union = 59,
    Variable = 61,
    AbstractMethod = 66,
    TraitMethod = 70,
    Delegate = 73,
    StaticField = 79,
    StaticMethod = 80,
    Extension = 84,
}
