//! Reads SCIP: decodes documents in parallel, checks them against their texts, and numbers their names.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::{DecodeError, Message};
use rustc_hash::{FxHashMap, FxHashSet};

use super::lines::{ColumnUnit, Lines};
use super::names::{Descriptor, descriptors, is_local, package};
use super::{ImportCounts, Sources};
use codelode_base::model::Detail;
use codelode_base::model::scip::{Document, Metadata, Occurrence, PositionEncoding, SymbolKind, SymbolRole};
use codelode_store::{Compiled, CompiledOccurrence, CompiledSymbol};

/// Field numbers of an index.
const METADATA: u32 = 1;
const DOCUMENTS: u32 = 2;
/// The number of paths tested to find their common folder.
const TRIED: usize = 256;
/// The largest allowed share, in thirds, of occurrences that are written differently from their symbol's name, such as
/// import aliases. The largest share in documents of scip-typescript and scip-python for zod, date-fns, click and
/// requests is a half.
const MOST_OTHERWISE: usize = 2;
/// The limit on occurrences of an index, which are counted in 32 bits.
const MOST: usize = u32::MAX as usize;

pub(super) fn read(bytes: &[u8], sources: &Sources<'_>) -> Result<(Compiled, ImportCounts), String> {
    let parts = Parts::of(bytes).map_err(|err| format!("it is not a SCIP index: {err}"))?;
    if parts.documents.is_empty() && parts.metadata.is_none() {
        return Err("it is not a SCIP index: it is empty".to_owned());
    }
    let made_by = parts.metadata.as_ref().and_then(|metadata| metadata.tool_info.as_ref()).map(|tool| &*tool.name);
    if made_by == Some("codelode") {
        return Err("it was exported by codelode, not made by a compiler".to_owned());
    }
    let paths = parts.paths();
    let prefix = prefix(&paths, &parts, sources);
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(parts.documents.len()).max(1);
    let work = || {
        let mut taken: Vec<(usize, DocumentOutcome)> = Vec::new();
        while let Some(place) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|place| *place < paths.len()) {
            taken.push((place, taken_of(parts.documents[place], &joined(&prefix, &paths[place]), sources)));
        }
        taken
    };
    let mut taken: Vec<(usize, DocumentOutcome)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("it does not panic")).collect()
    });
    taken.sort_by_key(|(place, _)| *place);
    let mut told = ImportCounts::default();
    let mut read: Vec<ReadDocument> = Vec::new();
    for (place, taken) in taken {
        match taken {
            DocumentOutcome::Read(document) => read.push(document),
            DocumentOutcome::OtherText => told.other_text.push(joined(&prefix, &paths[place])),
            DocumentOutcome::Absent => told.absent += 1,
        }
    }
    // An index may have several parts for one file; the first counts.
    read.sort_by(|a, b| a.path.cmp(&b.path));
    read.dedup_by(|later, first| later.path == first.path);
    told.other_text.sort();
    told.other_text.dedup();
    let compiled = Numbering::default().all(&read)?;
    (told.documents, told.occurrences) = compiled.counts();
    Ok((compiled, told))
}

/// A document of which only the path is decoded.
#[derive(Clone, PartialEq, Message)]
struct DocumentPath {
    #[prost(string, tag = "1")]
    relative_path: String,
}

/// The messages of an index, not yet decoded.
struct Parts<'a> {
    metadata: Option<Metadata>,
    documents: Vec<&'a [u8]>,
}

impl<'a> Parts<'a> {
    fn of(mut bytes: &'a [u8]) -> Result<Self, String> {
        let unreadable = |err: DecodeError| err.to_string();
        let (mut metadata, mut documents) = (None, Vec::new());
        while !bytes.is_empty() {
            let (field, wire) = decode_key(&mut bytes).map_err(unreadable)?;
            if wire != WireType::LengthDelimited {
                skip_field(wire, field, &mut bytes, DecodeContext::default()).map_err(unreadable)?;
                continue;
            }
            let len = usize::try_from(decode_varint(&mut bytes).map_err(unreadable)?).unwrap_or(usize::MAX);
            let Some((part, rest)) = bytes.split_at_checked(len) else { return Err("it is cut off".to_owned()) };
            bytes = rest;
            match field {
                METADATA => metadata = Some(Metadata::decode(part).map_err(unreadable)?),
                DOCUMENTS => documents.push(part),
                _ => {}
            }
        }
        Ok(Self { metadata, documents })
    }

