//! Members of a decorated class: the decorator may call them.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "decorated_class",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "a decorator of its class may call it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    subject.is_entry() && subject.may_override() && subject.class().is_some_and(|class| class.is_decorated())
}
