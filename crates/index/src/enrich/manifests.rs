//! Packages: the nearest manifest above a file describes the file's package.

use std::collections::HashMap;

use serde_json::Value;

use super::{Files, ProjectContext, Provider, first_paragraph, split};

/// The longest description, in characters.
const DESCRIPTION: usize = 200;
/// The most scripts and dependencies listed.
const MOST: usize = 12;
/// The largest manifest that is read, in bytes.
const LARGEST: usize = 1 << 20;

/// See the module.
pub(super) struct Manifests;

/// Descriptions of packages by folder.
struct Packages(HashMap<String, String>);

impl Provider for Manifests {
    fn name(&self) -> &'static str {
        "package"
    }

    fn detect(&self, path: &str) -> bool {
        MANIFESTS.iter().any(|(name, _)| *name == split(path).1)
    }

    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>> {
        let mut packages = HashMap::new();
        for path in files.paths() {
            let (folder, name) = split(path);
            let Some(read) = MANIFESTS.iter().find(|(other, _)| *other == name).map(|(_, read)| read) else { continue };
            let text = files.text(path).filter(|text| text.len() <= LARGEST).map(String::from_utf8_lossy);
            if let Some(package) = text.and_then(|text| read(&text)) {
                packages.entry(folder.to_owned()).or_insert_with(|| package.told(name));
            }
        }
        (!packages.is_empty()).then(|| Box::new(Packages(packages)) as Box<dyn ProjectContext>)
    }
}

impl ProjectContext for Packages {
    fn is_searched(&self) -> bool {
        false
    }

    fn about(&self, path: &str) -> Vec<String> {
        let mut folder = split(path).0;
        loop {
            if let Some(package) = self.0.get(folder) {
                return vec![package.clone()];
            }
            if folder.is_empty() {
                return Vec::new();
            }
            folder = split(folder).0;
        }
    }
}

/// The contents of a manifest.
#[derive(Default)]
struct Package {
    name: String,
    description: String,
    scripts: Vec<String>,
    dependencies: Vec<String>,
}

impl Package {
    fn told(&self, manifest: &str) -> String {
        let mut told = format!("{} ({manifest}, {} dependencies)", self.name, self.dependencies.len());
        if !self.description.is_empty() {
            told.push_str(": ");
            told.push_str(&first_paragraph(&self.description, DESCRIPTION));
        }
        for (before, names) in [("; scripts: ", &self.scripts), ("; depends on ", &self.dependencies)] {
            if !names.is_empty() {
                let more = if names.len() > MOST { ", …" } else { "" };
                told.push_str(&format!("{before}{}{more}", names[..names.len().min(MOST)].join(", ")));
            }
        }
        told
    }
}

/// Reads a manifest; `None` if it names no package.
type Read = fn(&str) -> Option<Package>;

/// Manifest file names and their readers.
const MANIFESTS: &[(&str, Read)] =
    &[("package.json", npm), ("Cargo.toml", cargo), ("pyproject.toml", python), ("go.mod", go)];

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default()
}

fn npm(json: &str) -> Option<Package> {
    let json: Value = serde_json::from_str(json).ok()?;
    let name = json["name"].as_str()?.to_owned();
    let dependencies = keys(&json["dependencies"]);
    Some(Package { name, description: text(&json["description"]), scripts: keys(&json["scripts"]), dependencies })
}

fn of_toml(source: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(source).ok()?;
    serde_json::to_value(table).ok()
}

fn cargo(source: &str) -> Option<Package> {
    let json = of_toml(source)?;
    let package = &json["package"];
    let name = package["name"].as_str()?.to_owned();
    let dependencies = keys(&json["dependencies"]);
    Some(Package { name, description: text(&package["description"]), dependencies, ..Package::default() })
}

fn python(source: &str) -> Option<Package> {
    let json = of_toml(source)?;
    let poetry = &json["tool"]["poetry"];
    let project = if json["project"].is_object() { &json["project"] } else { poetry };
    let name = project["name"].as_str()?.to_owned();
    // A requirement such as `name[extra]>=1; marker` begins with its name.
    let of = |text: &str| text.split(|c: char| !c.is_alphanumeric() && !"-_.".contains(c)).next().map(str::to_owned);
    let listed = project["dependencies"].as_array();
    let listed = listed.map(|list| list.iter().filter_map(|one| of(one.as_str()?.trim())).collect());
    let dependencies = listed.unwrap_or_else(|| keys(&project["dependencies"]));
    Some(Package { name, description: text(&project["description"]), scripts: keys(&project["scripts"]), dependencies })
}

fn go(source: &str) -> Option<Package> {
    let module = source.lines().find_map(|line| line.trim().strip_prefix("module "))?.trim().to_owned();
    let needed = |line: &str| {
        let line = line.trim().trim_start_matches("require ");
        let (name, version) = line.split_once(char::is_whitespace)?;
        let is_direct = version.trim_start().starts_with('v') && !line.ends_with("// indirect");
        is_direct.then(|| name.to_owned())
    };
    Some(Package { name: module, dependencies: source.lines().filter_map(needed).collect(), ..Package::default() })
}

#[cfg(test)]
mod tests {
    use super::super::Made;
    use super::*;

    #[test]
    fn the_nearest_manifest_speaks_for_a_file() {
        let files = Made(vec![
            ("Cargo.toml", "[package]\nname = \"tool\"\ndescription = \"Finds things.\"\n[dependencies]\na = \"1\"\n"),
            (
                "web/package.json",
                r#"{"name": "web", "scripts": {"build": "x", "test": "y"}, "dependencies": {"a": "1"}}"#,
            ),
            ("py/pyproject.toml", "[project]\nname = 'lib'\ndependencies = ['a>=1', 'b-c[x]; os']\n"),
            ("go/go.mod", "module example.org/x\n\nrequire (\n\ta.org/b v1.0.0\n\tc.org/d v1.0.0 // indirect\n)\n"),
            ("broken/package.json", "{"),
        ]);
        let known = Manifests.read(&files).expect("there are some");
        let about = |path: &str| known.about(path).pop().unwrap_or_default();
        assert_eq!(about("src/main.rs"), "tool (Cargo.toml, 1 dependencies): Finds things.; depends on a");
        assert_eq!(about("web/src/a.ts"), "web (package.json, 1 dependencies); scripts: build, test; depends on a");
        assert_eq!(about("py/lib/a.py"), "lib (pyproject.toml, 2 dependencies); depends on a, b-c");
        assert_eq!(about("go/a.go"), "example.org/x (go.mod, 1 dependencies); depends on a.org/b");
        assert_eq!(about("broken/a.ts"), "tool (Cargo.toml, 1 dependencies): Finds things.; depends on a");
    }
}
