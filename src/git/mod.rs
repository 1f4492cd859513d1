//! Repositories: what git knows of a folder, what a commit holds, and how repositories elsewhere are reached.
//!
//! A repository is data like the files in it, so it is opened without trust: of all configuration only its own
//! `config` is read, nothing it includes, no variable of the environment, and nothing in it is ever run.
//!
//! - [`Repository`] says where a folder's history lies, what is checked out and what is tracked. There, whatever goes wrong
//!   means "no repository", because an answer about files must not fail on a broken `.git`.
//! - [`Commit`] reads the files of a commit from the object database; [`History`] and [`blame`] compare commits.
//! - [`Remote`] is a repository by any of its names, [`Cache`] holds its clone, and [`Kept`] the texts of a commit.

mod bare;
mod blame;
mod cache;
mod commit;
mod contents;
mod error;
mod fetch;
mod history;
mod http;
mod kept;
mod origin;
mod packs;
mod refs;
mod remote;
mod repository;
mod sound;
mod ssh;
mod texts;
mod worktrees;

#[cfg(test)]
mod sshd {
    mod tests;
}
#[cfg(test)]
mod tests;

pub use blame::{Blamed, blame};
pub use cache::{Age, Cache, Keep, Located, Opened};
pub use commit::Commit;
pub use error::Error;
pub use fetch::{Access, Token, Wish};
pub use history::{Changed, Content, Error as HistoryError, History};
pub use kept::Kept;
pub use refs::{Found, Refs, RemoteRef, is_fixed, short_name};
pub use remote::{NameError, Place, Remote, Transport, is_ref};
pub use repository::Repository;
pub use sound::read_small;
pub use ssh::COMMAND as SSH_COMMAND;
pub use worktrees::{Worktree, worktrees};
