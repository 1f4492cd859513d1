//! Locations of indexed checkouts.

use std::path::Path;

use codelode_base::config::Config;
use codelode_source::git;
use codelode_store::{Registry, Sidecar, SnapshotFacts};

/// Size limit of a `.git` file.
const LONGEST_LINK: u64 = 64 << 10;

/// Finds the indexed checkout that holds a path, by trying each parent folder. A worktree inside another checkout of
/// its repository does not belong to that checkout.
pub fn owner(registry: &Registry, config: &Config, path: &Path) -> Option<Sidecar> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut worktree = None;
    for folder in path.ancestors() {
        let stored = config.path_map.to_stored(folder);
        if let Some(sidecar) = registry.get(&Registry::local_id(&stored)).filter(|sidecar| sidecar.root == stored) {
            let is_sibling =
                worktree.is_some_and(|worktree| super::sidecar_of(worktree, config).store == sidecar.store);
            return (!is_sibling).then_some(sidecar);
        }
        worktree = worktree.or_else(|| is_linked(folder).then_some(folder));
    }
    None
}

/// Whether a folder is the root of a linked worktree: its `.git` is a file that points below `/worktrees/`.
pub fn is_linked(folder: &Path) -> bool {
    let text = codelode_source::git::read_small(&folder.join(".git"), LONGEST_LINK);
    text.is_ok_and(|text| text.starts_with(b"gitdir:") && memchr::memmem::find(&text, b"/worktrees/").is_some())
}

/// Whether a checkout is a linked worktree that git lists no longer. Any other root that is missing may come back.
pub fn is_gone(sidecar: &Sidecar, registry: &Registry, config: &Config) -> bool {
    let root = config.path_map.to_local(&sidecar.root);
    if root != sidecar.root || root.try_exists().unwrap_or(true) || Registry::key(&root.join(".git")) == sidecar.store {
        return false;
    }
    // Another checkout of the same repository lists its worktrees; without one the question stays open.
    let all = registry.whole().all();
    let siblings = all.iter().filter(|other| other.store == sidecar.store && other.repo != sidecar.repo);
    let mut places = siblings.map(|other| config.path_map.to_local(&other.root));
    let Some(sibling) = places.find(|place| git::Repository::open(place).is_some()) else { return false };
    !git::worktrees(&sibling).iter().any(|worktree| worktree.path == root)
}

/// Whether a checkout was deleted for good. A root is only absent when its disk is not mounted or the index came from
/// another machine; then its recorded parent folders differ from the current ones.
pub fn was_removed(sidecar: &Sidecar, config: &Config) -> bool {
    let root = config.path_map.to_local(&sidecar.root);
    // Unknown counts as existing.
    let exists = |path: &Path| path.try_exists().unwrap_or(true);
    if root != sidecar.root || exists(&root) {
        return false;
    }
    let held = root.ancestors().skip(1).zip(&sidecar.held_in).find(|(folder, _)| exists(folder));
    held.is_some_and(|(folder, held_in)| place(folder).is_some_and(|(_, inode)| inode == *held_in))
}

/// Inodes of the root's parent folders, nearest first, as far as they are on the same disk. The file system root is
/// excluded, because its inode is the same on every machine.
pub(super) fn holders(root: &Path) -> Vec<u64> {
    let Some((device, _)) = place(root) else { return Vec::new() };
    let above = root.ancestors().skip(1).filter(|folder| folder.parent().is_some());
    above.map_while(|folder| place(folder).filter(|(other, _)| *other == device)).map(|(_, inode)| inode).collect()
}

/// Inode of a folder, which differs between a folder and its copies.
pub(super) fn inode(folder: &Path) -> Option<u64> {
    place(folder).map(|(_, inode)| inode)
}

/// Whether a root is the folder that was indexed, not a copy of it.
pub(super) fn is_original(root: &Path, facts: &SnapshotFacts) -> bool {
    facts.root_inode.is_some() && facts.root_inode == inode(root)
}

/// Device and inode of a folder.
fn place(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    folder.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
