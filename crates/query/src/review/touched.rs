//! Symbols that a change touches, each with its current form.

use std::collections::{HashMap, HashSet};

use super::tests::is_of_test;
use crate::graph::is_constructor;
use crate::{Changes, Version, overridden};
use codelode_base::model::Role;
use codelode_lang::languages::exercises;
use codelode_store::{Edge, EdgeTable, Snapshot, SymbolId, SymbolView};

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The symbol is gone.
    Removed,
    /// Its declaration changed.
    Signature,
    /// Its name changed.
    Renamed,
    /// Its file or enclosing definition changed.
    Moved,
    /// Only its body changed.
    Body,
    /// The symbol is new.
    Added,
}

impl Change {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Signature => "signature",
            Self::Renamed => "renamed",
            Self::Moved => "moved",
            Self::Body => "body",
            Self::Added => "added",
        }
    }
}

/// A symbol that a change touches.
pub struct Touched<'c, 'a> {
    /// The kind of the change.
    pub change: Change,
    /// The symbol before; `None` for a new one.
    pub was: Option<&'c Version<'c>>,
    /// The symbol after; `None` for a removed one.
    pub now: Option<&'c Version<'c>>,
    /// Its current form; `None` if it was removed, or if the current files differ from the change's end.
    pub symbol: Option<SymbolView<'a>>,
    /// Whether an enclosing symbol has the same change as a whole: added, removed, renamed or moved.
    pub is_inside: bool,
}

impl<'c> Touched<'c, '_> {
    /// Whether the symbol belongs to tests.
    pub fn is_of_test(&self) -> bool {
        self.symbol.map_or_else(|| exercises(self.version().file), |symbol| is_of_test(&symbol))
    }

    /// The symbol after the change, or before it if it is removed.
    pub fn version(&self) -> &'c Version<'c> {
        self.now.or(self.was).expect("a symbol was there before or is there after")
    }
}

/// The symbols that changes touch, by path and line. A class with changes only in its members is left out.
pub fn touched<'c, 'a>(snapshot: &'a Snapshot, changes: &'c Changes<'c>) -> Vec<Touched<'c, 'a>> {
    let mut known: HashMap<&str, HashMap<String, SymbolView<'a>>> = HashMap::new();
    let mut present = |version: &'c Version<'c>| {
        let of_file = known.entry(version.file).or_insert_with(|| {
            let symbols = snapshot.file(version.file).into_iter().flat_map(|file| file.symbols());
            symbols.map(|symbol| (symbol.id(), symbol)).collect()
        });
        of_file.get(&version.id).copied()
    };
    let mut all = Vec::new();
    let mut push = |change, was: Option<&'c Version<'c>>, now: Option<&'c Version<'c>>| {
        let symbol = now.and_then(&mut present);
        all.push(Touched { change, was, now, symbol, is_inside: false });
    };
    for (was, now) in changes.modified.iter().filter(|(was, now)| !was.says_the_same(now)) {
        let change = if was.is_declared_otherwise(now) { Change::Signature } else { Change::Body };
        push(change, Some(was), Some(now));
    }
    for (was, now) in &changes.renamed {
        push(if was.name == now.name { Change::Moved } else { Change::Renamed }, Some(was), Some(now));
    }
    changes.added.iter().for_each(|now| push(Change::Added, None, Some(now)));
    changes.removed.iter().for_each(|was| push(Change::Removed, Some(was), None));
    all.sort_by_key(|touched| (touched.version().file, touched.version().line, touched.change));
    let whole: HashSet<(Change, &str, &str)> = all
        .iter()
        .filter(|touched| !matches!(touched.change, Change::Body | Change::Signature))
        .map(|touched| (touched.change, touched.version().file, touched.version().qualified_name.as_str()))
        .collect();
    for touched in &mut all {
        let version = touched.version();
        let mut around = version.qualified_name.match_indices('.').map(|(at, _)| &version.qualified_name[..at]);
        touched.is_inside = around.any(|name| whole.contains(&(touched.change, version.file, name)));
    }
    all
}

/// Symbols that use a symbol.
#[derive(Default)]
pub struct Callers<'a> {
    /// Resolved callers, each once, tests last. The second part is the overridden method that a caller names instead,
    /// if any.
    pub resolved: Vec<(SymbolView<'a>, Option<SymbolView<'a>>)>,
    /// The number of files whose top level uses it.
    pub top_levels: usize,
    /// The number of places that write its name after an unknown receiver, or after the symbol was removed.
    pub possible: usize,
}

/// The direct users of a touched symbol.
pub fn callers<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, touched: &Touched<'_, 'a>) -> Callers<'a> {
    let mut callers = Callers::default();
    let version = touched.version();
    callers.possible = edges.possible(version.name.as_bytes()).count();
    let Some(symbol) = touched.symbol else { return callers };
    let mut seen: Vec<SymbolId> = vec![symbol.number()];
    let mut files = Vec::new();
    // A constructor is called by the name of its class.
    let class = symbol.parent().filter(|_| is_constructor(&symbol));
    let above = if class.is_some() { Vec::new() } else { overridden(snapshot, edges, &symbol) };
    for used in std::iter::once(symbol).chain(class).chain(above) {
        let is_own = used.number() == symbol.number();
        let makes = class.is_some() && !is_own;
        let counts = |edge: &&Edge| match edge.role() {
            Role::Call => true,
            role => !makes && role != Role::Import,
        };
        // An override that calls the overridden method means exactly that method.
        let is_override = |from: SymbolId| {
            snapshot.symbol(from).is_some_and(|from| !is_own && !makes && from.name_bytes() == symbol.name_bytes())
        };
        for edge in edges.users(used.number()).filter(counts) {
            if edge.from().is_some_and(is_override) {
                continue;
            }
            match edge.from().filter(|from| !seen.contains(from)) {
                Some(from) => {
                    seen.push(from);
                    let via = (!is_own && !makes).then_some(used);
                    callers.resolved.extend(snapshot.symbol(from).map(|from| (from, via)));
                }
                None if edge.from().is_none() && !files.contains(&edge.file) => files.push(edge.file),
                None => {}
            }
        }
    }
    callers.top_levels = files.len();
    callers.resolved.sort_by_key(|(user, via)| (user.file.is_test(), via.is_some(), user.file.path(), user.line()));
    callers
}
