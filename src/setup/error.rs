//! Refusals of a setup, with what to do next.

use std::io;
use std::path::PathBuf;

use super::{Scope, edit};

/// Refusal of a setup.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No client has this id.
    #[error("there is no client `{id}`{}; known are {known}", .nearest.as_ref().map(|name| format!(", did you mean `{name}`?")).unwrap_or_default())]
    UnknownClient {
        /// The id.
        id: String,
        /// The nearest known id.
        nearest: Option<String>,
        /// All ids.
        known: String,
    },
    /// The client has no file of that scope.
    #[error("{name} has no writable file for a {}; `codelode init --print-config {id}` prints the text to paste", match .scope { Scope::User => "user", Scope::Project => "project" })]
    NoFile {
        /// The client.
        name: String,
        /// Its id.
        id: String,
        /// The scope.
        scope: Scope,
    },
    /// The person stands in no project.
    #[error("your home folder is not a project; change to the project's folder")]
    NoProject,
    /// The client cannot reach a server that way.
    #[error("{name} {}", if *.is_token { "cannot read a token from a variable; write its configuration by hand" } else { "does not support HTTP; omit --http" })]
    NoSuchForm {
        /// The client.
        name: String,
        /// Whether only a token is the trouble.
        is_token: bool,
    },
    /// The endpoint is no URL.
    #[error("`{0}` is not a server URL; give one like http://127.0.0.1:8901/mcp")]
    NotAUrl(String),
    /// The program lies where it will not stay, and what put it there is not on the PATH.
    #[error("this program is in a package runner's cache, not on your PATH ({}); install it, then run its `init`", .0.display())]
    InACache(PathBuf),
    /// The file has an error, or a style that is not edited.
    #[error("{}: {err}; fix it, or add the entry by hand (`codelode init --print-config CLIENT` prints it)", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The reason.
        err: edit::Error,
    },
    /// The file cannot be read.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("{} cannot be written", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Something else bears the file's name.
    #[error("{} is not a file; remove it", .0.display())]
    NotAFile(PathBuf),
    /// The file is not in UTF-8.
    #[error("{} is not UTF-8; save it as UTF-8", .0.display())]
    NotText(PathBuf),
    /// The file is too large.
    #[error("{} has {megabytes} MB, above the limit of {most}; add the entry by hand", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        megabytes: u64,
        /// The limit.
        most: u64,
    },
    /// The file belongs to another user.
    #[error("{} belongs to another user (id {owner}); run this as that user, or add the entry by hand", path.display())]
    OfAnother {
        /// The file.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// The file is marked read-only.
    #[error("{} is read-only, perhaps because another program makes it; change it there, or make it writable", .0.display())]
    ReadOnly(PathBuf),
    /// A link of a project leads out of it.
    #[error("{} leads out of {}, to {}; nothing is written through it", path.display(), root.display(), target.display())]
    LeadsOut {
        /// The file.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
        /// The project.
        root: PathBuf,
    },
    /// A link leads to nothing.
    #[error("{} is a broken link; remove it, or create its target", .0.display())]
    LeadsNowhere(PathBuf),
    /// The file was written by another program in the meantime.
    #[error("another program just changed {}; run this again", .0.display())]
    Changed(PathBuf),
}
