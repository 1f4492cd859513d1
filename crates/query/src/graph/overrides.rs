//! Methods that a method overrides: a call of one may run the other.

use crate::folder;
use std::collections::HashSet;

use super::filled_in;
use super::relations::{base_text, hierarchy, outside_bases};
use super::visible::{decorator_name, in_interface, is_decorated, marks_of};
use crate::symbols::lookup::named;
use codelode_base::model::Kind;
use codelode_store::{EdgeTable, FileView, Snapshot, SymbolView};

/// The methods that a method overrides or implements, nearest first.
pub fn overridden<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    let Some(class) = class_of(snapshot, symbol) else { return Vec::new() };
    let name = symbol.name_bytes();
    let above = hierarchy(snapshot, edges, class.number(), true);
    let members = above.into_iter().flat_map(|(base, _)| base.children());
    members.filter(|member| member.kind() == Kind::Method && member.name_bytes() == name).collect()
}

/// The members that a class inherits under a name such as `Bell.ring`, from its nearest base that has one.
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

/// The methods that override or implement a method, nearest first. A call of the method may run them.
pub fn overriding<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    let Some(class) = class_of(snapshot, symbol) else { return Vec::new() };
    let name = symbol.name_bytes();
    let below = hierarchy(snapshot, edges, class.number(), false);
    let members = below.into_iter().flat_map(|(derived, _)| derived.children());
    members.filter(|member| member.kind() == Kind::Method && member.name_bytes() == name).collect()
}

/// Methods of interfaces that the method's class satisfies by its method names alone, without naming them. A call of
/// one may run the method.
pub fn satisfied<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, method: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    if !method.file.conventions().unnamed_interfaces {
        return Vec::new();
    }
    let Some(class) = class_of(snapshot, method) else { return Vec::new() };
    let is_own = |other: &SymbolView<'a>| {
        other.kind() == Kind::Method && other.container_span().of(other.file.content()) == class.name_bytes()
    };
    let mut beside: Vec<SymbolView<'a>> =
        files_in(snapshot, folder(class.file.path())).flat_map(|file| file.symbols()).filter(is_own).collect();
    beside.extend(class.children());
    let own: HashSet<&[u8]> = beside.iter().map(SymbolView::name_bytes).collect();
    let has_all = |interface: &SymbolView<'_>| interface.children().all(|member| own.contains(member.name_bytes()));
    let known: Vec<_> = overridden(snapshot, edges, method).iter().map(SymbolView::number).collect();
    let files = snapshot.files_defining(&method.name()).unwrap_or_default();
    let members = files.iter().filter(|file| file.language() == method.file.language()).flat_map(FileView::symbols);
    let is_like = |member: &SymbolView<'a>| {
        member.kind() == Kind::Method && member.name_bytes() == method.name_bytes() && in_interface(member)
    };
    let of_interfaces = members.filter(is_like).filter(|member| !known.contains(&member.number()));
    of_interfaces.filter(|member| member.parent().is_some_and(|interface| has_all(&interface))).collect()
}

/// Reasons why external code may call a function: its decorators, and the external bases of its class.
pub fn known_outside(snapshot: &Snapshot, edges: &EdgeTable, function: &SymbolView<'_>) -> Vec<String> {
    let decorators = if is_decorated(function) { function.decorators() } else { Vec::new() };
    let mut known: Vec<String> = decorators.iter().map(|decorator| format!("@{}", decorator_name(decorator))).collect();
    if let Some(class) = class_of(snapshot, function) {
        let above = hierarchy(snapshot, edges, class.number(), true).into_iter().map(|(base, _)| base);
        let classes = std::iter::once(class).chain(above);
        known.extend(classes.flat_map(|class| outside_bases(snapshot, edges, class.number())));
    }
    // `impl Display for Id`
    let block =
        filled_in(edges, function, marks_of(function)).into_iter().filter(|base| edges.targets(base).len() == 0);
    known.extend(block.map(|base| base_text(function.file.content(), base)));
    let mut seen = HashSet::new();
    known.retain(|name| seen.insert(name.clone()));
    known
}

/// The class of a method, which may lie elsewhere in the method's file or folder.
pub(crate) fn class_of<'a>(snapshot: &'a Snapshot, method: &SymbolView<'a>) -> Option<SymbolView<'a>> {
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

/// The files directly in a folder.
pub(super) fn files_in<'a>(snapshot: &'a Snapshot, wanted: &'a str) -> impl Iterator<Item = FileView<'a>> {
    snapshot.files_below(wanted).filter(move |file| folder(file.path()) == wanted)
}
