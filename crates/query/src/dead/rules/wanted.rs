//! The caller's globs: paths, names or ids that count as used.

use super::{Asks, Reached, Rule, Stage, Subject};

pub static RULE: Rule = Rule {
    name: "wanted",
    stage: Stage::Root,
    lowers_to: Reached::Live,
    reason: "the caller says that it is used",
    asks: Asks::One(ask),
};

fn ask(subject: Subject<'_, '_>) -> bool {
    let (patterns, symbol) = (subject.project().patterns, &subject.symbol);
    if patterns.is_empty() {
        return false;
    }
    // The id is `path::Class.method#method`; globs may leave out its kind.
    let id = symbol.id();
    let without_kind = id.rsplit_once('#').map_or(id.as_str(), |(name, _)| name);
    let names = [symbol.file.path(), &symbol.qualified_name(), without_kind, &id];
    names.into_iter().any(|name| patterns.is_match(name))
}
