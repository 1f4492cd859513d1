//! Unpacked facts that are kept from one edit to the next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::ProjectFile;

/// The most bytes that are kept.
const MOST: usize = 4 << 20;

/// Unpacked facts of files of one snapshot, by the files' numbers. Unpacking them anew took half of the time in which the names
/// of a large edited text are bound.
#[derive(Debug, Default)]
pub struct UnpackedFacts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    tables: FxHashMap<u32, Arc<Vec<u64>>>,
    bytes: usize,
}

impl UnpackedFacts {
    /// The file of this number, which does not unpack what is kept of it.
    pub fn file<'a>(&self, number: u32, path: &'a str, packed: &'a [u8]) -> ProjectFile<'a> {
        let kept = self.lock().tables.get(&number).cloned();
        ProjectFile::unpacked(path, packed, kept)
    }

    /// Keeps what was unpacked of files, each with its number. Where that becomes too much, what was kept before is dropped.
    pub fn keep<'a>(&self, files: impl Iterator<Item = (u32, &'a ProjectFile<'a>)>) {
        let mut kept = self.lock();
        for (number, tables) in files.filter_map(|(number, file)| Some((number, file.tables()?))) {
            let bytes = tables.len() * size_of::<u64>();
            if kept.tables.contains_key(&number) || bytes > MOST {
                continue;
            }
            if kept.bytes + bytes > MOST {
                *kept = Kept::default();
            }
            kept.bytes += bytes;
            kept.tables.insert(number, tables);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // A panic leaves what is kept intact.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
