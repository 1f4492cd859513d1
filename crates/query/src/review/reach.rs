//! Tests that reach a change, most direct first. They reach it through calls, overridden methods and fixtures, else
//! through imports, else by the name of their file.

use crate::folder;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

use super::names::{likeness, words};
use super::tests::{TestUnit, is_test_file, runner, unit_of};
use crate::graph::decorator_name;
use crate::graph::overrides::class_of;
use crate::{Tables, overridden};
use codelode_base::model::{Detail, Kind, Role};
use codelode_lang::languages::of_path;
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// The start of a walk: a symbol that changed, or the top level of a file.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// The symbol or file.
    pub node: Node,
    /// The weight of the change, from 0 to 1.
    pub weight: f64,
}

/// A symbol, or the top level of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A symbol.
    Symbol(SymbolId),
    /// The number of a file.
    File(u32),
}

/// The evidence that a test reaches a change, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReachEvidence {
    /// A coverage recording shows that it ran changed lines.
    Recorded,
    /// Resolved uses.
    Uses,
    /// Uses, at least one of them a call of what a field or table holds where the changed function is stored.
    Through,
    /// Uses, at least one of them only possible: a name after an unknown receiver.
    Possible,
    /// It imports a changed file, directly or indirectly.
    Imports,
    /// Its file is named like a changed one.
    Name,
    /// Its file often changed together with a changed one.
    History,
}

impl ReachEvidence {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Uses => "uses",
            Self::Through => "through",
            Self::Possible => "possible",
            Self::Imports => "imports",
            Self::Name => "name",
            Self::History => "history",
        }
    }
}

/// A test that reaches a change.
pub struct ReachingTest {
    /// The test.
    pub unit: TestUnit,
    /// The evidence for it.
    pub through: ReachEvidence,
    /// The way from the test to the changed symbol, both included; empty if only the file's name matches.
    pub way: Vec<Node>,
    score: f64,
}

/// A test file that reaches a change.
pub struct TestFile {
    /// The number of the file.
    pub file: u32,
    /// The strongest evidence of its tests.
    pub through: ReachEvidence,
    /// The tests, most direct first; the whole file if only the file is known.
    pub tests: Vec<ReachingTest>,
    score: f64,
    /// Nearness to a changed file that it is named after; zero without one.
    named: f64,
}

/// The share of the weight that each step keeps.
const STEP: f64 = 0.6;
/// The further share that a step through an overridden method, a class or a fixture keeps.
const ASIDE: f64 = 0.7;
/// The further share that a possible step keeps.
const POSSIBLE: f64 = 0.3;
/// The further share that a step through a field or table keeps, which may hold other functions.
const THROUGH: f64 = 0.35;
/// Lighter steps are not followed.
const LEAST: f64 = 0.004;
/// The most symbols that one walk visits.
const MOST: usize = 3_000;
/// The same for [`nearest`], where tests are a part of another answer.
const MOST_NEAR: usize = 100;
/// A possible name with more places is not followed.
const MOST_POSSIBLE: usize = 60;
/// The most levels of imports, and the weight of the first one.
const IMPORT_DEPTH: u32 = 3;
const IMPORTED: f64 = 0.1;
/// The weight of a test file that is named after a changed file.
const NAMED: f64 = 0.6;
/// The weight of the test file that changed most often with the changed files.
const TOGETHER: f64 = 0.8;
/// Namesakes of a changed file come after at most this many files, and at most this many namesakes are raised.
const BEFORE_NAMESAKES: usize = 5;
const MOST_NAMESAKES: usize = 5;

