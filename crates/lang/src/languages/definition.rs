//! Context of the symbol walk: access of a language's rules to the tree, and the definition of symbols.

use tree_sitter::Node;

use super::LanguageSpec;
use super::budget::Budget;
use super::doc::comment_above;
use crate::parsing::SyntaxTree;
use codelode_base::model::{Detail, Kind, Marks, Span, Symbol};

/// The deepest nesting of symbols: qualified names grow with the square of the depth, and readers of JSON give up at
/// a hundred levels, of which an outline has two for each symbol.
const DEEPEST: u32 = 40;
/// The longest name of a symbol, in bytes; others are left out.
const LONGEST_NAME: usize = 1_000;
const LONGEST_QUALIFIED: usize = 2_000;
/// More decorators of a symbol are not kept: several symbols may share them.
pub(super) const MOST_DECORATORS: usize = 100;
/// The most symbols in a clause that are searched through for the one that goes on, see [`Cx::goes_on`].
const MOST_INSIDE: usize = 64;
/// Ancestors of deeper nodes are not known. A list of this many has just grown, so it takes 0.8 MB and no more.
const MOST_ANCESTORS: usize = 16_384;
/// Bytes that a symbol takes beside its texts, from here to the search index.
const SYMBOL: usize = 500;
/// Limits in bytes on the texts kept of a symbol: its signature, its documentation, each decorator, and a definition
/// that it shares with others.
const SIGNATURE: usize = 600;
const DOC: usize = 4_000;
const DECORATOR: usize = 200;
const SHARED: usize = 1_000;

/// The place of the walk in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Top level, or directly in a module or namespace.
    Module,
    /// Directly in a type or in one of its parts (a Rust `impl`).
    Type,
    /// Anywhere in a function.
    Function,
}

/// A symbol as described by a language's rule. [`Definition::new`] fills in defaults.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Range of the name.
    pub name: Span,
    /// Language-independent kind.
    pub kind: Kind,
    /// Kind in the language's own term.
    pub detail: Detail,
    /// Range of the whole definition.
    pub span: Span,
    /// Range of the definition without its body.
    pub signature: Span,
    /// Range of the documentation comment with its markers.
    pub doc: Span,
    /// Decorators, attributes, annotations.
    pub decorators: Vec<Span>,
    /// Name of an owner that does not enclose the definition.
    pub container: Span,
    /// The definition has a body with code, so it has a complexity, and symbols inside are local.
    pub runs: bool,
    /// See [`Symbol::handed`].
    pub handed: bool,
    /// The parent is the one of the enclosing symbol: a constructor's parameter that is a field of the class.
    pub of_outer: bool,
}

impl Definition {
    /// A definition of `node` named `name`. By default its signature is the whole node, it has no documentation, and
    /// functions and methods have code.
    pub fn new(node: Node<'_>, name: Node<'_>, kind: Kind, detail: Detail) -> Self {
        let span = span_of(node);
        Self {
            name: span_of(name),
            kind,
            detail,
            span,
            signature: span,
            doc: Span::default(),
            decorators: Vec::new(),
            container: Span::default(),
            runs: matches!(kind, Kind::Function | Kind::Method),
            handed: false,
            of_outer: false,
        }
    }

    /// Ends the signature where `body` begins.
    pub fn before(mut self, body: Option<Node<'_>>) -> Self {
        if let Some(body) = body {
            self.signature.end = (body.start_byte() as u32).max(self.signature.start);
        }
        self
    }

    /// Extends the definition to an outer node: an `export`, decorators, a surrounding declaration. The signature
    /// starts there too.
    pub fn within(mut self, outer: Node<'_>) -> Self {
        self.span = span_of(outer);
        self.signature.start = self.span.start;
        self
    }
}

