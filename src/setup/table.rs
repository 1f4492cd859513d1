//! The table of clients: where each keeps its configuration, and how it writes a server. Data only, in `clients.json`.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::edit::Format;
use super::extras::{Files, Hooks, LanguageServers};

/// A client of MCP servers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Name on the command line.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Format of its files.
    pub format: Format,
    /// Keys of the table that holds its servers, outermost first.
    pub key: Vec<String>,
    /// Files and folders that exist where the client is used.
    pub found_by: Paths,
    /// Configuration of the user: the first file that exists, else the first. Empty for a client without one.
    #[serde(default)]
    pub user: Paths,
    /// Configuration of a project, likewise, relative to its root.
    #[serde(default)]
    pub project: Vec<String>,
    /// Whether it starts programs with the desktop's PATH, not the shell's.
    #[serde(default)]
    pub is_desktop: bool,
    /// Entry of a server that the client starts: `{program}`, `{args}`, or both in one list, `{argv}`.
    pub local: Map<String, Value>,
    /// Entry of a server at `{url}`; `None` if the client speaks to none.
    pub remote: Option<Map<String, Value>>,
    /// Keys that a remote entry needs beside for a token in the variable `{variable}`.
    pub token: Option<Map<String, Value>>,
    /// Mark that keeps the server's tools loaded, for a client that loads tools on demand.
    pub loaded: Option<LoadedMark>,
    /// Hooks, for a client that has them.
    pub hooks: Option<Hooks>,
    /// File of the skill, for a client that reads skills.
    pub skill: Option<Files>,
    /// File of the sub-agent, for a client that has them.
    pub agent: Option<Files>,
    /// File of instructions that the client reads in every session.
    pub guide: Option<Files>,
    /// Language servers, for a client that takes them from a file.
    pub lsp: Option<LanguageServers>,
    /// Source of these facts.
    pub source: String,
    /// Day on which the source was read.
    pub seen: String,
    /// Proof of these facts.
    pub confirmed: Confirmed,
    /// Anything a person should know.
    pub note: Option<String>,
    /// Anything to know of files of a project.
    pub project_note: Option<String>,
}

/// Mark in an entry with which a client keeps the tools of a server loaded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadedMark {
    /// Keys of the entry.
    pub entry: Map<String, Value>,
    /// Source of these facts.
    pub source: String,
    /// Day on which the source was read.
    pub seen: String,
    /// Proof of these facts.
    pub confirmed: Confirmed,
}

/// Proof of a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirmed {
    /// The client itself listed the server, connected, from the file that `init` wrote.
    Connected,
    /// The client's own program or source text says so.
    Program,
    /// The maker's documentation says so.
    Documentation,
    /// Only others say so.
    Hearsay,
}

/// Paths that may differ between systems. `~` is the user's folder, and `${NAME:-path}` an environment variable with
/// what stands for it.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Paths {
    /// The same everywhere.
    Everywhere(Vec<String>),
    /// Different ones.
    BySystem {
        /// On Linux.
        linux: Vec<String>,
        /// On macOS.
        macos: Vec<String>,
    },
    /// None.
    #[default]
    None,
}

impl Paths {
    /// Paths on this system.
    pub fn here(&self) -> &[String] {
        match self {
            Self::Everywhere(paths) => paths,
            Self::BySystem { macos, .. } if cfg!(target_os = "macos") => macos,
            Self::BySystem { linux, .. } => linux,
            Self::None => &[],
        }
    }
}

/// All clients.
pub fn clients() -> &'static [Client] {
    static CLIENTS: LazyLock<Vec<Client>> = LazyLock::new(|| {
        serde_json::from_str(include_str!("clients.json")).expect("the test `the_table_is_whole` reads it")
    });
    &CLIENTS
}

/// The path that a template names. `None` if it needs a folder that is not known.
pub(super) fn expand(template: &str, user: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let (head, rest) = match template.strip_prefix("${") {
        Some(inner) => {
            let (inner, rest) = inner.split_once('}')?;
            let (name, other) = inner.split_once(":-")?;
            (variable(name).unwrap_or_else(|| other.to_owned()), rest)
        }
        None => (String::new(), template),
    };
    let path = format!("{head}{rest}");
    let path = match path.strip_prefix('~') {
        Some(rest) => user.join(rest.trim_start_matches('/')),
        None => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}
