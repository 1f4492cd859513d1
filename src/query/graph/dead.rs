//! Dead code: symbols and files that cannot be reached from entry points, as far as names were resolved.

use std::cell::Cell;
use std::collections::{HashMap, HashSet, VecDeque};

use globset::GlobSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::documented::documented;
use super::entry::Entries;
use super::evidence::{Certainty, Doubt, Evidence};
use super::groups::{chosen_by_build, collected};
use super::mentioned::mentioned;
use super::rings::used_from_outside;
use super::strings::named_in_text;
use super::visible::{in_type, is_type, stem};
use super::{Graph, Uses};
use crate::languages::{Owner, helps_tests, is_beside, is_built, is_vendored};
use crate::model::{Detail, How, Kind};
use crate::store::{EdgeTable, FileView, Snapshot, SymbolView};

/// A dead symbol; symbols inside it are dead with it.
pub struct Dead<'a> {
    /// The symbol.
    pub symbol: SymbolView<'a>,
    /// The certainty of it.
    pub certainty: Certainty,
    /// A reason to doubt it.
    pub doubt: Option<Doubt>,
}

/// A dead file: no live file imports or uses it.
pub struct DeadFile<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// The certainty of it.
    pub certainty: Certainty,
    /// The number of files that import it.
    pub importers: usize,
}

/// Dead symbols and files.
#[derive(Default)]
pub struct Deadness<'a> {
    /// By path and place.
    pub symbols: Vec<Dead<'a>>,
    /// By path.
    pub files: Vec<DeadFile<'a>>,
    /// The number of entry points, tests left out.
    pub roots: usize,
    /// Symbols without resolved uses that an unresolved reference or a name in a text may mean.
    pub perhaps_used: usize,
    /// The number of files with symbols that were not judged: generated, vendored, or in a language whose names are
    /// not resolved or whose unused code cannot be told.
    pub files_not_judged: usize,
}

/// The most lines of comments above a definition that may say that it is for tests.
const MOST_COMMENTS: usize = 20;
/// The most letters of a signature that are read.
const SIGNATURE: usize = 400;
/// The most bases of a class whose methods are looked for among its own.
const MOST_BASES: usize = 250;
/// The most comparisons of classes and methods in the search for overrides, beside a few for each symbol.
const COMPARISONS: usize = 3_000_000;
const COMPARISONS_PER_SYMBOL: usize = 50;

/// Reachability of a symbol, the strongest last.
const UNREACHED: u8 = 0;
const TESTED: u8 = 1;
const PERHAPS: u8 = 2;
const LIVE: u8 = 3;

