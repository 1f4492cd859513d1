//! Definitions that a framework or a tool finds by their name and file path.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "framework",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "a framework finds it by its file and its name",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let name = subject.symbol.name();
    let own = subject.project().frameworks(subject.file());
    subject.is_top() && own.iter().any(|framework| framework.uses(&name, subject.is_public()))
}
