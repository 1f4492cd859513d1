//! Names in a part of a file, each with the page that it leads to: its definition if facts say it, else where the syntax binds it
//! or the line that imports it, else a page of what is known of it.

use std::collections::HashMap;

use super::links;
use super::view::{View, span};
use codelode_base::model::{Detail, How, Kind, Span};
use codelode_query::text::colours::Colour;
use codelode_query::text::words::Word;
use codelode_query::{self as query, LazyFacts, LineCount};
use codelode_store::{Edge, FileView, SymbolView};

/// Imports whose lines are looked at, and words of these lines: for each the text before it is read.
const MOST_IMPORTS: usize = 400;
const MOST_WORDS: usize = 1_000;

/// A name in a text.
pub(super) struct Name {
    pub span: Span,
    /// Class of its colour.
    pub class: &'static str,
    /// Address that it leads to.
    pub link: String,
}

/// Names of a file that begin in a part of it, in source order and apart from each other. `words` are the words there that may
/// name something.
pub(super) fn names(view: &View<'_>, file: FileView<'_>, part: Span, words: &[Word]) -> Vec<Name> {
    let is_inside = |span: &Span| part.contains(*span) && !span.is_empty();
    let own = file.symbols().filter(|symbol| is_inside(&symbol.name_span()));
    let mut found: Vec<Name> = own
        .map(|symbol| Name {
            span: symbol.name_span(),
            class: class(&symbol, true),
            link: links::panel(view.id(), file.path(), &symbol.id(), symbol.line(), &[]),
        })
        .collect();
    let used = view.edges.in_file(file.number());
    let used = &used[used.partition_point(|edge| edge.at < part.start)..];
    let used = used.iter().take_while(|edge| edge.at < part.end).filter(|edge| is_inside(&span(edge)));
    found.extend(used.filter_map(|edge| of_use(view, file, edge)));
    // A definition stands before a use at the same place.
    found.sort_by_key(|name| name.span.start);
    let mut end = 0;
    found.retain(|name| {
        let is_apart = name.span.start >= end;
        end = end.max(name.span.end);
        is_apart
    });
    let modules = modules(view, file, part, &found);
    found.extend(modules);
    found.sort_by_key(|name| name.span.start);
    let selves: Vec<Name> = words.iter().filter_map(|word| of_self(view, file, word, &found)).collect();
    found.extend(selves);
    found.sort_by_key(|name| name.span.start);
    let locals = locals(view, file, part, &found);
    found.extend(locals);
    found.sort_by_key(|name| name.span.start);
    let rest = rest(view, file, words, &found);
    found.extend(rest);
    found.sort_by_key(|name| name.span.start);
    found
}

/// A word for the object around it, which leads to the class of that.
fn of_self(view: &View<'_>, file: FileView<'_>, word: &Word, known: &[Name]) -> Option<Name> {
    let class = (word.is_own && !overlaps(known, word.span)).then(|| class_around(view, file, word.span)).flatten()?;
    Some(Name { span: word.span, class: "n-local", link: to(view, file, &class) })
}

/// Words that no fact leads anywhere.
fn rest(view: &View<'_>, file: FileView<'_>, words: &[Word], known: &[Name]) -> Vec<Name> {
    let words: Vec<&Word> = words.iter().filter(|word| !overlaps(known, word.span)).collect();
    let edges = view.edges.in_file(file.number());
    let edge = |at: u32| edges.binary_search_by_key(&at, |edge| edge.at).ok().map(|place| &edges[place]);
    let used: Vec<u32> = words.iter().map(|word| word.span.start).filter(|at| edge(*at).is_some()).collect();
    let imports: HashMap<u32, u32> = query::imports_of(file, &used).into_iter().collect();
    let mut lines = LineCount::default();
    let mut line = |at: u32| links::line_in(view.id(), file, lines.line_of(file.content(), at));
    let name = |word: &&Word| {
        let span = word.span;
        if let Some(import) = imports.get(&span.start) {
            return Name { span, class: of_colour(word.colour), link: line(*import) };
        }
        match word.bound.filter(|_| edge(span.start).is_none()) {
            Some(bound) if bound != span => Name { span, class: "n-local", link: line(bound.start) },
            Some(_) => Name { span, class: "n-local", link: links::byte(span.start) },
            None if word.imported.is_some() => {
                let import = word.imported.map_or(0, |import| import.start);
                Name { span, class: of_colour(word.colour), link: line(import) }
            }
            None => Name { span, class: of_colour(word.colour), link: links::byte(span.start) },
        }
    };
    words.iter().map(name).collect()
}

/// The class that a place is in: the innermost one that holds it, or the one of the method around, which may be written
/// elsewhere.
fn class_around<'a>(view: &View<'a>, file: FileView<'a>, place: Span) -> Option<SymbolView<'a>> {
    let is_class = |symbol: &SymbolView<'_>| matches!(symbol.kind(), Kind::Class | Kind::Type);
    let around = |symbol: &SymbolView<'_>| symbol.span().contains(place) && symbol.name_span() != place;
    let holding: Vec<SymbolView<'a>> = file.symbols().filter(around).collect();
    if let Some(class) = holding.iter().rev().find(|symbol| is_class(symbol)) {
        return Some(*class);
    }
    let method = holding.iter().find(|symbol| symbol.kind() == Kind::Method)?.qualified_name();
    let mut same = query::named(view.snapshot, method.rsplit_once('.')?.0);
    same.retain(is_class);
    let own = same.iter().find(|symbol| symbol.file.number() == file.number());
    own.or_else(|| same.first().filter(|_| same.len() == 1)).copied()
}

