//! Context of the symbol walk: what a language's rules see of the tree, and how they define symbols.

use tree_sitter::{Node, Tree};

use super::LanguageSpec;
use super::doc::comment_above;
use crate::model::{Detail, Kind, Span, Symbol};

/// Kind of the code around the current node.
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

/// State of a walk: source, position, and symbols found so far.
pub struct Cx<'s, 't> {
    /// Language of the file.
    pub(super) spec: &'static LanguageSpec,
    source: &'s [u8],
    ancestors: Vec<Node<'t>>,
    open: Vec<u32>,
    containers: Vec<(Span, usize)>,
    attributes: Vec<Span>,
    symbols: Vec<Symbol>,
    /// Trees of macro texts that were parsed separately, with the start of the node that contains the text.
    embedded: Vec<(usize, Tree)>,
}

impl<'s, 't> Cx<'s, 't> {
    /// A walk of `source`, not started yet.
    pub fn new(spec: &'static LanguageSpec, source: &'s [u8]) -> Self {
        Self {
            spec,
            source,
            ancestors: Vec::new(),
            open: Vec::new(),
            containers: Vec::new(),
            attributes: Vec::new(),
            symbols: Vec::new(),
            embedded: Vec::new(),
        }
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
        self.ancestors.iter().rev().nth(up).copied()
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
        let Some(outer) = self.enclosing().and_then(|symbol| symbol.parent) else { return false };
        let parts = self.symbols[outer as usize..].iter().filter(|symbol| symbol.parent == Some(outer));
        parts.into_iter().any(|symbol| symbol.name.of(self.source) == name.as_bytes())
    }

    /// Name of the innermost container around the current node, if it is in the innermost symbol.
    fn container(&self) -> Option<Span> {
        let (name, _) = *self.containers.last()?;
        let inside = self.enclosing().is_none_or(|symbol| symbol.span.contains(name));
        inside.then_some(name)
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
        comment_above(&self.spec.comments, self.source, start, is_doc)
    }

    /// Records a symbol. Ignores nodes without a name or out of bounds, which occur around syntax errors.
    pub fn define(&mut self, definition: Definition) {
        let Definition { name, kind, detail, span, signature, doc, handed, runs, of_outer, .. } = definition;
        let Definition { mut decorators, mut container, .. } = definition;
        let size = self.source.len() as u32;
        if name.is_empty() || span.is_empty() || span.end > size || !span.contains(name) {
            return;
        }
        if container.is_empty() {
            container = self.container().unwrap_or_default();
        }
        decorators.retain(|decorator| !decorator.is_empty());
        // Names defined by one statement, together or in sequence, are siblings.
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
        let index = self.symbols.len() as u32;
        self.symbols.push(Symbol {
            name,
            kind,
            detail,
            span,
            line: 0,
            end_line: 0,
            signature: Span {
                start: signature.start.max(span.start),
                end: signature.end.min(span.end).max(signature.start),
            },
            doc,
            decorators,
            parent,
            handed,
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
        while self.containers.last().is_some_and(|(_, end)| *end <= start) {
            self.containers.pop();
        }
    }

    /// Enters `node`.
    pub fn descend(&mut self, node: Node<'t>) {
        self.ancestors.push(node);
    }

    /// Leaves the current parent.
    pub fn ascend(&mut self) {
        self.ancestors.pop();
    }

    /// Counts a branch of the innermost function.
    pub fn branch(&mut self) {
        let running =
            self.open.iter().rev().map(|index| *index as usize).find(|index| self.symbols[*index].complexity > 0);
        if let Some(index) = running {
            self.symbols[index].complexity = self.symbols[index].complexity.saturating_add(1);
        }
    }

    /// Opens a container up to byte `end`, for the type called `name`.
    pub fn contain(&mut self, name: Span, end: usize) {
        self.containers.push((name, end));
    }

    /// Adds an attribute of the next node.
    pub fn attribute(&mut self, span: Span) {
        self.attributes.push(span);
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
            ancestors: Vec::new(),
            open: std::mem::take(&mut self.open),
            containers: std::mem::take(&mut self.containers),
            attributes: Vec::new(),
            symbols: std::mem::take(&mut self.symbols),
            embedded: std::mem::take(&mut self.embedded),
        };
        walk(&mut inner);
        self.open = inner.open;
        self.containers = inner.containers;
        self.symbols = inner.symbols;
        self.embedded = inner.embedded;
    }

    /// Keeps a macro's tree for the lowering; `start` is the start of the macro's node.
    pub fn keep(&mut self, start: usize, tree: Tree) {
        self.embedded.push((start, tree));
    }

    /// Ends the walk; returns the symbols and the kept trees.
    pub fn finish(mut self) -> (Vec<Symbol>, Vec<(usize, Tree)>) {
        self.embedded.sort_by_key(|(start, _)| *start);
        (self.symbols, self.embedded)
    }
}
