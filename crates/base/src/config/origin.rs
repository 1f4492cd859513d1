//! Origin of each setting, for a person who asks why it has its value.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::settings::{INDEX_DIRECTORY, KEYS};
use super::{Config, Flags, PROJECT_FILE};

/// Name of the index directory among the settings: no settings file can hold it.
pub(super) const INDEX_DIR: &str = "index_dir";

/// Place that a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The built-in value.
    Default,
    /// `config.toml` in the index directory.
    UserFile(PathBuf),
    /// A variable of the environment.
    Environment(&'static str),
    /// The file of the project.
    ProjectFile,
    /// A flag.
    CommandLine,
}

impl Origin {
    /// One word for the layer.
    pub fn layer(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::UserFile(_) => "user_file",
            Self::Environment(_) => "environment",
            Self::ProjectFile => "project_file",
            Self::CommandLine => "command_line",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::UserFile(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "the environment ({name})"),
            Self::ProjectFile => f.write_str(PROJECT_FILE),
            Self::CommandLine => f.write_str("the command line"),
        }
    }
}

/// A setting with its value.
#[derive(Clone, Debug, Serialize)]
pub struct SettingValue {
    /// Its name.
    pub key: &'static str,
    /// Its value; `null` for one without.
    pub value: Value,
    /// Layers that the value comes from; lists are made of several.
    pub origins: Vec<&'static str>,
    /// The same in words: files, variables.
    pub places: Vec<String>,
    /// Whether the file of a project may set it.
    pub is_for_projects: bool,
}

impl Config {
    /// Every setting, with its value and its origin.
    pub fn shown(&self) -> Vec<SettingValue> {
        let index_directory = self.home.parent().unwrap_or(&self.home).display().to_string();
        let first = self.shown_as(INDEX_DIR, index_directory.into(), false);
        let rest = KEYS.iter().map(|key| self.shown_as(key.name, (key.show)(self), key.is_for_projects));
        std::iter::once(first).chain(rest).collect()
    }

    fn shown_as(&self, key: &'static str, value: Value, is_for_projects: bool) -> SettingValue {
        let origins = self.origins.get(key).cloned().unwrap_or_else(|| vec![Origin::Default]);
        let places = origins.iter().map(ToString::to_string).collect();
        SettingValue { key, value, origins: origins.iter().map(Origin::layer).collect(), places, is_for_projects }
    }
}

/// Origin of the index directory; `None` for the default.
pub(super) fn of_index_directory(env: &dyn Fn(&str) -> Option<String>, flags: &Flags) -> Option<Origin> {
    match (&flags.index_dir, INDEX_DIRECTORY.value(env)) {
        (Some(_), _) => Some(Origin::CommandLine),
        (None, Some((name, _))) => Some(Origin::Environment(name)),
        (None, None) => None,
    }
}
