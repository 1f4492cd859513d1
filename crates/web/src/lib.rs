//! Pages for browsers: repositories, files whose names are links, symbols with their uses, and a search.
//!
//! Every page is made on the server and works without JavaScript; the client in `client` adds search as one types, keys,
//! hovers, and what changes while one looks. [`endpoint()`] answers behind the server of
//! [`codelode_http`], which knows who may ask; a page shows what the caller's [`Context`] does. `routes` finds the page of
//! an address, `links` writes addresses, and each kind of page has a file of its own.
//!
//! It will never know who may see what: `http` knows the visitor, and the visitor's [`Context`] hides the rest.

mod assets;
mod change;
mod code;
mod context;
mod doctor;
mod endpoint;
mod failure;
mod folder;
mod hover;
mod impact;
mod layout;
mod lines;
mod links;
mod margin;
mod markdown;
mod meanings;
mod names;
mod panel;
mod picture;
mod plots;
mod routes;
mod runs;
mod search;
mod start;
mod symbol;
mod text;
mod versions;
mod view;

use std::sync::Arc;

use codelode_http::{Bound, Error, Pages, Services};
use codelode_service::answer::Request;
use codelode_service::catalog::{indexes, locate};
use codelode_service::tools::{self, Context, Views};

/// Threads for pages, beside one that waits.
const THREADS: usize = 12;

/// Pages of a process, as each of its callers may see them.
pub fn endpoint(views: Arc<Views>) -> Arc<dyn Pages> {
    Arc::new(endpoint::Endpoint::new(views))
}

/// Serves the pages alone until the process is told to end.
pub fn serve(views: Arc<Views>, bound: Bound) -> Result<(), Error> {
    bound.run(Services { endpoint: None, pages: Some(endpoint(views)), kept: None }, THREADS)
}

/// Path of the page of the repository that holds a folder; `None` if it is not indexed.
pub fn path_of_indexed(cx: &Context, request: &Request, folder: &str) -> Option<String> {
    let sidecar = locate::indexed(&cx.caller(request), folder).ok()?;
    Some(links::folder(&sidecar.repo, ""))
}

/// Path of the page of the repository that holds a folder, which is indexed if it is not yet; `request` tells where the
/// caller is.
pub fn path_of(cx: &Context, request: &Request, folder: &str) -> Result<String, tools::Error> {
    let repo = indexes::open(&cx.caller(request), Some(folder))?;
    Ok(links::folder(&repo.sidecar.repo, ""))
}
