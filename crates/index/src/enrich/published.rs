//! Packages that a repository publishes, by their manifests, with the names that other code imports.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Files, split};
use codelode_base::model::{Ecosystem, Published};

/// The largest manifest that is read, in bytes.
const LARGEST: usize = 1 << 20;
/// The most packages of one repository.
const MOST: usize = 2_000;

/// A manifest in a folder of the repository.
struct Manifest<'f> {
    folder: &'f str,
    text: &'f str,
    paths: &'f Paths<'f>,
}

/// All paths of the repository, sorted.
struct Paths<'f> {
    sorted: Vec<&'f str>,
}

/// Reads a manifest into ecosystem, name and modules; `None` if it publishes nothing.
type Read = fn(&Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)>;

/// Manifest file names and their readers. In one folder, the first manifest that names a package counts.
const MANIFESTS: &[(&str, Read)] = &[
    ("package.json", npm),
    ("Cargo.toml", cargo),
    ("pyproject.toml", pyproject),
    ("setup.cfg", setup_cfg),
    ("setup.py", setup_py),
    ("go.mod", go),
    ("pom.xml", maven),
    ("build.gradle", gradle),
    ("build.gradle.kts", gradle),
];

/// The packages that these files publish, by folder.
pub fn published(files: &dyn Files) -> Vec<Published> {
    let mut sorted = files.paths();
    sorted.sort_unstable();
    let paths = Paths { sorted };
    let mut found: BTreeMap<(&str, Ecosystem), (usize, Published)> = BTreeMap::new();
    for path in &paths.sorted {
        let (folder, name) = split(path);
        let Some(rank) = MANIFESTS.iter().position(|(other, _)| *other == name) else { continue };
        let is_apart = folder.split('/').any(|part| APART.contains(&part));
        let text = files.text(path).filter(|text| text.len() <= LARGEST && !is_apart);
        let Some(text) = text.and_then(|text| std::str::from_utf8(text).ok()) else { continue };
        let manifest = Manifest { folder, text, paths: &paths };
        let Some((ecosystem, name, modules)) = MANIFESTS[rank].1(&manifest) else { continue };
        if modules.is_empty() || name.is_empty() {
            continue;
        }
        let package = || Published { ecosystem, name, folder: folder.to_owned(), modules };
        match found.get(&(folder, ecosystem)) {
            Some((known, _)) if *known < rank => {}
            _ if found.len() >= MOST => {}
            _ => drop(found.insert((folder, ecosystem), (rank, package()))),
        }
    }
    found.into_values().map(|(_, package)| package).collect()
}

/// Folders whose packages are for the repository's own use.
const APART: &[&str] =
    &["benchmark", "benchmarks", "doc", "docs", "example", "examples", "fixtures", "test", "testdata", "tests"];
/// Modules beside a manifest that are not published.
const NO_MODULES: &[&str] = &["conftest", "fabfile", "manage", "noxfile", "setup", "tasks", "versioneer"];

impl<'f> Paths<'f> {
    fn has(&self, path: &str) -> bool {
        self.sorted.binary_search(&path).is_ok()
    }

    /// Paths below a folder, relative to it.
    fn below<'p>(&'p self, folder: &'p str) -> impl Iterator<Item = &'f str> + 'p {
        let above = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let from = self.sorted.partition_point(|path| *path < above.as_str());
        self.sorted[from..].iter().map_while(move |path| path.strip_prefix(above.as_str()))
    }
}

impl Manifest<'_> {
    fn at(&self, path: &str) -> String {
        if self.folder.is_empty() { path.to_owned() } else { format!("{}/{path}", self.folder) }
    }
}

fn of_toml(source: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(source).ok()?;
    serde_json::to_value(table).ok()
}

/// A private package can only be imported in its own repository.
fn npm(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let json: Value = serde_json::from_str(manifest.text).ok()?;
    let name = json["name"].as_str().filter(|_| json["private"] != true)?.to_owned();
    Some((Ecosystem::Npm, name.clone(), vec![name]))
}

/// Only a library can be imported.
fn cargo(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let json = of_toml(manifest.text)?;
    let name = json["package"]["name"].as_str()?.to_owned();
    let library = json["lib"]["path"].as_str().unwrap_or("src/lib.rs");
    let written = json["lib"]["name"].as_str().unwrap_or(&name).replace('-', "_");
    manifest.paths.has(&manifest.at(library)).then(|| (Ecosystem::Cargo, name, vec![written]))
}

