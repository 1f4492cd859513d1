//! Definitions in the arguments of a macro, which may expand to anything.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_base::model::Marks;

pub static RULE: Rule = Rule {
    name: "in_macro",
    stage: Stage::Reach,
    lowers_to: Reached::Doubted,
    reason: "a macro is given it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    subject.has(Marks::IN_MACRO)
}
