//! Server for the Language Server Protocol: editors ask about names, and are answered from the index, without a
//! toolchain and in every language with symbols.
//!
//! `server` keeps the order of the conversation. A request runs on one of a few threads, through the table in
//! `requests`, on a `view` of a fresh index.
//!
//! It will never know a language, nor run a compiler.

mod colours;
mod documents;
mod hierarchies;
mod hover;
mod indexing;
mod navigation;
mod packages;
mod positions;
mod rename;
mod requests;
mod server;
mod structure;
mod symbols;
mod view;
mod wire;
mod workspace;

use std::io::{self, BufReader};
use std::sync::Arc;

use codelode_service::tools::Context;

/// Serves one client over the standard streams until it leaves, and returns whether it left in order.
pub fn serve(cx: Context) -> io::Result<bool> {
    server::serve(Arc::new(cx), BufReader::new(io::stdin()), io::stdout())
}
