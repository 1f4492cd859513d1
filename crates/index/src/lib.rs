//! The life of indexing. [`pipeline`] takes the files of a folder or of a commit into the store and derives what
//! joins them; [`watch`] keeps that fresh while files change. [`compilers`] reads indexes that compilers made, [`enrich`] what a
//! project says of its own files, and [`embed`] and [`summarize`] ask the models that a user has set up.
//!
//! It will never know a question: what is asked of an index, and by whom.

pub mod compilers;
pub mod embed;
pub mod enrich;
pub mod pipeline;
pub mod summarize;
pub mod watch;
