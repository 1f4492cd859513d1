//! The search index: what is written into it, how it is read and scored, and where its files lie.

pub(super) mod analyzer;
pub(super) mod index;
pub(super) mod indexing;
pub(super) mod scoring;
pub(super) mod segments;
