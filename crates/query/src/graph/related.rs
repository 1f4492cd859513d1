//! Symbols related to a symbol by something other than a use: neighbours and implementations.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::importance::ranks;
use super::is_module;
use super::overrides::class_of;
use crate::folder;
use crate::graph::relations::hierarchy;
use codelode_base::model::{Detail, Kind, Role};
use codelode_store::{Clause, EdgeTable, Error, Field, FileView, Snapshot, SymbolId, SymbolView, word_parts};

/// A symbol related to another.
pub struct Related<'a> {
    /// The symbol.
    pub symbol: SymbolView<'a>,
    /// The strength of the relation; comparable within an answer only.
    pub score: f64,
    /// The reasons: `calls it`, `called by it`, `same file`, `shared importers`, `name`.
    pub reasons: Vec<&'static str>,
    /// The number of overloads that it stands for.
    pub overloads: usize,
}

/// The score of each reason.
const CALLS: f64 = 3.0;
const SAME_FILE: f64 = 1.5;
const IMPORTERS: f64 = 2.0;
const NAME: f64 = 2.0;
/// Symbols up to this score are weak relatives: neighbours in the file without a common word, or half-similar names.
/// They are shown only if no relative scores twice as much.
const WEAK: f64 = 1.6;
/// The factor for a symbol in a test, an example, generated or vendored code.
const ASIDE: f64 = 0.5;
/// The most symbols with similar names that are compared.
const LIKE: usize = 50;

/// Symbols related to a symbol, best first; weak relatives only if there are no others. Overloads count as one.
pub fn related<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    symbol: &SymbolView<'a>,
) -> Result<Vec<Related<'a>>, Error> {
    let mut found: BTreeMap<SymbolId, (f64, Vec<&'static str>)> = BTreeMap::new();
    let mut add = |id: SymbolId, score: f64, reason: &'static str| {
        let (sum, reasons) = found.entry(id).or_default();
        if !reasons.contains(&reason) {
            *sum += score;
            reasons.push(reason);
        }
    };
    let (own, file) = (symbol.number(), symbol.file);
    for edge in edges.users(own).filter(|edge| edge.role() != Role::Import) {
        edge.from().into_iter().for_each(|from| add(from, CALLS, "uses it"));
    }
    for edge in edges.in_file(file.number()).iter().filter(|edge| edge.from() == Some(own)) {
        // A module in a path only leads to the used symbol.
        let used = edges.targets(edge).filter(|target| !is_module(snapshot, *target));
        used.for_each(|target| add(target, CALLS, "used by it"));
    }
    for other in file.symbols().filter(|other| other.kind() != Kind::Constant) {
        let sibling = other.parent().map(|parent| parent.number()) == symbol.parent().map(|parent| parent.number());
        add(other.number(), if sibling { SAME_FILE } else { SAME_FILE / 2.0 }, "same file");
    }
    // Files with common importers are related, more so with more of them.
    let importers: HashSet<u32> = edges.importing(file.number()).collect();
    let mut shared: HashMap<u32, usize> = HashMap::new();
    for importer in &importers {
        let imported: HashSet<u32> = edges.imports(*importer).iter().map(|import| import.to).collect();
        for other in imported.into_iter().filter(|other| *other != file.number()) {
            *shared.entry(other).or_default() += 1;
        }
    }
    let words: HashSet<String> = word_parts(&symbol.name()).into_iter().map(str::to_lowercase).collect();
    let likeness = |other: &SymbolView<'_>| {
        let name = other.name();
        let others: HashSet<String> = word_parts(&name).into_iter().map(str::to_lowercase).collect();
        words.intersection(&others).count() as f64 / words.union(&others).count().max(1) as f64
    };
    let mut shared: Vec<(u32, usize)> = shared.into_iter().filter(|(_, count)| *count > 1).collect();
    shared.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    for (other, count) in shared.into_iter().take(LIKE) {
        let share = count as f64 / (importers.len() + edges.importing(other).count() - count).max(1) as f64;
        let symbols = snapshot.file_by_number(other).into_iter().flat_map(|file| file.symbols());
        for other in symbols.filter(|other| other.parent().is_none() && likeness(other) > 0.0) {
            add(other.number(), IMPORTERS * share, "shared importers");
        }
    }
    let name = symbol.name();
    let clause = Clause::new(Field::Name, &name, 1.0);
    // A data key or a heading of the same name is no related code.
    let is_code = |other: &SymbolView<'_>| {
        other.file.language() == file.language() || !other.file.facts().is_empty() || file.facts().is_empty()
    };
    for (id, _) in snapshot.search(&[clause], LIKE, &mut |_| true)? {
        let other = snapshot.symbol(id).filter(is_code);
        if let Some(like) = other.map(|other| likeness(&other)).filter(|like| *like > 0.0) {
            add(id, NAME * like, "name");
        }
    }
    found.remove(&own);
    let nearest = found.values().map(|(score, _)| *score).fold(0.0, f64::max);
    let is_weak = |(_, (score, _)): &(&SymbolId, &(f64, _))| *score <= WEAK.min(nearest / 2.0);
    let weak: HashSet<SymbolId> = found.iter().filter(is_weak).map(|(id, _)| *id).collect();
    // Tests and generated code come last, unless the symbol itself is such code.
    let aside = |symbol: &SymbolView<'_>| symbol.file.is_test() || symbol.file.is_generated() || is_of_tests(symbol);
    let worth = |other: &SymbolView<'_>| if aside(other) && !aside(symbol) { ASIDE } else { 1.0 };
    let related = |(id, (score, reasons))| {
        let symbol = snapshot.symbol(id)?;
        Some(Related { symbol, score: score * worth(&symbol), reasons, overloads: 1 })
    };
    let mut found: Vec<Related<'a>> = found.into_iter().filter_map(related).collect();
    let ranks = ranks(snapshot, edges)?;
    let share = |related: &Related<'_>| ranks.of(related.symbol.number()).map_or(0.0, |rank| rank.score);
    found.sort_by(|a, b| {
        let order = b.score.total_cmp(&a.score).then_with(|| share(b).total_cmp(&share(a)));
        order.then_with(|| a.symbol.file.path().cmp(b.symbol.file.path()))
    });
    let mut kept: Vec<Related<'a>> = Vec::new();
    let mut places: HashMap<(u32, String, Kind), usize> = HashMap::new();
    for related in found {
        let name = overloaded(&related.symbol);
        if let Some(place) = name.as_ref().and_then(|name| places.get(name)) {
            kept[*place].overloads += 1;
        } else if !weak.contains(&related.symbol.number()) {
            name.and_then(|name| places.insert(name, kept.len()));
            kept.push(related);
        }
    }
    Ok(kept)
}