    fn paths(&self) -> Vec<String> {
        let path = |document: &&[u8]| DocumentPath::decode(*document).unwrap_or_default().relative_path;
        self.documents.iter().map(|document| path(document).replace('\\', "/")).collect()
    }
}

/// The folder below the root to which most paths of an index are relative.
fn prefix(paths: &[String], parts: &Parts<'_>, sources: &Sources<'_>) -> String {
    let mut candidates = vec![String::new(), sources.beside.to_owned()];
    if let Some(root) = parts.metadata.as_ref().map(|metadata| metadata.project_root.as_str()) {
        let root = root.strip_prefix("file://").unwrap_or(root).trim_matches('/');
        let own = sources.root.to_string_lossy();
        candidates.extend(root.strip_prefix(own.trim_matches('/')).map(|rest| rest.trim_matches('/').to_owned()));
        // Another machine has another root path, but the same folders below it.
        candidates.extend(root.match_indices('/').map(|(at, _)| root[at + 1..].to_owned()));
    }
    let step = paths.len().div_ceil(TRIED).max(1);
    let fits = |prefix: &String| {
        let tried = paths.iter().step_by(step);
        tried.filter(|path| (sources.has)(&joined(prefix, path))).count()
    };
    // The first of the best candidates: the root itself unless another fits better.
    let best = candidates.iter().enumerate().max_by_key(|(place, prefix)| (fits(prefix), usize::MAX - place));
    best.map(|(_, prefix)| prefix.clone()).unwrap_or_default()
}

fn joined(prefix: &str, path: &str) -> String {
    if prefix.is_empty() { path.to_owned() } else { format!("{prefix}/{path}") }
}

/// The result of reading a document.
enum DocumentOutcome {
    Read(ReadDocument),
    /// Its file has changed since.
    OtherText,
    /// Its file is not in the index.
    Absent,
}

/// A document with its names, numbered within the document.
struct ReadDocument {
    path: String,
    hash: [u8; 32],
    names: Vec<String>,
    occurrences: Vec<CompiledOccurrence>,
    details: Vec<(u32, Detail)>,
    implements: Vec<(u32, u32)>,
}

fn taken_of(bytes: &[u8], path: &str, sources: &Sources<'_>) -> DocumentOutcome {
    if !(sources.has)(path) {
        return DocumentOutcome::Absent;
    }
    let (Ok(document), Some((text, hash))) = (Document::decode(bytes), (sources.read)(path)) else {
        return DocumentOutcome::Absent;
    };
    let has_text = !document.text.is_empty();
    if has_text && document.text.as_bytes() != text {
        return DocumentOutcome::OtherText;
    }
    let lines = Lines::of(&text);
    let units: &[ColumnUnit] = match document.position_encoding() {
        PositionEncoding::Utf8 => &[ColumnUnit::Utf8],
        PositionEncoding::Utf16 => &[ColumnUnit::Utf16],
        PositionEncoding::Utf32 => &[ColumnUnit::Utf32],
        // Columns of ASCII text are the same in every encoding.
        PositionEncoding::Unspecified if lines.is_ascii() => &[ColumnUnit::Utf8],
        PositionEncoding::Unspecified => &[ColumnUnit::Utf16, ColumnUnit::Utf8, ColumnUnit::Utf32],
    };
    for unit in units {
        if let Some(read) = placed(&document, path, (&text, hash), &lines, *unit) {
            return DocumentOutcome::Read(read);
        }
    }
    DocumentOutcome::OtherText
}

/// A document with byte positions, if it fits this text.
fn placed(
    document: &Document,
    path: &str,
    (text, hash): (&[u8], [u8; 32]),
    lines: &Lines<'_>,
    unit: ColumnUnit,
) -> Option<ReadDocument> {
    let mut own = DocumentNames::default();
    let mut occurrences = Vec::with_capacity(document.occurrences.len());
    let mut fit = TextFit::default();
    for occurrence in document.occurrences.iter().filter(|occurrence| !occurrence.symbol.is_empty()) {
        let (at, end) = range(&occurrence.range, lines, unit)?;
        let around = range(&occurrence.enclosing_range, lines, unit).map_or([0, 0], |(start, end)| [start, end]);
        let symbol = own.number(&occurrence.symbol);
        fit.see(own.simple_name(symbol), text, at as usize..end as usize);
        occurrences.push(CompiledOccurrence { at, len: end - at, symbol, flags: flags(occurrence), around });
    }
    if !fit.is_good() {
        return None;
    }
    occurrences.sort_unstable();
    occurrences.dedup_by_key(|it| (it.at, it.len, it.symbol, it.flags));
    let (mut details, mut implements) = (Vec::new(), Vec::new());
    for information in &document.symbols {
        let number = own.number(&information.symbol);
        details.extend(detail_of(information.kind()).map(|detail| (number, detail)));
        let others = information.relationships.iter().filter(|relation| relation.is_implementation);
        for other in others {
            let other = own.number(&other.symbol);
            implements.push((number, other));
        }
    }
    let names = own.names.iter().map(|name| (*name).to_owned()).collect();
    Some(ReadDocument { path: path.to_owned(), hash, names, occurrences, details, implements })
}