/// The test files that reach a change, most direct first. `paths` are the changed files with their weights.
/// `companions` are files that changed with them before, with their weights.
pub fn reaching(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    sources: &[Source],
    paths: &[(String, f64)],
    companions: &[(String, f64)],
) -> Vec<TestFile> {
    let mut walk = Walk::new(snapshot, edges, MOST);
    sources.iter().for_each(|source| walk.run(*source));
    let mut files: HashMap<u32, TestFile> = HashMap::new();
    let mut found: Vec<(TestUnit, BestReach)> = walk.found.drain().collect();
    found.sort_by_key(|(unit, _)| *unit);
    for (unit, found) in found {
        let through = found.through;
        let file = files.entry(unit.file).or_insert_with(|| TestFile::new(unit.file, through));
        file.through = file.through.min(through);
        file.tests.push(ReachingTest { unit, through, way: found.way, score: found.score });
    }
    for file in files.values_mut() {
        file.tests.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.unit.cmp(&b.unit)));
        // Each further test of a file counts half of the one before.
        file.score = file.tests.iter().zip(0..8).map(|(test, place)| test.score * 0.5_f64.powi(place)).sum();
    }
    // Scores are scaled by the best, so that uses weigh the same in a large change and in a small one.
    let most = files.values().map(|file| file.score).fold(0.0, f64::max);
    if most > 0.0 {
        files.values_mut().for_each(|file| file.score /= most);
    }
    walk.add_importers(&mut files, paths);
    add_namesakes(snapshot, &mut files, paths);
    add_companions(snapshot, &mut files, companions);
    let mut files: Vec<TestFile> = files.into_values().collect();
    let path = |file: &TestFile| snapshot.file_by_number(file.file).map(|file| file.path());
    let sort = |files: &mut [TestFile]| {
        let by_score = |a: &TestFile, b: &TestFile| b.score.total_cmp(&a.score).then(b.named.total_cmp(&a.named));
        files.sort_by(|a, b| by_score(a, b).then_with(|| path(a).cmp(&path(b))));
    };
    sort(&mut files);
    raise_namesakes(&mut files);
    sort(&mut files);
    files
}

/// Moves namesakes of changed files up, so that hubs and history never push them out of the first ten.
fn raise_namesakes(files: &mut [TestFile]) {
    let Some(least) = files.get(BEFORE_NAMESAKES - 1).map(|file| file.score) else { return };
    let mut namesakes: Vec<&mut TestFile> = files.iter_mut().filter(|file| file.named > 0.0).collect();
    namesakes.sort_by(|a, b| b.named.total_cmp(&a.named));
    namesakes.into_iter().take(MOST_NAMESAKES).for_each(|file| file.score = file.score.max(least));
}

/// The tests that reach a symbol by resolved uses within a short walk, most direct first.
pub fn nearest(snapshot: &Snapshot, edges: &EdgeTable, symbol: SymbolId) -> Vec<TestUnit> {
    let mut walk = Walk::new(snapshot, edges, MOST_NEAR);
    walk.run(Source { node: Node::Symbol(symbol), weight: 1.0 });
    let mut found: Vec<(TestUnit, BestReach)> =
        walk.found.drain().filter(|(_, found)| found.through == ReachEvidence::Uses).collect();
    // File numbers depend on indexing order, so paths decide the order.
    let place =
        |unit: &TestUnit| (snapshot.file_by_number(unit.file).map(|file| file.path()), unit.symbol.map(|id| id.index));
    found.sort_by(|(a, by), (b, than)| than.score.total_cmp(&by.score).then_with(|| place(a).cmp(&place(b))));
    found.into_iter().map(|(unit, _)| unit).collect()
}

impl TestFile {
    fn new(file: u32, through: ReachEvidence) -> Self {
        Self { file, through, tests: Vec::new(), score: 0.0, named: 0.0 }
    }

    /// A file of recorded tests: first those with a known way, then the others.
    pub(super) fn recorded(file: u32, known: Vec<ReachingTest>, others: &[TestUnit]) -> Self {
        let through = ReachEvidence::Recorded;
        let others = others.iter().map(|unit| ReachingTest { unit: *unit, through, way: Vec::new(), score: 0.0 });
        let tests = known.into_iter().map(|test| ReachingTest { through, ..test }).chain(others).collect();
        Self { tests, ..Self::new(file, through) }
    }

    /// Adds evidence that concerns the whole file.
    fn add(&mut self, score: f64, through: ReachEvidence, way: Vec<Node>) {
        self.score += score;
        if self.tests.is_empty() {
            let unit = TestUnit { file: self.file, symbol: None };
            self.tests.push(ReachingTest { unit, through, way, score });
        }
    }
}

