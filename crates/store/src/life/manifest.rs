//! Manifest: the file that lists the contents of a store.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::identity::Identities;
use crate::packs::pack::{self, agrees, checksum};
use crate::search::segments;
use crate::tables::{DERIVED, compiled, edges, files, notes, summaries, texts, vectors};
use crate::{Error, FORMAT};
use codelode_base::model::Roles;

/// Manifest of a store. Its JSON is `manifest.json` in the store's folder.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of the file layout; any other is refused.
    pub format: u32,
    /// Version of the search engine's files; any other is refused.
    pub tantivy: String,
    /// Commit counter; names the files that each commit added.
    pub generation: u64,
    /// Number for the next new file.
    pub next_file: u32,
    /// The packs, by ascending file numbers.
    pub packs: Vec<PackFacts>,
    /// The checkouts, by name.
    pub snapshots: BTreeMap<String, SnapshotFacts>,
    /// Files in no snapshot; a later commit removes their symbols from the search index.
    pub garbage: Vec<u32>,
    /// The search engine's own list of segments, its `meta.json`.
    pub segments: serde_json::Value,
    /// Random number that ties derived tables to this store.
    #[serde(default)]
    pub store: u64,
    /// Hash of the length and both ends of each named file.
    #[serde(default)]
    pub files: Identities,
}

/// A pack.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PackFacts {
    /// The commit that wrote it, and its file's ending.
    pub number: u64,
    /// Its first file number.
    pub first_file: u32,
    /// One past its last file number.
    pub end_file: u32,
    /// Bytes of the whole pack.
    pub bytes: u64,
    /// How many files it holds.
    pub files: u32,
    /// Extraction version of its oldest file.
    pub content: u32,
}

/// A checkout's newest state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SnapshotFacts {
    /// The commit that wrote its table of files, and that file's ending.
    pub number: u64,
    /// Extraction version of its files; the next run rereads files of any other.
    pub content: u32,
    /// Seconds since 1970 of the last run that looked at every file.
    pub indexed_at: i64,
    /// Files whose content is held.
    pub files: u64,
    /// Their symbols.
    pub symbols: u64,
    /// Their lines.
    pub lines: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files by language.
    pub languages: BTreeMap<String, u64>,
    /// Skipped entries by rule.
    pub skipped: BTreeMap<String, u64>,
    /// Checked-out commit.
    pub git_head: Option<String>,
    /// Ignore patterns from the caller, reused for automatic updates.
    #[serde(default)]
    pub extra_ignore: Vec<String>,
    /// Globs of files read although they may hold a credential.
    #[serde(default)]
    pub allow_secrets: Vec<String>,
    /// Roles and languages that settings give to files.
    #[serde(default, skip_serializing_if = "Roles::is_empty")]
    pub roles: Roles,
    /// Whether symbolic links were followed.
    #[serde(default)]
    pub follow_symlinks: bool,
    /// The first run is unfinished: some files are missing.
    #[serde(default)]
    pub partial: bool,
    /// Inode of the root when all files were checked. It tells a copied folder, where change times differ.
    #[serde(default)]
    pub root_inode: Option<u64>,
    /// Compiler index used to resolve names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<CompilerFacts>,
}

/// A compiler index of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompilerFacts {
    /// The commit that wrote its table, and that file's ending.
    pub number: u64,
    /// Checksum of its table.
    pub checksum: u64,
    /// Source file, relative to the root if inside it.
    pub path: String,
    /// Bytes of that file.
    pub size: u64,
    /// Last change of that file, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Documents in it.
    pub documents: u64,
    /// Occurrences in them.
    pub occurrences: u64,
    /// Documents that did not match their files' text.
    pub other_text: u64,
}

/// Versions, read before any other field is trusted.
#[derive(Deserialize)]
struct Versions {
    format: u64,
    tantivy: String,
}

impl Manifest {
    /// Manifest of an empty store.
    pub fn empty() -> Self {
        Self {
            format: FORMAT,
            tantivy: tantivy_version(),
            generation: 0,
            next_file: 0,
            packs: Vec::new(),
            snapshots: BTreeMap::new(),
            garbage: Vec::new(),
            segments: serde_json::Value::Null,
            store: random(),
            files: Identities::default(),
        }
    }

    /// Records the identities of its files. Stores of earlier versions have no number yet.
    pub(crate) fn identify(&mut self, dir: &Path) -> Result<(), Error> {
        if self.store == 0 {
            self.store = random();
        }
        self.files.record(&self.committed(dir))
    }

    /// Path of the manifest.
    pub fn path(dir: &Path) -> PathBuf {
        dir.join("manifest.json")
    }

