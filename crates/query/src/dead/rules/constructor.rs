//! Constructors of used classes.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_base::model::Detail;

pub static RULE: Rule = Rule {
    name: "constructor",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "making an object calls it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    subject.symbol.detail() == Detail::Constructor && subject.class().is_some() && subject.is_entry()
}
