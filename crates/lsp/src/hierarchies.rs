//! Hierarchies of calls and of types. Their items name symbols by id, which stay valid across edits.

use std::collections::BTreeMap;

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem, CallHierarchyOutgoingCall,
    CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, Range, SymbolKind, TypeHierarchyItem,
    TypeHierarchyPrepareParams, TypeHierarchySubtypesParams, TypeHierarchySupertypesParams, Uri,
};
use serde_json::Value;

use super::navigation::{is_callable, span};
use super::symbols::{container, kind, name};
use super::view::{Failure, RequestView, View, spans_of};
use codelode_base::model::{Kind, Role, Span};
use codelode_query as query;
use codelode_store::{FileView, SymbolId, SymbolView};

pub(super) fn prepare_calls(
    asked: &RequestView<'_>,
    params: CallHierarchyPrepareParams,
) -> Result<Option<Vec<CallHierarchyItem>>, Failure> {
    let found = asked.at(&params.text_document_position_params, |view, spot| {
        let meant: Vec<SymbolView<'_>> = spot.name.iter().flat_map(|name| view.meant(name)).collect();
        Ok(call_items(view, &meant).into_iter().flatten().collect::<Vec<_>>())
    })?;
    Ok(found.filter(|found| !found.is_empty()))
}

/// A method through which a symbol is called, a file, and a function in it.
type Caller = (Option<SymbolId>, u32, Option<SymbolId>);

/// Calls of a symbol by the function around them. Calls of a method that it overrides may mean it: they are of items of
/// their own, whose detail says so.
pub(super) fn incoming(
    asked: &RequestView<'_>,
    params: CallHierarchyIncomingCallsParams,
) -> Result<Option<Vec<CallHierarchyIncomingCall>>, Failure> {
    let item = params.item;
    of_item(asked, &item.uri, item.data.as_ref(), |view, symbol| {
        // By the symbol called, the file and the function; the symbol's own calls come first.
        let mut callers: BTreeMap<Caller, Vec<(FileView<'_>, Span)>> = BTreeMap::new();
        for (used, place) in query::users_through(view.snapshot, view.edges, symbol.number()) {
            if place.edge.role() == Role::Call {
                let through = (used != symbol.number()).then_some(used);
                let around = query::function_around(view.snapshot, place.edge).map(|around| around.number());
                callers.entry((through, place.edge.file, around)).or_default().push((place.file, span(place.edge)));
            }
        }
        // A file's lines are counted once, for the functions and the calls in it.
        let around: Vec<Option<SymbolView<'_>>> =
            callers.keys().map(|(.., around)| view.snapshot.symbol((*around)?)).collect();
        let functions: Vec<SymbolView<'_>> = around.iter().flatten().copied().collect();
        let spans = functions.iter().flat_map(spans_of).chain(callers.values().flatten().copied()).collect::<Vec<_>>();
        let mut ranges = view.ranges_at(&spans).into_iter();
        let mut of_functions = ranges.by_ref().take(functions.len() * 2).collect::<Vec<_>>().into_iter();
        let mut calls = Vec::with_capacity(callers.len());
        for (((through, file, _), spans), around) in callers.into_iter().zip(around) {
            let from_ranges: Vec<Range> = ranges.by_ref().take(spans.len()).collect();
            let from = match around {
                Some(around) => match (of_functions.next(), of_functions.next()) {
                    (Some(whole), Some(name)) => call_item(view, &around, (whole, name)),
                    _ => None,
                },
                None => view.snapshot.file_by_number(file).and_then(|file| file_item(view, file)),
            };
            let Some(mut from) = from else { continue };
            if let Some(through) = through.and_then(|through| view.snapshot.symbol(through)) {
                from.detail = Some(format!("through {}", through.qualified_name()));
            }
            calls.push(CallHierarchyIncomingCall { from, from_ranges });
        }
        calls
    })
}

/// Calls in a symbol, by the symbol called.
pub(super) fn outgoing(
    asked: &RequestView<'_>,
    params: CallHierarchyOutgoingCallsParams,
) -> Result<Option<Vec<CallHierarchyOutgoingCall>>, Failure> {
    let item = params.item;
    of_item(asked, &item.uri, item.data.as_ref(), |view, symbol| {
        let mut callees: BTreeMap<SymbolId, Vec<Range>> = BTreeMap::new();
        let own = symbol.span();
        for edge in view.edges.in_file(symbol.file.number()) {
            let is_inside = own.start <= edge.at && edge.at < own.end && edge.role() == Role::Call;
            let around = is_inside.then(|| query::function_around(view.snapshot, edge)).flatten();
            if around.is_some_and(|around| around.number() == symbol.number()) {
                for target in view.edges.targets(edge) {
                    callees.entry(target).or_default().push(view.range(symbol.file, span(edge)));
                }
            }
        }
        let called = |(callee, ranges): (SymbolId, Vec<Range>)| {
            let callee = view.snapshot.symbol(callee).filter(|callee| callee.kind() != Kind::Constant)?;
            Some((callee, ranges))
        };
        let (called, ranges): (Vec<SymbolView<'_>>, Vec<Vec<Range>>) = callees.into_iter().filter_map(called).unzip();
        let call = |(to, from_ranges): (Option<_>, _)| Some(CallHierarchyOutgoingCall { to: to?, from_ranges });
        call_items(view, &called).into_iter().zip(ranges).filter_map(call).collect()
    })
}

/// Items of functions and what else is called; `None` for one in a file that has no address.
fn call_items<'v>(view: &View<'v>, symbols: &[SymbolView<'v>]) -> Vec<Option<CallHierarchyItem>> {
    symbols.iter().zip(view.ranges_of(symbols)).map(|(symbol, ranges)| call_item(view, symbol, ranges)).collect()
}

/// The item of a function with the range of the whole and that of its name.
fn call_item<'v>(
    view: &View<'v>,
    symbol: &SymbolView<'v>,
    (range, selection_range): (Range, Range),
) -> Option<CallHierarchyItem> {
    Some(CallHierarchyItem {
        name: name(symbol),
        kind: kind(symbol),
        tags: None,
        detail: container(symbol),
        uri: view.uri(symbol.file)?,
        range,
        selection_range,
        data: Some(Value::String(symbol.id())),
    })
}

/// A file, for calls outside of every function. It has no callers.
fn file_item<'v>(view: &View<'v>, file: FileView<'v>) -> Option<CallHierarchyItem> {
    let path = file.path();
    let range = Range::default();
    Some(CallHierarchyItem {
        name: path.rsplit('/').next().unwrap_or(path).to_owned(),
        kind: SymbolKind::FILE,
        tags: None,
        detail: Some(path.to_owned()),
        uri: view.uri(file)?,
        range,
        selection_range: range,
        data: None,
    })
}

