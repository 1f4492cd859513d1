//! Dead code: roots → reach → verdict.
//!
//! A walk along uses begins at the roots (mains, commands, the API of a library) and at the top level of every file.
//! The rules of [`rules::RULES`] are then asked about the rest, in the order of that table. A rule of reach finds a use
//! without a resolved name. A rule of doubt says that an absent use proves little. Code that only tests reach has a
//! tier of its own. The rest is dead: certainly if the language hides it from other code, likely otherwise.

mod api;
mod bases;
mod files;
mod members;
mod project;
mod rings;
mod rule;
pub mod rules;
mod search;
mod subject;
mod tier;
mod walk;

use globset::GlobSet;
use rustc_hash::FxHashMap;

pub use files::DeadFile;
use project::Project;
use rings::used_from_other_rings;
use rule::{Evidence, Rule, Stage};
use rules::RULES;
pub use tier::Tier;
use walk::{Reached, Walk};

use super::graph::{Graph, is_decorated, is_part};
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// A dead symbol. Symbols inside it are dead as well.
pub struct Dead<'a> {
    /// The symbol.
    pub symbol: SymbolView<'a>,
    /// The confidence of the verdict.
    pub tier: Tier,
    /// The rule that prevents a higher tier.
    pub rule: Option<&'static str>,
    /// The reason in words.
    pub reason: String,
}

/// Dead symbols and files.
#[derive(Default)]
pub struct DeadCode<'a> {
    /// By path and place.
    pub symbols: Vec<Dead<'a>>,
    /// By path.
    pub files: Vec<DeadFile<'a>>,
    /// The number of entry points outside tests.
    pub roots: usize,
    /// The number of symbols without resolved uses whose name an unresolved reference writes.
    pub perhaps_used: usize,
    /// The number of files with symbols that were not judged: generated or vendored files, and languages without name
    /// resolution or without a reliable notion of unused code.
    pub files_not_judged: usize,
    /// The rules that apply to [`Options::explain`], each with its reason.
    pub explained: Vec<(&'static str, String)>,
}

/// A question for dead code.
pub struct Options<'o> {
    /// Whether tests are judged as well.
    pub tests: bool,
    /// Globs of paths and names that count as used.
    pub patterns: &'o GlobSet,
    /// The name of a rule to skip.
    pub without: Option<&'o str>,
    /// A symbol whose rules are listed.
    pub explain: Option<SymbolId>,
}

impl<'o> Options<'o> {
    /// Options that judge all code outside tests, by all rules.
    pub fn new(patterns: &'o GlobSet) -> Self {
        Self { tests: false, patterns, without: None, explain: None }
    }
}

impl DeadCode<'_> {
    /// Lowers verdicts on names that a text outside the index mentions.
    pub fn doubt_names_in(&mut self, path: &str, text: &[u8]) {
        let mut sure: FxHashMap<&[u8], Vec<&mut Dead<'_>>> = FxHashMap::default();
        for dead in self.symbols.iter_mut().filter(|dead| dead.tier >= Tier::Likely) {
            sure.entry(dead.symbol.name_bytes()).or_default().push(dead);
        }
        let mut at = 0;
        for word in text.split(|byte| !is_part(*byte)) {
            for dead in sure.remove(word).into_iter().flatten() {
                let line = 1 + memchr::memchr_iter(b'\n', &text[..at]).count();
                let rule = &rules::named::RULE;
                (dead.tier, dead.rule) = (Tier::Unclear, Some(rule.name));
                dead.reason = rule.worded(&Evidence::At(path.to_owned(), line as u32));
            }
            at += word.len() + 1;
        }
    }
}

