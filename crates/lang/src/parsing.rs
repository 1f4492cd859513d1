//! Parsing by tree-sitter within bounds of time and memory, which hold inside of its steps as well.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};
use std::sync::Arc;

use tree_sitter::{Language, Node, Parser, Range, Tree, TreeCursor, ffi};

use codelode_base::allocator::{Heap, held_by_parsing};

/// Memory for the syntax tree of a text and for making it: bytes for each byte of it, a fixed part, and the most.
const PER_BYTE: usize = 300;
const BASE: usize = 20_000_000;
const MOST: usize = 200_000_000;

/// Steps that the allocations between two looks at a parse's bounds count for: they take about half a millisecond.
const STEPS_PER_LOOK: usize = 15;
/// Bytes of a text that are given to the parser at once. Each time counts as a step, because the scanners of some grammars
/// read the rest of a file for each token: four thousand bytes take as long as a step.
const CHUNK: usize = 4096;

thread_local! {
    static WORKSHOP: RefCell<ParserPool> = const { RefCell::new(ParserPool { parsers: Vec::new(), heap: None }) };
}

/// The parsers of a thread: one for each language, because a parser keeps its allocations between texts.
struct ParserPool {
    parsers: Vec<(Language, Parser)>,
    /// The heap that they lie in, with their trees; `None` if tree-sitter uses another allocator.
    heap: Option<Arc<Heap>>,
}

/// A syntax tree.
#[derive(Clone)]
pub struct SyntaxTree {
    // Fields are dropped in this order, and a heap may be freed with all that is in it.
    tree: Tree,
    _heap: Option<Arc<Heap>>,
}

impl SyntaxTree {
    /// The node of the whole text.
    pub fn root_node(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// A walk that begins at the root.
    pub fn walk(&self) -> TreeCursor<'_> {
        self.tree.walk()
    }
}

impl std::fmt::Debug for SyntaxTree {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.tree.fmt(formatter)
    }
}

/// The most bytes that a text of this size may take for its syntax tree.
pub fn most_for(size: usize) -> usize {
    size.saturating_mul(PER_BYTE).saturating_add(BASE).min(MOST)
}

/// Decides whether a parse goes on, by the bytes that this thread's parsers hold and the steps since the last question.
pub type GoesOn<'a> = &'a dyn Fn(usize, usize) -> bool;

/// The syntax tree of a text, or of these parts of it if any is given. Asks `goes_on` at each hundredth step, and within
/// long steps; `None` if it says no.
pub fn parse(
    language: &Language,
    text: &[u8],
    pieces: &[Range],
    most: usize,
    goes_on: GoesOn<'_>,
) -> Option<SyntaxTree> {
    WORKSHOP.with_borrow_mut(|workshop| workshop.parse(language, text, pieces, most, goes_on))
}

/// Forgets the parsers of this thread. A parser keeps allocations between texts, so a text that is parsed first takes
/// more of them than the next: the effort of a file would depend on the files before it.
pub fn begin() {
    WORKSHOP.with_borrow_mut(|workshop| workshop.parsers.clear());
}

