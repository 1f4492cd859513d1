//! Review of a change, as plain data: shared by the tools that are about a change.

pub mod change;
pub mod markdown;
pub mod report;

use schemars::JsonSchema;
use serde::Serialize;

/// A review.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Review {
    /// The commit before the change.
    pub base: String,
    /// The commit after it, WORKTREE or STAGED.
    pub head: String,
    /// Files that differ.
    pub changed_files_count: usize,
    /// Touched symbols, members of new and removed classes left out.
    pub changed_symbols_count: usize,
    /// Why nothing is known to depend on the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_because: Option<String>,
    /// By path and line.
    pub changes: Vec<Changed>,
    /// Files of tests, listed or not.
    pub tests_count: usize,
    /// Files of tests that reach the change, the most direct first.
    pub tests: Vec<Tested>,
    /// Tests that the change itself touches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_tests: Vec<String>,
}

/// A touched symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// Its id.
    pub symbol_id: String,
    /// Its line.
    pub line: u32,
    /// removed, signature, renamed, moved, body or added.
    pub change: &'static str,
    /// Its id before, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Symbols that use it, tests left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// Callers, listed or not.
    #[serde(skip_serializing_if = "is_zero")]
    pub caller_count: usize,
    /// Places that may mean it: its name after something unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub possible_count: usize,
}

/// A user of a touched symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Caller {
    /// Its id.
    pub symbol_id: String,
    /// Its line.
    pub line: u32,
    /// The overridden method that it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// A file of tests.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tested {
    /// Its path.
    pub file: String,
    /// Tests in it, the most direct first; none for all of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Further tests in it.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// uses, possible, imports or name.
    pub through: &'static str,
    /// From its first test to a touched symbol or file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}
