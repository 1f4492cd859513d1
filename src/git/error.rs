//! Why a repository could not be reached or read. No error holds a credential, or more of an address than its host and path.

use std::io;
use std::path::PathBuf;

use crate::git::transport::remote::NameError;
use crate::net;

/// Why git could not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text names no repository.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The network does not let us.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// The host wants to know who asks, or does not believe it.
    #[error("{remote} asks who we are, and {what}")]
    Refused {
        /// The repository.
        remote: String,
        /// What was missing or not believed.
        what: String,
    },
    /// The host does not know the repository, or does not say so to strangers.
    #[error("there is no repository at {remote}, or it is private")]
    NoRepository {
        /// The repository.
        remote: String,
    },
    /// It has no such ref.
    #[error("{remote} has no branch, tag or commit {reference:?}")]
    NoRef {
        /// The repository.
        remote: String,
        /// What was asked for.
        reference: String,
        /// What looks like it.
        nearest: Vec<String>,
    },
    /// A commit was named by its hash, and the host does not give it out.
    #[error("{remote} has no such commit, or gives out only those that a branch or a tag names")]
    NotServed {
        /// The repository.
        remote: String,
    },
    /// There is nothing in it yet.
    #[error("{0} holds no commit yet")]
    Empty(String),
    /// The exchange broke off or made no sense.
    #[error("{remote} could not be fetched: {problem}")]
    Broken {
        /// The repository.
        remote: String,
        /// What went wrong.
        problem: String,
    },
    /// More came than may.
    #[error("{remote} is larger than {limit} bytes, the limit `git_max_clone`")]
    TooLarge {
        /// The repository.
        remote: String,
        /// In bytes.
        limit: u64,
    },
    /// There is no room, even after old clones were removed.
    #[error("no space left in {}: {needed} bytes were fetched before it was full, {free} are free; make room there", folder.display())]
    Full {
        /// Where.
        folder: PathBuf,
        /// What had come when there was no more room: at least so much is needed.
        needed: u64,
        /// What is free now.
        free: u64,
    },
    /// Somebody else is fetching the same and does not get done.
    #[error("another process is fetching {0}; try again in a moment")]
    Busy(String),
    /// A repository on this machine cannot be read.
    #[error("cannot read the repository at {}: {problem}", path.display())]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The repository does not hold what it names.
    #[error("{what} is not in the repository at {}: it may be a shallow clone, or damaged", path.display())]
    Missing {
        /// Where.
        path: PathBuf,
        /// A commit, a tree or a file.
        what: String,
    },
    /// The system refused.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Nobody wants the answer any more.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Whether a place cannot be written to, where another might.
    pub fn is_about_permission(&self) -> bool {
        let kind = if let Self::Io { source, .. } = self { Some(source.kind()) } else { None };
        matches!(kind, Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem))
    }

    /// Wraps what the system said.
    pub(super) fn io<'a>(what: &'static str, path: &'a std::path::Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}
