//! Choice of the files of a folder to index, with a reason for each file left out.
//!
//! [`walk()`] enters folders in parallel and applies the rules for names, locations and sizes, in this order: ignore
//! files and the caller's patterns, noise, build output and vendored code, secrets, binaries, the size limit, the
//! limit on the number of files. [`decide`] applies them to one file. [`read()`] opens a chosen file and applies the last
//! rule, which needs content. [`changes()`] cheaply detects changes since an earlier walk. [`choose`] applies the same
//! rules to the files of a commit.
//!
//! Sources are untrusted data. Nothing here leaves the root, waits on a pipe, or recurses as deep as the folders do.

mod binary;
mod changes;
mod checkout;
mod credential;
mod disk;
mod entry;
mod folder;
#[cfg(any(test, fuzzing, feature = "testing"))]
pub mod fuzzing;
mod layers;
mod limits;
mod links;
mod noise;
mod package;
mod read;
mod results;
mod settings;
mod tools;
mod tree;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use codelode_base::config::Secrets;
use codelode_base::model::{Input, SkipReason, SourceFile};

pub use changes::{RecordedEntry, changes, stat};
pub use credential::{CREDENTIALS_REMEDY, credentials, holds_credential};
pub use entry::{MOST_COUNTED, count_files};
pub use read::{is_binary, read, text};
pub use settings::{LARGEST as LARGEST_SETTINGS, read_bounded, settings_file, stamped};
pub use tree::{choose, reason};
pub use walk::{Decision, decide, walk};

/// Rules for choosing files.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Further patterns in gitignore syntax, relative to the root. A pattern with a leading `!` brings back files
    /// excluded by an ignore file, as noise, build output or vendored code; never a secret.
    pub extra_ignore: Vec<String>,
    /// Follow symbolic links that stay inside the root.
    pub follow_symlinks: bool,
    /// Files that may hold a credential.
    pub secrets: Secrets,
    /// Largest file that is read, in bytes.
    pub max_file_size: u64,
    /// Maximum number of files; `None` for no limit.
    pub max_files: Option<usize>,
    /// Stop entering folders after this many files; `None` for no limit.
    pub stop_after: Option<usize>,
    /// Folders below the root that are never entered: the index itself.
    pub never: Vec<PathBuf>,
}

/// Result of a walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Files worth reading, sorted by path.
    pub files: Vec<SourceFile>,
    /// Number of files left out by each rule. A folder that is not entered counts its files, up to a bound; that of a
    /// version control counts once.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// The entries that were left out, sorted by path.
    pub left_out: Vec<LeftOut>,
    /// Every input of the choice, sorted by path: each folder that was entered, as it was before listing; each ignore
    /// file that was read, or could exist outside these folders; git's index and `package.json` where consulted.
    pub inputs: Vec<Input>,
    /// Warnings for the user: unreadable folders, broken patterns, a limit that was reached.
    pub warnings: Vec<String>,
}

impl Walk {
    /// Adds an input of the choice, where it is not known yet.
    pub fn add_input(&mut self, input: Option<Input>) {
        let Some(input) = input else { return };
        if let Err(place) = self.inputs.binary_search_by(|known| known.path.cmp(&input.path)) {
            self.inputs.insert(place, input);
        }
    }
}

/// An entry that a rule left out: a file, or a folder with all that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Relative to the root.
    pub path: String,
    /// The rule.
    pub reason: SkipReason,
}

/// Reasons why a walk cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The root does not exist.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The root is a file.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// A caller's pattern is invalid.
    #[error("the ignore pattern {pattern:?} is not valid")]
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// Reason why it is invalid.
        source: ignore::Error,
    },
    /// The system refused access.
    #[error("cannot read {}", path.display())]
    Io {
        /// Path that was to be read.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
}
