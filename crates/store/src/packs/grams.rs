//! Trigram index of bytes, so that a text search opens only files that may match.
//!
//! A gram is three adjacent bytes of a line, in lower case, each byte mapped to one of 128 classes: ASCII characters
//! keep their own, other bytes share the free ones. So one index serves searches with and without case. It may return
//! too many files, never too few; the caller checks their text.
//!
//! A pack has blocks of grams, each for some of its files, so that writing one takes little memory:
//!
//! ```text
//! file numbers | code of every 128th list | code and place of each list | lists | sums of the pages
//! ```
//!
//! A query reads a page or two for each of its grams. A list holds the indices of files within the block as gaps in
//! Rice's code (Rice 1979), whose parameter follows from the list's length. A gram of most files costs a bit or two
//! per file, a rare one little more than the logarithm of its gaps.

use std::cell::RefCell;

use memchr::memmem;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::map::MappedFile;
use super::pack::{agrees, checksum, padding};
use super::pages::{PageSums, Pages};
use crate::Error;

/// Three classes of seven bits.
const CODES: usize = 1 << 21;
/// Code of files that are candidates for every query, because case folding changes their text.
const ALWAYS: u32 = 0;
/// The upper bits of a code select a range, the lower ones a position in it.
const LOW_BITS: u32 = 11;
const RANGES: usize = CODES >> LOW_BITS;
/// Maximum number of entries of a block, four bytes each while gathered.
const MOST_ENTRIES: usize = 8 << 20;
/// Maximum number of files of a block: indices have sixteen bits while gathered.
const MOST_FILES: usize = 1 << 16;
/// Limit up to which comparison sort is faster: counting sort visits every possible code.
const FEW_ENTRIES: usize = 512;
/// Bytes that bit readers look ahead.
const LOOKAHEAD: usize = 8;
/// Lists per directory entry, found by one comparison: their records take a page or two.
const GROUP: usize = 128;
/// Cost of checking a file, in bytes of a list: longer lists are not read to exclude it.
const FILE_COST: u64 = 1000;

/// Class of every byte. A newline is in no gram; its class serves [`ALWAYS`].
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            0 => 1,
            b'\n' => 0,
            small @ ..0x80 => small.to_ascii_lowercase(),
            // Capital letters and control characters leave their classes to the bytes of longer characters.
            next @ 0x80..0xc0 => b'A' + (next - 0x80) % 26,
            two @ 0xc0..0xe0 => 14 + (two - 0xc0) % 18,
            three @ 0xe0..0xf0 => 1 + (three - 0xe0) % 8,
            _ => 11,
        };
        byte += 1;
    }
    classes
};

/// Code of three bytes.
fn code(bytes: [u8; 3]) -> u32 {
    bytes.iter().fold(0, |code, byte| code << 7 | u32::from(CLASSES[*byte as usize]))
}

/// Reusable buffers of [`grams`]: a bit for each code, and the result.
struct Scratch {
    seen: Vec<u64>,
    found: Vec<u32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch { seen: Vec::new(), found: Vec::new() }) };
}

/// Distinct gram codes of a text, unsorted.
pub fn grams(text: &[u8]) -> Vec<u32> {
    SCRATCH.with_borrow_mut(|Scratch { seen, found }| {
        seen.resize(CODES / 64, 0);
        if found.len() <= text.len() {
            found.resize(text.len() + 1, 0);
        }
        let mut count = 0;
        if is_deceptive(text) {
            found[0] = ALWAYS;
            count = 1;
        }
        for line in text.split(|byte| *byte == b'\n').filter(|line| line.len() > 2) {
            let mut rolling = code([b'\n', line[0], line[1]]);
            for byte in &line[2..] {
                rolling = (rolling << 7 | u32::from(CLASSES[*byte as usize])) & (CODES as u32 - 1);
                let (word, bit) = (&mut seen[rolling as usize / 64], 1 << (rolling % 64));
                // Writing always and counting only new codes avoids an unpredictable branch.
                found[count] = rolling;
                count += usize::from(*word & bit == 0);
                *word |= bit;
            }
        }
        let found = found[..count].to_vec();
        found.iter().for_each(|code| seen[*code as usize / 64] = 0);
        found
    })
}

