//! Comparison of a run with the state before it.

use super::Report;
use codelode_store::{Entry, Row, Snapshot};

/// Rows of an earlier state, looked up in ascending order. One pass over both is cheaper than a search for each path,
/// which would cost more than reading the one changed file.
pub(super) struct EarlierRows<'a> {
    base: Option<&'a Snapshot>,
    place: usize,
}

impl<'a> EarlierRows<'a> {
    pub(super) fn of(base: Option<&'a Snapshot>) -> Self {
        Self { base, place: 0 }
    }

    /// Finds the row of a path. Paths must be queried in ascending order.
    pub(super) fn find(&mut self, path: &str) -> Option<Row<'a>> {
        let table = self.base?.table();
        while let Some(row) = table.get(self.place).filter(|row| row.path <= path) {
            self.place += 1;
            if row.path == path {
                return Some(row);
            }
        }
        None
    }
}

/// Reports new, changed and removed files.
pub(super) fn compare(base: Option<&Snapshot>, entries: &[Entry], report: &mut Report) {
    let mut earlier = EarlierRows::of(base);
    let mut still_there = 0;
    for Entry { file, state } in entries {
        let before = earlier.find(&file.path).and_then(|row| row.state.ok());
        still_there += usize::from(before.is_some());
        match (before, state.ok()) {
            (None, Some(_)) => report.added.push(file.path.clone()),
            (Some(_), None) => report.removed.push(file.path.clone()),
            (Some(before), Some(now)) if before != now => report.changed.push(file.path.clone()),
            _ => {}
        }
    }
    let Some(base) = base.filter(|base| base.facts().files as usize != still_there) else { return };
    for row in base.table().iter().filter(|row| row.state.is_ok()) {
        if entries.binary_search_by(|entry| entry.file.path.as_str().cmp(row.path)).is_err() {
            report.removed.push(row.path.to_owned());
        }
    }
}
