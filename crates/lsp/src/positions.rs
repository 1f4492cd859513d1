//! Positions of the protocol: lines and characters, in the encoding that client and server agreed on.

use std::borrow::Cow;
use std::ops::Range;

use lsp_types::{Position, PositionEncodingKind};

use codelode_base::model::Span;

/// Unit in which characters of a line are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of 16 bits; what every client understands.
    #[default]
    Utf16,
    /// Code points.
    Utf32,
}

impl Encoding {
    /// The client's most preferred encoding.
    pub fn agreed(offered: &[PositionEncodingKind]) -> Self {
        offered.iter().find_map(Self::of).unwrap_or_default()
    }

    fn of(kind: &PositionEncodingKind) -> Option<Self> {
        match kind.as_str() {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        }
    }

    /// The name of the encoding in the protocol.
    pub fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn of_char(self, char: char) -> usize {
        match self {
            Self::Utf8 => char.len_utf8(),
            Self::Utf16 => char.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Length of a text. Each invalid sequence counts as the one character that editors show for it.
    fn of_text(self, text: &[u8]) -> usize {
        if self == Self::Utf8 || text.is_ascii() {
            return text.len();
        }
        let chunk = |chunk: std::str::Utf8Chunk<'_>| {
            let valid: usize = chunk.valid().chars().map(|char| self.of_char(char)).sum();
            valid + usize::from(!chunk.invalid().is_empty())
        };
        text.utf8_chunks().map(chunk).sum()
    }

    /// Byte of a character of a line; its end when the line is shorter. A position inside a character means its start.
    fn byte_of(self, line: &[u8], character: usize) -> usize {
        if self == Self::Utf8 || line.is_ascii() {
            let mut byte = character.min(line.len());
            while byte > 0 && line.get(byte).is_some_and(|byte| byte & 0xc0 == 0x80) {
                byte -= 1;
            }
            return byte;
        }
        let (mut byte, mut left) = (0, character);
        for chunk in line.utf8_chunks() {
            for char in chunk.valid().chars() {
                let units = self.of_char(char);
                if units > left {
                    return byte;
                }
                (byte, left) = (byte + char.len_utf8(), left - units);
            }
            if !chunk.invalid().is_empty() {
                if left == 0 {
                    return byte;
                }
                (byte, left) = (byte + chunk.invalid().len(), left - 1);
            }
        }
        byte
    }
}

/// First bytes of the lines of a text, which end with `\n`, `\r\n` or `\r`. A byte order mark belongs to no line:
/// editors hide it.
pub(super) struct LineStarts(Vec<u32>);

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl LineStarts {
    /// Finds the lines of a text.
    pub fn of(text: &[u8]) -> Self {
        let mut starts = vec![first_byte(text)];
        starts.extend(line_ends(text, 0..text.len()));
        Self(starts)
    }

    /// Follows a replacement of `old` by `new` bytes, after which the text is `text`. Only lines that the replacement
    /// touches are looked for, so that many changes of a long text are cheap.
    pub fn replaced(&mut self, text: &[u8], old: Range<usize>, new: usize) {
        // A `\r` before the replacement ends a line or not, by what now follows it.
        let from = old.start.max(1) as u32;
        let first = 1 + self.0[1..].partition_point(|start| *start < from);
        let next = 1 + self.0[1..].partition_point(|start| *start as usize <= old.end);
        let end = old.start + new;
        for start in &mut self.0[next..] {
            *start = (*start as usize - old.end + end) as u32;
        }
        self.0.splice(first..next, line_ends(text, old.start.saturating_sub(1)..end));
        self.0[0] = first_byte(text);
    }
}

fn first_byte(text: &[u8]) -> u32 {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() as u32 } else { 0 }
}

