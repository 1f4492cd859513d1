//! Plans of larger edits: every place that a deletion or a changed declaration affects, and every doubt.

use std::collections::{BTreeMap, BTreeSet};

use super::Graph;
use super::overrides::{class_of, files_in, overridden};
use super::related::implementations;
use super::relations::line_of;
use super::rename::{RenameDoubt, doubt_of, elsewhere, family};
use super::visible::is_type;
use crate::dead::used_from_outside;
use crate::folder;
use codelode_base::model::{Detail, Kind, Role, Span};
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// The reason why a plan lists a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A definition that is deleted or changed.
    Definition,
    /// A method that overrides a deleted one.
    Override,
    /// A use, by its role.
    Use(Role),
}

impl Reason {
    /// The word used in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Override => "override",
            Self::Use(role) => role.as_str(),
        }
    }
}

/// A place to edit.
#[derive(Clone, Copy)]
pub struct PlannedEdit<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// The first byte of the name.
    pub at: u32,
    /// The reason to edit it.
    pub reason: Reason,
}

/// A plan: places to edit, and doubts.
pub struct Plan<'a> {
    /// By path and place.
    pub places: Vec<PlannedEdit<'a>>,
    /// By path and line; empty for a complete plan.
    pub doubts: Vec<RenameDoubt>,
    /// Whether other packages may use the symbol as well.
    pub is_for_others: bool,
}

impl Plan<'_> {
    /// Whether the plan has places other than definitions and imports.
    pub fn is_used(&self) -> bool {
        self.places.iter().any(|place| !matches!(place.reason, Reason::Definition | Reason::Use(Role::Import)))
    }
}

/// A plan in the making.
struct PlanDraft<'a, 'e> {
    snapshot: &'a Snapshot,
    edges: &'e EdgeTable,
    places: BTreeMap<(&'a str, u32), PlannedEdit<'a>>,
    doubts: BTreeSet<RenameDoubt>,
}

impl<'a> PlanDraft<'a, '_> {
    fn add(&mut self, file: FileView<'a>, at: u32, reason: Reason) {
        self.places.entry((file.path(), at)).or_insert(PlannedEdit { file, at, reason });
    }

    fn define(&mut self, symbol: &SymbolView<'a>, reason: Reason) {
        self.add(symbol.file, symbol.name_span().start, reason);
    }

    fn doubt(&mut self, file: FileView<'_>, at: u32, why: &'static str) {
        self.doubts.insert(RenameDoubt { path: file.path().to_owned(), line: line_of(file, at), why });
    }

    /// The uses of a symbol outside deleted definitions, each with its file. A use that may mean another symbol becomes
    /// a doubt.
    fn uses(
        &mut self,
        symbol: SymbolId,
        is_meant: &dyn Fn(&SymbolId) -> bool,
        gone: &DeletedSpans,
    ) -> Vec<(FileView<'a>, Edge)> {
        let (snapshot, edges) = (self.snapshot, self.edges);
        let mut found = Vec::new();
        for edge in edges.users(symbol).filter(|edge| !gone.holds(edge.file, edge.at)) {
            let Some(file) = snapshot.file_by_number(edge.file) else { continue };
            match edges.targets(edge).all(|target| is_meant(&target)) {
                true => found.push((file, *edge)),
                false => self.doubt(file, edge.at, "it may mean something else, too"),
            }
        }
        found
    }

    /// Adds a doubt for each place that writes the symbol's name and is not planned.
    fn doubt_elsewhere(&mut self, symbol: &SymbolView<'a>, is_meant: &dyn Fn(&SymbolId) -> bool, gone: &DeletedSpans) {
        let places = &self.places;
        let is_planned = |file: FileView<'_>, span: Span| {
            places.contains_key(&(file.path(), span.start)) || gone.holds(file.number(), span.start)
        };
        let doubts = elsewhere(self.snapshot, self.edges, symbol, &is_planned, is_meant, usize::MAX);
        self.doubts.extend(doubts);
    }

    fn finish(self, symbol: &SymbolView<'a>) -> Plan<'a> {
        let graph = Graph::new(self.snapshot, self.edges);
        let outside = used_from_outside(&graph, symbol);
        let Self { places, mut doubts, .. } = self;
        if outside.is_run {
            let why = "a framework, a runner or an installer may run it without its name";
            doubts.insert(RenameDoubt::at(symbol.file, symbol.name_span().start, why));
        }
        Plan {
            places: places.into_values().collect(),
            doubts: doubts.into_iter().collect(),
            is_for_others: outside.is_offered,
        }
    }
}

/// Spans of deleted definitions, by file.
#[derive(Default)]
struct DeletedSpans(Vec<(u32, Span)>);

impl DeletedSpans {
    fn holds(&self, file: u32, at: u32) -> bool {
        self.0.iter().any(|(own, span)| *own == file && span.start <= at && at < span.end)
    }
}

