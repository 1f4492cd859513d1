//! Names with a meaning to the language or its standard library: `__len__`, `toString`.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "implied",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "the language calls it by its name",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    subject.is_entry() && (subject.language().is_implied)(&subject.symbol.name())
}
