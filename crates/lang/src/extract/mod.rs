//! Parsing: turns one file's text into symbols and facts. Pure and infallible: an unreadable file yields its readable
//! parts and the reason.

mod errors;
mod imports;
mod locals;
mod marks;
mod outside;
mod stack;
mod unexplained;

use std::borrow::Cow;

use tree_sitter::{Node, Range};

pub use crate::facts::LazyFacts;
pub use crate::languages::Limits;
use crate::languages::{Budget, Cx, Inside, LanguageSpec, Lower, Relating, Rule};
use crate::parsing::{self, SyntaxTree, parse};
use codelode_base::allocator::held_by_parsing;
use codelode_base::model::{Extraction, Span, Symbol};
pub use imports::{Imports, Statement, imports, packages};
pub use locals::{Local, import_of, is_member, is_part, local_at, locals, word_at};
pub use marks::{FileMarks, exported_value, marks, marks_of};
pub use outside::{from_packages, imports_of, may_extend_outside, packages_at};
pub use stack::{has_stack, stack_for, with_stack_for};
pub use unexplained::unexplained;

/// The deepest nesting of macros that is read.
const EMBEDDED_DEPTH: usize = 6;

/// Extracts symbols and facts from one file, with the default [`Limits`].
pub fn extract(spec: &'static LanguageSpec, source: &[u8]) -> Extraction {
    extract_within(spec, source, &Limits::default())
}

/// Extracts symbols and facts from one file within `limits`.
pub fn extract_within(spec: &'static LanguageSpec, source: &[u8], limits: &Limits) -> Extraction {
    if u32::try_from(source.len()).is_err() {
        return given_up("larger than 4 GB".into());
    }
    let extracted = with_stack_for(source.len(), || extract_here(spec, source, limits));
    extracted.unwrap_or_else(|| given_up("there is no memory for its stack".into()))
}

fn given_up(failure: Cow<'static, str>) -> Extraction {
    Extraction { failure: Some(failure), ..Extraction::default() }
}

fn extract_here(spec: &'static LanguageSpec, source: &[u8], limits: &Limits) -> Extraction {
    let reading = FileExtractor::new(spec, source, limits);
    let Some(tree) = reading.parse(&[]) else {
        let failure = reading.budget.failure().map_or("its grammar fails on it".into(), Cow::from);
        return Extraction { timed_out: reading.budget.is_out_of_time(), ..given_up(failure) };
    };
    let mut cx = Cx::new(spec, source, &reading.budget);
    reading.walk(&tree, &mut cx, 0);
    let (mut symbols, embedded) = cx.finish();
    if errors::swallow_definitions(&tree) {
        let paragraphs = reading.paragraph_by_paragraph(&tree);
        if paragraphs.len() > symbols.len() {
            symbols = paragraphs;
        }
    }
    number_lines(source, &mut symbols);
    marks::mark(spec.conventions, source, &mut symbols);
    let facts = spec.relating.map(|relating| reading.facts(relating, &tree, &embedded, &symbols)).unwrap_or_default();
    let has_errors = tree.root_node().has_error();
    let failure = reading.budget.failure().map(Cow::from);
    let timed_out = reading.budget.is_out_of_time();
    Extraction { symbols, facts, has_errors, is_cut: failure.is_some(), timed_out, failure }
}

/// Facts of a function, with the uses of its local names.
fn facts_with_locals(spec: &'static LanguageSpec, source: &[u8]) -> Option<Vec<u8>> {
    let read = || {
        let reading = FileExtractor::new(spec, source, &Limits::default());
        let tree = reading.parse(&[])?;
        let mut cx = Cx::new(spec, source, &reading.budget);
        reading.walk(&tree, &mut cx, 0);
        let (_, embedded) = cx.finish();
        let root = tree.root_node();
        let mut lower = Lower::new(spec, source, root, &embedded, &reading.budget);
        lower.keeps_locals = true;
        (spec.relating?.lower)(&mut lower, root);
        Some(lower.facts.finish())
    };
    with_stack_for(source.len(), read).flatten()
}

/// A file being read.
struct FileExtractor<'s> {
    spec: &'static LanguageSpec,
    source: &'s [u8],
    /// The text as the grammar reads it.
    text: Cow<'s, [u8]>,
    /// Bytes that the thread's parsers held before.
    held: usize,
    budget: Budget,
}

impl<'s> FileExtractor<'s> {
    fn new(spec: &'static LanguageSpec, source: &'s [u8], limits: &Limits) -> Self {
        parsing::begin();
        let text = spec.preprocess.and_then(|preprocess| preprocess(source)).map_or(spec.sanitized(source), Cow::Owned);
        Self { spec, source, text, held: held_by_parsing(), budget: Budget::new(source.len(), limits) }
    }

