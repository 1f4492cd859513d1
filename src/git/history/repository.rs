//! A repository on disk, seen from one of its checkouts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gix::bstr::BStr;

use super::origin::github_id;
use super::revision::commit_id;
use super::sound::{self, Depth};

/// A git repository and the checkout it was opened from. Its facts are read when it is opened, except the index,
/// which can be large and is read on first use.
#[derive(Debug)]
pub struct Repository {
    common_dir: PathBuf,
    worktree: Option<PathBuf>,
    head: Option<String>,
    origin: Option<String>,
    index_path: PathBuf,
    object_hash: gix::hash::Kind,
    index: OnceLock<Option<gix::index::File>>,
}

impl Repository {
    /// Finds the repository of `path`, searching upwards. `None` without a readable one.
    pub fn open(path: &Path) -> Option<Self> {
        let mut path = path.canonicalize().ok()?;
        if !path.is_dir() {
            path.pop();
        }
        let found = sound::open(&sound::find(&path)?, Depth::Opening, gix::open::Options::isolated());
        let repository = found.ok()?.to_thread_local();

        // `core.worktree` can point anywhere. A checkout that does not contain the requested path is ignored.
        let worktree = repository.workdir().and_then(|dir| dir.canonicalize().ok());
        let worktree = worktree.filter(|dir| path.starts_with(dir));
        let origin = repository.config_snapshot().string("remote.origin.url");
        Some(Self {
            common_dir: repository.common_dir().canonicalize().ok()?,
            worktree,
            head: commit_id(&repository, "HEAD").map(|id| id.to_string()),
            origin: origin.and_then(|url| github_id(&url.to_string())),
            index_path: repository.index_path(),
            object_hash: repository.object_hash(),
            index: OnceLock::new(),
        })
    }

    /// The common git directory: canonical, and the same for every worktree of the repository.
    pub fn common_dir(&self) -> PathBuf {
        self.common_dir.clone()
    }

    /// The root of this checkout, canonical; `None` in a bare repository.
    pub fn worktree(&self) -> Option<PathBuf> {
        self.worktree.clone()
    }

    /// The checked-out commit, in hex; `None` before the first one.
    pub fn head(&self) -> Option<String> {
        self.head.clone()
    }

    /// `owner/name` if the remote `origin` is at github.com.
    pub fn origin(&self) -> Option<String> {
        self.origin.clone()
    }

    /// The file that lists tracked files. It need not exist.
    pub fn index_path(&self) -> &Path {
        &self.index_path
    }

    /// Whether any file is tracked below the folder `relative`, a path from the worktree's root with `/` as
    /// separator.
    pub fn tracks_below(&self, relative: &str) -> bool {
        let Some(index) = self.index() else { return false };
        if relative.is_empty() {
            return !index.entries().is_empty();
        }
        let folder = format!("{relative}/");
        if index.prefixed_entries_range(BStr::new(&folder)).is_some() {
            return true;
        }
        // A sparse index has one entry for a whole folder that is not checked out.
        let holds = |folder: &str| index.entry_by_path(BStr::new(folder)).is_some();
        index.is_sparse() && folder.match_indices('/').any(|(end, _)| holds(&folder[..=end]))
    }

    /// Whether a sparse checkout leaves out a tracked file, by its path from the worktree's root.
    pub fn leaves_out(&self, path: &str) -> bool {
        let Some(index) = self.index() else { return false };
        if let Some(entry) = index.entry_by_path(BStr::new(path)) {
            return entry.flags.contains(gix::index::entry::Flags::SKIP_WORKTREE);
        }
        let is_folder = |folder: &str| index.entry_by_path(BStr::new(folder)).is_some();
        index.is_sparse() && path.match_indices('/').any(|(end, _)| is_folder(&path[..=end]))
    }

    fn index(&self) -> Option<&gix::index::File> {
        let load = || {
            // Verifying the checksum would take longer than everything else, and a damaged index fails to parse
            // anyway.
            let skip_hash = true;
            gix::index::File::at(&self.index_path, self.object_hash, skip_hash, Default::default()).ok()
        };
        self.index.get_or_init(load).as_ref()
    }
}
