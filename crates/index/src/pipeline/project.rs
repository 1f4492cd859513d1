//! Settings in a project's own file, read before each walk.

use std::path::Path;

use codelode_base::config::{Config, PROJECT_FILE};
use codelode_base::model::{EntryMode, Input, Languages, SourceTree, TreeEntry};
use codelode_lang::languages::{self, NO_SYMBOLS};
use codelode_source::discover;

/// A configuration with a project's settings.
pub struct OfProject {
    /// The resulting configuration.
    pub config: Config,
    /// The project's settings file, as read.
    pub input: Option<Input>,
    /// Refused settings.
    pub warnings: Vec<String>,
}

/// Adds the settings of the project in a folder to a configuration.
pub fn of_project(root: &Path, config: &Config) -> OfProject {
    match discover::settings_file(root, PROJECT_FILE) {
        None => OfProject { config: config.clone(), input: None, warnings: Vec::new() },
        Some((Ok(bytes), input)) => OfProject { input, ..of_bytes(&bytes, config) },
        Some((Err(err), input)) => {
            let warnings = vec![format!("{PROJECT_FILE} was not used: {err}")];
            OfProject { config: config.clone(), input, warnings }
        }
    }
}

/// Adds the settings of a commit's project to a configuration.
pub(super) fn of_tree(tree: &dyn SourceTree, entries: &[TreeEntry], config: &Config) -> OfProject {
    let is_file = |entry: &&TreeEntry| matches!(entry.mode, EntryMode::File | EntryMode::Executable);
    let is_small = |entry: &&TreeEntry| entry.size.unwrap_or(0) <= discover::LARGEST_SETTINGS;
    let file = entries.iter().find(|entry| entry.path == PROJECT_FILE).filter(is_file).filter(is_small);
    // An unreadable file is reported when its own entry is read.
    match file.and_then(|file| tree.read(file).ok()) {
        Some(bytes) if bytes.len() as u64 <= discover::LARGEST_SETTINGS => of_bytes(&bytes, config),
        _ => OfProject { config: config.clone(), input: None, warnings: Vec::new() },
    }
}

fn of_bytes(bytes: &[u8], config: &Config) -> OfProject {
    let (config, mut warnings) = config.of_project(&String::from_utf8_lossy(bytes));
    let named = Languages::of(&config.all_roles().languages).unwrap_or_default();
    let is_unknown = |name: &&str| *name != NO_SYMBOLS && languages::of_id(&languages::named(name)).is_none();
    warnings.extend(named.names().filter(is_unknown).map(|name| {
        let known = languages::ids().join(", ");
        format!("`languages` names {name:?}, whose symbols are not read; the languages are {known}, {NO_SYMBOLS}")
    }));
    OfProject { config, input: None, warnings }
}
