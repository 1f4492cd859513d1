//! Making of a review: what a change touches, who uses that, and which tests reach it.

use std::collections::BTreeMap;

use globset::{Glob, GlobSetBuilder};

use super::change::ChangeSet;
use super::{Caller, Changed, Dead, Earlier, NewRing, Owner, Review, Tested, Usual};
use crate::catalog::context::context;
use crate::parts::{Call, Error, related};
use codelode_lang::languages::{Test, language_name};
use codelode_query::review::{self, Before, Change, CoChange, Node, Ring, TestFile, Touched};
use codelode_query::{LogEntry, without_relations, without_symbols};
use codelode_store::{EdgeTable, Snapshot, SymbolView};

/// The most callers listed of a symbol.
const MOST_CALLERS: usize = 5;
/// The most tests listed of a file.
const MOST_TESTS: usize = 5;
/// The most files of tests.
const MOST_FILES: usize = 50;
/// The most facts of each kind beside.
const MOST_BESIDE: usize = 10;

/// Reviews a change.
pub fn of(call: &Call<'_>, change: &ChangeSet) -> Result<Review, Error> {
    let (snapshot, edges) = (&change.repo.snapshot, related::edges(&change.repo)?);
    let changes = change.between.changes();
    let touched = review::touched(snapshot, &changes);
    let mut review = Review {
        base: change.between.since.clone(),
        head: change.head.clone(),
        changed_files_count: change.between.n_files(),
        ..Review::default()
    };
    for touched in touched.iter().filter(|touched| !touched.is_inside && !touched.is_of_test()) {
        review.changes.push(changed(snapshot, edges, touched));
    }
    review.changed_symbols_count = review.changes.len();
    let own: Vec<&str> = change.between.paths().map(|(path, ..)| path).collect();
    let commits = change.commits(call);
    let code: Vec<&str> = own.iter().copied().filter(|path| review::is_code(snapshot, path)).collect();
    let companions = review::companions(&commits, &code);
    let found = review::tests_of(snapshot, edges, &touched, own.iter().copied(), &companions);
    review.tests_count = found.len();
    review.tests = found.iter().take(MOST_FILES).filter_map(|file| tested(snapshot, file)).collect();
    let names = review::changed_tests(&touched);
    review.changed_tests =
        names.iter().filter_map(|unit| review::named(snapshot, *unit)).map(|test| shown(&test)).collect();
    review.newly_dead = newly_dead(change, edges, &touched);
    let rings = review::new_rings(snapshot, edges, change.between.before());
    review.new_rings = rings
        .into_iter()
        .map(|Ring { file, line, folders }| NewRing { file, line, folders })
        .take(MOST_BESIDE)
        .collect();
    review.owners = owners(call, change);
    let usual = review::together(&commits, &own, |path| snapshot.file(path).is_some()).into_iter().take(MOST_BESIDE);
    review.usually_changed_too =
        usual.map(|CoChange { path, with, both, of }| Usual { file: path, with, both, of }).collect();
    let before = review::before(&change.history, &commits, &touched, call.config.max_file_size);
    review.last_commits = before.into_iter().take(MOST_BESIDE).map(earlier).collect();
    // Names and history of files prove nothing.
    let is_guess = |tested: &Tested| ["name", "history"].contains(&tested.through);
    let is_reached =
        review.changes.iter().any(|changed| changed.caller_count > 0) || !review.tests.iter().all(is_guess);
    if !is_reached {
        related::note_unread(call, &change.repo);
        review.empty_because = Some(why_empty(change, &review));
    }
    Ok(review)
}

fn newly_dead(change: &ChangeSet, edges: &EdgeTable, touched: &[Touched<'_, '_>]) -> Vec<Dead> {
    let snapshot = &change.repo.snapshot;
    let mut patterns = GlobSetBuilder::new();
    for glob in snapshot.facts().roles.entry_points.iter().filter_map(|glob| Glob::new(glob).ok()) {
        patterns.add(glob);
    }
    let patterns = patterns.build().unwrap_or_default();
    let found = review::newly_dead(snapshot, edges, touched, &patterns).into_iter().take(MOST_BESIDE);
    found.map(|(symbol, confidence)| Dead { symbol_id: symbol.id(), line: symbol.line(), confidence }).collect()
}

/// The owners of changed files, those of the most first.
fn owners(call: &Call<'_>, change: &ChangeSet) -> Vec<Owner> {
    let context = context(call, &change.repo);
    let mut files: BTreeMap<String, usize> = BTreeMap::new();
    for (path, ..) in change.between.paths() {
        let facts = context.about(path);
        let owned = facts.iter().filter_map(|fact| fact.strip_prefix("codeowners: owned by "));
        for owner in owned.flat_map(str::split_whitespace) {
            *files.entry(owner.to_owned()).or_default() += 1;
        }
    }
    let mut owners: Vec<Owner> = files.into_iter().map(|(owner, files)| Owner { owner, files }).collect();
    owners.sort_by_key(|owner| std::cmp::Reverse(owner.files));
    owners
}

