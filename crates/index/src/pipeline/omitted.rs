//! Files that an index leaves out, with reasons.

use std::path::Path;

use super::{Error, of_project, rules};
use codelode_base::config::Config;
use codelode_base::model::{SkipReason, on_disk};
use codelode_lang::languages;
use codelode_source::discover;
use codelode_source::git;
use codelode_store::{Snapshot, SnapshotFacts};

/// The reason why the rules leave a file out; `None` for a missing or included file.
pub fn left_out(root: &Path, path: &str, facts: &SnapshotFacts, config: &Config) -> Option<SkipReason> {
    let mut rules = rules(&of_project(root, config).config);
    rules.extra_ignore.extend(facts.extra_ignore.iter().cloned());
    rules.follow_symlinks = facts.follow_symlinks;
    match discover::decide(root, path, &rules) {
        Ok(discover::Decision::Skipped(reason)) => Some(reason),
        Ok(discover::Decision::Missing) if is_not_checked_out(root, path) => Some(SkipReason::Missing),
        _ => None,
    }
}

/// Whether a sparse checkout leaves out a tracked file.
fn is_not_checked_out(root: &Path, path: &str) -> bool {
    let place = on_disk(root, path);
    let Some(repository) = git::Repository::open(root) else { return false };
    let relative = repository.worktree().and_then(|top| place.strip_prefix(top).ok()?.to_str().map(str::to_owned));
    relative.is_some_and(|relative| repository.leaves_out(&relative))
}

/// An entry that an index leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// Relative to the root; a folder ends with `/`.
    pub path: String,
    /// The rule that leaves it out.
    pub reason: SkipReason,
    /// The number of files in a folder, as far as counted.
    pub files: Option<u64>,
}

/// Entries that the rules leave out.
fn by_rule(
    root: &Path,
    snapshot: &Snapshot,
    config: &Config,
) -> Result<impl Iterator<Item = (String, SkipReason)>, Error> {
    let mut rules = rules(&of_project(root, config).config);
    rules.extra_ignore.extend(snapshot.facts().extra_ignore.iter().cloned());
    rules.follow_symlinks = snapshot.facts().follow_symlinks;
    Ok(discover::walk(root, &rules)?.left_out.into_iter().map(|left| (left.path, left.reason)))
}

/// Code files above the size limit, by path, which may use indexed symbols. At most 32 files of at most 8 MB;
/// unreadable ones are skipped.
pub fn large_sources(root: &Path, snapshot: &Snapshot, config: &Config) -> Result<Vec<(String, Vec<u8>)>, Error> {
    const MOST: usize = 32;
    const LARGEST: u64 = 8 << 20;
    if !snapshot.facts().skipped.contains_key(SkipReason::TooLarge.as_str()) {
        return Ok(Vec::new());
    }
    let paths = by_rule(root, snapshot, config)?.filter(|(_, reason)| *reason == SkipReason::TooLarge);
    let sources =
        paths.map(|(path, _)| path).filter(|path| languages::of_path(path).is_some_and(|own| own.relating.is_some()));
    let read = |path: String| {
        let place = on_disk(root, &path);
        let is_small = place.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() <= LARGEST);
        let text = is_small.then(|| std::fs::read(place).ok()).flatten()?;
        Some((path, text))
    };
    Ok(sources.take(MOST).filter_map(read).collect())
}

/// All entries that an index leaves out, by path: by rule, and files found to be binary.
pub fn all_left_out(root: &Path, snapshot: &Snapshot, config: &Config) -> Result<Vec<Omitted>, Error> {
    let by_rule = by_rule(root, snapshot, config)?;
    let unread = snapshot.table().iter().filter_map(|row| Some((row.path.to_owned(), row.state.err()?)));
    let mut all: Vec<(String, SkipReason)> = by_rule.chain(unread).collect();
    all.sort_unstable();
    let counted = all.into_iter().map(|(path, reason)| {
        let place = on_disk(root, &path);
        match place.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            true => Omitted {
                path: format!("{path}/"),
                reason,
                files: Some(discover::count_files(&place, discover::MOST_COUNTED)),
            },
            false => Omitted { path, reason, files: None },
        }
    });
    Ok(counted.collect())
}