/// Finds functions, methods, classes and types without uses. Symbols of tests are judged only with `tests`; symbols
/// whose path or qualified name matches `patterns` count as used.
pub fn dead_code<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, tests: bool, patterns: &GlobSet) -> Deadness<'a> {
    let graph = Graph::new(snapshot, edges);
    let entries = Entries::new(&graph, patterns);
    let mut walk = Walk::new(&graph, &entries);
    let mut found = Deadness { roots: walk.start(tests), ..Deadness::default() };
    let nodes = || 0..graph.symbols.len() as u32;
    let unreached: Vec<u32> =
        nodes().filter(|node| walk.reached[*node as usize] == UNREACHED && is_judged(&graph, *node)).collect();
    // Possible uses are followed before tests: a symbol reached by both is not known to be unused.
    let possible = |node: &&u32| edges.possible(graph.symbols[**node as usize].name_bytes()).next().is_some();
    walk.waiting.extend(unreached.iter().filter(possible));
    let named = named_in_text(&graph, &unreached);
    walk.waiting.extend(named.nodes);
    walk.waiting.extend(walk.members_of(&named.types));
    walk.waiting.extend(walk.beside_compiled(&unreached));
    let declared = used_declarations(&graph);
    let asked = |node: &&u32| {
        let symbol = &graph.symbols[**node as usize];
        let is_declared = || symbol.file.conventions().structural && declared.contains(symbol.name_bytes());
        symbol.kind() == Kind::Method && (is_declared() || entries.may_be_asked_for(symbol))
    };
    walk.waiting.extend(unreached.iter().filter(asked));
    walk.waiting.extend(walk.missed_in_bases());
    walk.waiting.extend(collected(&graph, &unreached));
    walk.run(PERHAPS);
    let mentioned = mentioned(&graph, walk.left_of(&unreached));
    walk.waiting.extend(mentioned.by_code);
    walk.run(PERHAPS);
    let is_offered = |node: &u32| {
        let symbol = &graph.symbols[*node as usize];
        entries.is_public_in_package(symbol) || is_beside(symbol.file.path())
    };
    walk.waiting.extend(documented(&graph, walk.left_of(&unreached).filter(is_offered)));
    walk.run(PERHAPS);
    let left: Vec<u32> = walk.left_of(&unreached).collect();
    walk.waiting.extend(chosen_by_build(&graph, &left, |node| walk.reached[node as usize] != UNREACHED));
    walk.run(PERHAPS);
    walk.reach_overridden();
    walk.waiting.extend(mentioned.by_tests);
    walk.start_tests();
    let (certainties, mut doubts) = walk.certainties(tests);
    for node in nodes().filter(|node| is_judged(&graph, *node)) {
        if walk.reached[node as usize] == PERHAPS {
            found.perhaps_used += usize::from(!walk.tests[node as usize]);
        }
        let Some(certainty) = certainties[node as usize] else { continue };
        let is_judged = tests || !walk.tests[node as usize];
        let in_dead = graph.parent(node).is_some_and(|parent| walk.reached[parent as usize] < PERHAPS);
        if is_judged && !in_dead {
            let doubt = doubts.remove(&node);
            found.symbols.push(Dead { symbol: graph.symbols[node as usize], certainty, doubt });
        }
    }
    found.files = walk.dead_files(tests);
    found.files_not_judged =
        snapshot.files().filter(|file| file.symbol_count() > 0 && (file.facts().is_empty() || is_spared(file))).count();
    found
}

/// Names of members of interfaces and type aliases that something uses. A class may have such a type without naming it.
fn used_declarations<'a>(graph: &Graph<'a>) -> FxHashSet<&'a [u8]> {
    let declares = |symbol: &&SymbolView<'a>| {
        symbol.file.conventions().structural
            && symbol.parent().is_some_and(|parent| parent.kind() == Kind::Type)
            && graph.edges.users(symbol.number()).next().is_some()
    };
    graph.symbols.iter().filter(declares).map(|symbol| symbol.name_bytes()).collect()
}

/// Whether a node is judged at all: values may be read without a name.
fn is_judged(graph: &Graph<'_>, node: u32) -> bool {
    let symbol = &graph.symbols[node as usize];
    !graph.is_value(node) && !matches!(symbol.detail(), Detail::Module | Detail::Namespace) && !is_spared(&symbol.file)
}

/// Whether a file is not judged: it is vendored or generated, so that its code is not deleted by hand, or in a language
/// whose unused code cannot be told.
fn is_spared(file: &FileView<'_>) -> bool {
    !file.conventions().tells_dead
        || file.is_generated()
        || file.given_as_vendored().unwrap_or_else(|| is_vendored(file.path()) || is_built(file.path()))
}

/// Whether something that only tests use is meant for them.
fn is_for_tests(symbol: &SymbolView<'_>) -> bool {
    let above = symbol.file.content().get(..symbol.span().start as usize).unwrap_or_default().trim_ascii_end();
    let lines = above.rsplit(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start).take(MOST_COMMENTS);
    let is_comment = |line: &&[u8]| matches!(line.first(), Some(b'/' | b'*' | b'#' | b'@'));
    let says = |text: &[u8]| memchr::memmem::find(&text.to_ascii_lowercase(), b"for test").is_some();
    let parameters = symbol.file.conventions().test_parameters;
    let takes = |signature: &str| parameters.iter().any(|text| signature.contains(text));
    helps_tests(stem(symbol.file.path()))
        || !parameters.is_empty() && takes(&symbol.signature(SIGNATURE))
        || helps_tests(&symbol.name())
        || symbol.decorators().iter().any(|decorator| helps_tests(decorator))
        || lines.take_while(is_comment).any(says)
}

