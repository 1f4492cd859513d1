//! The parts of a long text that must be parsed to show a window of it: all but definitions before and after.

use tree_sitter::{Point, Range};

use codelode_base::model::{Kind, Span};
use codelode_store::{FileView, SymbolView};

/// Fewer skipped bytes are not worth it.
const WORTHWHILE: usize = 1 << 16;

/// Parts of a text to parse as if there were no others; empty for the whole text.
#[derive(Debug, Default)]
pub struct Pieces(pub(super) Vec<Range>);

impl Pieces {
    /// The number of parsed bytes; zero for the whole text.
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| piece.end_byte - piece.start_byte).sum()
    }

    /// Whether the whole text is parsed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The parts of a file to parse for `part`. Definitions before and after it on lines of their own are skipped, together
/// with the text between siblings. Empty if skipping is not worthwhile.
pub fn pieces(file: FileView<'_>, part: Span) -> Pieces {
    let content = file.content();
    if content.len() < part.len() + WORTHWHILE || file.is_partly_read() {
        return Pieces::default();
    }
    // Runs of skipped sibling definitions, by parent and by whether they precede `part`.
    let mut runs: Vec<(Option<u32>, bool, Span)> = Vec::new();
    let mut inside = 0;
    for symbol in file.symbols() {
        let span = symbol.span();
        let is_before = span.end <= part.start;
        if span.start < inside || !is_before && span.start < part.end {
            continue;
        }
        let Some(lines) = lines(content, &symbol) else { continue };
        inside = span.end;
        let parent = symbol.parent().map(|parent| parent.number().index);
        match runs.iter_mut().rev().find(|(of, before, _)| *of == parent && *before == is_before) {
            Some((.., run)) => run.end = run.end.max(lines.end),
            None => runs.push((parent, is_before, lines)),
        }
    }
    let mut left_out: Vec<Span> = runs.into_iter().map(|(.., run)| run).collect();
    left_out.sort_unstable_by_key(|run| run.start);
    let left: usize = left_out.iter().map(|run| run.len()).sum();
    if left < WORTHWHILE {
        return Pieces::default();
    }
    let mut ranges = Ranges { content, at: 0, row: 0, found: Vec::new() };
    let mut start = 0;
    for run in left_out {
        // A run may lie inside another.
        if run.start as usize > start {
            ranges.add(start, run.start as usize);
        }
        start = start.max(run.end as usize);
    }
    if start < content.len() {
        ranges.add(start, content.len());
    }
    Pieces(ranges.found)
}

/// The whole lines of a definition, if nothing else is on them.
fn lines(content: &[u8], symbol: &SymbolView<'_>) -> Option<Span> {
    if !matches!(symbol.kind(), Kind::Function | Kind::Method | Kind::Class | Kind::Type) {
        return None;
    }
    let span = symbol.span();
    let start = memchr::memrchr(b'\n', &content[..span.start as usize]).map_or(0, |newline| newline + 1);
    let end =
        memchr::memchr(b'\n', &content[span.end as usize..]).map_or(content.len(), |at| span.end as usize + at + 1);
    let is_blank = |part: &[u8]| part.iter().all(|byte| byte.is_ascii_whitespace() || b";,".contains(byte));
    let is_alone = is_blank(&content[start..span.start as usize]) && is_blank(&content[span.end as usize..end]);
    is_alone.then(|| Span::new(start, end))
}

/// Ranges that begin at lines. Rows are counted on from range to range.
struct Ranges<'c> {
    content: &'c [u8],
    at: usize,
    row: usize,
    found: Vec<Range>,
}

impl Ranges<'_> {
    fn add(&mut self, start: usize, end: usize) {
        let [start_point, end_point] = [start, end].map(|byte| self.point(byte));
        self.found.push(Range { start_byte: start, end_byte: end, start_point, end_point });
    }

    fn point(&mut self, byte: usize) -> Point {
        self.row += memchr::memchr_iter(b'\n', &self.content[self.at..byte]).count();
        self.at = byte;
        let line = memchr::memrchr(b'\n', &self.content[..byte]).map_or(0, |newline| newline + 1);
        Point { row: self.row, column: byte - line }
    }
}
