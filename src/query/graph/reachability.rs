//! The walk along uses that tells which symbols are reached, and what it must know beforehand: members, overrides, groups.

use std::cell::Cell;
use std::collections::{HashMap, HashSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::entry::Entries;
use super::visible::{in_type, is_type, stem};
use super::{Graph, Uses};
use crate::languages::Owner;
use crate::model::{How, Kind};
use crate::store::SymbolView;

/// The most bases of a class whose methods are looked for among its own.
const MOST_BASES: usize = 250;
/// The most comparisons of classes and methods in the search for overrides, beside a few for each symbol.
const COMPARISONS: usize = 3_000_000;
const COMPARISONS_PER_SYMBOL: usize = 50;

/// Reachability of a symbol, the strongest last.
pub(super) const UNREACHED: u8 = 0;
pub(super) const TESTED: u8 = 1;
pub(super) const POSSIBLE: u8 = 2;
pub(super) const LIVE: u8 = 3;

/// Whether it is a method without a type of its own, as in an object or an anonymous class, and no type is found for
/// it.
fn is_loose(symbol: &SymbolView<'_>) -> bool {
    let owner = symbol.file.conventions().owner;
    let is_free = if symbol.container_span().is_empty() { !in_type(symbol) } else { owner != Owner::Type };
    symbol.kind() == Kind::Method && is_free
}

/// Reachability of symbols, along uses from what is run.
pub(super) struct Reachability<'g, 'a> {
    pub graph: &'g Graph<'a>,
    pub entries: &'g Entries<'g, 'a>,
    pub uses: Uses,
    /// By node: whether it is part of a test.
    pub tests: Vec<bool>,
    pub reached: Vec<u8>,
    pub waiting: VecDeque<u32>,
    pub members: FxHashMap<u32, Vec<u32>>,
    /// By node: methods of unnamed objects and classes inside it; code that gets such an object may call them.
    pub held: FxHashMap<u32, Vec<u32>>,
    /// Methods of unnamed objects at the top level of files.
    pub shown: Vec<u32>,
    /// Methods of their own of types that were not found: a macro may have made one.
    pub strays: FxHashSet<u32>,
    /// By method: its overrides.
    pub overrides: FxHashMap<u32, Vec<u32>>,
    /// By definition: its group in `groups`, in languages that take definitions with one name and place for one.
    pub twins: FxHashMap<u32, usize>,
    /// Definitions by group; empty once one of them was reached.
    pub groups: Vec<Vec<u32>>,
    /// Symbols used at the top level of files: by code, and by tests.
    pub top: [Vec<u32>; 2],
    /// Whether every part of a test counts as run.
    pub tests_run: bool,
}

impl<'g, 'a> Reachability<'g, 'a> {
    pub fn new(graph: &'g Graph<'a>, entries: &'g Entries<'g, 'a>) -> Self {
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
    pub fn above(&self, class: u32) -> Vec<u32> {
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
    pub fn members_of(&self, classes: &[u32]) -> Vec<u32> {
        let all = classes.iter().flat_map(|class| self.above(*class).into_iter().chain([*class]));
        all.flat_map(|class| self.members.get(&class).into_iter().flatten().copied()).collect()
    }

    /// Those of some nodes whose file was compiled from another, as `util.js` from `util.ts`, and which are used there: a
    /// program may load the one or the other.
    pub fn beside_compiled(&self, nodes: &[u32]) -> Vec<u32> {
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
    pub fn missed_in_bases(&self) -> Vec<u32> {
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
    pub fn start(&mut self, judged: bool) -> usize {
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
    pub fn start_tests(&mut self) {
        let nodes = (0..self.graph.symbols.len() as u32).filter(|node| self.tests[*node as usize]);
        let begins = |node: &u32| self.tests_run || self.entries.is_run_by_tests(&self.graph.symbols[*node as usize]);
        let roots: Vec<u32> = nodes.filter(begins).collect();
        self.waiting.extend(roots);
        self.waiting.extend(std::mem::take(&mut self.top[1]));
        self.run(TESTED);
    }

    /// Those of some nodes that were not reached so far.
    pub fn left_of(&self, nodes: &[u32]) -> impl Iterator<Item = u32> {
        nodes.iter().copied().filter(|node| self.reached[*node as usize] == UNREACHED)
    }

    /// Reaches everything that waiting nodes use.
    pub fn run(&mut self, how: u8) {
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
    pub fn reach_overridden(&mut self) {
        loop {
            let reached = |node: &u32| self.reached[*node as usize] != UNREACHED;
            let overridden = self.overrides.iter().filter(|(_, by)| by.iter().any(reached)).map(|(wanted, _)| *wanted);
            self.waiting = overridden.filter(|wanted| !reached(wanted)).collect();
            if self.waiting.is_empty() {
                return;
            }
            self.run(POSSIBLE);
        }
    }
}
