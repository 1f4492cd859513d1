//! Notes of a tool beside its answer: freshness, total number of items, and the size of files it replaced.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::Freshness;

/// Notes of a tool for the envelope.
#[derive(Default)]
pub struct Notes(Mutex<Noted>);

/// Collected notes.
#[derive(Default)]
pub(super) struct Noted {
    pub repo: Option<String>,
    pub freshness: Option<Freshness>,
    pub baseline: BTreeMap<String, u64>,
    pub total: Option<usize>,
    pub count: Option<usize>,
    pub narrow: Option<String>,
    pub found: Option<bool>,
    pub list: Option<&'static str>,
    pub absent: bool,
    pub meta: Map<String, Value>,
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

    /// Sets the freshness of the answer.
    pub fn freshness(&self, freshness: Freshness) {
        self.lock().freshness = Some(freshness);
    }

    /// Adds a file that would have been read whole without this answer, with its size. Each file counts once.
    pub fn baseline(&self, file: &str, bytes: u64) {
        self.lock().baseline.insert(file.to_owned(), bytes);
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
        noted.freshness.filter(|_| !noted.meta.contains_key("folder_missing"))?.doubt()
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

    pub(super) fn into_inner(self) -> Noted {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        // Each note is one assignment, so a panic elsewhere leaves the notes intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
