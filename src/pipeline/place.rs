//! Where the checkouts are that indexes were made of.

use std::path::Path;

use crate::config::Config;
use crate::store::{Registry, Sidecar};

/// The checkout that holds a path, by asking for each of the folders above it.
pub fn owner(registry: &Registry, config: &Config, path: &Path) -> Option<Sidecar> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.ancestors().find_map(|folder| {
        let stored = config.path_map.to_stored(folder);
        registry.get(&Registry::local_id(&stored)).filter(|sidecar| sidecar.root == stored)
    })
}

/// Whether a checkout was removed for good. A root that is merely not here, because its disk is not mounted or the index
/// came from another machine, was held by another folder than the one that is in that place now.
pub fn is_gone(sidecar: &Sidecar, config: &Config) -> bool {
    let root = config.path_map.to_local(&sidecar.root);
    let was_here = root == sidecar.root && sidecar.held_in.is_some();
    was_here && !exists(&root) && holder(&root) == sidecar.held_in
}

/// The inode of the folder that holds a root.
pub(super) fn holder(root: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(root.parent()?.metadata().ok()?.ino())
}

/// Whether there is anything at a path. What cannot be told counts as being there.
fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}
