//! The change that a tool is about: two states of a checkout, compared, with the relations of the present files.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::answer::Freshness;
use crate::catalog::errors::history_error;
use crate::parts::indexes::Repo;
use crate::parts::{Call, Error, history, related};
use codelode_query::review::COMMITS;
use codelode_query::{Between, ComparisonEnd, History, Recent};

/// A change as it is asked for: `BASE..HEAD`, `BASE...HEAD`, or two arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedChange {
    /// Commit before the change.
    pub base: String,
    /// The commit after it; `None` for the working tree.
    pub head: Option<String>,
    /// Whether the change begins where the two lines of history part.
    pub from_fork: bool,
    /// Whether the change is what is staged.
    pub staged: bool,
}

/// Maximum wait for changed files to be read.
const READING: Duration = Duration::from_secs(10);
/// Time between two looks at whether they have been.
const PAUSE: Duration = Duration::from_millis(20);
/// The name of the current files, beside commits.
const WORKTREE: &str = "WORKTREE";

impl RequestedChange {
    /// Reads the arguments of a tool.
    pub fn of(base: Option<&str>, head: Option<&str>, staged: bool) -> Result<Self, Error> {
        let invalid = |message: &str| Err(Error::invalid_arguments(message));
        let base = base.unwrap_or("HEAD");
        if staged && head.is_some() {
            return invalid("staged changes have no head; omit `head`");
        }
        let (start, end, from_fork) = match (base.split_once("..."), base.split_once("..")) {
            (Some((start, end)), _) => (start, end, true),
            (None, Some((start, end))) => (start, end, false),
            (None, None) => return Ok(Self { head: named(head), staged, ..Self::from(base) }),
        };
        if end.starts_with('.') || head.is_some() || staged {
            return invalid("give a range as BASE..HEAD or BASE...HEAD, without another head");
        }
        let end = if end.is_empty() { "HEAD" } else { end };
        Ok(Self { head: named(Some(end)), from_fork, ..Self::from(start) })
    }

    fn from(base: &str) -> Self {
        Self { base: if base.is_empty() { "HEAD".to_owned() } else { base.to_owned() }, ..Self::default() }
    }
}

/// A commit; `None` for the working tree.
fn named(head: Option<&str>) -> Option<String> {
    head.filter(|head| !head.eq_ignore_ascii_case(WORKTREE)).map(str::to_owned)
}

/// A change that was read.
pub struct ChangeSet {
    /// The checkout with its present files.
    pub repo: Repo,
    /// The history of its folder.
    pub history: History,
    /// The files that differ.
    pub between: Between,
    /// The name of the end: a commit, `WORKTREE` or `STAGED`.
    pub head: String,
}

impl ChangeSet {
    /// Reads a change of a repository.
    pub fn read(call: &Call<'_>, repo: Option<&str>, asked: &RequestedChange) -> Result<Self, Error> {
        let repo = open_current(call, repo)?;
        let (root, history) = history::open(call, &repo)?;
        let between = between(call, &repo, &history, root, asked)?;
        if history.hidden() > 0 {
            call.note("secret_files_left_out", history.hidden());
        }
        let head = match &between.until {
            Some(commit) => commit.clone(),
            None => if asked.staged { "STAGED" } else { WORKTREE }.to_owned(),
        };
        if between.until.is_some() && between.until != repo.head() {
            call.note("hint", "another commit is checked out: callers and tests are from the current files");
        }
        Ok(Self { repo, history, between, head })
    }

    /// The last commits before the change, as far as there is time; none where the history cannot be read.
    pub fn commits(&self, call: &Call<'_>) -> Vec<Recent> {
        self.history.recent(&self.between.since, COMMITS, &history::is_over(call)).unwrap_or_default()
    }
}

/// Opens a repository once changed files have been read: tests and callers of what was not read would be missing, which
/// nobody who runs the tests would see. An answer that could not wait says so.
fn open_current(call: &Call<'_>, repo: Option<&str>) -> Result<Repo, Error> {
    let until = Instant::now() + READING;
    loop {
        let opened = related::open_now(call, repo)?;
        if opened.freshness != Some(Freshness::Indexing) || call.request.is_cancelled() {
            return Ok(opened);
        }
        if Instant::now() >= until {
            call.note("hint", "changed files are still being read: callers and tests may be missing; ask again");
            return Ok(opened);
        }
        thread::sleep(PAUSE);
    }
}

fn between(
    call: &Call<'_>,
    repo: &Repo,
    history: &History,
    root: &Path,
    asked: &RequestedChange,
) -> Result<Between, Error> {
    let until = match (&asked.head, asked.staged) {
        (Some(head), _) => ComparisonEnd::Commit(head),
        (None, true) => ComparisonEnd::Staged,
        (None, false) => ComparisonEnd::Worktree,
    };
    let base = match asked.from_fork {
        true => history.fork(&asked.base, asked.head.as_deref().unwrap_or("HEAD")).map_err(history_error)?,
        false => asked.base.clone(),
    };
    let limit = call.config.max_file_size;
    Between::read(history, &repo.snapshot, root, (&base, until), limit).map_err(history_error)
}

#[cfg(test)]
mod tests {
    use super::RequestedChange;

    #[test]
    fn ranges_are_read_as_git_reads_them() {
        let of = |base, head| {
            let asked = RequestedChange::of(base, head, false).expect("it is a range");
            (asked.base, asked.head, asked.from_fork)
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(of(None, None), ("HEAD".to_owned(), None, false));
        assert_eq!(of(Some("main"), None), ("main".to_owned(), None, false));
        assert_eq!(of(Some("main..topic"), None), ("main".to_owned(), text("topic"), false));
        assert_eq!(of(Some("main...topic"), None), ("main".to_owned(), text("topic"), true));
        assert_eq!(of(Some("..topic"), None), ("HEAD".to_owned(), text("topic"), false));
        assert_eq!(of(Some("main.."), None), ("main".to_owned(), text("HEAD"), false));
        assert_eq!(of(Some("main"), Some("worktree")), ("main".to_owned(), None, false));
        assert!(RequestedChange::of(Some("a....b"), None, false).is_err());
        assert!(RequestedChange::of(None, Some("HEAD"), true).is_err());
    }
}
