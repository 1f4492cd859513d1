//! Dead files: no live file imports or uses them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Verdict;
use super::tier::Tier;
use super::walk::{Reached, Walk};
use codelode_lang::languages::is_for_testing;
use codelode_store::FileView;

/// A file that no live file imports or uses.
pub struct DeadFile<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// The confidence of the verdict.
    pub tier: Tier,
    /// The number of files that import it.
    pub importers: usize,
}

/// Finds files that are not started, and that no live file imports or uses.
pub fn dead_files<'a>(walk: &Walk<'_, 'a>, tests: bool, verdicts: &FxHashMap<u32, Verdict>) -> Vec<DeadFile<'a>> {
    let (project, graph) = (walk.project, walk.project.graph);
    let files: Vec<FileView<'a>> = graph.snapshot.files().filter(|file| !file.facts().is_empty()).collect();
    let live = files.iter().filter(|file| !file.exercises() && is_live(walk, **file)).map(FileView::number).collect();
    let live = reached_files(walk, live);
    let tested = reached_files(walk, files.iter().filter(|file| file.exercises()).map(FileView::number).collect());
    let mut dead = Vec::new();
    let is_judged = |file: &FileView<'_>| {
        file.symbol_count() > 0 && (tests || !file.exercises()) && !project.is_spared(file.number())
    };
    for file in files.into_iter().filter(|file| is_judged(file) && !live.contains(&file.number())) {
        let importers = graph.edges.importing(file.number()).count();
        let tier = match tested.contains(&file.number()) {
            true if file.exercises() || is_for_testing(file.path()) => continue,
            true => Tier::OnlyTests,
            false if importers > 0 => Tier::DeadUsers,
            false => Tier::Certain,
        };
        // A file is never more certainly dead than its symbols.
        let nodes = file.symbols().filter_map(|symbol| graph.node(symbol.number()));
        let of_symbol = |node: u32| match verdicts.get(&node) {
            _ if !project.is_judged(node) => None,
            Some((Tier::Unclear | Tier::DeadUsers, None)) => None,
            Some((tier, _)) => Some(*tier),
            None => Some(Tier::Unclear),
        };
        let least = nodes.filter_map(of_symbol).min();
        dead.push(DeadFile { file, tier: least.map_or(tier, |least| tier.min(least)), importers });
    }
    dead
}

/// Whether a file is run, or something in it is a root or may be used.
fn is_live(walk: &Walk<'_, '_>, file: FileView<'_>) -> bool {
    let graph = walk.project.graph;
    let is_root = |node: &u32| walk.spoke.get(node).is_some_and(|(rule, _)| rule.lowers_to >= Reached::Possible);
    let is_possible = |node: &u32| walk.reached[*node as usize] == Reached::Possible;
    let mut nodes = file.symbols().filter_map(|symbol| graph.node(symbol.number()));
    walk.project.api.is_started(graph, file)
        || walk.project.patterns.is_match(file.path())
        || nodes.any(|node| is_possible(&node) || !graph.is_value(node) && is_root(&node))
}

/// The given files, and all files that they import or use, directly or indirectly.
fn reached_files(walk: &Walk<'_, '_>, mut waiting: Vec<u32>) -> FxHashSet<u32> {
    let edges = walk.project.graph.edges;
    let mut reached = FxHashSet::default();
    while let Some(file) = waiting.pop() {
        if reached.insert(file) {
            waiting.extend(edges.imports(file).iter().map(|import| import.to));
            let used = edges.in_file(file).iter().flat_map(|edge| edges.targets(edge)).map(|target| target.file);
            waiting.extend(used.filter(|used| !reached.contains(used)));
        }
    }
    reached
}