/// A test, with the best way to it.
struct BestReach {
    score: f64,
    best: f64,
    through: ReachEvidence,
    way: Vec<Node>,
}

/// A step from a node to one that uses it.
#[derive(Clone, Copy)]
struct Step {
    to: Node,
    keeps: f64,
    through: ReachEvidence,
}

/// A visited node, with the one before it.
struct Visited {
    weight: f64,
    before: Option<Node>,
    through: ReachEvidence,
}

struct Walk<'a> {
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    steps: HashMap<Node, Rc<[Step]>>,
    tables: Tables<'a>,
    units: HashMap<Node, Option<TestUnit>>,
    found: HashMap<TestUnit, BestReach>,
    /// The most nodes that one walk visits.
    most: usize,
}

/// A queued node, ordered by weight, then by its file's path. File numbers depend on indexing order, so a walk that
/// ends early would find other tests by them.
#[derive(PartialEq)]
struct Waiting<'a> {
    weight: f64,
    path: Option<&'a str>,
    node: Node,
}

impl Eq for Waiting<'_> {}

impl Ord for Waiting<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_place = || (other.path, other.node).cmp(&(self.path, self.node));
        self.weight.total_cmp(&other.weight).then_with(by_place)
    }
}

impl PartialOrd for Waiting<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<'a> Walk<'a> {
    fn new(snapshot: &'a Snapshot, edges: &'a EdgeTable, most: usize) -> Self {
        let tables = Tables::new(snapshot, edges);
        Self { snapshot, edges, steps: HashMap::new(), tables, units: HashMap::new(), found: HashMap::new(), most }
    }

    /// Walks from a change along users, heaviest first, and stops at tests.
    fn run(&mut self, source: Source) {
        let mut visited: HashMap<Node, Visited> = HashMap::new();
        visited.insert(source.node, Visited { weight: source.weight, before: None, through: ReachEvidence::Uses });
        let mut waiting = BinaryHeap::from([self.waiting(source.weight, source.node)]);
        let mut n_done = 0;
        while let Some(Waiting { weight, node, .. }) = waiting.pop().filter(|_| n_done < self.most) {
            let through = match visited.get(&node) {
                Some(known) if known.weight > weight => continue,
                Some(known) => known.through,
                None => ReachEvidence::Uses,
            };
            n_done += 1;
            if let Some(unit) = self.unit(node) {
                self.note(unit, weight, through, node, &visited);
                continue;
            }
            for step in self.steps(node).iter() {
                let next = weight * step.keeps;
                let is_better = visited.get(&step.to).is_none_or(|known| known.weight < next);
                if next >= LEAST && is_better {
                    let through = through.max(step.through);
                    visited.insert(step.to, Visited { weight: next, before: Some(node), through });
                    waiting.push(self.waiting(next, step.to));
                }
            }
        }
    }