/// The byte range of a node.
pub fn span_of(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// A block that adds members to a type that is defined elsewhere.
#[derive(Clone, Copy)]
struct Container {
    /// The name of the type.
    name: Span,
    end: usize,
    /// Marks of its members.
    marks: Marks,
}

/// The nesting of a symbol.
#[derive(Clone, Copy)]
struct Nesting {
    depth: u32,
    /// Bytes of its qualified name.
    qualified: usize,
}

/// The state of a walk: the text, the position, and the symbols found so far.
pub struct Cx<'s, 't> {
    /// Language of the file.
    pub(super) spec: &'static LanguageSpec,
    source: &'s [u8],
    budget: &'s Budget,
    ancestors: Vec<Node<'t>>,
    /// The number of ancestors that are not kept.
    hidden: usize,
    /// Whether the text is what a macro is given.
    pub(crate) is_given: bool,
    open: Vec<u32>,
    containers: Vec<Container>,
    attributes: Vec<Span>,
    symbols: Vec<Symbol>,
    /// By the place of their symbols.
    nestings: Vec<Nesting>,
    /// Texts parsed again: the start of the node with the text, and its tree.
    embedded: Vec<(usize, SyntaxTree)>,
}

impl<'s, 't> Cx<'s, 't> {
    /// A walk of `source` that has not begun.
    pub fn new(spec: &'static LanguageSpec, source: &'s [u8], budget: &'s Budget) -> Self {
        Self {
            spec,
            source,
            budget,
            ancestors: Vec::new(),
            hidden: 0,
            is_given: false,
            open: Vec::new(),
            containers: Vec::new(),
            attributes: Vec::new(),
            symbols: Vec::new(),
            nestings: Vec::new(),
            embedded: Vec::new(),
        }
    }

    /// Conventions of the file's language.
    pub fn conventions(&self) -> &'static super::Conventions {
        self.spec.conventions
    }

    /// The whole source.
    pub fn source(&self) -> &'s [u8] {
        self.source
    }

    /// The text of a node; empty if it is not valid UTF-8.
    pub fn text(&self, node: Node<'_>) -> &'s str {
        std::str::from_utf8(span_of(node).of(self.source)).unwrap_or_default()
    }

    /// The ancestor `up` levels above the parent of the current node. Faster than `Node::parent`, which searches from
    /// the root.
    pub fn ancestor(&self, up: usize) -> Option<Node<'t>> {
        if self.hidden > 0 { None } else { self.ancestors.iter().rev().nth(up).copied() }
    }

    /// The outermost of the current node's consecutive ancestors of these kinds; `node` if the parent is of another
    /// kind.
    pub fn outermost<'n>(&self, node: Node<'n>, kinds: &[&str]) -> Node<'n>
    where
        't: 'n,
    {
        self.ancestors
            .iter()
            .rev()
            .take_while(|ancestor| kinds.contains(&ancestor.kind()))
            .last()
            .copied()
            .unwrap_or(node)
    }

    /// Kind of the code around the current node.
    pub fn place(&self) -> Place {
        // A container in the innermost symbol is closer than the symbol: an `impl` in a function body.
        if self.container().is_some() {
            return Place::Type;
        }
        match self.enclosing() {
            None => Place::Module,
            Some(symbol) => match (symbol.kind, symbol.detail) {
                (Kind::Function | Kind::Method, _) => Place::Function,
                (_, Detail::Module | Detail::Namespace) => Place::Module,
                (Kind::Class | Kind::Type, _) => Place::Type,
                _ => Place::Module,
            },
        }
    }

    /// The innermost symbol around the current node.
    pub fn enclosing(&self) -> Option<&Symbol> {
        self.open.last().map(|index| &self.symbols[*index as usize])
    }

    /// The last symbol defined.
    pub fn latest(&self) -> Option<&Symbol> {
        self.symbols.last()
    }

    /// Whether the parent of the innermost symbol has a member of this name already, see [`Definition::of_outer`].
    pub fn outer_has(&self, name: &str) -> bool {
        if !self.budget.work() {
            return true;
        }
        let Some(outer) = self.enclosing().and_then(|symbol| symbol.parent) else { return false };
        let parts = self.symbols[outer as usize..].iter().filter(|symbol| symbol.parent == Some(outer));
        parts.into_iter().any(|symbol| symbol.name.of(self.source) == name.as_bytes())
    }

    /// The innermost container around the current node, if it is in the innermost symbol.
    fn container(&self) -> Option<Container> {
        let own = *self.containers.last()?;
        let inside = self.enclosing().is_none_or(|symbol| symbol.span.contains(own.name));
        inside.then_some(own)
    }

    /// Attributes before the current node.
    pub fn attributes(&self) -> &[Span] {
        &self.attributes
    }

    /// The run of comments directly above `start`, as far as `is_doc` accepts the beginning of each line. For block
    /// comments, `is_doc` gets the opening.
    ///
    /// Works on the text, because finding a sibling in the tree would search from the root.
    pub fn doc_above(&self, start: usize, is_doc: impl Fn(&str) -> bool) -> Span {
        if !self.budget.work() {
            return Span::default();
        }
        comment_above(&self.spec.comments, self.source, start, is_doc)
    }

    /// Whether there is time for another piece of work.
    pub fn has_time(&self) -> bool {
        self.budget.work()
    }

    /// Lets the last symbol at this place go on to the end of `node`, if it has this name: a clause of a function.
    pub fn goes_on(&mut self, name: &str, node: Node<'t>) -> bool {
        self.arrive(node.start_byte());
        let parent = self.open.last().copied();
        // The symbols in it may stand behind it.
        let behind = self.symbols.iter().rev().take(MOST_INSIDE);
        let last = behind.take_while(|_| self.budget.work()).position(|symbol| symbol.parent == parent);
        let Some(last) = last.map(|last| self.symbols.len() - 1 - last) else { return false };
        let container = self.container().map(|own| own.name).unwrap_or_default();
        let symbol = &mut self.symbols[last];
        // Of another container, as of the next instance of a class, it is another function.
        let is_of_other = symbol.container != container && container.len() <= LONGEST_NAME;
        // A callback is declared for others.
        let is_of_other = is_of_other || symbol.detail == Detail::Protocol;
        if symbol.name.of(self.source) != name.as_bytes() || is_of_other {
            return false;
        }
        symbol.span.end = symbol.span.end.max(node.end_byte() as u32);
        self.open.push(last as u32);
        true
    }

    /// Records a symbol. Ignores nodes without a name or out of bounds, which occur around syntax errors.
    pub fn define(&mut self, definition: Definition) {
        let Definition { name, kind, detail, span, signature, handed, runs, of_outer, .. } = definition;
        let Definition { mut doc, mut decorators, mut container, .. } = definition;
        let size = self.source.len() as u32;
        if !self.budget.work()
            || name.is_empty()
            || span.is_empty()
            || span.end > size
            || !span.contains(name)
            || name.len() > LONGEST_NAME
        {
            return;
        }
        let mut marks = Marks::default();
        if let Some(around) = self.container().filter(|_| container.is_empty()) {
            (container, marks) = (around.name, around.marks);
        }
        marks.add(Marks::IN_MACRO, self.is_given);
        if container.len() > LONGEST_NAME {
            container = Span::default();
        }
        decorators.retain(|decorator| !decorator.is_empty());
        decorators.truncate(MOST_DECORATORS);
        // Names that one statement defines, together or one after the other, are neighbours, not one inside the other.
        self.arrive(span.start as usize);
        // Near a syntax error, an open symbol may end too early.
        while let Some(open) = self.open.last() {
            let around = self.symbols[*open as usize].span;
            if around != span && around.contains(span) {
                break;
            }
            self.open.pop();
        }
        let innermost = self.open.last().copied();
        let parent = if of_outer { innermost.and_then(|of| self.symbols[of as usize].parent) } else { innermost };
        let own = name.len() + container.len() + 1;
        let nesting =
            parent.map(|of| self.nestings[of as usize]).map_or(Nesting { depth: 0, qualified: own }, |outer| Nesting {
                depth: outer.depth + 1,
                qualified: outer.qualified + own + 1,
            });
        if nesting.depth >= DEEPEST || nesting.qualified > LONGEST_QUALIFIED {
            self.budget.cut();
            return;
        }
        let signature =
            Span { start: signature.start.max(span.start), end: signature.end.min(span.end).max(signature.start) };
        let shares = self.symbols.last().is_some_and(|last| last.span == span);
        let texts = nesting.qualified * 2
            + signature.len().min(SIGNATURE)
            + doc.len().min(DOC)
            + decorators
                .iter()
                .map(|decorator| decorator.len().min(DECORATOR) * 2 + size_of::<Span>() * 4)
                .sum::<usize>()
            + if shares { span.len().min(SHARED) } else { 0 };
        if !self.budget.hold(SYMBOL + texts) {
            // Without documentation and decorators, which many symbols may share, more symbols fit.
            (doc, decorators) = (Span::default(), Vec::new());
            self.budget.cut();
            if shares || !self.budget.hold(SYMBOL + nesting.qualified * 2 + signature.len().min(SIGNATURE)) {
                return;
            }
        }
        let index = self.symbols.len() as u32;
        self.nestings.push(nesting);
        self.symbols.push(Symbol {
            name,
            kind,
            detail,
            span,
            line: 0,
            end_line: 0,
            signature,
            doc,
            decorators,
            parent,
            handed,
            marks,
            container,
            complexity: u16::from(runs),
        });
        self.open.push(index);
    }
}

