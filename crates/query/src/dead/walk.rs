//! The walk along uses: first from entry points, then from possible uses, last from tests.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::project::Project;
use super::rule::{Asks, Evidence, Rule, Stage};
use super::subject::Subject;

/// How a definition was reached, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// Not at all.
    Not,
    /// By tests.
    Tested,
    /// By code whose use is doubtful.
    Doubted,
    /// By code that may be used.
    Possible,
    /// By code that is used.
    Live,
}

/// The state of the walk.
pub struct Walk<'g, 'a> {
    pub project: &'g Project<'g, 'a>,
    pub reached: Vec<Reached>,
    /// The rule that reached each node, with its evidence. Nodes reached by other nodes have none.
    pub spoke: FxHashMap<u32, (&'static Rule, Evidence)>,
    /// Definitions whose names only tests write.
    pub named_in_tests: Vec<u32>,
    rules: Vec<&'static Rule>,
    waiting: VecDeque<u32>,
    /// Overload groups, see [`super::members::Members::twins`]; emptied once a member is reached.
    groups: Vec<Vec<u32>>,
}

impl<'g, 'a> Walk<'g, 'a> {
    /// A walk with these rules, in their order.
    pub fn new(project: &'g Project<'g, 'a>, rules: Vec<&'static Rule>) -> Self {
        Self {
            project,
            reached: vec![Reached::Not; project.graph.symbols.len()],
            spoke: FxHashMap::default(),
            named_in_tests: Vec::new(),
            rules,
            waiting: VecDeque::new(),
            groups: project.members.groups.clone(),
        }
    }

    /// A definition as the rules see it.
    pub fn subject(&self, node: u32) -> Subject<'_, 'a> {
        Subject { walk: self, node, symbol: self.project.graph.symbols[node as usize] }
    }

    /// The rules of a stage, in order.
    pub fn stage(&self, stage: Stage) -> Vec<&'static Rule> {
        self.rules.iter().copied().filter(|rule| rule.stage == stage).collect()
    }

    /// Walks from entry points, and returns their number.
    pub fn start(&mut self) -> usize {
        let (project, graph) = (self.project, self.project.graph);
        let rules = self.stage(Stage::Root);
        let nodes =
            (0..graph.symbols.len() as u32).filter(|node| !project.tests[*node as usize] && !graph.is_value(*node));
        let root = |node: u32| {
            let speaks = |rule: &&'static Rule| Some((*rule, rule.asks_of(self.subject(node))?));
            rules.iter().find_map(speaks).map(|spoke| (node, spoke))
        };
        let roots: Vec<_> = nodes.filter_map(root).collect();
        let count = roots.len();
        // Code that gets the object may call its methods: `const handlers = { open() {} }`.
        let shown = project.members.shown.iter().filter(|node| !project.tests[**node as usize]);
        self.waiting.extend(shown);
        self.waiting.extend(roots.iter().map(|(node, _)| *node));
        self.spoke.extend(roots);
        let top = self.used_at_top(false);
        self.waiting.extend(top);
        self.run(Reached::Live);
        count
    }

    /// Definitions used at the top level of files, either by code or by tests.
    fn used_at_top(&self, by_tests: bool) -> Vec<u32> {
        let (project, graph) = (self.project, self.project.graph);
        let mut found = Vec::new();
        for file in graph.snapshot.files() {
            for edge in graph.edges.in_file(file.number()).iter().filter(|edge| graph.from(edge).is_none()) {
                // A value in a test module of a source file belongs to the tests.
                let value = || edge.from().and_then(|from| graph.node(from));
                if by_tests == (file.exercises() || value().is_some_and(|at| project.tests[at as usize])) {
                    found.extend(graph.edges.targets(edge).filter_map(|target| graph.owner(target)));
                }
            }
        }
        found
    }

    /// Asks the rules of a stage, one by one, about unreached definitions, and walks on from each one found.
    pub fn ask(&mut self, stage: Stage, nodes: &[u32]) {
        for rule in self.stage(stage) {
            let left: Vec<u32> = self.left_of(nodes);
            let found = self.answers(rule, &left);
            for (node, evidence) in found {
                self.spoke.entry(node).or_insert((rule, evidence));
                self.waiting.push_back(node);
            }
            self.run(rule.lowers_to);
        }
    }

    /// The definitions among `nodes` that a rule applies to.
    pub fn answers(&mut self, rule: &'static Rule, nodes: &[u32]) -> Vec<(u32, Evidence)> {
        match rule.asks {
            Asks::All(ask) => ask(self, nodes),
            _ => nodes.iter().filter_map(|node| Some((*node, rule.asks_of(self.subject(*node))?))).collect(),
        }
    }

    /// Walks from tests. With `judged`, only tests that a runner starts are entry points.
    pub fn start_tests(&mut self, judged: bool) {
        let project = self.project;
        let is_run = |node: &u32| {
            let subject = self.subject(*node);
            let name = subject.symbol.name();
            let starts = subject.language().tests;
            !judged || starts.iter().any(|start| name.starts_with(start)) || subject.is_decorated()
        };
        let tests = (0..project.tests.len() as u32).filter(|node| project.tests[*node as usize]);
        let roots: Vec<u32> = tests.filter(is_run).collect();
        self.waiting.extend(roots);
        let top = self.used_at_top(true);
        self.waiting.extend(top);
        let named = std::mem::take(&mut self.named_in_tests);
        self.waiting.extend(named);
        self.run(Reached::Tested);
    }

    /// The nodes that were not reached so far.
    pub fn left_of(&self, nodes: &[u32]) -> Vec<u32> {
        nodes.iter().copied().filter(|node| self.reached[*node as usize] == Reached::Not).collect()
    }

    /// Reaches everything that the waiting nodes use.
    fn run(&mut self, how: Reached) {
        let (project, graph) = (self.project, self.project.graph);
        let members = &project.members;
        let rules = self.stage(Stage::Root);
        while let Some(node) = self.waiting.pop_front() {
            if self.reached[node as usize] != Reached::Not {
                continue;
            }
            self.reached[node as usize] = how;
            self.waiting.extend(project.uses.of(node));
            self.waiting.extend(graph.parent(node));
            self.waiting.extend(members.overrides.get(&node).into_iter().flatten());
            if let Some(group) = members.twins.get(&node) {
                self.waiting.extend(std::mem::take(&mut self.groups[*group]));
            }
            self.waiting.extend(members.held.get(&node).into_iter().flatten());
            for member in members.of.get(&node).into_iter().flatten() {
                if self.reached[*member as usize] != Reached::Not {
                    continue;
                }
                let speaks = |rule: &&&'static Rule| rule.asks_of(self.subject(*member)).is_some();
                if let Some(rule) = rules.iter().find(speaks) {
                    self.spoke.entry(*member).or_insert((*rule, Evidence::Plain));
                    self.waiting.push_back(*member);
                }
            }
        }
    }

    /// Reaches methods whose overrides were reached, since a call of one may run the other.
    pub fn reach_overridden(&mut self, how: Reached) {
        loop {
            let is_reached = |node: &u32| self.reached[*node as usize] != Reached::Not;
            let pairs = self
                .project
                .members
                .overrides
                .iter()
                .filter(|(wanted, by)| !is_reached(wanted) && by.iter().any(is_reached));
            self.waiting = pairs.map(|(wanted, _)| *wanted).collect();
            if self.waiting.is_empty() {
                return;
            }
            self.run(how);
        }
    }
}
