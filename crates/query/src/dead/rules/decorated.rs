//! Decorators, attributes and annotations that may pass a definition on.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "decorated",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "a decorator may register it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    subject.is_entry() && subject.is_decorated()
}
