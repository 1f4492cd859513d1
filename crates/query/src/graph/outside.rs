//! External packages that the files of a snapshot import, and uses of their names.

use crate::folder;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::relations::{LineCount, UseSite};
use crate::symbols::lookup::named;
use crate::text::mentions::mentions;
use codelode_base::model::{Ecosystem, How, Kind};
use codelode_lang::extract::{self, LazyFacts};
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolView};

/// A package that files import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedPackage {
    /// The ecosystem of the package.
    pub ecosystem: Ecosystem,
    /// Its name, as imports write it.
    pub name: String,
    /// Folder of the first file that imports it.
    pub folder: String,
    /// The number of files that import it.
    pub importers: usize,
}

/// Packages that the files of a snapshot import, those with the most importers first. The project's own packages and
/// standard libraries are left out.
pub fn needed_packages(snapshot: &Snapshot, edges: &EdgeTable) -> Vec<ImportedPackage> {
    let mut own: HashSet<(Ecosystem, String)> = HashSet::new();
    let mut needed: BTreeMap<(Ecosystem, String), ImportedPackage> = BTreeMap::new();
    for file in snapshot.files() {
        let Some(distribution) = file.spec().distribution else { continue };
        let ecosystem = distribution.ecosystem;
        let inside: HashSet<u32> = edges.imports(file.number()).iter().map(|import| import.at).collect();
        let mut seen = HashSet::new();
        for (at, name) in extract::packages(file.spec(), file.facts()) {
            if inside.contains(&at) {
                own.insert((ecosystem, name));
            } else if !name.is_empty() && !(distribution.is_standard)(&name) && seen.insert(name.clone()) {
                let folder = folder(file.path()).to_owned();
                let first = || ImportedPackage { ecosystem, name: name.clone(), folder, importers: 0 };
                needed.entry((ecosystem, name.clone())).or_insert_with(first).importers += 1;
            }
        }
    }
    needed.retain(|package, _| !own.contains(package));
    let mut needed: Vec<ImportedPackage> = needed.into_values().collect();
    needed.sort_by_key(|package| std::cmp::Reverse(package.importers));
    needed
}

/// A use of an external name.
pub struct OutsideUse<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// The occurrence; no stored relation has it.
    pub edge: Edge,
    /// Its line, one-based.
    pub line: u32,
}

impl OutsideUse<'_> {
    /// The use as a place.
    pub fn place(&self) -> UseSite<'_> {
        UseSite { file: self.file, edge: &self.edge, line: self.line }
    }
}

/// The most files searched for uses of an external name.
const MOST_FILES: usize = 5_000;

/// Uses of an external name by path and line, and the packages that it comes from. The qualifier of a name such as
/// `pytest.fixture` must be the package, or the text before the use. A member of a project type has no external uses.
pub fn outside_uses<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    name: &str,
) -> (Vec<OutsideUse<'a>>, BTreeSet<String>) {
    let (qualifier, last) = match name.rsplit_once(['.', ':']) {
        Some((before, last)) => (Some(before.trim_end_matches(':')), last),
        None => (None, name),
    };
    let is_type = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Class | Kind::Type);
    if qualifier.is_some_and(|qualifier| named(snapshot, qualifier).iter().any(is_type)) {
        return (Vec::new(), BTreeSet::new());
    }
    let first = qualifier.map(|qualifier| qualifier.split(['.', ':']).next().unwrap_or_default());
    let (mut uses, mut packages) = (Vec::new(), BTreeSet::new());
    let mut own: Option<HashSet<&str>> = None;
    for mentioned in mentions(snapshot, last).take(MOST_FILES) {
        let file = mentioned.file;
        let mut found = extract::from_packages(file.spec(), file.content(), file.facts(), last.as_bytes());
        found.sort_by_key(|found| found.at);
        found.dedup_by_key(|found| found.at);
        let mut lines = LineCount::default();
        let bound = edges.in_file(file.number());
        for mut found in found {
            // The name may mean a definition of the repository.
            let is_outside = |edge: &Edge| edge.how() == How::Outside;
            if bound.binary_search_by_key(&found.at, |edge| edge.at).is_ok_and(|place| !is_outside(&bound[place])) {
                continue;
            }
            let own = own.get_or_insert_with(|| own_names(snapshot));
            found.packages.retain(|package| !own.contains(package.as_str()));
            let is_from = |first: &str| found.packages.iter().any(|package| package.eq_ignore_ascii_case(first));
            let fits = qualifier.zip(first).is_none_or(|(all, first)| is_from(first) || follows(file, found.at, all));
            if found.packages.is_empty() || !fits {
                continue;
            }
            let mut around =
                file.symbols().filter(|symbol| symbol.span().start <= found.at && found.at < symbol.span().end);
            let from = around.next_back().map(|symbol| symbol.number().index);
            let edge = Edge::new(file.number(), found.at, last.len() as u16, found.role, How::Outside, from);
            uses.push(OutsideUse { file, edge, line: lines.line_of(file.content(), found.at) });
            packages.extend(found.packages);
        }
    }
    (uses, packages)
}

/// Whether `qualifier` and a separator stand before a byte.
fn follows(file: FileView<'_>, at: u32, qualifier: &str) -> bool {
    let before = file.content().get(..at as usize).unwrap_or_default();
    [".", "::"].iter().any(|mark| {
        let before = before.strip_suffix(mark.as_bytes());
        before.is_some_and(|before| before.ends_with(qualifier.as_bytes()))
    })
}

/// Names of the repository's files and folders, by which its modules are imported.
fn own_names(snapshot: &Snapshot) -> HashSet<&str> {
    let parts = snapshot.files().flat_map(|file| file.path().split('/'));
    parts.map(|part| part.split('.').next().unwrap_or(part)).collect()
}

/// Packages that may provide the name at a byte of a file.
pub fn packages_at(file: FileView<'_>, facts: &LazyFacts<'_>, byte: u32) -> Option<(Ecosystem, Vec<String>)> {
    let distribution = file.spec().distribution?;
    let mut packages = extract::packages_at(file.spec(), facts, byte);
    packages.retain(|package| !(distribution.is_standard)(package));
    (!packages.is_empty()).then_some((distribution.ecosystem, packages))
}
