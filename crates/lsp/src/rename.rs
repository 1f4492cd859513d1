//! Renaming, where nothing is in doubt.

use std::collections::{BTreeMap, HashMap};

use lsp_server::ErrorCode;
use lsp_types::{PrepareRenameResponse, RenameParams, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit};

use super::view::{Failure, FilePosition, RequestView, View};
use codelode_base::model::Span;
use codelode_query::{self as query, Renaming};
use codelode_store::SymbolView;

/// The most doubts that an error names.
const NAMED: usize = 5;

pub(super) fn prepare(
    asked: &RequestView<'_>,
    params: TextDocumentPositionParams,
) -> Result<Option<PrepareRenameResponse>, Failure> {
    asked.at(&params, |view, spot| {
        let symbol = symbol_at(view, spot)?;
        // One doubt is enough here; the rename itself names more.
        sure_places(view, &symbol, None, 1)?;
        let span = spot.name.map_or(symbol.name_span(), |name| name.span);
        let placeholder = symbol.name().into_owned();
        Ok(PrepareRenameResponse::RangeWithPlaceholder { range: view.range(spot.file, span), placeholder })
    })
}

#[expect(clippy::mutable_key_type, reason = "the protocol's type for edits has addresses as keys")]
pub(super) fn rename(asked: &RequestView<'_>, params: RenameParams) -> Result<Option<WorkspaceEdit>, Failure> {
    let new = params.new_name.as_str();
    let is_name = new.chars().all(|char| char.is_alphanumeric() || char == '_')
        && !new.starts_with(|char: char| char.is_numeric());
    if new.is_empty() || !is_name {
        return Err(Failure::new(ErrorCode::InvalidParams, format!("{new:?} is not a name")));
    }
    asked.at(&params.text_document_position, |view, spot| {
        let symbol = symbol_at(view, spot)?;
        let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
        for (file, spans) in sure_places(view, &symbol, Some(new), NAMED + 1)? {
            let Some(file) = view.snapshot.file_by_number(file) else { continue };
            let Some(uri) = view.uri(file) else { continue };
            let edit = |span| TextEdit { range: view.range(file, span), new_text: new.to_owned() };
            changes.insert(uri, spans.into_iter().map(edit).collect());
        }
        Ok(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
    })
}

/// The one symbol at a position whose own name is written there.
fn symbol_at<'v>(view: &View<'v>, spot: FilePosition<'v>) -> Result<SymbolView<'v>, Failure> {
    let refused = |why: &str| Err(Failure::new(ErrorCode::RequestFailed, why));
    let Some(name) = spot.name else { return refused("there is no symbol here; local names are not renamed") };
    let meant = view.meant(&name);
    let Some(first) = meant.first() else { return refused("this name is not resolved") };
    // Overloads of a function are renamed together.
    if meant
        .iter()
        .any(|symbol| symbol.qualified_name() != first.qualified_name() || symbol.file.path() != first.file.path())
    {
        return refused("this name means several symbols");
    }
    match name.span.of(spot.file.content()) == first.name_bytes() {
        true => Ok(*first),
        false => refused("an import gives it this name; rename it where it is defined, or change the import"),
    }
}

/// The places of a symbol's name, by file; any doubt is an error, after so many that are `enough`: to find all may take a parse of
/// each file that writes the name.
fn sure_places<'v>(
    view: &View<'v>,
    symbol: &SymbolView<'v>,
    new: Option<&str>,
    enough: usize,
) -> Result<BTreeMap<u32, Vec<Span>>, Failure> {
    let Renaming { places, doubts } = query::renaming(view.snapshot, view.edges, symbol, new, enough);
    if doubts.is_empty() {
        return Ok(places);
    }
    let shown = doubts.iter().take(NAMED).map(|doubt| format!("{}:{} ({})", doubt.path, doubt.line, doubt.why));
    let shown: Vec<String> = shown.collect();
    let more = if doubts.len() >= enough { ", and perhaps more" } else { "" };
    let why = format!("{} is not renamed, because this is in doubt: {}{more}", symbol.name(), shown.join(", "));
    Err(Failure::new(ErrorCode::RequestFailed, why))
}
