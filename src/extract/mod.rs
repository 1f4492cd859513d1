//! Parsing: turns one file's text into symbols and facts. Pure and infallible: an unreadable file yields its readable
//! parts and the reason.

mod errors;

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Range, Tree};

use crate::allocator::held_by_parsing;
use crate::languages::{Cx, LanguageSpec, Lower, Relating, Rule};
use crate::model::{Extraction, Span, Symbol};

/// Limit on parser steps per file, as some inputs make a grammar's error recovery explode. Steps give the same result
/// on every machine, unlike time. The limit is two seconds' worth at about 45,000 steps a second; real files take 4
/// to 20 per kilobyte.
const MOST_STEPS: usize = 90_000;
/// Steps allowed per kilobyte, so that a large file is not given up for its size.
const STEPS_PER_KILOBYTE: usize = 50;
/// Steps between checks of the clock, which cost as much as some steps: a millisecond's worth.
const STEPS_BETWEEN_LOOKS: usize = 64;
/// Maximum depth of macros inside macros.
const EMBEDDED_DEPTH: usize = 6;

/// Limits on parsing one file. A file that exceeds them is searchable as text, but has no symbols.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// CPU time of the parsing thread, so that results do not depend on the load of the machine.
    pub time: Duration,
    /// Bytes of the syntax tree.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(2), memory: 200_000_000 }
    }
}

/// Remaining resources for one file.
struct Budget {
    steps: usize,
    began: Instant,
    /// CPU time of the thread at the start.
    at_work: Option<Duration>,
    limits: Limits,
    /// Reason for giving the file up.
    failure: Option<String>,
}

impl Budget {
    fn new(steps: usize, limits: &Limits) -> Self {
        Self { steps, began: Instant::now(), at_work: time_at_work(), limits: *limits, failure: None }
    }

    /// Takes one step; `held` is the current size of the tree in bytes. False if a limit is exceeded.
    fn step(&mut self, held: usize) -> bool {
        self.steps = self.steps.saturating_sub(1);
        let Limits { time, memory } = self.limits;
        if held > memory {
            self.failure = Some(format!("parsing took more than {} MB", memory / 1_000_000));
        } else if self.steps == 0 || (self.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && self.is_late()) {
            self.failure = Some(format!("parsing took over {}", humantime::format_duration(time)));
        }
        // An exceeded limit stays exceeded for the rest of the file.
        self.failure.is_none()
    }

    /// Whether the time limit is exceeded, in CPU time where the system counts it.
    fn is_late(&self) -> bool {
        let took = || Some(time_at_work()?.saturating_sub(self.at_work?));
        self.began.elapsed() >= self.limits.time && took().is_none_or(|took| took >= self.limits.time)
    }
}

