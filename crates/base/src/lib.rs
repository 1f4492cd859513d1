//! The ground that every crate of codelode stands on: [`model`] holds the nouns as plain data, [`config`] every
//! setting, decided once, and [`allocator`] the memory allocator, which also ends a parse that is over its bounds.
//!
//! It will never know where code comes from, how it is stored, or what is asked of it.

pub mod allocator;
pub mod config;
pub mod model;

/// The program in a sentence.
pub const DESCRIPTION: &str = "Code search for agents and people: index once, answer in milliseconds";
