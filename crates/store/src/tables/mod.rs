//! Tables of a snapshot: its files, edges and ranks, notes of context providers, and what compilers say of them; and of a
//! store: texts of symbols, their vectors and their summaries.

use std::path::{Path, PathBuf};

pub(super) mod codes;
pub(super) mod compiled;
pub(super) mod edges;
pub(super) mod files;
pub(super) mod notes;
pub(super) mod ranks;
mod sections;
pub(super) mod summaries;
pub(super) mod texts;
pub(super) mod vectors;

/// Paths of the tables that are derived of a snapshot on first use.
pub(super) const DERIVED: [fn(&Path, u64) -> PathBuf; 4] = [edges::path, edges::joined_path, ranks::path, notes::path];

/// Numbers of the files in a store whose names begin like this, descending.
fn numbers(dir: &Path, begin: &str) -> Vec<u64> {
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_prefix(begin)?.parse().ok();
    let mut numbers: Vec<u64> = std::fs::read_dir(dir).into_iter().flatten().flatten().filter_map(number).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    numbers
}
