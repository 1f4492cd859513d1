//! What a tool says beside its answer: how fresh it is, how many items there are, what would have been read without it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

use super::Freshness;

/// What a tool tells the door beside its answer.
#[derive(Default)]
pub struct Notes(Mutex<Noted>);

/// The same, one field for each sort.
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
    pub meta: Map<String, Value>,
}

impl Notes {
    /// The list that is cut and counted, where the arguments say which.
    pub fn list(&self, list: &'static str) {
        self.lock().list = Some(list);
    }

    /// The repository that was asked.
    pub fn repo(&self, id: &str) {
        self.lock().repo = Some(id.to_owned());
    }

    /// How the answer stands to the files it speaks of.
    pub fn freshness(&self, freshness: Freshness) {
        self.lock().freshness = Some(freshness);
    }

    /// A file that would have been read whole without this answer, and its bytes. Each counts once.
    pub fn baseline(&self, file: &str, bytes: u64) {
        self.lock().baseline.insert(file.to_owned(), bytes);
    }

    /// One more fact for `_meta`.
    pub fn note(&self, key: &str, value: impl Into<Value>) {
        self.lock().meta.insert(key.to_owned(), value.into());
    }

    /// A fact that was noted for `_meta`.
    pub fn noted(&self, key: &str) -> Option<Value> {
        self.lock().meta.get(key).cloned()
    }

    /// How many items there are in all, those before the cursor and those not given included.
    pub fn total(&self, items: usize) {
        self.lock().total = Some(items);
    }

    /// What `count_only` answers where it is not the number of items.
    pub fn count(&self, count: usize) {
        self.lock().count = Some(count);
    }

    /// How to ask for less, said only when the answer is cut.
    pub fn narrow(&self, how: &str) {
        self.lock().narrow = Some(how.to_owned());
    }

    /// Whether something was found, where it is not whether the list holds anything.
    pub fn found(&self, found: bool) {
        self.lock().found = Some(found);
    }

    /// Takes back one fact of `_meta`.
    pub fn taken_back(&self, key: &str) -> Option<Value> {
        self.lock().meta.remove(key)
    }

    pub(super) fn into_inner(self) -> Noted {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        // A note is one assignment, so a panic beside it leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
