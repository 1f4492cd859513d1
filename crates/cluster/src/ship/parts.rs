//! Objects: parts of a store's files, compressed one by one, and put together again on arrival.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::listing::{CONTENTS, ENDING, Facts, Listed, Listing, OBJECT, Part};
use super::{Error, ShipmentControl};
use codelode_store::{IncomingStore, Registry, Store, StoreCopy};

/// A copy of a store, cut into parts.
pub(super) struct StoreParts {
    /// All its files.
    pub listing: Listing,
    /// Where the parts lie, in the order of the listing.
    places: Vec<Source>,
}

/// Where a part lies.
enum Source {
    File(Arc<File>, PathBuf, u64),
    Memory(Vec<u8>),
}

impl StoreParts {
    /// Cuts the files of a copy, with git's names of its contents, and hashes the parts.
    pub fn of(copy: &StoreCopy, contents: Vec<u8>, facts: Facts, watcher: &ShipmentControl<'_>) -> Result<Self, Error> {
        let (mut places, mut sizes) = (Vec::new(), Vec::new());
        let mut files = Vec::new();
        for file in copy.files()? {
            let open = File::open(&file.path).map_err(Error::io("cannot open", &file.path))?;
            let open = Arc::new(open);
            let starts = (0..file.bytes).step_by(OBJECT as usize);
            sizes.extend(starts.clone().map(|start| OBJECT.min(file.bytes - start)));
            files.push((file.name, starts.clone().count()));
            places.extend(starts.map(|start| Source::File(open.clone(), file.path.clone(), start)));
        }
        let names = contents.chunks(OBJECT as usize);
        files.push((CONTENTS.to_owned(), names.len()));
        for part in names {
            sizes.push(part.len() as u64);
            places.push(Source::Memory(part.to_owned()));
        }
        let hashed = |at: usize| {
            watcher.check()?;
            let hash = blake3::hash(&places[at].read(sizes[at])?).to_hex().to_string();
            Ok(Part { bytes: sizes[at], object: format!("{hash}{ENDING}"), hash })
        };
        let parts: Result<Vec<Part>, Error> = (0..places.len()).into_par_iter().map(hashed).collect();
        let mut parts = parts?.into_iter();
        let listed = |(name, count)| Listed { name, parts: parts.by_ref().take(count).collect() };
        let files = files.into_iter().map(listed).collect();
        Ok(Self { listing: Listing::new(facts, files), places })
    }

    /// Number of its parts.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The part at an index, compressed. It still has the hash that the listing gives.
    pub fn packed(&self, at: usize, part: &Part) -> Result<Vec<u8>, Error> {
        let content = self.places[at].read(part.bytes)?;
        if blake3::hash(&content).to_hex().as_str() != part.hash {
            return Err(Error::damaged("the index", "it was changed while it was read"));
        }
        Ok(packed(&content))
    }
}

impl Source {
    fn read(&self, bytes: u64) -> Result<Vec<u8>, Error> {
        match self {
            Self::Memory(content) => Ok(content.clone()),
            Self::File(file, path, start) => {
                let mut content = vec![0; bytes as usize];
                file.read_exact_at(&mut content, *start).map_err(Error::io("cannot read", path))?;
                Ok(content)
            }
        }
    }
}

/// Compresses the content of an object, as one block of LZ4. The pure zstd encoder takes ten times as long, and stores
/// get no smaller by it.
pub(super) fn packed(content: &[u8]) -> Vec<u8> {
    lz4_flex::block::compress(content)
}

/// Most bytes of a part in its object: what does not compress grows a little.
pub(super) fn most_packed(part: &Part) -> u64 {
    part.bytes + part.bytes / 128 + 1024
}

/// Decompresses an object, whose content must be exactly the part.
fn unpacked(object: &[u8], part: &Part, place: &str) -> Result<Vec<u8>, Error> {
    let damaged = |what: &str| Error::damaged(place, format!("object {} {what}", part.object));
    let mut content = vec![0; part.bytes as usize];
    // It is never unpacked beyond its announced size.
    let bytes = lz4_flex::block::decompress_into(object, &mut content);
    let bytes = bytes.map_err(|err| damaged(&format!("cannot be unpacked: {err}")))?;
    match bytes as u64 == part.bytes && blake3::hash(&content).to_hex().as_str() == part.hash {
        true => Ok(content),
        false => Err(damaged("does not match its hash")),
    }
}

