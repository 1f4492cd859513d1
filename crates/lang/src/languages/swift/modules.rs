//! Swift modules: targets of packages, with the folders that their manifests name.
//!
//! The target `Shop` of a package has the files in `Sources/Shop`, or in the folder that `Package.swift` says. Files
//! outside of targets are one module for each folder beside the manifest; without any manifest they are one module all
//! together, because project files of other tools say which of them belong together.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::facts::{Module, Modules, Project, ROOT, ScopeId, folder};

/// The name of a manifest.
const MANIFEST: &str = "Package.swift";
/// Folders whose subfolders are targets.
const SOURCES: &[&str] = &["Sources", "Source", "src", "srcs", "Tests", "Plugins", "Benchmarks"];

/// A package: the folder of its manifest, and the folders of its targets with their names.
struct Package<'a> {
    root: &'a str,
    targets: Vec<(String, String)>,
}

/// The modules of one project. Number zero holds all of them.
pub(super) struct Targets {
    /// The module of each file.
    own: Vec<Module>,
    files: Vec<Vec<u32>>,
    /// Modules by name, each with the folder of its package.
    named: FxHashMap<String, Vec<(String, Module)>>,
    /// The package folder of each file.
    roots: Vec<String>,
}

impl Targets {
    pub(super) fn new<'a>(project: &'a Project<'a>) -> Self {
        let is_manifest = |path: &&&str| path.rsplit('/').next() == Some(MANIFEST);
        let mut packages: Vec<Package<'a>> = project
            .paths
            .iter()
            .filter(is_manifest)
            .map(|path| {
                let text = (project.read)(path).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default();
                Package { root: folder(path), targets: targets(text) }
            })
            .collect();
        packages.sort_by_key(|package| std::cmp::Reverse(package.root.len()));
        let mut all = Self { own: Vec::new(), files: vec![Vec::new()], named: FxHashMap::default(), roots: Vec::new() };
        let mut numbers: BTreeMap<(String, String), Module> = BTreeMap::new();
        for (number, file) in project.files.iter().enumerate() {
            let (root, name) = place(&packages, file.path);
            let next = all.files.len() as Module;
            let module = *numbers.entry((root.to_owned(), name.clone())).or_insert(next);
            if module == next {
                all.files.push(Vec::new());
                all.named.entry(name).or_default().push((root.to_owned(), module));
            }
            all.files[module as usize].push(number as u32);
            all.own.push(module);
            all.roots.push(root.to_owned());
        }
        all
    }

    /// The module of a name: that of the same package if there are several.
    fn look(&self, file: Option<u32>, name: &str) -> Option<Module> {
        let found = self.named.get(name).filter(|_| !name.is_empty())?;
        let root = file.and_then(|file| self.roots.get(file as usize));
        let near = root.and_then(|root| found.iter().find(|(of, _)| of == root));
        near.or(found.first()).map(|(_, module)| *module)
    }
}

/// A path relative to a folder.
fn within<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    match folder {
        "" | "." => Some(path),
        folder => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// The package folder and the module name of a file.
fn place<'a>(packages: &[Package<'a>], path: &'a str) -> (&'a str, String) {
    let package = packages.iter().find(|package| within(path, package.root).is_some());
    let Some(package) = package else {
        let at = if path.starts_with("Sources/") { Some(0) } else { path.find("/Sources/").map(|at| at + 1) };
        let name = at.and_then(|at| path[at + "Sources/".len()..].split_once('/'));
        return match (at, name) {
            (Some(at), Some((name, _))) => (path[..at].trim_end_matches('/'), name.to_owned()),
            _ => ("", String::new()),
        };
    };
    let rest = within(path, package.root).unwrap_or(path);
    if rest == MANIFEST {
        return (package.root, MANIFEST.to_owned());
    }
    let told = package.targets.iter().filter(|(_, folder)| !folder.is_empty() && within(rest, folder).is_some());
    if let Some((name, _)) = told.max_by_key(|(_, folder)| folder.len()) {
        return (package.root, name.clone());
    }
    let mut parts = rest.split('/');
    let (first, second) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_deep = parts.next().is_some();
    let name = match first {
        first if SOURCES.contains(&first) && is_deep => second,
        // The only target may have its files directly there.
        first if SOURCES.contains(&first) => package.targets.first().map_or(first, |(name, _)| name),
        first => first,
    };
    (package.root, name.to_owned())
}

