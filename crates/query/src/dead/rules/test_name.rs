//! Functions in a source file whose name begins as a test runner expects.

use super::{Asks, Reached, Rule, Stage, Subject};
use codelode_base::model::Kind;

pub static RULE: Rule = Rule {
    name: "test_name",
    stage: Stage::Reach,
    lowers_to: Reached::Doubted,
    reason: "a runner of tests may find it by its name",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let name = subject.symbol.name();
    let is_test =
        |start: &&str| name.strip_prefix(start).is_some_and(|rest| rest.starts_with('_') || start.ends_with('_'));
    let is_function = matches!(subject.symbol.kind(), Kind::Function | Kind::Method);
    is_function && !subject.project().tests[subject.node as usize] && subject.language().tests.iter().any(is_test)
}
