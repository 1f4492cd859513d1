//! Joins the packs of a clone: each update adds a small one, and a lookup may have to search all of them.
//!
//! Entries are copied unchanged. A delta names its base by the distance to it or by its hash, and both stay valid
//! when a pack's entries are moved together; only their offsets are computed anew.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use gix::odb::pack;
use sha1::{Digest, Sha1};

use crate::git::Error;

/// The number of packs that are left alone.
const MOST: usize = 20;
/// Bytes before the first entry of a pack, and after the last.
const HEADER: u64 = 12;
const TRAILER: u64 = 20;
/// Larger offsets are kept in a table of their own.
const FAR: u64 = 1 << 31;

/// A pack and its index.
struct Pack {
    data: PathBuf,
    bytes: u64,
}

/// Joins the smaller packs in a folder when there are too many, and returns the number of joined ones. No other
/// process may write there or be about to read, because the joined packs are removed.
pub(in crate::git) fn join(folder: &Path) -> Result<usize, Error> {
    let mut packs: Vec<Pack> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pack") && path.with_extension("idx").is_file())
        .filter_map(|data| Some(Pack { bytes: fs::metadata(&data).ok()?.len(), data }))
        .collect();
    if packs.len() <= MOST {
        return Ok(0);
    }
    packs.sort_by_key(|pack| pack.bytes);
    packs.truncate(small(&packs));
    write_joined(folder, &packs)?;
    for pack in &packs {
        // A pack without index is ignored, so the index is removed first.
        for path in [pack.data.with_extension("idx"), pack.data.clone()] {
            fs::remove_file(&path).map_err(Error::io("cannot remove", &path))?;
        }
    }
    Ok(packs.len())
}

/// The number of packs to join, the smallest first. A pack far larger than all smaller ones together is left out, so
/// that large packs are seldom copied.
fn small(packs: &[Pack]) -> usize {
    let mut below: u64 = packs.iter().map(|pack| pack.bytes).sum();
    for (place, pack) in packs.iter().enumerate().rev() {
        below -= pack.bytes;
        if pack.bytes <= 2 * below {
            return place + 1;
        }
    }
    // Each is more than twice the sum of the smaller ones, which is impossible for twenty packs: they would fill any
    // disk.
    packs.len()
}

/// The offset of an object in the joined pack.
struct PackedObject {
    id: gix::ObjectId,
    crc: u32,
    offset: u64,
}

/// Writes a pack of other packs' entries, and then its index, which makes it visible to readers.
fn write_joined(folder: &Path, packs: &[Pack]) -> Result<(), Error> {
    let failed = |err: io::Error| Error::io("cannot join the packs in", folder)(err);
    let mut places = Vec::new();
    let mut data = HashingWriter::new(tempfile::NamedTempFile::new_in(folder).map_err(failed)?);
    let indexes = packs.iter().map(|pack| index_of(&pack.data)).collect::<Result<Vec<_>, Error>>()?;
    let total: u32 = indexes.iter().map(pack::index::File::num_objects).sum();
    data.write_all(b"PACK\0\0\0\x02").and_then(|()| data.write_all(&total.to_be_bytes())).map_err(failed)?;
    let mut at = HEADER;
    for (pack, index) in packs.iter().zip(&indexes) {
        for entry in index.iter() {
            let crc = entry.crc32.unwrap_or_default();
            // Entries lie between the header and the trailer, whatever an index says.
            let offset = entry.pack_offset.checked_sub(HEADER).filter(|after| *after < pack.bytes);
            let offset = offset.ok_or_else(|| failed(io::ErrorKind::InvalidData.into()))? + at;
            places.push(PackedObject { id: entry.oid, crc, offset });
        }
        let entries = pack.bytes.saturating_sub(HEADER + TRAILER);
        let mut source = File::open(&pack.data).map_err(failed)?;
        source.seek(SeekFrom::Start(HEADER)).map_err(failed)?;
        at += io::copy(&mut BufReader::new(source).take(entries), &mut data).map_err(failed)?;
    }
    let (data, hash) = data.finish().map_err(failed)?;
    places.sort_unstable_by_key(|place| place.id);
    let index = write_index(folder, &places, &hash).map_err(failed)?;
    let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = folder.join(format!("pack-{name}.pack"));
    data.persist(&path).map_err(|err| failed(err.error))?;
    index.persist(path.with_extension("idx")).map_err(|err| failed(err.error))?;
    Ok(())
}

fn index_of(data: &Path) -> Result<pack::index::File, Error> {
    let unreadable = |err: gix::Error| Error::Unreadable { path: data.to_owned(), problem: err.to_string() };
    pack::index::File::at(data.with_extension("idx"), gix::hash::Kind::Sha1).map_err(unreadable)
}

/// An index of version 2: the number of ids up to each first byte, the ids, checksums, offsets.
fn write_index(folder: &Path, places: &[PackedObject], pack: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut file = HashingWriter::new(tempfile::NamedTempFile::new_in(folder)?);
    file.write_all(b"\xfftOc\0\0\0\x02")?;
    for byte in 0..=u8::MAX {
        let up_to = places.partition_point(|place| place.id.first_byte() <= byte) as u32;
        file.write_all(&up_to.to_be_bytes())?;
    }
    for place in places {
        file.write_all(place.id.as_slice())?;
    }
    for place in places {
        file.write_all(&place.crc.to_be_bytes())?;
    }
    let mut far: Vec<u64> = Vec::new();
    for place in places {
        let short = match place.offset < FAR {
            true => place.offset,
            false => {
                far.push(place.offset);
                FAR | (far.len() as u64 - 1)
            }
        };
        file.write_all(&(short as u32).to_be_bytes())?;
    }
    for offset in far {
        file.write_all(&offset.to_be_bytes())?;
    }
    file.write_all(pack)?;
    Ok(file.finish()?.0)
}

/// A file that ends in the hash of its content.
struct HashingWriter {
    file: BufWriter<tempfile::NamedTempFile>,
    hash: Sha1,
}

impl HashingWriter {
    fn new(file: tempfile::NamedTempFile) -> Self {
        Self { file: BufWriter::with_capacity(1 << 20, file), hash: Sha1::new() }
    }

    /// Writes the hash, and syncs the file to disk.
    fn finish(mut self) -> io::Result<(tempfile::NamedTempFile, Vec<u8>)> {
        let hash = self.hash.finalize().to_vec();
        self.file.write_all(&hash)?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        Ok((file, hash))
    }
}

impl Write for HashingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hash.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
