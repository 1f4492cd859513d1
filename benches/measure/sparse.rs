//! Sparse n-grams compared with the index's trigrams: their size, and the number of files left to be read. After the
//! description of GitHub's code search, "The technology behind GitHub's new code search" (2023).
//!
//! Every pair of neighbouring bytes has a weight, the higher the rarer it is in this corpus, which is the best
//! possible weight. A sparse n-gram is a part of a line whose first and last pair outweigh every pair between them:
//! there are at most two for each byte, all trigrams among them, and the longer ones are in few files. A query needs
//! only those of its grams that are inside no other.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use codelode::store::{GramQuery, Snapshot, grams};

use super::cpu_seconds;

/// Longer parts of a line are no grams.
const LONGEST: usize = 24;
/// Entries of a block, as the index has it.
const BLOCK: usize = 8 << 20;

/// The weight of each pair of bytes.
struct Weights(Vec<u32>);

impl Weights {
    fn of(snapshot: &Snapshot) -> Self {
        let mut counts = vec![0_u32; 1 << 16];
        for file in snapshot.files() {
            let pairs = file.content().windows(2);
            pairs.for_each(|pair| counts[pair_code(pair)] = counts[pair_code(pair)].saturating_add(1));
        }
        // Equal counts would be equal weights, which make long grams of repeated text.
        let weight =
            |(code, count): (usize, u32)| u32::MAX - count.min(1 << 31) - ((code as u32 * 0x9e37) & 0xffff) % 97;
        Self(counts.into_iter().enumerate().map(weight).collect())
    }

    /// Calls back with the ranges of the sparse n-grams of a line.
    fn grams(&self, line: &[u8], mut found: impl FnMut(usize, usize)) {
        let mut open: Vec<(usize, u32)> = Vec::new();
        for (at, pair) in line.windows(2).enumerate() {
            let weight = self.0[pair_code(pair)];
            while let Some((begin, other)) = open.last().copied() {
                if at + 2 - begin <= LONGEST {
                    found(begin, at + 2);
                }
                if other > weight {
                    break;
                }
                open.pop();
            }
            open.push((at, weight));
        }
    }
}

fn pair_code(pair: &[u8]) -> usize {
    usize::from(pair[0].to_ascii_lowercase()) << 8 | usize::from(pair[1].to_ascii_lowercase())
}

fn code(gram: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    gram.iter().for_each(|byte| byte.to_ascii_lowercase().hash(&mut hasher));
    hasher.finish()
}

/// Lists by gram, as blocks of the index are made, kept in memory.
struct Lists {
    places: HashMap<u64, Vec<u32>>,
    /// Bytes that the blocks would take.
    size: usize,
}

impl Lists {
    /// The lists of files with the codes of their grams, each once; a code has this many bytes in the table of a
    /// block.
    fn of(files: impl Iterator<Item = (u32, Vec<u64>)>, code_bytes: usize) -> Self {
        let mut lists = Self { places: HashMap::new(), size: 0 };
        let (mut block, mut numbers) = (Vec::new(), Vec::new());
        for (file, codes) in files {
            block.extend(codes.into_iter().map(|code| (code, numbers.len() as u32)));
            numbers.push(file);
            if block.len() >= BLOCK {
                lists.close(&mut block, &mut numbers, code_bytes);
            }
        }
        lists.close(&mut block, &mut numbers, code_bytes);
        lists
    }

    fn close(&mut self, block: &mut Vec<(u64, u32)>, numbers: &mut Vec<u32>, code_bytes: usize) {
        block.sort_unstable();
        for list in block.chunk_by(|a, b| a.0 == b.0) {
            self.size += 4 + code_bytes + rice_bits(list, numbers.len()).div_ceil(8);
            self.places.entry(list[0].0).or_default().extend(list.iter().map(|(_, place)| numbers[*place as usize]));
        }
        self.size += 4 * numbers.len();
        block.clear();
        numbers.clear();
    }

    /// The number of files with all of these.
    fn common(&self, codes: impl Iterator<Item = u64>) -> usize {
        let mut lists: Vec<&[u32]> = codes.map(|code| self.places.get(&code).map_or(&[][..], Vec::as_slice)).collect();
        lists.sort_by_key(|list| list.len());
        let Some((first, others)) = lists.split_first() else { return usize::MAX };
        first.iter().filter(|file| others.iter().all(|list| list.binary_search(file).is_ok())).count()
    }
}

