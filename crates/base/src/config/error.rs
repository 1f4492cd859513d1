//! Errors in the settings. Each names the problem, its place and the remedy.

use std::io;
use std::path::PathBuf;

/// Reasons why no [`super::Config`] can be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file exists and cannot be read.
    #[error("cannot read {}: make it readable, or move it away", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file is no TOML, or a value has the wrong type.
    #[error("{}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Message of the parser, with the line.
        problem: String,
    },
    /// The file has an unknown key.
    #[error("{}: unknown setting `{key}`; {}", .path.display(), suggestion(.nearest))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The nearest known key.
        nearest: Option<&'static str>,
    },
    /// An invalid value.
    #[error("`{key}` in {place} {problem}")]
    BadValue {
        /// The setting or the variable.
        key: String,
        /// Source of the value.
        place: String,
        /// Description of the problem, and of a valid value.
        problem: String,
    },
    /// No location for the index directory is known.
    #[error(
        "no home directory is set by an absolute path: choose the index directory with --index-dir or CODELODE_INDEX_PATH"
    )]
    NoHome,
}

/// Suggestion for an unknown key.
fn suggestion(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(key) => format!("did you mean `{key}`?"),
        None => format!(
            "the settings are {}",
            super::settings::KEYS.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
        ),
    }
}
