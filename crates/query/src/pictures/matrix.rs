//! Imports between folders as a matrix, ordered so that most imports point one way. An import that points the other way
//! is part of a cycle.

use std::collections::{BTreeMap, BTreeSet};

use codelode_store::{EdgeTable, Snapshot};

/// The most folders; people do not read a larger table.
const MOST: usize = 40;

/// Imports between folders.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Folders, importing ones before imported ones; the root is empty.
    pub folders: Vec<String>,
    /// The number of imports from the row's folder to the column's.
    pub counts: Vec<Vec<u32>>,
    /// The number of each folder's cycle, from one; 0 for none.
    pub cycles: Vec<usize>,
    /// The number of folders left out.
    pub left: usize,
}

/// Counts imports between the folders directly below `below`.
pub fn matrix(snapshot: &Snapshot, edges: &EdgeTable, below: &str) -> Matrix {
    let below = below.trim_matches('/');
    let folder = |path: &str| -> Option<String> {
        let rest = if below.is_empty() { path } else { path.strip_prefix(below)?.strip_prefix('/')? };
        Some(rest.split_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned()))
    };
    let mut all: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut weights: BTreeMap<String, u32> = BTreeMap::new();
    for file in snapshot.files() {
        let Some(from) = folder(file.path()) else { continue };
        weights.entry(from.clone()).or_default();
        let imported: BTreeSet<u32> = edges.imports(file.number()).iter().map(|import| import.to).collect();
        for imported in imported {
            let to = snapshot.file_by_number(imported).and_then(|file| folder(file.path()));
            if let Some(to) = to {
                *weights.entry(from.clone()).or_default() += 1;
                *weights.entry(to.clone()).or_default() += 1;
                *all.entry((from.clone(), to)).or_default() += 1;
            }
        }
    }
    let mut folders: Vec<String> =
        weights.iter().filter(|(_, weight)| **weight > 0).map(|(name, _)| name.clone()).collect();
    folders.sort_by_key(|name| std::cmp::Reverse(weights[name]));
    let left = folders.len().saturating_sub(MOST);
    folders.truncate(MOST);
    folders.sort();
    let count = |from: usize, to: usize| all.get(&(folders[from].clone(), folders[to].clone())).copied().unwrap_or(0);
    let counts: Vec<Vec<u32>> =
        (0..folders.len()).map(|from| (0..folders.len()).map(|to| count(from, to)).collect()).collect();
    let (order, cycles) = ordered(&counts);
    Matrix {
        folders: order.iter().map(|place| folders[*place].clone()).collect(),
        counts: order.iter().map(|from| order.iter().map(|to| counts[*from][*to]).collect()).collect(),
        cycles: order.iter().map(|place| cycles[*place]).collect(),
        left,
    }
}

/// An order with importing folders before imported ones, as far as cycles allow, and the cycle of each folder.
fn ordered(counts: &[Vec<u32>]) -> (Vec<usize>, Vec<usize>) {
    let n = counts.len();
    let mut reaches: Vec<Vec<bool>> = counts.iter().map(|row| row.iter().map(|count| *count > 0).collect()).collect();
    for via in 0..n {
        let through = reaches[via].clone();
        for row in reaches.iter_mut().filter(|row| row[via]) {
            row.iter_mut().zip(&through).for_each(|(own, more)| *own |= more);
        }
    }
    let mut cycles = vec![0; n];
    let mut last = 0;
    for one in 0..n {
        let with: Vec<usize> =
            (0..n).filter(|other| *other != one && reaches[one][*other] && reaches[*other][one]).collect();
        if cycles[one] == 0 && !with.is_empty() {
            last += 1;
            cycles[one] = last;
            with.into_iter().for_each(|other| cycles[other] = last);
        }
    }
    // A folder that reaches more comes first. Folders of one cycle reach the same ones, so they stay together.
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|one| (std::cmp::Reverse(reaches[*one].iter().filter(|it| **it).count()), cycles[*one]));
    (order, cycles)
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn importing_comes_before_imported_and_cycles_are_found() {
        // 0 → 1 ⇄ 3 → 2
        let counts = [[0, 5, 0, 0], [0, 9, 0, 1], [0, 0, 0, 0], [0, 2, 4, 0]].map(Vec::from);
        let (order, cycles) = ordered(&counts);
        assert_eq!(cycles, [0, 1, 0, 1]);
        assert_eq!((order[0], order[3]), (0, 2), "{order:?}");
        assert_eq!(ordered(&[]), (Vec::new(), Vec::new()));
    }
}
