//! Blame of a symbol: who changed its lines last, as of the checked-out commit.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use super::indexes::Repo;
use crate::git::{self, Blamed};
use crate::store::SymbolView;

/// Time that an answer waits. The history of a file may be long.
const PATIENCE: Duration = Duration::from_secs(5);

/// The last change of a text, and those who wrote it.
pub struct Blame {
    /// The newest of its lines.
    pub last: Blamed,
    /// The oldest time of a line, in seconds since 1970.
    pub since: i64,
    /// Lines of each author.
    pub authors: BTreeMap<String, u32>,
    /// Number of commits that its lines are of.
    pub commits: usize,
}

/// Blames a symbol, or says why that cannot be done.
pub fn blame(repo: &Repo, symbol: &SymbolView<'_>) -> Result<Blame, String> {
    let outside = || "its folder is in no git repository here".to_owned();
    let root: PathBuf = repo.root.as_ref().and_then(|root| root.canonicalize().ok()).ok_or_else(outside)?;
    let worktree = git::Repository::open(&root).and_then(|repository| repository.worktree()).ok_or_else(outside)?;
    let below = root.strip_prefix(&worktree).map_err(|_| outside())?;
    let file = below.join(symbol.file.path()).to_string_lossy().replace('\\', "/");
    let text = symbol.source().to_vec();
    let (sender, receiver) = mpsc::channel();
    let work = move || _ = sender.send(git::blame_text(&worktree, "HEAD", &file, &text));
    let begun = std::thread::Builder::new().name("blame".to_owned()).spawn(work);
    begun.map_err(|err| format!("no thread can be started: {err}"))?;
    let blamed = receiver.recv_timeout(PATIENCE).map_err(|_| "its history takes too long to read".to_owned())?;
    let blamed = blamed.map_err(|err| err.to_string())?.ok_or("it has changed since the last commit")?;
    let last = blamed.iter().max_by_key(|it| it.time).cloned().ok_or("no commit has changed it")?;
    let mut authors: BTreeMap<String, u32> = BTreeMap::new();
    for it in &blamed {
        *authors.entry(it.author.clone()).or_default() += it.lines.end() - it.lines.start() + 1;
    }
    let commits = blamed.iter().map(|it| &it.commit).collect::<HashSet<_>>().len();
    let since = blamed.iter().map(|it| it.time).min().unwrap_or(last.time);
    Ok(Blame { last, since, authors, commits })
}
