//! Context of an ecosystem: facts about files that other files of the project hold, such as the descriptions of a dbt
//! project, the owners in `CODEOWNERS`, and the package that a folder belongs to.
//!
//! A provider is one file and one line in [`PROVIDERS`]. It detects itself by the names of files.

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

/// Largest file that is read of those that describe tables, in bytes.
const LARGEST: usize = 4 << 20;
/// Most bytes of a name. It is kept with each of its columns and uses.
const LONGEST_NAME: usize = 256;
/// Most facts of one file.
const MOST_FACTS: usize = 50;

/// Files of a project.
pub trait Files {
    /// Their paths, relative to the root and with `/` between the parts.
    fn paths(&self) -> Vec<&str>;

    /// Text of a file, if it has any.
    fn text(&self, path: &str) -> Option<&[u8]>;

    /// Hash of that text.
    fn hash(&self, path: &str) -> Option<[u8; 32]>;

    /// Files of code, those of tests and generated ones left out.
    fn code(&self) -> Vec<&str> {
        self.paths()
    }

    /// Functions and methods of these files, and of descriptions of interfaces in YAML, by file and place.
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
    /// Qualified name of what it lies in.
    pub owner: String,
    /// Byte of its name.
    pub at: u32,
    /// Line of its name.
    pub line: u32,
    /// Position in the file, decorators included.
    pub span: Span,
}

/// A fact about the symbol whose name begins at a byte of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Arc<str>,
    /// The byte.
    pub at: u32,
    /// The fact.
    pub text: String,
}

/// A source of context.
pub trait Provider: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Whether a file of this path shows that there may be something to read.
    fn detect(&self, path: &str) -> bool;

    /// Context that these files hold; `None` when there is none for this provider.
    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>>;

    /// Whether it counts what it describes, and files may use one another in its own way.
    fn is_of_data(&self) -> bool {
        false
    }
}

/// Context that a provider has found.
pub trait ProjectContext: Send + Sync {
    /// Facts about a file: texts, the most telling first.
    fn about(&self, path: &str) -> Vec<String>;

    /// Whether files are found by these facts: not by those of every file in a folder.
    fn is_searched(&self) -> bool {
        true
    }

    /// Documented columns of tables and views.
    fn columns(&self) -> &[Column] {
        &[]
    }

    /// Counts of what it describes, by name.
    fn counts(&self) -> Vec<(&'static str, usize)> {
        Vec::new()
    }

    /// Places where a file uses what another defines, by file and place.
    fn links(&self) -> &[Link] {
        &[]
    }

    /// Facts about symbols.
    fn places(&self) -> &[Place] {
        &[]
    }

    /// Names of what a link may lead to, each with the file that defines it.
    fn defined(&self) -> &[(String, String)] {
        &[]
    }
}

/// A place where a file uses by name what another file defines, such as a model of dbt that reads another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// File of the place.
    pub from: Arc<str>,
    /// Byte of the name in it.
    pub at: u32,
    /// The name; that of a table of a source has its source before it: `raw.orders`.
    pub name: String,
    /// File that defines it; `None` when none of the project does.
    pub to: Option<Arc<str>>,
}

/// Whether a file of this path shows that a provider may know something.
pub fn detected(path: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.detect(path))
}

/// Whether a file of this path shows that files may describe tables, and use one another in a way that only a provider
/// knows.
pub fn is_of_data(path: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.is_of_data() && provider.detect(path))
}

/// A column of a table or view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the table or view.
    pub model: Arc<str>,
    /// File that defines it; the file that describes it when no other does.
    pub file: Arc<str>,
    /// Name of the column.
    pub name: String,
    /// Its description; may be empty.
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

/// Context of a project, by all providers.
#[derive(Default)]
pub struct Context {
    known: Vec<Known>,
    /// Files that were read for it, when it was made and not read again.
    read: Vec<String>,
}

impl Context {
    /// Reads the context that some files hold.
    pub fn of(files: &dyn Files) -> Self {
        let paths = files.paths();
        let watched = Watched::new(files);
        let read = |provider: &&dyn Provider| Some(Known::of(*provider, &*provider.read(&watched)?, &paths));
        let known = PROVIDERS.iter().filter_map(read).collect();
        Self { known, read: watched.read() }
    }

    /// Serializes the context of these files, to be stored.
    pub fn to_bytes(&self, files: &dyn Files) -> Vec<u8> {
        known::stored(&self.known, files, &self.read)
    }

    /// Context that was stored; `None` if that of these files may be another.
    pub fn read(bytes: &[u8], files: &dyn Files) -> Option<Self> {
        Some(Self { known: known::restored(bytes, files)?, read: Vec::new() })
    }

    /// Facts about a file, each after the name of its provider.
    pub fn about(&self, path: &str) -> Vec<String> {
        let named = |known: &'_ Known| {
            let facts = known.about(path).iter();
            facts.map(|text| format!("{}: {text}", known.provider)).collect::<Vec<_>>()
        };
        self.known.iter().flat_map(named).collect()
    }

    /// Facts about the symbol whose name begins at a byte of a file, each after the name of its provider.
    pub fn at(&self, path: &str, at: u32) -> Vec<String> {
        let named =
            |known: &'_ Known| known.at(path, at).map(|text| format!("{}: {text}", known.provider)).collect::<Vec<_>>();
        self.known.iter().flat_map(named).collect()
    }

    /// Texts by which a file is found.
    pub fn notes(&self, path: &str) -> Vec<&str> {
        self.known.iter().flat_map(|known| known.notes(path)).map(String::as_str).collect()
    }

    /// Documented columns.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.known.iter().flat_map(|known| &known.columns)
    }

    /// Places where files use what others define, by file and place.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.known.iter().flat_map(|known| &known.links)
    }

    /// Names of what links lead to, each with the file that defines it.
    pub fn defined(&self) -> impl Iterator<Item = (&str, &str)> {
        let defined = self.known.iter().flat_map(|known| &known.defined);
        defined.map(|(name, file)| (name.as_str(), file.as_str()))
    }

    /// Files that use, through others, what has a name: each with its distance in uses, nearest first and then by path.
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

/// Parts of a path: the folder, without a slash at its end, and the name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// First paragraph of a text on one line, at most `limit` letters.
fn first_paragraph(text: &str, limit: usize) -> String {
    let lines = text.lines().map(str::trim).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Files that a test makes.
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