/// Whether it is a method without a type of its own, as in an object or an anonymous class, and no type is found for
/// it.
fn is_loose(symbol: &SymbolView<'_>) -> bool {
    let owner = symbol.file.conventions().owner;
    let is_free = if symbol.container_span().is_empty() { !in_type(symbol) } else { owner != Owner::Type };
    symbol.kind() == Kind::Method && is_free
}

/// A walk along uses.
struct Walk<'g, 'a> {
    graph: &'g Graph<'a>,
    entries: &'g Entries<'g, 'a>,
    uses: Uses,
    /// By node: whether it is part of a test.
    tests: Vec<bool>,
    reached: Vec<u8>,
    waiting: VecDeque<u32>,
    members: FxHashMap<u32, Vec<u32>>,
    /// By node: methods of unnamed objects and classes inside it; code that gets such an object may call them.
    held: FxHashMap<u32, Vec<u32>>,
    /// Methods of unnamed objects at the top level of files.
    shown: Vec<u32>,
    /// Methods of their own of types that were not found: a macro may have made one.
    strays: FxHashSet<u32>,
    /// By method: its overrides.
    overrides: FxHashMap<u32, Vec<u32>>,
    /// By definition: its group in `groups`, in languages that take definitions with one name and place for one.
    twins: FxHashMap<u32, usize>,
    /// Definitions by group; empty once one of them was reached.
    groups: Vec<Vec<u32>>,
    /// Symbols used at the top level of files: by code, and by tests.
    top: [Vec<u32>; 2],
    /// Whether every part of a test counts as run.
    tests_run: bool,
}

impl<'g, 'a> Walk<'g, 'a> {
    fn new(graph: &'g Graph<'a>, entries: &'g Entries<'g, 'a>) -> Self {
        let uses = graph.uses(true, |_, _| true);
        let mut tests: Vec<bool> = Vec::with_capacity(graph.symbols.len());
        for of_file in graph.symbols.chunk_by(|a, b| a.file.number() == b.file.number()) {
            let is_test = of_file[0].file.exercises();
            tests.extend(of_file.iter().map(|symbol| is_test || entries.is_test(symbol)));
        }
        let reached = vec![UNREACHED; graph.symbols.len()];
        let mut walk = Self {
            graph,
            entries,
            uses,
            tests,
            reached,
            waiting: VecDeque::new(),
            members: FxHashMap::default(),
            held: FxHashMap::default(),
            shown: Vec::new(),
            strays: FxHashSet::default(),
            overrides: FxHashMap::default(),
            twins: FxHashMap::default(),
            groups: Vec::new(),
            top: [Vec::new(), Vec::new()],
            tests_run: true,
        };
        walk.find_members();
        walk.find_overrides();
        walk.find_twins();
        walk
    }

    fn find_twins(&mut self) {
        let graph = self.graph;
        let overloaded = |node: &u32| {
            let symbol = &graph.symbols[*node as usize];
            symbol.overload() > 0 && symbol.file.conventions().overloads_are_one
        };
        let mut twins: HashMap<_, Vec<u32>> = HashMap::new();
        // A method may be given to a class that has it: `Shop.prototype.open = function () {}`.
        let of_class = |(class, own): (&u32, &Vec<u32>)| own.iter().map(|node| (*node, *class)).collect::<Vec<_>>();
        let owners: FxHashMap<u32, u32> = self.members.iter().flat_map(of_class).collect();
        for node in (0..graph.symbols.len() as u32).filter(overloaded) {
            let symbol = &graph.symbols[node as usize];
            let owner = owners.get(&node).copied().or_else(|| graph.parent(node));
            let place = (symbol.file.number(), owner, symbol.name_bytes());
            twins.entry(place).or_default().push(node);
        }
        for all in twins.into_values() {
            self.twins.extend(all.iter().map(|node| (*node, self.groups.len())));
            self.groups.push(all);
        }
    }

