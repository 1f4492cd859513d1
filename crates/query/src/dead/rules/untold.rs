//! Languages in which unused code looks like used code.

use super::{Asks, Reached, Rule, Stage};
use codelode_store::FileView;

pub static RULE: Rule = Rule {
    name: "untold",
    stage: Stage::Exempt,
    lowers_to: Reached::Live,
    reason: "unused code of its language cannot be told",
    asks: Asks::File(ask),
};

fn ask(file: &FileView<'_>) -> bool {
    !file.conventions().tells_dead
}
