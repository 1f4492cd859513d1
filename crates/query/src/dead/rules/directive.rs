//! Comments that expose a definition to another program: `//export name`.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_base::model::Marks;

pub static RULE: Rule = Rule {
    name: "directive",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "a directive above it exposes it to another program",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    subject.has(Marks::EXPOSED)
}
