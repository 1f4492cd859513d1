//! Tables of a snapshot: its files, edges and ranks, and what compilers say of them; and of a store: texts of symbols, their vectors and their summaries.

pub(super) mod codes;
pub(super) mod compiled;
pub(super) mod edges;
pub(super) mod files;
pub(super) mod ranks;
mod sections;
pub(super) mod summaries;
pub(super) mod texts;
pub(super) mod vectors;
