//! Relations of a symbol: its uses, callers and callees, bases and derived classes.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::overrides::overridden;
use super::possible::possible_uses;
use crate::symbols::lookup::{bears, named};
use codelode_base::model::{Detail, Kind, Role};
use codelode_lang::languages::LANGUAGES;
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// An occurrence with its file and line.
#[derive(Clone, Copy)]
pub struct UseSite<'a> {
    /// The file.
    pub file: FileView<'a>,
    /// The occurrence.
    pub edge: &'a Edge,
    /// Its line, one-based.
    pub line: u32,
}

impl<'a> UseSite<'a> {
    /// The trimmed text of the line; cut if very long.
    pub fn text(&self) -> String {
        line_text(self.file, self.edge.at)
    }

    /// Its column: the number of characters before it in its line, plus one.
    pub fn column(&self) -> u32 {
        column_of(self.file, self.edge.at)
    }
}

/// The column of a byte: the number of characters before it in its line, plus one.
pub fn column_of(file: FileView<'_>, at: u32) -> u32 {
    let content = file.content();
    let at = (at as usize).min(content.len());
    let start = memchr::memrchr(b'\n', &content[..at]).map_or(0, |newline| newline + 1);
    String::from_utf8_lossy(&content[start..at]).trim_start_matches(MARK).chars().count() as u32 + 1
}

/// A byte order mark, which editors do not show.
const MARK: char = '\u{feff}';

/// The most bytes shown of a line.
const LONGEST_LINE: usize = 4_000;

/// The trimmed text of the line around a byte; cut if very long.
pub fn line_text(file: FileView<'_>, at: u32) -> String {
    let content = file.content();
    let at = (at as usize).min(content.len());
    let start = memchr::memrchr(b'\n', &content[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &content[at..]).map_or(content.len(), |newline| at + newline);
    let line = content[start..end].trim_ascii();
    file.shown(&line[..line.len().min(LONGEST_LINE)]).trim().trim_start_matches(MARK).to_owned()
}

/// The texts of lines of a file, trimmed.
pub fn texts_of_lines(file: FileView<'_>, lines: &[u32]) -> Vec<String> {
    let last = lines.iter().max().copied().unwrap_or(0) as usize;
    let content = file.content();
    let all: Vec<&[u8]> = content.split(|byte| *byte == b'\n').take(last).collect();
    let text = |line: &u32| match (*line as usize).checked_sub(1) {
        Some(place) if place < all.len() => file.shown(&joined(&all, place)).into_owned(),
        _ => String::new(),
    };
    lines.iter().map(text).collect()
}

/// The most preceding lines of a call chain that are joined to a line.
const MOST_OF_CHAIN: usize = 4;

/// A line, joined to the lines before it if it continues their call chain: `matcher` and `.args()`.
fn joined(lines: &[&[u8]], place: usize) -> Vec<u8> {
    let goes_on =
        |place: usize| [&b"."[..], b"?.", b"->"].iter().any(|mark| lines[place].trim_ascii().starts_with(mark));
    let mut first = place;
    while first > 0 && place - first < MOST_OF_CHAIN && goes_on(first) {
        first -= 1;
    }
    let mut text = lines[first..=place].iter().map(|line| line.trim_ascii()).collect::<Vec<_>>().concat();
    text.truncate(LONGEST_LINE);
    text
}

/// Finds the lines of ascending places in a file. It counts on from place to place: counting each from the start would
/// take quadratic time.
#[derive(Default)]
pub struct LineCount {
    at: usize,
    newlines: u32,
}

impl LineCount {
    /// The line of a byte, one-based.
    pub fn line_of(&mut self, content: &[u8], at: u32) -> u32 {
        if (at as usize) < self.at {
            *self = Self::default();
        }
        let between = content.get(self.at..at as usize).unwrap_or_default();
        self.newlines += memchr::memchr_iter(b'\n', between).count() as u32;
        self.at += between.len();
        self.newlines + 1
    }
}

/// The line of a byte, one-based.
pub fn line_of(file: FileView<'_>, at: u32) -> u32 {
    let before = file.content().get(..at as usize).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() as u32 + 1
}

/// The symbol nearest to a line: one defined within three lines, or else the one around it. With `name`, only symbols
/// of that name.
pub fn symbol_near<'a>(file: FileView<'a>, name: Option<&str>, line: u32) -> Option<SymbolView<'a>> {
    let bears = |symbol: &SymbolView<'_>| name.is_none_or(|name| bears(symbol, name));
    let distance = |symbol: &SymbolView<'_>| line_of(file, symbol.name_span().start).abs_diff(line);
    let holds = |symbol: &SymbolView<'_>| symbol.first_line() <= line && line <= symbol.end_line();
    let near = file.symbols().filter(bears).filter(|symbol| distance(symbol) <= 3 || holds(symbol));
    near.min_by_key(|symbol| (distance(symbol), symbol.number()))
}

