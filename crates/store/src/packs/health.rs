//! Verification on use: each part of a file is compared with its checksum on first use, and damage is recorded until
//! it can be reported.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// Largest file of the search index that is verified before the first answer. Larger ones would delay it, so they are
/// verified in the background, see [`crate::Snapshot::check_the_rest`].
pub const CHECKED_AT_ONCE: u64 = 8 << 20;

/// Verification state of one file.
#[derive(Debug)]
pub struct Health {
    path: PathBuf,
    /// Bit set of the verified parts.
    right: Vec<AtomicU64>,
    wrong: OnceLock<String>,
}

impl Health {
    /// Creates the state of a file with this many unverified parts.
    pub fn new(path: &Path, parts: usize) -> Self {
        let right = (0..parts.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Self { path: path.to_owned(), right, wrong: OnceLock::new() }
    }

    /// Whether a part is intact; `check` runs only the first time.
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

    /// Unwraps a result; damage is recorded and gives an empty value.
    pub fn whole<T: Default>(&self, read: Result<T, Error>) -> T {
        read.unwrap_or_else(|err| {
            self.is_wrong(&match err {
                Error::Damaged { what, .. } => what,
                other => other.to_string(),
            });
            T::default()
        })
    }

    /// Records damage. Only the first finding is kept.
    fn is_wrong(&self, what: &str) {
        if self.wrong.set(what.to_owned()).is_ok() {
            tracing::info!("{} is damaged: {what}", self.path.display());
        }
    }

    /// Damage found so far.
    pub fn damage(&self) -> Result<(), Error> {
        match self.wrong.get() {
            Some(what) => Err(Error::Damaged { path: self.path.clone(), what: what.clone() }),
            None => Ok(()),
        }
    }
}
