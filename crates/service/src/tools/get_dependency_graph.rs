//! Imports and importers of a file, up to some distance.

use std::collections::{BTreeSet, HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::unknown_file;
use super::indexes::Repo;
use super::{Call, Error, Tool, ToolTier, related};
use crate::catalog::context::linking;
use codelode_query as query;
use codelode_store::EdgeTable;

/// Show the dependency graph of files or modules: what a file depends on and its dependents, transitively (circular
/// too), external packages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Id, name or path (default: current).
    #[serde(default)]
    repo: Option<String>,
    /// The file.
    #[schemars(extend("x-aliases" = ["file_path"]))]
    file: String,
    /// Direction.
    #[serde(default)]
    direction: Direction,
    /// 1 to 3.
    #[serde(default = "two")]
    depth: u32,
}

fn two() -> u32 {
    2
}

/// Direction of imports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Files that it imports.
    Imports,
    /// Files that import it.
    Importers,
    /// Both.
    #[default]
    Both,
}

/// Nearest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    file: String,
    /// Files that the file imports directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    imports: Option<Vec<String>>,
    /// Files that import the file directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    importers: Option<Vec<String>>,
    node_count: usize,
    edge_count: usize,
    /// From depth 2: every file, itself first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<String>,
    /// From depth 2: pairs (importer, imported) of positions in `nodes`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    edges: Vec<[usize; 2]>,
    /// External packages that the file imports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    external: Vec<String>,
    /// Number of files that did not fit. Use one direction or a smaller `depth`.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// See [`Args`].
pub struct GetDependencyGraph;

/// The longest way followed.
const DEEPEST: u32 = 3;
/// The most files.
const MOST: usize = 150;

impl Tool for GetDependencyGraph {
    const NAME: &'static str = "get_dependency_graph";
    const COMMAND: &'static str = "deps";
    const POSITIONAL: &'static [&'static str] = &["file"];
    const SHOWN: Option<ToolTier> = Some(ToolTier::Full);
    type Args = Args;
    type Output = Output;

    fn run(call: &Call<'_>, args: Args) -> Result<Output, Error> {
        let depth = call.at_most("depth", args.depth, DEEPEST);
        let output = related::answer(call, args.repo.as_deref(), |repo, edges| {
            let path = repo.relative(&args.file);
            let file = repo.snapshot.file(&path).ok_or_else(|| unknown_file(call, repo, &path))?;
            if let Some(symbol) = file.symbols().next() {
                related::check_language(&repo.snapshot, &symbol)?;
            }
            let ways = ways(call, repo, edges);
            let path_of = |node: &u32| repo.snapshot.file_by_number(*node).map(|file| file.path().to_owned());
            let (mut nodes, mut links) = (vec![file.number()], BTreeSet::new());
            let mut direct = [None, None];
            for (upwards, skipped) in [(false, Direction::Importers), (true, Direction::Imports)] {
                if args.direction == skipped {
                    continue;
                }
                let (mut seen, mut level) = (HashSet::from([file.number()]), vec![file.number()]);
                for step in 0..depth {
                    let mut next = Vec::new();
                    for at in level {
                        for (from, to) in ways(at, upwards) {
                            links.insert((from, to));
                            let other = if upwards { from } else { to };
                            if seen.insert(other) {
                                next.push(other);
                            }
                        }
                    }
                    // By path, because numbers depend on the order in which files were read.
                    next.sort_by_cached_key(path_of);
                    if step == 0 {
                        direct[usize::from(upwards)] = Some(next.iter().filter_map(path_of).collect());
                    }
                    nodes.extend(&next);
                    level = next;
                }
            }
            let mut seen = HashSet::new();
            nodes.retain(|node| seen.insert(*node));
            let (node_count, edge_count) = (nodes.len(), links.len());
            let paths: Vec<String> = nodes.iter().filter_map(path_of).collect();
            if depth == 1 {
                nodes.clear();
            }
            let left_out = nodes.len().saturating_sub(MOST);
            nodes.truncate(MOST);
            let places: HashMap<u32, usize> = nodes.iter().enumerate().map(|(place, node)| (*node, place)).collect();
            let place = |(from, to): &(u32, u32)| Some([*places.get(from)?, *places.get(to)?]);
            let mut placed: Vec<[usize; 2]> = links.iter().filter_map(place).collect();
            placed.sort_unstable();
            let [imports, importers] = direct;
            let output = Output {
                file: path,
                imports,
                importers,
                node_count,
                edge_count,
                nodes: nodes.iter().filter_map(path_of).collect(),
                edges: placed,
                external: query::outside_packages(edges, file),
                left_out,
            };
            Ok((output, paths))
        })?;
        call.found(output.edge_count > 0 || !output.external.is_empty());
        call.narrow("give one direction and depth 1");
        Ok(output)
    }
}

/// Finds the imports of a file, or its importers, each as a pair of importer and imported. A use by the words of an
/// ecosystem counts as an import.
fn ways<'a>(call: &Call<'_>, repo: &'a Repo, edges: &'a EdgeTable) -> impl Fn(u32, bool) -> Vec<(u32, u32)> + 'a {
    let number = |path: &str| Some(repo.snapshot.file(path)?.number());
    let linking = linking(call, repo);
    let links = linking.iter().flat_map(|context| context.links());
    let links: BTreeSet<(u32, u32)> =
        links.filter_map(|link| Some((number(&link.from)?, number(link.to.as_deref()?)?))).collect();
    move |file, upwards| {
        let imports = if upwards { edges.importers(file) } else { edges.imports(file) };
        let imports: BTreeSet<(u32, u32)> = imports.iter().map(|import| (import.from, import.to)).collect();
        let links = links.iter().copied().filter(|(from, to)| file == if upwards { *to } else { *from });
        imports.into_iter().chain(links).collect()
    }
}
