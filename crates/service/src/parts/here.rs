//! Languages of a folder, from its index or from a quick scan.

use std::collections::BTreeMap;
use std::path::Path;

use super::Context;
use super::locate::is_odd;
use codelode_lang::languages;
use codelode_store::Registry;

/// The most languages listed.
const MOST: usize = 4;
/// The most entries of an unindexed folder looked at.
const LOOKED_AT: usize = 4_000;

/// Languages with symbols in the repository of a folder, each with its number of files, most first.
pub fn languages_of(cx: &Context, folder: &Path) -> Vec<(String, u64)> {
    let registry = cx.indexes.registry();
    let stored = cx.config.path_map.to_stored(folder);
    let known = stored.ancestors().find_map(|root| registry.get(&Registry::local_id(root)));
    let counted = match known {
        Some(sidecar) => sidecar.languages,
        None if is_odd(folder) => BTreeMap::new(),
        None => counted(folder),
    };
    let mut counted: Vec<(String, u64)> =
        counted.into_iter().filter(|(id, n)| *n > 0 && languages::of_id(id).is_some()).collect();
    counted.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    counted.truncate(MOST);
    counted
}

/// Files by language among the first entries of a folder, without hidden and installed ones. Folders near the root
/// come first.
fn counted(root: &Path) -> BTreeMap<String, u64> {
    let mut counted = BTreeMap::new();
    let mut folders = std::collections::VecDeque::from([root.to_owned()]);
    let mut left = LOOKED_AT;
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return counted };
            left = rest;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !name.starts_with('.') && !["node_modules", "target", "vendor"].contains(&&*name) {
                folders.push_back(entry.path());
            } else if kind.is_file()
                && let Some((_, language)) = languages::of_file(&name, b"")
            {
                *counted.entry(language.id.to_owned()).or_default() += 1;
            }
        }
    }
    counted
}
