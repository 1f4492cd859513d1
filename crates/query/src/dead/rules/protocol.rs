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
    let (rules, name, file) = (subject.language(), subject.symbol.name(), subject.file());
    subject.is_method() && {
        let manifests = subject.project().api.manifests(rules);
        let packages = subject.graph().file_marks(file.number()).map_or(&[][..], |marks| &marks.packages);
        let imports: Vec<&[u8]> = packages.iter().map(|path| path.of(file.content())).collect();
        (rules.asked_for)(&OfferedMethod { name: &name, imports: &imports, manifests: &manifests })
    }
}
