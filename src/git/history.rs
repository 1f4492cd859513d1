//! What happened between commits: which files changed, and who wrote a line.

use std::ops::RangeInclusive;
use std::path::Path;

use gix::bstr::ByteSlice;
use gix::object::tree::diff::ChangeDetached;

use super::Error;
use super::commit::{causes, commit_id, open};

/// A file that became another is looked for among this many pairs, and no further: comparing every new file with every
/// removed one would take minutes after a large move.
const RENAME_PAIRS: usize = 200 * 200;

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It was not there before.
    Added,
    /// Its content is another.
    Modified,
    /// It is gone.
    Removed,
    /// It has another path, and may have another content.
    Renamed,
}

/// A file that differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFile {
    /// Its path in the later commit; in the earlier one, when it was removed.
    pub path: String,
    /// Its path in the earlier commit, when it was renamed.
    pub old_path: Option<String>,
    /// What became of it.
    pub change: Change,
    /// Its content in the earlier commit, in hex.
    pub old_id: Option<String>,
    /// Its content in the later commit, in hex.
    pub new_id: Option<String>,
}

/// What lies between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The earlier commit, in hex.
    pub from: String,
    /// The later commit, in hex.
    pub to: String,
    /// The files, by path. Folders and submodules are left out.
    pub files: Vec<ChangedFile>,
    /// So many files came and went that only those with the very same content were taken for renamed.
    pub renames_capped: bool,
}

/// The files that differ between two revisions of the repository at `path`.
pub fn changed_files(path: &Path, from: &str, to: &str) -> Result<Changes, Error> {
    let repository = open(path)?.to_thread_local();
    let missing = |revision: &str| Error::Missing { path: path.to_owned(), what: format!("the commit {revision:?}") };
    let tree_of = |revision: &str| {
        let id = commit_id(&repository, revision).ok_or_else(|| missing(revision))?;
        let tree = repository.find_commit(id).and_then(|commit| commit.tree()).map_err(|_| missing(revision))?;
        Ok::<_, Error>((id.to_string(), tree))
    };
    let ((from, old), (to, new)) = (tree_of(from)?, tree_of(to)?);
    let diff = |rewrites| {
        let mut options = gix::diff::Options::default();
        options.track_path().track_rewrites(rewrites);
        let changes = repository.diff_tree_to_tree(&old, &new, options);
        changes.map_err(|err| Error::Unreadable { path: path.to_owned(), problem: causes(&err) })
    };
    let count = |change: fn(&ChangeDetached) -> bool, all: &[ChangeDetached]| {
        all.iter().filter(|one| is_file(one) && change(one)).count()
    };
    let plain = diff(None)?;
    let added = count(|change| matches!(change, ChangeDetached::Addition { .. }), &plain);
    let removed = count(|change| matches!(change, ChangeDetached::Deletion { .. }), &plain);
    let renames_capped = added.saturating_mul(removed) > RENAME_PAIRS;
    let all = match (added, removed) {
        (0, _) | (_, 0) => plain,
        _ => {
            // Without a percentage, contents must be the same, which needs no comparing.
            let percentage = (!renames_capped).then_some(0.5);
            diff(Some(gix::diff::Rewrites { percentage, limit: 0, ..Default::default() }))?
        }
    };
    let mut files: Vec<ChangedFile> = all.into_iter().filter(is_file).map(changed_file).collect();
    files.sort_unstable();
    Ok(Changes { from, to, files, renames_capped })
}

fn is_file(change: &ChangeDetached) -> bool {
    let mode = match change {
        ChangeDetached::Addition { entry_mode, .. }
        | ChangeDetached::Deletion { entry_mode, .. }
        | ChangeDetached::Modification { entry_mode, .. }
        | ChangeDetached::Rewrite { entry_mode, .. } => entry_mode,
    };
    mode.is_blob_or_symlink()
}

fn changed_file(change: ChangeDetached) -> ChangedFile {
    let text = |path: &gix::bstr::BString| path.to_str_lossy().into_owned();
    match change {
        ChangeDetached::Addition { location, id, .. } => ChangedFile {
            path: text(&location),
            old_path: None,
            change: Change::Added,
            old_id: None,
            new_id: Some(id.to_string()),
        },
        ChangeDetached::Deletion { location, id, .. } => ChangedFile {
            path: text(&location),
            old_path: None,
            change: Change::Removed,
            old_id: Some(id.to_string()),
            new_id: None,
        },
        ChangeDetached::Modification { location, previous_id, id, .. } => ChangedFile {
            path: text(&location),
            old_path: None,
            change: Change::Modified,
            old_id: Some(previous_id.to_string()),
            new_id: Some(id.to_string()),
        },
        ChangeDetached::Rewrite { source_location, source_id, location, id, .. } => ChangedFile {
            path: text(&location),
            old_path: Some(text(&source_location)),
            change: Change::Renamed,
            old_id: Some(source_id.to_string()),
            new_id: Some(id.to_string()),
        },
    }
}

/// Lines that one commit wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blamed {
    /// Which lines, from one.
    pub lines: RangeInclusive<u32>,
    /// The commit, in hex.
    pub commit: String,
    /// Who wrote it.
    pub author: String,
    /// When, in seconds since 1970.
    pub time: i64,
    /// The first line of its message.
    pub title: String,
}

/// Who wrote the lines of a file, as it is in `revision`; all of them, or those in `lines`, which count from one.
pub fn blame(
    path: &Path,
    revision: &str,
    file: &str,
    lines: Option<RangeInclusive<u32>>,
) -> Result<Vec<Blamed>, Error> {
    let repository = open(path)?.to_thread_local();
    let missing = |what: String| Error::Missing { path: path.to_owned(), what };
    let id = commit_id(&repository, revision).ok_or_else(|| missing(format!("the commit {revision:?}")))?;
    let unreadable = |err: &gix::Error| Error::Unreadable { path: path.to_owned(), problem: causes(err) };
    let ranges = match lines {
        Some(lines) => {
            gix::blame::BlameRanges::from_one_based_inclusive_range(lines).map_err(|err| unreadable(&err))?
        }
        None => gix::blame::BlameRanges::default(),
    };
    let options = gix::repository::blame_file::Options {
        diff_algorithm: Some(gix::diff::blob::Algorithm::Histogram),
        ranges,
        since: None,
        rewrites: Some(gix::diff::Rewrites::default()),
    };
    let outcome = repository.blame_file(file.as_bytes().as_bstr(), id, options);
    let outcome = outcome.map_err(|err| missing(format!("{file:?} ({})", causes(&err))))?;
    let mut blamed = Vec::with_capacity(outcome.entries.len());
    for entry in outcome.entries {
        let commit = repository.find_commit(entry.commit_id).map_err(|err| unreadable(&err))?;
        let author = commit.author().map_err(|err| unreadable(&err))?;
        let message = commit.message_raw_sloppy();
        let first = entry.start_in_blamed_file + 1;
        blamed.push(Blamed {
            lines: first..=entry.start_in_blamed_file + entry.len.get(),
            commit: entry.commit_id.to_string(),
            author: author.name.to_str_lossy().into_owned(),
            time: author.seconds(),
            title: message.lines().next().unwrap_or_default().to_str_lossy().trim().to_owned(),
        });
    }
    blamed.sort_by_key(|entry| *entry.lines.start());
    Ok(blamed)
}
