//! Calls through tables: a function is stored in a field, a table or a container, and code calls what is stored there.
//!
//! Both ends are what the source says: the name of the function stands beside the name of the place, and the place's
//! name stands before a call. Fields are those to which relations bind their names, so that a field of another type
//! with the same name is another place. Nothing of it is stored: it is read from the texts around the uses that
//! relations know, when a question is asked.

mod put;
mod taken;
mod tokens;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::relations::{LineCount, UseSite, function_around, places, uses};
use super::{is_export, is_imported};
use codelode_base::model::{Kind, Role};
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolId, SymbolView};
use put::{Key, Spot, briefly, shown};
use tokens::Code;

/// The most uses of a function, and of a place, that are looked at.
const MOST_USES: usize = 200;
/// The longest piece of a text that is read around a place.
const LONGEST_PIECE: u32 = 1 << 17;
/// The most pieces that are kept.
const MOST_PIECES: usize = 500;
/// The most places of one question at which a value is looked at: parameters are followed into many functions.
const MOST_WORK: u32 = 4_000;

/// A use of a function as a value, with the place where it is stored.
pub struct Stored<'a> {
    /// The use.
    pub site: UseSite<'a>,
    /// The place, if the source says it: `bus_ops.write`, `commands[].proc`, `app.get()`.
    pub slots: Vec<Slot<'a>>,
}

/// A place that holds functions.
pub struct Slot<'a> {
    /// How it is told.
    pub label: String,
    /// The field, table or parameter that is called there, if it is known.
    place: Option<Place<'a>>,
}

/// A field, table or parameter whose call runs a stored function.
enum Place<'a> {
    /// A variable or field.
    Field(SymbolView<'a>),
    /// A place in a table or container.
    Entry { of: SymbolView<'a>, path: Vec<Key> },
    /// A parameter, with the places that call it.
    Called { by: SymbolView<'a>, at: Vec<u32> },
}

impl Place<'_> {
    fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Field(one), Self::Field(other)) => one.number() == other.number(),
            (Self::Entry { of, path }, Self::Entry { of: other, path: its }) => {
                of.number() == other.number() && path == its
            }
            (Self::Called { by, at }, Self::Called { by: other, at: its }) => {
                by.number() == other.number() && at == its
            }
            _ => false,
        }
    }
}

impl<'a> Slot<'a> {
    fn of_place(place: Place<'a>) -> Self {
        let label = match &place {
            Place::Field(field) => briefly(field),
            Place::Entry { of, path } => shown(of, path),
            Place::Called { by, .. } => format!("{}()", briefly(by)),
        };
        Self { label, place: Some(place) }
    }
}

/// A function that calls what a place holds.
pub struct ThroughCall<'a> {
    /// The place.
    pub label: String,
    /// The function that calls; `None` at the top level of a file.
    pub caller: Option<SymbolView<'a>>,
    /// The file of the calls.
    pub file: FileView<'a>,
    /// Their lines.
    pub lines: Vec<u32>,
}

/// The places where a function is stored, in the order of its uses as a value.
pub fn stored<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, symbol: SymbolId) -> Vec<Stored<'a>> {
    Tables::new(snapshot, edges).stored(symbol)
}

/// The functions that call what the places hold where a function is stored, each place by itself, by path and line.
pub fn called_through<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, stored: &[Stored<'a>]) -> Vec<ThroughCall<'a>> {
    let tables = Tables::new(snapshot, edges);
    let mut found: Vec<ThroughCall<'a>> = Vec::new();
    for slot in places_of(stored) {
        for call in slot.place.iter().flat_map(|place| tables.calls(place).to_vec()) {
            let line = LineCount::default().line_of(call.file.content(), call.at);
            let key =
                |file: FileView<'a>, caller: Option<SymbolView<'a>>| (file.number(), caller.map(|it| it.number()));
            let is_same = |one: &&mut ThroughCall<'a>| {
                one.label == slot.label && key(one.file, one.caller) == key(call.file, call.caller)
            };
            match found.iter_mut().find(is_same) {
                Some(known) if known.lines.contains(&line) => {}
                Some(known) => known.lines.push(line),
                None => {
                    let (label, caller, file) = (slot.label.clone(), call.caller, call.file);
                    found.push(ThroughCall { label, caller, file, lines: vec![line] });
                }
            }
        }
    }
    found
}

/// The functions that call a function through the places where it is stored.
pub fn callers_through<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, symbol: SymbolId) -> Vec<ThroughCall<'a>> {
    called_through(snapshot, edges, &stored(snapshot, edges, symbol))
}

