//! History of a repository: two of its states, and the files that differ between them.

pub(super) mod bare;
pub(super) mod blame;
pub(super) mod commit;
pub(super) mod contents;
pub(super) mod folder;
pub(super) mod lines;
mod listing;
pub(super) mod log;
mod names;
pub(super) mod origin;
pub(super) mod recent;
pub(super) mod repository;
pub(super) mod revision;
pub(super) mod sound;
pub(super) mod worktrees;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::object::tree::EntryMode;
use gix::object::tree::diff::Change;
use gix::objs::Kind;

use codelode_base::config::Secrets;
use codelode_base::model::{spelled, utf_8_of};
use revision::{commit_id, peel};
use sound::Depth;

/// An error of a history query.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no readable repository.
    #[error("{} is not in a git repository", .0.display())]
    NoRepository(PathBuf),
    /// A revision has no commit here.
    #[error("{0:?} names no commit of this repository")]
    NoCommit(String),
    /// A revision has no commit in a shallow clone.
    #[error("{0:?} names no commit of this clone, which is shallow: its history ends early")]
    PastEnd(String),
    /// An object cannot be read, as in a shallow clone.
    #[error("the repository cannot be read: {0}")]
    Unreadable(String),
}

/// The most pairs of added and removed files that are compared: more would take minutes after a large move, so then
/// only identical files count as renamed.
const RENAME_PAIRS: usize = 200 * 200;

/// Memory for objects that were read, in bytes.
const TREES: usize = 16 << 20;

/// A file's content in the history: its id there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content(gix::ObjectId);

/// A file that differs between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its path relative to the folder.
    pub path: String,
    /// Its earlier path, if renames were detected and it was renamed.
    pub old_path: Option<String>,
    /// Its content before; `None` where it did not exist.
    pub old: Option<Content>,
    /// Its content after; `None` where it does not exist any more.
    pub new: Option<Content>,
}

/// The history of a folder, which may be a part of a repository.
pub struct History {
    repository: gix::Repository,
    /// The folder, from the worktree's root; empty for the root itself.
    below: PathBuf,
    /// Files to hide.
    secrets: Secrets,
    hidden: Cell<usize>,
}

impl History {
    /// Opens the history of a folder of a checkout, without trust like `git::Repository`.
    pub fn open(folder: &Path, secrets: &Secrets) -> Result<Self, Error> {
        let none = || Error::NoRepository(folder.to_owned());
        let folder = folder.canonicalize().map_err(|_| none())?;
        let dot_git = sound::find(&folder).ok_or_else(none)?;
        let found = sound::open(&dot_git, Depth::Everything, gix::open::Options::isolated());
        let mut repository = found.map_err(|err| Error::Unreadable(err.to_string()))?.to_thread_local();
        // A walk through commits reads most trees again and again.
        repository.object_cache_size_if_unset(TREES);
        let root = repository.workdir().and_then(|root| root.canonicalize().ok());
        let root = root.filter(|root| root.join(".git") == dot_git).ok_or_else(none)?;
        let below = folder.strip_prefix(&root).map_err(|_| none())?.to_owned();
        Ok(Self { repository, below, secrets: secrets.clone(), hidden: Cell::new(0) })
    }

    /// The number of files left out of the last comparison because they may contain a credential.
    pub fn hidden(&self) -> usize {
        self.hidden.get()
    }

