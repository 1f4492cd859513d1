//! From a name to its definitions, declarations, types, implementations and uses.

use std::collections::HashSet;

use lsp_types::{
    DocumentHighlight, DocumentHighlightKind, DocumentHighlightParams, GotoDefinitionParams, GotoDefinitionResponse,
    Location, ReferenceParams, TextDocumentPositionParams,
};

use super::packages;
use super::view::{Failure, FilePosition, RequestView, View};
use codelode_base::model::{Kind, Role, Span};
use codelode_query::{self as query, LazyFacts, Local};
use codelode_service::catalog::packages::outside as external;
use codelode_store::{Edge, FileView, SymbolId, SymbolView};

type Locations = Result<Option<GotoDefinitionResponse>, Failure>;

pub(super) fn definition(asked: &RequestView<'_>, params: GotoDefinitionParams) -> Locations {
    let at = &params.text_document_position_params;
    let caller = asked.workspace.cx.caller(&asked.request);
    let found = asked.at(at, |view, spot| {
        let meant = spot.name.map(|name| view.meant(&name)).unwrap_or_default();
        if !meant.is_empty() {
            return Ok((view.locations(&meant), None));
        }
        let facts = view.facts(spot.file);
        let own = local_or_imported(view, spot, &facts);
        let external = own.is_empty().then(|| external(&caller, view.repo, spot.file, &facts, spot.byte)).flatten();
        Ok((own, external))
    })?;
    let (mut found, external) = found.unwrap_or_default();
    if let Some(name) = external {
        let inside = packages::meanings(asked, &name, |page, symbols, files| {
            let modules = files.iter().filter_map(|file| page.location(*file, Span::default()));
            page.locations(symbols).into_iter().chain(modules).collect::<Vec<Location>>()
        })?;
        found.extend(inside.into_iter().flatten());
    }
    Ok((!found.is_empty()).then_some(GotoDefinitionResponse::Array(found)))
}

/// The declarations of a method are those that it overrides or implements; other names are declared where they are
/// defined.
pub(super) fn declaration(asked: &RequestView<'_>, params: GotoDefinitionParams) -> Locations {
    locations(asked, &params.text_document_position_params, |view, spot| {
        let Some(name) = spot.name else {
            return local_or_imported(view, spot, &view.facts(spot.file));
        };
        let meant = view.meant(&name);
        let above = meant.iter().flat_map(|symbol| query::overridden(view.snapshot, view.edges, symbol));
        let above: Vec<SymbolView<'_>> = above.collect();
        view.locations(if above.is_empty() { &meant } else { &above })
    })
}

pub(super) fn type_definition(asked: &RequestView<'_>, params: GotoDefinitionParams) -> Locations {
    locations(asked, &params.text_document_position_params, |view, spot| {
        let meant = spot.name.iter().flat_map(|name| view.meant(name));
        let types = meant.flat_map(|symbol| query::types_of(view.snapshot, view.edges, &symbol));
        view.locations(&types.collect::<Vec<_>>())
    })
}

/// A symbol without implementations is its own.
pub(super) fn implementation(asked: &RequestView<'_>, params: GotoDefinitionParams) -> Locations {
    locations(asked, &params.text_document_position_params, |view, spot| {
        let Some(name) = spot.name else { return Vec::new() };
        let meant = view.meant(&name);
        let below = meant.iter().flat_map(|symbol| query::implementations(view.snapshot, view.edges, symbol));
        let below: Vec<SymbolView<'_>> = below.map(|(symbol, _)| symbol).collect();
        view.locations(if below.is_empty() { &meant } else { &below })
    })
}

fn locations(
    asked: &RequestView<'_>,
    at: &TextDocumentPositionParams,
    find: impl for<'v> Fn(&View<'v>, FilePosition<'v>) -> Vec<Location>,
) -> Locations {
    let found = asked.at(at, |view, spot| Ok(find(view, spot)))?;
    Ok(found.filter(|found| !found.is_empty()).map(GotoDefinitionResponse::Array))
}

/// The place where a local name is bound, or the files that an import names.
fn local_or_imported<'v>(view: &View<'v>, spot: FilePosition<'v>, facts: &LazyFacts<'_>) -> Vec<Location> {
    if let Some(local) = query::local_at(spot.file, facts, spot.byte) {
        return view.location(spot.file, local.definition).into_iter().collect();
    }
    let files = query::imported_at(view.snapshot, view.edges, spot.file, facts, spot.byte);
    files.into_iter().filter_map(|file| view.location(file, Span::default())).collect()
}

/// The local name at a position.
fn local_at<'v>(view: &View<'v>, spot: FilePosition<'v>) -> Option<Local> {
    query::local_at(spot.file, &view.facts(spot.file), spot.byte)
}