/// The targets that a manifest names, each with the folder that it says.
fn targets(text: &str) -> Vec<(String, String)> {
    const WORDS: &[&str] =
        &[".target(", ".executableTarget(", ".testTarget(", ".macro(", ".plugin(", ".systemLibrary("];
    let mut found: Vec<(String, String)> = Vec::new();
    for word in WORDS {
        for (at, _) in text.match_indices(word) {
            let inside = arguments(&text[at + word.len()..]);
            let Some(name) = argument(inside, "name") else { continue };
            let path = argument(inside, "path").unwrap_or_default().trim_matches('/');
            // A target may be named by those that need it, without its folder.
            match found.iter_mut().find(|(known, _)| known == name) {
                Some((_, folder)) if folder.is_empty() => path.clone_into(folder),
                Some(_) => {}
                None => found.push((name.to_owned(), path.to_owned())),
            }
        }
    }
    found
}

/// The text up to the parenthesis that closes.
fn arguments(text: &str) -> &str {
    let (mut depth, mut is_text) = (0, false);
    for (at, char) in text.char_indices() {
        match char {
            '"' => is_text = !is_text,
            '(' | '[' if !is_text => depth += 1,
            ')' | ']' if !is_text && depth == 0 => return &text[..at],
            ')' | ']' if !is_text => depth -= 1,
            _ => {}
        }
    }
    text
}

/// The text of a named argument, other than of calls inside.
fn argument<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut depth = 0;
    for (at, char) in text.char_indices() {
        match char {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0
            && let Some(rest) = text[at..].strip_prefix(name)
            && let Some(value) = rest.trim_start().strip_prefix(':')
        {
            let value = value.trim_start().strip_prefix('"')?;
            return value.split('"').next();
        }
    }
    None
}

impl Modules for Targets {
    fn find(&self, file: u32, _: ScopeId, spec: &str) -> Option<Module> {
        if spec == "*" { Some(0) } else { self.look(Some(file), spec) }
    }

    fn of(&self, file: u32, _: ScopeId) -> Module {
        self.own.get(file as usize).copied().unwrap_or(0)
    }

    fn scopes(&self, module: Module) -> Vec<(u32, ScopeId)> {
        self.files[module as usize].iter().map(|file| (*file, ROOT)).collect()
    }

    fn child(&self, module: Module, name: &str) -> Option<Module> {
        if module == 0 { self.look(None, name) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::{Package, place, targets};

    #[test]
    fn targets_have_the_folders_that_a_manifest_says() {
        let text = r#"
let package = Package(name: "shop", targets: [
    .target(name: "Shop", dependencies: [.target(name: "Goods"), .product(name: "X", package: "x")]),
    .target(name: "Goods", dependencies: [], path: "Code/Goods"),
    .testTarget(name: "ShopTests", dependencies: ["Shop"]),
])"#;
        let found = targets(text);
        let told = |name: &str| found.iter().find(|(known, _)| known == name).map(|(_, folder)| folder.as_str());
        assert_eq!(told("Shop"), Some(""));
        assert_eq!(told("Goods"), Some("Code/Goods"));
        assert_eq!(told("ShopTests"), Some(""));
        let packages = [Package { root: "a", targets: found.clone() }];
        let of = |path: &'static str| place(&packages, path);
        assert_eq!(of("a/Sources/Shop/Inner/Item.swift"), ("a", "Shop".to_owned()));
        assert_eq!(of("a/Code/Goods/Item.swift"), ("a", "Goods".to_owned()));
        assert_eq!(of("a/Tests/ShopTests/ItemTests.swift"), ("a", "ShopTests".to_owned()));
        assert_eq!(of("a/Example/Item.swift"), ("a", "Example".to_owned()));
        assert_eq!(of("a/Package.swift"), ("a", "Package.swift".to_owned()));
        assert_eq!(of("b/Sources/Other/Item.swift"), ("b", "Other".to_owned()));
        assert_eq!(of("b/App/Item.swift"), ("", String::new()));
    }
}