/// The uses of a symbol, by path and line.
pub fn uses<'a>(snapshot: &'a Snapshot, edges: &'a EdgeTable, symbol: SymbolId) -> Vec<UseSite<'a>> {
    places(snapshot, edges.users(symbol))
}

/// The name written at a use, if it is not the symbol's own: an import alias, or the name of an embedded field.
pub fn written_as<'a>(place: &UseSite<'a>, symbol: &SymbolView<'_>) -> Option<Cow<'a, str>> {
    let (at, name) = (place.edge.at, symbol.name_bytes());
    let written = place.file.content().get(at as usize..at as usize + place.edge.len())?;
    let makes_field = || place.edge.role() == Role::Base && place.file.symbols().any(|own| own.name_span().start == at);
    let is_other = written != name && is_renamed(place.file.content(), name, written);
    (is_other || makes_field()).then(|| String::from_utf8_lossy(written))
}

/// Whether an import of a file renames it: `Error as ShopError`.
fn is_renamed(content: &[u8], name: &[u8], other: &[u8]) -> bool {
    let forms: [&[&[u8]]; 5] = [
        &[name, b" as ", other],
        &[b"import ", other, b" from"],
        &[b"import ", other, b","],
        &[other, b" = require("],
        &[name, b": ", other],
    ];
    forms.iter().any(|form| memchr::memmem::find(content, &form.concat()).is_some())
}

/// Whether names in `file` can mean definitions in `defining`, because their languages are resolved together.
pub fn may_name(file: FileView<'_>, defining: FileView<'_>) -> bool {
    let semantics = |file: FileView<'_>| Some(LANGUAGES[file.language_number()? as usize].relating?.semantics);
    match (semantics(file), semantics(defining)) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        _ => false,
    }
}

/// The places of occurrences, by path and line.
pub(super) fn places<'a>(snapshot: &'a Snapshot, edges: impl Iterator<Item = &'a Edge>) -> Vec<UseSite<'a>> {
    let found = edges.filter_map(|edge| Some(UseSite { file: snapshot.file_by_number(edge.file)?, edge, line: 0 }));
    let mut places: Vec<UseSite<'a>> = found.collect();
    places.sort_by_key(|place| (place.file.path(), place.edge.at));
    for of_file in places.chunk_by_mut(|a, b| a.edge.file == b.edge.file) {
        let mut lines = LineCount::default();
        of_file.iter_mut().for_each(|place| place.line = lines.line_of(place.file.content(), place.edge.at));
    }
    places
}

/// The function or method around an occurrence.
pub fn function_around<'a>(snapshot: &'a Snapshot, edge: &Edge) -> Option<SymbolView<'a>> {
    let mut symbol = snapshot.symbol(edge.from()?)?;
    while !matches!(symbol.kind(), Kind::Function | Kind::Method) {
        symbol = symbol.parent()?;
    }
    Some(symbol)
}