/// Methods for the walker only.
impl<'s, 't> Cx<'s, 't> {
    /// Arrives at a node that starts at `start`: closes the symbols and containers that ended before.
    pub fn arrive(&mut self, start: usize) {
        while self.open.last().is_some_and(|index| self.symbols[*index as usize].span.end as usize <= start) {
            self.open.pop();
        }
        while self.containers.last().is_some_and(|own| own.end <= start) {
            self.containers.pop();
        }
    }

    /// Enters `node`.
    pub fn descend(&mut self, node: Node<'t>) {
        match self.ancestors.len() < MOST_ANCESTORS {
            true => self.ancestors.push(node),
            false => self.hidden += 1,
        }
    }

    /// Leaves the current parent.
    pub fn ascend(&mut self) {
        match self.hidden {
            0 => drop(self.ancestors.pop()),
            _ => self.hidden -= 1,
        }
    }

    /// Counts a branch of the innermost function.
    pub fn branch(&mut self) {
        let running =
            self.open.iter().rev().map(|index| *index as usize).find(|index| self.symbols[*index].complexity > 0);
        if let Some(index) = running {
            self.symbols[index].complexity = self.symbols[index].complexity.saturating_add(1);
        }
    }

    /// Opens a container up to byte `end`, for the type called `name`; its members get these marks.
    pub fn contain(&mut self, name: Span, end: usize, marks: Marks) {
        self.containers.push(Container { name, end, marks });
    }

