//! Two revisions of a repository with their symbols: two commits, or a commit and the current files.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::changes::{Changes, SymbolKey, compare, versions};
use codelode_base::model::{Extraction, Languages, on_disk};
use codelode_lang::extract::extract;
use codelode_lang::languages::{self, TimeAtWork};
use codelode_source::git::{Changed, History, HistoryError, LogEntry, Repository};
use codelode_store::Snapshot;

/// The files that differ between two revisions, with their symbols in both.
pub struct Between {
    /// The first commit.
    pub since: String,
    /// The last commit; `None` for staged or current files.
    pub until: Option<String>,
    /// Whether everything was read within the time limit.
    pub is_whole: bool,
    files: Vec<(String, [Option<ParsedText>; 2])>,
}

/// Limits on reading texts for one answer.
pub struct Bounds {
    /// Texts larger than this, in bytes, count as files without symbols.
    limit: u64,
    /// Processor time for all texts.
    most: Duration,
    /// Processor time spent so far, in microseconds.
    spent: AtomicU64,
}

impl Bounds {
    /// Limits the size of a text only.
    pub fn of_size(limit: u64) -> Self {
        Self::within(limit, Duration::MAX)
    }

    /// Limits the size of a text, and the processor time of all.
    pub fn within(limit: u64, most: Duration) -> Self {
        Self { limit, most, spent: AtomicU64::new(0) }
    }

    /// The size in bytes beyond which a text has no symbols.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether the time is up.
    pub fn is_over(&self) -> bool {
        Duration::from_micros(self.spent.load(Ordering::Relaxed)) > self.most
    }

    /// Does some work and counts its time; `None` if the time is up.
    pub fn work<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let time = TimeAtWork::begin();
        let done = (!self.is_over()).then(work);
        self.spent.fetch_add(time.taken().as_micros() as u64, Ordering::Relaxed);
        done
    }
}

/// A text with its symbols, which are empty in an unsupported language.
struct ParsedText {
    content: Vec<u8>,
    extraction: Option<Extraction>,
}

/// The end of a comparison that begins at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonEnd<'a> {
    /// A commit, branch or tag.
    Commit(&'a str),
    /// Staged texts, as the next commit would have them.
    Staged,
    /// The snapshot's files.
    Worktree,
}

impl Between {
    /// Reads the differences between the commit `since` and `until` in the checkout at `root`. Texts larger than
    /// `limit` bytes count as files without symbols.
    pub fn read(
        history: &History,
        snapshot: &Snapshot,
        root: &Path,
        (since, until): (&str, ComparisonEnd<'_>),
        limit: u64,
    ) -> Result<Self, HistoryError> {
        let since = history.commit(since)?;
        let is_worktree = until == ComparisonEnd::Worktree;
        let (until, changed) = match until {
            ComparisonEnd::Commit(until) => {
                let until = history.commit(until)?;
                let changed = history.changed(&since, &until)?;
                (Some(until), changed)
            }
            ComparisonEnd::Staged => (None, history.staged(&since)?),
            ComparisonEnd::Worktree => (None, changed_since(history, &since, snapshot, root)?),
        };
        Self::of(history, snapshot, (since, until), (changed, is_worktree), &Bounds::of_size(limit))
    }

    /// Reads the changes of one commit to `files`.
    pub fn commit(
        history: &History,
        snapshot: &Snapshot,
        commit: &LogEntry,
        changed: Vec<Changed>,
        bounds: &Bounds,
    ) -> Result<Self, HistoryError> {
        let since = commit.parents.first().cloned().unwrap_or_default();
        Self::of(history, snapshot, (since, Some(commit.commit.clone())), (changed, false), bounds)
    }

    fn of(
        history: &History,
        snapshot: &Snapshot,
        (since, until): (String, Option<String>),
        (changed, is_worktree): (Vec<Changed>, bool),
        bounds: &Bounds,
    ) -> Result<Self, HistoryError> {
        let limit = bounds.limit;
        let mut texts = Vec::with_capacity(changed.len());
        for file in changed {
            let old = file.old.map_or(Ok(None), |content| history.read(content, limit))?;
            let new = match file.new {
                // A current text may have no commit.
                Some(_) if is_worktree => snapshot.file(&file.path).map(|file| file.content().to_owned()),
                content => content.map_or(Ok(None), |content| history.read(content, limit))?,
            };
            texts.push((file.path, [old, new]));
        }
        // The languages were validated when they were set.
        let languages = Languages::of(&snapshot.facts().roles.languages).unwrap_or_default();
        let read = |(path, texts): (String, [Option<Vec<u8>>; 2])| {
            let read = || texts.map(|text| text.map(|content| ParsedText::of(&languages, &path, content)));
            bounds.work(read).map(|read| (path, read))
        };
        let (n_texts, files) = (texts.len(), texts.into_par_iter().filter_map(read).collect::<Vec<_>>());
        Ok(Self { since, until, is_whole: files.len() == n_texts, files })
    }

    /// The number of files that differ.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// The paths of the files that differ, each with whether it existed before and after.
    pub fn paths(&self) -> impl Iterator<Item = (&str, bool, bool)> {
        self.files.iter().map(|(path, [old, new])| (path.as_str(), old.is_some(), new.is_some()))
    }

    /// The files that differ and still exist, each with its old text.
    pub fn before(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        let texts = self.files.iter().map(|(path, [old, _])| (path, old.as_ref().map(|old| &*old.content)));
        texts.map(|(path, old)| (path.as_str(), old))
    }

    /// The number of differing files without symbols in either revision: too large, a document, or unsupported.
    pub fn without_symbols(&self) -> usize {
        let has_none = |read: &Option<ParsedText>| read.as_ref().is_none_or(|read| read.extraction.is_none());
        self.files.iter().filter(|(_, both)| both.iter().all(has_none)).count()
    }

    /// The differences, symbol by symbol.
    pub fn changes(&self) -> Changes<'_> {
        let at = |moment: usize| {
            self.files
                .iter()
                .flat_map(move |(path, both)| both[moment].iter().flat_map(move |read| read.versions(path)))
        };
        compare(at(0).collect(), at(1).collect(), SymbolKey::Place)
    }
}

