//! Renaming: every place that writes a symbol's name, and every place in doubt. An edit that might be incomplete is
//! never offered.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::filled_in;
use super::overrides::{class_of, files_in, overridden};
use super::related::implementations;
use super::relations::{line_of, may_name, outside_bases, written_as};
use super::visible::{decorator_name, marks_of};
use crate::folder;
use crate::symbols::lookup::named;
use crate::text::mentions::mentions;
use crate::text::structure::{are_literals, are_short, has_short_forms};
use codelode_base::model::{Detail, Kind, Role, Span};
use codelode_lang::extract;
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolId, SymbolView};

/// The most symbols renamed together: a method, the methods that it overrides, and those that override it.
const MOST: usize = 500;

/// A reason against renaming.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RenameDoubt {
    /// Path of the file.
    pub path: String,
    /// Line, one-based.
    pub line: u32,
    /// The doubt, in words for people.
    pub why: &'static str,
}

impl RenameDoubt {
    pub(super) fn at(file: FileView<'_>, at: u32, why: &'static str) -> Self {
        Self { path: file.path().to_owned(), line: line_of(file, at), why }
    }
}

/// A rename: the places to edit, and the doubts about it.
pub struct Renaming {
    /// The places of the name, by file.
    pub places: BTreeMap<u32, Vec<Span>>,
    /// In order; empty for a certain rename.
    pub doubts: Vec<RenameDoubt>,
}

/// Finds the places of a symbol's name: its definition, every use, and the same for the methods that it overrides or
/// that override it. The search may stop early once it has `enough` doubts; the places are then incomplete. `new` is
/// the new name, if known.
pub fn renaming<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    symbol: &SymbolView<'a>,
    new: Option<&str>,
    enough: usize,
) -> Renaming {
    let mut doubts = BTreeSet::new();
    let family = family(snapshot, edges, symbol);
    if family.len() > MOST {
        doubts.insert(RenameDoubt::at(symbol.file, symbol.name_span().start, "too many methods override each other"));
    }
    let mut places: BTreeMap<u32, BTreeSet<Span>> = BTreeMap::new();
    let is_meant = |id: &SymbolId| family.iter().any(|own| own.number() == *id);
    for own in &family {
        doubts.extend(doubt_of(snapshot, edges, own));
        if names_its_file(own) {
            doubts.insert(RenameDoubt::at(own.file, own.name_span().start, "its file is named after it"));
        }
        places.entry(own.file.number()).or_default().insert(own.name_span());
        for (file, span) in examples(snapshot, own) {
            match new.is_some_and(|new| !new.starts_with(char::is_uppercase)) {
                true => drop(doubts.insert(RenameDoubt::at(file, span.start, "an example is named after it"))),
                false => drop(places.entry(file.number()).or_default().insert(span)),
            }
        }
        for edge in edges.users(own.number()) {
            let Some(file) = snapshot.file_by_number(edge.file) else { continue };
            if !edges.targets(edge).all(|target| is_meant(&target)) {
                doubts.insert(RenameDoubt::at(file, edge.at, "it may mean something else, too"));
            }
            let place = super::relations::UseSite { file, edge, line: 0 };
            let span = span(edge);
            match written_as(&place, own) {
                // The place writes another name, which stays.
                Some(written) if written != own.name() => {}
                Some(_) => drop(doubts.insert(RenameDoubt::at(file, edge.at, "it also names a field"))),
                // `import('./a')` takes the default export of any name.
                None if edge.role() == Role::Import && span.of(file.content()) == b"import" => {}
                None if makes_constant(file, edge.at) => {}
                None if span.of(file.content()) != own.name_bytes() => {
                    doubts.insert(RenameDoubt::at(file, edge.at, "it is written in another way"));
                }
                None => drop(places.entry(edge.file).or_default().insert(span)),
            }
        }
    }
    let is_edited = |file: FileView<'_>, span: Span| places.get(&file.number()).is_some_and(|all| all.contains(&span));
    let left = enough.saturating_sub(doubts.len());
    doubts.extend(elsewhere(snapshot, edges, symbol, &is_edited, &is_meant, left));
    let mut with_short: HashMap<Option<u8>, bool> = HashMap::new();
    for (file, spans) in &places {
        if doubts.len() >= enough {
            break;
        }
        let Some(file) = snapshot.file_by_number(*file) else { continue };
        if !*with_short.entry(file.language_number()).or_insert_with(|| has_short_forms(file.spec())) {
            continue;
        }
        // In `{ name }`, the name is a key and a value at once.
        let starts: Vec<usize> = spans.iter().map(|span| span.start as usize).collect();
        let are_short = are_short(file.content(), file.spec(), &starts);
        let short = spans.iter().zip(are_short).filter(|(_, is_short)| *is_short);
        doubts.extend(short.map(|(span, _)| RenameDoubt::at(file, span.start, "it is both a key and its value")));
    }
    if let Some(new) = new {
        doubts.extend(collisions(snapshot, symbol, &family, &places, new));
    }
    let places = places.into_iter().map(|(file, spans)| (file, spans.into_iter().collect())).collect();
    Renaming { places, doubts: doubts.into_iter().collect() }
}

