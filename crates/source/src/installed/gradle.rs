//! Java's artifacts as Gradle's files name them: `gradle.lockfile`, `build.gradle`, `build.gradle.kts`, and the catalog
//! of versions. They are read as text; no build is run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::maven::{Dependency, plain};
use super::{entries, manifest};

/// Files that hold coordinates of artifacts, written `group:artifact:version`.
const BUILDS: [&str; 2] = ["build.gradle", "build.gradle.kts"];
/// The catalog of versions, in the root of a build.
const CATALOG: &str = "gradle/libs.versions.toml";

/// The dependencies that files of Gradle in some folders name, those with a locked version first.
pub(super) fn dependencies(around: &[&Path]) -> Vec<Dependency> {
    let read = |name: &str| around.iter().filter_map(|folder| manifest(&folder.join(name))).collect::<Vec<String>>();
    let mut found: Vec<Dependency> = read("gradle.lockfile").iter().flat_map(|text| locked(text)).collect();
    let properties = read("gradle.properties");
    let builds: Vec<String> = BUILDS.iter().flat_map(|name| read(name)).collect();
    let assigned = assigned(properties.iter().chain(&builds));
    let value = |name: &str| assigned.get(name.rsplit('.').next().unwrap_or(name)).map(|value| (*value).to_owned());
    found.extend(builds.iter().flat_map(|text| quoted(text)).filter_map(|text| coordinates(text, &value)));
    found.extend(builds.iter().flat_map(|text| text.lines()).filter_map(|line| named(line, &value)));
    found.extend(read(CATALOG).iter().flat_map(|text| catalog(text)));
    found
}

/// The archive of sources of an artifact below Gradle's cache, which has a folder for each file's checksum.
pub(super) fn sources(cache: &Path, artifact: &Dependency, version: &str) -> Option<PathBuf> {
    let place = cache.join(&artifact.group).join(&artifact.name).join(version);
    let name = format!("{}-{version}-sources.jar", artifact.name);
    entries(&place).into_iter().map(|sum| place.join(sum).join(&name)).find(|jar| jar.is_file())
}

/// Lines such as `org.example:tea:1.5=compileClasspath`.
fn locked(text: &str) -> Vec<Dependency> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines.filter_map(|(artifact, _)| coordinates(artifact.trim(), &|_| None)).collect()
}

/// Texts between quotation marks in the lines of a file.
fn quoted(text: &str) -> Vec<&str> {
    let line = |line: &'_ str| -> Vec<(usize, usize)> {
        let (mut found, mut open) = (Vec::new(), None);
        for (at, mark) in line.char_indices().filter(|(_, letter)| matches!(letter, '"' | '\'')) {
            match open {
                Some((from, with)) if with == mark => {
                    found.push((from, at));
                    open = None;
                }
                Some(_) => {}
                None => open = Some((at + 1, mark)),
            }
        }
        found
    };
    text.lines().flat_map(|it| line(it).into_iter().map(|(from, to)| &it[from..to])).collect()
}

/// Group, name and version of `group:name:version`, whose version may be a variable or missing.
fn coordinates(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<Dependency> {
    let parts: Vec<&str> = text.split(':').collect();
    let (2..=4) = parts.len() else { return None };
    Dependency::new(parts[0], parts[1], parts.get(2).and_then(|version| resolved(version, value)))
}

/// A line such as `implementation group: 'org.example', name: 'tea', version: '1.5'`.
fn named(line: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<Dependency> {
    let part = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name}:")).or_else(|| line.split_once(&format!("{name} =")))?;
        let rest = rest.trim_start();
        let mark = rest.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
        Some(rest[1..].split_once(mark)?.0)
    };
    Dependency::new(part("group")?, part("name")?, part("version").and_then(|version| resolved(version, value)))
}

/// A version in which `$name` or `${name}` stands for its value; `None` where that is not known, or a range.
fn resolved(version: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let version = version.split('@').next().unwrap_or(version);
    let version = match version.strip_prefix('$') {
        Some(name) => value(name.trim_start_matches('{').trim_end_matches('}'))?,
        None => version.trim_end_matches("!!").to_owned(),
    };
    plain(&version).then_some(version)
}

/// The texts that files give to names, the first of each: `name = "1.5"`, `name=1.5`, also behind `def`, `val` or `ext.`.
fn assigned<'t>(texts: impl Iterator<Item = &'t String>) -> HashMap<&'t str, &'t str> {
    let mut assigned = HashMap::new();
    for (left, right) in texts.flat_map(|text| text.lines()).filter_map(|line| line.split_once('=')) {
        let right = right.trim().trim_matches(['"', '\'']);
        if let Some(name) = left.trim().rsplit([' ', '.']).next().filter(|_| plain(right)) {
            assigned.entry(name).or_insert(right);
        }
    }
    assigned
}

/// The libraries of a catalog of versions.
fn catalog(text: &str) -> Vec<Dependency> {
    let table: Table = text.parse().unwrap_or_default();
    let versions = table.get("versions").and_then(Value::as_table);
    let version_of = |value: &Value| match value {
        Value::Table(version) => match version.get("ref").and_then(Value::as_str) {
            Some(name) => versions?.get(name)?.as_str().map(str::to_owned),
            None => {
                ["strictly", "require", "prefer"].iter().find_map(|key| Some(version.get(*key)?.as_str()?.to_owned()))
            }
        },
        other => other.as_str().map(str::to_owned),
    };
    let library = |library: &Value| match library {
        Value::String(text) => coordinates(text, &|_| None),
        library => {
            let text = |key: &str| library.get(key).and_then(Value::as_str);
            let (group, name) = match text("module") {
                Some(module) => module.split_once(':')?,
                None => (text("group")?, text("name")?),
            };
            let version = library.get("version").and_then(version_of).filter(|version| plain(version));
            Dependency::new(group, name, version)
        }
    };
    let libraries = table.get("libraries").and_then(Value::as_table);
    libraries.into_iter().flat_map(Table::values).filter_map(library).collect()
}