/// Whether a text has letters that case folding makes ASCII: ſ equals s, and the Kelvin sign equals k.
fn is_deceptive(text: &[u8]) -> bool {
    ["ſ", "\u{212a}"].iter().any(|letter| memmem::find(text, letter.as_bytes()).is_some())
}

/// Query on the grams of a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GramQuery {
    /// Matches every text.
    All,
    /// Matches no text.
    None,
    /// Matches texts with this gram.
    Gram(u32),
    /// Matches texts that match all of these.
    And(Vec<GramQuery>),
    /// Matches texts that match any of these.
    Or(Vec<GramQuery>),
}

impl GramQuery {
    /// Query for texts that contain these bytes, ignoring case.
    pub fn literal(bytes: &[u8]) -> Self {
        let windows = bytes.windows(3).filter(|three| !three.contains(&b'\n'));
        Self::and(windows.map(|three| Self::Gram(code([three[0], three[1], three[2]]))))
    }

    /// Conjunction of queries.
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all = Vec::new();
        for part in parts {
            match part {
                Self::All => {}
                Self::None => return Self::None,
                Self::And(parts) => all.extend(parts),
                part => all.push(part),
            }
        }
        all.sort_unstable();
        all.dedup();
        match all.len() {
            0 => Self::All,
            1 => all.remove(0),
            _ => Self::And(all),
        }
    }

    /// Disjunction of queries.
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut any = Vec::new();
        for part in parts {
            match part {
                Self::All => return Self::All,
                Self::None => {}
                Self::Or(parts) => any.extend(parts),
                part => any.push(part),
            }
        }
        any.sort_unstable();
        any.dedup();
        match any.len() {
            0 => Self::None,
            1 => any.remove(0),
            _ => Self::Or(any),
        }
    }
}

/// Position and contents of a block.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct BlockRecord {
    /// First byte in the pack, a multiple of eight.
    pub start: u64,
    /// Length in bytes, a multiple of eight; the sums of its pages follow.
    pub len: u64,
    /// Number of files.
    pub files: u32,
    /// Number of distinct grams.
    pub codes: u32,
    /// BLAKE3 of the sums, truncated to eight bytes.
    pub checksum: u64,
}

/// Record of a list. Records are sorted by code, and a final one marks the end of the last list.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct ListRecord {
    code: u32,
    /// First byte among the lists.
    start: u32,
}

/// Builder of a block.
pub struct GramWriter {
    /// Entries of each range of codes: the low bits above the file's index.
    ranges: Vec<Vec<u32>>,
    files: Vec<u32>,
    entries: usize,
}

impl Default for GramWriter {
    fn default() -> Self {
        Self { ranges: vec![Vec::new(); RANGES], files: Vec::new(), entries: 0 }
    }
}

impl GramWriter {
    /// Adds a file by its number and [`grams`].
    pub fn add(&mut self, file: u32, grams: &[u32]) {
        let place = self.files.len() as u32;
        self.files.push(file);
        self.entries += grams.len();
        for code in grams {
            self.ranges[(code >> LOW_BITS) as usize].push((code & ((1 << LOW_BITS) - 1)) << 16 | place);
        }
    }

    /// Whether to write the block before adding another file.
    pub fn is_full(&self, most_entries: usize) -> bool {
        self.entries >= most_entries.min(MOST_ENTRIES) || self.files.len() == MOST_FILES
    }

