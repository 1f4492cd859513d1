//! Files with large syntax errors: finding their definitions anyway.

use tree_sitter::{Node, Point, Range, Tree};

/// Size in bytes of a top-level syntax error that probably hides whole definitions.
const LARGE: usize = 2_000;

/// Whether the syntax errors are large enough to hide definitions.
pub fn swallow_definitions(tree: &Tree) -> bool {
    let root = tree.root_node();
    let large = |node: Node<'_>| node.is_error() && node.byte_range().len() >= LARGE;
    root.has_error() && (root.is_error() || root.children(&mut root.walk()).any(large))
}

/// Splits a file before each unindented line after a blank one, where a definition is likely to begin. Never splits
/// in a comment or string of the tree.
pub fn paragraphs(source: &[u8], tree: &Tree) -> Vec<Range> {
    let root = tree.root_node();
    let is_text = |at: usize| {
        let node = root.descendant_for_byte_range(at, at);
        let begun_before = node.filter(|node| node.start_byte() < at);
        begun_before.is_some_and(|node| ["comment", "string", "template"].iter().any(|kind| node.kind().contains(kind)))
    };
    let mut starts: Vec<(usize, usize)> = vec![(0, 0)];
    let (mut at, mut after_blank) = (0, false);
    for (row, line) in source.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let begins = line.first().is_some_and(|byte| !byte.is_ascii_whitespace() && !b")}]".contains(byte));
        if after_blank && begins && !is_text(at) {
            starts.push((at, row));
        }
        after_blank = line.trim_ascii().is_empty();
        at += line.len();
    }
    let end = (source.len(), memchr::memchr_iter(b'\n', source).count());
    let ends = starts[1..].iter().copied().chain([end]);
    let range = |((start_byte, start), (end_byte, end)): ((usize, usize), (usize, usize))| Range {
        start_byte,
        end_byte,
        start_point: Point::new(start, 0),
        // The column of a range at the end of the file is wrong, but only the bytes are used.
        end_point: Point::new(end, 0),
    };
    starts.iter().copied().zip(ends).map(range).filter(|range| range.start_byte < range.end_byte).collect()
}
