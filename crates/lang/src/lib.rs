//! Text in, symbols and facts out. [`extract`] takes one file's text through [`parsing`], a syntax tree within bounds
//! of time and memory, and through what [`languages`] say as data; [`facts`] is the form of what a file says about names.
//!
//! It is pure: it will never know of files on disk, of git, of an index or of other files of the project, so that an extract
//! depends on a file's bytes and nothing else.

pub mod extract;
pub mod facts;
pub mod languages;
pub mod parsing;
