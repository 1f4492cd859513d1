//! The tools and their door. [`tools::call()`] finds a tool and runs it through [`answer`], which checks arguments and
//! keeps the time limit and the token budget; [`catalog`] finds the repository that is meant and makes sure that its index is
//! fresh; [`parts`] holds what several tools share.
//!
//! It will never know a protocol: who asks, an agent, an editor, a browser or a person, and how an answer reaches them.

pub mod answer;
pub mod catalog;
pub mod parts;
#[cfg(test)]
#[path = "../../../tests/skipping.rs"]
mod skipping;
pub mod tools;
