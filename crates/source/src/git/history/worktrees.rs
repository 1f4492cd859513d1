//! Linked worktrees of a repository.

use std::path::{Path, PathBuf};

use super::sound::{self, Depth};

/// A linked worktree, as `git worktree list` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its root, which may no longer exist.
    pub path: PathBuf,
    /// The checked-out branch, without `refs/heads/`; `None` without one.
    pub branch: Option<String>,
}

/// The linked worktrees of the repository of `path`; empty without a repository.
pub fn worktrees(path: &Path) -> Vec<Worktree> {
    let open = |dot_git: PathBuf| sound::open(&dot_git, Depth::Opening, gix::open::Options::isolated()).ok();
    let found = path.canonicalize().ok().and_then(|path| sound::find(&path)).and_then(open);
    let Some(repository) = found.map(|found| found.to_thread_local()) else { return Vec::new() };
    if !sound::are_worktrees(repository.common_dir()) {
        return Vec::new();
    }
    let listed = repository.worktrees().unwrap_or_default().into_iter();
    listed
        .filter_map(|proxy| {
            let path = proxy.base().ok()?;
            let opened = proxy.into_repo_with_possibly_inaccessible_worktree().ok();
            let head = opened.and_then(|repository| repository.head_name().ok().flatten());
            Some(Worktree { path, branch: head.map(|name| name.shorten().to_string()) })
        })
        .collect()
}
