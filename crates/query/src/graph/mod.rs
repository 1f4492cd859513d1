//! The graph of a snapshot: symbols as numbered nodes, and uses as edges. Values (constants, fields, variables) count
//! as part of their owner.

mod blast;
pub(super) mod cut_off;
mod importance;
mod imports;
mod map;
mod name_at;
mod outside;
pub(super) mod overrides;
mod plan;
mod possible;
mod published;
mod receivers;
mod related;
pub(super) mod relations;
mod rename;
mod through;
mod twins;
mod types;
mod unnamed;
mod visible;

pub use blast::{AffectedFile, Blast, BlastDoubt, Dependents, blast, dependents, hop_weight};
pub use importance::{central_symbols, imported_files, ranks};
pub use imports::{needed_imports, outside_packages};
pub use map::{MapFile, repo_map};
pub use name_at::{NameAt, imported_at, imports_of, local_at, locals, modules_at, name_at, signatures, word_at};
pub use outside::{ImportedPackage, needed_packages, outside_uses, packages_at};
pub(super) use plan::is_constructor;
pub use plan::{Plan, PlannedEdit, Reason, deletion, redeclaration, with_parameters};
pub use possible::possible_uses;
pub(super) use published::{open_folders, package_files, scripts};
pub use receivers::receiver;
pub(super) use related::is_of_tests;
pub use related::{Related, implementations, related};
pub use rename::{RenameDoubt, Renaming, renaming};
pub use through::{Slot, Stored, Tables, ThroughCall, called_through, callers_through, stored};
pub use twins::twins;
pub use types::types_of;
pub use unnamed::unnamed_uses;
pub(super) use visible::{decorator_name, in_interface, in_type, is_decorated, is_part, is_type, marks_of};
pub use visible::{is_export, is_imported};

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use codelode_base::model::{Detail, Kind, Marks, Role};
use codelode_lang::extract::{self, FileMarks};
use codelode_store::{Edge, EdgeTable, Snapshot, SymbolId, SymbolView};

/// The number of no symbol.
const NONE: u32 = u32::MAX;

/// The symbols of a snapshot by node number, and their nesting.
pub(super) struct Graph<'a> {
    pub snapshot: &'a Snapshot,
    pub edges: &'a EdgeTable,
    /// The node of each file's first symbol, by file number.
    starts: Vec<u32>,
    pub symbols: Vec<SymbolView<'a>>,
    /// The owner of each node: the nearest enclosing symbol that is no value, or the node itself.
    owners: Vec<u32>,
    marks: OnceLock<Marked>,
}

/// Marks of all files and nodes.
struct Marked {
    files: FxHashMap<u32, FileMarks>,
    nodes: Vec<Marks>,
}

impl<'a> Graph<'a> {
    /// Numbers the symbols of all files with name resolution.
    pub fn new(snapshot: &'a Snapshot, edges: &'a EdgeTable) -> Self {
        let (mut starts, mut symbols, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for file in snapshot.files().filter(|file| !file.facts().is_empty()) {
            let (number, start) = (file.number() as usize, symbols.len() as u32);
            if starts.len() <= number {
                starts.resize(number + 1, NONE);
            }
            starts[number] = start;
            for symbol in file.symbols() {
                let owner = match (symbol.kind(), symbol.parent()) {
                    (Kind::Constant, Some(parent)) => {
                        owners.get((start + parent.number().index) as usize).copied().unwrap_or(NONE)
                    }
                    (Kind::Constant, None) => NONE,
                    _ => symbols.len() as u32,
                };
                owners.push(owner);
                symbols.push(symbol);
            }
        }
        Self { snapshot, edges, starts, symbols, owners, marks: OnceLock::new() }
    }

    /// The node of a symbol.
    pub fn node(&self, id: SymbolId) -> Option<u32> {
        let start = *self.starts.get(id.file as usize).filter(|start| **start != NONE)?;
        start.checked_add(id.index).filter(|node| (*node as usize) < self.symbols.len())
    }

    /// The node of a symbol's owner: the nearest enclosing symbol that is no value, or the symbol itself.
    pub fn owner(&self, id: SymbolId) -> Option<u32> {
        self.owners.get(self.node(id)? as usize).copied().filter(|owner| *owner != NONE)
    }

    /// The enclosing node.
    pub fn parent(&self, node: u32) -> Option<u32> {
        self.owner(self.symbols[node as usize].parent()?.number())
    }

    /// Whether a node is a plain value.
    pub fn is_value(&self, node: u32) -> bool {
        self.symbols[node as usize].kind() == Kind::Constant
    }

    /// The node around an occurrence; `None` at the top level of a file.
    pub fn from(&self, edge: &Edge) -> Option<u32> {
        self.owner(edge.from()?)
    }

    fn marked(&self) -> &Marked {
        self.marks.get_or_init(|| {
            let mut marked = Marked { files: FxHashMap::default(), nodes: Vec::with_capacity(self.symbols.len()) };
            for file in self.snapshot.files().filter(|file| !file.facts().is_empty()) {
                let mut marks = extract::marks(file.facts());
                let mut symbols = std::mem::take(&mut marks.symbols);
                symbols.resize(file.symbol_count() as usize, Marks::default());
                marked.nodes.append(&mut symbols);
                marked.files.insert(file.number(), marks);
            }
            marked
        })
    }

    /// Marks of a node.
    pub fn marks(&self, node: u32) -> Marks {
        self.marked().nodes.get(node as usize).copied().unwrap_or_default()
    }

    /// Marks of a file with facts; those of its symbols are the nodes'.
    pub fn file_marks(&self, file: u32) -> Option<&FileMarks> {
        self.marked().files.get(&file)
    }

    /// See [`filled_in`].
    pub fn filled_in(&self, node: u32) -> Option<&'a Edge> {
        filled_in(self.edges, &self.symbols[node as usize], self.marks(node))
    }

