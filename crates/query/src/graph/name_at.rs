//! The name at a byte of a file, by binary search in stored tables. Nothing is parsed.

use codelode_base::model::{Kind, Span};
use codelode_lang::extract::{self, LazyFacts, Local};
use codelode_store::{Edge, EdgeTable, FileView, Snapshot, SymbolView};

/// A name written in a file: a definition, a use, or both, such as an embedded field.
#[derive(Clone, Copy)]
pub struct NameAt<'a> {
    /// Position of the name.
    pub span: Span,
    /// The symbol defined here.
    pub symbol: Option<SymbolView<'a>>,
    /// The occurrence here.
    pub edge: Option<&'a Edge>,
}

/// Finds the name that holds a byte of a file, or ends there. `None` for names without a symbol, such as local
/// variables.
pub fn name_at<'a>(edges: &'a EdgeTable, file: FileView<'a>, byte: u32) -> Option<NameAt<'a>> {
    let used = edges.in_file(file.number());
    let reaches = |span: &Span| span.start <= byte && byte <= span.end;
    // If two names touch at the byte, the later one counts.
    let used = used[..used.partition_point(|edge| edge.at <= byte)].last();
    let used = used.map(|edge| (Span { start: edge.at, end: edge.at + edge.len() as u32 }, edge));
    let used = used.filter(|(span, _)| reaches(span));
    let named = |symbol: &SymbolView<'_>| !symbol.name_span().is_empty() && reaches(&symbol.name_span());
    let symbol = file.symbols().filter(named).max_by_key(|symbol| symbol.name_span().start);
    let span = match (&used, &symbol) {
        (Some((span, _)), Some(symbol)) => (*span).max(symbol.name_span()),
        (Some((span, _)), None) => *span,
        (None, Some(symbol)) => symbol.name_span(),
        (None, None) => return None,
    };
    Some(NameAt {
        span,
        symbol: symbol.filter(|symbol| symbol.name_span() == span),
        edge: used.filter(|(own, _)| *own == span).map(|(_, edge)| edge),
    })
}

/// The files that a module's name at a byte means. In an import, the word there names the module; elsewhere, the import
/// that binds the name counts.
pub fn imported_at<'a>(
    snapshot: &'a Snapshot,
    edges: &EdgeTable,
    file: FileView<'_>,
    facts: &LazyFacts<'_>,
    byte: u32,
) -> Vec<FileView<'a>> {
    let imports = edges.imports(file.number()).iter().map(|import| (import.at, import.to));
    modules_at(snapshot, &imports.collect::<Vec<_>>(), file.content(), facts, byte)
}

/// Like [`imported_at`], for a text that need not be a file of the snapshot. `imports` are pairs of a position in the
/// text and the number of the imported file.
pub fn modules_at<'a>(
    snapshot: &'a Snapshot,
    imports: &[(u32, u32)],
    content: &[u8],
    facts: &LazyFacts<'_>,
    byte: u32,
) -> Vec<FileView<'a>> {
    let is_in_line = |at: u32| !content.get(at as usize..byte as usize).is_none_or(|between| between.contains(&b'\n'));
    let in_line = imports.iter().map(|(at, _)| *at).filter(|at| is_in_line(*at)).max();
    let at = in_line.or_else(|| extract::import_of(content, facts, byte));
    let named = imports.iter().filter(|(place, _)| Some(*place) == at);
    let mut files: Vec<FileView<'a>> = named.filter_map(|(_, to)| snapshot.file_by_number(*to)).collect();
    if let (Some(_), Some(word)) = (in_line, extract::word_at(content, byte)) {
        // `shop` in `shop.item` is the folder of the module, and no module that has a file here.
        let is_folder = content.get(word.end as usize) == Some(&b'.');
        files.retain(|imported| is_module(imported.path(), word.of(content), is_folder));
    }
    files
}

/// Whether a word names the module of a file, by the file's name or its folder's.
fn is_module(path: &str, word: &[u8], is_folder: bool) -> bool {
    let mut parts = path.rsplit('/');
    let stem = parts.next().and_then(|name| name.split('.').next());
    stem.map(str::as_bytes) == Some(word) || !is_folder && parts.next().map(str::as_bytes) == Some(word)
}

/// The local name at a byte of a file: a parameter or a variable of the functions around it.
pub fn local_at(file: FileView<'_>, facts: &LazyFacts<'_>, byte: u32) -> Option<Local> {
    let holds = |symbol: &SymbolView<'_>| {
        matches!(symbol.kind(), Kind::Function | Kind::Method)
            && symbol.span().start <= byte
            && byte <= symbol.span().end
    };
    let function = file.symbols().find(holds)?;
    extract::local_at(file.spec(), file.content(), facts, function.span(), byte)
}

/// The word at a byte of a file, of any meaning.
pub fn word_at(file: FileView<'_>, byte: u32) -> Option<Span> {
    extract::word_at(file.content(), byte)
}

/// Pairs of a byte and its import, for each place in `places` (ascending) whose name an import binds.
pub fn imports_of(file: FileView<'_>, places: &[u32]) -> Vec<(u32, u32)> {
    extract::imports_of(file.spec(), file.facts(), places)
}

/// The local names of the functions that overlap a part of a file.
pub fn locals(file: FileView<'_>, part: Span) -> Vec<Local> {
    let mut functions: Vec<Span> = Vec::new();
    for symbol in file.symbols().filter(|symbol| matches!(symbol.kind(), Kind::Function | Kind::Method)) {
        let span = symbol.span();
        // A function comes before those inside it.
        let is_outermost = functions.last().is_none_or(|last| last.end <= span.start);
        if is_outermost && span.start < part.end && part.start < span.end {
            functions.push(span);
        }
    }
    extract::locals(file.spec(), file.content(), file.facts(), &functions)
}

/// All signatures of a function, if only one of its overloads has a body. Overloads with bodies of their own are
/// separate functions, so the symbol is alone.
pub fn signatures<'a>(symbol: &SymbolView<'a>) -> Vec<SymbolView<'a>> {
    if symbol.overload() == 0 {
        return vec![*symbol];
    }
    let (name, kind) = (symbol.qualified_name(), symbol.kind());
    let is_same = |other: &SymbolView<'a>| {
        other.overload() > 0
            && other.kind() == kind
            && other.name_bytes() == symbol.name_bytes()
            && other.qualified_name() == name
    };
    let all: Vec<SymbolView<'a>> = symbol.file.symbols().filter(is_same).collect();
    let bodies = all.iter().filter(|other| other.has_body()).count();
    if bodies == 1 { all } else { vec![*symbol] }
}