/// The bytes after the ends of lines in a range of a text.
fn line_ends(text: &[u8], range: Range<usize>) -> impl Iterator<Item = u32> + '_ {
    let offset = range.start;
    let ends_line = |at: &usize| text[*at] == b'\n' || text.get(at + 1) != Some(&b'\n');
    memchr::memchr2_iter(b'\n', b'\r', &text[range])
        .map(move |at| at + offset)
        .filter(ends_line)
        .map(|at| at as u32 + 1)
}

/// The lines of a text.
pub(super) struct Lines<'a> {
    text: &'a [u8],
    starts: Cow<'a, [u32]>,
    encoding: Encoding,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text.
    pub fn of(text: &'a [u8], encoding: Encoding) -> Self {
        Self { text, starts: Cow::Owned(LineStarts::of(text).0), encoding }
    }

    /// The lines of a text whose starts are known.
    pub fn at(text: &'a [u8], starts: &'a LineStarts, encoding: Encoding) -> Self {
        Self { text, starts: Cow::Borrowed(&starts.0), encoding }
    }

    /// The text of a line without its end, and its first byte.
    fn line(&self, line: usize) -> (&'a [u8], usize) {
        let start = self.starts[line] as usize;
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| *next as usize);
        let mut text = self.text.get(start..end).unwrap_or_default();
        if self.starts.len() > line + 1 {
            text = text.strip_suffix(b"\n").unwrap_or(text);
            text = text.strip_suffix(b"\r").unwrap_or(text);
        }
        (text, start)
    }

    /// The byte of a position; one beyond the end of its line or of the text means that end.
    pub fn byte(&self, position: Position) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.text.len();
        }
        let (text, start) = self.line(line);
        start + self.encoding.byte_of(text, position.character as usize)
    }

    /// The position of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len()).max(self.starts[0] as usize);
        let line = self.starts.partition_point(|start| *start as usize <= byte) - 1;
        let (text, start) = self.line(line);
        let before = &text[..(byte - start).min(text.len())];
        Position { line: line as u32, character: self.encoding.of_text(before) as u32 }
    }

    /// The range of a span of bytes.
    pub fn range(&self, span: Span) -> lsp_types::Range {
        lsp_types::Range { start: self.position(span.start as usize), end: self.position(span.end as usize) }
    }
}

/// The ranges of spans of a text. Much faster than [`Lines`] for a few spans of a text that is not looked at again.
pub(super) fn ranges(text: &[u8], spans: &[Span], encoding: Encoding) -> Vec<lsp_types::Range> {
    let last = spans.iter().map(|span| span.end as usize).max().unwrap_or(0).min(text.len());
    // Counting is fast for one sort of line end.
    if memchr::memchr(b'\r', &text[..last]).is_some() {
        let lines = Lines::of(text, encoding);
        return spans.iter().map(|span| lines.range(*span)).collect();
    }
    let mut bytes: Vec<u32> = spans.iter().flat_map(|span| [span.start, span.end]).collect();
    bytes.sort_unstable();
    bytes.dedup();
    let (mut line, mut start) = (0, first_byte(text) as usize);
    let position = |byte: &u32| {
        let byte = (*byte as usize).clamp(start, text.len());
        let passed = &text[start..byte];
        if let Some(last) = memchr::memrchr(b'\n', passed) {
            line += memchr::memchr_iter(b'\n', passed).count() as u32;
            start += last + 1;
        }
        Position { line, character: encoding.of_text(&text[start..byte]) as u32 }
    };
    let positions: Vec<Position> = bytes.iter().map(position).collect();
    let at = |byte: u32| positions[bytes.partition_point(|other| *other < byte)];
    spans.iter().map(|span| lsp_types::Range { start: at(span.start), end: at(span.end) }).collect()
}

#[cfg(test)]
mod tests {
    use lsp_types::{Position, PositionEncodingKind};

    use super::{Encoding, Lines, ranges};
    use codelode_base::model::Span;

