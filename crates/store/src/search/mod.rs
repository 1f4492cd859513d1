//! Search index: tokenization, writing, scoring and storage.

pub(super) mod analyzer;
pub(super) mod index;
pub(super) mod indexing;
pub(super) mod learned;
pub(super) mod scoring;
pub(super) mod segments;
pub(super) mod shards;
mod statistics;
