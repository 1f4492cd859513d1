//! Several definitions of one thing: overloads, platform variants, a declaration with its definition, parts of a class.

use codelode_store::{EdgeTable, SymbolView};

/// The most users per symbol that are compared to match definitions across files.
const COMPARED: usize = 1_000;

/// Groups symbols that define the same thing. Definitions with one kind and name belong together if they are in one
/// file, or if every use means all of them. In each group a symbol with a body comes first.
pub fn twins<'a>(edges: &EdgeTable, symbols: Vec<SymbolView<'a>>) -> Vec<Vec<SymbolView<'a>>> {
    let mut groups: Vec<(String, Vec<SymbolView<'a>>)> = Vec::new();
    for symbol in symbols {
        let name = symbol.qualified_name();
        let is_its = |(other, group): &&mut (String, Vec<SymbolView<'a>>)| {
            *other == name && group.iter().any(|other| are_twins(edges, other, &symbol))
        };
        match groups.iter_mut().find(is_its) {
            Some((_, group)) => group.push(symbol),
            None => groups.push((name, vec![symbol])),
        }
    }
    let mut groups: Vec<Vec<SymbolView<'a>>> = groups.into_iter().map(|(_, group)| group).collect();
    groups.iter_mut().for_each(|group| group.sort_by_key(|symbol| !symbol.has_body()));
    groups
}

/// Whether two symbols of one name are twins.
fn are_twins(edges: &EdgeTable, one: &SymbolView<'_>, other: &SymbolView<'_>) -> bool {
    one.kind() == other.kind() && (one.file.number() == other.file.number() || have_same_users(edges, one, other))
}

/// Whether two symbols have users, and the same ones.
fn have_same_users(edges: &EdgeTable, one: &SymbolView<'_>, other: &SymbolView<'_>) -> bool {
    let users = |symbol: &SymbolView<'_>| -> Vec<(u32, u32)> {
        let mut users: Vec<(u32, u32)> =
            edges.users(symbol.number()).take(COMPARED).map(|edge| (edge.file, edge.at)).collect();
        users.sort_unstable();
        users
    };
    let own = users(one);
    !own.is_empty() && own == users(other)
}