fn earlier(before: Before<'_>) -> Earlier {
    let LogEntry { commit, author, time, .. } = before.commit.clone();
    Earlier { title: before.commit.subject().to_owned(), commit, author, time, symbols: before.symbols }
}

/// A test with its file.
fn shown(test: &Test) -> String {
    let inside = test.joined(".");
    if inside.is_empty() { test.path.clone() } else { format!("{}::{inside}", test.path) }
}

fn changed(snapshot: &Snapshot, edges: &EdgeTable, touched: &Touched<'_, '_>) -> Changed {
    let version = touched.version();
    let found = review::callers(snapshot, edges, touched);
    let outside: Vec<_> = found.resolved.iter().filter(|(user, _)| !review::is_of_test(user)).collect();
    let caller = |(user, via): &&(SymbolView<'_>, Option<SymbolView<'_>>)| Caller {
        symbol_id: user.id(),
        line: user.line(),
        via: via.map(|via| via.qualified_name()),
    };
    let is_declared = !matches!(touched.change, Change::Body);
    let is_public = is_declared && review::is_public(snapshot, touched);
    Changed {
        breaks_public_api: is_public.then(|| review::is_breaking(touched)),
        symbol_id: version.id.clone(),
        line: version.line,
        change: touched.change.as_str(),
        was: touched.was.filter(|was| touched.now.is_some() && was.id != version.id).map(|was| was.id.clone()),
        callers: outside.iter().take(MOST_CALLERS).map(caller).collect(),
        caller_count: outside.len() + found.top_levels,
        possible_count: found.possible,
    }
}

/// A file of tests, as listed.
pub fn tested(snapshot: &Snapshot, found: &TestFile) -> Option<Tested> {
    let file = snapshot.file_by_number(found.file)?;
    let named = found.tests.iter().filter_map(|test| review::named(snapshot, test.unit));
    let names: Vec<String> = named.map(|test| test.joined(".")).filter(|name| !name.is_empty()).collect();
    let name = |node: &Node| match node {
        Node::Symbol(symbol) => snapshot.symbol(*symbol).map(|symbol| symbol.qualified_name()),
        Node::File(file) => snapshot.file_by_number(*file).map(|file| file.path().to_owned()),
    };
    Some(Tested {
        file: file.path().to_owned(),
        more: names.len().saturating_sub(MOST_TESTS),
        tests: names.into_iter().take(MOST_TESTS).collect(),
        through: found.through.as_str(),
        way: found.tests.first().into_iter().flat_map(|test| &test.way).filter_map(name).collect(),
    })
}

/// The reason why no caller and no test is known.
fn why_empty(change: &ChangeSet, review: &Review) -> String {
    let between = &change.between;
    if between.n_files() == 0 {
        return "nothing differs".to_owned();
    }
    let mut languages: BTreeMap<String, u64> = BTreeMap::new();
    between.paths().for_each(|(path, ..)| *languages.entry(language_name(path).to_owned()).or_default() += 1);
    if between.without_symbols() == between.n_files() {
        let unread = without_symbols(&languages);
        let unread: Vec<&str> = unread.keys().map(String::as_str).collect();
        return match unread.is_empty() {
            true => "only documents, data and settings differ".to_owned(),
            false => format!("no changed file has symbols; files in {} have none", unread.join(", ")),
        };
    }
    if review.changes.is_empty() && !review.changed_tests.is_empty() {
        return "only tests differ".to_owned();
    }
    if review.changes.is_empty() {
        return "no symbol changed: the changes are outside definitions".to_owned();
    }
    let is_related = |changed: &Changed| {
        let path = changed.symbol_id.split("::").next().unwrap_or_default();
        change.repo.snapshot.file(path).is_none_or(|file| !file.facts().is_empty())
    };
    if !review.changes.iter().any(is_related) {
        let unrelated = without_relations(&languages);
        let unrelated: Vec<&str> = unrelated.keys().map(String::as_str).collect();
        return format!("names in {} are not resolved", unrelated.join(", "));
    }
    let possible: usize = review.changes.iter().map(|changed| changed.possible_count).sum();
    match possible {
        0 => "nothing uses the changed symbols, and no test reaches them".to_owned(),
        n => format!("no resolved use of the changed symbols; {n} places use their names on an unknown receiver"),
    }
}