    /// Finds members by class. Members defined outside of their class belong to the class of that name in the same
    /// file or folder.
    fn find_members(&mut self) {
        let graph = self.graph;
        let is_type = |node: &u32| is_type(&graph.symbols[*node as usize]);
        let folder = |path: &'a str| path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut types: FxHashMap<(&'a str, &'a [u8]), u32> = FxHashMap::default();
        // By name; `None` where several have it.
        let mut only: FxHashMap<&'a [u8], Option<u32>> = FxHashMap::default();
        // Types of their own come after those inside others, which may go by the name of one: `type Context = …`.
        let (inner, own): (Vec<u32>, Vec<u32>) = (0..graph.symbols.len() as u32).filter(is_type).partition(|node| {
            let symbol = &graph.symbols[*node as usize];
            symbol.has_parent() || !symbol.container_span().is_empty()
        });
        for node in inner.iter().chain(&own).copied() {
            let symbol = graph.symbols[node as usize];
            types.insert((symbol.file.path(), symbol.name_bytes()), node);
        }
        for node in own.iter().chain(&inner).copied() {
            let symbol = graph.symbols[node as usize];
            types.entry((folder(symbol.file.path()), symbol.name_bytes())).or_insert(node);
        }
        for node in own {
            let name = graph.symbols[node as usize].name_bytes();
            only.entry(name).and_modify(|only| *only = None).or_insert(Some(node));
        }
        let mut fields: FxHashSet<(u32, &'a [u8])> = FxHashSet::default();
        for node in (0..graph.symbols.len() as u32).filter(|node| graph.is_value(*node)) {
            let symbol = graph.symbols[node as usize];
            if symbol.file.conventions().owner == Owner::Value {
                fields.extend(graph.parent(node).map(|owner| (owner, symbol.name_bytes())));
            }
        }
        for node in (0..graph.symbols.len() as u32).filter(|node| !graph.is_value(*node)) {
            let symbol = graph.symbols[node as usize];
            let (path, container) = (symbol.file.path(), symbol.container_span().of(symbol.file.content()));
            let beside = || types.get(&(path, container)).copied();
            let owner = match symbol.file.conventions().owner {
                _ if container.is_empty() => graph.parent(node).filter(|_| in_type(&symbol)),
                Owner::Type => beside()
                    .or_else(|| types.get(&(folder(path), container)).copied())
                    .or_else(|| only.get(container).copied().flatten()),
                Owner::Value => beside(),
                Owner::Base => None,
            };
            let has_type = || container.is_empty() || owner.is_some() || graph.filled_in(&symbol).is_some();
            if symbol.file.conventions().owner == Owner::Type && !has_type() {
                self.strays.insert(node);
            }
            if owner.is_some_and(|owner| fields.contains(&(owner, symbol.name_bytes()))) {
                // `this.run = () => {}` gives a declared field a value, and whoever reads the field uses it.
                self.held.entry(owner.unwrap_or(node)).or_default().push(node);
            }
            let is_given = || symbol.is_handed() || self.entries.is_decorated(&symbol, symbol.file.conventions());
            if owner.is_none() && (is_loose(&symbol) || is_given()) {
                match graph.parent(node) {
                    Some(holder) => self.held.entry(holder).or_default().push(node),
                    None => self.shown.push(node),
                }
            }
            if let Some(owner) = owner {
                self.members.entry(owner).or_default().push(node);
            }
        }
    }

    /// The classes above a class.
    fn above(&self, class: u32) -> Vec<u32> {
        let graph = self.graph;
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut waiting = vec![graph.symbols[class as usize].number()];
        while let Some(class) = waiting.pop().filter(|_| found.len() < MOST_BASES) {
            for base in graph.edges.bases(class) {
                let Some(node) = graph.node(base).filter(|node| seen.insert(*node)) else { continue };
                found.push(node);
                waiting.push(base);
            }
        }
        found
    }

    /// Methods of some classes, those of their bases as well.
    fn members_of(&self, classes: &[u32]) -> Vec<u32> {
        let all = classes.iter().flat_map(|class| self.above(*class).into_iter().chain([*class]));
        all.flat_map(|class| self.members.get(&class).into_iter().flatten().copied()).collect()
    }

    /// Those of some nodes whose file was compiled from another, as `util.js` from `util.ts`, and which are used there: a
    /// program may load the one or the other.
    fn beside_compiled(&self, nodes: &[u32]) -> Vec<u32> {
        let graph = self.graph;
        let of_file = |node: &u32| graph.symbols[*node as usize].file;
        let place = |node: u32| {
            let symbol = &graph.symbols[node as usize];
            (stem(symbol.file.path()), symbol.qualified_name())
        };
        let mut files: FxHashMap<&str, FxHashSet<u32>> = FxHashMap::default();
        for file in graph.snapshot.files().filter(|file| !file.facts().is_empty() && !file.exercises()) {
            files.entry(stem(file.path())).or_default().insert(file.number());
        }
        files.retain(|_, files| files.len() > 1);
        let is_beside = |node: &u32| files.contains_key(stem(of_file(node).path()));
        let all = (0..graph.symbols.len() as u32).filter(|_| !files.is_empty());
        let used: HashSet<_> =
            all.filter(|node| self.reached[*node as usize] == LIVE && is_beside(node)).map(place).collect();
        nodes.iter().copied().filter(|node| is_beside(node) && used.contains(&place(*node))).collect()
    }

    /// Methods that code of a base asks its own objects for, though only subclasses have them.
    fn missed_in_bases(&self) -> Vec<u32> {
        let graph = self.graph;
        let missed: FxHashSet<(u32, &'a [u8])> = graph
            .edges
            .all()
            .iter()
            .filter(|edge| edge.how() == How::NoMember)
            .filter_map(|edge| {
                let mut class = graph.from(edge)?;
                while !is_type(&graph.symbols[class as usize]) {
                    class = graph.parent(class)?;
                }
                let file = graph.snapshot.file_by_number(edge.file)?;
                let at = edge.at as usize;
                Some((class, file.content().get(at..at + edge.len())?))
            })
            .collect();
        let asks = |base: &u32, node: u32| missed.contains(&(*base, graph.symbols[node as usize].name_bytes()));
        let mut found = Vec::new();
        for (class, own) in self.members.iter().filter(|_| !missed.is_empty()) {
            let bases = self.above(*class);
            found.extend(own.iter().copied().filter(|node| bases.iter().any(|base| asks(base, *node))));
        }
        found
    }

    fn find_overrides(&mut self) {
        let graph = self.graph;
        let above = |class: u32| self.above(class);
        let mut by_name: FxHashMap<(u32, &'a [u8]), Vec<u32>> = FxHashMap::default();
        for (class, own) in &self.members {
            for node in own {
                by_name.entry((*class, graph.symbols[*node as usize].name_bytes())).or_default().push(*node);
            }
        }
        let none = Vec::new();
        let members = |class: &u32| self.members.get(class).unwrap_or(&none);
        let mut pairs = Vec::new();
        let left = Cell::new(COMPARISONS + graph.symbols.len() * COMPARISONS_PER_SYMBOL);
        let takes = |steps: usize| {
            left.set(left.get().saturating_sub(steps));
            left.get() > 0
        };
        let mut replaces = |by: u32, of: u32| {
            let (own, wanted) = (members(&by), members(&of));
            // The smaller class is looked through.
            let (fewer, others) = if own.len() < wanted.len() { (own, of) } else { (wanted, by) };
            for node in fewer {
                let same = by_name.get(&(others, graph.symbols[*node as usize].name_bytes())).unwrap_or(&none);
                if !takes(1 + same.len()) {
                    return;
                }
                pairs.extend(same.iter().map(|other| if others == by { (*node, *other) } else { (*other, *node) }));
            }
        };
        for class in (0..graph.symbols.len() as u32).filter(|node| is_type(&graph.symbols[*node as usize])) {
            let bases = above(class);
            bases.iter().filter(|_| !members(&class).is_empty()).for_each(|base| replaces(class, *base));
            let is_single = graph.edges.bases(graph.symbols[class as usize].number()).nth(1).is_none();
            if is_single || !takes(bases.len() * bases.len()) {
                continue;
            }
            // A method that a class inherits from one base implements the method of another base.
            let all: Vec<(u32, FxHashSet<u32>)> =
                bases.iter().map(|base| (*base, above(*base).into_iter().collect())).collect();
            for (base, over) in &all {
                for (other, over_other) in &all {
                    if base != other && !over.contains(other) && !over_other.contains(base) {
                        replaces(*other, *base);
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        for (wanted, node) in pairs {
            self.overrides.entry(wanted).or_default().push(node);
        }
        self.find_filled_in();
    }

    /// Finds methods in a block that implements a trait, even for an external type: `impl Price for u64`.
    fn find_filled_in(&mut self) {
        let graph = self.graph;
        let of_ours: FxHashSet<u32> = self.members.values().flatten().copied().collect();
        for node in (0..graph.symbols.len() as u32).filter(|node| !graph.is_value(*node)) {
            let symbol = &graph.symbols[node as usize];
            let Some(base) = graph.filled_in(symbol) else { continue };
            // Type and trait are external, so callers need not write the name.
            if graph.edges.targets(base).len() == 0 && !of_ours.contains(&node) {
                self.shown.push(node);
            }
            for wanted in graph.edges.targets(base).filter_map(|wanted| graph.node(wanted)) {
                for above in self.members.get(&wanted).into_iter().flatten() {
                    if graph.symbols[*above as usize].name_bytes() == symbol.name_bytes() {
                        self.overrides.entry(*above).or_default().push(node);
                    }
                }
            }
        }
    }

    /// Walks from the entry points of code and returns their number. With `judged`, tests are judged too.
    fn start(&mut self, judged: bool) -> usize {
        let graph = self.graph;
        self.tests_run = !judged;
        for file in graph.snapshot.files() {
            let is_test_file = file.exercises();
            for edge in graph.edges.in_file(file.number()).iter().filter(|edge| graph.from(edge).is_none()) {
                // A value of a test module in a source file belongs to the tests.
                let in_test =
                    || edge.from().and_then(|from| graph.node(from)).is_some_and(|at| self.tests[at as usize]);
                let into = usize::from(is_test_file || in_test());
                self.top[into].extend(graph.edges.targets(edge).filter_map(|target| graph.owner(target)));
            }
        }
        let roots: Vec<u32> = (0..graph.symbols.len() as u32)
            .filter(|node| !self.tests[*node as usize] && !graph.is_value(*node))
            .filter(|node| self.entries.is_root(&graph.symbols[*node as usize]))
            .collect();
        // Code that gets the value may use its methods: `const handlers = { open() {} }`.
        let shown = self.shown.iter().filter(|node| !self.tests[**node as usize]);
        self.waiting.extend(shown);
        self.waiting.extend(&roots);
        self.waiting.extend(std::mem::take(&mut self.top[0]));
        self.run(LIVE);
        roots.len()
    }

    /// Walks from the entry points of tests.
    fn start_tests(&mut self) {
        let nodes = (0..self.graph.symbols.len() as u32).filter(|node| self.tests[*node as usize]);
        let begins = |node: &u32| self.tests_run || self.entries.is_run_by_tests(&self.graph.symbols[*node as usize]);
        let roots: Vec<u32> = nodes.filter(begins).collect();
        self.waiting.extend(roots);
        self.waiting.extend(std::mem::take(&mut self.top[1]));
        self.run(TESTED);
    }

    /// Those of some nodes that were not reached so far.
    fn left_of(&self, nodes: &[u32]) -> impl Iterator<Item = u32> {
        nodes.iter().copied().filter(|node| self.reached[*node as usize] == UNREACHED)
    }

    /// Reaches everything that waiting nodes use.
    fn run(&mut self, how: u8) {
        while let Some(node) = self.waiting.pop_front() {
            if self.reached[node as usize] != UNREACHED {
                continue;
            }
            self.reached[node as usize] = how;
            self.waiting.extend(self.uses.of(node));
            self.waiting.extend(self.graph.parent(node));
            self.waiting.extend(self.overrides.get(&node).into_iter().flatten());
            if let Some(group) = self.twins.get(&node) {
                self.waiting.extend(std::mem::take(&mut self.groups[*group]));
            }
            self.waiting.extend(self.held.get(&node).into_iter().flatten());
            let class = &self.graph.symbols[node as usize];
            let members = self.members.get(&node).into_iter().flatten();
            let entries = self.entries;
            self.waiting.extend(
                members.filter(|member| entries.is_called_from_outside(class, &self.graph.symbols[**member as usize])),
            );
        }
    }

    /// Reaches overridden methods of possibly used ones: calls of one may mean the other.
    fn reach_overridden(&mut self) {
        loop {
            let reached = |node: &u32| self.reached[*node as usize] != UNREACHED;
            let overridden = self.overrides.iter().filter(|(_, by)| by.iter().any(reached)).map(|(wanted, _)| *wanted);
            self.waiting = overridden.filter(|wanted| !reached(wanted)).collect();
            if self.waiting.is_empty() {
                return;
            }
            self.run(PERHAPS);
        }
    }

    /// The certainty for each dead node, `None` for live ones, and doubts. With `judged`, tests are judged too.
    fn certainties(&self, judged: bool) -> (Vec<Option<Certainty>>, FxHashMap<u32, Doubt>) {
        let graph = self.graph;
        let is_dead = |node: u32| self.reached[node as usize] == UNREACHED && !graph.is_value(node);
        // Code inside a dead symbol uses others on behalf of that symbol.
        let outermost = |mut node: u32| {
            while let Some(parent) = graph.parent(node).filter(|parent| is_dead(*parent)) {
                node = parent;
            }
            node
        };
        let mut pairs = Vec::new();
        for user in (0..graph.symbols.len() as u32).filter(|node| is_dead(*node)) {
            for used in self.uses.of(user).iter().filter(|used| is_dead(**used)) {
                pairs.push((outermost(user), outermost(*used)));
            }
        }
        pairs.retain(|(user, used)| user != used);
        let used = used_from_outside(graph.symbols.len(), &pairs);
        let is_offered = |node: u32| self.entries.is_public_in_package(&graph.symbols[node as usize]);
        let certainty = |node: u32| match self.reached[node as usize] {
            TESTED if self.tests[node as usize] || is_for_tests(&graph.symbols[node as usize]) => None,
            TESTED if is_offered(node) => Some(Certainty::Tried),
            TESTED => Some(Certainty::OnlyTests),
            UNREACHED if used[node as usize] => Some(Certainty::DeadUsers),
            UNREACHED if self.strays.contains(&node) => Some(Certainty::HalfKnown),
            UNREACHED if is_offered(node) => Some(Certainty::Offered),
            UNREACHED => Some(Certainty::Unused),
            _ => None,
        };
        let mut certainties: Vec<Option<Certainty>> = (0..graph.symbols.len() as u32).map(certainty).collect();
        // A use through something public is as little known as that.
        let is_tried = |node: &u32| certainties[*node as usize] == Some(Certainty::Tried);
        let mut waiting: Vec<u32> = (0..graph.symbols.len() as u32).filter(is_tried).collect();
        while let Some(node) = waiting.pop() {
            for used in self.uses.of(node) {
                if certainties[*used as usize] == Some(Certainty::OnlyTests) {
                    certainties[*used as usize] = Some(Certainty::Tried);
                    waiting.push(*used);
                }
            }
        }
        let doubts = self.weigh(judged, &mut certainties);
        self.level_families(&mut certainties);
        (certainties, doubts)
    }

    /// Lowers the certainty of verdicts for which too little speaks, and of what these use.
    fn weigh(&self, judged: bool, certainties: &mut [Option<Certainty>]) -> FxHashMap<u32, Doubt> {
        let graph = self.graph;
        let of_class = |(class, own): (&u32, &Vec<u32>)| own.iter().map(|node| (*node, *class)).collect::<Vec<_>>();
        let owners: FxHashMap<u32, u32> = self.members.iter().flat_map(of_class).collect();
        let evidence = Evidence::new(graph, self.entries, &owners, |node| self.reached[node as usize] >= PERHAPS);
        let is_sure = |node: &u32| certainties[*node as usize].is_some_and(|own| own >= Certainty::Offered);
        let is_outer = |node: &u32| graph.parent(*node).is_none_or(|parent| self.reached[parent as usize] >= PERHAPS);
        let is_listed = |node: &u32| is_judged(graph, *node) && (judged || !self.tests[*node as usize]);
        let nodes = 0..graph.symbols.len() as u32;
        let sure: Vec<u32> = nodes.filter(is_sure).filter(|node| is_listed(node) && is_outer(node)).collect();
        let mut doubts = evidence.doubts(&sure);
        let mut waiting: Vec<u32> = doubts.keys().copied().collect();
        while let Some(node) = waiting.pop() {
            certainties[node as usize] = Some(Certainty::Doubtful);
            for used in self.uses.of(node) {
                if certainties[*used as usize].is_some_and(|own| own > Certainty::Doubtful) {
                    doubts.entry(*used).or_insert(Doubt::OfUser);
                    certainties[*used as usize] = Some(Certainty::Doubtful);
                    waiting.push(*used);
                }
            }
        }
        for node in sure {
            let own = &mut certainties[node as usize];
            if *own == Some(Certainty::Unused) && !evidence.is_hidden(node) {
                *own = Some(Certainty::Offered);
            }
        }
        doubts
    }

    /// Makes an override only as certain as the least certain of its family.
    fn level_families(&self, certainties: &mut [Option<Certainty>]) {
        loop {
            let mut is_done = true;
            for (wanted, by) in &self.overrides {
                let family = || by.iter().chain([wanted]).map(|node| *node as usize);
                let Some(least) = family().filter_map(|node| certainties[node]).min() else { continue };
                for node in family() {
                    if certainties[node].is_some_and(|own| own > least) {
                        certainties[node] = Some(least);
                        is_done = false;
                    }
                }
            }
            if is_done {
                return;
            }
        }
    }

    /// Files that are neither started, nor imported or used by a live file.
    fn dead_files(&self, tests: bool) -> Vec<DeadFile<'a>> {
        let graph = self.graph;
        let files: Vec<FileView<'a>> = graph.snapshot.files().filter(|file| !file.facts().is_empty()).collect();
        let is_test = |file: &FileView<'_>| file.exercises();
        let mut used: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for edge in graph.edges.all() {
            let targets = graph.edges.targets(edge).map(|target| target.file).filter(|file| *file != edge.file);
            used.entry(edge.file).or_default().extend(targets);
        }
        // A file with a possibly used symbol is possibly used.
        let lives = |file: &FileView<'_>| {
            let mut symbols = file.symbols().filter_map(|symbol| graph.node(symbol.number()));
            let roots = |node: u32| !graph.is_value(node) && self.entries.is_root(&graph.symbols[node as usize]);
            self.entries.is_started(*file) || symbols.any(|node| self.reached[node as usize] == PERHAPS || roots(node))
        };
        let mut reached: FxHashMap<u32, u8> = FxHashMap::default();
        for how in [LIVE, TESTED] {
            let begins = |file: &&FileView<'a>| if how == LIVE { !is_test(file) && lives(file) } else { is_test(file) };
            let mut waiting: Vec<u32> = files.iter().filter(begins).map(FileView::number).collect();
            while let Some(file) = waiting.pop() {
                if reached.contains_key(&file) {
                    continue;
                }
                reached.insert(file, how);
                waiting.extend(graph.edges.imports(file).iter().map(|import| import.to));
                waiting.extend(used.get(&file).into_iter().flatten());
            }
        }
        let mut dead = Vec::new();
        let is_judged = |file: &FileView<'_>| file.symbol_count() > 0 && (tests || !is_test(file)) && !is_spared(file);
        for file in files.into_iter().filter(is_judged) {
            let importers = graph.edges.importers(file.number()).len();
            let certainty = match reached.get(&file.number()) {
                Some(&LIVE) => continue,
                Some(_) if is_test(&file) || helps_tests(stem(file.path())) => continue,
                Some(_) => Certainty::OnlyTests,
                None if importers > 0 => Certainty::DeadUsers,
                None => Certainty::Unused,
            };
            dead.push(DeadFile { file, certainty, importers });
        }
        dead
    }
}
