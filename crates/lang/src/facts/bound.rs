//! Builder of a binding: what a name is bound to, before it has a name and a scope.

use super::ids::{Column, DefinitionId, ExpressionId};
use super::tables::{Binding, BindingKind, HOLDS_NOTHING, NONE, UNKNOWN};

/// A binding to be added by [`Builder::bind`](super::Builder::bind).
#[derive(Clone, Copy, Debug)]
pub struct Bound(pub(super) Binding);

impl Bound {
    fn of_kind(kind: BindingKind, a: impl Into<Column>) -> Self {
        Self(Binding { kind, a: a.into().0, b: UNKNOWN.0, at: NONE, ..Binding::default() })
    }

    /// The name of a definition.
    pub fn definition(definition: DefinitionId) -> Self {
        Self::of_kind(BindingKind::Definition, definition)
    }

    /// Another name for an expression.
    pub fn alias(of: ExpressionId) -> Self {
        Self::of_kind(BindingKind::Alias, of)
    }

    /// A name for the value of an expression, without a definition.
    pub fn meaning(value: ExpressionId) -> Self {
        Self::of_kind(BindingKind::Value, value)
    }

    /// A variable that a test narrowed to an instance of a type.
    pub fn narrowed(to: ExpressionId) -> Self {
        Self::of_kind(BindingKind::Narrowed, to)
    }

    /// A variable or field, of which nothing is known yet.
    pub fn variable() -> Self {
        Self::of_kind(BindingKind::Variable, UNKNOWN)
    }

    /// A parameter, of which nothing is known yet.
    pub fn parameter() -> Self {
        Self::of_kind(BindingKind::Parameter, UNKNOWN)
    }

    /// With the value assigned, or the default.
    pub fn value(mut self, value: ExpressionId) -> Self {
        self.0.a = value.0;
        self
    }

    /// With the type written.
    pub fn of(mut self, of: ExpressionId) -> Self {
        self.0.b = of.0;
        self
    }

    /// With the position of the name in the source; without one it is not written.
    pub fn at(mut self, at: u32) -> Self {
        self.0.at = at;
        self
    }

    /// With [`HOLDS_NOTHING`], if it is so.
    pub fn nothing_if(mut self, holds_nothing: bool) -> Self {
        self.0.flags |= if holds_nothing { HOLDS_NOTHING } else { 0 };
        self
    }

    /// Whether it is of this kind.
    pub fn is(&self, kind: BindingKind) -> bool {
        self.0.kind == kind
    }
}
