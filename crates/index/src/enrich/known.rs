//! Facts of providers as plain data. They are stored beside the index, and reused as long as the files that they were
//! read from are unchanged.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Column, Files, Function, Link, ProjectContext, Provider, split};

/// Version of the format and of the facts. Other versions are computed again.
const VERSION: u32 = 2;

/// The facts of one provider.
#[derive(Default)]
pub(super) struct Known {
    pub(super) provider: String,
    /// Facts by file. A folder, with `/` at its end, has the facts of all files and folders in it without facts of
    /// their own.
    facts: HashMap<String, Vec<String>>,
    /// Whether a search finds files by these facts.
    is_searched: bool,
    pub(super) columns: Vec<Column>,
    pub(super) counts: Vec<(String, usize)>,
    pub(super) links: Vec<Link>,
    pub(super) defined: Vec<(String, String)>,
    /// Facts about symbols: file, byte of the name, and fact.
    places: HashMap<String, Vec<(u32, String)>>,
}

impl Known {
    pub(super) fn of(provider: &dyn Provider, context: &dyn ProjectContext, paths: &[&str]) -> Self {
        Self {
            provider: provider.name().to_owned(),
            facts: facts_of(context, paths),
            is_searched: context.is_searched(),
            columns: context.columns().to_vec(),
            counts: context.counts().into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
            links: context.links().to_vec(),
            defined: context.defined().to_vec(),
            places: places_of(context),
        }
    }

    /// Facts about the symbol whose name begins at a byte.
    pub(super) fn at(&self, path: &str, at: u32) -> impl Iterator<Item = &str> {
        let own = self.places.get(path).into_iter().flatten();
        own.filter(move |(place, _)| *place == at).map(|(_, text)| text.as_str())
    }

    /// Facts about a file.
    pub(super) fn about(&self, path: &str) -> &[String] {
        let folders = path.rmatch_indices('/').map(|(end, _)| &path[..=end]).chain(["/"]);
        let mut found = [path].into_iter().chain(folders).filter_map(|place| self.facts.get(place));
        found.next().map_or(&[], Vec::as_slice)
    }

    /// The facts by which a search finds a file.
    pub(super) fn notes(&self, path: &str) -> &[String] {
        if self.is_searched { self.about(path) } else { &[] }
    }
}

fn places_of(context: &dyn ProjectContext) -> HashMap<String, Vec<(u32, String)>> {
    let mut places: HashMap<String, Vec<(u32, String)>> = HashMap::new();
    for place in context.places() {
        places.entry(place.file.to_string()).or_default().push((place.at, place.text.clone()));
    }
    places
}

/// Facts about all files. If most files of a folder have the same facts, they are stored once.
fn facts_of(context: &dyn ProjectContext, paths: &[&str]) -> HashMap<String, Vec<String>> {
    let mut folders: BTreeMap<&str, Vec<(&str, Vec<String>)>> = BTreeMap::new();
    for path in paths {
        folders.entry(split(path).0).or_default().push((path, context.about(path)));
    }
    let mut kept: HashMap<String, Vec<String>> = HashMap::new();
    let key = |folder: &str| format!("{folder}/");
    // A folder precedes the folders in it.
    for (folder, files) in folders {
        let above = std::iter::successors(Some(folder), |path| (!path.is_empty()).then(|| split(path).0)).skip(1);
        let inherited = above.into_iter().find_map(|path| kept.get(&key(path)).cloned()).unwrap_or_default();
        let mut times: BTreeMap<&[String], usize> = BTreeMap::new();
        files.iter().for_each(|(_, facts)| *times.entry(facts).or_default() += 1);
        let (most, count) = times.iter().max_by_key(|(_, count)| **count).map_or((&[][..], 0), |(of, n)| (*of, *n));
        let own = if count > times.get(&*inherited).copied().unwrap_or(1) { most.to_vec() } else { inherited.clone() };
        for (path, facts) in files {
            if facts != own {
                kept.insert(path.to_owned(), facts);
            }
        }
        if own != inherited {
            kept.insert(key(folder), own);
        }
    }
    kept
}

