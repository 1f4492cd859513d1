//! Two states of code and what differs between them.

pub(super) mod between;
pub(super) mod changes;
