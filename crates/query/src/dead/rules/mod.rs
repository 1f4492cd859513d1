//! The rules of dead code, one per file. They are asked in the order of this table, and the first that applies gives
//! the reason.

pub(super) mod api;
pub(super) mod aside;
pub(super) mod build;
pub(super) mod callable;
pub(super) mod command;
pub(super) mod composed;
pub(super) mod constructor;
pub(super) mod declared;
pub(super) mod decorated;
pub(super) mod decorated_class;
pub(super) mod directive;
pub(super) mod foreign_base;
pub(super) mod foreign_block;
pub(super) mod foreign_class;
pub(super) mod framework;
pub(super) mod generated;
pub(super) mod implied;
pub(super) mod in_macro;
pub(super) mod main;
pub(super) mod marker;
pub(super) mod named;
pub(super) mod protocol;
pub(super) mod registered_block;
pub(super) mod test_name;
pub(super) mod unresolved;
pub(super) mod untold;
pub(super) mod vendored;
pub(super) mod visible;
pub(super) mod wanted;

use super::rule::{Answers, Asks, Evidence};
pub use super::rule::{Rule, Stage};
use super::subject::Subject;
use super::walk::{Reached, Walk};

/// All rules.
pub static RULES: &[&Rule] = &[
    // Exempt.
    &generated::RULE,
    &vendored::RULE,
    &declared::RULE,
    &untold::RULE,
    // Root.
    &wanted::RULE,
    &main::RULE,
    &command::RULE,
    &implied::RULE,
    &framework::RULE,
    &decorated::RULE,
    &decorated_class::RULE,
    &directive::RULE,
    &foreign_base::RULE,
    &constructor::RULE,
    &foreign_block::RULE,
    &registered_block::RULE,
    &marker::RULE,
    &api::RULE,
    // Reach.
    &unresolved::RULE,
    &protocol::RULE,
    &composed::RULE,
    &named::RULE,
    &build::RULE,
    &foreign_class::RULE,
    &in_macro::RULE,
    &test_name::RULE,
    // Doubt.
    &aside::RULE,
    &callable::RULE,
    // Caution.
    &visible::RULE,
];
