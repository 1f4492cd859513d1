//! Java's artifacts: those that the nearest `pom.xml` names, whose sources lie in Maven's repository as archives.

use std::collections::HashSet;
use std::path::Path;

use super::archive::Archive;
use super::{Finder, Installed, Sources, entries, manifest};
use crate::model::{Ecosystem, PackageId};

/// The artifacts that hold a package, among the dependencies of all build files above.
pub(super) fn find<'a>(finder: &Finder, around: impl Iterator<Item = &'a Path>, package: &str) -> Vec<Installed> {
    let Some(repository) = &finder.toolchains.maven else { return Vec::new() };
    let poms: Vec<String> = around.filter_map(|folder| manifest(&folder.join("pom.xml"))).collect();
    let folder = format!("{}/", package.replace('.', "/"));
    let mut found: Vec<Installed> = Vec::new();
    for (group, artifact, version) in poms.iter().flat_map(|pom| dependencies(pom, &poms)) {
        let place = repository.join(group.replace('.', "/")).join(&artifact);
        let Some(version) = version.or_else(|| newest(&place)) else { continue };
        let jar = place.join(&version).join(format!("{artifact}-{version}-sources.jar"));
        let id = PackageId::new(Ecosystem::Maven, &format!("{group}:{artifact}"), &version);
        let (Some(id), Ok(jar)) = (id, jar.canonicalize()) else { continue };
        let holds = || finder.folders_of(&jar).is_some_and(|folders| folders.contains(&folder));
        if found.iter().all(|known| known.id != id) && holds() {
            let root = finder.unpacked.join(super::unpacked(&id));
            found.push(Installed { id, place: jar, sources: Sources { root, parts: Vec::new() } });
        }
    }
    found
}

/// Group, artifact and version of each dependency; without a version, where another file decides it.
fn dependencies(pom: &str, all: &[String]) -> Vec<(String, String, Option<String>)> {
    // What a build file says becomes part of paths.
    let plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "._-".contains(c)) && !text.contains("..")
    };
    let blocks = pom.split("<dependency>").skip(1).filter_map(|rest| rest.split_once("</dependency>"));
    let read = |(block, _): (&str, &str)| {
        let part = |name: &str| Some(resolved(element(block, name)?, all));
        let (group, artifact) = (part("groupId")?, part("artifactId")?);
        let version = part("version").filter(|version| plain(version));
        (plain(&group) && plain(&artifact)).then_some((group, artifact, version))
    };
    blocks.filter_map(read).collect()
}

/// Text of the first element of a name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0.trim())
}

/// A text in which a property stands for its value.
fn resolved(text: &str, poms: &[String]) -> String {
    let property = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let value = property.and_then(|name| poms.iter().find_map(|pom| element(pom, name)));
    value.unwrap_or(text).to_owned()
}

/// The newest version in a folder of versions that has sources.
fn newest(place: &Path) -> Option<String> {
    let artifact = place.file_name()?.to_str()?;
    let has_sources =
        |version: &String| place.join(version).join(format!("{artifact}-{version}-sources.jar")).is_file();
    let mut versions: Vec<String> = entries(place).into_iter().filter(has_sources).collect();
    versions.sort_by_key(|version| super::numbers(version));
    versions.pop()
}

/// Folders in an archive, each with a `/` at its end.
pub(super) fn folders(jar: &Path) -> Option<HashSet<String>> {
    let names = Archive::open(jar)?.files.into_iter().filter_map(|file| Some(file.path.rsplit_once('/')?.0.to_owned()));
    Some(names.map(|folder| format!("{folder}/")).collect())
}