    #[test]
    fn ranges_of_a_few_spans_are_those_of_the_lines() {
        for text in ["\u{feff}a\n\nü𝒳b\nlast", "", "\n", "a\r\nb\rc\n", "no end"] {
            let text = text.as_bytes();
            for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
                let bytes = 0..text.len() as u32 + 2;
                let spans: Vec<Span> = bytes.map(|byte| Span { start: byte, end: byte + 1 }).collect();
                let lines = Lines::of(text, encoding);
                let mut sparse: Vec<Span> = spans.into_iter().step_by(2).collect();
                // Some lie in others, and they are in no order.
                sparse.push(Span { start: 0, end: text.len() as u32 });
                sparse.reverse();
                let expected: Vec<_> = sparse.iter().map(|span| lines.range(*span)).collect();
                assert_eq!(ranges(text, &sparse, encoding), expected, "{text:?}");
            }
        }
    }

    /// Every character's start is found from its position and its position from its start.
    fn check(text: &[u8], encoding: Encoding, line: u32, columns: &[u32]) {
        let lines = Lines::of(text, encoding);
        let start = lines.byte(Position { line, character: 0 });
        let whole = String::from_utf8_lossy(&text[start..]);
        let line_text: String = whole.chars().take_while(|char| !matches!(char, '\n' | '\r')).collect();
        assert_eq!(line_text.chars().count() + 1, columns.len(), "{line_text:?}");
        let mut byte = start;
        for (char, column) in line_text.chars().map(Some).chain([None]).zip(columns) {
            let position = Position { line, character: *column };
            assert_eq!((lines.position(byte), lines.byte(position)), (position, byte), "{char:?}");
            byte += char.map_or(0, char::len_utf8);
        }
    }

    #[test]
    fn characters_are_counted_in_the_units_agreed_on() {
        let text = "a = 1\r\ną𝒳 = é\rlast".as_bytes();
        check(text, Encoding::Utf8, 1, &[0, 2, 6, 7, 8, 9, 11]);
        check(text, Encoding::Utf16, 1, &[0, 1, 3, 4, 5, 6, 7]);
        check(text, Encoding::Utf32, 1, &[0, 1, 2, 3, 4, 5, 6]);
        check(text, Encoding::Utf16, 2, &[0, 1, 2, 3, 4]);
    }

    #[test]
    fn positions_outside_mean_the_nearest_inside() {
        let lines = Lines::of("ab\n𝒳c\n".as_bytes(), Encoding::Utf16);
        let byte = |line, character| lines.byte(Position { line, character });
        assert_eq!([byte(0, 9), byte(1, 1), byte(1, 2), byte(1, 9), byte(2, 0), byte(7, 7)], [2, 3, 7, 8, 9, 9]);
        assert_eq!(Lines::of(b"", Encoding::Utf8).byte(Position { line: 3, character: 3 }), 0);
        assert_eq!(byte(u32::MAX, u32::MAX), 9);
        let lines = Lines::of("é".as_bytes(), Encoding::Utf8);
        assert_eq!(lines.byte(Position { line: 0, character: 1 }), 0);
    }

    #[test]
    fn a_byte_order_mark_is_in_no_line() {
        let lines = Lines::of("\u{feff}ab".as_bytes(), Encoding::Utf8);
        assert_eq!(lines.byte(Position { line: 0, character: 0 }), 3);
        assert_eq!(lines.position(4), Position { line: 0, character: 1 });
    }

    #[test]
    fn invalid_bytes_count_as_the_character_that_editors_show() {
        let lines = Lines::of(b"a\xffb", Encoding::Utf16);
        assert_eq!(lines.position(2), Position { line: 0, character: 2 });
        assert_eq!(lines.byte(Position { line: 0, character: 2 }), 2);
    }

    #[test]
    fn the_first_known_encoding_that_a_client_offers_is_taken() {
        let offered = ["utf-7", "utf-32", "utf-8"].map(PositionEncodingKind::new);
        assert_eq!(Encoding::agreed(&offered), Encoding::Utf32);
        assert_eq!(Encoding::agreed(&[]), Encoding::Utf16);
    }
}
