//! The history of a symbol: the commits that changed it, across renames and moves.

use std::collections::{BinaryHeap, HashSet};

use super::between::{Between, Bounds};
use super::changes::{Changes, Version};
use codelode_source::git::{Changed, Content, History, HistoryError, LogEntry};
use codelode_store::{Snapshot, SymbolView};

/// The most commits that are followed.
const MOST: usize = 100_000;
/// The most files of a commit that are searched for the former place of a symbol.
const MOST_FILES: usize = 300;
/// The shortest text, in bytes, whose presence alone proves that the symbol is unchanged.
const TELLING: usize = 40;

/// A commit that changed a symbol.
#[derive(Clone, Debug)]
pub struct Step {
    /// The commit.
    pub commit: LogEntry,
    /// The symbol's id after it.
    pub id: String,
    /// The symbol's id before it, where it differs.
    pub was: Option<String>,
    /// The commit added the symbol.
    pub is_new: bool,
    /// The commit changed the symbol's declaration.
    pub signature_changed: bool,
}

/// The history of a symbol.
#[derive(Debug, Default)]
pub struct SymbolHistory {
    /// The commits, the newest first.
    pub steps: Vec<Step>,
    /// The symbol has uncommitted changes.
    pub is_edited: bool,
    /// Whether the history is complete, or has as many steps as wanted.
    pub is_whole: bool,
}

/// A symbol at a commit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SymbolVersion {
    commit: LogEntry,
    id: String,
    source: Vec<u8>,
}

impl SymbolVersion {
    fn path(&self) -> &str {
        self.id.split_once("::").map_or(&*self.id, |(path, _)| path)
    }
}

/// Follows a symbol back from the current commit. It stops after `wanted` commits, when `is_over` returns true, or when
/// the time of `bounds` is up.
pub fn past(
    history: &History,
    snapshot: &Snapshot,
    symbol: &SymbolView<'_>,
    (wanted, bounds): (usize, &Bounds),
    is_over: &dyn Fn() -> bool,
) -> Result<SymbolHistory, HistoryError> {
    let follower = HistoryWalk { history, snapshot, bounds };
    let mut past = SymbolHistory { is_whole: true, ..SymbolHistory::default() };
    let head = history.commit("HEAD")?;
    let Some(commit) = history.logged(&head) else {
        return Err(HistoryError::Unreadable(format!("the commit {head} cannot be read")));
    };
    let first = SymbolVersion { commit, id: symbol.id(), source: symbol.source().to_vec() };
    let Some(content) = history.content(&head, first.path())? else {
        return Ok(SymbolHistory { is_edited: true, ..past });
    };
    let committed = follower.single(&first, None, content)?;
    let version = committed.changes().added.into_iter().find(|version| version.id == first.id);
    let Some(version) = version else { return Ok(SymbolHistory { is_edited: true, ..past }) };
    past.is_edited = version.source != first.source;
    let mut seen = HashSet::from([head]);
    let mut waiting = BinaryHeap::from([SymbolVersion { source: version.source.to_vec(), ..first }]);
    let mut n_followed = 0;
    while let Some(at) = waiting.pop() {
        n_followed += 1;
        if n_followed > MOST || bounds.is_over() || is_over() {
            past.is_whole = false;
            break;
        }
        match follower.step(&at) {
            // The commit was not read in time and may have changed the symbol, so the history is incomplete.
            Ok(_) if bounds.is_over() => past.is_whole = false,
            Ok((step, before)) => {
                past.steps.extend(step);
                if past.steps.len() >= wanted {
                    break;
                }
                waiting.extend(before.into_iter().filter(|before| seen.insert(before.commit.commit.clone())));
            }
            // A partial clone lacks older objects.
            Err(_) if !past.steps.is_empty() => past.is_whole = false,
            Err(err) => return Err(err),
        }
        past.is_whole &= !at.commit.parents.iter().any(|parent| history.logged(parent).is_none());
    }
    Ok(past)
}

/// Reads commits backwards.
struct HistoryWalk<'a> {
    history: &'a History,
    snapshot: &'a Snapshot,
    bounds: &'a Bounds,
}

