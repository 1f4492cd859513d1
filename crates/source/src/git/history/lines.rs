//! Differences between two texts, line by line.

use std::ops::Range;

use gix::diff::blob::{Algorithm, InternedInput, diff_with_slider_heuristics};

/// Lines that differ between two texts, counted from zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The lines in the first text; empty where lines were only added.
    pub before: Range<u32>,
    /// The lines in the second text; empty where lines were only removed.
    pub after: Range<u32>,
}

/// The lines that differ between two texts, in their order.
pub fn changed_lines(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(before, after);
    let diff = diff_with_slider_heuristics(Algorithm::Histogram, &input);
    diff.hunks().map(|hunk| Hunk { before: hunk.before, after: hunk.after }).collect()
}

#[cfg(test)]
mod tests {
    use super::changed_lines;

    #[test]
    fn lines_that_differ_are_told_apart() {
        let told = |before: &str, after: &str| {
            let hunks = changed_lines(before.as_bytes(), after.as_bytes());
            hunks.into_iter().map(|hunk| (hunk.before, hunk.after)).collect::<Vec<_>>()
        };
        assert_eq!(told("a\nb\nc\n", "a\nc\nd\n"), [(1..2, 1..1), (3..3, 2..3)]);
        assert_eq!(told("a\nb\n", "a\nx\n"), [(1..2, 1..2)]);
        assert_eq!(told("", "a"), [(0..0, 0..1)]);
        assert_eq!(told("a\n", "a\n"), []);
    }
}
