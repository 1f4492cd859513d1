//! Interface methods without parameters that only mark a type, so nothing needs to call them.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "marker",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "it tells the types of an interface from others",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    // All that follows the name is `()`.
    let after = subject.symbol.span().end.saturating_sub(subject.symbol.name_span().end);
    subject.is_entry() && subject.is_declared() && after == 2
}