    /// Serializes the block with its sums and starts a new one; `start` is its position. `None` when empty.
    pub fn take(&mut self, start: u64) -> Option<(BlockRecord, Vec<u8>)> {
        if self.files.is_empty() {
            return None;
        }
        let files = std::mem::take(&mut self.files);
        self.entries = 0;
        let mut records = Vec::new();
        let mut lists = Bits::default();
        let mut sorted = Vec::new();
        for (number, range) in self.ranges.iter_mut().enumerate() {
            sort_by_code(range, &mut sorted);
            for list in sorted.chunk_by(|a, b| a >> 16 == b >> 16) {
                let code = (number as u32) << LOW_BITS | list[0] >> 16;
                records.push(ListRecord { code, start: lists.bytes.len() as u32 });
                lists.list(list, files.len());
            }
            // Memory of a large block must not stay allocated for the small ones after it.
            *range = Vec::new();
        }
        let codes = records.len() as u32;
        let heads: Vec<u32> = records.chunks(GROUP).map(|group| group[0].code).collect();
        records.push(ListRecord { code: u32::MAX, start: lists.bytes.len() as u32 });
        lists.bytes.extend_from_slice(&[0; LOOKAHEAD]);
        let parts = [files.as_bytes(), heads.as_bytes(), records.as_bytes(), &lists.bytes];
        let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() * 1025 / 1024 + 16);
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes.extend_from_slice(&[0; 8][..padding(bytes.len() as u64)]);
        let len = bytes.len() as u64;
        let mut sums = PageSums::from(start);
        sums.add(&bytes);
        let sums = sums.finish();
        bytes.extend_from_slice(&sums);
        let record = BlockRecord { start, len, files: files.len() as u32, codes, checksum: checksum(&sums) };
        Some((record, bytes))
    }
}

/// Sorts the entries of a range by their low bits; indices are in order already.
fn sort_by_code(entries: &[u32], sorted: &mut Vec<u32>) {
    sorted.clear();
    if entries.len() < FEW_ENTRIES {
        sorted.extend_from_slice(entries);
        sorted.sort_unstable();
        return;
    }
    let mut ends = [0_u32; (1 << LOW_BITS) + 1];
    entries.iter().for_each(|entry| ends[(entry >> 16) as usize + 1] += 1);
    for at in 1..ends.len() {
        ends[at] += ends[at - 1];
    }
    sorted.resize(entries.len(), 0);
    for entry in entries {
        let end = &mut ends[(entry >> 16) as usize];
        sorted[*end as usize] = *entry;
        *end += 1;
    }
}

/// Parameter of Rice's code for `count` indices among `files`.
fn parameter(count: usize, files: usize) -> u32 {
    // The median gap of a geometric distribution.
    let middle = (files.saturating_sub(count) as u64).saturating_mul(7) / (count.max(1) as u64).saturating_mul(10);
    middle.checked_ilog2().unwrap_or(0)
}

/// Bit writer, lowest bit first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    word: u64,
    used: u32,
}

impl Bits {
    /// Writes the indices of a list: their number, then the gaps.
    fn list(&mut self, entries: &[u32], files: usize) {
        let count = entries.len();
        let width = count.ilog2();
        self.put(1 << width, width + 1);
        self.put(count as u64 & ((1 << width) - 1), width);
        let parameter = parameter(count, files);
        let mut next = 0;
        for entry in entries {
            let place = entry & 0xffff;
            let gap = u64::from(place - next);
            let mut zeros = gap >> parameter;
            while zeros >= 32 {
                self.put(0, 32);
                zeros -= 32;
            }
            self.put(1 << zeros, zeros as u32 + 1);
            self.put(gap & ((1 << parameter) - 1), parameter);
            next = place + 1;
        }
        self.align();
    }

    /// Writes up to 33 bits.
    fn put(&mut self, bits: u64, count: u32) {
        self.word |= bits << self.used;
        self.used += count;
        if self.used >= 32 {
            self.bytes.extend_from_slice(&(self.word as u32).to_le_bytes());
            self.word >>= 32;
            self.used -= 32;
        }
        debug_assert!(self.used < 32, "a put of 33 bits leaves at most 31 + 33 - 32");
    }

    fn align(&mut self) {
        let bytes = self.used.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.word.to_le_bytes()[..bytes]);
        (self.word, self.used) = (0, 0);
    }
}

/// Pages of a block.
pub fn open(map: &MappedFile, record: &BlockRecord) -> Result<Pages, Error> {
    let pages = Pages::of(map, record.start, record.len)?;
    match agrees(record.checksum, checksum(pages.sums(map)?)) {
        true => Ok(pages),
        false => Err(map.damaged("a block of grams does not match its checksum")),
    }
}

/// A block, open for reading.
pub struct Block<'a> {
    pub map: &'a MappedFile,
    pub record: &'a BlockRecord,
    /// See [`open`].
    pub pages: &'a Pages,
}

