//! `lsp`: a language server for one editor, over the standard streams.

use std::path::PathBuf;

use clap::Args;

use super::{FAILED, FOUND, Global, complain, fail, flags, log_to, watch};
use codelode_base::allocator;
use codelode_base::config::{self, Settings};
use codelode_lsp as lsp;
use codelode_service::tools::Context;

/// Serve editors over the Language Server Protocol: definitions, uses, hovers, symbols, hierarchies.
#[derive(Args)]
pub(super) struct Lsp {
    /// Log file; the default is standard error.
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// Log level: off, error, warn, info, debug or trace [default: warn].
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// No effect: the server always uses standard streams. Some editors pass this flag.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Serves until the editor leaves.
pub(super) fn run(global: &Global, how: Lsp) -> u8 {
    let settings = Settings { log_file: how.log_file, log: how.log, ..Settings::default() };
    let config = match config::load(&flags(global, settings)) {
        Ok(config) => config,
        Err(err) => return fail(&err),
    };
    if let Err(problem) = log_to(&config) {
        return complain(&problem);
    }
    let watching = match watch::Watcher::default().start(&config) {
        Ok(watching) => watching,
        Err(problem) => return complain(&problem),
    };
    allocator::take_small_pages();
    let cx = Context::new(config);
    let cx = match watching {
        Some(watching) => cx.kept_by(watching),
        None => cx,
    };
    match lsp::serve(cx) {
        Ok(true) => FOUND,
        // The protocol requires an error if a client disconnects without saying so.
        Ok(false) => FAILED,
        Err(err) => fail(&err),
    }
}
