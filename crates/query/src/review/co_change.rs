//! Co-change: files that usually change together with a change, and earlier commits that changed the same symbols.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::Touched;
use crate::{SymbolKey, compare, versions};
use codelode_lang::extract::extract;
use codelode_lang::languages::{self, TimeAtWork};
use codelode_source::git::{Changed, Content, History, LogEntry, Recent};

/// The most commits that are read.
pub const COMMITS: usize = 300;
/// A commit of more files says little about which files belong together.
const MOST_FILES: usize = 40;
/// The fewest common commits, and their smallest share of the changed file's commits.
const LEAST: usize = 3;
const LEAST_SHARE: f64 = 0.4;
/// The weight of a commit relative to the next newer one.
const AGE: f64 = 0.995;
/// The most commits compared symbol by symbol, per file and in total.
const EACH: usize = 4;
const COMPARED: usize = 60;
/// The most processor time for these comparisons, because old texts may be hostile too.
const MOST_TIME: Duration = Duration::from_secs(3);

/// A file that usually changes with a changed file, but did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoChange {
    /// Its path.
    pub path: String,
    /// The changed file.
    pub with: String,
    /// The number of commits that changed both.
    pub both: usize,
    /// The number of commits that changed the changed file.
    pub of: usize,
}

/// The files that usually change with the `changed` files and are not among them, most certain first.
pub fn together(commits: &[Recent], changed: &[&str], still_there: impl Fn(&str) -> bool) -> Vec<CoChange> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for commit in commits.iter().filter(|commit| commit.files.len() <= MOST_FILES) {
        let paths: Vec<&str> = commit.files.iter().map(|file| file.path.as_str()).collect();
        for own in paths.iter().filter(|path| changed.contains(path)) {
            *counts.entry(*own).or_default() += 1;
            for other in paths.iter().filter(|path| !changed.contains(path)) {
                *pairs.entry((*other, *own)).or_default() += 1;
            }
        }
    }
    let mut best: BTreeMap<&str, CoChange> = BTreeMap::new();
    for ((path, with), both) in pairs {
        let of = counts[with];
        let share = both as f64 / of as f64;
        if both < LEAST || share < LEAST_SHARE || !still_there(path) {
            continue;
        }
        let found = CoChange { path: path.to_owned(), with: with.to_owned(), both, of };
        match best.get(path) {
            Some(known) if known.both * of >= both * known.of => {}
            _ => drop(best.insert(path, found)),
        }
    }
    let mut found: Vec<CoChange> = best.into_values().collect();
    found.sort_by(|a, b| (b.both * a.of).cmp(&(a.both * b.of)).then(b.both.cmp(&a.both)).then(a.path.cmp(&b.path)));
    found
}

/// The weight of each file that recently changed with the `changed` files. Small and recent commits count more.
pub fn companions(commits: &[Recent], changed: &[&str]) -> Vec<(String, f64)> {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    for (age, commit) in commits.iter().enumerate().filter(|(_, commit)| commit.files.len() <= MOST_FILES) {
        if commit.files.iter().any(|file| changed.contains(&file.path.as_str())) {
            let weight = AGE.powi(age as i32) / (commit.files.len() as f64).sqrt();
            commit.files.iter().for_each(|file| *weights.entry(&file.path).or_default() += weight);
        }
    }
    weights.into_iter().map(|(path, weight)| (path.to_owned(), weight)).collect()
}

/// An earlier commit that changed touched symbols.
pub struct Before<'r> {
    /// The commit.
    pub commit: &'r LogEntry,
    /// The qualified names of these symbols.
    pub symbols: Vec<String>,
}

/// The last commits that changed the touched symbols, newest first. Each symbol counts for its last commit only.
pub fn before<'r>(
    history: &History,
    commits: &'r [Recent],
    touched: &[Touched<'_, '_>],
    limit: u64,
) -> Vec<Before<'r>> {
    let mut wanted: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for was in touched.iter().filter(|touched| !touched.is_of_test()).filter_map(|touched| touched.was) {
        wanted.entry(was.file).or_default().insert(&was.id);
    }
    let (mut compared, mut each): (usize, HashMap<&str, usize>) = (0, HashMap::new());
    let mut found = Vec::new();
    let time = TimeAtWork::begin();
    for commit in commits {
        let mut symbols = Vec::new();
        for file in &commit.files {
            let Some((path, ids)) = wanted.get_key_value(file.path.as_str()) else { continue };
            let n_of_file = each.entry(*path).or_default();
            if ids.is_empty() || *n_of_file >= EACH || compared >= COMPARED || time.taken() > MOST_TIME {
                continue;
            }
            *n_of_file += 1;
            compared += 1;
            let changed = changed_ids(history, file, limit);
            let ids = wanted.get_mut(file.path.as_str()).expect("it was found above");
            for (id, name) in changed {
                if ids.remove(id.as_str()) {
                    symbols.push(name);
                }
            }
        }
        if !symbols.is_empty() {
            found.push(Before { commit: &commit.commit, symbols });
        }
    }
    found
}

/// The symbols of a file that a commit changed: their ids and qualified names.
fn changed_ids(history: &History, file: &Changed, limit: u64) -> Vec<(String, String)> {
    let read = |content: Option<Content>| {
        content.and_then(|content| history.read(content, limit).ok().flatten()).unwrap_or_default()
    };
    let (old, new) = (read(file.old), read(file.new));
    let Some((_, spec)) = languages::of_file(&file.path, &new) else { return Vec::new() };
    let both = [extract(spec, &old), extract(spec, &new)];
    let changes = compare(versions(&file.path, &old, &both[0]), versions(&file.path, &new, &both[1]), SymbolKey::Place);
    let modified = changes.modified.iter().filter(|(was, now)| !was.says_the_same(now)).map(|(_, now)| now);
    let all = modified.chain(&changes.added).chain(changes.renamed.iter().map(|(_, now)| now));
    all.map(|version| (version.id.clone(), version.qualified_name.clone())).collect()
}
