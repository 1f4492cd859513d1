//! The nouns of the house, as plain data: what a file holds, where, and under which name.
//!
//! A symbol does not copy text. Its name, signature and documentation are [`Span`]s of the file that holds it, so an
//! index of them stays small and what is read back is exactly what was written.

mod progress;
mod relation;
mod source;
mod symbol;

pub use progress::{Progress, unfollowed};
pub use relation::{How, Occurrence, Relations, Role, Site};
pub use source::{EntryMode, FIRST, Input, SkipReason, SourceError, SourceFile, SourceTree, TreeEntry, is_text};
pub use symbol::{Detail, Extraction, Kind, Span, Symbol};
