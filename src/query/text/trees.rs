//! Syntax trees made during a search: parsed under a time limit, and measured before recursion into them.

use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Range, Tree};

use crate::extract::with_stack_for;
use crate::languages::LanguageSpec;

/// Whether it is time to stop.
pub type IsOver<'a> = &'a (dyn Fn() -> bool + Sync);

thread_local! {
    // A parser keeps its allocations between files; one for each thread and language.
    static PARSERS: RefCell<Vec<(&'static LanguageSpec, Parser)>> = const { RefCell::new(Vec::new()) };
}

/// The syntax tree of a text; `None` if time ran out before.
pub(super) fn parse(text: &str, spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Option<Tree> {
    parse_pieces(text, &[], spec, is_over)
}

/// The syntax tree of these parts of a text, as if there were no others; of all of it if none is given.
pub(super) fn parse_pieces(
    text: &str,
    pieces: &[Range],
    spec: &'static LanguageSpec,
    is_over: IsOver<'_>,
) -> Option<Tree> {
    with_stack_for(text.len(), || parse_here(text, pieces, spec, is_over)).flatten()
}

fn parse_here(text: &str, pieces: &[Range], spec: &'static LanguageSpec, is_over: IsOver<'_>) -> Option<Tree> {
    PARSERS.with_borrow_mut(|parsers| {
        let place = parsers.iter().position(|(of, _)| std::ptr::eq(*of, spec)).unwrap_or_else(|| {
            let mut parser = Parser::new();
            // Without a grammar it parses nothing.
            let _ = spec.language().map(|grammar| parser.set_language(&grammar));
            parsers.push((spec, parser));
            parsers.len() - 1
        });
        let parser = &mut parsers[place].1;
        // Ranges stay until others are set.
        parser.set_included_ranges(pieces).ok()?;
        let mut goes_on = |_: &ParseState| if is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let options = ParseOptions::new().progress_callback(&mut goes_on);
        let bytes = text.as_bytes();
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            // The parser would resume an unfinished parse with the next text.
            parser.reset();
        }
        tree
    })
}

/// Whether a tree has nodes below more than `most` others.
pub(super) fn is_deeper(root: Node<'_>, most: usize) -> bool {
    if root.descendant_count() <= most {
        return false;
    }
    let (mut cursor, mut depth) = (root.walk(), 0);
    loop {
        if cursor.goto_first_child() {
            depth += 1;
            if depth > most {
                return true;
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
            depth -= 1;
        }
    }
}