/// The bits of a list in Rice's code with the parameter that suits its length best.
fn rice_bits(list: &[(u64, u32)], files: usize) -> usize {
    let middle = (files.saturating_sub(list.len()) * 7) / (list.len() * 10);
    let parameter = middle.checked_ilog2().unwrap_or(0);
    let mut next = 0;
    let gaps = list.iter().map(|(_, place)| {
        let gap = place - next;
        next = place + 1;
        (gap >> parameter) as usize + 1 + parameter as usize
    });
    2 * list.len().ilog2() as usize + 1 + gaps.sum::<usize>()
}

/// Prints rows of trigrams beside sparse n-grams: size, time to make, and files left for some literals.
pub fn compare(snapshot: &Snapshot, literals: &[String]) {
    let files = || {
        let mut files: Vec<_> = snapshot.files().collect();
        files.sort_by_key(|file| file.number());
        files.into_iter()
    };
    let text: usize = files().map(|file| file.content().len()).sum();
    let weights = Weights::of(snapshot);
    let started = cpu_seconds();
    let trigrams = files().map(|file| (file.number(), grams(file.content()).into_iter().map(u64::from).collect()));
    let trigrams = Lists::of(trigrams, 3);
    let middle = cpu_seconds();
    let sparse = files().map(|file| {
        let mut codes = Vec::new();
        for line in file.content().split(|byte| *byte == b'\n') {
            weights.grams(line, |begin, end| codes.push(code(&line[begin..end])));
        }
        codes.sort_unstable();
        codes.dedup();
        (file.number(), codes)
    });
    // Five bytes of a hash distinguish the grams of a block.
    let sparse = Lists::of(sparse, 5);
    let (took, took_sparse) = (middle - started, cpu_seconds() - middle);
    let (mut left, mut left_sparse, mut asked, mut asked_sparse) = (0, 0, 0, 0);
    for literal in literals {
        let needs = match GramQuery::literal(literal.as_bytes()) {
            GramQuery::And(parts) => parts,
            one => vec![one],
        };
        let codes: Vec<u64> = needs
            .iter()
            .filter_map(|part| match part {
                GramQuery::Gram(code) => Some(u64::from(*code)),
                _ => None,
            })
            .collect();
        asked += codes.len();
        left += trigrams.common(codes.into_iter());
        let mut ranges = Vec::new();
        weights.grams(literal.as_bytes(), |begin, end| ranges.push((begin, end)));
        let is_inner = |(begin, end): &(usize, usize)| {
            ranges.iter().any(|(from, to)| from <= begin && end <= to && (from, to) != (begin, end))
        };
        let needed: Vec<_> = ranges.iter().filter(|range| !is_inner(range)).collect();
        asked_sparse += needed.len();
        left_sparse += sparse.common(needed.into_iter().map(|(begin, end)| code(&literal.as_bytes()[*begin..*end])));
    }
    let holding: usize = literals
        .iter()
        .map(|literal| {
            let needle = literal.to_ascii_lowercase();
            files()
                .filter(|file| {
                    let lower = file.content().to_ascii_lowercase();
                    memchr::memmem::find(&lower, needle.as_bytes()).is_some()
                })
                .count()
        })
        .sum();
    let per = |count: usize| count as f64 / literals.len() as f64;
    let size = |lists: &Lists| lists.size as f64 / text as f64;
    super::results::report!("\n| | trigrams | sparse n-grams |\n|---|---|---|");
    super::results::report!("| size / text | {:.3} | {:.3} |", size(&trigrams), size(&sparse));
    super::results::report!("| time to make, in a plain way, of trigrams' | 1 | {:.1} |", took_sparse / took);
    super::results::report!("| lists asked for a name | {:.1} | {:.1} |", per(asked), per(asked_sparse));
    super::results::report!(
        "| files left for a name, of {:.2} that hold it | {:.2} | {:.2} |",
        per(holding),
        per(left),
        per(left_sparse)
    );
}