    /// The uses between nodes that `counts` accepts, each pair once, without self-uses. With `values`, a use of a value
    /// counts as a use of its owner.
    pub fn uses(&self, values: bool, counts: impl Fn(&Edge, u32) -> bool) -> Uses {
        let mut pairs: Vec<u64> = Vec::new();
        for edge in self.edges.all() {
            let Some(from) = self.from(edge) else { continue };
            for target in self.edges.targets(edge) {
                let is_meant =
                    |to: &u32| *to != from && counts(edge, *to) && (values || self.node(target) == Some(*to));
                if let Some(to) = self.owner(target).filter(is_meant) {
                    pairs.push(u64::from(from) << 32 | u64::from(to));
                }
            }
        }
        Uses::new(pairs, self.symbols.len())
    }
}

/// Uses between nodes, in compressed rows.
pub(super) struct Uses {
    /// The start of each node's row, and the end of the last one.
    rows: Vec<u32>,
    to: Vec<u32>,
}

impl Uses {
    fn new(mut pairs: Vec<u64>, nodes: usize) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut rows = vec![0; nodes + 1];
        for pair in &pairs {
            rows[(pair >> 32) as usize + 1] += 1;
        }
        for node in 0..nodes {
            rows[node + 1] += rows[node];
        }
        Self { rows, to: pairs.into_iter().map(|pair| pair as u32).collect() }
    }

    /// The number of users of each node.
    pub fn users(&self) -> Vec<u32> {
        let mut users = vec![0; self.rows.len() - 1];
        for to in &self.to {
            users[*to as usize] += 1;
        }
        users
    }

    /// The nodes that a node uses.
    pub fn of(&self, node: u32) -> &[u32] {
        &self.to[self.rows[node as usize] as usize..self.rows[node as usize + 1] as usize]
    }
}

/// Whether a symbol is a module, which paths name on the way to a used symbol.
fn is_module(snapshot: &Snapshot, id: SymbolId) -> bool {
    snapshot.symbol(id).is_some_and(|symbol| symbol.detail() == Detail::Module)
}

/// The trait that a member's block implements, where the block names it: `impl Display for Id`.
fn filled_in<'a>(edges: &'a EdgeTable, member: &SymbolView<'_>, marks: Marks) -> Option<&'a Edge> {
    // Only the trait's type arguments stand between its name and the type.
    const NEAR: usize = 8;
    let owner = member.container_span();
    if owner.is_empty() || !marks.has(Marks::FILLS_IN) {
        return None;
    }
    let before = edges.in_file(member.file.number());
    let before = &before[..before.partition_point(|edge| edge.at < owner.start)];
    before.iter().rev().take(NEAR).find(|edge| edge.role() == Role::Base)
}

/// Whether an occurrence makes its target more central. An import or a subclass does not; implementing an interface
/// does.
fn is_use(graph: &Graph<'_>, edge: &Edge, target: u32) -> bool {
    let is_type = |node: u32| matches!(graph.symbols[node as usize].kind(), Kind::Class | Kind::Type);
    let declares = |from: u32| is_type(from) && !graph.symbols[from as usize].file.conventions().types_use;
    match edge.role() {
        Role::Import => false,
        // A module in a path only leads to the used symbol.
        _ if graph.symbols[target as usize].detail() == Detail::Module => false,
        Role::Base if graph.symbols[target as usize].kind() != Kind::Type => false,
        _ => !graph.from(edge).is_some_and(declares),
    }
}