/// Uses of the symbols or the local name at a position; those where only the name matches come last, when the client asks for them.
pub(super) fn references(asked: &RequestView<'_>, params: ReferenceParams) -> Result<Option<Vec<Location>>, Failure> {
    asked.at(&params.text_document_position, |view, spot| {
        let Some(name) = spot.name else {
            let Some(local) = local_at(view, spot) else { return Ok(Vec::new()) };
            let own = params.context.include_declaration.then_some(local.definition);
            let places = own.into_iter().chain(local.uses);
            return Ok(places.filter_map(|span| view.location(spot.file, span)).collect());
        };
        let named = name.symbol.map_or_else(|| view.meant(&name), |symbol| vec![symbol]);
        let mut meant: Vec<SymbolView<'_>> = named.iter().flat_map(query::signatures).collect();
        meant.sort_by_key(SymbolView::number);
        meant.dedup_by_key(|symbol| symbol.number());
        let mut found = if params.context.include_declaration { view.locations(&meant) } else { Vec::new() };
        let mut uses: Vec<&Edge> = meant.iter().flat_map(|symbol| view.edges.users(symbol.number())).collect();
        if view.workspace.options.possible {
            let mut names: Vec<String> = meant.iter().map(|symbol| symbol.name().into_owned()).collect();
            names.sort();
            names.dedup();
            for name in &names {
                let bearers: Vec<SymbolView<'_>> = meant.iter().copied().filter(|own| own.name() == *name).collect();
                let possible = query::possible_uses(view.snapshot, view.edges, &bearers);
                uses.extend(possible.into_iter().map(|place| place.edge));
            }
        }
        asked.check()?;
        // A use may mean several of them.
        let mut seen = HashSet::new();
        uses.retain(|edge| seen.insert((edge.file, edge.at)));
        let mut places: Vec<(FileView<'_>, &Edge)> =
            uses.into_iter().filter_map(|edge| Some((view.snapshot.file_by_number(edge.file)?, edge))).collect();
        places.sort_by_key(|(file, edge)| (file.path(), edge.at));
        for of_file in places.chunk_by(|(one, _), (other, _)| one.number() == other.number()) {
            let spans: Vec<Span> = of_file.iter().map(|(_, edge)| span(edge)).collect();
            found.extend(view.locations_in(of_file[0].0, &spans));
        }
        Ok(found)
    })
}

pub(super) fn span(edge: &Edge) -> Span {
    Span { start: edge.at, end: edge.at + edge.len() as u32 }
}

/// Places in the document that mean the same symbols.
pub(super) fn highlights(
    asked: &RequestView<'_>,
    params: DocumentHighlightParams,
) -> Result<Option<Vec<DocumentHighlight>>, Failure> {
    asked.at(&params.text_document_position_params, |view, spot| {
        let Some(name) = spot.name else {
            let Some(local) = local_at(view, spot) else { return Ok(Vec::new()) };
            let kinds =
                [DocumentHighlightKind::WRITE].into_iter().chain(std::iter::repeat(DocumentHighlightKind::READ));
            let places = [local.definition].into_iter().chain(local.uses).zip(kinds);
            let highlight = |(span, kind)| DocumentHighlight { range: view.range(spot.file, span), kind: Some(kind) };
            return Ok(places.map(highlight).collect());
        };
        let meant: Vec<SymbolId> = view.meant(&name).iter().map(SymbolView::number).collect();
        let own = meant.iter().filter(|symbol| symbol.file == spot.file.number());
        let own =
            own.filter_map(|symbol| Some((view.snapshot.symbol(*symbol)?.name_span(), DocumentHighlightKind::WRITE)));
        let used = view.edges.in_file(spot.file.number()).iter();
        let used = used.filter(|edge| view.edges.targets(edge).any(|target| meant.contains(&target)));
        let kind = |role: Role| match role {
            Role::Write => DocumentHighlightKind::WRITE,
            Role::Import | Role::Base | Role::Type => DocumentHighlightKind::TEXT,
            Role::Reference | Role::Call => DocumentHighlightKind::READ,
        };
        let mut places: Vec<(Span, DocumentHighlightKind)> =
            own.chain(used.map(|edge| (span(edge), kind(edge.role())))).collect();
        places.sort_by_key(|(span, _)| *span);
        places.dedup_by_key(|(span, _)| *span);
        let highlight = |(span, kind)| DocumentHighlight { range: view.range(spot.file, span), kind: Some(kind) };
        Ok(places.into_iter().map(highlight).collect())
    })
}

/// Whether a symbol can be called.
pub(super) fn is_callable(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.kind(), Kind::Function | Kind::Method)
}
