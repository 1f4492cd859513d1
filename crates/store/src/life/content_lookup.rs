//! Files of the store by their content, so that none is read and stored twice.

use super::manifest::PackFacts;
use super::snapshot::find_file;
use crate::packs::pack::{self, NO_LANGUAGE, Pack};

/// Files with the same content are sorted by path where there are more of them: thousands of files may be empty.
const FEW_ALIKE: usize = 8;

/// Lookup of the store's files by content.
pub struct ContentLookup {
    /// Hash prefix of each file, with its number. More than [`FEW_ALIKE`] with the same are sorted by path.
    by_hash: Vec<([u8; 8], u32)>,
    packs: Vec<(PackFacts, Pack)>,
}

impl ContentLookup {
    /// A lookup of these files, each with the beginning of its content's hash.
    pub(super) fn new(mut by_hash: Vec<([u8; 8], u32)>, packs: Vec<(PackFacts, Pack)>) -> Self {
        by_hash.sort_unstable();
        let path = |id: u32| find_file(&packs, id).map(|(pack, file)| pack.path(file).to_owned());
        for alike in by_hash.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > FEW_ALIKE) {
            alike.sort_by_cached_key(|(_, id)| path(*id));
        }
        Self { by_hash, packs }
    }

    /// Whether a stored file has symbols.
    pub fn has_symbols(&self, id: u32) -> bool {
        find_file(&self.packs, id).is_some_and(|(_, file)| file.symbols > 0)
    }

    /// Number of a stored file with this path and content, read in this language, from any checkout. A file whose reading
    /// was ended by time is none: reading it again may give more.
    pub fn find(&self, path: &str, hash: &[u8; 32], language: Option<u8>) -> Option<u32> {
        let language = language.unwrap_or(NO_LANGUAGE);
        let beginning = pack::first_eight(hash);
        let from = self.by_hash.partition_point(|(other, _)| *other < beginning);
        let alike = &self.by_hash[from..];
        let mut alike = &alike[..alike.partition_point(|(other, _)| *other == beginning)];
        if alike.len() > FEW_ALIKE {
            let path_of = |id: u32| find_file(&self.packs, id).map_or("", |(pack, file)| pack.path(file));
            alike = &alike[alike.partition_point(|(_, id)| path_of(*id) < path)..];
            alike = &alike[..alike.partition_point(|(_, id)| path_of(*id) == path)];
        }
        let is_it = |id: u32| {
            find_file(&self.packs, id).is_some_and(|(pack, file)| {
                file.hash == *hash
                    && file.language == language
                    && file.flags & pack::TIMED_OUT == 0
                    && pack.path(file) == path
            })
        };
        alike.iter().map(|(_, id)| *id).find(|id| is_it(*id))
    }
}