/// The direction in which calls are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the callers.
    Callers,
    /// Towards the callees.
    Callees,
}

/// A caller or a callee.
pub struct Caller<'a> {
    /// The symbol.
    pub symbol: SymbolView<'a>,
    /// The distance in calls, from one.
    pub depth: u32,
    /// The previous symbol on the way from the start; the start itself at depth one.
    pub via: SymbolId,
    /// The overridden method that it calls instead.
    pub through: Option<SymbolId>,
    /// The lines of the calls, in the caller's file.
    pub lines: Vec<u32>,
}

/// Callers or callees of a symbol, each once, nearest first, then by path and line. Callers of an overridden method
/// count, because the call may reach this method. The second part holds calls outside functions.
pub fn calls<'a>(
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    symbol: SymbolId,
    direction: Direction,
    depth: u32,
) -> (Vec<Caller<'a>>, Vec<UseSite<'a>>) {
    let mut found: Vec<Caller<'a>> = Vec::new();
    let mut outside = Vec::new();
    let mut seen: HashSet<SymbolId> = HashSet::from([symbol]);
    let mut waiting = VecDeque::from([(symbol, 1)]);
    while let Some((via, at)) = waiting.pop_front() {
        if at > depth {
            break;
        }
        let mut next: HashMap<SymbolId, (Option<SymbolId>, Vec<u32>)> = HashMap::new();
        match direction {
            Direction::Callers => {
                for (used, place) in users_through(snapshot, edges, via) {
                    if place.edge.role() != Role::Call {
                        continue;
                    }
                    match function_around(snapshot, place.edge) {
                        Some(caller) => {
                            let through = (used != via).then_some(used);
                            next.entry(caller.number()).or_insert((through, Vec::new())).1.push(place.line);
                        }
                        None if at == 1 => outside.push(place),
                        None => {}
                    }
                }
            }
            Direction::Callees => {
                let is_own =
                    |edge: &&Edge| function_around(snapshot, edge).is_some_and(|around| around.number() == via);
                let calls = edges.in_file(via.file).iter().filter(|edge| edge.role() == Role::Call);
                for place in places(snapshot, calls.filter(is_own)) {
                    // A call through a variable or a field has no known callee.
                    let is_called = |target: &SymbolId| {
                        snapshot.symbol(*target).is_some_and(|symbol| symbol.kind() != Kind::Constant)
                    };
                    let targets = edges.targets(place.edge).filter(is_called);
                    for target in called(targets.filter_map(|target| snapshot.symbol(target)).collect()) {
                        next.entry(target.number()).or_default().1.push(place.line);
                    }
                }
            }
        }
        // A recursive symbol is its own caller, but leads no further.
        let is_recursion = |other: SymbolId| other == symbol && at == 1;
        let fresh = next.into_iter().filter(|(other, _)| seen.insert(*other) || is_recursion(*other));
        let mut fresh: Vec<Caller<'a>> = fresh
            .filter_map(|(other, (through, mut lines))| {
                lines.dedup();
                Some(Caller { symbol: snapshot.symbol(other)?, depth: at, via, through, lines })
            })
            .collect();
        fresh.sort_by_key(|caller| (caller.symbol.file.path(), caller.symbol.line(), caller.symbol.number()));
        let further = fresh.iter().map(|caller| caller.symbol.number()).filter(|other| *other != symbol);
        waiting.extend(further.map(|other| (other, at + 1)));
        found.extend(fresh);
    }
    found.sort_by_key(|caller| caller.depth);
    (found, outside)
}

/// A name with more definitions gives no possible callee, since the guess would say little.
const MOST_MEANT: usize = 3;
const MOST_NAMES: usize = 500;

