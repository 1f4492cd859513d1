//! Listing of a shipment: its facts, and the objects that its files are made of.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::Error;
use codelode_store::{CONTENT, FORMAT, is_file_name};

/// Version of the form of a listing.
pub(super) const VERSION: u32 = 2;
/// Largest listing in bytes, and largest part of a file in one object.
pub(super) const LARGEST: u64 = 16 << 20;
pub(super) const OBJECT: u64 = 16 << 20;
/// Name of the entry with git's names of the contents. It is no file of a store.
pub(super) const CONTENTS: &str = "contents";
/// Most files of a store.
const MOST_FILES: usize = 10_000;

/// Contents of a shipment. Its JSON is published last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Version of this form.
    pub version: u32,
    /// Version of the store's layout.
    pub format: u32,
    /// Version of the extraction that made it.
    pub content: u32,
    /// Facts for people.
    #[serde(flatten)]
    pub facts: Facts,
    /// Its files.
    pub files: Vec<Listed>,
}

/// Facts of a shipment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Name of the repository: `owner/name`.
    pub repo: String,
    /// Checked-out commit.
    #[serde(default)]
    pub commit: Option<String>,
    /// Git's name of the tree that it holds, if it holds exactly the files of a commit.
    #[serde(default)]
    pub tree: Option<String>,
    /// Seconds since 1970.
    pub indexed_at: i64,
    /// Number that a state which was asked for later has higher, where a queue gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// Number of files with content, and of their symbols.
    pub file_count: u64,
    /// Number of symbols.
    pub symbol_count: u64,
    /// Modules that its files import: an ecosystem, a slash, and the name; one word where there are too many.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub imports: BTreeSet<String>,
}

/// A file of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// Relative to the store.
    pub name: String,
    /// Its content, in order.
    pub parts: Vec<Part>,
}

/// A part of a file, which is one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// BLAKE3 of its content, in hex.
    pub hash: String,
    /// Size of its content.
    pub bytes: u64,
    /// Name of the object: the hash and an ending.
    pub object: String,
}

impl Listing {
    /// A listing of these files by this version.
    pub(super) fn new(facts: Facts, files: Vec<Listed>) -> Self {
        Self { version: VERSION, format: FORMAT, content: CONTENT, facts, files }
    }

    /// Its JSON.
    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a listing holds nothing that JSON cannot")
    }

    /// Reads a listing and checks all that it says of itself. `place` is for errors.
    pub(super) fn read(json: &[u8], place: &str) -> Result<Self, Error> {
        /// Versions, read before any other field is trusted.
        #[derive(Deserialize)]
        struct Versions {
            version: u32,
            format: u32,
            content: u32,
        }
        let malformed = |err: serde_json::Error| Error::damaged(place, format!("its listing is malformed: {err}"));
        let Versions { version, format, content } = serde_json::from_slice(json).map_err(malformed)?;
        if (version, format, content) != (VERSION, FORMAT, CONTENT) {
            return Err(Error::Version { place: place.to_owned(), found: (format, content) });
        }
        let listing: Self = serde_json::from_slice(json).map_err(malformed)?;
        match listing.problem() {
            Some(problem) => Err(Error::damaged(place, format!("its listing {problem}"))),
            None => Ok(listing),
        }
    }

    /// The first thing that is wrong with it.
    fn problem(&self) -> Option<String> {
        if self.files.len() > MOST_FILES {
            return Some(format!("names {} files", self.files.len()));
        }
        if !is_repo_name(&self.facts.repo) {
            return Some(format!("is of {:?}, which is not a name", self.facts.repo));
        }
        let mut names = HashSet::new();
        for Listed { name, parts } in &self.files {
            if name != CONTENTS && !is_file_name(name) || !names.insert(name) {
                return Some(format!("names a file {name:?}"));
            }
            if let Some(part) = parts.iter().find(|part| !part.is_sound()) {
                return Some(format!("names an object {:?} of {} bytes", part.object, part.bytes));
            }
        }
        self.bytes().is_none().then(|| "is of no size".to_owned())
    }

    /// Bytes of all files; `None` when there are more than can be counted.
    pub fn bytes(&self) -> Option<u64> {
        self.parts().try_fold(0_u64, |sum, part| sum.checked_add(part.bytes))
    }

    /// All its objects, as often as they are named.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.files.iter().flat_map(|file| &file.parts)
    }
}

impl Part {
    fn is_sound(&self) -> bool {
        let is_hash = self.hash.len() == 64 && self.hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hash && self.bytes <= OBJECT && self.object.starts_with(&self.hash) && is_object_name(&self.object)
    }
}

/// Ending of the names of objects: their content is a block of LZ4.
pub(super) const ENDING: &str = ".lz4";

/// Whether a repository may be called this: `owner/name` of plain letters.
pub fn is_repo_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.len() <= 64
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    name.split_once('/').is_some_and(|(owner, name)| is_plain(owner) && is_plain(name))
}

impl Listing {
    /// Path of an object in a place.
    pub(super) fn object_path(&self, part: &Part) -> String {
        format!("{}/objects/{}", self.facts.repo, part.object)
    }
}

/// Whether an object may be called this: letters, and the ending.
pub(super) fn is_object_name(name: &str) -> bool {
    let is_plain = |stem: &str| stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    name.len() <= 96 && name.strip_suffix(ENDING).is_some_and(|stem| !stem.is_empty() && is_plain(stem))
}

/// Key of a repository's newest state.
pub const LATEST: &str = "latest";

/// Whether a key may be called this.
pub fn is_key(key: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !key.is_empty() && key.len() <= 64 && !key.starts_with('.') && key.chars().all(is_plain)
}

/// Folder of a repository's listings in a place.
pub(super) fn keys_folder(repo: &str) -> String {
    format!("{repo}/keys")
}

/// Path of a listing in a place. Versions of the program do not share them.
pub(super) fn key_path(repo: &str, key: &str) -> String {
    format!("{}/{FORMAT}.{CONTENT}.{key}.json", keys_folder(repo))
}
