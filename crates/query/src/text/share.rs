//! A shared limit on the memory of syntax trees for large files: dozens of calls may run at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::trees::IsOver;

/// A file up to this size, in bytes, needs no share.
const SMALL: usize = 64 * 1024;
/// The most bytes of larger files whose trees exist at once. A tree may be three hundred times larger than its text.
const MOST: usize = 1_500_000;
/// The interval between checks whether the search is over.
const PAUSE: Duration = Duration::from_millis(20);

/// Bytes of the files that have a share.
static HELD: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// A share for one file, returned on drop.
pub(super) struct Share(usize);

impl Share {
    /// Waits for a share for a file of this size; `None` if the search ends first.
    pub(super) fn of(size: usize, is_over: IsOver<'_>) -> Option<Self> {
        if size <= SMALL {
            return Some(Self(0));
        }
        let size = size.min(MOST);
        let mut held = held();
        while *held + size > MOST {
            if is_over() {
                return None;
            }
            held = FREED.wait_timeout(held, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
        }
        *held += size;
        Some(Self(size))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *held() -= self.0;
        FREED.notify_all();
    }
}

fn held() -> MutexGuard<'static, usize> {
    // Every change is one step, so a panic elsewhere leaves the number intact.
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{MOST, Share};

    #[test]
    fn large_files_wait_for_each_other_until_their_search_is_over() {
        let one = Share::of(MOST + 1, &|| false).expect("nothing is held");
        assert!(Share::of(MOST / 2, &|| true).is_none());
        assert!(Share::of(1_000, &|| true).is_some(), "a small one waits for nobody");
        drop(one);
        assert!(Share::of(MOST / 2, &|| false).is_some());
    }
}