impl<'a> Block<'a> {
    /// Numbers of the files that may match, by index.
    pub fn candidates(&self, query: &GramQuery) -> Result<Vec<u32>, Error> {
        let mut places = self.places(query, None)?;
        if *query != GramQuery::All {
            places = merged(places, self.list(ALWAYS)?.into_iter().flatten());
        }
        let (Some(first), Some(last)) = (places.first(), places.last()) else { return Ok(Vec::new()) };
        let (start, count) = (self.record.start + 4 * u64::from(*first), u64::from(last.saturating_sub(*first)) + 1);
        let files: &[u32] = self.pages.records(self.map, start, count)?;
        Ok(places.iter().filter_map(|place| files.get(place.checked_sub(*first)? as usize).copied()).collect())
    }

    /// Indices that match, restricted to `among` if given.
    fn places(&self, query: &GramQuery, among: Option<&[u32]>) -> Result<Vec<u32>, Error> {
        let files = self.record.files.min(MOST_FILES as u32);
        let all = || among.map_or_else(|| (0..files).collect(), <[u32]>::to_vec);
        Ok(match query {
            GramQuery::All => all(),
            GramQuery::None => Vec::new(),
            GramQuery::Gram(code) => match (self.list(*code)?, among) {
                (None, _) => Vec::new(),
                (Some(list), None) => list.collect(),
                (Some(list), Some(among)) => common(among, list),
            },
            GramQuery::Or(parts) => {
                let mut any = Vec::new();
                for part in parts {
                    any = merged(any, self.places(part, among)?.into_iter());
                }
                any
            }
            GramQuery::And(parts) => {
                let mut left: Option<Vec<u32>> = among.map(<[u32]>::to_vec);
                for part in parts {
                    if let Some(left) = &left
                        && self.cost(part)? > left.len() as u64 * FILE_COST
                    {
                        break;
                    }
                    left = Some(self.places(part, left.as_deref())?);
                }
                left.unwrap_or_else(all)
            }
        })
    }

    /// Reorders a query to check its rarest grams first: most other lists need not be read to the end, or at all.
    pub fn rarest_first(&self, query: &GramQuery) -> Result<GramQuery, Error> {
        let ordered =
            |parts: &[GramQuery]| parts.iter().map(|part| self.rarest_first(part)).collect::<Result<Vec<_>, _>>();
        Ok(match query {
            GramQuery::And(parts) => {
                let costs = ordered(parts)?.into_iter().map(|part| Ok((self.cost(&part)?, part)));
                let mut parts = costs.collect::<Result<Vec<_>, Error>>()?;
                parts.sort_by_key(|(cost, _)| *cost);
                GramQuery::And(parts.into_iter().map(|(_, part)| part).collect())
            }
            GramQuery::Or(parts) => GramQuery::Or(ordered(parts)?),
            other => other.clone(),
        })
    }

    /// Estimated bytes of lists that a query reads; low for a query that few files match.
    fn cost(&self, query: &GramQuery) -> Result<u64, Error> {
        Ok(match query {
            GramQuery::All => self.record.len,
            GramQuery::None => 0,
            GramQuery::Gram(code) => self.range(*code)?.map_or(0, |(start, end)| u64::from(end - start)),
            GramQuery::And(parts) => {
                let costs = parts.iter().map(|part| self.cost(part));
                costs.reduce(|least, cost| Ok(least?.min(cost?))).unwrap_or(Ok(0))?
            }
            GramQuery::Or(parts) => parts.iter().try_fold(0, |sum, part| Ok::<_, Error>(sum + self.cost(part)?))?,
        })
    }

    /// Start and end of a code's list; `None` when no file has the code.
    fn range(&self, code: u32) -> Result<Option<(u32, u32)>, Error> {
        let (heads, n_heads, records) = self.directory();
        let heads: &[u32] = self.pages.records(self.map, heads, n_heads)?;
        let Some(group) = heads.partition_point(|head| *head <= code).checked_sub(1) else { return Ok(None) };
        let first = (group * GROUP) as u64;
        let count = (u64::from(self.record.codes) - first).min(GROUP as u64);
        // The next record marks the end of the last list.
        let at = records + first * size_of::<ListRecord>() as u64;
        let records: &[ListRecord] = self.pages.records(self.map, at, count + 1)?;
        let Ok(at) = records[..count as usize].binary_search_by_key(&code, |record| record.code) else {
            return Ok(None);
        };
        let (start, end) = (records[at].start, records.get(at + 1).map_or(0, |next| next.start));
        if start > end { Err(self.map.damaged("a list ends before it begins")) } else { Ok(Some((start, end))) }
    }

