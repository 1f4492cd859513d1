//! Learned words: what a description means beside the words that it shares with code.
//!
//! Two tables have a vector for each of some thousand stems. A description is the sum of its stems' vectors in one, a
//! definition the weighted sum of its stems' in the other, and their cosine says how well the two go together
//! ("dual encoder", Gillick et al. 2018, "End-to-end retrieval in continuous space"). The tables were trained beside BM25,
//! on first sentences of documentation and their functions, so that they hold what words mean and not which are equal:
//! `benches/learned` makes them anew, and lists the sources and their licences.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// Numbers in a vector.
const DIMENSIONS: usize = 64;
/// Bytes of a vector: its numbers have four bits each, the first half of them the lower ones.
const BYTES: usize = DIMENSIONS / 2;
/// 64-bit words of a stored vector.
pub const WORDS: usize = BYTES / 8;
/// Largest number of four bits.
const LARGEST: f32 = 7.0;
/// Stems of a definition's body that are read.
pub const MOST_OF_BODY: usize = 250;

/// The tables, as `benches/learned/train.py` writes them; SHA-256
/// `e53000eb1cb4627b54d3e2cf9cb5b87f90f03af0c3ba36dbe8c24d0fd96e036e`.
static FILE: &[u8] = include_bytes!("learned.bin");

/// Number of a stem's row in both tables.
pub type Row = u16;

/// Meaning of a description or a definition: the sum of its stems' vectors.
#[derive(Clone)]
pub struct Meaning([f32; DIMENSIONS]);

/// Parts of a definition, by their weight in its vector.
#[derive(Clone, Copy)]
pub enum Part {
    /// Its name.
    Name,
    /// Its owner's name, or its signature.
    Around,
    /// The path of its file without ending.
    Path,
    /// Its own text, without documentation and signature.
    Body,
}

/// One of the tables: a scale and a packed vector for each stem.
struct Table {
    scales: &'static [u8],
    rows: &'static [u8],
}

struct Tables {
    places: FxHashMap<&'static str, Row>,
    described: Table,
    defined: Table,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| Tables::read(FILE));

impl Tables {
    /// Reads the counts of stems and of bytes of their text, the stems with a newline each, padding to four bytes, the
    /// scales of both tables, and their rows.
    fn read(file: &'static [u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]) as usize;
        let (count, length) = (number(8), number(12));
        let stems = std::str::from_utf8(&file[16..16 + length]).unwrap_or_default();
        let places = stems.lines().zip(0..).collect();
        let mut rest = &file[16 + length.next_multiple_of(4)..];
        let mut next = |bytes: usize| {
            let (part, after) = rest.split_at(bytes);
            rest = after;
            part
        };
        let (of_described, of_defined) = (next(4 * count), next(4 * count));
        let described = Table { scales: of_described, rows: next(BYTES * count) };
        Self { places, described, defined: Table { scales: of_defined, rows: next(BYTES * count) } }
    }
}

impl Table {
    fn add(&self, row: Row, weight: f32, sum: &mut Meaning) {
        let row = usize::from(row);
        let scale = &self.scales[4 * row..4 * row + 4];
        let weight = weight * f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]]);
        add(&self.rows[BYTES * row..BYTES * (row + 1)], weight, &mut sum.0);
    }
}

/// Adds a packed vector.
fn add(packed: &[u8], weight: f32, sum: &mut [f32; DIMENSIONS]) {
    let (low, high) = sum.split_at_mut(BYTES);
    for ((byte, low), high) in packed.iter().zip(low).zip(high) {
        *low += weight * f32::from((byte << 4) as i8 >> 4);
        *high += weight * f32::from(*byte as i8 >> 4);
    }
}

/// The row of a stem, if it was learned.
pub fn row(stem: &str) -> Option<Row> {
    TABLES.places.get(stem).copied()
}

impl Default for Meaning {
    fn default() -> Self {
        Self([0.0; DIMENSIONS])
    }
}

impl Meaning {
    /// Adds a part of a definition, by the rows of its stems, which are sorted.
    pub fn define(&mut self, part: Part, rows: &mut [Row]) {
        rows.sort_unstable();
        for same in rows.chunk_by(|a, b| a == b) {
            let weight = match part {
                Part::Name => 3.0,
                Part::Around => 1.0,
                Part::Path => 0.7,
                Part::Body => 0.7 * (1.0 + (same.len() as f32).ln()),
            };
            TABLES.defined.add(same[0], weight, self);
        }
    }

    /// The sum of a description's stems.
    pub fn described<'a>(stems: impl Iterator<Item = &'a str>) -> Self {
        let mut sum = Self::default();
        for row in stems.filter_map(row) {
            TABLES.described.add(row, 1.0, &mut sum);
        }
        sum
    }

    /// The direction of the sum, in four bits a dimension; zeros for none.
    pub fn packed(&self) -> [u64; WORDS] {
        let most = self.0.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = if most > 0.0 { LARGEST / most } else { 0.0 };
        let four_bits = |number: f32| (number * scale).round() as i8 as u8 & 0xf;
        let mut bytes = [0; BYTES];
        for (place, byte) in bytes.iter_mut().enumerate() {
            *byte = four_bits(self.0[place]) | four_bits(self.0[BYTES + place]) << 4;
        }
        let mut words =
            bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)));
        std::array::from_fn(|_| words.next().unwrap_or(0))
    }

    /// The cosine with a packed vector; zero if either has no direction.
    pub fn cosine(&self, packed: [u64; WORDS]) -> f32 {
        let mut other = [0.0; DIMENSIONS];
        let bytes = packed.map(u64::to_le_bytes);
        add(bytes.as_flattened(), 1.0, &mut other);
        let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let lengths = product(&self.0, &self.0).sqrt() * product(&other, &other).sqrt();
        if lengths > 0.0 { product(&self.0, &other) / lengths } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::analyzer::{learned_rows, stems};
    use super::*;

    fn defined(name: &str) -> [u64; WORDS] {
        let (mut sum, mut rows) = (Meaning::default(), Vec::new());
        learned_rows(name, usize::MAX, &mut rows);
        sum.define(Part::Name, &mut rows);
        sum.packed()
    }

    #[test]
    fn descriptions_are_near_what_they_mean() {
        let told = stems("delete an entry");
        let asked = Meaning::described(told.iter().map(|stem| &**stem));
        let [meant, other] = ["removeItem", "parseHeader"].map(|name| asked.cosine(defined(name)));
        assert!(meant > other + 0.2, "{meant} {other}");
    }

    #[test]
    fn without_learned_words_nothing_is_near() {
        assert_eq!(Meaning::default().packed(), [0; WORDS]);
        assert_eq!(Meaning::default().cosine(defined("removeItem")), 0.0);
        assert_eq!(Meaning::described(["remov"].into_iter()).cosine([0; WORDS]), 0.0);
    }

    #[test]
    fn packing_keeps_directions() {
        let asked = Meaning::described(["remov", "entri", "cach"].into_iter());
        let near = asked.cosine(asked.packed());
        assert!(near > 0.98, "{near}");
    }
}
