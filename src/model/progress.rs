//! Progress of long work, told to whoever waits for it.

/// Told how far long work is: done, of how many when that is known, and what is being done.
pub type Progress<'a> = dyn Fn(u64, Option<u64>, &str) + Send + Sync + 'a;

/// For work that nobody follows.
pub fn unfollowed(_done: u64, _of: Option<u64>, _what: &str) {}
