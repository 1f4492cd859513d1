//! `token`: makes a token for a caller of an HTTP server.

use clap::Args;

use super::{FOUND, complain, fail, output};
use codelode_http::tokens::{Entry, random};

/// Make a token for a caller of an HTTP server. Prints the token once, on standard error, and the entry for the
/// tokens file, with only a digest, on standard output.
#[derive(Args)]
pub(super) struct Token {
    /// Name of the caller.
    name: String,
    /// Repositories that it may see: ids from `codelode list`, with `*` as wildcard; repeatable.
    #[arg(long, value_name = "GLOB", required = true)]
    repos: Vec<String>,
    /// Allow indexing and reading remote repositories.
    #[arg(long)]
    index: bool,
    /// Allow removing indexes.
    #[arg(long)]
    invalidate: bool,
}

/// Prints a new token and its entry.
pub(super) fn run(how: Token) -> u8 {
    let Token { name, repos, index, invalidate } = how;
    let token = match random() {
        Ok(token) => token,
        Err(err) => return fail(&err),
    };
    match Entry::new(&token, repos, index, invalidate).written(&name) {
        Ok(entry) => {
            output::print_bytes(entry.as_bytes());
            output::complain(&format!("the token of {name}, which is shown this once: {token}\n"));
            FOUND
        }
        Err(problem) => complain(&problem),
    }
}
