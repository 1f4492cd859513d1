//! Lowering: common parts that turn syntax nodes into names, spans and occurrences.

use tree_sitter::{Node, TreeCursor};

use super::LanguageSpec;
use super::budget::Budget;
use super::definition::span_of;
use super::doc::{Comments, comment_above};
use super::shape::Shape;
use crate::facts::{Bound, Builder, ExpressionId, NameId, Op, ScopeId, ScopeKind, UNKNOWN};
use crate::parsing::SyntaxTree;
use codelode_base::model::Role;

/// Maximum depth of nodes: lowerings are recursive, and the stack is finite. Hand-written code stays below it;
/// generated data may not.
const DEEPEST: usize = 250;

/// A lowering in progress: facts, source and depth.
pub struct Lower<'s, 't> {
    /// The facts so far.
    pub facts: Builder,
    source: &'s [u8],
    cursor: TreeCursor<'t>,
    embedded: &'t [(usize, SyntaxTree)],
    depth: usize,
    /// Whether uses of local names are recorded too, where facts do not hold them.
    pub keeps_locals: bool,
    /// The node whose value is read, by its id, and the type that is written for it.
    pub wanted: (usize, ExpressionId),
    shapes: &'static [&'static Shape],
    budget: &'s Budget,
}

impl<'s, 't> Lower<'s, 't> {
    /// A lowering of the tree below `root`, before its first node. `embedded` are the trees of texts in it that were
    /// parsed again, by the start of the node with the text.
    pub fn new(
        spec: &'static LanguageSpec,
        source: &'s [u8],
        root: Node<'t>,
        embedded: &'t [(usize, SyntaxTree)],
        budget: &'s Budget,
    ) -> Self {
        Self {
            facts: Builder::new(),
            source,
            cursor: root.walk(),
            embedded,
            depth: 0,
            keeps_locals: false,
            wanted: (0, UNKNOWN),
            shapes: spec.shapes(),
            budget,
        }
    }

    /// Shapes of node kinds, indexed by kind id.
    pub fn shapes(&self) -> &'static [&'static Shape] {
        self.shapes
    }

    /// The tree of a macro's text, if it was parsed separately.
    pub fn embedded(&self, node: Node<'_>) -> Option<Node<'t>> {
        let place = self.embedded.binary_search_by_key(&node.start_byte(), |(start, _)| *start).ok()?;
        Some(self.embedded[place].1.root_node())
    }

    /// The text of the file.
    pub fn source(&self) -> &'s [u8] {
        self.source
    }

    /// The text of a node; empty if it is not valid UTF-8.
    pub fn text(&self, node: Node<'_>) -> &'s str {
        std::str::from_utf8(span_of(node).of(self.source)).unwrap_or_default()
    }

    /// The comment directly above a node that starts with `opening`, with its markers; empty if there is none.
    pub fn comment_above(&self, node: Node<'_>, opening: &str) -> &'s str {
        let span = comment_above(&Comments::C, self.source, node.start_byte(), |text| text.starts_with(opening));
        std::str::from_utf8(span.of(self.source)).unwrap_or_default()
    }

    /// All `/** … */` comments that contain `words`, in source order.
    pub fn comments_with(&self, words: &str) -> Vec<&'s str> {
        let words = memchr::memmem::Finder::new(words);
        let find =
            |from: usize, what: &str| memchr::memmem::find(&self.source[from..], what.as_bytes()).map(|at| from + at);
        let mut found: Vec<&'s str> = Vec::new();
        // Most files hold none.
        let mut next = words.find(self.source).and_then(|_| find(0, "/**"));
        while let Some(open) = next {
            let Some(close) = find(open + "/*".len(), "*/") else { break };
            let comment = &self.source[open..close];
            if words.find(comment).is_some() {
                found.extend(std::str::from_utf8(comment));
            }
            next = find(close, "/**");
        }
        found
    }

    /// Interns the text of a node as a name.
    pub fn name(&mut self, node: Node<'_>) -> NameId {
        self.facts.name(self.text(node))
    }

    /// Named children of a node, without comments.
    pub fn children(&mut self, node: Node<'t>) -> Vec<Node<'t>> {
        self.children_if(node, |child| !child.is_extra())
    }

    /// Like [`Self::children`], with pieces of text that the grammar could not place.
    pub fn pieces(&mut self, node: Node<'t>) -> Vec<Node<'t>> {
        self.children_if(node, |child| child.is_error() || !child.is_extra())
    }

    fn children_if(&mut self, node: Node<'t>, is_kept: impl Fn(&Node<'t>) -> bool) -> Vec<Node<'t>> {
        self.cursor.reset(node);
        let mut children = Vec::with_capacity(node.named_child_count());
        if self.cursor.goto_first_child() {
            loop {
                let child = self.cursor.node();
                if child.is_named() && is_kept(&child) {
                    children.push(child);
                }
                if !self.cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        children
    }

    /// The first named child that is not a comment.
    pub fn first(&self, node: Node<'t>) -> Option<Node<'t>> {
        let first = node.named_child(0)?;
        if !first.is_extra() {
            return Some(first);
        }
        // Asking for the second child, the third and so on would count from the first each time.
        let mut cursor = node.walk();
        node.named_children(&mut cursor).find(|child| !child.is_extra())
    }

    /// Goes one level deeper into the tree, unless it is too deep or the budget is exceeded.
    pub fn deeper<T: Default>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= DEEPEST || !self.budget.work() {
            return T::default();
        }
        if !self.budget.has_room(self.facts.room()) {
            self.budget.cut();
            return T::default();
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Scope for a declaration. A new one if a name was used with another meaning before, so that earlier uses keep
    /// it: `x := f(x)`.
    pub fn fresh(&mut self, names: &[NameId], scope: ScopeId) -> ScopeId {
        let had_another = |name: &NameId| {
            !self.facts.binds(scope, *name)
                && (self.facts.is_used(scope, *name) || !self.facts.lookup(scope, *name).is_empty())
        };
        if names.iter().any(had_another) { self.facts.scope(ScopeKind::Block, scope) } else { scope }
    }

    /// Records an occurrence of a bare name.
    pub fn bare(&mut self, node: Node<'_>, scope: ScopeId, role: Role) {
        let name = self.name(node);
        let meant = self.facts.named(scope, name);
        self.facts.occurrence(span_of(node), role, meant);
    }

    /// Records an occurrence of a member of `of`.
    pub fn member(&mut self, node: Node<'_>, of: ExpressionId, role: Role) {
        let name = self.name(node);
        let meant = self.facts.member(of, name);
        self.facts.occurrence(span_of(node), role, meant);
    }

    /// The scope where a test has told that the value of a local name is of a class, or is not if it does not hold. `class` is a type,
    /// or the call of a guard.
    pub fn tell(
        &mut self,
        named: Node<'_>,
        value: ExpressionId,
        class: ExpressionId,
        holds: bool,
        scope: ScopeId,
    ) -> ScopeId {
        if class == UNKNOWN {
            return scope;
        }
        let facts = &mut self.facts;
        let told = if holds {
            facts.expression(Op::Proven, class, value)
        } else {
            let is_call = facts.look(class).op == Op::Call;
            let class = if is_call { facts.expression(Op::Proven, class, UNKNOWN) } else { class };
            facts.expression(Op::Except, value, class)
        };
        let class = facts.of(Op::TypeOf, told);
        let inner = facts.scope(ScopeKind::Block, scope);
        let name = self.name(named);
        self.facts.bind(inner, name, Bound::narrowed(class));
        inner
    }
}
