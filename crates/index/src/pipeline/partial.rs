//! Detection of changes among given paths only, as reported by a watcher.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{Drift, location};
use codelode_base::config::Config;
use codelode_base::model::{SkipReason, on_disk};
use codelode_source::discover::{self, RecordedEntry};
use codelode_store::{FileTable, Row, Snapshot};

/// Reported files that the rules leave out, with the reasons as of the last full walk.
#[derive(Debug, Default)]
pub struct LeftOut {
    known: BTreeMap<String, SkipReason>,
    /// Paths whose reasons are to be determined after the next full walk.
    asked: BTreeSet<String>,
}

/// Maximum number of remembered paths. Editors leave a few; programs that write thousands rarely write the same ones
/// again.
const MOST_LEFT_OUT: usize = 1000;

impl LeftOut {
    /// Whether a path without a row needs no update: it no longer exists, or is left out for the same reason as
    /// before.
    fn changes_nothing(&mut self, root: &Path, path: &str, snapshot: &Snapshot, config: &Config) -> bool {
        let is_there = on_disk(root, path).symlink_metadata().is_ok();
        let before = self.known.get(path).copied();
        let is_as_before = match (before, is_there) {
            (None, is_there) => !is_there,
            (Some(_), false) => false,
            (Some(reason), true) => super::left_out(root, path, snapshot.facts(), config) == Some(reason),
        };
        if !is_as_before {
            self.known.remove(path);
            self.asked.insert(path.to_owned());
        }
        is_as_before
    }

    /// Determines the reasons for reported files without a row. Call it after a full walk.
    pub fn learn(&mut self, root: &Path, snapshot: &Snapshot, config: &Config) {
        let asked = std::mem::take(&mut self.asked);
        let table = snapshot.table();
        for path in asked.into_iter().filter(|path| table.find(path).is_none() && table.input(path).is_none()) {
            if self.known.len() < MOST_LEFT_OUT
                && let Some(reason) = super::left_out(root, &path, snapshot.facts(), config)
            {
                self.known.insert(path, reason);
            }
        }
    }
}

/// Variant of [`super::drift`] for when only these paths, relative to the root, can have changed since the snapshot.
/// Their folders need no check: an editor that writes a temporary file and renames it changes only one file. The few
/// inputs outside the walked folders are always compared.
pub fn drift_of<'p>(
    root: &Path,
    snapshot: &Snapshot,
    paths: impl IntoIterator<Item = &'p str>,
    left_out: &mut LeftOut,
    config: &Config,
) -> Drift {
    let table = snapshot.table();
    let (mut files, mut inputs): (Vec<Row<'_>>, Vec<Row<'_>>) = (Vec::new(), outside(table).collect());
    let mut drift = Drift::default();
    for path in paths {
        let (file, input) = (table.find(path), table.input(path));
        if file.is_none() && input.is_none() {
            drift.elsewhere |= !left_out.changes_nothing(root, path, snapshot, config);
        }
        files.extend(file);
        inputs.extend(input);
    }
    inputs.sort_unstable_by(|one, other| one.path.cmp(other.path));
    inputs.dedup_by(|one, other| one.path == other.path);
    let is_original = location::is_original(root, snapshot.facts());
    let stamps: Vec<RecordedEntry<'_>> = files
        .iter()
        .map(|row| known(*row, false, is_original))
        .chain(inputs.iter().map(|row| known(*row, row.is_dir, is_original)))
        .collect();
    let stamp = |at: usize| stamps.get(at).copied();
    let seen = discover::changes(root, (stamps.len(), &stamp), snapshot.facts().follow_symlinks, 1);
    for (places, names) in [(&seen.changed, &mut drift.changed), (&seen.gone, &mut drift.gone)] {
        for place in places {
            match files.get(*place) {
                Some(row) => names.push(row.path.to_owned()),
                None => drift.elsewhere = true,
            }
        }
    }
    drift
}

/// Inputs of the choice of files that lie in no walked folder: git's index, the excludes of the repository and of the
/// user, ignore files above the root.
fn outside(table: &FileTable) -> impl Iterator<Item = Row<'_>> {
    table.inputs().filter(|row| !row.is_dir && !table.input(folder_of(row.path)).is_some_and(|folder| folder.is_dir))
}

/// Folder of a path; empty for the root.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Converts a row for comparison with the disk. A copied file keeps the modification time of the `original`, but not
/// its change time.
pub(super) fn known(row: Row<'_>, is_dir: bool, is_original: bool) -> RecordedEntry<'_> {
    let Row { path, size, mtime_ns, ctime_ns, .. } = row;
    RecordedEntry { path, size, mtime_ns, ctime_ns: is_original.then_some(ctime_ns), is_dir }
}
