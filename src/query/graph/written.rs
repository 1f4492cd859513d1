//! Places where a name is written and that no relation explains, in any file and in any casing: in a string, a comment,
//! a page, a template, a setting. A program that reads the text may use what bears the name.

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Graph;
use super::documented::is_past;
use super::surroundings::has_own_names;
use super::visible::{is_part, is_typed, stem};
use crate::model::{How, Kind, Span};
use crate::store::{Edge, FileView, SymbolView};

/// Endings of files whose words are no mentions.
const SILENT: &[&str] = &["lock", "map", "svg", "po", "pot", "csv", "tsv", "log", "patch", "diff", "snap", "sum"];
/// The most lines above a definition that belong to it as comments.
const MOST_COMMENTS: usize = 50;
/// The dot that assembly has between a package and a name: `runtime·schedinit(SB)`.
const ASSEMBLY_DOT: &[u8] = "·".as_bytes();
/// Names above which all count as written: one scan for so many would say little.
const FILTER: usize = 1 << 16;

/// By node: the file and the place of a mention that nothing explains. Lists of changes tell only of those `announced`,
/// which others may use.
pub(super) fn written<'a>(
    graph: &Graph<'a>,
    nodes: &[u32],
    announced: &FxHashSet<u32>,
) -> FxHashMap<u32, (FileView<'a>, u32)> {
    let mut by_key: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    let mut filter = vec![false; FILTER];
    for node in nodes {
        let key = key(graph.symbols[*node as usize].name_bytes());
        let property = property(&graph.symbols[*node as usize]).map(self::key);
        for key in [key].into_iter().chain(property) {
            filter[key as usize % FILTER] = true;
            by_key.entry(key).or_default().push(*node);
        }
    }
    if nodes.is_empty() {
        return FxHashMap::default();
    }
    let files: Vec<FileView<'a>> = graph.snapshot.files().filter(|file| !is_silent(file)).collect();
    let in_file = |file: &FileView<'a>| {
        let (mut found, mut defined) = (FxHashMap::default(), None);
        let is_past = is_past(file.path());
        each_word(file.content(), |span, key| {
            if !filter[key as usize % FILTER] {
                return;
            }
            for node in by_key.get(&key).into_iter().flatten() {
                if found.contains_key(node) {
                    continue;
                }
                if is_past {
                    if announced.contains(node) && is_announced(&graph.symbols[*node as usize], file.content(), span) {
                        found.insert(*node, span.start);
                    }
                    continue;
                }
                if key != self::key(graph.symbols[*node as usize].name_bytes()) {
                    if reads_properties(file, &graph.symbols[*node as usize])
                        && file.content()[..span.start as usize].ends_with(b".")
                    {
                        found.insert(*node, span.start);
                    }
                    continue;
                }
                let defined = defined.get_or_insert_with(|| definitions(*file));
                if !is_explained(graph, *file, span, *node, defined) {
                    found.insert(*node, span.start);
                }
            }
        });
        found
    };
    // The first file that mentions a name is the one to show.
    let by_file: Vec<FxHashMap<u32, u32>> = files.par_iter().map(in_file).collect();
    let mut found = FxHashMap::default();
    for (file, own) in files.into_iter().zip(by_file) {
        for (node, at) in own {
            found.entry(node).or_insert((file, at));
        }
    }
    found
}

/// The property that a method reads or sets by its name, where languages beside its own say it so: `getPath`, `item.path`.
fn property<'a>(symbol: &SymbolView<'a>) -> Option<&'a [u8]> {
    let starts = symbol.file.conventions().accessors.iter();
    let mut rest = starts.filter_map(|start| symbol.name_bytes().strip_prefix(start.as_bytes()));
    rest.find(|rest| symbol.kind() == Kind::Method && rest.first().is_some_and(u8::is_ascii_uppercase))
}

