//! Git: the repository of a folder, the files of commits, and access to remote repositories.
//!
//! A repository is data like the files in it, so it is opened without trust: of all configuration only its own
//! `config` is read, without its includes, no variable of the environment, and nothing in it is ever run.
//!
//! - [`Repository`] has the git directory of a folder, the checked-out commit and the tracked files. Any failure
//!   there means "no repository", because an answer about files must not fail on a broken `.git`.
//! - [`Commit`] reads the files of a commit from the object database; [`History`] and [`blame`] compare commits.
//! - [`Remote`] is a repository by any of its names, [`Cache`] has its clone, and [`CommitFiles`] the texts of a commit.

mod cache;
mod error;
#[cfg(any(test, fuzzing, feature = "testing"))]
pub mod fuzzing;
mod history;
mod transport;

#[cfg(test)]
mod sshd {
    mod tests;
}
#[cfg(test)]
mod tests;

pub use cache::Located;
pub use cache::commit_files::CommitFiles;
pub use cache::{Age, Cache, CacheLimits, Opened};
pub use error::Error;
pub use history::blame::{Blamed, blame, blame_text};
pub use history::commit::Commit;
pub use history::folder::Entry as FolderEntry;
pub use history::lines::{Hunk, changed_lines};
pub use history::log::{Log, LogEntry};
pub use history::recent::Recent;
pub use history::repository::Repository;
pub use history::sound::read_small;
pub use history::worktrees::{Worktree, worktrees};
pub use history::{Changed, Content, Error as HistoryError, History};
pub use transport::fetch::{FetchAccess, FetchOptions, Token};
pub use transport::refs::{Refs, RemoteRef, ResolvedRef, short_name};
pub use transport::remote::{NameError, Place, Remote, is_ref};
pub use transport::ssh::COMMAND as SSH_COMMAND;
