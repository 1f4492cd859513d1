//! Doors for fuzzing: each takes bytes and does with them what the program does with such input. The targets below
//! `fuzz/` call them, and a test runs the corpora through them.
//!
//! A door panics where a promise is broken. Bytes that are refused are fine.

mod answers;
mod names;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod tests;

pub use answers::{messages, patterns, queries};
pub use codelode_source::discover::fuzzing::globs;
pub use codelode_source::git::fuzzing::{diffs, objects, packs as git_packs};
pub use codelode_store::fuzzing::{packs, tables};
pub use names::{extraction, facts, resolver};

/// A target: it takes bytes.
pub type Door = fn(&[u8]);

/// All targets by name.
pub const DOORS: &[(&str, Door)] = &[
    ("diffs", diffs),
    ("extraction", extraction),
    ("facts", facts),
    ("git_packs", git_packs),
    ("globs", globs),
    ("messages", messages),
    ("objects", objects),
    ("packs", packs),
    ("patterns", patterns),
    ("queries", queries),
    ("resolver", resolver),
    ("tables", tables),
];
