//! Ecosystem context: facts about files from other files of the project, such as descriptions in a dbt project, owners
//! in `CODEOWNERS`, and the package of a folder.
//!
//! Each provider is one file and one line in [`PROVIDERS`]. File names tell whether it applies.

mod catalogue;
mod codeowners;
mod dbt;
mod known;
mod manifests;
mod openapi;
mod published;
mod routing;
mod sqlmesh;
mod templates;
mod yaml;

pub use published::published;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use known::{Known, Watched};

use codelode_base::model::Span;

/// The largest file with table descriptions that is read, in bytes.
const LARGEST: usize = 4 << 20;
/// The longest name, in bytes. A name is stored with each of its columns and uses.
const LONGEST_NAME: usize = 256;
/// The most facts about one file.
const MOST_FACTS: usize = 50;

/// The files of a project.
pub trait Files {
    /// All paths, relative to the root, with `/` as separator.
    fn paths(&self) -> Vec<&str>;

    /// The text of a file; `None` if it has none.
    fn text(&self, path: &str) -> Option<&[u8]>;

    /// The hash of that text.
    fn hash(&self, path: &str) -> Option<[u8; 32]>;

    /// Paths of code files, without tests and generated files.
    fn code(&self) -> Vec<&str> {
        self.paths()
    }

    /// Functions and methods in code files, and operations in YAML interface descriptions, by file and place.
    fn functions(&self) -> Vec<Function<'_>> {
        Vec::new()
    }
}

/// A function or method.
#[derive(Clone, Debug)]
pub struct Function<'f> {
    /// Its file.
    pub path: &'f str,
    /// Its name.
    pub name: Cow<'f, str>,
    /// The qualified name of its enclosing symbol.
    pub owner: String,
    /// The first byte of its name.
    pub at: u32,
    /// Line of its name.
    pub line: u32,
    /// The span of the definition, with decorators.
    pub span: Span,
}

/// A fact about the symbol whose name begins at a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<str>,
    /// The first byte of the name.
    pub at: u32,
    /// The fact.
    pub text: String,
}

/// A source of context.
pub trait Provider: Sync {
    /// The provider's name.
    fn name(&self) -> &'static str;

    /// Whether the path of a file suggests that this provider has something to read.
    fn detect(&self, path: &str) -> bool;

    /// Reads the context in these files; `None` if there is none for this provider.
    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>>;

    /// Whether it describes data, so that it counts items and knows references between files.
    fn is_of_data(&self) -> bool {
        false
    }
}

/// The context that a provider has found.
pub trait ProjectContext: Send + Sync {
    /// Facts about a file, most significant first.
    fn about(&self, path: &str) -> Vec<String>;

    /// Whether a search finds files by these facts. Facts that a whole folder shares are no help there.
    fn is_searched(&self) -> bool {
        true
    }

    /// Documented columns of tables and views.
    fn columns(&self) -> &[Column] {
        &[]
    }

    /// Counts of described items, by kind.
    fn counts(&self) -> Vec<(&'static str, usize)> {
        Vec::new()
    }

    /// References between files, by file and place.
    fn links(&self) -> &[Link] {
        &[]
    }

    /// Facts about symbols.
    fn places(&self) -> &[Place] {
        &[]
    }

    /// Names to which references may lead, each with its defining file.
    fn defined(&self) -> &[(String, String)] {
        &[]
    }
}

/// A reference by name to a definition in another file, such as a dbt model that reads another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The file that contains the reference.
    pub from: Arc<str>,
    /// The byte of the name in that file.
    pub at: u32,
    /// The name. A source table has its source before it: `raw.orders`.
    pub name: String,
    /// The file that defines the name; `None` if no file of the project does.
    pub to: Option<Arc<str>>,
}

/// Whether any provider may apply to a project with a file of this path.
pub fn detected(path: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.detect(path))
}

/// Whether a file of this path suggests descriptions of tables, and references that only a provider understands.
pub fn is_of_data(path: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.is_of_data() && provider.detect(path))
}

/// A column of a table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the table or view.
    pub model: Arc<str>,
    /// The file that defines it, or else the file that describes it.
    pub file: Arc<str>,
    /// Name of the column.
    pub name: String,
    /// The description; may be empty.
    pub description: String,
}

/// Every provider.
pub static PROVIDERS: &[&dyn Provider] = &[
    &dbt::Dbt,
    &sqlmesh::SqlMesh,
    &catalogue::Catalogue,
    &codeowners::Codeowners,
    &manifests::Manifests,
    &openapi::OpenApi,
];

