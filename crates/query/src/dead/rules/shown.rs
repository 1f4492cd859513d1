//! Top-level definitions of a file that iterates over its own names: `globals().items()`.

use rustc_hash::FxHashMap;

use super::{Answers, Asks, Evidence, Reached, Rule, Stage, Walk};
use codelode_store::FileView;

pub static RULE: Rule = Rule {
    name: "shown",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "its file goes through all of its names",
    asks: Asks::All(ask),
};

fn ask(walk: &mut Walk<'_, '_>, nodes: &[u32]) -> Answers {
    let mut shown: FxHashMap<u32, bool> = FxHashMap::default();
    let mut speaks = |node: &u32| {
        let subject = walk.subject(*node);
        let file = subject.file();
        subject.is_top() && *shown.entry(file.number()).or_insert_with(|| shows_its_names(&file))
    };
    nodes.iter().copied().filter(|node| speaks(node)).map(|node| (node, Evidence::Plain)).collect()
}

/// Whether a file iterates over its own names.
fn shows_its_names(file: &FileView<'_>) -> bool {
    let marks = file.conventions().shows;
    marks.iter().any(|mark| memchr::memmem::find(file.content(), mark.as_bytes()).is_some())
}
