//! The worktrees of a repository beside its main one.

use std::path::{Path, PathBuf};

use gix::sec::trust::Mapping;

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
    let untrusted = gix::open::Options::isolated;
    let trust = Mapping { full: untrusted(), reduced: untrusted() };
    let found = gix::ThreadSafeRepository::discover_opts(path, gix::discover::upwards::Options::default(), trust);
    let Ok(repository) = found.map(|found| found.to_thread_local()) else { return Vec::new() };
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
