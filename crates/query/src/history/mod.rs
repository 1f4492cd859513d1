//! Two states of code and the differences between them, commits, and the past of a symbol.

pub(super) mod between;
pub(super) mod changes;
pub(super) mod commits;
pub(super) mod symbol_history;
