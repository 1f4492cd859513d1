//! The files of a commit on GitHub.

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
use crate::model::{EntryMode, SourceError, SourceTree, TreeEntry};
use crate::net;

/// Blobs that are asked for at once.
const AT_ONCE: usize = 8;
/// Up to so many files are fetched one by one; for more the archive is the smaller answer.
const FEW: usize = 12;
/// The largest file that GitHub gives out, in bytes.
const LARGEST: u64 = 100 << 20;
/// The largest archive, packed, and how long it may take.
const ARCHIVE: (u64, Duration) = (4 << 30, Duration::from_secs(30 * 60));

/// Where contents come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// From one archive when there are many; what it lacks, and a few, one by one.
    Auto,
    /// From one archive; what it lacks one by one. An archive that cannot be had is an error.
    Tarball,
    /// One by one.
    Blobs,
}

/// A commit and its tree, both in hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The commit.
    pub commit: String,
    /// Its root tree.
    pub tree: String,
}

/// Finds the commit that a branch, a tag or a hash names; the default branch's when none is given.
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
    // The hash alone: the commit in JSON comes with all its differences.
    let answer = client.fetch_again(client.within(repo, &segments), "application/vnd.github.sha");
    let bytes = match answer {
        Ok((bytes, _)) => bytes,
        // Said of a repository that is there.
        Err(Error::Invalid(_)) => return Err(Error::NoSuchRef(name.to_owned())),
        Err(err) => return Err(err),
    };
    let commit = String::from_utf8_lossy(&bytes).trim().to_owned();
    let answer: Answer = client.json(client.within(repo, &["git", "commits", &checked(&commit)?]))?;
    Ok(Commit { tree: checked(&answer.tree.sha)?, commit })
}

/// A hash in hex, or the news that it is none.
fn checked(hash: &str) -> Result<String, Error> {
    let is_hash = hash.len() == 40 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| hash.to_owned()).ok_or_else(|| Error::Malformed("there is no hash where one should be".to_owned()))
}

/// Whether a ref can have this name: git's own rules.
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

/// The files of a commit. Paths come from the tree, and every content is checked against the hash that the tree names.
pub struct Tree {
    client: Client,
    repo: Name,
    commit: Commit,
    how: How,
    entries: Vec<TreeEntry>,
    /// Contents that are here.
    heap: Heap,
    /// Whether the archive's contents are among them, once that was tried.
    archive: OnceLock<Result<bool, Error>>,
}

impl Tree {
    /// Lists the files of a commit. Contents are kept below `folder` while they are needed.
    pub fn open(client: &Client, repo: &Name, commit: Commit, how: How, folder: &Path) -> Result<Self, Error> {
        let entries = listing::list(client, repo, &commit.tree)?;
        let (client, repo) = (client.clone(), repo.clone());
        Ok(Self { client, repo, commit, how, entries, heap: Heap::new(folder)?, archive: OnceLock::new() })
    }

    /// Downloads the archive when it is first needed; whether its contents are here. `false` when it cannot be had and
    /// need not.
    pub(super) fn archive(&self) -> Result<bool, Error> {
        let tried = self.archive.get_or_init(|| match self.download() {
            Ok(None) => Ok(true),
            Ok(Some(why)) => {
                tracing::warn!(why, "the archive was not read to its end");
                Ok(true)
            }
            // Then nothing else will come, either.
            Err(err @ (Error::Limited(_) | Error::Unauthorized | Error::Net(net::Error::Cancelled))) => Err(err),
            Err(err) if self.how == How::Tarball => Err(err),
            Err(err) => {
                tracing::warn!(%err, "no archive; files are fetched one by one");
                Ok(false)
            }
        });
        tried.clone()
    }

    /// Downloads and unpacks the archive; says why it broke off, if it did.
    fn download(&self) -> Result<Option<String>, Error> {
        let url = self.client.within(&self.repo, &["tarball", &self.commit.commit]);
        let (limit, time) = ARCHIVE;
        let request = self.client.request(url, super::JSON);
        // It is packed already, and a second wrapping would count its bytes twice.
        let response = self.client.open(&net::Request { limit, time, packed: false, ..request })?;
        let named = self.entries.iter().filter(|entry| entry.mode != EntryMode::Submodule);
        let wanted: HashMap<&str, u64> = named.map(|entry| (entry.id.as_str(), entry.size.unwrap_or(0))).collect();
        archive::unpack(response.body, &wanted, &self.heap)
    }

    /// One content by its name, from GitHub.
    fn blob(&self, entry: &TreeEntry) -> Result<Vec<u8>, SourceError> {
        // Room for an error's words, too; the hash tells whether it is the content.
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

/// A failure of the whole source.
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
            How::Blobs => true,
            How::Tarball => false,
            How::Auto => wanted.len() <= FEW,
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
                        // Anything else will be said of the file when it is read.
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
            How::Blobs => true,
            How::Tarball => false,
            // Whoever reads many files without a word gets the archive.
            How::Auto => self.entries.len() <= FEW,
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
