//! Overrides: the methods that a method overrides. Calls of those may reach it.

use super::relations::hierarchy;
use crate::model::Kind;
use crate::query::symbols::lookup::named;
use crate::store::{EdgeTable, FileView, Snapshot, SymbolView};

/// The methods that a method overrides or implements, the nearest first.
pub fn overridden<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    let Some(class) = class_of(snapshot, symbol) else { return Vec::new() };
    let name = symbol.name_bytes();
    let above = hierarchy(snapshot, edges, class.number(), true);
    let members = above.into_iter().flat_map(|(base, _)| base.children());
    members.filter(|member| member.kind() == Kind::Method && member.name_bytes() == name).collect()
}

/// The members that a class inherits by this name, as `Bell.ring`, from the nearest of its bases that has one.
pub fn inherited<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, qualified: &str) -> Vec<SymbolView<'a>> {
    let Some((owner, name)) = qualified.rsplit_once(['.', ':']) else { return Vec::new() };
    let owner = owner.trim_end_matches(':');
    let is_class = |class: &SymbolView<'_>| matches!(class.kind(), Kind::Class | Kind::Type);
    let mut found: Vec<SymbolView<'a>> = Vec::new();
    for class in named(snapshot, owner).into_iter().filter(is_class) {
        let own = hierarchy(snapshot, edges, class.number(), true).into_iter().find_map(|(base, _)| {
            let mut members = named(snapshot, &format!("{}.{name}", base.qualified_name()));
            members.retain(|member| member.file.language() == class.file.language());
            (!members.is_empty()).then_some(members)
        });
        found.extend(own.into_iter().flatten());
    }
    found.sort_by_key(SymbolView::number);
    found.dedup_by_key(|member| member.number());
    found
}

/// The methods that override or implement a method, the nearest first: a call of it may run them.
pub fn overriding<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    let Some(class) = class_of(snapshot, symbol) else { return Vec::new() };
    let name = symbol.name_bytes();
    let below = hierarchy(snapshot, edges, class.number(), false);
    let members = below.into_iter().flat_map(|(derived, _)| derived.children());
    members.filter(|member| member.kind() == Kind::Method && member.name_bytes() == name).collect()
}

/// The class of a method, which may be defined outside of it, in its file or its folder.
pub(in crate::query) fn class_of<'a>(snapshot: &'a Snapshot, method: &SymbolView<'a>) -> Option<SymbolView<'a>> {
    if method.kind() != Kind::Method {
        return None;
    }
    let container = method.container_span().of(method.file.content());
    let is_class = |class: &SymbolView<'a>| matches!(class.kind(), Kind::Class | Kind::Type);
    if container.is_empty() {
        return method.parent().filter(is_class);
    }
    let named = |class: &SymbolView<'a>| class.name_bytes() == container && is_class(class);
    let own = method.parent().into_iter().chain(method.file.symbols()).find(named);
    own.or_else(|| {
        let folder = folder(method.file.path());
        files_in(snapshot, folder)
            .filter(|file| file.language() == method.file.language())
            .flat_map(|file| file.symbols())
            .find(named)
    })
}

/// The folder of a path; empty at the root.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The files directly in a folder.
pub(super) fn files_in<'a>(snapshot: &'a Snapshot, wanted: &'a str) -> impl Iterator<Item = FileView<'a>> {
    snapshot.files_below(wanted).filter(move |file| folder(file.path()) == wanted)
}
