//! Identity of installed packages: where they come from, their name and their version.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest id of a package, in bytes.
const LONGEST: usize = 400;
/// Number of digits of the hash in an id. Callers are told no hash of a package that they may not see, so that it cannot be
/// aimed at.
const HASH: usize = 12;

/// A package ecosystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ecosystem {
    /// Python's packages.
    PyPi,
    /// Packages of JavaScript and TypeScript.
    Npm,
    /// Rust's crates.
    Cargo,
    /// Go's modules.
    Golang,
    /// Java's artifacts, named `group:artifact`.
    Maven,
}

impl Ecosystem {
    /// All ecosystems.
    pub const ALL: &'static [Self] = &[Self::PyPi, Self::Npm, Self::Cargo, Self::Golang, Self::Maven];

    /// The word before a package's name in its id, as package URLs spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PyPi => "pypi",
            Self::Npm => "npm",
            Self::Cargo => "cargo",
            Self::Golang => "golang",
            Self::Maven => "maven",
        }
    }
}

/// A package version with its content hash: `pypi:requests@2.31.0~1f3870be274f`. The colon tells it from a repository
/// id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PackageId {
    /// Its ecosystem.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Hex hash of its files; empty while unknown. Two copies of a version may differ.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content: String,
}

impl PackageId {
    /// Reads an id; `None` for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        let (ecosystem, rest) = text.split_once(':')?;
        let ecosystem = *Ecosystem::ALL.iter().find(|known| known.as_str() == ecosystem)?;
        let (name, version) = rest.rsplit_once('@')?;
        let is_hash = |text: &str| text.len() == HASH && text.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
        let (version, content) = match version.rsplit_once('~') {
            Some((version, content)) if is_hash(content) => (version, content),
            _ => (version, ""),
        };
        Self::new(ecosystem, name, version).map(|id| id.of_content(content))
    }

    /// The id with the hash of its files: the first digits of a longer one.
    pub fn of_content(self, hash: &str) -> Self {
        Self { content: hash.get(..HASH).unwrap_or_default().to_owned(), ..self }
    }

    /// Whether both are the same version of the same package, whatever their files hold.
    pub fn is_version_of(&self, other: &Self) -> bool {
        (self.ecosystem, &self.name, &self.version) == (other.ecosystem, &other.name, &other.version)
    }

    /// Creates an id; `None` for names and versions that no package has.
    pub fn new(ecosystem: Ecosystem, name: &str, version: &str) -> Option<Self> {
        let is_plain = |text: &str| {
            !text.is_empty() && text.len() <= LONGEST && !text.contains(|c: char| c.is_control() || c.is_whitespace())
        };
        let id = || Self { ecosystem, name: name.to_owned(), version: version.to_owned(), content: String::new() };
        (is_plain(name) && is_plain(version) && !version.contains(['@', '/', '\\'])).then(id)
    }

    /// Whether a text names the package without its hash: `pypi:requests@2.31.0`, `pypi:requests`, or `requests` alone.
    pub fn is_called(&self, text: &str) -> bool {
        let name = text.strip_prefix(self.ecosystem.as_str()).and_then(|rest| rest.strip_prefix(':')).unwrap_or(text);
        let rest = name.strip_prefix(self.name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('@') == Some(self.version.as_str()))
    }
}

/// A package that a repository publishes: what its manifest says, and the names by which others import it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// Where it is published.
    pub ecosystem: Ecosystem,
    /// Its name.
    pub name: String,
    /// Folder of its manifest; empty at the root.
    pub folder: String,
    /// Names of its modules, as imports write them.
    pub modules: Vec<String>,
}

impl Published {
    /// Whether an import of a package, by the name that its language gives it, means this one.
    pub fn is_imported_as(&self, imported: &str) -> bool {
        self.modules.iter().any(|module| match imported.strip_prefix(module.as_str()) {
            Some("") => true,
            // Go names folders below a module, and the others name what is imported as a whole.
            Some(rest) => self.ecosystem == Ecosystem::Golang && rest.starts_with('/'),
            None => false,
        })
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.ecosystem.as_str(), self.name)
    }
}

impl fmt::Display for PackageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}@{}", self.ecosystem.as_str(), self.name, self.version)?;
        if self.content.is_empty() { Ok(()) } else { write!(f, "~{}", self.content) }
    }
}

#[cfg(test)]
mod tests {
    use super::PackageId;

    #[test]
    fn ids_are_read_as_they_are_written() {
        for id in
            ["pypi:requests@2.31.0", "npm:@types/node@20.1.0", "maven:com.google.guava:guava@33.0", "golang:a.b/c@v1"]
        {
            let parsed = PackageId::parse(id).expect("it is one");
            assert_eq!(parsed.to_string(), id);
            let short = id.rsplit_once('@').expect("it has a version").0;
            assert!([&parsed.name, short, id].iter().all(|text| parsed.is_called(text)));
            let whole = format!("{id}~0123456789ab");
            let hashed = PackageId::parse(&whole).expect("it is one");
            assert_eq!((hashed.to_string(), &*hashed.content), (whole, "0123456789ab"));
            assert!(hashed.is_called(id) && hashed != parsed && hashed.is_version_of(&parsed));
        }
        assert_eq!(PackageId::parse("maven:a:b@1~rc").map(|id| id.version), Some("1~rc".to_owned()));
        for other in [
            "owner/name@v1",
            "local/a-01234567",
            "npm:@types/node",
            "cargo:a@1/../../b",
            "gem:rack@3",
            "pypi:a b@1",
            "pypi:@1",
            "",
        ] {
            assert_eq!(PackageId::parse(other), None, "{other}");
        }
    }
}