/// Possible callers or callees of a symbol, by path and line, through calls on receivers of unknown type. Callees are
/// only guessed for names with few definitions.
pub fn possible_calls<'a>(
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    symbol: &SymbolView<'_>,
    direction: Direction,
) -> Vec<SymbolView<'a>> {
    let is_call = |edge: &&Edge| edge.role() == Role::Call && edge.how().is_possible();
    let mut found: Vec<SymbolView<'a>> = match direction {
        Direction::Callers => {
            let calls = possible_uses(snapshot, edges, &[*symbol]).into_iter().map(|place| place.edge).filter(is_call);
            calls.filter_map(|edge| function_around(snapshot, edge)).collect()
        }
        Direction::Callees => {
            let is_own =
                |edge: &&Edge| function_around(snapshot, edge).is_some_and(|around| around.number() == symbol.number());
            let content = symbol.file.content();
            let name = |edge: &Edge| content.get(edge.at as usize..edge.at as usize + edge.len());
            let calls = edges.in_file(symbol.file.number()).iter().filter(is_call).filter(is_own);
            let names: BTreeSet<&[u8]> = calls.filter_map(name).collect();
            let meant = |name: &[u8]| {
                let mut meant = named(snapshot, &String::from_utf8_lossy(name));
                meant.retain(|other| {
                    matches!(other.kind(), Kind::Function | Kind::Method)
                        && other.file.language() == symbol.file.language()
                });
                meant
            };
            names.into_iter().take(MOST_NAMES).map(meant).filter(|meant| meant.len() <= MOST_MEANT).flatten().collect()
        }
    };
    found.retain(|other| other.number() != symbol.number());
    found.sort_by_key(|other| (other.file.path(), other.line(), other.number()));
    found.dedup_by_key(|other| other.number());
    found
}

/// The targets of a call that run. Of a value and a type with one name, the value runs; of overloads, the one with a
/// body.
fn called(mut targets: Vec<SymbolView<'_>>) -> Vec<SymbolView<'_>> {
    if targets.len() < 2 {
        return targets;
    }
    if targets.iter().any(|target| target.kind() != Kind::Type) {
        targets.retain(|target| target.kind() != Kind::Type);
    }
    let place = |target: &SymbolView<'_>| (target.file.number(), target.qualified_name());
    let run: HashSet<_> = targets.iter().filter(|target| target.has_body()).map(place).collect();
    targets.retain(|target| target.has_body() || !run.contains(&place(target)));
    targets
}

/// Uses of a symbol, then uses of the methods that it overrides, each with the used symbol. A call of an overridden
/// method from another override is left out: it means the overridden method itself.
pub fn users_through<'a>(
    snapshot: &'a Snapshot,
    edges: &'a EdgeTable,
    symbol: SymbolId,
) -> Vec<(SymbolId, UseSite<'a>)> {
    let mut found: Vec<_> = uses(snapshot, edges, symbol).into_iter().map(|place| (symbol, place)).collect();
    let Some(own) = snapshot.symbol(symbol) else { return found };
    for above in overridden(snapshot, edges, &own) {
        let is_override = |place: &UseSite<'_>| {
            function_around(snapshot, place.edge).is_some_and(|around| around.name_bytes() == own.name_bytes())
        };
        let of_it = uses(snapshot, edges, above.number()).into_iter().filter(|place| !is_override(place));
        found.extend(of_it.map(|place| (above.number(), place)));
    }
    found
}

/// All bases of a class or all derived classes, nearest first, each with its distance. Supertraits are no bases; see
/// [`bounds`].
pub fn hierarchy<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    class: SymbolId,
    upwards: bool,
) -> Vec<(SymbolView<'a>, u32)> {
    related_classes(snapshot, edges, class, upwards, false)
}

/// The supertraits of a trait (`trait Area: Shape`) or its subtraits, as in [`hierarchy`]. They are separate, because a
/// type inherits nothing from them and must implement each trait itself.
pub fn bounds<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    class: SymbolId,
    upwards: bool,
) -> Vec<(SymbolView<'a>, u32)> {
    related_classes(snapshot, edges, class, upwards, true)
}

