//! Definitions that other files can see, and public members of a hidden type.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "visible",
    stage: Stage::Caution,
    lowers_to: Reached::Not,
    reason: "nothing in the program uses it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    !subject.is_hidden() || subject.class().is_some() && subject.is_public()
}