    /// Removes files that may contain a credential, and sorts the rest by path.
    fn shown(&self, mut files: Vec<Changed>) -> Vec<Changed> {
        let before = files.len();
        let is_hidden = |path: &str| self.secrets.hides(path);
        files.retain(|file| !is_hidden(&file.path) && !file.old_path.as_deref().is_some_and(is_hidden));
        self.hidden.set(before - files.len());
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// The id of a revision's commit, in hex. A revision is a commit's id or a prefix of one, a branch, a tag,
    /// `HEAD~3`.
    pub fn commit(&self, revision: &str) -> Result<String, Error> {
        let id = commit_id(&self.repository, revision).ok_or_else(|| self.no_commit(revision))?;
        Ok(id.to_string())
    }

    /// Whether this is a shallow clone, whose history ends early.
    pub fn is_shallow(&self) -> bool {
        self.repository.is_shallow().unwrap_or(false)
    }

    fn no_commit(&self, revision: &str) -> Error {
        if self.is_shallow() { Error::PastEnd(revision.to_owned()) } else { Error::NoCommit(revision.to_owned()) }
    }

    /// The files that differ between two commits, by path. Folders, links and submodules are left out.
    pub fn changed(&self, old: &str, new: &str) -> Result<Vec<Changed>, Error> {
        // Renames are not detected: comparing symbols does it better.
        self.compare(Some(old), new, None)
    }

    /// Changed files with renames: a removed and an added file that share half of their lines or more are one renamed
    /// file. The flag is set if there were too many pairs, so that only identical files count as renamed.
    pub fn changed_or_renamed(&self, old: &str, new: &str) -> Result<(Vec<Changed>, bool), Error> {
        let plain = self.changed(old, new)?;
        let added = plain.iter().filter(|file| file.old.is_none()).count();
        let removed = plain.iter().filter(|file| file.new.is_none()).count();
        if added == 0 || removed == 0 {
            return Ok((plain, false));
        }
        let is_capped = added.saturating_mul(removed) > RENAME_PAIRS;
        // Without a percentage, only identical contents match, and nothing is compared.
        let percentage = (!is_capped).then_some(0.5);
        let rewrites = gix::diff::Rewrites { percentage, limit: 0, ..gix::diff::Rewrites::default() };
        Ok((self.compare(Some(old), new, Some(rewrites))?, is_capped))
    }

    /// The files that differ; all files of `new` without `old`.
    fn compare(
        &self,
        old: Option<&str>,
        new: &str,
        rewrites: Option<gix::diff::Rewrites>,
    ) -> Result<Vec<Changed>, Error> {
        let (old, new) = (old.map_or(Ok(None), |old| self.tree(old))?, self.tree(new)?);
        let empty = self.repository.empty_tree();
        let (old, new) = (old.as_ref().unwrap_or(&empty), new.as_ref().unwrap_or(&empty));
        let content = |mode: EntryMode, id: gix::Id<'_>| mode.is_blob().then_some(Content(id.detach()));
        let (mut files, mut quota): (Vec<Changed>, _) = (Vec::new(), listing::Quota::default());
        let mut changes = old.changes().map_err(unreadable)?;
        changes.options(|options| {
            options.track_path().track_rewrites(rewrites);
        });
        let mut cache = listing::comparing(&self.repository).map_err(unreadable)?;
        let compared = changes.for_each_to_obtain_tree_with_cache(new, &mut cache, |change| {
            let (path, old_path, old, new) = match change {
                Change::Addition { location, entry_mode, id, .. } => (location, None, None, content(entry_mode, id)),
                Change::Deletion { location, entry_mode, id, .. } => (location, None, content(entry_mode, id), None),
                Change::Modification { location, previous_entry_mode, previous_id, entry_mode, id, .. } => {
                    (location, None, content(previous_entry_mode, previous_id), content(entry_mode, id))
                }
                Change::Rewrite { source_location, source_entry_mode, source_id, location, entry_mode, id, .. } => {
                    let (old, new) = (content(source_entry_mode, source_id), content(entry_mode, id));
                    (location, Some(source_location), old, new)
                }
            };
            let old_path = old_path.and_then(|path| Some(path.to_str().ok()?.to_owned()));
            // Only the mode changed, or it is a folder, a link or a submodule.
            let is_file = (old.is_some() || new.is_some()) && (old != new || old_path.is_some());
            if let (Ok(path), true) = (path.to_str(), is_file) {
                files.push(Changed { path: path.to_owned(), old_path, old, new });
            }
            Ok(quota.take(path))
        });
        match compared {
            _ if quota.is_full() => Err(Error::Unreadable(quota.problem(String::new()))),
            compared => compared.map_err(unreadable),
        }?;
        Ok(self.shown(files))
    }

    /// The files that differ between a commit and what is staged, by path.
    pub fn staged(&self, old: &str) -> Result<Vec<Changed>, Error> {
        let mut before = self.files_of(old)?;
        let mut files = Vec::new();
        let skip_hash = true;
        let (path, kind) = (self.repository.index_path(), self.repository.object_hash());
        let index = gix::index::File::at(path, kind, skip_hash, Default::default()).map_err(unreadable)?;
        for entry in index.entries().iter().filter(|entry| entry.stage() == gix::index::entry::Stage::Unconflicted) {
            let is_file = entry.mode.to_tree_entry_mode().is_some_and(|mode| mode.is_blob());
            let is_there = !entry.flags.contains(gix::index::entry::Flags::INTENT_TO_ADD);
            let path = entry.path(&index).to_str().ok().map(Path::new);
            let path = path.and_then(|path| path.strip_prefix(&self.below).ok()).and_then(Path::to_str);
            let Some(path) = path.filter(|_| is_file && is_there) else { continue };
            let old = before.remove(path).map(Content);
            let new = Content(entry.id);
            if old != Some(new) {
                files.push(Changed { path: path.to_owned(), old_path: None, old, new: Some(new) });
            }
        }
        let gone = before.into_iter();
        files.extend(gone.map(|(path, id)| Changed { path, old_path: None, old: Some(Content(id)), new: None }));
        Ok(self.shown(files))
    }

    /// The commit where two lines of history part.
    pub fn fork(&self, one: &str, other: &str) -> Result<String, Error> {
        let id = |name: &str| commit_id(&self.repository, name).ok_or_else(|| self.no_commit(name));
        let base = self.repository.merge_base(id(one)?, id(other)?).map_err(unreadable)?;
        let none = || unreadable(format!("{one} and {other} have no commit in common"));
        base.map(|base| base.to_string()).ok_or_else(none)
    }

    /// The files of a commit with their contents.
    fn files_of(&self, commit: &str) -> Result<std::collections::BTreeMap<String, gix::ObjectId>, Error> {
        let mut files = std::collections::BTreeMap::new();
        if let Some(tree) = self.tree(commit)? {
            for entry in listing::files(&tree).map_err(Error::Unreadable)? {
                if let (true, Some(path)) = (entry.mode.is_blob(), spelled(&entry.filepath)) {
                    files.insert(path.into_owned(), entry.oid);
                }
            }
        }
        Ok(files)
    }

    /// The files that differ between a commit and the `present` texts, by path. A file of the commit that is not in
    /// `present` counts as removed if `is_gone` says so.
    pub fn changed_since<'a>(
        &self,
        old: &str,
        present: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        is_gone: impl Fn(&str) -> bool,
    ) -> Result<Vec<Changed>, Error> {
        let mut before = self.files_of(old)?;
        let mut files = Vec::new();
        for (path, text) in present {
            let now = gix::objs::compute_hash(self.repository.object_hash(), gix::objs::Kind::Blob, text);
            let now = now.map_err(|err| Error::Unreadable(err.to_string()))?;
            let old = before.remove(path);
            if old != Some(now) && !self.is_utf_16_of(old, text)? {
                let old = old.map(Content);
                files.push(Changed { path: path.to_owned(), old_path: None, old, new: Some(Content(now)) });
            }
        }
        let gone = before.into_iter().filter(|(path, _)| is_gone(path));
        files.extend(gone.map(|(path, id)| Changed { path, old_path: None, old: Some(Content(id)), new: None }));
        Ok(self.shown(files))
    }

