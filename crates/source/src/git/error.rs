//! Git errors. None contains a credential, or more of an address than its host and path.

use std::io;
use std::path::PathBuf;

use crate::git::transport::remote::NameError;
use codelode_net as net;

/// An error of a git operation.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text names no repository.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The network refuses the connection.
    #[error(transparent)]
    Net(#[from] net::Error),
    /// The host requires an account, or rejects the credentials.
    #[error("{remote} requires a login, and {what}")]
    Refused {
        /// The repository.
        remote: String,
        /// The missing or rejected credential.
        what: String,
    },
    /// The host does not have the repository, or hides it from strangers.
    #[error("there is no repository at {remote}, or it is private")]
    NoRepository {
        /// The repository.
        remote: String,
    },
    /// The ref does not exist.
    #[error("{remote} has no branch, tag or commit {reference:?}")]
    NoRef {
        /// The repository.
        remote: String,
        /// The requested ref.
        reference: String,
        /// Similar refs.
        nearest: Vec<String>,
    },
    /// A commit was requested by its hash, and the host does not serve it.
    #[error("{remote} has no such commit, or only serves commits of branches and tags")]
    NotServed {
        /// The repository.
        remote: String,
    },
    /// It has no commits yet.
    #[error("{0} has no commits yet")]
    Empty(String),
    /// The exchange broke off or was invalid.
    #[error("{remote} could not be fetched: {problem}")]
    Broken {
        /// The repository.
        remote: String,
        /// The problem.
        problem: String,
    },
    /// The answer is larger than allowed.
    #[error("{remote} is larger than {limit} bytes, the limit `git_max_clone`")]
    TooLarge {
        /// The repository.
        remote: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The disk is full, even after old clones were removed.
    #[error("no space left in {}: {needed} bytes were fetched before it was full, {free} are free; make room there", folder.display())]
    Full {
        /// The folder.
        folder: PathBuf,
        /// Bytes received until the disk was full: the least space needed.
        needed: u64,
        /// Free space in bytes.
        free: u64,
    },
    /// Another process is fetching the same repository and does not finish.
    #[error("another process is fetching {0}; try again in a moment")]
    Busy(String),
    /// A repository on this machine cannot be read.
    #[error("cannot read the repository at {}: {problem}", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A named object is not in the repository.
    #[error("{what} is not in the repository at {}: it may be a shallow clone, or damaged", path.display())]
    Missing {
        /// Its path.
        path: PathBuf,
        /// A commit, a tree or a file.
        what: String,
    },
    /// An error of the system.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// The failed action.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The request was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Whether a folder is not writable, so that another might do.
    pub fn is_about_permission(&self) -> bool {
        let kind = if let Self::Io { source, .. } = self { Some(source.kind()) } else { None };
        matches!(kind, Some(io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem))
    }

    /// Wraps an error of the system.
    pub(super) fn io<'a>(what: &'static str, path: &'a std::path::Path) -> impl FnOnce(io::Error) -> Self + 'a {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}
