//! Blame of symbols for answers: who changed their lines last, and the files that usually change in the same commits.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::indexes::{Repo, timestamp};
use super::{Call, history};
use crate::catalog::blame;
use codelode_query::Recent;
use codelode_query::review::{self, CoChange};
use codelode_store::SymbolView;

/// The most files that usually change too.
const MOST_TOGETHER: usize = 5;

/// Last change of a symbol's lines, as of the checked-out commit.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Blame {
    #[serde(skip_serializing_if = "Option::is_none")]
    last_author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_changed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Date of the symbol's oldest line.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// Number of commits that the symbol's lines come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    commits: Option<usize>,
    /// Number of the symbol's lines, by author.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lines_by_author: BTreeMap<String, u32>,
    /// Files that usually change together with the symbol's file, in the last 300 commits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    usually_changed_too: Vec<Together>,
    /// Why git could not say more.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// A file that usually changes with the symbol's file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Together {
    file: String,
    /// Number of commits that changed both files.
    both: usize,
    of: usize,
}

/// Blame of the symbols of one answer.
pub struct Blaming<'c, 'r> {
    call: &'c Call<'c>,
    repo: &'r Repo,
    /// The last commits, read for the first symbol that has a blame.
    recent: OnceCell<Vec<Recent>>,
}

impl<'c, 'r> Blaming<'c, 'r> {
    /// Begins; nothing is read yet.
    pub fn new(call: &'c Call<'c>, repo: &'r Repo) -> Self {
        Self { call, repo, recent: OnceCell::new() }
    }

    /// The blame of a symbol, or why there is none.
    pub fn of(&self, symbol: &SymbolView<'_>) -> Blame {
        match blame::blame(self.repo, symbol) {
            Ok(blame) => Blame {
                last_author: Some(blame.last.author),
                last_changed: Some(timestamp(blame.last.time)),
                last_commit: Some(blame.last.commit),
                subject: Some(blame.last.title),
                since: Some(timestamp(blame.since)),
                commits: Some(blame.commits),
                lines_by_author: blame.authors,
                usually_changed_too: self.together(symbol.file.path()),
                problem: None,
            },
            Err(problem) => Blame { problem: Some(problem), ..Blame::default() },
        }
    }

    fn together(&self, path: &str) -> Vec<Together> {
        let read = || {
            let (_, history) = history::open(self.call, self.repo).ok()?;
            history.recent("HEAD", review::COMMITS, &history::is_over(self.call)).ok()
        };
        let commits = self.recent.get_or_init(|| read().unwrap_or_default());
        let found = review::together(commits, &[path], |path| self.repo.snapshot.file(path).is_some());
        let found = found.into_iter().take(MOST_TOGETHER);
        found.map(|CoChange { path, both, of, .. }| Together { file: path, both, of }).collect()
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.last_author.as_ref().zip(self.last_changed.as_ref()).zip(self.last_commit.as_ref());
        let Some(((author, time), commit)) = known else {
            return write!(f, "No blame: {}.", self.problem.as_deref().unwrap_or("it is not known"));
        };
        write!(f, "Last changed by {author}, {time}, in {commit}: {}", self.subject.as_deref().unwrap_or_default())?;
        let files: Vec<&str> = self.usually_changed_too.iter().map(|other| other.file.as_str()).collect();
        if files.is_empty() { Ok(()) } else { write!(f, "\n\nUsually changed too: {}", files.join(", ")) }
    }
}
