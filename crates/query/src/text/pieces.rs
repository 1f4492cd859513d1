//! Pieces of a file that are parsed instead of the whole: top-level definitions and class members that may match.
//!
//! In some languages, code that begins with a definition in the first column parses the same alone and within its file.
//! A class member parses the same below the head of its class, with or without other members.

use std::ops::Range;

use tree_sitter::Point;

use codelode_base::model::{Kind, Span};
use codelode_store::FileView;

/// A place where a file may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CutPoint {
    /// The byte where the next piece begins.
    pub at: usize,
    /// Whether a class member begins here. It needs the text from the last other cut to the first member.
    pub is_member: bool,
}

/// The cut points of a file in order: definitions in the first column and, with `with_members`, class members. Empty
/// for a file with errors, or one that was not read to its end.
pub(super) fn cuts(file: &FileView<'_>, with_members: bool) -> Vec<CutPoint> {
    if !file.spec().syntax.first_column_is_top || file.is_partly_read() {
        return Vec::new();
    }
    let all = file.symbols().map(|symbol| {
        let class = symbol.parent().filter(|_| !symbol.is_handed());
        (symbol.kind(), symbol.span(), class.map(|class| (class.kind(), class.span())))
    });
    cuts_at(file.content(), all, with_members)
}

/// The cut points of a text. Each symbol has a kind, a span, and the kind and span of its class.
fn cuts_at(
    content: &[u8],
    symbols: impl Iterator<Item = (Kind, Span, Option<(Kind, Span)>)>,
    with_members: bool,
) -> Vec<CutPoint> {
    let cut = |(kind, span, around): (Kind, Span, Option<(Kind, Span)>)| {
        if is_top(content, kind, span) {
            return Some(CutPoint { at: span.start as usize, is_member: false });
        }
        let (class, its) = around.filter(|_| with_members)?;
        let is_in_class = class == Kind::Class && is_top(content, class, its);
        Some(CutPoint { at: member(content, kind, span).filter(|_| is_in_class)?, is_member: true })
    };
    let mut cuts: Vec<CutPoint> = symbols.filter_map(cut).collect();
    cuts.sort_unstable();
    cuts.dedup_by_key(|cut| cut.at);
    cuts
}

/// Whether a definition begins in the first column.
fn is_top(content: &[u8], kind: Kind, span: Span) -> bool {
    let before = (span.start as usize).checked_sub(1).and_then(|before| content.get(before));
    matches!(kind, Kind::Function | Kind::Class) && before == Some(&b'\n')
}

/// The start of the line of an indented definition that begins the line.
fn member(content: &[u8], kind: Kind, span: Span) -> Option<usize> {
    let before = content.get(..span.start as usize)?;
    let line = memchr::memrchr(b'\n', before)? + 1;
    let is_first = line < before.len() && before[line..].iter().all(|byte| matches!(byte, b' ' | b'\t'));
    (matches!(kind, Kind::Function | Kind::Method | Kind::Class) && is_first).then_some(line)
}