fn pyproject(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let json = of_toml(manifest.text)?;
    let name = json["project"]["name"].as_str().or_else(|| json["tool"]["poetry"]["name"].as_str())?;
    Some((Ecosystem::PyPi, name.to_owned(), modules(manifest, name)))
}

fn setup_cfg(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let mut lines = manifest.text.lines().map(str::trim).skip_while(|line| *line != "[metadata]").skip(1);
    let name = lines.find_map(|line| match line.split_once('=') {
        Some((key, value)) if key.trim() == "name" => Some(value.trim().to_owned()),
        _ => line.starts_with('[').then(String::new),
    })?;
    let modules = modules(manifest, &name);
    Some((Ecosystem::PyPi, name, modules))
}

/// Most files write the name as a literal. Code that computes it is not run.
fn setup_py(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let name = manifest.text.lines().find_map(|line| {
        let line = line.trim();
        let value = line.strip_prefix("name").or_else(|| line.split_once("setup(name").map(|(_, rest)| rest))?;
        let value = value.trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        Some(value[1..].split(quote).next()?.to_owned())
    })?;
    let modules = modules(manifest, &name);
    Some((Ecosystem::PyPi, name, modules))
}

/// The Python modules that a manifest publishes: modules in `src` or `lib` if there are any, else the module named like
/// the distribution with other packages beside it, else all modules.
fn modules(manifest: &Manifest<'_>, name: &str) -> Vec<String> {
    let (mut beside, mut within): (BTreeSet<&str>, BTreeSet<&str>) = (BTreeSet::new(), BTreeSet::new());
    for path in manifest.paths.below(manifest.folder).filter(|path| path.ends_with(".py") || path.ends_with(".pyi")) {
        let (found, rest) = match ["src/", "lib/"].iter().find_map(|source| path.strip_prefix(source)) {
            Some(rest) => (&mut within, rest),
            None => (&mut beside, path),
        };
        match rest.split_once('/') {
            Some((package, "__init__.py" | "__init__.pyi")) => drop(found.insert(package)),
            Some(_) => {}
            None => drop(found.insert(rest.trim_end_matches('i').trim_end_matches(".py"))),
        }
    }
    let plain = |name: &str| name.to_lowercase().replace(['-', '_', '.'], "");
    let is_meant = |module: &&str| !NO_MODULES.contains(module) && !APART.contains(module) && !module.starts_with("__");
    let all = || within.iter().chain(&beside).copied().filter(is_meant);
    let named = all().find(|module| plain(module) == plain(name));
    let mut modules: BTreeSet<&str> = if within.is_empty() { beside.clone() } else { within.clone() };
    modules.retain(|module| is_meant(module));
    if let (Some(named), true) = (named, within.is_empty()) {
        // Other packages may be published too, but single modules are scripts.
        modules.retain(|module| manifest.paths.has(&manifest.at(&format!("{module}/__init__.py"))));
        modules.insert(named);
    }
    modules.into_iter().map(str::to_owned).collect()
}

fn go(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let line = manifest.text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let name = line.split("//").next().unwrap_or_default().trim().trim_matches('"').to_owned();
    Some((Ecosystem::Golang, name.clone(), vec![name]))
}

/// The group may be inherited from the parent.
fn maven(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let parent = manifest.text.split_once("<parent>").and_then(|(_, rest)| rest.split_once("</parent>"));
    let outside = match parent {
        Some((_, rest)) => rest,
        None => manifest.text,
    };
    // Elements after the project's own head repeat the same names.
    let ends = ["<dependencies>", "<build>", "<dependencyManagement>", "<profiles>", "<modules>"];
    let head = ends.iter().filter_map(|end| outside.find(end)).min().map_or(outside, |at| &outside[..at]);
    let element = |text: &str, name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split('<').next()?.trim().to_owned())
    };
    let before = manifest.text.split("<parent>").next().filter(|_| parent.is_some()).unwrap_or_default();
    let own = |name: &str| element(head, name).or_else(|| element(before, name));
    let artifact = own("artifactId")?;
    let group = own("groupId").or_else(|| parent.and_then(|(text, _)| element(text, "groupId")))?;
    Some((Ecosystem::Maven, format!("{group}:{artifact}"), packages(manifest)))
}

