//! Notes of a tool beside its answer: freshness, total number of items, and the size of files it replaced.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::Freshness;

/// Lines that somebody reads around a hit who has searched for it with grep.
const WINDOW: u32 = 100;
/// The way of counting what was saved, in `_meta`.
pub(super) const METHOD: &str = "100_lines_a_hit/4";

/// Lines of a file that would have been read without an answer.
#[derive(Default)]
pub(super) struct AvoidedReading {
    /// Bytes and lines of the file.
    size: (usize, u32),
    /// Half-open ranges of lines, from zero.
    lines: Vec<(u32, u32)>,
}

impl AvoidedReading {
    /// Their bytes, at the file's mean length of a line.
    pub fn bytes(&self) -> u64 {
        let mut lines = self.lines.clone();
        lines.sort_unstable();
        let (mut count, mut reached) = (0, 0);
        for (from, to) in lines {
            count += u64::from(to.saturating_sub(from.max(reached)));
            reached = reached.max(to);
        }
        count * self.size.0 as u64 / u64::from(self.size.1.max(1))
    }
}

/// Notes of a tool for the envelope.
#[derive(Default)]
pub struct Notes(Mutex<CollectedNotes>);

/// Collected notes.
#[derive(Default)]
pub(super) struct CollectedNotes {
    pub repo: Option<String>,
    /// Of each repository.
    freshness: BTreeMap<String, Freshness>,
    /// Facts about files that are not up to date, of each repository.
    stale: BTreeMap<String, Map<String, Value>>,
    pub baseline: BTreeMap<String, AvoidedReading>,
    pub total: Option<usize>,
    pub count: Option<usize>,
    pub narrow: Option<String>,
    pub found: Option<bool>,
    pub list: Option<&'static str>,
    pub absent: bool,
    meta: Map<String, Value>,
}

impl CollectedNotes {
    /// The freshness of the answer: the worst of its repositories'.
    pub fn freshness(&self) -> Option<Freshness> {
        self.freshness.values().max().copied()
    }

    /// The facts for `_meta`.
    pub fn take_facts(&mut self) -> Map<String, Value> {
        let mut facts = std::mem::take(&mut self.meta);
        for (key, value) in std::mem::take(&mut self.stale).into_values().flatten() {
            match (facts.get_mut(&key), value) {
                (Some(Value::Array(files)), Value::Array(more)) => files.extend(more),
                (Some(_), _) => {}
                (None, value) => drop(facts.insert(key, value)),
            }
        }
        facts
    }
}

impl Notes {
    /// Sets the list that is cut and counted, for tools where it depends on the arguments.
    pub fn list(&self, list: &'static str) {
        self.lock().list = Some(list);
    }

    /// Sets the queried repository.
    pub fn repo(&self, id: &str) {
        self.lock().repo = Some(id.to_owned());
    }

    /// Sets the freshness of a repository that the answer is made from.
    pub fn freshness(&self, repo: &str, freshness: Freshness) {
        self.lock().freshness.insert(repo.to_owned(), freshness);
    }

    /// Sets the facts for `_meta` about files of a repository that are not up to date, in place of earlier ones.
    pub fn stale(&self, repo: &str, facts: Map<String, Value>) {
        self.lock().stale.insert(repo.to_owned(), facts);
    }

    /// Adds lines of a file, from the first to the last, that would have been read without this answer: a hundred around
    /// the first, or up to the last. Lines count once. `size` is the bytes and lines of the file.
    pub fn baseline(&self, file: &str, size: (usize, u32), (first, last): (u32, u32)) {
        let mut noted = self.lock();
        let unread = noted.baseline.entry(file.to_owned()).or_default();
        unread.size = size;
        unread.lines.push((first.saturating_sub(WINDOW / 2), last.max(first.saturating_add(WINDOW / 2)).min(size.1)));
    }

    /// Adds a fact to `_meta`.
    pub fn note(&self, key: &str, value: impl Into<Value>) {
        self.lock().meta.insert(key.to_owned(), value.into());
    }

    /// A fact noted for `_meta`.
    pub fn noted(&self, key: &str) -> Option<Value> {
        self.lock().meta.get(key).cloned()
    }

    /// Sets the total number of items, including those before the cursor and those cut.
    pub fn total(&self, items: usize) {
        self.lock().total = Some(items);
    }

    /// Sets the answer to `count_only`, when it is not the number of items.
    pub fn count(&self, count: usize) {
        self.lock().count = Some(count);
    }

    /// Sets the hint for a narrower question, shown only when the answer is cut.
    pub fn narrow(&self, how: &str) {
        self.lock().narrow = Some(how.to_owned());
    }

    /// Sets whether anything was found, when the list alone does not tell.
    pub fn found(&self, found: bool) {
        self.lock().found = Some(found);
    }

    /// Sets whether the answer claims of anything that it does not exist or has no users, when an empty list alone does
    /// not tell.
    pub fn absent(&self, absent: bool) {
        self.lock().absent = absent;
    }

    /// Whether the answer claims an absence, where the tool has said so.
    pub fn is_absent(&self) -> bool {
        self.lock().absent
    }

    /// The mark of a claimed absence that newer files may refute.
    pub fn doubt(&self) -> Option<&'static str> {
        let noted = self.lock();
        noted.freshness().filter(|_| !noted.meta.contains_key("folder_missing"))?.doubt()
    }

    /// Key of the list that is cut and counted, where the tool has set it.
    pub fn listed(&self) -> Option<&'static str> {
        self.lock().list
    }

    /// Whether anything was found, where the tool has said so.
    pub fn was_found(&self) -> Option<bool> {
        self.lock().found
    }

    /// Removes a fact from `_meta`.
    pub fn taken_back(&self, key: &str) -> Option<Value> {
        self.lock().meta.remove(key)
    }

    pub(super) fn into_inner(self) -> CollectedNotes {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, CollectedNotes> {
        // Each note is one assignment, so a panic elsewhere leaves the notes intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
