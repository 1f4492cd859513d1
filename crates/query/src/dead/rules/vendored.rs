//! Third-party code and build output.

use super::{Asks, Reached, Rule, Stage};
use codelode_lang::languages::{is_built, is_vendored};
use codelode_store::FileView;

pub static RULE: Rule = Rule {
    name: "vendored",
    stage: Stage::Exempt,
    lowers_to: Reached::Live,
    reason: "its file is a copy of others' code, or built",
    asks: Asks::File(ask),
};

fn ask(file: &FileView<'_>) -> bool {
    file.given_as_vendored().unwrap_or_else(|| is_vendored(file.path()) || is_built(file.path()))
}
