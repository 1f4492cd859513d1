//! Compressed form of facts on disk: each column as small differences between its rows, then LZ4. Unpacked tables are
//! seven times as large, and are made only to resolve the relations of a snapshot. Behind them are the marks and the list
//! of mentions, which are read without them, and the numbers of their bytes.

use zerocopy::{FromBytes, IntoBytes};

use super::marks::FileMarks;
use super::tables::{
    Binding, Definition, Expression, Extension, Header, Import, ModuleName, Occurrence, Scope, Star, hash,
};

/// Tables of words between the hashes and the text: number of rows by the header, and words per row.
fn tables(header: &Header) -> [(u32, usize); 11] {
    const fn words<T>() -> usize {
        size_of::<T>() / size_of::<u32>()
    }
    [
        (header.names, 1),
        (header.scopes, words::<Scope>()),
        (header.bindings, words::<Binding>()),
        (header.definitions, words::<Definition>()),
        (header.expressions, words::<Expression>()),
        (header.stars, words::<Star>()),
        (header.occurrences, words::<Occurrence>()),
        (header.imports, words::<Import>()),
        (header.modules, words::<ModuleName>()),
        (header.extensions, words::<Extension>()),
        (header.lists, 1),
    ]
}

/// Compresses the tables of a builder, and adds the marks and the places of mentions.
pub(super) fn pack(facts: &[u8], marks: &FileMarks, mentions: &[u32]) -> Vec<u8> {
    let Ok((header, rest)) = Header::read_from_prefix(facts) else { return Vec::new() };
    // The hashes are computed again from the text.
    let mut rest = &rest[header.names as usize * size_of::<u64>()..];
    let mut packed = header.as_bytes().to_vec();
    for (rows, width) in tables(&header) {
        let (table, after) = rest.split_at(rows as usize * width * size_of::<u32>());
        let words = |at: usize| u32::from_le_bytes(table[4 * at..4 * at + 4].try_into().expect("four bytes"));
        for column in 0..width {
            let mut before = 0;
            for row in 0..rows as usize {
                let word = words(row * width + column);
                put(&mut packed, word.wrapping_sub(before) as i32);
                before = word;
            }
        }
        rest = after;
    }
    packed.extend_from_slice(rest);
    let mut packed = lz4_flex::block::compress_prepend_size(&packed);
    let tables = packed.len();
    marks.pack(&mut packed);
    let marks = packed.len();
    let mut before = 0;
    for at in mentions {
        put(&mut packed, at.wrapping_sub(before) as i32);
        before = *at;
    }
    let lens = [marks - tables, packed.len() - marks];
    lens.into_iter().for_each(|len| packed.extend_from_slice(&(len as u32).to_le_bytes()));
    packed
}

/// The parts of packed facts.
struct Parts<'p> {
    tables: &'p [u8],
    marks: &'p [u8],
    mentions: &'p [u8],
}

/// Splits packed facts.
fn parts(packed: &[u8]) -> Option<Parts<'_>> {
    let (rest, lens) = packed.split_last_chunk::<8>()?;
    let len = |at: usize| u32::from_le_bytes(lens[at..at + 4].try_into().expect("four bytes")) as usize;
    let (rest, mentions) = rest.split_at_checked(rest.len().checked_sub(len(4))?)?;
    let (tables, marks) = rest.split_at_checked(rest.len().checked_sub(len(0))?)?;
    Some(Parts { tables, marks, mentions })
}

/// Marks of a file, kept with its facts. The default for bytes that [`Builder::finish`](super::Builder::finish) has not
/// written.
pub fn marks(packed: &[u8]) -> FileMarks {
    parts(packed).and_then(|parts| FileMarks::unpack(parts.marks)).unwrap_or_default()
}

/// Places of words that packed facts do not explain, ascending. None for bytes that
/// [`Builder::finish`](super::Builder::finish) has not written.
pub fn mentions(packed: &[u8]) -> impl Iterator<Item = u32> {
    let mut list = parts(packed).map(|parts| parts.mentions).unwrap_or_default();
    let mut at = 0u32;
    std::iter::from_fn(move || {
        at = at.checked_add_signed(take(&mut list)?)?;
        Some(at)
    })
}

/// Decompresses facts into tables, as words for the alignment that [`Facts::open`](super::Facts::open) needs. Returns
/// `None` for bytes that [`Builder::finish`](super::Builder::finish) has not written.
pub fn unpack(packed: &[u8]) -> Option<Vec<u64>> {
    let packed = parts(packed)?.tables;
    // A few damaged bytes must not allocate gigabytes: LZ4 expands a byte to at most 255.
    let size = u32::from_le_bytes(*packed.first_chunk()?) as usize;
    if size > packed.len().saturating_mul(256) {
        return None;
    }
    let packed = lz4_flex::block::decompress_size_prepended(packed).ok()?;
    let (header, mut rest) = Header::read_from_prefix(&packed).ok()?;
    let tables = tables(&header);
    let words: usize = tables.iter().map(|(rows, width)| *rows as usize * width).sum();
    let names = header.names as usize;
    // Every word takes at least one byte.
    if words.checked_add(header.text as usize)? > rest.len() {
        return None;
    }
    let text_start = size_of::<Header>() + names * size_of::<u64>() + words * size_of::<u32>();
    let mut facts = vec![0u64; (text_start + header.text as usize).div_ceil(size_of::<u64>())];
    let bytes = facts.as_mut_bytes();
    bytes[..size_of::<Header>()].copy_from_slice(header.as_bytes());
    let mut start = size_of::<Header>() + names * size_of::<u64>();
    let ends = start;
    for (rows, width) in tables {
        let end = start + size_of::<u32>() * rows as usize * width;
        let table = <[u32]>::mut_from_bytes(&mut bytes[start..end]).ok()?;
        for column in 0..width {
            let mut word = 0u32;
            for row in table.chunks_exact_mut(width) {
                word = word.wrapping_add(take(&mut rest)? as u32);
                row[column] = word.to_le();
            }
        }
        start = end;
    }
    let text = std::str::from_utf8(rest.get(..header.text as usize)?).ok()?;
    bytes[text_start..text_start + text.len()].copy_from_slice(text.as_bytes());
    let mut from = 0;
    for name in 0..names {
        let at = ends + 4 * name;
        let to = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
        let hash = hash(text.get(from..to)?);
        let at = size_of::<Header>() + 8 * name;
        bytes[at..at + 8].copy_from_slice(&hash.to_le_bytes());
        from = to;
    }
    Some(facts)
}

/// Whether packed facts have the form that this version reads.
pub fn is_readable(packed: &[u8]) -> bool {
    unpack(packed).is_some_and(|tables| super::Facts::open(&tables).is_some())
}

/// Writes a number as zigzag LEB128, so that numbers near zero are short.
pub(super) fn put(out: &mut Vec<u8>, number: i32) {
    let mut left = (number << 1 ^ number >> 31) as u32;
    while left >= 0x80 {
        out.push(left as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

/// Reads a number written by [`put`].
pub(super) fn take(from: &mut &[u8]) -> Option<i32> {
    let signed = |number: u32| (number >> 1) as i32 ^ -((number & 1) as i32);
    // Most numbers take one byte.
    if let [byte @ ..0x80, rest @ ..] = *from {
        *from = rest;
        return Some(signed(u32::from(*byte)));
    }
    let mut number = 0u32;
    for shift in (0..32).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(signed(number));
        }
    }
    None
}
