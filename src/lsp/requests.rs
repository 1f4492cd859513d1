//! The table of requests, and what the server says it can do.

use lsp_server::ErrorCode;
use lsp_types::TextDocumentSyncKind;
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare, DocumentHighlightRequest,
    DocumentSymbolRequest, FoldingRangeRequest, GotoDeclaration, GotoDefinition, GotoImplementation,
    GotoTypeDefinition, HoverRequest, PrepareRenameRequest, References, Rename, Request, SelectionRangeRequest,
    SemanticTokensFullRequest, TypeHierarchyPrepare, TypeHierarchySubtypes, TypeHierarchySupertypes,
    WorkspaceSymbolRequest,
};
use serde_json::{Value, json};

use super::view::{Failure, RequestView};
use super::workspace::Options;
use super::{colours, hierarchies, hover, navigation, rename, structure, symbols};

/// Answers a request with JSON. Lists of thousands of places are written as they are: a tree of values of them costs more
/// than to find them.
pub(super) fn answer(asked: &RequestView<'_>, method: &str, params: Value) -> Result<String, Failure> {
    match method {
        GotoDefinition::METHOD => run::<GotoDefinition>(asked, params, navigation::definition),
        GotoDeclaration::METHOD => run::<GotoDeclaration>(asked, params, navigation::declaration),
        GotoTypeDefinition::METHOD => run::<GotoTypeDefinition>(asked, params, navigation::type_definition),
        GotoImplementation::METHOD => run::<GotoImplementation>(asked, params, navigation::implementation),
        References::METHOD => run::<References>(asked, params, navigation::references),
        DocumentHighlightRequest::METHOD => run::<DocumentHighlightRequest>(asked, params, navigation::highlights),
        HoverRequest::METHOD => run::<HoverRequest>(asked, params, hover::hover),
        DocumentSymbolRequest::METHOD => run::<DocumentSymbolRequest>(asked, params, symbols::of_document),
        WorkspaceSymbolRequest::METHOD => run::<WorkspaceSymbolRequest>(asked, params, symbols::of_workspace),
        CallHierarchyPrepare::METHOD => run::<CallHierarchyPrepare>(asked, params, hierarchies::prepare_calls),
        CallHierarchyIncomingCalls::METHOD => run::<CallHierarchyIncomingCalls>(asked, params, hierarchies::incoming),
        CallHierarchyOutgoingCalls::METHOD => run::<CallHierarchyOutgoingCalls>(asked, params, hierarchies::outgoing),
        TypeHierarchyPrepare::METHOD => run::<TypeHierarchyPrepare>(asked, params, hierarchies::prepare_types),
        TypeHierarchySupertypes::METHOD => run::<TypeHierarchySupertypes>(asked, params, hierarchies::supertypes),
        TypeHierarchySubtypes::METHOD => run::<TypeHierarchySubtypes>(asked, params, hierarchies::subtypes),
        PrepareRenameRequest::METHOD => run::<PrepareRenameRequest>(asked, params, rename::prepare),
        Rename::METHOD => run::<Rename>(asked, params, rename::rename),
        FoldingRangeRequest::METHOD => run::<FoldingRangeRequest>(asked, params, structure::folding),
        SemanticTokensFullRequest::METHOD => run::<SemanticTokensFullRequest>(asked, params, colours::tokens),
        SelectionRangeRequest::METHOD => run::<SelectionRangeRequest>(asked, params, structure::selection),
        _ => Err(Failure::new(ErrorCode::MethodNotFound, format!("there is no request {method:?}"))),
    }
}

fn run<R: Request>(
    asked: &RequestView<'_>,
    params: Value,
    handle: fn(&RequestView<'_>, R::Params) -> Result<R::Result, Failure>,
) -> Result<String, Failure> {
    let unfit =
        |err| Failure::new(ErrorCode::InvalidParams, format!("the parameters of {} do not fit: {err}", R::METHOD));
    let params = serde_json::from_value(params).map_err(unfit)?;
    let answer = handle(asked, params)?;
    serde_json::to_string(&answer).map_err(|err| Failure::new(ErrorCode::InternalError, err.to_string()))
}

/// The answer to `initialize`, as JSON: the types of the protocol that are used here know no hierarchy of types.
pub(super) fn capabilities(options: &Options) -> Value {
    json!({
        "capabilities": {
            "positionEncoding": options.encoding.kind(),
            "textDocumentSync": { "openClose": true, "change": TextDocumentSyncKind::INCREMENTAL, "save": true },
            "definitionProvider": true,
            "declarationProvider": true,
            "typeDefinitionProvider": true,
            "implementationProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "hoverProvider": true,
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "callHierarchyProvider": true,
            "typeHierarchyProvider": true,
            "renameProvider": { "prepareProvider": true },
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "semanticTokensProvider": {
                "legend": { "tokenTypes": colours::TYPES, "tokenModifiers": ["declaration"] },
                "full": true,
            },
            "workspace": { "workspaceFolders": { "supported": true, "changeNotifications": true } },
        },
        "serverInfo": { "name": "codelode", "version": env!("CARGO_PKG_VERSION") },
    })
}
