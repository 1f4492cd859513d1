//! Top-level definitions of a file that iterates over its own names: `globals().items()`.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "shown",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "its file goes through all of its names",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let marks = subject.graph().file_marks(subject.file().number());
    subject.is_top() && marks.is_some_and(|marks| marks.shows_names)
}