/// The context of a project from all providers.
#[derive(Default)]
pub struct Context {
    known: Vec<Known>,
    /// The files it was read from; empty for a context restored from storage.
    read: Vec<String>,
}

impl Context {
    /// Reads the context of some files.
    pub fn of(files: &dyn Files) -> Self {
        let paths = files.paths();
        let watched = Watched::new(files);
        let read = |provider: &&dyn Provider| Some(Known::of(*provider, &*provider.read(&watched)?, &paths));
        let known = PROVIDERS.iter().filter_map(read).collect();
        Self { known, read: watched.read() }
    }

    /// Serializes the context of these files.
    pub fn to_bytes(&self, files: &dyn Files) -> Vec<u8> {
        known::stored(&self.known, files, &self.read)
    }

    /// Restores a stored context; `None` if it may differ from the context of these files.
    pub fn read(bytes: &[u8], files: &dyn Files) -> Option<Self> {
        Some(Self { known: known::restored(bytes, files)?, read: Vec::new() })
    }

    /// Facts about a file, each prefixed with its provider.
    pub fn about(&self, path: &str) -> Vec<String> {
        let named = |known: &'_ Known| {
            let facts = known.about(path).iter();
            facts.map(|text| format!("{}: {text}", known.provider)).collect::<Vec<_>>()
        };
        self.known.iter().flat_map(named).collect()
    }

    /// Facts about the symbol whose name begins at a byte, each prefixed with its provider.
    pub fn at(&self, path: &str, at: u32) -> Vec<String> {
        let named =
            |known: &'_ Known| known.at(path, at).map(|text| format!("{}: {text}", known.provider)).collect::<Vec<_>>();
        self.known.iter().flat_map(named).collect()
    }

    /// The texts by which a search finds a file.
    pub fn notes(&self, path: &str) -> Vec<&str> {
        self.known.iter().flat_map(|known| known.notes(path)).map(String::as_str).collect()
    }

    /// Documented columns.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.known.iter().flat_map(|known| &known.columns)
    }

    /// References between files, by file and place.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.known.iter().flat_map(|known| &known.links)
    }

    /// Names to which references lead, each with its defining file.
    pub fn defined(&self) -> impl Iterator<Item = (&str, &str)> {
        let defined = self.known.iter().flat_map(|known| &known.defined);
        defined.map(|(name, file)| (name.as_str(), file.as_str()))
    }

    /// Files that depend on a name, directly or through other files. Each has its distance in uses; nearest first, then
    /// by path.
    pub fn users(&self, name: &str, depth: u32) -> Vec<(&str, u32)> {
        let (mut found, mut met): (Vec<(&str, u32)>, HashSet<&str>) = Default::default();
        let (mut seen, mut level) = (HashSet::from([name]), HashSet::from([name]));
        for at in 1..=depth {
            let uses = self.links().filter(|link| level.contains(link.name.as_str())).map(|link| &*link.from);
            let new: BTreeSet<&str> = uses.filter(|file| !met.contains(file)).collect();
            found.extend(new.iter().map(|file| (*file, at)));
            met.extend(&new);
            let next = self.defined().filter(|(_, file)| new.contains(file)).map(|(name, _)| name);
            level = next.filter(|name| seen.insert(name)).collect();
        }
        found
    }

    /// Counts by provider.
    pub fn counts(&self) -> impl Iterator<Item = (&str, &[(String, usize)])> {
        self.known.iter().map(|known| (known.provider.as_str(), known.counts.as_slice()))
    }
}

/// Splits a path into its folder (without a slash) and its name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The first paragraph of a text on one line, at most `limit` characters.
fn first_paragraph(text: &str, limit: usize) -> String {
    let lines = text.lines().map(str::trim).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Files of a test: path and text.
#[cfg(test)]
struct Made(Vec<(&'static str, &'static str)>);

#[cfg(test)]
impl Files for Made {
    fn paths(&self) -> Vec<&str> {
        self.0.iter().map(|(path, _)| *path).collect()
    }

    fn text(&self, path: &str) -> Option<&[u8]> {
        self.0.iter().find(|(other, _)| *other == path).map(|(_, text)| text.as_bytes())
    }

    fn hash(&self, path: &str) -> Option<[u8; 32]> {
        self.text(path).map(|text| *blake3::hash(text).as_bytes())
    }
}
