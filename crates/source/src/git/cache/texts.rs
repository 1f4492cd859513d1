//! The texts of a commit, packed for searching: git packs tightly, and unpacking that is most of a search's cost.
//!
//! One file contains them in blocks of neighbours that are unpacked at once. Of binary contents it has only the
//! beginning, unless they were fetched from far away. If a block or the file is damaged, contents are read from their
//! source.
//!
//! ```text
//! blocks | index of blocks | index of contents, by id | trailer
//! ```

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::iter::ParallelIterator as _;
use rayon::slice::ParallelSlice as _;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::git::history::contents::Outcome;
use codelode_base::model::{FIRST, SourceTree, TreeEntry};

/// The size at which a block is closed: small enough for the processor's cache while its contents are searched.
const BLOCK: usize = 64 << 10;
/// The number of contents packed by one core before another may take over, and the bytes of them held before they are
/// written.
const SHARE: usize = 32;
const MOST_PACKED: usize = 1 << 20;
/// The largest content kept whole; of larger ones only the beginning is kept.
const LARGEST: usize = 64 << 20;
/// The last bytes of a completely written file.
const MAGIC: [u8; 8] = *b"texts 1\n";

/// The place of a block, and its unpacked size.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct BlockRecord {
    start: U64,
    packed: U32,
    len: U32,
    /// CRC-32 of the packed bytes.
    sum: U32,
}

/// The place of a content, sorted by id.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct ContentRecord {
    id: [u8; 20],
    block: U32,
    start: U32,
    len: U32,
    /// One for the whole content, zero for the beginning.
    whole: U32,
}

/// The place and number of the records.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Trailer {
    start: U64,
    blocks: U32,
    contents: U32,
    /// CRC-32 of the records.
    sum: U32,
    magic: [u8; 8],
}

/// The texts of a commit, open.
pub(in crate::git) struct Texts {
    /// A number unique in this process.
    number: u64,
    file: File,
    blocks: Vec<BlockRecord>,
    contents: Vec<ContentRecord>,
    /// A block is damaged.
    damaged: AtomicBool,
}

/// A block that a thread has unpacked, kept because its neighbours in the tree are read next.
struct UnpackedBlock {
    of: (u64, u32),
    packed: Vec<u8>,
    block: Vec<u8>,
}

thread_local! {
    static UNPACKED: RefCell<UnpackedBlock> = const { RefCell::new(UnpackedBlock { of: (0, 0), packed: Vec::new(), block: Vec::new() }) };
}