    fn waiting(&self, weight: f64, node: Node) -> Waiting<'a> {
        let file = match node {
            Node::Symbol(symbol) => symbol.file,
            Node::File(file) => file,
        };
        Waiting { weight, path: self.snapshot.file_by_number(file).map(|file| file.path()), node }
    }

    /// The test that a node is part of.
    fn unit(&mut self, node: Node) -> Option<TestUnit> {
        let snapshot = self.snapshot;
        *self.units.entry(node).or_insert_with(|| match node {
            Node::Symbol(symbol) => unit_of(&snapshot.symbol(symbol)?),
            Node::File(number) => {
                let file = snapshot.file_by_number(number)?;
                is_test_file(file).then_some(TestUnit { file: number, symbol: None })
            }
        })
    }

    fn note(
        &mut self,
        unit: TestUnit,
        weight: f64,
        through: ReachEvidence,
        node: Node,
        visited: &HashMap<Node, Visited>,
    ) {
        let found = self.found.entry(unit).or_insert(BestReach { score: 0.0, best: 0.0, through, way: Vec::new() });
        found.score += weight;
        if weight <= found.best {
            return;
        }
        (found.best, found.through) = (weight, through);
        found.way = std::iter::successors(Some(node), |node| visited.get(node)?.before).collect();
        // A helper inside the test counts as the test itself.
        if let (Some(symbol), Some(first)) = (unit.symbol, found.way.first_mut()) {
            *first = Node::Symbol(symbol);
        }
    }

    fn steps(&mut self, node: Node) -> Rc<[Step]> {
        if let Some(known) = self.steps.get(&node) {
            return known.clone();
        }
        let steps: Rc<[Step]> = match node {
            Node::Symbol(symbol) => self.steps_from(symbol).into(),
            Node::File(_) => Rc::new([]),
        };
        self.steps.insert(node, steps.clone());
        steps
    }

    /// The steps from a symbol to its users.
    fn steps_from(&self, id: SymbolId) -> Vec<Step> {
        let Some(symbol) = self.snapshot.symbol(id) else { return Vec::new() };
        let mut found: HashMap<Node, Step> = HashMap::new();
        self.add_users(&mut found, id, 1.0);
        for above in overridden(self.snapshot, self.edges, &symbol) {
            self.add_users(&mut found, above.number(), ASIDE);
        }
        let rules = symbol.file.conventions();
        let name = symbol.name();
        let is_member = symbol.kind() == Kind::Method;
        // Users of a class run its constructor, and the members that the language calls implicitly.
        let is_implied =
            symbol.detail() == Detail::Constructor || rules.constructors.contains(&&*name) || (rules.is_implied)(&name);
        if let Some(class) = symbol.parent().filter(|_| is_member && is_implied) {
            self.add_users(&mut found, class.number(), ASIDE);
        }
        if is_member || symbol.has_parent() {
            self.add_possible(&mut found, &symbol);
        }
        if found.is_empty() && is_member {
            self.add_holders(&mut found, &symbol);
        }
        self.add_through(&mut found, id);
        self.add_takers(&mut found, &symbol);
        self.add_launchers(&mut found, &symbol);
        found.remove(&Node::Symbol(id));
        let mut found: Vec<Step> = found.into_values().collect();
        found.sort_by(|a, b| b.keeps.total_cmp(&a.keeps).then(a.to.cmp(&b.to)));
        found
    }

    /// Adds the users of a symbol. The more there are, the less each one weighs.
    fn add_users(&self, found: &mut HashMap<Node, Step>, used: SymbolId, keeps: f64) {
        let nodes: Vec<Node> = self.edges.users(used).filter_map(user).collect();
        let keeps = keeps * STEP * spread(nodes.len());
        for to in nodes {
            add(found, Step { to, keeps, through: ReachEvidence::Uses });
        }
    }

    /// Adds the users of a method's class, if nothing in the project calls the method. A library may call it on an
    /// object that such a user passes.
    fn add_holders(&self, found: &mut HashMap<Node, Step>, method: &SymbolView<'a>) {
        let Some(class) = class_of(self.snapshot, method) else { return };
        let nodes: Vec<Node> = self.edges.users(class.number()).filter_map(user).collect();
        let keeps = ASIDE * STEP * spread(nodes.len());
        for to in nodes {
            add(found, Step { to, keeps, through: ReachEvidence::Possible });
        }
    }

    /// Adds the functions that call what is stored where a function is.
    fn add_through(&self, found: &mut HashMap<Node, Step>, stored: SymbolId) {
        let calls = self.tables.callers(stored);
        let keeps = THROUGH * STEP * spread(calls.len());
        for (file, caller) in calls {
            let to = caller.map_or(Node::File(file), Node::Symbol);
            add(found, Step { to, keeps, through: ReachEvidence::Through });
        }
    }

    /// Adds places that write the member's name after an unknown receiver.
    fn add_possible(&self, found: &mut HashMap<Node, Step>, symbol: &SymbolView<'a>) {
        let nodes: Vec<Node> =
            self.edges.possible(symbol.name_bytes()).take(MOST_POSSIBLE + 1).filter_map(user).collect();
        if nodes.len() > MOST_POSSIBLE {
            return;
        }
        let keeps = POSSIBLE * STEP * spread(nodes.len());
        for to in nodes {
            add(found, Step { to, keeps, through: ReachEvidence::Possible });
        }
    }

    /// Adds the tests that name a fixture as a parameter.
    fn add_takers(&self, found: &mut HashMap<Node, Step>, symbol: &SymbolView<'a>) {
        let Some(runner) = runner(symbol.file).filter(|runner| !runner.givers.is_empty()) else { return };
        let is_giver = |decorator: &String| runner.givers.contains(&decorator_name(decorator));
        if !symbol.file.exercises() || !symbol.decorators().iter().any(is_giver) {
            return;
        }
        let (name, own) = (symbol.name_bytes(), symbol.file);
        let folder = folder(own.path());
        let is_shared = !is_test_file(own);
        let sees = |file: &FileView<'a>| {
            file.number() == own.number() || is_shared && file.exercises() && file.path().starts_with(folder)
        };
        let finder = memchr::memmem::Finder::new(name);
        let mut nodes = Vec::new();
        for file in self.snapshot.files().filter(|file| sees(file) && finder.find(file.content()).is_some()) {
            let takes = |other: &SymbolView<'a>| {
                matches!(other.kind(), Kind::Function | Kind::Method)
                    && other.number() != symbol.number()
                    && holds_word(other.signature_source(), name)
            };
            nodes.extend(file.symbols().filter(takes).map(|other| Node::Symbol(other.number())));
        }
        let keeps = ASIDE * STEP * spread(nodes.len());
        nodes.into_iter().for_each(|to| add(found, Step { to, keeps, through: ReachEvidence::Uses }));
    }

    /// Adds the tests that launch the program, if the symbol is its entry point.
    fn add_launchers(&self, found: &mut HashMap<Node, Step>, symbol: &SymbolView<'a>) {
        let rules = symbol.file.conventions();
        let words = rules.runner.map_or(&[][..], |runner| runner.launches);
        let begins = rules.starts.iter().any(|(kind, name)| symbol.kind() == *kind && symbol.name() == *name);
        if words.is_empty() || !begins || symbol.has_parent() || symbol.file.exercises() {
            return;
        }
        let launches = |text: &[u8]| words.iter().any(|word| memchr::memmem::find(text, word.as_bytes()).is_some());
        let mut nodes = Vec::new();
        for file in self.snapshot.files().filter(|file| file.exercises() && launches(file.content())) {
            let own = file.symbols().filter(|symbol| launches(symbol.source()));
            let before = nodes.len();
            nodes.extend(own.map(|own| Node::Symbol(own.number())));
            if nodes.len() == before {
                nodes.push(Node::File(file.number()));
            }
        }
        let keeps = ASIDE * STEP * spread(nodes.len());
        nodes.into_iter().for_each(|to| add(found, Step { to, keeps, through: ReachEvidence::Uses }));
    }

    /// Adds the test files that import changed files, directly or indirectly.
    fn add_importers(&self, files: &mut HashMap<u32, TestFile>, paths: &[(String, f64)]) {
        for (path, share) in paths {
            let Some(start) = self.snapshot.file(path) else { continue };
            let mut before: HashMap<u32, Option<u32>> = HashMap::from([(start.number(), None)]);
            let mut level = vec![start.number()];
            let mut weight = IMPORTED * share;
            for _ in 0..IMPORT_DEPTH {
                let mut next = Vec::new();
                for imported in level {
                    for import in self.edges.importers(imported) {
                        before.entry(import.from).or_insert_with(|| {
                            next.push(import.from);
                            Some(imported)
                        });
                    }
                }
                let weight_each = weight * spread(next.len());
                for number in &next {
                    if self.snapshot.file_by_number(*number).is_some_and(is_test_file) {
                        let way = std::iter::successors(Some(*number), |at| *before.get(at)?).map(Node::File);
                        let file =
                            files.entry(*number).or_insert_with(|| TestFile::new(*number, ReachEvidence::Imports));
                        file.add(weight_each, ReachEvidence::Imports, way.collect());
                    }
                }
                weight *= STEP;
                level = next;
            }
        }
    }
}

