//! Members of a class with an external base, which may call them, and classes with an imported external base.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_base::model::Kind;

pub static RULE: Rule = Rule {
    name: "foreign_base",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "a base from outside may call it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let (project, graph) = (subject.project(), subject.graph());
    match subject.class().filter(|_| subject.is_entry()) {
        Some(class) => subject.may_override() && project.bases.is_foreign(graph, &class.symbol, false),
        None => {
            let is_class = subject.is_top() && subject.symbol.kind() == Kind::Class;
            is_class && project.bases.is_foreign(graph, &subject.symbol, true)
        }
    }
}
