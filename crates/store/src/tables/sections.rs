//! Sections of a table's file: arrays of records, one behind the other after a header that holds their lengths.

use crate::Error;
use crate::packs::map::MappedFile;
use crate::packs::pack::{agrees, checksum};

/// Starts and lengths of a file's sections, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sections<const N: usize> {
    starts: [u64; N],
    lens: [u64; N],
    end: u64,
}

impl<const N: usize> Sections<N> {
    /// Sections of these lengths, after a header of `header` bytes.
    pub fn after(header: usize, lens: [u64; N]) -> Self {
        let mut end = header as u64;
        let starts = lens.map(|len| {
            let start = end;
            end = end.saturating_add(len);
            start
        });
        Self { starts, lens, end }
    }

    /// First byte of a section.
    pub fn start(&self, number: usize) -> u64 {
        self.starts[number]
    }

    /// Number of records of a section.
    pub fn count<T>(&self, number: usize) -> usize {
        self.lens[number] as usize / size_of::<T>()
    }

    /// The byte behind the last section.
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// Verifies the bytes behind a header of `header` bytes against their checksum.
pub fn verify_body(map: &MappedFile, header: usize, expected: u64) -> Result<(), Error> {
    let start = header as u64;
    let body = map.slice(start, map.bytes().len() as u64 - start)?;
    match agrees(expected, checksum(body)) {
        true => Ok(()),
        false => Err(map.damaged("it does not match its checksum")),
    }
}
