//! Text in, symbols and facts out: one file at a time, pure, and never failing. What could be read is returned, with a word on what
//! could not.

mod errors;

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Range, Tree};

use crate::allocator::held_by_parsing;
use crate::languages::{Cx, LanguageSpec, Lower, Relating, Rule};
use crate::model::{Extraction, Span, Symbol};

/// A file that takes more steps to parse is given up: some inputs make a grammar's error recovery explode. Steps are counted
/// beside time, so that every machine gives up the same of these. Two seconds' worth: a core makes about 45,000 a second,
/// and real files take 4 to 20 for each kilobyte.
const MOST_STEPS: usize = 90_000;
/// Steps that any kilobyte may take, so that a large file is not given up for its size.
const STEPS_PER_KILOBYTE: usize = 50;
/// Asking for the time costs as much as some steps, so it is asked for after so many: a millisecond's worth.
const STEPS_BETWEEN_LOOKS: usize = 64;
/// How deep macros inside macros are read.
const EMBEDDED_DEPTH: usize = 6;

/// What one file may take to be parsed. A file that takes more is given up: its text is kept, its symbols are not read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of the thread that parses, so that a busy machine reads what a quiet one does.
    pub time: Duration,
    /// Bytes of its syntax tree.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(2), memory: 200_000_000 }
    }
}

/// What is left to one file.
struct Budget {
    steps: usize,
    began: Instant,
    /// How long the thread had been at work before.
    at_work: Option<Duration>,
    limits: Limits,
    /// Why it was given up.
    failure: Option<String>,
}

impl Budget {
    fn new(steps: usize, limits: &Limits) -> Self {
        Self { steps, began: Instant::now(), at_work: time_at_work(), limits: *limits, failure: None }
    }

    /// Takes one step; `held` is how many bytes the tree has so far. False when that was one too many.
    fn step(&mut self, held: usize) -> bool {
        self.steps = self.steps.saturating_sub(1);
        let Limits { time, memory } = self.limits;
        if held > memory {
            self.failure = Some(format!("parsing took more than {} MB", memory / 1_000_000));
        } else if self.steps == 0 || (self.steps.is_multiple_of(STEPS_BETWEEN_LOOKS) && self.is_late()) {
            self.failure = Some(format!("parsing took over {}", humantime::format_duration(time)));
        }
        // What was too much once is so for the rest of the file, too.
        self.failure.is_none()
    }

    /// Whether time is over. While others have the machine, it stands still where the system lets us see that.
    fn is_late(&self) -> bool {
        let took = || Some(time_at_work()?.saturating_sub(self.at_work?));
        self.began.elapsed() >= self.limits.time && took().is_none_or(|took| took >= self.limits.time)
    }
}

/// How long this thread has been at work, where the system counts that.
fn time_at_work() -> Option<Duration> {
    let counts = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counts.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

thread_local! {
    // A parser keeps its allocations between files; one for each thread and language.
    static PARSERS: RefCell<Vec<(&'static LanguageSpec, Parser)>> = const { RefCell::new(Vec::new()) };
}

/// Reads the symbols of one file.
pub fn extract(spec: &'static LanguageSpec, source: &[u8]) -> Extraction {
    extract_within(spec, source, &Limits::default())
}

/// The same with limits of one's own.
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
    // What of it was too much is missing, such as the inside of a macro.
    let has_errors = tree.root_node().has_error() || budget.failure.is_some();
    Extraction { symbols, facts, has_errors, failure: None }
}

/// Reads a file whose tree is no use in pieces that the tree does not take for comments or strings.
fn paragraph_by_paragraph(spec: &'static LanguageSpec, source: &[u8], tree: &Tree, budget: &mut Budget) -> Vec<Symbol> {
    let mut cx = Cx::new(spec, source);
    for range in errors::paragraphs(source, tree) {
        if let Some(tree) = parse(spec, source, Some(range), budget) {
            cx.inside(|cx| walk(spec, &tree, cx, 0, budget));
        }
    }
    cx.finish().0
}

/// What the resolver needs to know of a file.
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

/// The syntax tree of a file, or of one range of it; `None` when it takes more than is left of its `budget`, which says why
/// then.
fn parse(spec: &'static LanguageSpec, source: &[u8], range: Option<Range>, budget: &mut Budget) -> Option<Tree> {
    PARSERS.with_borrow_mut(|parsers| {
        let place = parsers.iter().position(|(of, _)| std::ptr::eq(*of, spec)).unwrap_or_else(|| {
            let mut parser = Parser::new();
            // Without a grammar it parses nothing.
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
            // What is left of an unfinished parse would be taken up by the next file.
            parser.reset();
        }
        tree
    })
}

/// Visits every node once, in source order, and does what the language's table says of its kind. `depth` is how many
/// macros the text lies in.
fn walk<'t>(spec: &'static LanguageSpec, tree: &'t Tree, cx: &mut Cx<'_, 't>, depth: usize, budget: &mut Budget) {
    let table = spec.table();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        cx.arrive(node.start_byte());
        let rule = match table.get(node.kind_id() as usize) {
            Some(rule) => rule,
            // The one kind that is in no table is a syntax error. In a file what is left of it is read; a macro's text may
            // not be the language at all, and a guess there would be a lie.
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

/// Reads the text between a node's delimiters as a file of its own, its symbols at their true places.
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

/// Gives each symbol the line of its name, which is where a reader is sent whatever attributes stand above it, and that of its end.
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
