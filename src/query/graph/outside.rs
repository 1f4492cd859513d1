//! Packages from outside that a snapshot's files import.

use std::collections::{BTreeMap, HashSet};

use crate::extract;
use crate::model::Ecosystem;
use crate::store::{EdgeTable, FileView, Snapshot};

/// A package that files import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Where it comes from.
    pub ecosystem: Ecosystem,
    /// Its name, as imports write it.
    pub name: String,
    /// Folder of the first file that imports it.
    pub folder: String,
    /// Number of files that import it.
    pub importers: usize,
}

/// Packages that the files of a snapshot import, those with the most importers first. The project's own and those of the
/// languages themselves are left out.
pub fn needed_packages(snapshot: &Snapshot, edges: &EdgeTable) -> Vec<Needed> {
    let mut own: HashSet<(Ecosystem, String)> = HashSet::new();
    let mut needed: BTreeMap<(Ecosystem, String), Needed> = BTreeMap::new();
    for file in snapshot.files() {
        let Some(distribution) = file.spec().distribution else { continue };
        let ecosystem = distribution.ecosystem;
        let inside: HashSet<u32> = edges.imports(file.number()).iter().map(|import| import.at).collect();
        let mut seen = HashSet::new();
        for (at, name) in extract::packages(file.spec(), file.facts()) {
            if inside.contains(&at) {
                own.insert((ecosystem, name));
            } else if !name.is_empty() && !(distribution.is_standard)(&name) && seen.insert(name.clone()) {
                let folder = file.path().rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                let first = || Needed { ecosystem, name: name.clone(), folder, importers: 0 };
                needed.entry((ecosystem, name.clone())).or_insert_with(first).importers += 1;
            }
        }
    }
    needed.retain(|package, _| !own.contains(package));
    let mut needed: Vec<Needed> = needed.into_values().collect();
    needed.sort_by_key(|package| std::cmp::Reverse(package.importers));
    needed
}

/// Packages that the name at a byte of a file may come from.
pub fn packages_at(file: FileView<'_>, byte: u32) -> Option<(Ecosystem, Vec<String>)> {
    let distribution = file.spec().distribution?;
    let mut packages = extract::packages_at(file.spec(), file.facts(), byte);
    packages.retain(|package| !(distribution.is_standard)(package));
    (!packages.is_empty()).then_some((distribution.ecosystem, packages))
}
