//! Generated and minified files: people do not edit them.

use super::{Asks, Reached, Rule, Stage};
use codelode_store::FileView;

pub static RULE: Rule = Rule {
    name: "generated",
    stage: Stage::Exempt,
    lowers_to: Reached::Live,
    reason: "its file is generated",
    asks: Asks::File(ask),
};

fn ask(file: &FileView<'_>) -> bool {
    file.is_generated()
}