/// The classes directly above or below a class, as in [`hierarchy`].
pub fn next_in_hierarchy<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    class: SymbolId,
    upwards: bool,
) -> Vec<SymbolView<'a>> {
    let own = snapshot.symbol(class);
    own.map(|own| next_classes(snapshot, edges, &own, upwards, false, &mut HashSet::from([class]))).unwrap_or_default()
}

/// Follows either derivation or supertraits, never both in one chain.
fn related_classes<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    class: SymbolId,
    upwards: bool,
    of_traits: bool,
) -> Vec<(SymbolView<'a>, u32)> {
    let mut found = Vec::new();
    let mut seen = HashSet::from([class]);
    let mut waiting: VecDeque<(SymbolView<'a>, u32)> =
        snapshot.symbol(class).map(|class| (class, 1)).into_iter().collect();
    while let Some((class, depth)) = waiting.pop_front() {
        for symbol in next_classes(snapshot, edges, &class, upwards, of_traits, &mut seen) {
            waiting.push_back((symbol, depth + 1));
            found.push((symbol, depth));
        }
    }
    found
}

/// The classes directly above or below a class that are not in `seen`, by path and line.
fn next_classes<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    class: &SymbolView<'a>,
    upwards: bool,
    of_traits: bool,
    seen: &mut HashSet<SymbolId>,
) -> Vec<SymbolView<'a>> {
    let is_trait = |symbol: &SymbolView<'_>| symbol.detail() == Detail::Trait;
    let number = class.number();
    let next: Vec<SymbolId> = if upwards { edges.bases(number).collect() } else { edges.derived(number).collect() };
    let mut symbols: Vec<SymbolView<'a>> = next.into_iter().filter_map(|other| snapshot.symbol(other)).collect();
    symbols.retain(|other| (is_trait(class) && is_trait(other)) == of_traits && seen.insert(other.number()));
    symbols.sort_by_key(|symbol| (symbol.file.path(), symbol.line()));
    symbols
}

/// The symbol whose decorator, attribute or annotation contains this occurrence.
pub fn decorated<'a>(place: &UseSite<'a>) -> Option<SymbolView<'a>> {
    // A decorator may contain symbols itself, such as function arguments.
    const INSIDE: u32 = 8;
    let (file, at) = (place.file, place.edge.at);
    let (mut low, mut high) = (0, file.symbol_count());
    while low < high {
        let middle = low + (high - low) / 2;
        let is_before = file.symbol(middle).is_some_and(|symbol| symbol.span().start <= at);
        (low, high) = if is_before { (middle + 1, high) } else { (low, middle) };
    }
    let before = (low.saturating_sub(INSIDE)..low).rev().filter_map(|index| file.symbol(index));
    before
        .into_iter()
        .find(|symbol| at < symbol.signature_start() && symbol.span().end > at && !symbol.decorators().is_empty())
}

/// The bases of a class outside the repository, as the source writes them.
pub fn outside_bases(snapshot: &Snapshot, edges: &EdgeTable, class: SymbolId) -> Vec<String> {
    let own = edges.in_file(class.file).iter().filter(|edge| edge.role() == Role::Base && edge.from() == Some(class));
    let unbound = own.filter(|edge| edges.targets(edge).len() == 0);
    let content = snapshot.file_by_number(class.file).map(|file| file.content()).unwrap_or_default();
    unbound.map(|edge| base_text(content, edge)).collect()
}

/// The text of a base, with its qualifier.
pub(super) fn base_text(content: &[u8], edge: &Edge) -> String {
    let mut start = (edge.at as usize).min(content.len());
    // The qualifier before the name is part of the base.
    while start > 0 && matches!(content[start - 1], b'.' | b':' | b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9') {
        start -= 1;
    }
    let end = edge.at as usize + edge.len();
    String::from_utf8_lossy(content.get(start..end).unwrap_or_default()).into_owned()
}