/// Finds functions, methods, classes and types without uses.
pub fn dead_code<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, options: &Options<'_>) -> DeadCode<'a> {
    let graph = Graph::new(snapshot, edges);
    let rules: Vec<&Rule> = RULES.iter().copied().filter(|rule| Some(rule.name) != options.without).collect();
    let project = Project::new(&graph, options.patterns, &rules);
    let mut walk = Walk::new(&project, rules);
    let mut found = DeadCode { roots: walk.start(), ..DeadCode::default() };
    let judged: Vec<u32> = (0..graph.symbols.len() as u32).filter(|node| project.is_judged(*node)).collect();
    walk.ask(Stage::Reach, &judged);
    walk.reach_overridden(Reached::Possible);
    walk.start_tests(options.tests);
    // Inside dead code, only the outermost definition is asked about.
    let is_outer =
        |node: &u32| graph.parent(*node).is_none_or(|parent| walk.reached[parent as usize] > Reached::Tested);
    let is_asked = |node: &u32| is_outer(node) && (options.tests || !project.tests[*node as usize]);
    let asked: Vec<u32> = judged.iter().copied().filter(is_asked).collect();
    walk.ask(Stage::Doubt, &asked);
    let verdicts = verdicts(&walk, options.tests);
    found.files = files::dead_files(&walk, options.tests, &verdicts);
    for node in judged {
        if walk.reached[node as usize] == Reached::Possible {
            found.perhaps_used += usize::from(!project.tests[node as usize]);
        }
        let is_in_dead =
            graph.parent(node).is_some_and(|parent| verdicts.get(&parent).is_some_and(|own| own.0 > Tier::PublicApi));
        if let Some((tier, rule)) = verdicts.get(&node).filter(|_| !is_in_dead) {
            let rule = rule.as_ref();
            let reason = rule.map_or_else(|| tier.reason().to_owned(), |(rule, evidence)| rule.worded(evidence));
            let symbol = graph.symbols[node as usize];
            found.symbols.push(Dead { symbol, tier: *tier, rule: rule.map(|(rule, _)| rule.name), reason });
        }
    }
    let is_left_out =
        |file: &FileView<'_>| file.symbol_count() > 0 && (file.facts().is_empty() || project.is_spared(file.number()));
    found.files_not_judged = snapshot.files().filter(is_left_out).count();
    found.explained =
        options.explain.and_then(|id| graph.node(id)).map_or_else(Vec::new, |node| explain(&mut walk, node));
    found
}

