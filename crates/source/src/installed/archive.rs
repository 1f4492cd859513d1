//! Archives of sources in the form of ZIP, as far as Java's archives use it.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::DeflateDecoder;

/// The largest archive whose list is read, and the most files in it.
const LARGEST: u64 = 256 << 20;
const MOST: usize = 20_000;
/// The largest file that is unpacked, and all of them together.
const LARGEST_FILE: u64 = 4 << 20;
const LARGEST_WHOLE: u64 = 512 << 20;
/// Most bytes that a byte of an archive may become. Sources compress to a fifth.
const MOST_GROWTH: u64 = 64;
/// Length of the record at the end, and of the longest comment in it.
const END: usize = 22;
const COMMENT: u64 = 0xffff;

/// A list of an archive's files.
pub(super) struct Archive {
    file: File,
    /// Its size.
    bytes: u64,
    pub(super) files: Vec<Packed>,
}

/// A file in an archive.
pub(super) struct Packed {
    /// Relative, with `/` between plain parts.
    pub(super) path: String,
    at: u64,
    packed: u64,
    size: u64,
    is_deflated: bool,
}

impl Archive {
    /// Reads the list at the end of an archive. Entries with paths that lead elsewhere are left out.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let length = file.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= LARGEST)?.len();
        let from = length.saturating_sub(COMMENT + END as u64);
        let tail = bytes(&mut file, from, length - from)?;
        let end = memchr::memmem::rfind(&tail, b"PK\x05\x06").and_then(|at| tail.get(at..at + END))?;
        let (count, size, start) = (short(end, 10)?, long(end, 12)?, long(end, 16)?);
        if start.checked_add(size)? > length {
            return None;
        }
        let list = bytes(&mut file, start, size)?;
        let (mut files, mut at) = (Vec::new(), 0);
        for _ in 0..(count as usize).min(MOST) {
            let entry = list.get(at..).filter(|entry| entry.starts_with(b"PK\x01\x02"))?;
            let (method, packed, size) = (short(entry, 10)?, long(entry, 20)?, long(entry, 24)?);
            let lengths = [short(entry, 28)?, short(entry, 30)?, short(entry, 32)?].map(|length| length as usize);
            let name = std::str::from_utf8(entry.get(46..46 + lengths[0])?).unwrap_or_default();
            if is_plain(name) && matches!(method, 0 | 8) {
                let place = long(entry, 42)?;
                files.push(Packed { path: name.to_owned(), at: place, packed, size, is_deflated: method == 8 });
            }
            at += 46 + lengths.iter().sum::<usize>();
        }
        Some(Self { file, bytes: length, files })
    }

    /// Unpacks the files that are no classes into a folder, which is new.
    pub(super) fn unpack(mut self, folder: &Path) -> std::io::Result<()> {
        let mut left = LARGEST_WHOLE.min(self.bytes.saturating_mul(MOST_GROWTH).max(LARGEST_FILE));
        for packed in std::mem::take(&mut self.files) {
            // Entries may overlap, so that a small archive holds the same bytes any number of times.
            if left == 0 {
                return Err(std::io::Error::new(
                    std::io::ErrorKind::InvalidData,
                    "it unpacks to more than archives do",
                ));
            }
            let content = self.content(&packed);
            left = left.saturating_sub(content.as_ref().map_or(LARGEST_FILE, |content| content.len() as u64).max(1));
            let Some(content) = content else { continue };
            let place = folder.join(&packed.path);
            fs::create_dir_all(place.parent().unwrap_or(folder))?;
            fs::write(place, content)?;
        }
        Ok(())
    }

    fn content(&mut self, packed: &Packed) -> Option<Vec<u8>> {
        if packed.size > LARGEST_FILE || packed.packed > LARGEST_FILE {
            return None;
        }
        // Names and extra fields are repeated before the content.
        let head = bytes(&mut self.file, packed.at, 30)?;
        let skipped = 30 + short(&head, 26)? + short(&head, 28)?;
        let content = bytes(&mut self.file, packed.at.checked_add(skipped)?, packed.packed)?;
        if !packed.is_deflated {
            return Some(content);
        }
        let mut whole = Vec::new();
        DeflateDecoder::new(&*content).take(LARGEST_FILE).read_to_end(&mut whole).ok()?;
        Some(whole)
    }
}

/// Whether a name is that of a file inside.
fn is_plain(name: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    !name.contains(['\\', '\0', ':']) && name.split('/').all(is_part)
}

fn bytes(file: &mut File, at: u64, length: u64) -> Option<Vec<u8>> {
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

fn short(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive with one content, as it is, which `names` share.
    fn archive(content: &[u8], names: &[String]) -> Vec<u8> {
        let length = (content.len() as u32).to_le_bytes();
        // Signature, 14 bytes that nobody reads, sizes, lengths of name and extra field.
        let mut bytes = [b"PK\x03\x04".as_slice(), &[0; 14], &length, &length, &[0; 4], content].concat();
        let start = bytes.len() as u32;
        for name in names {
            let lengths = [&(name.len() as u16).to_le_bytes()[..], &[0; 4]].concat();
            bytes.extend(
                [b"PK\x01\x02".as_slice(), &[0; 16], &length, &length, &lengths, &[0; 12], name.as_bytes()].concat(),
            );
        }
        let (count, size) = ((names.len() as u16).to_le_bytes(), bytes.len() as u32 - start);
        bytes.extend(
            [b"PK\x05\x06".as_slice(), &[0; 4], &count, &count, &size.to_le_bytes(), &start.to_le_bytes(), &[0; 2]]
                .concat(),
        );
        bytes
    }

    /// Unpacks such an archive; gives whether it was whole, and the bytes that came of it.
    fn unpacked(content: &[u8], n_names: usize) -> (bool, u64) {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("a-sources.jar");
        let names: Vec<String> = (0..n_names).map(|n| format!("a/b/C{n}.java")).collect();
        fs::write(&file, archive(content, &names)).expect("there is room");
        let is_whole = Archive::open(&file).expect("its list can be read").unpack(&folder.path().join("to")).is_ok();
        let files = fs::read_dir(folder.path().join("to/a/b")).expect("there are files");
        (is_whole, files.map(|file| file.and_then(|file| file.metadata()).expect("it is there").len()).sum())
    }

    #[test]
    fn entries_that_overlap_are_not_unpacked_without_end() {
        let content = vec![b' '; 60_000];
        assert_eq!(unpacked(&content, 3), (true, 180_000));
        let (is_whole, bytes) = unpacked(&content, 1_000);
        assert!(!is_whole && bytes < 10_000_000, "{bytes} bytes of 60,000,000");
    }
}
