//! The types of a symbol's value, as written in its definition.

use codelode_base::model::{Kind, Role, Span};
use codelode_store::{Edge, EdgeTable, Snapshot, SymbolId, SymbolView};

/// The types of a symbol's value. A function has its return types, any other value its written types, or else the
/// classes that construct it. A type has itself.
pub fn types_of<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    if is_type(symbol) {
        return vec![*symbol];
    }
    let span = symbol.span();
    let all = edges.in_file(symbol.file.number());
    let inside = &all[all.partition_point(|edge| edge.at < span.start)..];
    let inside = &inside[..inside.partition_point(|edge| edge.at < span.end)];
    let of_role = |role: Role, holds: &dyn Fn(&Edge) -> bool| -> Vec<SymbolView<'a>> {
        let named = inside.iter().filter(|edge| edge.role() == role && holds(edge));
        let targets = named.flat_map(|edge| edges.targets(edge).collect::<Vec<SymbolId>>());
        let mut types: Vec<SymbolView<'a>> = targets.filter_map(|target| snapshot.symbol(target)).collect();
        types.retain(is_type);
        types.dedup_by_key(|symbol| symbol.number());
        types
    };
    if symbol.kind() == Kind::Constant {
        let written = of_role(Role::Type, &|_| true);
        return if written.is_empty() { of_role(Role::Call, &|_| true) } else { written };
    }
    let (before, after) = returned(symbol);
    let holds =
        |edge: &Edge| before.start <= edge.at && edge.at < before.end || after.start <= edge.at && edge.at < after.end;
    of_role(Role::Type, &holds)
}

fn is_type(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.kind(), Kind::Class | Kind::Type)
}

/// Parts of a signature that may hold the return type: before the name, without the receiver, and after the parameters.
fn returned(symbol: &SymbolView<'_>) -> (Span, Span) {
    let (content, name) = (symbol.file.content(), symbol.name_span());
    let start = symbol.signature_start();
    let receiver = symbol.container_span();
    let before = if receiver.is_empty() || receiver.start < start { start } else { name.start };
    let end = start as usize + symbol.signature_source().len();
    let (mut depth, mut after) = (0_u32, end);
    for (at, byte) in content.iter().enumerate().take(end).skip(name.end as usize) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => {
                after = at + 1;
                break;
            }
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    (Span { start: before.min(name.start), end: name.start }, Span::new(after, end))
}
