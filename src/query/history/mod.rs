//! Two states of code and the differences between them.

pub(super) mod between;
pub(super) mod changes;