/// A shipment on arrival: objects in any order become files of a store that nobody sees yet.
pub struct Arrival {
    /// Its bytes.
    pub listing: Listing,
    /// Git's names of the contents.
    pub contents: Vec<u8>,
    store: IncomingStore,
}

/// A part in a store: the index of its file, and the first byte.
type Position<'a> = (usize, u64, &'a Part);

/// Files of an incoming store that are being filled.
pub(super) struct Filling<'a> {
    listing: &'a Listing,
    place: &'a str,
    store: IncomingStore,
    files: Vec<Option<File>>,
    contents: Mutex<Vec<u8>>,
    /// The places of each object that is still to come.
    wanted: Mutex<HashMap<&'a str, Vec<Position<'a>>>>,
}

impl<'a> Filling<'a> {
    /// Makes the files of a listing, empty.
    pub fn begin(listing: &'a Listing, registry: &Registry, place: &'a str) -> Result<Self, Error> {
        let store = registry.incoming()?;
        room_for(listing, registry.home())?;
        let mut wanted: HashMap<&str, Vec<_>> = HashMap::new();
        let (mut files, mut contents) = (Vec::new(), 0);
        for (at, file) in listing.files.iter().enumerate() {
            let mut start = 0;
            for part in &file.parts {
                wanted.entry(&part.object).or_default().push((at, start, part));
                start += part.bytes;
            }
            files.push(match file.name == CONTENTS {
                true => {
                    contents = start;
                    None
                }
                false => Some(store.create(&file.name)?),
            });
        }
        // It has twenty bytes for each file, and is held in memory.
        if contents > MOST_CONTENTS {
            return Err(Error::damaged(place, "its listing names more contents than a store holds"));
        }
        let contents = Mutex::new(vec![0; contents as usize]);
        Ok(Self { listing, place, store, files, contents, wanted: Mutex::new(wanted) })
    }

    /// The objects that are still wanted, each as one of its parts.
    pub fn wanted(&self) -> Vec<&'a Part> {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.values().filter_map(|parts| parts.first()).map(|(.., part)| *part).collect()
    }

    /// Whether an object is still wanted: as which part.
    pub fn wants(&self, object: &str) -> Option<&'a Part> {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.get(object).and_then(|parts| parts.first()).map(|(.., part)| *part)
    }

    /// Verifies an object and writes its content wherever it belongs.
    pub fn put(&self, part: &Part, object: &[u8]) -> Result<(), Error> {
        let content = unpacked(object, part, self.place)?;
        let parts = self.wanted.lock().unwrap_or_else(PoisonError::into_inner).remove(&*part.object);
        for (at, start, other) in parts.unwrap_or_default() {
            if (&other.hash, other.bytes) != (&part.hash, part.bytes) {
                return Err(Error::damaged(self.place, "its listing contradicts itself"));
            }
            match &self.files[at] {
                Some(file) => file
                    .write_all_at(&content, start)
                    .map_err(Error::io("cannot write", Path::new(&self.listing.files[at].name)))?,
                None => {
                    let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
                    contents[start as usize..][..content.len()].copy_from_slice(&content);
                }
            }
        }
        Ok(())
    }

    /// Ends with all objects there.
    pub fn finish(self) -> Result<Arrival, Error> {
        if let Some(part) = self.wanted().first() {
            return Err(Error::damaged(self.place, format!("object {} is missing", part.object)));
        }
        let contents = self.contents.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Arrival { listing: self.listing.clone(), contents, store: self.store })
    }
}

/// Most bytes of git's names of contents: ten million files.
const MOST_CONTENTS: u64 = 200 << 20;
/// Bytes that are left free on the disk.
const LEFT_FREE: u64 = 64 << 20;

/// Refuses a shipment that the disk has no room for.
fn room_for(listing: &Listing, home: &Path) -> Result<(), Error> {
    let needed = listing.bytes().unwrap_or(u64::MAX);
    // A file system that does not tell has room until it has not.
    let Ok(disk) = rustix::fs::statvfs(home) else { return Ok(()) };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    match needed.saturating_add(LEFT_FREE) > free {
        true => Err(Error::NoRoom { path: home.to_owned(), needed, free }),
        false => Ok(()),
    }
}

impl Arrival {
    /// Puts the store in its place, for a checkout of this name; `false` when another index is there. See
    /// [`IncomingStore::accept`].
    pub fn accept(self, store: &Store, name: &str, anew: bool, wait: std::time::Duration) -> Result<bool, Error> {
        Ok(self.store.accept(store, name, anew, wait)?)
    }
}
