//! Mentions that facts do not explain: a name in code that was not read as a use, such as in an attribute, in the body
//! of a macro or behind a syntax error. Something of that name may be used there.

use rustc_hash::FxHashMap;
use tree_sitter::Node;

use super::locals::is_member;
use super::{Limits, Reading};
use crate::facts::{Facts, ScopeKind, hash, unpack};
use crate::languages::LanguageSpec;
use crate::model::Span;
use crate::parsing::SyntaxTree;

/// Those of some words of a file that stand in its code, or as a call in a text, and are neither a known use nor
/// likely a local name. `packed` are the file's facts, `places` ascending. Where syntax errors are, known uses count,
/// too: a template may stand for anything.
pub fn unexplained(
    spec: &'static LanguageSpec,
    source: &[u8],
    packed: &[u8],
    has_errors: bool,
    mut places: Vec<Span>,
) -> Vec<Span> {
    let tables = unpack(packed);
    if let Some(facts) = tables.as_deref().and_then(Facts::open).filter(Facts::is_sound) {
        let mut known: Vec<u32> = facts.occurrences.iter().map(|occurrence| occurrence.at).collect();
        known.sort_unstable();
        let mut local: FxHashMap<&[u8], bool> = FxHashMap::default();
        let mut is_local = |span: &Span| {
            let is_bound = || is_bound_locally(&facts, source, *span);
            !is_member(source, span.start as usize) && *local.entry(span.of(source)).or_insert_with(is_bound)
        };
        let is_known = |span: &Span| !has_errors && known.binary_search(&span.start).is_ok();
        places.retain(|span| !is_known(span) && !is_local(span));
    }
    places.retain(|span| !is_in_line_comment(spec, source, span.start as usize));
    if places.is_empty() {
        return places;
    }
    if let Some(tree) = Reading::new(spec, source, &Limits::default()).parse(None) {
        places.retain(|span| is_used(&tree, source, *span));
    }
    places
}

/// Whether a function or a block of the file binds the name.
fn is_bound_locally(facts: &Facts<'_>, source: &[u8], span: Span) -> bool {
    let name = std::str::from_utf8(span.of(source)).ok().and_then(|name| facts.find_name(hash(name)));
    let is_local = |kind: u8| kind == ScopeKind::Function as u8 || kind == ScopeKind::Block as u8;
    let mut locals = (0..facts.scopes.len() as u32).filter(|scope| is_local(facts.scopes[*scope as usize].kind));
    name.is_some_and(|name| locals.any(|scope| !facts.bound(scope, name).is_empty()))
}

/// Whether a line comment begins before a place, or its line continues a block comment. Most mentions are such, and
/// need no tree.
fn is_in_line_comment(spec: &LanguageSpec, source: &[u8], at: usize) -> bool {
    let start = memchr::memrchr(b'\n', &source[..at]).map_or(0, |newline| newline + 1);
    let line = source[start..at].trim_ascii_start();
    let opens = |marker: &&str| line.starts_with(marker.as_bytes());
    spec.comments.line.iter().any(opens) || !spec.comments.block.is_empty() && line.starts_with(b"* ")
}

/// Whether a word is code, or a text calls it: `"return check($1)"`.
fn is_used(tree: &SyntaxTree, source: &[u8], span: Span) -> bool {
    let (start, end) = (span.start as usize, span.end as usize);
    let Some(leaf) = tree.root_node().descendant_for_byte_range(start, end) else { return true };
    let mut around = Some(leaf);
    while let Some(node) = around {
        let kind = node.kind();
        if kind.contains("comment") || kind == "jsx_text" || is_key(node, start) {
            return false;
        }
        if kind.contains("string") {
            return source.get(end) == Some(&b'(') && !is_statement(node);
        }
        // Code in a text: `${name}`.
        if kind.contains("interpolation") || kind.contains("substitution") {
            return true;
        }
        around = node.parent();
    }
    true
}

/// Whether a name is the key of a value beside it: `f(name=1)`.
fn is_key(node: Node<'_>, start: usize) -> bool {
    node.start_byte() == start && super::locals::KEYED.contains(&node.kind())
}

/// Whether a text stands alone, as documentation does.
fn is_statement(text: Node<'_>) -> bool {
    let mut around = text;
    while let Some(parent) = around.parent().filter(|parent| parent.kind().contains("string")) {
        around = parent;
    }
    around.parent().is_some_and(|parent| parent.kind() == "expression_statement")
}

#[cfg(test)]
mod tests {
    use super::unexplained;
    use crate::extract::extract;
    use crate::languages::of_file;
    use crate::model::Span;

    /// The lines with unexplained mentions of `it`.
    fn check(path: &str, source: &str, expected: &[usize]) {
        let spec = of_file(path, b"").expect("it is built in").1;
        let extraction = extract(spec, source.as_bytes());
        let places = source.match_indices("it").map(|(at, it)| Span::new(at, at + it.len())).collect();
        let found = unexplained(spec, source.as_bytes(), &extraction.facts, false, places);
        let line = |span: &Span| source[..span.start as usize].matches('\n').count() + 1;
        assert_eq!(found.iter().map(line).collect::<Vec<_>>(), expected, "{source}");
    }

    #[test]
    fn code_that_was_not_read_is_found() {
        check("a.rs", "#[arg(add = Made::new(Own::it))]\nstruct A;\n// it\n/// it()\nfn f() { /* it */ }\n", &[1]);
        check("a.rs", "macro_rules! m { ($e:expr) => { $crate::a::it($e) } }\n", &[]);
        check("A.java", "class A {\n  String a = \"throw it(e);\";\n  String b = \"it\"; // it()\n}\n", &[2]);
        check("a.py", "'''Calls it().'''\ndef f(a):\n    '''it()'''\n    return g(it=a)\n", &[]);
        check("a.ts", "function f(it: number) { return it; }\n/**\n * it()\n */\n", &[]);
    }
}
