//! External base classes. Code outside the repository may call methods of the classes that derive from them.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::Graph;
use codelode_base::model::{How, Role};
use codelode_store::{Edge, FileView, SymbolId, SymbolView};

/// Ancestors searched per class. A class with more counts as having an external base, which protects its members.
const MOST_ANCESTORS: usize = 100;

/// Bases by class.
#[derive(Default)]
pub struct Bases {
    /// External bases of each class, each with whether its name was imported.
    outside: FxHashMap<SymbolId, Vec<(String, bool)>>,
    /// Whether a class has an external base, and whether it has an imported one. Cached, because every member asks.
    known: RefCell<FxHashMap<SymbolId, [Option<bool>; 2]>>,
}

impl Bases {
    pub fn new(graph: &Graph<'_>) -> Self {
        let mut bases = Self::default();
        graph.snapshot.files().for_each(|file| bases.read(graph, file));
        bases
    }

    fn read(&mut self, graph: &Graph<'_>, file: FileView<'_>) {
        let edges = graph.edges.in_file(file.number());
        let imported = edges.iter().filter(|edge| edge.role() == Role::Import && edge.how() == How::Outside);
        let text_at = |at: usize, length: usize| file.content().get(at..at + length).unwrap_or_default();
        let strangers: FxHashSet<&[u8]> = imported.map(|edge| text_at(edge.at as usize, edge.len())).collect();
        for (place, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.role() == Role::Base) {
            let Some(class) = edge.from() else { continue };
            let mut targets = graph.edges.targets(edge).filter_map(|target| graph.node(target));
            // A base that is a variable may hold any class, including an external one.
            if targets.all(|target| graph.is_value(target)) {
                let first = first_part(edges, place);
                let is_imported = strangers.contains(text_at(first.at as usize, first.len()));
                let name = String::from_utf8_lossy(text_at(edge.at as usize, edge.len())).into_owned();
                self.outside.entry(class).or_default().push((name, is_imported));
            }
        }
    }

    /// Whether a class has an external base, which may call the class's methods. With `imported`, only bases imported
    /// by name count, as those of frameworks are.
    pub fn is_foreign(&self, graph: &Graph<'_>, class: &SymbolView<'_>, imported: bool) -> bool {
        let known = self.known.borrow().get(&class.number()).and_then(|known| known[usize::from(imported)]);
        known.unwrap_or_else(|| {
            let is_foreign = self.finds_foreign(graph, class.number(), imported);
            self.known.borrow_mut().entry(class.number()).or_default()[usize::from(imported)] = Some(is_foreign);
            is_foreign
        })
    }

    fn finds_foreign(&self, graph: &Graph<'_>, class: SymbolId, imported: bool) -> bool {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![class];
        while let Some(class) = waiting.pop() {
            if !seen.insert(class) {
                continue;
            }
            if seen.len() > MOST_ANCESTORS {
                return true;
            }
            let plain = graph.snapshot.symbol(class).map_or(&[][..], |symbol| symbol.file.conventions().plain_bases);
            let is_meant = |(base, is_imported): &(String, bool)| {
                // Exceptions are raised; nothing calls back their methods.
                let is_raised = base.ends_with("Error") || base.ends_with("Exception");
                !plain.contains(&&**base) && (!imported || *is_imported && !is_raised)
            };
            if self.outside.get(&class).into_iter().flatten().any(is_meant) {
                return true;
            }
            waiting.extend(graph.edges.bases(class));
        }
        false
    }
}

/// The first part of a qualified base: `models` of `models.Model`.
fn first_part(edges: &[Edge], place: usize) -> &Edge {
    // Two bases in a list may be as close as the parts of one.
    let is_part = |pair: &[Edge]| {
        let gap = pair[1].at.saturating_sub(pair[0].at + pair[0].len() as u32);
        pair[0].role() != Role::Base && (1..=2).contains(&gap)
    };
    let first = (1..=place).rev().find(|at| !is_part(&edges[at - 1..=*at])).unwrap_or(0);
    &edges[first]
}