/// The artifact is named like its folder; the group is assigned.
fn gradle(manifest: &Manifest<'_>) -> Option<(Ecosystem, String, Vec<String>)> {
    let group = manifest.text.lines().find_map(|line| {
        let value = line.trim().strip_prefix("group")?.trim_start().trim_start_matches('=').trim();
        let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        Some(value[1..].split(quote).next()?.to_owned())
    });
    let artifact = manifest.folder.rsplit('/').next().unwrap_or_default();
    let name = match group {
        Some(group) => format!("{group}:{artifact}"),
        None => artifact.to_owned(),
    };
    Some((Ecosystem::Maven, name, packages(manifest)))
}

/// Java packages in the usual source folder.
fn packages(manifest: &Manifest<'_>) -> Vec<String> {
    let sources = manifest.paths.below(manifest.folder).filter_map(|path| path.strip_prefix("src/main/java/"));
    let folders: BTreeSet<&str> = sources.map(|path| split(path).0).filter(|folder| !folder.is_empty()).collect();
    folders.into_iter().map(|folder| folder.replace('/', ".")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;

    fn told(files: Vec<(&'static str, &'static str)>) -> Vec<String> {
        let all = published(&Made(files));
        all.iter().map(|one| format!("{one} in {:?} as {}", one.folder, one.modules.join(" "))).collect()
    }

    #[test]
    fn manifests_say_what_is_published_and_how_it_is_imported() {
        let found = told(vec![
            ("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\n"),
            ("a/Cargo.toml", "[package]\nname = 'tea-leaf'\n"),
            ("a/src/lib.rs", ""),
            ("b/Cargo.toml", "[package]\nname = 'tool'\n"),
            ("b/src/main.rs", ""),
            ("go/go.mod", "module example.org/tea/v2 // the second\n"),
            ("web/package.json", r#"{"name": "@shop/tea"}"#),
            ("web/site/package.json", r#"{"name": "site", "private": true}"#),
            ("web/examples/package.json", r#"{"name": "shown"}"#),
        ]);
        let wanted = [
            "cargo:tea-leaf in \"a\" as tea_leaf",
            "golang:example.org/tea/v2 in \"go\" as example.org/tea/v2",
            "npm:@shop/tea in \"web\" as @shop/tea",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn modules_of_python_are_found_beside_the_manifest_and_in_src() {
        let of = |manifest: (&'static str, &'static str), rest: &[&'static str]| {
            told([manifest].into_iter().chain(rest.iter().map(|path| (*path, ""))).collect())
        };
        let project = ("pyproject.toml", "[project]\nname = 'Tea-Pot'\n");
        let beside = ["tests/__init__.py", "docs/conf.py", "setup.py", "script.py"];
        let with = |own: &[&'static str]| [own, &beside].concat();
        assert_eq!(of(project, &with(&["src/tea_pot/__init__.py"])), ["pypi:Tea-Pot in \"\" as tea_pot"]);
        assert_eq!(
            of(project, &with(&["teapot/__init__.py", "cups/__init__.py"])),
            ["pypi:Tea-Pot in \"\" as cups teapot"]
        );
        assert_eq!(of(project, &with(&["tea_pot.py"])), ["pypi:Tea-Pot in \"\" as tea_pot"]);
        let setup = ("setup.py", "from setuptools import setup\nsetup(\n    name='tea',\n    version='1')\n");
        assert_eq!(of(setup, &["tea/__init__.py"]), ["pypi:tea in \"\" as tea"]);
        let cfg = ("setup.cfg", "[metadata]\nname = tea\n[options]\n");
        assert_eq!(of(cfg, &["lib/tea/__init__.py"]), ["pypi:tea in \"\" as tea"]);
    }

    #[test]
    fn artifacts_are_named_by_group_and_folder_and_imported_by_their_packages() {
        let found = told(vec![
            (
                "core/pom.xml",
                "<project><parent><groupId>org.tea</groupId><artifactId>all</artifactId></parent>\n\
                 <artifactId>tea-core</artifactId><dependencies><dependency><groupId>x</groupId>\
                 <artifactId>y</artifactId></dependency></dependencies></project>",
            ),
            ("core/src/main/java/org/tea/Pot.java", ""),
            ("core/src/main/java/org/tea/cup/Cup.java", ""),
            ("core/src/test/java/org/tea/PotTest.java", ""),
            ("kit/build.gradle", "plugins { }\ngroup = 'org.kit'\n"),
            ("kit/src/main/java/org/kit/Kit.java", ""),
        ]);
        let wanted =
            ["maven:org.tea:tea-core in \"core\" as org.tea org.tea.cup", "maven:org.kit:kit in \"kit\" as org.kit"];
        assert_eq!(found, wanted);
    }
}
