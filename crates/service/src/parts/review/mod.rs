//! Review of a change, as plain data: shared by the tools that are about a change.

pub mod change;
pub mod forms;
pub mod markdown;
pub mod report;

use schemars::JsonSchema;
use serde::Serialize;

/// The review: what changed, who uses it, and which tests reach it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Review {
    /// Commit before the change.
    pub base: String,
    /// Commit after it, WORKTREE or STAGED.
    pub head: String,
    /// Number of changed files.
    pub changed_files_count: usize,
    /// Number of changed symbols, without members of new and removed classes.
    pub changed_symbols_count: usize,
    /// Why no dependents are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_because: Option<String>,
    /// The changed symbols, by path and line.
    pub changes: Vec<Changed>,
    /// Number of test files, listed or not.
    pub tests_count: usize,
    /// Test files that reach the change, most direct first.
    pub tests: Vec<Tested>,
    /// Test files that the change itself edits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_tests: Vec<String>,
    /// Owners of changed files, from CODEOWNERS.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<Owner>,
    /// Unchanged files that usually change with the changed ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usually_changed_too: Vec<Usual>,
    /// Symbols without uses: new ones, and ones that lost theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub newly_dead: Vec<Dead>,
    /// New imports that create a cycle of folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub new_rings: Vec<NewRing>,
    /// Last commits that changed the same symbols, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_commits: Vec<Earlier>,
}

/// An owner of changed files, by CODEOWNERS.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Owner {
    /// Name of the owner, as CODEOWNERS writes it.
    pub owner: String,
    /// Number of changed files.
    pub files: usize,
}

/// An unchanged file that usually changes with a changed one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Usual {
    /// Path of the file.
    pub file: String,
    /// The changed file that it usually changes with.
    pub with: String,
    /// Number of commits that changed both.
    pub both: usize,
    /// Number of commits that changed the changed file.
    pub of: usize,
}

/// A symbol that nothing uses since the change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Dead {
    /// Id of the symbol.
    pub symbol_id: String,
    /// Line of its definition.
    pub line: u32,
    /// How sure it is that nothing uses the symbol, as in find_dead_code.
    pub confidence: f64,
}

/// An import that creates a cycle of folders.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NewRing {
    /// File with the import that closes the cycle.
    pub file: String,
    /// Line number of the import.
    pub line: u32,
    /// The cycle, from the importing folder back to itself.
    pub folders: Vec<String>,
}

/// An earlier commit that changed the same symbols.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Earlier {
    /// Hash of the commit.
    pub commit: String,
    /// First line of the commit's message.
    pub title: String,
    /// Author of the commit.
    pub author: String,
    /// Time of the commit, in seconds since 1970.
    pub time: i64,
    /// Ids of the symbols under review that this commit changed.
    pub symbols: Vec<String>,
}

/// A symbol that the change under review touches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// Id of the symbol.
    pub symbol_id: String,
    /// Line of its definition.
    pub line: u32,
    /// removed, signature, renamed, moved, body or added.
    pub change: &'static str,
    /// Id before the change, if another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// For a changed public declaration: whether it may break users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks_public_api: Option<bool>,
    /// Symbols that use the changed one, without tests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// Number of callers, listed or not.
    #[serde(skip_serializing_if = "is_zero")]
    pub caller_count: usize,
    /// Number of places that may use it: its name on a receiver of unknown type.
    #[serde(skip_serializing_if = "is_zero")]
    pub possible_count: usize,
}

/// A user of a changed symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Caller {
    /// Id of the symbol.
    pub symbol_id: String,
    /// Line of its definition.
    pub line: u32,
    /// The overridden method that is called instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// A test file that reaches the change.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tested {
    /// Path of the file.
    pub file: String,
    /// Tests to run in the file, most direct first; absent for the whole file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Number of further tests in the file.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// uses, through (it calls a field or table that holds the function), possible, imports, name or history.
    pub through: &'static str,
    /// Chain of uses from the first test to what changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}