    /// Adds an attribute of the next node.
    pub fn attribute(&mut self, span: Span) {
        if self.attributes.len() < MOST_DECORATORS {
            self.attributes.push(span);
        }
    }

    /// Drops the attributes: the next node is not theirs.
    pub fn forget_attributes(&mut self) {
        self.attributes.clear();
    }

    /// Continues in another tree of the same text, inside the open symbols.
    pub fn inside<'u>(&mut self, walk: impl FnOnce(&mut Cx<'s, 'u>)) {
        let mut inner = Cx {
            spec: self.spec,
            source: self.source,
            budget: self.budget,
            ancestors: Vec::new(),
            hidden: 0,
            is_given: self.is_given,
            open: std::mem::take(&mut self.open),
            containers: std::mem::take(&mut self.containers),
            attributes: Vec::new(),
            symbols: std::mem::take(&mut self.symbols),
            nestings: std::mem::take(&mut self.nestings),
            embedded: std::mem::take(&mut self.embedded),
        };
        walk(&mut inner);
        self.open = inner.open;
        self.containers = inner.containers;
        self.symbols = inner.symbols;
        self.nestings = inner.nestings;
        self.embedded = inner.embedded;
    }

    /// Keeps a macro's tree for the lowering; `start` is the start of the macro's node.
    pub fn keep(&mut self, start: usize, tree: SyntaxTree) {
        self.embedded.push((start, tree));
    }

    /// Ends the walk; returns the symbols and the kept trees.
    pub fn finish(mut self) -> (Vec<Symbol>, Vec<(usize, SyntaxTree)>) {
        self.embedded.sort_by_key(|(start, _)| *start);
        (self.symbols, self.embedded)
    }
}
