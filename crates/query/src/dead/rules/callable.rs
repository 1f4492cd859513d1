//! Public methods of a published package, in languages where any code with an object may call them by name.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "callable",
    stage: Stage::Doubt,
    lowers_to: Reached::Doubted,
    reason: "any code that has an object may call it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let is_open = subject.is_method() && subject.language().by_shape && !subject.is_hidden();
    is_open && subject.project().api.is_installed(subject.file())
}
