//! Files of an installed package.

use std::fs;
use std::path::PathBuf;

use codelode_base::model::{EntryMode, TreeEntry};

/// The most files of a package; more are somebody's data.
const MOST: usize = 20_000;
/// The deepest folder that is entered.
const DEEPEST: usize = 32;

/// Folder of a package's files, and the parts of it that are the package's: files and folders. Without parts, all is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// Without links.
    pub root: PathBuf,
    /// Relative to the root.
    pub parts: Vec<String>,
}

impl Sources {
    /// Lists the files, sorted by path. Links are not followed, and what starts with a dot is left out: it concerns the
    /// package's own repository. The id of an entry is its folder and size: a copy elsewhere is read before it counts as
    /// equal, the same files are not read again.
    pub fn entries(&self) -> Vec<TreeEntry> {
        let mut found = Vec::new();
        let parts = if self.parts.is_empty() { vec![String::new()] } else { self.parts.clone() };
        // A part in a folder that is a link would lead out of the package.
        let is_inside = |part: &String| {
            let place = self.root.join(part);
            place.starts_with(&self.root)
                && place.parent().is_some_and(|above| above.canonicalize().is_ok_and(|real| real == above))
        };
        let parts = parts.into_iter().filter(|part| part.is_empty() || is_inside(part));
        let mut waiting: Vec<(String, usize)> = parts.map(|part| (part, 0)).collect();
        while let Some((path, depth)) = waiting.pop().filter(|_| found.len() < MOST) {
            let place = self.root.join(&path);
            let Ok(metadata) = place.symlink_metadata() else { continue };
            if metadata.is_file() {
                let id = format!("{} {}", metadata.len(), self.root.display());
                found.push(TreeEntry { path, mode: EntryMode::File, id, size: Some(metadata.len()) });
                continue;
            }
            // A package of another package is one of its own.
            if !metadata.is_dir() || depth > DEEPEST || path.ends_with("node_modules") {
                continue;
            }
            let names = fs::read_dir(&place).into_iter().flatten().flatten();
            let names = names.filter_map(|entry| entry.file_name().into_string().ok());
            let below = |name: String| if path.is_empty() { name } else { format!("{path}/{name}") };
            waiting.extend(names.filter(|name| !name.starts_with('.')).map(|name| (below(name), depth + 1)));
        }
        found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        found.dedup_by(|a, b| a.path == b.path);
        found
    }
}
