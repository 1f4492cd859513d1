//! Types with a base from outside of the repository, or one that a call made: it may find them or make objects of them.

use super::{Asks, Reached, Rule, Stage, Subject};
use crate::graph::is_type;
use codelode_base::model::Detail;

pub static RULE: Rule = Rule {
    name: "foreign_class",
    stage: Stage::Reach,
    lowers_to: Reached::Doubted,
    reason: "its base is from outside, and may find it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let is_type = is_type(&subject.symbol) && subject.symbol.detail() != Detail::Interface;
    is_type && subject.project().bases.is_foreign(subject.graph(), &subject.symbol, false)
}
