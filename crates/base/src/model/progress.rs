//! Progress callbacks for long-running work.

/// Progress callback: steps done, total if known, and the current activity.
pub type Progress<'a> = dyn Fn(u64, Option<u64>, &str) + Send + Sync + 'a;

/// No-op callback for work without progress reports.
pub fn unfollowed(_done: u64, _of: Option<u64>, _what: &str) {}