/// Types at a position; for a constructor or another member, the type that owns it.
pub(super) fn prepare_types(
    asked: &RequestView<'_>,
    params: TypeHierarchyPrepareParams,
) -> Result<Option<Vec<TypeHierarchyItem>>, Failure> {
    let found = asked.at(&params.text_document_position_params, |view, spot| {
        let meant = spot.name.iter().flat_map(|name| view.meant(name));
        let types = meant.filter_map(|symbol| if is_callable(&symbol) { symbol.parent() } else { Some(symbol) });
        let mut types: Vec<SymbolView<'_>> = types.filter(is_type).collect();
        types.dedup_by_key(|symbol| symbol.number());
        Ok(type_items(view, &types))
    })?;
    Ok(found.filter(|found| !found.is_empty()))
}

fn is_type(symbol: &SymbolView<'_>) -> bool {
    matches!(symbol.kind(), Kind::Class | Kind::Type)
}

pub(super) fn supertypes(
    asked: &RequestView<'_>,
    params: TypeHierarchySupertypesParams,
) -> Result<Option<Vec<TypeHierarchyItem>>, Failure> {
    next_types(asked, &params.item, true)
}

pub(super) fn subtypes(
    asked: &RequestView<'_>,
    params: TypeHierarchySubtypesParams,
) -> Result<Option<Vec<TypeHierarchyItem>>, Failure> {
    next_types(asked, &params.item, false)
}

fn next_types(
    asked: &RequestView<'_>,
    item: &TypeHierarchyItem,
    upwards: bool,
) -> Result<Option<Vec<TypeHierarchyItem>>, Failure> {
    of_item(asked, &item.uri, item.data.as_ref(), |view, symbol| {
        type_items(view, &query::next_in_hierarchy(view.snapshot, view.edges, symbol.number(), upwards))
    })
}

fn type_items<'v>(view: &View<'v>, symbols: &[SymbolView<'v>]) -> Vec<TypeHierarchyItem> {
    let item = |(symbol, (range, selection_range)): (&SymbolView<'v>, (Range, Range))| {
        Some(TypeHierarchyItem {
            name: name(symbol),
            kind: kind(symbol),
            tags: None,
            detail: container(symbol).or_else(|| Some(symbol.file.path().to_owned())),
            uri: view.uri(symbol.file)?,
            range,
            selection_range,
            data: Some(Value::String(symbol.id())),
        })
    };
    symbols.iter().zip(view.ranges_of(symbols)).filter_map(item).collect()
}

/// Answers about the symbol of an item that was given before; nothing for one that is gone.
fn of_item<T>(
    asked: &RequestView<'_>,
    uri: &Uri,
    data: Option<&Value>,
    ask: impl for<'v> Fn(&View<'v>, SymbolView<'v>) -> Vec<T>,
) -> Result<Option<Vec<T>>, Failure> {
    asked.about(uri, |view, _| {
        let symbol = data.and_then(Value::as_str).and_then(|id| query::by_id(view.snapshot, id).ok());
        Ok(symbol.map(|symbol| ask(view, symbol)).unwrap_or_default())
    })
}
