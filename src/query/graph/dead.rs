//! Dead code: symbols and files that cannot be reached from entry points, as far as names were resolved.

use globset::GlobSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::documented::documented;
use super::entry::Entries;
use super::evidence::{Certainty, DeadCodeDoubt};
use super::groups::{chosen_by_build, collected};
use super::mentioned::{is_in_reach, is_local, mentioned};
use super::reachability::{LIVE, POSSIBLE, Reachability, TESTED, UNREACHED};
use super::strings::named_in_text;
use super::visible::is_part;
use crate::languages::{is_beside, is_built, is_for_testing, is_minified, is_vendored};
use crate::model::{Detail, Kind};
use crate::store::{EdgeTable, FileView, Snapshot, SymbolView};

/// A dead symbol; symbols inside it are dead with it.
pub struct Dead<'a> {
    /// The symbol.
    pub symbol: SymbolView<'a>,
    /// The certainty of it.
    pub certainty: Certainty,
    /// A reason to doubt it.
    pub doubt: Option<DeadCodeDoubt>,
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
pub struct DeadCode<'a> {
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

impl DeadCode<'_> {
    /// Doubts verdicts on names that a text outside of the index has.
    pub fn doubt_names_in(&mut self, path: &str, text: &[u8]) {
        let is_sure = |dead: &&mut Dead<'_>| dead.certainty >= Certainty::Offered;
        let mut sure: FxHashMap<&[u8], Vec<&mut Dead<'_>>> = FxHashMap::default();
        for dead in self.symbols.iter_mut().filter(is_sure) {
            sure.entry(dead.symbol.name_bytes()).or_default().push(dead);
        }
        let mut at = 0;
        for word in text.split(|byte| !is_part(*byte)) {
            for dead in sure.remove(word).into_iter().flatten() {
                let line = 1 + memchr::memchr_iter(b'\n', &text[..at]).count();
                dead.certainty = Certainty::Doubtful;
                dead.doubt = Some(DeadCodeDoubt::Written(path.to_owned(), line as u32));
            }
            at += word.len() + 1;
        }
    }
}

/// Finds functions, methods, classes and types without uses. Symbols of tests are judged only with `tests`; symbols
/// whose path or qualified name matches `patterns` count as used.
pub fn dead_code<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, tests: bool, patterns: &GlobSet) -> DeadCode<'a> {
    let graph = Graph::new(snapshot, edges);
    let entries = Entries::new(&graph, patterns);
    let mut walk = Reachability::new(&graph, &entries);
    let mut found = DeadCode { roots: walk.start(tests), ..DeadCode::default() };
    let nodes = || 0..graph.symbols.len() as u32;
    let unreached: Vec<u32> =
        nodes().filter(|node| walk.reached[*node as usize] == UNREACHED && is_judged(&graph, *node)).collect();
    // Possible uses are followed before tests: a symbol reached by both is not known to be unused.
    let possible = |node: &&u32| {
        let symbol = &graph.symbols[**node as usize];
        edges.unbound(symbol.name_bytes()).any(|edge| is_in_reach(symbol, edge.file, edge.at))
    };
    walk.waiting.extend(unreached.iter().filter(possible));
    let named = named_in_text(&graph, &unreached);
    // No text names what is inside of a function.
    walk.waiting.extend(named.nodes.into_iter().filter(|node| !is_local(&graph.symbols[*node as usize])));
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
    walk.run(POSSIBLE);
    let mentioned = mentioned(&graph, walk.left_of(&unreached));
    walk.waiting.extend(mentioned.by_code);
    walk.run(POSSIBLE);
    let is_offered = |node: &u32| {
        let symbol = &graph.symbols[*node as usize];
        entries.is_public_in_package(symbol) || is_beside(symbol.file.path())
    };
    walk.waiting.extend(documented(&graph, walk.left_of(&unreached).filter(is_offered)));
    walk.run(POSSIBLE);
    let left: Vec<u32> = walk.left_of(&unreached).collect();
    walk.waiting.extend(chosen_by_build(&graph, &left, |node| walk.reached[node as usize] != UNREACHED));
    walk.run(POSSIBLE);
    walk.reach_overridden();
    walk.waiting.extend(mentioned.by_tests);
    walk.start_tests();
    let (certainties, mut doubts) = walk.certainties(tests);
    found.files = walk.dead_files(tests, &certainties, &doubts);
    for node in nodes().filter(|node| is_judged(&graph, *node)) {
        if walk.reached[node as usize] == POSSIBLE {
            found.perhaps_used += usize::from(!walk.tests[node as usize]);
        }
        let Some(certainty) = certainties[node as usize] else { continue };
        let is_judged = tests || !walk.tests[node as usize];
        let in_dead = graph.parent(node).is_some_and(|parent| walk.reached[parent as usize] < POSSIBLE);
        if is_judged && !in_dead {
            let doubt = doubts.remove(&node);
            found.symbols.push(Dead { symbol: graph.symbols[node as usize], certainty, doubt });
        }
    }
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
pub(super) fn is_judged(graph: &Graph<'_>, node: u32) -> bool {
    let symbol = &graph.symbols[node as usize];
    !graph.is_value(node) && !matches!(symbol.detail(), Detail::Module | Detail::Namespace) && !is_spared(&symbol.file)
}

/// Whether a file is not judged: it is vendored, generated or minified, so that its code is not deleted by hand, it declares
/// what others define, or it is in a language whose unused code cannot be told.
fn is_spared(file: &FileView<'_>) -> bool {
    !file.conventions().tells_dead
        || file.conventions().declarations.iter().any(|ending| file.path().ends_with(ending))
        || file.is_generated()
        || is_minified(file.content())
        || file.given_as_vendored().unwrap_or_else(|| is_vendored(file.path()) || is_built(file.path()))
}

impl<'a> Reachability<'_, 'a> {
    /// Files that are neither started, nor imported or used by a live file.
    fn dead_files(
        &self,
        tests: bool,
        certainties: &[Option<Certainty>],
        doubts: &FxHashMap<u32, DeadCodeDoubt>,
    ) -> Vec<DeadFile<'a>> {
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
            self.entries.is_started(*file) || symbols.any(|node| self.reached[node as usize] == POSSIBLE || roots(node))
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
        // A file is no surer dead than what is in it, but for doubts that are about the file; where its own code uses that, a
        // tool may run it.
        let of_symbol = |node: u32| match doubts.get(&node) {
            _ if graph.is_value(node) || !is_judged(graph, node) => None,
            Some(DeadCodeDoubt::NotLoaded | DeadCodeDoubt::OfUser | DeadCodeDoubt::Short) => None,
            _ => Some(certainties[node as usize].unwrap_or(Certainty::Doubtful)),
        };
        let mut dead = Vec::new();
        let is_judged = |file: &FileView<'_>| file.symbol_count() > 0 && (tests || !is_test(file)) && !is_spared(file);
        for file in files.into_iter().filter(is_judged) {
            let importers = graph.edges.importers(file.number()).len();
            let certainty = match reached.get(&file.number()) {
                Some(&LIVE) => continue,
                Some(_) if is_test(&file) || is_for_testing(file.path()) => continue,
                Some(_) => Certainty::OnlyTests,
                None if importers > 0 => Certainty::DeadUsers,
                None => Certainty::Unused,
            };
            let nodes = file.symbols().filter_map(|symbol| graph.node(symbol.number()));
            let least = nodes.filter_map(of_symbol).min();
            let certainty = least.map_or(certainty, |least| certainty.min(least));
            dead.push(DeadFile { file, certainty, importers });
        }
        dead
    }
}
