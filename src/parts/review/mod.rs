//! Review of a change, as plain data: shared by the tools that are about a change.

pub mod change;
pub mod forms;
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
    /// Owners of changed files, by CODEOWNERS.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<Owner>,
    /// Files that usually change with changed ones, and did not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usually_changed_too: Vec<Usual>,
    /// New symbols without a use, and others that lost theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub newly_dead: Vec<Dead>,
    /// New imports that close a ring of folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_rings: Vec<NewRing>,
    /// The last commits that changed the same symbols, the newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_commits: Vec<Earlier>,
}

/// An owner.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Owner {
    /// As it is written.
    pub owner: String,
    /// How many changed files.
    pub files: usize,
}

/// A file that usually changes when a changed one does.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Usual {
    /// Its path.
    pub file: String,
    /// The changed file.
    pub with: String,
    /// Commits that changed both.
    pub both: usize,
    /// Commits that changed the changed file.
    pub of: usize,
}

/// A symbol that nothing uses.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Dead {
    /// Its id.
    pub symbol_id: String,
    /// Its line.
    pub line: u32,
    /// As in find_dead_code.
    pub confidence: f64,
}

/// An import that closes a ring of folders.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewRing {
    /// The importing file.
    pub file: String,
    /// The line of the import.
    pub line: u32,
    /// From the importing folder back to itself.
    pub folders: Vec<String>,
}

/// A commit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Earlier {
    /// Its id.
    pub commit: String,
    /// The first line of its message.
    pub title: String,
    /// Its author.
    pub author: String,
    /// Seconds since 1970.
    pub time: i64,
    /// Touched symbols that it changed.
    pub symbols: Vec<String>,
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
    /// For a public symbol whose declaration changed: whether that may break its users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks_public_api: Option<bool>,
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
    /// uses, possible, imports, name or history.
    pub through: &'static str,
    /// From its first test to a touched symbol or file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}
