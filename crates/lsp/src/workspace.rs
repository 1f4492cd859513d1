//! State that requests are answered from: the workspace's folders, and what the client has asked for at initialization.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use lsp_types::{InitializeParams, MarkupKind, Uri};
use serde::Deserialize;
use url::Url;

use super::documents::Documents;
use super::positions::Encoding;
use super::structure::Structures;
use codelode_service::catalog::unsaved::Overlays;
use codelode_service::tools::Context;

/// State of the server as of one request.
#[derive(Clone)]
pub(super) struct Workspace {
    pub cx: Arc<Context>,
    pub options: Options,
    pub folders: Vec<Folder>,
    pub documents: Documents,
    pub overlays: Arc<Overlays>,
    pub structures: Arc<Structures>,
}

/// Choices of the client, made at initialization.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub encoding: Encoding,
    /// References may hold places where only the name matches.
    pub possible: bool,
    /// Symbols of a document may be nested.
    pub nested_symbols: bool,
    /// Hovers may be Markdown.
    pub markdown: bool,
    /// The client shows progress.
    pub progress: bool,
    /// The client shows errors, for which some clients wait after each change of a text.
    pub errors: bool,
}

/// Options in `initializationOptions`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct InitializationOptions {
    possible_references: bool,
}

/// A folder of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    /// As the client names it.
    pub given: PathBuf,
    /// Without links.
    pub real: PathBuf,
}

impl Folder {
    pub fn at(uri: &Uri) -> Option<Self> {
        let given = path_of(uri)?;
        let real = given.canonicalize().ok()?;
        Some(Self { given, real })
    }
}

impl Options {
    pub fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let document = capabilities.text_document.as_ref();
        let encodings = capabilities.general.as_ref().and_then(|general| general.position_encodings.as_deref());
        let hover = document.and_then(|document| document.hover.as_ref()?.content_format.as_deref());
        let asked = params.initialization_options.clone().map(serde_json::from_value::<InitializationOptions>);
        let symbols = document.and_then(|document| document.document_symbol.as_ref());
        Self {
            encoding: Encoding::agreed(encodings.unwrap_or_default()),
            // Options of another shape are another server's.
            possible: asked.and_then(Result::ok).unwrap_or_default().possible_references,
            nested_symbols: symbols.and_then(|symbols| symbols.hierarchical_document_symbol_support) == Some(true),
            markdown: hover.is_some_and(|formats| formats.contains(&MarkupKind::Markdown)),
            errors: document.is_some_and(|document| document.publish_diagnostics.is_some()),
            progress: capabilities.window.as_ref().and_then(|window| window.work_done_progress) == Some(true),
        }
    }
}

impl Workspace {
    /// Takes the workspace's folders from the parameters, in the order of their age in the protocol.
    pub fn new(cx: Arc<Context>, params: &InitializeParams) -> Self {
        #[expect(deprecated, reason = "older clients give one root only")]
        let (uri, path) = (&params.root_uri, &params.root_path);
        let folders: Vec<Folder> = match (&params.workspace_folders, uri, path) {
            (Some(folders), ..) if !folders.is_empty() => {
                folders.iter().filter_map(|folder| Folder::at(&folder.uri)).collect()
            }
            (_, Some(uri), _) => Folder::at(uri).into_iter().collect(),
            (_, _, Some(path)) => {
                let given = PathBuf::from(path);
                given.canonicalize().ok().map(|real| Folder { given, real }).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let (documents, overlays, structures) = (Documents::default(), Arc::default(), Arc::default());
        Self { cx, options: Options::of(params), folders, documents, overlays, structures }
    }

    /// The path of a file inside the workspace, without links. A file that does not exist yet is resolved as far as it
    /// does.
    pub fn inside(&self, uri: &Uri) -> Option<PathBuf> {
        let path = path_of(uri)?;
        let real =
            path.canonicalize().ok().or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)));
        real.filter(|real| self.folders.iter().any(|folder| real.starts_with(&folder.real)))
    }

    /// The address of a file: as the client has opened it, else below the folder as the client names it.
    pub fn uri(&self, path: &Path) -> Option<Uri> {
        if let Some(uri) = self.documents.uri(path) {
            return Some(uri);
        }
        let folder = self.folders.iter().find_map(|folder| {
            let below = path.strip_prefix(&folder.real).ok()?;
            Some(if below.as_os_str().is_empty() { folder.given.clone() } else { folder.given.join(below) })
        });
        Uri::from_str(Url::from_file_path(folder.as_deref().unwrap_or(path)).ok()?.as_str()).ok()
    }
}

/// The path of a `file:` address on this machine.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let path = Url::parse(uri.as_str()).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()?;
    (!path.as_os_str().as_encoded_bytes().contains(&0)).then_some(path)
}