/// Class of a name that is known by its colour only.
fn of_colour(colour: Option<Colour>) -> &'static str {
    match colour {
        Some(Colour::Function) => "n-fn",
        Some(Colour::Type) => "n-type",
        Some(Colour::Constant) => "n-const",
        _ => "n-local",
    }
}

/// A use that leads somewhere: to its definition, or to the choice between several.
fn of_use(view: &View<'_>, file: FileView<'_>, edge: &Edge) -> Option<Name> {
    let targets = view.targets(edge);
    let choice = || links::meanings(view.id(), file.path(), edge.at);
    match &targets[..] {
        [] => edge.how().is_possible().then(|| Name { span: span(edge), class: "maybe", link: choice() }),
        [target] => Some(Name { span: span(edge), class: class(target, false), link: to(view, file, target) }),
        [target, ..] => Some(Name { span: span(edge), class: class(target, false), link: choice() }),
    }
}

/// The address of a definition, short within its file.
fn to(view: &View<'_>, from: FileView<'_>, target: &SymbolView<'_>) -> String {
    match target.file.number() == from.number() {
        true => links::line_in(view.id(), from, target.line()),
        false => links::line(view.id(), target.file.path(), target.line()),
    }
}

/// Words of import lines that name files.
fn modules(view: &View<'_>, file: FileView<'_>, part: Span, known: &[Name]) -> Vec<Name> {
    let content = file.content();
    let imports =
        view.edges.imports(file.number()).iter().filter(|import| part.start <= import.at && import.at < part.end);
    let line = |at: u32| {
        let start = memchr::memrchr(b'\n', &content[..at as usize]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &content[at as usize..]).map_or(content.len(), |newline| at as usize + newline);
        (start, end)
    };
    let mut lines: Vec<(usize, usize)> = imports.map(|import| line(import.at)).take(MOST_IMPORTS).collect();
    lines.sort_unstable();
    lines.dedup();
    let (facts, mut found) = (LazyFacts::new(file.facts()), Vec::new());
    for word in lines.into_iter().flat_map(|(start, end)| words(content, start, end)).take(MOST_WORDS) {
        if overlaps(known, word) {
            continue;
        }
        if let [module] = query::imported_at(view.snapshot, view.edges, file, &facts, word.start)[..] {
            found.push(Name { span: word, class: "n-mod", link: links::file(view.id(), module.path()) });
        }
    }
    found
}

/// Uses of local names, which lead to where these are bound.
fn locals(view: &View<'_>, file: FileView<'_>, part: Span, known: &[Name]) -> Vec<Name> {
    let mut found: Vec<(Span, Span)> = Vec::new();
    for local in query::locals(file, part) {
        let uses = local.uses.iter().filter(|span| part.contains(**span) && !overlaps(known, **span));
        found.extend(uses.map(|span| (local.definition, *span)));
    }
    found.sort_unstable();
    let mut lines = LineCount::default();
    let name = |(definition, span): (Span, Span)| {
        let line = lines.line_of(file.content(), definition.start);
        Name { span, class: "n-local", link: links::line_in(view.id(), file, line) }
    };
    found.into_iter().map(name).collect()
}

/// Whether a name of a sorted list has any of these bytes.
fn overlaps(known: &[Name], span: Span) -> bool {
    let before = known.partition_point(|name| name.span.end <= span.start);
    known.get(before).is_some_and(|name| name.span.start < span.end)
}

/// Words between two bytes.
fn words(content: &[u8], start: usize, end: usize) -> Vec<Span> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte > 127;
    let mut found = Vec::new();
    let mut at = start;
    while at < end {
        let Some(first) = content[at..end].iter().position(is_part) else { break };
        let length = content[at + first..end].iter().take_while(|byte| is_part(byte)).count();
        found.push(Span::new(at + first, at + first + length));
        at += first + length;
    }
    found
}

/// Class of a symbol's name.
pub(super) fn class(symbol: &SymbolView<'_>, is_definition: bool) -> &'static str {
    let (used, defined) = match symbol.detail() {
        Detail::Function | Detail::Macro | Detail::Method | Detail::Getter | Detail::Setter | Detail::Constructor => {
            ("n-fn", "n-fn def")
        }
        Detail::Module | Detail::Namespace => ("n-mod", "n-mod def"),
        Detail::Constant | Detail::Static | Detail::Member => ("n-const", "n-const def"),
        Detail::Property | Detail::Field | Detail::Variable | Detail::Event | Detail::Object => ("n-var", "n-var def"),
        Detail::Section => ("n-mod", "n-mod def"),
        _ => ("n-type", "n-type def"),
    };
    if is_definition { defined } else { used }
}

/// Names of a file that are resolved, and all that could be: names from outside of the repository do not count.
pub(super) fn coverage(view: &View<'_>, file: FileView<'_>) -> (usize, usize) {
    let edges = view
        .edges
        .in_file(file.number())
        .iter()
        .filter(|edge| !matches!(edge.how(), How::Outside | How::OtherReceiver));
    let resolved = edges.clone().filter(|edge| edge.how().is_bound()).count();
    (resolved, edges.count())
}
