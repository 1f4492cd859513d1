//! A shipment in one file: a tar in zstd, with the entries that a bucket would have, the listing first.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use tar::{Archive, Builder, EntryType, Header};

use super::listing::{Facts, LARGEST, LATEST, Listing, key_path};
use super::parts::{Arrival, Filling, StoreParts, most_packed};
use super::{Error, ShipmentControl};
use codelode_store::{Registry, StoreCopy};

/// Bytes per frame of the archive.
const FRAME: usize = 1 << 20;
/// Most bytes that a byte of an archive may become. Stores compress to a third; zeros would become any number.
const MOST_GROWTH: u64 = 64;
/// Bytes that any archive may become.
const LEAST: u64 = 64 << 20;

/// Writes a copy of a store into a file, which appears when it is complete. Returns its listing and the file's size.
pub fn pack(
    copy: &StoreCopy,
    contents: Vec<u8>,
    facts: Facts,
    file: &Path,
    watcher: &ShipmentControl<'_>,
) -> Result<(Listing, u64), Error> {
    let cut = StoreParts::of(copy, contents, facts, watcher)?;
    let failed = |what| Error::io(what, file);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Its owner alone may read it: it holds source code.
    let mut staged = tempfile::NamedTempFile::new_in(folder).map_err(failed("cannot write"))?;
    let mut tar = Builder::new(Frames { out: staged.as_file_mut(), waiting: Vec::with_capacity(FRAME) });
    let listing = &cut.listing;
    append(&mut tar, &key_path(&listing.facts.repo, LATEST), &listing.to_json()).map_err(failed("cannot write"))?;
    let mut written = std::collections::HashSet::new();
    for (at, part) in listing.parts().enumerate() {
        watcher.check()?;
        (watcher.progress)(at as u64, Some(cut.len() as u64), "packing");
        if written.insert(&part.object) {
            let object = cut.packed(at, part)?;
            append(&mut tar, &listing.object_path(part), &object).map_err(failed("cannot write"))?;
        }
    }
    let frames = tar.into_inner().and_then(Frames::finish);
    frames.and_then(|()| staged.as_file().sync_all()).map_err(failed("cannot write"))?;
    let bytes = staged.as_file().metadata().map_err(failed("cannot read"))?.len();
    staged.persist(file).map_err(|err| failed("cannot write")(err.error))?;
    Ok((cut.listing, bytes))
}

fn append(tar: &mut Builder<impl Write>, path: &str, content: &[u8]) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(content.len() as u64);
    tar.append_data(&mut header, path, content)
}

/// Writer of zstd frames. Objects are compressed already, so that they are only wrapped.
struct Frames<W> {
    out: W,
    waiting: Vec<u8>,
}

impl<W: Write> Frames<W> {
    fn finish(mut self) -> io::Result<()> {
        self.write_frame()
    }

    fn write_frame(&mut self) -> io::Result<()> {
        let frame = compress_to_vec(&self.waiting[..], CompressionLevel::Uncompressed);
        self.waiting.clear();
        self.out.write_all(&frame)
    }
}

impl<W: Write> Write for Frames<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME - self.waiting.len());
        self.waiting.extend_from_slice(&bytes[..taken]);
        if self.waiting.len() == FRAME {
            self.write_frame()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a store from a file, verified.
pub fn unpack(file: &Path, registry: &Registry, watcher: &ShipmentControl<'_>) -> Result<Arrival, Error> {
    let open = File::open(file).map_err(Error::io("cannot open", file))?;
    let metadata = open.metadata().map_err(Error::io("cannot read", file))?;
    let place = file.display().to_string();
    if !metadata.is_file() {
        return Err(Error::damaged(&place, "it is not a file"));
    }
    let most = metadata.len().saturating_mul(MOST_GROWTH).max(LEAST);
    unpack_from(frames(open).take(most), most, registry, &place, watcher)
}

/// Reads a store from the bytes of an archive, of which at most `most` are unpacked.
pub(super) fn unpack_from(
    archive: impl Read,
    most: u64,
    registry: &Registry,
    place: &str,
    watcher: &ShipmentControl<'_>,
) -> Result<Arrival, Error> {
    let unreadable = |err: io::Error| Error::damaged(place, err.to_string());
    let mut archive = Archive::new(archive);
    // Raw: no entry changes the next one, with a name that has to be held in memory.
    let mut entries = archive.entries().map_err(unreadable)?.raw(true).filter(|entry| {
        // Programs write the folders of entries before them.
        !entry.as_ref().is_ok_and(|entry| entry.header().entry_type() == EntryType::Directory)
    });
    let Some(first) = entries.next() else { return Err(Error::damaged(place, "it is empty")) };
    let first = first.map_err(unreadable)?;
    if first.header().entry_type() != EntryType::Regular || first.size() > LARGEST {
        return Err(Error::damaged(place, "it does not begin with a listing"));
    }
    let mut json = Vec::new();
    first.take(LARGEST).read_to_end(&mut json).map_err(unreadable)?;
    let listing = Listing::read(&json, place)?;
    if listing.bytes().is_none_or(|bytes| bytes > most) {
        return Err(Error::damaged(place, "its listing announces more than it can hold"));
    }
    let filling = Filling::begin(&listing, registry, place)?;
    let total = filling.wanted().len() as u64;
    let mut done = 0;
    for entry in entries {
        watcher.check()?;
        let mut entry = entry.map_err(unreadable)?;
        let path = entry.path().map_err(unreadable)?.into_owned();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(part) = filling.wants(name) else {
            return Err(Error::damaged(place, format!("it holds {}, which its listing does not name", path.display())));
        };
        if entry.header().entry_type() != EntryType::Regular || entry.size() > most_packed(part) {
            return Err(Error::damaged(place, format!("{} is not an object of it", path.display())));
        }
        // All of the entry is read before it is used: the end of the archive may be missing.
        let mut object = Vec::with_capacity(entry.size() as usize);
        entry.read_to_end(&mut object).map_err(unreadable)?;
        filling.put(part, &object)?;
        done += 1;
        (watcher.progress)(done, Some(total), "unpacking");
    }
    filling.finish()
}

/// The bytes in zstd frames.
pub(super) fn frames(source: impl Read) -> impl Read {
    FrameReader { source: Some(BufReader::with_capacity(FRAME, source)), decoder: None }
}

/// Reader of zstd frames, one after the other.
struct FrameReader<R: BufRead> {
    source: Option<R>,
    decoder: Option<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>,
}

impl<R: BufRead> Read for FrameReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(decoder) = &mut self.decoder {
                match decoder.read(buffer)? {
                    0 if !buffer.is_empty() => {
                        let (source, _) = self.decoder.take().expect("it was there").into_parts();
                        self.source = Some(source);
                    }
                    n => return Ok(n),
                }
            }
            let Some(mut source) = self.source.take() else { return Ok(0) };
            if source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let decoder = StreamingDecoder::new(source);
            self.decoder = Some(decoder.map_err(|err| io::Error::other(format!("it is not a zstd file: {err}")))?);
        }
    }
}
