//! What changed among some paths only, for whoever was told which.

use std::path::Path;

use super::Drift;
use crate::discover::{self, Known};
use crate::store::{FileTable, Row, Snapshot};

/// The same as [`super::drift`] when nothing but these paths, relative to the root, can have changed since the snapshot was
/// made. Each is compared where it is known, and so is the folder that holds it, for what is new there. What lies outside
/// the folders that a walk enters is compared always: there is little of it.
pub fn drift_of<'p>(root: &Path, snapshot: &Snapshot, paths: impl IntoIterator<Item = &'p str>) -> Drift {
    let table = snapshot.table();
    let (mut files, mut inputs): (Vec<Row<'_>>, Vec<Row<'_>>) = (Vec::new(), outside(table).collect());
    for path in paths {
        files.extend(table.find(path));
        inputs.extend([path, folder_of(path)].iter().filter_map(|path| table.input(path)));
    }
    inputs.sort_unstable_by(|one, other| one.path.cmp(other.path));
    inputs.dedup_by(|one, other| one.path == other.path);
    let known = |row: &Row<'_>, is_dir| (row.size, row.mtime_ns, is_dir);
    let stamps: Vec<Known<'_>> = files
        .iter()
        .map(|row| (row.path, known(row, false)))
        .chain(inputs.iter().map(|row| (row.path, known(row, row.is_dir))))
        .map(|(path, (size, mtime_ns, is_dir))| Known { path, size, mtime_ns, is_dir })
        .collect();
    let seen = discover::changes(root, &stamps, snapshot.facts().follow_symlinks, 1);
    let mut drift = Drift::default();
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

/// What the choice of files depended on and does not lie in a folder that was entered: git's index, the excludes of the
/// repository and of the user, ignore files above the root.
fn outside(table: &FileTable) -> impl Iterator<Item = Row<'_>> {
    table.inputs().filter(|row| !row.is_dir && !table.input(folder_of(row.path)).is_some_and(|folder| folder.is_dir))
}

/// The folder that holds a path; the root is empty.
fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
