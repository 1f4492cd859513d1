//! Shared data types: symbols, source files and their relations.
//!
//! Symbols hold no text. Name, signature and documentation are [`Span`]s of the file, so an index of them stays small
//! and shows exactly the text of the source.

mod near;
mod package;
mod patterns;
mod phase;
mod progress;
mod relation;
mod rights;
pub mod scip;
mod source;
mod spelling;
mod symbol;
mod wide;

pub use near::{nearest, nearness};
pub use package::{Ecosystem, PackageId, Published};
pub use patterns::{Languages, Patterns, Roles};
pub use phase::Phase;
pub use progress::{Progress, unfollowed};
pub use relation::{How, Occurrence, Relations, Role, Site};
pub use rights::Rights;
pub use source::{EntryMode, FIRST, Input, SkipReason, SourceError, SourceFile, SourceTree, TreeEntry, is_text};
pub use spelling::{on_disk, relative, spelled};
pub use symbol::{Detail, Extraction, Kind, Marks, Span, Symbol, names_kind};
pub use wide::{encoded_like, is_utf_16, utf_8_of};
