//! Contents unpacked from a downloaded archive.
//!
//! Only bytes whose hash occurs in the commit's tree are taken from an archive. Its paths, links and modes are
//! ignored, so a crafted archive cannot write or link anywhere. The unpacked size is limited by the sizes in the
//! tree.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flate2::read::MultiGzDecoder;
use tar::EntryType;

use super::Error;
use super::listing::object_id;
use codelode_net as net;

/// Allowed overhead per file: header, long name, padding.
const BESIDE: u64 = 8 << 10;
/// Allowed overhead per archive: files that are not in the tree, such as those added by git-lfs.
const SLACK: u64 = 64 << 20;
/// Files above this size are fetched separately when needed, as checking holds a file in memory.
const LARGEST: u64 = 128 << 20;

/// Content store, keyed by blob id, in an unnamed temporary file, as a commit may be larger than memory.
#[derive(Debug)]
pub(super) struct Heap {
    inside: Mutex<ArchiveState>,
}

#[derive(Debug)]
struct ArchiveState {
    file: File,
    places: HashMap<String, (u64, usize)>,
    end: u64,
}

impl Heap {
    /// Creates an empty heap in `folder`, which is created if missing.
    pub fn new(folder: &Path) -> Result<Self, Error> {
        let file = std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder)).map_err(disk)?;
        Ok(Self { inside: Mutex::new(ArchiveState { file, places: HashMap::new(), end: 0 }) })
    }

    /// The content with this id, if present.
    pub fn get(&self, id: &str) -> Option<Result<Vec<u8>, Error>> {
        let mut inside = self.lock();
        let (start, length) = *inside.places.get(id)?;
        let mut content = vec![0; length];
        let read = inside.file.seek(SeekFrom::Start(start)).and_then(|_| inside.file.read_exact(&mut content));
        Some(read.map(|()| content).map_err(disk))
    }

    /// Whether a content is present.
    pub fn has(&self, id: &str) -> bool {
        self.lock().places.contains_key(id)
    }

    /// Stores a content.
    pub fn put(&self, id: String, content: &[u8]) -> Result<(), Error> {
        let mut inside = self.lock();
        let end = inside.end;
        inside.file.seek(SeekFrom::Start(end)).and_then(|_| inside.file.write_all(content)).map_err(disk)?;
        inside.end += content.len() as u64;
        inside.places.insert(id, (end, content.len()));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, ArchiveState> {
        // An interrupted write has no entry in `places` yet.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn disk(err: io::Error) -> Error {
    Error::Disk(err.to_string())
}

/// Unpacks an archive (gzipped tar) into `heap`. `wanted` maps the blob ids in the tree to their sizes in bytes.
///
/// If the archive is truncated or too large, keeps the contents read so far and returns the reason, so that the rest
/// can be fetched one by one.
pub(super) fn unpack(stream: impl Read, wanted: &HashMap<&str, u64>, heap: &Heap) -> Result<Option<String>, Error> {
    let most = wanted.values().sum::<u64>() + wanted.len() as u64 * BESIDE + SLACK;
    let sizes: HashSet<u64> = wanted.values().copied().filter(|size| *size <= LARGEST).collect();
    let mut archive = tar::Archive::new(Bounded { inner: MultiGzDecoder::new(stream), left: most });
    let mut take = || -> io::Result<Result<(), Error>> {
        for entry in archive.entries()? {
            let mut entry = entry?;
            let content = match entry.header().entry_type() {
                EntryType::Regular | EntryType::Continuous if sizes.contains(&entry.size()) => {
                    // At most a size named by the tree, whatever the header says.
                    let mut content = Vec::with_capacity(usize::try_from(entry.size()).unwrap_or(0));
                    entry.read_to_end(&mut content)?;
                    content
                }
                EntryType::Symlink => match entry.link_name_bytes() {
                    Some(target) => target.into_owned(),
                    None => continue,
                },
                _ => continue,
            };
            let id = object_id("blob", &content);
            if wanted.contains_key(id.as_str())
                && !heap.has(&id)
                && let Err(err) = heap.put(id, &content)
            {
                return Ok(Err(err));
            }
        }
        Ok(Ok(()))
    };
    match take() {
        Ok(done) => done.map(|()| None),
        // A cancelled download is an error, not a truncated archive.
        Err(err) => match net::Error::of_io(err, "the archive's host") {
            err @ net::Error::Cancelled => Err(err.into()),
            err => Ok(Some(err.to_string())),
        },
    }
}

/// Reader that fails after `left` bytes.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.left = self
            .left
            .checked_sub(n as u64)
            .ok_or_else(|| io::Error::other("it unpacks to more than the commit holds"))?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    /// Builds an archive of these entries: type, path, and content or link target.
    fn packed(entries: &[(EntryType, &str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (kind, path, content) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(*kind);
            // Set by hand: the crate refuses to write such paths.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
            let content: &[u8] = if is_link {
                header.as_old_mut().linkname[..content.len()].copy_from_slice(content);
                b""
            } else {
                content
            };
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, content).expect("memory is there");
        }
        builder.into_inner().and_then(GzEncoder::finish).expect("memory is there")
    }

    #[test]
    fn only_what_the_tree_names_is_taken_wherever_it_lies() {
        let folder = tempfile::tempdir().expect("there is room");
        let inner = folder.path().join("a").join("b");
        let bytes = packed(&[
            (EntryType::Regular, "r/good", b"good\n"),
            (EntryType::Regular, "../../escape", b"evil\n"),
            (EntryType::Regular, "/etc/absolute", b"evil2"),
            (EntryType::Symlink, "r/link", b"../../../etc/passwd"),
            (EntryType::Link, "r/hard", b"/etc/passwd"),
            (EntryType::Regular, "r/link/through", b"thru\n"),
            (EntryType::Char, "r/device", b""),
            (EntryType::Regular, "r/unknown", b"who?\n"),
            (EntryType::Regular, "r/twice", b"good\n"),
        ]);
        let id = |content: &[u8]| object_id("blob", content);
        let (good, evil, link) = (id(b"good\n"), id(b"evil\n"), id(b"../../../etc/passwd"));
        let wanted = HashMap::from([(good.as_str(), 5), (evil.as_str(), 5), (link.as_str(), 19)]);
        let archive = Heap::new(&inner).expect("there is room");
        assert_eq!(unpack(bytes.as_slice(), &wanted, &archive).expect("it can be read"), None);
        assert_eq!(archive.get(&good).expect("it is there").expect("it can be read"), b"good\n");
        assert_eq!(archive.get(&link).expect("it is there").expect("it can be read"), b"../../../etc/passwd");
        assert_eq!(archive.lock().places.len(), 3);
        assert!(archive.get(&id(b"who?\n")).is_none());
        // The content file has no name, and no other file was created.
        assert_eq!(std::fs::read_dir(&inner).expect("it is there").count(), 0);
        assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 1);
    }

    #[test]
    fn a_bomb_is_left_when_it_is_larger_than_the_commit() {
        let folder = tempfile::tempdir().expect("there is room");
        let zeros = vec![0; (SLACK as usize) + (1 << 20)];
        let good = object_id("blob", b"good\n");
        let late = object_id("blob", b"late\n");
        let bytes = packed(&[
            (EntryType::Regular, "r/good", b"good\n"),
            (EntryType::Regular, "r/bomb", &zeros),
            (EntryType::Regular, "r/late", b"late\n"),
        ]);
        assert!(bytes.len() < 1 << 20, "it is a bomb");
        let wanted = HashMap::from([(good.as_str(), 5), (late.as_str(), 5)]);
        let archive = Heap::new(folder.path()).expect("there is room");
        let broken = unpack(bytes.as_slice(), &wanted, &archive).expect("it can be read");
        assert!(broken.as_ref().is_some_and(|why| why.contains("more than the commit")), "{broken:?}");
        assert!(archive.has(&good) && !archive.has(&late));
    }

    #[test]
    fn an_archive_that_breaks_off_gives_what_came_before() {
        let folder = tempfile::tempdir().expect("there is room");
        let noise: Vec<u8> = (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let bytes = packed(&[(EntryType::Regular, "r/good", b"good\n"), (EntryType::Regular, "r/noise", &noise)]);
        let (good, last) = (object_id("blob", b"good\n"), object_id("blob", &noise));
        let wanted = HashMap::from([(good.as_str(), 5), (last.as_str(), noise.len() as u64)]);
        let archive = Heap::new(folder.path()).expect("there is room");
        let broken = unpack(&bytes[..bytes.len() / 2], &wanted, &archive).expect("it can be read");
        assert!(broken.is_some());
        assert!(archive.has(&good) && !archive.has(&last));
    }
}
