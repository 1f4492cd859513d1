//! Facts about a repository that several rules need, each computed once.

use globset::{Glob, GlobSet, GlobSetBuilder};
use rustc_hash::{FxHashMap, FxHashSet};

use super::api::Api;
use super::bases::Bases;
use super::members::Members;
use super::rule::Rule;
use crate::graph::{Graph, Uses, decorator_name};
use crate::symbols::rank::in_test_module;
use codelode_base::model::{Detail, Marks};
use codelode_lang::languages::Framework;
use codelode_store::{FileView, SymbolView};

/// A repository.
pub struct Project<'g, 'a> {
    pub graph: &'g Graph<'a>,
    /// The caller's globs for used code.
    pub patterns: &'g GlobSet,
    pub api: Api<'a>,
    pub bases: Bases,
    pub members: Members,
    pub uses: Uses,
    /// Whether each node is part of a test.
    pub tests: Vec<bool>,
    /// The frameworks that use definitions of each file.
    frameworks: FxHashMap<u32, Vec<&'static Framework>>,
    /// Files that are not judged.
    spared: FxHashSet<u32>,
}

impl<'g, 'a> Project<'g, 'a> {
    pub fn new(graph: &'g Graph<'a>, patterns: &'g GlobSet, rules: &[&Rule]) -> Self {
        let is_spared = |file: &FileView<'_>| rules.iter().any(|rule| rule.exempts(file));
        let modules: Vec<String> = graph.symbols.iter().filter_map(test_module).collect();
        let mut tests = Vec::with_capacity(graph.symbols.len());
        for of_file in graph.symbols.chunk_by(|a, b| a.file.number() == b.file.number()) {
            let is_test = of_file[0].file.exercises();
            tests.extend(of_file.iter().map(|symbol| is_test || is_in_test(graph, symbol, &modules)));
        }
        Self {
            graph,
            patterns,
            api: Api::new(graph),
            bases: Bases::new(graph),
            members: Members::new(graph),
            uses: graph.uses(true, |_, _| true),
            tests,
            frameworks: frameworks(graph),
            spared: graph.snapshot.files().filter(is_spared).map(|file| file.number()).collect(),
        }
    }

    /// Whether a definition is judged at all. Values may be read without their name, modules are only paths, and some
    /// files are exempt.
    pub fn is_judged(&self, node: u32) -> bool {
        let symbol = &self.graph.symbols[node as usize];
        !self.graph.is_value(node)
            && !matches!(symbol.detail(), Detail::Module | Detail::Namespace)
            && !self.is_spared(symbol.file.number())
    }

    /// Whether a file is exempt.
    pub fn is_spared(&self, file: u32) -> bool {
        self.spared.contains(&file)
    }

    /// The frameworks that use definitions of a file.
    pub fn frameworks(&self, file: FileView<'_>) -> &[&'static Framework] {
        self.frameworks.get(&file.number()).map_or(&[], Vec::as_slice)
    }

    /// Whether a file is a module with its own names. Other scripts of a page share theirs.
    pub fn is_module(&self, file: FileView<'_>) -> bool {
        self.graph.file_marks(file.number()).is_some_and(|marks| marks.is_module)
    }
}

/// The frameworks and tools that load each file by its path.
fn frameworks(graph: &Graph<'_>) -> FxHashMap<u32, Vec<&'static Framework>> {
    let mut matchers: FxHashMap<&str, Vec<(GlobSet, &'static Framework)>> = FxHashMap::default();
    let mut found = FxHashMap::default();
    for file in graph.snapshot.files().filter(|file| !file.facts().is_empty()) {
        let all =
            || file.conventions().frameworks.iter().map(|framework| (globs(framework.files), framework)).collect();
        let of_language = matchers.entry(file.language()).or_insert_with(all);
        let own = of_language.iter().filter(|(files, _)| files.is_match(file.path())).map(|(_, framework)| *framework);
        let own: Vec<_> = own.collect();
        if !own.is_empty() {
            found.insert(file.number(), own);
        }
    }
    found
}

fn globs(patterns: &[&str]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).expect("a test of frameworks compiles every glob"));
    }
    set.build().expect("a test of frameworks compiles every glob")
}

/// Whether a definition in a source file belongs to tests, by a mark on it or on code around it.
fn is_in_test(graph: &Graph<'_>, symbol: &SymbolView<'_>, modules: &[String]) -> bool {
    let mut around = std::iter::successors(Some(*symbol), SymbolView::parent);
    let in_block =
        |own: &SymbolView<'_>| graph.node(own.number()).is_some_and(|node| graph.marks(node).has(Marks::OF_TESTS));
    around.any(|own| is_marked_as_test(&own) || in_block(&own))
        || in_test_module(symbol)
        || modules.iter().any(|module| is_of_module(symbol.file.path(), module))
}

fn is_marked_as_test(symbol: &SymbolView<'_>) -> bool {
    let marks = symbol.file.conventions().test_decorators;
    let is_test = |decorator: &String| {
        marks.contains(&decorator_name(decorator))
            || marks.iter().any(|mark| mark.ends_with(')') && decorator.contains(mark))
    };
    !marks.is_empty() && symbol.decorators().iter().any(is_test)
}

/// The path, without extension, of a test module that is declared here and lies in a file of its own.
fn test_module(symbol: &SymbolView<'_>) -> Option<String> {
    if symbol.detail() != Detail::Module || symbol.has_body() || !is_marked_as_test(symbol) {
        return None;
    }
    let folder = folder_of_modules(symbol.file.path());
    Some([folder, &symbol.name()].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/"))
}

/// The folder of the modules that a file declares: its own folder, or one with the file's name.
pub fn folder_of_modules(path: &str) -> &str {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let (folder, own) = stem.rsplit_once('/').unwrap_or(("", stem));
    if matches!(own, "lib" | "main" | "mod") { folder } else { stem }
}

/// Whether a file belongs to a module with this path.
fn is_of_module(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.starts_with(['.', '/']))
}
