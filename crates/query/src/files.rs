//! Files by their names.

use memchr::memmem::Finder;

use codelode_store::{FileView, Snapshot};

/// Finds files whose paths hold every word of `query` in any case, each with its rank, best first. A name equal to the
/// query comes before one that begins with it, then one that holds it, then other paths. `keep` filters files.
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
    let finders: Vec<Finder<'_>> = words.iter().map(Finder::new).collect();
    // Most paths lack a word, so the loop has to be cheap up to that test.
    let mut lower = String::new();
    let mut rank = |path: &str| {
        lower.clear();
        match path.is_ascii() {
            true => {
                lower.push_str(path);
                lower.make_ascii_lowercase();
            }
            false => lower.push_str(&path.to_lowercase()),
        }
        if !finders.iter().all(|word| word.find(lower.as_bytes()).is_some()) {
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
        // Among equal ranks the shorter path is more likely wanted.
        Some(place << 16 | path.len().min(0xffff) as u32)
    };
    let ranked = snapshot.paths().filter_map(|(path, file)| Some((rank(path)?, path, file)));
    let is_kept = |file: u32| snapshot.file_by_number(file).is_some_and(|file| keep(&file));
    let mut found: Vec<(u32, &str)> =
        ranked.filter(|(.., file)| is_kept(*file)).map(|(rank, path, _)| (rank, path)).collect();
    found.sort_unstable();
    found.into_iter().take(limit).map(|(rank, path)| (rank, path.to_owned())).collect()
}
