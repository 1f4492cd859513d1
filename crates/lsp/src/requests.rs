//! The table of requests, and what the server says it can do.

use lsp_server::{ErrorCode, RequestId};
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
use super::wire::result;
use super::workspace::Options;
use super::{colours, hierarchies, hover, navigation, rename, structure, symbols};

/// Answers a request with a whole message. Lists of thousands of places are written as they are, and once: a tree of values of
/// them costs more than to find them, and each copy of their text a tenth of it.
pub(super) fn answer(asked: &RequestView<'_>, id: &RequestId, method: &str, params: Value) -> Result<Vec<u8>, Failure> {
    match method {
        GotoDefinition::METHOD => run::<GotoDefinition>(asked, id, params, navigation::definition),
        GotoDeclaration::METHOD => run::<GotoDeclaration>(asked, id, params, navigation::declaration),
        GotoTypeDefinition::METHOD => run::<GotoTypeDefinition>(asked, id, params, navigation::type_definition),
        GotoImplementation::METHOD => run::<GotoImplementation>(asked, id, params, navigation::implementation),
        References::METHOD => run::<References>(asked, id, params, navigation::references),
        DocumentHighlightRequest::METHOD => run::<DocumentHighlightRequest>(asked, id, params, navigation::highlights),
        HoverRequest::METHOD => run::<HoverRequest>(asked, id, params, hover::hover),
        DocumentSymbolRequest::METHOD => run::<DocumentSymbolRequest>(asked, id, params, symbols::of_document),
        WorkspaceSymbolRequest::METHOD => run::<WorkspaceSymbolRequest>(asked, id, params, symbols::of_workspace),
        CallHierarchyPrepare::METHOD => run::<CallHierarchyPrepare>(asked, id, params, hierarchies::prepare_calls),
        CallHierarchyIncomingCalls::METHOD => {
            run::<CallHierarchyIncomingCalls>(asked, id, params, hierarchies::incoming)
        }
        CallHierarchyOutgoingCalls::METHOD => {
            run::<CallHierarchyOutgoingCalls>(asked, id, params, hierarchies::outgoing)
        }
        TypeHierarchyPrepare::METHOD => run::<TypeHierarchyPrepare>(asked, id, params, hierarchies::prepare_types),
        TypeHierarchySupertypes::METHOD => run::<TypeHierarchySupertypes>(asked, id, params, hierarchies::supertypes),
        TypeHierarchySubtypes::METHOD => run::<TypeHierarchySubtypes>(asked, id, params, hierarchies::subtypes),
        PrepareRenameRequest::METHOD => run::<PrepareRenameRequest>(asked, id, params, rename::prepare),
        Rename::METHOD => run::<Rename>(asked, id, params, rename::rename),
        FoldingRangeRequest::METHOD => run::<FoldingRangeRequest>(asked, id, params, structure::folding),
        SemanticTokensFullRequest::METHOD => run::<SemanticTokensFullRequest>(asked, id, params, colours::tokens),
        SelectionRangeRequest::METHOD => run::<SelectionRangeRequest>(asked, id, params, structure::selection),
        _ => Err(Failure::new(ErrorCode::MethodNotFound, format!("there is no request {method:?}"))),
    }
}

fn run<R: Request>(
    asked: &RequestView<'_>,
    id: &RequestId,
    params: Value,
    handle: fn(&RequestView<'_>, R::Params) -> Result<R::Result, Failure>,
) -> Result<Vec<u8>, Failure> {
    let unfit =
        |err| Failure::new(ErrorCode::InvalidParams, format!("the parameters of {} do not fit: {err}", R::METHOD));
    let params = serde_json::from_value(params).map_err(unfit)?;
    let answer = handle(asked, params)?;
    result(id, &answer).map_err(|err| Failure::new(ErrorCode::InternalError, err.to_string()))
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
