//! Queries on a snapshot, one file each, independent of the wording and transport of answers.
//!
//! This crate must not know the caller, the protocol, or how fresh a snapshot is.

pub mod dead;
pub mod export;
mod files;
mod graph;
mod history;
pub mod pictures;
pub mod review;
mod suggest;
mod symbols;
pub mod text;
mod tree;

pub use symbols::terms;
pub use text::{blobs, scan, syntax};

pub use codelode_lang::extract::{LazyFacts, Local};
pub use codelode_lang::languages::{without_relations, without_symbols};
pub use codelode_source::git::{Blamed, FolderEntry, History, HistoryError, Hunk, LogEntry, Recent, changed_lines};
pub use dead::{Dead, DeadCode, DeadFile, Tier, dead_code};
pub use files::files_like;
pub use graph::cut_off::{cut_off, cut_off_with};
pub use graph::overrides::{inherited, known_outside, overridden, overriding, satisfied};
pub use graph::relations::{
    Caller, Direction, LineCount, UseSite, bounds, calls, column_of, decorated, function_around, hierarchy, line_of,
    line_text, may_name, next_in_hierarchy, outside_bases, possible_calls, symbol_near, texts_of_lines, users_through,
    uses, written_as,
};
pub use graph::{
    AffectedFile, Blast, BlastDoubt, Dependents, ImportedPackage, MapFile, NameAt, Plan, PlannedEdit, Reason, Related,
    RenameDoubt, Renaming, Slot, Stored, Tables, ThroughCall, blast, called_through, callers_through, central_symbols,
    deletion, dependents, hop_weight, implementations, imported_at, imported_files, imports_of, is_export, is_imported,
    local_at, locals, modules_at, name_at, needed_imports, needed_packages, outside_packages, outside_uses,
    packages_at, possible_uses, ranks, receiver, redeclaration, related, renaming, repo_map, signatures, stored, twins,
    types_of, unnamed_uses, with_parameters, word_at,
};
pub use history::between::{Between, Bounds, ComparisonEnd};
pub use history::changes::{Changes, SymbolKey, Version, compare, stored_versions, versions};
pub use history::commits::{CommitSearch, Commits, commits};
pub use history::symbol_history::{Step, SymbolHistory, past};
pub use suggest::{Suggestions, suggestions};
pub use symbols::confidence::{Confidence, Evidence, FIRST};
pub use symbols::explain::Part;
pub use symbols::files::FileHit;
pub use symbols::form::Form;
pub use symbols::lookup::{Missing, bears, by_id, keep_whole, meant, named, nearest, nearest_files};
pub use symbols::meaning::{Question, search_by_meaning};
pub use symbols::origin::Origin;
pub use symbols::told::noted;
pub use symbols::{CENTRALITY, Found, Fuzzy, Hit, Order, Search, combined, search};
pub use text::mentions::{Mentioned, mentions};
pub use tree::{Node, directories, kinds, tree};

/// The folder of a path; empty at the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
