//! History: the differences between two states of code, searches of commits, and the history of a symbol.

pub(super) mod between;
pub(super) mod changes;
pub(super) mod commits;
pub(super) mod symbol_history;