impl Texts {
    /// Opens a file; `None` if it is missing or incomplete.
    pub(in crate::git) fn open(path: &Path) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let file = File::open(path).ok()?;
        let end = file.metadata().ok()?.len().checked_sub(size_of::<Trailer>() as u64)?;
        let mut trailer = Trailer::new_zeroed();
        file.read_exact_at(trailer.as_mut_bytes(), end).ok()?;
        let sizes = (u64::from(trailer.blocks) * size_of::<BlockRecord>() as u64)
            .checked_add(u64::from(trailer.contents) * size_of::<ContentRecord>() as u64)?;
        if trailer.magic != MAGIC || trailer.start.get().checked_add(sizes)? != end {
            return None;
        }
        let mut blocks = vec![BlockRecord::new_zeroed(); trailer.blocks.get() as usize];
        let mut contents = vec![ContentRecord::new_zeroed(); trailer.contents.get() as usize];
        file.read_exact_at(blocks.as_mut_bytes(), trailer.start.get()).ok()?;
        file.read_exact_at(contents.as_mut_bytes(), trailer.start.get() + blocks.as_bytes().len() as u64).ok()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        (sum(&[blocks.as_bytes(), contents.as_bytes()]) == trailer.sum.get()).then(|| Self {
            number,
            file,
            blocks,
            contents,
            damaged: AtomicBool::new(false),
        })
    }

    /// Whether all blocks read so far were intact.
    pub(in crate::git) fn is_sound(&self) -> bool {
        !self.damaged.load(Ordering::Relaxed)
    }

    /// Whether a content is here, as far as such contents are kept.
    pub(in crate::git) fn holds(&self, id: &gix::oid) -> bool {
        self.find(id).is_some()
    }

    fn find(&self, id: &gix::oid) -> Option<&ContentRecord> {
        let at = self.contents.binary_search_by(|content| content.id.as_slice().cmp(id.as_bytes())).ok()?;
        Some(&self.contents[at])
    }

    /// Reads a content into a buffer, replacing its text, if `wanted` accepts its first bytes: `first` of them, or
    /// all if there are fewer.
    pub(in crate::git) fn read(
        &self,
        id: &gix::oid,
        first: usize,
        wanted: &dyn Fn(&[u8]) -> bool,
        buffer: &mut Vec<u8>,
    ) -> Outcome {
        let Some(content) = self.find(id) else { return Outcome::Elsewhere };
        if self.copy(content, buffer).is_none() {
            self.damaged.store(true, Ordering::Relaxed);
            return Outcome::Elsewhere;
        }
        let whole = content.whole.get() == 1;
        if !wanted(&buffer[..buffer.len().min(first)]) {
            // The kept beginning may be shorter than the part to be judged.
            return if whole || buffer.len() >= first { Outcome::Unwanted } else { Outcome::Elsewhere };
        }
        if whole { Outcome::Read } else { Outcome::Elsewhere }
    }

    /// The kept part of a content; `None` if its block is damaged.
    fn copy(&self, content: &ContentRecord, buffer: &mut Vec<u8>) -> Option<()> {
        let number = content.block.get();
        let block = self.blocks.get(number as usize)?;
        let (start, len) = (content.start.get() as usize, content.len.get() as usize);
        UNPACKED.with_borrow_mut(|unpacked| {
            if start == 0 && len == block.len.get() as usize {
                return self.unpack(block, &mut unpacked.packed, buffer);
            }
            if unpacked.of != (self.number, number) {
                unpacked.of = (0, 0);
                self.unpack(block, &mut unpacked.packed, &mut unpacked.block)?;
                unpacked.of = (self.number, number);
            }
            buffer.clear();
            buffer.extend_from_slice(unpacked.block.get(start..start.checked_add(len)?)?);
            Some(())
        })
    }

    fn unpack(&self, block: &BlockRecord, packed: &mut Vec<u8>, into: &mut Vec<u8>) -> Option<()> {
        packed.resize(block.packed.get() as usize, 0);
        self.file.read_exact_at(packed, block.start.get()).ok()?;
        if sum(&[packed]) != block.sum.get() {
            return None;
        }
        into.resize(block.len.get() as usize, 0);
        let done = lz4_flex::block::decompress_into(packed, into);
        // A large buffer is not kept for the small contents after it.
        packed.shrink_to(2 * BLOCK);
        done.is_ok_and(|len| len == into.len()).then_some(())
    }
}

/// The blocks packed by one core.
#[derive(Default)]
struct PackedShare {
    /// Packed blocks, each with its unpacked size.
    blocks: Vec<(Vec<u8>, usize)>,
    /// Contents, with block numbers relative to `blocks`.
    contents: Vec<ContentRecord>,
    /// Contents of the next block.
    open: Vec<u8>,
}

impl PackedShare {
    /// Reads a content and adds the part to keep.
    fn add(
        &mut self,
        tree: &dyn SourceTree,
        entry: &TreeEntry,
        wanted: &(dyn Fn(&[u8]) -> bool + Sync),
        buffer: &mut Vec<u8>,
    ) {
        let id = gix::ObjectId::from_hex(entry.id.as_bytes()).ok();
        let Some(id) = id.and_then(|id| <[u8; 20]>::try_from(id.as_slice()).ok()) else { return };
        let beginning = RefCell::new(Vec::new());
        let judge = |first: &[u8]| {
            first.clone_into(&mut beginning.borrow_mut());
            wanted(first)
        };
        let read = tree.read_if(entry, &judge, buffer);
        let beginning = beginning.take();
        let (kept, whole): (&[u8], bool) = match read {
            Ok(true) if buffer.len() <= LARGEST => (buffer, true),
            Ok(_) => (&beginning, beginning.len() < FIRST),
            // Without a kept part it is read from its source, and reported missing there, each time.
            Err(_) => (&[], false),
        };
        if self.open.len() + kept.len() > 2 * BLOCK {
            self.close();
        }
        self.contents.push(ContentRecord {
            id,
            block: (self.blocks.len() as u32).into(),
            start: (self.open.len() as u32).into(),
            len: (kept.len() as u32).into(),
            whole: u32::from(whole).into(),
        });
        self.open.extend_from_slice(kept);
        if self.open.len() >= BLOCK {
            self.close();
        }
    }

