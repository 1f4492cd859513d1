//! Questions to a snapshot, one file each. Nothing here knows how an answer is worded or where it goes.

mod lookup;
mod paths;
mod rank;
mod suggest;
mod symbols;
mod tree;

pub use lookup::{Missing, by_id, nearest, nearest_files};
pub use paths::is_test;
pub use rank::Form;
pub use suggest::{Suggestions, suggestions};
pub use symbols::{Found, Fuzzy, Hit, Order, Search, search};
pub use tree::{Node, directories, kinds, tree};
