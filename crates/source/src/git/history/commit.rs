//! The files of a commit, read straight from the object database: no checkout, no filter, no attribute.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::Find as _;
use gix::objs::tree::EntryKind;
use rayon::iter::{IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::contents::{Outcome, PackBundles};
use super::listing;
use super::revision::commit_id;
use super::sound::{self, Depth};
use crate::git::Error;
use codelode_base::model::{EntryMode, FIRST, SourceError, SourceTree, TreeEntry, spelled};

/// The largest object read into memory, regardless of the size that a server claims.
pub(in crate::git) const LARGEST_OBJECT: u64 = 1 << 30;

/// Opens a repository without trust, to read objects.
pub(in crate::git) fn open(path: &Path, depth: Depth) -> Result<gix::ThreadSafeRepository, Error> {
    let limit = format!("gitoxide.objects.allocLimit={LARGEST_OBJECT}");
    // Objects are read once each, so a cache of them would be useless.
    let options = gix::open::Options::isolated().config_overrides([limit.as_str(), "gitoxide.objects.cacheLimit=0"]);
    sound::open(path, depth, options)
}

/// An error with its causes, in one line.
pub(in crate::git) fn causes(err: &(dyn std::error::Error + 'static)) -> String {
    let mut text = err.to_string();
    let mut next = err.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A commit of a repository on this machine. While it exists, a cached clone is not removed.
pub struct Commit {
    path: PathBuf,
    repository: gix::ThreadSafeRepository,
    commit: String,
    tree: String,
    tree_id: ObjectId,
    time: i64,
    /// Each reading thread takes one and puts it back: opening one costs more than most reads.
    handles: Mutex<Vec<gix::Repository>>,
    /// Its packs, once the first content is read.
    contents: OnceLock<PackBundles>,
    /// Keeps the clone from being removed.
    _pin: Option<Box<dyn Send + Sync>>,
}

impl std::fmt::Debug for Commit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commit").field("path", &self.path).field("commit", &self.commit).finish_non_exhaustive()
    }
}

impl Commit {
    /// The commit of a revision in the repository at `path`, its `.git` or its worktree.
    pub fn open(path: &Path, revision: &str) -> Result<Self, Error> {
        Self::of(open(path, Depth::Everything)?, path, revision, None)
    }

    /// The commit of a revision in an open repository; `pin` is kept as long as the commit.
    pub(in crate::git) fn of(
        repository: gix::ThreadSafeRepository,
        path: &Path,
        revision: &str,
        pin: Option<Box<dyn Send + Sync>>,
    ) -> Result<Self, Error> {
        let local = repository.to_thread_local();
        let missing = || Error::Missing { path: path.to_owned(), what: format!("the commit {revision:?}") };
        let id = commit_id(&local, revision).ok_or_else(missing)?;
        let commit = local.find_commit(id).map_err(|_| missing())?;
        let tree_id = commit.tree_id().map_err(|_| missing())?.detach();
        let time = commit.time().map_or(0, |time| time.seconds);
        Ok(Self {
            path: path.to_owned(),
            commit: id.to_string(),
            tree: tree_id.to_string(),
            tree_id,
            time,
            handles: Mutex::new(vec![local.clone()]),
            contents: OnceLock::new(),
            repository,
            _pin: pin,
        })
    }

    /// The commit time, in seconds since 1970.
    pub fn time(&self) -> i64 {
        self.time
    }

    /// Every path, sorted, without sizes.
    pub fn files(&self) -> Result<Vec<TreeEntry>, Error> {
        self.with(|repository| {
            let missing = |what: String| Error::Missing { path: self.path.clone(), what };
            let tree = repository.find_tree(self.tree_id).map_err(|_| missing(format!("the tree {}", self.tree)))?;
            let unreadable = |problem| Error::Unreadable { path: self.path.clone(), problem };
            let found = listing::files(&tree).map_err(unreadable)?;
            let mut entries: Vec<TreeEntry> = found
                .into_iter()
                .filter_map(|entry| {
                    let mode = match entry.mode.kind() {
                        EntryKind::Tree => return None,
                        EntryKind::Blob => EntryMode::File,
                        EntryKind::BlobExecutable => EntryMode::Executable,
                        EntryKind::Link => EntryMode::Symlink,
                        EntryKind::Commit => EntryMode::Submodule,
                    };
                    let path = spelled(&entry.filepath).unwrap_or_else(|| entry.filepath.to_str_lossy()).into_owned();
                    Some(TreeEntry { path, mode, id: entry.oid.to_string(), size: None })
                })
                .collect();
            entries.sort_unstable();
            Ok(entries)
        })
    }

    /// Reads many files on every core, and passes each to `take` with its place; the order is arbitrary.
    pub fn read_each<T: Send>(
        &self,
        entries: &[TreeEntry],
        take: impl Fn(usize, Result<Vec<u8>, SourceError>) -> T + Sync,
    ) -> Vec<T> {
        (0..entries.len()).into_par_iter().map(|place| take(place, self.read(&entries[place]))).collect()
    }

    /// Runs a closure with a handle of this thread's own.
    fn with<T>(&self, run: impl FnOnce(&gix::Repository) -> T) -> T {
        let pooled = self.handles.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let handle = pooled.unwrap_or_else(|| self.repository.to_thread_local());
        let result = run(&handle);
        self.handles.lock().unwrap_or_else(PoisonError::into_inner).push(handle);
        result
    }

    /// The size of an entry's content; `None` if the repository does not have it.
    pub fn size(&self, entry: &TreeEntry) -> Option<u64> {
        let id = ObjectId::from_hex(entry.id.as_bytes()).ok()?;
        self.with(|repository| repository.try_find_header(id).ok().flatten().map(|header| header.size()))
    }
}

impl SourceTree for Commit {
    fn commit(&self) -> &str {
        &self.commit
    }

    fn tree(&self) -> &str {
        &self.tree
    }

    fn paths(&self) -> Result<Vec<TreeEntry>, SourceError> {
        self.files().map_err(|err| SourceError::Failed(Box::new(err)))
    }

    fn entries(&self) -> Result<Vec<TreeEntry>, SourceError> {
        let mut entries = self.paths()?;
        entries.par_iter_mut().filter(|entry| entry.mode != EntryMode::Submodule).for_each(|entry| {
            entry.size = self.size(entry);
        });
        Ok(entries)
    }

    fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let mut content = Vec::new();
        self.read_if(entry, &|_| true, &mut content)?;
        Ok(content)
    }

    fn read_if(
        &self,
        entry: &TreeEntry,
        wanted: &dyn Fn(&[u8]) -> bool,
        buffer: &mut Vec<u8>,
    ) -> Result<bool, SourceError> {
        let missing = || SourceError::Missing { path: entry.path.clone(), id: entry.id.clone() };
        let damaged = |what: String| SourceError::Damaged { path: entry.path.clone(), what };
        let id = ObjectId::from_hex(entry.id.as_bytes()).map_err(|_| missing())?;
        let contents = self.contents.get_or_init(|| PackBundles::open(&self.repository.objects_dir().join("pack")));
        match contents.read(&id, FIRST, wanted, buffer) {
            Outcome::Read => return Ok(true),
            Outcome::Unwanted => return Ok(false),
            Outcome::Elsewhere => {}
        }
        let kind = self.with(|repository| match repository.objects.try_find(&id, buffer) {
            Ok(Some(object)) => Ok(object.kind),
            Ok(None) => Err(missing()),
            Err(err) => Err(damaged(causes(&err))),
        })?;
        match kind {
            gix::objs::Kind::Blob => Ok(wanted(&buffer[..buffer.len().min(FIRST)])),
            other => Err(damaged(format!("it is a {other}"))),
        }
    }
}