/// CPU time of this thread, where the system counts it.
fn time_at_work() -> Option<Duration> {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counts.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

thread_local! {
    // One parser per thread and language: a parser keeps its allocations between files.
    static PARSERS: RefCell<Vec<(&'static LanguageSpec, Parser)>> = const { RefCell::new(Vec::new()) };
}

/// Extracts symbols and facts from one file, with the default [`Limits`].
pub fn extract(spec: &'static LanguageSpec, source: &[u8]) -> Extraction {
    extract_within(spec, source, &Limits::default())
}

/// Extracts symbols and facts from one file within `limits`.
pub fn extract_within(spec: &'static LanguageSpec, source: &[u8], limits: &Limits) -> Extraction {
    let given_up = |failure: Cow<'static, str>| Extraction { failure: Some(failure), ..Extraction::default() };
    if u32::try_from(source.len()).is_err() {
        return given_up("larger than 4 GB".into());
    }
    let mut budget = Budget::new(MOST_STEPS.max(source.len() / 1000 * STEPS_PER_KILOBYTE), limits);
    let Some(tree) = parse(spec, source, None, &mut budget) else {
        return given_up(budget.failure.unwrap_or_default().into());
    };
    let mut cx = Cx::new(spec, source);
    walk(spec, &tree, &mut cx, 0, &mut budget);
    let (mut symbols, embedded) = cx.finish();
    if errors::swallow_definitions(&tree) {
        let paragraphs = paragraph_by_paragraph(spec, source, &tree, &mut budget);
        if paragraphs.len() > symbols.len() {
            symbols = paragraphs;
        }
    }
    number_lines(source, &mut symbols);
    let facts = spec.relating.map(|relating| facts(spec, relating, source, &tree, &embedded)).unwrap_or_default();
    // Parts beyond the limits are missing, such as the inside of a macro.
    let has_errors = tree.root_node().has_error() || budget.failure.is_some();
    Extraction { symbols, facts, has_errors, failure: None }
}

/// Parses a file with large syntax errors in pieces, split outside of comments and strings.
fn paragraph_by_paragraph(spec: &'static LanguageSpec, source: &[u8], tree: &Tree, budget: &mut Budget) -> Vec<Symbol> {
    let mut cx = Cx::new(spec, source);
    for range in errors::paragraphs(source, tree) {
        if let Some(tree) = parse(spec, source, Some(range), budget) {
            cx.inside(|cx| walk(spec, &tree, cx, 0, budget));
        }
    }
    cx.finish().0
}

/// Facts about names, for `resolve`.
fn facts(
    spec: &'static LanguageSpec,
    relating: Relating,
    source: &[u8],
    tree: &Tree,
    embedded: &[(usize, Tree)],
) -> Vec<u8> {
    let root = tree.root_node();
    let mut lower = Lower::new(spec, source, root, embedded);
    (relating.lower)(&mut lower, root);
    lower.facts.finish()
}

/// Parses a file, or one range of it. `None` if the `budget` is exceeded, which then holds the reason.
fn parse(spec: &'static LanguageSpec, source: &[u8], range: Option<Range>, budget: &mut Budget) -> Option<Tree> {
    PARSERS.with_borrow_mut(|parsers| {
        let place = parsers.iter().position(|(of, _)| std::ptr::eq(*of, spec)).unwrap_or_else(|| {
            let mut parser = Parser::new();
            // Without a grammar, the parser returns no tree.
            let _ = spec.language().map(|grammar| parser.set_language(&grammar));
            parsers.push((spec, parser));
            parsers.len() - 1
        });
        let parser = &mut parsers[place].1;
        parser.set_included_ranges(range.as_slice()).expect("one range overlaps no other");
        let held = held_by_parsing();
        let mut in_bounds = |_: &ParseState| {
            let goes_on = budget.step(held_by_parsing().saturating_sub(held));
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut in_bounds);
        let tree = parser.parse_with_options(&mut |at, _| source.get(at..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            // Otherwise the next file would continue the unfinished parse.
            parser.reset();
        }
        tree
    })
}

/// Visits every node in source order and applies the language's rule for its kind. `depth` is the number of enclosing
/// macros.
fn walk<'t>(spec: &'static LanguageSpec, tree: &'t Tree, cx: &mut Cx<'_, 't>, depth: usize, budget: &mut Budget) {
    let table = spec.table();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        cx.arrive(node.start_byte());
        let rule = match table.get(node.kind_id() as usize) {
            Some(rule) => rule,
            // Only a syntax error has no rule. In a file its content is still read; a macro's text may not be the
            // language at all, so symbols from it would be guesses.
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
            Rule::Told { signs, name, body } => {
                cx.told(node, signs, name, body);
                true
            }
            Rule::Container(owner) => {
                if let Some(name) = owner(cx, node) {
                    cx.contain(Span::new(name.start_byte(), name.end_byte()), node.end_byte());
                }
                true
            }
            Rule::Attribute => {
                cx.attribute(Span::new(node.start_byte(), node.end_byte()));
                false
            }
            Rule::Embedded(inside) => {
                match inside(cx, node) {
                    Some(inside) if depth < EMBEDDED_DEPTH => embedded(spec, inside, cx, depth, budget),
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

/// Parses the text between a node's delimiters as a file, with symbols at their offsets in the source.
fn embedded(spec: &'static LanguageSpec, node: Node<'_>, cx: &mut Cx<'_, '_>, depth: usize, budget: &mut Budget) {
    let (Some(first), Some(last)) = (node.child(0), node.child(node.child_count().saturating_sub(1))) else { return };
    let range = Range {
        start_byte: first.end_byte(),
        end_byte: last.start_byte(),
        start_point: first.end_position(),
        end_point: last.start_position(),
    };
    if range.start_byte >= range.end_byte {
        return;
    }
    if let Some(tree) = parse(spec, cx.source(), Some(range), budget) {
        cx.inside(|cx| walk(spec, &tree, cx, depth + 1, budget));
        cx.keep(node.start_byte(), tree);
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
