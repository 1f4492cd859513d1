//! Members of types, wherever they are defined, and which methods override which.

use std::cell::Cell;
use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::folder;
use crate::graph::{Graph, in_type, is_decorated, is_type};
use codelode_base::model::Kind;
use codelode_lang::languages::Owner;
use codelode_store::SymbolView;

/// The most ancestors of a class that are searched for overridden methods.
const MOST_BASES: usize = 250;
/// The budget of comparisons in the search for overrides. Each symbol adds [`COMPARISONS_PER_SYMBOL`].
const COMPARISONS: usize = 3_000_000;
const COMPARISONS_PER_SYMBOL: usize = 50;

/// Members by their types.
#[derive(Default)]
pub struct Members {
    /// The members of each type.
    pub of: FxHashMap<u32, Vec<u32>>,
    /// The type of each member.
    owners: FxHashMap<u32, u32>,
    /// Methods of unnamed objects and classes inside each node. Code that gets such an object may call them.
    pub held: FxHashMap<u32, Vec<u32>>,
    /// Methods of unnamed objects at the top level of files.
    pub shown: Vec<u32>,
    /// The overrides of each method.
    pub overrides: FxHashMap<u32, Vec<u32>>,
    /// The index in `groups` of each overload, in languages where overloads are one definition.
    pub twins: FxHashMap<u32, usize>,
    pub groups: Vec<Vec<u32>>,
}

impl Members {
    pub fn new(graph: &Graph<'_>) -> Self {
        let mut members = Self::default();
        members.find(graph);
        let of_class = |(class, own): (&u32, &Vec<u32>)| own.iter().map(|node| (*node, *class)).collect::<Vec<_>>();
        members.owners = members.of.iter().flat_map(of_class).collect();
        members.find_overrides(graph);
        members.find_twins(graph);
        members
    }

    /// The type of a member.
    pub fn owner(&self, member: u32) -> Option<u32> {
        self.owners.get(&member).copied()
    }

    fn find_twins(&mut self, graph: &Graph<'_>) {
        let overloaded = |node: &u32| {
            let symbol = &graph.symbols[*node as usize];
            symbol.overload() > 0 && symbol.file.conventions().overloads_are_one
        };
        let mut twins: HashMap<_, Vec<u32>> = HashMap::new();
        for node in (0..graph.symbols.len() as u32).filter(overloaded) {
            let symbol = &graph.symbols[node as usize];
            let owner = self.owner(node).or_else(|| graph.parent(node));
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
    fn find<'a>(&mut self, graph: &Graph<'a>) {
        let is_type = |node: &u32| is_type(&graph.symbols[*node as usize]);
        let mut types: FxHashMap<(&'a str, &'a [u8]), u32> = FxHashMap::default();
        // The only type of a name; `None` if several types share it.
        let mut only: FxHashMap<&'a [u8], Option<u32>> = FxHashMap::default();
        // Top-level types are inserted last, so they win over nested types of the same name: `type Context = …`.
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
            if owner.is_some_and(|owner| fields.contains(&(owner, symbol.name_bytes()))) {
                // `this.run = () => {}` assigns to a declared field, so code that reads the field uses the function.
                self.held.entry(owner.unwrap_or(node)).or_default().push(node);
            }
            let is_given = || symbol.is_handed() || graph.parent(node).is_some() && is_decorated(&symbol);
            if owner.is_none() && (is_loose(&symbol) || is_given()) {
                match graph.parent(node) {
                    Some(holder) => self.held.entry(holder).or_default().push(node),
                    None => self.shown.push(node),
                }
            }
            if let Some(owner) = owner {
                self.of.entry(owner).or_default().push(node);
            }
        }
    }

    fn find_overrides<'a>(&mut self, graph: &Graph<'a>) {
        let mut by_name: FxHashMap<(u32, &'a [u8]), Vec<u32>> = FxHashMap::default();
        for (class, own) in &self.of {
            for node in own {
                by_name.entry((*class, graph.symbols[*node as usize].name_bytes())).or_default().push(*node);
            }
        }
        let none = Vec::new();
        let members = |class: &u32| self.of.get(class).unwrap_or(&none);
        let mut pairs = Vec::new();
        let left = Cell::new(COMPARISONS + graph.symbols.len() * COMPARISONS_PER_SYMBOL);
        let takes = |steps: usize| {
            left.set(left.get().saturating_sub(steps));
            left.get() > 0
        };
        let mut replaces = |by: u32, of: u32| {
            let (own, wanted) = (members(&by), members(&of));
            // Iterating the smaller class is enough.
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
            let bases = above(graph, class);
            bases.iter().filter(|_| !members(&class).is_empty()).for_each(|base| replaces(class, *base));
            let is_single = graph.edges.bases(graph.symbols[class as usize].number()).nth(1).is_none();
            if is_single || !takes(bases.len() * bases.len()) {
                continue;
            }
            // A method that a class inherits from one base implements the method of another base.
            let all: Vec<(u32, FxHashSet<u32>)> =
                bases.iter().map(|base| (*base, above(graph, *base).into_iter().collect())).collect();
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
        self.find_filled_in(graph);
    }

    /// Finds methods in a block that implements a trait, even for an external type: `impl Price for u64`.
    fn find_filled_in(&mut self, graph: &Graph<'_>) {
        let of_ours: FxHashSet<u32> = self.of.values().flatten().copied().collect();
        for node in (0..graph.symbols.len() as u32).filter(|node| !graph.is_value(*node)) {
            let symbol = &graph.symbols[node as usize];
            let Some(base) = graph.filled_in(node) else { continue };
            // Type and trait are both external, so callers need not write the name.
            if graph.edges.targets(base).len() == 0 && !of_ours.contains(&node) {
                self.shown.push(node);
            }
            for wanted in graph.edges.targets(base).filter_map(|wanted| graph.node(wanted)) {
                for above in self.of.get(&wanted).into_iter().flatten() {
                    if graph.symbols[*above as usize].name_bytes() == symbol.name_bytes() {
                        self.overrides.entry(*above).or_default().push(node);
                    }
                }
            }
        }
    }
}

/// All ancestors of a class.
fn above(graph: &Graph<'_>, class: u32) -> Vec<u32> {
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

/// Whether a method has no type, as in an object literal or an anonymous class.
fn is_loose(symbol: &SymbolView<'_>) -> bool {
    let owner = symbol.file.conventions().owner;
    let is_free = if symbol.container_span().is_empty() { !in_type(symbol) } else { owner != Owner::Type };
    symbol.kind() == Kind::Method && is_free
}
