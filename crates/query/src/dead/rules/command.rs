//! Functions that an installer turns into commands.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "command",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "an installer makes a command of it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    subject.is_top() && subject.project().api.is_command(&subject.symbol)
}