    /// Bytes that are packed and not written.
    fn packed(&self) -> usize {
        self.blocks.iter().map(|(packed, _)| packed.len()).sum()
    }

    /// Packs the current block.
    fn close(&mut self) {
        // An empty content needs a block, too.
        if self.contents.last().is_some_and(|content| content.block.get() as usize == self.blocks.len()) {
            self.blocks.push((lz4_flex::block::compress(&self.open), self.open.len()));
            self.open.clear();
        }
    }
}

/// A file being written.
struct Output {
    file: BufWriter<tempfile::NamedTempFile>,
    start: u64,
    blocks: Vec<BlockRecord>,
    contents: Vec<ContentRecord>,
}

impl Output {
    /// Writes a share and empties it.
    fn take(&mut self, share: &mut PackedShare) -> io::Result<()> {
        share.close();
        let first = self.blocks.len() as u32;
        self.contents.extend(share.contents.drain(..).map(|mut content| {
            content.block += first;
            content
        }));
        for (packed, len) in share.blocks.drain(..) {
            self.file.write_all(&packed)?;
            self.blocks.push(BlockRecord {
                start: self.start.into(),
                packed: (packed.len() as u32).into(),
                len: (len as u32).into(),
                sum: sum(&[&packed]).into(),
            });
            self.start += packed.len() as u64;
        }
        Ok(())
    }

    /// Writes the records, and publishes the file.
    fn finish(mut self, path: &Path) -> io::Result<()> {
        self.contents.sort_unstable_by_key(|content| content.id);
        let (blocks, contents) = (self.blocks.as_bytes(), self.contents.as_bytes());
        let trailer = Trailer {
            start: self.start.into(),
            blocks: (self.blocks.len() as u32).into(),
            contents: (self.contents.len() as u32).into(),
            sum: sum(&[blocks, contents]).into(),
            magic: MAGIC,
        };
        [blocks, contents, trailer.as_bytes()].iter().try_for_each(|bytes| self.file.write_all(bytes))?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(path).map_err(|err| err.error)?;
        Ok(())
    }
}

/// Writes the contents of these entries to a file, which appears when it is complete: the contents accepted by
/// `wanted`, and the beginnings of the others.
pub(in crate::git) fn write(
    path: &Path,
    tree: &dyn SourceTree,
    entries: &[&TreeEntry],
    wanted: &(dyn Fn(&[u8]) -> bool + Sync),
    cancelled: &AtomicBool,
) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut seen = HashSet::new();
    let entries: Vec<&TreeEntry> = entries.iter().copied().filter(|entry| seen.insert(entry.id.as_str())).collect();
    let file = BufWriter::with_capacity(1 << 20, tempfile::NamedTempFile::new_in(folder)?);
    let output = Mutex::new(Output { file, start: 0, blocks: Vec::new(), contents: Vec::new() });
    let take = |share: &mut PackedShare| output.lock().unwrap_or_else(PoisonError::into_inner).take(share);
    entries.par_chunks(SHARE).try_for_each_init(Vec::new, |buffer, entries| {
        let mut share = PackedShare::default();
        for entry in entries {
            if cancelled.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            share.add(tree, entry, wanted, buffer);
            if share.packed() >= MOST_PACKED {
                take(&mut share)?;
            }
        }
        take(&mut share)
    })?;
    output.into_inner().unwrap_or_else(PoisonError::into_inner).finish(path)
}

fn sum(parts: &[&[u8]]) -> u32 {
    let mut hash = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize()
}
