//! Parts of a file that are parsed instead of the whole: definitions at its top level, where the others cannot match.
//! The same code is parsed alike alone and within its file if it begins where a definition in the first column begins,
//! in a language in which such a definition stands in nothing else.

use std::ops::Range;

use tree_sitter::Point;

use crate::model::{Kind, Span};
use crate::store::FileView;

/// Places where a file may be cut, in order: definitions in the first column. None for a file that was not read to
/// its end without an error.
pub(super) fn cuts(file: &FileView<'_>) -> Vec<usize> {
    if !file.spec().syntax.first_column_is_top || file.is_partly_read() {
        return Vec::new();
    }
    let symbols = file.symbols().filter(|symbol| is_top(file.content(), symbol.kind(), symbol.span()));
    let mut cuts: Vec<usize> = symbols.map(|symbol| symbol.span().start as usize).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Whether a definition begins in the first column.
fn is_top(content: &[u8], kind: Kind, span: Span) -> bool {
    let before = (span.start as usize).checked_sub(1).and_then(|before| content.get(before));
    matches!(kind, Kind::Function | Kind::Class) && before == Some(&b'\n')
}

/// The parts of a text between cuts that may match, as the parser takes them. None if that is all of it.
pub(super) fn pieces(
    text: &[u8],
    cuts: &[usize],
    may_match: impl Fn(&[u8]) -> bool,
) -> Option<Vec<tree_sitter::Range>> {
    let ends = cuts.iter().copied().chain([text.len()]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let mut kept: Vec<Range<usize>> = Vec::new();
    for (start, end) in starts.zip(ends) {
        if !text.get(start..end).is_some_and(&may_match) {
            continue;
        }
        match kept.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => kept.push(start..end),
        }
    }
    if kept.first().is_some_and(|piece| *piece == (0..text.len())) {
        return None;
    }
    let (mut row, mut seen) = (0, 0);
    let mut point = |at: usize| {
        row += memchr::memchr_iter(b'\n', &text[seen..at]).count();
        seen = at;
        let column = at - memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
        Point { row, column }
    };
    let range = |piece: Range<usize>| tree_sitter::Range {
        start_byte: piece.start,
        end_byte: piece.end,
        start_point: point(piece.start),
        end_point: point(piece.end),
    };
    Some(kept.into_iter().map(range).collect())
}

#[cfg(test)]
mod tests {
    use super::is_top;
    use crate::extract::extract;
    use crate::languages::of_id;
    use crate::query::text::syntax::SyntaxQuery;

    /// Code in which definitions in the first column look like text, and text like definitions.
    const CUT: &str = r#"
import os
user = os.user = 1
class A:
    def f(self):
        self.user = """
def text():
    self.user = 0
"""
        if self: self.user = 2

@decorated(by=lambda: 1)
@again
def g(): pass
async def h():
    h.user = (
1,
    )
# Of nothing.
if os:
    def conditional(): h.user = 3
else:
    x.user = 4; y.user = 5
class B: user = A().user
g.user = 6
"#;

    #[test]
    fn parts_hold_the_matches_of_the_whole() {
        let (number, python) = of_id("python").expect("it is a language");
        let symbols = extract(python, CUT.as_bytes()).symbols;
        let tops = symbols.iter().filter(|symbol| is_top(CUT.as_bytes(), symbol.kind, symbol.span));
        let cuts: Vec<usize> = tops.map(|symbol| symbol.span.start as usize).collect();
        assert_eq!(cuts.len(), 4);
        for pattern in [
            "$A.user = $B",
            "$A.user",
            "user = $A",
            "class $A: $$$",
            "def $F(): pass",
            "@again\ndef $F(): pass",
            "h.user = $A",
            "import os",
            "import os\nuser = $A",
        ] {
            let query = SyntaxQuery::new(pattern, Some("python")).expect("it is code");
            let whole = query.find_in(number, CUT.as_bytes(), &|| false);
            let parts = query.find_between(number, CUT.as_bytes(), &|| cuts.clone(), &|| false);
            assert_eq!(parts.hits, whole.hits, "{pattern}");
            assert!(!parts.hits.is_empty() || pattern != "$A.user = $B");
        }
    }
}
