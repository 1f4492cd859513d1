//! Names in code, settings or templates at places that no relation explains.

use super::{Answers, Asks, Evidence, Reached, Rule, Stage, Walk};
use crate::dead::search::{Mention, mentions};
use crate::line_of;

pub static RULE: Rule = Rule {
    name: "named",
    stage: Stage::Reach,
    lowers_to: Reached::Doubted,
    reason: "its name stands in {}",
    asks: Asks::All(ask),
};

fn ask(walk: &mut Walk<'_, '_>, nodes: &[u32]) -> Answers {
    let found = mentions(walk, nodes);
    let by_tests = found.by_tests.keys().filter(|node| !found.by_code.contains_key(*node));
    walk.named_in_tests = by_tests.copied().collect();
    let place =
        |(node, (file, at)): (u32, Mention<'_>)| (node, Evidence::At(file.path().to_owned(), line_of(file, at)));
    found.by_code.into_iter().map(place).collect()
}
