//! Methods of a protocol that a library may call although the class does not declare it.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_lang::languages::OfferedMethod;

pub static RULE: Rule = Rule {
    name: "protocol",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a library may ask any object for it",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let (rules, name) = (subject.language(), subject.symbol.name());
    subject.is_method() && {
        let manifests = subject.project().api.manifests(rules);
        (rules.asked_for)(&OfferedMethod { name: &name, content: subject.file().content(), manifests: &manifests })
    }
}
