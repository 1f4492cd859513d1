//! Positions in a text: converts lines and columns in several units to byte offsets.

use memchr::memchr_iter;

/// Unit of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnUnit {
    Utf8,
    Utf16,
    Utf32,
}

/// Starts of the lines of a text.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    starts: Vec<u32>,
    is_ascii: bool,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a [u8]) -> Self {
        let starts = std::iter::once(0).chain(memchr_iter(b'\n', text).map(|at| at as u32 + 1)).collect();
        Self { text, starts, is_ascii: text.is_ascii() }
    }

    /// Whether columns are the same in all units.
    pub fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    /// The byte offset of a zero-based line and column; `None` outside the text, or within a character.
    pub fn offset(&self, line: i32, column: i32, unit: ColumnUnit) -> Option<u32> {
        let (line, column) = (usize::try_from(line).ok()?, usize::try_from(column).ok()?);
        let start = *self.starts.get(line)? as usize;
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| *next as usize);
        let bytes = &self.text[start..end];
        if self.is_ascii || unit == ColumnUnit::Utf8 || bytes.is_ascii() {
            let is_inside = column <= bytes.len();
            let is_boundary = bytes.get(column).is_none_or(|byte| byte & 0xC0 != 0x80);
            return (is_inside && is_boundary).then_some((start + column) as u32);
        }
        let mut left = column;
        let mut at = 0;
        while left > 0 {
            let lead = *bytes.get(at)?;
            let (len, units) = match lead {
                0..0xC0 => (1, 1),
                0xC0..0xE0 => (2, 1),
                0xE0..0xF0 => (3, 1),
                _ => (4, if unit == ColumnUnit::Utf16 { 2 } else { 1 }),
            };
            left = left.checked_sub(units)?;
            at += len;
        }
        (at <= bytes.len()).then_some((start + at) as u32)
    }
}

/// Finds the lines of mostly ascending positions.
#[derive(Default)]
pub(super) struct LineCounter {
    at: usize,
    newlines: u32,
}

impl LineCounter {
    /// The line of a byte, one-based.
    pub fn line_of(&mut self, text: &[u8], at: u32) -> u32 {
        if (at as usize) < self.at {
            let between = text.get(at as usize..self.at).unwrap_or_default();
            self.newlines -= memchr_iter(b'\n', between).count() as u32;
        } else {
            let between = text.get(self.at..at as usize).unwrap_or_default();
            self.newlines += memchr_iter(b'\n', between).count() as u32;
        }
        self.at = (at as usize).min(text.len());
        self.newlines + 1
    }
}

#[cfg(test)]
mod tests {
    use super::{ColumnUnit, LineCounter, Lines};

    #[test]
    fn columns_are_of_their_unit() {
        let lines = Lines::of("ab\nä𝒳c\n".as_bytes());
        assert!(!lines.is_ascii());
        for (unit, column) in [(ColumnUnit::Utf8, 6), (ColumnUnit::Utf16, 3), (ColumnUnit::Utf32, 2)] {
            assert_eq!(lines.offset(1, column, unit), Some(9), "{unit:?}");
        }
        assert_eq!(lines.offset(1, 2, ColumnUnit::Utf16), None, "it lies within a character");
        assert_eq!(lines.offset(1, 1, ColumnUnit::Utf8), None, "it lies within a character");
        assert_eq!(lines.offset(0, 4, ColumnUnit::Utf16), None);
        assert_eq!(lines.offset(3, 0, ColumnUnit::Utf8), None);
        assert_eq!(lines.offset(-1, 0, ColumnUnit::Utf8), None);
    }

    #[test]
    fn lines_are_counted_both_ways() {
        let mut lines = LineCounter::default();
        let text = b"a\nb\nc\n";
        assert_eq!([4, 0, 2, 6, 1].map(|at| lines.line_of(text, at)), [3, 1, 2, 4, 1]);
    }
}
