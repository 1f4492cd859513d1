//! Members of a block that implements an external trait: `impl Display for Id`.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "foreign_block",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "a trait from outside demands it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let graph = subject.graph();
    subject.is_entry() && graph.filled_in(subject.node).is_some_and(|base| graph.edges.targets(base).len() == 0)
}
