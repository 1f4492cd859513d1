//! Numbers of rows: a type for each table, so that the number of a scope cannot be given for that of a name.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::tables::NONE;

/// Declares the number of a row of one table.
macro_rules! row_numbers {
    ($($(#[$doc:meta])+ $name:ident,)+) => {$(
        $(#[$doc])+
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, FromBytes, IntoBytes, Immutable, KnownLayout,
        )]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// No row.
            pub const NONE: Self = Self(NONE);

            /// The number as an index.
            pub fn row(self) -> usize {
                self.0 as usize
            }
        }

        impl From<$name> for Column {
            fn from(number: $name) -> Self {
                Self(number.0)
            }
        }
    )+};
}

row_numbers! {
    /// Number of a name of the file.
    NameId,
    /// Number of a [`Definition`](super::Definition).
    DefinitionId,
    /// Number of an [`Expression`](super::Expression).
    ExpressionId,
    /// Place of a list of expressions.
    ListId,
    /// Number of a [`Scope`](super::Scope).
    ScopeId,
}

/// A column of an expression or a binding, whose table depends on the kind of the row.
#[derive(Clone, Copy, Debug)]
pub struct Column(pub(super) u32);

impl Column {
    /// The number as an index.
    pub fn row(self) -> usize {
        self.0 as usize
    }
}

impl From<u32> for Column {
    fn from(number: u32) -> Self {
        Self(number)
    }
}