impl ParserPool {
    fn parse(
        &mut self,
        language: &Language,
        text: &[u8],
        pieces: &[Range],
        most: usize,
        goes_on: GoesOn<'_>,
    ) -> Option<SyntaxTree> {
        if self.heap.is_none() {
            self.heap = Heap::new().map(Arc::new);
        }
        let heap = self.heap.clone();
        let mut prepare = || {
            let mut parser = self.parser(language);
            // Parts stay until others are set; callers give them in order.
            parser.set_included_ranges(pieces).expect("the parts of a text are in order");
            parser.into_raw()
        };
        let parser = match &heap {
            Some(heap) => heap.with(prepare),
            None => prepare(),
        };
        let input = Input { text, n_reads: Cell::new(0) };
        // Reads since the last step count as well.
        let step = |held: usize| goes_on(held, 1 + input.n_reads.take());
        let parse = || run(parser, &input, &(&step as StepCallback<'_>));
        let most = held_by_parsing().saturating_add(most);
        let parsed = match &heap {
            // SAFETY: tree-sitter is called by a function that may unwind, and its parser is forgotten if it does.
            Some(heap) => unsafe { heap.bounded(most, &|held| goes_on(held, STEPS_PER_LOOK), parse) },
            None => Some(parse()),
        };
        let Some(tree) = parsed else {
            // The other parsers are left to their heap, too.
            self.parsers.drain(..).for_each(|(_, parser)| std::mem::forget(parser));
            self.heap = None;
            return None;
        };
        // SAFETY: the parser was made by `prepare`.
        let mut parser = unsafe { Parser::from_raw(parser) };
        if tree.is_null() {
            // It would resume an unfinished parse with the next text.
            parser.reset();
        }
        self.parsers.push((language.clone(), parser));
        // SAFETY: a tree that is there was just made, and belongs to nothing else.
        (!tree.is_null()).then(|| SyntaxTree { tree: unsafe { Tree::from_raw(tree) }, _heap: heap })
    }

    /// Takes the parser of a language out, or makes one.
    fn parser(&mut self, language: &Language) -> Parser {
        if let Some(place) = self.parsers.iter().position(|(of, _)| of == language) {
            return self.parsers.swap_remove(place).1;
        }
        let mut parser = Parser::new();
        // Without a grammar it parses nothing.
        let _ = parser.set_language(language);
        parser
    }
}

type Parse = unsafe extern "C-unwind" fn(
    *mut ffi::TSParser,
    *const ffi::TSTree,
    ffi::TSInput,
    ffi::TSParseOptions,
) -> *mut ffi::TSTree;

unsafe extern "C-unwind" {
    /// Tree-sitter's own, which the allocator may leave by unwinding.
    fn ts_parser_parse_with_options(
        parser: *mut ffi::TSParser,
        old: *const ffi::TSTree,
        input: ffi::TSInput,
        options: ffi::TSParseOptions,
    ) -> *mut ffi::TSTree;
}

static PARSE: Parse = ts_parser_parse_with_options;

/// A text, and how often the parser has read from it since its last step.
struct Input<'t> {
    text: &'t [u8],
    n_reads: Cell<usize>,
}

/// Decides at a step whether the parser goes on, by the bytes that are held.
type StepCallback<'a> = &'a dyn Fn(usize) -> bool;

/// Calls tree-sitter's parser; null if `goes_on` says no at a step.
fn run(parser: *mut ffi::TSParser, input: &Input<'_>, goes_on: &StepCallback<'_>) -> *mut ffi::TSTree {
    let input = ffi::TSInput {
        payload: (&raw const *input).cast_mut().cast(),
        read: Some(read),
        encoding: ffi::TSInputEncodingUTF8,
        decode: None,
    };
    let options =
        ffi::TSParseOptions { payload: (&raw const *goes_on).cast_mut().cast(), progress_callback: Some(step) };
    // SAFETY: the function is read as if it could be any: tree-sitter's crate declares it as one that never unwinds, and the
    // compiler believes one declaration of several. The parser is used by nobody else, and both payloads outlive the call.
    unsafe { (&raw const PARSE).read_volatile()(parser, std::ptr::null(), input, options) }
}

/// Gives tree-sitter a part of the text, from a byte on.
unsafe extern "C" fn read(input: *mut c_void, at: u32, _: ffi::TSPoint, length: *mut u32) -> *const c_char {
    // SAFETY: `run` passes an input that outlives the call.
    let input = unsafe { &*input.cast::<Input<'_>>() };
    input.n_reads.set(input.n_reads.get() + 1);
    let rest = input.text.get(at as usize..).unwrap_or_default();
    let part = &rest[..rest.len().min(CHUNK)];
    // SAFETY: tree-sitter passes a place for the length.
    unsafe { *length = part.len() as u32 };
    part.as_ptr().cast()
}

/// Whether tree-sitter should stop at this step.
unsafe extern "C" fn step(state: *mut ffi::TSParseState) -> bool {
    // SAFETY: `run` passes a function.
    let goes_on = unsafe { &*(*state).payload.cast::<StepCallback<'_>>() };
    !goes_on(held_by_parsing())
}