type Verdict = (Tier, Option<(&'static Rule, Evidence)>);

/// The verdict on each dead node.
fn verdicts(walk: &Walk<'_, '_>, tests: bool) -> FxHashMap<u32, Verdict> {
    let project = walk.project;
    let used = used_by_dead(walk);
    let cautions = walk.stage(Stage::Caution);
    let mut found = FxHashMap::default();
    for node in (0..project.graph.symbols.len() as u32).filter(|node| project.is_judged(*node)) {
        if project.tests[node as usize] && !tests {
            continue;
        }
        let spoke = walk.spoke.get(&node).cloned();
        let verdict = match walk.reached[node as usize] {
            Reached::Live if is_unused_api(walk, node) => (Tier::PublicApi, None),
            Reached::Live | Reached::Possible => continue,
            Reached::Doubted => (Tier::Unclear, spoke),
            Reached::Tested if project.tests[node as usize] => continue,
            Reached::Tested => (Tier::OnlyTests, None),
            Reached::Not if used[node as usize] => (Tier::DeadUsers, None),
            Reached::Not => {
                let subject = walk.subject(node);
                let caution = cautions.iter().find_map(|rule| Some((*rule, rule.asks_of(subject)?)));
                (if caution.is_some() { Tier::Likely } else { Tier::Certain }, caution)
            }
        };
        found.insert(node, verdict);
    }
    level_families(walk, &mut found);
    found
}

/// Whether a definition is live only because others can use it.
fn is_unused_api(walk: &Walk<'_, '_>, node: u32) -> bool {
    let (project, graph) = (walk.project, walk.project.graph);
    let symbol = &graph.symbols[node as usize];
    let is_of_code = |edge: &Edge| {
        let from = graph.from(edge);
        let is_own = from.is_some_and(|from| walk.subject(from).around().any(|around| around.node == node));
        let of_test = from.is_some_and(|from| project.tests[from as usize]);
        !is_own && !of_test && !graph.snapshot.file_by_number(edge.file).is_some_and(|file| file.exercises())
    };
    let by_api = walk.spoke.get(&node).is_some_and(|(rule, _)| is_api(rule));
    let mut users = graph.edges.users(symbol.number());
    by_api && !users.any(is_of_code) && graph.edges.possible(symbol.name_bytes()).next().is_none()
}

/// Whether other dead code uses each node. A use inside a dead symbol counts as a use by that symbol.
fn used_by_dead(walk: &Walk<'_, '_>) -> Vec<bool> {
    let (project, graph) = (walk.project, walk.project.graph);
    let is_dead = |node: u32| walk.reached[node as usize] == Reached::Not && !graph.is_value(node);
    let outermost = |mut node: u32| {
        while let Some(parent) = graph.parent(node).filter(|parent| is_dead(*parent)) {
            node = parent;
        }
        node
    };
    let mut pairs = Vec::new();
    for user in (0..graph.symbols.len() as u32).filter(|node| is_dead(*node)) {
        for used in project.uses.of(user).iter().filter(|used| is_dead(**used)) {
            pairs.push((outermost(user), outermost(*used)));
        }
    }
    pairs.retain(|(user, used)| user != used);
    used_from_other_rings(graph.symbols.len(), &pairs)
}

/// Lowers every override to the lowest tier of its family.
fn level_families(walk: &Walk<'_, '_>, verdicts: &mut FxHashMap<u32, Verdict>) {
    loop {
        let mut is_done = true;
        for (wanted, by) in &walk.project.members.overrides {
            let family = || by.iter().chain([wanted]);
            let least = family().filter_map(|node| verdicts.get(node)).min_by_key(|(tier, _)| *tier).cloned();
            let Some(least) = least else { continue };
            for node in family() {
                if let Some(own) = verdicts.get_mut(node).filter(|own| own.0 > least.0) {
                    *own = least.clone();
                    is_done = false;
                }
            }
        }
        if is_done {
            return;
        }
    }
}

/// All rules that apply to a node, even after the first one in the table that does.
fn explain(walk: &mut Walk<'_, '_>, node: u32) -> Vec<(&'static str, String)> {
    let graph = walk.project.graph;
    let mut found = Vec::new();
    let reached = walk.reached[node as usize];
    let user = graph.edges.users(graph.symbols[node as usize].number()).find_map(|edge| {
        let from = graph.from(edge);
        let is_it = from.is_none_or(|from| from != node && walk.reached[from as usize] == reached);
        let file = graph.snapshot.file_by_number(edge.file).filter(|_| is_it)?;
        Some(format!("{}:{}", file.path(), crate::line_of(file, edge.at)))
    });
    if let Some(user) = user {
        found.push(("used", format!("something that is {} uses it at {user}", reached.word())));
    }
    for rule in RULES {
        let answers = walk.answers(rule, &[node]).into_iter().filter(|(about, _)| *about == node);
        found.extend(answers.map(|(_, evidence)| (rule.name, rule.worded(&evidence))));
    }
    found
}

/// Whether this is the rule about the API of a library.
fn is_api(rule: &Rule) -> bool {
    std::ptr::eq(rule, &rules::api::RULE)
}

/// Ways in which code outside the repository may use a symbol.
pub(super) struct OutsideUse {
    /// A framework, a runner or an installer may run it without writing its name.
    pub is_run: bool,
    /// It is part of the API of a library.
    pub is_offered: bool,
}

/// Finds how code outside the repository may use a symbol.
pub(super) fn used_from_outside<'a>(graph: &Graph<'a>, symbol: &SymbolView<'a>) -> OutsideUse {
    let patterns = GlobSet::empty();
    let project = Project::new(graph, &patterns, RULES);
    let mut walk = Walk::new(&project, RULES.to_vec());
    let Some(node) = graph.node(symbol.number()) else { return OutsideUse { is_run: false, is_offered: false } };
    let class = walk.subject(node).class().map(|class| class.node);
    // A method is asked about as if its class were in use.
    class.into_iter().for_each(|class| walk.reached[class as usize] = Reached::Live);
    let subject = walk.subject(node);
    let speaks = |rule: &&Rule| rule.asks_of(subject).is_some();
    let is_run = walk.stage(Stage::Root).into_iter().filter(|rule| !is_api(rule)).any(|rule| speaks(&rule));
    OutsideUse { is_run: is_run || is_decorated(symbol), is_offered: speaks(&&rules::api::RULE) }
}

impl Reached {
    fn word(self) -> &'static str {
        match self {
            Self::Not => "dead",
            Self::Tested => "a test",
            Self::Doubted => "doubted",
            Self::Possible => "perhaps used",
            Self::Live => "in use",
        }
    }
}
