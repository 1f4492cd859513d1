//! Symbols of a document and of the workspace, and their kinds in the protocol.

use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, OneOf, SymbolInformation, SymbolKind,
    WorkspaceSymbol, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};

use super::navigation::is_callable;
use super::view::{Failure, Page, RequestView};
use codelode_base::model::{Detail, Span};
use codelode_query::{self as query, Search};
use codelode_store::{FileView, SymbolView};

/// The most symbols of the workspace in one answer.
const MOST: usize = 200;
/// Characters of a signature beside a name.
const SIGNATURE: usize = 100;

/// The kind of a symbol in the protocol, by the language's own term.
pub(super) fn kind(symbol: &SymbolView<'_>) -> SymbolKind {
    match symbol.detail() {
        Detail::Function | Detail::Macro => SymbolKind::FUNCTION,
        Detail::Method | Detail::Getter | Detail::Setter => SymbolKind::METHOD,
        Detail::Class | Detail::Record | Detail::Component | Detail::Extension => SymbolKind::CLASS,
        Detail::Constant | Detail::Static => SymbolKind::CONSTANT,
        Detail::Interface | Detail::Trait | Detail::Annotation | Detail::Protocol => SymbolKind::INTERFACE,
        Detail::Struct | Detail::Union => SymbolKind::STRUCT,
        Detail::Enum => SymbolKind::ENUM,
        Detail::Alias | Detail::NamedType | Detail::Delegate => SymbolKind::CLASS,
        Detail::Module => SymbolKind::MODULE,
        Detail::Namespace => SymbolKind::NAMESPACE,
        Detail::Constructor => SymbolKind::CONSTRUCTOR,
        Detail::Property => SymbolKind::PROPERTY,
        Detail::Field => SymbolKind::FIELD,
        Detail::Variable => SymbolKind::VARIABLE,
        Detail::Member => SymbolKind::ENUM_MEMBER,
        Detail::Object => SymbolKind::OBJECT,
        Detail::Event => SymbolKind::EVENT,
        Detail::Section | Detail::Selector => SymbolKind::STRING,
    }
}

/// The name of a symbol, which clients do not allow to be empty.
pub(super) fn name(symbol: &SymbolView<'_>) -> String {
    let name = symbol.name();
    if name.trim().is_empty() { format!("<{}>", symbol.detail().as_str()) } else { name.into_owned() }
}

/// The range of a symbol, which holds its name.
pub(super) fn whole(symbol: &SymbolView<'_>) -> Span {
    let (span, name) = (symbol.span(), symbol.name_span());
    if span.contains(name) { span } else { name }
}

/// The owner of a symbol: the symbol around it, or the class of a method that is defined elsewhere.
pub(super) fn container(symbol: &SymbolView<'_>) -> Option<String> {
    let container = symbol.container();
    let own = Some(container.into_owned()).filter(|container| !container.is_empty());
    own.or_else(|| symbol.parent().map(|parent| parent.qualified_name()))
}

pub(super) fn of_document(
    asked: &RequestView<'_>,
    params: DocumentSymbolParams,
) -> Result<Option<DocumentSymbolResponse>, Failure> {
    asked.about_text(&params.text_document.uri, |page, file| {
        Ok(match page.workspace.options.nested_symbols {
            true => DocumentSymbolResponse::Nested(nested(page, file)),
            false => {
                let flat = file.symbols().filter_map(|symbol| information(page, &symbol));
                DocumentSymbolResponse::Flat(flat.collect())
            }
        })
    })
}

/// Symbols of a file, each in the one around it.
fn nested<'v>(page: &Page<'v>, file: FileView<'v>) -> Vec<DocumentSymbol> {
    let (mut roots, mut open): (Vec<DocumentSymbol>, Vec<(u32, DocumentSymbol)>) = (Vec::new(), Vec::new());
    fn close(open: &mut Vec<(u32, DocumentSymbol)>, roots: &mut Vec<DocumentSymbol>) {
        let Some((_, closed)) = open.pop() else { return };
        match open.last_mut() {
            Some((_, around)) => around.children.get_or_insert_default().push(closed),
            None => roots.push(closed),
        }
    }
    for symbol in file.symbols() {
        let parent = symbol.parent().map(|parent| parent.number().index);
        while open.last().is_some_and(|(index, _)| Some(*index) != parent) {
            close(&mut open, &mut roots);
        }
        #[expect(deprecated, reason = "the type has no other constructor")]
        let node = DocumentSymbol {
            name: name(&symbol),
            detail: is_callable(&symbol).then(|| symbol.signature(SIGNATURE)),
            kind: kind(&symbol),
            tags: None,
            deprecated: None,
            range: page.range(file, whole(&symbol)),
            selection_range: page.range(file, symbol.name_span()),
            children: None,
        };
        open.push((symbol.number().index, node));
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    roots
}

#[expect(deprecated, reason = "the type has no other constructor")]
fn information<'v>(page: &Page<'v>, symbol: &SymbolView<'v>) -> Option<SymbolInformation> {
    let location = page.location(symbol.file, whole(symbol))?;
    let (name, kind, container_name) = (name(symbol), kind(symbol), container(symbol));
    Some(SymbolInformation { name, kind, tags: None, deprecated: None, location, container_name })
}

/// Symbols of all folders of the workspace, by our ranking.
pub(super) fn of_workspace(
    asked: &RequestView<'_>,
    params: WorkspaceSymbolParams,
) -> Result<Option<WorkspaceSymbolResponse>, Failure> {
    let mut found: Vec<(f32, WorkspaceSymbol)> = Vec::new();
    let mut repos: Vec<String> = Vec::new();
    for folder in &asked.workspace.folders {
        asked.check()?;
        let Some(place) = folder.real.to_str() else { continue };
        // A folder that cannot be indexed does not hide the others.
        let here = asked.on(place, |view| {
            let id = view.repo.sidecar.repo.clone();
            if repos.contains(&id) {
                return Ok((id, Vec::new()));
            }
            let search = Search::of(&params.query, MOST);
            // The search index knows the stored texts.
            let stored = &view.repo.snapshot;
            let hits = query::search(stored, &search).map_err(Failure::failed)?.hits;
            let present = |hit: &query::Hit| Some((hit.score, view.present(&stored.symbol(hit.symbol)?)?));
            let symbols = hits.iter().filter_map(present);
            Ok((id, symbols.filter_map(|(score, symbol)| Some((score, of_one(view, symbol)?))).collect::<Vec<_>>()))
        });
        if let Ok((id, here)) = here {
            repos.push(id);
            found.extend(here);
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(Some(WorkspaceSymbolResponse::Nested(found.into_iter().take(MOST).map(|(_, symbol)| symbol).collect())))
}

fn of_one<'v>(page: &Page<'v>, symbol: SymbolView<'v>) -> Option<WorkspaceSymbol> {
    Some(WorkspaceSymbol {
        name: name(&symbol),
        kind: kind(&symbol),
        tags: None,
        container_name: container(&symbol),
        location: OneOf::Left(page.location(symbol.file, symbol.name_span())?),
        data: None,
    })
}