/// Whether methods of others are called in a file by the properties that they stand for.
fn reads_properties(file: &FileView<'_>, symbol: &SymbolView<'_>) -> bool {
    let endings = symbol.file.conventions().property_files;
    file.path().rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

fn is_silent(file: &FileView<'_>) -> bool {
    let ending = file.path().rsplit_once('.').map_or("", |(_, ending)| ending);
    SILENT.contains(&ending)
}

/// Whether a list of changes means it by a name: one that no word of prose has, with its class where it has one.
fn is_announced(symbol: &SymbolView<'_>, text: &[u8], span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let of_class = |class: SymbolView<'_>| {
        let mut marks = [&b"."[..], b"#", b"::"].into_iter();
        marks.any(|mark| before.strip_suffix(mark).is_some_and(|before| before.ends_with(class.name_bytes())))
    };
    span.of(text) == symbol.name_bytes()
        && match symbol.kind() {
            Kind::Method => symbol.parent().is_some_and(of_class),
            _ => is_formed(symbol.name_bytes()),
        }
}

/// Whether it is known why the name stands there, or whether it means something else.
fn is_explained(graph: &Graph<'_>, file: FileView<'_>, span: Span, node: u32, defined: &FxHashSet<u32>) -> bool {
    let symbol = &graph.symbols[node as usize];
    let (text, name) = (file.content(), symbol.name_bytes());
    let is_own = symbol.file.number() == file.number();
    if is_own && (defined.contains(&span.start) || symbol.span().contains(span) || is_above(symbol, span)) {
        return true;
    }
    let is_code = !file.facts().is_empty();
    let is_same = span.of(text) == name;
    if is_code && is_same {
        if defined.contains(&span.start) {
            return true;
        }
        let edges = graph.edges.in_file(file.number());
        let edge = edges.binary_search_by_key(&span.start, |edge| edge.at).ok().map(|place| &edges[place]);
        match edge.map(Edge::how) {
            // An object may be of another class than the one that was found.
            Some(How::Resolved | How::Compiler) => {
                return symbol.kind() != Kind::Method || is_typed(symbol) || is_of_self(text, span);
            }
            Some(How::Outside) => return symbol.kind() != Kind::Method && !may_be_shared(symbol, text, span),
            // A function may be made a member of an object: `Object.assign(proto, helpers)`, `this.help()`.
            Some(How::NoMember | How::NoReceiver | How::OtherReceiver) => {
                let is_joined = symbol.kind() == Kind::Function && symbol.file.conventions().structural;
                return symbol.kind() != Kind::Method && !is_joined;
            }
            None => {}
        }
    }
    let before = (span.start as usize).checked_sub(1).and_then(|at| text.get(at)).copied().unwrap_or(b' ');
    let after = text.get(span.end as usize).copied().unwrap_or(b' ');
    // Another casing is a mention in quotes or in data, and a plain word is one where its place says that it is a name.
    if is_code && !is_same {
        return !(is_mark(before, b"\"'`-/") || is_mark(after, b"\"'`-"));
    }
    let is_plain = !is_formed(name) && !text[..span.start as usize].ends_with(ASSEMBLY_DOT);
    is_plain && !(is_mark(before, b"\"'`.:#/>{$@-") || is_mark(after, b"\"'`(:"))
}

/// Whether a name that seems to be from outside may be that of a file after all: one that shares its names with others, or
/// that the name is asked of.
fn may_be_shared(symbol: &SymbolView<'_>, text: &[u8], span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    let path = stem(symbol.file.path());
    let name = path.rsplit('/').next().unwrap_or(path).as_bytes();
    match before.strip_suffix(b".") {
        Some(before) => before.strip_suffix(name).is_some_and(|rest| !rest.last().is_some_and(|byte| is_part(*byte))),
        None => !has_own_names(symbol.file),
    }
}

/// Whether a member is asked of the object itself: `self.open()`.
fn is_of_self(text: &[u8], span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    !before.ends_with(b".") || [&b"self."[..], b"this.", b"cls.", b"super()."].iter().any(|own| before.ends_with(own))
}

fn is_mark(byte: u8, marks: &[u8]) -> bool {
    marks.contains(&byte)
}

/// Whether a name cannot be a word of prose: it has parts, or begins as none does.
pub(super) fn is_formed(name: &[u8]) -> bool {
    let core = name.trim_ascii_start();
    matches!(core.first(), Some(b'_' | b'$'))
        || core.iter().any(|byte| *byte == b'_' || byte.is_ascii_digit())
        || core.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Whether a place is in the comments or attributes right above a definition.
fn is_above(symbol: &SymbolView<'_>, span: Span) -> bool {
    let start = symbol.span().start as usize;
    if span.start as usize >= start {
        return symbol.doc_span().contains(span);
    }
    (comments_above(symbol)..start).contains(&(span.start as usize)) || symbol.doc_span().contains(span)
}

/// Where the comments or attributes right above a definition begin.
pub(super) fn comments_above(symbol: &SymbolView<'_>) -> usize {
    let (text, start) = (symbol.file.content(), symbol.span().start as usize);
    let line = memchr::memrchr(b'\n', &text[..start]).map_or(0, |newline| newline + 1);
    let mut first = line;
    for _ in 0..MOST_COMMENTS {
        let Some(end) = first.checked_sub(1) else { break };
        let above = memchr::memrchr(b'\n', &text[..end]).map_or(0, |newline| newline + 1);
        let content = text[above..end].trim_ascii();
        if !matches!(content.first(), Some(b'/' | b'*' | b'#' | b'@')) {
            break;
        }
        first = above;
    }
    first
}

/// The comments that a file begins with.
pub(super) fn opening_comments(text: &[u8]) -> &[u8] {
    let mut is_open = false;
    let is_opening = |line: &&[u8]| {
        let line = line.trim_ascii();
        let was_open = is_open;
        is_open = (is_open || line.starts_with(b"/*")) && !line.ends_with(b"*/");
        was_open || matches!(line.first(), None | Some(b'/' | b'*' | b'#' | b'"'))
    };
    let lines = text.split_inclusive(|byte| *byte == b'\n').take(MOST_COMMENTS).take_while(is_opening);
    &text[..lines.map(<[u8]>::len).sum()]
}

/// Places where a file writes names of its own definitions and of the types that they belong to.
fn definitions(file: FileView<'_>) -> FxHashSet<u32> {
    file.symbols().flat_map(|symbol| [symbol.name_span().start, symbol.container_span().start]).collect()
}

/// A number that is one for all casings of a name: `parse_args`, `parseArgs`, `parse-args`.
fn key(name: &[u8]) -> u64 {
    name.iter().fold(SEED, |sum, byte| step(sum, *byte))
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn step(sum: u64, byte: u8) -> u64 {
    match byte {
        b'_' | b'-' | b'$' => sum,
        _ => (sum ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3),
    }
}

/// Gives each word of a text with its key; one with dashes as a whole and by its parts.
fn each_word(text: &[u8], mut give: impl FnMut(Span, u64)) {
    let is_dot = |at: usize| text[at..].starts_with(ASSEMBLY_DOT);
    let mut at = 0;
    while at < text.len() {
        if is_dot(at) {
            at += ASSEMBLY_DOT.len();
            continue;
        }
        if !is_part(text[at]) {
            at += 1;
            continue;
        }
        let (start, mut whole, mut part, mut from) = (at, SEED, SEED, at);
        while at < text.len() && (is_part(text[at]) || text[at] == b'-') && !is_dot(at) {
            if text[at] == b'-' {
                if from < at {
                    give(Span::new(from, at), part);
                }
                (part, from) = (SEED, at + 1);
            } else {
                (whole, part) = (step(whole, text[at]), step(part, text[at]));
            }
            at += 1;
        }
        if from < at {
            give(Span::new(from, at), part);
        }
        if from > start {
            give(Span::new(start, at), whole);
        }
    }
}
