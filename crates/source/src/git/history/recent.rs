//! Recent commits along the first parents, each with the files that it changed.

use super::log::LogEntry;
use super::{Changed, Error, History};

/// A commit with the files that it changed.
#[derive(Clone, Debug)]
pub struct Recent {
    /// The commit.
    pub commit: LogEntry,
    /// The files that differ from its first parent.
    pub files: Vec<Changed>,
}

impl History {
    /// At most `most` commits from one back along the first parents, the newest first. A merge counts as one. Where
    /// the history is cut, as in a shallow clone, it ends. It ends early once `is_over` says so.
    pub fn recent(&self, from: &str, most: usize, is_over: &dyn Fn() -> bool) -> Result<Vec<Recent>, Error> {
        let mut next = self.logged(&self.commit(from)?);
        let mut found = Vec::new();
        while let Some(commit) = next.take().filter(|_| found.len() < most && !is_over()) {
            let Some(parent) = commit.parents.first().and_then(|parent| self.logged(parent)) else { break };
            found.push(Recent { files: self.changed_by(&commit)?, commit });
            next = Some(parent);
        }
        Ok(found)
    }
}