/// Plans a deletion: the definition, the members of a type in all files, and every use outside these.
pub fn deletion<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Plan<'a> {
    let mut draft = PlanDraft { snapshot, edges, places: BTreeMap::new(), doubts: BTreeSet::new() };
    let roots = deleted(snapshot, symbol);
    let gone = DeletedSpans(roots.iter().map(|root| (root.file.number(), root.span())).collect());
    let mut all = Vec::new();
    for root in &roots {
        draft.define(root, Reason::Definition);
        all.extend(root.file.symbols().filter(|own| gone.holds(own.file.number(), own.name_span().start)));
    }
    all.sort_by_key(SymbolView::number);
    all.dedup_by_key(|own| own.number());
    let is_meant = |id: &SymbolId| all.binary_search_by_key(id, SymbolView::number).is_ok();
    for own in &all {
        for (file, edge) in draft.uses(own.number(), &is_meant, &gone) {
            draft.add(file, edge.at, Reason::Use(edge.role()));
        }
    }
    draft.doubts.extend(doubt_of(snapshot, edges, symbol));
    if symbol.kind() == Kind::Method {
        for above in overridden(snapshot, edges, symbol) {
            draft.doubt(
                symbol.file,
                symbol.name_span().start,
                "a base or an interface also has it, and may require it",
            );
            for edge in edges.users(above.number()).filter(|edge| edge.role() == Role::Call) {
                let file = snapshot.file_by_number(edge.file).filter(|_| !gone.holds(edge.file, edge.at));
                file.into_iter().for_each(|file| draft.doubt(file, edge.at, "a call of a method that it overrides"));
            }
        }
        for (below, _) in implementations(snapshot, edges, symbol) {
            draft.define(&below, Reason::Override);
        }
    }
    draft.doubt_elsewhere(symbol, &is_meant, &gone);
    // If nothing uses a type, nothing uses its members.
    let is_used = draft.places.values().any(|place| matches!(place.reason, Reason::Use(role) if role != Role::Import));
    if is_used {
        let members = all.iter().filter(|own| own.number() != symbol.number() && own.kind() == Kind::Method);
        for member in members.filter(|own| own.detail() != Detail::Constructor) {
            draft.doubt_elsewhere(member, &is_meant, &gone);
        }
    }
    draft.finish(symbol)
}

/// A symbol and the members of a type that are defined outside it.
fn deleted<'a>(snapshot: &'a Snapshot, symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    let mut found = vec![*symbol];
    if !is_type(symbol) {
        return found;
    }
    let beside =
        files_in(snapshot, folder(symbol.file.path())).filter(|file| file.language() == symbol.file.language());
    let members = beside.flat_map(|file| file.symbols()).filter(|own| {
        own.container_span().of(own.file.content()) == symbol.name_bytes()
            && class_of(snapshot, own).is_some_and(|class| class.number() == symbol.number())
    });
    found.extend(members);
    found
}

/// The symbol that has a definition's parameters: a function itself, or the constructor of a class.
pub fn with_parameters<'a>(symbol: &SymbolView<'a>) -> Option<SymbolView<'a>> {
    match symbol.kind() {
        Kind::Function | Kind::Method => Some(*symbol),
        _ if is_type(symbol) => symbol.children().find(|own| is_constructor(own)),
        _ => None,
    }
}

/// Whether a symbol is a constructor.
pub fn is_constructor(symbol: &SymbolView<'_>) -> bool {
    symbol.detail() == Detail::Constructor || symbol.file.conventions().constructors.contains(&&*symbol.name())
}

/// Plans a changed declaration: the function, the methods that it overrides or that override it, and every call. A
/// place that passes the function on without a call is a doubt.
pub fn redeclaration<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Plan<'a> {
    let mut draft = PlanDraft { snapshot, edges, places: BTreeMap::new(), doubts: BTreeSet::new() };
    let constructs = is_constructor(symbol);
    // A constructor overrides nothing: a derived class may declare another.
    let declared = if constructs { vec![*symbol] } else { family(snapshot, edges, symbol) };
    let classes = if constructs { constructed(snapshot, edges, symbol) } else { Vec::new() };
    let all: Vec<SymbolId> = declared.iter().chain(&classes).map(SymbolView::number).collect();
    let is_meant = |id: &SymbolId| all.contains(id);
    for own in &declared {
        draft.define(own, Reason::Definition);
        if !constructs {
            draft.doubts.extend(doubt_of(snapshot, edges, own));
        }
    }
    for own in declared.iter().chain(&classes) {
        for (file, edge) in draft.uses(own.number(), &is_meant, &DeletedSpans::default()) {
            match edge.role() {
                Role::Call => draft.add(file, edge.at, Reason::Use(Role::Call)),
                Role::Import | Role::Type | Role::Base => {}
                Role::Reference | Role::Write => {
                    draft.doubt(file, edge.at, "it is passed on here, and called elsewhere")
                }
            }
        }
    }
    // Callers write the name of the class.
    let named = if constructs { classes.first() } else { Some(symbol) };
    let users: BTreeSet<(u32, u32)> =
        all.iter().flat_map(|own| edges.users(*own)).map(|edge| (edge.file, edge.at)).collect();
    if let Some(named) = named {
        let is_known = |file: FileView<'_>, span: Span| {
            users.contains(&(file.number(), span.start)) || draft.places.contains_key(&(file.path(), span.start))
        };
        let doubts = elsewhere(snapshot, edges, named, &is_known, &is_meant, usize::MAX);
        draft.doubts.extend(doubts);
    }
    draft.finish(symbol)
}

/// The class of a constructor, and the derived classes without a constructor of their own.
fn constructed<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, constructor: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    let class = class_of(snapshot, constructor).or_else(|| constructor.parent());
    let mut found: Vec<SymbolView<'a>> = class.into_iter().collect();
    let mut done = 0;
    while let Some(class) = found.get(done).copied() {
        let below = edges.derived(class.number()).filter_map(|id| snapshot.symbol(id));
        for below in below.filter(|below| !below.children().any(|own| is_constructor(&own))) {
            if found.iter().all(|known| known.number() != below.number()) {
                found.push(below);
            }
        }
        done += 1;
    }
    found
}
