//! Definitions in the API of a library.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule =
    Rule { name: "api", stage: Stage::Root, lowers_to: Reached::Live, reason: "public API", asks: Asks::One(ask) };

fn ask(subject: Subject<'_, '_>) -> bool {
    let api = &subject.project().api;
    match subject.class().filter(|_| subject.is_entry()) {
        Some(class) => api.offers_member(subject.graph(), &class.symbol, subject.node),
        None => !subject.is_local() && api.offers_around(subject.graph(), subject.node),
    }
}
