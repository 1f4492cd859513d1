//! Files with examples, test inputs, or scripts started by hand.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_lang::languages::{is_aside, is_for_testing};

pub static RULE: Rule = Rule {
    name: "aside",
    stage: Stage::Doubt,
    lowers_to: Reached::Doubted,
    reason: "its folder is for examples, scripts or copies",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let file = subject.file();
    is_aside(file.path()) || !file.exercises() && is_for_testing(file.path())
}