    /// The text of a file; `None` if it is larger than `limit` bytes.
    pub fn read(&self, content: Content, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        if self.repository.find_header(content.0).map_err(unreadable)?.size() > limit {
            return Ok(None);
        }
        let mut object = self.repository.find_object(content.0).map_err(unreadable)?;
        let bytes = std::mem::take(&mut object.data);
        Ok(Some(utf_8_of(&bytes).unwrap_or(bytes)))
    }

    /// Whether a file is the text, kept as UTF-16.
    fn is_utf_16_of(&self, file: Option<gix::ObjectId>, text: &[u8]) -> Result<bool, Error> {
        // UTF-16 takes two bytes for a letter that takes one or three, and two for the mark.
        let limit = 2 * text.len() as u64 + 2;
        let read = file.map_or(Ok(None), |id| self.read(Content(id), limit))?;
        Ok(read.is_some_and(|read| read == text))
    }

    /// The text of a file in a commit; `None` if it is not there, is larger than `limit` bytes, or may hold a credential.
    pub fn file(&self, commit: &str, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        let is_shown = is_plain(path) && !self.secrets.hides(path);
        let Some(tree) = self.tree(commit)?.filter(|_| is_shown) else { return Ok(None) };
        let entry = tree.lookup_entry_by_path(path).map_err(unreadable)?.filter(|entry| entry.mode().is_blob());
        entry.map_or(Ok(None), |entry| self.read(Content(entry.object_id()), limit))
    }

    /// The folder as of a commit; `None` if it does not exist there.
    fn tree(&self, commit: &str) -> Result<Option<gix::Tree<'_>>, Error> {
        let id = gix::ObjectId::from_hex(commit.as_bytes()).map_err(|_| Error::NoCommit(commit.to_owned()))?;
        let root = peel(&self.repository, id, Kind::Tree).ok_or_else(|| unreadable("a commit has no tree"))?;
        let root = self.repository.find_tree(root).map_err(unreadable)?;
        if self.below.as_os_str().is_empty() {
            return Ok(Some(root));
        }
        let Some(entry) = root.lookup_entry_by_path(&self.below).map_err(unreadable)? else { return Ok(None) };
        if !entry.mode().is_tree() {
            return Ok(None);
        }
        let tree = self.repository.find_tree(entry.object_id()).map_err(unreadable)?;
        Ok(Some(tree))
    }
}

/// Whether a path is written in the one way that rules for paths know: without empty parts, `.` and `..`.
fn is_plain(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn unreadable(err: impl std::fmt::Display) -> Error {
    Error::Unreadable(err.to_string())
}
