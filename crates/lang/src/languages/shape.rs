//! Shapes: a table of the facts of each kind of node, interpreted by one reader.
//!
//! The reader gets a node with its scope and role ([`NodeContext`]), and returns a value and the scope for the next node
//! ([`NodeResult`]). The default is [`Shape::Children`].

use tree_sitter::Node;

use super::definition::span_of;
use super::lower::Lower;
use codelode_base::model::Role;

use crate::facts::{ExpressionId, Op, ScopeId, ScopeKind, UNKNOWN};

/// A table of shapes, each with its node kinds.
pub type Shapes = &'static [(Shape, &'static [&'static str])];

/// Facts about names in a kind of node. Parts are given by field name.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Ignored, with everything inside.
    Nothing,
    /// A value of a type of the language's own, without names in it.
    Literal,
    /// No value; the parts are read in sequence, each in the scope left by the one before.
    Children,
    /// Like [`Shape::Children`], in a new scope.
    Scope(ScopeKind),
    /// The value of the first part: parentheses, pointers.
    Same,
    /// A bare name; the blank name is ignored.
    Name {
        /// Such as `_`.
        blank: &'static str,
    },
    /// The name of a type.
    TypeName,
    /// A member of a value: `of.name`.
    Member {
        /// Field of the value.
        of: &'static str,
        /// Field of the member.
        name: &'static str,
    },
    /// An operation on one part; the others are read.
    Of(Op, &'static str),
    /// An instance of the type in one part; the others are read.
    Instance(&'static str),
    /// The value of one part; the others are read.
    Part(&'static str),
    /// An assignment of lists.
    Assign {
        /// Field of the targets.
        left: &'static str,
        /// Field of the values.
        right: &'static str,
    },
    /// All parts are assigned to.
    Written,
    /// Read by a function, for cases that no other shape covers.
    By(for<'s, 't> fn(&mut Lower<'s, 't>, Node<'t>, NodeContext) -> NodeResult),
}

/// Context of a node.
#[derive(Clone, Copy)]
pub struct NodeContext {
    /// The scope of its names.
    pub scope: ScopeId,
    /// The role of its outermost name.
    pub role: Role,
}

impl NodeContext {
    /// Context of a part that is only referenced.
    pub fn used(scope: ScopeId) -> Self {
        Self { scope, role: Role::Reference }
    }

    /// The result of a node that has a value and declares nothing.
    pub fn says(self, value: ExpressionId) -> NodeResult {
        NodeResult { value, scope: self.scope }
    }
}

/// Result of reading a node.
#[derive(Clone, Copy)]
pub struct NodeResult {
    /// Its value.
    pub value: ExpressionId,
    /// The scope for the nodes after it.
    pub scope: ScopeId,
}

impl<'t> Lower<'_, 't> {
    /// Reads a node by the shape of its kind.
    pub fn read(&mut self, node: Node<'t>, at: NodeContext) -> NodeResult {
        let mut said = at.says(UNKNOWN);
        self.deeper(|cx| said = cx.read_one(node, at));
        said
    }

    /// Reads a node as a reference and returns its value.
    pub fn value(&mut self, node: Node<'t>, scope: ScopeId) -> ExpressionId {
        self.read(node, NodeContext::used(scope)).value
    }

    /// Reads the parts of a node in sequence; returns the scope for the nodes after it.
    pub fn parts(&mut self, node: Node<'t>, mut scope: ScopeId) -> ScopeId {
        for part in self.pieces(node) {
            scope = self.read(part, NodeContext::used(scope)).scope;
        }
        scope
    }

    /// Reads each part of a list in the same scope and role; returns their values.
    pub fn list(&mut self, node: Node<'t>, at: NodeContext) -> Vec<ExpressionId> {
        self.children(node).into_iter().map(|part| self.read(part, at).value).collect()
    }

    fn read_one(&mut self, node: Node<'t>, at: NodeContext) -> NodeResult {
        let shape = self.shapes().get(node.kind_id() as usize).copied().unwrap_or(&Shape::Children);
        let value = match *shape {
            Shape::Nothing => UNKNOWN,
            Shape::Literal => self.facts.foreign(),
            Shape::Children => return NodeResult { value: UNKNOWN, scope: self.parts(node, at.scope) },
            Shape::Scope(kind) => {
                let inner = self.facts.scope(kind, at.scope);
                self.parts(node, inner);
                UNKNOWN
            }
            Shape::Same => self.first(node).map_or(UNKNOWN, |part| self.read(part, at).value),
            Shape::Name { blank } if self.text(node) == blank => UNKNOWN,
            Shape::Name { .. } => self.named(node, at),
            Shape::TypeName if at.role == Role::Base => self.named(node, at),
            Shape::TypeName => self.named(node, NodeContext { role: Role::Type, ..at }),
            Shape::Member { of, name } => {
                let on = node.child_by_field_name(of).map_or(UNKNOWN, |on| self.value(on, at.scope));
                let Some(member) = node.child_by_field_name(name) else { return at.says(UNKNOWN) };
                let name = self.name(member);
                let meant = self.facts.member(on, name);
                self.facts.occurrence(span_of(member), at.role, meant);
                // A member of an unknown value is unknown, but its occurrence is recorded above.
                if on == UNKNOWN { UNKNOWN } else { meant }
            }
            Shape::Of(op, of) => {
                let chosen = node.child_by_field_name(of);
                let on = chosen.map_or(UNKNOWN, |on| self.value(on, at.scope));
                self.others(node, chosen, at.scope);
                self.facts.of(op, on)
            }
            Shape::Instance(of) => {
                let chosen = node.child_by_field_name(of);
                self.others(node, chosen, at.scope);
                let of = chosen.map_or(UNKNOWN, |of| self.read(of, NodeContext { role: Role::Type, ..at }).value);
                self.facts.of(Op::Instance, of)
            }
            Shape::Part(of) => {
                let chosen = node.child_by_field_name(of);
                self.others(node, chosen, at.scope);
                chosen.map_or(UNKNOWN, |part| self.value(part, at.scope))
            }
            Shape::Assign { left, right } => {
                if let Some(left) = node.child_by_field_name(left) {
                    self.list(left, NodeContext { role: Role::Write, ..at });
                }
                if let Some(right) = node.child_by_field_name(right) {
                    self.list(right, NodeContext::used(at.scope));
                }
                UNKNOWN
            }
            Shape::Written => {
                self.list(node, NodeContext { role: Role::Write, ..at });
                UNKNOWN
            }
            Shape::By(function) => return function(self, node, at),
        };
        at.says(value)
    }

    fn named(&mut self, node: Node<'t>, at: NodeContext) -> ExpressionId {
        let name = self.name(node);
        let meant = self.facts.named(at.scope, name);
        self.facts.occurrence(span_of(node), at.role, meant);
        meant
    }

    /// Reads all parts of a node except `but`.
    fn others(&mut self, node: Node<'t>, but: Option<Node<'t>>, scope: ScopeId) {
        for part in self.children(node).into_iter().filter(|part| Some(*part) != but) {
            self.value(part, scope);
        }
    }
}