/// The slots whose places are known, each place once.
fn places_of<'s, 'a>(stored: &'s [Stored<'a>]) -> Vec<&'s Slot<'a>> {
    let mut found: Vec<&Slot<'a>> = Vec::new();
    for slot in stored.iter().flat_map(|one| &one.slots) {
        let is_same =
            |known: &&Slot<'a>| known.place.as_ref().zip(slot.place.as_ref()).is_some_and(|(one, it)| one.is(it));
        if slot.place.is_some() && !found.iter().any(is_same) {
            found.push(slot);
        }
    }
    found
}

/// A call of what a place holds.
#[derive(Clone, Copy)]
struct PlacedCall<'a> {
    file: FileView<'a>,
    at: u32,
    caller: Option<SymbolView<'a>>,
}

/// Pieces of code that are read once for a question, by their files and starts, and calls of fields.
pub struct Tables<'a> {
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    read: RefCell<HashMap<(u32, u32), Rc<Code<'a>>>>,
    fields: RefCell<HashMap<SymbolId, Rc<[PlacedCall<'a>]>>>,
    left: Cell<u32>,
}

impl<'a> Tables<'a> {
    /// The tables of a snapshot, of which nothing was read yet.
    pub fn new(snapshot: &'a Snapshot, edges: &'a EdgeTable) -> Self {
        let (read, fields) = (RefCell::default(), RefCell::default());
        Self { snapshot, edges, read, fields, left: Cell::new(0) }
    }

