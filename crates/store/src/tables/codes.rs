//! Codes of vectors, a bit a dimension: whether it is above zero. Among a million vectors they find the few thousand
//! that are worth comparing.

use rayon::prelude::*;

/// Vectors that one thread looks at at once.
const PART: usize = 1 << 14;

/// Codes of vectors in some order.
#[derive(Debug)]
pub struct Codes {
    /// Words of a code.
    width: usize,
    words: Vec<u64>,
}

impl Codes {
    /// Makes the codes of vectors in eight bits a dimension; `None` stands for one that is not there.
    pub fn of<'a>(dimensions: usize, count: usize, vector: impl Fn(usize) -> Option<&'a [u8]> + Sync) -> Self {
        let width = dimensions.div_ceil(64);
        let mut words = vec![0; width * count];
        words.par_chunks_mut(width.max(1)).enumerate().with_min_len(PART).for_each(|(place, code)| {
            write(code, vector(place).unwrap_or_default().iter().map(|number| *number as i8 > 0));
        });
        Self { width, words }
    }

    /// Places of the vectors whose codes differ least from that of a question, at least `most` where there are so many,
    /// in order of their places.
    pub fn nearest(&self, question: &[f32], most: usize) -> Vec<u32> {
        let mut code = vec![0; self.width];
        write(&mut code, question.iter().map(|number| *number > 0.0));
        let differences: Vec<u16> =
            self.words.par_chunks(self.width.max(1) * PART).flat_map_iter(|words| differences(words, &code)).collect();
        let mut counts = vec![0_usize; 64 * self.width + 1];
        differences.iter().for_each(|difference| counts[usize::from(*difference)] += 1);
        let (mut left, mut last) = (most, 0);
        // The number of differences that the last of them may have.
        for count in &counts {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(*count);
            last += 1;
        }
        let is_near = |(_, difference): &(usize, &u16)| usize::from(**difference) < last;
        differences.iter().enumerate().filter(is_near).map(|(place, _)| place as u32).collect()
    }
}

fn write(code: &mut [u64], bits: impl Iterator<Item = bool>) {
    for (at, bit) in bits.enumerate() {
        if let Some(word) = code.get_mut(at / 64) {
            *word |= u64::from(bit) << (at % 64);
        }
    }
}

/// Numbers of bits that codes have otherwise than one.
fn differences(words: &[u64], code: &[u64]) -> Vec<u16> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction.
        return unsafe { differences_counted(words, code) };
    }
    differences_plain(words, code)
}

/// [`differences_plain`], compiled for processors that count bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn differences_counted(words: &[u64], code: &[u64]) -> Vec<u16> {
    differences_plain(words, code)
}

#[inline(always)]
fn differences_plain(words: &[u64], code: &[u64]) -> Vec<u16> {
    let difference = |other: &[u64]| code.iter().zip(other).map(|(a, b)| (a ^ b).count_ones() as u16).sum();
    words.chunks_exact(code.len().max(1)).map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_with_the_same_signs_are_nearest() {
        let vectors: [&[i8]; 4] = [&[1, -1, 5], &[1, 1, 1], &[-3, 2, -1], &[7, -2, 1]];
        let bytes: Vec<Vec<u8>> = vectors.iter().map(|one| one.iter().map(|number| *number as u8).collect()).collect();
        let codes = Codes::of(3, 5, |place| bytes.get(place).map(Vec::as_slice));
        assert_eq!(codes.nearest(&[0.5, -0.5, 0.5], 1), [0, 3]);
        assert_eq!(codes.nearest(&[0.5, -0.5, 0.5], 3), [0, 1, 3]);
        assert_eq!(codes.nearest(&[0.5, -0.5, 0.5], 9), [0, 1, 2, 3, 4]);
        assert_eq!(codes.nearest(&[0.5, -0.5, 0.5], 0), [0; 0]);
    }
}