/// Whether a place is the name of an enum's constant, which is made there without writing the enum's name.
fn makes_constant(file: FileView<'_>, at: u32) -> bool {
    file.symbols().any(|own| own.name_span().start == at && own.detail() == Detail::Member)
}

/// The places of a symbol's name within names of its examples: `ExampleType_Method_suffix`.
fn examples<'a>(snapshot: &'a Snapshot, own: &SymbolView<'a>) -> Vec<(FileView<'a>, Span)> {
    let Some(prefix) = own.file.conventions().examples else { return Vec::new() };
    let owner = class_of(snapshot, own).map(|class| class.name().into_owned());
    if owner.is_none() && own.has_parent() {
        return Vec::new();
    }
    let own_name = own.name();
    let before = owner.map_or_else(|| prefix.to_owned(), |owner| format!("{prefix}{owner}_"));
    let of_folder = files_in(snapshot, folder(own.file.path())).filter(|file| file.exercises());
    let functions = of_folder.flat_map(|file| file.symbols()).filter(|symbol| symbol.kind() == Kind::Function);
    let named = functions.filter(|function| {
        let name = function.name();
        let behind = name.strip_prefix(&*before).and_then(|name| name.strip_prefix(&*own_name));
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('_'))
    });
    let place = |function: SymbolView<'a>| {
        let start = function.name_span().start + before.len() as u32;
        (function.file, Span { start, end: start + own_name.len() as u32 })
    };
    named.map(place).collect()
}

fn span(edge: &Edge) -> Span {
    Span { start: edge.at, end: edge.at + edge.len() as u32 }
}

/// The symbols that must share the name: overridden and overriding methods, a class and its constructors.
pub(super) fn family<'a>(snapshot: &'a Snapshot, edges: &EdgeTable, symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    let is_namesake = |other: &SymbolView<'a>| other.name_bytes() == symbol.name_bytes();
    let is_constructor = |other: &SymbolView<'a>| other.detail() == Detail::Constructor && is_namesake(other);
    let owner = symbol.parent().filter(|parent| is_constructor(symbol) && is_namesake(parent));
    let mut family = vec![owner.unwrap_or(*symbol)];
    let mut done = 0;
    while let Some(own) = family.get(done).copied().filter(|_| family.len() <= MOST) {
        let mut next: Vec<SymbolView<'a>> = Vec::new();
        if own.kind() == Kind::Method {
            next.extend(overridden(snapshot, edges, &own));
            next.extend(implementations(snapshot, edges, &own).into_iter().map(|(below, _)| below));
        }
        next.extend(own.children().filter(is_constructor));
        // Overloads are one function with several signatures.
        let is_overload =
            |other: &SymbolView<'a>| other.overload() > 0 && other.qualified_name() == own.qualified_name();
        if own.overload() > 0 {
            next.extend(own.file.symbols().filter(is_overload));
        }
        for other in next {
            if family.iter().all(|known| known.number() != other.number()) {
                family.push(other);
            }
        }
        done += 1;
    }
    family
}

fn names_its_file(own: &SymbolView<'_>) -> bool {
    let stem = own.file.path().rsplit('/').next().and_then(|file| file.split('.').next());
    // A module without a body, such as `mod cli;`, is named by its file.
    let is_of_file = own.detail() == Detail::Module && !own.source().contains(&b'{');
    let is_named = matches!(own.kind(), Kind::Class | Kind::Type) && own.parent().is_none();
    is_of_file || is_named && stem == Some(&*own.name())
}

