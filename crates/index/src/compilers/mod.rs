//! Indexes made by compilers: reads SCIP files into occurrences with byte positions. Each document is checked against
//! the current text.

mod lines;
mod names;
mod scip;

use std::path::Path;

use codelode_base::model::{Detail, Extraction, Kind, Marks, Span, Symbol};
use codelode_store::{Compiled, CompiledDocument, CompiledOccurrence, CompiledTable};

/// The largest file that is read, in bytes.
pub const LARGEST: u64 = 4 << 30;
/// The name of an index file beside the sources.
pub const BESIDE: &str = "index.scip";

/// Counts of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportCounts {
    /// Documents in use.
    pub documents: u64,
    /// Occurrences in these documents.
    pub occurrences: u64,
    /// Paths of documents that were made of another text than the current one.
    pub other_text: Vec<String>,
    /// Number of documents whose files are not in the index.
    pub absent: u64,
}

/// The files that an index may describe.
pub struct Sources<'a> {
    /// The absolute path of the root.
    pub root: &'a Path,
    /// The folder of the index file, relative to the root; empty for the root, or if it lies elsewhere.
    pub beside: &'a str,
    /// Whether there is a file at a path.
    pub has: &'a (dyn Fn(&str) -> bool + Sync),
    /// The text of a file with its hash.
    pub read: &'a (dyn Fn(&str) -> Option<HashedText> + Sync),
}

/// The bytes of a file, and their hash.
pub type HashedText = (Vec<u8>, [u8; 32]);

/// Reads an index. Fails with the reason if the bytes are not a usable index.
pub fn read(bytes: &[u8], sources: &Sources<'_>) -> Result<(Compiled, ImportCounts), String> {
    scip::read(bytes, sources)
}

/// The symbols that a compiler lists for a text in a language without a grammar here.
pub fn symbols(table: &CompiledTable, document: &CompiledDocument, text: &[u8]) -> Extraction {
    let mut found: Vec<(u32, Symbol)> = Vec::new();
    let mut lines = lines::LineCounter::default();
    for occurrence in table.occurrences(document).iter().filter(|occurrence| occurrence.is_definition()) {
        let name = Span { start: occurrence.at, end: occurrence.at + occurrence.len };
        let listed = table.symbol(occurrence.symbol).filter(|symbol| symbol.is_listed());
        let Some(symbol) = listed.filter(|_| !name.is_empty() && (name.end as usize) <= text.len()) else { continue };
        let span = around(occurrence, text);
        let detail = symbol.detail();
        let line = lines.line_of(text, name.start);
        let symbol = Symbol {
            name,
            kind: kind_of(detail),
            detail,
            span,
            line,
            end_line: lines.line_of(text, span.end.saturating_sub(1).max(name.start)),
            signature: first_line(span, name, text),
            doc: Span::default(),
            decorators: Vec::new(),
            parent: None,
            handed: false,
            marks: Marks::default(),
            container: Span::default(),
            complexity: u16::from(matches!(kind_of(detail), Kind::Function | Kind::Method)),
        };
        found.push((occurrence.symbol, symbol));
    }
    found.sort_by_key(|(_, symbol)| (symbol.span.start, std::cmp::Reverse(symbol.span.end), symbol.name.start));
    found.dedup_by_key(|(_, symbol)| symbol.name);
    let mut symbols: Vec<Symbol> = Vec::with_capacity(found.len());
    let mut placed = rustc_hash::FxHashMap::default();
    for (number, mut symbol) in found {
        symbol.parent = table.symbol(number).and_then(|own| placed.get(&own.parent()?).copied());
        placed.entry(number).or_insert(symbols.len() as u32);
        symbols.push(symbol);
    }
    Extraction { symbols, ..Extraction::default() }
}

/// The range of a definition: the compiler's, or else its line.
fn around(occurrence: &CompiledOccurrence, text: &[u8]) -> Span {
    let [start, end] = occurrence.around;
    let holds = start <= occurrence.at && occurrence.at + occurrence.len <= end && end as usize <= text.len();
    if start < end && holds {
        return Span { start, end };
    }
    let at = occurrence.at as usize;
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |newline| newline + 1);
    let indent = text[start..at].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
    Span::new(start + indent, end.max(at + occurrence.len as usize).min(text.len()))
}

/// The part of a definition up to the end of the line with its name.
fn first_line(span: Span, name: Span, text: &[u8]) -> Span {
    let rest = &text[name.end as usize..span.end.max(name.end) as usize];
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    Span { start: span.start, end: name.end + end as u32 }
}

fn kind_of(detail: Detail) -> Kind {
    match detail {
        Detail::Function | Detail::Macro | Detail::Component => Kind::Function,
        Detail::Method | Detail::Constructor | Detail::Getter | Detail::Setter => Kind::Method,
        Detail::Class | Detail::Struct | Detail::Record | Detail::Union | Detail::Object => Kind::Class,
        Detail::Interface | Detail::Trait | Detail::Enum | Detail::Alias | Detail::NamedType | Detail::Module => {
            Kind::Type
        }
        Detail::Namespace | Detail::Annotation | Detail::Extension | Detail::Protocol | Detail::Delegate => Kind::Type,
        _ => Kind::Constant,
    }
}