fn flags(occurrence: &Occurrence) -> u32 {
    let has = |role: SymbolRole, flag: u32| if occurrence.symbol_roles & role as i32 != 0 { flag } else { 0 };
    has(SymbolRole::Definition, CompiledOccurrence::IS_DEFINITION)
        | has(SymbolRole::Import, CompiledOccurrence::IS_IMPORT)
        | has(SymbolRole::WriteAccess, CompiledOccurrence::IS_WRITE)
}

/// The byte range of a SCIP range: three numbers within one line, else four.
fn range(numbers: &[i32], lines: &Lines<'_>, unit: ColumnUnit) -> Option<(u32, u32)> {
    let (from, to) = match *numbers {
        [line, start, end] => ((line, start), (line, end)),
        [line, start, end_line, end] => ((line, start), (end_line, end)),
        _ => return None,
    };
    let (start, end) = (lines.offset(from.0, from.1, unit)?, lines.offset(to.0, to.1, unit)?);
    (start <= end).then_some((start, end))
}

/// Names of a document, numbered.
#[derive(Default)]
struct DocumentNames<'a> {
    numbers: FxHashMap<&'a str, u32>,
    names: Vec<&'a str>,
    /// The last identifier of each name, if it is a plain word.
    simple: Vec<Option<&'a str>>,
}

impl<'a> DocumentNames<'a> {
    fn number(&mut self, name: &'a str) -> u32 {
        let Self { numbers, names, simple } = self;
        *numbers.entry(name).or_insert_with(|| {
            names.push(name);
            simple.push(simple_name(name));
            names.len() as u32 - 1
        })
    }

    fn simple_name(&self, number: u32) -> Option<&'a str> {
        self.simple[number as usize]
    }
}

