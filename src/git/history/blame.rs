//! Blame: the last commit that changed each line.

use std::ops::RangeInclusive;
use std::path::Path;

use gix::bstr::ByteSlice;

use super::commit::{causes, commit_id, open};
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
    /// The first line of its message.
    pub title: String,
}

/// The commits that last changed the lines of a file, as of `revision`; for all lines, or for `lines`, which count
/// from one.
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
