//! Page checksums of a part of a file, verified on first read of each page: data used by an answer is intact, and
//! unused data costs nothing.
//!
//! The sums follow their part. The referrer of the part keeps a checksum of them.

use std::sync::atomic::{AtomicU64, Ordering};

use crc32fast::Hasher;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::map::MappedFile;
use super::pack::agrees;
use crate::Error;

/// Size of a page in bytes, counted from the beginning of the file like the system's pages.
const PAGE: u64 = 4096;

/// Builder of the sums of a part.
pub struct PageSums {
    at: u64,
    page: Hasher,
    is_begun: bool,
    sums: Vec<u32>,
}

impl PageSums {
    /// Starts at this offset in the file.
    pub fn from(start: u64) -> Self {
        Self { at: start, page: Hasher::new(), is_begun: false, sums: Vec::new() }
    }

    /// Adds the next bytes.
    pub fn add(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = (PAGE - self.at % PAGE) as usize;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.page.update(now);
            (self.at, self.is_begun, bytes) = (self.at + now.len() as u64, true, later);
            if self.at.is_multiple_of(PAGE) {
                self.end_page();
            }
        }
    }

    /// Returns the sums, padded to a multiple of eight bytes.
    pub fn finish(mut self) -> Vec<u8> {
        if self.is_begun {
            self.end_page();
        }
        let mut bytes = self.sums.as_bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn end_page(&mut self) {
        self.sums.push(std::mem::take(&mut self.page).finalize());
        self.is_begun = false;
    }
}

/// A part of a mapped file, with the set of its verified pages.
#[derive(Debug)]
pub struct Pages {
    start: u64,
    len: u64,
    /// Bit set of the verified pages.
    right: Vec<AtomicU64>,
}

impl Pages {
    /// Creates the part of `len` bytes from `start`, both multiples of eight. Reads nothing.
    pub fn of(map: &MappedFile, start: u64, len: u64) -> Result<Self, Error> {
        map.slice(start, len)?;
        let mut pages = Self { start, len, right: Vec::new() };
        pages.right.resize_with(pages.count().div_ceil(64) as usize, AtomicU64::default);
        pages.sums(map)?;
        Ok(pages)
    }

    /// Number of pages that the part touches.
    fn count(&self) -> u64 {
        if self.len == 0 { 0 } else { self.number(self.start + self.len - 1) + 1 }
    }

    /// Index of a byte's page.
    fn number(&self, at: u64) -> u64 {
        at / PAGE - self.start / PAGE
    }

    /// End of the part and its sums.
    pub fn end(&self) -> u64 {
        self.start + self.len + (self.count() * size_of::<u32>() as u64).next_multiple_of(8)
    }

    /// Stored sums.
    pub fn sums<'m>(&self, map: &'m MappedFile) -> Result<&'m [u8], Error> {
        let from = self.start + self.len;
        map.slice(from, self.end() - from)
    }

    /// Some bytes of the part, verified.
    pub fn slice<'m>(&self, map: &'m MappedFile, start: u64, len: u64) -> Result<&'m [u8], Error> {
        self.check(map, start, len)?;
        map.slice(start, len)
    }

    /// `count` records from byte `start`, verified.
    pub fn records<'m, T>(&self, map: &'m MappedFile, start: u64, count: u64) -> Result<&'m [T], Error>
    where
        T: FromBytes + Immutable + KnownLayout,
    {
        let records: &[T] = map.records(start, count)?;
        self.check(map, start, size_of_val(records) as u64)?;
        Ok(records)
    }

    /// Verifies the pages that have not been read yet.
    pub fn check_all(&self, map: &MappedFile) -> Result<(), Error> {
        self.check(map, self.start, self.len)
    }

    /// Verifies all pages, regardless of earlier results.
    pub fn verify(&self, map: &MappedFile) -> Result<(), Error> {
        (0..self.count()).try_for_each(|page| self.compare(map, page))
    }

    /// Verifies the pages of some bytes that have not been read yet.
    fn check(&self, map: &MappedFile, start: u64, len: u64) -> Result<(), Error> {
        if len == 0 {
            return Ok(());
        }
        let end = start.saturating_add(len);
        if start < self.start || end > self.start + self.len {
            return Err(map.damaged("a table is not where it should be"));
        }
        for page in self.number(start)..=self.number(end - 1) {
            let (word, bit) = (&self.right[page as usize / 64], 1 << (page % 64));
            if word.load(Ordering::Relaxed) & bit == 0 {
                self.compare(map, page)?;
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn compare(&self, map: &MappedFile, page: u64) -> Result<(), Error> {
        let first = (self.start / PAGE + page) * PAGE;
        let (start, end) = (first.max(self.start), (first + PAGE).min(self.start + self.len));
        let sums: &[u32] = map.records(self.start + self.len, self.count())?;
        match agrees(sums[page as usize], crc32fast::hash(map.slice(start, end - start)?)) {
            true => Ok(()),
            false => Err(map.damaged("a page does not match its checksum")),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PageSums, Pages};
    use crate::packs::map::MappedFile;

    /// A file with a part in the middle and its sums behind it.
    fn file(before: usize, part: &[u8]) -> tempfile::NamedTempFile {
        let mut sums = PageSums::from(before as u64);
        // However it comes in.
        part.chunks(1000).for_each(|chunk| sums.add(chunk));
        let file = tempfile::NamedTempFile::new().expect("there is room");
        std::fs::write(file.path(), [&vec![7; before], part, &sums.finish()].concat()).expect("it is ours");
        file
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written_or_refused(
            before in 0_usize..1200,
            len in 1_usize..2500,
            spoilt in any::<prop::sample::Index>(),
            from in any::<prop::sample::Index>(),
            bit in 0..8,
        ) {
            let (before, part) = (before * 8, (0..len * 8).map(|at| (at / 5) as u8).collect::<Vec<_>>());
            let file = file(before, &part);
            let map = MappedFile::open(file.path()).expect("it was written");
            let pages = Pages::of(&map, before as u64, part.len() as u64).expect("it is there");
            prop_assert_eq!(pages.end(), map.bytes().len() as u64);
            prop_assert!(pages.verify(&map).is_ok());
            prop_assert_eq!(pages.slice(&map, before as u64, part.len() as u64).expect("it is whole"), &part);
            prop_assert!(pages.slice(&map, before as u64 + 8, part.len() as u64).is_err());

            let (spoilt, from) = (spoilt.index(part.len()), from.index(part.len()));
            let mut bytes = map.bytes().to_vec();
            bytes[before + spoilt] ^= 1_u8 << bit;
            let other = tempfile::NamedTempFile::new().expect("there is room");
            std::fs::write(other.path(), bytes).expect("it is ours");
            let map = MappedFile::open(other.path()).expect("it was written");
            let pages = Pages::of(&map, before as u64, part.len() as u64).expect("it is there");
            prop_assert!(pages.verify(&map).is_err());
            let same_page = (before + from) / 4096 == (before + spoilt) / 4096;
            prop_assert_eq!(pages.slice(&map, (before + from) as u64, 1).is_err(), same_page);
            prop_assert_eq!(pages.slice(&map, (before + from) as u64, 1).is_err(), same_page);
        }
    }
}
