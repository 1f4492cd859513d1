//! What a language's rules see of the tree while it is walked, and how they say that something is defined.

use tree_sitter::{Node, Tree};

use super::LanguageSpec;
use super::doc::comment_above;
use crate::model::{Detail, Kind, Span, Symbol};

/// Where in a file the walk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Outside every definition, or directly in a module or namespace.
    Module,
    /// Directly in a type, or in what belongs to one (a Rust `impl`).
    Type,
    /// Somewhere in a function.
    Function,
}

/// A symbol as a language's rule describes it. What is left out takes the obvious value: see [`Definition::new`].
#[derive(Clone, Debug)]
pub struct Definition {
    /// Where the name is written.
    pub name: Span,
    /// What sort of thing it is.
    pub kind: Kind,
    /// In the language's own word.
    pub detail: Detail,
    /// The whole definition.
    pub span: Span,
    /// The definition without its body.
    pub signature: Span,
    /// The documentation with its markers.
    pub doc: Span,
    /// Decorators, attributes, annotations.
    pub decorators: Vec<Span>,
    /// The owner's name where it does not enclose the definition.
    pub container: Span,
    /// It has a body that runs, so it has a complexity and what is inside is local to it.
    pub runs: bool,
    /// See [`Symbol::handed`].
    pub handed: bool,
    /// It belongs to what encloses the innermost symbol around it: a constructor's parameter that is a field of the class.
    pub of_outer: bool,
}

impl Definition {
    /// The definition that `node` is, named by `name`: all of it is its signature until told otherwise, nothing documents
    /// it, and functions and methods run.
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

    /// The signature ends where `body` begins.
    pub fn before(mut self, body: Option<Node<'_>>) -> Self {
        if let Some(body) = body {
            self.signature.end = (body.start_byte() as u32).max(self.signature.start);
        }
        self
    }

    /// The whole definition begins earlier and ends later: an `export`, decorators, a declaration around it. The signature
    /// begins with it.
    pub fn within(mut self, outer: Node<'_>) -> Self {
        self.span = span_of(outer);
        self.signature.start = self.span.start;
        self
    }
}

/// The bytes of a node.
pub fn span_of(node: Node<'_>) -> Span {
    Span::new(node.start_byte(), node.end_byte())
}

/// The state of a walk: the text, where it is, and what was found so far.
pub struct Cx<'s, 't> {
    /// The language that is read.
    pub(super) spec: &'static LanguageSpec,
    source: &'s [u8],
    ancestors: Vec<Node<'t>>,
    open: Vec<u32>,
    containers: Vec<(Span, usize)>,
    attributes: Vec<Span>,
    symbols: Vec<Symbol>,
    /// What was read once more: where the node begins that it is the text of, and its tree.
    embedded: Vec<(usize, Tree)>,
}

impl<'s, 't> Cx<'s, 't> {
    /// A walk of `source` that has not begun.
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

    /// The whole text.
    pub fn source(&self) -> &'s [u8] {
        self.source
    }

    /// The text of a node; empty where it is not valid UTF-8.
    pub fn text(&self, node: Node<'_>) -> &'s str {
        std::str::from_utf8(span_of(node).of(self.source)).unwrap_or_default()
    }

    /// The node `up` levels above the current one; zero is its parent. `Node::parent` searches from the root, this does not.
    pub fn ancestor(&self, up: usize) -> Option<Node<'t>> {
        self.ancestors.iter().rev().nth(up).copied()
    }

    /// The outermost of the nodes directly above the current one that are all of the given kinds; `node` when the parent is not.
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

    /// Where the current node stands.
    pub fn place(&self) -> Place {
        // A container inside the innermost symbol is nearer than that symbol: an `impl` in a function's body.
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

    /// The symbol that was defined last.
    pub fn latest(&self) -> Option<&Symbol> {
        self.symbols.last()
    }

    /// Whether what encloses the innermost symbol has a part with this name already, see [`Definition::of_outer`].
    pub fn outer_has(&self, name: &str) -> bool {
        let Some(outer) = self.enclosing().and_then(|symbol| symbol.parent) else { return false };
        let parts = self.symbols[outer as usize..].iter().filter(|symbol| symbol.parent == Some(outer));
        parts.into_iter().any(|symbol| symbol.name.of(self.source) == name.as_bytes())
    }

    /// The name of the innermost container around the current node, when it lies inside the innermost symbol.
    fn container(&self) -> Option<Span> {
        let (name, _) = *self.containers.last()?;
        let inside = self.enclosing().is_none_or(|symbol| symbol.span.contains(name));
        inside.then_some(name)
    }

    /// The attributes that stand before the current node.
    pub fn attributes(&self) -> &[Span] {
        &self.attributes
    }

    /// The run of comments that ends directly above `start`, each of whose lines `is_doc` accepts by its beginning; block
    /// comments are accepted by their opening.
    ///
    /// Read from the text, because finding a sibling in the tree is a search from the root.
    pub fn doc_above(&self, start: usize, is_doc: impl Fn(&str) -> bool) -> Span {
        comment_above(&self.spec.comments, self.source, start, is_doc)
    }

    /// Records a symbol. One without a name, or whose parts do not lie in the file, is left out: the text around a syntax
    /// error gives such nodes.
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
        // Names that one statement defines, together or one after the other, are neighbours, not one inside the other.
        self.arrive(span.start as usize);
        // And near a syntax error what is open may end too early.
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

/// The part of a walk that only the walker calls.
impl<'s, 't> Cx<'s, 't> {
    /// The walk comes to a node that starts at `start`: what ended before is closed.
    pub fn arrive(&mut self, start: usize) {
        while self.open.last().is_some_and(|index| self.symbols[*index as usize].span.end as usize <= start) {
            self.open.pop();
        }
        while self.containers.last().is_some_and(|(_, end)| *end <= start) {
            self.containers.pop();
        }
    }

    /// The walk goes down into `node`.
    pub fn descend(&mut self, node: Node<'t>) {
        self.ancestors.push(node);
    }

    /// The walk comes back up.
    pub fn ascend(&mut self) {
        self.ancestors.pop();
    }

    /// One more branch in the innermost function.
    pub fn branch(&mut self) {
        let running =
            self.open.iter().rev().map(|index| *index as usize).find(|index| self.symbols[*index].complexity > 0);
        if let Some(index) = running {
            self.symbols[index].complexity = self.symbols[index].complexity.saturating_add(1);
        }
    }

    /// What follows, up to byte `end`, belongs to the type called `name`.
    pub fn contain(&mut self, name: Span, end: usize) {
        self.containers.push((name, end));
    }

    /// An attribute stands before what follows.
    pub fn attribute(&mut self, span: Span) {
        self.attributes.push(span);
    }

    /// What follows is something else than what the attributes belonged to.
    pub fn forget_attributes(&mut self) {
        self.attributes.clear();
    }

    /// Goes on in another tree of the same text, inside what is open now.
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

    /// Keeps the tree of the text of the node that begins at `start`, for the lowering.
    pub fn keep(&mut self, start: usize, tree: Tree) {
        self.embedded.push((start, tree));
    }

    /// Ends the walk: the symbols, and the trees that were kept.
    pub fn finish(mut self) -> (Vec<Symbol>, Vec<(usize, Tree)>) {
        self.embedded.sort_by_key(|(start, _)| *start);
        (self.symbols, self.embedded)
    }
}
