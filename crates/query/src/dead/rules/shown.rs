//! Definitions of a file that goes through all of its names: `globals().items()`.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "shown",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "its file goes through all of its names",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let is_shown = |mark: &&str| memchr::memmem::find(subject.file().content(), mark.as_bytes()).is_some();
    subject.is_top() && subject.language().shows.iter().any(is_shown)
}
