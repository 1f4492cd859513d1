//! Review of a change: the touched symbols, their callers, and the tests that reach them.

mod co_change;
mod fallout;
mod names;
mod public;
mod reach;
mod recorded;
mod tests;
mod touched;

pub use co_change::{Before, COMMITS, CoChange, before, companions, together};
pub use fallout::{Ring, new_rings, newly_dead};
pub use public::{is_breaking, is_public, only_widens};
pub use reach::{Node, ReachEvidence, ReachingTest, TestFile, nearest};
pub use recorded::{Ran, Recording, lines_before, lines_of, with_recorded};
pub use tests::{TestUnit, is_of_test, is_test_file, named, selected, size};
pub use touched::{Callers, Change, Touched, callers, touched};

use std::collections::HashMap;

use reach::{Source, orphans, reaching};

use codelode_store::{EdgeTable, FileView, Snapshot, SymbolView};

/// The weight of a new symbol, which may have no tests yet.
const NEW: f64 = 0.7;
/// The weight of a user of a removed name.
const ORPHAN: f64 = 0.5;
/// The smallest weight of a changed file.
const LEAST_SHARE: f64 = 0.5;

/// The test files that reach a change, most direct first. `paths` are the changed files, deleted ones included.
/// `companions` is the result of [`companions`].
pub fn tests_of<'p>(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    touched: &[Touched<'_, '_>],
    paths: impl Iterator<Item = &'p str>,
    companions: &[(String, f64)],
) -> Vec<TestFile> {
    let mut sources = Vec::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut gone: Vec<&str> = Vec::new();
    for touched in touched.iter().filter(|touched| !touched.is_of_test()) {
        let version = touched.version();
        if let Some(symbol) = touched.symbol {
            let weight = if touched.change == Change::Added { NEW } else { 1.0 };
            sources.push(Source { node: Node::Symbol(symbol.number()), weight });
        }
        let before = touched.was.filter(|was| touched.now.is_none_or(|now| now.name != was.name));
        if let Some(was) = before.filter(|was| !touched.is_inside && !gone.contains(&&*was.name)) {
            gone.push(&was.name);
        }
        *counts.entry(version.file).or_default() += 1;
    }
    let orphans = orphans(snapshot, edges, &gone);
    let mut of_each = vec![0_usize; gone.len()];
    orphans.iter().for_each(|(place, _)| of_each[*place] += 1);
    let weight = |place: usize| ORPHAN / of_each[place] as f64;
    sources.extend(orphans.iter().map(|(place, node)| Source { node: *node, weight: weight(*place) }));
    let most = counts.values().copied().max().unwrap_or(1) as f64;
    let share = |path: &str| {
        let own = counts.get(path).copied().unwrap_or(0) as f64;
        (own / most).sqrt().max(LEAST_SHARE)
    };
    let paths: Vec<(String, f64)> =
        paths.filter(|path| is_code(snapshot, path)).map(|path| (path.to_owned(), share(path))).collect();
    reaching(snapshot, edges, &sources, &paths, companions)
}

/// Whether a changed file holds production code with resolved names. A deleted file may have.
pub fn is_code(snapshot: &Snapshot, path: &str) -> bool {
    snapshot.file(path).is_none_or(|file| !file.exercises() && !file.facts().is_empty())
}

/// A symbol or a file to be edited.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// A symbol with its members.
    Symbol(SymbolView<'a>),
    /// Everything in a file.
    File(FileView<'a>),
}

/// The test files that reach symbols and files. `companions` is the result of [`companions`].
pub fn tests_of_targets(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    targets: &[Target<'_>],
    companions: &[(String, f64)],
) -> Vec<TestFile> {
    let (mut sources, mut paths) = (Vec::new(), Vec::new());
    for target in targets {
        let mut add = |symbol: SymbolView<'_>, weight| {
            sources.push(Source { node: Node::Symbol(symbol.number()), weight });
        };
        match target {
            Target::Symbol(symbol) => {
                add(*symbol, 1.0);
                symbol.children().for_each(|member| add(member, NEW));
                paths.push((symbol.file.path().to_owned(), LEAST_SHARE));
            }
            Target::File(file) => {
                file.symbols().filter(|symbol| !is_of_test(symbol)).for_each(|symbol| add(symbol, 1.0));
                paths.push((file.path().to_owned(), 1.0));
            }
        }
    }
    reaching(snapshot, edges, &sources, &paths, companions)
}

/// The tests that a change itself touches, each once, in the order of the change.
pub fn changed_tests(touched: &[Touched<'_, '_>]) -> Vec<TestUnit> {
    let mut units = Vec::new();
    for symbol in touched.iter().filter_map(|touched| touched.symbol) {
        let whole = || is_test_file(symbol.file).then(|| TestUnit { file: symbol.file.number(), symbol: None });
        let unit = tests::unit_of(&symbol).or_else(|| whole().filter(|_| !tests::has_tests(symbol.file)));
        if let Some(unit) = unit.filter(|unit| !units.contains(unit)) {
            units.push(unit);
        }
    }
    units
}
