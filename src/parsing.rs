//! Parsing by tree-sitter within bounds of time and memory, which hold inside of its steps as well.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::sync::Arc;

use tree_sitter::{Language, Node, Parser, Range, Tree, TreeCursor, ffi};

use crate::allocator::{Heap, held_by_parsing};

/// Memory for the syntax tree of a text and for making it: bytes for each byte of it, a fixed part, and the most.
const PER_BYTE: usize = 300;
const BASE: usize = 20_000_000;
const MOST: usize = 200_000_000;

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

/// The syntax tree of a text, or of these parts of it if any is given. Asks `goes_on` at each hundredth step, and within
/// long steps, with the bytes that this thread's parsers hold; `None` if it says no.
pub fn parse(
    language: &Language,
    text: &[u8],
    pieces: &[Range],
    most: usize,
    goes_on: &dyn Fn(usize) -> bool,
) -> Option<SyntaxTree> {
    WORKSHOP.with_borrow_mut(|workshop| workshop.parse(language, text, pieces, most, goes_on))
}

impl ParserPool {
    fn parse(
        &mut self,
        language: &Language,
        text: &[u8],
        pieces: &[Range],
        most: usize,
        goes_on: &dyn Fn(usize) -> bool,
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
        let parse = || run(parser, text, &goes_on);
        let most = held_by_parsing().saturating_add(most);
        let parsed = match &heap {
            // SAFETY: tree-sitter is called by a function that may unwind, and its parser is forgotten if it does.
            Some(heap) => unsafe { heap.bounded(most, goes_on, parse) },
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

/// Calls tree-sitter's parser; null if `goes_on` says no at a step.
fn run(parser: *mut ffi::TSParser, text: &[u8], goes_on: &&dyn Fn(usize) -> bool) -> *mut ffi::TSTree {
    let input = ffi::TSInput {
        payload: (&raw const text).cast_mut().cast(),
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

/// Gives tree-sitter the text from a byte on.
unsafe extern "C" fn read(text: *mut c_void, at: u32, _: ffi::TSPoint, length: *mut u32) -> *const c_char {
    // SAFETY: `run` passes a text, and tree-sitter a place for the length.
    unsafe {
        let text: &[u8] = text.cast::<&[u8]>().read();
        let rest = text.get(at as usize..).unwrap_or_default();
        *length = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        rest.as_ptr().cast()
    }
}

/// Whether tree-sitter should stop at this step.
unsafe extern "C" fn step(state: *mut ffi::TSParseState) -> bool {
    // SAFETY: `run` passes a function.
    let goes_on = unsafe { &*(*state).payload.cast::<&dyn Fn(usize) -> bool>() };
    !goes_on(held_by_parsing())
}
