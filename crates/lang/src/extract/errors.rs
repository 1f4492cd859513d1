//! Files with large syntax errors: finding their definitions anyway.

use tree_sitter::{Node, Point, Range};

use crate::languages::Budget;
use crate::parsing::SyntaxTree;

/// The size in bytes of a syntax error that has swallowed whole definitions.
const LARGE: usize = 2_000;

/// Whether the syntax errors are large enough to hide definitions.
pub fn swallow_definitions(tree: &SyntaxTree) -> bool {
    let root = tree.root_node();
    let large = |node: Node<'_>| node.is_error() && node.byte_range().len() >= LARGE;
    root.has_error() && (root.is_error() || root.children(&mut root.walk()).any(large))
}

/// Splits the file before each line that follows a blank one and begins at the margin, where definitions usually
/// begin, except inside comments and strings of the tree.
pub fn paragraphs(source: &[u8], tree: &SyntaxTree, budget: &Budget) -> impl Iterator<Item = Range> {
    let root = tree.root_node();
    let is_text = |at: usize| {
        let node = root.descendant_for_byte_range(at, at);
        let begun_before = node.filter(|node| node.start_byte() < at);
        begun_before.is_some_and(|node| ["comment", "string", "template"].iter().any(|kind| node.kind().contains(kind)))
    };
    let mut starts: Vec<(u32, u32)> = vec![(0, 0)];
    let (mut at, mut after_blank) = (0, false);
    for (row, line) in source.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let begins = line.first().is_some_and(|byte| !byte.is_ascii_whitespace() && !b")}]".contains(byte));
        // In a flat tree, finding the node at a position searches all of it.
        if after_blank && begins && budget.work() && !is_text(at) {
            starts.push((at as u32, row as u32));
        }
        after_blank = line.trim_ascii().is_empty();
        at += line.len();
    }
    let count = starts.len();
    // A range that ends with the file ends where its last line does; only bytes are read of it.
    starts.push((source.len() as u32, memchr::memchr_iter(b'\n', source).count() as u32));
    let range = move |place: usize| {
        let [(start_byte, start), (end_byte, end)] =
            [starts[place], starts[place + 1]].map(|(byte, row)| (byte as usize, row as usize));
        Range { start_byte, end_byte, start_point: Point::new(start, 0), end_point: Point::new(end, 0) }
    };
    (0..count).map(range).filter(|range| range.start_byte < range.end_byte)
}
