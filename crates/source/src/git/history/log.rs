//! Commits from a revision on, the newest first, and the files that each of them changed.

use std::collections::{BinaryHeap, HashSet};

use gix::bstr::ByteSlice;

use super::{Changed, Content, Error, History, unreadable};

/// The largest commit read, in bytes. A larger one ends the history.
const LARGEST: u64 = 1 << 20;

/// A commit, as its object says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogEntry {
    /// Time of the commit, in seconds since 1970.
    pub time: i64,
    /// Its id, in hex.
    pub commit: String,
    /// The ids of its parents.
    pub parents: Vec<String>,
    /// The author's name.
    pub author: String,
    /// The author's address.
    pub email: String,
    /// The whole message.
    pub message: String,
}

impl LogEntry {
    /// The first line of the message.
    pub fn subject(&self) -> &str {
        self.message.trim_start().lines().next().unwrap_or_default().trim()
    }
}

/// Commits of a history.
#[derive(Debug, Default)]
pub struct Log {
    /// The commits, the newest first.
    pub commits: Vec<LogEntry>,
    /// Whether all that lead to the revision are among them: there was time, and no parent is missing.
    pub is_whole: bool,
}

impl History {
    /// The commits that lead to a revision, at most `most`. The walk ends early once `is_over` says so.
    pub fn log(&self, revision: &str, most: usize, is_over: &dyn Fn() -> bool) -> Result<Log, Error> {
        let first = self.commit(revision)?;
        let mut log = Log { commits: Vec::new(), is_whole: true };
        let mut seen = HashSet::from([first.clone()]);
        let mut waiting: BinaryHeap<LogEntry> = self.logged(&first).into_iter().collect();
        while let Some(next) = waiting.pop() {
            if log.commits.len() == most || (log.commits.len() % 256 == 255 && is_over()) {
                log.is_whole = false;
                break;
            }
            for parent in &next.parents {
                if seen.insert(parent.clone()) {
                    match self.logged(parent) {
                        Some(parent) => waiting.push(parent),
                        None => log.is_whole = false,
                    }
                }
            }
            log.commits.push(next);
        }
        Ok(log)
    }

    /// A commit by its whole id; `None` where it cannot be read, as beyond the end of a shallow clone.
    pub fn logged(&self, commit: &str) -> Option<LogEntry> {
        let id = gix::ObjectId::from_hex(commit.as_bytes()).ok()?;
        let header = self.repository.try_find_header(id).ok()??;
        if header.size() > LARGEST {
            return None;
        }
        let found = self.repository.find_commit(id).ok()?;
        let author = found.author().ok();
        let (author, email) = author.map_or_else(Default::default, |author| {
            (author.name.to_str_lossy().into_owned(), author.email.to_str_lossy().into_owned())
        });
        Some(LogEntry {
            time: found.time().map_or(0, |time| time.seconds),
            commit: commit.to_owned(),
            parents: found.parent_ids().map(|parent| parent.to_string()).collect(),
            author,
            email,
            message: found.message_raw_sloppy().to_str_lossy().into_owned(),
        })
    }

    /// The files that differ between a commit and its first parent, by path.
    pub fn changed_by(&self, commit: &LogEntry) -> Result<Vec<Changed>, Error> {
        self.compare(commit.parents.first().map(String::as_str), &commit.commit, None)
    }

    /// The content of a file or folder as of a commit; `None` where it does not exist.
    pub fn content(&self, commit: &str, path: &str) -> Result<Option<Content>, Error> {
        let Some(tree) = self.tree(commit)? else { return Ok(None) };
        let entry = tree.lookup_entry_by_path(path).map_err(unreadable)?;
        Ok(entry.map(|entry| Content(entry.object_id())))
    }
}
