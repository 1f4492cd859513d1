//! Crates that Cargo has unpacked, in the versions of the nearest `Cargo.lock`.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use toml::{Table, Value};

use super::{Finder, Installed, entries, numbers};
use codelode_base::model::{Ecosystem, PackageId};

/// Most versions of one crate that are looked for.
const MOST: usize = 100;

/// A lock file.
#[derive(Default)]
pub(super) struct Lock {
    /// Names and versions of the crates of registries, by their names as code writes them.
    crates: HashMap<String, Vec<(String, String)>>,
    /// Dependencies of the crates of registries by name and version, and under empty names those of the workspace.
    needed: HashMap<(String, String), HashSet<String>>,
}

impl Lock {
    /// Reads a lock file; one that is malformed has no crates.
    pub(super) fn read(source: &str) -> Self {
        let table: Table = source.parse().unwrap_or_default();
        let packages: &[Value] = table.get("package").and_then(Value::as_array).map_or(&[], Vec::as_slice);
        let mut lock = Self::default();
        for package in packages {
            let (Some(name), Some(version)) = (text(package, "name"), text(package, "version")) else { continue };
            let (source, found) = (text(package, "source"), (name.to_owned(), version.to_owned()));
            let importer = if source.is_none() { Default::default() } else { found.clone() };
            let dependencies = package.get("dependencies").and_then(Value::as_array).into_iter().flatten();
            let dependencies = dependencies.filter_map(|needed| Some(needed.as_str()?.to_owned()));
            lock.needed.entry(importer).or_default().extend(dependencies);
            if source.is_some_and(|source| source.starts_with("registry+")) {
                lock.crates.entry(name.replace('-', "_")).or_default().push(found);
            }
        }
        lock
    }

    /// The versions of a crate, those first that the importing crate depends on, and then the newest.
    fn versions(&self, importer: Option<&PackageId>, written: &str) -> Vec<&(String, String)> {
        let importer = importer.map(|id| (id.name.clone(), id.version.clone())).unwrap_or_default();
        let needed = self.needed.get(&importer);
        // Where several versions are locked, dependencies say which one they mean.
        let is_needed = |(name, version): &(String, String)| {
            needed.is_some_and(|needed| needed.contains(&format!("{name} {version}")))
        };
        let mut versions: Vec<&(String, String)> = self.crates.get(written).into_iter().flatten().collect();
        versions.sort_by_cached_key(|version| (is_needed(version), numbers(&version.1)));
        versions.reverse();
        versions.truncate(MOST);
        versions
    }
}

/// The crate of a name as code writes it. Of several versions, the one that the importing crate depends on, else the newest.
pub(super) fn find<'a>(
    finder: &Finder,
    around: impl Iterator<Item = &'a Path>,
    importer: Option<&PackageId>,
    name: &str,
) -> Vec<Installed> {
    locked(finder, around, importer, name).into_iter().collect()
}

fn locked<'a>(
    finder: &Finder,
    mut around: impl Iterator<Item = &'a Path>,
    importer: Option<&PackageId>,
    written: &str,
) -> Option<Installed> {
    let registries = finder.toolchains.cargo.as_ref()?.join("registry/src");
    let lock = around.find_map(|folder| finder.lock(&folder.join("Cargo.lock")))?;
    lock.versions(importer, written).into_iter().find_map(|(name, version)| {
        let folders = entries(&registries).into_iter().map(|index| registries.join(index));
        let mut folders = folders.map(|index| index.join(format!("{name}-{version}")));
        folders.find_map(|folder| Installed::new(Ecosystem::Cargo, name, version, &folder, Vec::new()))
    })
}

/// Text of a key.
fn text<'v>(package: &'v Value, key: &str) -> Option<&'v str> {
    package.get(key)?.as_str()
}
