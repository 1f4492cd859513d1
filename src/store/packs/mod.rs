//! Files as they are kept: content, symbols and grams in packs, mapped and checked as they are read.

pub(super) mod grams;
pub(super) mod guard;
pub(super) mod health;
pub(super) mod map;
pub(super) mod pack;
pub(super) mod pages;
pub(super) mod view;