/// The key that all overloads of a symbol share.
fn overloaded(symbol: &SymbolView<'_>) -> Option<(u32, String, Kind)> {
    (symbol.overload() > 0).then(|| (symbol.file.number(), symbol.qualified_name(), symbol.kind()))
}

/// Whether a symbol is, or lies in, a module of tests or benchmarks: `mod tests`, `mod bench_write`.
pub fn is_of_tests(symbol: &SymbolView<'_>) -> bool {
    std::iter::successors(Some(*symbol), SymbolView::parent).any(|around| {
        let name = around.name();
        let first = name.split('_').next().unwrap_or_default();
        around.detail() == Detail::Module && matches!(first, "test" | "tests" | "bench" | "benches")
    })
}

/// Implementations of a symbol, nearest first: derived classes of a class, overrides of a method.
pub fn implementations<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    symbol: &SymbolView<'a>,
) -> Vec<(SymbolView<'a>, u32)> {
    if symbol.kind() != Kind::Method {
        return hierarchy(snapshot, edges, symbol.number(), false);
    }
    let Some(class) = class_of(snapshot, symbol).or_else(|| symbol.parent()) else { return Vec::new() };
    let name = symbol.name_bytes();
    let below = hierarchy(snapshot, edges, class.number(), false);
    let folders: HashSet<&str> = below.iter().map(|(derived, _)| folder(derived.file.path())).collect();
    let mut inside: HashMap<SymbolId, Vec<SymbolView<'a>>> = HashMap::new();
    // A member defined outside its type is in the type's file or folder.
    let mut beside: HashMap<(&str, &[u8]), Vec<SymbolView<'a>>> = HashMap::new();
    let mut files =
        if below.is_empty() { Vec::new() } else { snapshot.files_defining(&symbol.name()).unwrap_or_default() };
    files.retain(|file| folders.contains(folder(file.path())));
    for member in files.iter().flat_map(FileView::symbols) {
        if member.kind() == Kind::Method && member.name_bytes() == name {
            if let Some(parent) = member.parent() {
                inside.entry(parent.number()).or_default().push(member);
            }
            let owner = member.container_span().of(member.file.content());
            beside.entry((folder(member.file.path()), owner)).or_default().push(member);
        }
    }
    let mut found = Vec::new();
    for (derived, depth) in below {
        let inside = inside.get(&derived.number()).into_iter().flatten();
        let beside = beside.get(&(folder(derived.file.path()), derived.name_bytes())).into_iter().flatten();
        found.extend(inside.chain(beside).map(|member| (*member, depth)));
    }
    found.dedup_by_key(|(member, _)| member.number());
    found
}
