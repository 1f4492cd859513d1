//! Searches texts for names at places that no relation explains. A macro, an attribute, a template, a setting or an
//! evaluated string there may use the definition. Comments and documentation use nothing.

use crate::folder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

use super::subject::Subject;
use super::walk::Walk;
use crate::graph::{in_interface, is_part};
use codelode_base::model::{How, Kind, Marks, Span};
use codelode_lang::extract::unexplained;
use codelode_lang::languages::Privacy;
use codelode_store::{Edge, FileView, SymbolView};

/// Extensions of files whose words are no mentions: prose, message catalogues, records.
const SILENT: &[&str] = &[
    "md", "markdown", "rst", "txt", "adoc", "lock", "map", "svg", "po", "pot", "csv", "tsv", "log", "patch", "diff",
    "snap", "sum",
];

/// A name with so many definitions is too common to tell them apart, so one mention counts for all.
const MOST_ALIKE: usize = 64;

/// A mention: the file and the place.
pub type Mention<'a> = (FileView<'a>, u32);

/// The first mention of each node by path, in code or data and in tests.
#[derive(Default)]
pub struct Mentions<'a> {
    pub by_code: FxHashMap<u32, Mention<'a>>,
    pub by_tests: FxHashMap<u32, Mention<'a>>,
}

/// Finds mentions of the names of some nodes.
pub fn mentions<'a>(walk: &Walk<'_, 'a>, nodes: &[u32]) -> Mentions<'a> {
    let graph = walk.project.graph;
    let mut wanted: FxHashMap<&[u8], Vec<u32>> = FxHashMap::default();
    for node in nodes {
        wanted.entry(graph.symbols[*node as usize].name_bytes()).or_default().push(*node);
    }
    let mut found = Mentions::default();
    if nodes.is_empty() {
        return found;
    }
    let files: Vec<FileView<'a>> = graph.snapshot.files().filter(|file| !is_silent(file)).collect();
    let candidates: Vec<Vec<Span>> = files.par_iter().map(|file| names_in(&wanted, *file)).collect();
    for (file, places) in files.into_iter().zip(candidates) {
        let mut context = None;
        for span in places {
            let context = context.get_or_insert_with(|| Context::new(walk, file));
            if context.defined.contains(&span.start) {
                continue;
            }
            let into = if file.exercises() { &mut found.by_tests } else { &mut found.by_code };
            let alike = &wanted[span.of(file.content())];
            let is_open = |node: &&u32| !into.contains_key(node);
            let meant: Vec<u32> = match alike.len() {
                // Any of them may be meant.
                MOST_ALIKE.. => alike.iter().take_while(is_open).copied().collect(),
                _ => {
                    let open = alike.iter().filter(is_open).copied();
                    open.filter(|node| context.may_mean(walk.subject(*node), span)).collect()
                }
            };
            into.extend(meant.into_iter().map(|node| (node, (file, span.start))));
        }
    }
    found
}

/// Words of a file that are names of nodes. In data, only words that cannot be prose count.
fn names_in(wanted: &FxHashMap<&[u8], Vec<u32>>, file: FileView<'_>) -> Vec<Span> {
    let text = file.content();
    let is_code = !file.facts().is_empty();
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split(|byte| !is_part(*byte)) {
        let span = Span::new(at, at + word.len());
        at += word.len() + 1;
        if wanted.contains_key(word) && (is_code || stands_as_name(text, span)) {
            found.push(span);
        }
    }
    found
}

/// Whether a word of a data file is a name, by its form or by the characters around it.
fn stands_as_name(text: &[u8], span: Span) -> bool {
    let before = (span.start as usize).checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    let after = text.get(span.end as usize).copied().unwrap_or(b' ');
    is_formed(span.of(text)) || b"\"'`.:#/>{$@-".contains(&before) || b"\"'`(:".contains(&after)
}

/// A file with the facts that decide whether a place may mean a definition.
struct Context<'g, 'a> {
    file: FileView<'a>,
    edges: &'g [Edge],
    /// Places where the file names its own definitions and their types.
    defined: FxHashSet<u32>,
    /// Places in code whose meaning the facts do not explain.
    unexplained: FxHashSet<u32>,
}

impl<'g, 'a> Context<'g, 'a> {
    fn new(walk: &Walk<'g, 'a>, file: FileView<'a>) -> Self {
        let names = |symbol: SymbolView<'_>| [symbol.name_span().start, symbol.container_span().start];
        Self {
            file,
            edges: walk.project.graph.edges.in_file(file.number()),
            defined: file.symbols().flat_map(names).collect(),
            unexplained: unexplained(file.facts()).collect(),
        }
    }