/// Files of a project. Notes the paths whose text was read.
pub(super) struct Watched<'f> {
    files: &'f dyn Files,
    read: RefCell<BTreeSet<String>>,
}

impl<'f> Watched<'f> {
    pub(super) fn new(files: &'f dyn Files) -> Self {
        Self { files, read: RefCell::default() }
    }

    pub(super) fn read(self) -> Vec<String> {
        self.read.into_inner().into_iter().collect()
    }
}

impl Files for Watched<'_> {
    fn paths(&self) -> Vec<&str> {
        self.files.paths()
    }

    fn text(&self, path: &str) -> Option<&[u8]> {
        let text = self.files.text(path)?;
        self.read.borrow_mut().insert(path.to_owned());
        Some(text)
    }

    fn hash(&self, path: &str) -> Option<[u8; 32]> {
        self.files.hash(path)
    }

    fn code(&self) -> Vec<&str> {
        self.files.code()
    }

    fn functions(&self) -> Vec<Function<'_>> {
        self.files.functions()
    }
}

/// Hash of everything that the facts depend on: the project's paths, and the contents of the files read.
fn inputs(files: &dyn Files, read: &[String]) -> String {
    let mut hasher = blake3::Hasher::new();
    for path in files.paths() {
        hasher.update(path.as_bytes()).update(b"\n");
    }
    for path in read {
        hasher.update(path.as_bytes()).update(&files.hash(path).unwrap_or_default());
    }
    hasher.finalize().to_hex().to_string()
}

/// The stored format.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// See [`inputs`].
    inputs: String,
    read: Vec<String>,
    known: Vec<StoredKnown>,
}

/// A table or view: its name, its file, and its columns with descriptions.
type StoredModel = (String, String, Vec<(String, String)>);

/// A file and its references: position, name, and the file that defines the name.
type StoredLinks = (String, Vec<(u32, String, Option<String>)>);

#[derive(Serialize, Deserialize)]
struct StoredKnown {
    provider: String,
    facts: HashMap<String, Vec<String>>,
    is_searched: bool,
    models: Vec<StoredModel>,
    counts: Vec<(String, usize)>,
    links: Vec<StoredLinks>,
    defined: Vec<(String, String)>,
    places: HashMap<String, Vec<(u32, String)>>,
}

/// Serializes facts about `files`, which came from the files in `read`.
pub(super) fn stored(known: &[Known], files: &dyn Files, read: &[String]) -> Vec<u8> {
    let known = known.iter().map(StoredKnown::of).collect();
    let stored = Stored { version: VERSION, inputs: inputs(files, read), read: read.to_vec(), known };
    serde_json::to_vec(&stored).unwrap_or_default()
}

/// Deserializes facts. `None` if they have another version, or the files have changed.
pub(super) fn restored(bytes: &[u8], files: &dyn Files) -> Option<Vec<Known>> {
    let stored: Stored = serde_json::from_slice(bytes).ok()?;
    let is_it = stored.version == VERSION && stored.inputs == inputs(files, &stored.read);
    is_it.then(|| stored.known.into_iter().map(StoredKnown::known).collect())
}

impl StoredKnown {
    fn of(known: &Known) -> Self {
        let of_same = known.columns.chunk_by(|a, b| (&a.model, &a.file) == (&b.model, &b.file));
        let model = |columns: &[Column]| {
            let named = columns.iter().map(|column| (column.name.clone(), column.description.clone()));
            (columns[0].model.to_string(), columns[0].file.to_string(), named.collect())
        };
        let place = |link: &Link| (link.at, link.name.clone(), link.to.as_deref().map(str::to_owned));
        let links = known.links.chunk_by(|a, b| a.from == b.from);
        Self {
            provider: known.provider.clone(),
            facts: known.facts.clone(),
            is_searched: known.is_searched,
            models: of_same.map(model).collect(),
            counts: known.counts.clone(),
            links: links.map(|links| (links[0].from.to_string(), links.iter().map(place).collect())).collect(),
            defined: known.defined.clone(),
            places: known.places.clone(),
        }
    }

