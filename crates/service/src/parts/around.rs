//! Users and tests of the best answers: where a change of them is felt.

use std::collections::HashMap;

use super::tokens;
use codelode_base::model::Kind;
use codelode_query::review;
use codelode_store::{EdgeTable, Snapshot, SymbolId, SymbolView};

/// The most occurrences of a symbol that are looked at.
const LOOKED_AT: usize = 2_000;
/// The most users and tests named for a symbol.
const USERS: usize = 3;
const TESTS: usize = 2;

/// Ids of the functions and classes that use a symbol, and of the tests that reach it; of a test that is a whole file,
/// its path.
#[derive(Debug, Default)]
pub struct SymbolUsers {
    /// The users with the most uses first; without those in tests, and those inside the symbol itself.
    pub used_by: Vec<String>,
    /// Most direct first.
    pub tested_by: Vec<String>,
}

impl SymbolUsers {
    /// Finds the surroundings of a symbol, as far as they fit into `left` tokens, which is lowered.
    pub fn of(snapshot: &Snapshot, edges: &EdgeTable, symbol: &SymbolView<'_>, left: &mut usize) -> Self {
        let mut counts: HashMap<SymbolId, usize> = HashMap::new();
        let users = edges.users(symbol.number()).take(LOOKED_AT).filter_map(|edge| edge.from());
        users.filter_map(|from| user(snapshot, symbol, from)).for_each(|from| *counts.entry(from).or_default() += 1);
        let mut users: Vec<(SymbolId, usize)> = counts.into_iter().collect();
        // Numbers of files depend on when each was indexed.
        let place = |user: &SymbolId| (snapshot.file_by_number(user.file).map(|file| file.path()), user.index);
        users.sort_by(|(a, uses), (b, of_b)| of_b.cmp(uses).then_with(|| place(a).cmp(&place(b))));
        let users = users.into_iter().filter_map(|(user, _)| Some(snapshot.symbol(user)?.id()));
        let used_by = fitting(users.take(USERS), left);
        let of_test = |unit: review::TestUnit| match unit.symbol {
            Some(symbol) => Some(snapshot.symbol(symbol)?.id()),
            None => Some(snapshot.file_by_number(unit.file)?.path().to_owned()),
        };
        let tests = review::nearest(snapshot, edges, symbol.number()).into_iter().filter_map(of_test);
        Self { used_by, tested_by: fitting(tests.take(TESTS), left) }
    }
}

/// The function or class, outside of a symbol and of tests, that an occurrence stands in.
fn user(snapshot: &Snapshot, used: &SymbolView<'_>, from: SymbolId) -> Option<SymbolId> {
    let is_user = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Function | Kind::Method | Kind::Class);
    let user = std::iter::successors(snapshot.symbol(from), SymbolView::parent).find(is_user)?;
    let is_inside = user.file.number() == used.file.number() && used.span().contains(user.span());
    (!is_inside && !review::is_of_test(&user)).then(|| user.number())
}

/// The first ids that fit, with their key.
fn fitting(ids: impl Iterator<Item = String>, left: &mut usize) -> Vec<String> {
    const KEY: usize = 5;
    let mut kept = Vec::new();
    let mut room = left.saturating_sub(KEY);
    for id in ids {
        let Some(rest) = room.checked_sub(tokens::of_json(&id) + 1) else { break };
        room = rest;
        kept.push(id);
    }
    if !kept.is_empty() {
        *left = room;
    }
    kept
}
