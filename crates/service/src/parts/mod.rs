//! Parts that several tools share: a call's page, filters, fields of symbols, matches by file, packing into a budget.
//!
//! A tool may use these, and none uses another tool. Skins take from here what shows more than an answer holds: every
//! matching line ([`grep`]), every symbol ([`pick`]).

pub(crate) mod around;
pub(crate) mod blame;
pub(crate) mod brief;
mod call;
pub(crate) mod candidates;
pub(crate) mod changes;
pub(crate) mod fan;
pub(crate) mod fields;
pub(crate) mod file_hits;
pub mod filters;
pub mod grep;
pub(crate) mod here;
pub(crate) mod history;
pub(crate) mod imported;
pub(crate) mod left_out;
pub(crate) mod matches;
pub(crate) mod meaning;
pub(crate) mod packing;
pub mod paths;
pub(crate) mod patterns;
pub mod pick;
pub(crate) mod plan;
pub(crate) mod possible;
pub(crate) mod repos;
pub(crate) mod review;
pub(crate) mod several;
pub(crate) mod sources;
pub(crate) mod summaries;
pub(crate) mod symbols;
pub(crate) mod through;
pub(crate) mod words;

pub use call::Call;

use crate::answer::{Code, Error, Request, tokens};
use crate::catalog::{Context, errors, indexes, locate, related};
use codelode_base::model::nearest;