/// The last identifier of a name, if it can occur in a text.
fn simple_name(name: &str) -> Option<&str> {
    if is_local(name) {
        return None;
    }
    let last = *descriptors(name)?.last()?;
    match last.name() {
        Cow::Borrowed(it) if last.suffix.is_listed() && it.bytes().all(is_word) => Some(it),
        _ => None,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Counts how well a document fits a text.
#[derive(Default)]
struct TextFit {
    same: usize,
    otherwise: usize,
    cut: bool,
}

impl TextFit {
    fn see(&mut self, name: Option<&str>, text: &[u8], range: std::ops::Range<usize>) {
        let written = &text[range.clone()];
        let (Some(first), Some(last)) = (written.first(), written.last()) else { return };
        let is_at = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|byte| is_letter(*byte));
        self.cut |= is_letter(*first) && is_at(range.start.checked_sub(1));
        self.cut |= is_letter(*last) && is_at(Some(range.end));
        let Some(name) = name else { return };
        // The range may contain quotes, or an alias beside the name.
        match memchr::memmem::find(written, name.as_bytes()) {
            Some(_) => self.same += 1,
            None => self.otherwise += 1,
        }
    }

    /// Whether no word is cut and most names are at their positions. Documents of the current text cut no words. In a
    /// text that changed before them, few names are at their positions.
    fn is_good(&self) -> bool {
        !self.cut && self.otherwise * 3 <= (self.same + self.otherwise) * MOST_OTHERWISE
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Numbers the names of all documents.
#[derive(Default)]
struct Numbering<'a> {
    numbers: FxHashMap<&'a str, u32>,
    names: Vec<&'a str>,
}

impl<'a> Numbering<'a> {
    fn all(mut self, read: &'a [ReadDocument]) -> Result<Compiled, String> {
        if read.iter().map(|document| document.occurrences.len()).sum::<usize>() >= MOST {
            return Err("it has too many occurrences".to_owned());
        }
        let mut compiled = Compiled::default();
        let mut defined: Vec<bool> = Vec::new();
        let mut details: FxHashMap<u32, Detail> = FxHashMap::default();
        let mut implements: Vec<(u32, u32)> = Vec::new();
        for document in read {
            let numbers: Vec<u32> = document.names.iter().map(|name| self.number(name)).collect();
            defined.resize(self.names.len(), false);
            let mut occurrences = document.occurrences.clone();
            for occurrence in &mut occurrences {
                occurrence.symbol = numbers[occurrence.symbol as usize];
                defined[occurrence.symbol as usize] |= occurrence.is_definition();
            }
            compiled.document(&document.path, document.hash, &occurrences);
            details.extend(document.details.iter().map(|(own, detail)| (numbers[*own as usize], *detail)));
            let pairs = document.implements.iter();
            implements.extend(pairs.map(|(one, other)| (numbers[*one as usize], numbers[*other as usize])));
        }
        let is_defined = |number: usize| defined.get(number).is_some_and(|it| *it);
        let own = self.names.iter().enumerate().filter(|(number, _)| is_defined(*number));
        let packages: FxHashSet<&str> = own.filter_map(|(_, name)| package(name)).collect();
        for (number, &name) in self.names.iter().enumerate() {
            let (listed, detail, parent) = self.described(name, details.get(&(number as u32)).copied());
            let flags = if listed { CompiledSymbol::IS_LISTED } else { 0 }
                | if is_defined(number) { CompiledSymbol::IS_DEFINED } else { 0 }
                | if package(name).is_some_and(|it| !packages.contains(it)) { CompiledSymbol::IS_FOREIGN } else { 0 };
            let kept = if is_local(name) { "" } else { name };
            compiled.symbol(CompiledSymbol::new(detail, flags, parent), kept);
        }
        implements.sort_unstable();
        implements.dedup();
        implements.into_iter().for_each(|(one, other)| compiled.implements(one, other));
        Ok(compiled)
    }

    /// The number of a name. A local name gets a new number in each document.
    fn number(&mut self, name: &'a str) -> u32 {
        let next = self.names.len() as u32;
        let number = if is_local(name) { next } else { *self.numbers.entry(name).or_insert(next) };
        if number == next {
            self.names.push(name);
        }
        number
    }

    /// Whether searches should list a symbol, its kind, and the number of its enclosing symbol.
    fn described(&self, name: &str, told: Option<Detail>) -> (bool, Detail, Option<u32>) {
        let Some(all) = descriptors(name) else { return (false, told.unwrap_or(Detail::Variable), None) };
        let around = all.len().checked_sub(2).map(|place| all[place]);
        let Descriptor { suffix, .. } = all[all.len() - 1];
        let detail = told.unwrap_or_else(|| suffix.detail(around.map(|around| around.suffix)));
        let parent = around.and_then(|around| self.numbers.get(&name[..around.end]).copied());
        (suffix.is_listed(), detail, parent)
    }
}

fn detail_of(kind: SymbolKind) -> Option<Detail> {
    Some(match kind {
        SymbolKind::Function => Detail::Function,
        SymbolKind::Method | SymbolKind::StaticMethod | SymbolKind::AbstractMethod | SymbolKind::TraitMethod => {
            Detail::Method
        }
        SymbolKind::Class => Detail::Class,
        SymbolKind::Interface => Detail::Interface,
        SymbolKind::Trait => Detail::Trait,
        SymbolKind::Struct => Detail::Struct,
        SymbolKind::Union => Detail::Union,
        SymbolKind::Enum => Detail::Enum,
        SymbolKind::TypeAlias => Detail::Alias,
        SymbolKind::Type => Detail::NamedType,
        SymbolKind::Module => Detail::Module,
        SymbolKind::Namespace | SymbolKind::Package => Detail::Namespace,
        SymbolKind::Macro => Detail::Macro,
        SymbolKind::Constructor => Detail::Constructor,
        SymbolKind::Getter => Detail::Getter,
        SymbolKind::Setter => Detail::Setter,
        SymbolKind::Property => Detail::Property,
        SymbolKind::Field | SymbolKind::StaticField => Detail::Field,
        SymbolKind::Variable => Detail::Variable,
        SymbolKind::Constant => Detail::Constant,
        SymbolKind::EnumMember => Detail::Member,
        SymbolKind::Object => Detail::Object,
        SymbolKind::Extension => Detail::Extension,
        SymbolKind::Protocol => Detail::Protocol,
        SymbolKind::Event => Detail::Event,
        SymbolKind::Delegate => Detail::Delegate,
        _ => return None,
    })
}
