//! Contents read straight from packs: mapped, and unpacked at once into a reused buffer.
//!
//! Reading thousands of files is mostly unpacking, so it is worth a separate path. Deltas, loose objects and damaged
//! entries are left to the object database.

use std::cell::RefCell;
use std::path::Path;

use flate2::{Decompress, FlushDecompress};
use gix::odb::pack::{self, data::entry::Header};
use libdeflater::Decompressor;

use super::commit::LARGEST_OBJECT;

/// The most packs used; a repository with more is badly maintained, and slow in any case.
const MOST_PACKS: usize = 64;
/// The largest content unpacked whole; of larger ones, the first bytes are unpacked alone.
const LARGE: usize = 32 << 10;

thread_local! {
    /// Making one takes longer than unpacking most contents.
    static UNPACKER: RefCell<Decompressor> = RefCell::new(Decompressor::new());
}

/// The packs in a folder.
pub(in crate::git) struct PackBundles(Vec<pack::Bundle>);

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) enum Outcome {
    /// The content is in the buffer.
    Read,
    /// `wanted` rejected its first bytes.
    Unwanted,
    /// It is not in these packs, or is stored as a delta.
    Elsewhere,
}

impl PackBundles {
    /// Maps the packs of a folder, except unreadable ones.
    pub(in crate::git) fn open(folder: &Path) -> Self {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let indexes = files.filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
        let open = |path| pack::Bundle::at(path, gix::hash::Kind::Sha1).ok();
        Self(indexes.take(MOST_PACKS).filter_map(open).collect())
    }

    /// Unpacks a content into a buffer, replacing its text, if `wanted` accepts its first bytes: `first` of them, or
    /// all if there are fewer.
    pub(in crate::git) fn read(
        &self,
        id: &gix::oid,
        first: usize,
        wanted: &dyn Fn(&[u8]) -> bool,
        buffer: &mut Vec<u8>,
    ) -> Outcome {
        let place = self.0.iter().find_map(|bundle| Some((bundle, bundle.index.lookup(id)?)));
        let Some((bundle, place)) = place else { return Outcome::Elsewhere };
        let Ok(entry) = bundle.pack.entry(bundle.index.pack_offset_at_index(place)) else { return Outcome::Elsewhere };
        if entry.header != Header::Blob || entry.decompressed_size > LARGEST_OBJECT {
            return Outcome::Elsewhere;
        }
        let size = entry.decompressed_size as usize;
        let Some(packed) = bundle.pack.entry_slice(entry.data_offset..bundle.pack.pack_end() as u64) else {
            return Outcome::Elsewhere;
        };
        if size > LARGE.max(first) {
            buffer.resize(first, 0);
            let mut start = Decompress::new(true);
            let begun = start.decompress(packed, buffer, FlushDecompress::None);
            if begun.is_err() || start.total_out() != first as u64 {
                return Outcome::Elsewhere;
            }
            if !wanted(buffer) {
                return Outcome::Unwanted;
            }
        }
        buffer.resize(size, 0);
        let unpacked = UNPACKER.with_borrow_mut(|unpacker| unpacker.zlib_decompress(packed, buffer));
        match unpacked {
            Ok(found) if found == size && wanted(&buffer[..size.min(first)]) => Outcome::Read,
            Ok(found) if found == size => Outcome::Unwanted,
            _ => Outcome::Elsewhere,
        }
    }
}
