//! The one search for names in texts: places where a name stands that no relation explains. A macro, an attribute, a template,
//! a setting or a text that is run may use what bears the name. Comments and documentation use nothing.

use crate::folder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

use super::subject::Subject;
use super::walk::Walk;
use crate::graph::{in_interface, is_part};
use codelode_base::model::{How, Kind, Span};
use codelode_lang::extract::unexplained;
use codelode_lang::languages::Privacy;
use codelode_store::{Edge, FileView, SymbolView};

/// Endings of files whose words are no mentions: prose, lists of messages, records.
const SILENT: &[&str] = &[
    "md", "markdown", "rst", "txt", "adoc", "lock", "map", "svg", "po", "pot", "csv", "tsv", "log", "patch", "diff",
    "snap", "sum",
];

/// The definitions of one name from which on a mention of it counts for each, without a look at what it may mean.
const MOST_ALIKE: usize = 64;

/// A mention: the file and the place.
pub type Mention<'a> = (FileView<'a>, u32);

/// By node: a mention in code or data, the first one by path; else one in tests.
#[derive(Default)]
pub struct Mentions<'a> {
    pub by_code: FxHashMap<u32, Mention<'a>>,
    pub by_tests: FxHashMap<u32, Mention<'a>>,
}

/// Looks for the names of some nodes.
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
                // One mention may mean any.
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

/// Words of a file that are names of nodes: all of code, and those of data that cannot be prose.
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

/// Whether a word of data is a name, by itself or by what stands beside it.
fn stands_as_name(text: &[u8], span: Span) -> bool {
    let before = (span.start as usize).checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    let after = text.get(span.end as usize).copied().unwrap_or(b' ');
    is_formed(span.of(text)) || b"\"'`.:#/>{$@-".contains(&before) || b"\"'`(:".contains(&after)
}

/// Places of a file, and what means them.
struct Context<'g, 'a> {
    file: FileView<'a>,
    edges: &'g [Edge],
    /// Places where the file writes names of its own definitions and of the types that they belong to.
    defined: FxHashSet<u32>,
    /// Mentions in code that facts do not explain.
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
            // In a text, as a whole: comments use nothing.
            None => !subject.is_local() && is_quoted(text, span),
        }
    }

    /// Whether a use that was bound to something else, or to nothing, may mean a definition after all.
    fn may_be_another(&self, subject: Subject<'_, 'a>, edge: &Edge) -> bool {
        let (symbol, rules) = (&subject.symbol, subject.language());
        let is_method = symbol.kind() == Kind::Method;
        let before = self.file.content().get(..edge.at as usize).unwrap_or_default();
        if subject.graph().edges.targets(edge).any(|target| target == symbol.number()) {
            return false;
        }
        match edge.how() {
            // An object may be of another class than the one that was found.
            How::Resolved | How::Compiler => is_method && rules.by_shape && !is_of_self(before),
            // A function may be made a member of an object: `Object.assign(proto, helpers)`, `this.help()`.
            How::NoMember | How::NoReceiver | How::OtherReceiver => is_method || rules.structural,
            // A template does not say what its names are. A trait of ours gives its methods to types of others.
            How::Outside => {
                let ours = || {
                    subject.graph().filled_in(symbol).is_some_and(|base| subject.graph().edges.targets(base).len() > 0)
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

/// Whether a name is asked of the file of a definition, by the file's name, or stands alone where scripts share their names.
fn is_asked_of_file(subject: Subject<'_, '_>, before: &[u8]) -> bool {
    let path = subject.file().path();
    let name = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or_default().as_bytes();
    match before.strip_suffix(b".") {
        Some(before) => before.strip_suffix(name).is_some_and(|rest| !rest.last().is_some_and(|byte| is_part(*byte))),
        None => subject.language().structural && !subject.project().is_module(subject.file()),
    }
}

/// Whether a place in code can mean a definition, as far as the language says who sees it.
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
        Privacy::Folder => folders[0] == folders[1] && !subject.has_modifier("private"),
        Privacy::File => false,
    }
}

/// Whether a member is asked of the object itself: `self.open()`.
fn is_of_self(before: &[u8]) -> bool {
    !before.ends_with(b".") || [&b"self."[..], b"this.", b"cls.", b"super()."].iter().any(|own| before.ends_with(own))
}

/// Whether a name stands between quotes, alone, at the end of a path, or called.
fn is_quoted(text: &[u8], span: Span) -> bool {
    let quote = |byte: Option<&u8>| byte.copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let before = (span.start as usize).checked_sub(1).and_then(|at| text.get(at));
    let (opening, closing) = (quote(before), quote(text.get(span.end as usize)));
    opening.is_some() && opening == closing || closing.is_some() && matches!(before, Some(b'.' | b':' | b'#' | b'/'))
}

/// Whether a name cannot be a word of prose: it has parts, or begins as none does.
fn is_formed(name: &[u8]) -> bool {
    matches!(name.first(), Some(b'_' | b'$'))
        || name.iter().any(|byte| *byte == b'_' || byte.is_ascii_digit())
        || name.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

fn is_silent(file: &FileView<'_>) -> bool {
    let ending = file.path().rsplit_once('.').map_or("", |(_, ending)| ending);
    SILENT.contains(&ending)
}