impl HistoryWalk<'_> {
    /// The change that a commit made to a symbol, if any, and the symbol before it in each parent with a different
    /// text.
    fn step(&self, at: &SymbolVersion) -> Result<(Option<Step>, Vec<SymbolVersion>), HistoryError> {
        let parents: Vec<LogEntry> = at.commit.parents.iter().filter_map(|id| self.history.logged(id)).collect();
        if parents.len() < at.commit.parents.len() {
            // The parents are beyond the end of a shallow clone, so the changes are unknown.
            return Ok((None, Vec::new()));
        }
        let now = self.history.content(&at.commit.commit, at.path())?;
        let mut differing = Vec::new();
        for parent in parents {
            let was = self.history.content(&parent.commit, at.path())?;
            if was == now || self.holds(was, at)? {
                return Ok((None, vec![SymbolVersion { commit: parent, ..at.clone() }]));
            }
            differing.push((parent, was));
        }
        let before = |commit: LogEntry| SymbolVersion { commit, ..at.clone() };
        if differing.len() > 1 {
            // The parents of a merge differ, so each has a history of its own.
            let there = differing.into_iter().filter(|(_, was)| was.is_some());
            return Ok((None, there.map(|(parent, _)| before(parent)).collect()));
        }
        let (parent, was) = match differing.pop() {
            Some((parent, was)) => (Some(parent), was),
            None => (None, None),
        };
        let Some(now) = now else { return Ok((None, Vec::new())) };
        let mut between = self.single(at, was, now)?;
        let mut moved = None;
        if let Some(parent) = &parent
            && between.changes().added.iter().any(|version| version.id == at.id)
        {
            // The file or the symbol may have moved in this commit.
            let (changed, _) = self.history.changed_or_renamed(&parent.commit, &at.commit.commit)?;
            if changed.len() <= MOST_FILES {
                moved = changed.iter().find(|file| file.path == at.path()).and_then(|file| file.old_path.clone());
                between = Between::commit(self.history, self.snapshot, &at.commit, changed, self.bounds)?;
            }
        }
        Ok(self.read(at, parent, &between.changes(), moved.as_deref()))
    }

    /// Finds the change of one symbol among a commit's changes. `moved` is the former path of its file.
    fn read(
        &self,
        at: &SymbolVersion,
        parent: Option<LogEntry>,
        changes: &Changes<'_>,
        moved: Option<&str>,
    ) -> (Option<Step>, Vec<SymbolVersion>) {
        let is_it = |version: &&Version<'_>| version.id == at.id;
        let pairs = || changes.modified.iter().chain(&changes.renamed);
        let pair = pairs().find(|(_, now)| is_it(&now));
        // A moved file's symbols were paired under its new path.
        let formerly = |id: &str| match moved {
            Some(path) if id.starts_with(at.path()) => format!("{path}{}", &id[at.path().len()..]),
            _ => id.to_owned(),
        };
        let step = |now: Option<&Version<'_>>, was: Option<&Version<'_>>, id: &str, is_new: bool| Step {
            commit: at.commit.clone(),
            id: at.id.clone(),
            was: (!is_new && id != at.id).then(|| id.to_owned()),
            is_new,
            signature_changed: now.zip(was).is_some_and(|(now, was)| was.is_declared_otherwise(now)),
        };
        let before = |id: String, source: &[u8]| -> Vec<SymbolVersion> {
            parent
                .iter()
                .map(|parent| SymbolVersion { commit: parent.clone(), id: id.clone(), source: source.to_vec() })
                .collect()
        };
        if let Some((was, now)) = pair {
            let id = formerly(&was.id);
            // A change of its members alone does not change a class.
            let is_same = id == at.id && was.says_the_same(now);
            let step = (!is_same).then(|| step(Some(now), Some(was), &id, false));
            return (step, before(id, was.source));
        }
        if let Some(now) = changes.added.iter().find(is_it) {
            return (Some(step(Some(now), None, "", true)), Vec::new());
        }
        let id = formerly(&at.id);
        let step = (id != at.id).then(|| step(None, None, &id, false));
        (step, before(id, &at.source))
    }

    /// Whether a file holds exactly the symbol's text and the names around it. Then it need not be parsed.
    fn holds(&self, content: Option<Content>, at: &SymbolVersion) -> Result<bool, HistoryError> {
        let Some(content) = content.filter(|_| at.source.len() >= TELLING) else { return Ok(false) };
        let Some(text) = self.history.read(content, self.bounds.limit())? else { return Ok(false) };
        let holds = |part: &[u8]| memchr::memmem::find(&text, part).is_some();
        let name = at.id.rsplit_once("::").map_or("", |(_, name)| name).split('#').next().unwrap_or_default();
        Ok(holds(&at.source) && name.split('.').all(|part| holds(part.as_bytes())))
    }

    /// The changes of the symbol's own file only.
    fn single(&self, at: &SymbolVersion, old: Option<Content>, new: Content) -> Result<Between, HistoryError> {
        let file = Changed { path: at.path().to_owned(), old_path: None, old, new: Some(new) };
        Between::commit(self.history, self.snapshot, &at.commit, vec![file], self.bounds)
    }
}