    /// Position and number of the group heads, and position of the list records.
    fn directory(&self) -> (u64, u64, u64) {
        let heads = self.record.start + 4 * u64::from(self.record.files);
        let n_heads = u64::from(self.record.codes).div_ceil(GROUP as u64);
        (heads, n_heads, heads + 4 * n_heads)
    }

    fn list(&self, code: u32) -> Result<Option<List<'a>>, Error> {
        let Some((start, end)) = self.range(code)? else { return Ok(None) };
        let (_, _, records) = self.directory();
        let lists = records + (u64::from(self.record.codes) + 1) * size_of::<ListRecord>() as u64;
        let bytes = self.pages.slice(self.map, lists + u64::from(start), u64::from(end - start) + LOOKAHEAD as u64)?;
        let mut list = List { bytes, bit: 0, left: 0, next: 0, parameter: 0 };
        let width = list.zeros();
        let files = self.record.files as usize;
        let count = 1_usize.checked_shl(width).map_or(0, |most| most + list.bits(width.min(32)) as usize);
        // A damaged count must not exceed the number of files.
        list.left = count.min(files);
        list.parameter = parameter(count, files);
        Ok(Some(list))
    }
}

/// Indices of a list, ascending.
struct List<'a> {
    bytes: &'a [u8],
    bit: usize,
    left: usize,
    next: u32,
    parameter: u32,
}

impl List<'_> {
    /// At least the next 57 bits.
    fn peek(&self) -> u64 {
        let at = self.bit / 8;
        let word = self.bytes.get(at..at + 8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight")));
        // Ones follow the end, so that a count of zeros ends even in damaged data.
        word.unwrap_or(u64::MAX) >> (self.bit % 8)
    }

    /// Counts zeros up to the next one.
    fn zeros(&mut self) -> u32 {
        let mut all = 0;
        loop {
            let zeros = self.peek().trailing_zeros();
            if zeros < 57 {
                self.bit += zeros as usize + 1;
                return all + zeros;
            }
            all += 56;
            self.bit += 56;
        }
    }

    fn bits(&mut self, count: u32) -> u32 {
        let bits = self.peek() & ((1 << count) - 1);
        self.bit += count as usize;
        bits as u32
    }
}

impl Iterator for List<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let gap = self.zeros() << self.parameter | self.bits(self.parameter);
        let place = self.next.saturating_add(gap);
        self.next = place.saturating_add(1);
        Some(place)
    }
}

/// Intersection of two ascending lists.
fn common(left: &[u32], right: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut both = Vec::with_capacity(left.len());
    let mut left = left.iter().copied().peekable();
    for place in right {
        while left.next_if(|other| *other < place).is_some() {}
        match left.peek() {
            Some(other) if *other == place => both.push(place),
            Some(_) => {}
            None => break,
        }
    }
    both
}

