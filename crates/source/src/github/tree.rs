//! Files of a commit on GitHub.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Deserialize;

use super::archive::{self, Heap};
use super::listing::{self, object_id};
use super::{Client, Error, Name};
use codelode_base::model::{EntryMode, SourceError, SourceTree, TreeEntry};
use codelode_net as net;

/// Number of parallel blob requests.
const AT_ONCE: usize = 8;
/// Maximum number of files fetched one by one; for more, the archive is smaller.
const FEW: usize = 12;
/// Maximum size of a blob from GitHub, in bytes.
const LARGEST: u64 = 100 << 20;
/// Limits on the archive: compressed size and time.
const ARCHIVE: (u64, Duration) = (4 << 30, Duration::from_secs(30 * 60));

/// Source of file contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentSource {
    /// The archive for many files; single requests for a few, and for files missing from the archive.
    Auto,
    /// The archive, and single requests for files missing from it. Fails without an archive.
    Tarball,
    /// Single requests.
    Blobs,
}

/// Hashes of a commit and its tree, in hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Commit hash.
    pub commit: String,
    /// Hash of the root tree.
    pub tree: String,
}

/// Resolves a branch, tag or hash to its commit; without a name, the default branch.
pub fn resolve(client: &Client, repo: &Name, name: Option<&str>) -> Result<Commit, Error> {
    #[derive(Deserialize)]
    struct Answer {
        tree: Sha,
    }
    #[derive(Deserialize)]
    struct Sha {
        sha: String,
    }
    let name = name.unwrap_or("HEAD");
    if !is_ref(name) {
        return Err(Error::BadRef(name.chars().take(200).collect()));
    }
    let mut segments = vec!["commits"];
    segments.extend(name.split('/'));
    // Requests the hash only: the commit in JSON includes its diff.
    let answer = client.fetch_again(client.within(repo, &segments), "application/vnd.github.sha");
    let bytes = match answer {
        Ok((bytes, _)) => bytes,
        // Sent only if the repository exists.
        Err(Error::Invalid(_)) => return Err(Error::NoSuchRef(name.to_owned())),
        Err(err) => return Err(err),
    };
    let commit = String::from_utf8_lossy(&bytes).trim().to_owned();
    let answer: Answer = client.json(client.within(repo, &["git", "commits", &checked(&commit)?]))?;
    Ok(Commit { tree: checked(&answer.tree.sha)?, commit })
}

/// Validates a hash in hex.
fn checked(hash: &str) -> Result<String, Error> {
    let is_hash = hash.len() == 40 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| hash.to_owned()).ok_or_else(|| Error::Malformed("there is no hash where one should be".to_owned()))
}

/// Whether a ref name is valid by git's rules.
fn is_ref(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    let is_char = |c: char| !c.is_control() && !" ~^:?*[\\".contains(c);
    name.len() <= 1_000
        && name.chars().all(is_char)
        && name.split('/').all(is_part)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
}

/// Files of a commit. Each content is checked against its hash in the tree.
pub struct Tree {
    client: Client,
    repo: Name,
    commit: Commit,
    how: ContentSource,
    entries: Vec<TreeEntry>,
    /// Contents fetched so far.
    heap: Heap,
    /// Result of the archive download, once attempted: whether its contents are in the heap.
    archive: OnceLock<Result<bool, Error>>,
}

impl Tree {
    /// Lists the files of a commit. Contents are stored in `folder` until the tree is dropped.
    pub fn open(
        client: &Client,
        repo: &Name,
        commit: Commit,
        how: ContentSource,
        folder: &Path,
    ) -> Result<Self, Error> {
        let entries = listing::list(client, repo, &commit.tree)?;
        let (client, repo) = (client.clone(), repo.clone());
        Ok(Self { client, repo, commit, how, entries, heap: Heap::new(folder)?, archive: OnceLock::new() })
    }

    /// Downloads the archive on the first call. `false` if it failed and is optional.
    pub(super) fn archive(&self) -> Result<bool, Error> {
        let tried = self.archive.get_or_init(|| match self.download() {
            Ok(None) => Ok(true),
            Ok(Some(why)) => {
                tracing::warn!(why, "the archive was not read to its end");
                Ok(true)
            }
            // Single requests would fail for the same reason.
            Err(err @ (Error::Limited(_) | Error::Unauthorized | Error::Net(net::Error::Cancelled))) => Err(err),
            Err(err) if self.how == ContentSource::Tarball => Err(err),
            Err(err) => {
                tracing::warn!(%err, "no archive; files are fetched one by one");
                Ok(false)
            }
        });
        tried.clone()
    }