    /// Reads a file with a useless tree in pieces, split outside of comments and strings.
    fn paragraph_by_paragraph(&self, tree: &SyntaxTree) -> Vec<Symbol> {
        let mut cx = Cx::new(self.spec, self.source, &self.budget);
        for range in errors::paragraphs(self.source, tree, &self.budget) {
            if !self.budget.is_left() {
                break;
            }
            if let Some(tree) = self.parse(&[range]) {
                cx.inside(|cx| self.walk(&tree, cx, 0));
            }
        }
        cx.finish().0
    }

    /// Facts of the file, for the resolver, and mentions that they do not explain.
    fn facts(
        &self,
        relating: Relating,
        tree: &SyntaxTree,
        embedded: &[(usize, SyntaxTree)],
        symbols: &[Symbol],
    ) -> Vec<u8> {
        let root = tree.root_node();
        let mut lower = Lower::new(self.spec, self.source, root, embedded, &self.budget);
        (relating.lower)(&mut lower, root);
        unexplained::record((self.spec, self.source), tree, symbols, &mut lower.facts, &self.budget);
        marks::record(self.spec.conventions, self.source, symbols, &mut lower.facts);
        lower.facts.finish()
    }

    /// The syntax tree of the file, or of one range of it; `None` if the budget is exceeded, which then has the
    /// reason.
    fn parse(&self, pieces: &[Range]) -> Option<SyntaxTree> {
        let language = self.spec.language()?;
        let goes_on = |held: usize, steps: usize| self.budget.step(held.saturating_sub(self.held), steps);
        let most = self.budget.left_for_a_tree(held_by_parsing().saturating_sub(self.held));
        parse(&language, &self.text, pieces, most, &goes_on)
    }

