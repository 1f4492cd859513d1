//! Tables of a snapshot: its files, who means whom, how central each symbol is.

pub(super) mod edges;
pub(super) mod files;
pub(super) mod ranks;
