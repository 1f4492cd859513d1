//! Versions of a definition among which a build chooses, by an attribute, a tag of the file, or a platform's name.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Answers, Asks, Evidence, Reached, Rule, Stage, Walk};
use crate::dead::project::folder_of_modules;
use crate::graph::Graph;
use codelode_base::model::{Detail, Kind, Marks};
use codelode_store::SymbolView;

pub static RULE: Rule = Rule {
    name: "build",
    stage: Stage::Reach,
    lowers_to: Reached::Possible,
    reason: "a build may choose another of its name",
    asks: Asks::All(ask),
};

fn ask(walk: &mut Walk<'_, '_>, nodes: &[u32]) -> Answers {
    let graph = walk.project.graph;
    let modules = conditional_modules(graph);
    let chosen: Vec<u32> = nodes.iter().copied().filter(|node| is_conditional(graph, *node, &modules)).collect();
    let wanted: FxHashSet<&[u8]> = chosen.iter().map(|node| graph.symbols[*node as usize].name_bytes()).collect();
    let mut versions: FxHashMap<(String, Kind), usize> = FxHashMap::default();
    let key = |symbol: &SymbolView<'_>| (version_of(symbol), symbol.kind());
    for symbol in graph.symbols.iter().filter(|symbol| wanted.contains(symbol.name_bytes())) {
        *versions.entry(key(symbol)).or_default() += 1;
    }
    let has_others = |node: &u32| versions.get(&key(&graph.symbols[*node as usize])).is_some_and(|count| *count > 1);
    chosen.into_iter().filter(has_others).map(|node| (node, Evidence::Plain)).collect()
}

/// The name of a definition, with its type if it is a method. Modules of other names may hold other versions of it.
fn version_of(symbol: &SymbolView<'_>) -> String {
    let name = symbol.qualified_name();
    let parts = if symbol.kind() == Kind::Method { 2 } else { 1 };
    let start = name.rmatch_indices('.').nth(parts - 1).map_or(0, |(dot, _)| dot + 1);
    name[start..].to_owned()
}

/// Paths of modules in files of their own that are declared under a condition (`#[cfg(windows)] mod console;`), or that
/// have a version for a platform beside them (`console.ts`, `console.browser.ts`).
fn conditional_modules(graph: &Graph<'_>) -> FxHashSet<String> {
    let path = |folder: &str, name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let is_chosen = |node: &u32| {
        let symbol = &graph.symbols[*node as usize];
        symbol.detail() == Detail::Module && (is_tied(symbol) || graph.marks(*node).has(Marks::IN_MACRO))
    };
    let declared = (0..graph.symbols.len() as u32).filter(is_chosen).map(|node| graph.symbols[node as usize]);
    let mut modules: FxHashSet<String> =
        declared.map(|module| path(folder_of_modules(module.file.path()), &module.name())).collect();
    for file in graph.snapshot.files().filter(|file| !file.conventions().platforms.is_empty()) {
        let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
        if let [stem, platform, _] = name.split('.').collect::<Vec<_>>()[..]
            && file.conventions().platforms.contains(&platform)
        {
            modules.insert(path(folder, stem));
        }
    }
    modules
}

/// Whether a build may leave a definition out, by a condition on it, on code around it, on its file or on its module.
fn is_conditional(graph: &Graph<'_>, node: u32, modules: &FxHashSet<String>) -> bool {
    let symbol = graph.symbols[node as usize];
    let path = symbol.file.path();
    // A module holds the files in its folder: the module `other` holds `unix/other/disk.rs`.
    let mut ends = path.match_indices(['/', '.']).map(|(end, _)| end);
    let mut in_module = || ends.any(|end| modules.contains(&path[..end]));
    std::iter::successors(Some(symbol), SymbolView::parent).any(|own| is_tied(&own))
        || graph.file_marks(symbol.file.number()).is_some_and(|marks| marks.is_conditional)
        || !modules.is_empty() && in_module()
}

/// Whether a definition itself has a condition.
fn is_tied(symbol: &SymbolView<'_>) -> bool {
    let conditions = symbol.file.conventions().conditions;
    let is_condition = |decorator: &String| conditions.iter().any(|opening| decorator.starts_with(opening));
    !conditions.is_empty() && symbol.decorators().iter().any(is_condition)
}