fn is_function(own: &SymbolView<'_>) -> bool {
    matches!(own.kind(), Kind::Function | Kind::Method)
}

/// The doubt about a definition itself, if any, for a rename or a deletion.
pub(super) fn doubt_of(snapshot: &Snapshot, edges: &EdgeTable, own: &SymbolView<'_>) -> Option<RenameDoubt> {
    let doubt = |why| Some(RenameDoubt::at(own.file, own.name_span().start, why));
    let name = own.name();
    if own.name_span().is_empty() || name.starts_with("__") && name.ends_with("__") {
        return doubt("the language gives its name a meaning");
    }
    let (rules, is_method) = (own.file.conventions(), own.kind() == Kind::Method);
    if is_function(own) && is_operator(own) {
        return doubt("the language calls it without its name");
    }
    if is_method && (rules.is_implied)(&name) || rules.mains.contains(&&*name) && is_function(own) {
        return doubt("the language or its library calls it by its name");
    }
    let gives =
        |decorator: &String| rules.runner.is_some_and(|runner| runner.givers.contains(&decorator_name(decorator)));
    if own.decorators().iter().any(gives) {
        return doubt("tests take it by its name");
    }
    if is_method && rules.unnamed_interfaces && may_be_declared(snapshot, edges, own) {
        return doubt("an interface declares a method of that name, and it may be that one");
    }
    if is_method && rules.unnamed_interfaces && class_of(snapshot, own).is_none() {
        return doubt("its object may be of a type that names it");
    }
    if own.file.facts().is_empty() {
        return doubt("names in its language are not resolved");
    }
    if own.file.is_cut_off() {
        return doubt("its file was not read completely");
    }
    if own.file.has_errors() {
        return doubt("its file has syntax errors");
    }
    let is_of_trait = || {
        filled_in(edges, own, marks_of(own)).is_some()
            || own.parent().is_some_and(|parent| parent.detail() == Detail::Trait)
    };
    if matches!(own.kind(), Kind::Type | Kind::Constant) && is_of_trait() {
        return doubt("a trait declares it, and others may fill it in");
    }
    let is_member = is_method || own.kind() == Kind::Constant && own.has_parent();
    if !is_member {
        return None;
    }
    match filled_in(edges, own, marks_of(own)) {
        Some(base) if edges.targets(base).len() == 0 => doubt("it may belong to a trait from outside"),
        // A block for its own type, not for a trait, overrides nothing.
        None if !own.container_span().is_empty() => None,
        _ => {
            let class = class_of(snapshot, own).or_else(|| own.parent())?;
            let is_outside = !outside_bases(snapshot, edges, class.number()).is_empty();
            if is_outside { doubt("its class extends one from outside, which may define it") } else { None }
        }
    }
}

/// Whether a definition is marked as an operator: `operator fun invoke()`.
fn is_operator(own: &SymbolView<'_>) -> bool {
    let span = Span { start: own.signature_start(), end: own.name_span().start };
    let before = own.file.content().get(span.start as usize..span.end as usize).unwrap_or_default();
    before.split(|byte| !byte.is_ascii_alphanumeric()).any(|word| word == b"operator")
}

/// Whether a class method and an interface method of the same name may belong together without a known relation, and
/// `own` is one of them.
fn may_be_declared(snapshot: &Snapshot, edges: &EdgeTable, own: &SymbolView<'_>) -> bool {
    let declares = |symbol: &SymbolView<'_>| {
        symbol.container_span().is_empty() && symbol.parent().is_some_and(|parent| parent.kind() == Kind::Type)
    };
    let is_one = |other: &SymbolView<'_>| {
        other.kind() == Kind::Method
            && other.number() != own.number()
            && other.file.language() == own.file.language()
            && declares(other) != declares(own)
    };
    let mut others = named(snapshot, &own.name()).into_iter().filter(is_one).peekable();
    if others.peek().is_none() {
        return false;
    }
    let below = || implementations(snapshot, edges, own).into_iter().map(|(below, _)| below).collect();
    let known: Vec<SymbolView<'_>> = if declares(own) { below() } else { overridden(snapshot, edges, own) };
    others.any(|other| known.iter().all(|known| known.number() != other.number()))
}

