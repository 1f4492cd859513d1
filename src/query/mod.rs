//! Questions to a snapshot, one file each. Nothing here knows how an answer is worded or where it goes.

mod between;
pub mod blobs;
mod changes;
mod confidence;
mod explain;
mod form;
mod graph;
mod lookup;
mod mentions;
mod needs;
mod phrase;
mod prominence;
mod prose;
mod rank;
mod relations;
pub mod scan;
mod sexp;
mod suggest;
mod symbols;
pub mod syntax;
pub mod terms;
pub mod text;
mod tree;
mod words;

pub use crate::git::{History, HistoryError};
pub use between::Between;
pub use changes::{Changes, Same, Version, compare, stored_versions, versions};
pub use confidence::{Confidence, Evidence};
pub use explain::Part;
pub use form::Form;
pub use graph::{
    Affected, Blast, Certainty, Dead, DeadFile, Deadness, Doubt, MapFile, Related, blast, central_symbols, dead_code,
    hop_weight, implementations, imported_files, ranks, related, repo_map,
};
pub use lookup::{Missing, by_id, named, nearest, nearest_files};
pub use mentions::{Mentioned, mentions};
pub use relations::{
    Caller, Direction, Place, bounds, calls, function_around, hierarchy, line_of, outside_bases, outside_imports,
    possible_uses, symbol_near, uses, written_as,
};
pub use suggest::{Suggestions, suggestions};
pub use symbols::{CENTRALITY, Found, Fuzzy, Hit, Order, Search, combined, search};
pub use tree::{Node, directories, kinds, tree};
