//! Names in a part of a file, each with the page that it leads to.

use super::links;
use super::view::{View, span};
use crate::model::{Detail, How, Span};
use crate::query::{self, LineCount};
use crate::store::{Edge, FileView, SymbolView};

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

/// Names of a file that begin in a part of it, in source order and apart from each other.
pub(super) fn names(view: &View<'_>, file: FileView<'_>, part: Span) -> Vec<Name> {
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
    let locals = locals(view, file, part, &found);
    found.extend(locals);
    found.sort_by_key(|name| name.span.start);
    found
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
    let mut found = Vec::new();
    for word in lines.into_iter().flat_map(|(start, end)| words(content, start, end)).take(MOST_WORDS) {
        if overlaps(known, word) {
            continue;
        }
        if let [module] = query::imported_at(view.snapshot, view.edges, file, word.start)[..] {
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
    let edges = view.edges.in_file(file.number()).iter().filter(|edge| edge.how() != How::Outside);
    let resolved = edges.clone().filter(|edge| edge.how() == How::Resolved).count();
    (resolved, edges.count())
}
