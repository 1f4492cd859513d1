//! What git knows of a folder: where its repository lies, what is checked out and what is tracked.
//!
//! A repository is data like the files in it, so it is opened without trust: of all configuration only its own
//! `config` is read, nothing it includes, no variable of the environment, and nothing in it is ever run. Whatever goes
//! wrong means "no repository", because an answer about files must not fail on a broken `.git`.

mod origin;
mod repository;

#[cfg(test)]
mod tests;

pub use repository::Repository;
