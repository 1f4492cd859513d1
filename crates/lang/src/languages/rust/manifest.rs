//! Crate roots of a package, from `Cargo.toml`.

use toml::{Table, Value};

/// A package's crates.
pub(super) struct Package {
    /// The library's name, as code writes it.
    pub name: String,
    /// The library's first file, below the package's folder.
    pub library: String,
    /// The root files of other crates, as far as they are written.
    pub others: Vec<String>,
}

impl Package {
    /// Reads a manifest; `None` if it is only a workspace's, or invalid.
    pub fn read(folder: &str, text: &[u8]) -> Option<Self> {
        let manifest: Table = std::str::from_utf8(text).ok()?.parse().ok()?;
        let text = |table: Option<&Value>, key: &str| Some(table?.get(key)?.as_str()?.to_owned());
        let package = manifest.get("package").or_else(|| manifest.get("project"))?;
        let library = manifest.get("lib");
        let name = text(library, "name").or_else(|| text(Some(package), "name"));
        let name = name.unwrap_or_else(|| folder.rsplit('/').next().unwrap_or_default().to_owned());
        let others = ["bin", "test", "example", "bench"].into_iter().filter_map(|kind| manifest.get(kind)?.as_array());
        let mut others: Vec<String> = others.flatten().filter_map(|target| text(Some(target), "path")).collect();
        others.push(text(Some(package), "build").unwrap_or_else(|| "build.rs".to_owned()));
        Some(Self {
            name: name.replace('-', "_"),
            library: text(library, "path").unwrap_or_else(|| "src/lib.rs".to_owned()),
            others,
        })
    }
}
