//! Context of an ecosystem: facts about files that other files of the project hold, such as the descriptions of a dbt
//! project, the owners in `CODEOWNERS`, and the package that a folder belongs to.
//!
//! A provider is one file and one line in [`PROVIDERS`]. It detects itself by the names of files.

mod codeowners;
mod dbt;
mod manifests;
mod published;
mod yaml;

pub use published::published;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Files of a project.
pub trait Files {
    /// Their paths, relative to the root and with `/` between the parts.
    fn paths(&self) -> Vec<&str>;

    /// Text of a file, if it has any.
    fn text(&self, path: &str) -> Option<&[u8]>;
}

/// A source of context.
pub trait Provider: Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// Context that these files hold; `None` when there is none for this provider.
    fn read(&self, files: &dyn Files) -> Option<Box<dyn ProjectContext>>;

    /// Whether a file of this path shows that others may name one another in the provider's own way.
    fn links(&self, _path: &str) -> bool {
        false
    }
}

/// Context that a provider has found.
pub trait ProjectContext: Send + Sync {
    /// Facts about a file: texts, the most telling first.
    fn about(&self, path: &str) -> Vec<String>;

    /// Texts by which a file is found: not those of every file in a folder.
    fn notes(&self, path: &str) -> Vec<String> {
        self.about(path)
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

/// Whether a file of this path shows that files may use one another in a way that only a provider knows.
pub fn links(path: &str) -> bool {
    PROVIDERS.iter().any(|provider| provider.links(path))
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
pub static PROVIDERS: &[&dyn Provider] = &[&dbt::Dbt, &codeowners::Codeowners, &manifests::Manifests];

/// Context of a project, by all providers.
#[derive(Default)]
pub struct Context {
    known: Vec<(&'static str, Box<dyn ProjectContext>)>,
}

impl Context {
    /// Reads the context that some files hold.
    pub fn of(files: &dyn Files) -> Self {
        let read = |provider: &&dyn Provider| Some((provider.name(), provider.read(files)?));
        Self { known: PROVIDERS.iter().filter_map(read).collect() }
    }

    /// Facts about a file, each after the name of its provider.
    pub fn about(&self, path: &str) -> Vec<String> {
        let named = |(name, known): &(&str, Box<dyn ProjectContext>)| {
            known.about(path).into_iter().map(|text| format!("{name}: {text}")).collect::<Vec<_>>()
        };
        self.known.iter().flat_map(named).collect()
    }

    /// Texts by which a file is found.
    pub fn notes(&self, path: &str) -> Vec<String> {
        self.known.iter().flat_map(|(_, known)| known.notes(path)).collect()
    }

    /// Documented columns.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.known.iter().flat_map(|(_, known)| known.columns())
    }

    /// Places where files use what others define, by file and place.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.known.iter().flat_map(|(_, known)| known.links())
    }

    /// Names of what links lead to, each with the file that defines it.
    pub fn defined(&self) -> impl Iterator<Item = (&str, &str)> {
        let defined = self.known.iter().flat_map(|(_, known)| known.defined());
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
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, Vec<(&'static str, usize)>)> {
        self.known.iter().map(|(name, known)| (*name, known.counts()))
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
}
