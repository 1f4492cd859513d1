//! Life cycle of a store: manifest, registry, reading, writing and cleanup.

pub(super) mod content_lookup;
pub(super) mod copy;
pub(super) mod identity;
pub(super) mod manifest;
pub(super) mod meaning;
pub(super) mod prepared;
pub(super) mod registry;
pub(super) mod snapshot;
pub(super) mod summarized;
pub(super) mod upkeep;
pub(super) mod writer;
