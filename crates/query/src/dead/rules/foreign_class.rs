//! Types with an external base, or a base that a call made. The base may find the type or construct it.

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
