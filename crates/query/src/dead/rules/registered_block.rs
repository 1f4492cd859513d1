//! Members of a block whose attribute may register them: `#[pymethods] impl Shop { … }`.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_base::model::Marks;

pub static RULE: Rule = Rule {
    name: "registered_block",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "an attribute of its block may register it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    // On a block for a trait, an attribute exposes only the trait's own methods.
    subject.is_entry() && subject.has(Marks::REGISTERED) && !subject.has(Marks::FILLS_IN)
}
