//! Crates that Cargo has unpacked, in the versions of the nearest `Cargo.lock`.

use std::path::Path;

use toml::{Table, Value};

use super::{Installed, entries, manifest, numbers};
use crate::config::Toolchains;
use crate::model::{Ecosystem, PackageId};

/// The crate of a name as code writes it. Of several versions, the one that the importing crate depends on, else the newest.
pub(super) fn find<'a>(
    toolchains: &Toolchains,
    around: impl Iterator<Item = &'a Path>,
    importer: Option<&PackageId>,
    name: &str,
) -> Vec<Installed> {
    locked(toolchains, around, importer, name).into_iter().collect()
}

fn locked<'a>(
    toolchains: &Toolchains,
    mut around: impl Iterator<Item = &'a Path>,
    importer: Option<&PackageId>,
    written: &str,
) -> Option<Installed> {
    let registries = toolchains.cargo.as_ref()?.join("registry/src");
    let lock: Table = around.find_map(|folder| manifest(&folder.join("Cargo.lock")))?.parse().ok()?;
    let packages = lock.get("package")?.as_array()?;
    let imports = |package: &&Value| match importer {
        Some(id) => (text(package, "name"), text(package, "version")) == (Some(&id.name), Some(&id.version)),
        None => text(package, "source").is_none(),
    };
    let needed =
        packages.iter().filter(imports).filter_map(|package| package.get("dependencies")?.as_array()).flatten();
    let needed: Vec<&str> = needed.filter_map(Value::as_str).collect();
    let is_of_registry = |package: &&Value| text(package, "source").is_some_and(|it| it.starts_with("registry+"));
    let crates = packages.iter().filter(is_of_registry);
    let crates = crates.filter_map(|package| Some((text(package, "name")?, text(package, "version")?)));
    let mut versions: Vec<(&str, &str)> = crates.filter(|(name, _)| name.replace('-', "_") == written).collect();
    // Where several versions are locked, dependencies say which one they mean.
    let is_needed = |(name, version): &(&str, &str)| needed.contains(&format!("{name} {version}").as_str());
    versions.sort_by_key(|version| (is_needed(version), numbers(version.1)));
    versions.into_iter().rev().find_map(|(name, version)| {
        let folders = entries(&registries).into_iter().map(|index| registries.join(index));
        let mut folders = folders.map(|index| index.join(format!("{name}-{version}")));
        folders.find_map(|folder| Installed::new(Ecosystem::Cargo, name, version, &folder, Vec::new()))
    })
}

/// Text of a key.
fn text<'v>(package: &'v Value, key: &str) -> Option<&'v str> {
    package.get(key)?.as_str()
}
