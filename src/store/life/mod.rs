//! The life of a store: what exists, who writes it, who reads it, and what is cleared away.

pub(super) mod manifest;
pub(super) mod registry;
pub(super) mod snapshot;
pub(super) mod upkeep;
pub(super) mod writer;
