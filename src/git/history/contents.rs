//! Contents straight from packs: mapped, and unpacked in one go into a buffer that is used again.
//!
//! Looking through thousands of files is mostly unpacking, so it is worth a way of its own. What it does not know (differences
//! from other contents, objects in no pack, anything damaged) is left to the object database.

use std::cell::RefCell;
use std::path::Path;

use flate2::{Decompress, FlushDecompress};
use gix::odb::pack::{self, data::entry::Header};
use libdeflater::Decompressor;

use super::commit::LARGEST_OBJECT;

/// A repository with more packs than this is not looked after, and slow in any case.
const MOST_PACKS: usize = 64;
/// Of what is larger than this, the first bytes are unpacked alone.
const LARGE: usize = 32 << 10;

thread_local! {
    /// Making one takes longer than most contents.
    static UNPACKER: RefCell<Decompressor> = RefCell::new(Decompressor::new());
}

/// The packs in a folder.
pub(in crate::git) struct Contents(Vec<pack::Bundle>);

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::git) enum Outcome {
    /// It is in the buffer.
    Read,
    /// Its first bytes are not wanted.
    Unwanted,
    /// It is not here, or in another form.
    Elsewhere,
}

impl Contents {
    /// Maps the packs of a folder; what cannot be read is left out.
    pub(in crate::git) fn open(folder: &Path) -> Self {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let indexes = files.filter(|path| path.extension().is_some_and(|ending| ending == "idx"));
        let open = |path| pack::Bundle::at(path, gix::hash::Kind::Sha1).ok();
        Self(indexes.take(MOST_PACKS).filter_map(open).collect())
    }

    /// Unpacks a content into a buffer, in whose place it is then, if its first bytes are wanted: `first` of them, or all
    /// when there are fewer.
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
