//! Impact of a change: the users of a symbol, their users, and so on.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::is_module;
use super::relations::users_through;
use super::through::{ThroughCall, callers_through};
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// A file affected by a change of a symbol.
pub struct AffectedFile<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// The distance in uses, from one.
    pub depth: u32,
    /// The overridden method that it uses instead, if any.
    pub via: Option<SymbolView<'a>>,
    /// Its symbols that depend on the changed one, nearest first; empty if only its top level does.
    pub symbols: Vec<SymbolView<'a>>,
}

/// The files that depend on a symbol.
#[derive(Default)]
pub struct Blast<'a> {
    /// Files with resolved uses, nearest first, then by path.
    pub confirmed: Vec<AffectedFile<'a>>,
    /// Files that may use the symbol, by path: they call what is stored where it is, write its name after an unknown
    /// receiver, or import its file.
    pub potential: Vec<(FileView<'a>, BlastDoubt)>,
    /// Functions that call what is stored where the symbol is.
    pub through: Vec<ThroughCall<'a>>,
    /// The number of symbols that use it directly.
    pub direct: usize,
    /// The number of files with name resolution, the only ones that can be affected.
    pub files: usize,
}

/// The reason why a file is only possibly affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlastDoubt {
    /// It calls what is stored in a field or table where the symbol is.
    Through,
    /// It writes the name, which may mean the symbol.
    Name,
    /// It imports the symbol's file.
    Import,
}

impl Blast<'_> {
    /// The risk of a change, from 0 (no file is affected) to 1 (all are). Ten files with direct uses give about one
    /// half. The risk is at least the share of affected files, where distant files count less.
    pub fn risk(&self) -> f64 {
        self.risk_of(self.confirmed.iter().map(|file| hop_weight(file.depth)).sum())
    }

    /// The risk for affected files of this total weight.
    pub fn risk_of(&self, weight: f64) -> f64 {
        /// The weight that makes a risk of one half.
        const HALF: f64 = 10.0;
        let share = (weight / self.files.saturating_sub(1).max(1) as f64).min(1.0);
        1.0 - (1.0 - share) * HALF / (HALF + weight)
    }
}

/// The weight of a file at a distance of `depth` uses.
pub fn hop_weight(depth: u32) -> f64 {
    f64::from(depth.max(1)).powf(-0.7)
}

/// Follows the users of a symbol, at most `depth` uses away.
pub fn blast<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, symbol: &SymbolView<'a>, depth: u32) -> Blast<'a> {
    let own = symbol.file.number();
    let mut seen: HashSet<SymbolId> = HashSet::from([symbol.number()]);
    let mut files: BTreeMap<u32, (u32, Option<SymbolId>, Vec<SymbolId>)> = BTreeMap::new();
    let mut level = vec![symbol.number()];
    let (mut blast, mut direct) = (Blast::default(), 0);
    for at in 1..=depth {
        let mut next = Vec::new();
        for used in level {
            for (meant, place) in users_through(snapshot, edges, used) {
                let (edge, via) = (place.edge, (meant != used).then_some(meant));
                // A use of an overridden method is one step further away.
                let steps = at + u32::from(via.is_some());
                if steps > depth {
                    continue;
                }
                let (nearest, through, symbols) = files.entry(edge.file).or_insert((steps, via, Vec::new()));
                if steps < *nearest {
                    (*nearest, *through) = (steps, via);
                }
                if let Some(user) = edge.from().filter(|user| seen.insert(*user)) {
                    symbols.push(user);
                    direct += usize::from(at == 1);
                    // Code that names a module in a path does not use everything in it.
                    if !is_module(snapshot, user) {
                        next.push(user);
                    }
                }
            }
        }
        level = next;
    }
    blast.direct = direct;
    blast.through = callers_through(snapshot, edges, symbol.number());
    let through = blast.through.iter().map(|call| (call.file.number(), BlastDoubt::Through));
    let through: Vec<(u32, BlastDoubt)> = through.collect();
    let potential = edges.possible(symbol.name_bytes()).map(|edge| (edge.file, BlastDoubt::Name));
    let importers = edges.importers(own).iter().map(|import| (import.from, BlastDoubt::Import));
    for (file, doubt) in through.into_iter().chain(potential).chain(importers) {
        let is_new = file != own && !files.contains_key(&file);
        if is_new && !blast.potential.iter().any(|(other, _)| other.number() == file) {
            blast.potential.extend(snapshot.file_by_number(file).map(|file| (file, doubt)));
        }
    }
    blast.potential.sort_by_key(|(file, _)| file.path());
    for (file, (depth, via, symbols)) in files {
        let Some(file) = snapshot.file_by_number(file) else { continue };
        let symbols = symbols.into_iter().filter_map(|symbol| snapshot.symbol(symbol)).collect();
        let via = via.and_then(|via| snapshot.symbol(via));
        blast.confirmed.push(AffectedFile { file, depth, via, symbols });
    }
    blast.confirmed.sort_by_key(|affected| (affected.depth, affected.file.path()));
    blast.files = snapshot.files().filter(|file| !file.facts().is_empty()).count();
    blast
}

/// Symbols and files that depend on a set of symbols.
#[derive(Default)]
pub struct Dependents {
    /// The distance of each symbol in uses, including the first ones.
    pub symbols: HashMap<SymbolId, u32>,
    /// The distance of each file that uses one of them.
    pub files: BTreeMap<u32, u32>,
}

/// Follows the users of some symbols with known distances, up to a distance of `depth`.
pub fn dependents(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    from: impl IntoIterator<Item = (SymbolId, u32)>,
    depth: u32,
) -> Dependents {
    let mut found = Dependents::default();
    let mut levels: BTreeMap<u32, Vec<SymbolId>> = BTreeMap::new();
    for (symbol, distance) in from {
        let known = found.symbols.entry(symbol).or_insert(distance);
        *known = distance.min(*known);
        levels.entry(distance).or_default().push(symbol);
    }
    while let Some((at, level)) = levels.pop_first() {
        for used in level.into_iter().filter(|_| at < depth) {
            // Skips symbols that a shorter way reached, and modules, whose name in a path uses nothing in them.
            if found.symbols.get(&used).is_some_and(|known| *known < at) || is_module(snapshot, used) {
                continue;
            }
            for (meant, place) in users_through(snapshot, edges, used) {
                // A use of an overridden method is one step further away.
                let steps = at + 1 + u32::from(meant != used);
                if steps > depth {
                    continue;
                }
                let file = found.files.entry(place.edge.file).or_insert(steps);
                *file = steps.min(*file);
                let Some(user) = place.edge.from() else { continue };
                if found.symbols.get(&user).is_none_or(|known| steps < *known) {
                    found.symbols.insert(user, steps);
                    levels.entry(steps).or_default().push(user);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::Blast;

    #[test]
    fn ten_files_of_many_or_half_of_few_are_a_risk_of_one_half() {
        let risk =
            |files: usize, weight: f64| (Blast { files, ..Blast::default() }.risk_of(weight) * 10.0).round() / 10.0;
        assert_eq!([risk(10_000, 0.0), risk(10_000, 10.0), risk(3, 1.0), risk(11, 10.0)], [0.0, 0.5, 0.5, 1.0]);
    }
}
