//! Unpacked facts that are kept: from one edit to the next, or for several questions about a text.

use std::cell::OnceCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::{Facts, ProjectFile, unpack};

/// The most bytes that are kept of files, and of texts.
const MOST: usize = 4 << 20;

/// Unpacked facts of files of one snapshot, and of texts that stand for some of them. Unpacking them anew took half of the time
/// in which the names of a large edited text are bound.
#[derive(Debug, Default)]
pub struct UnpackedFacts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    files: FxHashMap<u32, Unpacked>,
    /// Of the newest texts, with the numbers of their files.
    texts: Vec<(u32, Unpacked)>,
}

/// Unpacked facts of a content, by its hash.
#[derive(Clone, Debug)]
struct Unpacked {
    hash: [u8; 32],
    tables: Arc<Vec<u64>>,
}

/// Packed facts of a file, as it is or as a text stands for it.
#[derive(Clone, Copy)]
pub struct PackedFile<'a> {
    /// Its number in the snapshot.
    pub number: u32,
    /// Hash of its content.
    pub hash: &'a [u8; 32],
    /// Relative to the root.
    pub path: &'a str,
    /// Its facts.
    pub packed: &'a [u8],
}

impl UnpackedFacts {
    /// Makes files, of which what is kept is not unpacked again.
    pub fn files<'a>(&self, files: impl Iterator<Item = PackedFile<'a>>) -> Vec<ProjectFile<'a>> {
        let kept = self.lock();
        files.map(|file| ProjectFile::unpacked(file.path, file.packed, kept.tables(&file))).collect()
    }

    /// The facts of one file.
    pub fn of<'a>(&self, file: PackedFile<'a>) -> LazyFacts<'a> {
        let tables = self.lock().tables(&file).map_or_else(OnceCell::new, |tables| OnceCell::from(Some(tables)));
        LazyFacts { packed: file.packed, tables }
    }

    /// Keeps the facts of files that were asked for theirs. Where that becomes too much, those of others are dropped.
    pub fn keep<'a>(&self, files: impl Iterator<Item = (PackedFile<'a>, &'a ProjectFile<'a>)>) {
        let used: FxHashMap<u32, Unpacked> = files
            .filter_map(|(file, read)| Some((file.number, Unpacked { hash: *file.hash, tables: read.used_tables()? })))
            .collect();
        let size = |unpacked: &Unpacked| unpacked.tables.len() * size_of::<u64>();
        let mut kept = self.lock();
        let mut bytes = kept.files.values().map(size).sum::<usize>();
        let new = used.iter().filter(|(number, _)| !kept.files.contains_key(number)).map(|(_, new)| size(new));
        if bytes + new.sum::<usize>() > MOST {
            kept.files.retain(|number, _| used.contains_key(number));
            bytes = kept.files.values().map(size).sum();
        }
        for (number, unpacked) in used {
            if !kept.files.contains_key(&number) && bytes + size(&unpacked) <= MOST {
                bytes += size(&unpacked);
                kept.files.insert(number, unpacked);
            }
        }
    }

    /// Unpacks the facts of texts that stand for files, in place of those of earlier texts.
    pub fn keep_texts<'a>(&self, texts: impl Iterator<Item = (u32, [u8; 32], &'a [u8])>) {
        let (mut found, mut bytes) = (Vec::new(), 0);
        for (number, hash, packed) in texts {
            let Some(tables) = LazyFacts::new(packed).unpacked().cloned() else { continue };
            bytes += tables.len() * size_of::<u64>();
            if bytes > MOST {
                break;
            }
            found.push((number, Unpacked { hash, tables }));
        }
        self.lock().texts = found;
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A panic leaves what is kept intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn tables(&self, file: &PackedFile<'_>) -> Option<Arc<Vec<u64>>> {
        let text = self.texts.iter().find(|(number, text)| *number == file.number && text.hash == *file.hash);
        let stored = || self.files.get(&file.number).filter(|stored| stored.hash == *file.hash);
        text.map(|(_, text)| text).or_else(stored).map(|found| found.tables.clone())
    }
}

/// Packed facts of one text, which are unpacked when something is asked of them, and once.
pub struct LazyFacts<'a> {
    packed: &'a [u8],
    tables: OnceCell<Option<Arc<Vec<u64>>>>,
}

impl<'a> LazyFacts<'a> {
    /// Creates them from packed facts.
    pub fn new(packed: &'a [u8]) -> Self {
        Self { packed, tables: OnceCell::new() }
    }

    /// The facts; `None` when they cannot be read.
    pub fn get(&self) -> Option<Facts<'_>> {
        self.unpacked().and_then(|tables| Facts::open(tables))
    }

    fn unpacked(&self) -> Option<&Arc<Vec<u64>>> {
        self.tables.get_or_init(|| unpack_sound(self.packed).map(Arc::new)).as_ref()
    }
}

/// Unpacks facts; `None` when they cannot be read.
pub(super) fn unpack_sound(packed: &[u8]) -> Option<Vec<u64>> {
    unpack(packed).filter(|tables| Facts::open(tables).is_some_and(|facts| facts.is_sound()))
}
