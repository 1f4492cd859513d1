//! The worktrees of a repository beside its main one.

use std::path::{Path, PathBuf};

use super::sound::{self, Depth};

/// A linked worktree, as `git worktree list` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its root, which need not be there any more.
    pub path: PathBuf,
    /// The branch that is checked out, without `refs/heads/`; `None` when none is.
    pub branch: Option<String>,
}

/// The linked worktrees of the repository that holds `path`; none when there is no repository.
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
