//! Storage of files: content, symbols and grams in packs, memory-mapped and verified on use.

mod described;
pub(super) mod grams;
pub(super) mod guard;
pub(super) mod health;
pub(super) mod map;
pub(super) mod pack;
pub(super) mod pages;
pub(super) mod roles;
pub(super) mod view;