    fn known(self) -> Known {
        let columns = self.models.into_iter().flat_map(|(model, file, columns)| {
            let (model, file): (Arc<str>, Arc<str>) = (model.into(), file.into());
            let column =
                move |(name, description)| Column { model: model.clone(), file: file.clone(), name, description };
            columns.into_iter().map(column)
        });
        let links = self.links.into_iter().flat_map(|(from, places)| {
            let from: Arc<str> = from.into();
            let link = move |(at, name, to): (u32, String, Option<String>)| Link {
                from: from.clone(),
                at,
                name,
                to: to.map(Arc::from),
            };
            places.into_iter().map(link)
        });
        Known {
            provider: self.provider,
            facts: self.facts,
            is_searched: self.is_searched,
            columns: columns.collect(),
            counts: self.counts,
            links: links.collect(),
            defined: self.defined,
            places: self.places,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Context, Made};

    const SCHEMA: &str = "models: [{name: orders, description: One row for an order., columns: [{name: id}, {name: paid, description: What was paid.}]}]\n";

    fn files(edited: &'static str) -> Made {
        Made(vec![
            ("CODEOWNERS", "* @all\n/models/ @data\n*.py @code\n/lib/x/deep/ \n"),
            ("dbt_project.yml", "name: shop\n"),
            ("lib/a.rs", edited),
            ("lib/b.py", ""),
            ("lib/x/c.py", ""),
            ("lib/x/deep/d.py", ""),
            ("models/orders.sql", "select * from {{ ref('raw') }}"),
            ("models/raw.sql", "select 1"),
            ("models/schema.yml", SCHEMA),
            ("package.json", r#"{"name": "shop"}"#),
        ])
    }

    #[test]
    fn what_is_stored_is_read_again_while_its_inputs_are_the_same() {
        let made = Context::of(&files(""));
        let bytes = made.to_bytes(&files(""));
        for edited in ["", "an edit of a file that nobody reads"] {
            let read = Context::read(&bytes, &files(edited)).expect("its inputs are the same");
            for path in files("").0.iter().map(|(path, _)| *path).chain(["lib/new.py"]) {
                assert_eq!(read.about(path), made.about(path), "{path}");
                assert_eq!(read.notes(path), made.notes(path), "{path}");
            }
            assert_eq!(read.columns().collect::<Vec<_>>(), made.columns().collect::<Vec<_>>());
            assert_eq!(read.links().collect::<Vec<_>>(), made.links().collect::<Vec<_>>());
            assert_eq!(read.defined().collect::<Vec<_>>(), made.defined().collect::<Vec<_>>());
            assert_eq!(read.counts().collect::<Vec<_>>(), made.counts().collect::<Vec<_>>());
        }
        let owner = |path: &str| {
            made.about(path).into_iter().find_map(|fact| Some(fact.strip_prefix("codeowners: owned by ")?.to_owned()))
        };
        let owners = ["lib/x/c.py", "lib/x/deep/d.py", "models/raw.sql", "package.json"]
            .map(|path| owner(path).unwrap_or_default());
        assert_eq!(owners, ["@code", "", "@data", "@all"]);

        let changed = |path: &str, text: &'static str| {
            let mut files = files("");
            files.0.iter_mut().filter(|(other, _)| *other == path).for_each(|(_, old)| *old = text);
            files
        };
        assert!(Context::read(&bytes, &changed("models/raw.sql", "select 2")).is_none());
        assert!(Context::read(&bytes, &changed("CODEOWNERS", "* @one\n")).is_none());
        let mut more = files("");
        more.0.push(("models/new.sql", ""));
        assert!(Context::read(&bytes, &more).is_none());
        for end in 0..bytes.len() {
            assert!(Context::read(&bytes[..end], &files("")).is_none());
        }
    }
}