/// Adds the test files that are named after a changed file.
fn add_namesakes(snapshot: &Snapshot, files: &mut HashMap<u32, TestFile>, paths: &[(String, f64)]) {
    let sources: Vec<(Vec<String>, &str, f64)> =
        paths.iter().map(|(path, share)| (words(path), path.as_str(), *share)).collect();
    let runner_of = |path: &str| of_path(path).and_then(|spec| spec.conventions.runner).map(|runner| runner.name);
    for file in snapshot.files().filter(|file| is_test_file(*file)) {
        let (own, by) = (words(file.path()), runner_of(file.path()));
        let (mut score, mut named) = (0.0_f64, 0.0_f64);
        for (source, path, share) in sources.iter().filter(|(_, path, _)| runner_of(path) == by) {
            let (likeness, near) = (likeness(source, &own), 0.7 + 0.3 * nearness(path, file.path()));
            score = score.max(share * likeness * near);
            named = named.max(if likeness == 1.0 { near } else { 0.0 });
        }
        if score > 0.0 {
            let known = files.entry(file.number()).or_insert_with(|| TestFile::new(file.number(), ReachEvidence::Name));
            known.add(NAMED * score, ReachEvidence::Name, Vec::new());
            known.named = named;
        }
    }
}

/// Adds the test files that often changed together with the changed files.
fn add_companions(snapshot: &Snapshot, files: &mut HashMap<u32, TestFile>, companions: &[(String, f64)]) {
    let known = |(path, weight): &(String, f64)| Some((snapshot.file(path)?, *weight));
    let tests: Vec<(FileView<'_>, f64)> =
        companions.iter().filter_map(known).filter(|(file, _)| is_test_file(*file)).collect();
    let most = tests.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    for (file, weight) in tests {
        let known = files.entry(file.number()).or_insert_with(|| TestFile::new(file.number(), ReachEvidence::History));
        known.add(TOGETHER * weight / most, ReachEvidence::History, Vec::new());
    }
}

/// The share of common folders of two paths, in any order.
fn nearness(a: &str, b: &str) -> f64 {
    let folders = |path: &str| -> Vec<String> {
        let mut folders: Vec<String> = path.split('/').map(str::to_owned).collect();
        folders.pop();
        folders
    };
    let (a, b) = (folders(a), folders(b));
    let common = a.iter().filter(|folder| b.contains(folder)).count();
    let most = a.len().max(b.len());
    if most == 0 { 1.0 } else { common as f64 / most as f64 }
}

/// The user at an occurrence; `None` for an import, which alone is no use.
fn user(edge: &codelode_store::Edge) -> Option<Node> {
    (edge.role() != Role::Import).then(|| edge.from().map_or(Node::File(edge.file), Node::Symbol))
}

fn add(found: &mut HashMap<Node, Step>, step: Step) {
    let known = found.entry(step.to).or_insert(step);
    if known.keeps < step.keeps {
        *known = step;
    }
}

/// The share of the weight for each of `n_users` users.
fn spread(n_users: usize) -> f64 {
    1.0 / (1.0 + 0.35 * (n_users.max(1) as f64).ln())
}

/// Whether a byte is part of a word.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a text holds a whole word.
pub(super) fn holds_word(text: &[u8], word: &[u8]) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| is_word_byte(*byte));
    memchr::memmem::find_iter(text, word).any(|at| {
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        !is_word(before) && !is_word(text.get(at + word.len()))
    })
}

/// The symbols whose uses name a removed definition: for each name, by its index, the users at unresolved places that
/// write it.
pub fn orphans(snapshot: &Snapshot, edges: &EdgeTable, names: &[&str]) -> Vec<(usize, Node)> {
    let mut found = Vec::new();
    if names.is_empty() {
        return found;
    }
    for edge in edges.all().iter().filter(|edge| !edge.how().is_bound()) {
        if !names.iter().any(|name| name.len() == edge.len()) {
            continue;
        }
        let Some(file) = snapshot.file_by_number(edge.file) else { continue };
        let written = file.content().get(edge.at as usize..edge.at as usize + edge.len());
        let Some(place) = names.iter().position(|name| Some(name.as_bytes()) == written) else { continue };
        found.extend(user(edge).map(|node| (place, node)));
    }
    found.sort_unstable();
    found.dedup();
    found
}
