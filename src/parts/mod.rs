//! Parts that several tools share: a call's page, filters, fields of symbols, matches by file, packing into a budget.
//!
//! A tool may use these, and none uses another tool. Skins take from here what shows more than an answer holds: every
//! matching line ([`grep`]), every symbol ([`pick`]).

pub mod around;
pub mod blame;
pub mod brief;
mod call;
pub mod candidates;
pub mod changes;
pub mod fan;
pub mod fields;
pub mod file_hits;
pub mod filters;
pub mod grep;
pub mod here;
pub mod history;
pub mod imported;
pub mod left_out;
pub mod matches;
pub mod meaning;
pub mod packing;
pub mod paths;
pub mod patterns;
pub mod pick;
pub mod plan;
pub mod possible;
pub mod repos;
pub mod review;
pub mod sources;
pub mod summaries;
pub mod symbols;
pub mod words;

pub use call::Call;

use crate::answer::{Code, Error, Request, tokens};
use crate::catalog::{Context, errors, indexes, locate, related};
use crate::model::nearest;
