//! What can be wrong with the settings: each error says what, where, and what next.

use std::io;
use std::path::PathBuf;

/// Why no [`super::Config`] could be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file is there and cannot be read.
    #[error("cannot read {}: make it readable, or move it away", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no TOML, or a value has the wrong type.
    #[error("{}: {problem}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What the parser says, with the line.
        problem: String,
    },
    /// The file has a key that means nothing.
    #[error("{}: unknown setting `{key}`; {}", .path.display(), suggestion(.nearest))]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// What it says.
        key: String,
        /// What it may mean.
        nearest: Option<&'static str>,
    },
    /// A value that cannot be used.
    #[error("`{key}` in {place} {problem}")]
    BadValue {
        /// The setting or the variable.
        key: String,
        /// Where it was set.
        place: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// There is no place for the index directory.
    #[error("no home directory is set: say where indexes shall live with --index-dir or CODELODE_INDEX_PATH")]
    NoHome,
}

/// What to write instead of an unknown key.
fn suggestion(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(key) => format!("did you mean `{key}`?"),
        None => format!("the settings are {}", super::settings::KEYS.join(", ")),
    }
}