    /// Downloads and unpacks the archive. Returns the reason if it was truncated.
    fn download(&self) -> Result<Option<String>, Error> {
        let url = self.client.within(&self.repo, &["tarball", &self.commit.commit]);
        let (limit, time) = ARCHIVE;
        let request = self.client.request(url, super::JSON);
        // The archive is compressed already; HTTP compression would count its bytes twice.
        let response = self.client.open(&net::Request { limit, time, packed: false, ..request })?;
        let named = self.entries.iter().filter(|entry| entry.mode != EntryMode::Submodule);
        let wanted: HashMap<&str, u64> = named.map(|entry| (entry.id.as_str(), entry.size.unwrap_or(0))).collect();
        archive::unpack(response.body, &wanted, &self.heap)
    }

    /// Fetches one blob.
    fn blob(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        // Leaves room for an error message; the content is checked by its hash.
        let limit = entry.size.unwrap_or(LARGEST).clamp(super::WORDS, LARGEST);
        let url = self.client.within(&self.repo, &["git", "blobs", &entry.id]);
        let request = self.client.request(url, "application/vnd.github.raw+json");
        let damaged = |what: &str| SourceError::Damaged { path: entry.path.clone(), what: what.to_owned() };
        let content = match self.client.fetch(&net::Request { limit, ..request }) {
            Ok(answer) => answer.bytes,
            Err(Error::NotFound { .. }) => {
                return Err(SourceError::Missing { path: entry.path.clone(), id: entry.id.clone() });
            }
            Err(Error::Net(net::Error::TooLarge { .. })) => return Err(damaged("it is larger than it should be")),
            Err(err) => return Err(failed(err)),
        };
        if object_id("blob", &content) == entry.id { Ok(content) } else { Err(damaged("its hash is another")) }
    }
}

/// An error that affects the whole source.
fn failed(err: Error) -> SourceError {
    SourceError::Failed(Box::new(err))
}

impl SourceTree for Tree {
    fn commit(&self) -> &str {
        &self.commit.commit
    }

    fn tree(&self) -> &str {
        &self.commit.tree
    }

    fn entries(&self) -> Result<Vec<TreeEntry>, SourceError> {
        Ok(self.entries.clone())
    }

    fn prepare(&self, wanted: &[&TreeEntry]) -> Result<(), SourceError> {
        let one_by_one = match self.how {
            ContentSource::Blobs => true,
            ContentSource::Tarball => false,
            ContentSource::Auto => wanted.len() <= FEW,
        };
        if !one_by_one {
            self.archive().map_err(failed)?;
        }
        let mut wanted: Vec<&TreeEntry> = wanted.iter().copied().filter(|entry| !self.heap.has(&entry.id)).collect();
        wanted.sort_by(|a, b| a.id.cmp(&b.id));
        wanted.dedup_by(|a, b| a.id == b.id);
        let (next, first) = (AtomicUsize::new(0), Mutex::new(None));
        thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(wanted.len()) {
                scope.spawn(|| {
                    while let Some(entry) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let kept = self
                            .blob(entry)
                            .and_then(|content| self.heap.put(entry.id.clone(), &content).map_err(failed));
                        // Errors of a single file are reported when it is read.
                        if let Err(err @ SourceError::Failed(_)) = kept {
                            next.store(wanted.len(), Ordering::Relaxed);
                            first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(err);
                        }
                    }
                });
            }
        });
        first.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }

    fn is_here(&self, entry: &TreeEntry) -> bool {
        self.heap.has(&entry.id)
    }

    fn read(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        let one_by_one = match self.how {
            ContentSource::Blobs => true,
            ContentSource::Tarball => false,
            // Without `prepare`, the archive is used unless the commit has few files.
            ContentSource::Auto => self.entries.len() <= FEW,
        };
        if !one_by_one && !self.heap.has(&entry.id) {
            self.archive().map_err(failed)?;
        }
        match self.heap.get(&entry.id) {
            Some(content) => content.map_err(failed),
            None => self.blob(entry),
        }
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { repo, commit, how, entries, .. } = self;
        write!(f, "Tree({}/{} {} {how:?}, {} files)", repo.owner, repo.name, commit.commit, entries.len())
    }
}
