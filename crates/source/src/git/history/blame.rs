//! Blame: the last commit that changed each line.

use std::ops::RangeInclusive;
use std::path::Path;

use gix::bstr::ByteSlice;

use super::commit::{causes, open};
use super::listing;
use super::revision::{commit_id, peel};
use super::sound::Depth;
use crate::git::Error;

/// Lines last changed by one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blamed {
    /// The lines, from one.
    pub lines: RangeInclusive<u32>,
    /// The commit, in hex.
    pub commit: String,
    /// Its author.
    pub author: String,
    /// Its time, in seconds since 1970.
    pub time: i64,
    /// First line of its message.
    pub title: String,
}

/// The commits that last changed the lines of a file, as of `revision`; for all lines, or for `lines`, which count
/// from one. Lines beyond its end are left out.
pub fn blame(
    path: &Path,
    revision: &str,
    file: &str,
    lines: Option<RangeInclusive<u32>>,
) -> Result<Vec<Blamed>, Error> {
    let repository = open(path, Depth::Everything)?.to_thread_local();
    let missing = |what: String| Error::Missing { path: path.to_owned(), what };
    let id = commit_id(&repository, revision).ok_or_else(|| missing(format!("the commit {revision:?}")))?;
    let unreadable = |err: &gix::Error| Error::Unreadable { path: path.to_owned(), problem: causes(err) };
    let ranges = match lines {
        Some(lines) => {
            // The library goes on beyond the end.
            let last = count_lines(&repository, id, file).map_or(*lines.end(), |count| count.min(*lines.end()));
            if last < *lines.start() {
                return Ok(Vec::new());
            }
            let lines = *lines.start()..=last;
            gix::blame::BlameRanges::from_one_based_inclusive_range(lines).map_err(|err| unreadable(&err))?
        }
        None => gix::blame::BlameRanges::default(),
    };
    let options = gix::blame::Options {
        diff_algorithm: gix::diff::blob::Algorithm::Histogram,
        ranges,
        since: None,
        rewrites: Some(gix::diff::Rewrites::default()),
        debug_track_path: false,
    };
    let graph = repository.commit_graph_if_enabled().map_err(|err| unreadable(&err))?;
    let mut cache = listing::comparing(&repository).map_err(|err| unreadable(&err))?;
    let (start, file_path) = (gix::blame::Start::Commit(id), file.as_bytes().as_bstr());
    let outcome = gix::blame::file(&repository.objects, start, graph, &mut cache, file_path, options);
    let what = |err: &gix::Error| match repository.is_shallow().unwrap_or(false) {
        true => format!("an older commit that changed {file:?}"),
        false => format!("{file:?} ({})", causes(err)),
    };
    let outcome = outcome.map_err(|err| missing(what(&err)))?;
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

/// Like [`blame`], of a text that a file holds as of `revision`; `None` when the file does not hold it, or more than once.
pub fn blame_text(path: &Path, revision: &str, file: &str, text: &[u8]) -> Result<Option<Vec<Blamed>>, Error> {
    let repository = open(path, Depth::Everything)?.to_thread_local();
    let missing = || Error::Missing { path: path.to_owned(), what: format!("the commit {revision:?}") };
    let id = commit_id(&repository, revision).ok_or_else(missing)?;
    let Some(content) = content(&repository, id, file) else { return Ok(None) };
    let mut places = memchr::memmem::find_iter(&content, text);
    let (Some(start), None) = (places.next(), places.next()) else { return Ok(None) };
    let line = |at: usize| 1 + memchr::memchr_iter(b'\n', &content[..at]).count() as u32;
    let last = start + text.trim_ascii_end().len().max(1) - 1;
    blame(path, revision, file, Some(line(start)..=line(last))).map(Some)
}

/// Number of lines of a file in a commit.
fn count_lines(repository: &gix::Repository, commit: gix::ObjectId, file: &str) -> Option<u32> {
    content(repository, commit, file)?.lines().count().try_into().ok()
}

/// Content of a file in a commit.
fn content(repository: &gix::Repository, commit: gix::ObjectId, file: &str) -> Option<Vec<u8>> {
    let tree = repository.find_tree(peel(repository, commit, gix::objs::Kind::Tree)?).ok()?;
    let entry = tree.lookup_entry_by_path(file).ok()??;
    Some(repository.find_object(entry.object_id()).ok()?.data.clone())
}
