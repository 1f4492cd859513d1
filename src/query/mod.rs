//! Questions to a snapshot, one file each. Nothing here knows how an answer is worded or where it goes.

mod lookup;
mod needs;
mod paths;
mod prose;
mod rank;
mod relations;
pub mod scan;
mod suggest;
mod symbols;
pub mod syntax;
pub mod text;
mod tree;

pub use lookup::{Missing, by_id, named, nearest, nearest_files};
pub use paths::is_test;
pub use rank::Form;
pub use relations::{
    Caller, Direction, Place, calls, function_around, hierarchy, line_of, outside_bases, possible_uses, symbol_near,
    uses,
};
pub use suggest::{Suggestions, suggestions};
pub use symbols::{Found, Fuzzy, Hit, Order, Search, search};
pub use tree::{Node, directories, kinds, tree};
