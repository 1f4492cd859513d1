//! Which files of a folder are worth reading, and why each other one is not.
//!
//! [`walk`] enters folders in parallel and applies every rule that a name, a place or a size decides, in this order:
//! ignore files and the caller's patterns, noise, build output and vendored code, secrets, binaries, the size limit,
//! the limit on the number of files. [`look`] asks the same of one file. [`read`] opens what was chosen and applies the
//! last rule, the one that needs content. [`changes`] tells cheaply whether an earlier walk still holds. [`choose`] applies
//! the same rules to the files of a commit, which lie in no folder.
//!
//! A source is data that somebody else wrote. Nothing here leaves the root, waits on a pipe, or recurses as deep as the
//! folders do.

mod binary;
mod changes;
mod checkout;
mod disk;
mod folder;
mod found;
mod judge;
mod layers;
mod limits;
mod links;
mod noise;
mod package;
mod read;
mod tools;
mod tree;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::config::Secrets;
use crate::model::{Input, SkipReason, SourceFile};

pub use changes::{Changes, Known, List, changes, stat};
pub use read::{is_binary, read};
pub use tree::{choose, reason, stamp};
pub use walk::{Look, look, walk};

/// What decides about a file beside the files themselves.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Further patterns in gitignore syntax, relative to the root. They leave out more; what an ignore file leaves out
    /// they cannot bring back.
    pub extra_ignore: Vec<String>,
    /// Follow symbolic links that stay inside the root.
    pub follow_symlinks: bool,
    /// Files that may hold a credential.
    pub secrets: Secrets,
    /// Largest file that is read, in bytes.
    pub max_file_size: u64,
    /// How many files at most; `None` for no limit.
    pub max_files: Option<usize>,
    /// No further folder is entered once so many files are found; `None` for no end.
    pub stop_after: Option<usize>,
    /// Folders that are never entered wherever they lie below the root: the index itself.
    pub never: Vec<PathBuf>,
}

/// What a walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files worth reading, sorted by path.
    pub files: Vec<SourceFile>,
    /// How many entries each rule left out; a folder that is not entered counts once.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// Everything the choice depended on, sorted by path: each folder that was entered, as it was before it was listed;
    /// each ignore file that was read, or could have been outside the folders entered; and git's index and
    /// `package.json` where they were asked.
    pub inputs: Vec<Input>,
    /// What a person should know: unreadable folders, broken patterns, a limit that cut.
    pub warnings: Vec<String>,
}

/// Why a walk could not be made at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing at the root.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The root is a file.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// A caller's pattern cannot be read.
    #[error("the ignore pattern {pattern:?} is not valid")]
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        source: ignore::Error,
    },
    /// The system refused.
    #[error("cannot read {}", path.display())]
    Io {
        /// What was to be read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
