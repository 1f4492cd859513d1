//! Tables of a snapshot: its files, edges and ranks.

pub(super) mod edges;
pub(super) mod files;
pub(super) mod ranks;
