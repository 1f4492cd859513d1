//! Functions that the runtime calls, whichever file defines them.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_base::model::Kind;

pub static RULE: Rule = Rule {
    name: "main",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "the runtime calls it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let is_function = matches!(subject.symbol.kind(), Kind::Function | Kind::Method);
    is_function && subject.language().mains.contains(&&*subject.symbol.name())
}
