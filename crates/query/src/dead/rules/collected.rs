//! Classes whose base learns of its subclasses: by a metaclass, `__subclasses__()`, or a call that made the base.

use super::{Asks, Reached, Rule, Stage, Subject};
use crate::dead::members::above;
use crate::graph::is_type;
use codelode_base::model::Marks;

pub static RULE: Rule = Rule {
    name: "collected",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a base collects the classes derived from it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let graph = subject.graph();
    let is_given = |node: u32| subject.project().bases.given.contains(&graph.symbols[node as usize].number());
    let collects = |class: u32| is_given(class) || graph.marks(class).has(Marks::COLLECTS);
    is_type(&subject.symbol)
        && !subject.language().collects.is_empty()
        && (is_given(subject.node) || above(graph, subject.node).into_iter().any(collects))
}