    /// Reads the manifest, and refuses other versions.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let path = Self::path(dir);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Err(Error::Missing(dir.to_owned())),
            Err(err) => return Err(Error::io("cannot read", &path)(err)),
        };
        let damaged = |err: serde_json::Error| Error::Damaged { path: path.clone(), what: err.to_string() };
        let versions: Versions = serde_json::from_slice(&bytes).map_err(damaged)?;
        if versions.format > u64::from(FORMAT) {
            return Err(Error::Newer { path: dir.to_owned(), found: versions.format });
        }
        if versions.format != u64::from(FORMAT) || versions.tantivy != tantivy_version() {
            return Err(Error::Outdated { path: dir.to_owned(), found: versions.format });
        }
        if !matches_checksum(&bytes) {
            return Err(Error::Damaged { path, what: "it does not match its checksum".to_owned() });
        }
        serde_json::from_slice(&bytes).map_err(damaged)
    }

    /// Reads the manifest of any version, whole or not, only to learn which files it names.
    pub(crate) fn read_any(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(Self::path(dir)).ok()?).ok()
    }

    /// Files that the manifest requires: a commit writes and syncs them first.
    pub fn committed(&self, dir: &Path) -> HashSet<PathBuf> {
        let packs = self.packs.iter().map(|facts| pack::path(dir, facts.number));
        let tables = self.snapshots.values().map(|facts| files::path(dir, facts.number));
        let segments = segments::files(&self.segments).into_iter().map(|name| dir.join("index").join(name));
        let compilers = self.snapshots.values().filter_map(|facts| facts.compiler.as_ref());
        let compiled = compilers.map(|compiler| compiled::path(dir, compiler.number));
        packs.chain(tables).chain(segments).chain(compiled).collect()
    }

    /// All files that may stay in the store: committed ones, derived tables of its snapshots, the newest edges while a
    /// snapshot without edges may reuse them, the newest notes, vectors with the keys of their texts, and summaries. Every removal of files checks
    /// this set.
    pub fn named(&self, dir: &Path) -> HashSet<PathBuf> {
        let mut named = self.committed(dir);
        named.extend([Self::path(dir), dir.join("lock"), texts::path(dir), summaries::path(dir)]);
        named.extend(vectors::all(dir));
        for facts in self.snapshots.values() {
            named.extend(DERIVED.map(|path| path(dir, facts.number)));
        }
        let related = edges::numbers(dir);
        if self.snapshots.values().any(|facts| !related.contains(&facts.number)) {
            named.extend(related.first().map(|number| edges::path(dir, *number)));
        }
        // The next question may find that they hold for the new snapshot as well.
        named.extend(notes::newest(dir));
        named
    }

    /// Writes the manifest beside the old one. Returns the file, which must be synced.
    pub fn stage(&self, dir: &Path) -> Result<(PathBuf, File), Error> {
        let path = Self::staged(dir);
        let bytes = with_checksum(serde_json::to_vec(self).expect("a manifest holds nothing that JSON cannot"));
        let mut file = File::create(&path).map_err(Error::io("cannot write", &path))?;
        file.write_all(&bytes).map_err(Error::io("cannot write", &path))?;
        Ok((path, file))
    }

    /// Replaces the old manifest by the staged and synced one, which publishes the commit.
    pub fn publish(dir: &Path) -> Result<(), Error> {
        let path = Self::path(dir);
        std::fs::rename(Self::staged(dir), &path).map_err(Error::io("cannot replace", &path))
    }

    fn staged(dir: &Path) -> PathBuf {
        dir.join("manifest.json.new")
    }
}

/// A random number that is not zero.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id()).max(1)
}

/// Separator between a manifest and its checksum, which is its last key.
const CHECKSUM: &str = ",\"checksum\":\"";

/// Appends the checksum of everything before it.
fn with_checksum(mut json: Vec<u8>) -> Vec<u8> {
    let end = json.pop();
    debug_assert_eq!(end, Some(b'}'));
    let sum = checksum(&json);
    json.extend_from_slice(format!("{CHECKSUM}{sum:016x}\"}}").as_bytes());
    json
}

/// Whether the checksum of a manifest matches.
fn matches_checksum(bytes: &[u8]) -> bool {
    let Some(at) = memchr::memmem::rfind(bytes, CHECKSUM.as_bytes()) else { return false };
    agrees(bytes, &with_checksum([&bytes[..at], b"}"].concat()))
}

/// Version of the search engine as far as its file layout depends on it: `tantivy v0.27, index_format v7`.
fn tantivy_version() -> String {
    let full = tantivy::version_string();
    let (version, rest) = full.split_once(',').unwrap_or((full, ""));
    let minor = version.rsplit_once('.').map_or(version, |(minor, _)| minor);
    format!("{minor},{rest}")
}
