//! Indexing. [`pipeline`] stores the files of a folder or a commit and derives their relations; [`watch`] keeps an
//! index fresh while files change. [`compilers`] reads indexes made by compilers, and [`enrich`] reads facts about
//! files from other files of the project. [`embed`] and [`summarize`] ask the models that a user has set up.
//!
//! This crate must not know any question: neither its content nor the caller.

pub mod compilers;
pub mod embed;
pub mod enrich;
pub mod pipeline;
pub mod summarize;
pub mod watch;