impl ParsedText {
    fn of(given: &Languages, path: &str, content: Vec<u8>) -> Self {
        let number = languages::number_of(given, path, &content);
        // Document headings and data keys are no code.
        let spec = number.map(languages::of_number).filter(|spec| !spec.is_document);
        let extraction = spec.map(|spec| extract(spec, &content));
        Self { content, extraction }
    }

    fn versions<'a>(&'a self, path: &'a str) -> Vec<crate::Version<'a>> {
        self.extraction.as_ref().map_or_else(Vec::new, |extraction| versions(path, &self.content, extraction))
    }
}

/// The files that differ between a commit and the indexed state.
fn changed_since(
    history: &History,
    since: &str,
    snapshot: &Snapshot,
    root: &Path,
) -> Result<Vec<Changed>, HistoryError> {
    // Files in a submodule or a nested repository do not belong to this history.
    let mut nested: HashMap<&str, bool> = HashMap::new();
    let present = snapshot.files().map(|file| (file.path(), file.content()));
    let present: Vec<(&str, &[u8])> = present.filter(|(path, _)| !is_nested(root, path, &mut nested)).collect();
    let repository = Repository::open(root);
    let above = repository.as_ref().and_then(|repository| {
        let worktree = repository.worktree()?;
        root.canonicalize().ok()?.strip_prefix(&worktree).ok().map(Path::to_owned)
    });
    let is_left_out = |path: &str| {
        let path = above.as_ref().map(|above| above.join(path));
        path.as_deref().and_then(Path::to_str).zip(repository.as_ref()).is_some_and(|(path, it)| it.leaves_out(path))
    };
    // An ignored file still exists, so it is not removed.
    let is_gone = |path: &str| on_disk(root, path).symlink_metadata().is_err() && !is_left_out(path);
    let mut files = history.changed_since(since, present, is_gone)?;
    // An untracked file without symbols may be anything, so it is left out.
    files.retain(|file| file.old.is_some() || snapshot.file(&file.path).is_some_and(|file| file.symbol_count() > 0));
    Ok(files)
}

/// Whether a file lies in a repository below the root. `known` caches the answer per folder.
fn is_nested<'p>(root: &Path, path: &'p str, known: &mut HashMap<&'p str, bool>) -> bool {
    let mut folders = path.match_indices('/').map(|(end, _)| &path[..end]);
    folders.any(|folder| *known.entry(folder).or_insert_with(|| root.join(folder).join(".git").exists()))
}