    /// Visits every node once, in source order, and applies the rule for its kind. `depth` is the number of enclosing
    /// macros.
    fn walk<'t>(&self, tree: &'t SyntaxTree, cx: &mut Cx<'_, 't>, depth: usize) {
        let table = self.spec.table();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            cx.arrive(node.start_byte());
            if !self.budget.work() {
                return;
            }
            let rule = match table.get(node.kind_id() as usize) {
                Some(rule) => rule,
                // Only syntax errors are in no table. The rest of a file is read in spite of them; the text of a
                // macro may not be the language at all, so it is skipped.
                None if depth > 0 => &Rule::Skip,
                None => &Rule::Walk,
            };
            let goes_down = match *rule {
                Rule::Walk => true,
                Rule::Skip => false,
                Rule::WalkIf(look) => look(cx, node),
                Rule::Branch => {
                    cx.branch();
                    true
                }
                Rule::Define(define) => {
                    define(cx, node);
                    true
                }
                Rule::Symbol { kind, detail, name, body } => {
                    cx.symbol(node, kind, detail, name, body);
                    true
                }
                Rule::BySign { signs, name, body } => {
                    cx.symbol_by_sign(node, signs, name, body);
                    true
                }
                Rule::Called { function, words, names } => {
                    cx.called(node, function, words, names);
                    true
                }
                Rule::Container(owner) => {
                    if let Some(name) = owner(cx, node) {
                        let marks = marks::of_block(cx, node);
                        cx.contain(Span::new(name.start_byte(), name.end_byte()), node.end_byte(), marks);
                    }
                    true
                }
                Rule::Attribute => {
                    cx.attribute(Span::new(node.start_byte(), node.end_byte()));
                    false
                }
                Rule::Embedded(inside) => {
                    match inside(cx, node) {
                        Some(Inside::Items(inside)) if depth < EMBEDDED_DEPTH => self.embedded(inside, cx, depth),
                        Some(Inside::Arguments(inside)) => self.arguments(inside, cx),
                        Some(Inside::Template(inside)) => self.template(inside, cx),
                        _ => {}
                    }
                    false
                }
            };
            if !matches!(rule, Rule::Attribute) && !node.is_extra() {
                cx.forget_attributes();
            }
            if goes_down && cursor.goto_first_child() {
                cx.descend(node);
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
                cx.ascend();
            }
        }
    }

    /// Reads the text between a node's delimiters as a file of its own, its symbols at their true places. Of a text with
    /// arms, `unix => { mod unix; }`, what they hold is read.
    fn embedded(&self, node: Node<'_>, cx: &mut Cx<'_, '_>, depth: usize) {
        let mut cursor = node.walk();
        let parts: Vec<Node<'_>> = node.children(&mut cursor).collect();
        let is_arm = |pair: &&[Node<'_>]| {
            pair[0].kind() == "=>" && pair[1].child(0).is_some_and(|opening| opening.kind() == "{")
        };
        let arms: Vec<Range> = parts.windows(2).filter(is_arm).map(|pair| pair[1].range()).collect();
        let [first, .., last] = parts[..] else { return };
        let whole = Range {
            start_byte: first.end_byte(),
            end_byte: last.start_byte(),
            start_point: first.end_position(),
            end_point: last.start_position(),
        };
        if whole.start_byte >= whole.end_byte {
            return;
        }
        if let Some(tree) = self.parse(&if arms.is_empty() { self.without_marks(whole) } else { arms }) {
            cx.inside(|cx| {
                cx.is_given = true;
                self.walk(&tree, cx, depth + 1);
            });
            cx.keep(node.start_byte(), tree);
        }
    }

    /// Reads the expansion of a macro by example as code.
    fn template(&self, node: Node<'_>, cx: &mut Cx<'_, '_>) {
        let (start, end) = (node.start_byte(), node.end_byte());
        let text = &self.source[start..end];
        let is_repeating = |byte: Option<&u8>| matches!(byte, Some(b'*' | b'+' | b'?'));
        let (mut ranges, mut from, mut at, mut open) = (Vec::new(), 0, 0, Vec::new());
        let range = |from: usize, to: usize| Range { start_byte: start + from, end_byte: start + to, ..node.range() };
        while at < text.len() {
            // How many bytes are left out here.
            let left_out = match text[at] {
                b'$' if text.get(at + 1) == Some(&b'(') => {
                    open.push(true);
                    2
                }
                b'$' => 1,
                // Closures' parameters have attributes in no grammar.
                b'#' if text.get(at + 1) == Some(&b'[') => {
                    memchr::memchr(b']', &text[at..]).map_or(1, |length| length + 1)
                }
                b'(' => {
                    open.push(false);
                    0
                }
                b')' if open.pop() == Some(true) => match () {
                    () if is_repeating(text.get(at + 1)) => 2,
                    () if is_repeating(text.get(at + 2)) => 3,
                    () => 1,
                },
                _ => 0,
            };
            if left_out > 0 {
                ranges.push(range(from, at));
                from = at + left_out;
            }
            at += left_out.max(1);
        }
        ranges.push(range(from.min(text.len()), text.len()));
        ranges.retain(|range| range.start_byte < range.end_byte);
        if let Some(tree) = self.parse(&ranges) {
            cx.keep(start, tree);
        }
    }

    /// The parts of a range outside of lines that begin with `@`.
    fn without_marks(&self, whole: Range) -> Vec<Range> {
        let text = &self.source[whole.start_byte..whole.end_byte];
        if memchr::memchr(b'@', text).is_none() {
            return vec![whole];
        }
        let mut parts = vec![whole];
        let mut start = whole.start_byte;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let end = start + line.len();
            if line.trim_ascii_start().starts_with(b"@")
                && let Some(last) = parts.last_mut()
            {
                last.end_byte = start;
                parts.push(Range { start_byte: end, ..whole });
            }
            start = end;
        }
        parts.retain(|part| part.start_byte < part.end_byte);
        parts
    }

    /// Reads the arguments of a macro's call as a statement: with the next semicolon, wherever it is.
    fn arguments(&self, node: Node<'_>, cx: &mut Cx<'_, '_>) {
        const FAR: usize = 4096;
        let own = node.range();
        let after = &self.source[own.end_byte..self.source.len().min(own.end_byte + FAR)];
        let Some(semicolon) = memchr::memchr(b';', after).map(|at| own.end_byte + at) else { return };
        let at = own.end_point;
        let end = Range { start_byte: semicolon, end_byte: semicolon + 1, start_point: at, end_point: at };
        if let Some(tree) = self.parse(&[own, end]) {
            cx.keep(node.start_byte(), tree);
        }
    }
}

/// Sets the line of each symbol's name, which attributes may precede, and its last line.
fn number_lines(source: &[u8], symbols: &mut [Symbol]) {
    let newlines: Vec<u32> = memchr::memchr_iter(b'\n', source).map(|at| at as u32).collect();
    let line_of = |byte: u32| newlines.partition_point(|newline| *newline < byte) as u32 + 1;
    for symbol in symbols {
        let is_inside = symbol.span.contains(symbol.name) && !symbol.name.is_empty();
        symbol.line = line_of(if is_inside { symbol.name.start } else { symbol.span.start });
        symbol.end_line = line_of(symbol.span.end - 1);
    }
}

#[cfg(test)]
mod tests;
