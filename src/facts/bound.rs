//! Builder of a binding: what a name is bound to, before it has a name and a scope.

use super::tables::{Binding, BindingKind, NONE, UNKNOWN};

/// A binding to be added by [`Builder::bind`](super::Builder::bind).
#[derive(Clone, Copy, Debug)]
pub struct Bound(pub(super) Binding);

impl Bound {
    fn of_kind(kind: BindingKind, a: u32) -> Self {
        Self(Binding { kind, a, b: UNKNOWN, at: NONE, ..Binding::default() })
    }

    /// The name of a definition.
    pub fn definition(definition: u32) -> Self {
        Self::of_kind(BindingKind::Definition, definition)
    }

    /// Another name for an expression.
    pub fn alias(of: u32) -> Self {
        Self::of_kind(BindingKind::Alias, of)
    }

    /// A name for the value of an expression, without a definition.
    pub fn meaning(value: u32) -> Self {
        Self::of_kind(BindingKind::Value, value)
    }

    /// A variable that a test narrowed to an instance of a type.
    pub fn narrowed(to: u32) -> Self {
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
    pub fn value(mut self, value: u32) -> Self {
        self.0.a = value;
        self
    }

    /// With the type written.
    pub fn of(mut self, of: u32) -> Self {
        self.0.b = of;
        self
    }

    /// With the position of the name in the source; without one it is not written.
    pub fn at(mut self, at: u32) -> Self {
        self.0.at = at;
        self
    }

    /// Whether it is of this kind.
    pub fn is(&self, kind: BindingKind) -> bool {
        self.0.kind == kind
    }
}
