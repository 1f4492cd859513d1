//! Tests as their runner sees them: functions that it collects, or whole classes and files.

use std::collections::{HashMap, HashSet};

use crate::graph::{decorator_name, is_of_tests};
use codelode_base::model::Kind;
use codelode_lang::languages::{Runner, Test};
use codelode_store::{FileView, Snapshot, SymbolId, SymbolView};

/// A test: a whole file, or a class or function in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestUnit {
    /// The number of its file.
    pub file: u32,
    /// The class or function.
    pub symbol: Option<SymbolId>,
}

/// The runner of a file's tests.
pub fn runner(file: FileView<'_>) -> Option<&'static Runner> {
    file.conventions().runner
}

/// Whether a runner collects a file as a whole.
pub fn is_test_file(file: FileView<'_>) -> bool {
    let runs = |runner: &Runner| runner.collects(file.path());
    file.exercises() && runner(file).map_or_else(|| !file.facts().is_empty(), runs)
}

/// Whether a symbol is a test, or a test helper.
pub fn is_of_test(symbol: &SymbolView<'_>) -> bool {
    symbol.file.exercises() || is_of_tests(symbol) || is_test(symbol)
}

/// Whether a runner collects a function. An inner function, such as a command that a test defines, is not collected.
fn is_test(symbol: &SymbolView<'_>) -> bool {
    let is_function = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Function | Kind::Method);
    if !is_function(symbol) || symbol.parent().is_some_and(|around| is_function(&around)) {
        return false;
    }
    let rules = symbol.file.conventions();
    let is_named = || {
        let name = symbol.name();
        rules.runner.is_some_and(|runner| runner.tests.iter().any(|start| name.starts_with(start)))
            && is_test_file(symbol.file)
    };
    let is_marked =
        || symbol.decorators().iter().any(|decorator| rules.test_decorators.contains(&decorator_name(decorator)));
    is_named() || (!rules.test_decorators.is_empty() && is_marked())
}

/// The test around a symbol, if any.
pub fn unit_of(symbol: &SymbolView<'_>) -> Option<TestUnit> {
    let file = symbol.file.number();
    let mut around = Some(*symbol);
    while let Some(own) = around {
        if is_test(&own) {
            return Some(TestUnit { file, symbol: Some(own.number()) });
        }
        let Some(runner) = runner(own.file) else { break };
        let name = own.name();
        let runs_around = matches!(own.kind(), Kind::Function | Kind::Method)
            && runner.around.iter().any(|start| name.starts_with(start));
        if runs_around && is_test_file(own.file) {
            return Some(TestUnit { file, symbol: own.parent().map(|class| class.number()) });
        }
        around = own.parent();
    }
    // Without a known runner, a test file runs as a whole.
    (runner(symbol.file).is_none() && is_test_file(symbol.file)).then_some(TestUnit { file, symbol: None })
}

/// The number of tests in a unit.
pub fn size(snapshot: &Snapshot, unit: TestUnit) -> usize {
    let within = |symbol: &SymbolView<'_>| match unit.symbol {
        None => true,
        Some(around) => std::iter::successors(Some(*symbol), SymbolView::parent).any(|own| own.number() == around),
    };
    let file = snapshot.file_by_number(unit.file);
    file.into_iter().flat_map(|file| file.symbols()).filter(|symbol| is_test(symbol) && within(symbol)).count()
}

/// A unit under its runner's name.
pub fn named(snapshot: &Snapshot, unit: TestUnit) -> Option<Test> {
    let file = snapshot.file_by_number(unit.file)?;
    let mut owners = Vec::new();
    let symbol = unit.symbol.and_then(|symbol| snapshot.symbol(symbol));
    let is_function = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Function | Kind::Method);
    let name = symbol.filter(is_function).map(|symbol| symbol.name().into_owned());
    let mut around = symbol.and_then(|symbol| if name.is_some() { symbol.parent() } else { Some(symbol) });
    if let (Some(symbol), None) = (symbol.filter(|symbol| !symbol.container_span().is_empty()), around) {
        owners.push(symbol.container().into_owned());
    }
    while let Some(own) = around {
        owners.insert(0, own.name().into_owned());
        around = own.parent();
    }
    Some(Test { path: file.path().to_owned(), owners, name })
}

/// The runners, each with the arguments that select the tests of its languages, in the order of the tests.
pub fn selected(snapshot: &Snapshot, units: &[TestUnit]) -> Vec<(&'static str, Vec<String>)> {
    let mut by_runner: Vec<(&'static Runner, Vec<Test>)> = Vec::new();
    let mut whole: HashMap<u32, bool> = HashMap::new();
    for unit in units.iter().filter(|unit| unit.symbol.is_none()) {
        whole.insert(unit.file, true);
    }
    let mut chosen: HashMap<u32, usize> = HashMap::new();
    for unit in units.iter().filter(|unit| is_single(snapshot, **unit)) {
        *chosen.entry(unit.file).or_default() += 1;
    }
    let is_all = |file: &u32, n: &usize| {
        let file = snapshot.file_by_number(*file).filter(|file| runner(*file).is_some_and(|runner| !runner.by_name));
        *n > MOST_NAMED && file.is_some_and(|file| file.symbols().filter(is_test).count() <= *n)
    };
    whole.extend(chosen.iter().filter(|(file, n)| is_all(file, n)).map(|(file, _)| (*file, true)));
    let mut seen = HashSet::new();
    for unit in units {
        // If the whole file runs, its tests need no names.
        let is_whole = unit.symbol.is_some() && whole.contains_key(&unit.file);
        let unit = if is_whole { &TestUnit { file: unit.file, symbol: None } } else { unit };
        if !seen.insert(*unit) {
            continue;
        }
        let Some(runner) = snapshot.file_by_number(unit.file).and_then(runner) else { continue };
        let parts = if runner.by_name { parts(snapshot, *unit) } else { vec![*unit] };
        let tests: Vec<Test> = parts.into_iter().filter_map(|part| named(snapshot, part)).collect();
        match by_runner.iter_mut().find(|(known, _)| std::ptr::eq(*known, runner)) {
            Some((_, known)) => known.extend(tests),
            None => by_runner.push((runner, tests)),
        }
    }
    by_runner.into_iter().map(|(runner, tests)| (runner.name, (runner.arguments)(&tests))).collect()
}

/// A file with so few tests has each one named, even if all are selected.
const MOST_NAMED: usize = 3;

/// Whether a unit is one function that the runner collects.
fn is_single(snapshot: &Snapshot, unit: TestUnit) -> bool {
    unit.symbol.and_then(|symbol| snapshot.symbol(symbol)).is_some_and(|symbol| is_test(&symbol))
}

/// The tests of a whole-file unit; the unit itself if it is no file, or no tests are known.
fn parts(snapshot: &Snapshot, unit: TestUnit) -> Vec<TestUnit> {
    let file = snapshot.file_by_number(unit.file).filter(|_| unit.symbol.is_none());
    let tests = file.into_iter().flat_map(|file| file.symbols()).filter(is_test);
    let parts: Vec<TestUnit> = tests.map(|test| TestUnit { file: unit.file, symbol: Some(test.number()) }).collect();
    if parts.is_empty() { vec![unit] } else { parts }
}

/// Whether any function of a file is a test.
pub fn has_tests(file: FileView<'_>) -> bool {
    file.symbols().any(|symbol| is_test(&symbol))
}