    /// Whether a place may mean a definition.
    fn may_mean(&self, subject: Subject<'_, 'a>, span: Span) -> bool {
        let symbol = &subject.symbol;
        let is_own = symbol.file.number() == self.file.number();
        if is_own && symbol.span().contains(span) {
            return false;
        }
        let text = self.file.content();
        if self.file.facts().is_empty() {
            return !subject.is_hidden() || subject.language().privacy == Privacy::Open && !subject.is_local();
        }
        let edge = self.edges.binary_search_by_key(&span.start, |edge| edge.at).ok().map(|place| &self.edges[place]);
        match edge {
            Some(edge) => sees(subject, self.file, span.start) && self.may_be_another(subject, edge),
            None if self.unexplained.contains(&span.start) || self.file.has_errors() => {
                sees(subject, self.file, span.start) && std::ptr::eq(subject.language(), self.file.conventions())
            }
            // Only a quoted name counts here, because comments use nothing.
            None => !subject.is_local() && is_quoted(text, span),
        }
    }

    /// Whether a use bound to another definition, or to none, may still mean this one.
    fn may_be_another(&self, subject: Subject<'_, 'a>, edge: &Edge) -> bool {
        let (symbol, rules) = (&subject.symbol, subject.language());
        let is_method = symbol.kind() == Kind::Method;
        let before = self.file.content().get(..edge.at as usize).unwrap_or_default();
        if subject.graph().edges.targets(edge).any(|target| target == symbol.number()) {
            return false;
        }
        match edge.how() {
            // At run time the object may be of another class than the resolved one.
            How::Resolved | How::Compiler => is_method && rules.by_shape && !is_of_self(before),
            // A function may become a member of an object: `Object.assign(proto, helpers)`, `this.help()`.
            How::NoMember | How::NoReceiver | How::OtherReceiver => is_method || rules.structural,
            // The facts of a template are incomplete, and a trait of the project adds its methods to external types.
            How::Outside => {
                let ours = || {
                    subject
                        .graph()
                        .filled_in(subject.node)
                        .is_some_and(|base| subject.graph().edges.targets(base).len() > 0)
                };
                self.file.is_partly_read()
                    || is_method && rules.by_shape
                    || in_interface(symbol)
                    || ours()
                    || is_asked_of_file(subject, before)
            }
        }
    }
}

/// Whether a name follows the name of the definition's file, or stands alone where scripts share their names.
fn is_asked_of_file(subject: Subject<'_, '_>, before: &[u8]) -> bool {
    let path = subject.file().path();
    let name = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or_default().as_bytes();
    match before.strip_suffix(b".") {
        Some(before) => before.strip_suffix(name).is_some_and(|rest| !rest.last().is_some_and(|byte| is_part(*byte))),
        None => subject.language().structural && !subject.project().is_module(subject.file()),
    }
}

/// Whether code at a place can see a definition, by the visibility rules of its language.
pub fn sees(subject: Subject<'_, '_>, file: FileView<'_>, at: u32) -> bool {
    let own = subject.file();
    if subject.is_local() {
        let around = subject.around().nth(1).map_or(subject.symbol.span(), |around| around.symbol.span());
        return own.number() == file.number() && around.start <= at && at < around.end;
    }
    if own.number() == file.number() || !subject.is_hidden() {
        return true;
    }
    let folders = [own.path(), file.path()].map(folder);
    match subject.language().privacy {
        Privacy::Open => true,
        Privacy::Folder => folders[0] == folders[1] && !subject.has(Marks::PRIVATE),
        Privacy::File => false,
    }
}

/// Whether a member is accessed on the object itself: `self.open()`.
fn is_of_self(before: &[u8]) -> bool {
    !before.ends_with(b".") || [&b"self."[..], b"this.", b"cls.", b"super()."].iter().any(|own| before.ends_with(own))
}

/// Whether a name is quoted: alone, at the end of a path, or as a call.
fn is_quoted(text: &[u8], span: Span) -> bool {
    let quote = |byte: Option<&u8>| byte.copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let before = (span.start as usize).checked_sub(1).and_then(|at| text.get(at));
    let (opening, closing) = (quote(before), quote(text.get(span.end as usize)));
    opening.is_some() && opening == closing || closing.is_some() && matches!(before, Some(b'.' | b':' | b'#' | b'/'))
}

/// Whether a name cannot be a word of prose: it has several parts, a digit, or a leading `_` or `$`.
fn is_formed(name: &[u8]) -> bool {
    matches!(name.first(), Some(b'_' | b'$'))
        || name.iter().any(|byte| *byte == b'_' || byte.is_ascii_digit())
        || name.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

fn is_silent(file: &FileView<'_>) -> bool {
    let ending = file.path().rsplit_once('.').map_or("", |(_, ending)| ending);
    SILENT.contains(&ending)
}
