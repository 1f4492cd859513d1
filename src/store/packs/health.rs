//! Whether what is read is what was written: each part of a file is compared with its checksum the first time it is used, and
//! what does not agree is remembered until somebody can be told.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::Error;

/// Larger files of the search index are not read whole before the first answer, which would take longer than the answer: they
/// are checked beside it, see [`crate::store::Snapshot::check_the_rest`].
pub const CHECKED_AT_ONCE: u64 = 8 << 20;

/// What is known of the parts of one file.
#[derive(Debug)]
pub struct Health {
    path: PathBuf,
    /// A bit for each part that was found to be right.
    right: Vec<AtomicU64>,
    wrong: OnceLock<String>,
}

impl Health {
    /// Nothing is known yet of so many parts.
    pub fn new(path: &Path, parts: usize) -> Self {
        let right = (0..parts.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { path: path.to_owned(), right, wrong: OnceLock::new() }
    }

    /// Whether a part is right; `check` is asked only the first time.
    pub fn is_right(&self, part: usize, what: &str, check: impl FnOnce() -> bool) -> bool {
        let Some(word) = self.right.get(part / 64) else { return check() };
        let bit = 1 << (part % 64);
        if word.load(Ordering::Relaxed) & bit != 0 {
            return true;
        }
        if check() {
            word.fetch_or(bit, Ordering::Relaxed);
            return true;
        }
        self.is_wrong(&format!("{what} does not match its checksum"));
        false
    }

    /// What was read, or nothing where it is damaged, which is remembered.
    pub fn whole<T: Default>(&self, read: Result<T, Error>) -> T {
        read.unwrap_or_else(|err| {
            self.is_wrong(&match err {
                Error::Damaged { what, .. } => what,
                other => other.to_string(),
            });
            T::default()
        })
    }

    /// Remembers that something is wrong. What is found first is told.
    fn is_wrong(&self, what: &str) {
        if self.wrong.set(what.to_owned()).is_ok() {
            tracing::info!("{} is damaged: {what}", self.path.display());
        }
    }

    /// What was found to be wrong so far.
    pub fn damage(&self) -> Result<(), Error> {
        match self.wrong.get() {
            Some(what) => Err(Error::Damaged { path: self.path.clone(), what: what.clone() }),
            None => Ok(()),
        }
    }
}
