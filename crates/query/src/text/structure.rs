//! Ranges of a text by its syntax: foldable lines, and the constructs around a byte.

use std::collections::{BTreeMap, HashMap};

use tree_sitter::Node;

use super::trees::{IsOver, parse_as_indexed};
use codelode_base::model::Span;
use codelode_lang::languages::LanguageSpec;
use codelode_lang::parsing::SyntaxTree;

/// The most ranges of one file.
const MOST: usize = 10_000;
/// The most constructs around a byte. JSON nests each in the next, and readers go 128 levels deep.
const MOST_AROUND: usize = 100;

/// A range of lines that can be folded, zero-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The line that stays visible.
    pub first: u32,
    /// The last line that is hidden.
    pub last: u32,
    /// Whether it is a comment.
    pub is_comment: bool,
}

/// Foldable ranges: for each line the largest construct that begins there, and runs of comments. A line that only
/// closes a construct stays visible.
pub fn folds(text: &str, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Vec<Fold> {
    let Some(tree) = parse_as_indexed(text, spec, is_over) else { return Vec::new() };
    let lines: Vec<&str> = text.split('\n').collect();
    let closes = |line: usize| {
        let text = lines.get(line).map_or("", |line| line.trim());
        text.starts_with(['}', ')', ']']) || text == "end"
    };
    // Computed once per kind, because there may be a hundred thousand nodes.
    let mut comments: HashMap<u16, bool> = HashMap::new();
    let mut is_comment =
        |node: Node<'_>| *comments.entry(node.kind_id()).or_insert_with(|| node.kind().contains("comment"));
    let mut found: BTreeMap<u32, Fold> = BTreeMap::new();
    each(&tree, |node| {
        let (first, last) = (node.start_position().row, node.end_position().row);
        // A node may end with a line break.
        let last = if node.end_position().column == 0 && last > first { last - 1 } else { last };
        // Within one line only comments matter, and these are no part of another node there.
        let next = |n_found: usize| match () {
            () if n_found >= MOST => Next::End,
            () if last > first => Next::Inside,
            () => Next::Past,
        };
        let is_comment = is_comment(node);
        if let Some(before) = found.values_mut().next_back().filter(|before| is_comment && before.is_comment)
            && before.last + 1 == first as u32
        {
            before.last = last as u32;
            return next(found.len());
        }
        // A one-line comment may begin a run.
        if last > first || is_comment {
            let last = if !is_comment && closes(last) { last - 1 } else { last };
            let fold = Fold { first: first as u32, last: last as u32, is_comment };
            found.entry(fold.first).or_insert(fold);
        }
        next(found.len())
    });
    found.into_values().filter(|fold| fold.last > fold.first).collect()
}

/// The constructs of a text: the part of its syntax tree that growing selections need.
pub struct Constructs {
    /// In source order, outer before inner.
    nodes: Vec<Construct>,
}

struct Construct {
    span: Span,
    /// The index of the next construct that is not inside this one.
    past: u32,
}

impl Constructs {
    /// Finds the constructs of a text; `None` if it cannot be parsed.
    pub fn of(text: &str, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Option<Self> {
        let tree = parse_as_indexed(text, spec, is_over)?;
        let (mut nodes, mut open) = (Vec::new(), Vec::new());
        let mut cursor = tree.walk();
        loop {
            open.push(nodes.len());
            nodes.push(Construct { span: span(cursor.node()), past: 0 });
            if cursor.goto_first_child() {
                continue;
            }
            loop {
                let past = nodes.len() as u32;
                open.pop().into_iter().for_each(|closed| nodes[closed].past = past);
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    nodes.shrink_to_fit();
                    return Some(Self { nodes });
                }
            }
        }
    }

    /// The size in memory, in bytes.
    pub fn size(&self) -> usize {
        self.nodes.capacity() * size_of::<Construct>()
    }

    /// The constructs around a byte, innermost first, each larger than the one before.
    pub fn around(&self, byte: usize) -> Vec<Span> {
        let (mut found, mut place) = (Vec::new(), Some(0));
        while let Some(at) = place {
            let span = self.nodes[at].span;
            if found.last() != Some(&span) {
                found.push(span);
            }
            place = self.inside(at, byte as u32);
        }
        found.reverse();
        found.truncate(MOST_AROUND);
        found
    }

    /// The construct directly inside another that holds a byte. If two touch there, the later one.
    fn inside(&self, around: usize, byte: u32) -> Option<usize> {
        let past = self.nodes[around].past as usize;
        let holds = |place: &usize| {
            let Span { start, end } = self.nodes[*place].span;
            start <= byte && byte <= end && start < end
        };
        let (mut before, mut place) = (None, around + 1);
        if place >= past {
            return None;
        }
        while self.nodes[place].span.end <= byte && (self.nodes[place].past as usize) < past {
            before = Some(place);
            place = self.nodes[place].past as usize;
        }
        // The byte may be the end of the construct before.
        Some(place).filter(holds).or_else(|| before.filter(holds))
    }
}

/// The part of a node kind's name for nodes that are a key and its value at once.
const SHORT: &str = "shorthand";

/// Whether a language has shorthand names, see [`are_short`].
pub fn has_short_forms(spec: &'static LanguageSpec) -> bool {
    let Some(grammar) = spec.language() else { return false };
    let kinds = 0..grammar.node_kind_count() as u16;
    kinds.filter_map(|kind| grammar.node_kind_for_id(kind)).any(|kind| kind.contains(SHORT))
}

/// Whether the name at each start is a shorthand: a key and its value at once.
pub fn are_short(content: &[u8], spec: &'static LanguageSpec, starts: &[usize]) -> Vec<bool> {
    let tree = std::str::from_utf8(content).ok().and_then(|text| parse_as_indexed(text, spec, &|| false));
    let is_short = |start: &usize| {
        let node = tree.as_ref().and_then(|tree| tree.root_node().descendant_for_byte_range(*start, *start));
        node.is_some_and(|node| node.start_byte() == *start && node.kind().contains(SHORT))
    };
    starts.iter().map(is_short).collect()
}

/// Whether each span is the entire content of a literal. Comments and longer literals are not.
pub fn are_literals(content: &[u8], spec: &'static LanguageSpec, spans: &[Span]) -> Vec<bool> {
    let tree = std::str::from_utf8(content).ok().and_then(|text| parse_as_indexed(text, spec, &|| false));
    // A letter before the quotes may belong to the literal: `b"name"`.
    const LETTERS: usize = 2;
    let is_literal = |span: &Span| {
        let Some(tree) = &tree else { return true };
        let (start, end) = (span.start as usize - 1, span.end as usize + 1);
        let around = tree.root_node().descendant_for_byte_range(start, end);
        around.is_some_and(|node| node.end_byte() == end && node.start_byte() + LETTERS >= start)
    };
    spans.iter().map(is_literal).collect()
}

fn span(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The next step of a walk.
enum Next {
    /// To the node's children.
    Inside,
    /// To the next node outside this one.
    Past,
    End,
}

/// Visits the nodes below the root in source order.
fn each(tree: &SyntaxTree, mut visit: impl FnMut(Node<'_>) -> Next) {
    let mut cursor = tree.walk();
    let mut goes_down = true;
    loop {
        if !(goes_down && cursor.goto_first_child()) {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
        goes_down = match visit(cursor.node()) {
            Next::Inside => true,
            Next::Past => false,
            Next::End => return,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Constructs, folds};
    use codelode_base::model::Span;
    use codelode_lang::languages::of_file;

    fn spec(path: &str) -> &'static codelode_lang::languages::LanguageSpec {
        of_file(path, b"").expect("it is built in").1
    }

    #[test]
    fn constructs_and_runs_of_comments_can_be_folded() {
        let text = "// one\n// two\nfn a(\n    b: u8,\n) {\n    c();\n}\n\nfn d() {}\n";
        let found = folds(text, spec("a.rs"), &|| false);
        let found: Vec<_> = found.iter().map(|fold| (fold.first, fold.last, fold.is_comment)).collect();
        assert_eq!(found, [(0, 1, true), (2, 5, false), (4, 5, false)]);
        let text = "class A:\n    def b(self):\n        return 1\n\nx = [\n    1,\n]\n";
        let found = folds(text, spec("a.py"), &|| false);
        let found: Vec<_> = found.iter().map(|fold| (fold.first, fold.last)).collect();
        assert_eq!(found, [(0, 2), (1, 2), (4, 5)]);
    }

    #[test]
    fn a_selection_grows_from_the_name_to_the_file() {
        let text = "def a():\n    return b(c)\n";
        let at = text.find('c').expect("it is there");
        let end = text.len() - 1;
        let constructs = Constructs::of(text, spec("a.py"), &|| false).expect("it is parsed");
        let found: Vec<Span> = constructs.around(at);
        let found: Vec<&str> = found.iter().map(|span| &text[span.start as usize..span.end as usize]).collect();
        let whole = "def a():\n    return b(c)";
        assert_eq!(found, ["c", "(c)", "b(c)", "return b(c)", whole, text]);
        let last = constructs.around(end)[0];
        assert_eq!(&text[last.start as usize..last.end as usize], ")", "a cursor may stand behind the last");
        let empty = Constructs::of("", spec("a.py"), &|| false).expect("it is parsed");
        assert!(empty.around(0).len() <= 1);
    }
}
