//! Files by their names.

use crate::store::{FileView, Snapshot};

/// The files whose paths hold every word of a query in any case, best first: named like it, beginning with it, holding it
/// in their name, then in their path; each with its rank. `keep` says which files count.
pub fn files_like(
    snapshot: &Snapshot,
    query: &str,
    keep: &dyn Fn(&FileView<'_>) -> bool,
    limit: usize,
) -> Vec<(u32, String)> {
    let whole = query.trim().to_lowercase();
    let words: Vec<&str> = whole.split_whitespace().collect();
    if words.is_empty() {
        return Vec::new();
    }
    let rank = |path: &str| {
        let lower = path.to_lowercase();
        if !words.iter().all(|word| lower.contains(word)) {
            return None;
        }
        let name = lower.rsplit('/').next().unwrap_or(&lower);
        let stem = name.split('.').next().unwrap_or(name);
        let place = match () {
            () if name == whole || lower == whole => 0,
            () if stem == whole => 1,
            () if name.starts_with(&whole) => 2,
            () if words.iter().all(|word| name.contains(word)) => 3,
            () => 4,
        };
        // Of equal ones the shorter path is the more likely.
        Some(place << 16 | path.len().min(0xffff) as u32)
    };
    let ranked = snapshot.files().filter_map(|file| Some((rank(file.path())?, file)));
    let mut found: Vec<(u32, &str)> =
        ranked.filter(|(_, file)| keep(file)).map(|(rank, file)| (rank, file.path())).collect();
    found.sort_unstable();
    found.into_iter().take(limit).map(|(rank, path)| (rank, path.to_owned())).collect()
}
