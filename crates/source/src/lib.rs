//! Where code comes from. [`discover`] chooses the files of a folder that are worth reading, [`git`] reads repositories
//! without trust and without a git executable, [`github`] those that are elsewhere, and [`installed`] finds the sources of
//! packages.
//!
//! It will never know what is in a file: which language it is in, what it defines, or that there is an index.

pub mod discover;
pub mod git;
pub mod github;
pub mod installed;
#[cfg(test)]
#[path = "../../../tests/skipping.rs"]
mod skipping;