    /// See [`stored`].
    pub fn stored(&self, symbol: SymbolId) -> Vec<Stored<'a>> {
        let own = self.snapshot.symbol(symbol).filter(|own| matches!(own.kind(), Kind::Function | Kind::Method));
        let Some(own) = own else { return Vec::new() };
        self.left.set(MOST_WORK);
        let mut found = self.registered(&own);
        let values = self.edges.users(symbol).filter(|edge| edge.role() == Role::Reference);
        let sites = places(self.snapshot, values).into_iter().filter(|site| !is_export(site) && !is_imported(site));
        let sites = sites.take(MOST_USES);
        found.extend(sites.map(|site| Stored { slots: self.slots_at(site.file, site.edge), site }));
        found
    }

    /// The functions that call a function through the places where it is stored, or the files outside of functions.
    pub fn callers(&self, symbol: SymbolId) -> Vec<(u32, Option<SymbolId>)> {
        let stored = self.stored(symbol);
        let known = places_of(&stored).into_iter().filter_map(|slot| slot.place.as_ref());
        let calls = known.flat_map(|place| self.calls(place).to_vec());
        let mut found: Vec<_> =
            calls.map(|call| (call.file.number(), call.caller.map(|caller| caller.number()))).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether another place may be looked at.
    fn works(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    fn slots_at(&self, file: FileView<'a>, edge: &Edge) -> Vec<Slot<'a>> {
        let (code, around) = self.piece_at(file, edge);
        let Some(name) = code.token_at(edge.at) else { return Vec::new() };
        let mut found = self.slots(Spot { file, code: &code, around }, name, 0);
        // A constructor of several forms stores it in one place.
        let mut known: Vec<String> = Vec::new();
        found.retain(|slot| {
            !known.contains(&slot.label) && {
                known.push(slot.label.clone());
                true
            }
        });
        found
    }

    /// Where decorators of the project store a function: `@register("start")`.
    fn registered(&self, own: &SymbolView<'a>) -> Vec<Stored<'a>> {
        if own.decorators().is_empty() {
            return Vec::new();
        }
        let (file, above) = (own.file, own.span().start..own.signature_start());
        let edges = self.edges.in_file(file.number());
        let first = edges.partition_point(|edge| edge.at < above.start);
        let mut found = Vec::new();
        for edge in edges[first..].iter().take_while(|edge| edge.at < above.end) {
            let slots = self.slots_of_decorator(file, edge);
            if !slots.is_empty() {
                let line = LineCount::default().line_of(file.content(), edge.at);
                found.push(Stored { site: UseSite { file, edge, line }, slots });
            }
        }
        found
    }

    /// The calls of what a place holds.
    fn calls(&self, place: &Place<'a>) -> Rc<[PlacedCall<'a>]> {
        match place {
            Place::Field(field) => {
                if let Some(known) = self.fields.borrow().get(&field.number()) {
                    return known.clone();
                }
                let found: Rc<[PlacedCall<'a>]> = self.calls_of(field, &[]).into();
                self.fields.borrow_mut().insert(field.number(), found.clone());
                found
            }
            Place::Entry { of, path } => self.calls_of(of, path).into(),
            Place::Called { by, at } => {
                at.iter().map(|at| PlacedCall { file: by.file, at: *at, caller: Some(*by) }).collect()
            }
        }
    }

    fn calls_of(&self, of: &SymbolView<'a>, path: &[Key]) -> Vec<PlacedCall<'a>> {
        let mut found = Vec::new();
        for site in uses(self.snapshot, self.edges, of.number()).into_iter().take(MOST_USES) {
            let (file, caller) = (site.file, function_around(self.snapshot, site.edge));
            if site.edge.role() == Role::Call && path.is_empty() {
                found.push(PlacedCall { file, at: site.edge.at, caller });
                continue;
            }
            let (code, around) = self.piece_at(file, site.edge);
            let Some(name) = code.token_at(site.edge.at) else { continue };
            let called = taken::called(Spot { file, code: &code, around }, name, path);
            found.extend(called.into_iter().map(|at| PlacedCall { file, at, caller }));
        }
        found
    }

    /// The code around a use: of the member of a type or the symbol of a file that it is in, else between such symbols.
    fn piece_at(&self, file: FileView<'a>, edge: &Edge) -> (Rc<Code<'a>>, Option<SymbolView<'a>>) {
        let mut around = edge.from().and_then(|own| self.snapshot.symbol(own));
        let is_type = |own: &SymbolView<'_>| matches!(own.kind(), Kind::Class | Kind::Type);
        while let Some(outer) = around.and_then(|own| own.parent()).filter(|outer| !is_type(outer)) {
            around = Some(outer);
        }
        let (start, end) = match around {
            Some(own) => (own.span().start, own.span().end),
            None => between(file, edge.at),
        };
        (self.piece(file, start.max(edge.at.saturating_sub(LONGEST_PIECE)), end.min(edge.at + LONGEST_PIECE)), around)
    }

    /// The code of a symbol.
    fn piece_of(&self, own: &SymbolView<'a>) -> Option<Rc<Code<'a>>> {
        let span = own.span();
        (span.end - span.start < LONGEST_PIECE).then(|| self.piece(own.file, span.start, span.end))
    }

    fn piece(&self, file: FileView<'a>, start: u32, end: u32) -> Rc<Code<'a>> {
        let read = || Rc::new(Code::read(file.content(), start as usize, end as usize, &file.spec().comments));
        if self.read.borrow().len() > MOST_PIECES {
            self.read.borrow_mut().clear();
        }
        self.read.borrow_mut().entry((file.number(), start)).or_insert_with(read).clone()
    }

    fn edge_at(&self, file: FileView<'a>, at: u32) -> Option<&'a Edge> {
        let all = self.edges.in_file(file.number());
        all.binary_search_by_key(&at, |edge| edge.at).ok().map(|place| &all[place])
    }

    /// The symbol whose name stands at a byte.
    fn defined_at(&self, file: FileView<'a>, at: u32) -> Option<SymbolView<'a>> {
        file.symbols().find(|own| own.name_span().start == at)
    }

    /// The symbols that a name means, or that it defines.
    fn all_meant(&self, file: FileView<'a>, at: u32) -> Vec<SymbolView<'a>> {
        let targets = self.edge_at(file, at).into_iter().flat_map(|edge| self.edges.targets(edge));
        let found: Vec<SymbolView<'a>> = targets.filter_map(|target| self.snapshot.symbol(target)).collect();
        if found.is_empty() { self.defined_at(file, at).into_iter().collect() } else { found }
    }

    /// The one symbol that a name means, or that it defines.
    fn meant(&self, file: FileView<'a>, at: u32) -> Option<SymbolView<'a>> {
        self.all_meant(file, at).into_iter().next()
    }

    /// Whether a name means a symbol, so that it is no parameter.
    fn is_bound(&self, file: FileView<'a>, at: u32) -> bool {
        self.edge_at(file, at).is_some_and(|edge| self.edges.targets(edge).len() > 0)
    }

    /// The types that a definition names.
    fn types_in(&self, own: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
        let span = own.span();
        let all = self.edges.in_file(own.file.number()).iter();
        let within = all.filter(|edge| edge.role() == Role::Type && (span.start..span.end).contains(&edge.at));
        within.flat_map(|edge| self.edges.targets(edge)).filter_map(|target| self.snapshot.symbol(target)).collect()
    }
}

/// The piece of a file around a byte in which no symbol of the file is.
fn between(file: FileView<'_>, at: u32) -> (u32, u32) {
    let tops = || file.symbols().filter(|own| !own.has_parent()).map(|own| own.span());
    let start = tops().filter(|span| span.end <= at).map(|span| span.end).max().unwrap_or(0);
    let end = tops().filter(|span| span.start > at).map(|span| span.start).min();
    (start, end.unwrap_or(file.content().len() as u32))
}
