//! A repository on disk, seen from one of its checkouts.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gix::bstr::BStr;

use super::origin::github_id;
use super::revision::commit_id;
use super::sound::{self, Depth};

/// Nanoseconds.
const SECOND: i64 = 1_000_000_000;
/// Name of the files that say how git treats others, and the largest that is read.
const ATTRIBUTES: &str = ".gitattributes";
const LARGEST_ATTRIBUTES: u64 = 1 << 20;
/// Attributes by which a file of the worktree is another than its content in git, though its size may be the same.
const FILTERS: [&str; 3] = ["filter", "ident", "working-tree-encoding"];

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
        let dot_git = sound::find(&path)?;
        let found = sound::open(&dot_git, Depth::Opening, gix::open::Options::isolated());
        let repository = found.ok()?.to_thread_local();

        // `core.worktree` can point anywhere. A checkout is one whose own `.git` leads here.
        let worktree = repository.workdir().and_then(|dir| dir.canonicalize().ok());
        let worktree = worktree.filter(|dir| path.starts_with(dir) && dir.join(".git") == dot_git);
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

    /// Whether the file at `relative`, a path from the worktree's root, is tracked.
    pub fn tracks(&self, relative: &str) -> bool {
        self.index().is_some_and(|index| index.entry_by_path(BStr::new(relative)).is_some())
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

    /// Paths from the worktree's root that git tracks and that are not checked out: files that a sparse checkout leaves
    /// out, and submodules without content. The index is read only where there may be any.
    pub fn not_checked_out(&self) -> (Vec<String>, Vec<String>) {
        use gix::index::entry::{Flags, Mode};
        let (mut sparse, mut submodules) = (Vec::new(), Vec::new());
        let Some(root) = &self.worktree else { return (sparse, submodules) };
        let may_be_sparse = self.index_path.parent().is_some_and(|dir| dir.join("info/sparse-checkout").exists());
        let has_submodules = root.join(".gitmodules").exists();
        let Some(index) = self.index().filter(|_| may_be_sparse || has_submodules) else { return (sparse, submodules) };
        for entry in index.entries() {
            let Ok(path) = std::str::from_utf8(entry.path(index)) else { continue };
            if entry.mode == Mode::COMMIT {
                if !root.join(path).join(".git").exists() {
                    submodules.push(path.to_owned());
                }
            } else if entry.flags.contains(Flags::SKIP_WORKTREE) {
                sparse.push(path.trim_end_matches('/').to_owned());
            }
        }
        (sparse, submodules)
    }

    /// Git's name of the content of a tracked file, if git would take the file for unchanged by its size and times: its
    /// path is from the worktree's root, its times are in nanoseconds since 1970.
    pub fn content_of(&self, path: &str, size: u64, mtime_ns: i64, ctime_ns: i64) -> Option<[u8; 20]> {
        use gix::index::entry::{Flags, Mode};
        let index = self.index()?;
        let entry = index.entry_by_path(BStr::new(path))?;
        let is_kept = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE | Flags::INTENT_TO_ADD;
        let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
        if !is_file || entry.flags.intersects(is_kept) {
            return None;
        }
        let stat = &entry.stat;
        let is_at = |time_ns: i64, secs: u32, nsecs: u32| {
            let (own_secs, own_nsecs) = (time_ns.div_euclid(SECOND), time_ns.rem_euclid(SECOND));
            // Some programs write whole seconds.
            own_secs == i64::from(secs) && (nsecs == 0 || own_nsecs == i64::from(nsecs))
        };
        let is_as_then = u64::from(stat.size) == size
            && is_at(mtime_ns, stat.mtime.secs, stat.mtime.nsecs)
            && is_at(ctime_ns, stat.ctime.secs, stat.ctime.nsecs);
        // A file written as late as the index may have changed after git looked at it.
        let written = index.timestamp();
        let written_ns = written.unix_seconds() * SECOND + i64::from(written.nanoseconds());
        let known_ns = if stat.mtime.nsecs == 0 { written_ns.div_euclid(SECOND) * SECOND } else { written_ns };
        (is_as_then && mtime_ns < known_ns).then(|| entry.id.as_bytes().try_into().ok()).flatten()
    }

    /// Whether files of the worktree may differ from their contents in git: attributes have them filtered.
    pub fn filters(&self) -> bool {
        let Some(root) = &self.worktree else { return true };
        let Some(index) = self.index() else { return true };
        let is_one = |path: &str| path == ATTRIBUTES || path.ends_with(&format!("/{ATTRIBUTES}"));
        let tracked = index.entries().iter().filter_map(|entry| std::str::from_utf8(entry.path(index)).ok());
        let tracked = tracked.filter(|path| is_one(path)).map(|path| root.join(path));
        tracked.chain([root.join(ATTRIBUTES), self.common_dir.join("info/attributes")]).any(|path| {
            match sound::read_small(&path, LARGEST_ATTRIBUTES) {
                Ok(text) => FILTERS.iter().any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some()),
                Err(err) => err.kind() != std::io::ErrorKind::NotFound,
            }
        })
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
