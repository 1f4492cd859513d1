//! Blame: the last change of a symbol or of lines, with its author.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use super::indexes::Repo;
use codelode_source::git::{self, Blamed};
use codelode_store::SymbolView;

/// The longest wait of an answer. The history of a file may be long.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most histories read at once, including those whose answers stopped waiting.
const MOST_AT_ONCE: usize = 8;
/// The number of histories being read.
static READING: RunningBlames = RunningBlames(AtomicUsize::new(0));

/// The last change of a text, and its authors.
pub struct Blame {
    /// The newest of its lines.
    pub last: Blamed,
    /// The time of its oldest line, in seconds since 1970.
    pub since: i64,
    /// The number of lines per author.
    pub authors: BTreeMap<String, u32>,
    /// The number of commits in its lines.
    pub commits: usize,
}

/// Blames a symbol. Fails with the reason, in words for people.
pub fn blame(repo: &Repo, symbol: &SymbolView<'_>) -> Result<Blame, String> {
    let text = symbol.source().to_vec();
    let read = move |worktree: &Path, file: &str| git::blame_text(worktree, "HEAD", file, &text);
    let blamed = in_time(repo, symbol.file.path(), read)?.ok_or("it has changed since the last commit")?;
    let last = blamed.iter().max_by_key(|it| it.time).cloned().ok_or("no commit has changed it")?;
    let mut authors: BTreeMap<String, u32> = BTreeMap::new();
    for it in &blamed {
        *authors.entry(it.author.clone()).or_default() += it.lines.end() - it.lines.start() + 1;
    }
    let commits = blamed.iter().map(|it| &it.commit).collect::<HashSet<_>>().len();
    let since = blamed.iter().map(|it| it.time).min().unwrap_or(last.time);
    Ok(Blame { last, since, authors, commits })
}

/// Blames lines of a file at a commit. Fails with the reason, in words for people.
pub fn of_lines(repo: &Repo, commit: &str, path: &str, lines: RangeInclusive<u32>) -> Result<Vec<Blamed>, String> {
    let commit = commit.to_owned();
    in_time(repo, path, move |worktree, file| git::blame(worktree, &commit, file, Some(lines)))
}

/// Reads the history of a file in a checkout. `read` gets the worktree and the path in it. Fails after [`PATIENCE`].
fn in_time<T: Send + 'static>(
    repo: &Repo,
    path: &str,
    read: impl FnOnce(&Path, &str) -> Result<T, git::Error> + Send + 'static,
) -> Result<T, String> {
    let outside = || "its folder is not in a git repository".to_owned();
    let root: PathBuf = repo.root.as_ref().and_then(|root| root.canonicalize().ok()).ok_or_else(outside)?;
    let worktree = git::Repository::open(&root).and_then(|repository| repository.worktree()).ok_or_else(outside)?;
    let below = root.strip_prefix(&worktree).map_err(|_| outside())?;
    let file = below.join(path).to_string_lossy().replace('\\', "/");
    let turn = READING.begin().ok_or("too many histories are being read; try again in a moment")?;
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let _turn = turn;
        _ = sender.send(read(&worktree, &file));
    };
    let begun = std::thread::Builder::new().name("blame".to_owned()).spawn(work);
    begun.map_err(|err| format!("no thread can be started: {err}"))?;
    let found = receiver.recv_timeout(PATIENCE).map_err(|_| "its history takes too long to read".to_owned())?;
    found.map_err(|err| err.to_string())
}

/// The number of running jobs.
struct RunningBlames(AtomicUsize);

/// A running job, counted until this is dropped.
struct BlameGuard(&'static AtomicUsize);

impl RunningBlames {
    fn begin(&'static self) -> Option<BlameGuard> {
        let more = |running: usize| (running < MOST_AT_ONCE).then_some(running + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok().then(|| BlameGuard(&self.0))
    }
}

impl Drop for BlameGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
