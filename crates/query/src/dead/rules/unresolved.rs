//! Uses on receivers of unknown type.

use super::{Asks, Reached, Rule, Stage, Subject};
use crate::dead::search::sees;
use codelode_store::Edge;

pub static RULE: Rule = Rule {
    name: "unresolved",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a use whose receiver is not known may mean it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let graph = subject.graph();
    let is_seen =
        |edge: &Edge| graph.snapshot.file_by_number(edge.file).is_some_and(|file| sees(subject, file, edge.at));
    graph.edges.unbound(subject.symbol.name_bytes()).any(is_seen)
}
