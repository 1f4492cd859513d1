//! Imports of a file: the statements that a symbol needs, and external packages.

use std::collections::{BTreeSet, HashSet};

use super::overrides::overridden;
use codelode_base::model::{Detail, Kind, Role};
use codelode_lang::extract;
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// Whole import statements that symbols of one file need, in source order.
///
/// A statement is needed if it binds a name that a symbol writes, or imports a trait whose member the symbol uses. A
/// wildcard import is needed if a symbol writes a name that nothing in its file binds.
pub fn needed_imports(snapshot: &Snapshot, edges: &EdgeTable, symbols: &[SymbolView<'_>]) -> Vec<String> {
    let Some(file) = symbols.first().map(|symbol| symbol.file) else { return Vec::new() };
    let imports = extract::imports(file.spec(), file.content(), file.facts());
    let mut needed = BTreeSet::new();
    for symbol in symbols {
        let span = symbol.span();
        let used = inside(edges, file, span.start, span.end);
        needed.extend(imports.named_in(span));
        let targets_at = |at: u32| {
            let place = used.partition_point(|edge| edge.at < at);
            used.get(place).filter(|edge| edge.at == at).map(|edge| edges.targets(edge).collect::<Vec<_>>())
        };
        let unbound: Vec<Vec<SymbolId>> =
            imports.unbound_in(span).map(|at| targets_at(at).unwrap_or_default()).collect();
        let is_from_outside = unbound.iter().any(Vec::is_empty);
        let is_from_another = unbound.iter().flatten().any(|target| target.file != file.number());
        let traits: HashSet<SymbolId> = used
            .iter()
            .flat_map(|edge| edges.targets(edge))
            .filter_map(|target| snapshot.symbol(target))
            .flat_map(|target| overridden(snapshot, edges, &target).into_iter().chain([target]))
            .filter_map(|member| member.parent().filter(|parent| parent.detail() == Detail::Trait))
            .map(|parent| parent.number())
            .collect();
        for (place, statement) in imports.statements.iter().enumerate() {
            let own = statement.span;
            let is_of_project =
                || edges.imports(file.number()).iter().any(|import| own.start <= import.at && import.at < own.end);
            let mut imported = inside(edges, file, own.start, own.end).iter().flat_map(|edge| edges.targets(edge));
            let fits = match statement.is_wildcard {
                true if is_of_project() => is_from_another,
                true => is_from_outside,
                false => imported.any(|target| traits.contains(&target)),
            };
            if fits {
                needed.insert(place);
            }
        }
    }
    let is_inside =
        |statement: &&extract::Statement| symbols.iter().any(|symbol| symbol.span().contains(statement.span));
    let is_seen = |statement: &&extract::Statement| {
        let mut around =
            file.symbols().filter(|other| other.kind() != Kind::Constant && other.span().contains(statement.span));
        // An import inside a function is visible in that function only.
        around.next_back().is_none_or(|around| symbols.iter().all(|symbol| around.span().contains(symbol.span())))
    };
    // A symbol with an import of its own needs no outer import of the same file.
    let (own, others): (Vec<_>, Vec<_>) =
        needed.into_iter().filter_map(|place| imports.statements.get(place)).partition(is_inside);
    let is_new = |statement: &&extract::Statement| own.iter().all(|own| own.text != statement.text);
    others.into_iter().filter(is_seen).filter(is_new).map(|statement| statement.text.clone()).collect()
}

/// Occurrences in a range of a file.
fn inside<'a>(edges: &'a EdgeTable, file: FileView<'_>, start: u32, end: u32) -> &'a [Edge] {
    let all = edges.in_file(file.number());
    let first = all.partition_point(|edge| edge.at < start);
    let len = all[first..].partition_point(|edge| edge.at < end);
    &all[first..first + len]
}

/// External packages that a file imports, without duplicates.
pub fn outside_packages(edges: &EdgeTable, file: FileView<'_>) -> Vec<String> {
    let own: HashSet<u32> = edges.imports(file.number()).iter().map(|import| import.at).collect();
    let packages = extract::packages(file.spec(), file.facts());
    let statements = extract::imports(file.spec(), file.content(), file.facts()).statements;
    // Of several imports of one file only the first is known as such; of the others, the names that they import.
    let is_inside = |at: u32| {
        let around = statements.iter().find(|statement| statement.span.start <= at && at < statement.span.end);
        let names = around.map_or(&[][..], |statement| inside(edges, file, statement.span.start, statement.span.end));
        let mut imported = names.iter().filter(|edge| edge.role() == Role::Import);
        own.contains(&at) || imported.any(|edge| edges.targets(edge).len() > 0)
    };
    let (inside, outside): (Vec<_>, Vec<_>) = packages.into_iter().partition(|(at, _)| is_inside(*at));
    let inside: HashSet<String> = inside.into_iter().map(|(_, package)| package).collect();
    let packages: BTreeSet<String> = outside
        .into_iter()
        .map(|(_, package)| package)
        .filter(|package| !package.is_empty() && !inside.contains(package))
        .collect();
    packages.into_iter().collect()
}
