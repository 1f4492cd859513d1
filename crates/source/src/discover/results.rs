//! Results of a walk, and its final step: rules over all files, and the order of results.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::checkout::{Base, Checkout};
use super::entry::count_files;
use super::folder::Folder;
use super::package::Packages;
use super::{LeftOut, Rules, Walk, limits};
use crate::git::Repository;
use codelode_base::model::{Input, SkipReason, SourceFile, on_disk};

/// The most files counted in all folders that are left out together.
const MOST_COUNTED: u64 = 20_000;
/// The most submodules that a warning names.
const MOST_NAMED: usize = 5;
/// Warnings of one sort that are listed. The rest are counted.
const MAX_WARNINGS: usize = 20;

/// A folder behind a link.
pub(super) struct Link {
    pub(super) folder: Folder,
    /// Whether the link was itself found behind a link.
    pub(super) nested: bool,
}

/// Results so far, of one folder or of all.
#[derive(Default)]
pub(super) struct Results {
    pub(super) files: Vec<SourceFile>,
    pub(super) skipped: [u64; SkipReason::ALL.len()],
    pub(super) inputs: Vec<Input>,
    pub(super) warnings: Vec<String>,
    pub(super) unreadable: Vec<String>,
    /// Files above the size limit that a package may still name.
    pub(super) large: Vec<SourceFile>,
    pub(super) links: Vec<Link>,
    pub(super) checkouts: Vec<Arc<Checkout>>,
    pub(super) left_out: Vec<LeftOut>,
    /// Folders among these that count as one file so far.
    pub(super) folders: Vec<(String, SkipReason)>,
    /// Build output outside of any repository, and what each counts for: kept where there is nothing else.
    pub(super) built: Vec<(Folder, u64)>,
}

impl Results {
    pub(super) fn starting_with(base: &Base) -> Self {
        Self {
            inputs: base.inputs.clone(),
            warnings: base.warnings.clone(),
            checkouts: base.checkout.iter().cloned().collect(),
            ..Self::default()
        }
    }

    /// Leaves out one entry.
    pub(super) fn skip(&mut self, reason: SkipReason, path: &str) {
        self.skip_folder(reason, path, 1);
    }

    /// Counts a left-out folder as this many files.
    pub(super) fn skip_folder(&mut self, reason: SkipReason, path: &str, n_files: u64) {
        self.skipped[reason as usize] += n_files;
        self.left_out.push(LeftOut { path: path.to_owned(), reason });
    }

    /// Leaves out a folder whose files are counted at the end.
    pub(super) fn skip_uncounted(&mut self, reason: SkipReason, path: &str) {
        self.skip(reason, path);
        self.folders.push((path.to_owned(), reason));
    }

    /// Counts the files of the folders that were left out, as far as the bound for all of them goes.
    pub(super) fn count_folders(&mut self, root: &Path) {
        let mut left = MOST_COUNTED;
        self.folders.sort_unstable();
        for (path, reason) in std::mem::take(&mut self.folders) {
            let counted = count_files(&on_disk(root, &path), left);
            left = left.saturating_sub(counted);
            self.skipped[reason as usize] += counted.saturating_sub(1);
        }
    }

    /// Leaves out what git tracks and has not checked out.
    pub(super) fn skip_not_checked_out(&mut self, root: &Path, repository: &Repository) {
        let (sparse, submodules) = repository.not_checked_out();
        let prefix = repository.worktree().and_then(|top| root.strip_prefix(top).ok().map(Path::to_path_buf));
        let Some(prefix) = prefix.filter(|_| !sparse.is_empty() || !submodules.is_empty()) else { return };
        let below = |paths: Vec<String>| -> Vec<String> {
            let own = paths.iter().filter_map(|path| Path::new(path).strip_prefix(&prefix).ok()?.to_str());
            own.map(str::to_owned).collect()
        };
        // There may be a file of that name.
        let made: HashSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        let sparse: Vec<String> = below(sparse).into_iter().filter(|path| !made.contains(path.as_str())).collect();
        let submodules = below(submodules);
        if !sparse.is_empty() {
            let n = sparse.len();
            let what = "tracked files are missing, because the checkout is sparse";
            self.warnings.push(format!("{n} {what}; `git sparse-checkout disable` brings them"));
        }
        if !submodules.is_empty() {
            let named = submodules[..submodules.len().min(MOST_NAMED)].join(", ");
            self.warnings.push(format!("not checked out: {named}; `git submodule update --init` brings submodules"));
        }
        sparse.iter().for_each(|path| self.skip(SkipReason::Missing, path));
        submodules.iter().for_each(|path| self.skip(SkipReason::Submodule, path));
    }

    /// Whether any entry was left out so far.
    pub(super) fn has_skipped(&self) -> bool {
        self.skipped.iter().any(|&count| count > 0)
    }

    pub(super) fn skip_unreadable(&mut self, path: String) {
        self.skip(SkipReason::Unreadable, &path);
        self.unreadable.push(path);
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (sum, count) in self.skipped.iter_mut().zip(other.skipped) {
            *sum += count;
        }
        self.files.extend(other.files);
        self.inputs.extend(other.inputs);
        self.warnings.extend(other.warnings);
        self.unreadable.extend(other.unreadable);
        self.large.extend(other.large);
        self.left_out.extend(other.left_out);
        self.folders.extend(other.folders);
        self.built.extend(other.built);
        self.links.extend(other.links);
        self.checkouts.extend(other.checkouts);
    }

    /// Applies the rules over all files, and sorts everything.
    pub(super) fn finish(mut self, root: &Path, rules: &Rules) -> Walk {
        let mut packages = Packages::default();
        for file in std::mem::take(&mut self.large) {
            if packages.name(root, &file.path) {
                self.files.push(file);
            } else {
                self.skip(SkipReason::TooLarge, &file.path);
            }
        }
        let mut warnings = bounded(self.unreadable, |path| format!("{path} could not be read"), "could not be read");
        warnings.extend(bounded(self.warnings, |warning| warning, "warnings of this sort"));
        let total = self.files.len();
        let mut files = self.files;
        files.sort_unstable();
        if let Some(max) = rules.max_files {
            let before: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
            let cut = limits::cut(&mut files, max);
            if cut > 0 {
                let kept = |path: &String| files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
                let lost = before.into_iter().filter(|path| !kept(path));
                self.left_out.extend(lost.map(|path| LeftOut { path, reason: SkipReason::FileLimit }));
                self.skipped[SkipReason::FileLimit as usize] += cut as u64;
                warnings.push(format!("{max} of {total} files were indexed: the limit max_files"));
            }
        }
        let mut inputs = self.inputs;
        inputs.append(&mut packages.inputs);
        inputs.extend(self.checkouts.iter().filter_map(|checkout| checkout.asked_index(root)));
        inputs.sort_unstable();
        inputs.dedup_by(|one, other| one.path == other.path);
        let counted = SkipReason::ALL.iter().map(|&reason| (reason, self.skipped[reason as usize]));
        let skipped = counted.filter(|&(_, count)| count > 0).collect();
        let mut left_out = self.left_out;
        left_out.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        Walk { files, skipped, left_out, inputs, warnings }
    }
}

/// Lists the first warnings in order, and counts the rest.
fn bounded(mut list: Vec<String>, write: impl Fn(String) -> String, more: &str) -> Vec<String> {
    list.sort_unstable();
    list.dedup();
    let rest = list.len().saturating_sub(MAX_WARNINGS);
    let mut written: Vec<_> = list.into_iter().take(MAX_WARNINGS).map(write).collect();
    if rest > 0 {
        written.push(format!("and {rest} more {more}"));
    }
    written
}