/// The pieces between cuts that may match, as the parser takes them. `None` if that is the whole text.
pub(super) fn pieces(
    text: &[u8],
    cuts: &[CutPoint],
    may_match: impl Fn(&[u8]) -> bool,
) -> Option<Vec<tree_sitter::Range>> {
    let ends = cuts.iter().map(|cut| cut.at).chain([text.len()]);
    let starts = [CutPoint { at: 0, is_member: false }].into_iter().chain(cuts.iter().copied());
    let mut kept: Vec<Range<usize>> = Vec::new();
    // The text before the first member of the current class.
    let mut head = 0..0;
    for (CutPoint { at: start, is_member }, end) in starts.zip(ends) {
        if !is_member {
            head = start..end;
        }
        if !text.get(start..end).is_some_and(&may_match) {
            continue;
        }
        for part in [head.clone(), start..end] {
            match kept.last_mut() {
                Some(last) if last.end >= part.end => {}
                Some(last) if last.end == part.start => last.end = part.end,
                _ => kept.push(part),
            }
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
    use super::{CutPoint, cuts_at, pieces};
    use crate::text::syntax::SyntaxQuery;
    use codelode_lang::extract::extract;
    use codelode_lang::languages::of_id;

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

    /// The same within a class: members in branches, with decorators, and text that looks like members.
    const MEMBERS: &str = r#"
class A(B, user=1):
    """Of user = 0."""
    user = 1
    @decorated
    def f(self):
        self.user = 2
        return """
    def text(self):
        self.user = 0
"""
    if user:
        def g(self):
            self.other = 3
        user = 4
    else:
        async def h(self):
            self.user = 5
    class Inner:
        user = 6
        def i(self): self.user = 7
    # Of nothing.
    user = j = (
        lambda self: self.user,
        lambda self: self.other)

    def k(self): self.other.user = 8

def after(): user = A.user
"#;

    /// The cuts of a text of Python.
    fn of(text: &str) -> Vec<CutPoint> {
        let (_, python) = of_id("python").expect("it is a language");
        let symbols = extract(python, text.as_bytes()).symbols;
        let all = symbols.iter().map(|symbol| {
            let class = symbol.parent.filter(|_| !symbol.handed).map(|parent| &symbols[parent as usize]);
            (symbol.kind, symbol.span, class.map(|class| (class.kind, class.span)))
        });
        cuts_at(text.as_bytes(), all, true)
    }

    fn agrees(text: &str, cuts: &[CutPoint], patterns: &[&str]) {
        let (number, _) = of_id("python").expect("it is a language");
        for pattern in patterns {
            let query = SyntaxQuery::new(pattern, Some("python")).expect("it is code");
            let whole = query.find_in(number, text.as_bytes(), &|| false);
            let given = |with_members: bool| {
                cuts.iter().filter(|cut| with_members || !cut.is_member).copied().collect::<Vec<_>>()
            };
            let parts = query.find_between(number, text.as_bytes(), &given, &|| false);
            assert_eq!(parts.hits, whole.hits, "{pattern}");
            assert!(!parts.hits.is_empty() || pattern != &"$A.user = $B");
        }
    }

    #[test]
    fn parts_hold_the_matches_of_the_whole() {
        let cuts = of(CUT);
        assert_eq!(cuts.iter().filter(|cut| !cut.is_member).count(), 4);
        let patterns = [
            "$A.user = $B",
            "$A.user",
            "user = $A",
            "class $A: $$$",
            "def $F(): pass",
            "@again\ndef $F(): pass",
            "h.user = $A",
            "import os",
            "import os\nuser = $A",
        ];
        agrees(CUT, &cuts, &patterns);
    }

    #[test]
    fn members_hold_the_matches_of_their_class() {
        let cuts = of(MEMBERS);
        assert_eq!(cuts.iter().filter(|cut| cut.is_member).count(), 5, "{cuts:?}");
        let patterns = [
            "$A.user = $B",
            "$A.user",
            "user = $A",
            "self.other",
            "self.other = $A",
            "$A = j = $B",
            "lambda self: $A",
            "class $A: $$$",
            "class $A($$$): $$$",
            "def $F(self): $$$",
            "@decorated\ndef $F(self): $$$",
            "if user:\n  $$$\nelse:\n  $$$",
            "self.other.user = $A",
        ];
        agrees(MEMBERS, &cuts, &patterns);
        // Without other members, a member is a small part of its class.
        let parts = pieces(MEMBERS.as_bytes(), &cuts, |part| memchr::memmem::find(part, b"other.user").is_some());
        let parts: Vec<&str> = parts.iter().flatten().map(|part| &MEMBERS[part.start_byte..part.end_byte]).collect();
        let head = "class A(B, user=1):\n    \"\"\"Of user = 0.\"\"\"\n    user = 1\n";
        assert_eq!(parts, [head, "    def k(self): self.other.user = 8\n\n"]);
    }
}
