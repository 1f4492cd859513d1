//! Files that only declare definitions of other files.

use super::{Asks, Reached, Rule, Stage};
use codelode_store::FileView;

pub static RULE: Rule = Rule {
    name: "declared",
    stage: Stage::Exempt,
    lowers_to: Reached::Live,
    reason: "its file declares what others define",
    asks: Asks::File(ask),
};

fn ask(file: &FileView<'_>) -> bool {
    file.conventions().declarations.iter().any(|ending| file.path().ends_with(ending))
}
