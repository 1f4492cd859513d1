//! Entry points of `package.json`. They are indexed even above the size limit.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::disk::{self, Links};
use codelode_base::model::Input;

/// Largest entry point that is read. The author of `package.json` also controls the file, so a limit is needed.
pub(super) const MAX_ENTRY: u64 = 16 * 1024 * 1024;

/// Largest `package.json` that is read.
const MAX_MANIFEST: u64 = 1024 * 1024;

/// Manifests of a source, each read when the first file below it is checked.
#[derive(Default)]
pub(super) struct Packages {
    entries: HashMap<String, Vec<String>>,
    /// Manifests that were read.
    pub(super) inputs: Vec<Input>,
}

impl Packages {
    /// Whether a `package.json` beside or above the file at `path` names it as an entry point.
    pub(super) fn name(&mut self, root: &Path, path: &str) -> bool {
        let mut folder = path;
        while !folder.is_empty() {
            folder = folder.rsplit_once('/').map_or("", |(folder, _name)| folder);
            let inside = if folder.is_empty() { path } else { &path[folder.len() + 1..] };
            if self.entries_of(root, folder).iter().any(|entry| means(entry, inside)) {
                return true;
            }
        }
        false
    }

    fn entries_of(&mut self, root: &Path, folder: &str) -> &[String] {
        if !self.entries.contains_key(folder) {
            let path = if folder.is_empty() { "package.json".to_owned() } else { format!("{folder}/package.json") };
            let mut entries = Vec::new();
            if let Ok((bytes, stamp)) = disk::read_small(&root.join(&path), Links::Refuse, MAX_MANIFEST) {
                self.inputs.push(stamp.input(path));
                entries = entries_in(&bytes);
            }
            self.entries.insert(folder.to_owned(), entries);
        }
        &self.entries[folder]
    }
}

/// Paths under `main`, `module`, `exports` and `bin` of a manifest.
pub(super) fn entries_in(manifest: &[u8]) -> Vec<String> {
    let Ok(manifest) = serde_json::from_slice::<Value>(manifest) else { return Vec::new() };
    let mut entries = Vec::new();
    for key in ["main", "module", "exports", "bin"] {
        if let Some(value) = manifest.get(key) {
            gather(value, &mut entries);
        }
    }
    entries
}

/// Collects the strings in a value. The parser has bounded its depth.
fn gather(value: &Value, entries: &mut Vec<String>) {
    match value {
        Value::String(path) => entries.push(path.strip_prefix("./").unwrap_or(path).trim_end_matches('/').to_owned()),
        Value::Array(values) => values.iter().for_each(|value| gather(value, entries)),
        Value::Object(values) => values.values().for_each(|value| gather(value, entries)),
        _ => {}
    }
}

/// Whether `entry` refers to the file at `path`: exactly, without the extension, as the folder of an `index` file, or
/// with one `*`.
pub(super) fn means(entry: &str, path: &str) -> bool {
    if entry == path {
        return true;
    }
    if let Some((before, after)) = entry.split_once('*') {
        return path.len() >= before.len() + after.len() && path.starts_with(before) && path.ends_with(after);
    }
    let Some((stem, "js" | "cjs" | "mjs" | "json" | "ts" | "jsx" | "tsx")) = path.rsplit_once('.') else {
        return false;
    };
    stem == entry || stem.strip_suffix("/index") == Some(entry)
}

#[cfg(test)]
mod tests {
    use super::{entries_in, means};

    #[test]
    fn entries_are_found_in_every_form() {
        let manifest = br#"{
            "name": "x", "main": "./lib/index.js", "module": "es/x.mjs", "bin": {"x": "bin/x.js", "y": "./bin/y.js"},
            "exports": {".": {"import": "./a.mjs", "require": ["./a.cjs"]}, "./f/*": "./features/*.js"},
            "files": ["other.js"]
        }"#;
        let mut entries = entries_in(manifest);
        entries.sort();
        assert_eq!(entries, ["a.cjs", "a.mjs", "bin/x.js", "bin/y.js", "es/x.mjs", "features/*.js", "lib/index.js"]);
        assert!(entries_in(b"not json").is_empty());
        assert!(entries_in(b"[]").is_empty());
    }

    #[test]
    fn an_entry_may_leave_out_what_node_adds() {
        assert!(means("lib/x.js", "lib/x.js"));
        assert!(means("lib/x", "lib/x.js"));
        assert!(means("lib", "lib/index.js"));
        assert!(means("features/*.js", "features/deep/a.js"));
        assert!(!means("lib/x", "lib/x.css"));
        assert!(!means("lib", "lib/other.js"));
        assert!(!means("../x.js", "x.js"));
    }
}