/// Doubts about places that write a symbol's name and are not known to be edited; stops after `enough`.
pub(super) fn elsewhere(
    snapshot: &Snapshot,
    edges: &EdgeTable,
    symbol: &SymbolView<'_>,
    is_edited: &dyn Fn(FileView<'_>, Span) -> bool,
    is_meant: &dyn Fn(&SymbolId) -> bool,
    enough: usize,
) -> Vec<RenameDoubt> {
    let name = symbol.name();
    let is_field = symbol.kind() == Kind::Constant;
    let (mut doubts, mut in_quotes) = (Vec::new(), Vec::new());
    let mut mentioned = mentions(snapshot, &name);
    while let Some(mentioned) = mentioned.next().filter(|_| doubts.len() < enough) {
        let file = mentioned.file;
        let used = edges.in_file(file.number());
        let is_data = is_data(file);
        let may_name = may_name(file, symbol.file);
        // Unread code of a cut-off file may bind its names to other definitions.
        if let Some(first) = mentioned.at.first().filter(|_| file.is_cut_off() && may_name) {
            doubts.push(RenameDoubt::at(file, *first, "its file was not read completely"));
            continue;
        }
        let mut quoted = Vec::new();
        let mut unexplained: Option<HashSet<u32>> = None;
        for at in mentioned.at {
            let span = Span { start: at, end: at + name.len() as u32 };
            if is_edited(file, span) {
                continue;
            }
            let edge = used.binary_search_by_key(&at, |edge| edge.at).ok().map(|place| &used[place]);
            let why = match edge {
                Some(edge) if edges.targets(edge).any(|target| is_meant(&target)) => None,
                Some(edge) if edge.how().is_possible() => Some("nothing is known of what it belongs to"),
                Some(_) => None,
                None if file.facts().is_empty() => is_data.then_some("it occurs in a file without resolved names"),
                None if may_name && unexplained.get_or_insert_with(|| unexplained_in(file)).contains(&at) => {
                    Some("code uses it on an unknown receiver")
                }
                None if is_quoted(file.content(), span) => {
                    quoted.push(span);
                    None
                }
                None if is_field && is_keyword(file.content(), span) => Some("an argument may name it"),
                None if may_name && is_directive(file, span) => Some("a comment that tools read names it"),
                None => None,
            };
            doubts.extend(why.map(|why| RenameDoubt::at(file, at, why)));
        }
        if !quoted.is_empty() {
            in_quotes.push((file, quoted));
        }
    }
    doubts.extend(made_names(snapshot, symbol));
    // These files are parsed, which takes most of the time, so the shortest come first.
    in_quotes.sort_by_key(|(file, _)| file.content().len());
    let mut in_quotes = in_quotes.into_iter();
    while let Some((file, quoted)) = in_quotes.next().filter(|_| doubts.len() < enough) {
        let literals = are_literals(file.content(), file.spec(), &quoted);
        let named = quoted.iter().zip(literals).filter(|(_, is_literal)| *is_literal);
        doubts.extend(named.map(|(span, _)| RenameDoubt::at(file, span.start, "a text names it")));
    }
    doubts
}

/// Places where the file's code writes a name that no fact explains and that is no definition.
fn unexplained_in(file: FileView<'_>) -> HashSet<u32> {
    let mut found: HashSet<u32> = extract::unexplained(file.facts()).collect();
    for symbol in file.symbols() {
        found.remove(&symbol.name_span().start);
    }
    found
}

/// Whether a comment is a directive to a tool that names the symbol: `//export name`, `@type {Name}`.
fn is_directive(file: FileView<'_>, span: Span) -> bool {
    let text = file.content();
    let start = memchr::memrchr(b'\n', &text[..span.start as usize]).map_or(0, |newline| newline + 1);
    let (before, after) = (&text[start..span.start as usize], &text[span.end as usize..]);
    let comments = &file.spec().comments;
    let written = comments.line.iter().find_map(|mark| before.trim_ascii_start().strip_prefix(mark.as_bytes()));
    // Directives have no space after the slashes: `//export name`, `//go:linkname name other.name`.
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.' | b' ');
    let is_pragma = |rest: &[u8]| {
        rest.first().is_some_and(u8::is_ascii_lowercase) && rest.ends_with(b" ") && rest.iter().all(is_word)
    };
    let is_end = after.first().is_none_or(|byte| byte.is_ascii_whitespace());
    if written.is_some_and(is_pragma) && is_end {
        return true;
    }
    // A type expression after a tag: `{import('./a').Name}`.
    let is_comment = before.trim_ascii_start().starts_with(b"*") || memchr::memmem::find(before, b"/**").is_some();
    let tag = memchr::memchr(b'@', before).filter(|_| is_comment);
    let brace = tag.and_then(|tag| memchr::memrchr(b'{', before).filter(|brace| *brace > tag));
    brace.is_some_and(|brace| memchr::memchr(b'}', &before[brace..]).is_none())
}

/// Prefixes of accessor names derived from a field's name.
const ACCESSORS: [&str; 4] = ["get", "is", "set", "with"];

/// Doubts about derived names without a definition, such as `getName`, which an annotation generates for `name`.
fn made_names(snapshot: &Snapshot, field: &SymbolView<'_>) -> Vec<RenameDoubt> {
    let name = field.name();
    let mut letters = name.chars();
    let annotated = |symbol: &SymbolView<'_>| !symbol.decorators().is_empty();
    let is_made =
        field.kind() == Kind::Constant && (field.parent().as_ref().is_some_and(annotated) || annotated(field));
    let Some(first) = letters.next().filter(|_| is_made) else {
        return Vec::new();
    };
    let mut doubts = Vec::new();
    for accessor in ACCESSORS {
        let made = format!("{accessor}{}{}", first.to_uppercase(), letters.as_str());
        let is_open = named(snapshot, &made).is_empty();
        let files = mentions(snapshot, &made).filter(|_| is_open).filter(|it| may_name(it.file, field.file));
        let doubt = |at: u32, file| RenameDoubt::at(file, at, "a method that is made for it may have this name");
        files.for_each(|it| doubts.extend(it.at.iter().map(|at| doubt(*at, it.file))));
    }
    doubts
}

/// Whether a name is the keyword of an argument: `f(name=1)`.
fn is_keyword(text: &[u8], span: Span) -> bool {
    let before = text[..span.start as usize].trim_ascii_end().last();
    let after = text[span.end as usize..].trim_ascii_start();
    matches!(before, Some(b'(' | b',')) && after.starts_with(b"=") && !after.starts_with(b"==")
}

/// Doubts about the new name: definitions that already have it where the renamed symbol is visible.
fn collisions(
    snapshot: &Snapshot,
    symbol: &SymbolView<'_>,
    family: &[SymbolView<'_>],
    places: &BTreeMap<u32, BTreeSet<Span>>,
    new: &str,
) -> Vec<RenameDoubt> {
    let is_member = symbol.kind() == Kind::Method || symbol.has_parent();
    if is_member {
        let siblings = family.iter().filter_map(|own| class_of(snapshot, own).or_else(|| own.parent()));
        let taken = siblings.flat_map(|class| class.children().collect::<Vec<_>>());
        let taken = taken.filter(|other| other.name() == new);
        return taken
            .map(|other| RenameDoubt::at(other.file, other.name_span().start, "the new name is taken"))
            .collect();
    }
    let seen = mentions(snapshot, new).filter(|mentioned| places.contains_key(&mentioned.file.number()));
    seen.map(|mentioned| RenameDoubt::at(mentioned.file, mentioned.at[0], "the new name is written here")).collect()
}

/// Extensions of prose and data files, whose words are no names.
const PROSE: &[&str] = &[
    "", "md", "rst", "txt", "adoc", "po", "pot", "csv", "tsv", "log", "svg", "lock", "map", "snap", "patch", "diff",
    "ipynb",
];

/// Whether a file without name resolution is data that may name symbols.
fn is_data(file: FileView<'_>) -> bool {
    let name = file.path().rsplit('/').next().unwrap_or_default();
    !PROSE.contains(&name.rsplit_once('.').map_or("", |(_, ending)| ending))
}

/// Whether quotes enclose exactly this span.
fn is_quoted(text: &[u8], span: Span) -> bool {
    let before = (span.start as usize).checked_sub(1).and_then(|at| text.get(at));
    before.is_some_and(|quote| matches!(quote, b'"' | b'\'' | b'`')) && text.get(span.end as usize) == before
}
