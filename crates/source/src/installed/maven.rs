//! Java's artifacts: those that the build files of Maven and Gradle name, whose sources lie in their repositories as archives.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::archive::Archive;
use super::{Finder, Installed, Member, Sources, entries, gradle, manifest};
use codelode_base::model::{Ecosystem, PackageId};

/// An artifact that a build file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) group: String,
    pub(super) name: String,
    /// `None` where another file decides it.
    pub(super) version: Option<String>,
}

impl Dependency {
    /// `None` for texts that are no part of a path.
    pub(super) fn new(group: &str, name: &str, version: Option<String>) -> Option<Self> {
        let version = version.filter(|version| plain(version));
        (plain(group) && plain(name)).then(|| Self { group: group.to_owned(), name: name.to_owned(), version })
    }
}

/// Whether a text of a build file may become part of a path.
pub(super) fn plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "._-".contains(c)) && !text.contains("..")
}

/// The artifacts that hold a package, among the dependencies of all build files above. An artifact that imports one is
/// asked for its own dependencies first.
pub(super) fn find<'a>(
    finder: &Finder,
    around: impl Iterator<Item = &'a Path>,
    importer: Option<&Member>,
    package: &str,
) -> Vec<Installed> {
    let around: Vec<&Path> = around.collect();
    let own: Vec<String> = importer.and_then(|importer| own_pom(&importer.place)).into_iter().collect();
    let poms: Vec<String> = around.iter().filter_map(|folder| manifest(&folder.join("pom.xml"))).collect();
    let of = |poms: &[String]| {
        let all: Vec<Values<'_>> = poms.iter().map(|pom| values(pom)).collect();
        poms.iter().flat_map(|pom| dependencies(pom, &all)).collect::<Vec<Dependency>>()
    };
    let folder = format!("{}/", package.replace('.', "/"));
    let mut found: Vec<Installed> = Vec::new();
    let exact = of(&poms).into_iter().map(|artifact| (artifact, true));
    let others = gradle::dependencies(&around).into_iter().map(|artifact| (artifact, false));
    let own = of(&own).into_iter().map(|artifact| (artifact, false));
    for (artifact, is_exact) in own.chain(exact).chain(others).take(MOST) {
        let Some((version, jar)) = sources(finder, &artifact, is_exact) else { continue };
        let id = PackageId::new(Ecosystem::Maven, &format!("{}:{}", artifact.group, artifact.name), &version);
        let (Some(id), Ok(jar)) = (id, jar.canonicalize()) else { continue };
        let holds = || finder.folders_of(&jar).is_some_and(|folders| folders.contains(&folder));
        if found.iter().all(|known| known.id != id) && holds() {
            let root = finder.unpacked.join(super::unpacked(&id));
            found.push(Installed { id, place: jar, sources: Sources { root, parts: Vec::new() } });
        }
    }
    found
}

/// The archive of an artifact's sources, with its version: the one that is named, or else the newest that is there. Gradle,
/// and a build that takes an artifact for another one's sake, may settle on a newer version than the one that is named.
fn sources(finder: &Finder, artifact: &Dependency, is_exact: bool) -> Option<(String, PathBuf)> {
    let maven = finder.toolchains.maven.as_ref();
    let cache = finder.toolchains.gradle.as_ref();
    let in_maven = |version: &str| {
        let place = maven?.join(artifact.group.replace('.', "/")).join(&artifact.name).join(version);
        Some(place.join(format!("{}-{version}-sources.jar", artifact.name))).filter(|jar| jar.is_file())
    };
    let jar = |version: &str| in_maven(version).or_else(|| gradle::sources(cache?, artifact, version));
    if let Some(found) = artifact.version.as_ref().and_then(|version| Some((version.clone(), jar(version)?))) {
        return Some(found);
    }
    if is_exact && artifact.version.is_some() {
        return None;
    }
    let places = maven.map(|maven| maven.join(artifact.group.replace('.', "/")));
    let places = places.into_iter().chain(cache.map(|cache| cache.join(&artifact.group)));
    let mut versions: Vec<String> = places.flat_map(|place| entries(&place.join(&artifact.name))).collect();
    versions.sort_by_key(|version| super::numbers(version));
    versions.into_iter().rev().find_map(|version| Some((version.clone(), jar(&version)?)))
}

/// The build file of an artifact, which lies beside its archive, or in Gradle's cache in a folder beside.
fn own_pom(jar: &Path) -> Option<String> {
    let pom = |folder: &Path| {
        let name = entries(folder).into_iter().find(|name| name.ends_with(".pom"))?;
        manifest(&folder.join(name))
    };
    let folder = jar.parent()?;
    let above = folder.parent()?;
    pom(folder).or_else(|| entries(above).into_iter().find_map(|name| pom(&above.join(name))))
}

/// Most dependencies that are looked for.
const MOST: usize = 2_000;
/// Most bytes of a property's value.
const LONGEST: usize = 200;

/// Texts of a build file's elements by their names, the first of each.
type Values<'p> = HashMap<&'p str, &'p str>;

fn values(pom: &str) -> Values<'_> {
    let mut values = HashMap::new();
    for piece in pom.split('<').skip(1).filter(|piece| !piece.starts_with('/')) {
        if let Some((name, value)) = piece.split_once('>')
            && value.len() <= LONGEST
        {
            values.entry(name).or_insert(value.trim());
        }
    }
    values
}

/// The dependencies in a build file of Maven.
fn dependencies(pom: &str, all: &[Values<'_>]) -> Vec<Dependency> {
    let blocks = pom.split("<dependency>").skip(1).filter_map(|rest| rest.split_once("</dependency>"));
    let read = |(block, _): (&str, &str)| {
        let part = |name: &str| Some(resolved(element(block, name)?, all));
        Dependency::new(&part("groupId")?, &part("artifactId")?, part("version"))
    };
    blocks.filter_map(read).collect()
}

/// Text of the first element of a name.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0.trim())
}

/// A text in which a property stands for its value.
fn resolved(text: &str, all: &[Values<'_>]) -> String {
    let property = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let property = property.map(|name| name.strip_prefix("project.").unwrap_or(name));
    let value = property.and_then(|name| all.iter().find_map(|values| values.get(name).copied()));
    value.unwrap_or(text).to_owned()
}

/// Folders in an archive, each with a `/` at its end.
pub(super) fn folders(jar: &Path) -> Option<HashSet<String>> {
    let names = Archive::open(jar)?.files.into_iter().filter_map(|file| Some(file.path.rsplit_once('/')?.0.to_owned()));
    Some(names.map(|folder| format!("{folder}/")).collect())
}