/// Union of two ascending lists.
fn merged(left: Vec<u32>, right: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut right = right.peekable();
    if right.peek().is_none() {
        return left;
    }
    let mut all = Vec::with_capacity(left.len());
    for place in left {
        while let Some(other) = right.next_if(|other| *other < place) {
            all.push(other);
        }
        right.next_if_eq(&place);
        all.push(place);
    }
    all.extend(right);
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// The files that a block in a file answers with, be it damaged.
    fn ask(path: &std::path::Path, record: &BlockRecord, query: &GramQuery) -> Result<Vec<u32>, Error> {
        let map = MappedFile::open(path)?;
        let pages = open(&map, record)?;
        Block { map: &map, record, pages: &pages }.candidates(query)
    }

    /// The files that a query leaves, in a block where each file's number is its place.
    fn candidates(texts: &[Vec<u8>], query: &GramQuery) -> Vec<u32> {
        let mut writer = GramWriter::default();
        for (place, text) in texts.iter().enumerate() {
            writer.add(place as u32, &grams(text));
        }
        let (record, bytes) = writer.take(0).expect("there are files");
        assert!(writer.take(0).is_none(), "what was taken is gone");
        let file = tempfile::NamedTempFile::new().expect("there is room");
        std::fs::write(file.path(), bytes).expect("it is ours");
        ask(file.path(), &record, query).expect("it is whole")
    }

    /// The files whose lines contain every gram of a literal, found by scanning.
    fn holding(texts: &[Vec<u8>], literal: &[u8]) -> Vec<u32> {
        let lower = |bytes: &[u8]| bytes.to_ascii_lowercase();
        let needed: BTreeSet<Vec<u8>> = literal.windows(3).filter(|three| !three.contains(&b'\n')).map(lower).collect();
        let holds = |text: &Vec<u8>| {
            let held: BTreeSet<Vec<u8>> = text.windows(3).map(lower).collect();
            needed.is_subset(&held)
        };
        (0..texts.len()).filter(|at| holds(&texts[*at])).map(|at| at as u32).collect()
    }

    fn check(texts: &[Vec<u8>], literal: &[u8]) {
        let (found, expected) = (candidates(texts, &GramQuery::literal(literal)), holding(texts, literal));
        assert!(expected.iter().all(|file| found.contains(file)), "{literal:?}: {found:?} lacks some of {expected:?}");
        assert_eq!(found, expected, "{literal:?}: no list of theirs is too long to be read");
    }

    proptest! {
        #[test]
        fn candidates_are_the_files_that_hold_every_gram(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(b"aAbB_\n".to_vec()), 0..40), 1..60),
            literal in prop::collection::vec(prop::sample::select(b"abB_\n".to_vec()), 0..6),
        ) {
            check(&texts, &literal);
        }
    }

    #[test]
    fn lists_of_every_density_are_read_as_they_were_written() {
        for step in [1, 2, 3, 7, 100, 2_999, 3_000] {
            let text = |at: usize| if at % step == step - 1 { b"needle".to_vec() } else { b"other".to_vec() };
            let texts: Vec<Vec<u8>> = (0..3_000).map(text).collect();
            check(&texts, b"needle");
            check(&texts, b"other");
        }
    }

    #[test]
    fn files_that_fold_to_ascii_are_always_looked_into() {
        let texts = ["plain", "ta\u{17f}k", "\u{212a}elvin", "other"].map(|text| text.as_bytes().to_vec());
        assert_eq!(candidates(&texts, &GramQuery::literal(b"task")), [1, 2]);
        assert_eq!(candidates(&texts, &GramQuery::None), [1, 2]);
        assert_eq!(candidates(&texts, &GramQuery::All), [0, 1, 2, 3]);
    }

    #[test]
    fn a_list_without_a_one_ends_at_any_bit() {
        for bit in 0..8 {
            let list = List { bytes: &[0; 16], bit, left: 3, next: 0, parameter: 2 };
            assert_eq!(list.count(), 3);
        }
    }

    #[test]
    fn a_damaged_block_answers_right_or_not_at_all() {
        let texts: Vec<Vec<u8>> = (0..2_000).map(|at| format!("text number {at} of many").into_bytes()).collect();
        let mut writer = GramWriter::default();
        texts.iter().enumerate().for_each(|(at, text)| writer.add(at as u32, &grams(text)));
        let (record, good) = writer.take(0).expect("there are files");
        let file = tempfile::NamedTempFile::new().expect("there is room");
        let queries = ["number 4", "of many", "xyz"].map(|text| GramQuery::literal(text.as_bytes()));
        let right = queries.each_ref().map(|query| candidates(&texts, query));
        let (mut told, mut answered) = (0, 0);
        for at in (0..good.len()).step_by(97) {
            let mut bytes = good.clone();
            bytes[at] ^= 0xa5;
            std::fs::write(file.path(), bytes).expect("it is ours");
            for (query, right) in queries.iter().zip(&right) {
                match ask(file.path(), &record, query) {
                    Ok(found) => assert_eq!(&found, right),
                    Err(err) => assert!(matches!(err, Error::Damaged { .. }), "{err}"),
                }
                *if ask(file.path(), &record, query).is_ok() { &mut answered } else { &mut told } += 1;
            }
        }
        assert!(told > 10 && answered > 10, "{told} told, {answered} answered");
    }
}
